/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product in binary16, of which a register of Arm holds eight: sums of BLOCK
 * products, and sums of BLOCKS of these, which are added as floats where there are more. Rows of
 * binary16 are read in place if none of their activations is so large that a sum could leave the
 * range of binary16. Other rows, and rows of floats, are copied for all panels: each is multiplied
 * by a power of two that brings its largest activation to what the layer's weights leave room for,
 * and results are multiplied back.
 */
#include <math.h>

#include "core/backends/float/layer.h"
#include "core/backends/float/simd.h"

/* Products of a sum, and how many of these are added before they become floats. */
#define BLOCK 32
#define BLOCKS 3
/* Panels that a single row is multiplied by at once: the sums of one would wait for each other. */
#define TOGETHER 4
/* Registers of four channels of a panel are halves of one of eight. */
#define HALF_LANES 4
/* Before the activations of a copied row, in as many numbers, what its results are multiplied by.
 */
#define HEAD 8
/* Bits of a number without its sign. */
#define MAGNITUDE 0x7fff

G_STATIC_ASSERT (LANES == SL_FLOAT_WIDE && BLOCK % LANES == 0);
G_STATIC_ASSERT (HEAD * sizeof (guint16) >= sizeof (gfloat));

/**
 * Tile: rows, and panels of as many groups.
 * @runs: as in SlFloatRows
 * @panels: how many
 * @back: whether what results are multiplied by is before each row
 */
typedef struct
{
  const guint16 *const *runs;
  gint32 n_runs, length, panels;
  gboolean back;
} Tile;

#define TILE_GROUPS 2
#define TILE_ROWS Tile
#include "core/backends/float/tiles.h"

/* Element @n of @c, of @size bytes each. */
static inline gfloat *
at_element (gfloat *c, gsize n, gsize size)
{
  return (gfloat *) (gpointer) ((guint8 *) c + n * size);
}

static inline const guint16 *
halves (const gfloat *at)
{
  return (const guint16 *) (gconstpointer) at;
}

/* Whether a magnitude is too large for rows in place, in run @first of binary16 and each @step
 * behind it. The bits of negative numbers are larger the farther they are from 0, too. */
static gboolean
has_large (const SlFloatGemm *gemm, const SlFloatRows *tile, gint32 first, gint32 step)
{
  int16x8_t above = vdupq_n_s16 (0);
  uint16x8_t below = vdupq_n_u16 (0);
  guint16 most = 0;
  for (gint32 i = first; i < tile->n_runs * tile->rows; i += step) {
    const guint16 *at = halves (tile->runs[i]);
    gint32 k = 0;
    for (; k + LANES <= tile->length; k += LANES) {
      const uint16x8_t bits = vld1q_u16 (at + k);
      above = vmaxq_s16 (above, vreinterpretq_s16_u16 (bits));
      below = vmaxq_u16 (below, bits);
    }
    for (; k < tile->length; k++)
      most = MAX (most, at[k] & MAGNITUDE);
  }
  const guint16 negative = vmaxvq_u16 (below);
  most = MAX (most, (guint16) vmaxvq_s16 (above));
  return most > gemm->top || (negative > MAGNITUDE && (negative & MAGNITUDE) > gemm->top);
}

/* Four activations from @k on of a run of floats or binary16. */
static inline float32x4_t
load_four (const SlFloatRows *tile, const gfloat *from, gint32 k)
{
  return tile->narrow ? vcvt_f32_f16 (vreinterpret_f16_u16 (vld1_u16 (halves (from) + k)))
                      : vld1q_f32 (from + k);
}

/* The rest of a run. */
static inline float32x4_t
load_rest (const SlFloatRows *tile, const gfloat *from, gint32 k)
{
  const gsize size = tile->narrow ? sizeof (guint16) : sizeof (gfloat);
  gfloat rest[HALF_LANES] = { 0 };
  memcpy (rest, (const guint8 *) from + (gsize) k * size, (gsize) (tile->length - k) * size);
  return load_four (tile, rest, 0);
}

/* The largest magnitude of a row; NaN or infinity where there is one. */
static gfloat
largest (const SlFloatRows *tile, gint32 r)
{
  float32x4_t most = vdupq_n_f32 (0);
  for (gint32 run = 0; run < tile->n_runs; run++) {
    const gfloat *from = tile->runs[run * tile->rows + r];
    gint32 k = 0;
    for (; k + HALF_LANES <= tile->length; k += HALF_LANES)
      most = vmaxq_f32 (most, vabsq_f32 (load_four (tile, from, k)));
    if (k < tile->length)
      most = vmaxq_f32 (most, vabsq_f32 (load_rest (tile, from, k)));
  }
  return vmaxvq_f32 (most);
}

