/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transport to a program: it is started for each line, without a shell, and gets the line on its
 * standard input. One runs at a time. It has a process group of its own, which is killed when its
 * time is over or the publisher stops; what it prints is thrown away.
 */
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "plugins/publish/publisher.h"

#define SCHEME "exec:"
/* Between two looks at a program that runs. */
#define STEP_MS 20

typedef struct
{
  char **argv;
  gint64 timeout_us;
  guint refused;
  char *reason; /* (nullable) */
} Command;

static void
command_close (gpointer state)
{
  Command *self = state;
  g_strfreev (self->argv);
  g_free (self->reason);
  g_free (self);
}

static gpointer
command_open (const SlPublishSettings *settings, GError **error)
{
  g_autoptr (GError) cause = NULL;
  Command *self = g_new0 (Command, 1);
  self->timeout_us = (gint64) settings->timeout_s * G_USEC_PER_SEC;
  if (!g_shell_parse_argv (settings->location + strlen (SCHEME), NULL, &self->argv, &cause)
      && g_error_matches (cause, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING))
    sl_fail (error, SL_ERROR_ARGUMENT,
             "location=exec: has no program: expected its whole path, such as "
             "exec:/usr/bin/logger");
  else if (self->argv == NULL)
    sl_fail (error, SL_ERROR_ARGUMENT, "location=exec: %s: expected a program and its arguments",
             cause->message);
  else if (self->argv[0][0] != '/')
    sl_fail (error, SL_ERROR_ARGUMENT,
             "location=exec:%s: expected the whole path of a program, such as exec:/usr/bin/logger",
             self->argv[0]);
  else if (g_file_test (self->argv[0], G_FILE_TEST_IS_DIR) || access (self->argv[0], X_OK) != 0)
    sl_fail (error, SL_ERROR_OPEN, "location=exec:%s: %s: expected a program that may be run",
             self->argv[0],
             g_file_test (self->argv[0], G_FILE_TEST_IS_DIR) ? "a folder" : g_strerror (errno));
  else
    return self;
  command_close (self);
  return NULL;
}

static gboolean
command_connect (gpointer state, GCancellable *cancellable, GError **error)
{
  return TRUE;
}

static void
command_disconnect (gpointer state)
{
}

/* After fork(): calls only what is safe there. */
static void
own_group (gpointer data)
{
  setpgid (0, 0);
}

/* Writes what the program takes now; closes the pipe at the end, or where it takes no more. */
static void
feed (int *fd, const char **line, gsize *bytes)
{
  while (*fd >= 0 && *bytes > 0) {
    const ssize_t written = write (*fd, *line, *bytes);
    if (written < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (written < 0)
      break;
    *line += written;
    *bytes -= (gsize) written;
  }
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

/* Waits until the program has ended, its time is over or @cancellable is cancelled. Returns whether
 * it has ended, with @status. */
static gboolean
watch (GPid pid, int fd, const char *line, gsize bytes, gint64 until, GCancellable *cancellable,
       int *status)
{
  g_unix_set_fd_nonblocking (fd, TRUE, NULL);
  gboolean ended = FALSE;
  while (!ended && g_get_monotonic_time () < until && !g_cancellable_is_cancelled (cancellable)) {
    struct pollfd poller = { .fd = fd, .events = POLLOUT };
    feed (&fd, &line, &bytes);
    poller.fd = fd;
    ended = waitpid (pid, status, WNOHANG) == pid;
    if (!ended)
      poll (&poller, 1, STEP_MS);
  }
  if (fd >= 0)
    close (fd);
  kill (-pid, SIGKILL); /* what it has left behind, too */
  if (!ended)
    waitpid (pid, status, 0);
  g_spawn_close_pid (pid);
  return ended;
}

static void
refuse (Command *self, char *reason)
{
  self->refused++;
  g_free (self->reason);
  self->reason = reason;
}

static gboolean
command_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable,
              GError **error)
{
  Command *self = state;
  g_autoptr (GError) cause = NULL;
  GPid pid;
  int input, status = 0;
  if (!g_spawn_async_with_pipes (NULL, self->argv, NULL,
                                 G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL
                                   | G_SPAWN_STDERR_TO_DEV_NULL,
                                 own_group, NULL, &pid, &input, NULL, NULL, &cause)) {
    refuse (self, g_strdup_printf ("exec:%s: %s", self->argv[0], cause->message));
    return TRUE;
  }
  const gint64 until = g_get_monotonic_time () + self->timeout_us;
  if (!watch (pid, input, line, bytes, until, cancellable, &status)) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    refuse (self, g_strdup_printf ("exec:%s: killed, as it took longer than %d s (timeout)",
                                   self->argv[0], (int) (self->timeout_us / G_USEC_PER_SEC)));
  } else if (!g_spawn_check_wait_status (status, &cause))
    refuse (self, g_strdup_printf ("exec:%s: %s", self->argv[0], cause->message));
  return TRUE;
}

static gboolean
command_idle (gpointer state, gint wake_fd, gint timeout_ms, GError **error)
{
  struct pollfd poller = { .fd = wake_fd, .events = POLLIN };
  poll (&poller, 1, timeout_ms);
  return TRUE;
}

static guint
command_refused (gpointer state, const char **reason)
{
  Command *self = state;
  const guint refused = self->refused;
  *reason = self->reason;
  self->refused = 0;
  return refused;
}

static const char *const schemes[] = { SCHEME, NULL };

const SlTransport sl_transport_command = {
  .schemes = schemes,
  .open = command_open,
  .connect = command_connect,
  .send = command_send,
  .idle = command_idle,
  .refused = command_refused,
  .disconnect = command_disconnect,
  .close = command_close,
};
