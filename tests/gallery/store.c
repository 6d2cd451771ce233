/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of a gallery: what stays, what goes, what is left of it, and files that are not one. */
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sightline/error.h"
#include "tests/gallery/support.h"
#include "tests/support/program.h"

static SlIdentityCameras cameras;

/* Numbers of a row that nothing else has. */
static void
fill_row (gint8 row[TEST_LENGTH], guint person)
{
  for (guint i = 0; i < TEST_LENGTH; i++)
    row[i] = (gint8) (((i + 1) * (person + 3) * 37 + i * i) % 251 - 125);
}

/* A person whom "gate" saw once, and where @hall says so "hall" later. */
static void
add (SlIdentityStore *store, gint64 person, gint64 time, gboolean hall)
{
  g_autoptr (GError) error = NULL;
  gint8 row[TEST_LENGTH], other[TEST_LENGTH];
  fill_row (row, (guint) person);
  fill_row (other, (guint) person + 100);
  const guint gate = (guint) sl_identity_cameras_number (&cameras, "gate"),
              second = (guint) sl_identity_cameras_number (&cameras, "hall");
  const SlIdentityEntry entries[] = {
    { SL_IDENTITY_NEW, person, 0, time, 0, gate, 0, 0, row },
    { SL_IDENTITY_SEEN, person, time, time, 0, gate, 0.9, 0.8, NULL },
    { SL_IDENTITY_VIEW, person, 0, time + 1, 0, second, 0, 0, other },
    { SL_IDENTITY_SEEN, person, time + 1, time + 1, 0, second, 0.7, 0.6, NULL },
  };
  sl_identity_store_write (store, &cameras, entries, hall ? 4 : 2, &error);
  g_assert_no_error (error);
}

static guint
count (SlIdentityStore *store, const char *query)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (sqlite3_stmt) row = sl_sql_query (&store->sql, &error, query, "");
  g_assert_true (row != NULL && sl_sql_next (&store->sql, row, &error));
  g_assert_no_error (error);
  return (guint) sqlite3_column_int (row, 0);
}

#define PEOPLE "SELECT count(*) FROM person"
#define VIEWS "SELECT count(*) FROM view"
#define SIGHTINGS "SELECT count(*) FROM sighting"

/* A clock of its own: days pass. */
static void
test_keep (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL);
  const gint64 start = 1000 * TEST_DAY;
  guint gone;
  for (gint64 i = 1; i <= 10; i++)
    add (store, i, start + i * TEST_DAY, FALSE);
  for (gint64 day = 10; day < 20; day++) {
    g_assert_true (sl_identity_store_expire (store, start + day * TEST_DAY, &gone, &error));
    g_assert_no_error (error);
    const guint left = (guint) CLAMP (18 - day, 0, 8);
    g_assert_cmpuint (count (store, PEOPLE), ==, left);
    g_assert_cmpuint (count (store, VIEWS), ==, left);
    g_assert_cmpuint (count (store, SIGHTINGS), ==, left);
  }
  /* What a clock that was ahead has written goes, too. */
  add (store, 11, start + 500 * TEST_DAY, FALSE);
  g_assert_true (sl_identity_store_expire (store, start + 20 * TEST_DAY, &gone, &error));
  g_assert_cmpuint (count (store, PEOPLE), ==, 1);
  g_assert_true (sl_identity_store_expire (store, start + 28 * TEST_DAY, &gone, &error));
  g_assert_cmpuint (count (store, PEOPLE), ==, 0);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

static void
test_most (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL);
  guint gone;
  store->rules.most = 3;
  for (gint64 i = 1; i <= 9; i++)
    add (store, i, TEST_DAY + i * TEST_SECOND, TRUE);
  g_assert_true (sl_identity_store_expire (store, TEST_DAY + 60 * TEST_SECOND, &gone, &error));
  g_assert_cmpuint (count (store, PEOPLE), ==, 3);
  g_assert_cmpuint (count (store, "SELECT min(id) FROM person"), ==, 7);
  g_assert_cmpuint (count (store, VIEWS), ==, 6);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

