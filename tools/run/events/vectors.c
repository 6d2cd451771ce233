/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers are written before their row is committed, so a row whose numbers were lost with the
 * power has a wrong checksum and is passed over. Places of deleted rows are used again. A search
 * takes the best places without a look at the index, and drops those that do not fit the question;
 * only where too few are left, the index says first which places count.
 */
#include "tools/run/events/vectors.h"

#include <string.h>

#include "core/base/fail.h"

/* Bytes of numbers that a search reads at most. */
#define BYTES_MOST (G_GINT64_CONSTANT (8) << 30)
/* Places of the first look, for each event that is asked for: an event has several. */
#define FIRST_LOOK 8

void
sl_vector_model_clear (SlVectorModel *model)
{
  g_free (model->hash);
  g_free (model->settings);
  *model = (SlVectorModel){ 0 };
}

static gint64
most_places (guint length)
{
  return BYTES_MOST / (gint64) sl_search_stride (length);
}

static gboolean
has_tables (SlSql *sql, GError **error)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (sql, error, "SELECT 1 FROM sqlite_master WHERE name = 'vector_model'", "");
  return row != NULL && sl_sql_next (sql, row, error);
}

/* Under the lock of @sql. FALSE without @error: there is none. */
static gboolean
read_model (SlSql *sql, SlVectorModel *model, GError **error)
{
  GError *reason = NULL;
  g_autoptr (sqlite3_stmt) row =
    has_tables (sql, &reason) ? sl_sql_query (
      sql, &reason,
      "SELECT id, hash, length, slots, settings FROM vector_model ORDER BY id DESC LIMIT 1", "")
                              : NULL;
  if (row == NULL || !sl_sql_next (sql, row, &reason)) {
    if (reason != NULL)
      g_propagate_error (error, reason);
    return FALSE;
  }
  const char *hash = sl_sql_text (row, 1), *settings = sl_sql_text (row, 4);
  const gint64 length = sqlite3_column_int64 (row, 2), places = sqlite3_column_int64 (row, 3);
  if (hash == NULL || settings == NULL || length < 1 || length > SL_VECTOR_LENGTH || places < 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: embeddings of %" G_GINT64_FORMAT
                    " numbers; expected 1 to %d, and what made them",
                    sql->path, length, SL_VECTOR_LENGTH);
  *model = (SlVectorModel){ sqlite3_column_int64 (row, 0), g_strdup (hash), g_strdup (settings),
                            (guint) length, MIN (places, most_places ((guint) length)) };
  return TRUE;
}

gboolean
sl_vectors_get_model (SlStore *store, SlVectorModel *model, GError **error)
{
  SlSql *sql = sl_store_reader (store);
  GError *reason = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  if (read_model (sql, model, &reason))
    return TRUE;
  if (reason == NULL)
    return sl_fail (error, SL_ERROR_OPEN, "%s: its pictures have no embeddings yet", store->folder);
  g_propagate_error (error, reason);
  return FALSE;
}

static gboolean
replace_model (SlStore *store, SlVectorModel *model, GError **error)
{
  SlSql *sql = &store->write;
  g_auto (SlVectorFile) file = { .fd = -1 };
  if (!sl_sql_script (sql, "DELETE FROM vector_model; DELETE FROM vector; DELETE FROM vector_free;",
                      error)
      || !sl_sql_do (sql, error,
                     "INSERT INTO vector_model (hash, length, slots, settings) VALUES (?, ?, 0, ?)",
                     "sis", model->hash, (gint64) model->length, model->settings))
    return FALSE;
  model->id = sqlite3_last_insert_rowid (sql->db);
  model->places = 0;
  return sl_vector_file_create (&file, store->folder, model->hash, model->length, error);
}

/* In a transaction. */
static gboolean
begin (SlStore *store, SlVectorModel *model, gboolean *lost, GError **error)
{
  SlSql *sql = &store->write;
  g_auto (SlVectorModel) known = { 0 };
  g_auto (SlVectorFile) file = { .fd = -1 };
  GError *reason = NULL;
  const gboolean has = read_model (sql, &known, &reason);
  if (reason != NULL) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  if (!has || strcmp (known.hash, model->hash) != 0 || known.length != model->length)
    return replace_model (store, model, error);
  if (!sl_vector_file_open (&file, store->folder, model->hash, model->length, &reason)) {
    *lost = g_error_matches (reason, SL_ERROR, SL_ERROR_FORMAT);
    if (!*lost)
      g_propagate_error (error, g_steal_pointer (&reason));
    g_clear_error (&reason);
    return *lost && replace_model (store, model, error);
  }
  model->id = known.id;
  model->places = known.places;
  return sl_sql_do (sql, error, "UPDATE vector_model SET settings = ? WHERE id = ?", "si",
                    model->settings, model->id);
}

