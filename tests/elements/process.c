/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/elements/process.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

void
test_die_with_parent (gpointer data)
{
#ifdef PR_SET_PDEATHSIG
  prctl (PR_SET_PDEATHSIG, SIGKILL);
#endif
}

GPid
test_spawn (const char *const *argv, const char *output)
{
  g_autoptr (GError) error = NULL;
  const GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD
                            | G_SPAWN_STDERR_TO_DEV_NULL
                            | (output == NULL ? G_SPAWN_STDOUT_TO_DEV_NULL : 0);
  GPid pid = 0;
  gint out = -1;
  if (output != NULL)
    out = g_open (output, O_WRONLY | O_CREAT | O_APPEND, 0600);
  g_assert_true (g_spawn_async_with_fds (NULL, (char **) argv, NULL, flags, test_die_with_parent,
                                         NULL, &pid, -1, out, -1, &error));
  if (out >= 0)
    close (out);
  return pid;
}

gint
test_kill (GPid *pid, gint with)
{
  gint status = 0;
  if (*pid == 0)
    return 0;
  kill (*pid, with);
  waitpid (*pid, &status, 0);
  g_spawn_close_pid (*pid);
  *pid = 0;
  return status;
}

void
test_wait_listening (guint port)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_socket_client_set_enable_proxy (client, FALSE);
  for (;;) {
    g_autoptr (GSocketConnection) connection =
      g_socket_client_connect_to_host (client, "127.0.0.1", (guint16) port, NULL, NULL);
    if (connection != NULL)
      return;
    g_usleep (20000);
  }
}
