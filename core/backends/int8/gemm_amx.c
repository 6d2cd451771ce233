/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix product for processors with AMX, over the panels of AVX-512. A tile register holds up
 * to 16 rows of activations for 16 steps, or the weights of these steps for a group of channels, as
 * panels have them. Up to 32 rows by two groups are four tiles of sums. These go through memory to
 * registers of AVX-512, which add the bias and the steps that fill no tile, and make the results.
 */
#include "core/backends/int8/gemm.h"

/* Most rows of a tile register, and steps that it holds. */
#define TILE_ROWS 16
#define TILE_STEPS 16
/* Fewer steps take as long. */
#define LEAST_STEPS 8
#define MAX_HEIGHT (2 * TILE_ROWS)
/* Fewer rows leave tiles so empty that AVX-512's loops are faster. */
#define LEAST_ROWS 4
/* Channels of a panel. */
#define WIDTH (2 * LANES)

/* The tile registers: sums of the upper and the lower rows by group, activations of these rows, and
 * weights by group. */
#define UPPER_0 0
#define UPPER_1 1
#define LOWER_0 2
#define LOWER_1 3
#define UPPER 4
#define LOWER 5
#define WEIGHTS_0 6
#define WEIGHTS_1 7

/** Shapes: the operand of LDTILECFG, by tile register. */
typedef struct
{
  guint8 palette, start_row, reserved[14];
  guint16 row_bytes[16];
  guint8 rows[16];
} Shapes;
G_STATIC_ASSERT (sizeof (Shapes) == 64);

/* Sums of a panel, row by row. */
typedef gint32 Sums[MAX_HEIGHT * WIDTH] __attribute__ ((aligned (64)));

/* Of tiles for @height rows and @steps steps. */
static void
set_shapes (gint32 height, gint32 steps)
{
  const guint8 upper = (guint8) MIN (height, TILE_ROWS), lower = (guint8) (height - upper);
  const guint8 depth = (guint8) steps;
  const guint8 rows[] = { upper, upper, lower, lower, upper, lower, depth, depth };
  Shapes shapes = { .palette = 1 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    shapes.rows[i] = rows[i];
    shapes.row_bytes[i] = rows[i] == 0               ? 0
                          : i == UPPER || i == LOWER ? (guint16) (4 * steps)
                                                     : VEC_BYTES;
  }
  /* Compilers do not know that all of it is read. */
  __asm__ volatile("" : : "r"(&shapes) : "memory");
  _tile_loadconfig (&shapes);
}

/* As many tiles as a run of @n steps needs, of equal numbers of steps: few are left over. */
static gint32
tile_steps (gint32 n)
{
  return n / ((n + TILE_STEPS - 1) / TILE_STEPS);
}

/* Products of the steps of a run, whole tiles of them. */
static inline __attribute__ ((always_inline)) void
multiply_run (const guint8 *a, gsize stride, const guint8 *weights, gint32 left, gint32 steps,
              const gint groups, const gboolean lower)
{
  const gint next = groups * VEC_BYTES;
  for (; left >= steps; left -= steps) {
    _tile_loadd (WEIGHTS_0, weights, next);
    if (groups > 1)
      _tile_loadd (WEIGHTS_1, weights + VEC_BYTES, next);
    _tile_loadd (UPPER, a, stride);
    if (lower)
      _tile_loadd (LOWER, a + TILE_ROWS * stride, stride);
    _tile_dpbusd (UPPER_0, UPPER, WEIGHTS_0);
    if (groups > 1)
      _tile_dpbusd (UPPER_1, UPPER, WEIGHTS_1);
    if (lower) {
      _tile_dpbusd (LOWER_0, LOWER, WEIGHTS_0);
      if (groups > 1)
        _tile_dpbusd (LOWER_1, LOWER, WEIGHTS_1);
    }
    a += 4 * steps;
    weights += steps * next;
  }
}

