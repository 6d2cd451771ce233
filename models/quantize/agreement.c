/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outputs are decoded as in a pipeline. Boxes match as COCO has it: best first, each with the free
 * true box of its class that it overlaps most. */
#include "models/quantize/agreement.h"

#include <math.h>
#include <string.h>

#include "predict/opendecoding.h"

#define MAX_BOXES 300
#define OVERLAP 0.5f

/** A box of the second model. */
typedef struct
{
  gfloat confidence;
  gint32 label;
  gboolean matched;
} Found;

struct _SlAgreement
{
  SlDecoding *first, *second;
  SlLabels *first_labels, *second_labels;
  gboolean is_labels;
  guint64 same, compared; /* pictures or cells */
  gboolean has_cells;
  GArray *found;     /* of Found */
  GHashTable *truth; /* label -> number of true boxes */
};

static SlDecoding *
open_with (SlContract *contract, const char *decoder, gdouble threshold, SlLabels **labels)
{
  const SlDecodingSettings how = { .decoder = decoder,
                                   .threshold = threshold,
                                   .max_results = MAX_BOXES };
  return sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, labels, NULL);
}

SlAgreement *
sl_agreement_new (SlContract *contract)
{
  g_autoptr (SlAgreement) agreement = g_new0 (SlAgreement, 1);
  agreement->found = g_array_new (FALSE, FALSE, sizeof (Found));
  agreement->truth = g_hash_table_new (NULL, NULL);
  agreement->first = open_with (contract, NULL, SL_AGREEMENT_TRUE, &agreement->first_labels);
  if (agreement->first == NULL)
    return NULL;
  /* Of numbers that nothing names, which is the largest can be compared as if they were scores. */
  const char *decoder = sl_decoding_scores_decoder (agreement->first, contract);
  const char *name = decoder != NULL ? decoder : sl_decoding_decoder (agreement->first)->name;
  if (strcmp (name, "vector") == 0 || strcmp (name, "text") == 0)
    return NULL;
  agreement->is_labels = strcmp (name, "labels") == 0;
  if (agreement->is_labels) {
    sl_decoding_free (agreement->first);
    g_clear_pointer (&agreement->first_labels, sl_labels_unref);
    agreement->first = open_with (contract, decoder, 0, &agreement->first_labels);
  }
  agreement->second = open_with (contract, decoder, agreement->is_labels ? 0 : SL_AGREEMENT_COUNTED,
                                 &agreement->second_labels);
  return agreement->first != NULL && agreement->second != NULL ? g_steal_pointer (&agreement)
                                                               : NULL;
}

void
sl_agreement_free (SlAgreement *agreement)
{
  if (agreement == NULL)
    return;
  g_clear_pointer (&agreement->first, sl_decoding_free);
  g_clear_pointer (&agreement->second, sl_decoding_free);
  g_clear_pointer (&agreement->first_labels, sl_labels_unref);
  g_clear_pointer (&agreement->second_labels, sl_labels_unref);
  g_array_unref (agreement->found);
  g_hash_table_unref (agreement->truth);
  g_free (agreement);
}

static gfloat
overlap (const SlDetection *a, const SlDetection *b)
{
  const gfloat w = MIN (a->x_max, b->x_max) - MAX (a->x_min, b->x_min),
               h = MIN (a->y_max, b->y_max) - MAX (a->y_min, b->y_min);
  const gfloat inner = w > 0 && h > 0 ? w * h : 0;
  const gfloat both = (a->x_max - a->x_min) * (a->y_max - a->y_min)
                      + (b->x_max - b->x_min) * (b->y_max - b->y_min) - inner;
  return both > 0 ? inner / both : 0;
}

