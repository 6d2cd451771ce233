/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product: activations broadcast four bytes at a time, times the weights of one
 * or two registers of channels. Sums stay in registers; rows are shared out evenly among tiles,
 * since short ones wait for their sums. Results are packed four registers at a time, which costs as
 * much as several steps: where the depth is small and there are registers enough, a tile's results
 * are packed between the steps of the next one.
 */
#include "core/backends/int8/gemm.h"

#ifdef USES_INT16
#define ELEMENT 2
#else
#define ELEMENT 1
#endif
/* Where a flip costs much beside the products, rows come flipped. */
#if defined(USES_INT16) || defined(NO_FLIP)
#define FLIPS FALSE
#else
#define FLIPS TRUE
#endif

#ifdef TWO_STEPS
/* Two steps whose products are added before they are widened: by activations at @a and @b. */
static inline __attribute__ ((always_inline)) void
two_steps (Vec *sums, const gint rows, const gint groups, const guint8 *a, const guint8 *b,
           gsize stride, const guint8 *weights)
{
  Vec w[2][2];
  SL_UNROLL
  for (gint k = 0; k < 2; k++) {
    __builtin_prefetch (weights + PREFETCH + 64 * k);
    SL_UNROLL
    for (gint g = 0; g < groups; g++)
      w[k][g] = load (weights + (k * groups + g) * VEC_BYTES);
  }
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    const Vec values0 = broadcast (a + (gsize) m * stride),
              values1 = broadcast (b + (gsize) m * stride);
    SL_UNROLL
    for (gint g = 0; g < groups; g++)
      sums[m * groups + g] = dot_two (sums[m * groups + g], values0, w[0][g], values1, w[1][g]);
  }
}
#endif

#ifdef LOADED_STEPS
/** What loaded steps begin with: activations of each row, and a step's weights. */
typedef struct
{
  Vec values[MAX_ROWS], weights[2];
} Loaded;

/* LOADED_STEPS steps by what is @loaded, which with @more becomes that of the next ones:
 * processors that do not reorder instructions wait where a load is needed at once. @a, @weights: of
 * the next ones, and of these */
static inline __attribute__ ((always_inline)) void
loaded_steps (Vec *sums, Loaded *loaded, const gint rows, const gint groups, const guint8 *a,
              const gsize *offsets, const guint8 *weights, const gboolean more)
{
  if (more)
    __builtin_prefetch (weights + PREFETCH);
  if (more && groups > 1)
    __builtin_prefetch (weights + PREFETCH + 64);
  SL_UNROLL
  for (gint k = 0; k < LOADED_STEPS; k++) {
    const gboolean last = k + 1 == LOADED_STEPS;
    const Vec w[2] = { loaded->weights[0], loaded->weights[groups - 1] };
    weights += VEC_BYTES * groups;
    SL_UNROLL
    for (gint m = 0; m < rows; m++) {
      sums[m * groups] = dot_part (sums[m * groups], loaded->values[m], k, w[0]);
      if (groups > 1)
        sums[m * groups + 1] = dot_part (sums[m * groups + 1], loaded->values[m], k, w[1]);
      if (m == 0 && (more || !last))
        loaded->weights[0] = load_now (weights);
      if (m == MIN (1, rows - 1) && groups > 1 && (more || !last))
        loaded->weights[1] = load_now (weights + VEC_BYTES);
      if (last && more)
        loaded->values[m] = load_at (a, offsets[m]);
    }
  }
}

/* All of the @steps, in whole registers of activations. Behind the last ones nothing is read. */
static inline __attribute__ ((always_inline)) void
all_loaded_steps (Vec *sums, const gint rows, const gint groups, const guint8 *a, gsize stride,
                  const guint8 *weights, gint32 steps)
{
  Loaded loaded;
  gsize offsets[MAX_ROWS];
  if (steps < LOADED_STEPS)
    return;
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    offsets[m] = (gsize) m * stride;
    loaded.values[m] = load (a + offsets[m]);
  }
  SL_UNROLL
  for (gint g = 0; g < groups; g++)
    loaded.weights[g] = load (weights + g * VEC_BYTES);
  for (; steps >= 2 * LOADED_STEPS; steps -= LOADED_STEPS) {
    a += 4 * LOADED_STEPS;
    loaded_steps (sums, &loaded, rows, groups, a, offsets, weights, TRUE);
    weights += LOADED_STEPS * VEC_BYTES * groups;
  }
  loaded_steps (sums, &loaded, rows, groups, a, offsets, weights, FALSE);
}
#endif

