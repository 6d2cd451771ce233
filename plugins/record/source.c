/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoded frames come from the camera's stream, so the encoded frames are never far behind them. */
#include "plugins/record/source.h"

void
sl_clip_source_init (SlClipSource *source)
{
  *source = (SlClipSource){ .newest = GST_CLOCK_TIME_NONE, .alone = GST_CLOCK_TIME_NONE };
  g_mutex_init (&source->lock);
}

void
sl_clip_source_clear (SlClipSource *source)
{
  gst_clear_caps (&source->caps);
  g_mutex_clear (&source->lock);
}

void
sl_clip_source_start (SlClipSource *source, SlClipRecorder *recorder, gboolean own)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  source->recorder = recorder;
  source->own = own;
  source->ended = FALSE;
  source->newest = source->alone = GST_CLOCK_TIME_NONE;
}

void
sl_clip_source_stop (SlClipSource *source)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  source->recorder = NULL;
  gst_clear_caps (&source->caps);
}

gboolean
sl_clip_source_is_own (SlClipSource *source, gboolean linked, GstClockTime time)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  if (GST_CLOCK_TIME_IS_VALID (source->newest) && time <= source->newest)
    source->alone = GST_CLOCK_TIME_NONE;
  else if (!GST_CLOCK_TIME_IS_VALID (source->alone) || time < source->alone)
    source->alone = time;
  const gboolean alone = GST_CLOCK_TIME_IS_VALID (source->alone);
  const gboolean own =
    source->own || !linked
    || (alone && (source->ended || time - source->alone >= SL_CLIP_SOURCE_SILENCE));
  if (own && !source->own)
    source->newest = GST_CLOCK_TIME_NONE;
  source->own = own;
  return own;
}

void
sl_clip_source_set_caps (SlClipSource *source, gboolean own, GstCaps *caps)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  if (!own)
    gst_caps_replace (&source->caps, caps);
  if (own == source->own)
    sl_clip_recorder_set_caps (source->recorder, caps);
}

/* Under the lock: a frame of the camera came. */
static void
note_camera (SlClipSource *source, GstClockTime time)
{
  if (source->own)
    sl_clip_recorder_set_caps (source->recorder, source->caps);
  source->own = source->ended = FALSE;
  source->newest = GST_CLOCK_TIME_IS_VALID (source->newest) ? MAX (source->newest, time) : time;
  source->alone = GST_CLOCK_TIME_NONE;
}

void
sl_clip_source_frame (SlClipSource *source, gboolean own, GstBuffer *frame)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  const gboolean taken = own ? source->own : source->caps != NULL;
  if (taken && !own)
    note_camera (source, GST_BUFFER_PTS (frame));
  if (taken)
    sl_clip_recorder_frame (source->recorder, frame);
  else
    gst_buffer_unref (frame);
}

void
sl_clip_source_end (SlClipSource *source, gboolean own)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  source->ended |= !own;
  if (own == source->own)
    sl_clip_recorder_end (source->recorder, TRUE);
}

void
sl_clip_source_none (SlClipSource *source)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  source->ended = TRUE;
}

void
sl_clip_source_reset (SlClipSource *source)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&source->lock);
  source->newest = source->alone = GST_CLOCK_TIME_NONE;
  if (!source->own)
    sl_clip_recorder_reset (source->recorder);
}
