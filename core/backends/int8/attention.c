/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ATTENTION of keys and values of 8 bits. A work item has some queries of a matrix. For each block
 * of keys it packs these and their values as the weights of two layers, then passes tiles of
 * queries over them: rounded queries give scores, rounded shares give results, each row rounded by
 * its own range. Scores and shares are floats of which a tile is all that there is at a time.
 */
#include "core/backends/int8/attention.h"

#include <math.h>
#include <string.h>

#include "core/backends/int8/layer.h"
#include "core/backends/scores.h"
#include "core/backends/transpose.h"
#include "core/graph/attention.h"
#include "core/ops/ops.h"

/* Keys of a block, and columns of a value, which a pass limits. */
#define MOST_COLUMNS 512
#define MAX_PANELS (SL_SCORE_KEYS / 4)
G_STATIC_ASSERT (MOST_COLUMNS <= SL_SCORE_KEYS);
/* Keys that are packed at a time: four make whole registers of steps. */
#define TOGETHER 4

struct _SlInt8Attention
{
  const SlInt8Isa *isa;
  SlScoreLoops floats;
  const SlAttention *a;
  SlPlaces q, k, v, y;
  gssize key_step; /* from one number of a key to the next */
  gint32 queries, keys, depth, width;
  SlScoreBlocks blocks;
  gsize element, query_bytes, share_bytes, score_stride, value_stride;
  guint cost_us;
  gfloat *rest; /* zeros for all panels */
  const SlScratch *scratch;
};

/** Keys or values as the weights of a layer; @offsets: (instruction sets with @pairs) where their
 * steps read, by panel. */
typedef struct
{
  guint8 *weights;
  gint32 *offsets;
  gint32 *bias;
  gfloat *scale, *lean;
} Packed;

/** The parts of a thread's scratch memory. */
typedef struct
{
  Packed keys, values;
  guint8 *codes;                               /* of a tile's queries or shares */
  gint8 *lines;                                /* rounded rows on their way into panels */
  gfloat *scores, *sums, *tops, *totals, *row; /* @row: a key whose numbers are apart */
} Memory;

/** A block of keys, and the matrix that it is of. */
typedef struct
{
  const SlInt8Attention *m;
  const void *const *inputs;
  gfloat *y;
  Memory memory;
  gsize matrix;
  gint32 first, n, key_panels, value_panels;
  SlInt8Panel keys[MAX_PANELS], values[MAX_PANELS];
} Block;

typedef struct
{
  const SlInt8Attention *m;
  const void *const *inputs;
  gfloat *y;
} Run;

static gsize
rounded_up (gsize n, gsize to)
{
  return (n + to - 1) / to * to;
}

/* How blocks, tiles and work items divide keys and queries. */
static void
divide (SlInt8Attention *m, guint threads)
{
  const SlInt8Isa *isa = m->isa;
  m->blocks =
    sl_score_divide (m->a, SL_SCORE_KEYS, isa->lanes * isa->max_groups, isa->rows, threads);
  m->element = isa->int16 ? 2 : 1;
  m->query_bytes = rounded_up ((gsize) m->depth, (gsize) isa->unit) * m->element;
  m->share_bytes = rounded_up ((gsize) m->blocks.keys, (gsize) isa->unit) * m->element;
  m->score_stride = rounded_up ((gsize) m->blocks.keys, (gsize) isa->lanes);
  m->value_stride = rounded_up ((gsize) m->width, (gsize) isa->lanes);
}

static gpointer
take (guint8 *at, gsize *used, gsize bytes)
{
  const gsize begin = *used;
  *used += rounded_up (bytes + SL_TENSOR_PADDING, SL_TENSOR_ALIGN);
  return at != NULL ? at + begin : NULL;
}

