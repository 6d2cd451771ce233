/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keypoints to and from GstStructure. What is read may be anyone's: counts, types and numbers are
 * checked.
 */
#include "plugins/meta/regions/keypoints.h"

#include <math.h>
#include <string.h>

#define NAME "keypoints"
#define PRECISION_F32 10

static void
append_value (GValue *array, GType type, gconstpointer value)
{
  GValue item = G_VALUE_INIT;
  g_value_init (&item, type);
  if (type == G_TYPE_STRING)
    g_value_set_static_string (&item, value);
  else if (type == G_TYPE_FLOAT)
    g_value_set_float (&item, *(const gfloat *) value);
  else
    g_value_set_uint (&item, *(const guint *) value);
  gst_value_array_append_and_take_value (array, &item);
}

static void
take_array (GstStructure *structure, const char *field, GValue *array)
{
  gst_structure_take_value (structure, field, array);
}

static void
add_numbers (GstStructure *structure, const SlObjectView *object)
{
  const guint dims[2] = { object->n_points, 2 };
  const double w = object->x_max - object->x_min, h = object->y_max - object->y_min;
  gfloat pairs[2 * SL_MAX_KEYPOINTS];
  GValue sizes = G_VALUE_INIT, confidence = G_VALUE_INIT;
  g_value_init (&sizes, GST_TYPE_ARRAY);
  g_value_init (&confidence, GST_TYPE_ARRAY);
  for (guint i = 0; i < 2; i++)
    append_value (&sizes, G_TYPE_UINT, &dims[i]);
  for (guint i = 0; i < object->n_points; i++) {
    const SlPoint *point = &object->points[i];
    const gfloat sure = (gfloat) point->confidence;
    pairs[2 * i] = w > 0 ? (gfloat) ((point->x - object->x_min) / w) : 0;
    pairs[2 * i + 1] = h > 0 ? (gfloat) ((point->y - object->y_min) / h) : 0;
    append_value (&confidence, G_TYPE_FLOAT, &sure);
  }
  GVariant *data =
    g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, pairs, object->n_points * 2 * sizeof *pairs, 1);
  gst_structure_set (structure, "format", G_TYPE_STRING, "keypoints", "precision", G_TYPE_INT,
                     PRECISION_F32, "data_buffer", G_TYPE_VARIANT, data, NULL);
  take_array (structure, "dims", &sizes);
  take_array (structure, "confidence", &confidence);
}

void
sl_region_add_points (GstVideoRegionOfInterestMeta *region, const SlObjectView *object,
                      const SlSkeleton *common)
{
  const SlSkeleton *skeleton = sl_object_skeleton (object, common);
  if (object->n_points == 0 || object->n_points > SL_MAX_KEYPOINTS)
    return;
  GstStructure *structure = gst_structure_new_empty (NAME);
  add_numbers (structure, object);
  if (skeleton != NULL) {
    GValue names = G_VALUE_INIT, bones = G_VALUE_INIT;
    g_value_init (&names, GST_TYPE_ARRAY);
    g_value_init (&bones, GST_TYPE_ARRAY);
    for (guint i = 0; i < skeleton->n_points; i++)
      append_value (&names, G_TYPE_STRING, skeleton->names[i]);
    for (guint i = 0; i < skeleton->n_bones; i++) {
      append_value (&bones, G_TYPE_STRING, skeleton->names[skeleton->bones[i][0]]);
      append_value (&bones, G_TYPE_STRING, skeleton->names[skeleton->bones[i][1]]);
    }
    take_array (structure, "point_names", &names);
    take_array (structure, "point_connections", &bones);
  }
  gst_video_region_of_interest_meta_add_param (region, structure);
}

/* The array @field, NULL when there is none. */
static const GValue *
get_array (const GstStructure *structure, const char *field)
{
  const GValue *value = gst_structure_get_value (structure, field);
  return value != NULL && GST_VALUE_HOLDS_ARRAY (value) ? value : NULL;
}