/* @steps steps of consecutive units. */
static inline __attribute__ ((always_inline)) void
add_run (Vec *sums, const gint rows, const gint groups, const guint8 *a, gsize stride,
         const guint8 *weights, gint32 steps, const Vec *flip)
{
#ifdef LOADED_STEPS
  const gint32 whole = steps / LOADED_STEPS * LOADED_STEPS;
  all_loaded_steps (sums, rows, groups, a, stride, weights, whole);
  a += 4 * whole;
  weights += whole * VEC_BYTES * groups;
  steps -= whole;
#endif
  for (; steps > 0; steps--, a += 4, weights += VEC_BYTES * groups)
    step (sums, rows, groups, a, stride, weights, flip, TRUE);
}

static inline __attribute__ ((always_inline)) void
add_products (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, Vec *sums,
              const gint rows, const gint groups, const gboolean flips)
{
  const Vec flip_bits = set_bytes (gemm->flip), *const flip = flips ? &flip_bits : NULL;
  const guint8 *weights = panel->weights, *a = tile->a;
  const gint32 left = panel->steps;
  const Vec bias0 = load (gemm->bias + panel->channel),
            bias1 = groups > 1 ? load (gemm->bias + panel->channel + LANES) : bias0;
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = i % groups == 0 ? bias0 : bias1;
  add_run (sums, rows, groups, a, tile->stride, weights, left, flip);
  weights += left * VEC_BYTES * groups;
  gint32 k = 0;
#ifdef LOADED_STEPS
  /* Shorter runs are single steps. */
  for (gint32 r = 0; panel->run >= LOADED_STEPS && r < panel->n_runs; r++, k += panel->run) {
    add_run (sums, rows, groups, a + panel->extra[k], tile->stride, weights, panel->run, flip);
    weights += panel->run * VEC_BYTES * groups;
  }
#endif
#ifdef TWO_STEPS
  for (; k < 2 * panel->twos; k += 2, weights += 2 * VEC_BYTES * groups)
    two_steps (sums, rows, groups, a + panel->extra[k], a + panel->extra[k + 1], tile->stride,
               weights);
#endif
  for (; k < panel->n_extra; k++, weights += VEC_BYTES * groups)
    step (sums, rows, groups, a + (gssize) panel->extra[k] * ELEMENT, tile->stride, weights, flip,
          TRUE);
}

static inline __attribute__ ((always_inline)) void
multiply (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, const gint rows,
          const gint groups)
{
  Vec sums[2 * MAX_ROWS];
  add_products (gemm, panel, tile, sums, rows, groups, FLIPS);
  const Finish finish = finish_of (gemm, panel, groups);
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i += 4)
    finish_four (&finish, panel, tile, sums, i, rows * groups, groups);
}

static inline __attribute__ ((always_inline)) void
multiply_floats (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile,
                 const gint rows, const gint groups)
{
  Vec sums[2 * MAX_ROWS];
  add_products (gemm, panel, tile, sums, rows, groups, FALSE);
  finish_all_floats (gemm, panel, tile, sums, rows, groups);
}

#define DEFINE(rows, groups)                                                                \
  static void multiply_##rows##_##groups (const SlInt8Gemm *gemm, const SlInt8Panel *panel, \
                                          const Tile *tile)                                 \
  {                                                                                         \
    multiply (gemm, panel, tile, rows, groups);                                             \
  }                                                                                         \
  static void floats_##rows##_##groups (const SlInt8Gemm *gemm, const SlInt8Panel *panel,   \
                                        const Tile *tile)                                   \
  {                                                                                         \
    multiply_floats (gemm, panel, tile, rows, groups);                                      \
  }
DEFINE (1, 1)
DEFINE (1, 2)
DEFINE (2, 1)
DEFINE (2, 2)
DEFINE (3, 1)
DEFINE (3, 2)
DEFINE (4, 1)
DEFINE (4, 2)
DEFINE (5, 1)
DEFINE (5, 2)
DEFINE (6, 1)
DEFINE (6, 2)
#if MAX_ROWS > 6
DEFINE (7, 1)
DEFINE (7, 2)
DEFINE (8, 1)
DEFINE (8, 2)
#endif
#if MAX_ROWS > 8
DEFINE (9, 1)
DEFINE (9, 2)
DEFINE (10, 1)
DEFINE (10, 2)
DEFINE (11, 1)
DEFINE (11, 2)
DEFINE (12, 1)
DEFINE (12, 2)
DEFINE (13, 1)
DEFINE (13, 2)
#endif

