/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places in pictures: what samples them, and what chooses among boxes. */
#include <math.h>

#include "models/lower/ops.h"

/* Modes have other names before opset 20, when volumes came. */
void
lower_grid_sample (Lower *o)
{
  static const char *const old_modes[] = { "bilinear", "nearest", "bicubic", NULL },
                           *const modes[] = { "linear", "nearest", "cubic", NULL };
  static const char *const borders[] = { "zeros", "border", "reflection", NULL };
  static const SlSampleMode sample[] = { SL_SAMPLE_LINEAR, SL_SAMPLE_NEAREST, SL_SAMPLE_CUBIC };
  static const SlBorder outside[] = { SL_BORDER_ZERO, SL_BORDER_EDGE, SL_BORDER_MIRROR };
  const gboolean old = o->opset < 20 || o->node->domain[0] != '\0';
  LowerValue *x = lower_required (o, 0), *grid = lower_required (o, 1);
  const SlOpParams params = {
    .grid_sample = { .mode = sample[lower_attr_choice (o, "mode", old ? old_modes : modes)],
                     .border = outside[lower_attr_choice (o, "padding_mode", borders)],
                     .align_corners = lower_attr_int (o, "align_corners", 0) != 0 }
  };
  if (o->error != NULL)
    return;
  if (x->rank < 4 || x->rank > 5 || grid->rank != x->rank
      || grid->dims[x->rank - 1] != (gint32) x->rank - 2 || grid->dims[0] != x->dims[0]) {
    lower_fail (
      o, SL_ERROR_SHAPE,
      "its input has %u dimensions, its grid %u; expected [N,C,H,W] and [N,rows,columns,2], or "
      "[N,C,D,H,W] and [N,planes,rows,columns,3]",
      x->rank, grid->rank);
    return;
  }
  const gint32 inputs[2] = { lower_last (o, x), lower_plain (o, grid) };
  lower_set (o, 0, lower_emit (o, SL_OP_GRID_SAMPLE, inputs, 2, &params, SL_DTYPE_F32), TRUE);
}

/* -1 .. 1 along one dimension of the result: where pixels lie, in @rank dimensions of which it is
 * dimension @axis. */
static gint32
pixel_places (Lower *o, gint32 size, gboolean align, guint axis, guint rank)
{
  gint32 dims[SL_MAX_RANK];
  const gfloat step = align ? (size > 1 ? 2.0f / (gfloat) (size - 1) : 0) : 2.0f / (gfloat) size;
  const gint32 whole = lower_cast (o, lower_count (o, 0, size), SL_DTYPE_F32);
  const gint32 places =
    lower_binary (o, SL_OP_ADD, lower_binary (o, SL_OP_MUL, whole, lower_float (o, step)),
                  lower_float (o, align ? (size > 1 ? -1 : 0) : step / 2 - 1));
  for (guint i = 0; i < rank; i++)
    dims[i] = i == axis ? size : 1;
  return lower_reshape (o, places, dims, rank);
}

/* Each pixel's place, of two or three coordinates, through its batch's matrix: the grid of
 * GridSample. */
static void
lower_affine_grid (Lower *o)
{
  LowerValue *theta = lower_required (o, 0);
  const gboolean align = lower_attr_int (o, "align_corners", 0) != 0;
  gint32 size[5] = { 0 }, columns[4];
  guint n = 0;
  lower_required (o, 1);
  lower_input_ints (o, 1, "size", size, 5, &n);
  const gint32 matrix = lower_plain (o, theta);
  const guint k = n - 2;
  if (o->error != NULL)
    return;
  if ((n != 4 && n != 5) || theta->rank != 3 || theta->dims[0] != size[0]
      || theta->dims[1] != (gint32) k || theta->dims[2] != (gint32) k + 1) {
    lower_fail (
      o, SL_ERROR_SHAPE,
      "a matrix of %u dimensions and a size of %u; expected [N,2,3] and [N,C,H,W], or [N,3,4] and "
      "[N,C,D,H,W]",
      theta->rank, n);
    return;
  }
  for (guint i = 0; i < n; i++)
    if (lower_fail_if (o, size[i] < 1, SL_ERROR_SHAPE, "dimension %u of the size is %d", i,
                       size[i]))
      return;
  /* Coordinate c of the result is theta[c][0] x + theta[c][1] y (+ theta[c][2] z) + theta[c][k]; x
   * counts along the last dimension. */
  const gint32 apart[6] = { size[0], 1, 1, (gint32) k, 1, 1 },
               apart3[6] = { size[0], 1, 1, 1, (gint32) k, 1 };
  const guint rank = n;
  gint32 sum = -1;
  for (guint i = 0; i <= k; i++) {
    columns[i] = lower_reshape (o, lower_cut (o, matrix, 2, (gint32) i, (gint32) i + 1),
                                k == 2 ? apart : apart3, rank);
    const guint axis = k - i; /* of the result: dimension 0 is the batch */
    const gint32 term = i == k
                          ? columns[i]
                          : lower_binary (o, SL_OP_MUL, columns[i],
                                          pixel_places (o, size[2 + k - 1 - i], align, axis, rank));
    sum = sum < 0 ? term : lower_binary (o, SL_OP_ADD, sum, term);
  }
  lower_set (o, 0, sum, FALSE);
}

