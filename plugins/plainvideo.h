/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames for elements that do not know GstVideoMeta: such elements expect the strides and offsets that follow from caps.
 */
#ifndef SL_PLUGINS_PLAINVIDEO_H
#define SL_PLUGINS_PLAINVIDEO_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** sl_plain_video_guard: from now on frames leave @src, a pad of raw video, in the layout of their caps when the allocation query
 *  that @src sent last was not answered with GstVideoMeta; others pass untouched. */
void sl_plain_video_guard (GstPad *src);

G_END_DECLS

#endif