typedef void (*TileFunc) (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile);

/* By rows less one and groups less one. */
#define BY_GROUPS(name, rows)            \
  {                                      \
    name##_##rows##_1, name##_##rows##_2 \
  }
#if MAX_ROWS > 8
#define BY_ROWS(name)                                                                        \
  {                                                                                          \
    BY_GROUPS (name, 1), BY_GROUPS (name, 2), BY_GROUPS (name, 3), BY_GROUPS (name, 4),      \
      BY_GROUPS (name, 5), BY_GROUPS (name, 6), BY_GROUPS (name, 7), BY_GROUPS (name, 8),    \
      BY_GROUPS (name, 9), BY_GROUPS (name, 10), BY_GROUPS (name, 11), BY_GROUPS (name, 12), \
      BY_GROUPS (name, 13)                                                                   \
  }
#elif MAX_ROWS > 6
#define BY_ROWS(name)                                                                     \
  {                                                                                       \
    BY_GROUPS (name, 1), BY_GROUPS (name, 2), BY_GROUPS (name, 3), BY_GROUPS (name, 4),   \
      BY_GROUPS (name, 5), BY_GROUPS (name, 6), BY_GROUPS (name, 7), BY_GROUPS (name, 8), \
  }
#else
#define BY_ROWS(name)                                                                   \
  {                                                                                     \
    BY_GROUPS (name, 1), BY_GROUPS (name, 2), BY_GROUPS (name, 3), BY_GROUPS (name, 4), \
      BY_GROUPS (name, 5), BY_GROUPS (name, 6),                                         \
  }
#endif
static const TileFunc multiply_functions[MAX_ROWS][2] = BY_ROWS (multiply);
static const TileFunc float_functions[MAX_ROWS][2] = BY_ROWS (floats);

#ifdef MAX_SHALLOW
/* Sums of a tile of which there are two at a time. */
#define SHALLOW_SUMS 12

/* @rows of one panel. */
static void
run_panel (const SlInt8Gemm *gemm, const SlInt8Panel *panel, Tile tile, gint32 rows)
{
  for (gint32 tiles = (rows + MAX_ROWS - 1) / MAX_ROWS; tiles > 0; tiles--) {
    const gint32 height = (rows + tiles - 1) / tiles;
    multiply_functions[height - 1][panel->groups - 1](gemm, panel, &tile);
    tile.a += (gsize) height * tile.stride;
    tile.c += (gsize) height * tile.c_stride;
    rows -= height;
  }
}

static inline __attribute__ ((always_inline)) void
start (const SlInt8Gemm *gemm, const SlInt8Panel *panel, Vec *sums, const gint groups)
{
  const Vec bias0 = load (gemm->bias + panel->channel),
            bias1 = groups > 1 ? load (gemm->bias + panel->channel + LANES) : bias0;
  SL_UNROLL
  for (gint i = 0; i < SHALLOW_SUMS; i++)
    sums[i] = i % groups == 0 ? bias0 : bias1;
}

/* Steps from @first to before @end, those at offsets of their own being the last ones. */
static inline __attribute__ ((always_inline)) void
steps (Vec *sums, const SlInt8Panel *panel, const guint8 *a, gsize stride, gint32 first, gint32 end,
       const gint groups)
{
  const guint8 *weights =
    (const guint8 *) panel->weights + (gsize) first * (gsize) (groups * VEC_BYTES);
  for (gint32 k = first; k < end; k++, weights += groups * VEC_BYTES)
    step (sums, SHALLOW_SUMS / groups, groups,
          a + (k < panel->steps ? 4 * k : panel->extra[k - panel->steps]), stride, weights, NULL,
          FALSE);
}

/* @rows of one panel, at least those of a tile. The last tile may overlap the one before, whose
 * results it then writes again. */
