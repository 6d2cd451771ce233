/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask is the positions, counted down the columns, where it changes between outside and inside.
 * The outline of a polygon goes in fifths of a pixel, as pycocotools walks it: where it passes the
 * middle of a column of pixels, all that is below changes sides.
 */
#include "tools/evaluate/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fail.h"

#define FINE 5
/* Columns that one outline may pass. */
#define MAX_PASSED 10000000
/* Pieces of compressed text: five bits each, from the least on. */
#define MAX_PIECES 7

struct _SlRuns
{
  guint width, height, n;
  guint64 area;
  guint32 changes[]; /* @n, rising, below width * height */
};

static guint64
area_of (const guint32 *changes, guint n, guint32 pixels)
{
  guint64 area = 0;
  for (guint i = 0; i < n; i += 2)
    area += (i + 1 < n ? changes[i + 1] : pixels) - changes[i];
  return area;
}

/* (transfer full): of the positions @changes. */
static SlRuns *
runs_new (guint width, guint height, const GArray *changes)
{
  const gsize bytes = changes->len * sizeof (guint32);
  SlRuns *runs = g_malloc (sizeof *runs + bytes);
  *runs = (SlRuns){ .width = width, .height = height, .n = changes->len };
  if (bytes > 0)
    memcpy (runs->changes, changes->data, bytes);
  runs->area = area_of (runs->changes, runs->n, width * height);
  return runs;
}

void
sl_runs_free (SlRuns *runs)
{
  g_free (runs);
}

static GArray *
changes_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (guint32));
}

/* Positions come in rising order. Two changes at the same position cancel. A change behind the last
 * of @pixels has no effect. */
static void
change (GArray *changes, guint32 pixels, guint32 at)
{
  if (changes->len > 0 && g_array_index (changes, guint32, changes->len - 1) == at)
    g_array_set_size (changes, changes->len - 1);
  else if (at < pixels)
    g_array_append_val (changes, at);
}

/* Whether @changes more positions and @steps more of work are within what masks may cost together;
 * adds them to @cost. */
static gboolean
spend (SlRunsCost *cost, guint64 changes, guint64 steps, GError **error)
{
  cost->changes += changes;
  cost->steps += steps;
  if (cost->changes <= SL_RUNS_MAX_CHANGES && cost->steps <= SL_RUNS_MAX_STEPS)
    return TRUE;
  if (cost->changes > SL_RUNS_MAX_CHANGES)
    sl_fail (error, SL_ERROR_LIMIT,
             "with this one, all masks have more than %d runs; split the file, or leave masks out",
             SL_RUNS_MAX_CHANGES);
  else
    sl_fail (
      error, SL_ERROR_LIMIT,
      "with this one, outlines and joins of all polygons take more than %d steps; split the file, "
      "or leave masks out",
      SL_RUNS_MAX_STEPS);
  return FALSE;
}

static gboolean
check_size (guint width, guint height, GError **error)
{
  if (width >= 1 && height >= 1 && width <= SL_RUNS_MAX_SIDE && height <= SL_RUNS_MAX_SIDE)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT, "a mask of %ux%u pixels; expected 1..%d each way",
                  width, height, SL_RUNS_MAX_SIDE);
}

/** A mask that is made of lengths: @at is where the next run begins. */
typedef struct
{
  guint width, height;
  guint64 at;
  GArray *changes;
  SlRunsCost *cost;
} Making;

/* FALSE when the lengths went beyond the mask, or it would cost too much: no more need be read. */
static gboolean
add_length (Making *making, guint64 length)
{
  const guint32 pixels = making->width * making->height;
  making->at += length;
  if (making->at <= pixels)
    change (making->changes, pixels, (guint32) making->at);
  return making->at <= pixels
         && making->changes->len + making->cost->changes <= SL_RUNS_MAX_CHANGES;
}

/* (transfer full): the mask of all lengths. */
static SlRuns *
make (const Making *making, GError **error)
{
  const guint32 pixels = making->width * making->height;
  if (!spend (making->cost, making->changes->len, 0, error))
    return NULL;
  if (making->at == pixels)
    return runs_new (making->width, making->height, making->changes);
  return sl_fail_null (
    error, SL_ERROR_ARGUMENT, "runs of %s%" G_GUINT64_FORMAT " pixels; expected %u, for %ux%u",
    making->at > pixels ? "at least " : "", making->at, pixels, making->width, making->height);
}