static void
add_boxes (SlAgreement *agreement, const SlResult *first, const SlResult *second)
{
  g_autofree gboolean *taken = g_new0 (gboolean, MAX (first->n_detections, 1));
  for (guint i = 0; i < first->n_detections; i++) {
    const gpointer label = GINT_TO_POINTER (first->detections[i].label_id);
    g_hash_table_replace (
      agreement->truth, label,
      GINT_TO_POINTER (GPOINTER_TO_INT (g_hash_table_lookup (agreement->truth, label)) + 1));
  }
  for (guint i = 0; i < second->n_detections; i++) {
    const SlDetection *box = &second->detections[i];
    gint best = -1;
    gfloat most = OVERLAP;
    for (guint k = 0; k < first->n_detections; k++) {
      if (taken[k] || first->detections[k].label_id != box->label_id
          || overlap (box, &first->detections[k]) < most)
        continue;
      most = overlap (box, &first->detections[k]);
      best = (gint) k;
    }
    if (best >= 0)
      taken[best] = TRUE;
    const Found found = { box->confidence, box->label_id, best >= 0 };
    g_array_append_val (agreement->found, found);
  }
}

void
sl_agreement_add (SlAgreement *agreement, const void *const *first, const void *const *second)
{
  const SlResult *one = sl_decoding_run (agreement->first, first),
                 *two = sl_decoding_run (agreement->second, second);
  if (agreement->is_labels) {
    agreement->compared++;
    agreement->same += one->n_classes > 0 && two->n_classes > 0
                       && one->classes[0].label_id == two->classes[0].label_id;
  } else if (one->mask.width > 0 && one->mask.width == two->mask.width
             && one->mask.height == two->mask.height) {
    agreement->has_cells = TRUE;
    for (gsize i = 0; i < (gsize) one->mask.width * one->mask.height; i++)
      agreement->same += one->mask.classes[i] == two->mask.classes[i];
    agreement->compared += (guint64) one->mask.width * one->mask.height;
  } else {
    add_boxes (agreement, one, two);
  }
}

gboolean
sl_agreement_is_of_classes (const SlAgreement *agreement)
{
  return agreement->is_labels;
}

const char *
sl_agreement_measure (const SlAgreement *agreement)
{
  return agreement->is_labels ? "top-1" : agreement->has_cells ? "cells" : "AP50";
}

static gint
best_first (gconstpointer a, gconstpointer b)
{
  const Found *one = a, *two = b;
  return (one->confidence < two->confidence) - (one->confidence > two->confidence);
}

/* Area under precision over recall of one class, precision being the best at that recall or beyond;
 * @found best first. */
static gdouble
average_precision (const GArray *found, gint32 label, guint truths)
{
  g_autoptr (GArray) precisions = g_array_new (FALSE, FALSE, sizeof (gdouble));
  guint all = 0, hits = 0;
  for (guint i = 0; i < found->len; i++) {
    const Found *one = &g_array_index (found, Found, i);
    if (one->label != label)
      continue;
    all++;
    if (!one->matched)
      continue;
    const gdouble precision = (gdouble) ++hits / all;
    g_array_append_val (precisions, precision);
  }
  gdouble sum = 0, best = 0;
  for (guint i = precisions->len; i-- > 0;) {
    best = MAX (best, g_array_index (precisions, gdouble, i));
    sum += best;
  }
  return sum / truths;
}

gdouble
sl_agreement_value (const SlAgreement *agreement)
{
  if (agreement->compared > 0)
    return (gdouble) agreement->same / (gdouble) agreement->compared;
  if (agreement->is_labels || g_hash_table_size (agreement->truth) == 0)
    return NAN;
  GHashTableIter iter;
  gpointer label, truths;
  gdouble sum = 0;
  g_array_sort (agreement->found, best_first);
  g_hash_table_iter_init (&iter, agreement->truth);
  while (g_hash_table_iter_next (&iter, &label, &truths))
    sum += average_precision (agreement->found, GPOINTER_TO_INT (label),
                              (guint) GPOINTER_TO_INT (truths));
  return sum / g_hash_table_size (agreement->truth);
}
