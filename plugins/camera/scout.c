/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decoder is an element of no pipeline and runs in the thread that pushes. Its segment is one
 * of key units alone, so it gives each frame at once: a GAP event behind the frame drains it. A key
 * frame is compared alone, seconds after the one before, so what changed counts at once; frames in
 * a row must confirm each other, as in slmotion.
 */
#include "plugins/camera/scout.h"

#include <gst/video/video.h>

#include "plugins/camera/lone.h"
#include "plugins/motion/ignored.h"
#include "plugins/motion/luma.h"
#include "plugins/motion/moving.h"
#include "plugins/video/frame.h"

/* slmotion's defaults. What came and stands still is soon a part of the background, since frames
 * without a change need not be decoded. */
#define THRESHOLD 12
#define LEARN 2
#define LEAST_PART 0.0002
#define HOLD (GST_SECOND / 2)

struct _SlScout
{
  GMutex lock;
  SlBackground background;
  SlMoving moving;
  SlIgnored ignored;
  GstClockTime time; /* of the last frame */
  GstCaps *caps;     /* (nullable): of frames, as @info has them */
  GstVideoInfo info;
  gboolean readable;

  SlLone decoder;     /* may be empty */
  GstCaps *coded;     /* (nullable): of its input */
  GstBuffer *picture; /* (nullable): of the last key frame, if nothing moves */
  SlSight sight;
};

SlScout *
sl_scout_new (const char *ignore)
{
  SlScout *scout = g_new0 (SlScout, 1);
  g_mutex_init (&scout->lock);
  sl_ignored_set (&scout->ignored, ignore, "", NULL);
  scout->time = GST_CLOCK_TIME_NONE;
  return scout;
}

void
sl_scout_free (SlScout *scout)
{
  sl_lone_clear (&scout->decoder);
  gst_clear_caps (&scout->coded);
  gst_clear_buffer (&scout->picture);
  gst_clear_caps (&scout->caps);
  sl_background_clear (&scout->background);
  sl_moving_clear (&scout->moving);
  sl_ignored_clear (&scout->ignored);
  g_mutex_clear (&scout->lock);
  g_free (scout);
}

void
sl_scout_forget (SlScout *scout)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&scout->lock);
  sl_background_forget (&scout->background);
  sl_moving_forget (&scout->moving);
  scout->time = GST_CLOCK_TIME_NONE;
}

/* Compared with the background. @alone: the frame is not confirmed by the next one */
static SlSight
compare (SlScout *scout, const SlLuma *luma, GstClockTime time, gboolean alone)
{
  const SlBackgroundSettings rules = { THRESHOLD, LEARN, FALSE };
  const gboolean timed = GST_CLOCK_TIME_IS_VALID (time) && GST_CLOCK_TIME_IS_VALID (scout->time);
  const gdouble seconds =
    timed && time > scout->time ? (gdouble) (time - scout->time) / GST_SECOND : 0;
  const SlBackgroundResult result = sl_background_see (&scout->background, luma, &rules, seconds);
  const SlMovingSettings limits = {
    (guint) (LEAST_PART * scout->background.width * scout->background.height), HOLD
  };
  const guint8 *ignored = sl_ignored_cells (&scout->ignored, &scout->background);
  scout->time = time;
  if (result != SL_BACKGROUND_COMPARED)
    return SL_SIGHT_MOTION;
  sl_moving_find (&scout->moving, &scout->background, ignored, &limits, time);
  if (alone)
    sl_moving_find (&scout->moving, &scout->background, ignored, &limits, time);
  return scout->moving.n > 0 ? SL_SIGHT_MOTION : SL_SIGHT_SAME;
}