/* The power of two that brings @most below @reach, a power of two; 1 where there is none. */
static gfloat
power_for (gfloat most, gfloat reach)
{
  int exponent;
  if (!isfinite (most) || most == 0)
    return 1;
  frexpf (most, &exponent);
  return ldexpf (reach, CLAMP (-exponent, -100, 100));
}

/* A copied row, whose numbers behind the last are 0. */
static void
round_row (const SlFloatRows *tile, gint32 r, gfloat power, guint16 *to)
{
  for (gint32 run = 0; run < tile->n_runs; run++, to += tile->length) {
    const gfloat *from = tile->runs[run * tile->rows + r];
    gint32 k = 0;
    for (; k + HALF_LANES <= tile->length; k += HALF_LANES)
      vst1_u16 (to + k, vreinterpret_u16_f16 (
                          vcvt_f16_f32 (vmulq_n_f32 (load_four (tile, from, k), power))));
    if (k < tile->length)
      vst1_u16 (to + k, vreinterpret_u16_f16 (
                          vcvt_f16_f32 (vmulq_n_f32 (load_rest (tile, from, k), power))));
  }
}

/* Rows of @stride numbers with their heads, multiplied by powers of two. */
static void
round_rows (const SlFloatGemm *gemm, const SlFloatRows *tile, gsize stride, guint16 *to)
{
  for (gint32 r = 0; r < tile->rows; r++, to += stride) {
    const gfloat power = power_for (largest (tile, r), gemm->reach), back = gemm->unit / power;
    memset (to + stride - LANES, 0, LANES * sizeof to[0]);
    memcpy (to, &back, sizeof back);
    round_row (tile, r, power, to + HEAD);
  }
}

/* The same of rows of binary16 as they are, which have no heads. */
static void
copy_rows (const SlFloatRows *tile, gsize stride, guint16 *to)
{
  const gsize length = (gsize) tile->length;
  for (gint32 r = 0; r < tile->rows; r++, to += stride) {
    guint16 *at = to + HEAD;
    memset (to + stride - LANES, 0, LANES * sizeof to[0]);
    for (gint32 run = 0; run < tile->n_runs; run++, at += length)
      memcpy (at, tile->runs[run * tile->rows + r], length * sizeof at[0]);
  }
}

static inline __attribute__ ((always_inline)) Vec
load_weights (const guint16 *at, const gint groups)
{
  if (groups == 2)
    return load (at);
  return vcombine_f16 (vreinterpret_f16_u16 (vld1_u16 (at)), vdup_n_f16 (0));
}

/* @sum + @w * @values[@lane], and without @sum. GCC 12 copies the lane into all of a register for
 * its intrinsic; the instruction takes it from registers 0 to 15. */
