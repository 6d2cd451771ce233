/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of a picture, a video file or a URI, decoded by whatever GStreamer has, one after the other.
 */
#ifndef SL_TOOLS_FRAMES_H
#define SL_TOOLS_FRAMES_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _SlFrames SlFrames;

/** sl_frames_open: starts decoding @source, a path or URI, to the raw video formats in @caps. Messages leave the
 *  name of the source to the caller. */
SlFrames *sl_frames_open (const char *source, GstCaps *caps, GError **error);
void sl_frames_close (SlFrames *frames);
/** sl_frames_next: (transfer full) (nullable): the next frame; NULL at the end, with @error set when it came too early,
 *  and NULL without one when the program was interrupted. */
GstSample *sl_frames_next (SlFrames *frames, GError **error);
/** sl_frames_duration: nanoseconds, 0 while unknown. */
guint64 sl_frames_duration (SlFrames *frames);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFrames, sl_frames_close)

/** sl_make_element: a GStreamer element of @factory added to @bin; NULL with @error set, naming the package, when it
 *  is not installed. */
GstElement *sl_make_element (GstBin *bin, const char *factory, GError **error);
/** sl_bus_error: (transfer full): what an error message says, without GStreamer's hints for programmers. */
GError *sl_bus_error (GstMessage *message);

G_END_DECLS

#endif
