/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inner loops of float layers (internal to core/backends/float): one table of functions per
 * instruction set. Sums are taken in single precision in the order of the window; instruction sets
 * with fused multiply-add round once a product.
 */
#pragma once

#include "core/backends/scores.h"
#include "core/graph/op.h"

/** Most rows of a tile of any instruction set. */
#define SL_FLOAT_MAX_ROWS 8
/** Most output pixels that a depthwise loop takes at a time. */
#define SL_FLOAT_MAX_PIXELS 8
/** Most pixels of a tile, six by six. */
#define SL_FLOAT_MAX_TILE 36
/** The points of a tile of six by six: winograd.c. */
#define SL_FLOAT_POINT_A 0.625f
#define SL_FLOAT_POINT_B 1.5f

/**
 * SlFloatWeights: storage format of the weights of a panel
 * @SL_FLOAT_SINGLE: floats
 * @SL_FLOAT_HALF: binary16, @SL_FLOAT_BFLOAT: bfloat16, each in the order of floats and widened in
 * registers
 * @SL_FLOAT_BYTES: 8-bit integers times a step for each channel, in the order of floats and widened
 * in registers
 * @SL_FLOAT_FEW_BITS: an SlFloatFewBits, which is widened to floats before a tile is multiplied
 * @SL_FLOAT_PAIRS: bfloat16, the weights of two activations next to each other for each channel;
 * with an odd depth the last one is followed
 *   by 0
 */
typedef enum
{
  SL_FLOAT_SINGLE,
  SL_FLOAT_HALF,
  SL_FLOAT_BFLOAT,
  SL_FLOAT_BYTES,
  SL_FLOAT_FEW_BITS,
  SL_FLOAT_PAIRS
} SlFloatWeights;

/**
 * SlFloatFewBits: the weights of a panel as unsigned integers of @bits, 4 or 8: a weight is (its
 * integer - its block's zero point) * its block's scale
 * @values: in the order of floats; of 4 bits the weights of two activations share bytes, the first
 * in the lower half
 * @scales: for each block of @size activations @groups registers
 * @zeros, @reals: (nullable): zero points likewise, as bytes or as floats; else @middle
 */
typedef struct
{
  const guint8 *values, *zeros;
  const gfloat *scales, *reals;
  gfloat middle;
  guint bits;
  gint32 depth, size, groups;
} SlFloatFewBits;

/* Strassen's algorithm adds rows, halves of the depth and channels, so rounding errors of the
 * largest of them are in the results of all. Their magnitudes differ by this factor at most. */
#define SL_FLOAT_MOST_APART 16
/* Sums of magnitudes up to this one have products that stay in the range of floats. */
#define SL_FLOAT_MOST_SUM 1e18f

/** sl_float_strassen_alike: whether four sums of magnitudes are near enough; FALSE if one is NaN.
 */
static inline gboolean
sl_float_strassen_alike (const gfloat sums[4])
{
  gboolean alike = TRUE;
  for (guint i = 0; i < 4; i++) {
    alike &= sums[i] <= SL_FLOAT_MOST_SUM;
    for (guint k = 0; k < 4; k++)
      alike &= sums[i] <= SL_FLOAT_MOST_APART * sums[k];
  }
  return alike;
}

/* Strassen's algorithm reads each weight three times. Those of a pair of panels stay in the first
 * cache meanwhile if the depth is taken in slices of about so many activations. */
#define SL_FLOAT_STRASSEN_SLICE 256

/** sl_float_strassen_slices: of @depth, which is twice whole registers, and so is each slice.
 * sl_float_strassen_slice: where slice @i begins. */
static inline gint32
sl_float_strassen_slices (gint32 depth)
{
  return MAX (depth / SL_FLOAT_STRASSEN_SLICE, 1);
}

static inline gint32
sl_float_strassen_slice (gint32 depth, gint32 lanes, gint32 i)
{
  return depth / (2 * lanes) * i / sl_float_strassen_slices (depth) * 2 * lanes;
}

