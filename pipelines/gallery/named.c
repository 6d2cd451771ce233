/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * People with names, whom somebody has registered with pictures. Their embeddings are views of a
 * camera of their own, SL_IDENTITY_REGISTERED. Names are encrypted where embeddings are, so they
 * are compared here and not by SQLite.
 */
#include <string.h>

#include "core/base/fail.h"
#include "core/base/plain_name.h"
#include "pipelines/gallery/shared.h"

#define NAME "name"

/* (transfer full) (nullable): the name in column @i; NULL: it is not what was written. */
static char *
open_name (const SlIdentityStore *store, sqlite3_stmt *row, gint i)
{
  gsize n = 0;
  g_autoptr (GBytes) plain = sl_seal_open (store->seal, NAME, sqlite3_column_blob (row, i),
                                           (gsize) sqlite3_column_bytes (row, i));
  const char *text = plain != NULL ? g_bytes_get_data (plain, &n) : NULL;
  g_autofree char *name = text != NULL ? g_strndup (text, n) : NULL;
  return name != NULL && sl_is_plain_name (name, SL_IDENTITY_NAME) ? g_steal_pointer (&name) : NULL;
}

static gboolean
each_name (SlIdentityStore *store, void (*see) (gpointer data, gint64 person, const char *name),
           gpointer data, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error, "SELECT person, name FROM named ORDER BY person", "");
  while (row != NULL && sl_sql_next (&store->sql, row, &cause)) {
    g_autofree char *name = open_name (store, row, 1);
    const gint64 person = sqlite3_column_int64 (row, 0);
    if (name == NULL)
      return sl_fail (error, SL_ERROR_FORMAT,
                      "%s: the name of person %" G_GINT64_FORMAT
                      " is not what was written: forget that person, or put a copy back",
                      store->sql.path, person);
    see (data, person, name);
  }
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && cause == NULL;
}

static void
set_name (gpointer data, gint64 person, const char *name)
{
  sl_identity_table_name (data, person, name);
}

gboolean
sl_identity_store_load_names (SlIdentityStore *store, SlIdentityTable *table, GError **error)
{
  return each_name (store, set_name, table, error);
}

static void
add_name (gpointer data, gint64 person, const char *name)
{
  g_strv_builder_add (data, name);
}

GStrv
sl_identity_store_names (SlIdentityStore *store, GError **error)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  return each_name (store, add_name, names, error) ? g_strv_builder_end (names) : NULL;
}

char *
sl_identity_store_name (SlIdentityStore *store, gint64 person)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, NULL, "SELECT name FROM named WHERE person = ?", "i", person);
  return row != NULL && sl_sql_next (&store->sql, row, NULL) ? open_name (store, row, 0) : NULL;
}

typedef struct
{
  const char *name;
  gint64 person;
} Sought;

static void
compare_name (gpointer data, gint64 person, const char *name)
{
  Sought *sought = data;
  if (sought->person == 0 && strcmp (name, sought->name) == 0)
    sought->person = person;
}

/* @person: (out): 0 = nobody is called @name */
static gboolean
find (SlIdentityStore *store, const char *name, gint64 *person, GError **error)
{
  Sought sought = { name, 0 };
  if (!each_name (store, compare_name, &sought, error))
    return FALSE;
  *person = sought.person;
  return TRUE;
}

/* A person called @name, in a transaction. */
static gboolean
add_person (SlIdentityStore *store, const char *name, gint64 *person, GError **error)
{
  g_autoptr (GBytes) sealed = sl_seal_close (store->seal, NAME, name, strlen (name), error);
  return sealed != NULL && sl_identity_store_take_numbers (store, 1, person, error)
         && sl_sql_do (&store->sql, error, "INSERT INTO person VALUES (?)", "i", *person)
         && sl_sql_do (&store->sql, error, "INSERT INTO named VALUES (?, ?)", "ib", *person,
                       sealed);
}

/* Likewise: the pictures' embeddings in place of those before, newest first. */
static gboolean
write_looks (SlIdentityStore *store, gint64 person, const SlIdentityLooks *looks, gint64 now,
             GError **error)
{
  if (!sl_sql_do (&store->sql, error, "DELETE FROM view WHERE person = ? AND camera = ?", "is",
                  person, SL_IDENTITY_REGISTERED)
      || !sl_sql_do (&store->sql, error, "DELETE FROM sighting WHERE person = ? AND camera = ?",
                     "is", person, SL_IDENTITY_REGISTERED))
    return FALSE;
  for (guint i = 0; i < looks->n; i++) {
    g_autoptr (GBytes) look = sl_seal_close (store->seal, SL_IDENTITY_LOOK,
                                             looks->rows + i * looks->stride, store->length, error);
    if (look == NULL
        || !sl_sql_do (&store->sql, error, "INSERT INTO view VALUES (?, ?, ?, ?)", "isib", person,
                       SL_IDENTITY_REGISTERED, now - (gint64) i, look))
      return FALSE;
  }
  return sl_identity_store_trim_views (store, person, error)
         && sl_sql_do (&store->sql, error, "INSERT INTO sighting VALUES (?, ?, ?, ?, 1, -1)",
                       "isii", person, SL_IDENTITY_REGISTERED, now, now);
}

gboolean
sl_identity_store_register (SlIdentityStore *store, const char *name, const SlIdentityLooks *looks,
                            gint64 now, gboolean *known, GError **error)
{
  gint64 person;
  g_return_val_if_fail (looks->n >= 1 && looks->n <= SL_IDENTITY_VIEWS, FALSE);
  if (!sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error))
    return FALSE;
  gboolean good = find (store, name, &person, error);
  *known = good && person != 0;
  good = good && (*known || add_person (store, name, &person, error))
         && write_looks (store, person, looks, now, error);
  return sl_sql_end (&store->sql, good, error);
}

gboolean
sl_identity_store_unregister (SlIdentityStore *store, const char *name, gboolean *known,
                              GError **error)
{
  SlIdentityChoice choice = { 0 };
  guint gone;
  *known = FALSE;
  while (find (store, name, &choice.person, error)) {
    if (choice.person == 0)
      return TRUE;
    *known = TRUE;
    if (!sl_identity_store_forget (store, &choice, &gone, error))
      return FALSE;
  }
  return FALSE;
}
