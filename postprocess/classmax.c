/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maxima over classes. Compiled with full optimisation in every build. Where candidates lie side by
 * side, a block of them stays in the first-level cache while all classes pass over it.
 */
#include "postprocess/classmax.h"

#include <math.h>
#include <string.h>

#define BLOCK 2048

/* Bytes of one class raise the maxima of a block. */
static void
raise_codes (const guint8 *restrict row, gsize n, guint8 flip, guint8 *restrict best)
{
  for (gsize i = 0; i < n; i++) {
    const guint8 rank = row[i] ^ flip;
    best[i] = rank > best[i] ? rank : best[i];
  }
}

static void
raise_floats (const gfloat *restrict row, gsize n, gfloat *restrict best)
{
  for (gsize i = 0; i < n; i++)
    best[i] = row[i] > best[i] ? row[i] : best[i];
}

static guint8
highest_code (const guint8 *scores, gsize n, guint8 flip)
{
  guint8 best = 0;
  for (gsize c = 0; c < n; c++) {
    const guint8 rank = scores[c] ^ flip;
    best = rank > best ? rank : best;
  }
  return best;
}

static inline gfloat
highest_float (const gfloat *scores, gsize n)
{
  gfloat lanes[4] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
  gsize c = 0;
  if (n < 8) {
    for (; c < n; c++)
      lanes[0] = scores[c] > lanes[0] ? scores[c] : lanes[0];
    return lanes[0];
  }
  for (; c + 4 <= n; c += 4)
    for (gsize k = 0; k < 4; k++)
      lanes[k] = scores[c + k] > lanes[k] ? scores[c + k] : lanes[k];
  for (; c < n; c++)
    lanes[0] = scores[c] > lanes[0] ? scores[c] : lanes[0];
  return fmaxf (fmaxf (lanes[0], lanes[1]), fmaxf (lanes[2], lanes[3]));
}

void
sl_class_max_codes (const guint8 *data, gsize n, gsize classes, gsize class_step, gsize row_step,
                    guint8 flip, guint8 *best)
{
  if (row_step != 1) {
    for (gsize i = 0; i < n; i++)
      best[i] = highest_code (data + i * row_step, classes, flip);
    return;
  }
  memset (best, 0, n);
  for (gsize start = 0; start < n; start += BLOCK)
    for (gsize c = 0; c < classes; c++)
      raise_codes (data + c * class_step + start, MIN (n - start, BLOCK), flip, best + start);
}

void
sl_class_max_floats (const gfloat *data, gsize n, gsize classes, gsize class_step, gsize row_step,
                     gfloat *best)
{
  if (row_step != 1) {
    for (gsize i = 0; i < n; i++)
      best[i] = highest_float (data + i * row_step, classes);
    return;
  }
  for (gsize i = 0; i < n; i++)
    best[i] = -INFINITY;
  for (gsize start = 0; start < n; start += BLOCK)
    for (gsize c = 0; c < classes; c++)
      raise_floats (data + c * class_step + start, MIN (n - start, BLOCK), best + start);
}

void
sl_class_max_objects (const gfloat *data, gsize n, gsize classes, gsize row_step, gfloat lowest,
                      gfloat *best)
{
  for (gsize i = 0; i < n; i++) {
    const gfloat *row = data + i * row_step;
    best[i] = row[0] >= lowest ? row[0] * highest_float (row + 1, classes) : -INFINITY;
  }
}