gboolean
sl_vectors_begin (SlStore *store, SlVectorModel *model, gboolean *lost, GError **error)
{
  SlSql *sql = &store->write;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  *lost = FALSE;
  return sl_sql_script (sql, "BEGIN IMMEDIATE", error)
         && sl_sql_end (sql, begin (store, model, lost, error), error);
}

/* Whether @model is still that of the folder. Under the lock of @sql. */
static gboolean
check_model (SlSql *sql, const SlStore *store, const SlVectorModel *model, GError **error)
{
  GError *reason = NULL;
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (sql, &reason, "SELECT 1 FROM vector_model WHERE id = ?", "i", model->id);
  if (row != NULL && sl_sql_next (sql, row, &reason))
    return TRUE;
  if (reason == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: another program makes embeddings of another model here; expected one "
                    "model for a folder",
                    store->folder);
  g_propagate_error (error, reason);
  return FALSE;
}

/* -1 without @error: there is none. */
static gint64
ask_number (SlSql *sql, const char *text, gint64 argument, GError **error)
{
  g_autoptr (sqlite3_stmt) row = sl_sql_query (sql, error, text, "i", argument);
  return row != NULL && sl_sql_next (sql, row, error) ? sqlite3_column_int64 (row, 0) : -1;
}

GPtrArray *
sl_vectors_pending (SlStore *store, const SlVectorModel *model, guint most, gint64 *after,
                    GError **error)
{
  SlSql *sql = sl_store_reader (store);
  GError *reason = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  if (!check_model (sql, store, model, error))
    return NULL;
  /* Rows that come meanwhile have higher numbers. */
  const gint64 last = ask_number (sql, "SELECT max(id) FROM event WHERE id > ?", *after, &reason);
  g_autoptr (GPtrArray) stems = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (sqlite3_stmt) rows =
    reason == NULL
      ? sl_sql_query (sql, &reason,
                      "SELECT stem FROM event WHERE clip AND picture AND id > ? AND NOT EXISTS "
                      "(SELECT 1 FROM vector WHERE owner = id) ORDER BY time DESC, stem DESC "
                      "LIMIT ?",
                      "ii", *after, (gint64) most)
      : NULL;
  while (rows != NULL && sl_sql_next (sql, rows, &reason))
    if (sl_sql_text (rows, 0) != NULL) /* as a damaged index may have it */
      g_ptr_array_add (stems, g_strdup (sl_sql_text (rows, 0)));
  if (reason == NULL) {
    *after = stems->len == 0 ? MAX (last, *after) : *after;
    return g_steal_pointer (&stems);
  }
  g_propagate_error (error, reason);
  return NULL;
}

/* A free place, else one more; -1 with @error set. In a transaction. */
static gint64
take_place (SlSql *sql, const SlVectorModel *model, GError **error)
{
  GError *reason = NULL;
  gint64 place =
    ask_number (sql, "SELECT slot FROM vector_free WHERE slot >= ? LIMIT 1", 0, &reason);
  if (place >= 0)
    sl_sql_do (sql, &reason, "DELETE FROM vector_free WHERE slot = ?", "i", place);
  else if (reason == NULL) {
    place = ask_number (sql, "SELECT slots FROM vector_model WHERE id = ?", model->id, &reason);
    if (reason == NULL)
      sl_sql_do (sql, &reason, "UPDATE vector_model SET slots = slots + 1 WHERE id = ?", "i",
                 model->id);
  }
  if (reason == NULL && place >= 0 && place < most_places (model->length))
    return place;
  if (reason != NULL)
    g_propagate_error (error, reason);
  else
    sl_fail (error, SL_ERROR_LIMIT,
             "%s: expected at most %" G_GINT64_FORMAT " embeddings of this length", sql->path,
             most_places (model->length));
  return -1;
}

/* In a transaction. */
static gboolean
add_part (SlSql *sql, SlVectorFile *file, const SlVectorModel *model, gint64 owner,
          const SlVectorPart *part, GError **error)
{
  const gint64 place = take_place (sql, model, error);
  return place >= 0
         && sl_sql_do (sql, error,
                       "INSERT INTO vector (model, slot, owner, own, class) VALUES (?, ?, ?, ?, ?)",
                       "iiiis", model->id, place, owner, (gint64) part->own, part->label)
         && sl_vector_file_write (file, place, sqlite3_last_insert_rowid (sql->db), part->numbers,
                                  error);
}

