/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that happens leads to serve(), which looks at new data and waiting clients:
 * streaming threads wake a source for it, a timer comes when the next picture is due, and a client
 * whose last piece is out calls it. A client that is not ready misses pieces, and gets the newest
 * once it is.
 */
#include "tools/run/http/channel.h"

#include "tools/run/http/feed.h"
#include "tools/run/http/server.h"
#include "tools/run/http/stream.h"
#include "tools/run/http/view.h"

#define HEAD(type)                                                                             \
  "HTTP/1.1 200 OK\r\nContent-Type: " type                                                     \
  "\r\nCache-Control: no-store\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n"    \
  "Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: " SL_HTTP_DATA_POLICY \
  "\r\n\r\n"
/* Browsers show a part when the boundary behind it is there: each part ends with the one that the
 * next begins with. */
#define PICTURES_HEAD \
  HEAD ("multipart/x-mixed-replace; boundary=" SL_VIEW_BOUNDARY) "--" SL_VIEW_BOUNDARY "\r\n"
#define PREDICTIONS_HEAD HEAD ("text/event-stream") "retry: 1000\n\n"
/* Microseconds between two predictions for a client, however fast frames are. */
#define PREDICTION_INTERVAL (G_USEC_PER_SEC / 25)
/* After so long without news a client gets something all the same, so that a peer that vanished is
 * noticed; a viewer for whom there was never a picture ends. */
#define SILENCE (10 * G_USEC_PER_SEC)
/* Microseconds that a snapshot may wait for a frame, that a pipeline that failed is not tried
 * again, and that an idle one is kept. */
#define SNAPSHOT_PATIENCE (3 * G_USEC_PER_SEC)
#define FAULT_PAUSE (5 * G_USEC_PER_SEC)
#define IDLE (10 * G_USEC_PER_SEC)

typedef struct
{
  SlChannel *channel;
  SoupServerMessage *message; /* until it is stolen, in an idle moment */
  GSource *begin;
  SlStream *stream;
  SlView *view;      /* (nullable): of pictures; NULL = of predictions */
  gboolean analysed; /* predictions have results of zones and lines */
  guint64 sent;      /* serial */
} Client;

typedef struct
{
  SlChannel *channel;
  SlView *view;
  SoupServerMessage *message;
  gulong finished;
  gint64 until;
} Waiter;

struct _SlChannel
{
  SlFeed *feed;
  const SlHttpSettings *settings;
  SlMessages *messages;
  SlConnections *connections;
  GSource *wake, *timer;
  GPtrArray *clients, *waiters, *views;
  gint64 analysed;       /* when results of zones and lines were last asked for */
  gint64 due, predicted; /* when the next picture may be asked for, when predictions were last */
  gboolean asked;
  gint64 fault_until;
  char *fault;
};

static void serve (SlChannel *channel);

static gboolean
on_ready (GSource *source, GSourceFunc callback, gpointer data)
{
  g_source_set_ready_time (source, -1);
  return callback (data);
}

static GSourceFuncs wake_funcs = { .dispatch = on_ready };

static gboolean
on_wake (gpointer data)
{
  serve (data);
  return G_SOURCE_CONTINUE;
}

/* Any thread. */
static void
wake (gpointer data)
{
  g_source_set_ready_time (((SlChannel *) data)->wake, 0);
}

static GSource *
wake_new (SlChannel *channel)
{
  GSource *source = g_source_new (&wake_funcs, sizeof (GSource));
  g_source_set_callback (source, on_wake, channel, NULL);
  return source;
}

static void
client_free (gpointer data)
{
  Client *client = data;
  if (client->begin != NULL)
    g_source_destroy (client->begin);
  g_clear_pointer (&client->begin, g_source_unref);
  g_clear_object (&client->message);
  g_clear_pointer (&client->stream, sl_stream_free);
  g_free (client);
}

static void
waiter_free (gpointer data)
{
  Waiter *waiter = data;
  g_signal_handler_disconnect (waiter->message, waiter->finished);
  g_object_unref (waiter->message);
  g_free (waiter);
}

SlChannel *
sl_channel_new (const char *name, const SlHttpSettings *settings, SlMessages *messages)
{
  SlChannel *channel = g_new0 (SlChannel, 1);
  channel->settings = settings;
  channel->messages = messages;
  channel->wake = wake_new (channel);
  channel->timer = wake_new (channel);
  channel->clients = g_ptr_array_new_with_free_func (client_free);
  channel->waiters = g_ptr_array_new_with_free_func (waiter_free);
  channel->views = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_view_free);
  channel->feed = sl_feed_new (name, wake, channel);
  return channel;
}

