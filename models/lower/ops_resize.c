/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resize and Upsample. Each dimension is resized by a table of which elements make one of the
 * result, with which weights: every mode is such a table. Where the table is that of an operator of
 * the core for pictures, that runs instead.
 */
#include <math.h>
#include <string.h>

#include "core/base/saturate.h"
#include "models/lower/ops.h"

typedef struct
{
  const char *coordinates, *mode, *nearest, *policy;
  gboolean antialias, exclude_outside;
  gfloat cubic_a, extrapolation;
  gfloat scales[SL_MAX_RANK], roi[2 * SL_MAX_RANK];
  gint32 dims[SL_MAX_RANK]; /* of the result */
} Resize;

/** Of one dimension: element @i is the sum of @taps elements at @places[i * taps] by @weights. */
typedef struct
{
  guint taps;
  gint32 *places;
  gfloat *weights;
} Table;

static gboolean
is (const char *a, const char *b)
{
  return strcmp (a, b) == 0;
}

/* Where element @i of the result lies in the input. In single precision, as everybody computes it:
 * ties decide which neighbour is near. */
static gfloat
source (const Resize *r, guint axis, guint rank, gint32 i, gint32 in, gint32 out)
{
  const gfloat scale = r->scales[axis], x = (gfloat) i, size = (gfloat) in;
  if (is (r->coordinates, "asymmetric"))
    return x / scale;
  if (is (r->coordinates, "align_corners"))
    return out == 1 ? 0 : x * (size - 1) / (gfloat) (out - 1);
  if (is (r->coordinates, "pytorch_half_pixel"))
    return out == 1 ? 0 : (x + 0.5f) / scale - 0.5f;
  if (is (r->coordinates, "half_pixel_symmetric")) {
    const gfloat adjustment = (gfloat) out / (scale * size), centre = size / 2;
    return centre * (1 - adjustment) + (x + 0.5f) / scale - 0.5f;
  }
  if (is (r->coordinates, "tf_crop_and_resize")) {
    const gfloat start = r->roi[axis], end = r->roi[rank + axis];
    return out == 1 ? 0.5f * (start + end) * (size - 1)
                    : start * (size - 1) + x * (end - start) * (size - 1) / (gfloat) (out - 1);
  }
  return (x + 0.5f) / scale - 0.5f;
}

static gint32
nearest_place (const Resize *r, gfloat x)
{
  if (is (r->nearest, "floor"))
    return sl_saturate (floorf (x));
  if (is (r->nearest, "ceil"))
    return sl_saturate (ceilf (x));
  return sl_saturate (is (r->nearest, "round_prefer_ceil") ? floorf (x + 0.5f) : ceilf (x - 0.5f));
}