/**
 * SlFloatBlock: two tiles of rows, for Strassen's algorithm
 * @rows: twice @max_rows of SlFloatIsa, each of @depth activations; @sums: of @strassen_sums
 * @index: of @count blocks, which the same panels multiply one after the other; each prefetches its
 * part of the weights that are @ahead panels further, of @panels, which begin again after the last
 */
typedef struct
{
  const gfloat *rows, *sums;
  gint32 depth, index, count, ahead, panels;
} SlFloatBlock;

/**
 * SlFloatPanel: output channels that are computed at once
 * @weights: floats or SlFloatWeights; for each activation of a window @groups registers; along the
 * depth, for each register of activations of a run one for each of
 *   @groups channels, 0 behind the run's last
 * @channel: the first; @channels: as many are there
 * @offset: where in a pixel its activations begin, for convolutions in groups
 * @apart: it and its neighbour are no pair for @strassen: magnitudes of their weights differ too
 * much
 */
typedef struct
{
  const void *weights;
  gint32 channel, channels, groups, offset;
  gboolean apart;
} SlFloatPanel;

/**
 * SlFloatGemm:
 * @bias, (of SL_FLOAT_BYTES) @steps: by channel, padded to whole registers
 * @lo, @hi: limits of the output
 * @unit: (arithmetic of binary16) the power of two that weights are multiples of as they are stored
 * @reach: (the same) a power of two: no sum of activations up to it leaves the range of binary16
 * @top: (the same) bits of the largest activation with which no result of stored weights does, as
 * they are; 0: none may be read in place
 * @within: (the same) no activation is larger, by the limits of the node that makes them
 * @narrow: (the same) results are binary16
 */
typedef struct
{
  const SlFloatPanel *panels;
  const gfloat *bias, *steps;
  gfloat lo, hi, unit, reach;
  guint16 top;
  gboolean within, narrow;
} SlFloatGemm;

/**
 * SlFloatRows: rows of a matrix product, each made of runs of consecutive activations
 * @runs: of row r run i is at @runs[i * @rows + r]
 * @narrow: they are binary16, for SlFloatHalves alone
 */
typedef struct
{
  const gfloat *const *runs;
  gint32 n_runs, length, rows;
  gboolean narrow;
} SlFloatRows;

/**
 * SlFloatDepthwise:
 * @weights: for each register of channels the taps of its window; @bias: by channel, to whole
 * registers behind the last; both are floats, or binary16 for SlFloatHalves
 * @lo, @hi: limits of the output
 */
typedef struct
{
  const void *weights, *bias;
  gint32 channels, filter_h, filter_w, stride, dilation;
  gfloat lo, hi;
} SlFloatDepthwise;

/**
 * SlFloatSparse: sparse weights
 * @starts: by output channel, and one more: index in @places and @values of the channel's first
 * weight
 * @places: index of the activation that each nonzero weight multiplies, ascending; @values: the
 * nonzero weights
 * @bias: by channel; @lo, @hi: limits of the output
 */
typedef struct
{
  const gint32 *starts;
  const guint16 *places;
  const gfloat *values, *bias;
  gfloat lo, hi;
} SlFloatSparse;

/**
 * SlFloatStrip: output pixels beside each other in a row, or in two rows
 * @pixels: of the input, @columns for each row of the windows: output pixel i reads columns i *
 * stride + x * dilation
 * @rows: 1 or 2, the latter of sl_float_pairs_rows()
 * @stride: numbers of the output from a pixel to the next
 */
typedef struct
{
  const gfloat *const *pixels;
  gint32 columns, count, rows;
  gsize stride;
} SlFloatStrip;

/** sl_float_pairs_rows: whether two rows of @layer are computed at once: they share most rows of
 * the input. */
static inline gboolean
sl_float_pairs_rows (const SlFloatDepthwise *layer)
{
  return layer->stride == 1 && layer->dilation == 1 && layer->filter_h == layer->filter_w
         && (layer->filter_w == 3 || layer->filter_w == 5);
}

/** SlFloatGemmFunc: rows times the panels from @first to before @end, into rows at @c. No more rows
 * than a tile has. */
