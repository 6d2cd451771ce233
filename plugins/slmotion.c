/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slmotion: where something moves in front of a camera that does not move. Each frame gets an
 * SlMotionMeta with the regions; pixels are read, not changed. slpredict tiles=motion looks at
 * these regions alone.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "core/base/fail.h"
#include "plugins/base/describe.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "plugins/motion/background.h"
#include "plugins/motion/ignored.h"
#include "plugins/motion/luma.h"
#include "plugins/motion/moving.h"
#include "plugins/redact/hide.h"
#include "plugins/video/caps.h"
#include "plugins/video/frame.h"

GST_DEBUG_CATEGORY_STATIC (sl_motion_debug);
#define GST_CAT_DEFAULT sl_motion_debug

#define CAPS \
  "video/x-raw, format=(string)" SL_HIDE_FORMATS ", width=(int)[1,max], height=(int)[1,max]"
/* Between two frames without times. */
#define USUAL_INTERVAL (40 * GST_MSECOND)
/* A pause after which the background is learnt anew. */
#define LONG_PAUSE (10 * GST_SECOND)

typedef struct
{
  gdouble threshold, learn, least_area;
  gint hold;
  gboolean shadows;
} Settings;

typedef struct
{
  GstBaseTransform parent;
  Settings settings;                       /* object lock */
  char *ignore;                            /* object lock */
  gboolean post_messages;                  /* object lock */
  guint64 frames, moving_frames, relearnt; /* object lock: since the start */
  /* The rest is the streaming thread's. */
  GstVideoInfo info;
  SlIgnored ignored;
  SlBackground background;
  SlMoving moving;
  GstClockTime time; /* of the last frame */
  gboolean moved;    /* the last frame had a region */
  gboolean refused;
} SlMotion;

typedef GstBaseTransformClass SlMotionClass;

G_DEFINE_TYPE (SlMotion, sl_motion, GST_TYPE_BASE_TRANSFORM)

#define AT(member) G_STRUCT_OFFSET (SlMotion, member)
#define PROP_STATS (G_N_ELEMENTS (properties) + 1)

static const SlProperty properties[] = {
  { "threshold", "Threshold",
    "Least change of brightness that is motion, in levels of 0..255; noise of the camera is "
    "measured and added",
    SL_PROPERTY_DOUBLE, AT (settings.threshold), 1, 255, 12, NULL, TRUE },
  { "min-area", "Least area", "Least size of a region, as a part of the frame", SL_PROPERTY_DOUBLE,
    AT (settings.least_area), 0, 1, 0.0002, NULL, TRUE },
  { "learn", "Learning time",
    "Seconds, about, until something that came and stands still belongs to the background",
    SL_PROPERTY_DOUBLE, AT (settings.learn), 1, 3600, 30, NULL, TRUE },
  { "hold", "Hold", "Milliseconds that a region lasts after its last motion", SL_PROPERTY_INT,
    AT (settings.hold), 0, 60000, 500, NULL, TRUE },
  { "shadows", "Shadows",
    "Shadows are motion, too; false = what is darker and has the texture of the background is left "
    "out",
    SL_PROPERTY_BOOL, AT (settings.shadows), 0, 0, FALSE, NULL, TRUE },
  { "ignore", "Ignored zones",
    "Zones whose motion does not count, such as a tree, points in 0..1 of the frame: \"[zone tree] "
    "points=0,0 0.2,0 0.2,1\"",
    SL_PROPERTY_STRING, AT (ignore) },
  { "post-messages", "Post messages",
    "Post an element message slmotion when motion begins and when it ends", SL_PROPERTY_BOOL,
    AT (post_messages), 0, 0, TRUE, NULL, TRUE },
};

static void
sl_motion_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  SlMotion *self = (SlMotion *) object;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  if (id == PROP_STATS)
    g_value_take_boxed (value, gst_structure_new ("stats", "frames", G_TYPE_UINT64, self->frames,
                                                  "moving", G_TYPE_UINT64, self->moving_frames,
                                                  "relearnt", G_TYPE_UINT64, self->relearnt, NULL));
  else
    sl_property_get (object, &properties[id - 1], value);
}

/* Seconds since the last frame; the first of a stream, and one after a pause, has none before. */
static gdouble
advance (SlMotion *self, GstBuffer *buffer)
{
  const GstClockTime last = self->time;
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    self->time = GST_BUFFER_PTS (buffer);
  else
    self->time = last == GST_CLOCK_TIME_NONE ? 0 : last + USUAL_INTERVAL;
  if (last != GST_CLOCK_TIME_NONE && (self->time < last || self->time - last > LONG_PAUSE)) {
    sl_background_forget (&self->background);
    sl_moving_forget (&self->moving);
  }
  return last == GST_CLOCK_TIME_NONE || self->time < last
           ? 0
           : (gdouble) (self->time - last) / GST_SECOND;
}

/* Says when motion begins and ends. */
static void
tell (SlMotion *self, gboolean post)
{
  const gboolean moves = self->moving.n > 0;
  if (moves != self->moved && post)
    sl_element_post (
      GST_ELEMENT (self),
      gst_structure_new ("slmotion", "moving", G_TYPE_BOOLEAN, moves, "regions", G_TYPE_UINT,
                         self->moving.n, "timestamp", G_TYPE_UINT64,
                         gst_segment_to_stream_time (&GST_BASE_TRANSFORM (self)->segment,
                                                     GST_FORMAT_TIME, self->time),
                         NULL));
  self->moved = moves;
}

