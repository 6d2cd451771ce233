/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Taps at elements that emit predictions: a probe at the sink pad sees the frame first, the signal
 * of the same frame follows in the same thread. Behind an slanalyze frames have zones and lines,
 * too, so they come from there, and predictions from where they are found. Pipelines without such
 * an element have taps at their sinks, for frames alone. Until a frame is wanted, a probe is one
 * atomic read.
 */
#include "tools/run/http/feed.h"

#include <string.h>

#include "pipelines/supervise/emitters.h"
#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/frame_meta.h"

typedef struct
{
  SlFeed *feed;
  GstPad *pad;         /* (nullable): where frames are seen */
  GstElement *element; /* (nullable): that emits */
  gulong probe, handler;
  SlFeedFrame pending; /* of the streaming thread: a frame whose predictions are to come */
} Tap;

struct _SlFeed
{
  char *name;
  void (*notify) (gpointer);
  gpointer data;
  GPtrArray *taps; /* of Tap; main thread */
  gint watched, wanted, analysing;
  GMutex lock;           /* of what follows */
  SlPredictions *newest; /* (nullable) */
  gint64 since;          /* when it came */
  guint64 serial;
  SlFeedFrame ready;
  char *analysis; /* (nullable): JSON */
};

void
sl_feed_frame_clear (SlFeedFrame *frame)
{
  gst_clear_buffer (&frame->buffer);
  gst_clear_caps (&frame->caps);
  g_clear_pointer (&frame->predictions, sl_predictions_unref);
}

static void
tap_free (gpointer data)
{
  Tap *tap = data;
  if (tap->pad != NULL)
    gst_pad_remove_probe (tap->pad, tap->probe);
  gst_clear_object (&tap->pad);
  if (tap->element != NULL)
    g_signal_handler_disconnect (tap->element, tap->handler);
  gst_clear_object (&tap->element);
  sl_feed_frame_clear (&tap->pending);
  g_free (tap);
}

SlFeed *
sl_feed_new (const char *name, void (*notify) (gpointer), gpointer data)
{
  SlFeed *feed = g_new0 (SlFeed, 1);
  feed->name = g_strdup (name);
  feed->notify = notify;
  feed->data = data;
  feed->taps = g_ptr_array_new_with_free_func (tap_free);
  g_mutex_init (&feed->lock);
  return feed;
}

void
sl_feed_free (SlFeed *feed)
{
  g_ptr_array_unref (feed->taps);
  g_clear_pointer (&feed->newest, sl_predictions_unref);
  sl_feed_frame_clear (&feed->ready);
  g_free (feed->analysis);
  g_mutex_clear (&feed->lock);
  g_free (feed->name);
  g_free (feed);
}

const char *
sl_feed_name (const SlFeed *feed)
{
  return feed->name;
}

/* Takes what @frame holds. */
static void
give_frame (SlFeed *feed, SlFeedFrame *frame)
{
  SlFeedFrame before;
  g_atomic_int_set (&feed->wanted, FALSE);
  g_mutex_lock (&feed->lock);
  before = feed->ready;
  feed->ready = *frame;
  g_mutex_unlock (&feed->lock);
  memset (frame, 0, sizeof *frame);
  sl_feed_frame_clear (&before);
  feed->notify (feed->data);
}

/* A frame before this one of which nothing was said goes out as it is. */
static void
keep_pending (Tap *tap, GstBuffer *buffer, GstCaps *caps)
{
  if (tap->pending.buffer != NULL && tap->pending.buffer != buffer) {
    give_frame (tap->feed, &tap->pending);
    return;
  }
  sl_feed_frame_clear (&tap->pending);
  tap->pending.buffer = gst_buffer_ref (buffer);
  tap->pending.caps = gst_caps_ref (caps);
}

/* Takes what @analysis is. */
static void
set_analysis (SlFeed *feed, char *analysis)
{
  g_mutex_lock (&feed->lock);
  char *before = feed->analysis;
  feed->analysis = analysis;
  g_mutex_unlock (&feed->lock);
  g_free (before);
}

static void
note_analysis (SlFeed *feed, GstBuffer *buffer)
{
  const SlAnalysis *analysis = sl_buffer_get_analysis (buffer);
  if (analysis == NULL)
    return;
  GString *json = g_string_new (NULL);
  sl_analysis_append_json (json, analysis);
  set_analysis (feed, g_string_free (json, FALSE));
}

/* A frame in a tensor's meta, or one that is a frame itself; tensors of a frame's objects have the
 * same frame, again and again. */
static GstPadProbeReturn
on_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Tap *tap = data;
  if (tap->element == NULL && g_atomic_int_get (&tap->feed->analysing))
    note_analysis (tap->feed, GST_PAD_PROBE_INFO_BUFFER (info));
  if (!g_atomic_int_get (&tap->feed->wanted))
    return GST_PAD_PROBE_OK;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  if (meta != NULL && meta->frame != NULL) {
    if (meta->content == SL_FRAME_WHOLE || meta->content == SL_FRAME_AFTER_TILES
        || meta->content == SL_FRAME_LAST_TILE || meta->content == SL_FRAME_LAST_OBJECT
        || meta->content == SL_FRAME_NO_OBJECTS)
      keep_pending (tap, meta->frame, meta->caps);
    return GST_PAD_PROBE_OK;
  }
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  if (caps == NULL || !gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw"))
    return GST_PAD_PROBE_OK;
  keep_pending (tap, buffer, caps);
  if (tap->element == NULL)
    give_frame (tap->feed, &tap->pending);
  return GST_PAD_PROBE_OK;
}

