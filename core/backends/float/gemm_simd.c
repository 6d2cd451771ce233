/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product: activations broadcast one at a time, times the weights of up to
 * MAX_GROUPS registers of channels. Sums stay in registers. Rows are runs of activations that
 * pointers name, so windows of a convolution need no copies.
 */
#include "core/backends/float/simd.h"

#define TILE_GROUPS ODD_GROUPS
#include "core/backends/float/tiles.h"

/* Weights ahead: those of a whole model come from the third cache or from memory in every
 * inference. Panels of one register are small, and their tiles wait for loads. */
#define PREFETCH 512

static inline __attribute__ ((always_inline)) Vec
load_weight (const guint8 *at, const SlFloatWeights kind)
{
#ifdef SL_WIDENS
  if (kind == SL_FLOAT_HALF)
    return load_half ((const guint16 *) (gconstpointer) at);
  if (kind == SL_FLOAT_BFLOAT)
    return load_bfloat ((const guint16 *) (gconstpointer) at);
  if (kind == SL_FLOAT_BYTES)
    return load_bytes ((const gint8 *) (gconstpointer) at);
#endif
  return load ((const gfloat *) (gconstpointer) at);
}

static inline __attribute__ ((always_inline)) void
load_weights (Vec *w, const guint8 *weights, const gint groups, const SlFloatWeights kind)
{
  SL_UNROLL
  for (gint g = 0; g < groups; g++) {
    if (groups > 1)
      __builtin_prefetch (weights + (gsize) (PREFETCH + g * LANES) * sl_float_weight_size (kind));
    w[g] = load_weight (weights + (gsize) (g * LANES) * sl_float_weight_size (kind), kind);
  }
}

#ifdef fused_lane
/* LANES activations of each row, which one load brings. */
static inline __attribute__ ((always_inline)) void
loaded_steps (Vec *sums, const gfloat *const *a, gint32 k, const guint8 *weights, const gint rows,
              const gint groups, const SlFloatWeights kind)
{
  Vec values[MAX_ROWS], w[TILE_GROUPS];
  SL_UNROLL
  for (gint m = 0; m < rows; m++)
    values[m] = load (a[m] + k);
#define STEP(lane)                                                                           \
  load_weights (w, weights + (gsize) ((lane) *groups * LANES) * sl_float_weight_size (kind), \
                groups, kind);                                                               \
  SL_UNROLL                                                                                  \
  for (gint i = 0; i < rows * groups; i++)                                                   \
    sums[i] = fused_lane (values[i / groups], lane, w[i % groups], sums[i]);
  STEP (0)
  STEP (1)
  STEP (2)
  STEP (3)
#undef STEP
}
#endif

/** Rows, and weights that are prefetched into the second cache: @step bytes for each activation. */
typedef struct
{
  SlFloatRows rows;
  const guint8 *at;
  gsize step;
} Ahead;

