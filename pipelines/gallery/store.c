/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a file says is checked: sizes of rows, names of cameras, how many there are. Rows that are
 * not whole are an error, since a gallery that is partly read would give old people new numbers.
 */
#include "pipelines/gallery/store.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/printable.h"

/* "SLga": a file of another program has another number, and is not touched. */
#define APPLICATION 0x534c6761
#define VERSION 2
#define EXPECTED "expected a gallery that sightline has made, or a name without a file"
#define KEY_CHECK "key"
#define KEY_TEXT "sightline gallery"
/* Bytes of a value: expressions in a file may make more. */
#define LONGEST_VALUE (16 << 20)

/* Files of earlier versions get it when they are opened. */
static const char merged_schema[] =
  "CREATE TABLE IF NOT EXISTS merged (person INTEGER NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL, n "
  "REAL NOT NULL, mean REAL NOT NULL, squares REAL NOT NULL);";

static const char schema[] =
  "BEGIN IMMEDIATE;"
  "CREATE TABLE IF NOT EXISTS about (id INTEGER PRIMARY KEY CHECK (id = 1), model TEXT NOT NULL, "
  "length INTEGER NOT NULL, keep INTEGER NOT NULL, most INTEGER NOT NULL, next INTEGER NOT NULL, "
  "sealed BLOB);"
  "CREATE TABLE IF NOT EXISTS person (id INTEGER PRIMARY KEY);"
  "CREATE TABLE IF NOT EXISTS view (person INTEGER NOT NULL, camera TEXT NOT NULL, time INTEGER "
  "NOT NULL, look BLOB NOT NULL, PRIMARY KEY (person, camera, time));"
  "CREATE TABLE IF NOT EXISTS sighting (person INTEGER NOT NULL, camera TEXT NOT NULL, first "
  "INTEGER NOT NULL, last INTEGER NOT NULL, confidence REAL NOT NULL, cosine REAL NOT NULL, "
  "PRIMARY KEY (person, camera, first));"
  "CREATE TABLE IF NOT EXISTS evidence (a TEXT NOT NULL, b TEXT NOT NULL, same INTEGER NOT NULL, n "
  "REAL NOT NULL, mean REAL NOT NULL, squares REAL NOT NULL, PRIMARY KEY (a, b, same));"
  "CREATE TABLE IF NOT EXISTS named (person INTEGER PRIMARY KEY, name BLOB NOT NULL);"
  "CREATE TABLE IF NOT EXISTS picture (person INTEGER PRIMARY KEY, camera TEXT NOT NULL, time "
  "INTEGER NOT NULL, score REAL NOT NULL, jpeg BLOB NOT NULL);"
  "CREATE INDEX IF NOT EXISTS view_time ON view (time);"
  "CREATE INDEX IF NOT EXISTS sighting_last ON sighting (last);"
  "PRAGMA application_id=1397516129; PRAGMA user_version=2; COMMIT;";

/* What is in it is for its owner. A link would lead elsewhere. */
static gboolean
make_private (const char *path, gboolean make, GError **error)
{
  const gint flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (make ? O_CREAT : 0);
  const gint fd = g_open (path, flags, 0600);
  const gint code = errno;
  struct stat status;
  const gboolean good = fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode);
  if (fd >= 0)
    close (fd);
  return good
         || sl_fail (error, SL_ERROR_OPEN,
                     "%s: %s; expected the file of a gallery that can be "
                     "written",
                     path, fd < 0 ? g_strerror (code) : "it is not a regular file");
}

/* One number that @text asks for. */
static gboolean
ask (SlSql *sql, const char *text, gint64 *number, GError **error)
{
  g_autoptr (sqlite3_stmt) row = sl_sql_query (sql, error, text, "");
  if (row == NULL || !sl_sql_next (sql, row, error))
    return FALSE;
  *number = sqlite3_column_int64 (row, 0);
  return TRUE;
}

/* What a file is opened for. */
typedef enum
{
  MAKE,
  CHANGE,
  LOOK
} Purpose;

/* As sl_sql_open(), for a file that may be anything. */
static gboolean
open_file (SlSql *sql, const char *path, Purpose purpose, GError **error)
{
  g_autoptr (GError) cause = NULL;
  return (purpose == LOOK ? sl_sql_open_to_read : sl_sql_open) (sql, path, &cause)
         || sl_fail (error, (SlError) cause->code, "%s%s", cause->message,
                     cause->code == SL_ERROR_FORMAT ? "; " EXPECTED : "");
}

