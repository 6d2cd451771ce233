/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layers whose weights a file has in few bits: no copy of them is of floats. A work item widens a
 * panel in the scratch memory, and multiplies as many rows by it as stay in the second cache.
 */
#include <string.h>

#include "core/backends/float/layer.h"
#include "core/graph/constants.h"

/* Bytes of activations of a work item. */
#define ROWS_BYTES 524288
/* Values of a channel that are packed before those of the next one. */
#define PACKED_AT_ONCE ((gsize) 64)
/* Deeper panels of floats would be much more memory than the file has. */
#define MOST_DEPTH ((gsize) 32768)
/* With as few rows, weights of 8 bits are widened in registers: see SL_FLOAT_BYTES. */
#define FEW_ROWS 64

gboolean
sl_float_few_bits_fits (const SlFloatLayer *layer, const SlFewBits *matrix)
{
  const gsize size = matrix->size.column;
  const gboolean by_channel = size >= matrix->columns;
  return layer->mode == SL_FLOAT_DIRECT && !layer->tiles.deep && matrix->columns <= MOST_DEPTH
         && (matrix->bits == 8 ? !by_channel || layer->rows > FEW_ROWS
                               : size % 2 == 0 || by_channel);
}

void
sl_float_few_bits_tiles (SlFloatLayer *layer, SlHost *host)
{
  const SlFloatIsa *isa = layer->isa;
  const gint32 width = isa->lanes * isa->max_groups, most = isa->max_rows;
  const gsize row = (gsize) layer->depth * sizeof (gfloat);
  const gint32 share = (layer->rows + (gint32) host->threads - 1) / (gint32) host->threads;
  const gint32 rows = (gint32) CLAMP (ROWS_BYTES / row, 64, G_MAXINT32 / 2) / most * most;
  layer->n_panels = (layer->channels + width - 1) / width;
  layer->chunks = layer->n_panels;
  layer->tile_rows = MAX (MIN (rows, (share + most - 1) / most * most), most);
  sl_float_need_scratch (layer, host, (gsize) (layer->depth + 1) * (gsize) width * sizeof (gfloat));
}

static gsize
width_of (const SlFloatLayer *layer, const SlFloatPanel *panel)
{
  return (gsize) (panel->groups * layer->isa->lanes);
}

/* Integers of 4 bits and fewer, two to a byte. */
static void
pack_halves (const SlFewBits *matrix, gsize channel, gsize first, gsize end, guint8 *to,
             gsize width)
{
  const guint offset = sl_few_bits_offset (matrix);
  gsize at = channel * matrix->value_step.row + first * matrix->value_step.column;
  for (gsize k = first; k < end; k++, at += matrix->value_step.column) {
    const guint value = sl_few_bits_at (matrix->values, at, matrix->bits) ^ offset;
    to[k / 2 * width] |= (guint8) (k % 2 == 0 ? value : value << 4);
  }
}

/* The same where the file has them so. */
static void
pack_pairs (const SlFewBits *matrix, gsize channel, gsize first, gsize end, guint8 *to, gsize width)
{
  const guint8 flip = matrix->is_signed ? 0x88 : 0;
  const guint8 *from = (const guint8 *) matrix->values + channel * matrix->value_step.row / 2;
  for (gsize k = first; k + 1 < end; k += 2)
    to[k / 2 * width] = from[k / 2] ^ flip;
  if (end % 2 != 0)
    to[end / 2 * width] = (from[end / 2] ^ flip) & 15;
}

static void
pack_bytes (const SlFewBits *matrix, gsize channel, gsize first, gsize end, guint8 *to, gsize width)
{
  const guint8 flip = matrix->is_signed ? 0x80 : 0;
  const gsize step = matrix->value_step.column;
  const guint8 *from = (const guint8 *) matrix->values + channel * matrix->value_step.row;
  for (gsize k = first; k < end; k++)
    to[k * width] = from[k * step] ^ flip;
}

static void
pack_values (const SlFewBits *matrix, const SlFloatPanel *panel, gsize width, guint8 *to)
{
  const gboolean pairs =
    matrix->bits == 4 && matrix->value_step.column == 1 && matrix->value_step.row % 2 == 0;
  for (gsize first = 0; first < matrix->columns; first += PACKED_AT_ONCE)
    for (gsize lane = 0; lane < (gsize) panel->channels; lane++)
      (matrix->bits == 8 ? pack_bytes
       : pairs           ? pack_pairs
                         : pack_halves) (matrix, (gsize) panel->channel + lane, first,
                               MIN (first + PACKED_AT_ONCE, matrix->columns), to + lane, width);
}

