/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask is the positions, counted down the columns, where it changes between outside and inside. The outline of a polygon is walked in
 * fifths of a pixel, as pycocotools does it: where it passes the middle of a column of pixels, all that is below changes sides.
 */
#include "evaluate/runs.h"

#include <math.h>
#include <stdlib.h>

#include "sightline/error.h"

#define FINE 5
#define MOST_STEPS 50000000
/* Pieces of compressed text: five bits each, from the least on. */
#define MOST_PIECES 7

struct _SlRuns
{
  guint width, height;
  GArray *changes; /* of guint32, rising, below width * height */
};

static SlRuns *
runs_new (guint width, guint height)
{
  SlRuns *runs = g_new (SlRuns, 1);
  *runs = (SlRuns){ width, height, g_array_new (FALSE, FALSE, sizeof (guint32)) };
  return runs;
}

void
sl_runs_free (SlRuns *runs)
{
  if (runs == NULL)
    return;
  g_array_unref (runs->changes);
  g_free (runs);
}

static guint32
pixels (const SlRuns *runs)
{
  return runs->width * runs->height;
}

/* Positions come in rising order; two changes at one are none. */
static void
change (SlRuns *runs, guint32 at)
{
  GArray *changes = runs->changes;
  if (changes->len > 0 && g_array_index (changes, guint32, changes->len - 1) == at)
    g_array_set_size (changes, changes->len - 1);
  else if (at < pixels (runs))
    g_array_append_val (changes, at);
}

static gboolean
check_size (guint width, guint height, GError **error)
{
  if (width >= 1 && height >= 1 && width <= SL_RUNS_MOST_SIDE && height <= SL_RUNS_MOST_SIDE)
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "a mask of %ux%u pixels; expected 1..%d each way", width, height, SL_RUNS_MOST_SIDE);
  return FALSE;
}

SlRuns *
sl_runs_new_counts (guint width, guint height, const guint32 *counts, gsize n, GError **error)
{
  guint64 at = 0;
  if (!check_size (width, height, error))
    return NULL;
  g_autoptr (SlRuns) runs = runs_new (width, height);
  for (gsize i = 0; i < n && at <= pixels (runs); i++) {
    at += counts[i];
    if (at <= pixels (runs))
      change (runs, (guint32) at);
  }
  if (at == pixels (runs))
    return g_steal_pointer (&runs);
  g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "runs of %s%" G_GUINT64_FORMAT " pixels; expected %u, for %ux%u",
               at > pixels (runs) ? "at least " : "", at, pixels (runs), width, height);
  return NULL;
}

/* One length of compressed text, signed; behind it in *@text. FALSE for what is none. */
static gboolean
read_length (const char **text, gint64 *length)
{
  guint64 value = 0;
  for (guint piece = 0; piece < MOST_PIECES; piece++) {
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
sl_runs_new_text (guint width, guint height, const char *text, GError **error)
{
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (guint32));
  const char *at = text;
  while (*at != '\0') {
    gint64 length;
    const gboolean good = read_length (&at, &length);
    /* Each length but the first three is what it is more than the one before the last. */
    if (good && counts->len > 2)
      length += g_array_index (counts, guint32, counts->len - 2);
    if (!good || length < 0 || length > G_MAXUINT32) {
      g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "run %u is none; expected text of pycocotools' compressed masks", counts->len + 1);
      return NULL;
    }
    const guint32 count = (guint32) length;
    g_array_append_val (counts, count);
  }
  return sl_runs_new_counts (width, height, (const guint32 *) (void *) counts->data, counts->len, error);
}

/** A walk along an outline, in fine steps. */
typedef struct
{
  guint width, height;
  GArray *changes;
  gint x, y; /* the last point */
  gboolean started;
} Walk;

static void
step_to (Walk *walk, gint x, gint y)
{
  const gboolean moved = walk->started && x != walk->x;
  const gdouble column = (MIN (x, walk->x) == x ? x : x - 1) + 0.5, row = MIN (y, walk->y) + 0.5;
  walk->x = x;
  walk->y = y;
  walk->started = TRUE;
  if (!moved)
    return;
  const gdouble px = column / FINE - 0.5, py = ceil (CLAMP (row / FINE - 0.5, 0, walk->height));
  if (floor (px) != px || px < 0 || px > walk->width - 1)
    return;
  const guint32 at = (guint32) px * walk->height + (guint32) py;
  g_array_append_val (walk->changes, at);
}

static void
walk_edge (Walk *walk, const gint *from, const gint *to)
{
  const gint dx = abs (to[0] - from[0]), dy = abs (to[1] - from[1]), n = MAX (dx, dy);
  const gboolean across = dx >= dy, flip = across ? from[0] > to[0] : from[1] > to[1];
  const gint *low = flip ? to : from, *high = flip ? from : to;
  const gdouble slope = n == 0 ? 0 : across ? (gdouble) (high[1] - low[1]) / dx : (gdouble) (high[0] - low[0]) / dy;
  for (gint d = 0; d <= n; d++) {
    const gint t = flip ? n - d : d;
    if (across)
      step_to (walk, low[0] + t, (gint) (low[1] + slope * t + 0.5));
    else
      step_to (walk, (gint) (low[0] + slope * t + 0.5), low[1] + t);
  }
}

