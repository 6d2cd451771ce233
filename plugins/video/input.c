/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of pixel formats, and the reading of colorimetry. */
#include "plugins/video/input.h"

#include "core/base/fail.h"
#include "plugins/video/dmabuf.h"
#include "plugins/video/caps.h"
#include "plugins/video/frame.h"

#include <string.h>

static const struct
{
  GstVideoFormat video;
  SlPixelFormat pixel;
} formats[] = {
  { GST_VIDEO_FORMAT_NV12, SL_PIXEL_NV12 },      { GST_VIDEO_FORMAT_NV21, SL_PIXEL_NV21 },
  { GST_VIDEO_FORMAT_I420, SL_PIXEL_I420 },      { GST_VIDEO_FORMAT_YV12, SL_PIXEL_YV12 },
  { GST_VIDEO_FORMAT_YUY2, SL_PIXEL_YUY2 },      { GST_VIDEO_FORMAT_UYVY, SL_PIXEL_UYVY },
  { GST_VIDEO_FORMAT_Y42B, SL_PIXEL_Y42B },      { GST_VIDEO_FORMAT_Y444, SL_PIXEL_Y444 },
  { GST_VIDEO_FORMAT_P010_10LE, SL_PIXEL_P010 }, { GST_VIDEO_FORMAT_I420_10LE, SL_PIXEL_I420_10 },
  { GST_VIDEO_FORMAT_RGBP, SL_PIXEL_RGBP },      { GST_VIDEO_FORMAT_GRAY8, SL_PIXEL_GRAY8 },
  { GST_VIDEO_FORMAT_RGB, SL_PIXEL_RGB },        { GST_VIDEO_FORMAT_BGR, SL_PIXEL_BGR },
  { GST_VIDEO_FORMAT_RGBx, SL_PIXEL_RGBX },      { GST_VIDEO_FORMAT_RGBA, SL_PIXEL_RGBX },
  { GST_VIDEO_FORMAT_BGRx, SL_PIXEL_BGRX },      { GST_VIDEO_FORMAT_BGRA, SL_PIXEL_BGRX },
  { GST_VIDEO_FORMAT_xRGB, SL_PIXEL_XRGB },      { GST_VIDEO_FORMAT_ARGB, SL_PIXEL_XRGB },
  { GST_VIDEO_FORMAT_xBGR, SL_PIXEL_XBGR },      { GST_VIDEO_FORMAT_ABGR, SL_PIXEL_XBGR },
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
      return sl_matrix_of_height (GST_VIDEO_INFO_HEIGHT (video));
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

GstCaps *
sl_video_input_complete (GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const char *text = gst_structure_get_string (structure, "colorimetry"),
             *format = gst_structure_get_string (structure, "format");
  const GstVideoFormat video =
    format != NULL ? gst_video_format_from_string (format) : GST_VIDEO_FORMAT_UNKNOWN;
  GstVideoColorimetry colours;
  gint height;
  if (text == NULL || video == GST_VIDEO_FORMAT_UNKNOWN
      || !GST_VIDEO_FORMAT_INFO_IS_YUV (gst_video_format_get_info (video))
      || !gst_structure_get_int (structure, "height", &height)
      || !gst_video_colorimetry_from_string (&colours, text))
    return gst_caps_ref (caps);
  if (colours.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN
      || colours.matrix == GST_VIDEO_COLOR_MATRIX_RGB)
    colours.matrix = sl_matrix_of_height (height) == SL_MATRIX_BT709 ? GST_VIDEO_COLOR_MATRIX_BT709
                                                                     : GST_VIDEO_COLOR_MATRIX_BT601;
  if (colours.range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
    colours.range = GST_VIDEO_COLOR_RANGE_16_235;
  g_autofree char *complete = gst_video_colorimetry_to_string (&colours);
  GstCaps *copy = gst_caps_copy (caps);
  gst_caps_set_simple (copy, "colorimetry", G_TYPE_STRING, complete, NULL);
  return copy;
}

gboolean
sl_video_input_read (GstCaps *caps, const char *element, const char *taken, GstVideoInfo *video,
                     SlImageInfo *image, GError **error)
{
  memset (image, 0, sizeof *image);
  if (!sl_dmabuf_check (caps, element, error))
    return FALSE;
  g_autoptr (GstCaps) plain = sl_dmabuf_plain (caps);
  g_autoptr (GstCaps) complete = gst_caps_is_empty (plain) ? NULL : sl_video_input_complete (plain);
  if (complete == NULL || !gst_video_info_from_caps (video, complete)) {
    g_autofree char *text = gst_caps_to_string (caps);
    return sl_fail (error, SL_ERROR_SHAPE,
                    "frame caps: expected video/x-raw with format, width and height, got %s", text);
  }
  if (!find_format (GST_VIDEO_INFO_FORMAT (video), taken, &image->format)) {
    sl_video_caps_refuse_format (gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (video)), taken,
                                 element, error);
    return FALSE;
  }
  if (GST_VIDEO_INFO_IS_INTERLACED (video))
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "interlaced video (interlace-mode=%s) is not supported; expected progressive: put "
      "deinterlace before %s",
      gst_video_interlace_mode_to_string (GST_VIDEO_INFO_INTERLACE_MODE (video)), element);
  image->width = GST_VIDEO_INFO_WIDTH (video);
  image->height = GST_VIDEO_INFO_HEIGHT (video);
  image->matrix = find_matrix (video);
  image->full_range = video->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  find_sites (video, image);
  return TRUE;
}

GstCaps *
sl_video_input_narrow (GstBaseTransform *base, GstCaps *caps, GstCaps *filter, const char *taken)
{
  g_autofree char *text = g_strconcat ("video/x-raw,format=", taken, NULL);
  g_autoptr (GstCaps) offered = gst_caps_from_string (text);
  if (sl_dmabuf_is_wanted (filter))
    offered = sl_dmabuf_offer (offered);
  GstCaps *narrow = gst_caps_intersect_full (caps, offered, GST_CAPS_INTERSECT_FIRST);
  if (gst_caps_is_empty (narrow) || !sl_video_caps_has_choice (base->sinkpad, offered)) {
    gst_caps_unref (narrow);
    return caps;
  }
  gst_caps_unref (caps);
  return narrow;
}

gboolean
sl_video_input_map (GstVideoFrame *frame, SlImage *image, const GstVideoInfo *video,
                    GstBuffer *buffer, GError **error)
{
  if (!sl_video_frame_map (frame, video, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF,
                           error))
    return FALSE;
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (video); p++) {
    image->plane[p] = GST_VIDEO_FRAME_PLANE_DATA (frame, p);
    image->stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
  }
  return TRUE;
}