/* In a transaction. A row without a place says that the picture was looked at. */
static gboolean
add (SlStore *store, const SlVectorModel *model, const char *stem, const GArray *parts,
     GError **error)
{
  SlSql *sql = &store->write;
  GError *reason = NULL;
  g_auto (SlVectorFile) file = { .fd = -1 };
  gint64 owner = -1;
  if (!check_model (sql, store, model, error))
    return FALSE;
  sqlite3_stmt *row =
    sl_sql_query (sql, &reason,
                  "SELECT id FROM event WHERE stem = ? AND NOT EXISTS (SELECT 1 FROM vector WHERE "
                  "owner = id)",
                  "s", stem);
  if (row != NULL && sl_sql_next (sql, row, &reason))
    owner = sqlite3_column_int64 (row, 0);
  sqlite3_finalize (row);
  if (reason != NULL)
    g_propagate_error (error, reason);
  if (owner < 0)
    return reason == NULL;
  if (parts->len == 0)
    return sl_sql_do (sql, error, "INSERT INTO vector (model, owner, own) VALUES (?, ?, 0)", "ii",
                      model->id, owner);
  if (!sl_vector_file_open (&file, store->folder, model->hash, model->length, error))
    return FALSE;
  for (guint i = 0; i < parts->len; i++)
    if (!add_part (sql, &file, model, owner, &g_array_index (parts, SlVectorPart, i), error))
      return FALSE;
  return sl_vector_file_sync (&file, error);
}

gboolean
sl_vectors_add (SlStore *store, const SlVectorModel *model, const char *stem, const GArray *parts,
                GError **error)
{
  SlSql *sql = &store->write;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  return sl_sql_script (sql, "BEGIN IMMEDIATE", error)
         && sl_sql_end (sql, add (store, model, stem, parts, error), error);
}

/* In a transaction. */
static gboolean
wipe (SlStore *store, const SlVectorModel *model, const GArray *places, GError **error)
{
  g_auto (SlVectorFile) file = { .fd = -1 };
  if (!check_model (&store->write, store, model, error)
      || !sl_vector_file_open (&file, store->folder, model->hash, model->length, error))
    return FALSE;
  for (guint i = 0; i < places->len; i++) {
    const gint64 place = g_array_index (places, gint64, i);
    /* Another program may have used it meanwhile. */
    const gint64 waits = ask_number (
      &store->write, "SELECT 1 FROM vector_free WHERE slot = ? AND NOT wiped", place, NULL);
    if (waits == 1
        && (!sl_vector_file_wipe (&file, place, error)
            || !sl_sql_do (&store->write, error, "UPDATE vector_free SET wiped = 1 WHERE slot = ?",
                           "i", place)))
      return FALSE;
  }
  return TRUE;
}

gboolean
sl_vectors_wipe (SlStore *store, const SlVectorModel *model, guint most, GError **error)
{
  SlSql *sql = &store->write;
  GError *reason = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (gint64));
  sqlite3_stmt *rows = sl_sql_query (
    sql, &reason, "SELECT slot FROM vector_free WHERE NOT wiped AND slot BETWEEN 0 AND ? LIMIT ?",
    "ii", most_places (model->length) - 1, (gint64) most);
  while (rows != NULL && sl_sql_next (sql, rows, &reason)) {
    const gint64 place = sqlite3_column_int64 (rows, 0);
    g_array_append_val (places, place);
  }
  sqlite3_finalize (rows);
  if (reason != NULL) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  return places->len == 0
         || (sl_sql_script (sql, "BEGIN IMMEDIATE", error)
             && sl_sql_end (sql, wipe (store, model, places, error), error));
}

/* Where the numbers of a row are. */
typedef struct
{
  gint64 number, place;
} Kept;

/* (transfer full) (nullable): those behind *@after that are damaged. */
static GArray *
find_damaged (SlSql *sql, const SlVectorFile *file, const SlVectorModel *model, guint most,
              gint64 *after, GError **error)
{
  GError *reason = NULL;
  g_autofree gfloat *numbers = g_new (gfloat, model->length);
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (Kept));
  g_autoptr (sqlite3_stmt) rows = sl_sql_query (
    sql, &reason,
    "SELECT number, slot FROM vector WHERE number > ? AND +model = ? AND +slot BETWEEN 0 AND ? "
    "ORDER BY number LIMIT ?",
    "iiii", *after, model->id, most_places (model->length) - 1, (gint64) most);
  while (rows != NULL && sl_sql_next (sql, rows, &reason)) {
    const Kept kept = { sqlite3_column_int64 (rows, 0), sqlite3_column_int64 (rows, 1) };
    *after = kept.number;
    if (!sl_vector_file_read (file, kept.place, kept.number, numbers))
      g_array_append_val (found, kept);
  }
  if (reason == NULL)
    return g_steal_pointer (&found);
  g_propagate_error (error, reason);
  return NULL;
}

