/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ATTENTION block by block: a work item has some queries of a matrix. For each block of keys it
 * packs these and their values into its thread's scratch memory, where tiles of a layer read them,
 * then passes tiles of queries over them: scores, shares, and shares times values, which are added
 * to the output. So a tile of scores is all that there is at a time, in the first cache.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "core/backends/scores.h"
#include "core/backends/transpose.h"
#include "core/ops/ops.h"

/* Keys of a block: a tile of their scores fits the first cache, and the packed keys and values the
 * second one. */
#define LEAST_KEYS 64
#define MOST_PACKED 65536
/* Panels of a block, or of values, with the smallest registers. */
#define MAX_PANELS (SL_SCORE_KEYS / 8)

struct _SlFloatAttention
{
  const SlFloatIsa *isa;
  const SlAttention *a;
  SlPlaces q, k, v, y;
  gssize key_step; /* from one number of a key to the next */
  gint32 queries, keys, depth, width;
  SlScoreBlocks blocks;
  gsize score_stride, value_stride; /* floats: of rows of a tile */
  guint cost_us;
  const gfloat *zeros; /* a bias for all panels */
  const SlScratch *scratch;
};

/** The parts of a thread's scratch memory. */
typedef struct
{
  gfloat *keys, *values, *scores, *sums, *tops, *totals;
} Memory;

typedef struct
{
  const SlFloatAttention *attention;
  const void *const *inputs;
  gfloat *y;
} Run;

/** A block of keys, and the matrix that it is of. @square: of all keys of the matrix, the largest
 * sum of squares, or infinity. */
typedef struct
{
  gsize matrix;
  gfloat square;
  gint32 first, n;
  SlFloatPanel keys[MAX_PANELS], values[MAX_PANELS];
  gint32 key_panels, value_panels;
} Block;

/* Queries of a tile; @at: of the first in its work item; @all: keys that at least one of them has,
 * @keys: those of the block. */
typedef struct
{
  gint32 first, at, n, all, keys;
} Tile;

static gsize
registers_of (const SlFloatIsa *isa, gint32 n)
{
  return (gsize) (sl_score_pieces (n, isa->lanes) * isa->lanes);
}

/* How blocks, tiles and work items divide keys and queries. */
static void
divide (SlFloatAttention *m, guint threads)
{
  const SlFloatIsa *isa = m->isa;
  const gint32 most = CLAMP (MOST_PACKED / (m->depth + m->width), LEAST_KEYS, SL_SCORE_KEYS);
  m->blocks = sl_score_divide (m->a, most, isa->lanes * isa->max_groups, isa->max_rows, threads);
  m->score_stride = registers_of (isa, m->blocks.keys);
  m->value_stride = registers_of (isa, m->width);
}

/* Floats of each part of the scratch memory; the parts begin aligned. */
static gsize
set_memory (const SlFloatAttention *m, gfloat *at, Memory *memory)
{
  const gsize sizes[] = { (gsize) m->depth * m->score_stride,
                          (gsize) m->blocks.keys * m->value_stride,
                          (gsize) m->blocks.queries * m->score_stride,
                          (gsize) m->blocks.queries * m->value_stride,
                          (gsize) m->blocks.part,
                          (gsize) m->blocks.part };
  gfloat **const parts[] = { &memory->keys, &memory->values, &memory->scores,
                             &memory->sums, &memory->tops,   &memory->totals };
  gsize used = 0;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const gsize unit = SL_TENSOR_ALIGN / sizeof (gfloat);
    *parts[i] = at != NULL ? at + used : NULL;
    used += (sizes[i] + unit - 1) / unit * unit + unit;
  }
  return used;
}

