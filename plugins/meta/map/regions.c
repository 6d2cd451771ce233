/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mapping regions of interest. */
#include "plugins/meta/map/regions.h"

#include <math.h>

#include "plugins/meta/regions/object.h"

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

/* How a region's parameters move: its edges before and behind, in pixels of each picture. */
typedef struct
{
  const SlAffine *inverse;
  const GstVideoInfo *from, *to;
  double box[4], mapped[4];
} Move;

/* A point of 0..1 of the region. */
static void
move_point (const Move *move, double x, double y, double *u, double *v)
{
  const double *a = move->box, *b = move->mapped;
  sl_affine_apply (move->inverse, a[0] + x * (a[2] - a[0]), a[1] + y * (a[3] - a[1]), u, v);
  *u = (*u - b[0]) / (b[2] - b[0]);
  *v = (*v - b[1]) / (b[3] - b[1]);
}

/* Keypoints: pairs of float32 */
static void
move_pairs (const Move *move, GstStructure *param)
{
  GVariant *data = NULL;
  gsize n = 0;
  if (!gst_structure_get (param, "data_buffer", G_TYPE_VARIANT, &data, NULL) || data == NULL)
    return;
  if (g_variant_is_of_type (data, G_VARIANT_TYPE_BYTESTRING)) {
    const gchar *bytes = g_variant_get_fixed_array (data, &n, 1);
    g_autofree gfloat *pairs = g_memdup2 (bytes, n);
    for (gsize i = 0; i + 1 < n / sizeof *pairs; i += 2) {
      double u, v;
      move_point (move, (double) pairs[i], (double) pairs[i + 1], &u, &v);
      pairs[i] = (gfloat) u;
      pairs[i + 1] = (gfloat) v;
    }
    gst_structure_set (param, "data_buffer", G_TYPE_VARIANT,
                       g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, pairs, n, 1), NULL);
  }
  g_variant_unref (data);
}

/* What was read: eight doubles */
static void
move_corners (const Move *move, GstStructure *param)
{
  const GValue *array = gst_structure_get_value (param, "corners");
  GValue corners = G_VALUE_INIT;
  if (array == NULL || !GST_VALUE_HOLDS_ARRAY (array) || gst_value_array_get_size (array) != 8)
    return;
  g_value_init (&corners, GST_TYPE_ARRAY);
  for (guint i = 0; i < 8; i += 2) {
    const GValue *pair[2] = { gst_value_array_get_value (array, i),
                              gst_value_array_get_value (array, i + 1) };
    double moved[2] = { 0, 0 };
    if (G_VALUE_HOLDS_DOUBLE (pair[0]) && G_VALUE_HOLDS_DOUBLE (pair[1]))
      move_point (move, g_value_get_double (pair[0]), g_value_get_double (pair[1]), &moved[0],
                  &moved[1]);
    for (guint k = 0; k < 2; k++) {
      GValue number = G_VALUE_INIT;
      g_value_init (&number, G_TYPE_DOUBLE);
      g_value_set_double (&number, moved[k]);
      gst_value_array_append_and_take_value (&corners, &number);
    }
  }
  gst_structure_take_value (param, "corners", &corners);
}

/* Whether all of the region is there, neither turned nor mirrored. */
static gboolean
is_whole (const Move *move)
{
  double all[4];
  sl_affine_box (move->inverse, move->box, all);
  for (guint i = 0; i < 4; i++)
    if (fabs (all[i] - move->mapped[i]) > 0.5)
      return FALSE;
  return move->inverse->xx > 0 && move->inverse->yy > 0 && move->inverse->xy == 0
         && move->inverse->yx == 0;
}