SlRuns *
sl_runs_new_counts (guint width, guint height, const guint32 *counts, gsize n, SlRunsCost *cost,
                    GError **error)
{
  if (!check_size (width, height, error))
    return NULL;
  g_autoptr (GArray) changes = changes_new ();
  Making making = { .width = width, .height = height, .changes = changes, .cost = cost };
  for (gsize i = 0; i < n && add_length (&making, counts[i]);)
    i++;
  return make (&making, error);
}

/* One length of compressed text, signed; behind it in *@text. FALSE for what is none. */
static gboolean
read_length (const char **text, gint64 *length)
{
  guint64 value = 0;
  for (guint piece = 0; piece < MAX_PIECES; piece++) {
    const guint bits = (guint) (guchar) * *text - '0';
    if (bits >= 64)
      return FALSE;
    (*text)++;
    value |= (guint64) (bits & 31) << (5 * piece);
    if ((bits & 32) != 0)
      continue;
    if ((bits & 16) != 0)
      value |= G_MAXUINT64 << (5 * piece + 5);
    *length = (gint64) value;
    return TRUE;
  }
  return FALSE;
}

SlRuns *
sl_runs_new_text (guint width, guint height, const char *text, SlRunsCost *cost, GError **error)
{
  if (!check_size (width, height, error))
    return NULL;
  g_autoptr (GArray) changes = changes_new ();
  Making making = { .width = width, .height = height, .changes = changes, .cost = cost };
  gint64 last = 0, before = 0, length = 0;
  gboolean more = TRUE;
  for (guint run = 1; *text != '\0' && more; run++) {
    const gboolean good = read_length (&text, &length);
    /* Each length but the first three is what it is more than the one before the last. */
    length += good && run > 3 ? before : 0;
    if (!good || length < 0 || length > G_MAXUINT32)
      return sl_fail_null (error, SL_ERROR_ARGUMENT,
                           "run %u is none; expected text of pycocotools' compressed masks", run);
    before = last;
    last = length;
    more = add_length (&making, (guint64) length);
  }
  return make (&making, error);
}

/* The columns of pixels, *@first to below *@end, whose middles an edge from fine step @from to @to
 * passes. */
static void
columns_passed (guint width, gint from, gint to, guint *first, guint *end)
{
  const gint low = MAX (MIN (from, to), 0), high = MAX (MAX (from, to), 0);
  *first = (guint) (low + FINE / 2) / FINE;
  *end = MIN ((guint) (high + FINE / 2) / FINE, width);
}

static gint
fine_at (gint start, gdouble slope, gint step)
{
  return (gint) (start + slope * step + 0.5);
}

/* The step from which a steep edge, which begins at @start, goes from one side of the middle, @x,
 * to the other. */
static gint
step_across (gint start, gdouble slope, gint x)
{
  gint step = (gint) ((x + 0.5 - start) / slope);
  while ((fine_at (start, slope, step) > x) == (slope > 0))
    step--;
  while ((fine_at (start, slope, step + 1) > x) != (slope > 0))
    step++;
  return step;
}

/* Adds where the edge passes the middles of columns; the fine steps in between are not made one by
 * one. */
static void
walk_edge (GArray *passed, guint width, guint height, const gint *from, const gint *to)
{
  const gint dx = abs (to[0] - from[0]), dy = abs (to[1] - from[1]);
  const gboolean across = dx >= dy, flip = across ? from[0] > to[0] : from[1] > to[1];
  const gint *low = flip ? to : from, *high = flip ? from : to;
  const gdouble slope =
    across ? (gdouble) (high[1] - low[1]) / MAX (dx, 1) : (gdouble) (high[0] - low[0]) / dy;
  guint first, end;
  columns_passed (width, from[0], to[0], &first, &end);
  for (guint column = first; column < end; column++) {
    const gint x = (gint) (FINE * column + FINE / 2);
    const gint y =
      across ? MIN (fine_at (low[1], slope, x - low[0]), fine_at (low[1], slope, x - low[0] + 1))
             : low[1] + step_across (low[0], slope, x);
    const guint32 at = column * height + (guint32) ceil (CLAMP ((y + 0.5) / FINE - 0.5, 0, height));
    g_array_append_val (passed, at);
  }
}

