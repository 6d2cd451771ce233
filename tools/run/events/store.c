/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/events/store.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "plugins/record/names.h"
#include "tools/run/events/buckets.h"

#define VERSION 1
#define DAY (G_GINT64_CONSTANT (86400) * G_USEC_PER_SEC)
#define MINUTES_DAYS 14
#define HOURS_DAYS 400
/* Days that a program may not have run; a clock that is further ahead is taken for a wrong one. */
#define PAUSE_DAYS 60
/* Events without a clip; and in memory. */
#define BARE_MOST 200000
#define MEMORY_MOST 5000

static const char schema[] =
  "BEGIN IMMEDIATE;"
  "CREATE TABLE IF NOT EXISTS event (id INTEGER PRIMARY KEY, stem TEXT NOT NULL UNIQUE, pipeline "
  "TEXT NOT NULL, time INTEGER NOT NULL, event TEXT NOT NULL, region TEXT, label TEXT, object "
  "INTEGER, confidence REAL, seconds REAL, format TEXT, clip INTEGER NOT NULL, picture INTEGER NOT "
  "NULL, kept INTEGER NOT NULL, bytes INTEGER NOT NULL, color TEXT, x REAL, y REAL, w REAL, h "
  "REAL, text TEXT NOT NULL);"
  "CREATE INDEX IF NOT EXISTS event_time ON event (time, stem);"
  "CREATE INDEX IF NOT EXISTS event_pipeline ON event (pipeline, time, stem);"
  /* The next two have all that counting asks for, so no row is read. */
  "CREATE INDEX IF NOT EXISTS event_count ON event (time, pipeline, kept, color);"
  "CREATE INDEX IF NOT EXISTS event_size ON event (clip, kept, bytes, time);"
  "CREATE INDEX IF NOT EXISTS event_color ON event (time) WHERE color IS NULL AND picture;"
  "CREATE INDEX IF NOT EXISTS event_bare ON event (time) WHERE NOT clip;"
  "CREATE TABLE IF NOT EXISTS word (kind INTEGER, text TEXT, event INTEGER, PRIMARY KEY (kind, "
  "text, event)) WITHOUT ROWID;"
  "CREATE INDEX IF NOT EXISTS word_event ON word (event);"
  "CREATE TRIGGER IF NOT EXISTS event_gone AFTER DELETE ON event BEGIN DELETE FROM word WHERE "
  "event "
  "= old.id; END;"
  /* Embeddings: what made them, which place of the file each has, and the places that are free. */
  "CREATE TABLE IF NOT EXISTS vector_model (id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT "
  "NULL, length INTEGER NOT NULL, slots INTEGER NOT NULL, settings TEXT NOT NULL);"
  "CREATE TABLE IF NOT EXISTS vector (number INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT "
  "NULL, slot INTEGER, owner INTEGER NOT NULL, own INTEGER NOT NULL, class TEXT);"
  "CREATE UNIQUE INDEX IF NOT EXISTS vector_slot ON vector (model, slot);"
  "CREATE INDEX IF NOT EXISTS vector_owner ON vector (owner, own);"
  "CREATE TABLE IF NOT EXISTS vector_free (slot INTEGER PRIMARY KEY, wiped INTEGER NOT NULL);"
  "CREATE INDEX IF NOT EXISTS vector_wiped ON vector_free (wiped);"
  "CREATE TRIGGER IF NOT EXISTS event_vectors AFTER DELETE ON event BEGIN DELETE FROM vector WHERE "
  "owner = old.id; END;"
  "CREATE TRIGGER IF NOT EXISTS vector_gone AFTER DELETE ON vector WHEN old.slot IS NOT NULL BEGIN "
  "INSERT OR IGNORE INTO vector_free VALUES (old.slot, 0); END;"
  "CREATE TABLE IF NOT EXISTS review (stem TEXT PRIMARY KEY, user TEXT NOT NULL, time INTEGER NOT "
  "NULL) WITHOUT ROWID;"
  "CREATE TRIGGER IF NOT EXISTS review_gone AFTER DELETE ON event BEGIN DELETE FROM review WHERE "
  "stem = old.stem; END;"
  /* Events whose place a clip took: the clip is found by their names, too. */
  "CREATE TABLE IF NOT EXISTS covered (stem TEXT PRIMARY KEY, clip TEXT NOT NULL) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS count (pipeline TEXT, step INTEGER, start INTEGER, kind TEXT, name "
  "TEXT, entered INTEGER, left INTEGER, most INTEGER, dwell REAL, dwells INTEGER, PRIMARY KEY "
  "(pipeline, step, start, kind, name)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS dwell (pipeline TEXT, start INTEGER, name TEXT, bucket INTEGER, n "
  "INTEGER, PRIMARY KEY (pipeline, start, name, bucket)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS flow (pipeline TEXT, step INTEGER, start INTEGER, frames INTEGER, "
  "predictions INTEGER, dropped INTEGER, p50 INTEGER, p95 INTEGER, PRIMARY KEY (pipeline, step, "
  "start)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS heat (pipeline TEXT, step INTEGER, start INTEGER, cells BLOB, "
  "PRIMARY KEY (pipeline, step, start)) WITHOUT ROWID;"
  "PRAGMA user_version=1; COMMIT;";

