/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Inner loops that gain by more than the baseline instruction set (internal to core): one source
 * compiled for each set, and a table of functions chosen at the first use. All of them compute in
 * integers, or in floats in one order and without contraction, so every set gives the same bytes.
 */
#pragma once

#include <glib.h>

/** Fractional bits of a weight between two pixels. */
#define SL_BLEND_BITS 11
/** Pixels and most rows that SlSimdLoops' @search takes at a time. */
#define SL_SEARCHED 32
#define SL_SEARCH_ROWS 8
/** How far @search reads past the end, in bytes of a row and in weights. */
#define SL_SEARCH_OVER 16

/** SlSearchRun: pixels from @x on lie between two pixels of a row, @left and @right bytes from its
 * start. */
typedef struct
{
  gint32 x, left, right;
} SlSearchRun;

/**
 * SlSearchTile: SL_SEARCHED pixels of the output that lie between two rows of a picture
 * @top, @bottom: these rows, @channels quantised values a pixel; their order is that of (byte ^
 * @flip)
 * @runs: the first at 0
 * @across: for each pixel, the weight of its right neighbour
 */
typedef struct
{
  const guint8 *top, *bottom;
  gsize channels;
  guint8 flip;
  const SlSearchRun *runs;
  gsize n_runs;
  const gint32 *across;
} SlSearchTile;

/** Element i is in part i % SL_SUMS of SlSimdLoops' @sum, and of @dot but for the last few. */
#define SL_SUMS 16

/** Rows and columns that SlSimdLoops' @turn takes at a time. */
#define SL_TURNED 16

/**
 * SlSoftmax: rows of @n quantised values
 * @exp: by how far a quantised value is below its row's highest
 * @flip: 0x80 for signed values, else 0; @zero_point is that of the output's quantised values so
 * flipped
 */
typedef struct
{
  gsize n;
  guint8 flip;
  const gfloat *exp;
  gfloat scale;
  gint32 zero_point;
} SlSoftmax;

/**
 * SlWindows: @count windows beside each other, of @taps vectors of @n floats.
 * @stride: from a vector of a window to its next
 * @step, @out_step: from a window to the next, and from one's result to the next's
 */
typedef struct
{
  gsize n, taps, stride, count, step, out_step;
} SlWindows;

/** SlBlendPlace: a position along one dimension: between elements @low and @high, @weight of the
 * way; @fixed: the same with SL_BLEND_BITS fractional bits */
typedef struct
{
  gint32 low, high, fixed;
  gfloat weight;
} SlBlendPlace;

/**
 * SlSimdLoops:
 * @look_up: @out[i] = @table[@in[i]]
 * @across: @out[c] = @left[c] blended with @right[c], SL_BLEND_BITS fractional bits; unsigned or
 * signed values
 * @arg_max: for each of @rows rows of @n bytes the first of the largest, by the order of (byte ^
 * @flip)
 * @search: for each pixel of @rows rows, @weights of the way from top to bottom, the first channel
 * whose quantised value, blended
 *          and rounded as by @across and @down, is the largest; less than 2^22 channels
 * @down: @out[i] = @top[i] blended with @bottom[i], both with SL_BLEND_BITS fractional bits,
 * rounded half up to a byte
 * @blend: @n pixels of @channels floats, at @columns of the rows @top and @bottom, @down of the way
 * from top to bottom
 * @add: @sums[i] += @in[i]; unsigned or signed values
 * @largest: of windows, see SlWindows; NaN is skipped, and a window of NaN alone gives -INFINITY
 * @sum: of @in, in double precision; @dot: of products, in single precision; both in parts that are
 * added in the end
 * @dots: of @n_rows rows of @n numbers and @b, each to @out, @step apart
 * @tangent: hyperbolic tangents, 4e-7 off at most relative to the result; @out may be @in
 * @widen: @least and @most so that all values of @in lie between them; NaN is skipped
 * @round: @out[i] = @in[i] / @scale within @lo and @hi, whole numbers below 2^22, rounded half to
 * even, times @by; @lo for NaN
 * @softmax: each row's exponentials, summed in single precision from the first to the last, times 1
 * / (sum * @scale), rounded half up
 * @turn: SL_TURNED rows of as many bytes to columns
 * @from_halves, @to_halves: as core/base/half.h converts one, but for the bits of NaN
 * @weave: elements of 32 bits of 2 or 3 @planes in turn: @out[i * planes + p] = @in[p * stride +
 * i];
 * @weave_halves: of 16 bits
 */
typedef struct
{
  const char *name;
  void (*look_up) (const guint8 *table, const guint8 *in, guint8 *out, gsize n);
  void (*across_u8) (const guint8 *left, const guint8 *right, gint32 weight, gint32 *out, gsize n);
  void (*across_i8) (const gint8 *left, const gint8 *right, gint32 weight, gint32 *out, gsize n);
  void (*arg_max) (const guint8 *in, gsize n, gsize rows, guint8 flip, gint32 *out);
  void (*down) (const gint32 *top, const gint32 *bottom, gint32 weight, guint8 *out, gsize n);
  void (*search) (const SlSearchTile *tile, const gint32 *weights, gsize rows, gint32 *found);
  void (*blend) (const gfloat *top, const gfloat *bottom, gfloat down, const SlBlendPlace *columns,
                 gsize n, gsize channels, gfloat *out);
  void (*add_u8) (const guint8 *in, gint32 *sums, gsize n);
  void (*add_i8) (const gint8 *in, gint32 *sums, gsize n);
  void (*largest) (const SlWindows *windows, const gfloat *in, gfloat *out);
  gdouble (*sum) (const gfloat *in, gsize n);
  gfloat (*dot) (const gfloat *a, const gfloat *b, gsize n);
  void (*dots) (const gfloat *rows, gsize n_rows, const gfloat *b, gsize n, gfloat *out,
                gsize step);
  void (*tangent) (const gfloat *in, gfloat *out, gsize n);
  void (*widen) (const gfloat *in, gfloat *least, gfloat *most, gsize n);
  void (*round) (const gfloat *in, gfloat *out, gsize n, gfloat scale, gfloat lo, gfloat hi,
                 gfloat by);
  void (*softmax) (const SlSoftmax *s, const guint8 *in, guint8 *out, gsize rows);
  void (*turn) (const guint8 *from, gssize from_stride, guint8 *to, gssize to_stride);
  void (*weave) (const guint32 *in, gsize stride, guint planes, guint32 *out, gsize n);
  void (*weave_halves) (const guint16 *in, gsize stride, guint planes, guint16 *out, gsize n);
  void (*from_halves) (const guint16 *in, gfloat *out, gsize n);
  void (*to_halves) (const gfloat *in, guint16 *out, gsize n);
} SlSimdLoops;

extern const SlSimdLoops sl_simd_loops_base, sl_simd_loops_avx2, sl_simd_loops_avx512;

/** sl_simd_loops: the best this processor has, or of what the environment's SIGHTLINE_CPU allows;
 * the same at every call. */
const SlSimdLoops *sl_simd_loops (void);
/** sl_simd_loops_all: every set this build and this processor have; returns how many, at most 3. */
guint sl_simd_loops_all (const SlSimdLoops *sets[3]);
