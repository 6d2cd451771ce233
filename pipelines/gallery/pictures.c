/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One picture of each person at most, encrypted as embeddings are. */
#include "core/base/fail.h"
#include "pipelines/gallery/store.h"

#define PICTURE "picture"

gboolean
sl_identity_store_write_picture (SlIdentityStore *store, const char *camera,
                                 const SlIdentityEntry *entry, GError **error)
{
  gsize n;
  gconstpointer data = g_bytes_get_data (entry->jpeg, &n);
  g_autoptr (GBytes) sealed = sl_seal_close (store->seal, PICTURE, data, n, error);
  return sealed != NULL
         && sl_sql_do (&store->sql, error,
                       "INSERT OR REPLACE INTO picture SELECT id, ?, ?, ?, ? FROM person WHERE id "
                       "= ?",
                       "sidbi", camera, entry->time, entry->confidence, sealed, entry->person);
}

GBytes *
sl_identity_store_read_picture (SlIdentityStore *store, gint64 person, GError **error)
{
  g_autoptr (GError) cause = NULL;
  if (store->seal == NULL && sl_identity_store_is_sealed (store))
    return sl_fail_null (error, SL_ERROR_ARGUMENT, SL_IDENTITY_NEEDS_KEY, store->sql.path);
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error, "SELECT jpeg FROM picture WHERE person = ?", "i", person);
  if (row == NULL)
    return NULL;
  if (!sl_sql_next (&store->sql, row, &cause)) {
    if (cause == NULL)
      return sl_fail_null (error, SL_ERROR_ARGUMENT,
                           "%s: there is no picture of person %" G_GINT64_FORMAT
                           " in it; slgallery keeps pictures with pictures=true",
                           store->sql.path, person);
    g_propagate_error (error, g_steal_pointer (&cause));
    return NULL;
  }
  GBytes *jpeg = sl_seal_open (store->seal, PICTURE, sqlite3_column_blob (row, 0),
                               (gsize) sqlite3_column_bytes (row, 0));
  if (jpeg == NULL)
    sl_fail (error, SL_ERROR_FORMAT, SL_IDENTITY_OTHER_PICTURE, store->sql.path, person);
  return jpeg;
}

gboolean
sl_identity_store_load_pictures (SlIdentityStore *store, SlIdentityTable *table, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error, "SELECT person, time, score FROM picture", "");
  while (row != NULL && sl_sql_next (&store->sql, row, &cause))
    sl_identity_table_picture (table, sqlite3_column_int64 (row, 0), sqlite3_column_int64 (row, 1),
                               sqlite3_column_double (row, 2));
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && cause == NULL;
}
