/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A query's conditions become one WHERE, whose arguments are bound in the same order. */
#include "tools/run/events/query.h"

#include <string.h>

typedef struct
{
  GString *sql;
  GPtrArray *texts; /* (nullable elements): where numbers are */
  GArray *numbers;
} Where;

/* Events: from here on. */
#define MANY 1000

void
sl_event_row_free (gpointer data)
{
  SlEventRow *row = data;
  sl_store_unref (row->store);
  g_free (row->stem);
  g_free (row->pipeline);
  g_free (row->event);
  g_free (row->region);
  g_free (row->label);
  g_free (row->format);
  g_free (row->color);
  g_free (row->reviewer);
  g_free (row);
}

static void
add (Where *where, const char *condition, const char *text, gint64 number)
{
  g_string_append_printf (where->sql, "%s%s", where->sql->len > 0 ? " AND " : " WHERE ", condition);
  g_ptr_array_add (where->texts, g_strdup (text));
  g_array_append_val (where->numbers, number);
}

static void
add_text (Where *where, const char *condition, const char *text)
{
  if (text != NULL)
    add (where, condition, text, 0);
}

/* Words anywhere in a text, of which none is a pattern. */
static void
add_search (Where *where, const char *text)
{
  if (text == NULL || *text == '\0')
    return;
  g_autofree char *lower = g_utf8_strdown (text, -1);
  g_autoptr (GString) pattern = g_string_new ("%");
  for (const char *c = lower; *c != '\0'; c++) {
    if (strchr ("%_\\", *c) != NULL)
      g_string_append_c (pattern, '\\');
    g_string_append_c (pattern, *c);
  }
  g_string_append_c (pattern, '%');
  add (where, "text LIKE ? ESCAPE '\\'", pattern->str, 0);
}

/* (nullable): the word of a kind that events must have */
static const char *
word_of (const SlEventQuery *query, guint kind)
{
  return kind == SL_WORD_EVENT    ? query->event
         : kind == SL_WORD_REGION ? query->region
                                  : query->label;
}

/* @many: so many events may be found that asking for each is faster than listing them all. */
static void
where_init (Where *where, const SlEventQuery *query, gboolean many)
{
  static const char *const
    in[] = { "id IN (SELECT event FROM word WHERE kind = 0 AND text = ?)",
             "id IN (SELECT event FROM word WHERE kind = 1 AND text = ?)",
             "id IN (SELECT event FROM word WHERE kind = 2 AND text = ?)" },
    *const exists[] = { "EXISTS (SELECT 1 FROM word WHERE kind = 0 AND text = ? AND event = id)",
                        "EXISTS (SELECT 1 FROM word WHERE kind = 1 AND text = ? AND event = id)",
                        "EXISTS (SELECT 1 FROM word WHERE kind = 2 AND text = ? AND event = id)" };
  *where = (Where){ g_string_new (NULL), g_ptr_array_new_with_free_func (g_free),
                    g_array_new (FALSE, FALSE, sizeof (gint64)) };
  add_text (where, "pipeline = ?", query->pipeline);
  if (query->from > 0)
    add (where, "time >= ?", NULL, query->from);
  if (query->to > 0)
    add (where, "time < ?", NULL, query->to);
  if (query->kept >= 0)
    add (where, "kept = ?", NULL, query->kept);
  if (query->reviewed >= 0)
    add (where, "EXISTS (SELECT 1 FROM review WHERE review.stem = event.stem) = ?", NULL,
         query->reviewed);
  add_text (where, "color = ?", query->color);
  for (guint i = 0; i < SL_N_WORDS; i++)
    add_text (where, (many ? exists : in)[i], word_of (query, i));
  add_search (where, query->text);
}

static void
where_clear (Where *where)
{
  g_string_free (where->sql, TRUE);
  g_ptr_array_unref (where->texts);
  g_array_unref (where->numbers);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Where, where_clear)

/* @next: (out): the first argument behind those of @where */
static sqlite3_stmt *
prepare (SlSql *sql, const Where *where, const char *before, const char *behind, gint *next,
         GError **error)
{
  g_autofree char *text = g_strconcat (before, where->sql->str, behind, NULL);
  sqlite3_stmt *statement = sl_sql_query (sql, error, text, "");
  guint i = 0;
  for (; statement != NULL && i < where->texts->len; i++) {
    if (where->texts->pdata[i] != NULL)
      sl_sql_bind (statement, (gint) i + 1, where->texts->pdata[i]);
    else
      sqlite3_bind_int64 (statement, (gint) i + 1, g_array_index (where->numbers, gint64, i));
  }
  *next = (gint) i + 1;
  return statement;
}

sqlite3_stmt *
sl_event_query_prepare (SlSql *sql, const SlEventQuery *query, const char *select,
                        const char *condition, gint *next, GError **error)
{
  g_auto (Where) where;
  where_init (&where, query, TRUE);
  g_autofree char *behind = g_strconcat (where.sql->len > 0 ? " AND " : " WHERE ", condition, NULL);
  return prepare (sql, &where, select, behind, next, error);
}

