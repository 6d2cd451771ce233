/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader "zxing": asks the program sightline-zxing, which is started for the first picture and
 * again where it ended. A picture that ended it says nothing. Where it ends again and again, or is
 * silent, the reader rests, longer each time until there is an answer.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/backoff.h"
#include "postprocess/read/zxing/protocol.h"

/* The program of a build folder, or another one; else the installed one. */
#define VARIABLE "SIGHTLINE_ZXING"
/* How often in turn the program may end without any answer, before the reader rests. */
#define MAX_ENDS 8
/* Milliseconds of a picture after which the program is ended, longer than it allows itself; and of
 * the reader's shortest rest and its longest. Tests have no such patience. */
#ifndef SILENCE
#define SILENCE 12000
#define SHORTEST_REST 10000
#endif
#define LONGEST_REST 180000

static const struct
{
  const char *name;
  gboolean is_checked;
} symbologies[] = {
#define ROW(format, name, kind, is_checked) { name, is_checked },
  SL_ZXING_SYMBOLOGIES (ROW)
#undef ROW
};

typedef struct
{
  char *program;
  GPid pid;
  int socket; /* -1: it does not run */
  guint ends; /* in turn, without an answer */
  gint64 resumes;
  gboolean has_warned;
} Process;

/* It ended without an answer, or did not begin. */
static void
note_end (Process *process, gboolean was_silent)
{
  process->ends = was_silent ? MAX (process->ends + 1, MAX_ENDS) : process->ends + 1;
  if (process->ends < MAX_ENDS)
    return;
  const guint rest = sl_backoff_delay (SHORTEST_REST, LONGEST_REST, process->ends - MAX_ENDS + 1);
  process->resumes = g_get_monotonic_time () + (gint64) rest * 1000;
  if (!process->has_warned)
    g_warning (
      "codes: %s %s; it is asked again in %.0f s, then more rarely, and codes that it alone reads "
      "are not read until it answers",
      process->program,
      was_silent ? "does not answer" : "ends, or does not start, again and again without an answer",
      rest / 1000.0);
  process->has_warned = TRUE;
}

static void
end (Process *process)
{
  if (process->socket < 0)
    return;
  close (process->socket);
  process->socket = -1;
  kill (process->pid, SIGKILL);
  while (waitpid (process->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  g_spawn_close_pid (process->pid);
}

static gboolean
start (Process *process)
{
  const char *const argv[] = { process->program, NULL };
  const GSpawnFlags flags =
    G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL;
  int sockets[2];
  if (process->socket >= 0)
    return TRUE;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return FALSE;
  const gboolean started = g_spawn_async_with_fds (NULL, (char **) argv, NULL, flags, NULL, NULL,
                                                   &process->pid, sockets[1], -1, -1, NULL);
  close (sockets[1]);
  if (started)
    process->socket = sockets[0];
  else
    close (sockets[0]);
  return started;
}

/* FALSE where the program did not answer, or not as it should; @found: whether there is a code,
 * which is filled then. */
static gboolean
ask (const Process *process, const SlGray *picture, const SlReadHow *how, gint64 deadline,
     gboolean *found, SlReadCode *code)
{
  const SlZxingRequest request = { *how, picture->width, picture->height };
  SlZxingAnswer answer;
  if (!sl_zxing_send (process->socket, &request, sizeof request, deadline)
      || !sl_zxing_send (process->socket, picture->pixels,
                         (gsize) picture->width * (gsize) picture->height, deadline)
      || !sl_zxing_receive (process->socket, &answer, sizeof answer, deadline))
    return FALSE;
  *found = answer.row >= 0;
  if (!*found)
    return TRUE;
  if (answer.row >= (gint) G_N_ELEMENTS (symbologies) || answer.n_bytes == 0
      || answer.n_bytes > SL_READ_MAX_BYTES
      || !sl_zxing_receive (process->socket, code->bytes, answer.n_bytes, deadline))
    return FALSE;
  for (guint i = 0; i < 8; i++)
    if (!isfinite (answer.corners[i / 2][i % 2]))
      return FALSE;
  code->bytes[answer.n_bytes] = '\0';
  code->n_bytes = answer.n_bytes;
  code->symbology = symbologies[answer.row].name;
  code->is_checked = symbologies[answer.row].is_checked;
  code->quality = MAX (answer.quality, 1);
  memcpy (code->corners, answer.corners, sizeof code->corners);
  return TRUE;
}

static gboolean
scan (gpointer scanner, const SlGray *picture, const SlReadHow *how, SlReadCode *code)
{
  Process *process = scanner;
  const gint64 deadline = g_get_monotonic_time () + SILENCE * G_TIME_SPAN_MILLISECOND;
  gboolean found = FALSE;
  if (start (process) && ask (process, picture, how, deadline, &found, code)) {
    process->ends = 0;
    return found;
  }
  note_end (process, g_get_monotonic_time () >= deadline);
  end (process);
  return FALSE;
}

static gint64
resumes (gconstpointer scanner)
{
  return ((const Process *) scanner)->resumes;
}

static void
close_process (gpointer scanner)
{
  Process *process = scanner;
  end (process);
  g_free (process->program);
  g_free (process);
}

static const char *
choose_program (void)
{
  const char *stated = g_getenv (VARIABLE);
  return stated != NULL && *stated != '\0' ? stated : SL_ZXING_PROGRAM;
}

static const char *
find_missing (void)
{
  const char *program = choose_program ();
  return g_file_test (program, G_FILE_TEST_IS_REGULAR)
             && g_file_test (program, G_FILE_TEST_IS_EXECUTABLE)
           ? NULL
           : program;
}

static gpointer
open_process (void)
{
  if (find_missing () != NULL)
    return NULL;
  Process *process = g_new0 (Process, 1);
  process->program = g_strdup (choose_program ());
  process->socket = -1;
  return process;
}

const SlReader sl_reader_zxing = { "zxing", SL_READ_ANY, open_process, close_process,
                                   scan,    resumes,     find_missing };
