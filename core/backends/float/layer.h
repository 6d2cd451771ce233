/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node as layer.c and pack.c prepare it for run.c. */
#pragma once

#include "core/backends/float/float_layers.h"
#include "core/backends/float/weights.h"
#include "core/backends/window.h"

/** Most runs of activations of a row, and most pixels under a strip of a depthwise window. */
#define SL_FLOAT_MAX_RUNS 256
#define SL_FLOAT_MAX_COLUMNS 2048
/** Windows of at most so many activations are copied if they cross a border: runs of a few channels
 * take longer to locate than to multiply.
 * */
#define SL_FLOAT_MAX_COPIED 512

/**
 * SlFloatMode:
 * @SL_FLOAT_DIRECT: rows of the multiplication are consecutive rows of the input
 * @SL_FLOAT_SPARSE: the same with sparse weights
 * @SL_FLOAT_WINDOW: pointers name the runs of activations of each row
 * @SL_FLOAT_WINOGRAD: 3x3 windows by Winograd tiles: winograd.c
 * @SL_FLOAT_TRANSPOSED: transposed convolutions: transposed.c
 * @SL_FLOAT_DEPTHWISE: the depthwise functions of SlFloatIsa
 * @SL_FLOAT_POOL: the largest of each channel under a window, strip by strip as depthwise layers
 * @SL_FLOAT_ADD, @SL_FLOAT_MULTIPLY, @SL_FLOAT_ACTIVATE, @SL_FLOAT_PRELU: element by element
 * @SL_FLOAT_SOFTMAX, @SL_FLOAT_NORMALIZE: row by row
 */
typedef enum
{
  SL_FLOAT_DIRECT,
  SL_FLOAT_SPARSE,
  SL_FLOAT_WINDOW,
  SL_FLOAT_WINOGRAD,
  SL_FLOAT_TRANSPOSED,
  SL_FLOAT_DEPTHWISE,
  SL_FLOAT_POOL,
  SL_FLOAT_ADD,
  SL_FLOAT_MULTIPLY,
  SL_FLOAT_ACTIVATE,
  SL_FLOAT_PRELU,
  SL_FLOAT_SOFTMAX,
  SL_FLOAT_NORMALIZE,
} SlFloatMode;

/**
 * SlFloatTiles: the plan of direct and windowed layers, of tiles that stand for windows, and of
 * each part of a transposed convolution
 * @deep: a register lies along the depth instead of across channels; then each run is of
 * @run_length activations, or of several times
 *   as many whole registers
 * @taps_apart: each pixel of a window is a run of its own
 * @weights: of its panels; @multiply: a tile by panels of such weights; @pairs: (nullable): instead
 * of it
 * @paired: so many panels, the first ones, are pairs for blocks of two tiles: strassen.c; @blocks:
 * of a work item; @step: panels at a time
 * @gemm: the panels, which lie in the weight cache
 */
typedef struct
{
  gboolean deep, taps_apart;
  gint32 run_length, paired, blocks, step;
  SlFloatWeights weights;
  SlFloatGemmFunc multiply;
  SlFloatPairsFunc pairs;
  SlFloatGemm gemm;
} SlFloatTiles;

/** SlFloatStrips: the plan of a depthwise layer, or of max pooling. @strip: output pixels at a
 * time; @rows: of the output at a time, 1 or 2; @lines: rows of the output in a work item */
typedef struct
{
  gint32 strip, rows, lines;
  SlFloatDepthwise kernel;
} SlFloatStrips;

/**
 * SlFloatPlace: which pixels of the output of a transposed convolution a part of it makes
 * @stride_h, @stride_w: output pixels that each place of the window makes in all parts together
 * @first_y, @first_x: of these, where the part's begin
 * @skip_h, @skip_w: of the first place's, how many are no output
 * @h, @w, @channels: of the output
 */
typedef struct
{
  gint32 stride_h, stride_w, first_y, first_x, skip_h, skip_w, h, w, channels;
} SlFloatPlace;

/** SlFloatTransposed: the plan of a transposed convolution: @n_parts convolutions, each of which
 * has its @place. */
