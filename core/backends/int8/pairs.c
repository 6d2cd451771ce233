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
#define BLOCK 16
/* Sums are bytes: larger ones count as this, which fits none. */
#define MOST_SUM 255
/* Steps among which two are put together, which read near each other; and how many of them are
 * tried before a step stays alone. */
#define NEAR 64
#define TRIES 8
/* Classes of sums by which steps are sorted. */
#define CLASS_WIDTH 8
#define CLASSES ((MOST_SUM + 1) / CLASS_WIDTH)

typedef guint8 Bytes __attribute__ ((vector_size (BLOCK)));
typedef gint8 SignedBytes __attribute__ ((vector_size (BLOCK)));
typedef guint16 Words __attribute__ ((vector_size (BLOCK)));

/** Steps whose weights are to be put together: @sums of the pairs of each, @each of them, and the
 * largest of them; @second: by step, with which one it is put together, or itself. */
typedef struct
{
  gsize each;
  guint8 limit;
  guint8 *sums, *most;
  gint32 *second;
} Match;

/* The sums of the weights above zero of each pair, and of those below, in turn. */
static inline Bytes
sums_of (SignedBytes x)
{
  const SignedBytes below = x < 0;
  const Words a = (Words) (x & ~below), b = (Words) (-x & below);
  const Words plus = (a & 0xff) + (a >> 8), minus = (b & 0xff) + (b >> 8);
  return (Bytes) (plus | (minus - (minus >> 8)) << 8);
}

static inline gboolean
any (Bytes flags)
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
sl_int8_limit (SlInt8Weights *w, gint32 lane)
{
  const gsize first = (gsize) lane * (gsize) w->depth, end = first + (gsize) w->depth;
  for (gsize at = first; w->limit < MOST_SUM && at < end; at += (gsize) w->run)
    for (gint32 k = 0; k < w->run; k += BLOCK) {
      const gint32 n = MIN (BLOCK, w->run - k);
      gint8 *low = w->low + at + k;
      SignedBytes x = { 0 };
      if (n == BLOCK)
        memcpy (&x, low, sizeof x);
      else
        memcpy (&x, low, (gsize) n);
      if (any ((Bytes) (sums_of (x) > (guint8) w->limit))) {
        sl_int8_take (w, w->values + at + k, n, low);
        w->steps[lane] = MAX (w->steps[lane], 2);
      }
    }
}

/* The sums of the pairs of a step, for all lanes; returns the largest. */
static guint8
add_up (const guint8 *weights, gsize each, guint8 *sums)
{
  Bytes most = { 0 };
  for (gsize i = 0; i < each; i += BLOCK) {
    SignedBytes x;
    memcpy (&x, weights + i, sizeof x);
    const Bytes both = sums_of (x), larger = (Bytes) (both > most);
    most = (both & larger) | (most & ~larger);
    memcpy (sums + i, &both, sizeof both);
  }
  guint8 largest = 0;
  for (gint i = 0; i < BLOCK; i++)
    largest = MAX (largest, most[i]);
  return largest;
}

/* Without branches on each sum, which processors would not foresee. */
static gboolean
fit_together (const Match *m, gint32 a, gint32 b)
{
  if (m->most[a] + m->most[b] <= m->limit)
    return TRUE;
  const guint8 *x = m->sums + (gsize) a * m->each, *y = m->sums + (gsize) b * m->each;
  Bytes beyond = { 0 };
  for (gsize i = 0; i < m->each; i += BLOCK) {
    Bytes first, second;
    memcpy (&first, x + i, sizeof first);
    memcpy (&second, y + i, sizeof second);
    beyond |= (Bytes) (second > m->limit - first);
  }
  return !any (beyond);
}

/* Puts @n steps, which are sorted by their largest sums, together: the largest with the smallest
 * that fits it. */
static void
match (const Match *m, const gint32 *steps, gint32 n)
{
  gint32 next[NEAR + 1]; /* behind each of those that are left, from the one before the first on */
  for (gint32 i = 0; i <= n; i++)
    next[i] = i;
  for (gint32 last = n - 1; last > next[0]; last--) {
    const gint32 a = steps[last];
    if (m->second[a] != a || m->most[a] > m->limit)
      continue;
    for (gint32 before = 0, tries = 0; next[before] < last && tries < TRIES;
         before = next[before] + 1, tries++) {
      const gint32 b = steps[next[before]];
      if (!fit_together (m, a, b))
        continue;
      m->second[a] = b;
      m->second[b] = a;
      next[before] = next[next[before] + 1];
      break;
    }
  }
}