static gint
compare_positions (gconstpointer a, gconstpointer b)
{
  const guint32 one = *(const guint32 *) a, two = *(const guint32 *) b;
  return (one > two) - (one < two);
}

/* (transfer full): points in fine steps, the first again behind the last; NULL where one is too far off, or the way around too long. */
static gint *
fine_points (guint width, guint height, const gdouble *points, gsize n, GError **error)
{
  g_autofree gint *fine = g_new (gint, 2 * n + 2);
  const gdouble sides[2] = { width, height };
  guint64 steps = 0;
  for (gsize i = 0; i < 2 * n; i++) {
    const gdouble side = sides[i % 2];
    if (!(points[i] >= -side && points[i] <= 2 * side)) {
      g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "%s of point %" G_GSIZE_FORMAT " is %g; expected %g..%g", i % 2 == 0 ? "x" : "y",
                   i / 2 + 1, points[i], -side, 2 * side);
      return NULL;
    }
    fine[i] = (gint) (FINE * points[i] + 0.5);
  }
  fine[2 * n] = fine[0];
  fine[2 * n + 1] = fine[1];
  for (gsize i = 0; i < n; i++)
    steps += (guint64) MAX (abs (fine[2 * i] - fine[2 * i + 2]), abs (fine[2 * i + 1] - fine[2 * i + 3])) + 1;
  if (steps <= MOST_STEPS)
    return g_steal_pointer (&fine);
  g_set_error (error, SL_ERROR, SL_ERROR_LIMIT, "an outline of %" G_GUINT64_FORMAT " pixels; expected at most %d", steps / FINE,
               MOST_STEPS / FINE);
  return NULL;
}

SlRuns *
sl_runs_new_polygon (guint width, guint height, const gdouble *points, gsize n, GError **error)
{
  if (!check_size (width, height, error))
    return NULL;
  g_autofree gint *fine = fine_points (width, height, points, n, error);
  if (fine == NULL)
    return NULL;
  Walk walk = { .width = width, .height = height, .changes = g_array_new (FALSE, FALSE, sizeof (guint32)) };
  for (gsize i = 0; i < n; i++)
    walk_edge (&walk, &fine[2 * i], &fine[2 * i + 2]);
  SlRuns *runs = runs_new (width, height);
  g_array_sort (walk.changes, compare_positions);
  for (guint i = 0; i < walk.changes->len; i++)
    change (runs, g_array_index (walk.changes, guint32, i));
  g_array_unref (walk.changes);
  return runs;
}

SlRuns *
sl_runs_new_cells (guint width, guint height, guint x, guint y, guint w, guint h, const guint8 *cells, guint8 inside)
{
  SlRuns *runs = runs_new (width, height);
  for (guint column = 0; column < w; column++) {
    gboolean was = FALSE;
    const guint32 top = (x + column) * height + y;
    for (guint row = 0; row < h; row++) {
      const gboolean is = cells[(gsize) row * w + column] >= inside;
      if (is != was)
        change (runs, top + row);
      was = is;
    }
    if (was)
      change (runs, top + h);
  }
  return runs;
}

/* The next position where @a or @b changes, from *@i and *@j on; G_MAXUINT32 = none. Bits 1 and 2 of *@inside are turned. */
static guint32
next_change (const SlRuns *a, const SlRuns *b, guint *i, guint *j, guint *inside)
{
  const guint32 p = *i < a->changes->len ? g_array_index (a->changes, guint32, *i) : G_MAXUINT32;
  const guint32 q = *j < b->changes->len ? g_array_index (b->changes, guint32, *j) : G_MAXUINT32;
  const guint32 at = MIN (p, q);
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

SlRuns *
sl_runs_union (const SlRuns *a, const SlRuns *b)
{
  SlRuns *runs = runs_new (a->width, a->height);
  guint i = 0, j = 0, inside = 0, was = 0;
  guint32 at;
  while ((at = next_change (a, b, &i, &j, &inside)) != G_MAXUINT32) {
    if ((inside != 0) != (was != 0))
      change (runs, at);
    was = inside;
  }
  return runs;
}

/* Pixels that are inside of both. */
static guint64
common_area (const SlRuns *a, const SlRuns *b)
{
  guint i = 0, j = 0, inside = 0;
  guint32 at, last = G_MAXUINT32;
  guint64 area = 0;
  while ((at = next_change (a, b, &i, &j, &inside)) != G_MAXUINT32) {
    /* @last is where both began. */
    area += last != G_MAXUINT32 ? at - last : 0;
    last = inside == 3 ? at : G_MAXUINT32;
  }
  return area + (inside == 3 ? pixels (a) - last : 0);
}

guint64
sl_runs_area (const SlRuns *runs)
{
  return common_area (runs, runs);
}

gdouble
sl_runs_overlap (const SlRuns *found, const SlRuns *truth, gboolean crowd)
{
  const guint64 both = common_area (found, truth), area = sl_runs_area (found);
  if (both == 0)
    return 0;
  return (gdouble) both / (gdouble) (crowd ? area : area + sl_runs_area (truth) - both);
}
