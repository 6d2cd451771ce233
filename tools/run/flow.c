/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counting. A point is an element of interest with a counter; probes only add to it and look at the
 * clock, so that they cost nothing beside a frame. The ring of latencies has a lock that is held
 * for a copy.
 */
#include "tools/run/flow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/percentile.h"
#include "plugins/base/report.h"
#include "plugins/camera/encoded.h"
#include "plugins/meta/frame_meta.h"

#define RING 512

typedef enum
{
  POINT_SOURCE,
  POINT_DECODER,
  POINT_RESULT,
  POINT_SINK
} PointKind;

typedef struct
{
  SlFlow *flow;
  PointKind kind;
  atomic_uint_least64_t count;
} Point;

struct _SlFlow
{
  guint64 serial;
  GstElement *pipeline;
  SlDrops *drops;
  gulong added;
  GMutex lock;       /* of points, in, ring, n, histograms */
  GPtrArray *points; /* of Point */
  guint64 in;        /* the most that was told: a decoder that joins late begins at 0 */
  gint64 ring[SL_N_STAGES][RING];
  guint64 n;
  SlHistogram histograms[SL_N_STAGES];
  atomic_int_least64_t first, last;
};

/* Under the lock. */
static void
keep_time (SlFlow *flow, SlStage stage, gint64 time)
{
  sl_histogram_add (&flow->histograms[stage], time);
  flow->ring[stage][flow->n % RING] = time;
}

static void
keep_latency (SlFlow *flow, GstBuffer *buffer)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  SlLatency latency;
  if (meta == NULL || meta->decoded == 0 || !sl_frame_meta_latency (meta, meta->decoded, &latency)
      || latency.preprocess < 0 || latency.inference < 0)
    return;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flow->lock);
  keep_time (flow, SL_STAGE_PREPROCESS, latency.preprocess);
  keep_time (flow, SL_STAGE_INFERENCE, latency.inference);
  keep_time (flow, SL_STAGE_DECODE, latency.decode);
  keep_time (flow, SL_STAGE_AGE, latency.age);
  flow->n++;
}

static void
note_arrival (SlFlow *flow)
{
  const gint64 now = g_get_monotonic_time ();
  int_least64_t none = 0;
  atomic_store_explicit (&flow->last, now, memory_order_relaxed);
  atomic_compare_exchange_strong (&flow->first, &none, now);
}

static GstPadProbeReturn
on_data (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Point *point = data;
  SlFlow *flow = point->flow;
  /* A frame that passes without tensors, as no worker computed any, is no prediction. */
  if (point->kind == POINT_RESULT
      && (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) != 0
      && sl_buffer_is_empty_frame (GST_PAD_PROBE_INFO_BUFFER (info)))
    return GST_PAD_PROBE_OK;
  const gboolean is_list = (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0;
  atomic_fetch_add_explicit (
    &point->count, is_list ? gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info)) : 1,
    memory_order_relaxed);
  if (point->kind == POINT_SINK)
    note_arrival (flow);
  return GST_PAD_PROBE_OK;
}

/* A frame on which there is nothing to tell comes as a gap: the pipeline works all the same. */
static GstPadProbeReturn
on_event (GstPad *pad, GstPadProbeInfo *info, gpointer flow)
{
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_GAP)
    note_arrival (flow);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_prediction (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  keep_latency (data, GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

static void
watch_pad (GstPad *pad, Point *point)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, on_data,
                     point, NULL);
  if (point->kind == POINT_SINK)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, point->flow, NULL);
}

static gboolean
watch_each (GstElement *element, GstPad *pad, gpointer point)
{
  watch_pad (pad, point);
  return TRUE;
}

static void
on_pad_added (GstElement *element, GstPad *pad, gpointer point)
{
  if (GST_PAD_IS_SRC (pad))
    watch_pad (pad, point);
}

/* Counts at the sink pads of sinks and of slpostprocess, else at source pads, also those to come.
 */
static void
watch_element (GstElement *element, Point *point)
{
  const gboolean at_sink = point->kind == POINT_SINK || point->kind == POINT_RESULT;
  if (at_sink)
    gst_element_foreach_sink_pad (element, watch_each, point);
  else
    gst_element_foreach_src_pad (element, watch_each, point);
  if (!at_sink)
    g_signal_connect (element, "pad-added", G_CALLBACK (on_pad_added), point);
}

static void
watch_predictions (SlFlow *flow, GstElement *element)
{
  GstPad *src = gst_element_get_static_pad (element, "src");
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, on_prediction, flow, NULL);
  gst_object_unref (src);
}

/* What slcamera gives as it came: the same frames as those that it decoded, which count. */
static gboolean
is_encoded_output (GstElement *element)
{
  return sl_element_is_inside (element, "SlCamera")
         && strcmp (GST_OBJECT_NAME (element), SL_CAMERA_ENCODED_OUTPUT) == 0;
}

