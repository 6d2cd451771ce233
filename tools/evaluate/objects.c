/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Found objects of a picture, best first, take the free true object of their class that they
 * overlap most; once for each overlap asked for and each range of areas, outside of which true
 * objects are ignored. All found objects of a class, best first, then make a curve of precision
 * over recall, which is read at 101 recalls; the recall at its end is the other figure.
 */
#include "tools/evaluate/objects.h"

#include <float.h>
#include <math.h>

#define RECALLS 101
/* Bits of the overlaps. */
#define BIT_50 0
#define BIT_75 5

/** A found object, in its picture number @rank of its class; by area, bits say at which overlaps it
 * took a true object, and at which it is neither right nor wrong. */
typedef struct
{
  gdouble confidence;
  gint32 label;
  guint order, rank, picture;
  guint16 matched[SL_AREAS], ignored[SL_AREAS];
} Found;

/** How many true objects of a class count, by area. */
typedef struct
{
  guint count[SL_AREAS];
} Truths;

struct _SlObjectScore
{
  guint most;
  GArray *found;      /* of Found */
  GHashTable *truths; /* label -> Truths */
  GArray *pictures;   /* of guint: true objects that count */
};

/** Objects of a picture that are matched: @taken: by area and true object, bits of the overlaps;
 * @near: true objects of the class of the found object at hand that overlap it as far as any asks
 * for, in their order, with their @overlaps. */
typedef struct
{
  const SlEvalObject *truth, *found;
  guint n_truth, n_near;
  guint16 *taken[SL_AREAS];
  guint *near;
  gdouble *overlaps;
} Picture;

static const gdouble limits[SL_AREAS][2] = {
  { 0, 1e10 }, { 0, 32 * 32 }, { 32 * 32, 96 * 96 }, { 96 * 96, 1e10 }
};

SlObjectScore *
sl_object_score_new (guint most)
{
  SlObjectScore *score = g_new0 (SlObjectScore, 1);
  score->most = most;
  score->found = g_array_new (FALSE, FALSE, sizeof (Found));
  score->truths = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  score->pictures = g_array_new (FALSE, FALSE, sizeof (guint));
  return score;
}

void
sl_object_score_free (SlObjectScore *score)
{
  if (score == NULL)
    return;
  g_array_unref (score->found);
  g_hash_table_unref (score->truths);
  g_array_unref (score->pictures);
  g_free (score);
}

static gdouble
asked_overlap (guint i)
{
  return i + 1 < SL_OBJECT_SCORE_OVERLAPS
           ? 0.5 + i * ((0.95 - 0.5) / (SL_OBJECT_SCORE_OVERLAPS - 1))
           : 0.95;
}

static gboolean
is_outside (const SlEvalObject *object, guint area)
{
  return object->area < limits[area][0] || object->area > limits[area][1];
}

static gboolean
is_ignored (const SlEvalObject *truth, guint area)
{
  return truth->ignored || is_outside (truth, area);
}

/* Pointers to objects, so that the address says which of two equals came first. */
static gint
best_first (gconstpointer a, gconstpointer b)
{
  const SlEvalObject *one = *(const SlEvalObject *const *) a,
                     *two = *(const SlEvalObject *const *) b;
  if (one->confidence != two->confidence)
    return one->confidence < two->confidence ? 1 : -1;
  return (one > two) - (one < two);
}

/* (element-type SlEvalObject): @objects, the most confident first, without copies. */
static GPtrArray *
in_order (const SlEvalObject *objects, guint n)
{
  GPtrArray *list = g_ptr_array_sized_new (n);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (list, (gpointer) &objects[i]);
  g_ptr_array_sort (list, best_first);
  return list;
}

static guint
count_up (GHashTable *counts, gint32 label)
{
  const guint count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, GINT_TO_POINTER (label))) + 1;
  g_hash_table_replace (counts, GINT_TO_POINTER (label), GUINT_TO_POINTER (count));
  return count;
}

