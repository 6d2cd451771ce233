/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inner loops of 8-bit layers (internal to core/backends/int8): one table of functions per
 * instruction set. C defines the behaviour, the others must give the same bytes.
 *
 * A layer computes q = clamp (round (float (sum) * scale + rest) + zero point), a quantised value;
 * sum = bias + sum of u(a) * w, where w is the weight less its zero point and u(a) the activation
 * brought to the instruction set's signedness by an exclusive or with @flip; packing folds what
 * that and the input's zero point add into the bias. w may need nine bits while the fast
 * instructions take eight: packing stores w clamped to eight bits, and the remainder as additional
 * steps (GEMM) or passes (depthwise) over the same activations. In trained models one or two
 * weights of a layer need them.
 */
#pragma once

#include <glib.h>

#include "core/base/unroll.h"

/** Most activations that one step multiplies in each lane. */
#define SL_INT8_MAX_UNIT 16
/** Most rows of a tile of any instruction set. */
#define SL_INT8_MOST_ROWS 16
/** Taps of a depthwise filter are grouped by four. */
#define SL_INT8_QUAD 4

/**
 * SlInt8Output: how sums become quantised values. The limits and the zero point are those of
 * unsigned values; @flip (0 or 0x80) turns the result into the output's type.
 */
typedef struct
{
  gint16 zero_point;
  guint8 lo, hi, flip;
} SlInt8Output;

/**
 * SlInt8Panel: the weights of up to max_groups * lanes consecutive output channels.
 * @weights: [steps][groups][lanes][unit], 64-byte aligned; int8, or int16 where the instruction
 * set's @int16 is set
 * @steps: of consecutive units from the row's start
 * @extra: for each of @n_extra more steps, where it reads, in elements from the row's start; the
 * first @n_runs times @run of them are runs of @run consecutive units
 * @twos: (instruction sets with @pairs) as often the products of the next two steps of @extra are
 * added in 16 bits, from the first on
 * @channel: first one; @channels of them exist, the other lanes hold zeros
 */
typedef struct
{
  const void *weights;
  const gint32 *extra;
  gint32 steps, n_extra, n_runs, run, twos, groups, channel, channels;
} SlInt8Panel;

/**
 * SlInt8Gemm: a layer's multiplication; @bias, @scale, @rest and @lean have one entry per lane of
 * every panel.
 * @lean: (float results) @scale times the sum of the weights; @lo, @hi: limits of the results
 */
typedef struct
{
  const SlInt8Panel *panels;
  const gint32 *bias;
  const gfloat *scale, *rest, *lean;
  gfloat lo, hi;
  guint8 flip;        /* 0 or 0x80: exclusive or for activations */
  gboolean is_signed; /* the input */
  SlInt8Output output;
} SlInt8Gemm;

/** SlInt8Row: a row of floats that was rounded: its @scale, NaN where some of them are not finite,
 * and its zero point times -1. */
typedef struct
{
  gfloat scale, lean;
} SlInt8Row;

/**
 * SlInt8Depthwise: a depthwise layer by blocks of dw_lanes channels.
 * @weights: [block][pass][quad][lane in the order of the instruction set][4 taps]; blocks are
 * @block_bytes apart
 * @passes: for each block, how many passes its weights need; in rows and flat layers with int16
 * weights the second one holds the
 *          weights a tap later, for the next output row
 * @pad: a quantised value equal to the input's zero point, for pixels outside the image
 */
typedef struct
{
  const gint8 *weights;
  const guint8 *passes;
  gsize block_bytes;
  gint32 channels, quads;
  const gint32 *bias;
  const gfloat *scale, *rest;
  guint8 flip, pad;
  SlInt8Output output;
} SlInt8Depthwise;

/**
 * SlInt8Sparse: sparse weights in blocks of four: the weights of an output channel for four
 * consecutive activations of a row
 * @starts: by output channel, and one more: where in @places and @weights those of the channel
 * begin
 * @places: which four activations each of the fours with weights in it is multiplied with,
 * ascending; @weights: by what, four each
 * @bias, @scale, @rest: by channel
 */