#define ADD_LANE(sum, w, values, lane) \
  __asm__("fmla %0.8h, %1.8h, %2.h[" #lane "]" : "+w"(sum) : "w"(w), "x"(values))
#define SET_LANE(sum, w, values, lane) \
  __asm__("fmul %0.8h, %1.8h, %2.h[" #lane "]" : "=w"(sum) : "w"(w), "x"(values))

/* @what for each of eight rows or lanes. GCC 12 does not unroll a loop here, and keeps sums in
 * memory. */
#define EACH(what) what (0) what (1) what (2) what (3) what (4) what (5) what (6) what (7)

/* Adds the products of LANES activations of each row, @values, which become the LANES behind them,
 * from @k on: in-order processors stall at a load whose value is used at once.
 * @begin: no sum is there yet */
static inline __attribute__ ((always_inline)) void
loaded_steps (Vec *part, Vec *values, const guint16 *const *a, gint32 k, const guint16 *weights,
              const gint rows, const gint groups, const gboolean begin)
{
  Vec w = load_weights (weights, groups), following = w;
#define STEP(lane)                                                                             \
  {                                                                                            \
    if (lane + 1 < LANES)                                                                      \
      following = load_weights (weights + (gsize) ((lane + 1) * groups * HALF_LANES), groups); \
    SL_UNROLL                                                                                  \
    for (gint m = 0; m < rows; m++) {                                                          \
      if (begin && lane == 0)                                                                  \
        SET_LANE (part[m], w, values[m], lane);                                                \
      else                                                                                     \
        ADD_LANE (part[m], w, values[m], lane);                                                \
      if (lane + 1 == LANES)                                                                   \
        values[m] = load (a[m] + k);                                                           \
    }                                                                                          \
    w = following;                                                                             \
  }
  EACH (STEP)
#undef STEP
}

/* Rows in place: results of binary16. */
static inline __attribute__ ((always_inline)) void
finish_halves (const SlFloatPanel *panel, const Vec *sums, Vec lo, Vec hi, guint16 *c,
               gsize c_stride, const gint rows)
{
  if (panel->channels == LANES) {
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      store (c + (gsize) m * c_stride, limited (sums[m], lo, hi));
    return;
  }
  SL_UNROLL
  for (gint m = 0; m < rows; m++)
    store_first (c + (gsize) m * c_stride, panel->channels, limited (sums[m], lo, hi));
}

/* The first @n of four results, floats or binary16. */
static inline void
store_results (gpointer at, gint32 n, float32x4_t results, gboolean narrow)
{
  const float16x4_t rounded = vcvt_f16_f32 (results);
  if (narrow)
    memcpy (at, &rounded, (gsize) n * sizeof (guint16));
  else if (n == HALF_LANES)
    memcpy (at, &results, sizeof results);
  else
    memcpy (at, &results, (gsize) n * sizeof (gfloat));
}

/* Any rows and results. @wide: their sums; @back: by row; what sums are multiplied by before the
 * bias is added */
static void
finish_any (const SlFloatGemm *gemm, const SlFloatPanel *panel, const gfloat *wide,
            const gfloat *back, gfloat *c, gsize c_stride, gint32 rows)
{
  const float32x4_t lo = vdupq_n_f32 (gemm->lo), hi = vdupq_n_f32 (gemm->hi);
  const gsize size = gemm->narrow ? sizeof (guint16) : sizeof (gfloat);
  for (gint32 m = 0; m < rows; m++)
    for (gint32 g = 0; g * HALF_LANES < panel->channels; g++) {
      const float32x4_t sum = vld1q_f32 (wide + m * LANES + g * HALF_LANES);
      const float32x4_t results =
        vfmaq_n_f32 (vld1q_f32 (gemm->bias + panel->channel + g * HALF_LANES), sum, back[m]);
      store_results ((guint8 *) c + ((gsize) m * c_stride + (gsize) (g * HALF_LANES)) * size,
                     MIN (panel->channels - g * HALF_LANES, HALF_LANES),
                     vminq_f32 (hi, vmaxq_f32 (lo, results)), gemm->narrow);
    }
}

/* Products of BLOCK activations of each row at most, from @k on, of which there are @end. Returns
 * the weights behind them. */
static inline __attribute__ ((always_inline)) const guint16 *
sum_block (Vec *part, Vec *values, const guint16 *const *a, gint32 k, gint32 end,
           const guint16 *weights, const gint rows, const gint groups)
{
  const gsize step = (gsize) (LANES * groups * HALF_LANES);
  k += LANES;
  loaded_steps (part, values, a, k, weights, rows, groups, TRUE);
  for (weights += step; k < end; weights += step) {
    k += LANES;
    loaded_steps (part, values, a, k, weights, rows, groups, FALSE);
  }
  return weights;
}

/* As loaded_steps(), of one row and @panels panels of two groups each. The weights of two panels
 * are @apart numbers apart. */
static inline __attribute__ ((always_inline)) void
panel_steps (Vec *part, Vec values, const guint16 *weights, gsize apart, const gint panels,
             const gboolean begin)
{
#define STEP(lane)                                                             \
  SL_UNROLL                                                                    \
  for (gint p = 0; p < panels; p++) {                                          \
    const Vec w = load (weights + (gsize) p * apart + (gsize) (lane * LANES)); \
    if (begin && lane == 0)                                                    \
      SET_LANE (part[p], w, values, lane);                                     \
    else                                                                       \
      ADD_LANE (part[p], w, values, lane);                                     \
  }
  EACH (STEP)
#undef STEP
}

/* As sum_block(), of one row and such panels. */
static inline __attribute__ ((always_inline)) const guint16 *
sum_panels (Vec *part, const guint16 *a, gint32 k, gint32 end, const guint16 *weights, gsize apart,
            const gint panels)
{
  panel_steps (part, load (a + k), weights, apart, panels, TRUE);
  for (k += LANES, weights += LANES * LANES; k < end; k += LANES, weights += LANES * LANES)
    panel_steps (part, load (a + k), weights, apart, panels, FALSE);
  return weights;
}

/* A row's first four sums of floats, and the others, with those of binary16. */
static inline float32x4_t
first_sums (const gfloat *wide, Vec sums)
{
  return vaddq_f32 (vld1q_f32 (wide), vcvt_f32_f16 (vget_low_f16 (sums)));
}

static inline float32x4_t
other_sums (const gfloat *wide, Vec sums)
{
  return vaddq_f32 (vld1q_f32 (wide + HALF_LANES), vcvt_high_f32_f16 (sums));
}

static inline __attribute__ ((always_inline)) void
widen_row (gfloat *wide, const gfloat *from, Vec sums, const gint groups)
{
  vst1q_f32 (wide, first_sums (from, sums));
  if (groups == 2)
    vst1q_f32 (wide + HALF_LANES, other_sums (from, sums));
}

/**
 * Wide: sums of floats, LANES for each row, or for each panel of a single row
 * @sums: in memory, since registers are for sums of binary16
 * @from: what the next sums of binary16 are added to: at first the bias or zeros, then @sums
 * @step: floats from one row or panel to the next in @from
 */
typedef struct
{
  gfloat *sums;
  const gfloat *from;
  gsize step;
} Wide;

/* Whether a row's products are so many that some sums become floats. */
static inline gboolean
widens (const Tile *tile)
{
  return tile->n_runs * ((tile->length + BLOCK - 1) / BLOCK) > BLOCKS;
}

/* Adds to @sums the products of @rows rows and a panel, or of one row and @panels panels: one sum
 * for each row or panel. @deep: each time BLOCKS blocks are added up, their sums are added to
 * @wide; the last ones stay in @sums */
static inline __attribute__ ((always_inline)) void
multiply_panel (const SlFloatPanel *panel, const Tile *tile, Wide *wide, Vec *sums, const gint rows,
                const gint groups, const gint panels, const gboolean deep)
{
  const guint16 *weights = panel->weights, *a[MAX_ROWS];
  const gsize apart = panels > 1 ? (gsize) ((const guint16 *) panel[1].weights - weights) : 0;
  const gint n = rows * panels;
  Vec values[MAX_ROWS], part[MAX_ROWS];
  gint blocks = 0;
  for (gint32 run = 0; run < tile->n_runs; run++) {
    SL_UNROLL
    for (gint m = 0; m < rows; m++) {
      a[m] = tile->runs[run * rows + m];
      if (panels == 1)
        values[m] = load (a[m]);
    }
    for (gint32 k = 0; k < tile->length; k += BLOCK) {
      const gint32 end = MIN (k + BLOCK, tile->length);
#define WIDEN(m) \
  if (m < n)     \
    widen_row (wide->sums + (gsize) (m * LANES), wide->from + m * wide->step, sums[m], groups);
#define ADD(m) \
  if (m < n)   \
    sums[m] = vaddq_f16 (sums[m], part[m]);
#define SUM(to)                                                       \
  (panels > 1 ? sum_panels (to, a[0], k, end, weights, apart, panels) \
              : sum_block (to, values, a, k, end, weights, rows, groups))
      if (deep && blocks == BLOCKS) {
        __asm__ volatile("" : : "r"(wide->sums) : "memory"); /* no copies of them in registers */
        EACH (WIDEN)
        wide->from = wide->sums;
        wide->step = LANES;
        blocks = 0;
      }
      if (deep && blocks++ == 0)
        weights = SUM (sums);
      else {
        weights = SUM (part);
        EACH (ADD)
      }
#undef SUM
#undef ADD
#undef WIDEN
    }
  }
}

/* Sums of floats in @room. The statement keeps the compiler from holding them in registers. */
static inline Wide
begin_wide (gfloat *room, const gfloat *from, gsize step)
{
  __asm__("" : "+r"(room));
  return (Wide){ room, from, step };
}

/* Rows that are read in place, with results of binary16: some by a panel, or one by some panels.
 * @c: where the first row's result of channel 0 belongs; @deep: as in multiply_panel() */
static inline __attribute__ ((always_inline)) void
multiply_in_place (const SlFloatGemm *gemm, const SlFloatPanel *panel, const Tile *tile, Vec lo,
                   Vec hi, guint16 *c, gsize c_stride, const gint rows, const gint groups,
                   const gint panels, const gboolean deep)
{
  const gfloat *bias = gemm->bias + panel->channel;
  gfloat room[MAX_ROWS * LANES];
  Wide wide = begin_wide (room, bias, panels > 1 ? LANES : 0);
  Vec sums[MAX_ROWS];
  SL_UNROLL
  for (gint m = 0; m < rows * panels; m++) {
    const gfloat *first = bias + (gsize) m * wide.step;
    sums[m] =
      deep ? vdupq_n_f16 (0)
           : vcvt_high_f16_f32 (vcvt_f16_f32 (vld1q_f32 (first)), vld1q_f32 (first + HALF_LANES));
  }
  multiply_panel (panel, tile, &wide, sums, rows, groups, panels, deep);
#define NARROW(m)                                                                            \
  if (deep && m < rows * panels) {                                                           \
    const gfloat *at = wide.from + m * wide.step;                                            \
    sums[m] =                                                                                \
      vcvt_high_f16_f32 (vcvt_f16_f32 (first_sums (at, sums[m])), other_sums (at, sums[m])); \
  }
  EACH (NARROW)
#undef NARROW
  SL_UNROLL
  for (gint p = 0; p < panels; p++)
    finish_halves (panel + p, sums + p * rows, lo, hi, c + panel[p].channel, c_stride, rows);
}

/* multiply_in_place() for all panels of @tile, from @panel on. */
static inline __attribute__ ((always_inline)) void
multiply_all_in_place (const SlFloatGemm *gemm, const SlFloatPanel *panel, const Tile *tile,
                       guint16 *c, gsize c_stride, const gint rows, const gint groups,
                       const gboolean deep)
{
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  const SlFloatPanel *end = panel + tile->panels;
  if (rows == 1 && groups == 2)
    for (; end - panel >= TOGETHER; panel += TOGETHER)
      multiply_in_place (gemm, panel, tile, lo, hi, c, c_stride, 1, 2, TOGETHER, deep);
  for (; panel < end; panel++)
    multiply_in_place (gemm, panel, tile, lo, hi, c, c_stride, rows, groups, 1, deep);
}

/* As multiply_in_place(), also of copied rows and with results of floats. @back: what the sums of
 * each row are multiplied by */
static inline __attribute__ ((always_inline)) void
multiply_any (const SlFloatGemm *gemm, const SlFloatPanel *panel, const Tile *tile,
              const gfloat *back, gfloat *c, gsize c_stride, const gint rows, const gint groups,
              const gint panels)
{
  const gsize size = gemm->narrow ? sizeof (guint16) : sizeof (gfloat);
  const gfloat none[LANES] = { 0 };
  gfloat room[MAX_ROWS * LANES];
  Wide wide = begin_wide (room, none, 0);
  Vec sums[MAX_ROWS];
  SL_UNROLL
  for (gint m = 0; m < rows * panels; m++)
    sums[m] = vdupq_n_f16 (0);
  multiply_panel (panel, tile, &wide, sums, rows, groups, panels, TRUE);
#define ADD(m)           \
  if (m < rows * panels) \
    widen_row (wide.sums + (gsize) (m * LANES), wide.from + m * wide.step, sums[m], 2);
  EACH (ADD)
#undef ADD
  for (gint p = 0; p < panels; p++)
    finish_any (gemm, panel + p, wide.sums + (gsize) (p * rows * LANES), back,
                at_element (c, (gsize) panel[p].channel, size), c_stride, rows);
}

/* All panels of @tile, from @panel on. @c: as in multiply_in_place() */
static inline __attribute__ ((always_inline)) void
multiply (const SlFloatGemm *gemm, const SlFloatPanel *panel, const Tile *tile, gfloat *c,
          gsize c_stride, const gint rows, const gint groups)
{
  if (!tile->back && gemm->narrow) {
    guint16 *to = (guint16 *) (gpointer) c;
    if (widens (tile))
      multiply_all_in_place (gemm, panel, tile, to, c_stride, rows, groups, TRUE);
    else
      multiply_all_in_place (gemm, panel, tile, to, c_stride, rows, groups, FALSE);
    return;
  }
  const SlFloatPanel *end = panel + tile->panels;
  gfloat back[MAX_ROWS];
  for (gint32 m = 0; m < rows; m++) {
    back[m] = gemm->unit;
    if (tile->back)
      memcpy (&back[m], tile->runs[m] - HEAD, sizeof back[m]);
  }
  if (rows == 1 && groups == 2)
    for (; end - panel >= TOGETHER; panel += TOGETHER)
      multiply_any (gemm, panel, tile, back, c, c_stride, 1, 2, TOGETHER);
  for (; panel < end; panel++)
    multiply_any (gemm, panel, tile, back, c, c_stride, rows, groups, 1);
}

DEFINE_TILES (multiply)

/* Copied rows begin so far from each other. */
static gsize
stride_of (gint32 depth)
{
  return HEAD + ((gsize) depth + LANES - 1) / LANES * LANES;
}

/* The panels from @first to before @end: those of as many groups together. */
static void
multiply_panels (const SlFloatGemm *gemm, gint32 first, gint32 end, Tile tile, gint32 rows,
                 gfloat *c, gsize c_stride)
{
  for (; first < end; first += tile.panels) {
    const SlFloatPanel *panel = &gemm->panels[first];
    tile.panels = 1;
    while (first + tile.panels < end && panel[tile.panels].groups == panel->groups)
      tile.panels++;
    multiply_tiles[rows - 1][panel->groups - 1](gemm, panel, &tile, c, c_stride);
  }
}

/* The same of copies at @scratch, of which @back says whether they were multiplied. */
static void
multiply_copies (const SlFloatGemm *gemm, gint32 first, gint32 end, gint32 rows, gint32 depth,
                 gboolean back, gfloat *c, gsize c_stride, const guint16 *scratch)
{
  const guint16 *runs[MAX_ROWS];
  const Tile tile = { runs, 1, (depth + LANES - 1) / LANES * LANES, 0, back };
  for (gint32 r = 0; r < rows; r++)
    runs[r] = scratch + (gsize) r * stride_of (depth) + HEAD;
  multiply_panels (gemm, first, end, tile, rows, c, c_stride);
}

/* Rows of binary16 as they are. */
static void
multiply_as_is (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatRows *rows,
                gint32 depth, gfloat *c, gsize c_stride, guint16 *scratch)
{
  const guint16 *runs[SL_FLOAT_MAX_RUNS * MAX_ROWS];
  const Tile tile = { runs, rows->n_runs, rows->length, 0, FALSE };
  if (rows->length % LANES != 0) {
    copy_rows (rows, stride_of (depth), scratch);
    multiply_copies (gemm, first, end, rows->rows, depth, FALSE, c, c_stride, scratch);
    return;
  }
  for (gint32 i = 0; i < rows->n_runs * rows->rows; i++)
    runs[i] = halves (rows->runs[i]);
  multiply_panels (gemm, first, end, tile, rows->rows, c, c_stride);
}

/* Row @r by itself, multiplied by a power of two. */
static void
multiply_large (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatRows *rows,
                gint32 r, gint32 depth, gfloat *c, guint16 *scratch)
{
  const gfloat *runs[SL_FLOAT_MAX_RUNS];
  const SlFloatRows row = { runs, rows->n_runs, rows->length, 1, TRUE };
  for (gint32 run = 0; run < rows->n_runs; run++)
    runs[run] = rows->runs[run * rows->rows + r];
  round_rows (gemm, &row, stride_of (depth), scratch);
  multiply_copies (gemm, first, end, 1, depth, TRUE, c, 0, scratch);
}

/* Results of a row do not depend on the rows beside it. */
void
sl_float_multiply_halves (const SlFloatGemm *gemm, gint32 first, gint32 end,
                          const SlFloatRows *rows, gint32 depth, gfloat *c, gsize c_stride,
                          guint16 *scratch)
{
  const gsize size = gemm->narrow ? sizeof (guint16) : sizeof (gfloat);
  if (!rows->narrow || gemm->top == 0) {
    round_rows (gemm, rows, stride_of (depth), scratch);
    multiply_copies (gemm, first, end, rows->rows, depth, TRUE, c, c_stride, scratch);
    return;
  }
  multiply_as_is (gemm, first, end, rows, depth, c, c_stride, scratch);
  if (gemm->within || !has_large (gemm, rows, 0, 1))
    return;
  for (gint32 r = 0; r < rows->rows; r++)
    if (has_large (gemm, rows, r, rows->rows))
      multiply_large (gemm, first, end, rows, r, depth, at_element (c, (gsize) r * c_stride, size),
                      scratch);
}
