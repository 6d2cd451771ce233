/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GStreamer chain: the converter inside videoconvertscale makes small RGB, a loop makes the
 * tensor; see peers.h.
 */
#include <gst/video/video.h>

#include "tools/bench/peers.h"

struct SlBenchConverter
{
  SlNormalizeSpec spec;
  GstVideoInfo from;
  GstVideoConverter *converter;
  GstVideoFrame small;
};

static GstVideoFormat
video_format (SlPixelFormat format)
{
  const GstVideoFormat found = gst_video_format_from_string (sl_pixel_format_name (format));
  return found != GST_VIDEO_FORMAT_UNKNOWN ? found : GST_VIDEO_FORMAT_ENCODED;
}

SlBenchConverter *
sl_bench_converter_new (const SlBenchPicture *picture, const SlNormalizeSpec *spec)
{
  GstVideoInfo to;
  SlBenchConverter *self;
  if (spec->fit != SL_FIT_STRETCH || spec->layout != SL_LAYOUT_NHWC || spec->type == SL_OUT_F16
      || video_format (picture->info.format) == GST_VIDEO_FORMAT_ENCODED)
    return NULL;
  gst_init (NULL, NULL);
  self = g_new0 (SlBenchConverter, 1);
  self->spec = *spec;
  gst_video_info_set_format (&self->from, video_format (picture->info.format),
                             (guint) picture->info.width, (guint) picture->info.height);
  gst_video_info_set_format (&to, GST_VIDEO_FORMAT_RGB, (guint) spec->width, (guint) spec->height);
  self->converter =
    GST_VIDEO_INFO_SIZE (&self->from) == picture->bytes ? gst_video_converter_new (
      &self->from, &to,
      gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD,
                         GST_TYPE_VIDEO_RESAMPLER_METHOD, GST_VIDEO_RESAMPLER_METHOD_LINEAR,
                         GST_VIDEO_CONVERTER_OPT_THREADS, G_TYPE_UINT, 1, NULL))
                                                        : NULL;
  if (self->converter == NULL) {
    g_free (self);
    return NULL;
  }
  g_autoptr (GstBuffer) buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&to), NULL);
  gst_video_frame_map (&self->small, &to, buffer, GST_MAP_READWRITE);
  return self;
}

void
sl_bench_converter_run (SlBenchConverter *self, const uint8_t *memory, void *tensor)
{
  const float gain = (float) self->spec.gain[0], offset = (float) self->spec.offset[0];
  const gsize row = (gsize) self->spec.width * 3, bytes = GST_VIDEO_INFO_SIZE (&self->from);
  g_autoptr (GstBuffer) buffer = gst_buffer_new_wrapped_full (
    GST_MEMORY_FLAG_READONLY, (gpointer) memory, bytes, 0, bytes, NULL, NULL);
  GstVideoFrame frame;
  gst_video_frame_map (&frame, &self->from, buffer, GST_MAP_READ);
  gst_video_converter_frame (self->converter, &frame, &self->small);
  gst_video_frame_unmap (&frame);
  for (int y = 0; y < self->spec.height; y++) {
    const guint8 *rgb = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&self->small, 0)
                        + y * GST_VIDEO_FRAME_PLANE_STRIDE (&self->small, 0);
    for (gsize i = 0; i < row && self->spec.type == SL_OUT_F32; i++)
      ((float *) tensor)[(gsize) y * row + i] = (float) rgb[i] * gain + offset;
    for (gsize i = 0; i < row && self->spec.type != SL_OUT_F32; i++)
      ((uint8_t *) tensor)[(gsize) y * row + i] =
        (uint8_t) (rgb[i] ^ (self->spec.type == SL_OUT_I8 ? 0x80 : 0));
  }
}

void
sl_bench_converter_free (SlBenchConverter *self)
{
  if (self == NULL)
    return;
  gst_video_frame_unmap (&self->small);
  gst_video_converter_free (self->converter);
  g_free (self);
}