/* (nullable): NULL of a mask whose cells would have to be moved. */
static GstStructure *
map_param (const GstStructure *param, const Move *move)
{
  GstStructure *copy = gst_structure_copy (param);
  const double width = GST_VIDEO_INFO_WIDTH (move->from),
               height = GST_VIDEO_INFO_HEIGHT (move->from);
  const double to_width = GST_VIDEO_INFO_WIDTH (move->to),
               to_height = GST_VIDEO_INFO_HEIGHT (move->to);
  double box[4], mapped[4];
  if (gst_structure_has_name (copy, "mask") && !is_whole (move)) {
    gst_structure_free (copy);
    return NULL;
  }
  if (gst_structure_has_name (copy, "keypoints"))
    move_pairs (move, copy);
  else if (gst_structure_has_name (copy, "code"))
    move_corners (move, copy);
  if (!gst_structure_get (param, "x_min", G_TYPE_DOUBLE, &box[0], "y_min", G_TYPE_DOUBLE, &box[1],
                          "x_max", G_TYPE_DOUBLE, &box[2], "y_max", G_TYPE_DOUBLE, &box[3], NULL))
    return copy;
  const double pixels[4] = { box[0] * width, box[1] * height, box[2] * width, box[3] * height };
  if (map_box (move->inverse, pixels, move->to, mapped))
    gst_structure_set (copy, "x_min", G_TYPE_DOUBLE, mapped[0] / to_width, "x_max", G_TYPE_DOUBLE,
                       mapped[2] / to_width, "y_min", G_TYPE_DOUBLE, mapped[1] / to_height, "y_max",
                       G_TYPE_DOUBLE, mapped[3] / to_height, NULL);
  else
    gst_structure_remove_fields (copy, "x_min", "x_max", "y_min", "y_max", NULL);
  return copy;
}

/* Its edges: those of its detection, where it has one. */
static gboolean
find_move (const GstVideoRegionOfInterestMeta *region, const SlAffine *inverse,
           const GstVideoInfo *from, const GstVideoInfo *to, Move *move)
{
  SlObjectView object;
  *move = (Move){ inverse,
                  from,
                  to,
                  { region->x, region->y, (double) region->x + region->w,
                    (double) region->y + region->h },
                  { 0 } };
  if (sl_region_read_object (region, GST_VIDEO_INFO_WIDTH (from), GST_VIDEO_INFO_HEIGHT (from),
                             &object)) {
    const double edges[4] = { object.x_min, object.y_min, object.x_max, object.y_max };
    for (guint i = 0; i < 4; i++)
      move->box[i] =
        edges[i] * (i % 2 == 0 ? GST_VIDEO_INFO_WIDTH (from) : GST_VIDEO_INFO_HEIGHT (from));
  }
  return map_box (inverse, move->box, to, move->mapped);
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
sl_buffer_add_mapped_region (GstBuffer *out, const GstVideoRegionOfInterestMeta *region,
                             const SlAffine *affine, const GstVideoInfo *from,
                             const GstVideoInfo *to)
{
  SlAffine inverse;
  const double box[4] = { region->x, region->y, (double) region->x + region->w,
                          (double) region->y + region->h };
  SlRect mapped;
  Move move;
  if (!sl_affine_invert (affine, &inverse) || !sl_region_map (affine, box, to, &mapped)
      || !find_move (region, &inverse, from, to, &move))
    return;
  GstVideoRegionOfInterestMeta *copy = gst_buffer_add_video_region_of_interest_meta_id (
    out, region->roi_type, (guint) mapped.x, (guint) mapped.y, (guint) mapped.width,
    (guint) mapped.height);
  copy->id = region->id;
  copy->parent_id = region->parent_id;
  for (GList *l = region->params; l != NULL; l = l->next) {
    GstStructure *param = map_param (l->data, &move);
    if (param != NULL)
      gst_video_region_of_interest_meta_add_param (copy, param);
  }
}

gboolean
sl_meta_api_has_positions (GType api)
{
  static const char *const tags[] = { GST_META_TAG_VIDEO_SIZE_STR,
                                      GST_META_TAG_VIDEO_ORIENTATION_STR, GST_META_TAG_MEMORY_STR };
  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    if (gst_meta_api_type_has_tag (api, g_quark_from_string (tags[i])))
      return TRUE;
  return FALSE;
}