static gdouble
cubic_weight (gdouble a, gdouble x)
{
  x = fabs (x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static gdouble
weight_of (const Resize *r, gdouble x)
{
  if (is (r->mode, "cubic"))
    return cubic_weight ((gdouble) r->cubic_a, x);
  return MAX (1 - fabs (x), 0);
}

/* How far a filter reaches; when it makes smaller and antialias is set, further by as much. */
static gdouble
reach (const Resize *r, guint axis)
{
  const gdouble radius = is (r->mode, "cubic") ? 2 : 1, scale = (gdouble) r->scales[axis];
  return r->antialias && scale < 1 ? radius / scale : radius;
}

static void
fill_row (const Resize *r, const Table *table, guint axis, gint32 i, gdouble x, gint32 in)
{
  const gdouble stretch = r->antialias && r->scales[axis] < 1 ? (gdouble) r->scales[axis] : 1;
  gint32 *places = table->places + (gsize) i * table->taps;
  gfloat *weights = table->weights + (gsize) i * table->taps;
  const gint32 first = sl_saturate (ceil (x - reach (r, axis)));
  gdouble sum = 0;
  for (guint k = 0; k < table->taps; k++) {
    const gint64 place = (gint64) first + k;
    gdouble weight = weight_of (r, ((gdouble) place - x) * stretch);
    if (r->exclude_outside && (place < 0 || place >= in))
      weight = 0;
    places[k] = (gint32) CLAMP (place, 0, in - 1);
    weights[k] = (gfloat) weight;
    sum += weight;
  }
  for (guint k = 0; k < table->taps && sum != 0; k++)
    weights[k] = (gfloat) ((gdouble) weights[k] / sum);
}

static gboolean
fill_table (Lower *o, const Resize *r, Table *table, guint axis, guint rank, gint32 in, gint32 out)
{
  const gboolean nearest = is (r->mode, "nearest");
  const gdouble width = ceil (2 * reach (r, axis)) + 1;
  table->taps = nearest ? 1 : (guint) MIN (width, 1e6);
  if ((gdouble) table->taps * out > (1 << 22))
    return lower_refuse (o, SL_ERROR_LIMIT,
                         "dimension %u: %d elements from %u each are not supported", axis, out,
                         table->taps);
  table->places = g_new0 (gint32, (gsize) out * table->taps);
  table->weights = g_new0 (gfloat, (gsize) out * table->taps);
  for (gint32 i = 0; i < out; i++) {
    const gfloat x = CLAMP (source (r, axis, rank, i, in, out), -1e8f, 1e8f);
    if (nearest) {
      table->places[i] = CLAMP (nearest_place (r, x), 0, in - 1);
      table->weights[i] = 1;
    } else {
      fill_row (r, table, axis, i, (gdouble) x, in);
    }
  }
  return TRUE;
}

static gint32
resample (Lower *o, gint32 x, guint axis, const Table *table, gint32 out)
{
  const gint32 dims[2] = { out, (gint32) table->taps };
  const SlOpParams params = { .axis = { .axis = (gint32) axis } };
  if (table->taps == 1)
    return lower_emit (o, SL_OP_GATHER,
                       (const gint32[]){ x, lower_ints_constant (o, table->places, (guint) out) },
                       2, &params, lower_tensor_type (o, x));
  return lower_emit (o, SL_OP_RESAMPLE,
                     (const gint32[]){ x, lower_constant (o, SL_DTYPE_I32, 2, dims, table->places),
                                       lower_constant (o, SL_DTYPE_F32, 2, dims, table->weights) },
                     3, &params, SL_DTYPE_F32);
}

/* Whether a dimension is resized as the core's nearest neighbour does it: element floor (i * in /
 * out). */
static gboolean
plain_nearest (const Table *table, gint32 in, gint32 out)
{
  for (gint32 i = 0; i < out; i++)
    if (table->places[i] != (gint32) ((gint64) i * in / out))
      return FALSE;
  return TRUE;
}

/* Pictures, by the core's own operators where the arithmetic agrees. */
static gint32
resize_picture (Lower *o, const Resize *r, gint32 x, const Table tables[SL_MAX_RANK])
{
  const SlTensor *t = lower_t (o, x);
  const gint32 in[2] = { t->dims[1], t->dims[2] }, out[2] = { r->dims[2], r->dims[3] };
  SlOpParams params = { 0 };
  SlOpType op = SL_OP_INVALID;
  if (is (r->mode, "nearest")) {
    if (plain_nearest (&tables[2], in[0], out[0]) && plain_nearest (&tables[3], in[1], out[1]))
      op = SL_OP_RESIZE_NEAREST_NEIGHBOR;
  } else if (is (r->mode, "linear") && !r->antialias && !r->exclude_outside) {
    gboolean exact = TRUE;
    for (guint i = 0; i < 2; i++)
      exact &= fabsf (r->scales[2 + i] * (gfloat) in[i] - (gfloat) out[i]) < 1e-4f * (gfloat) out[i]
               && out[i] > 1;
    params.resize.align_corners = is (r->coordinates, "align_corners");
    params.resize.half_pixel_centers =
      is (r->coordinates, "half_pixel") || is (r->coordinates, "pytorch_half_pixel");
    if (params.resize.align_corners
          ? out[0] > 1 && out[1] > 1
          : exact && (params.resize.half_pixel_centers || is (r->coordinates, "asymmetric")))
      op = SL_OP_RESIZE_BILINEAR;
  }
  if (op == SL_OP_INVALID)
    return -1;
  return lower_emit (o, op, (const gint32[]){ x, lower_ints_constant (o, out, 2) }, 2, &params,
                     lower_tensor_type (o, x));
}

/* Elements whose place lies outside the input get the extrapolation value; only tf_crop_and_resize
 * has such. */
static gint32
extrapolate (Lower *o, const Resize *r, gint32 y, guint axis, guint rank, guint at, gint32 in,
             gint32 out)
{
  gint32 dims[SL_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
  g_autofree guint8 *inside = g_new (guint8, (gsize) out);
  gboolean all = TRUE;
  for (gint32 i = 0; i < out; i++) {
    const gfloat x = source (r, axis, rank, i, in, out);
    inside[i] = x >= 0 && x <= (gfloat) (in - 1);
    all &= inside[i] != 0;
  }
  if (all)
    return y;
  dims[at] = out;
  const gint32 mask = lower_constant (o, SL_DTYPE_BOOL, rank, dims, inside);
  return lower_emit (o, SL_OP_SELECT,
                     (const gint32[]){ mask, y, lower_float (o, r->extrapolation) }, 3, NULL,
                     SL_DTYPE_F32);
}

static void
run_resize (Lower *o, LowerValue *x, const Resize *r)
{
  Table tables[SL_MAX_RANK] = { { 0 } };
  gboolean last = FALSE;
  gint32 y = x->rank == 4 && x->dims[0] == r->dims[0] && x->dims[1] == r->dims[1]
               ? lower_last (o, x)
               : lower_any (o, x, &last);
  last |= x->rank == 4 && x->dims[0] == r->dims[0] && x->dims[1] == r->dims[1];
  const gboolean crop = is (r->coordinates, "tf_crop_and_resize");
  for (guint i = 0; i < x->rank && o->error == NULL; i++)
    if (x->dims[i] != r->dims[i] || r->scales[i] != 1 || crop)
      fill_table (o, r, &tables[i], i, x->rank, x->dims[i], r->dims[i]);
  gint32 picture = -1;
  if (o->error == NULL && last && x->rank == 4 && tables[2].places != NULL
      && tables[3].places != NULL && !crop && tables[0].places == NULL && tables[1].places == NULL)
    picture = resize_picture (o, r, y, tables);
  for (guint i = 0; i < x->rank && picture < 0; i++) {
    const guint at = lower_axis (i, x->rank, last);
    if (tables[i].places == NULL)
      continue;
    y = resample (o, y, at, &tables[i], r->dims[i]);
    if (crop)
      y = extrapolate (o, r, y, i, x->rank, at, x->dims[i], r->dims[i]);
  }
  for (guint i = 0; i < SL_MAX_RANK; i++) {
    g_free (tables[i].places);
    g_free (tables[i].weights);
  }
  lower_set (o, 0, picture >= 0 ? picture : y, last);
}

/* Sizes of the result from scales, or scales from sizes; @axes names the dimensions that are given.
 */
static void
settle_size (Lower *o, const LowerValue *x, Resize *r, const gfloat *scales, guint n_scales,
             const gint32 *sizes, guint n_sizes, const gint32 *axes, guint n_axes)
{
  const guint n = n_scales > 0 ? n_scales : n_sizes;
  gfloat common = 0;
  for (guint i = 0; i < x->rank; i++) {
    r->scales[i] = 1;
    r->dims[i] = x->dims[i];
  }
  if (lower_fail_if (o, (n_scales > 0) == (n_sizes > 0) || n != (n_axes > 0 ? n_axes : x->rank),
                     SL_ERROR_SHAPE,
                     "%u scales and %u sizes for %u dimensions; expected one of the two", n_scales,
                     n_sizes, x->rank))
    return;
  for (guint i = 0; i < n && o->error == NULL; i++) {
    const guint axis = n_axes > 0 ? lower_norm_axis (o, axes[i], x->rank) : i;
    const gdouble size =
      n_scales > 0 ? (gdouble) floorf ((gfloat) x->dims[axis] * scales[i]) : sizes[i];
    if (lower_fail_if (o, !(size >= 1) || size > G_MAXINT32, SL_ERROR_SHAPE,
                       "dimension %u of size %d would become %g", axis, x->dims[axis], size))
      return;
    r->dims[axis] = (gint32) size;
    r->scales[axis] = n_scales > 0 ? scales[i] : (gfloat) r->dims[axis] / (gfloat) x->dims[axis];
    const gboolean smaller = is (r->policy, "not_larger");
    if (common == 0 || (smaller ? r->scales[axis] < common : r->scales[axis] > common))
      common = r->scales[axis];
  }
  for (guint i = 0; i < n && o->error == NULL && n_sizes > 0 && !is (r->policy, "stretch"); i++) {
    const guint axis = n_axes > 0 ? lower_norm_axis (o, axes[i], x->rank) : i;
    r->scales[axis] = common;
    r->dims[axis] = MAX (sl_saturate (floor ((gdouble) common * x->dims[axis] + 0.5)), 1);
  }
}

static gboolean
check_modes (Lower *o, const Resize *r)
{
  static const char *const coordinates[] = { "half_pixel",
                                             "half_pixel_symmetric",
                                             "pytorch_half_pixel",
                                             "align_corners",
                                             "tf_crop_and_resize",
                                             "asymmetric",
                                             NULL };
  static const char *const modes[] = { "nearest", "linear", "cubic", NULL };
  static const char *const nearest[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
                                         NULL };
  if (!g_strv_contains (coordinates, r->coordinates))
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "attribute coordinate_transformation_mode is '%s', which is not supported",
                r->coordinates);
  else if (!g_strv_contains (modes, r->mode))
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "attribute mode is '%s'; expected nearest, linear or cubic", r->mode);
  else if (!g_strv_contains (nearest, r->nearest))
    lower_fail (o, SL_ERROR_UNSUPPORTED, "attribute nearest_mode is '%s', which is not supported",
                r->nearest);
  return o->error == NULL;
}

/* Two-stage models with masks end so: each mask is brought to its box's size, which the picture
 * decides. */
static gboolean
follows_from_shapes (Lower *o, guint i, const char *what)
{
  gsize n = 0;
  LowerValue *value = lower_has_input (o, i) ? lower_input (o, i) : NULL;
  if (value == NULL || value->empty || lower_data (o, value, &n) != NULL)
    return o->error == NULL;
  return lower_refuse (
    o, SL_ERROR_UNSUPPORTED,
    "the %s, input %u, are computed from the picture, as those of masks brought to the size of "
    "their boxes are; export the model without that step (of torchvision's Mask R-CNN: without "
    "paste_masks_in_image), and bring masks to size in the application",
    what, i);
}

/* A region's first and last places, of the dimensions that are named: of all, where what is not
 * named stays whole. */
static void
spread_region (Lower *o, Resize *r, guint n, guint rank, const gint32 *axes, guint n_axes)
{
  const guint named = n_axes > 0 ? n_axes : rank;
  gfloat stated[2 * SL_MAX_RANK];
  if (lower_fail_if (o, n != 2 * named, SL_ERROR_UNSUPPORTED,
                     "a region of %u numbers for %u dimensions; expected %u", n, named, 2 * named))
    return;
  memcpy (stated, r->roi, sizeof stated);
  for (guint i = 0; i < 2 * rank; i++)
    r->roi[i] = i < rank ? 0 : 1;
  for (guint i = 0; i < named; i++) {
    const guint axis = n_axes > 0 ? lower_norm_axis (o, axes[i], rank) : i;
    r->roi[axis] = stated[i];
    r->roi[axis + rank] = stated[i + named];
  }
}

static void
lower_resize (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gboolean old = o->opset < 11;
  gfloat scales[SL_MAX_RANK];
  gint32 sizes[SL_MAX_RANK], axes[SL_MAX_RANK];
  guint n_scales = 0, n_sizes = 0, n_axes = 0, n_roi = 0;
  Resize r = { .coordinates =
                 old ? "asymmetric"
                     : lower_attr_text (o, "coordinate_transformation_mode", "half_pixel"),
               .mode = lower_attr_text (o, "mode", "nearest"),
               .nearest = old ? "floor" : lower_attr_text (o, "nearest_mode", "round_prefer_floor"),
               .policy = lower_attr_text (o, "keep_aspect_ratio_policy", "stretch"),
               .antialias = lower_attr_int (o, "antialias", 0) != 0,
               .exclude_outside = lower_attr_int (o, "exclude_outside", 0) != 0,
               .cubic_a = lower_attr_float (o, "cubic_coeff_a", -0.75f),
               .extrapolation = lower_attr_float (o, "extrapolation_value", 0) };
  const LowerAttribute *attribute = old ? lower_attribute (o, "scales") : NULL;
  if (attribute != NULL && attribute->n_floats <= SL_MAX_RANK) {
    n_scales = attribute->n_floats;
    memcpy (scales, attribute->floats, n_scales * sizeof scales[0]);
  } else if (old) {
    lower_input_floats (o, 1, "scales", scales, SL_MAX_RANK, &n_scales);
  } else if (follows_from_shapes (o, 2, "scales") && follows_from_shapes (o, 3, "sizes")) {
    if (is (r.coordinates, "tf_crop_and_resize"))
      lower_input_floats (o, 1, "roi", r.roi, 2 * SL_MAX_RANK, &n_roi);
    lower_input_floats (o, 2, "scales", scales, SL_MAX_RANK, &n_scales);
    lower_input_ints (o, 3, "sizes", sizes, SL_MAX_RANK, &n_sizes);
  }
  lower_attr_ints (o, "axes", axes, SL_MAX_RANK, &n_axes);
  if (is (r.mode, "bilinear"))
    r.mode = "linear";
  if (o->error != NULL || !check_modes (o, &r))
    return;
  if (is (r.coordinates, "tf_crop_and_resize"))
    spread_region (o, &r, n_roi, x->rank, axes, n_axes);
  if (o->error != NULL)
    return;
  if (n_sizes > 0 && n_axes == 0 && sizes[0] == 1
      && (guint) x->dims[0] == sl_graph_batch (o->graph))
    sizes[0] = x->dims[0];
  settle_size (o, x, &r, scales, n_scales, sizes, n_sizes, axes, n_axes);
  if (o->error == NULL)
    run_resize (o, x, &r);
}

const LowerOp lower_ops_resize[] = {
  { LOWER_ROW (Resize, lower_resize), 0 },
  { LOWER_ROW (Upsample, lower_resize), 0 },
  { NULL },
};