GArray *
sl_object_score_best (const SlObjectScore *score, const SlEvalObject *found, guint n)
{
  g_autoptr (GPtrArray) best = in_order (found, n);
  g_autoptr (GHashTable) counts = g_hash_table_new (NULL, NULL);
  GArray *indices = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < n; i++) {
    const SlEvalObject *object = best->pdata[i];
    const guint index = (guint) (object - found);
    if (count_up (counts, object->label) <= score->most)
      g_array_append_val (indices, index);
  }
  return indices;
}

/* The true object that the found one at hand takes at @asked, -1 = none. Those that count are tried
 * before those that do not. */
static gint
take (const Picture *picture, guint area, guint bit, gdouble asked)
{
  gdouble most = MIN (asked, 1 - 1e-10);
  gint best = -1;
  for (guint pass = 0; pass < 2 && best < 0; pass++)
    for (guint i = 0; i < picture->n_near; i++) {
      const guint k = picture->near[i];
      const gboolean available = (picture->taken[area][k] & bit) == 0 || picture->truth[k].crowd;
      if (!available || picture->overlaps[i] < most
          || is_ignored (&picture->truth[k], area) != (pass == 1))
        continue;
      most = picture->overlaps[i];
      best = (gint) k;
    }
  return best;
}

static void
find_near (Picture *picture, const SlEvalObject *object, SlOverlap overlap, gconstpointer data)
{
  picture->n_near = 0;
  for (guint k = 0; k < picture->n_truth; k++) {
    const gdouble value = picture->truth[k].label == object->label
                            ? overlap ((guint) (object - picture->found), k, data)
                            : 0;
    if (value < asked_overlap (0))
      continue;
    picture->near[picture->n_near] = k;
    picture->overlaps[picture->n_near++] = value;
  }
}

static Found
match (Picture *picture, const SlEvalObject *object, SlOverlap overlap, gconstpointer data)
{
  Found found = { .confidence = object->confidence, .label = object->label };
  find_near (picture, object, overlap, data);
  for (guint area = 0; area < SL_AREAS; area++) {
    for (guint i = 0; i < SL_OBJECT_SCORE_OVERLAPS; i++) {
      const guint16 bit = (guint16) (1u << i);
      const gint best = take (picture, area, bit, asked_overlap (i));
      if (best >= 0) {
        picture->taken[area][best] |= bit;
        found.matched[area] |= bit;
      }
      if (best >= 0 ? is_ignored (&picture->truth[best], area) : is_outside (object, area))
        found.ignored[area] |= bit;
    }
  }
  return found;
}

static void
count_truth (SlObjectScore *score, const SlEvalObject *truth)
{
  Truths *truths = g_hash_table_lookup (score->truths, GINT_TO_POINTER (truth->label));
  if (truths == NULL) {
    truths = g_new0 (Truths, 1);
    g_hash_table_insert (score->truths, GINT_TO_POINTER (truth->label), truths);
  }
  for (guint area = 0; area < SL_AREAS; area++)
    truths->count[area] += !is_ignored (truth, area);
}