static void
look (SlMotion *self, const SlLuma *luma, gdouble seconds)
{
  GST_OBJECT_LOCK (self);
  const Settings settings = self->settings;
  const gboolean post = self->post_messages;
  GST_OBJECT_UNLOCK (self);
  const SlBackgroundSettings rules = { settings.threshold, settings.learn, settings.shadows };
  const SlBackgroundResult result = sl_background_see (&self->background, luma, &rules, seconds);
  const SlMovingSettings limits = { (guint) (settings.least_area * self->background.width
                                             * self->background.height),
                                    (guint64) settings.hold * GST_MSECOND };
  if (result != SL_BACKGROUND_RELEARNT)
    sl_moving_find (&self->moving, &self->background,
                    sl_ignored_cells (&self->ignored, &self->background), &limits, self->time);
  tell (self, post);
  GST_OBJECT_LOCK (self);
  self->frames++;
  self->moving_frames += self->moving.n > 0;
  self->relearnt += result == SL_BACKGROUND_RELEARNT;
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
sl_motion_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlMotion *self = (SlMotion *) base;
  GstVideoFrame frame;
  GError *error = NULL;
  const gdouble seconds = advance (self, buffer);
  if (!sl_video_frame_map (&frame, &self->info, buffer,
                           GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF, &error))
    return sl_element_refuse_frame (GST_ELEMENT (self), error);
  const SlLuma luma = sl_frame_luma (&frame);
  look (self, &luma, seconds);
  gst_video_frame_unmap (&frame);
  sl_buffer_set_motion (buffer, self->moving.boxes, self->moving.n);
  return GST_FLOW_OK;
}

static void
forget (SlMotion *self)
{
  sl_background_forget (&self->background);
  sl_moving_forget (&self->moving);
  self->time = GST_CLOCK_TIME_NONE;
}

static gboolean
sl_motion_sink_event (GstBaseTransform *base, GstEvent *event)
{
  SlMotion *self = (SlMotion *) base;
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS
      && !sl_video_caps_check (base, event, SL_HIDE_FORMATS, "slmotion", &self->refused)) {
    gst_event_unref (event);
    return FALSE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    forget (self);
  return GST_BASE_TRANSFORM_CLASS (sl_motion_parent_class)->sink_event (base, event);
}

static gboolean
sl_motion_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  SlMotion *self = (SlMotion *) base;
  if (!gst_video_info_from_caps (&self->info, in))
    return FALSE;
  sl_background_forget (&self->background);
  sl_moving_forget (&self->moving);
  return TRUE;
}

/* The zones of the property ignore. */
static gboolean
check_settings (GstElement *element, GError **error)
{
  SlMotion *self = (SlMotion *) element;
  GST_OBJECT_LOCK (self);
  g_autofree char *text = g_strdup (self->ignore);
  GST_OBJECT_UNLOCK (self);
  return sl_ignored_set (&self->ignored, text, "ignore", error);
}

static gboolean
sl_motion_start (GstBaseTransform *base)
{
  SlMotion *self = (SlMotion *) base;
  g_autoptr (GError) error = NULL;
  GST_OBJECT_LOCK (self);
  self->frames = self->moving_frames = self->relearnt = 0;
  GST_OBJECT_UNLOCK (self);
  if (!check_settings (GST_ELEMENT (self), &error))
    return sl_element_report_settings (GST_ELEMENT (self), error);
  forget (self);
  self->moved = self->refused = FALSE;
  return TRUE;
}

static void
sl_motion_finalize (GObject *object)
{
  SlMotion *self = (SlMotion *) object;
  sl_ignored_clear (&self->ignored);
  sl_background_clear (&self->background);
  sl_moving_clear (&self->moving);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_motion_parent_class)->finalize (object);
}

static void
sl_motion_class_init (SlMotionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_motion_debug, "slmotion", 0, "regions of motion on frames");
  object_class->finalize = sl_motion_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_motion_get_property;
  g_object_class_install_property (
    object_class, PROP_STATS,
    sl_property_figures (
      "stats", "Statistics",
      "Since the start, as a structure: frames, moving (frames with a region) and "
      "relearnt (frames of another light, after which the background began anew) "
      "(uint64)"));
  sl_element_class_set_check (element_class, check_settings);
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline motion detector", "Filter/Analyzer/Video",
    "Finds where something moves in front of a fixed camera, on YUV, RGB and gray frames, without "
    "a model. slpredict tiles=motion runs its model on these regions.",
    "gst-launch-1.0 v4l2src ! slmotion ! slpredict model=ssd.tflite tiles=motion ! sltrack ! "
    "sloverlay ! videoconvert ! autovideosink",
    "motion.md");
  klass->transform_ip = sl_motion_transform_ip;
  klass->set_caps = sl_motion_set_caps;
  sl_video_caps_let_through (klass);
  klass->sink_event = sl_motion_sink_event;
  klass->start = sl_motion_start;
}

static void
sl_motion_init (SlMotion *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
