/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders that a test makes and removes. */
#ifndef SL_TESTS_FOLDERS_H
#define SL_TESTS_FOLDERS_H

#include <glib/gstdio.h>

/** sl_test_folder_new: (transfer full): an empty one. */
static inline char *
sl_test_folder_new (void)
{
  GError *error = NULL;
  char *folder = g_dir_make_tmp ("sightline-test-XXXXXX", &error);
  g_assert_no_error (error);
  return folder;
}

/** sl_test_folder_remove: with its files; takes @folder. */
static inline void
sl_test_folder_remove (char *folder)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    g_unlink (path);
  }
  g_dir_close (dir);
  g_rmdir (folder);
  g_free (folder);
}

#endif