typedef struct
{
  SlFloatLayer *parts;
  guint n_parts;
  SlFloatPlace place;
} SlFloatTransposed;

/** SlFloatElements: the plan of elementwise layers and of softmax. @total: elements of the output;
 * @piece: of them in a work item; @chunk: of these at a time, where some are binary16 */
typedef struct
{
  gsize total, piece, chunk;
} SlFloatElements;

/**
 * SlFloatRepeated: the operand of a sum or a product that each pixel takes
 * @period: its elements for an image; 0: both operands have as many elements
 * @image: elements of the other operand that take the same ones
 * @first: it is the first input
 */
typedef struct
{
  gsize period, image;
  gboolean first;
} SlFloatRepeated;

/**
 * SlFloatNarrow: which operands are binary16
 * @x, @second: inputs, of which a repeated one is the second; @y: the output
 * @in, @out: bytes of a thread's scratch memory before the floats that it reads, and writes
 */
typedef struct
{
  gboolean x, second, y;
  gsize in, out;
} SlFloatNarrow;

/** SlFloatSoftmax: @beta: what values are multiplied by */
typedef struct
{
  gfloat beta;
} SlFloatSoftmax;

/** SlFloatPrelu: @slopes: those of the channels over and over, @period of them, whole registers and
 * whole pixels */
typedef struct
{
  const gfloat *slopes;
  gsize period;
} SlFloatPrelu;

/**
 * SlFloatLayer: what all modes need, and a plan for each. A mode reads its own plan alone.
 * @images: of the batch; @rows: output pixels of all images; @depth: activations of a window;
 * @channels: of the output
 * @groups: of a convolution
 * @precision: what may be done with its weights
 * @tile_rows, @chunks: work items are this many rows by panels, or of sparse weights channels,
 * shared out to as many chunks
 * @threads: among whom neighbouring tiles are shared out, each with all chunks
 *   (winograd) @tile_rows tiles by all panels, of which each matrix has @n_panels
 * @tile: (winograd) output pixels of a side of a tile, 2 or 4
 * @halves: (nullable): its loops compute in binary16; nothing is narrow then
 * @in_size, @out_size: bytes of a number that loops read, and write
 * @stride: numbers from a pixel of the output to the next: @channels, or more if the output is a
 * part of a concatenation
 * @lo, @hi: limits of the output; @activation: what comes after them, where it is a curve; @slope:
 * of a leaky one
 * @scratch: (sparse, winograd, transposed, pairs) the session's, for a tile of turned rows of each
 * thread, tiles on their way, products that
 *   cross a border, or rounded rows; @scratch_bytes: of each thread
 * @zeros: as many as a run, for what is outside of the picture; (winograd) and as a bias; (pool)
 * the lowest of all floats
 * @cost_us: about how long it takes one thread
 */
struct _SlFloatLayer
{
  const SlFloatIsa *isa;
  SlFloatMode mode;
  SlWindowShape window;
  gint32 images, rows, depth, channels, groups;
  gint32 n_panels, tile_rows, chunks, threads, tile;
  SlPrecision precision;
  const SlFloatHalves *halves;
  gsize in_size, out_size, stride;
  gfloat lo, hi;
  SlActivation activation;
  gfloat slope;
  const gfloat *zeros;
  const SlScratch *scratch;
  gsize scratch_bytes;
  SlFloatNarrow narrow;
  guint cost_us;
  SlFloatTiles tiles;
  SlFloatSparse sparse;
  SlFloatStrips depthwise;
  SlFloatTransposed transposed;
  SlFloatElements elements;
  SlFloatRepeated repeated;
  SlFloatSoftmax softmax;
  SlFloatPrelu prelu;
  SlFloatNorm norm;
};

/** sl_float_has_strips: whether @layer computes strips of pixels of each channel. */
static inline gboolean
sl_float_has_strips (const SlFloatLayer *layer)
{
  return layer->mode == SL_FLOAT_DEPTHWISE || layer->mode == SL_FLOAT_POOL;
}

/** sl_float_loop_stride: numbers from a pixel to the next where the loops of @layer write: to the
 * output, or to floats that are rounded from there. */
