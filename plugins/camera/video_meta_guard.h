/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames for elements that do not know GstVideoMeta: such elements expect the strides and offsets
 * that follow from caps.
 */
#pragma once

#include <gst/gst.h>

/** sl_video_meta_guard: from now on frames leave @src, a pad of raw video, in the layout of their
 * caps when the allocation query that @src sent last was not answered with GstVideoMeta; others
 * pass untouched. A frame that is not what its GstVideoMeta says is dropped, with a warning of
 * @element for the first one after such a query. @element outlives @src. */
void sl_video_meta_guard (GstPad *src, GstElement *element);