/* A view or a trigger in the place of a table could do anything. */
static gboolean
check_kind (SlSql *sql, GError **error)
{
  gint64 tables, odd, application, version;
  if (!ask (sql, "SELECT count(*) FROM sqlite_master", &tables, error)
      || !ask (
        sql,
        "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE "
        "'CREATE VIRTUAL%'",
        &odd, error)
      || !ask (sql, "PRAGMA application_id", &application, error)
      || !ask (sql, "PRAGMA user_version", &version, error))
    return FALSE;
  if (tables > 0 && (application != APPLICATION || odd > 0))
    return sl_fail (error, SL_ERROR_FORMAT, "%s: it is the database of something else; " EXPECTED,
                    sql->path);
  return tables == 0 || version == VERSION
         || sl_fail (error, SL_ERROR_UNSUPPORTED,
                     "%s: a gallery of version %" G_GINT64_FORMAT
                     ", expected version %d: run the sightline that made it, or take another file",
                     sql->path, version, VERSION);
}

static gboolean
check_pages (SlSql *sql, GError **error)
{
  g_autofree char *damage = NULL;
  return sl_sql_check_pages (sql, &damage, error)
         && (damage == NULL
             || sl_fail (error, SL_ERROR_FORMAT,
                         "%s: it is damaged: %s; expected a whole gallery: put "
                         "a copy back, or remove the file",
                         sql->path, damage));
}

/* Whether the key that is stated is the one of the file. @sealed: the file's check of it. */
static gboolean
check_key (SlIdentityStore *store, const void *sealed, gsize n, gboolean must, GError **error)
{
  const char *path = store->sql.path;
  if (store->seal == NULL)
    return n == 0 || !must || sl_fail (error, SL_ERROR_ARGUMENT, SL_IDENTITY_NEEDS_KEY, path);
  if (n == 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: it is not encrypted, but a key file is stated: leave that out, or take "
                    "another file",
                    path);
  g_autoptr (GBytes) plain = sl_seal_open (store->seal, KEY_CHECK, sealed, n);
  return plain != NULL
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "%s: it is encrypted with another key; expected the key that it was made with",
                     path);
}

static gboolean
begin_about (SlIdentityStore *store, GError **error)
{
  SlIdentityRules *rules = &store->rules;
  g_autoptr (GBytes) sealed =
    store->seal != NULL ? sl_seal_close (store->seal, KEY_CHECK, KEY_TEXT, strlen (KEY_TEXT), error)
                        : g_bytes_new (NULL, 0);
  return sealed != NULL
         && sl_sql_do (
           &store->sql, error, "INSERT OR IGNORE INTO about VALUES (1, ?, ?, ?, ?, 1, ?)", "siiib",
           store->model, (gint64) store->length, rules->keep, (gint64) rules->most, sealed);
}

/* Embeddings in the file are of model @found, with @n numbers. */
static gboolean
compare_models (const SlIdentityStore *store, const char *found, gint64 n, const char *wanted,
                guint n_wanted, GError **error)
{
  if (g_strcmp0 (found, wanted) == 0 && n == n_wanted)
    return TRUE;
  g_autofree char *shown = sl_printable (found != NULL ? found : "", SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_CONTRACT,
                  "%s: its embeddings are of another model (%s, %" G_GINT64_FORMAT
                  " numbers), expected those of %s, %u numbers: take that model, or another file",
                  store->sql.path, shown, n, wanted, n_wanted);
}

gboolean
sl_identity_store_check_model (const SlIdentityStore *store, const char *model, guint length,
                               GError **error)
{
  return compare_models (store, store->model, store->length, model, length, error);
}

