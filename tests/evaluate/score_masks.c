/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overlaps from standard input, for objects.py. Lines "mask WIDTH HEIGHT CROWD" with two masks behind, each of pieces and "/": "p N X Y ..." a
 * polygon, "c N COUNT ..." lengths of runs, "t TEXT" compressed ones, "m X Y W H CELL ..." cells; prints both areas and the overlap. Lines "points AREA X Y X Y" with
 * the box, behind it 17 points "X Y VISIBLE" that are true and 17 that were found; prints the similarity. Prints the reason of a refusal.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/overlap.h"
#include "evaluate/runs.h"

static gdouble
number (void)
{
  gdouble value = 0;
  return scanf ("%lf", &value) == 1 ? value : 0;
}

static SlRuns *
read_cells (guint width, guint height)
{
  const guint x = (guint) number (), y = (guint) number (), w = (guint) number (), h = (guint) number ();
  g_autofree guint8 *cells = g_malloc ((gsize) w * h + 1);
  for (guint i = 0; i < w * h; i++)
    cells[i] = (guint8) number ();
  return sl_runs_new_cells (width, height, x, y, w, h, cells, 128);
}

static SlRuns *
read_piece (const char *kind, guint width, guint height, GError **error)
{
  static char text[1 << 16];
  if (kind[0] == 't')
    return sl_runs_new_text (width, height, scanf ("%65535s", text) == 1 ? text : "", error);
  if (kind[0] == 'm')
    return read_cells (width, height);
  const gsize n = (gsize) number ();
  g_autofree gdouble *values = g_new (gdouble, 2 * n + 1);
  g_autofree guint32 *counts = g_new (guint32, n + 1);
  for (gsize i = 0; i < (kind[0] == 'p' ? 2 * n : n); i++)
    values[i] = number ();
  if (kind[0] == 'p')
    return sl_runs_new_polygon (width, height, values, n, error);
  for (gsize i = 0; i < n; i++)
    counts[i] = (guint32) values[i];
  return sl_runs_new_counts (width, height, counts, n, error);
}

static SlRuns *
read_mask (guint width, guint height, GError **error)
{
  SlRuns *all = NULL;
  char kind[8];
  while (scanf ("%7s", kind) == 1 && kind[0] != '/') {
    SlRuns *piece = read_piece (kind, width, height, *error == NULL ? error : NULL);
    if (piece == NULL)
      continue;
    SlRuns *both = all != NULL ? sl_runs_union (all, piece) : g_steal_pointer (&piece);
    sl_runs_free (all);
    sl_runs_free (piece);
    all = both;
  }
  return all;
}

static void
compare_masks (void)
{
  const guint width = (guint) number (), height = (guint) number ();
  const gboolean crowd = number () != 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlRuns) found = read_mask (width, height, &error), truth = read_mask (width, height, &error);
  if (error != NULL)
    printf ("%s\n", error->message);
  else
    printf ("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %.17g\n", sl_runs_area (found), sl_runs_area (truth),
            sl_runs_overlap (found, truth, crowd));
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
