/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * main() of the test programs that hold the files of a folder: finds the file that the first
 * argument names and runs it.
 */
#include <glib.h>
#include <stdio.h>

#include "tests/support/program.h"

/* The file that runs, for programs that the test starts from its own executable, as
 * g_test_trap_subprocess() does. */
#define RUNNING "SIGHTLINE_TEST_FILE"

static TestFile *files;

void
test_file_register (TestFile *file)
{
  file->next = files;
  files = file;
}

static gboolean
is_called (const TestFile *file, const char *name)
{
  g_autofree char *base = g_path_get_basename (file->path);
  return name != NULL && g_str_has_suffix (base, ".c") && strlen (name) == strlen (base) - 2
         && g_str_has_prefix (base, name);
}

static TestFile *
find (const char *name)
{
  TestFile *file = files;
  while (file != NULL && !is_called (file, name))
    file = file->next;
  return file;
}

int
main (int argc, char **argv)
{
  TestFile *file = argc > 1 ? find (argv[1]) : NULL;
  if (file != NULL) {
    g_setenv (RUNNING, argv[1], TRUE);
    argv[1] = argv[0];
    return file->main (argc - 1, argv + 1);
  }
  file = find (g_getenv (RUNNING));
  if (file != NULL)
    return file->main (argc, argv);
  fprintf (stderr, "usage: %s FILE [options of GLib's tests], where FILE is one of:\n", argv[0]);
  for (file = files; file != NULL; file = file->next) {
    g_autofree char *base = g_path_get_basename (file->path);
    fprintf (stderr, "  %.*s\n", (int) strlen (base) - 2, base);
  }
  return 2;
}