/* The parts of the memory at @at; returns their bytes. */
static gsize
set_memory (const SlInt8Attention *m, guint8 *at, Memory *memory)
{
  const gsize keys = m->score_stride, columns = m->value_stride, tile = (gsize) m->blocks.queries,
              rows = (gsize) m->blocks.part;
  gsize used = 0;
  Packed *const parts[] = { &memory->keys, &memory->values };
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    const gsize n = i == 0 ? keys : columns, row = i == 0 ? m->query_bytes : m->share_bytes;
    parts[i]->weights = take (at, &used, n * row);
    if (m->isa->pairs)
      parts[i]->offsets =
        take (at, &used, n / (gsize) m->isa->lanes * row * sizeof parts[i]->offsets[0]);
    parts[i]->bias = take (at, &used, n * sizeof (gint32));
    parts[i]->scale = take (at, &used, n * sizeof (gfloat));
    parts[i]->lean = take (at, &used, n * sizeof (gfloat));
  }
  memory->codes = take (at, &used, tile * MAX (m->query_bytes, m->share_bytes));
  memory->lines = take (at, &used, MAX ((gsize) m->isa->unit * columns, TOGETHER * m->query_bytes));
  memory->scores = take (at, &used, tile * keys * sizeof (gfloat));
  memory->sums = take (at, &used, tile * columns * sizeof (gfloat));
  memory->tops = take (at, &used, rows * sizeof (gfloat));
  memory->totals = take (at, &used, rows * sizeof (gfloat));
  memory->row = take (at, &used, (gsize) m->depth * sizeof (gfloat));
  return used;
}

gboolean
sl_int8_attention_supports (const SlNode *node)
{
  return node->op == SL_OP_ATTENTION && sl_attention_is_rounded (node->params.attention);
}