/* A view in the place of a table could make a question endless. */
static gboolean
check_version (SlSql *sql, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = sl_sql_query (
    sql, error,
    "SELECT user_version, (SELECT count(*) FROM sqlite_master WHERE type = 'view' OR sql LIKE "
    "'CREATE VIRTUAL%') FROM pragma_user_version",
    "");
  if (statement == NULL || !sl_sql_next (sql, statement, error))
    return FALSE;
  const gint version = sqlite3_column_int (statement, 0);
  if (version != 0 && version != VERSION)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "%s: an index of version %d, which another sightline has made: expected "
                    "version %d; run that program again, or move the file away, which loses "
                    "counts and events without a clip",
                    sql->path, version, VERSION);
  return sqlite3_column_int (statement, 1) == 0
         || sl_fail (error, SL_ERROR_FORMAT, "%s: it has a view, expected tables alone", sql->path);
}

/* Reads every page: an index with a wrong one would answer wrongly. */
static gboolean
check_pages (SlSql *sql, GError **error)
{
  g_autofree char *damage = NULL;
  return sl_sql_check_pages (sql, &damage, error)
         && (damage == NULL || sl_fail (error, SL_ERROR_FORMAT, "%s: %s", sql->path, damage));
}

/* What is in it is for those who may see clips. A link would lead out of the folder. */
static gboolean
make_private (const char *path, GError **error)
{
  const gint fd = g_open (path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640);
  const gint code = errno;
  struct stat status;
  const gboolean good = fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode);
  if (fd >= 0)
    close (fd);
  return good
         || sl_fail (error, SL_ERROR_OPEN, "%s: %s; expected a regular file that can be written",
                     path, fd < 0 ? g_strerror (code) : "it is none");
}

/* bucket(TIME, BUCKETS): where the bucket of a time begins. */
static void
bucket (sqlite3_context *context, int n, sqlite3_value **values)
{
  SlBuckets *buckets = sl_sql_pointer (values[1]);
  if (buckets != NULL)
    sqlite3_result_int64 (context, sl_buckets_find (buckets, sqlite3_value_int64 (values[0])));
}

static gboolean
open_index (SlSql *sql, const char *path, GError **error)
{
  if (!sl_sql_open (sql, path, error))
    return FALSE;
  sl_sql_add_function (sql, "bucket", 2, bucket);
  return TRUE;
}

static gboolean
open_both (SlStore *store, const char *path, GError **error)
{
  if ((store->folder != NULL && !make_private (path, error))
      || !open_index (&store->write, path, error))
    return FALSE;
  if (check_version (&store->write, error) && check_pages (&store->write, error)
      && sl_sql_script (&store->write, schema, error)
      && (store->folder == NULL || open_index (&store->read, path, error)))
    return TRUE;
  sl_sql_close (&store->write);
  return FALSE;
}

static gint64
find_newest (SlSql *sql)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (sql, NULL,
                  "SELECT max(coalesce((SELECT max(time) FROM event), 0), "
                  "coalesce((SELECT max(start) FROM flow), 0))",
                  "");
  return row != NULL && sl_sql_next (sql, row, NULL) ? sqlite3_column_int64 (row, 0) : 0;
}

static gboolean
put_aside (const char *folder, const char *path)
{
  static const char *const endings[] = { "-wal", "-shm" };
  g_autofree char *aside = g_build_filename (folder, SL_STORE_DAMAGED, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree char *beside = g_strconcat (path, endings[i], NULL);
    g_unlink (beside);
  }
  return g_rename (path, aside) == 0;
}

SlStore *
sl_store_new (const char *folder, char **damaged, GError **error)
{
  SlStore *store = g_new0 (SlStore, 1);
  g_autoptr (GError) reason = NULL;
  g_autofree char *path =
    folder != NULL ? g_build_filename (folder, SL_STORE_FILE, NULL) : g_strdup (":memory:");
  store->refs = 1;
  store->folder = g_strdup (folder);
  *damaged = NULL;
  gboolean opened = open_both (store, path, &reason);
  if (!opened && folder != NULL && sl_sql_is_damaged (reason) && put_aside (folder, path)) {
    *damaged = g_strdup (reason->message);
    g_clear_error (&reason);
    opened = open_both (store, path, &reason);
  }
  if (opened) {
    store->newest = find_newest (&store->write);
    store->opened = g_get_monotonic_time ();
    return store;
  }
  g_propagate_error (error, g_steal_pointer (&reason));
  sl_store_unref (store);
  return NULL;
}