SlFloatAttention *
sl_float_attention_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node)
{
  SlFloatAttention *m = sl_arena_alloc (host->arena, sizeof *m);
  const SlAttention *a = node->params.attention;
  Memory memory;
  gint64 step = 0;
  *m = (SlFloatAttention){ .isa = isa,
                           .a = a,
                           .q = sl_places_of (&a->q, host->arena),
                           .k = sl_places_of (&a->k, host->arena),
                           .v = sl_places_of (&a->v, host->arena),
                           .y = sl_places_of (&a->y, host->arena),
                           .queries = a->q.dims[1],
                           .keys = a->k.dims[1],
                           .depth = a->q.dims[2],
                           .width = a->v.dims[2],
                           .scratch = &host->scratch };
  sl_strided_step (&a->k, 2, &step);
  m->key_step = (gssize) step;
  divide (m, host->threads);
  const gdouble scores = (gdouble) a->q.dims[0] * m->queries * m->keys;
  m->cost_us =
    (guint) MIN (scores * (m->depth + m->width + 2 * isa->lanes) / (isa->lanes * 3e3), 1e6);
  const gsize widest = MAX (m->score_stride, m->value_stride);
  gfloat *zeros = sl_tensor_alloc (host->arena, widest * sizeof zeros[0]);
  memset (zeros, 0, widest * sizeof zeros[0]);
  m->zeros = zeros;
  sl_host_need_scratch (host, set_memory (m, NULL, &memory) * sizeof (gfloat) + SL_TENSOR_PADDING);
  return m;
}

/* Panels of @columns columns of @depth weights behind each other; returns how many. */
static gint32
cut_panels (const SlFloatIsa *isa, gint32 columns, gint32 depth, const gfloat *weights,
            SlFloatPanel *panels)
{
  const gint32 registers = sl_score_pieces (columns, isa->lanes),
               n = sl_score_pieces (registers, isa->max_groups);
  for (gint32 p = 0; p < n; p++) {
    const gint32 begin = registers * p / n, end = registers * (p + 1) / n;
    panels[p] =
      (SlFloatPanel){ weights, begin * isa->lanes,
                      MIN (end * isa->lanes, columns) - begin * isa->lanes, end - begin, 0 };
    weights += (gsize) (depth * (end - begin) * isa->lanes);
  }
  return n;
}

/* Key @j of a panel and the three behind it, as columns; FALSE where they are not evenly apart. */
static gboolean
turn_keys (const SlFloatAttention *m, const gfloat *k, const gssize *rows, gfloat *to, gsize width)
{
  const gssize apart = rows[1] - rows[0];
  if (m->key_step != 1 || rows[2] - rows[1] != apart || rows[3] - rows[2] != apart)
    return FALSE;
  gint32 d = 0;
  for (; d + 4 <= m->depth; d += 4)
    sl_turn (k + rows[0] + d, (gsize) apart * sizeof k[0], to + (gsize) d * width,
             width * sizeof to[0], 0);
  for (; d < m->depth; d++)
    for (gsize i = 0; i < 4; i++)
      to[(gsize) d * width + i] = k[rows[i] + d];
  return TRUE;
}

/* Keys as columns of panels. */
static void
pack_keys (const SlFloatAttention *m, const Block *block, const gfloat *k, gfloat *to)
{
  for (gint32 p = 0; p < block->key_panels; p++) {
    const SlFloatPanel *panel = &block->keys[p];
    const gsize width = (gsize) (panel->groups * m->isa->lanes);
    if ((gsize) panel->channels < width)
      memset (to, 0, (gsize) m->depth * width * sizeof to[0]);
    const gfloat *matrix = k + m->k.matrices[block->matrix];
    const gssize *rows = m->k.rows + block->first + panel->channel;
    for (gint32 j = 0; j < panel->channels;) {
      if (j + 4 <= panel->channels && turn_keys (m, matrix, rows + j, to + j, width)) {
        j += 4;
        continue;
      }
      for (gint32 d = 0; d < m->depth; d++)
        to[(gsize) d * width + (gsize) j] = matrix[rows[j] + d * m->key_step];
      j++;
    }
    to += (gsize) m->depth * width;
  }
}

