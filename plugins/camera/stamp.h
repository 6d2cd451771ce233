/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Timestamps of slcamera's frames: running time of the outer pipeline, growing across reconnections
 * and loops.
 */
#pragma once

#include <gst/gst.h>

/** SlCameraStamper: zero it with sl_camera_stamper_init(); one thread at a time. */
typedef struct
{
  GstClockTime last, end; /* of the last frame: its time, and that plus its duration */
  GstClockTime offset;    /* of the running pass over a file */
} SlCameraStamper;

void sl_camera_stamper_init (SlCameraStamper *stamper);
/** sl_camera_stamper_pass: the next frame begins a pass over the same file: its time 0 is where the
 * last pass ended. */
void sl_camera_stamper_pass (SlCameraStamper *stamper);
/** sl_camera_stamper_live: running time of a frame that was taken at clock time @taken (or NONE)
 * and arrived at @now, while the outer base time is @base. It is later than that of the last frame.
 * A time that is not within @trust of @now counts as NONE. */
GstClockTime sl_camera_stamper_live (SlCameraStamper *stamper, GstClockTime taken, GstClockTime now,
                                     GstClockTime base, GstClockTime trust);
/** sl_camera_stamper_encoded: the same, in the order of decoding. A frame that is @reordered keeps
 * its time, as it may be shown before the last one. */
GstClockTime sl_camera_stamper_encoded (SlCameraStamper *stamper, gboolean reordered,
                                        GstClockTime taken, GstClockTime now, GstClockTime base,
                                        GstClockTime trust);
/** sl_camera_stamper_file: a frame at @running (or NONE) of the running pass, of @duration (or
 * NONE). */
GstClockTime sl_camera_stamper_file (SlCameraStamper *stamper, GstClockTime running,
                                     GstClockTime duration);