/* In a transaction. All of a clip are made again. @damaged: another program may have used their
 * places meanwhile, and then their rows are gone. */
static gboolean
drop_damaged (SlStore *store, const SlVectorModel *model, const GArray *damaged, guint *n,
              GError **error)
{
  SlSql *sql = &store->write;
  g_auto (SlVectorFile) file = { .fd = -1 };
  g_autofree gfloat *numbers = g_new (gfloat, model->length);
  GError *reason = NULL;
  if (!check_model (sql, store, model, error)
      || !sl_vector_file_open (&file, store->folder, model->hash, model->length, error))
    return FALSE;
  for (guint i = 0; i < damaged->len && reason == NULL; i++) {
    const Kept *kept = &g_array_index (damaged, Kept, i);
    const gint64 owner =
      ask_number (sql, "SELECT owner FROM vector WHERE number = ?", kept->number, &reason);
    if (owner < 0 || sl_vector_file_read (&file, kept->place, kept->number, numbers))
      continue;
    *n += 1;
    sl_sql_do (sql, &reason, "DELETE FROM vector WHERE owner = ?", "i", owner);
  }
  if (reason == NULL)
    return TRUE;
  g_propagate_error (error, reason);
  return FALSE;
}

gboolean
sl_vectors_check (SlStore *store, const SlVectorModel *model, guint most, gint64 *after,
                  guint *damaged, GError **error)
{
  SlSql *sql = &store->write;
  g_auto (SlVectorFile) file = { .fd = -1 };
  if (!sl_vector_file_open (&file, store->folder, model->hash, model->length, error))
    return FALSE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (GArray) found = find_damaged (sql, &file, model, most, after, error);
  if (found == NULL || found->len == 0)
    return found != NULL;
  return sl_sql_script (sql, "BEGIN IMMEDIATE", error)
         && sl_sql_end (sql, drop_damaged (store, model, found, damaged, error), error);
}

void
sl_vector_hit_free (gpointer data)
{
  SlVectorHit *hit = data;
  g_free (hit->label);
  g_clear_pointer (&hit->row, sl_event_row_free);
  g_free (hit);
}

/* A question on its way. */
typedef struct
{
  SlStore *store;
  const SlVectorModel *model;
  const SlEventQuery *query;
  const gfloat *numbers;
  SlVectorFile file;
} Look;

/* Rows of the index that fit the question, @condition on their model, and one more that may follow
 * behind that of the object's class. Under the lock of @sql. */
static sqlite3_stmt *
prepare (SlSql *sql, const Look *look, const char *columns, const char *condition, const char *more,
         gint *next, GError **error)
{
  SlEventQuery events = *look->query;
  const char *label = events.label;
  events.label = NULL;
  g_autofree char *select = g_strconcat (
                    "SELECT ", columns, " FROM vector JOIN event ON event.id = vector.owner", NULL),
                  *all = g_strconcat (condition, label != NULL ? " AND class = ?" : "", more, NULL);
  sqlite3_stmt *rows = sl_event_query_prepare (sql, &events, select, all, next, error);
  if (rows == NULL)
    return NULL;
  sqlite3_bind_int64 (rows, (*next)++, look->model->id);
  if (label != NULL)
    sl_sql_bind (rows, (*next)++, label);
  return rows;
}

static gboolean
is_known (GPtrArray *found, const char *stem)
{
  for (guint i = 0; i < found->len; i++)
    if (strcmp (((SlVectorHit *) found->pdata[i])->row->stem, stem) == 0)
      return TRUE;
  return FALSE;
}

