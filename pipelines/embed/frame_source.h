/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The appsrc of a pipeline that an application pushes its frames into. */
#pragma once

#include <gst/gst.h>

#include "sightline/frame.h"

typedef struct _SlFrameSource SlFrameSource;

/** sl_frame_source_new: (nullable): for the appsrc called "source" of @pipeline, else its first
 * one; NULL when it has none. An appsrc that does not block gets room for two frames, newer ones
 * taking the place of older ones. */
SlFrameSource *sl_frame_source_new (GstBin *pipeline);
void sl_frame_source_free (SlFrameSource *source);
/** sl_frame_source_push: any thread; references the memory of @frame where it can, else copies it.
 */
GstFlowReturn sl_frame_source_push (SlFrameSource *source, const SlFrame *frame);
void sl_frame_source_end (SlFrameSource *source);
/** sl_frame_source_counts: frames pushed, and those of them that newer ones displaced. */
void sl_frame_source_counts (SlFrameSource *source, guint64 *pushed, guint64 *displaced);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFrameSource, sl_frame_source_free)