void
sl_object_score_add (SlObjectScore *score, const SlEvalObject *truth, guint n_truth,
                     const SlEvalObject *found, guint n_found, SlOverlap overlap,
                     gconstpointer data)
{
  g_autoptr (GArray) best = sl_object_score_best (score, found, n_found);
  g_autoptr (GHashTable) counts = g_hash_table_new (NULL, NULL);
  g_autofree gdouble *overlaps = g_new (gdouble, (gsize) n_truth + 1);
  g_autofree guint *near = g_new (guint, (gsize) n_truth + 1);
  Picture picture = {
    .truth = truth, .found = found, .n_truth = n_truth, .near = near, .overlaps = overlaps
  };
  for (guint area = 0; area < SL_AREAS; area++)
    picture.taken[area] = g_new0 (guint16, (gsize) n_truth + 1);
  guint counting = 0;
  for (guint i = 0; i < n_truth; i++) {
    count_truth (score, &truth[i]);
    counting += !is_ignored (&truth[i], SL_AREA_ALL);
  }
  for (guint i = 0; i < best->len; i++) {
    Found made = match (&picture, &found[g_array_index (best, guint, i)], overlap, data);
    made.order = score->found->len;
    made.rank = count_up (counts, made.label);
    made.picture = score->pictures->len;
    g_array_append_val (score->found, made);
  }
  g_array_append_val (score->pictures, counting);
  for (guint area = 0; area < SL_AREAS; area++)
    g_free (picture.taken[area]);
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

/* Mean of the precision at 101 recalls, multiples of 0.01 as numpy.linspace() makes them. That of a
 * recall is the best at that recall or beyond. @found: of one class, best first. */
static gdouble
average_precision (const Found *found, guint n, guint truths, guint area, guint bit)
{
  g_autofree gdouble *recalls = g_new (gdouble, (gsize) n + 1),
                     *precisions = g_new (gdouble, (gsize) n + 1);
  guint hits = 0, misses = 0, points = 0;
  for (guint i = 0; i < n; i++) {
    if ((found[i].ignored[area] & bit) != 0)
      continue;
    if ((found[i].matched[area] & bit) != 0)
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

/* The share of @truths that is found by the first @most of a class in each picture at an overlap.
 */
static gdouble
recall (const Found *found, guint n, guint truths, guint area, guint most, guint bit)
{
  guint hits = 0;
  for (guint i = 0; i < n; i++)
    hits += found[i].rank <= most && (found[i].matched[area] & ~found[i].ignored[area] & bit) != 0;
  return (gdouble) hits / truths;
}

/* Its mean over the overlaps. */
static gdouble
average_recall (const Found *found, guint n, guint truths, guint area, guint most)
{
  gdouble sum = 0;
  for (guint i = 0; i < SL_OBJECT_SCORE_OVERLAPS; i++)
    sum += recall (found, n, truths, area, most, 1u << i);
  return sum / SL_OBJECT_SCORE_OVERLAPS;
}

static SlObjectFigures
figures_of (gint32 label, const Found *found, guint n, const Truths *truths)
{
  SlObjectFigures figures = { .label = label,
                              .truths = truths != NULL ? truths->count[SL_AREA_ALL] : 0,
                              .found = n };
  figures.ap50 = figures.ap75 = figures.ar50 = figures.ar75 = figures.ar1 = figures.ar10 = NAN;
  for (guint area = 0; area < SL_AREAS; area++) {
    const guint count = truths != NULL ? truths->count[area] : 0;
    gdouble values[SL_OBJECT_SCORE_OVERLAPS], sum = 0;
    figures.ap[area] = figures.ar[area] = NAN;
    if (count == 0)
      continue;
    for (guint i = 0; i < SL_OBJECT_SCORE_OVERLAPS; i++)
      sum += values[i] = average_precision (found, n, count, area, 1u << i);
    figures.ap[area] = sum / SL_OBJECT_SCORE_OVERLAPS;
    figures.ar[area] = average_recall (found, n, count, area, G_MAXUINT);
    if (area != SL_AREA_ALL)
      continue;
    figures.ap50 = values[BIT_50];
    figures.ap75 = values[BIT_75];
    figures.ar50 = recall (found, n, count, area, G_MAXUINT, 1u << BIT_50);
    figures.ar75 = recall (found, n, count, area, G_MAXUINT, 1u << BIT_75);
    figures.ar1 = average_recall (found, n, count, area, 1);
    figures.ar10 = average_recall (found, n, count, area, 10);
  }
  return figures;
}

static gint
by_label (gconstpointer a, gconstpointer b)
{
  const SlObjectFigures *one = a, *two = b;
  return (one->label > two->label) - (one->label < two->label);
}

/* Classes that were true and never found. */
static void
add_missed (SlObjectScore *score, GArray *classes)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer label, truths;
  for (guint i = 0; i < classes->len; i++)
    g_hash_table_add (seen, GINT_TO_POINTER (g_array_index (classes, SlObjectFigures, i).label));
  g_hash_table_iter_init (&iter, score->truths);
  while (g_hash_table_iter_next (&iter, &label, &truths)) {
    const SlObjectFigures figures = figures_of (GPOINTER_TO_INT (label), NULL, 0, truths);
    if (!g_hash_table_contains (seen, label) && figures.truths > 0)
      g_array_append_val (classes, figures);
  }
}

/* Mean of a figure, @at bytes into SlObjectFigures, over the classes that have it. */
static gdouble
mean_of (const GArray *classes, gsize at)
{
  gdouble sum = 0;
  guint n = 0;
  for (guint i = 0; i < classes->len; i++) {
    const gdouble value =
      G_STRUCT_MEMBER (gdouble, &g_array_index (classes, SlObjectFigures, i), at);
    sum += isnan (value) ? 0 : value;
    n += !isnan (value);
  }
  return n > 0 ? sum / n : NAN;
}

GArray *
sl_object_score_figures (SlObjectScore *score, SlObjectFigures *mean)
{
  GArray *classes = g_array_new (FALSE, FALSE, sizeof (SlObjectFigures));
  g_array_sort (score->found, by_class);
  const Found *all = (const Found *) (void *) score->found->data;
  for (guint i = 0, end; i < score->found->len; i = end) {
    for (end = i + 1; end < score->found->len && all[end].label == all[i].label;)
      end++;
    const Truths *truths = g_hash_table_lookup (score->truths, GINT_TO_POINTER (all[i].label));
    const SlObjectFigures figures = figures_of (all[i].label, &all[i], end - i, truths);
    g_array_append_val (classes, figures);
  }
  add_missed (score, classes);
  g_array_sort (classes, by_label);
  *mean = (SlObjectFigures){ .label = -1 };
  for (guint i = 0; i < classes->len; i++) {
    mean->found += g_array_index (classes, SlObjectFigures, i).found;
    mean->truths += g_array_index (classes, SlObjectFigures, i).truths;
  }
  for (guint area = 0; area < SL_AREAS; area++) {
    mean->ap[area] =
      mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ap) + area * sizeof (gdouble));
    mean->ar[area] =
      mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ar) + area * sizeof (gdouble));
  }
  mean->ap50 = mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ap50));
  mean->ap75 = mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ap75));
  mean->ar50 = mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ar50));
  mean->ar75 = mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ar75));
  mean->ar1 = mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ar1));
  mean->ar10 = mean_of (classes, G_STRUCT_OFFSET (SlObjectFigures, ar10));
  return classes;
}

static gint
by_order (gconstpointer a, gconstpointer b)
{
  const Found *one = a, *two = b;
  return (one->order > two->order) - (one->order < two->order);
}

GArray *
sl_object_score_answers (const SlObjectScore *score)
{
  GArray *answers = g_array_new (FALSE, FALSE, sizeof (SlAnswer));
  g_array_sort (score->found, by_order);
  for (guint i = 0; i < score->found->len; i++) {
    const Found *found = &g_array_index (score->found, Found, i);
    const gboolean right = (found->matched[SL_AREA_ALL] & 1u << BIT_50) != 0;
    const SlAnswer answer = { found->confidence, found->label, found->picture, right };
    if ((found->ignored[SL_AREA_ALL] & 1u << BIT_50) == 0)
      g_array_append_val (answers, answer);
  }
  sl_answers_sort (answers);
  return answers;
}

const GArray *
sl_object_score_truths (const SlObjectScore *score)
{
  return score->pictures;
}