typedef void (*SlFloatGemmFunc) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                 const SlFloatRows *rows, gfloat *c, gsize c_stride);
/** SlFloatAheadFunc: the same. Weights at @ahead, of later panels, are prefetched into the second
 * cache beside the products, @step bytes further for each activation. */
typedef void (*SlFloatAheadFunc) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                  const SlFloatRows *rows, const guint8 *ahead, gsize step,
                                  gfloat *c, gsize c_stride);
/** SlFloatPairsFunc: the same of SL_FLOAT_PAIRS, or of SL_FLOAT_HALF, in whole rows of @depth
 * activations, which are rounded to as few bits at @scratch. Rows of binary16 may be read in place;
 * they are read up to a register past their end. */
typedef void (*SlFloatPairsFunc) (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                  const SlFloatRows *rows, gint32 depth, gfloat *c, gsize c_stride,
                                  guint16 *scratch);
/**
 * SlFloatShares: @rows queries of @depth, whose products with keys times @scale become shares
 * @scale: times the logarithm of e to base 2; no product times it is beyond SL_FLOAT_SHARE_BOUND
 * @totals: of the loops
 */
typedef struct
{
  const SlFloatPanel *panels;
  const gfloat *const *queries;
  gint32 rows, depth;
  gfloat scale, *totals;
} SlFloatShares;

/** SL_FLOAT_SHARE_BOUND: powers of two up to this one, and sums of them times values, are within
 * the range of floats. */
#define SL_FLOAT_SHARE_BOUND 32

/** SL_FLOAT_STRASSEN_ROW: floats from one row of sums of half the depth to the next; not a power of
 * two, whose rows would share places in a cache. SL_FLOAT_STRASSEN_SCRATCH: bytes of the sums. */
#define SL_FLOAT_STRASSEN_ROW(depth) ((gsize) (depth) / 2 + 16)
#define SL_FLOAT_STRASSEN_SCRATCH(rows, depth) \
  (5 * (gsize) (rows) *SL_FLOAT_STRASSEN_ROW (depth) * sizeof (gfloat))
/** SL_FLOAT_PAIRS_SCRATCH: room for @rows rows of @depth, and of SL_FLOAT_HALF. */
#define SL_FLOAT_PAIRS_SCRATCH(rows, depth) \
  (((gsize) (rows) * ((gsize) (depth) + 16) + 32) * sizeof (guint16))

/**
 * SlFloatNorm: rows of @n floats by the root of their mean square and @epsilon, less their mean
 * before where @centered
 * @scale, @shift: by channel, to whole registers
 */
typedef struct
{
  gsize n;
  gfloat epsilon;
  gboolean centered;
  const gfloat *scale, *shift;
} SlFloatNorm;

/**
 * SlFloatIsa:
 * @name: for messages
 * @lanes: floats of a register; @max_rows, @max_groups: of a tile; @odd_groups: of a
 * panel of a layer whose registers are an odd number
 * @faster: whether these loops beat XNNPACK's
 * @gemm: no more than @max_rows rows
 * @gemm_ahead: (nullable): the same, with weights that are prefetched
 * @gemm_half, @gemm_bfloat, @gemm_bytes: (nullable): the same of such weights
 * @strassen_sums: (nullable): the sums for @strassen of twice @max_rows rows of @depth activations,
 * which is twice whole registers; FALSE: rounding errors would be too large
 * @strassen: (nullable): a block times pairs of panels from @first to before @end, each of
 * @max_groups registers
 * @widen: the floats of a panel, whole registers of them; with 4 bits those of an even depth
 * @gemm_deep: the same of panels whose registers lie along the depth; reads up to a register past a
 * run's last whole one
 * @depthwise: the output pixels of a strip, whose channels lie behind each other at @out. Reads up
 * to a register past a pixel.
 * @largest: the same of max pooling, which has no weights, of one row
 * @sparse_rows: of a tile of @sparse
 * @turn: up to @sparse_rows rows of @depth activations as columns of @sparse_rows, the missing ones
 * 0
 * @sparse: output channels @first to before @end of such columns' first @rows rows, into rows at @c
 * @tile_in: of tiles of four by four pixels, and of six by six: a tile's sums and differences, by
 * channel, @apart floats from one to the next, to whole registers. Reads up to a register past a
 * pixel.
 * @tile_out: the same: two by two, or four by four output pixels of the products at @sums, with
 * bias, within limits; (nullable) those of @out that are not wanted
 * @add, @multiply: elementwise; read up to a register past the last element
 * @activate: an activation other than a clamp, in place or not
 * @softmax: of each of @rows rows of @n values, times @beta before, in place or not
 * @leaky: values below 0 times @slope, in place or not
 * @prelu: values below 0 times their slope, of which there are @period, whole registers of them,
 * over and over; in place or not
 * @add_rows: adds @n_rows rows of @n floats, @stride floats apart, each times its factor, to @sums
 * @weigh: the sum of @n_rows rows of @n floats, each times its factor
 * @normalize: rows, in place or not
 * @share: (nullable): shares of queries and @n_panels panels of keys, into rows at @c, and each
 * row's sum of them
 * @largest_square: (nullable, as @share): of @n rows of @depth, the largest sum of squares; may be
 * NaN where one is
 * @attend: scores of a tile
 * @add_scaled: @n scores times @scale, and a mask times @factor added
 * @blend: @n floats of @out times @old, unless that is 0, and those at @add, all times @share
 */
