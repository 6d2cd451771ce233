/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/base/sysfs.h"

#include <glib/gstdio.h>

char *
sysfs_begin (void)
{
  char *root = g_dir_make_tmp ("sightline-XXXXXX", NULL);
  g_assert_nonnull (root);
  return root;
}

static void
remove_all (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *inside = g_build_filename (path, name, NULL);
    remove_all (inside);
  }
  g_remove (path);
}

void
sysfs_end (char *root)
{
  remove_all (root);
  g_free (root);
}

void
sysfs_put (const char *root, const char *path, const char *text)
{
  g_autofree char *whole = g_build_filename (root, path, NULL),
                  *folder = g_path_get_dirname (whole);
  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (whole, text, -1, NULL));
}

static void
put_number (const char *root, guint id, const char *name, guint number)
{
  g_autofree char *path = g_strdup_printf ("devices/system/cpu/cpu%u/%s", id, name),
                  *text = g_strdup_printf ("%u\n", number);
  if (number > 0)
    sysfs_put (root, path, text);
}

void
sysfs_put_core (const char *root, guint id, guint capacity, guint khz, guint max_khz)
{
  put_number (root, id, "topology/core_id", id + 1); /* so that the folder is there */
  put_number (root, id, "cpu_capacity", capacity);
  put_number (root, id, "cpufreq/scaling_cur_freq", khz);
  put_number (root, id, "cpufreq/cpuinfo_max_freq", max_khz);
}