/* Sorts positions by their bytes, from the least on: an outline may have ten million. */
static void
sort_positions (GArray *positions)
{
  g_autofree guint32 *other = g_new (guint32, (gsize) positions->len + 1);
  guint32 *from = (guint32 *) (void *) positions->data, *to = other;
  for (guint shift = 0; shift < 32; shift += 8) {
    guint starts[257] = { 0 };
    for (guint i = 0; i < positions->len; i++)
      starts[(from[i] >> shift & 255) + 1]++;
    for (guint i = 0; i < 256; i++)
      starts[i + 1] += starts[i];
    for (guint i = 0; i < positions->len; i++)
      to[starts[from[i] >> shift & 255]++] = from[i];
    guint32 *swap = from;
    from = to;
    to = swap;
  }
}

/* (transfer full): points in fine steps, the first again behind the last; NULL where one is too far
 * off, or the way around too long. *@steps: of work along that: columns that are passed. */
static gint *
fine_points (guint width, guint height, const gdouble *points, gsize n, guint64 *steps,
             GError **error)
{
  g_autofree gint *fine = g_new (gint, 2 * n + 2);
  const gdouble sides[2] = { width, height };
  for (gsize i = 0; i < 2 * n; i++) {
    const gdouble side = sides[i % 2];
    if (!(points[i] >= -side && points[i] <= 2 * side))
      return sl_fail_null (error, SL_ERROR_ARGUMENT,
                           "%s of point %" G_GSIZE_FORMAT " is %g; expected %g..%g",
                           i % 2 == 0 ? "x" : "y", i / 2 + 1, points[i], -side, 2 * side);
    fine[i] = (gint) (FINE * points[i] + 0.5);
  }
  fine[2 * n] = fine[0];
  fine[2 * n + 1] = fine[1];
  *steps = 0;
  for (gsize i = 0; i < n; i++) {
    guint first, end;
    columns_passed (width, fine[2 * i], fine[2 * i + 2], &first, &end);
    *steps += end > first ? end - first : 0;
  }
  if (*steps <= MAX_PASSED)
    return g_steal_pointer (&fine);
  return sl_fail_null (error, SL_ERROR_LIMIT,
                       "an outline that passes %" G_GUINT64_FORMAT
                       " columns of pixels; expected at most %d",
                       *steps, MAX_PASSED);
}

/* (transfer full): the pixels of one polygon of @n points. */
static SlRuns *
polygon_new (guint width, guint height, const gdouble *points, gsize n, SlRunsCost *cost,
             GError **error)
{
  guint64 steps = 0;
  g_autofree gint *fine = fine_points (width, height, points, n, &steps, error);
  if (fine == NULL || !spend (cost, 0, steps, error))
    return NULL;
  g_autoptr (GArray) passed = changes_new (), changes = changes_new ();
  for (gsize i = 0; i < n; i++)
    walk_edge (passed, width, height, &fine[2 * i], &fine[2 * i + 2]);
  sort_positions (passed);
  for (guint i = 0; i < passed->len; i++)
    change (changes, width * height, g_array_index (passed, guint32, i));
  return spend (cost, changes->len, 0, error) ? runs_new (width, height, changes) : NULL;
}

SlRuns *
sl_runs_new_cells (guint width, guint height, guint x, guint y, guint w, guint h,
                   const guint8 *cells, guint8 inside)
{
  g_autoptr (GArray) changes = changes_new ();
  for (guint column = 0; column < w; column++) {
    gboolean was = FALSE;
    const guint32 top = (x + column) * height + y;
    for (guint row = 0; row < h; row++) {
      const gboolean is = cells[(gsize) row * w + column] >= inside;
      if (is != was)
        change (changes, width * height, top + row);
      was = is;
    }
    if (was)
      change (changes, width * height, top + h);
  }
  return runs_new (width, height, changes);
}

/* The next position where @a or @b changes, from *@i and *@j on; G_MAXUINT32 = none. Bits 1 and 2
 * of *@inside are turned. */