void
sl_channel_free (SlChannel *channel)
{
  sl_feed_free (channel->feed);
  g_source_unref (channel->wake);
  g_source_unref (channel->timer);
  g_ptr_array_unref (channel->clients);
  g_ptr_array_unref (channel->waiters);
  g_ptr_array_unref (channel->views);
  g_free (channel->fault);
  g_free (channel);
}

SlFeed *
sl_channel_feed (SlChannel *channel)
{
  return channel->feed;
}

void
sl_channel_start (SlChannel *channel, SlConnections *connections)
{
  channel->connections = connections;
  g_source_attach (channel->wake, g_main_context_get_thread_default ());
  g_source_attach (channel->timer, g_main_context_get_thread_default ());
}

void
sl_channel_stop (SlChannel *channel)
{
  g_source_destroy (channel->wake);
  g_source_destroy (channel->timer);
  g_ptr_array_set_size (channel->clients, 0);
  g_ptr_array_set_size (channel->waiters, 0);
  for (guint i = 0; i < channel->views->len; i++)
    sl_view_rest (channel->views->pdata[i]);
}

static guint
count (const SlChannel *channel, gboolean pictures)
{
  guint n = 0;
  for (guint i = 0; i < channel->clients->len; i++)
    n += (((Client *) channel->clients->pdata[i])->view != NULL) == pictures;
  return n;
}

guint
sl_channel_viewers (const SlChannel *channel)
{
  return count (channel, TRUE);
}

guint
sl_channel_listeners (const SlChannel *channel)
{
  return count (channel, FALSE);
}

static void
answer_waiters (SlChannel *channel, const SlView *view)
{
  gsize size;
  const char *data = g_bytes_get_data (view->jpeg, &size);
  for (guint i = channel->waiters->len; i > 0; i--) {
    Waiter *waiter = channel->waiters->pdata[i - 1];
    if (waiter->view != view)
      continue;
    soup_server_message_set_status (waiter->message, SOUP_STATUS_OK, NULL);
    soup_server_message_set_response (waiter->message, "image/jpeg", SOUP_MEMORY_COPY, data, size);
    soup_server_message_unpause (waiter->message);
    g_ptr_array_remove_index (channel->waiters, i - 1);
  }
}

static void
refuse_snapshot (const SlChannel *channel, SoupServerMessage *message, const char *why)
{
  g_autofree char *text =
    g_strdup_printf ("/snapshot.jpg: %s: %s\n", sl_feed_name (channel->feed), why);
  soup_server_message_set_status (message, SOUP_STATUS_SERVICE_UNAVAILABLE, NULL);
  soup_server_message_set_response (message, "text/plain; charset=utf-8", SOUP_MEMORY_COPY, text,
                                    strlen (text));
}

static void
refuse_waiters (SlChannel *channel, gint64 before, const char *why)
{
  for (guint i = channel->waiters->len; i > 0; i--) {
    Waiter *waiter = channel->waiters->pdata[i - 1];
    if (waiter->until >= before)
      continue;
    refuse_snapshot (channel, waiter->message, why);
    soup_server_message_unpause (waiter->message);
    g_ptr_array_remove_index (channel->waiters, i - 1);
  }
}

static void
note_fault (SlChannel *channel, const GError *error, gint64 now)
{
  if (g_strcmp0 (channel->fault, error->message) != 0)
    sl_messages_add (channel->messages, SL_LOG_WARNING, sl_feed_name (channel->feed), "http",
                     error->message);
  g_free (channel->fault);
  channel->fault = g_strdup (error->message);
  channel->fault_until = now + FAULT_PAUSE;
  refuse_waiters (channel, G_MAXINT64, channel->fault);
}

/* Whether somebody could take a picture of @view right now. */
static gboolean
in_demand (const SlChannel *channel, const SlView *view)
{
  for (guint i = 0; i < channel->clients->len; i++) {
    const Client *client = channel->clients->pdata[i];
    if (client->view == view && client->stream != NULL && sl_stream_is_ready (client->stream))
      return TRUE;
  }
  for (guint i = 0; i < channel->waiters->len; i++)
    if (((Waiter *) channel->waiters->pdata[i])->view == view)
      return TRUE;
  return FALSE;
}

static void
make_pictures (SlChannel *channel, const SlFeedFrame *frame, gint64 now)
{
  for (guint i = 0; i < channel->views->len; i++) {
    SlView *view = channel->views->pdata[i];
    g_autoptr (GError) error = NULL;
    if (!in_demand (channel, view))
      continue;
    if (!sl_view_make (view, frame, &error)) {
      note_fault (channel, error, now);
      return;
    }
    answer_waiters (channel, view);
  }
}

/* The one that shows predictions or not, at the smallest of some widths that is enough: so there
 * are few, whatever clients ask for. @width: 0 = the settings' */
