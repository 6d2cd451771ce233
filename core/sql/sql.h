/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A database of SQLite with fewer words. A connection is one thread's at a time: who uses it holds
 * its lock, or is the only one.
 */
#pragma once

#include <glib.h>
#include <sqlite3.h>

/** SlSql: @prepared: statements of sl_sql_do(), by their texts, which are static */
typedef struct
{
  sqlite3 *db;
  GMutex lock;
  char *path;
  GHashTable *prepared;
} SlSql;

/** sl_sql_open: @path: ":memory:" is one that ends with the connection. FALSE with SL_ERROR_OPEN.
 */
gboolean sl_sql_open (SlSql *sql, const char *path, GError **error);
/** sl_sql_open_to_read: of a file that is there, which stays as it is, with what a killed program
 * left in its write-ahead log: that is read, too. Likewise. */
gboolean sl_sql_open_to_read (SlSql *sql, const char *path, GError **error);
void sl_sql_close (SlSql *sql);
/** SlSqlFunction: a function of SQL statements. */
typedef void (*SlSqlFunction) (sqlite3_context *context, int n, sqlite3_value **values);
/** sl_sql_add_function: @name with @n arguments is @function in statements from now on. */
void sl_sql_add_function (SlSql *sql, const char *name, gint n, SlSqlFunction function);
/** sl_sql_pointer: (nullable): the pointer that the argument @value is. */
gpointer sl_sql_pointer (sqlite3_value *value);
/** sl_sql_script: runs statements without results. */
gboolean sl_sql_script (SlSql *sql, const char *text, GError **error);
/** sl_sql_end: ends a transaction, where all of it went well by COMMIT: @good. Else by ROLLBACK,
 * and it is FALSE. */
gboolean sl_sql_end (SlSql *sql, gboolean good, GError **error);
/**
 * sl_sql_do: runs one statement without results.
 * @text: static
 * @types: a letter for each argument: 's' (const char *, nullable), 'i' (gint64), 'd' (double), 'b'
 *  (GBytes *), 'p' (gpointer, which functions get by sl_sql_pointer())
 */
gboolean sl_sql_do (SlSql *sql, GError **error, const char *text, const char *types, ...);
/** sl_sql_query: (transfer full) (nullable): a statement with arguments as above, for
 * sl_sql_next(); sqlite3_finalize() ends it. */
sqlite3_stmt *sl_sql_query (SlSql *sql, GError **error, const char *text, const char *types, ...);
/** sl_sql_next: TRUE: there is a row. FALSE: the end, or @error is set. */
gboolean sl_sql_next (SlSql *sql, sqlite3_stmt *statement, GError **error);
/** sl_sql_check_pages: reads every page of the file. *@damage: (out) (transfer full) (nullable):
 * what SQLite says of the first damaged one, NULL = none. FALSE where the file cannot be read. */
gboolean sl_sql_check_pages (SlSql *sql, char **damage, GError **error);
/** sl_sql_bind: argument @i, from 1, is @text (nullable), which is copied. */
void sl_sql_bind (sqlite3_stmt *statement, gint i, const char *text);
/** sl_sql_text: (transfer none) (nullable): of column @i, from 0. */
const char *sl_sql_text (sqlite3_stmt *statement, gint i);
/** sl_sql_is_damaged: whether the file is not, or no more, a database. */
gboolean sl_sql_is_damaged (const GError *error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)
