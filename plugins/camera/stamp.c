/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Timestamps are arithmetic on four numbers, apart from the thread that feeds them, so that tests
 * can try any clock.
 */
#include "plugins/camera/stamp.h"

/* Of a frame that states no duration, in a file. */
#define FRAME_TIME (40 * GST_MSECOND)

void
sl_camera_stamper_init (SlCameraStamper *stamper)
{
  stamper->last = GST_CLOCK_TIME_NONE;
  stamper->end = stamper->offset = 0;
}

void
sl_camera_stamper_pass (SlCameraStamper *stamper)
{
  stamper->offset = stamper->end;
}

static GstClockTime
grow (SlCameraStamper *stamper, GstClockTime time)
{
  if (GST_CLOCK_TIME_IS_VALID (stamper->last) && time <= stamper->last)
    time = stamper->last + 1;
  stamper->last = time;
  return time;
}

static GstClockTime
live_time (GstClockTime taken, GstClockTime now, GstClockTime base, GstClockTime trust)
{
  if (!GST_CLOCK_TIME_IS_VALID (taken) || (taken > now ? taken - now : now - taken) > trust)
    taken = now;
  return taken > base ? taken - base : 0;
}

GstClockTime
sl_camera_stamper_live (SlCameraStamper *stamper, GstClockTime taken, GstClockTime now,
                        GstClockTime base, GstClockTime trust)
{
  return grow (stamper, live_time (taken, now, base, trust));
}

GstClockTime
sl_camera_stamper_encoded (SlCameraStamper *stamper, gboolean reordered, GstClockTime taken,
                           GstClockTime now, GstClockTime base, GstClockTime trust)
{
  const GstClockTime time = live_time (taken, now, base, trust);
  if (!reordered)
    return grow (stamper, time);
  stamper->last = GST_CLOCK_TIME_IS_VALID (stamper->last) ? MAX (stamper->last, time) : time;
  return time;
}

GstClockTime
sl_camera_stamper_file (SlCameraStamper *stamper, GstClockTime running, GstClockTime duration)
{
  const GstClockTime time =
    grow (stamper, GST_CLOCK_TIME_IS_VALID (running) ? stamper->offset + running : stamper->end);
  stamper->end =
    time + (GST_CLOCK_TIME_IS_VALID (duration) && duration > 0 ? duration : FRAME_TIME);
  return time;
}