static void
pack_values (const SlFloatAttention *m, const Block *block, const gfloat *v, gfloat *to)
{
  for (gint32 p = 0; p < block->value_panels; p++) {
    const SlFloatPanel *panel = &block->values[p];
    const gsize width = (gsize) (panel->groups * m->isa->lanes), n = (gsize) panel->channels;
    for (gint32 j = 0; j < block->n; j++, to += width) {
      memcpy (to, v + sl_place (&m->v, block->matrix, block->first + j) + panel->channel,
              n * sizeof to[0]);
      memset (to + n, 0, (width - n) * sizeof to[0]);
    }
  }
}

static void
pack (const Run *run, Block *block, const Memory *memory)
{
  const SlFloatAttention *m = run->attention;
  block->key_panels = cut_panels (m->isa, block->n, m->depth, memory->keys, block->keys);
  block->value_panels = cut_panels (m->isa, m->width, block->n, memory->values, block->values);
  pack_keys (m, block, run->inputs[1], memory->keys);
  pack_values (m, block, run->inputs[2], memory->values);
}

/* Rows of the tile at @runs, @length each, times panels. */
static void
multiply (const SlFloatAttention *m, const SlFloatPanel *panels, gint32 n_panels,
          const gfloat *const *runs, gint32 length, gint32 n, gfloat *to, gsize stride)
{
  const SlFloatGemm gemm = { panels, m->zeros, NULL, -INFINITY, INFINITY, 0 };
  const SlFloatRows rows = { runs, 1, length, n };
  m->isa->gemm (&gemm, 0, n_panels, &rows, to, stride);
}

/* The largest sum of squares of the keys of a matrix; infinity where scores are masked: then bounds
 * of products are not bounds of scores. */
static gfloat
square_of_keys (const Run *run, gsize matrix)
{
  const SlFloatAttention *m = run->attention;
  const gfloat *rows[SL_FLOAT_MAX_ROWS];
  gfloat square = 0;
  if (m->isa->share == NULL || m->a->n_masks > 0 || m->a->period > 0 || m->key_step != 1)
    return INFINITY;
  for (gint32 key = 0; key < m->keys && square < INFINITY; key += SL_FLOAT_MAX_ROWS) {
    const gint32 n = MIN (m->keys - key, SL_FLOAT_MAX_ROWS);
    for (gint32 r = 0; r < n; r++)
      rows[r] = (const gfloat *) run->inputs[1] + sl_place (&m->k, matrix, key + r);
    const gfloat some = m->isa->largest_square (rows, n, m->depth);
    square = square > some ? square : some;
  }
  return square;
}

/* The shares of a tile whose scores are so near 0 that they need not be relative to the largest
 * one; FALSE: they may not be. No score is larger than the product of the lengths of query and
 * key. */
static gboolean
share_tile (const SlFloatAttention *m, const Block *block, const Tile *tile,
            const gfloat *const *runs, const Memory *memory, gfloat *olds)
{
  const gfloat scale = m->a->scale * SL_LOG2_E;
  gfloat sums[SL_FLOAT_MAX_ROWS];
  if (!(block->square < INFINITY)
      || !(sqrtf (block->square) * sqrtf (m->isa->largest_square (runs, tile->n, m->depth))
             * fabsf (scale)
           <= SL_FLOAT_SHARE_BOUND))
    return FALSE;
  const SlFloatShares shares = { block->keys, runs, tile->n, m->depth, scale, NULL };
  m->isa->share (&shares, block->key_panels, memory->scores, m->score_stride, sums);
  for (gint32 r = 0; r < tile->n; r++) {
    gfloat *total = memory->totals + tile->at + r;
    *total = block->first == 0 ? sums[r] : *total + sums[r];
    olds[r] = block->first == 0 ? 0 : 1;
  }
  return TRUE;
}

