/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product in binary16, of which a register of Arm holds eight: sums of BLOCK
 * products are binary16, and these are added up in floats. Activations are rounded once for all
 * panels. Each row is first multiplied by a power of two that brings its largest activation to what
 * the layer's weights leave room for, so that no sum leaves the range of binary16, and taken back
 * at the end.
 */
#include <math.h>

#include "core/backends/float/tiles.h"

/* Activations of a register, and products of a sum: of so many no sum is beyond
 * SL_FLOAT_HALVES_REACH times as much. */
#define WIDE 8
#define BLOCK 32
/* Before the activations of a row, in as many numbers, what its results are multiplied by. */
#define HEAD 8

G_STATIC_ASSERT (BLOCK *SL_FLOAT_HALVES_REACH < 65504);
G_STATIC_ASSERT (BLOCK % WIDE == 0 && HEAD * sizeof (guint16) >= sizeof (gfloat));

/* The largest magnitude of a row; NaN or infinity where there is one. */
static gfloat
largest (const SlFloatRows *tile, gint32 r)
{
  float32x4_t most = vdupq_n_f32 (0);
  gfloat end = 0;
  for (gint32 run = 0; run < tile->n_runs; run++) {
    const gfloat *from = tile->runs[run * tile->rows + r];
    gint32 k = 0;
    for (; k + LANES <= tile->length; k += LANES)
      most = vmaxq_f32 (most, vabsq_f32 (load (from + k)));
    for (; k < tile->length; k++)
      end = fabsf (from[k]) > end || isnan (from[k]) ? fabsf (from[k]) : end;
  }
  const gfloat all = vmaxvq_f32 (most);
  return isnan (end) || end > all ? end : all;
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

/* Rows of @stride numbers with their heads; what is written behind a run is overwritten by the next
 * one. */
static void
round_rows (const SlFloatRows *tile, gsize stride, gfloat reach, guint16 *to)
{
  for (gint32 r = 0; r < tile->rows; r++) {
    guint16 *at = to + (gsize) r * stride;
    const gfloat power = power_for (largest (tile, r), reach), back = 1 / power;
    memcpy (at, &back, sizeof back);
    at += HEAD;
    for (gint32 run = 0; run < tile->n_runs; run++, at += tile->length) {
      const gfloat *from = tile->runs[run * tile->rows + r];
      gint32 k = 0;
      for (; k + LANES <= tile->length; k += LANES)
        vst1_u16 (at + k,
                  vreinterpret_u16_f16 (vcvt_f16_f32 (vmulq_n_f32 (load (from + k), power))));
      if (k < tile->length)
        vst1_u16 (at + k, vreinterpret_u16_f16 (vcvt_f16_f32 (
                            vmulq_n_f32 (load_first (from + k, tile->length - k), power))));
    }
  }
}

static inline __attribute__ ((always_inline)) float16x8_t
load_weights (const guint16 *at, const gint groups)
{
  if (groups == 2)
    return vreinterpretq_f16_u16 (vld1q_u16 (at));
  return vcombine_f16 (vreinterpret_f16_u16 (vld1_u16 (at)), vdup_n_f16 (0));
}

/* @sum + @w * @values[@lane]. GCC 12 copies the lane into all of a register for its intrinsic; the
 * instruction takes it from registers 0 to 15. */
#define ADD_LANE(sum, w, values, lane) \
  __asm__("fmla %0.8h, %1.8h, %2.h[" #lane "]" : "+w"(sum) : "w"(w), "x"(values))

static inline float16x8_t
load_values (const guint16 *at)
{
  return vreinterpretq_f16_u16 (vld1q_u16 (at));
}

/* Adds the products of WIDE activations of each row, @values, which become the WIDE behind them,
 * from @k on: processors that do not reorder instructions wait where a load is needed at once. */
static inline __attribute__ ((always_inline)) void
loaded_steps (float16x8_t *part, float16x8_t *values, const guint16 *const *a, gint32 k,
              const guint16 *weights, const gint rows, const gint groups)
{
  float16x8_t w = load_weights (weights, groups), following = w;
#define STEP(lane)                                                                        \
  {                                                                                       \
    if (lane + 1 < WIDE)                                                                  \
      following = load_weights (weights + (gsize) ((lane + 1) * groups * LANES), groups); \
    SL_UNROLL                                                                             \
    for (gint m = 0; m < rows; m++) {                                                     \
      ADD_LANE (part[m], w, values[m], lane);                                             \
      if (lane + 1 == WIDE)                                                               \
        values[m] = load_values (a[m] + k);                                               \
    }                                                                                     \
    w = following;                                                                        \
  }
  STEP (0)
  STEP (1)
  STEP (2)
  STEP (3)
  STEP (4)
  STEP (5)
  STEP (6)
  STEP (7)
#undef STEP
}

/* @tile: its only runs are rows as round_rows() has them. */
static inline __attribute__ ((always_inline)) void
multiply (const SlFloatGemm *gemm, const SlFloatPanel *panel, const SlFloatRows *tile, gfloat *c,
          gsize c_stride, const gint rows, const gint groups)
{
  Vec sums[2 * MAX_ROWS];
  float16x8_t values[MAX_ROWS];
  const guint16 *weights = panel->weights, *a[MAX_ROWS];
  const gsize step = (gsize) (groups * LANES);
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    a[m] = (const guint16 *) (gconstpointer) tile->runs[m] + HEAD;
    values[m] = load_values (a[m]);
    sums[2 * m] = sums[2 * m + 1] = broadcast (0);
  }
  for (gint32 first = 0; first < tile->length; first += BLOCK) {
    const gint32 end = MIN (first + BLOCK, tile->length);
    gint32 k = first;
    float16x8_t part[MAX_ROWS];
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      part[m] = vdupq_n_f16 (0);
    for (; k + WIDE <= end; k += WIDE, weights += WIDE * step)
      loaded_steps (part, values, a, k + WIDE, weights, rows, groups);
    for (; k < end; k++, weights += step) {
      const float16x8_t w = load_weights (weights, groups);
      SL_UNROLL
      for (gint m = 0; m < rows; m++)
        part[m] = vfmaq_f16 (part[m], w, vreinterpretq_f16_u16 (vdupq_n_u16 (a[m][k])));
    }
    SL_UNROLL
    for (gint m = 0; m < rows; m++) {
      sums[2 * m] = sums[2 * m] + vcvt_f32_f16 (vget_low_f16 (part[m]));
      if (groups == 2)
        sums[2 * m + 1] = sums[2 * m + 1] + vcvt_high_f32_f16 (part[m]);
    }
  }
  const Vec lo = broadcast (gemm->lo), hi = broadcast (gemm->hi);
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++) {
    const gint m = i / groups, g = i % groups;
    gfloat back;
    memcpy (&back, a[m] - HEAD, sizeof back);
    const Vec results =
      fused (sums[2 * m + g], broadcast (back), load (gemm->bias + panel->channel + g * LANES));
    store_some (c + (gsize) m * c_stride + g * LANES,
                g < groups - 1 ? LANES : panel->channels - (groups - 1) * LANES,
                limited (results, lo, hi));
  }
}

DEFINE_TILES (multiply)

void sl_float_gemm_fp16_neon (const SlFloatGemm *gemm, gint32 first, gint32 end,
                              const SlFloatRows *rows, gint32 depth, gfloat *c, gsize c_stride,
                              guint16 *scratch);

void
sl_float_gemm_fp16_neon (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatRows *rows,
                         gint32 depth, gfloat *c, gsize c_stride, guint16 *scratch)
{
  const gsize stride = HEAD + ((gsize) depth + LANES - 1) / LANES * LANES;
  const gfloat *runs[MAX_ROWS];
  const SlFloatRows rounded = { .runs = runs, .n_runs = 1, .length = depth, .rows = rows->rows };
  round_rows (rows, stride, gemm->reach, scratch);
  for (gint32 r = 0; r < rows->rows; r++)
    runs[r] = (const gfloat *) (gconstpointer) (scratch + (gsize) r * stride);
  for (gint32 p = first; p < end; p++) {
    const SlFloatPanel *panel = &gemm->panels[p];
    multiply_tiles[rows->rows - 1][panel->groups - 1](gemm, panel, &rounded, c + panel->channel,
                                                      c_stride);
  }
}
