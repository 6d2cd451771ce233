/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sloverlay: draws the predictions of a video frame into the frame, in place and in the frame's own
 * format. It reads GstVideoRegionOfInterestMeta and GstAnalyticsRelationMeta of any element,
 * SlMaskMeta and SlAnalysisMeta. A frame without any of these metas passes through unchanged,
 * without a copy.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "plugins/base/describe.h"
#include "plugins/overlay/draw.h"
#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/video/caps.h"
#include "plugins/video/frame.h"

GST_DEBUG_CATEGORY_STATIC (sl_overlay_debug);
#define GST_CAT_DEFAULT sl_overlay_debug

#define CAPS \
  "video/x-raw, format=(string)" SL_CANVAS_FORMATS ", width=(int)[1,max], height=(int)[1,max]"
/* Frames per second are those of about this long. */
#define STATS_INTERVAL (G_USEC_PER_SEC / 2)

typedef struct
{
  GstBaseTransform parent;
  SlDrawStyle style; /* object lock */
  /* The rest is the streaming thread's. */
  GstVideoInfo info;
  SlTextCache *text;
  SlPredictionReader reader;
  gint64 since; /* start of the interval that is being counted, 0 = none yet */
  guint frames;
  double fps;
  gboolean fps_unknown; /* the first interval is not over */
  gboolean refused;
} SlOverlay;

typedef GstBaseTransformClass SlOverlayClass;

G_DEFINE_TYPE (SlOverlay, sl_overlay, GST_TYPE_BASE_TRANSFORM)

#define PROPERTY(kind, member, name, nick, help, minimum, maximum, initial) \
  { name,                                                                   \
    nick,                                                                   \
    help,                                                                   \
    SL_PROPERTY_##kind,                                                     \
    G_STRUCT_OFFSET (SlOverlay, style.member),                              \
    minimum,                                                                \
    maximum,                                                                \
    initial,                                                                \
    NULL,                                                                   \
    TRUE },
static const SlProperty properties[] = { SL_DRAW_STYLES (PROPERTY) };

static gboolean
wants_stats (SlOverlay *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->style.stats;
}

/* Whether something of the frame is drawn. */
static gboolean
is_drawn (GstBuffer *buffer)
{
  return sl_buffer_has_predictions (buffer) || sl_buffer_get_analysis (buffer) != NULL;
}

static void
count_frame (SlOverlay *self)
{
  const gint64 now = g_get_monotonic_time ();
  if (self->since == 0)
    self->since = now;
  else
    self->frames++;
  const gboolean over = now - self->since >= STATS_INTERVAL;
  if (over || (self->fps_unknown && self->frames > 0))
    self->fps = (double) self->frames * G_USEC_PER_SEC / (double) MAX (now - self->since, 1);
  if (over) {
    self->fps_unknown = FALSE;
    self->since = now;
    self->frames = 0;
  }
}

static void
draw_stats (SlOverlay *self, GstBuffer *buffer, SlCanvas *canvas, const SlDrawStyle *style)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  char note[64];
  if (meta != NULL && meta->captured > 0)
    g_snprintf (note, sizeof note, "%.1f fps %.1f ms", self->fps,
                (double) (g_get_monotonic_time () - meta->captured) / 1000);
  else
    g_snprintf (note, sizeof note, "%.1f fps", self->fps);
  sl_draw_note (canvas, self->text, style, note);
}

static GstFlowReturn
sl_overlay_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlOverlay *self = (SlOverlay *) base;
  GST_OBJECT_LOCK (self);
  const SlDrawStyle style = self->style;
  GST_OBJECT_UNLOCK (self);
  SlPredictionView prediction = { .width = GST_VIDEO_INFO_WIDTH (&self->info),
                                  .height = GST_VIDEO_INFO_HEIGHT (&self->info) };
  const gboolean predicted = is_drawn (buffer);
  GstVideoFrame frame;
  SlCanvas canvas;
  GError *error = NULL;
  count_frame (self);
  if (!predicted && !style.stats)
    return GST_FLOW_OK;
  if (!sl_video_frame_map (&frame, &self->info, buffer,
                           GST_MAP_READWRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF, &error))
    return sl_element_refuse_frame (GST_ELEMENT (self), error);
  sl_canvas_init (&canvas, &frame);
  if (predicted) {
    sl_prediction_reader_read (&self->reader, buffer, &prediction);
    sl_draw_prediction (&canvas, self->text, &style, &prediction);
  }
  if (style.stats)
    draw_stats (self, buffer, &canvas, &style);
  gst_video_frame_unmap (&frame);
  return GST_FLOW_OK;
}

/* A frame with nothing to draw on need not be writable. */
static GstFlowReturn
sl_overlay_prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  if (is_drawn (in) || wants_stats ((SlOverlay *) base))
    return GST_BASE_TRANSFORM_CLASS (sl_overlay_parent_class)
      ->prepare_output_buffer (base, in, out);
  *out = in;
  return GST_FLOW_OK;
}

static gboolean
sl_overlay_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS
      && !sl_video_caps_check (base, event, SL_CANVAS_FORMATS, "sloverlay",
                               &((SlOverlay *) base)->refused)) {
    gst_event_unref (event);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS (sl_overlay_parent_class)->sink_event (base, event);
}

static gboolean
sl_overlay_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  return gst_video_info_from_caps (&((SlOverlay *) base)->info, in);
}

static gboolean
sl_overlay_start (GstBaseTransform *base)
{
  SlOverlay *self = (SlOverlay *) base;
  self->text = sl_text_cache_new ();
  sl_prediction_reader_init (&self->reader);
  self->since = 0;
  self->frames = 0;
  self->fps = 0;
  self->fps_unknown = TRUE;
  self->refused = FALSE;
  return TRUE;
}

static gboolean
sl_overlay_stop (GstBaseTransform *base)
{
  SlOverlay *self = (SlOverlay *) base;
  g_clear_pointer (&self->text, sl_text_cache_free);
  sl_prediction_reader_clear (&self->reader);
  return TRUE;
}

static void
sl_overlay_class_init (SlOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_overlay_debug, "sloverlay", 0, "predictions drawn on frames");
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline overlay", "Filter/Effect/Video",
    "Draws boxes, labels, masks and skeletons of predictions, zones and lines on YUV, RGB and gray "
    "frames, in place. Reads GstVideoRegionOfInterestMeta with the fields of slpostprocess and of "
    "DL Streamer, and GstAnalyticsRelationMeta.",
    "gst-launch-1.0 v4l2src ! slpredict model=ssd.tflite ! sloverlay ! videoconvert ! "
    "autovideosink",
    "predictions.md");
  klass->transform_ip = sl_overlay_transform_ip;
  klass->prepare_output_buffer = sl_overlay_prepare_output_buffer;
  klass->set_caps = sl_overlay_set_caps;
  sl_video_caps_let_through (klass);
  klass->sink_event = sl_overlay_sink_event;
  klass->start = sl_overlay_start;
  klass->stop = sl_overlay_stop;
}

static void
sl_overlay_init (SlOverlay *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_qos_enabled (GST_BASE_TRANSFORM (self),
                                      TRUE); /* as GStreamer's video filters */
}