static gint32
small (Lower *o, const char *name, gint64 fallback, gint64 least)
{
  const gint64 value = lower_attr_int (o, name, fallback);
  if (value < least || value > G_MAXINT16)
    lower_fail (o, SL_ERROR_FORMAT,
                "attribute %s is %" G_GINT64_FORMAT "; expected %" G_GINT64_FORMAT " to %d", name,
                value, least, G_MAXINT16);
  return (gint32) CLAMP (value, least, G_MAXINT16);
}

/* Before opset 16 places were whole pixels' middles. */
static void
lower_roi_align (Lower *o)
{
  static const char *const modes[] = { "avg", "max", NULL };
  static const char *const coordinates[] = { "half_pixel", "output_half_pixel", NULL };
  LowerValue *x = lower_required (o, 0);
  const gboolean whole = lower_attr_choice (o, "coordinate_transformation_mode", coordinates) == 1;
  const SlOpParams params = { .roi_align = { .height = small (o, "output_height", 1, 1),
                                             .width = small (o, "output_width", 1, 1),
                                             .samples = small (o, "sampling_ratio", 0, 0),
                                             .scale = lower_attr_float (o, "spatial_scale", 1),
                                             .half_pixel = o->opset >= 16 && !whole,
                                             .top = lower_attr_choice (o, "mode", modes) == 1 } };
  if (o->error == NULL && x->rank != 4)
    lower_fail (o, SL_ERROR_SHAPE, "its input has %u dimensions; expected 4", x->rank);
  const gint32 inputs[3] = { lower_last (o, x), lower_plain (o, lower_required (o, 1)),
                             lower_plain (o, lower_required (o, 2)) };
  lower_set (o, 0, lower_emit (o, SL_OP_ROI_ALIGN, inputs, 3, &params, SL_DTYPE_F32), TRUE);
}

static void
lower_max_roi_pool (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 size[2] = { 0 };
  guint n = 0;
  lower_attr_ints (o, "pooled_shape", size, 2, &n);
  if (o->error == NULL
      && (n != 2 || size[0] < 1 || size[1] < 1 || size[0] > G_MAXINT16 || size[1] > G_MAXINT16))
    lower_fail (o, SL_ERROR_FORMAT,
                "attribute pooled_shape has %u numbers, %d and %d; expected two, 1 to %d", n,
                size[0], size[1], G_MAXINT16);
  if (o->error == NULL && x->rank != 4)
    lower_fail (o, SL_ERROR_SHAPE, "its input has %u dimensions; expected 4", x->rank);
  const SlOpParams params = { .roi_align = { .height = size[0],
                                             .width = size[1],
                                             .scale = lower_attr_float (o, "spatial_scale", 1) } };
  const gint32 inputs[2] = { lower_last (o, x), lower_plain (o, lower_required (o, 1)) };
  lower_set (o, 0, lower_emit (o, SL_OP_ROI_POOL, inputs, 2, &params, SL_DTYPE_F32), TRUE);
}

LowerValue *
lower_heat_map_peaks (Lower *o, LowerValue *maps, LowerValue *regions)
{
  const gint32 inputs[2] = { lower_last (o, maps), lower_plain (o, regions) };
  return lower_value_new (o, lower_emit (o, SL_OP_HEAT_MAP_PEAKS, inputs, 2, NULL, SL_DTYPE_F32),
                          FALSE);
}

/* The number of results depends on the picture: there is a row for each that can be, and those
 * behind the last are -1. */
static void
lower_non_max_suppression (Lower *o)
{
  const gint32 inputs[2] = { lower_plain (o, lower_required (o, 0)),
                             lower_plain (o, lower_required (o, 1)) };
  SlOpParams params = { .nms = { .score_limit = -INFINITY,
                                 .centers = lower_attr_int (o, "center_point_box", 0) != 0 } };
  guint n = 0;
  lower_input_ints (o, 2, "largest number of boxes", &params.nms.most, 1, &n);
  lower_input_floats (o, 3, "overlap", &params.nms.iou_limit, 1, &n);
  lower_input_floats (o, 4, "score", &params.nms.score_limit, 1, &n);
  if (o->error == NULL && params.nms.most < 1)
    lower_set_value (o, 0, lower_value_empty (o, 2, (const gint32[]){ 0, 3 }));
  else
    lower_set (o, 0,
               lower_emit (o, SL_OP_NON_MAX_SUPPRESSION_BATCH, inputs, 2, &params, SL_DTYPE_I32),
               FALSE);
}

const LowerOp lower_ops_region[] = {
  { LOWER_ROW (AffineGrid, lower_affine_grid), 0 },
  { LOWER_ROW (GridSample, lower_grid_sample), 0 },
  { LOWER_ROW (MaxRoiPool, lower_max_roi_pool), 0 },
  { LOWER_ROW (NonMaxSuppression, lower_non_max_suppression), 0 },
  { LOWER_ROW (RoiAlign, lower_roi_align), 0 },
  { NULL },
};
