/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/graph/few_bits.h"

static SlFewBitsStep
swapped (SlFewBitsStep step)
{
  return (SlFewBitsStep){ step.column, step.row };
}

SlFewBits
sl_few_bits_transposed (const SlFewBits *matrix)
{
  SlFewBits transposed = *matrix;
  transposed.rows = matrix->columns;
  transposed.columns = matrix->rows;
  transposed.value_step = swapped (matrix->value_step);
  transposed.size = swapped (matrix->size);
  transposed.scale_step = swapped (matrix->scale_step);
  transposed.zero_step = swapped (matrix->zero_step);
  return transposed;
}

static gsize
place (const SlFewBits *matrix, SlFewBitsStep step, gsize i, gsize j)
{
  return i / matrix->size.row * step.row + j / matrix->size.column * step.column;
}

static gint
with_sign (guint value, guint bits)
{
  const gint half = 1 << (bits - 1);
  return ((gint) value ^ half) - half;
}

gfloat
sl_few_bits_zero (const SlFewBits *matrix, gsize i, gsize j)
{
  const guint offset = sl_few_bits_offset (matrix);
  if (matrix->reals != NULL)
    return matrix->reals[place (matrix, matrix->scale_step, i, j)] + (gfloat) offset;
  if (matrix->zeros == NULL)
    return (gfloat) (matrix->middle + (gint32) offset);
  const guint zero =
    sl_few_bits_at (matrix->zeros, place (matrix, matrix->zero_step, i, j), matrix->zero_bits);
  return (gfloat) (matrix->is_signed ? with_sign (zero, matrix->zero_bits) + (gint) offset
                                     : (gint) zero);
}

gfloat
sl_few_bits_scale (const SlFewBits *matrix, gsize i, gsize j)
{
  return matrix->scales[place (matrix, matrix->scale_step, i, j)];
}

void
sl_few_bits_fill (const SlFewBits *matrix, gfloat *to)
{
  const guint offset = sl_few_bits_offset (matrix);
  for (gsize i = 0; i < matrix->rows; i++)
    for (gsize first = 0; first < matrix->columns; first += matrix->size.column) {
      const gsize end = MIN (first + matrix->size.column, matrix->columns);
      const gfloat zero = sl_few_bits_zero (matrix, i, first),
                   scale = sl_few_bits_scale (matrix, i, first);
      for (gsize j = first; j < end; j++) {
        const gsize at = i * matrix->value_step.row + j * matrix->value_step.column;
        const guint value = sl_few_bits_at (matrix->values, at, matrix->bits) ^ offset;
        *to++ = ((gfloat) value - zero) * scale;
      }
    }
}

void
sl_few_bits_spread (const SlFewBits *matrix, guint8 *to)
{
  for (gsize i = 0; i < matrix->rows; i++)
    for (gsize j = 0; j < matrix->columns; j++) {
      const gsize at = i * matrix->value_step.row + j * matrix->value_step.column;
      const guint value = sl_few_bits_at (matrix->values, at, matrix->bits);
      *to++ = (guint8) (matrix->is_signed ? with_sign (value, matrix->bits) : (gint) value);
    }
}