/* @n steps by their largest sums, roughly. */
static void
sort (const Match *m, const gint32 *steps, gint32 n, gint32 *sorted)
{
  gint32 ends[CLASSES + 1] = { 0 };
  for (gint32 i = 0; i < n; i++)
    ends[m->most[steps[i]] / CLASS_WIDTH + 1]++;
  for (gint32 i = 0; i < CLASSES; i++)
    ends[i + 1] += ends[i];
  for (gint32 i = 0; i < n; i++)
    sorted[ends[m->most[steps[i]] / CLASS_WIDTH]++] = steps[i];
}

/* Those of @n steps that are still alone, NEAR at a time; returns how many stay so. */
static gint32
match_all (const Match *m, gint32 *steps, gint32 n)
{
  gint32 sorted[NEAR], left = 0;
  for (gint32 first = 0; first < n; first += NEAR) {
    const gint32 some = MIN (NEAR, n - first);
    sort (m, steps + first, some, sorted);
    match (m, sorted, some);
  }
  for (gint32 i = 0; i < n; i++)
    if (m->second[steps[i]] == steps[i])
      steps[left++] = steps[i];
  return left;
}

gint32
sl_int8_pair_steps (gint32 n, gint32 lanes, gint32 limit, const guint8 *weights,
                    const gint32 *offsets, guint8 *to, gint32 *to_offsets)
{
  const gsize each = (gsize) (lanes * UNIT);
  g_autofree guint8 *sums = g_malloc ((gsize) n * each), *most = g_malloc ((gsize) n);
  g_autofree gint32 *second = g_new (gint32, n), *order = g_new (gint32, n);
  const Match m = { each, (guint8) MIN (limit, MOST_SUM - 1), sums, most, second };
  gint32 done = 0;
  for (gint32 i = 0; i < n; i++) {
    most[i] = add_up (weights + (gsize) i * each, each, sums + (gsize) i * each);
    second[i] = order[i] = i;
  }
  match_all (&m, order, match_all (&m, order, n));
  for (gint32 i = 0; i < n; i++)
    if (second[i] > i) {
      order[done++] = i;
      order[done++] = second[i];
    }
  const gint32 twos = done / 2;
  for (gint32 i = 0; i < n; i++)
    if (second[i] == i)
      order[done++] = i;
  for (gint32 i = 0; i < n; i++) {
    memcpy (to + (gsize) i * each, weights + (gsize) order[i] * each, each);
    to_offsets[i] = offsets[order[i]];
  }
  return twos;
}

static inline Bytes
bytes_at (const guint8 *at)
{
  Bytes x;
  memcpy (&x, at, sizeof x);
  return x;
}

/* Whether the step at @weights, of @each of them, and the next one fit 16 bits together. */
static gboolean
fits_next (const guint8 *weights, gsize each, guint8 limit)
{
  Bytes beyond = { 0 };
  for (gsize i = 0; i < each; i += BLOCK) {
    const Bytes first = sums_of ((SignedBytes) bytes_at (weights + i)),
                second = sums_of ((SignedBytes) bytes_at (weights + each + i));
    beyond |= (Bytes) (first > limit) | (Bytes) (second > limit - first);
  }
  return !any (beyond);
}

static void
swap (guint8 *a, guint8 *b, gsize n)
{
  for (gsize i = 0; i < n; i += BLOCK) {
    const Bytes x = bytes_at (a + i), y = bytes_at (b + i);
    memcpy (a + i, &y, sizeof y);
    memcpy (b + i, &x, sizeof x);
  }
}

gint32
sl_int8_join_neighbours (gint32 n, gint32 lanes, gint32 limit, guint8 *weights, gint32 *offsets)
{
  const gsize each = (gsize) (lanes * UNIT);
  const guint8 most = (guint8) MIN (limit, MOST_SUM - 1);
  gint32 twos = 0, end = n / 2;
  while (twos < end) {
    guint8 *const at = weights + 2 * (gsize) twos * each;
    if (fits_next (at, each, most)) {
      twos++;
      continue;
    }
    end--;
    swap (at, weights + 2 * (gsize) end * each, 2 * each);
    for (gint32 i = 0; i < 2; i++) {
      const gint32 offset = offsets[2 * twos + i];
      offsets[2 * twos + i] = offsets[2 * end + i];
      offsets[2 * end + i] = offset;
    }
  }
  return twos;
}