/* @rows rows from @first on, of a tile of @all. @far: @tile points into an Ahead. */
static inline __attribute__ ((always_inline)) void
multiply_rows (const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatRows *tile,
               gfloat *c, gsize c_stride, const gint first, const gint rows, const gint all,
               const gint groups, const SlFloatWeights kind, const gboolean far)
{
  Vec sums[MAX_ROWS * MAX_GROUPS];
  const gsize step = (gsize) (groups * LANES) * sl_float_weight_size (kind);
  const guint8 *weights = panel->weights;
  const Ahead *ahead = far ? (const Ahead *) tile : NULL;
  const guint8 *line = far ? ahead->at : NULL;
  const gfloat *const *runs = tile->runs + first;
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = kind == SL_FLOAT_BYTES ? broadcast (0)
                                     : load (gemm->bias + panel->channel + i % groups * LANES);
  for (gint32 run = tile->n_runs; run > 0; run--, runs += all) {
    const gfloat *a[MAX_ROWS];
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      a[m] = runs[m] + panel->offset;
    gint32 k = 0;
#ifdef fused_lane
    for (; k + LANES <= tile->length; k += LANES, weights += LANES * step)
      loaded_steps (sums, a, k, weights, rows, groups, kind);
#endif
    for (; k < tile->length; k++, weights += step) {
      Vec w[TILE_GROUPS];
      load_weights (w, weights, groups, kind);
      if (far) {
        __builtin_prefetch (line, 0, 2);
        line += ahead->step;
      }
      SL_UNROLL
      for (gint i = 0; i < rows * groups; i++)
        sums[i] = fused (broadcast (a[i / groups][k]), w[i % groups], sums[i]);
    }
  }
  if (kind == SL_FLOAT_BYTES)
    SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = fused (sums[i], load (gemm->steps + panel->channel + i % groups * LANES),
                     load (gemm->bias + panel->channel + i % groups * LANES));
  if (is_limited (gemm)) {
    const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
    SL_UNROLL
    for (gint i = 0; i < rows * groups; i++)
      sums[i] = limited (sums[i], lo, hi);
  }
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++) {
    gfloat *at = c + (gsize) (first + i / groups) * c_stride + i % groups * LANES;
    if (i % groups < groups - 1)
      store (at, sums[i]);
    else
      store_some (at, panel->channels - (groups - 1) * LANES, sums[i]);
  }
}

/* A tile of more sums than stay in registers is two. */
static inline __attribute__ ((always_inline)) void
multiply (const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatRows *tile, gfloat *c,
          gsize c_stride, const gint rows, const gint groups, const SlFloatWeights kind,
          const gboolean far)
{
  const gint first = rows * groups > MAX_ROWS * MAX_GROUPS ? rows / 2 : rows;
  multiply_rows (gemm, panel, tile, c, c_stride, 0, first, rows, groups, kind, far);
  if (first < rows)
    multiply_rows (gemm, panel, tile, c, c_stride, first, rows - first, rows, groups, kind, FALSE);
}

#ifndef fused_lane
/* Rows whose sums of one panel would wait for each other. */
#define FEW_ROWS 2

/* Whether @panel and the one behind it can be multiplied at once. */
static inline gboolean
has_neighbour (const SlFloatPanel *panel)
{
  return panel[0].groups == MAX_GROUPS && panel[1].groups == MAX_GROUPS
         && panel[0].offset == panel[1].offset;
}

/* A tile of few rows by two panels. Each sum is that of multiply_rows(), bit by bit. */
static inline __attribute__ ((always_inline)) void
multiply_both (const SlFloatGemm *gemm, const SlFloatPanel *panels, const SlFloatRows *tile,
               gfloat *c, gsize c_stride, const gint rows)
{
  enum
  {
    GROUPS = 2 * MAX_GROUPS
  };
  Vec sums[FEW_ROWS * GROUPS];
  const gsize step = MAX_GROUPS * LANES * sizeof (gfloat);
  const guint8 *left = panels[0].weights, *right = panels[1].weights;
  const gfloat *const *runs = tile->runs;
  SL_UNROLL
  for (gint i = 0; i < rows * GROUPS; i++)
    sums[i] =
      load (gemm->bias + panels[i % GROUPS / MAX_GROUPS].channel + i % GROUPS % MAX_GROUPS * LANES);
  for (gint32 run = tile->n_runs; run > 0; run--, runs += rows) {
    const gfloat *a[FEW_ROWS];
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      a[m] = runs[m] + panels->offset;
    for (gint32 k = 0; k < tile->length; k++, left += step, right += step) {
      Vec w[GROUPS];
      load_weights (w, left, MAX_GROUPS, SL_FLOAT_SINGLE);
      load_weights (w + MAX_GROUPS, right, MAX_GROUPS, SL_FLOAT_SINGLE);
      SL_UNROLL
      for (gint i = 0; i < rows * GROUPS; i++)
        sums[i] = fused (broadcast (a[i / GROUPS][k]), w[i % GROUPS], sums[i]);
    }
  }
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  const gboolean is_within = is_limited (gemm);
  SL_UNROLL
  for (gint i = 0; i < rows * GROUPS; i++) {
    const gint g = i % GROUPS % MAX_GROUPS;
    const SlFloatPanel *panel = &panels[i % GROUPS / MAX_GROUPS];
    gfloat *at = c + (gsize) (i / GROUPS) * c_stride + panel->channel + g * LANES;
    const Vec sum = is_within ? limited (sums[i], lo, hi) : sums[i];
    if (g < MAX_GROUPS - 1)
      store (at, sum);
    else
      store_some (at, panel->channels - (MAX_GROUPS - 1) * LANES, sum);
  }
}