/* Sums of all whole tiles of @panel. */
static inline __attribute__ ((always_inline)) void
multiply_tiles (const SlInt8Panel *panel, const Tile *tile, gint32 steps, const gint groups,
                const gboolean lower, gint32 *sums)
{
  const guint8 *weights = panel->weights;
  const gsize step_bytes = (gsize) (groups * VEC_BYTES), line = WIDTH * sizeof *sums;
  _tile_zero (UPPER_0);
  _tile_zero (UPPER_1);
  if (lower) {
    _tile_zero (LOWER_0);
    _tile_zero (LOWER_1);
  }
  multiply_run (tile->a, tile->stride, weights, panel->steps, steps, groups, lower);
  weights += (gsize) panel->steps * step_bytes;
  for (gint32 r = 0; r < panel->n_runs; r++, weights += (gsize) panel->run * step_bytes)
    multiply_run (tile->a + panel->extra[r * panel->run], tile->stride, weights, panel->run, steps,
                  groups, lower);
  _tile_stored (UPPER_0, sums, line);
  if (groups > 1)
    _tile_stored (UPPER_1, sums + LANES, line);
  if (lower) {
    _tile_stored (LOWER_0, sums + TILE_ROWS * WIDTH, line);
    if (groups > 1)
      _tile_stored (LOWER_1, sums + TILE_ROWS * WIDTH + LANES, line);
  }
}

/* Steps from @first to before @end of a run at @a. */
static inline __attribute__ ((always_inline)) void
add_steps (Vec *sums, const gint rows, const gint groups, const guint8 *a, gsize stride,
           const guint8 *weights, gint32 first, gint32 end)
{
  for (gint32 k = first; k < end; k++)
    step (sums, rows, groups, a + 4 * k, stride, weights + (gsize) (k * groups * VEC_BYTES), NULL,
          FALSE);
}

/* The steps that fill no tile. */
static inline __attribute__ ((always_inline)) void
add_rest (const SlInt8Panel *panel, const guint8 *a, gsize stride, gint32 steps, Vec *sums,
          const gint rows, const gint groups)
{
  const gint32 in_runs = panel->n_runs * panel->run, whole = panel->run / steps * steps;
  const guint8 *weights = panel->weights;
  const gsize step_bytes = (gsize) (groups * VEC_BYTES);
  add_steps (sums, rows, groups, a, stride, weights, panel->steps / steps * steps, panel->steps);
  weights += (gsize) panel->steps * step_bytes;
  for (gint32 k = 0; k < in_runs && whole < panel->run; k += panel->run)
    add_steps (sums, rows, groups, a + panel->extra[k], stride, weights + (gsize) k * step_bytes,
               whole, panel->run);
  for (gint32 k = in_runs; k < panel->n_extra; k++)
    step (sums, rows, groups, a + panel->extra[k], stride, weights + (gsize) k * step_bytes, NULL,
          FALSE);
}

/* The whole sums of @rows rows. */
static inline __attribute__ ((always_inline)) void
load_sums (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, gint32 steps,
           const gint32 *from, Vec *sums, const gint rows, const gint groups)
{
  const gint32 *bias = gemm->bias + panel->channel;
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = V (add_epi32) (load (from + i / groups * WIDTH + i % groups * LANES),
                             load (bias + i % groups * LANES));
  add_rest (panel, tile->a, tile->stride, steps, sums, rows, groups);
}

static inline __attribute__ ((always_inline)) void
finish_rows (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, gint32 steps,
             const Finish *finish, const gint32 *from, const gint rows, const gint groups)
{
  Vec sums[8 * 2];
  load_sums (gemm, panel, tile, steps, from, sums, rows, groups);
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i += 4)
    finish_four (finish, panel, tile, sums, i, rows * groups, groups);
}

static inline __attribute__ ((always_inline)) void
finish_float_rows (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, gint32 steps,
                   const gint32 *from, const gint rows, const gint groups)
{
  Vec sums[8 * 2];
  load_sums (gemm, panel, tile, steps, from, sums, rows, groups);
  finish_all_floats (gemm, panel, tile, sums, rows, groups);
}

