/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw video as the preprocessor takes it: GstVideoInfo -> SlImageInfo, a buffer -> SlImage. Everything a buffer or its
 * GstVideoMeta says about sizes is checked before a pixel is read.
 */
#ifndef SL_PLUGINS_VIDEOINPUT_H
#define SL_PLUGINS_VIDEOINPUT_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "preprocess/image.h"

G_BEGIN_DECLS

/** Every GStreamer format that sl_video_input_info() takes. */
#define SL_VIDEO_INPUT_FORMATS \
  "{ NV12, NV21, I420, YV12, YUY2, UYVY, Y42B, Y444, P010_10LE, I420_10LE, GRAY8, RGB, BGR, RGBx, BGRx, RGBA, BGRA, xRGB, ARGB, xBGR, ABGR, RGBP }"

/** sl_video_input_info: FALSE with @error set for a format, size or interlacing that slnormalize does not take. */
gboolean sl_video_input_info (const GstVideoInfo *video, SlImageInfo *image, GError **error);
/** sl_video_direction_check: FALSE with @error set when @direction, a GstVideoOrientationMethod, is custom. */
gboolean sl_video_direction_check (gint direction, GError **error);
/** sl_video_input_map: maps @buffer for reading and fills @image. FALSE, with nothing mapped, when the buffer or its
 *  GstVideoMeta does not hold a frame of @video, of which @info came; undone by sl_video_input_unmap(). */
gboolean sl_video_input_map (GstVideoFrame *frame, SlImage *image, const SlImageInfo *info, const GstVideoInfo *video, GstBuffer *buffer);
void sl_video_input_unmap (GstVideoFrame *frame);
/** sl_video_input_complaint: (transfer full): why sl_video_input_map() refused @buffer, expected and got. */
char *sl_video_input_complaint (const GstVideoInfo *video, GstBuffer *buffer);

G_END_DECLS

#endif
