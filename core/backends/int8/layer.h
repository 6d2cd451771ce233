/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What layer.c and pack.c make of a node, and run.c runs. */
#pragma once

#include "core/backends/int8/int8.h"
#include "core/backends/window.h"

/** Most taps of a depthwise filter. */
#define SL_INT8_MAX_TAPS 256

/**
 * SlInt8Mode: how activations reach the inner loops.
 * @SL_INT8_SPARSE: the same, turned, for weights most of which are zero
 * @SL_INT8_DIRECT: rows of the multiplication are consecutive rows of the input
 * @SL_INT8_DYNAMIC: rows of floats are rounded first, and the results are floats
 * @SL_INT8_BANDED: an output row at a time: the input rows under it are copied with their padding,
 * and the windows of
 *                  that row are rows of the multiplication which overlap
 * @SL_INT8_GATHERED: each window is copied into a row
 * @SL_INT8_ADD: no window at all
 * @SL_INT8_DW_TAPS, @SL_INT8_DW_ROWS, @SL_INT8_DW_FLAT: the depthwise functions of SlInt8Isa
 */
typedef enum
{
  SL_INT8_SPARSE,
  SL_INT8_DIRECT,
  SL_INT8_DYNAMIC,
  SL_INT8_BANDED,
  SL_INT8_GATHERED,
  SL_INT8_ADD,
  SL_INT8_DW_TAPS,
  SL_INT8_DW_ROWS,
  SL_INT8_DW_FLAT,
} SlInt8Mode;

/**
 * SlInt8Layer:
 * @images: of the batch; @rows: output pixels of all images; @depth: activations of a window;
 * @channels: of the output
 * @row_bytes: quantised values of a gathered window with padding to whole units
 * @line: quantised values of an input row with its padding, copied (banded, flat)
 * @tile_rows, @chunk_panels: work items are this many rows by this many panels
 * @flip: what brings the input's quantised values to the instruction set's signedness, 0 or 0x80
 * @scratch: the host's, at least @scratch_bytes for each thread
 * @whole: (dynamic) the input is whole numbers
 * @cost_us: about how long it takes one thread
 * @bytes: (add) of the output
 * @pad: (depthwise) a row of pixels of the input's zero point
 */
struct _SlInt8Layer
{
  const SlInt8Isa *isa;
  SlInt8Mode mode;
  gboolean is_signed, whole;
  SlWindowShape window;
  gint32 images, rows, depth, channels;
  gint32 n_panels, tile_rows, chunk_panels, line;
  gsize row_bytes, scratch_bytes;
  const SlScratch *scratch;
  guint8 *pad;
  guint8 zero_byte, flip;
  SlInt8Gemm gemm;
  SlInt8Sparse sparse;
  SlInt8Depthwise dw;
  SlInt8Add add;
  gsize bytes;
  guint cost_us;
};

/**
 * SlInt8Weights: weights of some output channels of a node less their zero point, by channel and
 * position in its window.
 * @channels: of the node; those held begin with @first
 * @run: of the @depth weights, how many are multiplied with consecutive activations
 * @values: [channel held][@depth]; @low: the same limited to @least..127
 * @limit: most that weights of one sign may add up to whose products are added in 16 bits
 * @steps: for each channel held, how many terms of eight bits its weights take; with a @limit, 2 if
 * it is more than one; @sums: of its @values
 */
typedef struct
{
  const SlTensor *tensor;
  gboolean by_depth;
  gint32 channels, depth, run, first, least, limit;
  gint16 *values;
  gint8 *low;
  guint8 *steps;
  gint32 *sums;
} SlInt8Weights;

/** sl_int8_runs: in banded layers each row of the window is a run of its own. */
gint32 sl_int8_runs (const SlInt8Layer *layer);
/** sl_int8_weights_init: room for @most channels, or all if that is fewer; sl_int8_weights_read()
 * fills it. @isa: (nullable); @runs: of consecutive activations that a window has */
void sl_int8_weights_init (SlInt8Weights *weights, const SlInt8Isa *isa, const SlGraph *graph,
                           const SlNode *node, gint32 runs, gint32 most);
void sl_int8_weights_read (SlInt8Weights *weights, gint32 first, gint32 count);
void sl_int8_weights_clear (SlInt8Weights *weights);
gint32 sl_int8_bias_of (const SlGraph *graph, const SlNode *node, gint32 channel);

/** sl_int8_limit: (instruction sets with @pairs) limits the first terms of channel @lane of those
 * held */
void sl_int8_limit (SlInt8Weights *weights, gint32 lane);
/** sl_int8_take: as much of the @n weights of a step as it may have */
void sl_int8_take (const SlInt8Weights *weights, const gint16 *values, gint32 n, gint8 *to);
/** sl_int8_pair_steps: the weights of @n steps, in an order in which those come first of which two
 * fit 16 bits together; and the same of where they read. Returns: how many twos */
gint32 sl_int8_pair_steps (gint32 n, gint32 lanes, gint32 limit, const guint8 *weights,
                           const gint32 *offsets, guint8 *to, gint32 *to_offsets);
/** sl_int8_join_neighbours: the same in place and without memory: of steps that follow each other,
 * the first and the second, and so on. */
gint32 sl_int8_join_neighbours (gint32 n, gint32 lanes, gint32 limit, guint8 *weights,
                                gint32 *offsets);

/** sl_int8_add_supports, sl_int8_add_init: as sl_int8_supports(), and the rest of a layer whose
 * output is set. */
gboolean sl_int8_add_supports (const SlGraph *graph, const SlNode *node);
void sl_int8_add_init (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node);
/** sl_int8_add_run: piece @item of @items. */
void sl_int8_add_run (const SlInt8Layer *layer, const guint8 *a, const guint8 *b, guint8 *out,
                      guint item);
guint sl_int8_add_items (const SlInt8Layer *layer);

/** sl_int8_is_dynamic: @node takes and makes floats. sl_int8_dynamic_supports: as
 * sl_int8_supports(), of such nodes. */
gboolean sl_int8_is_dynamic (const SlNode *node);
gboolean sl_int8_dynamic_supports (const SlGraph *graph, const SlNode *node);
/** sl_int8_dynamic_init: limits of a layer whose tiles are set, and its scratch. */
void sl_int8_dynamic_init (SlInt8Layer *layer, SlHost *host, const SlNode *node);
void sl_int8_dynamic_run (const SlInt8Layer *layer, SlPool *pool, const gfloat *x, gfloat *y);

/** sl_int8_pack: weights, bias and scale of a layer whose mode and geometry are set, on the threads
 * of @pool (nullable). FALSE if its instruction set has @pairs and most weights are so large that
 * int16 is faster. */
gboolean sl_int8_pack (SlInt8Layer *layer, const SlGraph *graph, const SlNode *node, SlPool *pool,
                       SlArena *arena);
/** sl_int8_pack_panels: (transfer none): of a matrix product, in @arena; NULL as above. @sums: gets
 * those of the weights of all channels */
const SlInt8Panel *sl_int8_pack_panels (const SlInt8Layer *layer, const SlGraph *graph,
                                        const SlNode *node, SlPool *pool, SlArena *arena,
                                        gint32 *sums);
/** sl_int8_density: the share of fours of a channel's weights, the first at a multiple of four,
 * that are not all zero; 1 where a weight less its zero point has nine bits. */
gdouble sl_int8_density (const SlGraph *graph, const SlNode *node);