static guint32
next_change (const SlRuns *a, const SlRuns *b, guint *i, guint *j, guint *inside)
{
  const guint32 p = *i < a->n ? a->changes[*i] : G_MAXUINT32,
                q = *j < b->n ? b->changes[*j] : G_MAXUINT32, at = MIN (p, q);
  if (at == G_MAXUINT32)
    return at;
  if (p == at) {
    (*i)++;
    *inside ^= 1;
  }
  if (q == at) {
    (*j)++;
    *inside ^= 2;
  }
  return at;
}

/* (transfer full): the pixels of either. */
static SlRuns *
union_new (const SlRuns *a, const SlRuns *b)
{
  g_autoptr (GArray) changes = changes_new ();
  guint i = 0, j = 0, inside = 0, was = 0;
  guint32 at;
  while ((at = next_change (a, b, &i, &j, &inside)) != G_MAXUINT32) {
    if ((inside != 0) != (was != 0))
      change (changes, a->width * a->height, at);
    was = inside;
  }
  return runs_new (a->width, a->height, changes);
}

/* Leaves the pixels of any of @masks in the first one. They are joined in pairs, and pairs of
 * these: each position is looked at once a round. */
static gboolean
join (const GPtrArray *masks, SlRunsCost *cost, GError **error)
{
  for (guint step = 1; step < masks->len; step *= 2)
    for (guint i = 0; i + step < masks->len; i += 2 * step) {
      SlRuns *one = masks->pdata[i], *other = g_steal_pointer (&masks->pdata[i + step]);
      const guint before = one->n + other->n;
      const gboolean good = spend (cost, 0, before, error);
      masks->pdata[i] = good ? union_new (one, other) : NULL;
      sl_runs_free (one);
      sl_runs_free (other);
      if (!good)
        return FALSE;
      cost->changes -= before - ((SlRuns *) masks->pdata[i])->n;
    }
  return TRUE;
}

SlRuns *
sl_runs_new_polygons (guint width, guint height, const gdouble *points, const guint *ends, guint n,
                      SlRunsCost *cost, GError **error)
{
  if (!check_size (width, height, error))
    return NULL;
  if (n > SL_RUNS_MAX_POLYGONS)
    return sl_fail_null (error, SL_ERROR_LIMIT, "%u polygons; expected at most %d", n,
                         SL_RUNS_MAX_POLYGONS);
  g_autoptr (GPtrArray) masks = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_runs_free);
  for (guint i = 0, from = 0; i < n; from = ends[i++]) {
    SlRuns *one =
      polygon_new (width, height, points + 2 * (gsize) from, ends[i] - from, cost, error);
    if (one == NULL)
      return NULL;
    g_ptr_array_add (masks, one);
  }
  if (n > 0)
    return join (masks, cost, error) ? g_steal_pointer (&masks->pdata[0]) : NULL;
  g_autoptr (GArray) nowhere = changes_new ();
  return runs_new (width, height, nowhere);
}

/* Whether one of the masks is empty, or ends before the other begins. */
static gboolean
are_apart (const SlRuns *a, const SlRuns *b)
{
  return a->area == 0 || b->area == 0 || (a->n % 2 == 0 && a->changes[a->n - 1] <= b->changes[0])
         || (b->n % 2 == 0 && b->changes[b->n - 1] <= a->changes[0]);
}

/* Pixels that are inside of both. */
static guint64
common_area (const SlRuns *a, const SlRuns *b)
{
  guint i = 0, j = 0, inside = 0;
  guint32 at, last = G_MAXUINT32;
  guint64 area = 0;
  if (are_apart (a, b))
    return 0;
  while ((at = next_change (a, b, &i, &j, &inside)) != G_MAXUINT32) {
    /* @last is where both began. */
    area += last != G_MAXUINT32 ? at - last : 0;
    last = inside == 3 ? at : G_MAXUINT32;
    if ((i == a->n && (inside & 1) == 0) || (j == b->n && (inside & 2) == 0))
      return area;
  }
  return area + (inside == 3 ? a->width * a->height - last : 0);
}

guint64
sl_runs_area (const SlRuns *runs)
{
  return runs->area;
}

gdouble
sl_runs_overlap (const SlRuns *found, const SlRuns *truth, gboolean crowd)
{
  const guint64 both = common_area (found, truth);
  if (both == 0)
    return 0;
  return (gdouble) both / (gdouble) (crowd ? found->area : found->area + truth->area - both);
}
