/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits are enforced by pad probes. A probe cannot refuse caps, since elements ignore that a
 * sticky event was dropped. So a stream that is too large is reported as an error, which ends the
 * connection. Until then its data is dropped, or the memory for its frames is refused.
 */
#include "plugins/camera/limits.h"

#include "core/base/decoder_memory.h"
#include "core/base/fail.h"
#include "plugins/camera/jpeg.h"
#include "plugins/base/report.h"

/* A pool that gives nothing: for frames that must not be. */

typedef GstBufferPool SlNoPool;
typedef GstBufferPoolClass SlNoPoolClass;
GType sl_no_pool_get_type (void);
G_DEFINE_TYPE (SlNoPool, sl_no_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn
sl_no_pool_acquire_buffer (GstBufferPool *pool, GstBuffer **buffer,
                           GstBufferPoolAcquireParams *params)
{
  return GST_FLOW_ERROR;
}

static gboolean
sl_no_pool_start (GstBufferPool *pool)
{
  return TRUE;
}

static void
sl_no_pool_class_init (SlNoPoolClass *klass)
{
  klass->acquire_buffer = sl_no_pool_acquire_buffer;
  klass->start = sl_no_pool_start;
}

static void
sl_no_pool_init (SlNoPool *pool)
{
}

static void
report (GstPad *pad, const GError *error)
{
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  if (element != NULL)
    sl_element_report (element, error);
}

/* FALSE when what @caps say is more than @max_pixels; caps without a size are fine. */
static gboolean
check_size (const GstCaps *caps, guint max_pixels, GError **error)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint width, height;
  if (!gst_structure_get_int (structure, "width", &width)
      || !gst_structure_get_int (structure, "height", &height) || width <= 0 || height <= 0
      || (guint64) width * (guint64) height <= max_pixels)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_LIMIT,
    "a picture of %dx%d (%s): expected at most %u pixels (max-pixels), got %" G_GUINT64_FORMAT
    "; where the camera has such pictures, raise max-pixels",
    width, height, gst_structure_get_name (structure), max_pixels,
    (guint64) width * (guint64) height);
}

/* JPEG */

static GstPadProbeReturn
check_jpeg (GstPad *pad, GstPadProbeInfo *info, gpointer limit)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  g_autoptr (GError) error = NULL;
  GstMapInfo map;
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return GST_PAD_PROBE_DROP;
  g_autoptr (GBytes) bytes = g_bytes_new_static (map.data, map.size);
  g_autoptr (GBytes) picture = sl_camera_jpeg_take (bytes, GPOINTER_TO_UINT (limit), &error);
  gsize n = 0;
  const guint8 *data = picture != NULL ? g_bytes_get_data (picture, &n) : NULL;
  GstBuffer *clean = NULL;
  if (data >= map.data && data < map.data + map.size)
    clean = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, (gsize) (data - map.data), n);
  else if (picture != NULL) {
    clean = gst_buffer_new_wrapped_bytes (picture);
    gst_buffer_copy_into (clean, buffer, GST_BUFFER_COPY_METADATA, 0, -1);
  }
  gst_buffer_unmap (buffer, &map);
  if (error != NULL)
    report (pad, error);
  if (clean == NULL)
    return GST_PAD_PROBE_DROP;
  gst_buffer_unref (buffer);
  GST_PAD_PROBE_INFO_DATA (info) = clean;
  return GST_PAD_PROBE_OK;
}

void
sl_camera_limit_jpeg (GstElement *decoder, const SlCameraLimits *limits)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (decoder, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, check_jpeg,
                     GUINT_TO_POINTER (limits->max_pixels), NULL);
}

/* Decoded frames */

static GstPadProbeReturn
check_frame_caps (GstPad *pad, GstPadProbeInfo *info, gpointer limit)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  g_autoptr (GError) error = NULL;
  GstCaps *caps;
  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  if (check_size (caps, GPOINTER_TO_UINT (limit), &error))
    return GST_PAD_PROBE_OK;
  report (pad, error);
  return GST_PAD_PROBE_DROP;
}

/* The memory for frames is asked for here. */
static GstPadProbeReturn
check_allocation (GstPad *pad, GstPadProbeInfo *info, gpointer limit)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstCaps *caps = NULL;
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || check_size (caps, GPOINTER_TO_UINT (limit), NULL))
    return GST_PAD_PROBE_OK;
  g_autoptr (GstBufferPool) none =
    gst_object_ref_sink (g_object_new (sl_no_pool_get_type (), NULL));
  gst_query_add_allocation_pool (query, none, 1, 0, 0);
  return GST_PAD_PROBE_HANDLED;
}

