/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of one source after the other, decoded by a process of its own: a decoder that hangs or crashes costs its source and no more.
 */
#ifndef SL_TOOLS_PREDICT_REMOTE_FRAMES_H
#define SL_TOOLS_PREDICT_REMOTE_FRAMES_H

#include <gst/gst.h>

#include "tools/predict/inputs.h"
#include "tools/predict/spawner.h"

G_BEGIN_DECLS

/** SlRemoteNote: what the camera @name, whose frames go on, has to say. */
typedef void (*SlRemoteNote) (const char *name, const char *text);

typedef struct _SlRemoteFrames SlRemoteFrames;

/** sl_remote_frames_new: after gst_init(); @timeout: seconds that a source may be without progress, 0 = for ever, and @option: what sets
 *  it, for messages: " (--timeout)" or "". @spawner must outlive it. @note: (nullable). */
SlRemoteFrames *sl_remote_frames_new (SlSpawner *spawner, guint timeout, const char *option, SlRemoteNote note);
void sl_remote_frames_free (SlRemoteFrames *frames);
/** sl_remote_frames_prepare: has the process get ready meanwhile. */
void sl_remote_frames_prepare (SlRemoteFrames *frames);
/** sl_remote_frames_open: begins with @input, which must outlive the last frame of it. FALSE with @error set, and without when the program
 *  was interrupted. */
gboolean sl_remote_frames_open (SlRemoteFrames *frames, const SlInput *input, GError **error);
/** sl_remote_frames_close: done with the source, which may have more frames. */
void sl_remote_frames_close (SlRemoteFrames *frames);
/** sl_remote_frames_next: (transfer full) (nullable): the next frame, upright, its PTS the stream time; NULL at the end, with @error
 *  set when it came too early, and NULL without one when the program was interrupted. */
GstSample *sl_remote_frames_next (SlRemoteFrames *frames, GError **error);
/** sl_remote_frames_until: the same, but NULL without @error, too, when @deadline, of g_get_monotonic_time(), comes before the frame; nothing
 *  but sl_remote_frames_close() may follow then. */
GstSample *sl_remote_frames_until (SlRemoteFrames *frames, gint64 deadline, GError **error);
/** sl_remote_frames_duration: of the source, nanoseconds, 0 while unknown. */
guint64 sl_remote_frames_duration (const SlRemoteFrames *frames);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRemoteFrames, sl_remote_frames_free)

G_END_DECLS

#endif
