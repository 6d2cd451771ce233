/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A Matroska file of one video track, written to a descriptor by GStreamer's muxer. One thread;
 * frames are not copied.
 */
#pragma once

#include <gst/gst.h>

typedef struct _SlMux SlMux;

/** sl_mux_new: @fd: of an empty file, the caller's; @caps: of the frames. NULL with @error set
 * where GStreamer lacks an element or the caps do not fit into Matroska. */
SlMux *sl_mux_new (gint fd, GstCaps *caps, GError **error);
/** sl_mux_push: takes @frame, whose timestamps begin at 0 with the file; waits for the disk. FALSE
 * with @error set when writing failed. */
gboolean sl_mux_push (SlMux *mux, GstBuffer *frame, GError **error);
/** sl_mux_finish: the file is complete; waits for the disk. */
gboolean sl_mux_finish (SlMux *mux, GError **error);
void sl_mux_free (SlMux *mux);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlMux, sl_mux_free)