/* Few rows by pairs of the panels from @first to before @end. Returns the first panel that is left.
 */
static gint32
multiply_few (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatRows *rows, gfloat *c,
              gsize c_stride)
{
  for (; first + 1 < end && has_neighbour (&gemm->panels[first]); first += 2)
    if (rows->rows == 1)
      multiply_both (gemm, &gemm->panels[first], rows, c, c_stride, 1);
    else
      multiply_both (gemm, &gemm->panels[first], rows, c, c_stride, 2);
  return first;
}
#endif

#define DEFINE_MULTIPLY(name, kind, far)                                                    \
  static inline __attribute__ ((always_inline)) void name (                                 \
    const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatRows *tile, gfloat *c, \
    gsize c_stride, const gint rows, const gint groups)                                     \
  {                                                                                         \
    multiply (gemm, panel, tile, c, c_stride, rows, groups, kind, far);                     \
  }                                                                                         \
  DEFINE_TILES (name)

/* Panels that are multiplied two at a time; returns the first that is left. */
static inline gint32
multiply_pairs (const SlFloatWeights kind, const SlFloatGemm *gemm, gint32 first, gint32 end,
                const SlFloatRows *rows, gfloat *c, gsize c_stride)
{
#ifndef fused_lane
  if (kind == SL_FLOAT_SINGLE && rows->rows <= FEW_ROWS)
    return multiply_few (gemm, first, end, rows, c, c_stride);
#endif
  return first;
}

#define DEFINE_GEMM(name, kind)                                                                    \
  DEFINE_MULTIPLY (multiply_##kind, kind, FALSE)                                                   \
  void SL_SIMD (name) (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatRows *rows, \
                       gfloat *c, gsize c_stride)                                                  \
  {                                                                                                \
    first = multiply_pairs (kind, gemm, first, end, rows, c, c_stride);                            \
    for (gint32 p = first; p < end; p++) {                                                         \
      const SlFloatPanel *panel = &gemm->panels[p];                                                \
      multiply_##kind##_tiles[rows->rows - 1][panel->groups - 1](gemm, panel, rows,                \
                                                                 c + panel->channel, c_stride);    \
    }                                                                                              \
  }

DEFINE_GEMM (sl_float_gemm, SL_FLOAT_SINGLE)
#ifdef SL_LOOKS_AHEAD
DEFINE_MULTIPLY (multiply_ahead, SL_FLOAT_SINGLE, TRUE)

void
SL_SIMD (sl_float_gemm_ahead) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                               const SlFloatRows *rows, const guint8 *ahead, gsize step, gfloat *c,
                               gsize c_stride)
{
  Ahead tile = { *rows, ahead, step };
  for (gint32 p = first; p < end; p++) {
    const SlFloatPanel *panel = &gemm->panels[p];
    multiply_ahead_tiles[rows->rows - 1][panel->groups - 1](gemm, panel, &tile.rows,
                                                            c + panel->channel, c_stride);
    tile.at += step * (gsize) rows->n_runs * (gsize) rows->length;
  }
}
#endif

#ifdef SL_WIDENS
DEFINE_GEMM (sl_float_gemm_half, SL_FLOAT_HALF)
DEFINE_GEMM (sl_float_gemm_bfloat, SL_FLOAT_BFLOAT)
DEFINE_GEMM (sl_float_gemm_bytes, SL_FLOAT_BYTES)
#endif