/* FALSE for elements that are of no interest. */
static gboolean
classify (GstElement *element, PointKind *kind)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  const char *name = factory != NULL ? GST_OBJECT_NAME (factory) : "";
  if (GST_IS_BIN (element) || is_encoded_output (element))
    return FALSE;
  if (strcmp (name, "slpostprocess") == 0)
    *kind = POINT_RESULT;
  else if (GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK))
    *kind = POINT_SINK;
  else if (sl_element_has_class (element, "Decoder"))
    *kind = POINT_DECODER;
  else if (GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE))
    *kind = POINT_SOURCE;
  else
    return FALSE;
  return TRUE;
}

static void
add_element (SlFlow *flow, GstElement *element)
{
  PointKind kind;
  sl_drops_watch (flow->drops, element);
  if (!classify (element, &kind))
    return;
  Point *point = g_new0 (Point, 1);
  point->flow = flow;
  point->kind = kind;
  g_mutex_lock (&flow->lock);
  g_ptr_array_add (flow->points, point);
  g_mutex_unlock (&flow->lock);
  watch_element (element, point);
  if (kind == POINT_RESULT)
    watch_predictions (flow, element);
}

static void
on_element_added (GstBin *bin, GstBin *sub, GstElement *element, gpointer flow)
{
  add_element (flow, element);
}

static void
add_item (const GValue *item, gpointer flow)
{
  add_element (flow, g_value_get_object (item));
}

SlFlow *
sl_flow_new (GstElement *pipeline)
{
  static atomic_uint_least64_t newest;
  SlFlow *flow = g_new0 (SlFlow, 1);
  flow->serial = atomic_fetch_add (&newest, 1) + 1;
  flow->pipeline = gst_object_ref (pipeline);
  flow->drops = sl_drops_new ();
  flow->points = g_ptr_array_new_with_free_func (g_free);
  g_mutex_init (&flow->lock);
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  gst_iterator_foreach (elements, add_item, flow);
  gst_iterator_free (elements);
  flow->added =
    g_signal_connect (pipeline, "deep-element-added", G_CALLBACK (on_element_added), flow);
  return flow;
}

void
sl_flow_free (SlFlow *flow)
{
  if (flow == NULL)
    return;
  g_signal_handler_disconnect (flow->pipeline, flow->added);
  gst_object_unref (flow->pipeline);
  g_ptr_array_unref (flow->points);
  sl_drops_free (flow->drops);
  g_mutex_clear (&flow->lock);
  g_free (flow);
}

guint64
sl_flow_serial (const SlFlow *flow)
{
  return flow->serial;
}

SlDrops *
sl_flow_drops (const SlFlow *flow)
{
  return flow->drops;
}

void
sl_flow_counts (SlFlow *flow, SlFlowCounts *counts)
{
  guint64 sums[POINT_SINK + 1] = { 0 };
  gboolean decodes = FALSE, predicts = FALSE;
  g_mutex_lock (&flow->lock);
  for (guint i = 0; i < flow->points->len; i++) {
    Point *point = flow->points->pdata[i];
    const guint64 count = atomic_load_explicit (&point->count, memory_order_relaxed);
    sums[point->kind] =
      point->kind == POINT_SINK ? MAX (sums[point->kind], count) : sums[point->kind] + count;
    decodes = decodes || point->kind == POINT_DECODER;
    predicts = predicts || point->kind == POINT_RESULT;
  }
  flow->in = MAX (flow->in, sums[decodes ? POINT_DECODER : POINT_SOURCE]);
  *counts =
    (SlFlowCounts){ .in = flow->in, .out = sums[POINT_SINK], .predictions = sums[POINT_RESULT] };
  g_mutex_unlock (&flow->lock);
  counts->dropped =
    predicts && counts->in > counts->predictions ? counts->in - counts->predictions : 0;
  counts->first = atomic_load_explicit (&flow->first, memory_order_relaxed);
  counts->last = atomic_load_explicit (&flow->last, memory_order_relaxed);
}

static int
compare (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;
  return x < y ? -1 : x > y;
}

gboolean
sl_flow_latency (SlFlow *flow, SlStage stage, gint64 *p50, gint64 *p95)
{
  gint64 sorted[RING];
  g_mutex_lock (&flow->lock);
  const guint n = (guint) MIN (flow->n, RING);
  memcpy (sorted, flow->ring[stage], n * sizeof *sorted);
  g_mutex_unlock (&flow->lock);
  if (n == 0)
    return FALSE;
  qsort (sorted, n, sizeof *sorted, compare);
  *p50 = sorted[sl_percentile_index (n, 50)];
  *p95 = sorted[sl_percentile_index (n, 95)];
  return TRUE;
}

void
sl_flow_add_histogram (SlFlow *flow, SlStage stage, SlHistogram *histogram)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&flow->lock);
  for (guint i = 0; i <= SL_FLOW_BUCKETS; i++)
    histogram->counts[i] += flow->histograms[stage].counts[i];
  histogram->sum += flow->histograms[stage].sum;
}