static const char *
string_at (const GValue *array, guint i)
{
  const GValue *value = gst_value_array_get_value (array, i);
  const char *text = G_VALUE_HOLDS_STRING (value) ? g_value_get_string (value) : NULL;
  return text != NULL ? text : "";
}

static gint
find_name (const SlReadSkeleton *skeleton, const char *name)
{
  for (guint i = 0; i < skeleton->skeleton.n_points; i++)
    if (strcmp (skeleton->names[i], name) == 0)
      return (gint) i;
  return -1;
}

static void
read_skeleton (const GstStructure *structure, guint n_points, SlReadSkeleton *out)
{
  const GValue *names = get_array (structure, "point_names"),
               *bones = get_array (structure, "point_connections");
  out->skeleton.n_points = 0;
  if (names == NULL || gst_value_array_get_size (names) != n_points)
    return;
  for (guint i = 0; i < n_points; i++)
    out->names[i] = g_intern_string (string_at (names, i));
  out->skeleton = (SlSkeleton){ n_points, 0, out->names, (const guint8 (*)[2]) out->bones };
  const guint n = bones != NULL ? gst_value_array_get_size (bones) / 2 : 0;
  for (guint i = 0; i < n && out->skeleton.n_bones < G_N_ELEMENTS (out->bones); i++) {
    const gint a = find_name (out, string_at (bones, 2 * i)),
               b = find_name (out, string_at (bones, 2 * i + 1));
    if (a < 0 || b < 0 || a > G_MAXUINT8 || b > G_MAXUINT8)
      continue;
    out->bones[out->skeleton.n_bones][0] = (guint8) a;
    out->bones[out->skeleton.n_bones++][1] = (guint8) b;
  }
}

static double
read_confidence (const GValue *array, guint i)
{
  const GValue *value = array != NULL && i < gst_value_array_get_size (array)
                          ? gst_value_array_get_value (array, i)
                          : NULL;
  const double sure = value != NULL && G_VALUE_HOLDS_FLOAT (value)
                        ? (double) g_value_get_float (value)
                      : value != NULL && G_VALUE_HOLDS_DOUBLE (value) ? g_value_get_double (value)
                                                                      : 1;
  return sure >= 0 && sure <= 1 ? sure : 0;
}

guint
sl_region_read_points (GstVideoRegionOfInterestMeta *region, const SlObjectView *object,
                       GArray *points, SlReadSkeleton *skeleton)
{
  const GstStructure *structure = gst_video_region_of_interest_meta_get_param (region, NAME);
  const GValue *value =
    structure != NULL ? gst_structure_get_value (structure, "data_buffer") : NULL;
  GVariant *data =
    value != NULL && G_VALUE_HOLDS_VARIANT (value) ? g_value_get_variant (value) : NULL;
  gsize bytes = 0;
  if (data == NULL || !g_variant_is_of_type (data, G_VARIANT_TYPE_BYTESTRING))
    return 0;
  const guint8 *pairs = g_variant_get_fixed_array (data, &bytes, 1);
  const guint n = (guint) MIN (bytes / (2 * sizeof (gfloat)), SL_MAX_KEYPOINTS + 1);
  if (n == 0 || n > SL_MAX_KEYPOINTS)
    return 0;
  const GValue *confidence = get_array (structure, "confidence");
  for (guint i = 0; i < n; i++) {
    gfloat pair[2];
    memcpy (pair, pairs + i * sizeof pair, sizeof pair);
    const gboolean good = isfinite (pair[0]) && isfinite (pair[1]);
    const SlPoint point = { good ? object->x_min + pair[0] * (object->x_max - object->x_min) : 0,
                            good ? object->y_min + pair[1] * (object->y_max - object->y_min) : 0,
                            good ? read_confidence (confidence, i) : 0 };
    g_array_append_val (points, point);
  }
  read_skeleton (structure, n, skeleton);
  return n;
}