static SlView *
find_view (SlChannel *channel, gboolean drawn, guint width)
{
  static const guint widths[] = { 160, 320, 640, 1280, 1920 };
  guint chosen = channel->settings->width;
  for (guint i = G_N_ELEMENTS (widths); width > 0 && i > 0; i--)
    if (widths[i - 1] >= width && widths[i - 1] < chosen)
      chosen = widths[i - 1];
  for (guint i = 0; i < channel->views->len; i++) {
    SlView *view = channel->views->pdata[i];
    if (view->drawn == drawn && view->width == chosen)
      return view;
  }
  SlView *view = sl_view_new (drawn, chosen);
  g_ptr_array_add (channel->views, view);
  return view;
}

GString *
sl_channel_json (SlChannel *channel, const SlPredictions *predictions, gboolean analysed)
{
  g_autofree char *json = sl_predictions_to_json (predictions);
  g_autofree char *analysis = NULL;
  GString *text = g_string_new (g_strchomp (json));
  if (!analysed)
    return text;
  channel->analysed = g_get_monotonic_time ();
  sl_feed_set_analysing (channel->feed, TRUE);
  analysis = sl_feed_analysis (channel->feed);
  if (analysis == NULL)
    return text;
  g_string_truncate (text, text->len - 1); /* less its bracket */
  g_string_append_printf (text, ",\"analysis\":%s}", analysis);
  return text;
}

static GBytes *
event_new (SlChannel *channel, const SlPredictions *predictions, guint64 serial, gboolean analysed)
{
  g_autoptr (GString) json = sl_channel_json (channel, predictions, analysed);
  GString *event = g_string_new (NULL);
  g_string_append_printf (event, "id: %" G_GUINT64_FORMAT "\ndata: %s\n\n", serial, json->str);
  return g_string_free_to_bytes (event);
}

static void
send_pictures (SlChannel *channel)
{
  for (guint i = 0; i < channel->clients->len; i++) {
    Client *client = channel->clients->pdata[i];
    const SlView *view = client->view;
    if (view == NULL || client->stream == NULL || !sl_stream_is_ready (client->stream)
        || view->part == NULL)
      continue;
    if (client->sent == view->serial && sl_stream_idle (client->stream) < SILENCE)
      continue;
    client->sent = view->serial;
    sl_stream_send (client->stream, g_bytes_ref (view->part));
  }
}

/* Returns when the next predictions may be sent, if some wait; -1 if none do. */
static gint64
send_predictions (SlChannel *channel, gint64 now)
{
  guint64 serial;
  g_autoptr (SlPredictions) newest =
    sl_feed_newest (channel->feed, channel->settings->stall, &serial);
  g_autoptr (GBytes) plain = NULL, analysed = NULL;
  const gboolean early = now - channel->predicted < PREDICTION_INTERVAL;
  gboolean waits = FALSE;
  for (guint i = 0; newest != NULL && i < channel->clients->len; i++) {
    Client *client = channel->clients->pdata[i];
    if (client->view != NULL || client->stream == NULL || !sl_stream_is_ready (client->stream)
        || client->sent == serial)
      continue;
    waits = waits || early;
    if (early)
      continue;
    GBytes **event = client->analysed ? &analysed : &plain;
    if (*event == NULL)
      *event = event_new (channel, newest, serial, client->analysed);
    client->sent = serial;
    sl_stream_send (client->stream, g_bytes_ref (*event));
  }
  if (plain != NULL || analysed != NULL)
    channel->predicted = now;
  return waits ? channel->predicted + PREDICTION_INTERVAL : -1;
}

/* Asks for a frame when it is due. Returns the time when the next one is due, -1 when no client
 * waits for a frame. */
static gint64
ask_for_frame (SlChannel *channel, gint64 now)
{
  gboolean demanded = FALSE;
  for (guint i = 0; i < channel->views->len; i++) {
    SlView *view = channel->views->pdata[i];
    if (!in_demand (channel, view))
      continue;
    demanded = TRUE;
    view->wanted = now;
  }
  if (channel->asked || !demanded)
    return -1;
  const gint64 due = MAX (channel->due, channel->fault_until);
  if (now < due)
    return due;
  channel->asked = TRUE;
  channel->due = now + (gint64) (G_USEC_PER_SEC / channel->settings->frame_rate);
  sl_feed_want_frame (channel->feed);
  return -1;
}