SlStore *
sl_store_open (const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, SL_STORE_FILE, NULL);
  struct stat status;
  if (stat (folder, &status) != 0 || !S_ISDIR (status.st_mode))
    return sl_fail_null (error, SL_ERROR_OPEN, "%s: expected a folder of clips", folder);
  if (lstat (path, &status) != 0)
    return sl_fail_null (error, SL_ERROR_OPEN, "%s: there is no index of its clips", folder);
  if (!S_ISREG (status.st_mode))
    return sl_fail_null (error, SL_ERROR_OPEN, "%s: expected a regular file", path);
  SlStore *store = g_new0 (SlStore, 1);
  store->refs = 1;
  store->folder = g_strdup (folder);
  if (open_index (&store->read, path, error) && check_version (&store->read, error))
    return store;
  sl_store_unref (store);
  return NULL;
}

SlStore *
sl_store_ref (SlStore *store)
{
  g_atomic_int_inc (&store->refs);
  return store;
}

void
sl_store_unref (SlStore *store)
{
  if (!g_atomic_int_dec_and_test (&store->refs))
    return;
  sl_sql_close (&store->read);
  sl_sql_close (&store->write);
  g_free (store->folder);
  g_free (store);
}

SlSql *
sl_store_reader (SlStore *store)
{
  return store->folder != NULL ? &store->read : &store->write;
}

