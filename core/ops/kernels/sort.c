/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorting by descending value as C++'s std::sort of GCC's library does it, an introspective sort,
 * because PyTorch's sort () leaves equal elements in the order that comes of it: boxes of equal
 * score are suppressed by each other in that order. Values are not NaN.
 */
#include "core/ops/kernels/kernels.h"

/* Pieces of up to so many elements are left to the insertion at the end. */
#define PIECE 16

typedef struct
{
  const gdouble *values;
  gint32 *places;
} Sort;

static inline gboolean
before (const Sort *sort, gint32 a, gint32 b)
{
  return sort->values[a] > sort->values[b];
}

static inline void
swap (gint32 *a, gint32 *b)
{
  const gint32 other = *a;
  *a = *b;
  *b = other;
}

/* Of the second, the middle and the last element the median comes first. */
static void
median_first (const Sort *sort, gsize first, gsize end)
{
  gint32 *p = sort->places;
  const gsize a = first + 1, b = first + (end - first) / 2, c = end - 1;
  gsize median;
  if (before (sort, p[a], p[b]))
    median = before (sort, p[b], p[c]) ? b : before (sort, p[a], p[c]) ? c : a;
  else
    median = before (sort, p[a], p[c]) ? a : before (sort, p[b], p[c]) ? c : b;
  swap (&p[first], &p[median]);
}

/* Where the elements begin that do not belong before the first one. */
static gsize
partition (const Sort *sort, gsize first, gsize end)
{
  gint32 *p = sort->places;
  const gint32 pivot = p[first];
  gsize low = first + 1, high = end;
  for (;; low++) {
    while (before (sort, p[low], pivot))
      low++;
    high--;
    while (before (sort, pivot, p[high]))
      high--;
    if (low >= high)
      return low;
    swap (&p[low], &p[high]);
  }
}

/* Behind @b, equals by their place. */
static inline gboolean
after (const Sort *sort, gint32 a, gint32 b)
{
  return before (sort, b, a) || (!before (sort, a, b) && a > b);
}

static void
sift_down (const Sort *sort, gint32 *heap, gsize at, gsize n)
{
  for (gsize child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && after (sort, heap[child + 1], heap[child]))
      child++;
    if (!after (sort, heap[child], heap[at]))
      return;
    swap (&heap[child], &heap[at]);
  }
}

static void
heap_sort (const Sort *sort, gint32 *heap, gsize n)
{
  for (gsize i = n / 2; i-- > 0;)
    sift_down (sort, heap, i, n);
  for (gsize end = n - 1; end > 0; end--) {
    swap (&heap[0], &heap[end]);
    sift_down (sort, heap, 0, end);
  }
}

/* Pieces of which each belongs before the next; @depth bounds the time that unlucky medians take.
 */
static void
split (const Sort *sort, gsize first, gsize end, guint depth)
{
  for (; end - first > PIECE; depth--) {
    if (depth == 0) {
      heap_sort (sort, sort->places + first, end - first);
      return;
    }
    median_first (sort, first, end);
    const gsize cut = partition (sort, first, end);
    split (sort, cut, end, depth - 1);
    end = cut;
  }
}

void
sl_sort_descending (const gdouble *values, gint32 *places, gsize n)
{
  const Sort sort = { values, places };
  for (gsize i = 0; i < n; i++)
    places[i] = (gint32) i;
  if (n > 1)
    split (&sort, 0, n, 2 * (g_bit_storage (n) - 1));
  for (gsize i = 1; i < n; i++) {
    const gint32 place = places[i];
    gsize k = i;
    for (; k > 0 && before (&sort, place, places[k - 1]); k--)
      places[k] = places[k - 1];
    places[k] = place;
  }
}
