/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HEAT_MAP_PEAKS: where heat maps are highest. Maps [n,height,width,points] lie over regions [n,4],
 * x, y, x, y of two corners; each map is resized to whole pixels of its region by cubic
 * interpolation, and the pixel of the highest value is the point: [n,points,3] of x, y and the
 * value. Keypoint R-CNN reads its maps so (K. He et al., "Mask R-CNN", 2017). No enlarged map is
 * kept: parts of a map that cannot be higher than what was found are passed over, and no part is
 * looked at in more than FINEST steps along a dimension, whatever the region is.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

/* The interpolation's parameter, as torch has it, and by how much of their range values between
 * four by four pixels can exceed these: what the negative weights sum up to halfway between pixels.
 */
#define CUBIC (-0.75f)
#define OVERSHOOT 0.4454f
#define FINEST SL_HEAT_MAP_STEPS

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *maps = sl_node_input (graph, node, 0), *regions = sl_node_input (graph, node, 1);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  if (!sl_node_check_dtype (node, "maps", maps, f32, error)
      || !sl_node_check_dtype (node, "regions", regions, f32, error)
      || !sl_node_check_outputs (graph, node, f32, error)
      || !sl_node_check_rank4 (graph, node, 0, error))
    return FALSE;
  if (regions->rank == 2 && regions->dims[1] == 4 && regions->dims[0] == maps->dims[0])
    return TRUE;
  g_autofree char *a = sl_tensor_describe (maps), *b = sl_tensor_describe (regions);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "maps %s over regions %s; expected [n,height,width,points] and [n,4]", a,
                        b);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *maps = sl_node_input (graph, node, 0);
  const gint32 dims[3] = { maps->dims[0], maps->dims[3], 3 };
  return sl_node_set_shape (graph, node, 0, 3, dims, error);
}

/**
 * Axis: a dimension of a map over its region.
 * @size: of the map; @steps: places that are looked at
 * @scale: pixels of the map a step; @start, @length: of the region
 */
typedef struct
{
  gint32 size, steps;
  gfloat scale, start, length;
} Axis;

static void
axis_init (Axis *axis, gint32 size, gfloat low, gfloat high)
{
  const gfloat stated = high - low, length = isfinite (stated) ? MAX (stated, 1) : 1;
  axis->size = size;
  axis->start = low;
  axis->length = length;
  axis->steps = (gint32) MIN (ceilf (length), (gfloat) size * FINEST);
  axis->scale = (gfloat) size / (gfloat) axis->steps;
}

static gfloat
place_of (const Axis *axis, gint32 step)
{
  return axis->scale * ((gfloat) step + 0.5f) - 0.5f;
}

/* The first step at or behind pixel @pixel of the map. */
static gint32
first_step (const Axis *axis, gint32 pixel)
{
  gint32 step =
    (gint32) CLAMP (((gfloat) pixel + 0.5f) / axis->scale - 0.5f, 0, (gfloat) axis->steps);
  while (step > 0 && place_of (axis, step - 1) >= (gfloat) pixel)
    step--;
  while (step < axis->steps && place_of (axis, step) < (gfloat) pixel)
    step++;
  return step;
}

/* Of the four pixels around a place @t behind the second. */
static void
weights_at (gfloat t, gfloat weights[4])
{
  const gfloat far = t + 1, back = 1 - t, behind = 2 - t;
  weights[0] = ((CUBIC * far - 5 * CUBIC) * far + 8 * CUBIC) * far - 4 * CUBIC;
  weights[1] = ((CUBIC + 2) * t - (CUBIC + 3)) * t * t + 1;
  weights[2] = ((CUBIC + 2) * back - (CUBIC + 3)) * back * back + 1;
  weights[3] = ((CUBIC * behind - 5 * CUBIC) * behind + 8 * CUBIC) * behind - 4 * CUBIC;
}

static gfloat
weigh (const gfloat values[4], const gfloat weights[4])
{
  return values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2]
         + values[3] * weights[3];
}

/** One map, whose neighbouring values are @points apart, and the highest place so far. */
typedef struct
{
  Axis y, x;
  const gfloat *map;
  gsize points;
  gint32 best_y, best_x;
  gfloat best;
} Search;

/* The pixels around the places between pixels @row and @row + 1, @column and @column + 1; those of
 * the edge are repeated. */
