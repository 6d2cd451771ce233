/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client side of sd_notify(3), without its library: the protocol is stable and documented. */
#include "tools/run/notify.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "tools/run/log.h"

/* Bytes that wait for a service manager that does not read. */
#define MAX_UNTOLD 4096

static gboolean
fail (const char *path, int number, GError **error)
{
  if (number == EAGAIN)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK,
                 "NOTIFY_SOCKET=%s: the service manager does not read", path);
  else
    sl_fail (error, SL_ERROR_OPEN, "NOTIFY_SOCKET=%s: %s", path, g_strerror (number));
  return FALSE;
}

gboolean
sl_notify (const char *state, GError **error)
{
  const char *path = g_getenv ("NOTIFY_SOCKET");
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  if (path == NULL || path[0] == '\0')
    return TRUE;
  if ((path[0] != '/' && path[0] != '@') || strlen (path) >= sizeof address.sun_path)
    return fail (path, EINVAL, error);
  const size_t length = strlen (path);
  memcpy (address.sun_path, path, length);
  if (path[0] == '@')
    address.sun_path[0] =
      '\0'; /* the abstract namespace, where the length counts and no NUL ends the name */
  const int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    return fail (path, errno, error);
  const socklen_t size = (socklen_t) (offsetof (struct sockaddr_un, sun_path) + length);
  const ssize_t sent =
    sendto (fd, state, strlen (state), MSG_NOSIGNAL, (const struct sockaddr *) &address, size);
  const int number = errno;
  close (fd);
  return sent >= 0 || fail (path, number, error);
}

guint64
sl_notify_watchdog_interval (void)
{
  const char *text = g_getenv ("WATCHDOG_USEC"), *pid = g_getenv ("WATCHDOG_PID");
  guint64 usec = 0, owner = 0;
  if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT64, &usec, NULL))
    return 0;
  if (pid != NULL
      && (!g_ascii_string_to_unsigned (pid, 10, 1, G_MAXINT, &owner, NULL)
          || owner != (guint64) getpid ()))
    return 0;
  return usec / 2;
}

/* A busy machine's manager may be behind by more than its socket holds: what it could not take is
 * told with the next tick. */
void
sl_manager_tell_rest (SlManager *manager)
{
  g_autoptr (GError) error = NULL;
  if (manager->deaf || manager->untold == NULL || manager->untold->len == 0)
    return;
  const gboolean told = sl_notify (manager->untold->str, &error);
  if (!told && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    return;
  g_string_truncate (manager->untold, 0);
  if (!told) {
    manager->deaf = TRUE;
    sl_run_log (SL_LOG_WARNING, NULL, "notify", "%s", error->message);
  }
}

void
sl_manager_tell (SlManager *manager, const char *state)
{
  if (manager->untold == NULL)
    manager->untold = g_string_new (NULL);
  if (manager->untold->len > MAX_UNTOLD)
    return;
  if (manager->untold->len > 0)
    g_string_append_c (manager->untold, '\n');
  g_string_append (manager->untold, state);
  sl_manager_tell_rest (manager);
}

void
sl_manager_clear (SlManager *manager)
{
  if (manager->untold != NULL)
    g_string_free (manager->untold, TRUE);
  manager->untold = NULL;
}
