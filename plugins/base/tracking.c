/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time steps from timestamps, and predictions through the tracker. */
#include "plugins/base/tracking.h"

void
sl_tracking_init (SlTracking *tracking)
{
  *tracking = (SlTracking){ .tracker = sl_tracker_new (), .last = GST_CLOCK_TIME_NONE, .fps_d = 1 };
}

void
sl_tracking_clear (SlTracking *tracking)
{
  g_clear_pointer (&tracking->tracker, sl_tracker_free);
  g_clear_pointer (&tracking->objects, g_free);
  g_clear_pointer (&tracking->boxes, g_free);
  g_clear_pointer (&tracking->matches, g_free);
}

void
sl_tracking_reset (SlTracking *tracking)
{
  sl_tracker_reset (tracking->tracker);
  tracking->last = GST_CLOCK_TIME_NONE;
}

void
sl_tracking_set_rate (SlTracking *tracking, gint fps_n, gint fps_d)
{
  tracking->fps_n = fps_n;
  tracking->fps_d = MAX (fps_d, 1);
}

guint
sl_tracking_advance (SlTracking *tracking, GstClockTime pts)
{
  const GstClockTime last = tracking->last;
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    return 1;
  if (GST_CLOCK_TIME_IS_VALID (last) && pts < last)
    sl_tracking_reset (tracking);
  tracking->last = pts;
  if (!GST_CLOCK_TIME_IS_VALID (last) || pts <= last || tracking->fps_n <= 0)
    return 1;
  const guint64 steps = gst_util_uint64_scale_round (pts - last, (guint64) tracking->fps_n,
                                                     (guint64) tracking->fps_d * GST_SECOND);
  return (guint) CLAMP (steps, 1, G_MAXINT);
}

void
sl_tracking_skip (SlTracking *tracking, GstClockTime pts)
{
  sl_tracker_skip (tracking->tracker, sl_tracking_advance (tracking, pts));
}

void
sl_tracking_run (SlTracking *tracking, SlPredictionView *prediction, GstClockTime pts)
{
  const guint n = prediction->n_objects;
  guint kept = 0;
  if (tracking->objects == NULL) {
    tracking->objects = g_new (SlObjectView, SL_MAX_RESULTS);
    tracking->boxes = g_new (SlTrackBox, SL_MAX_RESULTS);
    tracking->matches = g_new (SlTrackMatch, SL_MAX_RESULTS);
  }
  g_return_if_fail (n <= SL_MAX_RESULTS);
  for (guint i = 0; i < n; i++) {
    const SlObjectView *object = &prediction->objects[i];
    tracking->boxes[i] =
      (SlTrackBox){ { object->x_min * prediction->width, object->y_min * prediction->height,
                      object->x_max * prediction->width, object->y_max * prediction->height },
                    object->confidence,
                    (guint32) object->label_id,
                    object->label_id };
  }
  const guint steps = sl_tracking_advance (tracking, pts);
  sl_tracker_update (tracking->tracker, tracking->boxes, n, steps, pts, tracking->matches);
  for (guint i = 0; i < n; i++) {
    if (tracking->matches[i].id == SL_TRACK_UNSURE)
      continue;
    tracking->objects[kept] = prediction->objects[i];
    tracking->objects[kept].object_id = tracking->matches[i].id;
    tracking->objects[kept++].tracked_since = tracking->matches[i].since;
  }
  prediction->n_objects = kept;
  prediction->objects = tracking->objects;
}
