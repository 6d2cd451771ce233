/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Raw video as the preprocessor takes it: GstVideoInfo -> SlImageInfo, a buffer -> SlImage.
 */
#ifndef SL_PLUGINS_VIDEO_INPUT_H
#define SL_PLUGINS_VIDEO_INPUT_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "preprocess/image.h"

G_BEGIN_DECLS

/** Every GStreamer format that has an SlPixelFormat. */
#define SL_VIDEO_INPUT_FORMATS \
  "{ NV12, NV21, I420, YV12, YUY2, UYVY, Y42B, Y444, P010_10LE, I420_10LE, GRAY8, RGB, BGR, RGBx, BGRx, RGBA, BGRA, xRGB, ARGB, xBGR, ABGR, RGBP }"

/** sl_video_input_complete: (transfer full): @caps, fixed and not empty, with a whole colorimetry where YUV frames have a part of one. GStreamer
 *  takes a colorimetry without a matrix for none, and loses the range that it states. A missing matrix is that of the height, and a missing
 *  range is 16 to 235. */
GstCaps *sl_video_input_complete (GstCaps *caps);
/** sl_video_input_read: frames of @caps for @element, which takes @formats, a list as in SL_VIDEO_INPUT_FORMATS and of these only. FALSE
 *  with @error set for caps that are incomplete, another memory than the system's and linear DMABuf, another format, and interlaced video. */
gboolean sl_video_input_read (GstCaps *caps, const char *element, const char *formats, GstVideoInfo *video, SlImageInfo *image,
                              GError **error);
/** sl_video_input_map: sl_video_frame_map() for reading, which also fills @image. */
gboolean sl_video_input_map (GstVideoFrame *frame, SlImage *image, const GstVideoInfo *video, GstBuffer *buffer, GError **error);

G_END_DECLS

#endif
