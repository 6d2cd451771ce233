/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sightline program: finds the sub-command and hands its arguments over. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "core/base/json.h"
#include "core/base/suggest.h"
#include "tools/about.h"
#include "tools/command.h"
#include "tools/commit.h"
#include "tools/options.h"
#include "tools/signals.h"

/* In the order of --help. Those without a pointer are in modules. Those that end well on a signal
 * get it once they listen: what comes earlier waits. */
static const struct
{
  const char *name;
  const SlCommand *command;
  gboolean listens;
} commands[] = {
  { "predict", NULL },
  { "get", NULL },
  { "zoo", NULL },
  { "advise", NULL },
  { "inspect", &sl_command_inspect },
  { "card", &sl_command_card },
  { "infer", &sl_command_infer },
  { "convert", &sl_command_convert },
  { "quantize", NULL },
  { "calibrate", NULL },
  { "fit", NULL },
  { "eval", NULL },
  { "bench", &sl_command_bench },
  { "backends", &sl_command_backends },
  { "run", NULL, TRUE },
  { "user", NULL },
  { "check", NULL },
  { "replay", &sl_command_replay },
  { "tokenize", &sl_command_tokenize },
  { "search", NULL },
  { "gallery", NULL },
  { "serve", NULL, TRUE },
};

/* (nullable): row @i, loaded where it has to be, which may fail with a message. */
static const SlCommand *
command_at (guint i)
{
  return commands[i].command != NULL ? commands[i].command : sl_command_load (commands[i].name);
}

static void
print_help (FILE *to)
{
  fprintf (to, "Usage: sightline COMMAND [OPTION...] [ARGUMENT...]\n\nCommands:\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    const SlCommand *command = command_at (i);
    if (command != NULL)
      fprintf (to, "  %-10s %s\n", command->name, command->summary);
  }
  fprintf (to, "\nOptions:\n  --help     show this help; COMMAND --help shows a command's\n"
               "  --version  show the version, and what was built in\n\n"
               "Exit status: 0 done, 1 something failed, 2 wrong usage, 130 interrupted.\n");
}

/* JSON objects, one a line: each command by its summary, followed by the options that it has
 * itself, or that its parts have. */
static int
describe_commands (void)
{
  int status = SL_EXIT_OK;
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    const SlCommand *command = command_at (i);
    if (command == NULL)
      return SL_EXIT_FAILED;
    g_autoptr (GString) json = g_string_new ("{\"name\":");
    char *arguments[] = { (char *) command->name, (char *) SL_OPTION_DESCRIBE, NULL };
    sl_json_append_string (json, command->name);
    sl_json_append_text (json, "summary", command->summary);
    g_string_append_c (json, '}');
    puts (json->str);
    if (command->run (2, arguments) != SL_EXIT_OK)
      status = SL_EXIT_FAILED;
  }
  return status;
}

static void
print_version (void)
{
  printf ("sightline %s%s%s%s\n", SL_VERSION, SL_COMMIT[0] != '\0' ? " (" : "", SL_COMMIT,
          SL_COMMIT[0] != '\0' ? ")" : "");
  printf ("with: %s\n", SL_BUILT_WITH);
  if (SL_BUILT_WITHOUT[0] != '\0')
    printf ("without: %s\n", SL_BUILT_WITHOUT);
}

/* A file that a library opens must not become standard output, nor results go into it: what is
 * closed stays unusable, but taken. */
static void
keep_standard_streams (void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl (fd, F_GETFD) < 0 && errno == EBADF
        && open ("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      exit (SL_EXIT_FAILED);
}

static int
refuse_command (const char *name)
{
  const char *names[G_N_ELEMENTS (commands)];
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i] = commands[i].name;
  const char *near = sl_suggest (name, names, G_N_ELEMENTS (names));
  if (name[0] == '-')
    sl_complain (
      NULL,
      "'%s' is not an option; expected --help, --version or a command first (see sightline --help)",
      name);
  else if (near != NULL)
    sl_complain (NULL, "'%s' is not a command; did you mean '%s'? (see sightline --help)", name,
                 near);
  else
    sl_complain (
      NULL,
      "'%s' is not a command; expected predict, get, zoo, advise, inspect, card, infer, convert, "
      "quantize, calibrate, fit, eval, bench, backends, run, user, check, replay, tokenize, "
      "search, gallery or serve (see sightline --help)",
      name);
  return SL_EXIT_USAGE;
}

static int
run_command (const char *name, int argc, char **argv)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++) {
    if (strcmp (name, commands[i].name) != 0)
      continue;
    if (commands[i].listens)
      sl_signals_hold ();
    const SlCommand *command = command_at (i);
    return command != NULL ? command->run (argc - 1, argv + 1) : SL_EXIT_FAILED;
  }
  if (strcmp (name, "--help") == 0 || strcmp (name, "-h") == 0 || strcmp (name, "help") == 0)
    print_help (stdout);
  else if (strcmp (name, "--version") == 0)
    print_version ();
  else if (strcmp (name, SL_OPTION_DESCRIBE) == 0)
    return describe_commands ();
  else
    return refuse_command (name);
  return SL_EXIT_OK;
}

int
main (int argc, char **argv)
{
  setlocale (LC_CTYPE, "");
  keep_standard_streams ();
  if (argc < 2) {
    print_help (stderr);
    return SL_EXIT_USAGE;
  }
  const int status = run_command (argv[1], argc, argv);
  errno = 0;
  gboolean written = fflush (stdout) == 0;
  if (written && !ferror (stdout))
    return status;
  if (written) { /* what failed before has left no reason; one more line fails for the same */
    errno = 0;
    written = putchar ('\n') != EOF && fflush (stdout) == 0;
  }
  sl_complain (argv[1][0] != '-' ? argv[1] : NULL, "cannot write to standard output%s%s",
               written ? "" : ": ", written ? "" : g_strerror (errno));
  return status == SL_EXIT_OK ? SL_EXIT_FAILED : status;
}
