/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which layers multiply blocks of two tiles by pairs of panels with Strassen's algorithm. Blocks
 * and pairs depend on the layer's shape alone, so results are the same for any number of threads.
 */
#include <string.h>

#include "core/backends/float/layer.h"

/* Halves of less depth take longer to combine than a product saves. */
#define MIN_HALF 64
/* Bytes of the sums of a work item. All its blocks share what is read of the weights. */
#define SUMS_BYTES 131072
/* Bytes of weights that pass all blocks of a work item before the next ones are read, one pair at
 * least, and how many channels they are at most: so many results of a row stay in the first cache.
 */
#define STEP_BYTES 262144
#define MAX_WIDTH 256
/* The same of layers whose depth is cut into slices. Their weights come from memory, so more blocks
 * share them; one pair passes at a time, and the next one is prefetched into the second cache. */
#define SLICED_SUMS_BYTES 393216
#define SLICED_STEP_BYTES 65536
#define ITEMS_A_THREAD 4
/* Bytes of weights that a thread compares in a microsecond. */
#define COMPARED_IN_US 4000
/* Channels of a panel, with any instruction set. */
#define MOST_CHANNELS 64

/* Whether pairs are faster for the shape of @layer, and as accurate as its precision wants. */
static gboolean
may_pair (const SlFloatLayer *layer, const SlFloatIsa *isa)
{
  return layer->mode == SL_FLOAT_DIRECT && !layer->tiles.deep
         && layer->tiles.weights == SL_FLOAT_SINGLE && layer->precision == SL_PRECISION_FLOAT
         && !layer->narrow.x && !layer->narrow.y && layer->rows >= 2 * isa->max_rows
         && layer->depth >= 2 * MIN_HALF && layer->depth % (2 * isa->lanes) == 0;
}

void
sl_float_strassen_choose (SlFloatLayer *layer, const SlGraph *graph, gboolean chains)
{
  const SlFloatIsa *isa = layer->isa;
  const gint32 registers = (layer->channels + isa->lanes - 1) / isa->lanes,
               whole = layer->channels / isa->lanes / isa->max_groups;
  const gint64 bytes = (gint64) layer->depth * layer->channels * (gint64) sizeof (gfloat);
  /* Where additions take the multipliers' ports, the sums of weights cost what a product saves. */
  if (isa->strassen == NULL || sl_float_is_wide (isa) || !may_pair (layer, isa)
      || (chains && bytes <= SL_FLOAT_CHAIN_WEIGHTS))
    return;
  /* The last panel may have a register more. */
  const gint32 widest = sl_float_panels (isa, registers * isa->lanes)
                        - (isa->odd_groups > isa->max_groups && registers % 2);
  /* The whole graph is looked at last, and for layers with pairs alone. */
  if (MIN (whole, widest) >= 2 && !sl_float_rounds (graph))
    layer->tiles.paired = MIN (whole, widest) / 2 * 2;
}

/* With several threads there are a few work items for each. They are cut by rows, so that a thread
 * reads what it wrote, and also by channels where rows are too few. Where all blocks share what is
 * read of the weights, they are cut by channels alone. */
void
sl_float_strassen_tiles (SlFloatLayer *layer, SlHost *host)
{
  const SlFloatIsa *isa = layer->isa;
  const gint32 width = isa->lanes * isa->max_groups, rows = 2 * isa->max_rows,
               all = layer->rows / rows,
               least = host->threads > 1 ? ITEMS_A_THREAD * (gint32) host->threads : 1;
  const gsize block = SL_FLOAT_STRASSEN_SCRATCH (isa->max_rows, layer->depth),
              panel = (gsize) layer->depth * (gsize) width * sizeof (gfloat);
  const gboolean sliced = sl_float_strassen_slices (layer->depth) > 1;
  const gsize sums = sliced ? SLICED_SUMS_BYTES : SUMS_BYTES,
              step = sliced ? SLICED_STEP_BYTES : STEP_BYTES;
  layer->n_panels = sl_float_panels (isa, layer->channels);
  const gint32 most = (gint32) CLAMP (sums / block, 1, SL_FLOAT_MAX_BLOCKS),
               sets = (all + most - 1) / most, /* of blocks, for each of which weights are read */
    items = sets == 1 && layer->n_panels / 2 >= least ? 1 : MAX (sets, MIN (least, all));
  layer->threads = (gint32) host->threads;
  layer->tiles.blocks = (all + items - 1) / items;
  layer->tile_rows = layer->tiles.blocks * rows;
  layer->chunks = MIN ((least + items - 1) / items, layer->n_panels / 2);
  layer->tiles.step = MAX (MIN ((gint32) (step / panel), MAX_WIDTH / width) / 2 * 2, 2);
  sl_float_need_scratch (layer, host, block * (gsize) layer->tiles.blocks);
}

