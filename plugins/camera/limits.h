/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits the memory that a camera can make the elements inside slcamera use. GStreamer's
 * depayloaders, parsers and decoders trust the sizes that a stream states. So this code checks them
 * from outside.
 */
#pragma once

#include <gst/gst.h>

/** SlCameraLimits: @max_part_bytes: of a picture as it is sent; @max_pixels: of a picture, width
 * times height. */
typedef struct
{
  guint max_part_bytes, max_pixels;
} SlCameraLimits;

/** sl_camera_limit_jpeg: every buffer that reaches the sink pad of @decoder, which takes JPEG, is
 * one whole picture within max_pixels; buffers without a picture are dropped, one above the limit
 * is an error of @decoder. */
void sl_camera_limit_jpeg (GstElement *decoder, const SlCameraLimits *limits);
/** sl_camera_limit_frames: decoders upstream of @convert get no memory for frames above max_pixels;
 * such caps are an error of @convert. */
void sl_camera_limit_frames (GstElement *convert, const SlCameraLimits *limits);
/** sl_camera_limit_decoding: in the elements that @bin gets from now on, at any depth: depayloaders
 * and parsers hold at most max_part_bytes without giving anything, and decoders see no stream whose
 * caps are above max_pixels. */
void sl_camera_limit_decoding (GstBin *bin, const SlCameraLimits *limits);

/** sl_camera_part_error: (transfer full): a picture of a stream has more than @max_part_bytes, @got
 * so far. */
GError *sl_camera_part_error (guint max_part_bytes, guint64 got);
