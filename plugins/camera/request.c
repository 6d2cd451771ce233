/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * souphttpsrc has a thread for libsoup, and its unlock() cancels the request from the thread that
 * stops the element. libsoup 3.2 crashes where that happens after it has read the head of an answer
 * and before it hands over the body: it takes the message off its connection, and then closes the
 * body, which needs that connection. Between two sources of libsoup's main context no request is
 * in that state, so unlock() is called there first. A signal of SoupMessage tells the context: it
 * is emitted before anything is sent, and souphttpsrc is the data of handlers of its messages.
 */
#include "plugins/camera/request.h"

#include <gst/base/gstbasesrc.h>

#include "plugins/camera/sockets.h"

struct _SlCameraRequest
{
  GstElement *source;    /* (nullable): none is watched */
  GMainContext *context; /* (nullable): of the thread for libsoup, once the request is sent */
  gboolean ending, cancelled;
};

static GMutex lock; /* of all requests */
static GCond cond;
static GList *requests;

/* With the lock held, in the thread for libsoup; or before anything is sent. */
static void
unlock_source (SlCameraRequest *request)
{
  GstBaseSrc *source = GST_BASE_SRC (request->source);
  GST_BASE_SRC_GET_CLASS (source)->unlock (source);
  request->cancelled = TRUE;
  g_cond_broadcast (&cond);
}

/* With the lock held. */
static SlCameraRequest *
find_request (GObject *message)
{
  for (GList *link = requests; link != NULL; link = link->next) {
    SlCameraRequest *request = link->data;
    if (g_signal_handler_find (message, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL, request->source)
        != 0)
      return request;
  }
  return NULL;
}

/* Handler of the signal "starting" of messages, in the thread for libsoup. */
static gboolean
on_starting (GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data)
{
  g_mutex_lock (&lock);
  SlCameraRequest *request = find_request (g_value_get_object (&values[0]));
  GMainContext *context = g_main_context_get_thread_default ();
  if (request != NULL && request->context == NULL && context != NULL)
    request->context = g_main_context_ref (context);
  if (request != NULL && request->ending)
    unlock_source (request);
  g_mutex_unlock (&lock);
  return TRUE;
}

/* Handler of the signal "event" of GSocketClient. The type of messages exists once souphttpsrc has
 * made one, and each is made before its connection. */
static gboolean
on_connecting (GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data)
{
  static gsize once = 0;
  const GType type = g_type_from_name ("SoupMessage");
  if (type == G_TYPE_INVALID)
    return TRUE;
  if (g_once_init_enter (&once)) {
    sl_camera_watch_signal (type, "starting", on_starting);
    g_once_init_leave (&once, 1);
  }
  return FALSE;
}

SlCameraRequest *
sl_camera_request_new (void)
{
  return g_new0 (SlCameraRequest, 1);
}

void
sl_camera_request_watch (SlCameraRequest *request, GstElement *source)
{
  static gsize once = 0;
  if (g_once_init_enter (&once)) {
    sl_camera_watch_signal (G_TYPE_SOCKET_CLIENT, "event", on_connecting);
    g_once_init_leave (&once, 1);
  }
  request->source = gst_object_ref (source);
  g_mutex_lock (&lock);
  requests = g_list_prepend (requests, request);
  g_mutex_unlock (&lock);
}

static gboolean
cancel_here (gpointer data)
{
  g_mutex_lock (&lock);
  unlock_source (data);
  g_mutex_unlock (&lock);
  return G_SOURCE_REMOVE;
}

void
sl_camera_request_cancel (SlCameraRequest *request)
{
  g_mutex_lock (&lock);
  request->ending = TRUE;
  if (request->context != NULL) {
    g_autoptr (GSource) idle = g_idle_source_new ();
    g_source_set_priority (idle, G_PRIORITY_DEFAULT);
    g_source_set_callback (idle, cancel_here, request, NULL);
    g_source_attach (idle, request->context);
    while (!request->cancelled)
      g_cond_wait (&cond, &lock);
  }
  g_mutex_unlock (&lock);
}

void
sl_camera_request_free (SlCameraRequest *request)
{
  g_mutex_lock (&lock);
  requests = g_list_remove (requests, request);
  g_mutex_unlock (&lock);
  g_clear_pointer (&request->context, g_main_context_unref);
  gst_clear_object (&request->source);
  g_free (request);
}