/** What the panels are packed of, and how their blocks are laid out. */
typedef struct
{
  const SlFloatLayer *layer;
  const SlFewBits *matrix;
  const gfloat *by; /* (nullable): factors of the channels */
  SlFloatPanel *panels;
  gint32 size;
} Job;

static void
pack_blocks (const Job *job, const SlFloatPanel *panel, gfloat *scales, guint8 *zeros,
             gfloat *reals)
{
  const SlFewBits *matrix = job->matrix;
  const gsize width = width_of (job->layer, panel);
  for (gsize k = 0; k < matrix->columns; k += (gsize) job->size)
    for (gsize lane = 0; lane < (gsize) panel->channels; lane++) {
      const gsize channel = (gsize) panel->channel + lane,
                  at = k / (gsize) job->size * width + lane;
      const gfloat zero = sl_few_bits_zero (matrix, channel, k);
      scales[at] =
        sl_few_bits_scale (matrix, channel, k) * (job->by != NULL ? job->by[channel] : 1);
      if (reals != NULL)
        reals[at] = zero;
      else if (zeros != NULL)
        zeros[at] = (guint8) zero;
    }
}

static void
pack_panel (const void *data, guint item, guint thread)
{
  const Job *job = data;
  const SlFloatPanel *panel = &job->panels[item];
  const SlFloatFewBits *packed = panel->weights;
  pack_values (job->matrix, panel, width_of (job->layer, panel), (guint8 *) packed->values);
  pack_blocks (job, panel, (gfloat *) packed->scales, (guint8 *) packed->zeros,
               (gfloat *) packed->reals);
}

/* @n bytes of zeros. */
static void *
zeros_new (SlArena *arena, gsize n)
{
  void *zeros = sl_tensor_alloc (arena, n);
  memset (zeros, 0, n);
  return zeros;
}

/* Zero points of more bits than the integers may be below 0 where these are unsigned. */
static SlFloatFewBits *
panel_new (const Job *job, const SlFloatPanel *panel, SlArena *arena)
{
  const SlFewBits *matrix = job->matrix;
  const gsize width = width_of (job->layer, panel), depth = matrix->columns;
  const gsize blocks = ((depth - 1) / (gsize) job->size + 1) * width;
  SlFloatFewBits *packed = sl_arena_alloc (arena, sizeof *packed);
  *packed = (SlFloatFewBits){
    .bits = matrix->bits == 8 ? 8 : 4,
    .depth = (gint32) depth,
    .size = job->size,
    .groups = panel->groups,
    .middle = (gfloat) (matrix->middle + (gint32) sl_few_bits_offset (matrix)),
    .scales = zeros_new (arena, blocks * sizeof (gfloat)),
  };
  packed->values = zeros_new (arena, (packed->bits == 8 ? depth : (depth + 1) / 2) * width);
  if (matrix->reals != NULL || (matrix->zeros != NULL && matrix->zero_bits > matrix->bits))
    packed->reals = zeros_new (arena, blocks * sizeof (gfloat));
  else if (matrix->zeros != NULL)
    packed->zeros = zeros_new (arena, blocks);
  return packed;
}

void
sl_float_few_bits_pack (SlFloatLayer *layer, const SlFewBits *matrix, const gfloat *by,
                        SlPool *pool, SlArena *arena)
{
  SlFloatPanel *panels = sl_arena_alloc (arena, (gsize) layer->n_panels * sizeof panels[0]);
  const Job job = { layer, matrix, by, panels,
                    (gint32) MIN (matrix->size.column, matrix->columns) };
  sl_float_plan_panels (layer, panels);
  for (gint32 p = 0; p < layer->n_panels; p++)
    panels[p].weights = panel_new (&job, &panels[p], arena);
  sl_pool_run (pool, pack_panel, &job, (guint) layer->n_panels,
               (guint) MIN (matrix->rows * matrix->columns / 1000, 1000000));
  layer->tiles.gemm.panels = panels;
}
