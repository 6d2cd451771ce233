/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each step jumps to the next word, so that the time is that of the words and not of their events.
 */
#include "tools/run/events/words.h"

static const char all[] =
  "WITH RECURSIVE next (text) AS (SELECT min(text) FROM word WHERE kind = ?1 UNION ALL SELECT "
  "(SELECT min(text) FROM word WHERE kind = ?1 AND text > next.text) FROM next WHERE text IS NOT "
  "NULL) SELECT text FROM next WHERE text IS NOT NULL LIMIT ?2";

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
sl_event_words (GPtrArray *stores, SlWordKind kind, GError **error)
{
  g_autoptr (GHashTable) found = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  GError *reason = NULL;
  for (guint i = 0; i < stores->len && reason == NULL; i++) {
    SlSql *sql = sl_store_reader (stores->pdata[i]);
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sql->lock);
    g_autoptr (sqlite3_stmt) rows =
      sl_sql_query (sql, &reason, all, "ii", (gint64) kind, (gint64) SL_EVENT_WORDS_MOST);
    while (rows != NULL && sl_sql_next (sql, rows, &reason)) {
      const char *text = sl_sql_text (rows, 0);
      if (g_hash_table_contains (found, text))
        continue;
      g_ptr_array_add (words, g_strdup (text));
      g_hash_table_add (found, words->pdata[words->len - 1]);
    }
  }
  g_ptr_array_sort (words, by_text);
  if (words->len > SL_EVENT_WORDS_MOST)
    g_ptr_array_set_size (words, SL_EVENT_WORDS_MOST);
  if (reason == NULL)
    return words;
  g_propagate_error (error, reason);
  g_ptr_array_unref (words);
  return NULL;
}
