/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that are no whole library are refused, and neither crash nor hang; a whole one is loaded.
 * The library is GLib's, cut at each length. */
#include "core/base/shared_object.h"
#include "tests/support/folders.h"
#include "tests/support/program.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>

static void
expect_refused (const char *path, const char *words)
{
  g_autofree char *said = NULL;
  g_assert_null (sl_shared_object_open (path, RTLD_NOW | RTLD_LOCAL, &said));
  g_test_message ("%s", said);
  g_assert_nonnull (strstr (said, words));
}

static void
test_cut (void)
{
  char *folder = sl_test_folder_new (), *whole = NULL;
  g_autofree char *path = g_build_filename (folder, "cut.so", NULL), *said = NULL;
  gsize size = 0;
  Dl_info info;
  g_assert_cmpint (dladdr ((void *) g_free, &info), !=, 0);
  g_assert_true (g_file_get_contents (info.dli_fname, &whole, &size, NULL));
  for (guint i = 1; i < 64; i++) { /* sections, of which the linker reads none, are at the end */
    const gsize length = (size - size / 8) / 64 * i;
    g_assert_true (g_file_set_contents (path, whole, (gssize) length, NULL));
    expect_refused (path, "the file is cut off: it has ");
  }
  for (guint length = 0; length < 64; length += 7) {
    g_assert_true (g_file_set_contents (path, whole, (gssize) length, NULL));
    expect_refused (path, "file too short");
  }
  g_assert_true (g_file_set_contents (path, whole, (gssize) size, NULL));
  void *handle = sl_shared_object_open (path, RTLD_LAZY | RTLD_LOCAL, &said);
  g_assert_cmpstr (said, ==, NULL);
  g_assert_nonnull (dlsym (handle, "g_free"));
  g_free (whole);
  sl_test_folder_remove (folder);
}

static void
test_no_library (void)
{
  char *folder = sl_test_folder_new ();
  g_autofree char *text = g_build_filename (folder, "text.so", NULL),
                  *pipe = g_build_filename (folder, "pipe.so", NULL), *said = NULL;
  g_assert_true (g_file_set_contents (text,
                                      "no library, but a long text of more than a header; "
                                      "it ends after some sixty-four bytes.",
                                      -1, NULL));
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  expect_refused (text, "invalid ELF header");
  expect_refused (pipe, "not a file; expected a shared object");
  expect_refused (folder, "not a file; expected a shared object");
  expect_refused ("/nowhere/library.so", "No such file or directory");
  expect_refused ("libof-nobody.so", "cannot open shared object file");
  g_assert_nonnull (sl_shared_object_open ("libm.so.6", RTLD_LAZY | RTLD_LOCAL, &said));
  sl_test_folder_remove (folder);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shared-object/cut", test_cut);
  g_test_add_func ("/shared-object/no-library", test_no_library);
  return g_test_run ();
}