typedef struct
{
  const gint32 *starts;
  const guint16 *places;
  const gint8 *weights;
  const gint32 *bias;
  const gfloat *scale, *rest;
  SlInt8Output output;
} SlInt8Sparse;

/**
 * SlInt8Rows: one or two output rows of a 3x3 window without dilation.
 * @rows: three input rows from the window's first; with two output rows (stride 1 only) four
 * @out: one or two output rows; the second may be NULL
 * @width, @out_width: in pixels; @left: padding pixels before the first
 */
typedef struct
{
  const guint8 *rows[4];
  guint8 *out[2];
  gint32 width, out_width, left, stride;
} SlInt8Rows;

/**
 * SlInt8Flat: one or two output rows of a 3x3 window over few channels, as runs of bytes in which
 * blocks follow each other round and round, so that a block need not end at a pixel.
 * @columns: for each input row (three, or four with two output rows) and each column of the window,
 * the byte that the
 *           first output byte reads
 * @out: one or two output rows of @bytes bytes; the second may be NULL
 */
typedef struct
{
  const guint8 *columns[4][3];
  guint8 *out[2];
  gint32 bytes;
} SlInt8Flat;

/**
 * SlInt8Add: q = clamp ((sum + ((sum - @lift) >> 31)) >> @shift + zero point), sum = @bias + u(a) *
 * @a + u(b) * @b, u(x) being x ^ @flip, unsigned. @bias has half a step in it; where @lift is that
 * half, too, halves below zero are rounded down; where it is no more than any sum, up.
 */
typedef struct
{
  gint32 bias, a, b, lift;
  gint shift;
  guint8 flip;
  SlInt8Output output;
} SlInt8Add;

/**
 * SlInt8Isa:
 * @lanes: output channels of a group; @unit: activations of a step; @max_groups: groups of a panel
 * @loaded: activations that follow each other which @gemm loads at once, for several steps; 0 where
 * it loads those of a step
 * @int16: weights and activations are int16
 * @pairs: products of two neighbouring activations are added in 16 bits, which limits the sums of
 * their weights (sl_int8_take())
 * @signed_values: u(a) is int8 rather than uint8
 * @either: the multiplication takes quantised values of both signednesses as they are
 * @symmetric: a step or a pass takes weights of -127..127 rather than -128..127
 * @faster: whether these loops beat XNNPACK's for uint8 and for int8 tensors
 * @widen: (@int16 only) quantised values to int16; reads and writes up to 15 past the last
 * @shallow: of no more activations than this rows of the multiplication are brought to u(a) before
 * it, rather than by @flip; G_MAXINT32 where @gemm takes nothing but u(a)
 * @flip: (not @int16) quantised values of the other signedness to u(a), in place or not; reads and
 * writes up to 63 past the last
 * @gemm: @rows rows of activations at @a, @stride bytes apart, times the panels from @first to
 * before @end, into rows
 *        at @c. Reads up to @unit - 1 elements past a row.
 * @bytes: (nullable): the instruction set over bytes that takes layers of floats instead, unless
 * these are whole numbers, and layers whose weights are mostly within its limits
 * @attention: (nullable): the instruction set that is faster for the few steps of an attention
 * @last: the last quantised value of a row that @round rounds
 * @round: so many @rows, at most SL_INT8_MOST_ROWS, of @n floats to u(a), or to 0..@last as int16.
 * The rows of results are @stride bytes apart. Nothing behind a row is read or written. @whole: the
 * floats are whole numbers, at most 255 apart in a row, which stay what they are
 * @round_shares: as @round, of numbers from 0 to 1, which all rows divide into as many steps
 * @to_weights: @n floats times @inverse as int8
 * @gelu: (nullable): of @n floats, in place or not, with an error of 2e-4 at most
 * @rows: of a tile of @gemm_floats, at most SL_INT8_MOST_ROWS
 * @gemm_floats: as @gemm, of such rows without a flip, into rows of floats at @c: ((sum * scale) +
 * the channel's lean * the row's lean) * the row's scale + rest
 * @depthwise: one output pixel; four pointers to a pixel for each quad
 * @depthwise_rows, @depthwise_flat: (nullable)
 * @gain: how many times as fast @gemm is as products of AVX-512's registers, 0 for once
 * @sparse_rows: of a tile of @sparse; 0 where there is none
 * @turn: (nullable) up to @sparse_rows rows of @depth activations, whole fours, times the exclusive
 * or @flip, as columns of as many fours, the
 *        missing ones 0
 * @sparse: (nullable) output channels @first to before @end, whole fours unless the last, of such
 * columns' first @rows rows, into rows at @c
 * @dw_lanes: channels of a depthwise block; @dw_lane: position in a block's weights of a channel
 */
