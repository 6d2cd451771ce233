/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overlaps from standard input, for objects.py. Lines "mask WIDTH HEIGHT CROWD CHANGES STEPS", the
 * last two being what other masks cost before, with two masks behind, each with a "/" at its end:
 * "p N X Y ..." polygons, "c N COUNT ..." lengths of runs, "t TEXT" compressed ones, "m X Y W H
 * CELL ..." cells; prints both areas and the overlap. Lines "points AREA X Y X Y" with the box,
 * behind it 17 points "X Y VISIBLE" that are true and 17 that were found; prints the similarity.
 * Prints the reason of a refusal.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "tools/evaluate/overlap.h"
#include "tools/evaluate/runs.h"

static gdouble
number (void)
{
  gdouble value = 0;
  return scanf ("%lf", &value) == 1 ? value : 0;
}

static SlRuns *
read_cells (guint width, guint height)
{
  const guint x = (guint) number (), y = (guint) number (), w = (guint) number (),
              h = (guint) number ();
  g_autofree guint8 *cells = g_malloc ((gsize) w * h + 1);
  for (guint i = 0; i < w * h; i++)
    cells[i] = (guint8) number ();
  return sl_runs_new_cells (width, height, x, y, w, h, cells, 128);
}

/* Polygons: "N X Y ..." and, behind each but the last, "p". */
static SlRuns *
read_polygons (guint width, guint height, SlRunsCost *cost, GError **error)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (gdouble)),
                     ends = g_array_new (FALSE, FALSE, sizeof (guint));
  char kind[8] = "p";
  while (kind[0] == 'p') {
    const gsize n = (gsize) number ();
    for (gsize i = 0; i < 2 * n; i++) {
      const gdouble value = number ();
      g_array_append_val (points, value);
    }
    const guint end = points->len / 2;
    g_array_append_val (ends, end);
    if (scanf ("%7s", kind) != 1)
      break;
  }
  return sl_runs_new_polygons (width, height, (const gdouble *) (void *) points->data,
                               (const guint *) (void *) ends->data, ends->len, cost, error);
}

static SlRuns *
read_piece (const char *kind, guint width, guint height, SlRunsCost *cost, GError **error)
{
  static char text[1 << 16];
  if (kind[0] == 't')
    return sl_runs_new_text (width, height, scanf ("%65535s", text) == 1 ? text : "", cost, error);
  if (kind[0] == 'm')
    return read_cells (width, height);
  const gsize n = (gsize) number ();
  g_autofree guint32 *counts = g_new (guint32, n + 1);
  for (gsize i = 0; i < n; i++)
    counts[i] = (guint32) number ();
  return sl_runs_new_counts (width, height, counts, n, cost, error);
}

/* A mask and the "/" behind it; NULL where it has no piece, or is refused. */
static SlRuns *
read_mask (guint width, guint height, SlRunsCost *cost, GError **error)
{
  char kind[8];
  GError **where = *error == NULL ? error : NULL;
  if (scanf ("%7s", kind) != 1 || kind[0] == '/')
    return NULL;
  if (kind[0] == 'p')
    return read_polygons (width, height, cost, where);
  SlRuns *mask = read_piece (kind, width, height, cost, where);
  return scanf ("%7s", kind) == 1 ? mask : NULL;
}

static void
compare_masks (void)
{
  const guint width = (guint) number (), height = (guint) number ();
  const gboolean crowd = number () != 0;
  SlRunsCost cost = { .changes = (guint64) number (), .steps = (guint64) number () };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlRuns) found = read_mask (width, height, &cost, &error),
                     truth = read_mask (width, height, &cost, &error);
  if (error != NULL)
    printf ("%s\n", error->message);
  else
    printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %.17g\n", sl_runs_area (found),
            sl_runs_area (truth), sl_runs_overlap (found, truth, crowd));
}

static void
compare_points (void)
{
  const gdouble area = number ();
  SlEvalBox box;
  SlEvalPoint points[2 * SL_EVAL_POINTS];
  box.x_min = number ();
  box.y_min = number ();
  box.x_max = number ();
  box.y_max = number ();
  for (guint i = 0; i < G_N_ELEMENTS (points); i++) {
    points[i].x = number ();
    points[i].y = number ();
    points[i].visible = number () != 0;
  }
  printf ("%.17g\n", sl_eval_point_overlap (points + SL_EVAL_POINTS, points, &box, area));
}

int
main (void)
{
  char word[16];
  setlocale (LC_ALL, "C");
  while (scanf ("%15s", word) == 1)
    if (strcmp (word, "mask") == 0)
      compare_masks ();
    else
      compare_points ();
  return 0;
}
