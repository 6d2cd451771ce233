/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of pixel formats, the reading of colorimetry, and the checked mapping of frames.
 */
#include "plugins/videoinput.h"

#include "core/error.h"

#include <string.h>

static const struct
{
  GstVideoFormat video;
  SlPixelFormat pixel;
} formats[] = {
  { GST_VIDEO_FORMAT_NV12, SL_PIXEL_NV12 },         { GST_VIDEO_FORMAT_NV21, SL_PIXEL_NV21 }, { GST_VIDEO_FORMAT_I420, SL_PIXEL_I420 },
  { GST_VIDEO_FORMAT_YV12, SL_PIXEL_YV12 },         { GST_VIDEO_FORMAT_YUY2, SL_PIXEL_YUY2 }, { GST_VIDEO_FORMAT_UYVY, SL_PIXEL_UYVY },
  { GST_VIDEO_FORMAT_Y42B, SL_PIXEL_Y42B },         { GST_VIDEO_FORMAT_Y444, SL_PIXEL_Y444 }, { GST_VIDEO_FORMAT_P010_10LE, SL_PIXEL_P010 },
  { GST_VIDEO_FORMAT_I420_10LE, SL_PIXEL_I420_10 }, { GST_VIDEO_FORMAT_RGBP, SL_PIXEL_RGBP }, { GST_VIDEO_FORMAT_GRAY8, SL_PIXEL_GRAY8 },
  { GST_VIDEO_FORMAT_RGB, SL_PIXEL_RGB },           { GST_VIDEO_FORMAT_BGR, SL_PIXEL_BGR },   { GST_VIDEO_FORMAT_RGBx, SL_PIXEL_RGBX },
  { GST_VIDEO_FORMAT_RGBA, SL_PIXEL_RGBX },         { GST_VIDEO_FORMAT_BGRx, SL_PIXEL_BGRX }, { GST_VIDEO_FORMAT_BGRA, SL_PIXEL_BGRX },
  { GST_VIDEO_FORMAT_xRGB, SL_PIXEL_XRGB },         { GST_VIDEO_FORMAT_ARGB, SL_PIXEL_XRGB }, { GST_VIDEO_FORMAT_xBGR, SL_PIXEL_XBGR },
  { GST_VIDEO_FORMAT_ABGR, SL_PIXEL_XBGR },
};

/* @taken: the formats that the element takes. */
static gboolean
find_format (GstVideoFormat video, const char *taken, SlPixelFormat *pixel)
{
  g_auto (GStrv) names = g_strsplit_set (taken, "{}, ", -1);
  if (!g_strv_contains ((const char *const *) names, gst_video_format_to_string (video)))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    if (formats[i].video == video) {
      *pixel = formats[i].pixel;
      return TRUE;
    }
  }
  return FALSE;
}

/* A matrix that the caps leave open follows the convention of players: BT.601 up to standard definition. */
static SlMatrix
find_matrix (const GstVideoInfo *video)
{
  switch (video->colorimetry.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      return SL_MATRIX_BT2020;
    case GST_VIDEO_COLOR_MATRIX_BT709:
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:
      return SL_MATRIX_BT709;
    case GST_VIDEO_COLOR_MATRIX_BT601:
    case GST_VIDEO_COLOR_MATRIX_FCC:
      return SL_MATRIX_BT601;
    default:
      return GST_VIDEO_INFO_HEIGHT (video) <= 576 ? SL_MATRIX_BT601 : SL_MATRIX_BT709;
  }
}