typedef gfloat Four __attribute__ ((vector_size (16)));
typedef gint32 FourBits __attribute__ ((vector_size (16)));

typedef struct
{
  const SlFloatLayer *layer;
  SlFloatPanel *panels;
} Comparison;

/* The sums of the magnitudes of each channel's weights, of half a slice of a panel. */
static void
add_magnitudes (const gfloat *weights, gint32 half, gint32 width, gfloat *sums)
{
  for (gint32 i = 0; i < width; i += 4) {
    Four sum = { 0 }, x;
    for (gint32 k = 0; k < half; k++) {
      memcpy (&x, weights + (gsize) k * (gsize) width + i, sizeof x);
      sum += (Four) ((FourBits) x & G_MAXINT32); /* without signs */
    }
    memcpy (sums + i, &sum, sizeof sum);
  }
}

/* Whether slices of two panels, which begin at @first, may be added: the four numbers of each
 * channel of both. */
static gboolean
are_alike (const SlFloatPanel *pair, gint32 first, gint32 half, gint32 width)
{
  gfloat sums[4][MOST_CHANNELS];
  gboolean alike = TRUE;
  for (gint32 i = 0; i < 4; i++)
    add_magnitudes ((const gfloat *) pair[i / 2].weights
                      + (gsize) (first + i % 2 * half) * (gsize) width,
                    half, width, sums[i]);
  for (gint32 i = 0; i < width; i++)
    alike &=
      sl_float_strassen_alike ((const gfloat[]){ sums[0][i], sums[1][i], sums[2][i], sums[3][i] });
  return alike;
}

static void
compare_pair (const void *data, guint item, guint thread)
{
  const Comparison *comparison = data;
  const SlFloatLayer *layer = comparison->layer;
  const gint32 lanes = layer->isa->lanes, depth = layer->depth;
  SlFloatPanel *pair = comparison->panels + 2 * item;
  gboolean alike = TRUE;
  for (gint32 i = 0, first = 0, end; alike && i < sl_float_strassen_slices (depth);
       i++, first = end) {
    end = sl_float_strassen_slice (depth, lanes, i + 1);
    alike = are_alike (pair, first, (end - first) / 2, lanes * layer->isa->max_groups);
  }
  pair[0].apart = pair[1].apart = !alike;
}

void
sl_float_strassen_compare (const SlFloatLayer *layer, SlFloatPanel *panels, SlPool *pool)
{
  const gsize bytes = (gsize) layer->channels * (gsize) layer->depth * sizeof (gfloat);
  for (gint32 p = layer->tiles.paired; p < layer->n_panels; p++)
    panels[p].apart = TRUE;
  sl_pool_run (pool, compare_pair, &(Comparison){ layer, panels }, (guint) layer->tiles.paired / 2,
               (guint) MIN (bytes / COMPARED_IN_US, G_MAXINT));
}

/* Of block @i of a work item. */
static gfloat *
sums_of (const SlFloatLayer *layer, gint32 i, guint thread)
{
  guint8 *scratch = layer->scratch->memory + layer->scratch->bytes * thread;
  return (
    gfloat *) (gpointer) (scratch
                          + (gsize) i
                              * SL_FLOAT_STRASSEN_SCRATCH (layer->isa->max_rows, layer->depth));
}

gboolean
sl_float_strassen_begin (const SlFloatLayer *layer, const gfloat *rows, gint32 i, guint thread)
{
  return layer->isa->strassen_sums (rows, layer->depth, sums_of (layer, i, thread));
}

gint32
sl_float_strassen_next (const SlFloatLayer *layer, gint32 panel, gint32 end, gboolean paired)
{
  while (panel < end && layer->tiles.gemm.panels[panel].apart == paired)
    panel++;
  return panel;
}

void
sl_float_strassen_run (const SlFloatLayer *layer, const gfloat *rows, gint32 i, gint32 blocks,
                       gint32 panel, gint32 end, gfloat *c, guint thread)
{
  const SlFloatBlock block = { .rows = rows,
                               .sums = sums_of (layer, i, thread),
                               .depth = layer->depth,
                               .index = i,
                               .count = blocks,
                               .ahead = layer->tiles.step,
                               .panels = layer->tiles.paired };
  layer->isa->strassen (&layer->tiles.gemm, panel, end, &block, c, layer->stride);
}
