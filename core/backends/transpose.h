/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transposes rows of 32-bit elements, for the loops with sparse weights (internal to
 * core/backends). */
#pragma once

#include <glib.h>
#include <string.h>

typedef guint32 SlFour __attribute__ ((vector_size (16)));

/** sl_turn: four elements of each of four lines at @in, @from bytes apart, as four columns at @out,
 * @to bytes apart. @flip: exclusive or for each element. */
static inline __attribute__ ((always_inline)) void
sl_turn (const void *in, gsize from, void *out, gsize to, guint32 flip)
{
  SlFour rows[4];
  for (guint i = 0; i < 4; i++) {
    memcpy (&rows[i], (const guint8 *) in + i * from, sizeof rows[i]);
    rows[i] ^= flip;
  }
  const SlFour a = __builtin_shufflevector (rows[0], rows[1], 0, 4, 1, 5),
               b = __builtin_shufflevector (rows[2], rows[3], 0, 4, 1, 5);
  const SlFour c = __builtin_shufflevector (rows[0], rows[1], 2, 6, 3, 7),
               d = __builtin_shufflevector (rows[2], rows[3], 2, 6, 3, 7);
  const SlFour columns[4] = { __builtin_shufflevector (a, b, 0, 1, 4, 5),
                              __builtin_shufflevector (a, b, 2, 3, 6, 7),
                              __builtin_shufflevector (c, d, 0, 1, 4, 5),
                              __builtin_shufflevector (c, d, 2, 3, 6, 7) };
  for (guint i = 0; i < 4; i++)
    memcpy ((guint8 *) out + i * to, &columns[i], sizeof columns[i]);
}