typedef struct
{
  const char *name;
  gint32 lanes, max_rows, max_groups, odd_groups, sparse_rows;
  gboolean faster;
  SlFloatGemmFunc gemm, gemm_half, gemm_bfloat, gemm_bytes, gemm_deep;
  SlFloatAheadFunc gemm_ahead;
  gboolean (*strassen_sums) (const gfloat *rows, gint32 depth, gfloat *sums);
  void (*strassen) (const SlFloatGemm *gemm, gint32 first, gint32 end, const SlFloatBlock *block,
                    gfloat *c, gsize c_stride);
  void (*widen) (const SlFloatFewBits *panel, gfloat *to);
  void (*depthwise) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                     gfloat *const out[2]);
  void (*largest) (const SlFloatDepthwise *layer, const SlFloatStrip *strip, gfloat *const out[2]);
  void (*turn) (const gfloat *rows, gint32 n, gint32 depth, gfloat *columns);
  void (*sparse) (const SlFloatSparse *layer, gint32 first, gint32 end, const gfloat *columns,
                  gint32 rows, gfloat *c, gsize c_stride);
  void (*tile_in[2]) (const gfloat *const *pixels, gint32 channels, gfloat *to, gsize apart);
  void (*tile_out[2]) (const SlFloatGemm *gemm, const gfloat *sums, gsize apart, gint32 channels,
                       gfloat *const *out);
  void (*add) (const gfloat *a, const gfloat *b, gfloat *out, gsize n, gfloat lo, gfloat hi);
  void (*multiply) (const gfloat *a, const gfloat *b, gfloat *out, gsize n, gfloat lo, gfloat hi);
  void (*activate) (SlActivation activation, const gfloat *in, gfloat *out, gsize n);
  void (*softmax) (gfloat beta, const gfloat *in, gfloat *out, gsize n, gsize rows);
  void (*leaky) (gfloat slope, const gfloat *in, gfloat *out, gsize n);
  void (*prelu) (const gfloat *slopes, gsize period, const gfloat *in, gfloat *out, gsize n);
  void (*add_rows) (const gfloat *rows, gsize stride, const gfloat *factors, gsize n_rows,
                    gfloat *sums, gsize n);
  void (*weigh) (const gfloat *const *rows, const gfloat *factors, gsize n_rows, gfloat *out,
                 gsize n);
  void (*normalize) (const SlFloatNorm *norm, const gfloat *in, gfloat *out, gsize rows);
  void (*share) (const SlFloatShares *tile, gint32 n_panels, gfloat *c, gsize c_stride,
                 gfloat *sums);
  gfloat (*largest_square) (const gfloat *const *rows, gint32 n, gint32 depth);
  void (*attend) (const SlFloatScores *scores);
  void (*add_scaled) (gfloat *scores, gsize n, gfloat scale, const gfloat *mask, gfloat factor);
  void (*blend) (gfloat *out, const gfloat *add, gsize n, gfloat old, gfloat share);
} SlFloatIsa;

