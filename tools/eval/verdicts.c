/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/verdicts.h"

#include <math.h>
#include <stdio.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "tools/predict/rows.h"
#include "tools/terminal.h"

#define DIGITS 6

static void
count_objects (GArray *verdicts, const SlObjectScore *score, gdouble *confidence)
{
  const GArray *truths = sl_object_score_truths (score);
  g_autoptr (GArray) answers = sl_object_score_answers (score);
  guint all = 0;
  for (guint i = 0; i < truths->len; i++)
    all += g_array_index (verdicts, SlVerdict, i).misses = g_array_index (truths, guint, i);
  g_autoptr (GArray) curve = sl_curve_new (answers, all);
  const SlCurvePoint *best = sl_curve_best (curve);
  *confidence = best != NULL ? best->confidence : NAN;
  for (guint i = 0; i < answers->len && best != NULL; i++) {
    const SlAnswer *answer = &g_array_index (answers, SlAnswer, i);
    SlVerdict *verdict = &g_array_index (verdicts, SlVerdict, answer->picture);
    if (answer->confidence < best->confidence)
      break;
    verdict->hits += answer->right;
    verdict->misses -= answer->right;
    verdict->false_alarms += !answer->right;
  }
}

GArray *
sl_verdicts_new (const SlEvaluatedModel *contender, SlMeasure measure, gdouble *confidence)
{
  const GArray *seen = sl_evaluated_model_seen (contender);
  const SlTruthKind kind = sl_evaluated_model_kind (contender);
  GArray *verdicts = g_array_sized_new (FALSE, FALSE, sizeof (SlVerdict), seen->len);
  *confidence = NAN;
  for (guint i = 0; i < seen->len; i++) {
    const SlVerdict verdict = { .seen = g_array_index (seen, SlSeenPicture, i) };
    g_array_append_val (verdicts, verdict);
  }
  if (kind == SL_TRUTH_OBJECTS)
    count_objects (verdicts, sl_evaluated_model_objects (contender, measure), confidence);
  for (guint i = 0; i < verdicts->len; i++) {
    SlVerdict *one = &g_array_index (verdicts, SlVerdict, i);
    const guint wrong = one->false_alarms + one->misses;
    if (kind == SL_TRUTH_OBJECTS) /* F1; nothing to find and nothing found is right */
      one->share = wrong == 0 ? 1 : 2.0 * one->hits / (2.0 * one->hits + wrong);
    else if (kind == SL_TRUTH_CELLS)
      one->share =
        one->seen.pixels > 0 ? (gdouble) one->seen.right / (gdouble) one->seen.pixels : 1;
    else
      one->share = one->seen.truth == one->seen.guess;
  }
  return verdicts;
}

static gint
worst_first (gconstpointer a, gconstpointer b)
{
  const SlVerdict *one = a, *two = b;
  const guint wrong = one->false_alarms + one->misses, others = two->false_alarms + two->misses;
  if (one->share != two->share)
    return one->share < two->share ? -1 : 1;
  if (wrong != others)
    return wrong > others ? -1 : 1;
  return (one->seen.confidence < two->seen.confidence)
         - (one->seen.confidence > two->seen.confidence);
}

GArray *
sl_verdicts_worst (const GArray *verdicts, guint n)
{
  GArray *worst = g_array_new (FALSE, FALSE, sizeof (SlVerdict));
  for (guint i = 0; i < verdicts->len; i++)
    if (g_array_index (verdicts, SlVerdict, i).share < 1)
      g_array_append_vals (worst, &g_array_index (verdicts, SlVerdict, i), 1);
  g_array_sort (worst, worst_first);
  g_array_set_size (worst, MIN (worst->len, n));
  return worst;
}

char *
sl_verdict_text (const SlEvaluatedModel *contender, const SlVerdict *verdict)
{
  if (sl_evaluated_model_kind (contender) == SL_TRUTH_OBJECTS)
    return g_strdup_printf ("F1 %.4f, %u right, %u wrong, %u missed", verdict->share, verdict->hits,
                            verdict->false_alarms, verdict->misses);
  if (sl_evaluated_model_kind (contender) == SL_TRUTH_CELLS)
    return g_strdup_printf ("%.4f of the pixels right", verdict->share);
  g_autofree char *truth = sl_evaluated_model_label (contender, verdict->seen.truth),
                  *guess = sl_evaluated_model_label (contender, verdict->seen.guess);
  return g_strdup_printf ("%s taken for %s, %.4f", truth, guess, verdict->seen.confidence);
}

static const char *
name_of (const SlDataset *dataset, const SlVerdict *verdict)
{
  return g_array_index (dataset->samples, SlSample, verdict->seen.sample).input->name;
}

static void
append_number (GString *out, gdouble value)
{
  g_string_append_c (out, ',');
  if (!isnan (value))
    sl_json_append_double (out, value, DIGITS);
}

static void
append_class (GString *out, const SlEvaluatedModel *contender, gint32 label)
{
  g_autofree char *name = sl_evaluated_model_label (contender, label);
  g_string_append_c (out, ',');
  sl_rows_append_text (out, name);
  g_string_append_printf (out, ",%d", label);
}

static gdouble
ratio (guint part, guint whole)
{
  return whole > 0 ? (gdouble) part / whole : NAN;
}

