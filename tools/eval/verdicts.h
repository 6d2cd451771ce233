/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How well a model did on each picture: as CSV, and the worst ones as text and JSON. */
#pragma once

#include "tools/eval/evaluated_model.h"

/**
 * SlVerdict: on a picture.
 * @seen: the picture, with what is known of classes and pixels
 * @hits, @false_alarms, @misses: true positives, false positives and false negatives, of objects
 * alone
 * @share: how much is right, 0..1: 0 or 1 of a class, F1 of objects, the share of pixels
 */
typedef struct
{
  SlSeenPicture seen;
  guint hits, false_alarms, misses;
  gdouble share;
} SlVerdict;

/** sl_verdicts_new: (transfer full) (element-type SlVerdict): a verdict a picture, in the order of
 * the data set. @measure: of objects alone, whose overlap must be at least 0.5. @confidence: (out):
 * objects below it do not count: F1 is highest there over all pictures; NaN where nothing was
 * found. */
GArray *sl_verdicts_new (const SlEvaluatedModel *contender, SlMeasure measure, gdouble *confidence);
/** sl_verdicts_worst: (transfer full) (element-type SlVerdict): up to @n that are not wholly right,
 * the worst first. Of classes the worst is the most confident. */
GArray *sl_verdicts_worst (const GArray *verdicts, guint n);
/** sl_verdict_text: (transfer full): a verdict without its picture, for people. */
char *sl_verdict_text (const SlEvaluatedModel *contender, const SlVerdict *verdict);

/** SL_VERDICTS_HEAD: how each table begins. */
#define SL_VERDICTS_HEAD "model,path,"
/** sl_verdicts_csv: (transfer full): all verdicts of @contenders (element-type SlEvaluatedModel),
 * as a table with a heading. */
GString *sl_verdicts_csv (const GPtrArray *contenders, const SlDataset *dataset);
/** sl_verdicts_print: the @n worst of a model. */
void sl_verdicts_print (const SlEvaluatedModel *contender, const SlDataset *dataset, guint n);
/** sl_verdicts_append_json: the same as the member "worst", after a comma. */
void sl_verdicts_append_json (GString *out, const SlEvaluatedModel *contender,
                              const SlDataset *dataset, guint n);