SlEventRow *
sl_event_row_read (SlStore *store, sqlite3_stmt *rows)
{
  SlEventRow *row = g_new0 (SlEventRow, 1);
  row->store = sl_store_ref (store);
  row->stem = g_strdup (sl_sql_text (rows, 0));
  row->pipeline = g_strdup (sl_sql_text (rows, 1));
  row->us = sqlite3_column_int64 (rows, 2);
  row->event = g_strdup (sl_sql_text (rows, 3));
  row->region = g_strdup (sl_sql_text (rows, 4));
  row->label = g_strdup (sl_sql_text (rows, 5));
  row->object = sqlite3_column_int64 (rows, 6);
  row->confidence = sqlite3_column_double (rows, 7);
  row->seconds = sqlite3_column_double (rows, 8);
  row->format = g_strdup (sl_sql_text (rows, 9));
  row->clip = sqlite3_column_int (rows, 10);
  row->picture = sqlite3_column_int (rows, 11);
  row->kept = sqlite3_column_int (rows, 12);
  row->bytes = (guint64) sqlite3_column_int64 (rows, 13);
  row->color = g_strdup (sl_sql_text (rows, 14));
  row->reviewer = g_strdup (sl_sql_text (rows, 15));
  row->reviewed = sqlite3_column_int64 (rows, 16);
  return row;
}

static gboolean
asks_words_only (const SlEventQuery *query)
{
  return query->pipeline == NULL && query->color == NULL && query->kept < 0 && query->reviewed < 0
         && query->from <= 0 && query->to <= 0 && (query->text == NULL || *query->text == '\0')
         && (query->event != NULL || query->region != NULL || query->label != NULL);
}

/* Without a look at the events. */
static sqlite3_stmt *
prepare_words (SlSql *sql, const SlEventQuery *query, GError **error)
{
  static const char *const sets[] = { "SELECT event FROM word WHERE kind = 0 AND text = ?",
                                      "SELECT event FROM word WHERE kind = 1 AND text = ?",
                                      "SELECT event FROM word WHERE kind = 2 AND text = ?" };
  g_autoptr (GString) text = g_string_new ("SELECT count(*) FROM (");
  gint n = 0;
  for (guint i = 0; i < SL_N_WORDS; i++)
    if (word_of (query, i) != NULL)
      g_string_append_printf (text, "%s%s", n++ > 0 ? " INTERSECT " : "", sets[i]);
  g_string_append_c (text, ')');
  sqlite3_stmt *rows = sl_sql_query (sql, error, text->str, "");
  n = 0;
  for (guint i = 0; rows != NULL && i < SL_N_WORDS; i++)
    if (word_of (query, i) != NULL)
      sl_sql_bind (rows, ++n, word_of (query, i));
  return rows;
}

static guint64
count (SlSql *sql, const SlEventQuery *query, GError **error)
{
  gint next;
  g_auto (Where) where;
  where_init (&where, query, FALSE);
  g_autoptr (sqlite3_stmt) rows =
    asks_words_only (query) ? prepare_words (sql, query, error)
                            : prepare (sql, &where, "SELECT count(*) FROM event", "", &next, error);
  return rows != NULL && sl_sql_next (sql, rows, error) ? (guint64) sqlite3_column_int64 (rows, 0)
                                                        : 0;
}

/* @error: not NULL */
static void
list_store (const SlEventQuery *query, SlStore *store, GPtrArray *list, guint64 *total,
            GError **error)
{
  SlSql *sql = sl_store_reader (store);
  g_auto (Where) where;
  gint next;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  const guint64 found = count (sql, query, error);
  *total += found;
  where_init (&where, query, found > MANY);
  if (*error != NULL)
    return;
  if (query->before != NULL) {
    add (&where, "(time, stem) < (?", NULL, query->before_us);
    g_string_append (where.sql, ", ?)");
    g_ptr_array_add (where.texts, g_strdup (query->before));
    g_array_append_val (where.numbers, query->before_us);
  }
  g_autoptr (sqlite3_stmt) rows = prepare (sql, &where, "SELECT " SL_EVENT_COLUMNS " FROM event",
                                           " ORDER BY time DESC, stem DESC LIMIT ?", &next, error);
  if (rows == NULL)
    return;
  sqlite3_bind_int64 (rows, next, query->limit);
  while (sl_sql_next (sql, rows, error))
    g_ptr_array_add (list, sl_event_row_read (store, rows));
}

static gint
newest_first (gconstpointer a, gconstpointer b)
{
  const SlEventRow *first = *(SlEventRow *const *) a, *second = *(SlEventRow *const *) b;
  return first->us != second->us ? (first->us < second->us ? 1 : -1)
                                 : strcmp (second->stem, first->stem);
}

