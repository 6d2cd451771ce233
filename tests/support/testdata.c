/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds test data that is not part of the project. */
#include "tests/support/testdata.h"

char *
sl_test_data (const char *relative)
{
  const char *env = g_getenv ("SIGHTLINE_TEST_DATA");
  const char *source = g_getenv ("SIGHTLINE_SOURCE_ROOT");
  g_autofree char *root =
    env != NULL ? g_strdup (env)
                : g_build_filename (source != NULL ? source : ".", "..", "shared", NULL);
  g_autofree char *path = g_build_filename (root, relative, NULL);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  g_autofree char *reason = g_strdup_printf ("%s not found; set SIGHTLINE_TEST_DATA", relative);
  g_test_skip (reason);
  return NULL;
}
