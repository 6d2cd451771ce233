/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of rings: names that are taken, and how much of the memory of a machine they leave to
 * others. */
#include "models/replay/ring.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "models/replay/black_box.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define INFO                                                  \
  "[black-box]\nsightline=0.1.0\nmodel=m.tflite\nsha256=" SHA \
  "\nthreads=1\nbackends=plain: 1\ninputs=uint8[1,4096]\n"    \
  "outputs=float32[1,2]\n"
#define SEED 7

static const guint8 picture[4096];
static const gfloat scores[2];

static SlBlackBoxInfo *
any_info (void)
{
  GError *error = NULL;
  SlBlackBoxInfo *info = sl_black_box_info_from_text (INFO, strlen (INFO), &error);
  g_assert_no_error (error);
  return info;
}

/* As many inferences as it takes; returns how many times something was told. */
static guint
record (SlRing *ring, guint n)
{
  const void *const inputs[] = { picture }, *const outputs[] = { scores };
  guint told = 0;
  for (guint i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL;
    if (!sl_ring_begin (ring, i, inputs, &error)) {
      g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
      told++;
    }
    g_clear_error (&error);
    g_assert_true (sl_ring_end (ring, outputs, &error));
  }
  return told;
}

/* (transfer full): the path of the ring that is made next. */
static char *
next_path (const SlBlackBoxInfo *info, const char *folder)
{
  g_autoptr (GError) error = NULL;
  gboolean in_memory;
  g_random_set_seed (SEED);
  g_autoptr (SlRing) ring = sl_ring_new (info, folder, 1, 1 << 20, &error);
  g_assert_no_error (error);
  char *path = g_strdup (sl_ring_path (ring, &in_memory));
  g_random_set_seed (SEED);
  return path;
}

/* A file that has the name already, whatever it is, stays, and the ring gets another name. */
static void
test_taken (void)
{
  g_autoptr (SlBlackBoxInfo) info = any_info ();
  g_autofree char *folder = g_dir_make_tmp ("ring-XXXXXX", NULL), *path = next_path (info, folder),
                  *text = NULL;
  g_autoptr (GError) error = NULL;
  gboolean in_memory;
  g_assert_true (g_file_set_contents (path, "somebody's", -1, NULL));
  g_autoptr (SlRing) ring = sl_ring_new (info, folder, 1, 1 << 20, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_ring_path (ring, &in_memory), !=, path);
  g_assert_cmpuint (record (ring, 3), ==, 0);
  sl_ring_remove (ring);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "somebody's");
  g_unlink (path);
  g_rmdir (folder);
}

/* Each name that is tried is taken. */
static void
test_all_taken (void)
{
  g_autoptr (SlBlackBoxInfo) info = any_info ();
  g_autofree char *folder = g_dir_make_tmp ("ring-XXXXXX", NULL), *path = next_path (info, folder);
  g_autoptr (GPtrArray) taken = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *beside = g_path_get_basename (path);
  g_autoptr (GError) error = NULL;
  path[strlen (path) - strlen ("00000000.ring")] = '\0';
  beside[strlen (beside) - strlen ("00000000.ring")] = '\0';
  for (guint i = 0; i < 20; i++) {
    const guint32 number = g_random_int ();
    g_ptr_array_add (taken, g_strdup_printf ("%s%08x.ring", path, number));
    g_ptr_array_add (taken, g_strdup_printf ("%s/%s%08x.ring", folder, beside, number));
  }
  for (guint i = 0; i < taken->len; i++)
    g_assert_true (g_file_set_contents (taken->pdata[i], "", 0, NULL));
  g_random_set_seed (SEED);
  g_assert_null (sl_ring_new (info, folder, 1, 1 << 20, &error));
  expect_error (&error, SL_ERROR_OPEN, ".ring: cannot be written: File exists", NULL);
  for (guint i = 0; i < taken->len; i++)
    g_assert_cmpint (g_unlink (taken->pdata[i]), ==, 0);
  g_rmdir (folder);
}

/* Whatever is there already, and however many models are recorded: half of the memory stays free.
 */
static void
test_half (void)
{
  g_autoptr (SlBlackBoxInfo) info = any_info ();
  g_autofree char *folder = g_dir_make_tmp ("ring-XXXXXX", NULL),
                  *memory = g_dir_make_tmp ("memory-XXXXXX", NULL);
  g_autofree char *ballast = g_build_filename (memory, "ballast", NULL);
  g_autoptr (GError) error = NULL;
  struct statvfs before, after;
  gboolean in_memory = FALSE;
  if (mount ("none", memory, "tmpfs", 0, "size=2m") != 0) {
    g_test_skip ("no file system can be mounted here");
    g_rmdir (memory);
    g_rmdir (folder);
    return;
  }
  g_autofree char *zeros = g_malloc0 (512 << 10);
  g_assert_true (g_file_set_contents (ballast, zeros, 512 << 10, NULL));
  g_assert_cmpint (statvfs (memory, &before), ==, 0);
  g_setenv ("RUNTIME_DIRECTORY", memory, TRUE);
  SlRing *one = sl_ring_new (info, folder, 3600, 64 << 20, &error),
         *other = sl_ring_new (info, folder, 3600, 64 << 20, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (sl_ring_path (one, &in_memory), memory));
  g_assert_true (in_memory);
  g_assert_cmpuint (record (one, 20), ==, 0);
  g_assert_cmpuint (record (other, 1000), ==, 1);
  g_assert_cmpuint (record (one, 1000), ==, 1);
  g_assert_cmpint (statvfs (memory, &after), ==, 0);
  g_assert_cmpuint (after.f_bavail, >=, after.f_blocks / 2);
  g_assert_cmpuint (after.f_bavail, <, before.f_bavail);
  sl_ring_free (one);
  sl_ring_free (other);
  /* Where the other half is gone, too, there is no room for a ring: it lies in the folder. */
  g_autofree char *more = g_malloc0 (1 << 20),
                  *ballast_too = g_build_filename (memory, "more", NULL);
  g_assert_true (g_file_set_contents (ballast_too, more, 1 << 20, NULL));
  one = sl_ring_new (info, folder, 3600, 64 << 20, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (sl_ring_path (one, &in_memory), folder));
  sl_ring_free (one);
  g_unsetenv ("RUNTIME_DIRECTORY");
  umount2 (memory, MNT_DETACH);
  g_rmdir (memory);
  g_rmdir (folder);
}

/* What another process is writing, or left there, stays as it is. */
static void
test_part_taken (void)
{
  g_autoptr (SlBlackBoxInfo) info = any_info ();
  g_autofree char *folder = g_dir_make_tmp ("ring-XXXXXX", NULL),
                  *path = g_build_filename (folder, "a.slbox", NULL);
  g_autofree char *part = g_strconcat (path, ".part", NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_true (g_file_set_contents (part, "somebody's", -1, NULL));
  g_assert_null (sl_black_box_writer_new (path, info, &error));
  expect_error (&error, SL_ERROR_OPEN, "a.slbox.part: cannot be written: File exists", NULL);
  g_assert_true (g_file_get_contents (part, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "somebody's");
  g_unlink (part);
  g_rmdir (folder);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("RUNTIME_DIRECTORY");
  g_test_add_func ("/ring/taken", test_taken);
  g_test_add_func ("/ring/all-taken", test_all_taken);
  g_test_add_func ("/ring/half", test_half);
  g_test_add_func ("/ring/part-taken", test_part_taken);
  return g_test_run ();
}
