/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline user`: the file of users of the console. A password comes from the terminal or from
 * standard input, never from an argument, which process lists show. The file is replaced as a
 * whole; lines that are not the user's stay as they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/run/http/hash.h"
#include "tools/run/http/users.h"

#define COMMAND "user"

/* A file's lines. @mode, @group: of the file that there is */
typedef struct
{
  const char *path;
  GPtrArray *lines;
  guint mode;
  gid_t group;
} File;

static void
file_clear (File *file)
{
  g_clear_pointer (&file->lines, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (File, file_clear)

/* @make: a missing file is an empty one */
static gboolean
file_read (File *file, const char *path, gboolean make, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) reason = NULL;
  struct stat about;
  file->path = path;
  file->lines = g_ptr_array_new_with_free_func (g_free);
  file->mode = 0600;
  file->group = (gid_t) -1;
  if (make && g_access (path, F_OK) != 0)
    return TRUE;
  if (!g_file_get_contents (path, &text, NULL, &reason) || stat (path, &about) != 0)
    return sl_fail (error, SL_ERROR_OPEN, "%s; 'sightline user add' makes one",
                    reason != NULL ? reason->message : path);
  if (!sl_users_check_mode (path, about.st_mode, error))
    return FALSE;
  file->mode = about.st_mode & 0777;
  file->group = about.st_gid;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && (lines[i][0] != '\0' || lines[i + 1] != NULL); i++)
    g_ptr_array_add (file->lines, g_strdup (lines[i]));
  return TRUE;
}

static gboolean
file_write (const File *file, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) reason = NULL;
  for (guint i = 0; i < file->lines->len; i++)
    g_string_append_printf (text, "%s\n", (const char *) file->lines->pdata[i]);
  if (!g_file_set_contents_full (file->path, text->str, (gssize) text->len,
                                 G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                 (int) file->mode, &reason))
    return sl_fail (error, SL_ERROR_OPEN, "%s: %s; the users are as they were", file->path,
                    reason->message);
  if (file->group != (gid_t) -1 && chown (file->path, (uid_t) -1, file->group) != 0)
    return sl_fail (error, SL_ERROR_OPEN, "%s: the file is of another group now: chgrp it",
                    file->path);
  return TRUE;
}

/* Index of @name's line, -1 when there is none. */
static int
find (const File *file, const char *name)
{
  const gsize length = strlen (name);
  for (guint i = 0; i < file->lines->len; i++) {
    const char *line = file->lines->pdata[i];
    if (strncmp (line, name, length) == 0 && line[length] == ':')
      return (int) i;
  }
  return -1;
}

/* What ends or stops the program while a terminal has no echo. */
static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };
static volatile sig_atomic_t ended; /* the signal that came; 0 = none */
static int ending[2];               /* a pipe, which any thread may be interrupted to write to */

static void
on_end (int number)
{
  const int kept = errno;
  ended = number;
  const gssize done G_GNUC_UNUSED = write (ending[1], "", 1); /* a full pipe has told already */
  errno = kept;
}

/* Whether there is something to read, or the end; FALSE where one of @ends comes first. */
static gboolean
wait_for_line (void)
{
  struct pollfd wanted[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                             { .fd = ending[0], .events = POLLIN } };
  while (poll (wanted, G_N_ELEMENTS (wanted), -1) < 0 && errno == EINTR)
    ;
  return ended == 0;
}

/* FALSE at the end, or where a signal came. What is typed before the prompt is not read. */
static gboolean
read_quietly (const char *prompt, char *line, int size, const struct termios *before)
{
  struct sigaction act = { .sa_handler = on_end }, old[G_N_ELEMENTS (ends)];
  struct termios quiet = *before;
  quiet.c_lflag &= ~(tcflag_t) ECHO;
  ended = 0;
  if (pipe2 (ending, O_CLOEXEC | O_NONBLOCK) != 0)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (sigaction (ends[i], NULL, &old[i]) == 0 && old[i].sa_handler != SIG_IGN)
      sigaction (ends[i], &act, NULL); /* what a shell has ignored stays so */
  tcsetattr (STDIN_FILENO, TCSAFLUSH, &quiet);
  fprintf (stderr, "%s: ", prompt);
  const gboolean got = wait_for_line () && fgets (line, size, stdin) != NULL;
  tcsetattr (STDIN_FILENO, TCSAFLUSH, before);
  fputc ('\n', stderr);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    sigaction (ends[i], &old[i], NULL);
  close (ending[0]);
  close (ending[1]);
  if (ended != 0)
    raise (ended);
  return got;
}

/* (transfer full) (nullable): the line of standard input, without echo where that is a terminal. */
static char *
read_line (const char *prompt)
{
  char line[SL_PASSWORD_MOST + 2];
  struct termios before;
  const gboolean terminal = isatty (STDIN_FILENO) && tcgetattr (STDIN_FILENO, &before) == 0;
  gboolean got;
  do
    got = terminal ? read_quietly (prompt, line, sizeof line, &before)
                   : fgets (line, sizeof line, stdin) != NULL;
  while (!got && terminal && ended == SIGTSTP); /* it goes on: the question again */
  char *text = got ? g_strndup (line, strcspn (line, "\r\n")) : NULL;
  explicit_bzero (line, sizeof line);
  return text;
}

/* (transfer full) (nullable): a hash of the password that is typed, twice at a terminal. */
static char *
ask_password (GError **error)
{
  g_autofree char *password = read_line ("Password"), *hash = NULL;
  g_autofree char *again =
    password != NULL && isatty (STDIN_FILENO) ? read_line ("The same again") : NULL;
  const gsize length = password != NULL ? strlen (password) : 0;
  if (length < SL_PASSWORD_LEAST || length > SL_PASSWORD_MOST
      || !g_utf8_validate (password, -1, NULL))
    sl_fail (error, SL_ERROR_ARGUMENT,
             "expected a password of %d to %d bytes of UTF-8 at the terminal or on standard input",
             SL_PASSWORD_LEAST, SL_PASSWORD_MOST);
  else if (isatty (STDIN_FILENO) && g_strcmp0 (password, again) != 0)
    sl_fail (error, SL_ERROR_ARGUMENT, "the two passwords differ: nothing was changed");
  else
    hash = sl_hash_new (password, error);
  if (password != NULL)
    explicit_bzero (password, length);
  if (again != NULL)
    explicit_bzero (again, strlen (again));
  return g_steal_pointer (&hash);
}

static gboolean
fail_unknown (const File *file, const char *name, GError **error)
{
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "%s: there is no user '%s'; 'sightline user list' lists them", file->path, name);
}

/* @role: (nullable): as it was */
static gboolean
set_line (File *file, const char *name, const char *role, GError **error)
{
  const int at = find (file, name);
  g_autoptr (SlUser) before = at >= 0 ? sl_user_parse (file->lines->pdata[at], error) : NULL;
  if (at >= 0 && before == NULL)
    return FALSE;
  g_autofree char *hash = ask_password (error);
  if (hash == NULL)
    return FALSE;
  char *line =
    g_strdup_printf ("%s:%s:%s", name, role != NULL ? role : sl_role_name (before->role), hash);
  if (at >= 0) {
    g_free (file->lines->pdata[at]);
    file->lines->pdata[at] = line;
  } else
    g_ptr_array_add (file->lines, line);
  return file_write (file, error);
}

static gboolean
add (const char *path, const char *name, const char *role, GError **error)
{
  g_auto (File) file = { 0 };
  if (!file_read (&file, path, TRUE, error))
    return FALSE;
  if (find (&file, name) >= 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: there is a user '%s' already; 'sightline user password' changes the "
                    "password",
                    path, name);
  return set_line (&file, name, role, error);
}

static gboolean
password (const char *path, const char *name, const char *role, GError **error)
{
  g_auto (File) file = { 0 };
  if (!file_read (&file, path, FALSE, error))
    return FALSE;
  return find (&file, name) >= 0 ? set_line (&file, name, role, error)
                                 : fail_unknown (&file, name, error);
}

static gboolean
remove_user (const char *path, const char *name, const char *role, GError **error)
{
  g_auto (File) file = { 0 };
  if (!file_read (&file, path, FALSE, error))
    return FALSE;
  const int at = find (&file, name);
  if (at < 0)
    return fail_unknown (&file, name, error);
  g_ptr_array_remove_index (file.lines, (guint) at);
  return file_write (&file, error);
}

static gboolean
list (const char *path, const char *name, const char *role, GError **error)
{
  g_auto (File) file = { 0 };
  if (!file_read (&file, path, FALSE, error))
    return FALSE;
  for (guint i = 0; i < file.lines->len; i++) {
    const char *line = file.lines->pdata[i];
    if (line[0] == '\0' || line[0] == '#')
      continue;
    g_autoptr (SlUser) user = sl_user_parse (line, error);
    if (user == NULL)
      return sl_fail_prefix (error, "%s:%u: ", path, i + 1);
    printf ("%-24s %s\n", user->name, sl_role_name (user->role));
  }
  return TRUE;
}

static const struct
{
  const char *name;
  guint arguments; /* behind the file */
  gboolean role;   /* --role is asked for */
  gboolean (*run) (const char *path, const char *name, const char *role, GError **error);
} actions[] = {
  { "add", 1, TRUE, add },
  { "list", 0, FALSE, list },
  { "remove", 1, FALSE, remove_user },
  { "password", 1, FALSE, password },
};

static int
act (char **arguments, const char *role)
{
  const guint n = g_strv_length (arguments);
  SlRole parsed;
  g_autoptr (GError) error = NULL;
  guint i = 0;
  while (n > 0 && i < G_N_ELEMENTS (actions) && strcmp (arguments[0], actions[i].name) != 0)
    i++;
  if (n == 0 || i == G_N_ELEMENTS (actions))
    return sl_options_usage (COMMAND, "expected add, list, remove or password, got '%s'",
                             n > 0 ? arguments[0] : "");
  if (n != 2 + actions[i].arguments)
    return sl_options_usage (COMMAND, "%s: expected FILE%s, got %u arguments", actions[i].name,
                             actions[i].arguments > 0 ? " and NAME" : "", n - 1);
  if (actions[i].role != (role != NULL))
    return sl_options_usage (COMMAND, "%s: %s", actions[i].name,
                             role != NULL ? "--role is for add"
                                          : "expected --role look, review or configure");
  if (role != NULL && !sl_role_parse (role, &parsed))
    return sl_options_usage (COMMAND, "--role: expected look, review or configure, got '%s'", role);
  const char *name = actions[i].arguments > 0 ? arguments[2] : "";
  if (actions[i].role && !sl_user_name_is_valid (name))
    return sl_options_usage (COMMAND, SL_USER_NAME_REFUSED, name, SL_USER_NAME_MOST);
  return actions[i].run (arguments[1], name, role, &error)
           ? SL_EXIT_OK
           : sl_complain (COMMAND, "%s", error->message);
}

static int
run_user (int argc, char **argv)
{
  g_autofree char *role = NULL;
  g_auto (GStrv) arguments = NULL;
  const GOptionEntry entries[] = {
    { "role", 0, 0, G_OPTION_ARG_STRING, &role,
      "What the new user may do: look, review or configure", "ROLE" },
    { NULL },
  };
  const int status = sl_options_parse (
    COMMAND, "add|list|remove|password FILE [NAME]",
    "Manages the file of users of the web console: adds one, lists them, removes one, sets a "
    "password.",
    "The password comes from the terminal or from standard input. A program that runs reads the "
    "file again.",
    argc, argv, entries, NULL, &arguments);
  return status >= 0 ? status : act (arguments, role);
}

const SlCommand sl_command_user = { COMMAND, "manage the users of the web console", run_user };
