/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one way to the pixels of a buffer. gst_video_frame_map() believes what a GstVideoMeta says;
 * this function believes nothing.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

/** sl_video_plane_extent: what the samples of @plane take: @rows of @row_bytes each. */
void sl_video_plane_extent (const GstVideoInfo *video, guint plane, gint *rows, gsize *row_bytes);
/** sl_video_frame_map: gst_video_frame_map() of a frame of @video, whose format has no tiles. FALSE
 * with @error set (expected and got), and nothing mapped, when a row of a plane lies outside the
 * memory that the plane begins in, rows overlap, the GstVideoMeta is of another format, number of
 * planes or a smaller picture, or the buffer cannot be mapped. A larger picture in the meta is
 * fine: @frame has the size of @video. Undone by gst_video_frame_unmap(). */
gboolean sl_video_frame_map (GstVideoFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                             GstMapFlags flags, GError **error);
/** sl_element_refuse_frame: posts @error of sl_video_frame_map(), which is freed (transfer full),
 * as an error of @element about a buffer from upstream, and returns GST_FLOW_ERROR. */
GstFlowReturn sl_element_refuse_frame (GstElement *element, GError *error);
