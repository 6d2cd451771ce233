/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera is stopped at the very moment when an HTTP camera's answer has come and souphttpsrc does
 * not have it yet.
 */
#include <dlfcn.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"

static GMutex lock;
static GCond cond;
/* Under the lock. @moved: the request is cancelled, or libsoup's thread has something to do. */
static gboolean armed, reached, stopping, moved;
static GMainContext *held; /* of libsoup's thread, while it waits */

static void
set (gboolean *what)
{
  g_mutex_lock (&lock);
  *what = TRUE;
  g_cond_broadcast (&cond);
  g_mutex_unlock (&lock);
}

/* With the lock held. */
static void
wait_for (const gboolean *what)
{
  while (!*what)
    g_cond_wait (&cond, &lock);
}

static void
on_cancelled (GCancellable *cancellable, gpointer data)
{
  set (&moved);
}

/* In libsoup's thread: until another thread cancels the request, or leaves that to this one. */
static void
hold (GTask *task)
{
  GCancellable *cancellable = g_task_get_cancellable (task);
  const gulong id = g_cancellable_connect (cancellable, G_CALLBACK (on_cancelled), NULL, NULL);
  g_mutex_lock (&lock);
  held = g_main_context_get_thread_default ();
  reached = TRUE;
  g_cond_broadcast (&cond);
  wait_for (&stopping);
  wait_for (&moved);
  held = NULL;
  g_mutex_unlock (&lock);
  g_cancellable_disconnect (cancellable, id);
}

/* In GLib's place. */
guint
g_source_attach (GSource *source, GMainContext *context)
{
  guint (*attach) (GSource *, GMainContext *) = NULL;
  *(void **) &attach = dlsym (RTLD_NEXT, "g_source_attach");
  const guint id = attach (source, context);
  g_mutex_lock (&lock);
  const gboolean now = held != NULL && context == held;
  g_mutex_unlock (&lock);
  if (now)
    set (&moved);
  return id;
}

/* In GLib's place: libsoup asks this first when souphttpsrc fetches the answer. */
gboolean
g_task_had_error (GTask *task)
{
  gboolean (*had_error) (GTask *) = NULL;
  *(void **) &had_error = dlsym (RTLD_NEXT, "g_task_had_error");
  GObject *source = g_task_get_source_object (task);
  g_mutex_lock (&lock);
  const gboolean now =
    armed && source != NULL && g_str_equal (G_OBJECT_TYPE_NAME (source), "SoupSession");
  armed &= !now;
  g_mutex_unlock (&lock);
  if (now)
    hold (task);
  return had_error (task);
}

static void
test_answered (void)
{
  TestServer server;
  if (!test_server_start (&server, "SIGHTLINE_MJPEG_SERVER", 0, ""))
    return;
  g_autoptr (TestCamera) camera = test_camera_new (server.uri, "", NULL);
  set (&armed);
  test_camera_play (camera, GST_STATE_PLAYING);
  g_mutex_lock (&lock);
  wait_for (&reached);
  g_mutex_unlock (&lock);
  set (&stopping);
  test_camera_stop (camera);
  test_server_kill (&server);
}

int
main (int argc, char **argv)
{
  g_unsetenv ("http_proxy");
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slcamera/request/answered", test_answered);
  return test_elements_run ();
}
