/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Following objects by their landmarks in the last frame: slpostprocess sends the positions in an
 * event to slnormalize, upstream of it.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/alignment.h"

/** An object with landmarks: what it was, without points, its label static, and the part of a frame
 * that shows it upright. */
typedef struct
{
  SlObjectView object;
  SlTurnedRect part;
} SlFollowed;

/** sl_followed_send: tells upstream of @pad, a sink pad, which objects of @prediction had landmarks
 * inside, for tensors of @aspect. */
void sl_followed_send (GstPad *pad, const SlPredictionView *prediction, double aspect);
/** sl_followed_receive: whether @event is such an event; @followed (of SlFollowed) becomes what it
 * says. */
gboolean sl_followed_receive (GstEvent *event, GArray *followed);
/** sl_followed_choose: objects of @chosen (of SlObjectRegion) that are @followed are looked at as
 * that says; of others *@frame, of @video, gets a region, as far as there are no more than @most.
 * *@frame is replaced by a writable copy where it must be. */
void sl_followed_choose (const GArray *followed, GstBuffer **frame, const GstVideoInfo *video,
                         guint most, GArray *chosen);
