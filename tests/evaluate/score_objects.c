/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Average precision and recall of boxes from standard input, for objects.py: lines "true LABEL
 * IGNORED CROWD AREA X Y X Y", "found LABEL CONFIDENCE 0 AREA X Y X Y" and, behind each picture's,
 * "end". Prints a class as "LABEL TRUTHS FOUND", precisions "AP AP50 AP75 SMALL MEDIUM LARGE" and
 * recalls "AR1 AR10 AR SMALL MEDIUM LARGE AR50 AR75", and the mean as class -1.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "tools/evaluate/objects.h"
#include "tools/evaluate/overlap.h"

/** Objects of a picture, and their boxes. */
typedef struct
{
  GArray *objects, *boxes;
} Objects;

/** What is compared: @truth's objects tell which are crowds. */
typedef struct
{
  Objects truth, found;
} Picture;

static gdouble
overlap (guint found, guint truth, gconstpointer data)
{
  const Picture *picture = data;
  return sl_eval_box_overlap (&g_array_index (picture->found.boxes, SlEvalBox, found),
                              &g_array_index (picture->truth.boxes, SlEvalBox, truth),
                              g_array_index (picture->truth.objects, SlEvalObject, truth).crowd);
}

static void
print_figures (const SlObjectFigures *figures)
{
  printf ("%d %u %u %.12g %.12g %.12g %.12g %.12g %.12g", figures->label, figures->truths,
          figures->found, figures->ap[SL_AREA_ALL], figures->ap50, figures->ap75,
          figures->ap[SL_AREA_SMALL], figures->ap[SL_AREA_MEDIUM], figures->ap[SL_AREA_LARGE]);
  printf (" %.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g\n", figures->ar1, figures->ar10,
          figures->ar[SL_AREA_ALL], figures->ar[SL_AREA_SMALL], figures->ar[SL_AREA_MEDIUM],
          figures->ar[SL_AREA_LARGE], figures->ar50, figures->ar75);
}

static Objects
objects_new (void)
{
  return (Objects){ g_array_new (FALSE, FALSE, sizeof (SlEvalObject)),
                    g_array_new (FALSE, FALSE, sizeof (SlEvalBox)) };
}

static void
objects_clear (Objects *objects)
{
  g_array_unref (objects->objects);
  g_array_unref (objects->boxes);
}

int
main (void)
{
  g_autoptr (SlObjectScore) score = sl_object_score_new (SL_OBJECT_SCORE_MOST);
  Picture picture = { objects_new (), objects_new () };
  char line[512], word[16];
  setlocale (LC_ALL, "C");
  while (fgets (line, sizeof line, stdin) != NULL) {
    SlEvalObject object = { 0 };
    SlEvalBox box;
    double number = 0;
    if (sscanf (line, "%15s %d %lf %d %lf %lf %lf %lf %lf", word, &object.label, &number,
                &object.crowd, &object.area, &box.x_min, &box.y_min, &box.x_max, &box.y_max)
        == 9) {
      Objects *to = strcmp (word, "true") == 0 ? &picture.truth : &picture.found;
      object.ignored = number != 0;
      object.confidence = number;
      g_array_append_val (to->objects, object);
      g_array_append_val (to->boxes, box);
      continue;
    }
    sl_object_score_add (score, (const SlEvalObject *) (void *) picture.truth.objects->data,
                         picture.truth.objects->len,
                         (const SlEvalObject *) (void *) picture.found.objects->data,
                         picture.found.objects->len, overlap, &picture);
    objects_clear (&picture.truth);
    objects_clear (&picture.found);
    picture = (Picture){ objects_new (), objects_new () };
  }
  SlObjectFigures mean;
  g_autoptr (GArray) classes = sl_object_score_figures (score, &mean);
  for (guint i = 0; i < classes->len; i++)
    print_figures (&g_array_index (classes, SlObjectFigures, i));
  print_figures (&mean);
  objects_clear (&picture.truth);
  objects_clear (&picture.found);
  return 0;
}
