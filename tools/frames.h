/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of a picture, a video file or a URI, decoded by whatever GStreamer has, one after the
 * other.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

typedef struct _SlFrames SlFrames;

typedef enum
{
  SL_FRAMES_NOTHING, /* so far */
  SL_FRAMES_FRAME,
  SL_FRAMES_END,
  SL_FRAMES_FAILED
} SlFramesStatus;

/** sl_frames_open: starts decoding what @uri names; @camera: as slcamera does, which gets
 * @connect_ms for its connect-timeout. Messages leave the name of the source to the caller. */
SlFrames *sl_frames_open (const char *uri, gboolean camera, guint connect_ms, GError **error);
/** sl_frames_open_camera: the same of @camera, an slcamera in state NULL, (transfer none), with the
 * name @uri. */
SlFrames *sl_frames_open_camera (GstElement *camera, const char *uri, GError **error);
void sl_frames_close (SlFrames *frames);
/** sl_frames_pull: waits for the next frame for at most @ms. @sample: (transfer full) (nullable):
 * it, in a format that slnormalize takes.
 *  @error is set with SL_FRAMES_FAILED. */
SlFramesStatus sl_frames_pull (SlFrames *frames, guint ms, GstSample **sample, GError **error);
/** sl_frames_orientation: how @sample, of sl_frames_pull(), is to be turned to be upright. */
GstVideoOrientationMethod sl_frames_orientation (GstSample *sample);
/** sl_frames_time: the time of @frame in its stream, ns; GST_CLOCK_TIME_NONE where it has none. */
guint64 sl_frames_time (GstSample *frame);
/** sl_frames_moves: a number that changes while bytes are read or frames made. */
guint sl_frames_moves (SlFrames *frames);
/** sl_frames_take_note: (transfer full) (nullable): what a camera has to say to the user, or that
 * frames were left out. @at_end: of all of the source */
char *sl_frames_take_note (SlFrames *frames, gboolean at_end);
/** sl_frames_duration: nanoseconds, 0 while unknown. */
guint64 sl_frames_duration (SlFrames *frames);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFrames, sl_frames_close)

/** sl_make_element: a GStreamer element of @factory added to @bin; NULL with @error set, naming the
 * package, when it is not installed. */
GstElement *sl_make_element (GstBin *bin, const char *factory, GError **error);