/**
 * SlFloatHalves: loops that compute in binary16
 * @gemm: tiles as the base set has them, of SL_FLOAT_HALF whose depth is whole SL_FLOAT_WIDE,
 * filled up with 0
 * @depthwise, @add, @multiply: as in SlFloatIsa, of tensors, weights and biases of binary16
 * @activate: a curve that @bends of binary16, in place or not
 */
typedef struct
{
  SlFloatPairsFunc gemm;
  void (*depthwise) (const SlFloatDepthwise *layer, const SlFloatStrip *strip,
                     gfloat *const out[2]);
  void (*add) (const guint16 *a, const guint16 *b, guint16 *out, gsize n, gfloat lo, gfloat hi);
  void (*multiply) (const guint16 *a, const guint16 *b, guint16 *out, gsize n, gfloat lo,
                    gfloat hi);
  gboolean (*bends) (SlActivation activation);
  void (*activate) (SlActivation activation, const guint16 *in, guint16 *out, gsize n);
} SlFloatHalves;

/** Numbers of a register of SlFloatHalves. */
#define SL_FLOAT_WIDE 8

/** sl_float_panels: of @channels of a layer, which lie across registers. */
static inline gint32
sl_float_panels (const SlFloatIsa *isa, gint32 channels)
{
  const gint32 registers = (channels + isa->lanes - 1) / isa->lanes,
               panels = (registers + isa->max_groups - 1) / isa->max_groups;
  return isa->odd_groups > isa->max_groups && panels > 1 && registers % isa->max_groups == 1
           ? panels - 1
           : panels;
}

/** sl_float_weight_size: bytes of a weight. */
static inline gsize
sl_float_weight_size (SlFloatWeights kind)
{
  return kind == SL_FLOAT_SINGLE || kind == SL_FLOAT_FEW_BITS ? sizeof (gfloat)
         : kind == SL_FLOAT_BYTES                             ? sizeof (gint8)
                                                              : sizeof (guint16);
}

/** Most instruction sets of one build. */
#define SL_FLOAT_MAX_ISAS 4

/* A build has the base set, and those that its SL_FLOAT_* definitions name. */
extern const SlFloatIsa sl_float_isa_base, sl_float_isa_fma, sl_float_isa_avx512vl,
  sl_float_isa_avx512;

/** sl_float_isa: the best this machine has, or of what the environment's SIGHTLINE_CPU allows. */
const SlFloatIsa *sl_float_isa (void);
/** sl_float_isa_force: for tests that compare instruction sets: what sl_float_isa() returns from
 * now on; (nullable) @isa for its own choice. No other thread may make a session meanwhile. */
void sl_float_isa_force (const SlFloatIsa *isa);
/** sl_float_is_wide: whether the processor multiplies @isa's registers as fast as those of half as
 * many lanes, and adds them at the same ports: sl_cpu_multiplies_wide() of AVX-512. */
gboolean sl_float_is_wide (const SlFloatIsa *isa);
/** sl_float_wide_force: for tests: what sl_float_is_wide() says of registers of 16 lanes from now
 * on; negative for the processor's own answer. */
void sl_float_wide_force (gint wide);
/** sl_float_isa_lesser: (nullable): the next lesser one than @isa whose loops beat XNNPACK's. */
const SlFloatIsa *sl_float_isa_lesser (const SlFloatIsa *isa);
/** sl_float_pairs: (nullable): products of bfloat16 in tiles as @isa has them, where this processor
 * has such instructions. */
SlFloatPairsFunc sl_float_pairs (const SlFloatIsa *isa);
/** sl_float_halves: (nullable): loops in binary16, the same. */
const SlFloatHalves *sl_float_halves (const SlFloatIsa *isa);
/** sl_float_pairs_forbid: for tests: sl_float_pairs() and sl_float_halves() find none from now on,
 * or do again. */
void sl_float_pairs_forbid (gboolean forbidden);
/** sl_float_isas: every instruction set this build and this machine have, the base set first, the
 * best last. */
guint sl_float_isas (const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS]);
