/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * People who are registered with pictures: what is in the file, which is read by SQL, and that a
 * camera with the same file calls them by their names.
 */
#include <string.h>

#include "sightline/error.h"
#include "tests/gallery/support.h"
#include "tests/support/program.h"

static GStrv
names_of (SlIdentityStore *store)
{
  g_autoptr (GError) error = NULL;
  GStrv names = sl_identity_store_names (store, &error);
  g_assert_no_error (error);
  return names;
}

/* @n pictures of @person, as @name at @now. Returns whether the name was known. */
static gboolean
enrol (SlIdentityStore *store, const char *name, guint person, guint n, gint64 now)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlIdentityTable) table = sl_identity_table_new (TEST_LENGTH);
  gint8 *rows = g_aligned_alloc0 (n, table->stride, 64);
  const SlIdentityLooks looks = { rows, table->stride, n };
  gboolean known = FALSE;
  for (guint i = 0; i < n; i++) {
    gfloat look[TEST_LENGTH];
    test_look (person, 0, i, 0.03, look);
    sl_identity_table_pack (table, look, rows + i * table->stride);
  }
  g_assert_true (sl_identity_store_register (store, name, &looks, now, &known, &error));
  g_assert_no_error (error);
  g_aligned_free (rows);
  return known;
}

static gint64
ask (SlIdentityStore *store, const char *query)
{
  g_autoptr (sqlite3_stmt) row = sl_sql_query (&store->sql, NULL, query, "");
  g_assert_true (row != NULL && sl_sql_next (&store->sql, row, NULL));
  return sqlite3_column_int64 (row, 0);
}

#define VIEWS "SELECT count(*) FROM view WHERE camera = 'registered'"

/* New pictures take the place of those before, and the number stays. */
static void
test_names (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL);
  const gint64 now = g_get_real_time ();
  gboolean known = FALSE;
  guint gone = 0;
  g_assert_false (enrol (store, "Anna Blum", 1, 6, now));
  g_assert_false (enrol (store, "ben", 2, 1, now));
  g_assert_true (enrol (store, "Anna Blum", 1, 2, now + 5));
  g_auto (GStrv) names = names_of (store);
  g_assert_cmpstrv (names, ((const char *const[]){ "Anna Blum", "ben", NULL }));
  g_assert_cmpint (ask (store, VIEWS " AND person = 1"), ==, 2);
  g_assert_cmpint (ask (store, "SELECT max(time) FROM view WHERE person = 1"), ==, now + 5);
  g_assert_cmpint (ask (store, "SELECT count(*) FROM sighting"), ==, 2);
  /* Merged, the person has the one name that there is. */
  g_assert_true (sl_identity_store_merge (store, 1, 2, &error));
  g_auto (GStrv) one = names_of (store);
  g_assert_cmpstrv (one, ((const char *const[]){ "ben", NULL }));
  g_assert_cmpint (ask (store, VIEWS), ==, 3);
  g_assert_true (sl_identity_store_unregister (store, "Anna Blum", &known, &error));
  g_assert_false (known);
  g_assert_true (sl_identity_store_unregister (store, "ben", &known, &error));
  g_assert_true (known);
  g_assert_cmpint (ask (store, "SELECT count(*) FROM person") + ask (store, VIEWS)
                     + ask (store, "SELECT count(*) FROM named"),
                   ==, 0);
  /* A name goes with the person, whatever rule erases. */
  enrol (store, "old", 3, 1, now - 8 * TEST_DAY);
  g_assert_true (sl_identity_store_expire (store, now, &gone, &error));
  g_assert_cmpint (ask (store, "SELECT count(*) FROM named"), ==, 0);
  g_assert_no_error (error);
  sl_identity_store_free (store);
  g_assert_false (test_contains (path, "Anna", 4));
  test_folder_remove (folder);
}

/* A merge gives the name to the person without one. */
static void
test_merge (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityStore *store = test_store (path, NULL);
  enrol (store, "ben", 1, 1, g_get_real_time ());
  enrol (store, "anna", 2, 1, g_get_real_time ());
  g_assert_true (sl_sql_script (&store->sql, "DELETE FROM named WHERE person = 2", &error));
  g_assert_true (sl_identity_store_merge (store, 1, 2, &error));
  g_autofree char *name = sl_identity_store_name (store, 2),
                  *nobody = sl_identity_store_name (store, 1);
  g_assert_cmpstr (name, ==, "ben");
  g_assert_null (nobody);
  sl_identity_store_free (store);
  test_folder_remove (folder);
}

/* A camera calls somebody by the name, with a key and without. */
static void
test_camera (void)
{
  char *folder = test_folder ();
  g_autofree char *key = test_key (folder, "key", '5');
  for (guint sealed = 0; sealed < 2; sealed++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = test_path (folder, sealed ? "b.gallery" : "a.gallery");
    SlIdentityStore *store = test_store (path, sealed ? key : NULL);
    enrol (store, "Anna Blum", 1, 3, g_get_real_time ());
    sl_identity_store_free (store);
    g_assert_cmpint (test_contains (path, "Anna", 4), ==, !sealed);
    SlIdentityUse use = test_use (path, "gate");
    use.key_file = sealed ? key : NULL;
    SlIdentityCamera *camera = sl_identity_camera_new (&use, &error);
    g_assert_no_error (error);
    gfloat looks[2][TEST_LENGTH];
    test_look (1, 0, 9, 0.03, looks[0]);
    test_look (2, 0, 9, 0.03, looks[1]);
    SlIdentityObject objects[] = { { .track = 1, .look = looks[0] },
                                   { .track = 2, .look = looks[1] } };
    sl_identity_camera_frame (camera, objects, 2, g_get_real_time ());
    g_assert_cmpint (objects[0].person, ==, 1);
    g_assert_cmpstr (objects[0].name, ==, "Anna Blum");
    g_assert_cmpint (objects[1].person, >, 1);
    g_assert_null (objects[1].name);
    g_assert_null (sl_identity_camera_free (camera));
  }
  test_folder_remove (folder);
}

/* Names that nobody can have written. */
static void
test_hostile (void)
{
  static const char *const values[] = {
    "''", "x'00'", "x'ff'", "zeroblob(65)", "'a\nb'", "7.5e300", "zeroblob(9000000)"
  };
  char *folder = test_folder ();
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = g_strdup_printf ("%s/%u.gallery", folder, i),
                    *text = g_strdup_printf ("UPDATE named SET name = %s", values[i]);
    SlIdentityStore *store = test_store (path, NULL);
    enrol (store, "ben", 1, 1, g_get_real_time ());
    g_assert_true (sl_sql_script (&store->sql, text, NULL));
    g_auto (GStrv) names = sl_identity_store_names (store, &error);
    if (i == 5) { /* a number is read as text */
      g_assert_no_error (error);
    } else {
      g_assert_null (names);
      g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
      g_assert_true (g_str_has_suffix (error->message,
                                       ": the name of person 1 is not what was written: forget "
                                       "that person, or put a copy back"));
    }
    sl_identity_store_free (store);
  }
  test_folder_remove (folder);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/named/names", test_names);
  g_test_add_func ("/named/merge", test_merge);
  g_test_add_func ("/named/camera", test_camera);
  g_test_add_func ("/named/hostile", test_hostile);
  return g_test_run ();
}