static void
on_predictions (GstElement *element, SlPredictions *predictions, gpointer data)
{
  Tap *tap = data;
  SlFeed *feed = tap->feed;
  g_mutex_lock (&feed->lock);
  SlPredictions *before = feed->newest;
  feed->newest = sl_predictions_ref (predictions);
  feed->since = g_get_monotonic_time ();
  feed->serial++;
  g_mutex_unlock (&feed->lock);
  g_clear_pointer (&before, sl_predictions_unref);
  if (tap->pending.buffer != NULL) {
    tap->pending.predictions = sl_predictions_ref (predictions);
    give_frame (feed, &tap->pending);
  } else if (g_atomic_int_get (&feed->watched)) {
    feed->notify (feed->data);
  }
}

/* @element: (nullable): that emits what is found on the frames that come through @pad (transfer
 * full) (nullable). */
static void
add_tap (SlFeed *feed, GstPad *pad, GstElement *element)
{
  Tap *tap = g_new0 (Tap, 1);
  tap->feed = feed;
  tap->pad = pad;
  if (pad != NULL)
    tap->probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, tap, NULL);
  if (element != NULL) {
    tap->element = gst_object_ref (element);
    tap->handler = g_signal_connect (element, "predictions", G_CALLBACK (on_predictions), tap);
  }
  g_ptr_array_add (feed->taps, tap);
}

static void
add_sink (const GValue *item, gpointer data)
{
  GstElement *element = g_value_get_object (item);
  GstPad *pad = GST_IS_BIN (element) ? NULL : gst_element_get_static_pad (element, "sink");
  if (pad != NULL)
    add_tap (data, pad, NULL);
}

/* (transfer full) (nullable): behind the first element @factory. */
static GstPad *
find_behind (GstBin *bin, const char *factory)
{
  GstIterator *analyzers = gst_bin_iterate_all_by_element_factory_name (bin, factory);
  GValue item = G_VALUE_INIT;
  GstPad *pad = NULL;
  if (gst_iterator_next (analyzers, &item) == GST_ITERATOR_OK)
    pad = gst_element_get_static_pad (g_value_get_object (&item), "src");
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (analyzers);
  return pad;
}

void
sl_feed_attach (SlFeed *feed, GstElement *pipeline)
{
  g_autoptr (GPtrArray) emitters = sl_emitters_find (GST_BIN (pipeline));
  GstPad *analysed = find_behind (GST_BIN (pipeline), "slredact"); /* never an open picture */
  if (analysed == NULL)
    analysed = find_behind (GST_BIN (pipeline), "slanalyze");
  if (analysed != NULL)
    add_tap (feed, analysed, NULL);
  for (guint i = 0; i < emitters->len; i++) {
    GstPad *pad = analysed == NULL ? gst_element_get_static_pad (emitters->pdata[i], "sink") : NULL;
    if (pad != NULL || analysed != NULL)
      add_tap (feed, pad, emitters->pdata[i]);
  }
  if (feed->taps->len > 0)
    return;
  GstIterator *sinks = gst_bin_iterate_sinks (GST_BIN (pipeline));
  gst_iterator_foreach (sinks, add_sink, feed);
  gst_iterator_free (sinks);
}

void
sl_feed_detach (SlFeed *feed)
{
  SlFeedFrame frame;
  g_ptr_array_set_size (feed->taps, 0);
  set_analysis (feed, NULL);
  g_mutex_lock (&feed->lock);
  frame = feed->ready;
  memset (&feed->ready, 0, sizeof feed->ready);
  SlPredictions *newest = g_steal_pointer (&feed->newest);
  g_mutex_unlock (&feed->lock);
  g_clear_pointer (&newest, sl_predictions_unref);
  if (frame.buffer != NULL) /* nobody took it: the next pipeline owes one */
    g_atomic_int_set (&feed->wanted, TRUE);
  sl_feed_frame_clear (&frame);
}

void
sl_feed_set_watched (SlFeed *feed, gboolean watched)
{
  g_atomic_int_set (&feed->watched, watched);
}

void
sl_feed_set_analysing (SlFeed *feed, gboolean analysing)
{
  g_atomic_int_set (&feed->analysing, analysing);
  if (!analysing)
    set_analysis (feed, NULL);
}

char *
sl_feed_analysis (SlFeed *feed)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  return g_strdup (feed->analysis);
}

void
sl_feed_want_frame (SlFeed *feed)
{
  g_atomic_int_set (&feed->wanted, TRUE);
}

SlPredictions *
sl_feed_newest (SlFeed *feed, guint stall, guint64 *serial)
{
  const gint64 oldest = g_get_monotonic_time () - (gint64) stall * 1000;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  SlPredictions *newest =
    feed->newest != NULL && feed->since >= oldest ? sl_predictions_ref (feed->newest) : NULL;
  *serial = feed->serial;
  return newest;
}

gboolean
sl_feed_take_frame (SlFeed *feed, SlFeedFrame *frame)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  *frame = feed->ready;
  memset (&feed->ready, 0, sizeof feed->ready);
  return frame->buffer != NULL;
}