static void
serve (SlChannel *channel)
{
  g_auto (SlFeedFrame) frame = { 0 };
  gint64 now = g_get_monotonic_time ();
  if (sl_feed_take_frame (channel->feed, &frame)) {
    channel->asked = FALSE;
    make_pictures (channel, &frame, now);
    sl_feed_frame_clear (&frame);
    now = g_get_monotonic_time ();
  }
  send_pictures (channel);
  const gint64 predictions = send_predictions (channel, now),
               picture = ask_for_frame (channel, now);
  const gint64 next = predictions < 0 ? picture
                      : picture < 0   ? predictions
                                      : MIN (predictions, picture);
  g_source_set_ready_time (channel->timer, next);
}

void
sl_channel_tick (SlChannel *channel)
{
  const gint64 now = g_get_monotonic_time ();
  for (guint i = 0; i < channel->clients->len; i++) {
    Client *client = channel->clients->pdata[i];
    if (client->stream == NULL)
      continue;
    sl_stream_expire (client->stream);
    if (client->view == NULL && sl_stream_is_ready (client->stream)
        && sl_stream_idle (client->stream) > SILENCE)
      sl_stream_send (client->stream, g_bytes_new_static (":\n\n", 3));
    if (client->view != NULL && client->view->part == NULL
        && sl_stream_idle (client->stream) > SILENCE)
      sl_stream_end (client->stream);
  }
  if (channel->waiters->len > 0)
    refuse_waiters (channel, now, "no frame came for 3 s; /health says how the pipeline is");
  if (now - channel->analysed > IDLE)
    sl_feed_set_analysing (channel->feed, FALSE);
  for (guint i = 0; i < channel->views->len; i++)
    if (now - ((SlView *) channel->views->pdata[i])->wanted > IDLE)
      sl_view_rest (channel->views->pdata[i]);
  if (channel->clients->len > 0)
    serve (channel);
}

static void
on_stream (SlStream *stream, gpointer data)
{
  Client *client = data;
  SlChannel *channel = client->channel;
  if (sl_stream_is_over (stream))
    g_ptr_array_remove_fast (channel->clients, client);
  sl_feed_set_watched (channel->feed, sl_channel_listeners (channel) > 0);
  serve (channel);
}

/* Not from within the handler of the message, which libsoup goes on with when it returns. */
static gboolean
on_begin (gpointer data)
{
  Client *client = data;
  SlChannel *channel = client->channel;
  g_autoptr (SoupServerMessage) message = g_steal_pointer (&client->message);
  GSocket *socket = NULL;
  g_clear_pointer (&client->begin, g_source_unref);
  GIOStream *connection = sl_connections_steal (channel->connections, message, &socket);
  if (connection == NULL) {
    g_ptr_array_remove_fast (channel->clients, client);
    return G_SOURCE_REMOVE;
  }
  const char *head = client->view != NULL ? PICTURES_HEAD : PREDICTIONS_HEAD;
  client->stream = sl_stream_new (connection, socket, on_stream, client);
  sl_stream_send (client->stream, g_bytes_new_static (head, strlen (head)));
  sl_feed_set_watched (channel->feed, sl_channel_listeners (channel) > 0);
  return G_SOURCE_REMOVE;
}

void
sl_channel_stream (SlChannel *channel, SoupServerMessage *message, SlChannelStream what)
{
  Client *client = g_new0 (Client, 1);
  client->channel = channel;
  client->analysed = what == SL_CHANNEL_ANALYSED;
  if (what == SL_CHANNEL_DRAWN || what == SL_CHANNEL_CLEAN)
    client->view = find_view (channel, what == SL_CHANNEL_DRAWN, 0);
  client->message = g_object_ref (message);
  client->sent = client->view != NULL ? client->view->serial : 0;
  soup_server_message_pause (message);
  client->begin = g_idle_source_new ();
  g_source_set_callback (client->begin, on_begin, client, NULL);
  g_source_attach (client->begin, g_main_context_get_thread_default ());
  g_ptr_array_add (channel->clients, client);
}

static void
on_finished (SoupServerMessage *message, gpointer data)
{
  Waiter *waiter = data;
  g_ptr_array_remove_fast (waiter->channel->waiters, waiter);
}

void
sl_channel_snapshot (SlChannel *channel, SoupServerMessage *message, gboolean drawn, guint width)
{
  const gint64 now = g_get_monotonic_time ();
  if (now < channel->fault_until) {
    refuse_snapshot (channel, message, channel->fault);
    return;
  }
  Waiter *waiter = g_new0 (Waiter, 1);
  waiter->channel = channel;
  waiter->view = find_view (channel, drawn, width);
  waiter->message = g_object_ref (message);
  waiter->finished = g_signal_connect (message, "finished", G_CALLBACK (on_finished), waiter);
  waiter->until = now + SNAPSHOT_PATIENCE;
  g_ptr_array_add (channel->waiters, waiter);
  soup_server_message_pause (message);
  serve (channel);
}