void
sl_camera_limit_frames (GstElement *convert, const SlCameraLimits *limits)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (convert, "sink");
  gpointer limit = GUINT_TO_POINTER (limits->max_pixels);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, check_frame_caps, limit, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, check_allocation, limit, NULL);
}

/* Encoded streams: what decodebin puts together */

/* Of a decoder's sink pad: after caps that are too large no data goes in. Only its streaming thread
 * looks at it. */
typedef struct
{
  guint max_pixels;
  gboolean refused;
} Gate;

static GstPadProbeReturn
guard_decoder (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Gate *gate = data;
  g_autoptr (GError) error = NULL;
  GstCaps *caps;
  if ((GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) == 0)
    return gate->refused ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
  gate->refused = !check_size (caps, gate->max_pixels, &error);
  if (!gate->refused)
    return GST_PAD_PROBE_OK;
  report (pad, error);
  return GST_PAD_PROBE_DROP;
}

/* Of a depayloader or parser: bytes that went in since something came out. Both happen in one
 * thread. */
typedef struct
{
  gatomicrefcount refs;
  guint max_bytes;
  guint64 held;
} Meter;

static void
meter_unref (gpointer data)
{
  Meter *meter = data;
  if (g_atomic_ref_count_dec (&meter->refs))
    g_free (meter);
}

static gsize
size_of (GstPadProbeInfo *info)
{
  if ((GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0)
    return gst_buffer_list_calculate_size (GST_PAD_PROBE_INFO_BUFFER_LIST (info));
  return gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info));
}

GError *
sl_camera_part_error (guint max_part_bytes, guint64 got)
{
  return g_error_new (
    SL_ERROR, SL_ERROR_LIMIT,
    "a picture of the stream: expected at most %u bytes (max-part-bytes), got %" G_GUINT64_FORMAT
    " and no end; where the camera has such pictures, raise max-part-bytes",
    max_part_bytes, got);
}

static GstPadProbeReturn
count_in (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Meter *meter = data;
  const guint64 before = meter->held;
  meter->held += size_of (info);
  if (meter->held <= meter->max_bytes)
    return GST_PAD_PROBE_OK;
  if (before <= meter->max_bytes) {
    g_autoptr (GError) error = sl_camera_part_error (meter->max_bytes, meter->held);
    report (pad, error);
  }
  return GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn
count_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  ((Meter *) data)->held = 0;
  return GST_PAD_PROBE_OK;
}

static void
guard_holder (GstPad *sink, GstPad *src, guint max_bytes)
{
  const GstPadProbeType data = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  Meter *meter = g_new0 (Meter, 1);
  g_atomic_ref_count_init (&meter->refs);
  g_atomic_ref_count_inc (&meter->refs);
  meter->max_bytes = max_bytes;
  gst_pad_add_probe (sink, data, count_in, meter, meter_unref);
  gst_pad_add_probe (src, data, count_out, meter, meter_unref);
}

static void
on_element_added (GstBin *bin, GstBin *sub, GstElement *element, gpointer data)
{
  const SlCameraLimits *limits = data;
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) src = gst_element_get_static_pad (element, "src");
  if (sink == NULL || src == NULL || GST_IS_BIN (element))
    return;
  if (sl_element_has_class (element, "Decoder")) {
    sl_decoder_use_own_memory (element);
    Gate *gate = g_new0 (Gate, 1);
    gate->max_pixels = limits->max_pixels;
    gst_pad_add_probe (sink,
                       GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER
                         | GST_PAD_PROBE_TYPE_BUFFER_LIST,
                       guard_decoder, gate, g_free);
  } else if (sl_element_has_class (element, "Depayloader")
             || sl_element_has_class (element, "Parser")) {
    guard_holder (sink, src, limits->max_part_bytes);
  }
}

static void
free_limits (gpointer data, GClosure *closure)
{
  g_free (data);
}

void
sl_camera_limit_decoding (GstBin *bin, const SlCameraLimits *limits)
{
  g_signal_connect_data (bin, "deep-element-added", G_CALLBACK (on_element_added),
                         g_memdup2 (limits, sizeof *limits), free_limits, 0);
}