/* The events of @hits that fit, best first. NULL with @error set. */
static GPtrArray *
find_events (const Look *look, const SlSearchHit *hits, guint n, GError **error)
{
  SlSql *sql = sl_store_reader (look->store);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (sl_vector_hit_free);
  g_autofree gfloat *numbers = g_new (gfloat, look->file.length);
  GError *reason = NULL;
  gint next;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (sqlite3_stmt) rows =
    prepare (sql, look, SL_EVENT_COLUMNS ", vector.number, class", "vector.model = ?",
             " AND vector.slot = ?", &next, error);
  if (rows == NULL)
    return NULL;
  for (guint i = 0; i < n && found->len < look->query->limit; i++) {
    sqlite3_reset (rows);
    sqlite3_bind_int64 (rows, next, (gint64) hits[i].row);
    if (!sl_sql_next (sql, rows, &reason)) {
      if (reason != NULL) {
        g_propagate_error (error, reason);
        return NULL;
      }
      continue;
    }
    if (sl_sql_text (rows, 0) == NULL || sl_sql_text (rows, 1) == NULL
        || sl_sql_text (rows, 3) == NULL /* of a damaged index */
        || is_known (found, sl_sql_text (rows, 0))
        || !sl_vector_file_read (&look->file, (gint64) hits[i].row,
                                 sqlite3_column_int64 (rows, SL_EVENT_N_COLUMNS), numbers))
      continue;
    SlVectorHit *hit = g_new0 (SlVectorHit, 1);
    hit->score = CLAMP (hits[i].cosine, -1, 1);
    hit->row = sl_event_row_read (look->store, rows);
    hit->label = g_strdup (sl_sql_text (rows, SL_EVENT_N_COLUMNS + 1));
    g_ptr_array_add (found, hit);
  }
  return g_steal_pointer (&found);
}

/* (transfer full): a byte for each place: whether it fits. NULL with @error set. The index of
 * places is hidden by "+": it would be gone through for each event. */
static guint8 *
find_places (const Look *look, GError **error)
{
  SlSql *sql = sl_store_reader (look->store);
  GError *reason = NULL;
  gint next;
  g_autofree guint8 *mask = g_malloc0 ((gsize) look->model->places + 1);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (sqlite3_stmt) rows = prepare (
    sql, look, "vector.slot", "+vector.model = ? AND +vector.slot IS NOT NULL", "", &next, &reason);
  while (rows != NULL && sl_sql_next (sql, rows, &reason)) {
    const gint64 place = sqlite3_column_int64 (rows, 0);
    if (place >= 0 && place < look->model->places)
      mask[place] = 1;
  }
  if (reason == NULL)
    return g_steal_pointer (&mask);
  g_propagate_error (error, reason);
  return NULL;
}

/* NULL with @error set. @all: (out): every place was looked at */
static GPtrArray *
look_at (const Look *look, const guint8 *mask, guint most, gboolean *all, GError **error)
{
  g_autofree SlSearchHit *hits = g_new (SlSearchHit, most);
  guint n;
  if (!sl_vector_file_search (&look->file, look->model->places, mask, look->numbers, most, hits, &n,
                              error))
    return NULL;
  *all = n < most;
  return find_events (look, hits, n, error);
}

GPtrArray *
sl_vectors_search (SlStore *store, const SlVectorModel *model, const SlEventQuery *query,
                   const gfloat *numbers, GError **error)
{
  Look look = { store, model, query, numbers, { .fd = -1 } };
  gboolean all;
  if (!sl_vector_file_open (&look.file, store->folder, model->hash, model->length, error))
    return NULL;
  GPtrArray *found =
    look_at (&look, NULL, CLAMP (query->limit * FIRST_LOOK, 1, SL_VECTORS_HITS), &all, error);
  if (found != NULL && found->len < query->limit && !all) {
    g_ptr_array_unref (found);
    g_autofree guint8 *mask = find_places (&look, error);
    found = mask != NULL ? look_at (&look, mask, SL_VECTORS_HITS, &all, error) : NULL;
  }
  sl_vector_file_close (&look.file);
  return found;
}

gfloat *
sl_vectors_of_event (SlStore *store, const SlVectorModel *model, const char *stem, GError **error)
{
  SlSql *sql = sl_store_reader (store);
  g_auto (SlVectorFile) file = { .fd = -1 };
  g_autofree gfloat *numbers = g_new0 (gfloat, model->length);
  GError *reason = NULL;
  if (!sl_vector_file_open (&file, store->folder, model->hash, model->length, error))
    return NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    sql, &reason,
    "SELECT slot, number FROM vector JOIN event ON event.id = vector.owner WHERE stem = ? AND "
    "vector.model = ? AND slot IS NOT NULL ORDER BY own DESC, number LIMIT 1",
    "si", stem, model->id);
  const gboolean has = row != NULL && sl_sql_next (sql, row, &reason);
  const gint64 place = has ? sqlite3_column_int64 (row, 0) : -1;
  if (reason != NULL) {
    g_propagate_error (error, reason);
    return NULL;
  }
  if (place >= 0 && place < most_places (model->length)
      && sl_vector_file_read (&file, place, sqlite3_column_int64 (row, 1), numbers))
    return g_steal_pointer (&numbers);
  return sl_fail_null (
    error, SL_ERROR_OPEN,
    "%s: its picture has no embedding yet, or the event has none, or there is no "
    "such event",
    stem);
}