/* What the file says of itself. */
static gboolean
read_about (SlIdentityStore *store, gboolean must, GError **error)
{
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error, "SELECT model, length, keep, most, sealed FROM about WHERE id = 1", "");
  if (row == NULL)
    return FALSE;
  g_autoptr (GError) cause = NULL;
  if (!sl_sql_next (&store->sql, row, &cause)) {
    if (cause == NULL)
      return sl_fail (error, SL_ERROR_FORMAT,
                      "%s: it does not say which model it is of; expected "
                      "a gallery that sightline has made",
                      store->sql.path);
    g_propagate_error (error, g_steal_pointer (&cause));
    return FALSE;
  }
  const char *model = sl_sql_text (row, 0);
  const gint64 length = sqlite3_column_int64 (row, 1), keep = sqlite3_column_int64 (row, 2),
               most = sqlite3_column_int64 (row, 3);
  if (store->model != NULL
      && !compare_models (store, model, length, store->model, store->length, error))
    return FALSE;
  if (model == NULL || length < 1 || length > SL_IDENTITY_LONGEST || keep < 1 || most < 1
      || most > SL_IDENTITY_MOST)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: what it says of itself is not possible; expected a gallery that sightline "
                    "has made",
                    store->sql.path);
  if (store->model == NULL) {
    store->model = g_strdup (model);
    store->length = (guint) length;
    store->rules = (SlIdentityRules){ keep, (guint) most, 0, 0 };
  }
  return check_key (store, sqlite3_column_blob (row, 4), (gsize) sqlite3_column_bytes (row, 4),
                    must, error);
}

static SlIdentityStore *
open_any (const char *path, SlIdentityStore *store, const char *key_file, Purpose purpose,
          GError **error)
{
  const gboolean make = purpose == MAKE;
  g_autoptr (SlIdentityStore) opened = store;
  if (strcmp (path, ":memory:") == 0) /* SQLite keeps it nowhere */
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "%s: expected the path of a file, since a gallery is kept: take another "
                         "name, such as people.gallery",
                         path);
  if (key_file != NULL && (store->seal = sl_seal_new (key_file, error)) == NULL)
    return NULL;
  if (!make_private (path, make, error) || !open_file (&store->sql, path, purpose, error))
    return NULL;
  sqlite3_limit (store->sql.db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
  if (!sl_sql_script (&store->sql, "PRAGMA secure_delete=ON;", error)
      || !check_kind (&store->sql, error) || !check_pages (&store->sql, error)
      || (make && !sl_sql_script (&store->sql, schema, error))
      || (make && !begin_about (store, error)) || !read_about (store, make, error)
      || (purpose != LOOK && !sl_sql_script (&store->sql, merged_schema, error)))
    return NULL;
  gint64 shared = 0;
  if (!ask (&store->sql, "SELECT count(*) FROM sqlite_master WHERE name = 'erased'", &shared,
            error))
    return NULL;
  store->is_shared = shared > 0;
  sl_identity_store_has_changed (store);
  return g_steal_pointer (&opened);
}

SlIdentityStore *
sl_identity_store_new (const char *path, const char *model, guint length,
                       const SlIdentityRules *rules, const char *key_file, GError **error)
{
  SlIdentityStore *store = g_new0 (SlIdentityStore, 1);
  store->model = g_strdup (model);
  store->length = length;
  store->rules = *rules;
  store = open_any (path, store, key_file, MAKE, error);
  if (store == NULL
      || sl_sql_do (&store->sql, error, "UPDATE about SET keep = ?, most = ?", "ii", rules->keep,
                    (gint64) rules->most))
    return store;
  sl_identity_store_free (store);
  return NULL;
}

SlIdentityStore *
sl_identity_store_open (const char *path, const char *key_file, GError **error)
{
  return open_any (path, g_new0 (SlIdentityStore, 1), key_file, CHANGE, error);
}

SlIdentityStore *
sl_identity_store_look (const char *path, const char *key_file, GError **error)
{
  return open_any (path, g_new0 (SlIdentityStore, 1), key_file, LOOK, error);
}

gboolean
sl_identity_store_is_sealed (SlIdentityStore *store)
{
  gint64 n = 0;
  return ask (&store->sql, "SELECT length(sealed) FROM about", &n, NULL) && n > 0;
}

void
sl_identity_store_free (SlIdentityStore *store)
{
  if (store == NULL)
    return;
  sl_sql_close (&store->sql);
  sl_seal_free (store->seal);
  g_free (store->model);
  g_free (store);
}

gboolean
sl_identity_store_take_numbers (SlIdentityStore *store, guint n, gint64 *first, GError **error)
{
  if (!ask (&store->sql, "SELECT next FROM about WHERE id = 1", first, error))
    return FALSE;
  if (*first < 1 || *first > G_MAXINT64 / 2)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: its next number of a person is %" G_GINT64_FORMAT
                    ", expected 1 or more: put a copy back, or remove the file",
                    store->sql.path, *first);
  return sl_sql_do (&store->sql, error, "UPDATE about SET next = ?", "i", *first + (gint64) n);
}

