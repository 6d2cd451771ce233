/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames with predictions on them -> pictures or a video with the predictions drawn. */
#pragma once

#include <gst/gst.h>

typedef struct _SlDrawer SlDrawer;

/** sl_drawer_check: whether @path can be written, as far as its name tells. */
gboolean sl_drawer_check (const char *path, GError **error);
/** sl_drawer_new: pictures, of which the first frame's is written to @path and others to @path with
 * -2, -3, ... before its extension, or, where @path ends in .mp4, a video of all frames.
 * @redact: (nullable): as in sl_make_drawing() */
SlDrawer *sl_drawer_new (const char *path, const char *redact, GError **error);
void sl_drawer_free (SlDrawer *drawer);
/** sl_drawer_next_source: frames to come are of another source. */
void sl_drawer_next_source (SlDrawer *drawer);
/** sl_drawer_next_path: (transfer full): the file that the next frame goes to. */
char *sl_drawer_next_path (SlDrawer *drawer);
/** sl_drawer_write: draws the predictions of @frame, of a video or, unless @moving, a picture.
 * FALSE with @error set. */
gboolean sl_drawer_write (SlDrawer *drawer, GstSample *frame, gboolean moving, GError **error);
/** sl_drawer_finish: no frame comes any more; a video is playable from now on. FALSE with @error
 * set. */
gboolean sl_drawer_finish (SlDrawer *drawer, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDrawer, sl_drawer_free)
