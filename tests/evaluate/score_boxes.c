/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Average precision of boxes from standard input, for boxes.py: lines "true LABEL IGNORED X Y X Y", "found LABEL CONFIDENCE X Y X Y" and,
 * behind each picture's, "end". Prints "LABEL TRUTHS FOUND AP AP50 AP75" a class, and the mean as class -1.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/boxes.h"

static void
print_figures (const SlBoxFigures *figures)
{
  printf ("%d %u %u %.12g %.12g %.12g\n", figures->label, figures->truths, figures->found, figures->ap, figures->ap50, figures->ap75);
}

int
main (void)
{
  g_autoptr (SlBoxScore) score = sl_box_score_new ();
  g_autoptr (GArray) truth = g_array_new (FALSE, FALSE, sizeof (SlEvalBox)), found = g_array_new (FALSE, FALSE, sizeof (SlEvalBox));
  char line[512], word[16];
  setlocale (LC_ALL, "C");
  while (fgets (line, sizeof line, stdin) != NULL) {
    SlEvalBox box = { 0 };
    double number = 0;
    if (sscanf (line, "%15s %d %lf %lf %lf %lf %lf", word, &box.label, &number, &box.x_min, &box.y_min, &box.x_max, &box.y_max) == 7) {
      box.ignored = number != 0;
      box.confidence = number;
      g_array_append_val (strcmp (word, "true") == 0 ? truth : found, box);
      continue;
    }
    sl_box_score_add (score, (const SlEvalBox *) (void *) truth->data, truth->len, (const SlEvalBox *) (void *) found->data, found->len);
    g_array_set_size (truth, 0);
    g_array_set_size (found, 0);
  }
  SlBoxFigures mean;
  g_autoptr (GArray) classes = sl_box_score_figures (score, &mean);
  for (guint i = 0; i < classes->len; i++)
    print_figures (&g_array_index (classes, SlBoxFigures, i));
  print_figures (&mean);
  return 0;
}
