/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mapping regions of interest.
 */
#include "plugins/meta/mapped_regions.h"

#include <math.h>

/* @box from the frame to the picture, cut off at its edges; FALSE when nothing is left. */
static gboolean
map_box (const SlAffine *inverse, const double box[4], const GstVideoInfo *to, double mapped[4])
{
  sl_affine_box (inverse, box, mapped);
  mapped[0] = MAX (mapped[0], 0);
  mapped[1] = MAX (mapped[1], 0);
  mapped[2] = MIN (mapped[2], GST_VIDEO_INFO_WIDTH (to));
  mapped[3] = MIN (mapped[3], GST_VIDEO_INFO_HEIGHT (to));
  return mapped[0] < mapped[2] && mapped[1] < mapped[3];
}

static GstStructure *
map_param (const GstStructure *param, const SlAffine *inverse, const GstVideoInfo *from, const GstVideoInfo *to)
{
  GstStructure *copy = gst_structure_copy (param);
  const double width = GST_VIDEO_INFO_WIDTH (from), height = GST_VIDEO_INFO_HEIGHT (from);
  double box[4], mapped[4];
  if (!gst_structure_get (param, "x_min", G_TYPE_DOUBLE, &box[0], "y_min", G_TYPE_DOUBLE, &box[1], "x_max", G_TYPE_DOUBLE, &box[2], "y_max",
                          G_TYPE_DOUBLE, &box[3], NULL))
    return copy;
  const double pixels[4] = { box[0] * width, box[1] * height, box[2] * width, box[3] * height };
  if (map_box (inverse, pixels, to, mapped))
    gst_structure_set (copy, "x_min", G_TYPE_DOUBLE, mapped[0] / GST_VIDEO_INFO_WIDTH (to), "x_max", G_TYPE_DOUBLE,
                       mapped[2] / GST_VIDEO_INFO_WIDTH (to), "y_min", G_TYPE_DOUBLE, mapped[1] / GST_VIDEO_INFO_HEIGHT (to), "y_max",
                       G_TYPE_DOUBLE, mapped[3] / GST_VIDEO_INFO_HEIGHT (to), NULL);
  else
    gst_structure_remove_fields (copy, "x_min", "x_max", "y_min", "y_max", NULL);
  return copy;
}

gboolean
sl_region_map (const SlAffine *affine, const double box[4], const GstVideoInfo *to, SlRect *mapped)
{
  SlAffine inverse;
  double corners[4];
  if (!sl_affine_invert (affine, &inverse) || !map_box (&inverse, box, to, corners))
    return FALSE;
  mapped->x = (int) MIN (floor (corners[0] + 0.5), GST_VIDEO_INFO_WIDTH (to) - 1);
  mapped->y = (int) MIN (floor (corners[1] + 0.5), GST_VIDEO_INFO_HEIGHT (to) - 1);
  mapped->width = MAX ((int) floor (corners[2] + 0.5) - mapped->x, 1);
  mapped->height = MAX ((int) floor (corners[3] + 0.5) - mapped->y, 1);
  return TRUE;
}

void
sl_buffer_add_mapped_region (GstBuffer *out, const GstVideoRegionOfInterestMeta *region, const SlAffine *affine, const GstVideoInfo *from,
                             const GstVideoInfo *to)
{
  SlAffine inverse;
  const double box[4] = { region->x, region->y, (double) region->x + region->w, (double) region->y + region->h };
  SlRect mapped;
  if (!sl_affine_invert (affine, &inverse) || !sl_region_map (affine, box, to, &mapped))
    return;
  GstVideoRegionOfInterestMeta *copy = gst_buffer_add_video_region_of_interest_meta_id (
    out, region->roi_type, (guint) mapped.x, (guint) mapped.y, (guint) mapped.width, (guint) mapped.height);
  copy->id = region->id;
  copy->parent_id = region->parent_id;
  for (GList *l = region->params; l != NULL; l = l->next)
    gst_video_region_of_interest_meta_add_param (copy, map_param (l->data, &inverse, from, to));
}

gboolean
sl_meta_api_has_positions (GType api)
{
  static const char *const tags[] = { GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, GST_META_TAG_MEMORY_STR };
  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    if (gst_meta_api_type_has_tag (api, g_quark_from_string (tags[i])))
      return TRUE;
  return FALSE;
}