/* Bytes that were in the file are in no file any more. */
static void
test_trace (gconstpointer data)
{
  const SlIdentityChoice *choice = data;
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL), *other;
  gint8 gone_row[TEST_LENGTH], kept_row[TEST_LENGTH];
  guint gone;
  for (gint64 i = 1; i <= 50; i++)
    add (store, i, i * TEST_DAY, i != 2);
  other = sl_identity_store_open (path, NULL, &error); /* the log stays while this one is there */
  g_assert_no_error (error);
  fill_row (gone_row, choice->camera != NULL ? 103 : 3);
  fill_row (kept_row, 2);
  if (choice->before > 0 || choice->camera != NULL)
    fill_row (kept_row, choice->camera != NULL ? 2 : 50);
  g_assert_true (test_contains (path, gone_row, sizeof gone_row));
  g_assert_true (sl_identity_store_forget (store, choice, &gone, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (gone, >, 0);
  g_assert_false (test_contains (path, gone_row, sizeof gone_row));
  g_assert_true (test_contains (path, kept_row, sizeof kept_row));
  g_assert_true (sl_identity_store_has_changed (other));
  g_assert_false (sl_identity_store_has_changed (other));
  sl_identity_store_free (other);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

static const SlIdentityChoice one = { 3, 0, NULL }, old = { 0, 10 * TEST_DAY, NULL },
                              hall = { 0, 0, "hall" };

static void
expect (GError *error, SlError code, const char *part)
{
  g_assert_error (error, SL_ERROR, (gint) code);
  if (strstr (error->message, part) == NULL)
    g_error ("expected '%s' in '%s'", part, error->message);
  g_error_free (error);
}

static SlIdentityStore *
try_open (const char *path, const char *model, guint length, const char *key, GError **error)
{
  const SlIdentityUse use = test_use (path, "gate");
  return sl_identity_store_new (path, model, length, &use.rules, key, error);
}

static void
test_key_file (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery"), *plain = test_path (folder, "b.gallery"),
                  *key = test_key (folder, "key", '7'), *wrong = test_key (folder, "wrong", '8'),
                  *bad = test_key (folder, "bad", 'x'), *open = test_key (folder, "open", '9');
  GError *error = NULL;
  gint8 row[TEST_LENGTH];
  fill_row (row, 1);
  SlIdentityStore *store = test_store (path, key);
  add (store, 1, TEST_DAY, TRUE);
  g_assert_false (test_contains (path, row, 8));
  sl_identity_store_free (store);
  g_assert_false (test_contains (path, row, 8));
  store = test_store (path, key);
  SlIdentityTable *table = sl_identity_store_load (store, &cameras, 2 * TEST_DAY, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (table->n, ==, 2);
  g_assert_cmpmem (table->numbers, TEST_LENGTH, row, TEST_LENGTH);
  sl_identity_table_free (table);
  /* A byte of a row that another program has changed. */
  g_assert_true (
    sl_sql_script (&store->sql, "UPDATE view SET look = zeroblob(length(look))", NULL));
  g_assert_null (sl_identity_store_load (store, &cameras, 2 * TEST_DAY, &error));
  expect (g_steal_pointer (&error), SL_ERROR_FORMAT, "an embedding of person 1 is not what was");
  sl_identity_store_free (store);
  g_assert_null (try_open (path, TEST_MODEL, TEST_LENGTH, wrong, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "it is encrypted with another key");
  g_assert_null (try_open (path, TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "it is encrypted; expected the file of its");
  g_assert_null (try_open (path, TEST_MODEL, TEST_LENGTH, bad, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "expected a key of 64 hexadecimal digits");
  g_assert_cmpint (g_chmod (open, 0644), ==, 0);
  g_assert_null (try_open (path, TEST_MODEL, TEST_LENGTH, open, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "other users may read or change");
  g_assert_null (try_open (path, TEST_MODEL, TEST_LENGTH, "/nonexistent/key", &error));
  expect (g_steal_pointer (&error), SL_ERROR_OPEN,
          "/nonexistent/key: No such file or directory; expected the file of a key");
  sl_identity_store_free (test_store (plain, NULL));
  g_assert_null (try_open (plain, TEST_MODEL, TEST_LENGTH, key, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "it is not encrypted, but a key file");
  test_folder_remove (folder);
}

static void
test_refused (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery"), *text = test_path (folder, "text"),
                  *link = test_path (folder, "link"), *foreign = test_path (folder, "foreign"),
                  *missing = test_path (folder, "none/a.gallery"), *bytes = NULL;
  GError *error = NULL;
  gsize size;
  struct stat status;
  SlIdentityStore *store = test_store (path, NULL);
  g_assert_cmpint (stat (path, &status), ==, 0);
  g_assert_cmpuint (status.st_mode & 0777, ==, 0600);
  for (gint64 i = 1; i <= 100; i++)
    add (store, i, TEST_DAY, TRUE);
  sl_identity_store_free (store);
  g_assert_null (try_open (path, "another", TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_CONTRACT, "its embeddings are of another model");
  g_assert_null (try_open (path, TEST_MODEL, 128, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_CONTRACT, "64 numbers), expected those of");
  g_assert_null (try_open (missing, TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_OPEN, "No such file or directory; expected the file");
  g_assert_null (try_open (":memory:", TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT,
          ":memory:: expected the path of a file, since a gallery is kept: take another name");
  g_assert_false (g_file_test (":memory:", G_FILE_TEST_EXISTS));
  g_assert_null (try_open (folder, TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_OPEN,
          "Is a directory; expected the file of a gallery");
  g_assert_cmpint (symlink (path, link), ==, 0);
  g_assert_null (try_open (link, TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_OPEN,
          "symbolic links; expected the file of a gallery");
  g_assert_true (
    g_file_set_contents (text, "this is text of some length, and no database", -1, NULL));
  g_assert_null (try_open (text, TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_FORMAT,
          "file is not a database; expected a gallery that sightline has made, or a name without "
          "a file");
  sqlite3 *db;
  g_assert_cmpint (sqlite3_open (foreign, &db), ==, SQLITE_OK);
  sqlite3_exec (db, "CREATE TABLE t (a)", NULL, NULL, NULL);
  sqlite3_close (db);
  g_assert_null (try_open (foreign, TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_FORMAT, "it is the database of something else");
  /* Cut anywhere, it is refused or whole, and never more than that. */
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  for (gsize cut = 100; cut < size; cut += size / 16) {
    g_assert_true (g_file_set_contents (text, bytes, (gssize) cut, NULL));
    g_assert_null (try_open (text, TEST_MODEL, TEST_LENGTH, NULL, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
    g_clear_error (&error);
  }
  store = test_store (path, NULL);
  g_assert_true (sl_sql_script (&store->sql, "PRAGMA user_version=9", NULL));
  sl_identity_store_free (store);
  g_assert_null (try_open (path, TEST_MODEL, TEST_LENGTH, NULL, &error));
  expect (g_steal_pointer (&error), SL_ERROR_UNSUPPORTED, "a gallery of version 9, expected");
  test_folder_remove (folder);
}

/* What a file says that somebody has made. */
static void
test_hostile (void)
{
  static const struct
  {
    const char *script, *message; /* NULL = it is harmless */
  } scripts[] = {
    { "UPDATE view SET look = zeroblob(64)", "an embedding of person 1 is not what was" },
    { "UPDATE view SET look = randomblob(63)", "expected 64 numbers" },
    { "UPDATE view SET look = 'text'", "expected 64 numbers" },
    { "UPDATE view SET look = 1e300", "expected 64 numbers" },
    { "UPDATE view SET person = -1", "an embedding of person -1" },
    { "UPDATE view SET camera = 'a,b'", NULL },
    { "UPDATE view SET camera = x'00ff'", NULL },
    { "UPDATE view SET time = 'x'", NULL },
    { "UPDATE sighting SET last = 'x', camera = x'01'", NULL },
    { "INSERT INTO evidence VALUES ('a', 'b', 0, 1e300, 1e300, -5), (x'01', '', 1, 1, 1, 1)",
      NULL },
    { "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO "
      "view SELECT 1, 'c' || i, time, look FROM n, view WHERE person = 1 GROUP BY i",
      NULL },
  };
  char *folder = test_folder ();
  for (guint i = 0; i < G_N_ELEMENTS (scripts); i++) {
    g_autofree char *name = g_strdup_printf ("%u", i), *path = test_path (folder, name);
    g_autofree SlCalibration *evidence = g_new0 (SlCalibration, 1);
    GError *error = NULL;
    SlIdentityCameras names;
    SlIdentityStore *store = test_store (path, NULL);
    sl_identity_cameras_init (&names);
    add (store, 1, TEST_DAY, TRUE);
    g_assert_true (sl_sql_script (&store->sql, scripts[i].script, &error));
    g_assert_no_error (error);
    g_assert_true (sl_identity_store_read_evidence (store, &names, evidence, NULL));
    SlIdentityTable *table = sl_identity_store_load (store, &names, TEST_DAY, &error);
    if (scripts[i].message != NULL)
      expect (g_steal_pointer (&error), SL_ERROR_FORMAT, scripts[i].message);
    g_assert_no_error (error);
    g_assert_true ((table == NULL) == (scripts[i].message != NULL));
    g_assert_cmpuint (evidence->others[0][1].n, ==, 0);
    sl_identity_table_free (table);
    sl_identity_store_free (store);
    sl_identity_cameras_clear (&names);
  }
  test_folder_remove (folder);
}

/* Values that an expression makes, of hundreds of megabytes in a small file. */
static void
test_large_values (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  GError *error = NULL;
  sqlite3 *db;
  sl_identity_store_free (test_store (path, NULL));
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  sqlite3_exec (db,
                "DROP TABLE view; CREATE TABLE view (person, camera, time, look AS "
                "(zeroblob(900000000))); INSERT INTO view VALUES (1, 'gate', 86400000000)",
                NULL, NULL, NULL);
  sqlite3_close (db);
  SlIdentityStore *store = test_store (path, NULL);
  g_assert_null (sl_identity_store_load (store, &cameras, TEST_DAY, &error));
  expect (g_steal_pointer (&error), SL_ERROR_OPEN, "a.gallery: string or blob too big");
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

/* A file that SQLite's own check does not pass: a row that the table's rules forbid. */
static void
test_damaged (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  GError *error = NULL;
  SlIdentityStore *store = test_store (path, NULL);
  g_assert_true (sl_sql_script (
    &store->sql, "PRAGMA ignore_check_constraints=ON; UPDATE about SET id = 2", NULL));
  sl_identity_store_free (store);
  g_assert_null (try_open (path, TEST_MODEL, TEST_LENGTH, NULL, &error));
  g_autofree char *expected = g_strdup_printf (
    "%s: it is damaged: CHECK constraint failed in about; expected a whole gallery: put a copy "
    "back, or remove the file",
    path);
  expect (g_steal_pointer (&error), SL_ERROR_FORMAT, expected);
  test_folder_remove (folder);
}

/* SQLite says so when the disk is full; nothing of the change is there. */
static void
test_full (void)
{
  GError *error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL);
  SlIdentityEntry entries[400];
  gint8 row[TEST_LENGTH];
  fill_row (row, 1);
  add (store, 1, TEST_DAY, FALSE);
  g_assert_true (sl_sql_script (&store->sql, "PRAGMA max_page_count=16", NULL));
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    entries[i] = (SlIdentityEntry){ SL_IDENTITY_NEW, i + 2, 0, TEST_DAY, 0, 0, 0, 0, row };
  g_assert_false (
    sl_identity_store_write (store, &cameras, entries, G_N_ELEMENTS (entries), &error));
  expect (g_steal_pointer (&error), SL_ERROR_OPEN, "database or disk is full");
  g_assert_cmpuint (count (store, PEOPLE), ==, 1);
  g_assert_true (sl_identity_store_write (store, &cameras, entries, 1, &error));
  g_assert_cmpuint (count (store, PEOPLE), ==, 2);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

static void
test_merge (void)
{
  GError *error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery"), *key = test_key (folder, "key", '1');
  SlIdentityStore *store = test_store (path, key);
  for (gint64 i = 1; i <= 5; i++)
    add (store, i, TEST_DAY + i, TRUE);
  g_assert_false (sl_identity_store_merge (store, 1, 9, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "there is no person 9 in it");
  g_assert_false (sl_identity_store_merge (store, 2, 2, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "expected two persons, got 2 twice");
  for (gint64 i = 1; i <= 4; i++) {
    sl_identity_store_merge (store, i, 5, &error);
    g_assert_no_error (error);
  }
  g_assert_cmpuint (count (store, PEOPLE), ==, 1);
  g_assert_cmpuint (count (store, SIGHTINGS), ==, 10);
  g_assert_cmpuint (count (store, VIEWS), ==, SL_IDENTITY_VIEWS);
  sl_identity_store_free (store);
  store = test_store (path, key); /* the rows still open */
  SlIdentityTable *table = sl_identity_store_load (store, &cameras, TEST_DAY, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_identity_table_person (table, 5)->n_views, ==, SL_IDENTITY_VIEWS);
  sl_identity_table_free (table);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

static gdouble
cosine_of (guint first, guint second)
{
  gint8 a[TEST_LENGTH], b[TEST_LENGTH];
  gdouble both = 0, of_a = 0, of_b = 0;
  fill_row (a, first);
  fill_row (b, second);
  for (guint i = 0; i < TEST_LENGTH; i++) {
    both += (gdouble) a[i] * b[i];
    of_a += (gdouble) a[i] * a[i];
    of_b += (gdouble) b[i] * b[i];
  }
  return both / sqrt (of_a * of_b);
}

/* What merges say of the cameras "gate" (0) and "hall" (1). */
static SlCosines
merged (SlIdentityStore *store, guint a, guint b)
{
  g_autoptr (GError) error = NULL;
  g_autofree SlCalibration *evidence = g_new0 (SlCalibration, 1);
  g_assert_true (sl_identity_store_read_evidence (store, &cameras, evidence, &error));
  g_assert_no_error (error);
  return evidence->merged[a][b];
}

/* A merge is evidence for each pair of cameras, which is gone with its person or its camera. */
static void
test_merge_evidence (gconstpointer data)
{
  const SlIdentityChoice *choice = data;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL);
  guint gone;
  add (store, 1, TEST_DAY, TRUE);
  add (store, 2, TEST_DAY + TEST_SECOND, TRUE);
  g_assert_cmpfloat (merged (store, 0, 1).n, ==, 0);
  /* A file of an earlier version has no such table. */
  g_assert_true (sl_sql_script (&store->sql, "DROP TABLE merged", NULL));
  sl_identity_store_free (store);
  store = sl_identity_store_open (path, NULL, NULL);
  g_assert_cmpfloat (merged (store, 0, 1).n, ==, 0);
  g_assert_true (sl_identity_store_merge (store, 1, 2, NULL));
  const gdouble x = cosine_of (1, 102), y = cosine_of (101, 2);
  const SlCosines pair = merged (store, 0, 1);
  g_assert_cmpfloat (pair.n, ==, 2);
  g_assert_cmpfloat_with_epsilon (pair.mean, (x + y) / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (pair.squares, (x - y) * (x - y) / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (merged (store, 0, 0).mean, cosine_of (1, 2), 1e-6);
  g_assert_cmpfloat_with_epsilon (merged (store, 1, 1).mean, cosine_of (101, 102), 1e-6);
  add (store, 3, TEST_DAY, FALSE);
  g_assert_true (
    sl_identity_store_merge (store, 2, 3, NULL)); /* the person's evidence goes along */
  g_assert_cmpfloat (merged (store, 0, 1).n, ==, 4);
  g_assert_true (sl_identity_store_forget (store, choice, &gone, NULL));
  g_assert_cmpfloat (merged (store, 0, 1).n, ==, 0);
  g_assert_cmpfloat (merged (store, 1, 1).n, ==, 0);
  g_assert_cmpfloat (merged (store, 0, 0).n, ==, choice->camera != NULL ? 3 : 0);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

/* However often somebody is merged, the file has a row for each pair of cameras; what the merges
 * say together stays. */
static void
test_merge_often (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL);
  gdouble sum = 0, squares = 0, n = 0;
  add (store, 100, TEST_DAY, FALSE);
  for (gint64 i = 1; i <= 12; i++) {
    const SlCosines before = merged (store, 0, 0);
    add (store, i, TEST_DAY + i, FALSE);
    g_assert_true (sl_identity_store_merge (store, i, 100, NULL));
    const SlCosines after = merged (store, 0, 0);
    g_assert_cmpfloat (after.n, >, before.n);
    n = after.n;
    sum = after.mean * after.n;
    squares = after.squares;
    g_assert_cmpuint (count (store, "SELECT count(*) FROM merged"), ==, 1);
  }
  /* The same rows, one by one, as an earlier version left them: reading joins them alike. */
  g_assert_true (sl_sql_script (
    &store->sql, "INSERT INTO merged SELECT person, a, b, 2, 0.5, 0.02 FROM merged", NULL));
  const gdouble mean = (sum + 1) / (n + 2), whole = squares + 0.02
                                                    + n * (sum / n - mean) * (sum / n - mean)
                                                    + 2 * (0.5 - mean) * (0.5 - mean);
  for (guint pass = 0; pass < 2; pass++) {
    const SlCosines all = merged (store, 0, 0);
    g_assert_cmpfloat (all.n, ==, n + 2);
    g_assert_cmpfloat_with_epsilon (all.mean, mean, 1e-9);
    g_assert_cmpfloat_with_epsilon (all.squares, whole, 1e-9);
    g_assert_true (sl_identity_store_join_merges (store, 100, NULL));
    g_assert_cmpuint (count (store, "SELECT count(*) FROM merged"), ==, 1);
  }
  /* Very many lose weight, so that they are still read. */
  g_assert_true (
    sl_sql_script (&store->sql, "UPDATE merged SET n = 9e5, mean = 0.5, squares = 9e3", NULL));
  g_assert_true (sl_sql_script (&store->sql, "INSERT INTO merged SELECT * FROM merged", NULL));
  g_assert_true (sl_identity_store_join_merges (store, 100, NULL));
  const SlCosines many = merged (store, 0, 0);
  g_assert_cmpfloat_with_epsilon (many.n, 5000, 1e-6);
  g_assert_cmpfloat_with_epsilon (many.mean, 0.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (many.squares, 50, 1e-6);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

/* Without its key an encrypted file is merged, and teaches nothing. */
static void
test_merge_sealed (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery"), *key = test_key (folder, "key", '1');
  SlIdentityStore *store = test_store (path, key);
  for (gint64 i = 1; i <= 3; i++)
    add (store, i, TEST_DAY, FALSE);
  g_assert_true (sl_identity_store_merge (store, 1, 2, NULL));
  g_assert_cmpfloat_with_epsilon (merged (store, 0, 0).mean, cosine_of (1, 2), 1e-6);
  sl_identity_store_free (store);
  store = sl_identity_store_open (path, NULL, NULL);
  g_assert_true (sl_identity_store_merge (store, 3, 2, NULL));
  g_assert_cmpfloat (merged (store, 0, 0).n, ==, 1);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

/* Somebody who reads keeps old pages alive: that is told, and the next try erases them. */
static void
test_reader (void)
{
  GError *error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL), *reader = test_store (path, NULL);
  const SlIdentityChoice all = { 0, 0, NULL };
  gint8 row[TEST_LENGTH];
  guint gone;
  fill_row (row, 1);
  add (store, 1, TEST_DAY, TRUE);
  sqlite3_busy_timeout (store->sql.db, 20);
  g_assert_true (sl_sql_script (&reader->sql, "BEGIN; SELECT count(*) FROM view", NULL));
  g_assert_false (sl_identity_store_forget (store, &all, &gone, &error));
  g_assert_nonnull (strstr (error->message, "what was erased is still in "));
  expect (g_steal_pointer (&error), SL_ERROR_OPEN,
          "-wal, since another program reads the file: try again when that is done");
  g_assert_true (sl_sql_script (&reader->sql, "COMMIT", NULL));
  g_assert_true (sl_identity_store_wipe (store, &error));
  g_assert_false (test_contains (path, row, sizeof row));
  sl_identity_store_free (reader);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

/* Two programs: each number is given once, and what was forgotten does not come back. */
static void
test_two (void)
{
  GError *error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *a = test_store (path, NULL), *b = test_store (path, NULL);
  gint64 first, next = 1;
  guint gone;
  for (guint i = 0; i < 20; i++) {
    g_assert_true (sl_identity_store_reserve (i % 2 == 0 ? a : b, 10, &first, &error));
    g_assert_cmpint (first, ==, next);
    next += 10;
  }
  sl_identity_store_give_back (a, next - 3, next); /* as nobody reserved more */
  sl_identity_store_give_back (a, next - 30, next - 20);
  g_assert_true (sl_identity_store_reserve (b, 10, &first, &error));
  g_assert_cmpint (first, ==, next - 3);
  add (a, 1, TEST_DAY, FALSE);
  const SlIdentityChoice all = { 0, 0, NULL };
  g_assert_true (sl_identity_store_forget (b, &all, &gone, &error));
  const SlIdentityEntry seen = { SL_IDENTITY_SEEN, 1, TEST_DAY, TEST_DAY, 0, 0, 1, 1, NULL };
  g_assert_true (sl_identity_store_write (a, &cameras, &seen, 1, &error));
  g_assert_cmpuint (count (b, SIGHTINGS), ==, 0);
  sl_identity_store_free (a);
  sl_identity_store_free (b);
  test_folder_remove (folder);
}

/* A program that is killed while it writes leaves a whole file, in which each person has a view. */
static void
test_killed (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  sl_identity_store_free (test_store (path, NULL));
  for (guint round = 0; round < 3; round++) {
    int ends[2];
    char byte;
    g_assert_cmpint (pipe (ends), ==, 0);
    const pid_t child = fork ();
    if (child == 0) {
      SlIdentityStore *store = test_store (path, NULL);
      for (gint64 i = 1;; i++) {
        add (store, round * 1000000 + i, TEST_DAY, TRUE);
        if (write (ends[1], "x", 1) != 1)
          _exit (1);
      }
    }
    for (guint i = 0; i < 20 + 7 * round; i++)
      g_assert_cmpint (read (ends[0], &byte, 1), ==, 1);
    g_assert_cmpint (kill (child, SIGKILL), ==, 0);
    g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
    close (ends[0]);
    close (ends[1]);
    SlIdentityStore *store = test_store (path, NULL);
    g_assert_cmpuint (count (store, PEOPLE), >=, 20);
    g_assert_cmpuint (count (store, PEOPLE) * 2, ==, count (store, VIEWS));
    sl_identity_store_free (store);
  }
  test_folder_remove (folder);
}

static void
test_rules (void)
{
  static const struct
  {
    const char *text;
    gint64 keep; /* 0 = refused */
  } times[] = { { "7d", 7 * TEST_DAY },
                { "12h", TEST_DAY / 2 },
                { "90min", 5400 * TEST_SECOND },
                { "3650d", 3650 * TEST_DAY },
                { "1ms", 1000 },
                { "3651d", 0 },
                { "0d", 0 },
                { "0", 0 },
                { "-1d", 0 },
                { "d", 0 },
                { "", 0 },
                { "1.5d", 0 },
                { "forever", 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    GError *error = NULL;
    gint64 keep;
    g_assert_true (sl_identity_rules_keep (times[i].text, &keep, &error) == (times[i].keep > 0));
    if (times[i].keep > 0)
      g_assert_cmpint (keep, ==, times[i].keep);
    else
      expect (error, SL_ERROR_ARGUMENT, "keep: expected a time after which people are erased");
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sl_identity_cameras_init (&cameras);
  g_test_add_func ("/store/rules", test_rules);
  g_test_add_func ("/store/keep", test_keep);
  g_test_add_func ("/store/most", test_most);
  g_test_add_data_func ("/store/trace/person", &one, test_trace);
  g_test_add_data_func ("/store/trace/before", &old, test_trace);
  g_test_add_data_func ("/store/trace/camera", &hall, test_trace);
  g_test_add_func ("/store/key-file", test_key_file);
  g_test_add_func ("/store/refused", test_refused);
  g_test_add_func ("/store/hostile", test_hostile);
  g_test_add_func ("/store/large-values", test_large_values);
  g_test_add_func ("/store/damaged", test_damaged);
  g_test_add_func ("/store/full", test_full);
  g_test_add_func ("/store/merge", test_merge);
  static const SlIdentityChoice person = { 3, 0, NULL };
  g_test_add_data_func ("/store/merge-evidence/person", &person, test_merge_evidence);
  g_test_add_data_func ("/store/merge-evidence/camera", &hall, test_merge_evidence);
  g_test_add_func ("/store/merge-often", test_merge_often);
  g_test_add_func ("/store/merge-sealed", test_merge_sealed);
  g_test_add_func ("/store/reader", test_reader);
  g_test_add_func ("/store/two", test_two);
  g_test_add_func ("/store/killed", test_killed);
  const int status = g_test_run ();
  sl_identity_cameras_clear (&cameras);
  return status;
}
