/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One table says which directions there are. slnormalize and slresize take these and refuse
 * "custom", which names no turn. */
#include "plugins/video/part.h"

#include <stdio.h>

#include "core/base/fail.h"

static const struct
{
  GstVideoOrientationMethod direction;
  SlOrientation orientation;
  const char *word; /* of the property */
} turns[] = {
  { GST_VIDEO_ORIENTATION_IDENTITY, SL_ORIENTATION_IDENTITY, "identity" },
  { GST_VIDEO_ORIENTATION_90R, SL_ORIENTATION_90R, "90r" },
  { GST_VIDEO_ORIENTATION_180, SL_ORIENTATION_180, "180" },
  { GST_VIDEO_ORIENTATION_90L, SL_ORIENTATION_90L, "90l" },
  { GST_VIDEO_ORIENTATION_HORIZ, SL_ORIENTATION_HORIZ, "horiz" },
  { GST_VIDEO_ORIENTATION_VERT, SL_ORIENTATION_VERT, "vert" },
  { GST_VIDEO_ORIENTATION_UL_LR, SL_ORIENTATION_UL_LR, "ul-lr" },
  { GST_VIDEO_ORIENTATION_UR_LL, SL_ORIENTATION_UR_LL, "ur-ll" },
};

gboolean
sl_video_part_crop (const SlRect *wanted, gint width, gint height, const char *advice, SlRect *part,
                    GError **error)
{
  const gint part_width = wanted->width > 0 ? wanted->width : width - wanted->x;
  const gint part_height = wanted->height > 0 ? wanted->height : height - wanted->y;
  if (wanted->x < width && wanted->y < height && part_width <= width - wanted->x
      && part_height <= height - wanted->y) {
    *part = (SlRect){ wanted->x, wanted->y, part_width, part_height };
    return TRUE;
  }
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "crop-x=%d crop-y=%d crop-width=%d crop-height=%d is not inside the frame of %dx%d: expected a "
    "part of it (a size of 0 is all the rest)%s",
    wanted->x, wanted->y, wanted->width, wanted->height, width, height, advice);
}

void
sl_video_part_set (GstElement *element, const SlRect *part)
{
  g_object_set (element, "crop-x", part->x, "crop-y", part->y, "crop-width", part->width,
                "crop-height", part->height, NULL);
}

SlOrientation
sl_video_part_orientation (gint direction, GstVideoOrientationMethod tagged)
{
  const gint method = direction == GST_VIDEO_ORIENTATION_AUTO ? (gint) tagged : direction;
  for (guint i = 0; i < G_N_ELEMENTS (turns); i++)
    if ((gint) turns[i].direction == method)
      return turns[i].orientation;
  return SL_ORIENTATION_IDENTITY;
}

gboolean
sl_video_part_check_direction (gint direction, GError **error)
{
  if (direction != GST_VIDEO_ORIENTATION_CUSTOM)
    return TRUE;
  g_autoptr (GString) words = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (turns); i++)
    g_string_append_printf (words, "%s%s", i + 1 < G_N_ELEMENTS (turns) ? ", " : " or ",
                            turns[i].word);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "video-direction=custom is not supported; expected auto%s", words->str);
}

gboolean
sl_video_part_parse_region (const char *text, SlRect *part, gboolean *objects, GError **error)
{
  int end = 0;
  *part = (SlRect){ 0 };
  *objects = g_strcmp0 (text, "roi-list") == 0;
  if (text == NULL || *text == '\0' || *objects || g_str_equal (text, "full-frame"))
    return TRUE;
  if (sscanf (text, "%5d,%5d,%5d,%5d%n", &part->x, &part->y, &part->width, &part->height, &end) == 4
      && text[end] == '\0' && part->x >= 0 && part->y >= 0 && part->width > 0 && part->height > 0
      && MAX (part->x, part->y) < SL_MAX_SIDE && MAX (part->width, part->height) <= SL_MAX_SIDE)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "inference-region=%s: expected full-frame, roi-list (each object found upstream), or "
    "X,Y,WIDTH,HEIGHT in pixels of the frame, such as inference-region=0,120,640,360",
    text);
}