gboolean
sl_identity_store_reserve (SlIdentityStore *store, guint n, gint64 *first, GError **error)
{
  return sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error)
         && sl_sql_end (&store->sql, sl_identity_store_take_numbers (store, n, first, error),
                        error);
}

void
sl_identity_store_give_back (SlIdentityStore *store, gint64 next, gint64 end)
{
  sl_sql_do (&store->sql, NULL, "UPDATE about SET next = ?1 WHERE next = ?2", "ii", next, end);
}

static gboolean
write_view (SlIdentityStore *store, const char *camera, const SlIdentityEntry *entry,
            GError **error)
{
  g_autoptr (GBytes) look =
    sl_seal_close (store->seal, SL_IDENTITY_LOOK, entry->row, store->length, error);
  if (look == NULL)
    return FALSE;
  if (entry->replaces != 0
      && !sl_sql_do (&store->sql, error,
                     "DELETE FROM view WHERE person = ? AND camera = ? AND time = ?", "isi",
                     entry->person, camera, entry->replaces))
    return FALSE;
  return sl_sql_do (&store->sql, error,
                    "INSERT OR REPLACE INTO view SELECT id, ?, ?, ? FROM person WHERE id = ?",
                    "sibi", camera, entry->time, look, entry->person);
}

static gboolean
write_entry (SlIdentityStore *store, const char *camera, const SlIdentityEntry *entry,
             GError **error)
{
  if (entry->kind == SL_IDENTITY_SEEN)
    return sl_sql_do (&store->sql, error,
                      "INSERT OR REPLACE INTO sighting SELECT id, ?, ?, ?, ?, ? FROM person WHERE "
                      "id = ?",
                      "siiddi", camera, entry->first, entry->time, entry->confidence, entry->cosine,
                      entry->person);
  if (entry->kind == SL_IDENTITY_PICTURE)
    return sl_identity_store_write_picture (store, camera, entry, error);
  return (entry->kind != SL_IDENTITY_NEW
          || sl_sql_do (&store->sql, error, "INSERT OR IGNORE INTO person VALUES (?)", "i",
                        entry->person))
         && write_view (store, camera, entry, error);
}

gboolean
sl_identity_store_write (SlIdentityStore *store, SlIdentityCameras *cameras,
                         const SlIdentityEntry *entries, guint n, GError **error)
{
  gboolean good = sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error);
  if (!good)
    return FALSE;
  for (guint i = 0; i < n && good; i++)
    good = write_entry (store, sl_identity_cameras_name (cameras, entries[i].camera), &entries[i],
                        error);
  return sl_sql_end (&store->sql, good, error);
}

static gboolean
write_cosines (SlIdentityStore *store, const char *a, const char *b, gboolean same,
               const SlCosines *cosines, GError **error)
{
  return cosines->n <= 0
         || sl_sql_do (&store->sql, error,
                       "INSERT OR REPLACE INTO evidence VALUES (?, ?, ?, ?, ?, ?)", "ssiddd", a, b,
                       (gint64) same, cosines->n, cosines->mean, cosines->squares);
}

gboolean
sl_identity_store_write_evidence (SlIdentityStore *store, SlIdentityCameras *cameras,
                                  const SlCalibration *calibration, GError **error)
{
  gboolean good = sl_sql_script (&store->sql, "BEGIN IMMEDIATE", error);
  if (!good)
    return FALSE;
  for (guint a = 0; a < cameras->n && good; a++) {
    const char *name = sl_identity_cameras_name (cameras, a);
    good = write_cosines (store, name, name, TRUE, &calibration->same[a], error);
    for (guint b = a; b < cameras->n && good; b++)
      good = write_cosines (store, name, sl_identity_cameras_name (cameras, b), FALSE,
                            &calibration->others[a][b], error);
  }
  return sl_sql_end (&store->sql, good, error);
}

/* The number of the camera that column @i names; -1 for what is not such a name. */
static gint
camera_of (SlIdentityCameras *cameras, sqlite3_stmt *row, gint i)
{
  const char *name = sl_sql_text (row, i);
  return name != NULL && sl_identity_camera_check (name, NULL)
           ? sl_identity_cameras_number (cameras, name)
           : -1;
}