GPtrArray *
sl_event_query_list (const SlEventQuery *query, GPtrArray *stores, guint64 *total, GError **error)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (sl_event_row_free);
  GError *reason = NULL;
  *total = 0;
  for (guint i = 0; i < stores->len && reason == NULL; i++)
    list_store (query, stores->pdata[i], list, total, &reason);
  g_ptr_array_sort (list, newest_first);
  if (list->len > query->limit)
    g_ptr_array_set_size (list, (gint) query->limit);
  if (reason == NULL)
    return list;
  g_propagate_error (error, reason);
  g_ptr_array_unref (list);
  return NULL;
}

SlEventRow *
sl_event_query_one (GPtrArray *stores, const char *stem, GError **error)
{
  SlEventRow *row = NULL;
  GError *reason = NULL;
  for (guint i = 0; i < stores->len && row == NULL && reason == NULL; i++) {
    SlStore *store = stores->pdata[i];
    SlSql *sql = sl_store_reader (store);
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
    g_autoptr (sqlite3_stmt) rows =
      sl_sql_query (sql, &reason,
                    "SELECT " SL_EVENT_COLUMNS " FROM event WHERE stem IN (?1, (SELECT clip FROM "
                    "covered WHERE stem = ?1)) ORDER BY stem = ?1 DESC LIMIT 1",
                    "s", stem);
    if (rows != NULL && sl_sql_next (sql, rows, &reason))
      row = sl_event_row_read (store, rows);
  }
  if (reason != NULL)
    g_propagate_error (error, reason);
  return row;
}

SlEventRow *
sl_event_query_newest (SlStore *store, const char *pipeline)
{
  SlSql *sql = sl_store_reader (store);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (sqlite3_stmt) rows = sl_sql_query (
    sql, NULL,
    "SELECT " SL_EVENT_COLUMNS
    " FROM event WHERE pipeline = ? AND time < ? ORDER BY time DESC, stem DESC LIMIT 1",
    "si", pipeline, g_get_real_time () + SL_BUCKET_HOUR);
  return rows != NULL && sl_sql_next (sql, rows, NULL) ? sl_event_row_read (store, rows) : NULL;
}

/* Rows come by their times where an index has all that is asked for: then those of one bucket
 * follow each other. To let SQLite group them would sort them once more. */
static void
add_buckets (GHashTable *counts, SlSql *sql, const Where *where, SlBuckets *buckets, GError **error)
{
  gint next;
  gint64 *known = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (sqlite3_stmt) rows = prepare (sql, where, "SELECT time FROM event", "", &next, error);
  while (rows != NULL && sl_sql_next (sql, rows, error)) {
    const gint64 from = sl_buckets_find (buckets, sqlite3_column_int64 (rows, 0));
    if (known == NULL || known[0] != from)
      known = g_hash_table_lookup (counts, &from);
    if (known == NULL) {
      known = g_new (gint64, 2);
      known[0] = from;
      known[1] = 0;
      g_hash_table_insert (counts, known, known);
    }
    known[1]++;
  }
}

static gint
oldest_first (gconstpointer a, gconstpointer b)
{
  const SlEventBucket *first = a, *second = b;
  return first->from < second->from ? -1 : first->from > second->from;
}

GArray *
sl_event_query_timeline (const SlEventQuery *query, GPtrArray *stores, SlBuckets *buckets,
                         GError **error)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  GArray *counted = g_array_new (FALSE, FALSE, sizeof (SlEventBucket));
  GError *reason = NULL;
  GHashTableIter iter;
  gint64 *known;
  g_auto (Where) where;
  where_init (&where, query, FALSE);
  for (guint i = 0; i < stores->len && reason == NULL; i++)
    add_buckets (counts, sl_store_reader (stores->pdata[i]), &where, buckets, &reason);
  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, (gpointer *) &known, NULL)) {
    const SlEventBucket bucket = { known[0], (guint64) known[1] };
    g_array_append_val (counted, bucket);
  }
  g_array_sort (counted, oldest_first);
  if (counted->len > SL_QUERY_BUCKETS_MOST)
    g_array_remove_range (counted, 0, counted->len - SL_QUERY_BUCKETS_MOST);
  if (reason == NULL)
    return counted;
  g_propagate_error (error, reason);
  g_array_unref (counted);
  return NULL;
}

gboolean
sl_event_query_totals (SlStore *store, SlEventTotals *totals, GError **error)
{
  SlSql *sql = sl_store_reader (store);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (sql, error,
                  "SELECT count(*), coalesce(sum(bytes), 0), coalesce(sum(kept), 0), "
                  "coalesce(sum(bytes * kept), 0), coalesce(min(time), 0) FROM event WHERE clip",
                  "");
  *totals = (SlEventTotals){ 0 };
  if (row == NULL || !sl_sql_next (sql, row, error))
    return FALSE;
  *totals =
    (SlEventTotals){ (guint64) sqlite3_column_int64 (row, 0),
                     (guint64) sqlite3_column_int64 (row, 1),
                     (guint64) sqlite3_column_int64 (row, 2),
                     (guint64) sqlite3_column_int64 (row, 3), sqlite3_column_int64 (row, 4) };
  return TRUE;
}
