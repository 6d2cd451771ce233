/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Converts raw video to the input of the preprocessor: GstVideoInfo -> SlImageInfo, a buffer ->
 * SlImage.
 */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "preprocess/image.h"

/** Every GStreamer format that has an SlPixelFormat. */
#define SL_VIDEO_INPUT_FORMATS                                                                \
  "{ NV12, NV21, I420, YV12, YUY2, UYVY, Y42B, Y444, P010_10LE, I420_10LE, GRAY8, RGB, BGR, " \
  "RGBx, BGRx, RGBA, BGRA, xRGB, ARGB, xBGR, ABGR, RGBP }"

/** sl_video_input_complete: (transfer full): @caps, fixed and not empty, with a complete
 * colorimetry where YUV frames state only a part of it. GStreamer ignores a colorimetry without a
 * matrix, and so loses its range. A missing matrix is chosen by the height. A missing range
 * becomes 16 to 235. */
GstCaps *sl_video_input_complete (GstCaps *caps);
/** sl_video_input_read: fills @video and @image from @caps. @formats: the formats that @element
 * takes, a subset of SL_VIDEO_INPUT_FORMATS. FALSE with @error set for incomplete caps, for memory
 * other than system memory and linear DMABuf, for another format, and for interlaced video. */
gboolean sl_video_input_read (GstCaps *caps, const char *element, const char *formats,
                              GstVideoInfo *video, SlImageInfo *image, GError **error);
/** sl_video_input_narrow: (transfer full): for transform_caps towards the sink pad of @base, which
 * takes any raw video in its template, but reads pixels of the list @formats now: what of @caps
 * (transfer full) these are, in system memory or linear DMABuf. @caps where upstream has nothing of
 * these, so that the CAPS event is refused with a sentence. @filter: (nullable) */
GstCaps *sl_video_input_narrow (GstBaseTransform *base, GstCaps *caps, GstCaps *filter,
                                const char *formats);
/** sl_video_input_map: maps @buffer for reading with sl_video_frame_map(), and fills @image. */
gboolean sl_video_input_map (GstVideoFrame *frame, SlImage *image, const GstVideoInfo *video,
                             GstBuffer *buffer, GError **error);