/* With the lock held. */
static void
read_caps (SlScout *scout, GstCaps *caps)
{
  if (caps == scout->caps)
    return;
  gst_caps_replace (&scout->caps, caps);
  scout->readable = gst_video_info_from_caps (&scout->info, caps)
                    && GST_VIDEO_FORMAT_INFO_DEPTH (scout->info.finfo, 0) == 8
                    && !GST_VIDEO_FORMAT_INFO_IS_TILED (scout->info.finfo)
                    && scout->info.width >= SL_BACKGROUND_SCALE
                    && scout->info.height >= SL_BACKGROUND_SCALE;
}

static SlSight
look (SlScout *scout, GstBuffer *buffer, GstCaps *caps, gboolean alone)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&scout->lock);
  GstVideoFrame frame;
  read_caps (scout, caps);
  if (!scout->readable
      || !sl_video_frame_map (&frame, &scout->info, buffer,
                              GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF, NULL))
    return SL_SIGHT_NONE;
  const SlLuma luma = sl_frame_luma (&frame);
  const SlSight sight = compare (scout, &luma, GST_BUFFER_PTS (buffer), alone);
  gst_video_frame_unmap (&frame);
  return sight;
}

SlSight
sl_scout_look (SlScout *scout, GstBuffer *frame, GstCaps *caps)
{
  return look (scout, frame, caps, FALSE);
}

/* The decoder */

static GstFlowReturn
take_decoded (GstPad *pad, GstObject *parent, GstBuffer *frame)
{
  SlScout *scout = gst_pad_get_element_private (pad);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  if (caps != NULL && !GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_CORRUPTED))
    scout->sight = look (scout, frame, caps, TRUE);
  gst_clear_buffer (&scout->picture);
  if (scout->sight == SL_SIGHT_SAME)
    scout->picture = g_steal_pointer (&frame);
  gst_clear_buffer (&frame);
  return GST_FLOW_OK;
}

static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event);
  return TRUE;
}

static void
make_decoder (SlScout *scout, GstElementFactory *factory, GstCaps *caps)
{
  GstElement *decoder = gst_element_factory_create (factory, NULL);
  if (decoder == NULL)
    return;
  GstSegment segment;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (decoder), "max-threads") != NULL)
    g_object_set (decoder, "max-threads", 1, NULL);
  sl_lone_start (&scout->decoder, decoder, gst_pad_new ("sink", GST_PAD_SINK), take_decoded,
                 take_event, scout);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.flags |= GST_SEGMENT_FLAG_TRICKMODE | GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS;
  gst_caps_replace (&scout->coded, caps);
  gst_pad_push_event (scout->decoder.in, gst_event_new_caps (caps));
  gst_pad_push_event (scout->decoder.in, gst_event_new_segment (&segment));
}

SlSight
sl_scout_decode (SlScout *scout, GstElementFactory *factory, GstBuffer *key, GstCaps *caps)
{
  const GstClockTime time = GST_BUFFER_PTS_IS_VALID (key) ? GST_BUFFER_PTS (key) : 0;
  if (scout->coded != NULL && !gst_caps_is_equal (scout->coded, caps))
    sl_lone_clear (&scout->decoder);
  if (scout->decoder.element == NULL)
    make_decoder (scout, factory, caps);
  if (scout->decoder.element == NULL)
    return SL_SIGHT_NONE;
  scout->sight = SL_SIGHT_NONE;
  gst_clear_buffer (&scout->picture);
  gst_pad_push (scout->decoder.in, gst_buffer_copy (key));
  gst_pad_push_event (scout->decoder.in, gst_event_new_gap (time, GST_CLOCK_TIME_NONE));
  return scout->sight;
}

GstBuffer *
sl_scout_take (SlScout *scout, GstCaps *caps)
{
  GstBuffer *picture = g_steal_pointer (&scout->picture);
  if (picture == NULL)
    return NULL;
  g_autoptr (GstCaps) own = gst_pad_get_current_caps (scout->decoder.out);
  if (caps == NULL || own == NULL || !gst_caps_is_equal (own, caps))
    gst_clear_buffer (&picture);
  return picture;
}
