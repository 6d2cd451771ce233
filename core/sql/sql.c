/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/sql/sql.h"

#include <stdarg.h>

#include "core/base/fail.h"

/* Milliseconds that another process may hold the database. */
#define BUSY_MS 5000
/* What every connection keeps in memory. */
#define IN_MEMORY "PRAGMA cache_size=-16000; PRAGMA temp_store=MEMORY;"
/* What a pointer is called among arguments. */
#define POINTER "SlSqlPointer"

static gboolean
fail (const SlSql *sql, GError **error)
{
  const int code = sqlite3_errcode (sql->db) & 0xff;
  const gboolean damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  return sl_fail (error, damaged ? SL_ERROR_FORMAT : SL_ERROR_OPEN, "%s: %s", sql->path,
                  sqlite3_errmsg (sql->db));
}

static void
finalize (gpointer statement)
{
  sqlite3_finalize (statement);
}

/* @name: what SQLite calls @path; @pragmas: statements that set the connection up */
static gboolean
open_as (SlSql *sql, const char *path, const char *name, int flags, const char *pragmas,
         GError **error)
{
  *sql = (SlSql){ .path = g_strdup (path) };
  g_mutex_init (&sql->lock);
  sql->prepared = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, finalize);
  const gboolean opened =
    sqlite3_open_v2 (name, &sql->db, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
  if (sql->db != NULL) {
    sqlite3_busy_timeout (sql->db, BUSY_MS);
    sqlite3_db_config (sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config (sql->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  }
  if (opened && sl_sql_script (sql, pragmas, error))
    return TRUE;
  if (!opened)
    fail (sql, error);
  sl_sql_close (sql);
  return FALSE;
}

gboolean
sl_sql_open (SlSql *sql, const char *path, GError **error)
{
  return open_as (sql, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                  "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; " IN_MEMORY, error);
}

static gboolean
has_beside (const char *path, const char *suffix)
{
  g_autofree char *beside = g_strconcat (path, suffix, NULL);
  return g_file_test (beside, G_FILE_TEST_EXISTS);
}

/* Without a log nobody has the file open. It is "immutable" then: SQLite would make a log, and
 * leave it. */
gboolean
sl_sql_open_to_read (SlSql *sql, const char *path, GError **error)
{
  g_autofree char *whole = g_canonicalize_filename (path, NULL),
                  *escaped = g_uri_escape_string (whole, "/", TRUE);
  const gboolean alone = !has_beside (path, "-wal") && !has_beside (path, "-journal");
  g_autofree char *uri =
    g_strconcat ("file://", escaped, alone ? "?mode=ro&immutable=1" : "?mode=ro", NULL);
  return open_as (sql, path, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, IN_MEMORY, error);
}

void
sl_sql_close (SlSql *sql)
{
  if (sql->path == NULL)
    return;
  g_hash_table_unref (sql->prepared);
  sqlite3_close (sql->db);
  g_mutex_clear (&sql->lock);
  g_free (sql->path);
  *sql = (SlSql){ 0 };
}

void
sl_sql_add_function (SlSql *sql, const char *name, gint n, SlSqlFunction function)
{
  sqlite3_create_function (sql->db, name, n, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, function, NULL,
                           NULL);
}

gpointer
sl_sql_pointer (sqlite3_value *value)
{
  return sqlite3_value_pointer (value, POINTER);
}

gboolean
sl_sql_script (SlSql *sql, const char *text, GError **error)
{
  return sqlite3_exec (sql->db, text, NULL, NULL, NULL) == SQLITE_OK || fail (sql, error);
}

gboolean
sl_sql_end (SlSql *sql, gboolean good, GError **error)
{
  if (good && sl_sql_script (sql, "COMMIT", error))
    return TRUE;
  sl_sql_script (sql, "ROLLBACK", NULL);
  return FALSE;
}

gboolean
sl_sql_check_pages (SlSql *sql, char **damage, GError **error)
{
  g_autoptr (sqlite3_stmt) row = sl_sql_query (sql, error, "PRAGMA quick_check(1)", "");
  *damage = NULL;
  if (row == NULL || !sl_sql_next (sql, row, error))
    return FALSE;
  const char *result = sl_sql_text (row, 0);
  if (g_strcmp0 (result, "ok") != 0)
    *damage = g_strdup (result != NULL ? result : "(null)");
  return TRUE;
}

void
sl_sql_bind (sqlite3_stmt *statement, gint i, const char *text)
{
  sqlite3_bind_text (statement, i, text, -1, SQLITE_TRANSIENT);
}

static void
bind_all (sqlite3_stmt *statement, const char *types, va_list args)
{
  for (gint i = 1; *types != '\0'; types++, i++) {
    if (*types == 's')
      sl_sql_bind (statement, i, va_arg (args, const char *));
    else if (*types == 'i')
      sqlite3_bind_int64 (statement, i, va_arg (args, gint64));
    else if (*types == 'd')
      sqlite3_bind_double (statement, i, va_arg (args, double));
    else if (*types == 'p')
      sqlite3_bind_pointer (statement, i, va_arg (args, gpointer), POINTER, NULL);
    else {
      gsize size;
      gconstpointer data = g_bytes_get_data (va_arg (args, GBytes *), &size);
      sqlite3_bind_blob64 (statement, i, data, size, SQLITE_TRANSIENT);
    }
  }
}

gboolean
sl_sql_do (SlSql *sql, GError **error, const char *text, const char *types, ...)
{
  sqlite3_stmt *statement = g_hash_table_lookup (sql->prepared, text);
  va_list args;
  if (statement == NULL) {
    if (sqlite3_prepare_v2 (sql->db, text, -1, &statement, NULL) != SQLITE_OK)
      return fail (sql, error);
    g_hash_table_insert (sql->prepared, (gpointer) text, statement);
  }
  va_start (args, types);
  bind_all (statement, types, args);
  va_end (args);
  const gboolean done = sqlite3_step (statement) == SQLITE_DONE || fail (sql, error);
  sqlite3_reset (statement);
  sqlite3_clear_bindings (statement);
  return done;
}

sqlite3_stmt *
sl_sql_query (SlSql *sql, GError **error, const char *text, const char *types, ...)
{
  sqlite3_stmt *statement = NULL;
  va_list args;
  if (sqlite3_prepare_v2 (sql->db, text, -1, &statement, NULL) != SQLITE_OK) {
    fail (sql, error);
    return NULL;
  }
  va_start (args, types);
  bind_all (statement, types, args);
  va_end (args);
  return statement;
}

gboolean
sl_sql_next (SlSql *sql, sqlite3_stmt *statement, GError **error)
{
  const int code = sqlite3_step (statement);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    fail (sql, error);
  return code == SQLITE_ROW;
}

const char *
sl_sql_text (sqlite3_stmt *statement, gint i)
{
  return (const char *) sqlite3_column_text (statement, i);
}

gboolean
sl_sql_is_damaged (const GError *error)
{
  return g_error_matches (error, SL_ERROR, SL_ERROR_FORMAT);
}