SlInt8Attention *
sl_int8_attention_new (const SlInt8Isa *isa, SlHost *host, const SlNode *node)
{
  SlInt8Attention *m = sl_arena_alloc (host->arena, sizeof *m);
  const SlAttention *a = node->params.attention;
  Memory memory;
  gint64 step = 0;
  *m = (SlInt8Attention){ .isa = isa->attention != NULL ? isa->attention : isa,
                          .floats = sl_score_loops (),
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
  m->cost_us = (guint) MIN (scores * (m->depth + m->width + 80) / 150e3, 1e6);
  const gsize widest = MAX (m->score_stride, m->value_stride) * sizeof m->rest[0];
  m->rest = sl_tensor_alloc (host->arena, widest);
  memset (m->rest, 0, widest);
  sl_host_need_scratch (host, set_memory (m, NULL, &memory));
  return m;
}

static gint32
steps_of (const SlInt8Panel *panel)
{
  return panel->steps + panel->n_extra;
}

/* Lets the steps of @panel come in any order, so that two can be put together. */
static void
set_offsets (SlInt8Panel *panel, gint32 unit, gint32 *offsets)
{
  panel->n_extra = panel->steps;
  panel->steps = 0;
  panel->extra = offsets;
  for (gint32 i = 0; i < panel->n_extra; i++)
    offsets[i] = i * unit;
}

/* Panels of @columns columns with @steps steps; returns how many. */
static gint32
cut_panels (const SlInt8Attention *m, gint32 columns, gint32 steps, const Packed *packed,
            SlInt8Panel *panels)
{
  const SlInt8Isa *isa = m->isa;
  const guint8 *weights = packed->weights;
  const gint32 registers = sl_score_pieces (columns, isa->lanes),
               n = sl_score_pieces (registers, isa->max_groups);
  for (gint32 p = 0; p < n; p++) {
    const gint32 begin = registers * p / n, end = registers * (p + 1) / n;
    panels[p] = (SlInt8Panel){ .weights = weights,
                               .steps = steps,
                               .groups = end - begin,
                               .channel = begin * isa->lanes,
                               .channels = MIN (end * isa->lanes, columns) - begin * isa->lanes };
    if (isa->pairs)
      set_offsets (&panels[p], isa->unit, packed->offsets + p * steps);
    weights += (gsize) (steps * (end - begin) * isa->lanes * isa->unit) * m->element;
  }
  return n;
}

/* Columns of a panel, with those that no channel fills. */
static gsize
panel_width (const SlInt8Attention *m, const SlInt8Panel *panel)
{
  return (gsize) (panel->groups * m->isa->lanes);
}

static void
put (const SlInt8Attention *m, const SlInt8Panel *panel, gsize at, gint8 value)
{
  if (m->isa->int16)
    ((gint16 *) panel->weights)[at] = value;
  else
    ((gint8 *) panel->weights)[at] = value;
}

/* TOGETHER keys of a block from @first on, rounded, into columns of a panel; zeros where it has no
 * more. */
static void
pack_keys (const Block *block, const SlInt8Panel *panel, gint32 first)
{
  const SlInt8Attention *m = block->m;
  const gsize unit = (gsize) m->isa->unit, width = panel_width (m, panel),
              depth = (gsize) steps_of (panel) * unit, column = (gsize) (first - panel->channel);
  const gint32 end = MIN (first + TOGETHER, panel->channel + panel->channels);
  gint8 *const lines = block->memory.lines;
  memset (lines, 0, TOGETHER * depth);
  for (gint32 j = first; j < end; j++) {
    const gfloat *key =
      (const gfloat *) block->inputs[1] + sl_place (&m->k, block->matrix, block->first + j);
    for (gint32 d = 0; m->key_step != 1 && d < m->depth; d++)
      block->memory.row[d] = key[d * m->key_step];
    m->isa->to_weights (m->key_step != 1 ? block->memory.row : key, (gsize) m->depth,
                        1 / m->a->k_scale, lines + (gsize) (j - first) * depth);
  }
  gsize d = 0;
  for (; unit == 4 && !m->isa->int16 && d + 16 <= depth; d += 16)
    sl_turn (lines + d, depth, (gint8 *) panel->weights + d * width + 4 * column, 4 * width, 0);
  for (; d < depth; d++)
    for (gsize j = 0; j < TOGETHER; j++)
      put (m, panel, (d / unit * width + column + j) * unit + d % unit, lines[j * depth + d]);
}

typedef guint8 Bytes __attribute__ ((vector_size (16)));
typedef guint16 Pairs __attribute__ ((vector_size (16)));

/* 16 bytes of each of four lines, those of a column behind each other. */
static void
zip_four (const gint8 *from, gsize stride, gint8 *to)
{
  Bytes x[4];
  for (gsize i = 0; i < 4; i++)
    memcpy (&x[i], from + i * stride, sizeof x[i]);
#define ZIP8(a, b, k)                                                                            \
  (Pairs) __builtin_shufflevector (a, b, k, k + 16, k + 1, k + 17, k + 2, k + 18, k + 3, k + 19, \
                                   k + 4, k + 20, k + 5, k + 21, k + 6, k + 22, k + 7, k + 23)
#define ZIP16(a, b, k) \
  __builtin_shufflevector (a, b, k, k + 8, k + 1, k + 9, k + 2, k + 10, k + 3, k + 11)
  const Pairs a = ZIP8 (x[0], x[1], 0), b = ZIP8 (x[2], x[3], 0), c = ZIP8 (x[0], x[1], 8),
              d = ZIP8 (x[2], x[3], 8);
  const Pairs all[4] = { ZIP16 (a, b, 0), ZIP16 (a, b, 4), ZIP16 (c, d, 0), ZIP16 (c, d, 4) };
#undef ZIP8
#undef ZIP16
  memcpy (to, all, sizeof all);
}

/* Values of the keys of step @step into all panels. */
static void
pack_values (const Block *block, gint32 step)
{
  const SlInt8Attention *m = block->m;
  const gsize unit = (gsize) m->isa->unit, stride = m->value_stride;
  gint8 *const lines = block->memory.lines;
  memset (lines, 0, unit * stride);
  for (gint32 u = 0; u < (gint32) unit && step * (gint32) unit + u < block->n; u++)
    m->isa->to_weights (
      (const gfloat *) block->inputs[2]
        + sl_place (&m->v, block->matrix, block->first + step * (gint32) unit + u),
      (gsize) m->width, 1 / m->a->v_scale, lines + (gsize) u * stride);
  for (gint32 p = 0; p < block->value_panels; p++) {
    const SlInt8Panel *panel = &block->values[p];
    const gsize width = panel_width (m, panel), at = (gsize) step * width * unit;
    const gint8 *from = lines + panel->channel;
    gsize c = 0;
    for (; unit == 4 && !m->isa->int16 && c + 16 <= width; c += 16)
      zip_four (from + c, stride, (gint8 *) panel->weights + at + 4 * c);
    for (; c < width; c++)
      for (gsize u = 0; u < unit; u++)
        put (m, panel, at + c * unit + u, from[u * stride + c]);
  }
}

/* Rows of the tile, rounded, times panels. */
static void
multiply (const SlInt8Attention *m, const SlInt8Panel *panels, gint32 n_panels,
          const Packed *packed, const guint8 *codes, gsize stride, gint32 n, const SlInt8Row *rows,
          gfloat *to, gsize to_stride)
{
  const SlInt8Gemm gemm = { .panels = panels,
                            .bias = packed->bias,
                            .scale = packed->scale,
                            .rest = m->rest,
                            .lean = packed->lean,
                            .lo = -INFINITY,
                            .hi = INFINITY,
                            .is_signed = m->isa->signed_values && !m->isa->either };
  m->isa->gemm_floats (&gemm, 0, n_panels, codes, stride, n, rows, to, to_stride);
}

/* What depends on the sums of weights: these are products with a row of ones. */
static void
set_sums (const Block *block, const SlInt8Panel *panels, gint32 n_panels, const Packed *packed,
          gsize columns, gfloat scale)
{
  const SlInt8Attention *m = block->m;
  const SlInt8Row one = { 1, 0 };
  const gsize n = (gsize) (steps_of (&panels[0]) * m->isa->unit);
  const gint32 zero = m->isa->signed_values && !m->isa->either ? 128 : 0;
  for (gsize i = 0; i < columns; i++) {
    packed->bias[i] = 0;
    packed->scale[i] = 1;
    packed->lean[i] = 0;
  }
  for (gsize i = 0; i < n && m->isa->int16; i++)
    ((gint16 *) (gpointer) block->memory.codes)[i] = 1;
  if (!m->isa->int16)
    memset (block->memory.codes, 1, n);
  /* Their scores are still free. */
  gfloat *sums = block->memory.scores;
  multiply (m, panels, n_panels, packed, block->memory.codes, 0, 1, &one, sums, 0);
  for (gsize i = 0; i < columns; i++) {
    packed->bias[i] = zero * (gint32) sums[i];
    packed->scale[i] = scale;
    packed->lean[i] = scale * sums[i];
  }
}

/* Puts steps first whose products are added in 16 bits with those of the next one. */
static void
join_steps (const SlInt8Attention *m, SlInt8Panel *panels, gint32 n)
{
  for (gint32 p = 0; m->isa->pairs && p < n; p++)
    panels[p].twos = sl_int8_join_neighbours (
      panels[p].n_extra, (gint32) panel_width (m, &panels[p]), G_MAXINT16 / m->isa->last,
      (guint8 *) panels[p].weights, (gint32 *) panels[p].extra);
}

static void
pack (Block *block)
{
  const SlInt8Attention *m = block->m;
  const Memory *memory = &block->memory;
  const gint32 unit = m->isa->unit, steps = sl_score_pieces (block->n, unit);
  block->key_panels =
    cut_panels (m, block->n, sl_score_pieces (m->depth, unit), &memory->keys, block->keys);
  block->value_panels = cut_panels (m, m->width, steps, &memory->values, block->values);
  for (gint32 p = 0; p < block->key_panels; p++) {
    const SlInt8Panel *panel = &block->keys[p];
    for (gint32 j = 0; j < (gint32) panel_width (m, panel); j += TOGETHER)
      pack_keys (block, panel, panel->channel + j);
  }
  for (gint32 step = 0; step < steps; step++)
    pack_values (block, step);
  join_steps (m, block->keys, block->key_panels);
  join_steps (m, block->values, block->value_panels);
  set_sums (block, block->keys, block->key_panels, &memory->keys, (gsize) block->n, m->a->k_scale);
  set_sums (block, block->values, block->value_panels, &memory->values, (gsize) m->width,
            m->a->v_scale);
}

/* Queries @first to before @first + @n, the first of them @at rows behind the work item's first. */
static void
run_tile (const Block *block, gint32 first, gint32 n, gint32 at)
{
  const SlInt8Attention *m = block->m;
  const Memory *memory = &block->memory;
  SlInt8Row rows[SL_INT8_MOST_ROWS];
  gfloat olds[SL_INT8_MOST_ROWS];
  const gfloat *queries[SL_INT8_MOST_ROWS];
  gint32 all = 0;
  for (gint32 r = 0; r < n; r++)
    all = MAX (all, sl_attention_keys (m->a, first + r, m->keys));
  const gint32 keys = MIN (all - block->first, block->n);
  if (keys <= 0)
    return;
  for (gint32 r = 0; r < n; r++)
    queries[r] = (const gfloat *) block->inputs[0] + sl_place (&m->q, block->matrix, first + r);
  m->isa->round (queries, (gsize) m->depth, n, FALSE, memory->codes, m->query_bytes, rows);
  multiply (m, block->keys, block->key_panels, &memory->keys, memory->codes, m->query_bytes, n,
            rows, memory->scores, m->score_stride);
  const SlScoreTile masked = { .a = m->a,
                               .inputs = block->inputs,
                               .add_scaled = m->floats.add_scaled,
                               .matrix = block->matrix,
                               .query = first,
                               .queries = n,
                               .key = block->first,
                               .keys = keys,
                               .all = m->keys,
                               .scores = memory->scores,
                               .stride = m->score_stride };
  const SlFloatScores scores = { .scores = memory->scores,
                                 .stride = m->score_stride,
                                 .rows = n,
                                 .keys = keys,
                                 .scale = sl_scores_mask (&masked) * SL_LOG2_E,
                                 .first = block->first == 0,
                                 .tops = memory->tops + at,
                                 .sums = memory->totals + at,
                                 .olds = olds };
  m->floats.attend (&scores);
  for (gint32 r = 0; r < n; r++) {
    gfloat *shares = memory->scores + (gsize) r * m->score_stride;
    memset (shares + keys, 0, (gsize) (block->n - keys) * sizeof shares[0]);
    m->isa->round_shares (shares, (gsize) block->n, memory->codes + (gsize) r * m->share_bytes,
                          &rows[r]);
  }
  multiply (m, block->values, block->value_panels, &memory->values, memory->codes, m->share_bytes,
            n, rows, memory->sums, m->value_stride);
  const gboolean last = block->first + block->n >= all;
  for (gint32 r = 0; r < n; r++)
    m->floats.blend (block->y + sl_place (&m->y, block->matrix, first + r),
                     memory->sums + (gsize) r * m->value_stride, (gsize) m->width, olds[r],
                     last ? 1 / scores.sums[r] : 1);
}

static void
run_item (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Attention *m = run->m;
  const gint32 part = (gint32) (item % (guint) m->blocks.parts), begin = part * m->blocks.part,
               end = MIN (begin + m->blocks.part, m->queries);
  Block block; /* its panels take longer to clear than a window's keys to pack */
  block.m = m;
  block.inputs = run->inputs;
  block.y = run->y;
  block.matrix = item / (guint) m->blocks.parts;
  set_memory (m, m->scratch->memory + m->scratch->bytes * thread, &block.memory);
  /* Rows are longer than what is rounded into them. */
  memset (block.memory.codes, 0, (gsize) m->blocks.queries * MAX (m->query_bytes, m->share_bytes));
  for (block.first = 0; block.first < m->keys; block.first += m->blocks.keys) {
    block.n = MIN (m->blocks.keys, m->keys - block.first);
    pack (&block);
    for (gint32 row = begin; row < end; row += m->blocks.queries)
      run_tile (&block, row, MIN (m->blocks.queries, end - row), row - begin);
  }
}

void
sl_int8_attention_run (const SlInt8Attention *m, SlPool *pool, const void *const *inputs,
                       gfloat *output)
{
  const Run run = { m, inputs, output };
  sl_pool_run (pool, run_item, &run, m->blocks.items, m->cost_us);
}
