/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a decoder's picture copied into pooled frames. */
#include "plugins/video/decoded_picture.h"

#include <string.h>

#include "plugins/video/frame.h"

void
sl_decoded_picture_take (SlDecodedPicture *decoded, const SlPicture *picture,
                         const GstCaps *tensors)
{
  gint fps_n = 0, fps_d = 1;
  decoded->last = *picture;
  if (picture->width == 0 || decoded->caps != NULL)
    return;
  gst_structure_get_fraction (gst_caps_get_structure (tensors, 0), "framerate", &fps_n, &fps_d);
  decoded->caps = gst_caps_new_simple (
    "video/x-raw", "format", G_TYPE_STRING, picture->channels == 1 ? "GRAY8" : "RGB", "width",
    G_TYPE_INT, (gint) picture->width, "height", G_TYPE_INT, (gint) picture->height, "framerate",
    GST_TYPE_FRACTION, fps_n, fps_d, NULL);
  gst_video_info_from_caps (&decoded->info, decoded->caps);
}

GstBuffer *
sl_decoded_picture_copy (SlDecodedPicture *decoded)
{
  const SlPicture *picture = &decoded->last;
  const guint bytes = picture->width * picture->channels;
  GstVideoFrame frame;
  GstBuffer *out = sl_byte_pool_get (&decoded->pool, GST_VIDEO_INFO_SIZE (&decoded->info));
  if (sl_video_frame_map (&frame, &decoded->info, out, GST_MAP_WRITE, NULL)) {
    for (guint y = 0; y < picture->height; y++)
      memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0)
                + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
              picture->pixels + (gsize) y * bytes, bytes);
    gst_video_frame_unmap (&frame);
  }
  return out;
}

void
sl_decoded_picture_clear (SlDecodedPicture *decoded)
{
  gst_clear_caps (&decoded->caps);
  sl_byte_pool_clear (&decoded->pool);
}