typedef struct _SlInt8Isa SlInt8Isa;
struct _SlInt8Isa
{
  const char *name;
  gint32 lanes, unit, loaded, max_groups, dw_lanes, shallow;
  gboolean int16, pairs, signed_values, either, symmetric;
  gboolean faster_u8, faster_i8;
  void (*widen) (gint16 *to, const guint8 *from, gsize n, gboolean is_signed);
  void (*flip) (guint8 *to, const guint8 *from, gsize n);
  void (*gemm) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride,
                gint32 rows, guint8 *c, gsize c_stride);
  gint32 last;
  void (*round) (const gfloat *const *from, gsize n, gint32 rows, gboolean whole, void *to,
                 gsize stride, SlInt8Row *as);
  void (*round_shares) (const gfloat *from, gsize n, void *to, SlInt8Row *row);
  void (*to_weights) (const gfloat *from, gsize n, gfloat inverse, gint8 *to);
  void (*gelu) (const gfloat *from, gfloat *to, gsize n);
  gint32 rows;
  void (*gemm_floats) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                       gsize stride, gint32 n, const SlInt8Row *rows, gfloat *c, gsize c_stride);
  void (*depthwise) (const SlInt8Depthwise *layer, const guint8 *const *taps, guint8 *out);
  void (*depthwise_rows) (const SlInt8Depthwise *layer, const SlInt8Rows *rows);
  void (*depthwise_flat) (const SlInt8Depthwise *layer, const SlInt8Flat *flat);
  void (*add) (const SlInt8Add *add, const guint8 *a, const guint8 *b, guint8 *out, gsize n);
  gfloat gain;
  gint32 sparse_rows;
  void (*turn) (const guint8 *rows, gint32 n, gint32 depth, guint8 flip, guint8 *columns);
  void (*sparse) (const SlInt8Sparse *layer, gint32 first, gint32 end, const guint8 *columns,
                  gint32 rows, guint8 *c, gsize c_stride);
  gint32 (*dw_lane) (gint32 channel);
  const SlInt8Isa *bytes, *attention;
};

/** Most instruction sets of one build. */
#define SL_INT8_MAX_ISAS 8

/* A build has those that its SL_INT8_* definitions name. */
extern const SlInt8Isa sl_int8_isa_c, sl_int8_isa_sse41, sl_int8_isa_avx2, sl_int8_isa_avxvnni,
  sl_int8_isa_vnni256, sl_int8_isa_avx512, sl_int8_isa_amx;
/* The @bytes of AVX2. */
extern const SlInt8Isa sl_int8_isa_avx2bytes;
extern const SlInt8Isa sl_int8_isa_neon, sl_int8_isa_dotprod, sl_int8_isa_i8mm;

/** sl_int8_isa: the best this machine has, or of what the environment's SIGHTLINE_CPU allows. */
const SlInt8Isa *sl_int8_isa (void);
/** sl_int8_isa_force: for tests that compare instruction sets: what sl_int8_isa() returns from now
 * on; (nullable) @isa for its own choice. No other thread may make a session meanwhile. */
void sl_int8_isa_force (const SlInt8Isa *isa);
/** sl_int8_isas: every instruction set this build and this machine have, C first, the best last. */
guint sl_int8_isas (const SlInt8Isa *isas[SL_INT8_MAX_ISAS]);
