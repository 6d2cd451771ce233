/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Found boxes of a picture, best first, take the free true box of their class that they overlap most; once for each overlap asked for. All
 * found boxes of a class, best first, then make a curve of precision over recall, which is read at 101 recalls.
 */
#include "evaluate/boxes.h"

#include <float.h>
#include <math.h>

#define RECALLS 101
/* Bits of the overlaps. */
#define BIT_50 0
#define BIT_75 5

/** A found box; bits say at which overlaps it took a true box, and at which it took one that is ignored. */
typedef struct
{
  gdouble confidence;
  gint32 label;
  guint order;
  guint matched, ignored;
} Found;

struct _SlBoxScore
{
  GArray *found;      /* of Found */
  GHashTable *truths; /* label -> number of true boxes that count */
};

SlBoxScore *
sl_box_score_new (void)
{
  SlBoxScore *score = g_new0 (SlBoxScore, 1);
  score->found = g_array_new (FALSE, FALSE, sizeof (Found));
  score->truths = g_hash_table_new (NULL, NULL);
  return score;
}

void
sl_box_score_free (SlBoxScore *score)
{
  if (score == NULL)
    return;
  g_array_unref (score->found);
  g_hash_table_unref (score->truths);
  g_free (score);
}

static gdouble
asked_overlap (guint i)
{
  return i + 1 < SL_BOX_SCORE_OVERLAPS ? 0.5 + i * ((0.95 - 0.5) / (SL_BOX_SCORE_OVERLAPS - 1)) : 0.95;
}

static gdouble
area (const SlEvalBox *box)
{
  return (box->x_max - box->x_min) * (box->y_max - box->y_min);
}

static gdouble
overlap (const SlEvalBox *a, const SlEvalBox *b)
{
  const gdouble w = MIN (a->x_max, b->x_max) - MAX (a->x_min, b->x_min), h = MIN (a->y_max, b->y_max) - MAX (a->y_min, b->y_min);
  if (w <= 0 || h <= 0)
    return 0;
  return w * h / (area (a) + area (b) - w * h);
}

/* Pointers to boxes, so that the address says which of two equals came first. */
static gint
best_first (gconstpointer a, gconstpointer b)
{
  const SlEvalBox *one = *(const SlEvalBox *const *) a, *two = *(const SlEvalBox *const *) b;
  if (one->confidence != two->confidence)
    return one->confidence < two->confidence ? 1 : -1;
  return (one > two) - (one < two);
}

static gint
counted_first (gconstpointer a, gconstpointer b)
{
  const SlEvalBox *one = *(const SlEvalBox *const *) a, *two = *(const SlEvalBox *const *) b;
  if (one->ignored != two->ignored)
    return one->ignored ? 1 : -1;
  return (one > two) - (one < two);
}

/* (element-type SlEvalBox): @boxes in the order of @compare, without copies. */
static GPtrArray *
in_order (const SlEvalBox *boxes, guint n, GCompareFunc compare)
{
  GPtrArray *list = g_ptr_array_sized_new (n);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (list, (gpointer) &boxes[i]);
  g_ptr_array_sort (list, compare);
  return list;
}

/* The true box that a found one of these @overlaps takes at @asked, -1 = none. @truth has the ignored ones last; @taken: bits of each. */
static gint
take (const GPtrArray *truth, const gdouble *overlaps, const guint *taken, guint bit, gdouble asked)
{
  gdouble most = MIN (asked, 1 - 1e-10);
  gint best = -1;
  for (guint k = 0; k < truth->len; k++) {
    if (overlaps[k] < most || (taken[k] & bit) != 0)
      continue;
    if (best >= 0 && !((const SlEvalBox *) truth->pdata[best])->ignored && ((const SlEvalBox *) truth->pdata[k])->ignored)
      break;
    most = overlaps[k];
    best = (gint) k;
  }
  return best;
}

static Found
match (const SlEvalBox *box, const GPtrArray *truth, gdouble *overlaps, guint *taken)
{
  Found found = { .confidence = box->confidence, .label = box->label };
  for (guint k = 0; k < truth->len; k++) {
    const SlEvalBox *other = truth->pdata[k];
    overlaps[k] = other->label == box->label ? overlap (box, other) : -1;
  }
  for (guint i = 0; i < SL_BOX_SCORE_OVERLAPS; i++) {
    const guint bit = 1u << i;
    const gint best = take (truth, overlaps, taken, bit, asked_overlap (i));
    if (best < 0)
      continue;
    taken[best] |= bit;
    found.matched |= bit;
    if (((const SlEvalBox *) truth->pdata[best])->ignored)
      found.ignored |= bit;
  }
  return found;
}

static guint
count_up (GHashTable *counts, gint32 label)
{
  const guint count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, GINT_TO_POINTER (label))) + 1;
  g_hash_table_replace (counts, GINT_TO_POINTER (label), GUINT_TO_POINTER (count));
  return count;
}