static inline __attribute__ ((always_inline)) void
run_shallow (const SlInt8Gemm *gemm, const SlInt8Panel *panel, Tile tile, gint32 rows,
             const gint groups)
{
  const gint n = SHALLOW_SUMS, height = n / groups;
  const Finish finish = finish_of (gemm, panel, groups);
  const gint32 all = panel->steps + panel->n_extra, third = all / 3;
  gint32 left = rows - height;
  const guint8 *a = tile.a;
  Vec ready[SHALLOW_SUMS], sums[SHALLOW_SUMS];
  start (gemm, panel, ready, groups);
  steps (ready, panel, a, tile.stride, 0, all, groups);
  while (left > 0) {
    const gint32 next = MIN (left, height);
    a += (gsize) next * tile.stride;
    start (gemm, panel, sums, groups);
    steps (sums, panel, a, tile.stride, 0, third, groups);
    finish_four (&finish, panel, &tile, ready, 0, n, groups);
    steps (sums, panel, a, tile.stride, third, 2 * third, groups);
    finish_four (&finish, panel, &tile, ready, 4, n, groups);
    steps (sums, panel, a, tile.stride, 2 * third, all, groups);
    finish_four (&finish, panel, &tile, ready, 8, n, groups);
    tile.c += (gsize) next * tile.c_stride;
    left -= next;
    SL_UNROLL
    for (gint i = 0; i < n; i++)
      ready[i] = sums[i];
  }
  SL_UNROLL
  for (gint i = 0; i < n; i += 4)
    finish_four (&finish, panel, &tile, ready, i, n, groups);
}

static void
run_shallow_1 (const SlInt8Gemm *gemm, const SlInt8Panel *panel, Tile tile, gint32 rows)
{
  run_shallow (gemm, panel, tile, rows, 1);
}

static void
run_shallow_2 (const SlInt8Gemm *gemm, const SlInt8Panel *panel, Tile tile, gint32 rows)
{
  run_shallow (gemm, panel, tile, rows, 2);
}

/* All rows a panel at a time: its weights are few. FALSE when the panels are not shallow or
 * activations need a flip; in deeper ones there is less to gain than the weights cost that smaller
 * tiles read more often. */
static gboolean
run_panels (const SlInt8Gemm *gemm, gint32 first, gint32 end, Tile tile, gint32 rows)
{
  guint8 *const c = tile.c;
  if (gemm->flip != 0 || gemm->panels[first].steps + gemm->panels[first].n_extra > MAX_SHALLOW)
    return FALSE;
  for (gint32 p = first; p < end; p++) {
    const SlInt8Panel *panel = &gemm->panels[p];
    tile.c = c + panel->channel;
    if (rows < SHALLOW_SUMS / panel->groups)
      run_panel (gemm, panel, tile, rows);
    else if (panel->groups == 1)
      run_shallow_1 (gemm, panel, tile, rows);
    else
      run_shallow_2 (gemm, panel, tile, rows);
  }
  return TRUE;
}
#endif

void
SL_SIMD (sl_int8_gemm) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                        gsize stride, gint32 rows, guint8 *c, gsize c_stride)
{
  Tile tile = { a, stride, c, c_stride };
#ifdef MAX_SHALLOW
  if (run_panels (gemm, first, end, tile, rows))
    return;
#endif
  for (gint32 tiles = (rows + MAX_ROWS - 1) / MAX_ROWS; tiles > 0; tiles--) {
    const gint32 height = (rows + tiles - 1) / tiles;
    guint8 *row = tile.c;
    for (gint32 p = first; p < end; p++) {
      const SlInt8Panel *panel = &gemm->panels[p];
      tile.c = row + panel->channel;
      multiply_functions[height - 1][panel->groups - 1](gemm, panel, &tile);
    }
    tile.a += (gsize) height * stride;
    tile.c = row + (gsize) height * c_stride;
    rows -= height;
  }
}

void
SL_SIMD (sl_int8_gemm_floats) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                               gsize stride, gint32 n, const SlInt8Row *rows, gfloat *c,
                               gsize c_stride)
{
  Tile tile = { .a = a, .stride = stride, .c_stride = c_stride, .rows = rows };
  for (gint32 tiles = (n + MAX_ROWS - 1) / MAX_ROWS; tiles > 0; tiles--) {
    const gint32 height = (n + tiles - 1) / tiles;
    for (gint32 p = first; p < end; p++) {
      const SlInt8Panel *panel = &gemm->panels[p];
      tile.floats = c + panel->channel;
      float_functions[height - 1][panel->groups - 1](gemm, panel, &tile);
    }
    tile.a += (gsize) height * stride;
    tile.rows += height;
    c += (gsize) height * c_stride;
    n -= height;
  }
}