static inline gsize
sl_float_loop_stride (const SlFloatLayer *layer)
{
  return layer->narrow.y ? (gsize) layer->channels : layer->stride;
}

/** Most blocks of a work item. */
#define SL_FLOAT_MAX_BLOCKS 8
/** Most bytes of weights of a layer in a chain, which are read again for each row of pixels. */
#define SL_FLOAT_CHAIN_WEIGHTS 262144

/** sl_float_first_panel: of @chunk, which has whole pairs. */
static inline gint32
sl_float_first_panel (const SlFloatLayer *layer, gint32 chunk)
{
  const gint32 first = (gint32) ((gint64) layer->n_panels * chunk / layer->chunks);
  return layer->tiles.paired > 0 && chunk < layer->chunks ? first / 2 * 2 : first;
}

/** sl_float_need_scratch: @layer needs @bytes of scratch memory for each thread, in all. */
void sl_float_need_scratch (SlFloatLayer *layer, SlHost *host, gsize bytes);
/** sl_float_bias: (nullable): of @node, a layer. */
const SlTensor *sl_float_bias (const SlGraph *graph, const SlNode *node);
/** SlFloatLines: rows of a picture, row y at index y % @kept from @first on, of numbers of @size
 * bytes. */
typedef struct
{
  const gfloat *first;
  gint32 kept;
  gsize size;
} SlFloatLines;

/** sl_float_layer_rows: @n rows of pixels from row @y on, of the output of one image: 2 at most of
 * a depthwise layer of two rows at a time, else 1. @layer is direct, sparse, a window, depthwise,
 * max pooling, or an addition of @second (nullable), whose work item is a row. @in: a window's are
 * all rows of the image. */
void sl_float_layer_rows (const SlFloatLayer *layer, const SlFloatLines *in, const gfloat *second,
                          gint32 y, gint32 n, gfloat *const out[2], guint thread);
/** sl_float_activate_rows: the curve, where there is one, of whole rows of the output, in place. */
void sl_float_activate_rows (const SlFloatLayer *layer, gfloat *rows, gint32 n);
/** sl_float_rounds: whether activations of @graph are rounded to 8 bits somewhere, where a small
 * error may become a step. The whole numbers of DYNAMIC_QUANTIZE have exact sums besides, also in
 * tiles of four by four. */
gboolean sl_float_rounds (const SlGraph *graph);
/** sl_float_strassen_choose: which panels of @layer, whose loops and weights are chosen, are pairs.
 * @chains: it may be of a chain, if its weights are few */
void sl_float_strassen_choose (SlFloatLayer *layer, const SlGraph *graph, gboolean chains);
/** sl_float_strassen_tiles: cuts the work items of @layer, where it has pairs, into blocks. */
void sl_float_strassen_tiles (SlFloatLayer *layer, SlHost *host);
/** sl_float_strassen_compare: marks those of the packed @panels that are no pairs. */
void sl_float_strassen_compare (const SlFloatLayer *layer, SlFloatPanel *panels, SlPool *pool);
/** sl_float_strassen_begin: the sums of @rows, block @i of a work item. Returns FALSE if they would
 * not be accurate. */
gboolean sl_float_strassen_begin (const SlFloatLayer *layer, const gfloat *rows, gint32 i,
                                  guint thread);
/** sl_float_strassen_run: the block, of @blocks, by the panels from @panel to before @end that are
 * pairs, into rows at @c. */
void sl_float_strassen_run (const SlFloatLayer *layer, const gfloat *rows, gint32 i, gint32 blocks,
                            gint32 panel, gint32 end, gfloat *c, guint thread);
/** sl_float_strassen_next: the first panel from @panel on that is of a pair, or else of none, as
 * @paired says; at most @end. */
gint32 sl_float_strassen_next (const SlFloatLayer *layer, gint32 panel, gint32 end,
                               gboolean paired);
/** sl_float_winograd_fits: whether tiles of @tile by @tile output pixels can stand for the windows
 * of @layer, whose geometry is set. */