static void
read_patch (const Search *s, gint32 row, gint32 column, gfloat patch[4][4])
{
  for (gint32 i = 0; i < 4; i++) {
    const gsize y = (gsize) CLAMP (row + i - 1, 0, s->y.size - 1);
    for (gint32 k = 0; k < 4; k++)
      patch[i][k] =
        s->map[(y * (gsize) s->x.size + (gsize) CLAMP (column + k - 1, 0, s->x.size - 1))
               * s->points];
  }
}

/* What no place in the patch exceeds. */
static gfloat
highest_possible (gfloat patch[4][4])
{
  gfloat low = patch[0][0], high = patch[0][0];
  for (guint i = 0; i < 16; i++) {
    low = MIN (low, patch[i / 4][i % 4]);
    high = MAX (high, patch[i / 4][i % 4]);
  }
  return high + OVERSHOOT * (high - low);
}

/* Of equal places the first counts, row by row. */
static void
search_patch (Search *s, gint32 row, gint32 column, gfloat patch[4][4])
{
  const gint32 y_first = first_step (&s->y, row), y_end = first_step (&s->y, row + 1);
  const gint32 x_first = first_step (&s->x, column), x_end = first_step (&s->x, column + 1);
  for (gint32 x = x_first; x < x_end && y_first < y_end; x++) {
    gfloat weights[4], values[4];
    weights_at (place_of (&s->x, x) - (gfloat) column, weights);
    for (guint i = 0; i < 4; i++)
      values[i] = weigh (patch[i], weights);
    for (gint32 y = y_first; y < y_end; y++) {
      weights_at (place_of (&s->y, y) - (gfloat) row, weights);
      const gfloat value = weigh (values, weights);
      if (!(value > s->best)
          && !(value == s->best && (y < s->best_y || (y == s->best_y && x < s->best_x))))
        continue;
      s->best = value;
      s->best_y = y;
      s->best_x = x;
    }
  }
}

/* The places around the map's highest pixel come first, so that most others need no look. */
static void
search_near_top (Search *s)
{
  gfloat patch[4][4], top = -INFINITY;
  gint32 row = 0, column = 0;
  for (gint32 i = 0; i < s->y.size * s->x.size; i++)
    if (s->map[(gsize) i * s->points] > top) {
      top = s->map[(gsize) i * s->points];
      row = i / s->x.size;
      column = i % s->x.size;
    }
  for (gint32 i = 0; i < 4; i++) {
    read_patch (s, row - i / 2, column - i % 2, patch);
    search_patch (s, row - i / 2, column - i % 2, patch);
  }
}

static void
search_map (Search *s)
{
  gfloat patch[4][4];
  s->best = -INFINITY;
  s->best_y = s->best_x = 0;
  search_near_top (s);
  for (gint32 row = -1; row < s->y.size; row++)
    for (gint32 column = -1; column < s->x.size; column++) {
      read_patch (s, row, column, patch);
      if (highest_possible (patch) > s->best)
        search_patch (s, row, column, patch);
    }
}

static void
some_maps (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *maps = sl_node_input (call->graph, call->node, 0);
  const gsize points = (gsize) maps->dims[3],
              size = (gsize) maps->dims[1] * (gsize) maps->dims[2] * points;
  for (gsize at = first; at < first + n; at++) {
    const gfloat *region = (const gfloat *) call->inputs[1] + 4 * (at / points);
    gfloat *to = (gfloat *) call->outputs[0] + 3 * at;
    Search s = { .map = (const gfloat *) call->inputs[0] + at / points * size + at % points,
                 .points = points };
    axis_init (&s.x, maps->dims[2], region[0], region[2]);
    axis_init (&s.y, maps->dims[1], region[1], region[3]);
    search_map (&s);
    to[0] = ((gfloat) s.best_x + 0.5f) * (s.x.length / (gfloat) s.x.steps) + s.x.start;
    to[1] = ((gfloat) s.best_y + 0.5f) * (s.y.length / (gfloat) s.y.steps) + s.y.start;
    to[2] = s.best;
  }
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  sl_parallel (call, (gsize) output->dims[0] * (gsize) output->dims[1], 1, some_maps,
               (void *) call);
}

const SlOp sl_op_heat_map_peaks = { SL_OP_ROW (HEAT_MAP_PEAKS, 2, 2, 1, check, infer, NULL, run) };