void
sl_box_score_add (SlBoxScore *score, const SlEvalBox *truth, guint n_truth, const SlEvalBox *found, guint n_found)
{
  g_autoptr (GPtrArray) best = in_order (found, n_found, best_first), others = in_order (truth, n_truth, counted_first);
  g_autoptr (GHashTable) counts = g_hash_table_new (NULL, NULL);
  g_autofree gdouble *overlaps = g_new (gdouble, (gsize) n_truth + 1);
  g_autofree guint *taken = g_new0 (guint, (gsize) n_truth + 1);
  for (guint i = 0; i < n_truth; i++)
    if (!truth[i].ignored)
      count_up (score->truths, truth[i].label);
  for (guint i = 0; i < n_found; i++) {
    const SlEvalBox *box = best->pdata[i];
    if (count_up (counts, box->label) > SL_BOX_SCORE_MOST)
      continue;
    Found made = match (box, others, overlaps, taken);
    made.order = score->found->len;
    g_array_append_val (score->found, made);
  }
}

static gint
by_class (gconstpointer a, gconstpointer b)
{
  const Found *one = a, *two = b;
  if (one->label != two->label)
    return one->label < two->label ? -1 : 1;
  if (one->confidence != two->confidence)
    return one->confidence < two->confidence ? 1 : -1;
  return (one->order > two->order) - (one->order < two->order);
}

/* Mean of the precision at 101 recalls, multiples of 0.01 as numpy.linspace() makes them. That of a recall is the best at that recall or
 * beyond. @found: of one class, best first. */
static gdouble
average_precision (const Found *found, guint n, guint truths, guint bit)
{
  g_autofree gdouble *recalls = g_new (gdouble, (gsize) n + 1), *precisions = g_new (gdouble, (gsize) n + 1);
  guint hits = 0, misses = 0, points = 0;
  for (guint i = 0; i < n; i++) {
    if ((found[i].ignored & bit) != 0)
      continue;
    if ((found[i].matched & bit) != 0)
      hits++;
    else
      misses++;
    recalls[points] = (gdouble) hits / truths;
    precisions[points++] = hits / ((gdouble) hits + misses + DBL_EPSILON);
  }
  for (guint i = points; i-- > 1;)
    precisions[i - 1] = MAX (precisions[i - 1], precisions[i]);
  gdouble sum = 0;
  for (guint r = 0, at = 0; r < RECALLS; r++) {
    while (at < points && recalls[at] < r * 0.01)
      at++;
    sum += at < points ? precisions[at] : 0;
  }
  return sum / RECALLS;
}

static SlBoxFigures
figures_of (gint32 label, const Found *found, guint n, guint truths)
{
  SlBoxFigures figures = { label, truths, n, NAN, NAN, NAN };
  if (truths == 0)
    return figures;
  figures.ap = 0;
  for (guint i = 0; i < SL_BOX_SCORE_OVERLAPS; i++) {
    const gdouble value = average_precision (found, n, truths, 1u << i);
    figures.ap += value / SL_BOX_SCORE_OVERLAPS;
    if (i == BIT_50)
      figures.ap50 = value;
    if (i == BIT_75)
      figures.ap75 = value;
  }
  return figures;
}

static gint
by_label (gconstpointer a, gconstpointer b)
{
  const SlBoxFigures *one = a, *two = b;
  return (one->label > two->label) - (one->label < two->label);
}

/* Classes that were true and never found. */
static void
add_missed (SlBoxScore *score, GArray *classes)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer label, truths;
  for (guint i = 0; i < classes->len; i++)
    g_hash_table_add (seen, GINT_TO_POINTER (g_array_index (classes, SlBoxFigures, i).label));
  g_hash_table_iter_init (&iter, score->truths);
  while (g_hash_table_iter_next (&iter, &label, &truths)) {
    const SlBoxFigures figures = figures_of (GPOINTER_TO_INT (label), NULL, 0, GPOINTER_TO_UINT (truths));
    if (!g_hash_table_contains (seen, label))
      g_array_append_val (classes, figures);
  }
}

GArray *
sl_box_score_figures (SlBoxScore *score, SlBoxFigures *mean)
{
  GArray *classes = g_array_new (FALSE, FALSE, sizeof (SlBoxFigures));
  guint counted = 0;
  g_array_sort (score->found, by_class);
  const Found *all = (const Found *) (void *) score->found->data;
  for (guint i = 0, end; i < score->found->len; i = end) {
    for (end = i + 1; end < score->found->len && all[end].label == all[i].label;)
      end++;
    const guint truths = GPOINTER_TO_UINT (g_hash_table_lookup (score->truths, GINT_TO_POINTER (all[i].label)));
    const SlBoxFigures figures = figures_of (all[i].label, &all[i], end - i, truths);
    g_array_append_val (classes, figures);
  }
  add_missed (score, classes);
  g_array_sort (classes, by_label);
  *mean = (SlBoxFigures){ .label = -1 };
  for (guint i = 0; i < classes->len; i++) {
    const SlBoxFigures *one = &g_array_index (classes, SlBoxFigures, i);
    mean->found += one->found;
    if (one->truths == 0)
      continue;
    counted++;
    mean->truths += one->truths;
    mean->ap += one->ap;
    mean->ap50 += one->ap50;
    mean->ap75 += one->ap75;
  }
  mean->ap = counted > 0 ? mean->ap / counted : NAN;
  mean->ap50 = counted > 0 ? mean->ap50 / counted : NAN;
  mean->ap75 = counted > 0 ? mean->ap75 / counted : NAN;
  return classes;
}