gboolean sl_float_winograd_fits (const SlFloatLayer *layer, gint32 tile);
/** sl_float_winograd_work: multiply-adds including unused lanes, plus other work in the same unit.
 */
gdouble sl_float_winograd_work (const SlFloatLayer *layer, const SlFloatIsa *isa, gint32 tile);
/** sl_float_winograd_matrices: of a layer with such tiles, whose tile is set. */
static inline gint32
sl_float_winograd_matrices (const SlFloatLayer *layer)
{
  return (layer->tile + 2) * (layer->tile + 2);
}
/** sl_float_winograd_weights: (transfer full): the matrices of @weights behind each other, a row
 * for each of @n output channels from @first on. */
gfloat *sl_float_winograd_weights (const SlFloatLayer *layer, const gfloat *weights, gint32 first,
                                   gint32 n);
/** sl_float_winograd_tiles: cuts @layer's work into items. */
void sl_float_winograd_tiles (SlFloatLayer *layer, SlHost *host);
guint sl_float_winograd_items (const SlFloatLayer *layer);
void sl_float_winograd_run (const SlFloatLayer *layer, const gfloat *x, gfloat *y, guint item,
                            guint thread);
/** SlFloatPiece: a work item of a transposed convolution: panels of @part from @panel to before
 * @end, over its lines of places from @line to before @end_line. */
typedef struct
{
  const SlFloatLayer *part;
  gint32 panel, end, line, end_line;
} SlFloatPiece;

/** sl_float_transposed_fits: whether these loops compute TRANSPOSE_CONV @node. */
gboolean sl_float_transposed_fits (const SlGraph *graph, const SlNode *node);
/** sl_float_transposed_parts: mode and parts of @layer, whose instruction set and output are known;
 * parts have its output, and geometry. */
void sl_float_transposed_parts (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node,
                                SlArena *arena);
/** sl_float_transposed_weights: (transfer full): those of @part, a row for each of its channels. */
gfloat *sl_float_transposed_weights (const SlFloatLayer *part, const SlTensor *weights);
guint sl_float_transposed_items (const SlFloatLayer *layer);
SlFloatPiece sl_float_transposed_piece (const SlFloatLayer *layer, guint item);
/** sl_float_transposed_row: elements of the output before the row that line @line of places makes;
 * -1: none. */
gssize sl_float_transposed_row (const SlFloatLayer *part, gint32 line);
/** sl_float_transposed_offset: from the beginning of such a row to what @place of a line makes. */
gssize sl_float_transposed_offset (const SlFloatLayer *part, gint32 place);
/** sl_float_transposed_inside: whether all that @rows places from @place on make is output. */
gboolean sl_float_transposed_inside (const SlFloatLayer *part, gint32 place, gint32 rows);
/** sl_float_transposed_copy: what is output of the products at @from of @rows places from @place
 * on, to the row of the output @y that begins at element @row. */
void sl_float_transposed_copy (const SlFloatPiece *piece, const gfloat *from, gint32 place,
                               gint32 rows, gfloat *y, gssize row);
/** sl_float_pack: weights and bias of a layer whose mode and geometry are set, by all threads of
 * @pool (nullable). */
void sl_float_pack (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node,
                    const SlFloatSource *weights, SlPool *pool, SlArena *arena);
/** sl_float_plan_panels: the channels of all panels of @layer, whose number is set. */
void sl_float_plan_panels (const SlFloatLayer *layer, SlFloatPanel *panels);
/** sl_float_few_bits_fits: whether a layer, whose loops are chosen, can read @matrix, whose rows
 * are its channels, without a copy of floats. */
gboolean sl_float_few_bits_fits (const SlFloatLayer *layer, const SlFewBits *matrix);
/** sl_float_few_bits_tiles: cuts such a layer's work into items. */
void sl_float_few_bits_tiles (SlFloatLayer *layer, SlHost *host);
/** sl_float_few_bits_pack: its panels. @by: (nullable): a factor for each channel */
void sl_float_few_bits_pack (SlFloatLayer *layer, const SlFewBits *matrix, const gfloat *by,
                             SlPool *pool, SlArena *arena);
