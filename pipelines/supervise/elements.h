/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* What programs that run a pipeline ask of its elements. */
#pragma once

#include <gst/gst.h>

/** sl_camera_is_away: whether an slcamera of @pipeline is connecting, stalled, reconnecting or
 * quiet. It connects again by itself. Until then no frame is due, and a restarted pipeline would
 * wait for the same camera. */
gboolean sl_camera_is_away (GstElement *pipeline);
/** sl_pipeline_interrupt: lets a stop interrupt a start. GStreamer changes the state of a pipeline
 * step by step, so an element that blocks in a change up also delays the change down. This emits
 * the action signal "interrupt" of each element that has it, so that a blocking state change fails
 * at once. The owner of the pipeline must be setting it to NULL. Any thread. */
void sl_pipeline_interrupt (GstBin *pipeline);