static void
append_row (GString *out, const SlEvaluatedModel *contender, const SlDataset *dataset,
            const SlVerdict *verdict, SlMeasure measure, gdouble confidence)
{
  const SlTruthKind kind = sl_evaluated_model_kind (contender);
  sl_rows_append_text (out, sl_evaluated_model_path (contender));
  g_string_append_c (out, ',');
  sl_rows_append_text (out, name_of (dataset, verdict));
  if (kind == SL_TRUTH_CLASSES) {
    append_class (out, contender, verdict->seen.truth);
    append_class (out, contender, verdict->seen.guess);
    append_number (out, verdict->seen.confidence);
  } else if (kind == SL_TRUTH_CELLS) {
    g_string_append_printf (out, ",%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, verdict->seen.pixels,
                            verdict->seen.right);
    append_number (out, verdict->share);
  } else {
    g_string_append_printf (out, ",%s", sl_measure_name (measure));
    append_number (out, confidence);
    g_string_append_printf (out, ",%u,%u,%u", verdict->hits, verdict->false_alarms,
                            verdict->misses);
    append_number (out, ratio (verdict->hits, verdict->hits + verdict->false_alarms));
    append_number (out, ratio (verdict->hits, verdict->hits + verdict->misses));
    append_number (out, verdict->share);
  }
  g_string_append_printf (out, ",%d\n", verdict->share == 1);
}

GString *
sl_verdicts_csv (const GPtrArray *contenders, const SlDataset *dataset)
{
  static const char *const headings[] = { "truth,truth_id,prediction,prediction_id,score",
                                          "by,confidence,tp,fp,fn,precision,recall,f1",
                                          "pixels,right_pixels,score" };
  const SlTruthKind kind = sl_evaluated_model_kind (contenders->pdata[0]);
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, SL_VERDICTS_HEAD "%s,right\n", headings[kind]);
  for (guint i = 0; i < contenders->len; i++)
    for (SlMeasure measure = SL_MEASURE_BOXES;
         measure < (kind == SL_TRUTH_OBJECTS ? SL_MEASURES : 1); measure++) {
      if (kind == SL_TRUTH_OBJECTS
          && sl_evaluated_model_objects (contenders->pdata[i], measure) == NULL)
        continue;
      gdouble confidence;
      g_autoptr (GArray) verdicts = sl_verdicts_new (contenders->pdata[i], measure, &confidence);
      for (guint k = 0; k < verdicts->len; k++)
        append_row (out, contenders->pdata[i], dataset, &g_array_index (verdicts, SlVerdict, k),
                    measure, confidence);
    }
  return out;
}

/* (transfer full): of objects by boxes, at *@confidence. */
static GArray *
worst_of (const SlEvaluatedModel *contender, guint n, gdouble *confidence)
{
  g_autoptr (GArray) verdicts = sl_verdicts_new (contender, SL_MEASURE_BOXES, confidence);
  return sl_verdicts_worst (verdicts, n);
}

void
sl_verdicts_print (const SlEvaluatedModel *contender, const SlDataset *dataset, guint n)
{
  gdouble confidence;
  g_autoptr (GArray) worst = worst_of (contender, n, &confidence);
  g_autofree char *path = sl_printable (sl_evaluated_model_path (contender), SL_PRINTABLE_NAME);
  printf ("\n%s%s: worst pictures", sl_terminal_style (stdout, SL_STYLE_HEADING), path);
  if (!isnan (confidence))
    printf (", boxes from a confidence of %.4f on", confidence);
  puts (sl_terminal_style (stdout, SL_STYLE_PLAIN));
  for (guint i = 0; i < worst->len; i++) {
    const SlVerdict *verdict = &g_array_index (worst, SlVerdict, i);
    g_autofree char *text = sl_verdict_text (contender, verdict),
                    *name = sl_printable (name_of (dataset, verdict), SL_PRINTABLE_NAME);
    printf ("  %s: %s\n", name, text);
  }
}

void
sl_verdicts_append_json (GString *out, const SlEvaluatedModel *contender, const SlDataset *dataset,
                         guint n)
{
  gdouble confidence;
  g_autoptr (GArray) worst = worst_of (contender, n, &confidence);
  g_string_append (out, ",\"worst\":[");
  for (guint i = 0; i < worst->len; i++) {
    const SlVerdict *verdict = &g_array_index (worst, SlVerdict, i);
    g_autofree char *truth = sl_evaluated_model_label (contender, verdict->seen.truth),
                    *guess = sl_evaluated_model_label (contender, verdict->seen.guess);
    g_string_append (out, i > 0 ? ",{\"picture\":" : "{\"picture\":");
    sl_json_append_string (out, name_of (dataset, verdict));
    if (sl_evaluated_model_kind (contender) == SL_TRUTH_CLASSES) {
      sl_json_append_text (out, "label", truth);
      sl_json_append_text (out, "taken_for", guess);
      sl_json_append_number (out, "confidence", verdict->seen.confidence, DIGITS);
    } else {
      sl_json_append_number (out, "right", verdict->share, DIGITS);
    }
    if (sl_evaluated_model_kind (contender) == SL_TRUTH_OBJECTS)
      g_string_append_printf (out, ",\"tp\":%u,\"fp\":%u,\"fn\":%u", verdict->hits,
                              verdict->false_alarms, verdict->misses);
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, ']');
}
