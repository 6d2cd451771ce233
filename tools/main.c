/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sightline program: finds the sub-command and hands its arguments over.
 */
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "tools/command.h"

static const SlCommand *const commands[] = {
  &sl_command_predict,
  &sl_command_inspect,
  &sl_command_infer,
  &sl_command_bench,
  &sl_command_run,
  &sl_command_check,
};

void
sl_complain (const char *command, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  fprintf (stderr, "sightline%s%s: %s\n", command != NULL ? " " : "", command != NULL ? command : "", message);
}

static void
print_help (FILE *to)
{
  fprintf (to, "Usage: sightline COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  fprintf (to, "\nOptions:\n  --help     show this help; COMMAND --help shows a command's\n  --version  show the version\n\n"
               "Exit status: 0 done, 1 something failed, 2 wrong usage, 130 interrupted.\n");
}

int
main (int argc, char **argv)
{
  setlocale (LC_CTYPE, "");
  if (argc < 2) {
    print_help (stderr);
    return SL_EXIT_USAGE;
  }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 || strcmp (argv[1], "help") == 0) {
    print_help (stdout);
    return SL_EXIT_OK;
  }
  if (strcmp (argv[1], "--version") == 0) {
    printf ("sightline %s\n", SL_VERSION);
    return SL_EXIT_OK;
  }
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (argv[1], commands[i]->name) == 0) {
      int status = commands[i]->run (argc - 1, argv + 1);
      if (fflush (stdout) == 0 && !ferror (stdout))
        return status;
      sl_complain (commands[i]->name, "cannot write to standard output");
      return status == SL_EXIT_OK ? SL_EXIT_FAILED : status;
    }
  sl_complain (NULL, "'%s' is not a command; expected predict, inspect, infer, bench, run or check (see sightline --help)", argv[1]);
  return SL_EXIT_USAGE;
}