/** sl_float_pack_part: the same of a part of a transposed convolution. */
void sl_float_pack_part (SlFloatLayer *part, const SlGraph *graph, const SlNode *node, SlPool *pool,
                         SlArena *arena);

/*
 * Operands of binary16: narrow.c. Where loops compute with floats, what a work item reads becomes
 * floats in its thread's scratch memory, and what it writes is rounded from there, a few lines or
 * rows at a time.
 */

/** sl_float_narrow_set: which operands of @node, the layer's, are binary16. */
void sl_float_narrow_set (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node);
/** sl_float_narrow_room: scratch memory of @layer, whose plan is set, for them. */
void sl_float_narrow_room (SlFloatLayer *layer, SlHost *host);

/** sl_float_narrow_in, sl_float_narrow_out: (transfer none): @thread's floats of what it reads, and
 * of what it writes. */
gfloat *sl_float_narrow_in (const SlFloatLayer *layer, guint thread);
gfloat *sl_float_narrow_out (const SlFloatLayer *layer, guint thread);

/** sl_float_widen: @n values from element @first of @x on, to floats. */
void sl_float_widen (const void *x, gsize first, gfloat *to, gsize n);
/** sl_float_narrow_rows: @n floats of each of @rows pixels, which are @layer's channels apart at
 * @from, to element @first of @y on. */
void sl_float_narrow_rows (const SlFloatLayer *layer, const gfloat *from, void *y, gsize first,
                           gint32 rows, gsize n);
/** sl_float_narrow: @n floats to element @first of @y on. */
void sl_float_narrow (const gfloat *from, void *y, gsize first, gsize n);

/** sl_float_part_set: how far apart the pixels of the output of @node are, the layer's. */
void sl_float_part_set (SlFloatLayer *layer, const SlHost *host, const SlNode *node);
/** sl_float_part_pieces: work items of elements, which are set, become whole pixels where these are
 * apart. */
void sl_float_part_pieces (SlFloatLayer *layer);

/** sl_float_repeats_short: of @node, which sl_node_repeated(): whether its vector of floats is so
 * short that these loops are faster than XNNPACK. */
gboolean sl_float_repeats_short (const SlGraph *graph, const SlNode *node);
/** sl_float_repeated_set: whether an operand of @node, the sum or product of @layer, repeats; its
 * work items, which are set, are whole pixels then. */
void sl_float_repeated_set (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node);
/** sl_float_repeat: the vector of @image, one of @vectors, over and over to a chunk of elements. */
void sl_float_repeat (const SlFloatLayer *layer, const gfloat *vectors, gsize image, gfloat *to);

/**
 * sl_float_widen_lines:
 * @y, @count, @step: lines of picture @image of @x, as far as they are inside
 * @from, @end: their columns, likewise
 *
 * Returns: (transfer none): the pictures as floats, of which nothing else may be read
 */
const gfloat *sl_float_widen_lines (const SlFloatLayer *layer, const void *x, gint32 image,
                                    gint32 y, gint32 count, gint32 step, gint32 from, gint32 end,
                                    guint thread);

/* Layers that compute in binary16, where the processor does: halves.c. Nothing of them is narrow.
 */

/** sl_float_halves_of: (nullable): the loops in binary16 of @isa, where @layer may compute so. */
const SlFloatHalves *sl_float_halves_of (const SlFloatLayer *layer, const SlFloatIsa *isa);
/** sl_float_halves_depth: the least depth of which tiles of @isa compute so; @otherwise where they
 * do not. */
gint32 sl_float_halves_depth (const SlFloatLayer *layer, const SlFloatIsa *isa, gint32 otherwise);
/** sl_float_halves_tiles: @layer, of @node, whose tiles do, is told the range of its numbers. */
void sl_float_halves_tiles (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node,
                            const SlFloatSource *weights);
/** sl_float_halves_elements, sl_float_halves_depthwise: whether an elementwise, or a depthwise
 * @layer does is settled. */
void sl_float_halves_elements (SlFloatLayer *layer);
void sl_float_halves_depthwise (SlFloatLayer *layer, const SlFloatSource *weights,
                                const SlTensor *bias);
