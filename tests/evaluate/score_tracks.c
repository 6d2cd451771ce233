/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures of tracking from standard input, for tracks.py: lines "true FRAME ID X Y X Y KIND" and
 * "found FRAME ID X Y X Y 0", KIND: 0 = counts, 1 = ignored, 2 = ignored and absorbs; behind each
 * sequence "end". Prints a line of figures for each.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "tools/evaluate/tracks.h"

static void
print_figures (const SlTrackFigures *figures)
{
  const gdouble values[] = { figures->hota,   figures->det_a,  figures->ass_a,  figures->det_re,
                             figures->det_pr, figures->ass_re, figures->ass_pr, figures->loc_a,
                             figures->mota,   figures->motp,   figures->idf1,   figures->id_p,
                             figures->id_r };
  const guint counts[] = { figures->truths,    figures->found,          figures->objects,
                           figures->tracks,    figures->matched,        figures->switches,
                           figures->fragments, figures->mostly_tracked, figures->mostly_lost };
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    printf ("%.15g ", values[i]);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    printf ("%u ", counts[i]);
  putchar ('\n');
}

int
main (void)
{
  g_autoptr (GArray) truth = g_array_new (FALSE, FALSE, sizeof (SlTrackedBox));
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (SlTrackedBox));
  char word[8];
  setlocale (LC_ALL, "C");
  while (scanf ("%7s", word) == 1) {
    SlTrackedBox one = { 0 };
    SlTrackFigures figures;
    int kind;
    if (strcmp (word, "end") == 0) {
      if (!sl_track_figures (truth, found, &figures))
        return 1;
      print_figures (&figures);
      g_array_set_size (truth, 0);
      g_array_set_size (found, 0);
      continue;
    }
    if (scanf ("%u %d %lf %lf %lf %lf %d", &one.frame, &one.id, &one.box.x_min, &one.box.y_min,
               &one.box.x_max, &one.box.y_max, &kind)
        != 7)
      return 1;
    one.ignored = kind > 0;
    one.absorbs = kind > 1;
    if (strcmp (word, "true") == 0)
      g_array_append_val (truth, one);
    else
      g_array_append_val (found, one);
  }
  return 0;
}