static inline void
move_down (Tile *tile, gint32 rows, gboolean floats)
{
  tile->a += (gsize) rows * tile->stride;
  if (floats) {
    tile->rows += rows;
    tile->floats += (gsize) rows * tile->c_stride;
  } else {
    tile->c += (gsize) rows * tile->c_stride;
  }
}

static inline __attribute__ ((always_inline)) void
finish (const SlInt8Gemm *gemm, const SlInt8Panel *panel, Tile tile, gint32 steps,
        const gint32 *sums, gint32 height, const gint groups, const gboolean floats)
{
  const Finish values = finish_of (gemm, panel, groups);
#define FINISH(n)                                                        \
  for (; height >= n; height -= n, sums += n * WIDTH) {                  \
    if (floats)                                                          \
      finish_float_rows (gemm, panel, &tile, steps, sums, n, groups);    \
    else                                                                 \
      finish_rows (gemm, panel, &tile, steps, &values, sums, n, groups); \
    move_down (&tile, n, floats);                                        \
  }
  FINISH (8)
  FINISH (4)
  FINISH (2)
  FINISH (1)
#undef FINISH
}

static inline __attribute__ ((always_inline)) void
run_panel (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, gint32 steps,
           gint32 height, const gint groups, const gboolean floats)
{
  Sums sums;
  if (height > TILE_ROWS)
    multiply_tiles (panel, tile, steps, groups, TRUE, sums);
  else
    multiply_tiles (panel, tile, steps, groups, FALSE, sums);
  finish (gemm, panel, *tile, steps, sums, height, groups, floats);
}

/* Steps of the tiles for all panels, which have the same runs; 0 where AVX-512's loops are faster.
 */
static gint32
steps_for (const SlInt8Panel *panel, gint32 rows)
{
  const gint32 run = MAX (panel->steps, MAX (panel->run, 1)), steps = tile_steps (run);
  return rows < LEAST_ROWS || steps < LEAST_STEPS ? 0 : steps;
}

/* A panel's weights stay in the first cache while all rows pass. The last rows may overlap those
 * before, whose results are then written again: all are as many, so that shapes are set once. */
static inline __attribute__ ((always_inline)) void
run_rows (const SlInt8Gemm *gemm, gint32 first, gint32 end, const Tile *tile, gint32 rows,
          gint32 steps, const gboolean floats)
{
  const gint32 n = (rows + MAX_HEIGHT - 1) / MAX_HEIGHT, height = (rows + n - 1) / n;
  set_shapes (height, steps);
  for (gint32 p = first; p < end; p++) {
    const SlInt8Panel *panel = &gemm->panels[p];
    for (gint32 i = 0; i < n; i++) {
      Tile at = *tile;
      if (floats)
        at.floats += panel->channel;
      else
        at.c += panel->channel;
      move_down (&at, MIN (i * height, rows - height), floats);
      if (panel->groups > 1)
        run_panel (gemm, panel, &at, steps, height, 2, floats);
      else
        run_panel (gemm, panel, &at, steps, height, 1, floats);
    }
  }
  _tile_release ();
}

void
sl_int8_gemm_amx (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride,
                  gint32 rows, guint8 *c, gsize c_stride)
{
  const gint32 steps = steps_for (&gemm->panels[first], rows);
  if (steps == 0) {
    SL_SIMD (sl_int8_gemm) (gemm, first, end, a, stride, rows, c, c_stride);
    return;
  }
  const Tile tile = { a, stride, c, c_stride };
  run_rows (gemm, first, end, &tile, rows, steps, FALSE);
}

void
sl_int8_gemm_floats_amx (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                         gsize stride, gint32 n, const SlInt8Row *rows, gfloat *c, gsize c_stride)
{
  const gint32 steps = steps_for (&gemm->panels[first], n);
  if (steps == 0) {
    SL_SIMD (sl_int8_gemm_floats) (gemm, first, end, a, stride, n, rows, c, c_stride);
    return;
  }
  const Tile tile = { .a = a, .stride = stride, .c_stride = c_stride, .rows = rows, .floats = c };
  run_rows (gemm, first, end, &tile, n, steps, TRUE);
}