gboolean
sl_identity_store_read_evidence (SlIdentityStore *store, SlIdentityCameras *cameras,
                                 SlCalibration *calibration, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error,
    "SELECT * FROM (SELECT a, b, same <> 0, n, mean, squares FROM evidence UNION ALL SELECT a, b, "
    "2, n, mean, squares FROM merged) WHERE " SL_IDENTITY_EVIDENCE,
    "");
  while (row != NULL && sl_sql_next (&store->sql, row, &cause)) {
    const gint a = camera_of (cameras, row, 0), b = camera_of (cameras, row, 1);
    if (a < 0 || b < 0)
      continue;
    const SlCosines cosines = { sqlite3_column_double (row, 3), sqlite3_column_double (row, 4),
                                sqlite3_column_double (row, 5) };
    switch (sqlite3_column_int (row, 2)) {
      case 0:
        calibration->others[MIN (a, b)][MAX (a, b)] = cosines;
        break;
      case 1:
        calibration->same[a] = cosines;
        break;
      default:
        sl_calibration_merged (calibration, (guint) a, (guint) b, &cosines);
    }
  }
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && cause == NULL;
}

static gboolean
bad_row (const SlIdentityStore *store, gint64 person, GError **error)
{
  return sl_fail (error, SL_ERROR_FORMAT,
                  "%s: an embedding of person %" G_GINT64_FORMAT
                  " is not what was written; expected %u numbers%s: forget that person, or put a "
                  "copy back",
                  store->sql.path, person, store->length,
                  store->seal != NULL ? ", encrypted with this key" : "");
}

/* A view as a row of the table. */
static gboolean
load_view (const SlIdentityStore *store, SlIdentityCameras *cameras, SlIdentityTable *table,
           sqlite3_stmt *row, gint8 *numbers, GError **error)
{
  const SlIdentityView view = { sqlite3_column_int64 (row, 0), sqlite3_column_int64 (row, 2),
                                (guint) camera_of (cameras, row, 1) };
  g_autoptr (GBytes) plain =
    sl_seal_open (store->seal, SL_IDENTITY_LOOK, sqlite3_column_blob (row, 3),
                  (gsize) sqlite3_column_bytes (row, 3));
  if (plain == NULL || g_bytes_get_size (plain) != store->length || view.person < 1)
    return bad_row (store, view.person, error);
  memcpy (numbers, g_bytes_get_data (plain, NULL), store->length);
  const gfloat scale = sl_identity_table_scale (table, numbers);
  if (!(scale > 0))
    return bad_row (store, view.person, error);
  if (view.camera >= SL_IDENTITY_CAMERAS)
    return TRUE; /* of one camera too many */
  sl_identity_table_add_person (table, view.person);
  sl_identity_table_add_view (table, &view, 0, numbers, scale);
  return TRUE;
}

static gboolean
load_sightings (SlIdentityStore *store, SlIdentityCameras *cameras, SlIdentityTable *table,
                gint64 from, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->sql, error,
                  "SELECT person, camera, max(last) FROM sighting WHERE last >= ? GROUP BY person, "
                  "camera",
                  "i", from);
  while (row != NULL && sl_sql_next (&store->sql, row, &cause)) {
    const gint camera = camera_of (cameras, row, 1);
    if (camera >= 0)
      sl_identity_table_saw (table, sqlite3_column_int64 (row, 0), (guint) camera,
                             sqlite3_column_int64 (row, 2));
  }
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  return row != NULL && cause == NULL;
}

SlIdentityTable *
sl_identity_store_load (SlIdentityStore *store, SlIdentityCameras *cameras, gint64 now,
                        GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (SlIdentityTable) table = sl_identity_table_new (store->length);
  g_autofree gint8 *numbers = g_malloc0 (table->stride);
  const gint64 from = now - store->rules.keep;
  g_autoptr (sqlite3_stmt) row = sl_sql_query (
    &store->sql, error,
    "SELECT person, camera, time, look FROM view WHERE time >= ? ORDER BY time LIMIT ?", "ii", from,
    (gint64) SL_IDENTITY_MOST * SL_IDENTITY_VIEWS);
  while (row != NULL && sl_sql_next (&store->sql, row, &cause))
    if (!load_view (store, cameras, table, row, numbers, &cause))
      break;
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  else if (row != NULL && load_sightings (store, cameras, table, from, error)
           && sl_identity_store_load_names (store, table, error)
           && sl_identity_store_load_pictures (store, table, error))
    return g_steal_pointer (&table);
  return NULL;
}

gboolean
sl_identity_store_has_changed (SlIdentityStore *store)
{
  gint64 version = store->version;
  if (!ask (&store->sql, "PRAGMA data_version", &version, NULL))
    return FALSE;
  const gboolean changed = version != store->version;
  store->version = version;
  return changed;
}
