/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every picture is kept; figures are counted when they are asked for. */
#include "tools/evaluate/classes.h"

/** A picture: its class, what the model said first, and whether the class was among the first. */
typedef struct
{
  gint32 truth, guess;
  gboolean near;
} Seen;

struct _SlClassScore
{
  GArray *seen; /* of Seen */
};

SlClassScore *
sl_class_score_new (void)
{
  SlClassScore *score = g_new0 (SlClassScore, 1);
  score->seen = g_array_new (FALSE, FALSE, sizeof (Seen));
  return score;
}

void
sl_class_score_free (SlClassScore *score)
{
  if (score == NULL)
    return;
  g_array_unref (score->seen);
  g_free (score);
}

void
sl_class_score_add (SlClassScore *score, gint32 truth, const gint32 *best, guint n)
{
  Seen seen = { truth, n > 0 ? best[0] : SL_CLASS_SCORE_NONE, FALSE };
  for (guint i = 0; i < MIN (n, SL_CLASS_SCORE_BEST); i++)
    seen.near |= best[i] == truth;
  g_array_append_val (score->seen, seen);
}

static gint
by_truth (gconstpointer a, gconstpointer b)
{
  const Seen *one = a, *two = b;
  if (one->truth != two->truth)
    return one->truth < two->truth ? -1 : 1;
  return (one->guess > two->guess) - (one->guess < two->guess);
}

/* The share that is right; of equal shares the class with more pictures. */
static gint
worst_first (gconstpointer a, gconstpointer b)
{
  const SlClassFigures *one = a, *two = b;
  const guint64 first = (guint64) one->right * two->pictures,
                second = (guint64) two->right * one->pictures;
  if (first != second)
    return first < second ? -1 : 1;
  if (one->pictures != two->pictures)
    return one->pictures > two->pictures ? -1 : 1;
  return (one->label > two->label) - (one->label < two->label);
}

GArray *
sl_class_score_figures (SlClassScore *score, SlClassFigures *all)
{
  GArray *classes = g_array_new (FALSE, FALSE, sizeof (SlClassFigures));
  *all = (SlClassFigures){ .label = -1 };
  g_array_sort (score->seen, by_truth);
  for (guint i = 0; i < score->seen->len; i++) {
    const Seen *seen = &g_array_index (score->seen, Seen, i);
    if (classes->len == 0
        || g_array_index (classes, SlClassFigures, classes->len - 1).label != seen->truth) {
      const SlClassFigures fresh = { .label = seen->truth };
      g_array_append_val (classes, fresh);
    }
    SlClassFigures *figures[] = { &g_array_index (classes, SlClassFigures, classes->len - 1), all };
    for (guint k = 0; k < G_N_ELEMENTS (figures); k++) {
      figures[k]->pictures++;
      figures[k]->right += seen->guess == seen->truth;
      figures[k]->near += seen->near;
    }
  }
  g_array_sort (classes, worst_first);
  return classes;
}

static gint
most_first (gconstpointer a, gconstpointer b)
{
  const SlConfusion *one = a, *two = b;
  if (one->pictures != two->pictures)
    return one->pictures > two->pictures ? -1 : 1;
  if (one->truth != two->truth)
    return one->truth < two->truth ? -1 : 1;
  return (one->guess > two->guess) - (one->guess < two->guess);
}

GArray *
sl_class_score_confusions (SlClassScore *score)
{
  GArray *confusions = g_array_new (FALSE, FALSE, sizeof (SlConfusion));
  g_array_sort (score->seen, by_truth);
  for (guint i = 0; i < score->seen->len; i++) {
    const Seen *seen = &g_array_index (score->seen, Seen, i);
    if (seen->truth == seen->guess)
      continue;
    SlConfusion *last =
      confusions->len > 0 ? &g_array_index (confusions, SlConfusion, confusions->len - 1) : NULL;
    if (last != NULL && last->truth == seen->truth && last->guess == seen->guess) {
      last->pictures++;
      continue;
    }
    const SlConfusion fresh = { seen->truth, seen->guess, 1 };
    g_array_append_val (confusions, fresh);
  }
  g_array_sort (confusions, most_first);
  return confusions;
}
