/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GSocketClient tells of each connection in a signal of its own, which is watched for all
 * instances; a connection is somebody's only when the thread that makes it has said so before.
 */
#include "config.h"
#include "plugins/camera/sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>
#ifdef SL_HAVE_TCP_BYTES_RECEIVED
#include <linux/tcp.h>
#endif

struct _SlCameraSockets
{
  gatomicrefcount refs;
  gint given; /* atomic */
  GMutex lock;
  GPtrArray *list; /* of GSocket; under the lock */
  gint
    seen; /* value of @given at @baseline; these two are the caller's of sl_camera_sockets_held() */
  guint64 baseline;
};

/* Whose the thread's next connection is. */
static GPrivate claimed = G_PRIVATE_INIT (sl_camera_sockets_unref);

SlCameraSockets *
sl_camera_sockets_ref (SlCameraSockets *sockets)
{
  g_atomic_ref_count_inc (&sockets->refs);
  return sockets;
}

void
sl_camera_sockets_unref (gpointer data)
{
  SlCameraSockets *sockets = data;
  if (!g_atomic_ref_count_dec (&sockets->refs))
    return;
  g_ptr_array_unref (sockets->list);
  g_mutex_clear (&sockets->lock);
  g_free (sockets);
}

/* Handler of the signal "event". */
static gboolean
on_event (GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data)
{
  SlCameraSockets *sockets = g_private_get (&claimed);
  if (sockets == NULL || g_value_get_enum (&values[1]) != G_SOCKET_CLIENT_CONNECTED)
    return TRUE;
  GObject *connection = g_value_get_object (&values[3]);
  if (G_IS_SOCKET_CONNECTION (connection)) {
    g_mutex_lock (&sockets->lock);
    g_ptr_array_add (sockets->list, g_object_ref (g_socket_connection_get_socket (
                                      G_SOCKET_CONNECTION (connection))));
    g_mutex_unlock (&sockets->lock);
  }
  g_private_replace (&claimed, NULL);
  return TRUE;
}

void
sl_camera_watch_signal (GType type, const char *signal, GSignalEmissionHook hook)
{
  GTypeClass *klass = g_type_class_ref (type);
  g_signal_add_emission_hook (g_signal_lookup (signal, type), 0, hook, NULL, NULL);
  g_type_class_unref (klass);
}

SlCameraSockets *
sl_camera_sockets_new (void)
{
  static gsize once = 0;
  if (g_once_init_enter (&once)) {
    sl_camera_watch_signal (G_TYPE_SOCKET_CLIENT, "event", on_event);
    g_once_init_leave (&once, 1);
  }
  SlCameraSockets *sockets = g_new0 (SlCameraSockets, 1);
  g_atomic_ref_count_init (&sockets->refs);
  g_mutex_init (&sockets->lock);
  sockets->list = g_ptr_array_new_with_free_func (g_object_unref);
  return sockets;
}

void
sl_camera_sockets_claim (SlCameraSockets *sockets)
{
  g_private_replace (&claimed, sl_camera_sockets_ref (sockets));
}

void
sl_camera_sockets_forget (SlCameraSockets *sockets)
{
  g_mutex_lock (&sockets->lock);
  g_ptr_array_set_size (sockets->list, 0);
  g_mutex_unlock (&sockets->lock);
  sockets->baseline = 0;
}

void
sl_camera_sockets_give (SlCameraSockets *sockets)
{
  g_atomic_int_inc (&sockets->given);
}

static guint64
received (GSocket *socket)
{
#ifdef SL_HAVE_TCP_BYTES_RECEIVED
  struct tcp_info info = { 0 };
  socklen_t size = sizeof info;
  if (!g_socket_is_closed (socket)
      && getsockopt (g_socket_get_fd (socket), IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
    return info.tcpi_bytes_received;
#endif
  return 0;
}

guint64
sl_camera_sockets_held (SlCameraSockets *sockets)
{
  const gint given = g_atomic_int_get (&sockets->given);
  guint64 total = 0;
  g_mutex_lock (&sockets->lock);
  for (guint i = 0; i < sockets->list->len; i++)
    total += received (sockets->list->pdata[i]);
  g_mutex_unlock (&sockets->lock);
  if (given != sockets->seen || total < sockets->baseline) {
    sockets->seen = given;
    sockets->baseline = total;
  }
  return total - sockets->baseline;
}

/* A peer that goes on sending after shutdown(2) is still read. Linux takes a TCP connection down,
 * with all that came, when it is asked to connect to nothing; the descriptor stays, since others
 * use it. */
static void
cut (GSocket *socket)
{
  const struct sockaddr nothing = { .sa_family = AF_UNSPEC };
  if (!g_socket_is_closed (socket)
      && connect (g_socket_get_fd (socket), &nothing, sizeof nothing) != 0)
    g_socket_shutdown (socket, TRUE, TRUE, NULL);
}

void
sl_camera_sockets_cut (SlCameraSockets *sockets)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&sockets->lock);
  for (guint i = 0; i < sockets->list->len; i++)
    cut (sockets->list->pdata[i]);
}