static gboolean
add_words (SlStore *store, const SlNotes *notes, gint64 id, GError **error)
{
  for (guint i = 0; i < notes->words->len; i++) {
    const SlWord *word = &g_array_index (notes->words, SlWord, i);
    if (!sl_sql_do (&store->write, error, "INSERT OR IGNORE INTO word VALUES (?, ?, ?)", "isi",
                    (gint64) word->kind, word->text, id))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_row (SlStore *store, const SlStoreClip *clip, const SlNotes *notes, gboolean is_clip,
         GError **error)
{
  const gboolean boxed = notes->box[2] > 0 && notes->box[3] > 0;
  return sl_sql_do (
           &store->write, error,
           "INSERT INTO event (stem, pipeline, time, event, region, label, object, confidence, "
           "seconds, format, clip, picture, kept, bytes, color, x, y, w, h, text) VALUES (?, ?, ?, "
           "?, ?, ?, nullif(?, 0), CASE WHEN ?8 >= 0 THEN ?8 END, nullif(?, 0), ?, ?, ?, ?, ?, ?, "
           "?, ?, ?, ?, ?)",
           "ssisssiddsiiiisdddds", clip->stem, clip->pipeline, notes->us,
           notes->event != NULL ? notes->event : "event", notes->region, notes->label,
           notes->object, notes->confidence, notes->seconds, notes->format, (gint64) is_clip,
           (gint64) notes->picture, (gint64) clip->kept, (gint64) clip->bytes,
           boxed ? clip->color : "", notes->box[0], notes->box[1], notes->box[2], notes->box[3],
           notes->text->str)
         && add_words (store, notes, sqlite3_last_insert_rowid (store->write.db), error);
}

/* Events without a clip that the clip has: its row takes their place. */
#define COVERED                                                                   \
  "NOT clip AND time BETWEEN ? AND ? AND pipeline = ? AND event IN (SELECT text " \
  "FROM word WHERE kind = 0 AND event = ?)"

/* A review of one of them is a review of the clip's event: the newest one counts. */
gboolean
sl_store_add_clip (SlStore *store, const SlStoreClip *clip, const SlNotes *notes, GError **error)
{
  const gint64 begin =
                 notes->us - (gint64) (CLAMP (notes->at, 0, 1e6) * G_USEC_PER_SEC) - SL_STORE_LATE,
               end = begin + SL_STORE_LATE
                     + (gint64) (CLAMP (notes->seconds, 0, 1e6) * G_USEC_PER_SEC) + SL_STORE_LATE;
  if (!sl_store_remove (store, clip->stem, error) || !add_row (store, clip, notes, TRUE, error))
    return FALSE;
  const gint64 id = sqlite3_last_insert_rowid (store->write.db);
  return sl_sql_do (&store->write, error,
                    "INSERT INTO review SELECT ?, user, time FROM review WHERE stem IN "
                    "(SELECT stem FROM event WHERE " COVERED ") ORDER BY time DESC LIMIT 1",
                    "siisi", clip->stem, begin, end, clip->pipeline, id)
         && sl_sql_do (&store->write, error,
                       "INSERT OR REPLACE INTO covered SELECT stem, ? FROM event WHERE " COVERED,
                       "siisi", clip->stem, begin, end, clip->pipeline, id)
         && sl_sql_do (&store->write, error, "DELETE FROM event WHERE " COVERED, "iisi", begin, end,
                       clip->pipeline, id);
}

gboolean
sl_store_get_review (SlStore *store, const char *stem, char **user, gint64 *us, GError **error)
{
  g_autoptr (sqlite3_stmt) row =
    sl_sql_query (&store->write, error, "SELECT user, time FROM review WHERE stem = ?", "s", stem);
  *user = NULL;
  if (row == NULL)
    return FALSE;
  if (sl_sql_next (&store->write, row, error)) {
    *user = g_strdup (sl_sql_text (row, 0));
    *us = sqlite3_column_int64 (row, 1);
  }
  return TRUE;
}

gboolean
sl_store_has (SlStore *store, const char *stem)
{
  g_autoptr (sqlite3_stmt) statement =
    sl_sql_query (&store->write, NULL, "SELECT 1 FROM event WHERE stem = ?", "s", stem);
  return statement != NULL && sl_sql_next (&store->write, statement, NULL);
}

gboolean
sl_store_add_event (SlStore *store, const char *pipeline, const SlNotes *notes, GError **error)
{
  g_autofree char *source = sl_clip_source (pipeline);
  g_autofree char *stem = NULL;
  for (gint64 us = notes->us; stem == NULL || sl_store_has (store, stem); us += 1000) {
    g_autofree char *name = sl_clip_stem (source, us, notes->event);
    g_free (stem);
    stem = g_strconcat ("~", name, NULL);
  }
  const SlStoreClip clip = { .stem = stem, .pipeline = pipeline };
  return add_row (store, &clip, notes, FALSE, error);
}

gboolean
sl_store_remove (SlStore *store, const char *stem, GError **error)
{
  return sl_sql_do (&store->write, error, "DELETE FROM event WHERE stem = ?", "s", stem);
}

gboolean
sl_store_set_kept (SlStore *store, const char *stem, gboolean kept, GError **error)
{
  return sl_sql_do (&store->write, error, "UPDATE event SET kept = ? WHERE stem = ?", "is",
                    (gint64) kept, stem);
}

gboolean
sl_store_set_pipeline (SlStore *store, const char *stem, const char *pipeline, GError **error)
{
  return sl_sql_do (&store->write, error, "UPDATE event SET pipeline = ? WHERE stem = ?", "ss",
                    pipeline, stem);
}

gboolean
sl_store_set_review (SlStore *store, const char *stem, const char *user, gint64 us, GError **error)
{
  return user != NULL
           ? sl_sql_do (&store->write, error, "INSERT OR REPLACE INTO review VALUES (?, ?, ?)",
                        "ssi", stem, user, us)
           : sl_sql_do (&store->write, error, "DELETE FROM review WHERE stem = ?", "s", stem);
}

gboolean
sl_store_set_color (SlStore *store, const char *stem, const char *color, GError **error)
{
  return sl_sql_do (&store->write, error, "UPDATE event SET color = ? WHERE stem = ?", "ss", color,
                    stem);
}

gboolean
sl_store_expire (SlStore *store, gint64 now, GError **error)
{
  const gint64 latest = store->newest + g_get_monotonic_time () - store->opened + PAUSE_DAYS * DAY;
  now = store->newest > 0 ? MIN (now, latest) : now;
  const gint64 minutes = now - MINUTES_DAYS * DAY, hours = now - HOURS_DAYS * DAY;
  SlSql *sql = &store->write;
  return sl_sql_do (sql, error, "DELETE FROM event WHERE NOT clip AND time < ?", "i", hours)
         && sl_sql_do (
           sql, error,
           "DELETE FROM event WHERE id IN (SELECT id FROM event WHERE NOT clip ORDER BY "
           "time DESC LIMIT -1 OFFSET ?)",
           "i", (gint64) (store->folder != NULL ? BARE_MOST : MEMORY_MOST))
         && sl_sql_do (sql, error,
                       "DELETE FROM count WHERE start < CASE step WHEN 60 THEN ? ELSE ? END", "ii",
                       minutes, hours)
         && sl_sql_do (sql, error,
                       "DELETE FROM flow WHERE start < CASE step WHEN 60 THEN ? ELSE ? END", "ii",
                       minutes, hours)
         && sl_sql_do (sql, error,
                       "DELETE FROM heat WHERE start < CASE step WHEN 3600 THEN ? ELSE ? END", "ii",
                       minutes, hours)
         && sl_sql_do (sql, error, "DELETE FROM dwell WHERE start < ?", "i", hours)
         && sl_sql_do (sql, error,
                       "DELETE FROM covered WHERE NOT EXISTS (SELECT 1 FROM event WHERE "
                       "event.stem = covered.clip)",
                       "");
}
