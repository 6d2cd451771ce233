/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which weights the products of bytes may have. AVX2 multiplies unsigned with signed bytes and adds
 * the products of two neighbouring activations, a pair, in 16 bits, where large weights of one sign
 * overflow. So the weights of a pair have a limit. What is beyond it goes into further steps, as do
 * weights of nine bits. Most weights are far from the limit: the products of two steps fit
 * together, which saves one of four multiplications. Steps may come in any order, so each is put
 * together with one that it fits.
 */
#include <string.h>

#include "core/backends/int8/layer.h"

/* Activations of a step, and weights that are looked at together. */
#define UNIT 4
#define BLOCK 8
/* Steps that are tried before a step stays alone. */
#define TRIES 16

typedef gint8 EightBytes __attribute__ ((vector_size (8)));
typedef gint16 Eight __attribute__ ((vector_size (16)));
typedef gint32 Four __attribute__ ((vector_size (16)));
typedef guint32 FourBits __attribute__ ((vector_size (16)));

/* The sums of the weights above zero of each pair, and of those below, in turn. */
static inline Eight
sums_of (Eight x)
{
  const Eight above = x & (x > 0), below = -(x & (x < 0));
  const FourBits plus = (FourBits) above + ((FourBits) above >> 16),
                 minus = (FourBits) below + ((FourBits) below << 16);
  return (Eight) ((plus & 0xffff) | (minus & 0xffff0000));
}

static inline gboolean
any (Eight flags)
{
  guint64 halves[2];
  memcpy (halves, &flags, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

void
sl_int8_take (const SlInt8Weights *w, const gint16 *values, gint32 n, gint8 *to)
{
  gint32 room[2] = { 0 };
  for (gint32 i = 0; i < n; i++) {
    const gint sign = values[i] < 0;
    if (i % 2 == 0)
      room[0] = room[1] = w->limit;
    const gint32 most = MIN (sign ? -w->least : G_MAXINT8, room[sign]),
                 amount = MIN (ABS ((gint32) values[i]), most);
    room[sign] -= amount;
    to[i] = (gint8) (sign ? -amount : amount);
  }
}

void
sl_int8_limit (SlInt8Weights *w, gint32 lanes)
{
  for (gsize at = 0; at < (gsize) lanes * (gsize) w->depth; at += (gsize) w->run)
    for (gint32 k = 0; k < w->run; k += BLOCK) {
      const gint32 n = MIN (BLOCK, w->run - k);
      const gint16 *values = w->values + at + k;
      Eight x = { 0 };
      if (n == BLOCK)
        memcpy (&x, values, sizeof x);
      else
        memcpy (&x, values, (gsize) n * sizeof x[0]);
      if (any (sums_of (x) > (gint16) w->limit)) {
        sl_int8_take (w, values, n, w->low + at + k);
        w->steps[at / (gsize) w->depth] = MAX (w->steps[at / (gsize) w->depth], 2);
      }
    }
}

/* The sums of the pairs of a step, for all lanes. */
static void
add_up (const guint8 *weights, gint32 lanes, gint16 *sums)
{
  for (gint32 i = 0; i < lanes * UNIT; i += BLOCK) {
    EightBytes bytes;
    memcpy (&bytes, weights + i, sizeof bytes);
    const Eight both = sums_of (__builtin_convertvector(bytes, Eight));
    memcpy (sums + i, &both, sizeof both);
  }
}

static gboolean
fit_together (const gint16 *a, const gint16 *b, gint32 n, gint16 limit)
{
  for (gint32 i = 0; i < n; i += BLOCK) {
    Eight x, y;
    memcpy (&x, a + i, sizeof x);
    memcpy (&y, b + i, sizeof y);
    if (any (x + y > limit))
      return FALSE;
  }
  return TRUE;
}

/* Which of the next steps that are still alone fits step @i; 0 if none of those tried does. */
static gint32
find_second (gint32 i, gint32 n, gint32 lanes, gint16 limit, const gint16 *sums,
             const guint8 *together)
{
  const gsize each = (gsize) (lanes * UNIT);
  for (gint32 k = i + 1, tries = 0; k < n && tries < TRIES; k++) {
    if (together[k])
      continue;
    if (fit_together (sums + (gsize) i * each, sums + (gsize) k * each, lanes * UNIT, limit))
      return k;
    tries++;
  }
  return 0;
}

gint32
sl_int8_pair_steps (gint32 n, gint32 lanes, gint32 limit, const guint8 *weights,
                    const gint32 *offsets, guint8 *to, gint32 *to_offsets)
{
  const gsize each = (gsize) (lanes * UNIT);
  g_autofree gint16 *sums = g_new (gint16, (gsize) n * each);
  g_autofree guint8 *together = g_new0 (guint8, n);
  g_autofree gint32 *order = g_new (gint32, n);
  gint32 done = 0;
  for (gint32 i = 0; i < n; i++)
    add_up (weights + (gsize) i * each, lanes, sums + (gsize) i * each);
  for (gint32 i = 0; i < n; i++) {
    const gint32 second =
      together[i] ? 0 : find_second (i, n, lanes, (gint16) limit, sums, together);
    if (second == 0)
      continue;
    together[i] = together[second] = TRUE;
    order[done++] = i;
    order[done++] = second;
  }
  const gint32 twos = done / 2;
  for (gint32 i = 0; i < n; i++)
    if (!together[i])
      order[done++] = i;
  for (gint32 i = 0; i < n; i++) {
    memcpy (to + (gsize) i * each, weights + (gsize) order[i] * each, each);
    to_offsets[i] = offsets[order[i]];
  }
  return twos;
}