/* The scores of a tile, and their shares relative to the largest one so far. */
static void
attend_tile (const Run *run, const Block *block, const Tile *tile, const gfloat *const *runs,
             const Memory *memory, gfloat *olds)
{
  const SlFloatAttention *m = run->attention;
  gint32 panels = 0;
  while (panels < block->key_panels && block->keys[panels].channel < tile->keys)
    panels++;
  multiply (m, block->keys, panels, runs, m->depth, tile->n, memory->scores, m->score_stride);
  const SlScoreTile masked = { .a = m->a,
                               .inputs = run->inputs,
                               .add_scaled = m->isa->add_scaled,
                               .matrix = block->matrix,
                               .query = tile->first,
                               .queries = tile->n,
                               .key = block->first,
                               .keys = tile->keys,
                               .all = m->keys,
                               .scores = memory->scores,
                               .stride = m->score_stride };
  const gfloat scale = sl_scores_mask (&masked);
  const SlFloatScores scores = { .scores = memory->scores,
                                 .stride = m->score_stride,
                                 .rows = tile->n,
                                 .keys = tile->keys,
                                 .scale = scale * SL_LOG2_E,
                                 .first = block->first == 0,
                                 .tops = memory->tops + tile->at,
                                 .sums = memory->totals + tile->at,
                                 .olds = olds };
  m->isa->attend (&scores);
}

static void
run_tile (const Run *run, const Block *block, const Tile *tile, const Memory *memory)
{
  const SlFloatAttention *m = run->attention;
  const gfloat *runs[SL_FLOAT_MAX_ROWS];
  gfloat olds[SL_FLOAT_MAX_ROWS];
  for (gint32 r = 0; r < tile->n; r++)
    runs[r] = (const gfloat *) run->inputs[0] + sl_place (&m->q, block->matrix, tile->first + r);
  if (!share_tile (m, block, tile, runs, memory, olds))
    attend_tile (run, block, tile, runs, memory, olds);
  for (gint32 r = 0; r < tile->n; r++)
    runs[r] = memory->scores + (gsize) r * m->score_stride;
  multiply (m, block->values, block->value_panels, runs, tile->keys, tile->n, memory->sums,
            m->value_stride);
  const gboolean last = block->first + block->n >= tile->all;
  for (gint32 r = 0; r < tile->n; r++)
    m->isa->blend (run->y + sl_place (&m->y, block->matrix, tile->first + r),
                   memory->sums + (gsize) r * m->value_stride, (gsize) m->width, olds[r],
                   last ? 1 / memory->totals[tile->at + r] : 1);
}

static void
run_item (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlFloatAttention *m = run->attention;
  const gint32 part = (gint32) (item % (guint) m->blocks.parts), begin = part * m->blocks.part,
               end = MIN (begin + m->blocks.part, m->queries);
  Block block = { .matrix = item / (guint) m->blocks.parts };
  Memory memory;
  block.square = square_of_keys (run, block.matrix);
  set_memory (m, (gfloat *) (gpointer) (m->scratch->memory + m->scratch->bytes * thread), &memory);
  for (block.first = 0; block.first < m->keys; block.first += m->blocks.keys) {
    block.n = MIN (m->blocks.keys, m->keys - block.first);
    pack (run, &block, &memory);
    for (gint32 row = begin; row < end; row += m->blocks.queries) {
      Tile tile = { row, row - begin, MIN (m->blocks.queries, end - row), 0, 0 };
      for (gint32 r = 0; r < tile.n; r++)
        tile.all = MAX (tile.all, sl_attention_keys (m->a, row + r, m->keys));
      tile.keys = MIN (tile.all - block.first, block.n);
      if (tile.keys > 0)
        run_tile (run, &block, &tile, &memory);
    }
  }
}

void
sl_float_attention_run (const SlFloatAttention *m, SlPool *pool, const void *const *inputs,
                        void *output)
{
  const Run run = { m, inputs, output };
  sl_pool_run (pool, run_item, &run, m->blocks.items, m->cost_us);
}
