/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gallery/support.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

char *
test_folder (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = g_dir_make_tmp ("gallery-XXXXXX", &error);
  g_assert_no_error (error);
  return folder;
}

void
test_folder_remove (char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    g_assert_cmpint (g_remove (path), ==, 0);
  }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  g_free (folder);
}

char *
test_path (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

char *
test_key (const char *folder, const char *name, char digit)
{
  g_autoptr (GError) error = NULL;
  char text[66] = { 0 };
  char *path = test_path (folder, name);
  memset (text, digit, 64);
  text[64] = '\n';
  g_file_set_contents_full (path, text, 65, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error (error);
  return path;
}

/* The sum of twelve uniform numbers is near enough to a normal one. */
static gdouble
gauss (GRand *rand)
{
  gdouble sum = -6;
  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (rand);
  return sum;
}

void
test_look (guint person, guint camera, guint n, gdouble noise, gfloat look[TEST_LENGTH])
{
  const guint32 seeds[] = { 77, person, camera, n };
  GRand *of_person = g_rand_new_with_seed (1000 + person);
  GRand *of_look = g_rand_new_with_seed_array (seeds, G_N_ELEMENTS (seeds));
  gdouble squares = 0;
  for (guint i = 0; i < TEST_LENGTH; i++) {
    look[i] = (gfloat) (gauss (of_person) / sqrt (TEST_LENGTH) + noise * gauss (of_look));
    squares += (gdouble) look[i] * look[i];
  }
  for (guint i = 0; i < TEST_LENGTH; i++)
    look[i] = (gfloat) (look[i] / sqrt (squares));
  g_rand_free (of_person);
  g_rand_free (of_look);
}

SlIdentityUse
test_use (const char *path, const char *camera)
{
  return (SlIdentityUse){ .path = path,
                          .camera = camera,
                          .model = TEST_MODEL,
                          .length = TEST_LENGTH,
                          .rules = { 7 * TEST_DAY, 10000, 0.6, 0.05 } };
}

SlIdentityStore *
test_store (const char *path, const char *key_file)
{
  g_autoptr (GError) error = NULL;
  const SlIdentityUse use = test_use (path, "gate");
  SlIdentityStore *store =
    sl_identity_store_new (path, TEST_MODEL, TEST_LENGTH, &use.rules, key_file, &error);
  g_assert_no_error (error);
  return store;
}

gboolean
test_contains (const char *path, gconstpointer bytes, gsize n)
{
  static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
  gboolean found = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree char *name = g_strconcat (path, endings[i], NULL), *text = NULL;
    gsize size = 0;
    if (g_file_get_contents (name, &text, &size, NULL))
      found = found || memmem (text, size, bytes, n) != NULL;
  }
  return found;
}
