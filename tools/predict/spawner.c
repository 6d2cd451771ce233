/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that spins in a decoder can be neither joined nor killed, so decoding is done in a
 * process of its own. Only a process without other threads may fork and go on without executing a
 * program, and this program soon has many; so it first forks the spawner, which does nothing but
 * fork, kill and wait. When the program ends, however it does, the spawner reads the end of its
 * socket, and ends with what it started. Signals of the terminal are the program's business.
 *
 * GStreamer takes 10 ms to initialise. It starts no thread, except where it makes its registry and
 * loads plugins to do so; hence a spawner is forked before, and one that has GStreamer initialised
 * takes its place if the program still has one thread.
 */
#include "tools/predict/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "plugins/elements.h"
#include "tools/predict/server.h"
#include "tools/predict/wire.h"

/* A killed process that still waits for a disk or a network is left behind. */
#define DEATH_STEPS 100
#define DEATH_STEP_US 10000
#define REPLY_MS 5000

/* Orders, and answers of the same kind; number: of STOP, whether the process is ending by itself;
 * of the answers, the process or how it ended. */
enum
{
  START = 1000,
  STOP
};

struct _SlSpawner
{
  int control;
  pid_t process;
};

/* TRUE when @child ended within @steps. */
static gboolean
wait_for (pid_t child, guint steps, int *status)
{
  for (guint i = 0; i < steps; i++) {
    if (waitpid (child, status, WNOHANG) != 0)
      return TRUE;
    g_usleep (DEATH_STEP_US);
  }
  return FALSE;
}

/* How @child ended, as waitpid() tells; 0 where it had to be killed here. @gone: it is ending. */
static int
end_child (pid_t child, gboolean gone)
{
  int status = 0;
  if (child <= 0)
    return 0;
  if (wait_for (child, gone ? DEATH_STEPS : 1, &status))
    return status;
  kill (child, SIGKILL);
  wait_for (child, DEATH_STEPS, &status);
  return 0;
}

/* 0 with errno set when it fails; in the new process it does not return. */
static pid_t
start_child (int control, int *socket)
{
  int pair[2];
  if (!sl_wire_pair (pair))
    return 0;
  const pid_t spawner = getpid (), child = fork ();
  if (child == 0) {
    close (control);
    close (pair[0]);
    if (prctl (PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid () == spawner)
      sl_server_run (pair[1]);
    _exit (0);
  }
  const int reason = errno;
  close (pair[1]);
  if (child > 0) {
    *socket = pair[0];
    return child;
  }
  close (pair[0]);
  errno = reason;
  return 0;
}

static void
ignore_terminal (void)
{
  const int nothing = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) {
    dup2 (nothing, STDOUT_FILENO); /* results are the program's to write */
    close (nothing);
  }
  signal (SIGINT, SIG_IGN);
  signal (SIGTERM, SIG_IGN);
  signal (SIGTSTP, SIG_DFL);
}

static void
obey (int control)
{
  char text[SL_WIRE_MAX_TEXT + 1];
  SlWire order;
  int file;
  pid_t child = 0;
  ignore_terminal ();
  while (sl_wire_receive (control, &order, text, &file)) {
    SlWire answer = { .kind = order.kind, .number = (guint32) end_child (child, order.number) };
    int socket = -1;
    child = 0;
    if (order.kind == START) {
      child = start_child (control, &socket);
      answer = (SlWire){ .kind = START,
                         .number = (guint32) child,
                         .time = child > 0 ? 0 : (guint64) errno };
    }
    sl_wire_send (control, &answer, NULL, socket);
    if (socket >= 0)
      close (socket);
  }
  if (child > 0)
    kill (child, SIGKILL);
}

static SlSpawner *
fork_spawner (GError **error)
{
  int pair[2];
  fflush (NULL);
  pid_t process = -1;
  if (sl_wire_pair (pair) && (process = fork ()) == 0) {
    close (pair[0]);
    obey (pair[1]);
    _exit (0);
  }
  if (process < 0)
    return sl_fail_null (error, SL_ERROR_BACKEND, "cannot start a process to decode in: %s",
                         g_strerror (errno));
  close (pair[1]);
  SlSpawner *spawner = g_new0 (SlSpawner, 1);
  spawner->control = pair[0];
  spawner->process = process;
  return spawner;
}

void
sl_spawner_free (SlSpawner *spawner)
{
  if (spawner == NULL)
    return;
  close (spawner->control);
  waitpid (spawner->process, NULL, 0);
  g_free (spawner);
}

/* FALSE where it is unknown. */
static gboolean
has_one_thread (void)
{
  g_autoptr (GDir) threads = g_dir_open ("/proc/self/task", 0, NULL);
  return threads != NULL && g_dir_read_name (threads) != NULL && g_dir_read_name (threads) == NULL;
}

SlSpawner *
sl_spawner_new (GError **error)
{
  SlSpawner *spawner = fork_spawner (error);
  if (spawner == NULL)
    return NULL;
  sl_elements_init (NULL, NULL);
  if (!has_one_thread ())
    return spawner;
  sl_spawner_free (spawner);
  return fork_spawner (error);
}

/* Sends @kind and waits for the answer; FALSE when none comes. @socket: (nullable) */
static gboolean
ask (SlSpawner *spawner, guint32 kind, guint32 number, SlWire *answer, int *socket)
{
  char text[SL_WIRE_MAX_TEXT + 1];
  const SlWire order = { .kind = kind, .number = number };
  int file = -1;
  const gboolean good =
    sl_wire_send (spawner->control, &order, NULL, -1) && sl_wire_poll (spawner->control, REPLY_MS)
    && sl_wire_receive (spawner->control, answer, text, &file) && answer->kind == kind;
  if (socket != NULL)
    *socket = file;
  else if (file >= 0)
    close (file);
  return good;
}

gboolean
sl_spawner_start (SlSpawner *spawner, int *socket, pid_t *process, GError **error)
{
  SlWire answer = { .time = ECHILD };
  const gboolean answered = ask (spawner, START, 0, &answer, socket);
  *process = (pid_t) answer.number;
  if (answered && *process > 0 && *socket >= 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_BACKEND, "cannot start a process to decode in: %s",
                  g_strerror ((int) answer.time));
}

int
sl_spawner_stop (SlSpawner *spawner, gboolean gone)
{
  SlWire answer;
  return ask (spawner, STOP, gone, &answer, NULL) ? (int) answer.number : 0;
}
