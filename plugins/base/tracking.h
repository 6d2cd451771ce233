/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tracker on a stream: how many frames have passed since the last, and when to begin anew. Used
 * by sltrack and slpostprocess, one thread at a time.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/predictions/prediction.h"
#include "postprocess/predictions/track.h"

typedef struct
{
  SlTracker *tracker;
  GstClockTime last; /* time of the last frame */
  gint fps_n, fps_d;
  SlObjectView *objects; /* those of the last prediction */
  SlTrackBox *boxes;
  SlTrackMatch *matches;
} SlTracking;

/** What the property "next-id" of elements that track says. */
#define SL_TRACKING_NEXT_ID_HELP \
  "Id of the next new object; set before the start to continue the ids of an earlier pipeline"

void sl_tracking_init (SlTracking *tracking);
/** sl_tracking_clear: also for a zeroed struct. */
void sl_tracking_clear (SlTracking *tracking);
/** sl_tracking_reset: forgets all objects, as after a seek. */
void sl_tracking_reset (SlTracking *tracking);
/** sl_tracking_set_rate: frames per second of the stream, 0/1 = unknown. */
void sl_tracking_set_rate (SlTracking *tracking, gint fps_n, gint fps_d);
/** sl_tracking_advance: frames from the last one to that of time @pts, at least 1; 1 where times or
 * rate are not known. Time that runs backwards resets. */
guint sl_tracking_advance (SlTracking *tracking, GstClockTime pts);
/** sl_tracking_skip: a frame of time @pts without inference. */
void sl_tracking_skip (SlTracking *tracking, GstClockTime pts);
/** sl_tracking_run: gives objects of @prediction their ids, and drops those below the high
 * threshold that continue none. The objects are then memory of @tracking, valid until the next run.
 */
void sl_tracking_run (SlTracking *tracking, SlPredictionView *prediction, GstClockTime pts);