/* Chroma sites that the caps leave open are those of MPEG-2, H.264 and H.265: left. */
static void
find_sites (const GstVideoInfo *video, SlImageInfo *image)
{
  GstVideoChromaSite site = video->chroma_site;
  if (site == GST_VIDEO_CHROMA_SITE_UNKNOWN)
    site = GST_VIDEO_CHROMA_SITE_MPEG2;
  image->site_h = (site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0 ? SL_SITE_COSITED : SL_SITE_CENTRE;
  image->site_v = (site & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0 ? SL_SITE_COSITED : SL_SITE_CENTRE;
}

gboolean
sl_video_input_is_raw (GstCaps *caps)
{
  return gst_caps_get_size (caps) == 1 && gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw")
         && gst_caps_features_is_equal (gst_caps_get_features (caps, 0), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

gboolean
sl_video_input_read (GstCaps *caps, const char *element, const char *taken, GstVideoInfo *video, SlImageInfo *image, GError **error)
{
  memset (image, 0, sizeof *image);
  if (!gst_video_info_from_caps (video, caps)) {
    g_autofree char *text = gst_caps_to_string (caps);
    g_set_error (error, SL_ERROR, SL_ERROR_SHAPE, "frame caps: expected video/x-raw with format, width and height, got %s", text);
    return FALSE;
  }
  if (!find_format (GST_VIDEO_INFO_FORMAT (video), taken, &image->format)) {
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED, "pixel format %s is not supported; expected one of %s: put videoconvert before %s",
                 gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (video)), taken, element);
    return FALSE;
  }
  if (GST_VIDEO_INFO_IS_INTERLACED (video)) {
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
                 "interlaced video (interlace-mode=%s) is not supported; expected progressive: put deinterlace before %s",
                 gst_video_interlace_mode_to_string (GST_VIDEO_INFO_INTERLACE_MODE (video)), element);
    return FALSE;
  }
  image->width = GST_VIDEO_INFO_WIDTH (video);
  image->height = GST_VIDEO_INFO_HEIGHT (video);
  image->matrix = find_matrix (video);
  image->full_range = video->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  find_sites (video, image);
  return TRUE;
}

static gboolean
meta_agrees (const GstVideoMeta *meta, const GstVideoInfo *video)
{
  return meta == NULL
         || (meta->format == GST_VIDEO_INFO_FORMAT (video) && meta->n_planes == GST_VIDEO_INFO_N_PLANES (video)
             && meta->width >= (guint) GST_VIDEO_INFO_WIDTH (video) && meta->height >= (guint) GST_VIDEO_INFO_HEIGHT (video));
}

gboolean
sl_video_direction_check (gint direction, GError **error)
{
  if (direction != GST_VIDEO_ORIENTATION_CUSTOM)
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT,
               "video-direction=custom is not supported; expected auto or one of the eight turns and flips");
  return FALSE;
}

gboolean
sl_video_input_map (GstVideoFrame *frame, SlImage *image, const SlImageInfo *info, const GstVideoInfo *video, GstBuffer *buffer)
{
  SlMemory memory[3] = { { NULL, 0 } };
  if (!meta_agrees (gst_buffer_get_video_meta (buffer), video) || gst_buffer_get_size (buffer) == 0
      || !gst_video_frame_map (frame, video, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
    return FALSE;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (video); p++) {
    const GstMapInfo *map = frame->meta != NULL ? &frame->map[p] : &frame->map[0];
    memory[p] = (SlMemory){ map->data, map->size };
    image->plane[p] = GST_VIDEO_FRAME_PLANE_DATA (frame, p);
    image->stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
  }
  if (sl_image_check (info, image, memory) == SL_IMAGE_OK)
    return TRUE;
  gst_video_frame_unmap (frame);
  return FALSE;
}

void
sl_video_input_unmap (GstVideoFrame *frame)
{
  gst_video_frame_unmap (frame);
}

char *
sl_video_input_complaint (const GstVideoInfo *video, GstBuffer *buffer)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  const char *format = gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (video));
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "frame buffer: expected %" G_GSIZE_FORMAT " bytes (%s %dx%d), got %" G_GSIZE_FORMAT,
                          GST_VIDEO_INFO_SIZE (video), format, GST_VIDEO_INFO_WIDTH (video), GST_VIDEO_INFO_HEIGHT (video),
                          gst_buffer_get_size (buffer));
  if (meta != NULL)
    g_string_append_printf (
      text, " with a GstVideoMeta of %s %ux%u, strides %d %d %d, offsets %" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT " %" G_GSIZE_FORMAT,
      gst_video_format_to_string (meta->format), meta->width, meta->height, meta->stride[0], meta->stride[1], meta->stride[2],
      meta->offset[0], meta->offset[1], meta->offset[2]);
  g_string_append (text, "; the element upstream sends something else than its caps say");
  return g_string_free (text, FALSE);
}
