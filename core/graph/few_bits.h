/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Matrices of integers of few bits, which a float matrix is made of. A block of elements has one
 * scale, and a zero point that is stated or the same for all.
 */
#pragma once

#include <glib.h>

/** SlFewBitsStep: how far apart two neighbours in a column, and in a row, are. */
typedef struct
{
  gsize row, column;
} SlFewBitsStep;

/**
 * SlFewBits: element (i, j) is (its integer - its block's zero point) * its block's scale
 * @values: integers of @bits (2, 4 or 8), the first of a byte in its lowest bits
 * @value_step: in integers
 * @size: of a block: rows and columns
 * @scales: (nullable): @scale_step in blocks; without them elements are integers
 * @zeros: (nullable): packed likewise, of @zero_bits; @zero_step in blocks
 * @reals: (nullable): zero points as floats, with @scale_step
 * @middle: the zero point of all blocks where neither is there
 * @value_bytes, @scale_bytes, @zero_bytes, @real_bytes: of each
 * @is_signed: integers and packed zero points are two's complements
 */
typedef struct
{
  gsize rows, columns;
  const void *values, *zeros;
  const gfloat *scales, *reals;
  SlFewBitsStep value_step, size, scale_step, zero_step;
  gsize value_bytes, scale_bytes, zero_bytes, real_bytes;
  guint bits, zero_bits;
  gint32 middle;
  gboolean is_signed;
} SlFewBits;

/** sl_few_bits_at: integer @i of those of @bits at @packed, without its sign. */
static inline guint
sl_few_bits_at (const void *packed, gsize i, guint bits)
{
  return (guint) ((const guint8 *) packed)[i * bits / 8] >> (i * bits % 8) & ((1u << bits) - 1);
}

/** sl_few_bits_offset: what makes integers of @matrix unsigned, an exclusive or. */
static inline guint
sl_few_bits_offset (const SlFewBits *matrix)
{
  return matrix->is_signed ? 1u << (matrix->bits - 1) : 0;
}

/** sl_few_bits_transposed: @matrix with rows as columns. */
SlFewBits sl_few_bits_transposed (const SlFewBits *matrix);
/** sl_few_bits_zero: the zero point of the block of element (@i, @j), of integers that
 * sl_few_bits_offset() made unsigned. */
gfloat sl_few_bits_zero (const SlFewBits *matrix, gsize i, gsize j);
gfloat sl_few_bits_scale (const SlFewBits *matrix, gsize i, gsize j);
/** sl_few_bits_fill: the whole matrix as floats, a row after the other. */
void sl_few_bits_fill (const SlFewBits *matrix, gfloat *to);
/** sl_few_bits_spread: its integers with their signs, a byte each. */
void sl_few_bits_spread (const SlFewBits *matrix, guint8 *to);
