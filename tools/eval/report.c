/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/report.h"

#include <math.h>
#include <stdio.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "tools/eval/verdicts.h"
#include "tools/terminal.h"

/* Classes and confusions that people see of each model. */
#define SHOWN 10
#define DIGITS 6

static guint
count_unreadable (const SlDataset *dataset)
{
  guint count = 0;
  for (guint i = 0; i < dataset->samples->len; i++)
    count += g_array_index (dataset->samples, SlSample, i).unreadable;
  return count;
}

/* Classes that the data set names or, of maps that have the model's numbers, that are in these. */
static guint
count_classes (const SlDataset *dataset)
{
  guint count = dataset->classes->len;
  for (guint i = 0; dataset->numbered && i < G_N_ELEMENTS (dataset->numbers); i++)
    count += dataset->numbers[i] != NULL;
  return count;
}

static void
begin_heading (void)
{
  fputs (sl_terminal_style (stdout, SL_STYLE_HEADING), stdout);
}

static void
end_heading (void)
{
  puts (sl_terminal_style (stdout, SL_STYLE_PLAIN));
}

/* A share of 1, "-" where there is none. */
static void
print_share (gdouble share)
{
  if (isnan (share))
    printf ("  %6s", "-");
  else
    printf ("  %6.4f", share);
}

static gdouble
share_of (guint part, guint whole)
{
  return whole > 0 ? (gdouble) part / whole : NAN;
}

/* COCO's keypoints know no small persons. */
static gdouble
of_area (const gdouble *values, SlMeasure measure, SlAreaRange area)
{
  return measure == SL_MEASURE_POINTS && area == SL_AREA_SMALL ? NAN : values[area];
}

static void
print_areas (const gdouble *values, SlMeasure measure)
{
  for (SlAreaRange area = SL_AREA_SMALL; area < SL_AREAS; area++)
    print_share (of_area (values, measure, area));
}

/* Of keypoints COCO reads no recall of one and of ten. */
static gdouble
of_few (gdouble recall, SlMeasure measure)
{
  return measure == SL_MEASURE_POINTS ? NAN : recall;
}

static void
print_recall_row (const SlEvaluatedModel *contender, SlMeasure measure, int width)
{
  SlObjectFigures mean;
  g_autofree char *path = sl_printable (sl_evaluated_model_path (contender), SL_PRINTABLE_NAME);
  g_array_unref (sl_object_score_figures (sl_evaluated_model_objects (contender, measure), &mean));
  printf ("%-*s  %-9s", width, path, sl_measure_name (measure));
  print_share (of_few (mean.ar1, measure));
  print_share (of_few (mean.ar10, measure));
  print_share (mean.ar[SL_AREA_ALL]);
  print_share (mean.ar50);
  print_share (mean.ar75);
  print_areas (mean.ar, measure);
  putchar ('\n');
}

/* A table of recalls, below that of precisions. */
static void
print_recalls (const GPtrArray *contenders, int width)
{
  putchar ('\n');
  begin_heading ();
  printf ("%-*s  %-9s  %6s  %6s  %6s  %6s  %6s  %6s  %6s  %6s", width, "model", "by", "AR1", "AR10",
          "AR", "AR50", "AR75", "small", "medium", "large");
  end_heading ();
  for (guint i = 0; i < contenders->len; i++)
    for (SlMeasure measure = SL_MEASURE_BOXES; measure < SL_MEASURES; measure++)
      if (sl_evaluated_model_objects (contenders->pdata[i], measure) != NULL)
        print_recall_row (contenders->pdata[i], measure, width);
}

static void
print_object_row (const SlEvaluatedModel *contender, SlMeasure measure)
{
  SlObjectFigures mean;
  g_array_unref (sl_object_score_figures (sl_evaluated_model_objects (contender, measure), &mean));
  printf ("  %-9s", sl_measure_name (measure));
  print_share (mean.ap[SL_AREA_ALL]);
  print_share (mean.ap50);
  print_share (mean.ap75);
  print_areas (mean.ap, measure);
}

/* A row for each measure, with the figures that the kind of model has. */
static void
print_rows (SlEvaluatedModel *contender, int width)
{
  g_autofree char *path = sl_printable (sl_evaluated_model_path (contender), SL_PRINTABLE_NAME);
  const SlTruthKind kind = sl_evaluated_model_kind (contender);
  for (SlMeasure measure = SL_MEASURE_BOXES; measure < SL_MEASURES && kind == SL_TRUTH_OBJECTS;
       measure++) {
    if (sl_evaluated_model_objects (contender, measure) == NULL)
      continue;
    printf ("%-*s", width, path);
    print_object_row (contender, measure);
    printf ("  %8.2f\n", sl_evaluated_model_ms (contender));
  }
  if (kind == SL_TRUTH_OBJECTS)
    return;
  printf ("%-*s", width, path);
  if (kind == SL_TRUTH_CELLS) {
    SlCellFigures mean;
    gdouble right;
    g_array_unref (sl_cell_score_figures (sl_evaluated_model_cells (contender), &mean, &right));
    print_share (mean.iou);
    print_share (right);
  } else {
    SlClassFigures all;
    g_array_unref (sl_class_score_figures (sl_evaluated_model_classes (contender), &all));
    print_share (share_of (all.right, all.pictures));
    print_share (share_of (all.near, all.pictures));
  }
  printf ("  %8.2f\n", sl_evaluated_model_ms (contender));
}

static void
print_worst (const SlEvaluatedModel *contender)
{
  SlClassFigures all;
  g_autoptr (GArray) classes =
    sl_class_score_figures (sl_evaluated_model_classes (contender), &all);
  g_autoptr (GArray) confusions =
    sl_class_score_confusions (sl_evaluated_model_classes (contender));
  g_autofree char *path = sl_printable (sl_evaluated_model_path (contender), SL_PRINTABLE_NAME);
  putchar ('\n');
  begin_heading ();
  printf ("%s: worst classes", path);
  end_heading ();
  for (guint i = 0; i < MIN (classes->len, SHOWN); i++) {
    const SlClassFigures *one = &g_array_index (classes, SlClassFigures, i);
    g_autofree char *label = sl_evaluated_model_label (contender, one->label);
    printf ("  %6u of %-6u %s\n", one->right, one->pictures, label);
  }
  if (confusions->len > 0) {
    begin_heading ();
    printf ("%s: taken for another", path);
    end_heading ();
  }
  for (guint i = 0; i < MIN (confusions->len, SHOWN); i++) {
    const SlConfusion *one = &g_array_index (confusions, SlConfusion, i);
    g_autofree char *truth = sl_evaluated_model_label (contender, one->truth),
                    *guess = sl_evaluated_model_label (contender, one->guess);
    printf ("  %6u times     %s for %s\n", one->pictures, truth, guess);
  }
}

void
sl_eval_print (const SlEvalReport *report)
{
  const SlDataset *dataset = report->dataset;
  const guint unreadable = count_unreadable (dataset);
  const SlTruthKind kind = sl_evaluated_model_kind (report->contenders->pdata[0]);
  g_autofree char *path = sl_printable (report->path, SL_PRINTABLE_NAME);
  int width = 5;
  printf ("%s: %u pictures, %u classes, %u thread%s\n", path, dataset->samples->len - unreadable,
          count_classes (dataset), report->threads, report->threads != 1 ? "s" : "");
  if (unreadable > 0)
    printf ("%u more could not be read\n", unreadable);
  if (dataset->unlabelled > 0)
    printf (kind == SL_TRUTH_CELLS
              ? "%u more have no map of classes\n"
              : "%u have no file of boxes: there is nothing to be found in them\n",
            dataset->unlabelled);
  for (guint i = 0; i < report->contenders->len; i++) {
    g_autofree char *name =
      sl_printable (sl_evaluated_model_path (report->contenders->pdata[i]), SL_PRINTABLE_NAME);
    width = MAX (width, (int) g_utf8_strlen (name, -1));
  }
  begin_heading ();
  if (kind == SL_TRUTH_OBJECTS)
    printf ("%-*s  %-9s  %6s  %6s  %6s  %6s  %6s  %6s  %8s", width, "model", "by", "AP", "AP50",
            "AP75", "small", "medium", "large", "ms");
  else if (kind == SL_TRUTH_CELLS)
    printf ("%-*s  %6s  %6s  %8s", width, "model", "mIoU", "right", "ms");
  else
    printf ("%-*s  %6s  %6s  %8s", width, "model", "top-1", "top-5", "ms");
  end_heading ();
  for (guint i = 0; i < report->contenders->len; i++)
    print_rows (report->contenders->pdata[i], width);
  if (kind == SL_TRUTH_OBJECTS)
    print_recalls (report->contenders, width);
  for (guint i = 0; kind == SL_TRUTH_CLASSES && i < report->contenders->len; i++)
    print_worst (report->contenders->pdata[i]);
  for (guint i = 0; report->worst > 0 && i < report->contenders->len; i++)
    sl_verdicts_print (report->contenders->pdata[i], dataset, report->worst);
}

static void
append_number (GString *out, const char *key, gdouble value)
{
  g_string_append_printf (out, ",\"%s\":", key);
  sl_json_append_double (out, value, DIGITS);
}

static void
append_label (GString *out, const char *key, const SlEvaluatedModel *contender, gint32 label)
{
  g_autofree char *name = sl_evaluated_model_label (contender, label);
  g_string_append_printf (out, "\"%s_id\":%d,\"%s\":", key, label, key);
  sl_json_append_string (out, name);
}

static void
append_classes (GString *out, const SlEvaluatedModel *contender)
{
  SlClassFigures all;
  g_autoptr (GArray) classes =
    sl_class_score_figures (sl_evaluated_model_classes (contender), &all);
  g_autoptr (GArray) confusions =
    sl_class_score_confusions (sl_evaluated_model_classes (contender));
  append_number (out, "top1", share_of (all.right, all.pictures));
  append_number (out, "top5", share_of (all.near, all.pictures));
  g_string_append (out, ",\"classes\":[");
  for (guint i = 0; i < classes->len; i++) {
    const SlClassFigures *one = &g_array_index (classes, SlClassFigures, i);
    g_string_append (out, i > 0 ? ",{" : "{");
    append_label (out, "label", contender, one->label);
    g_string_append_printf (out, ",\"pictures\":%u,\"right\":%u,\"among_five\":%u}", one->pictures,
                            one->right, one->near);
  }
  g_string_append (out, "],\"confusions\":[");
  for (guint i = 0; i < confusions->len; i++) {
    const SlConfusion *one = &g_array_index (confusions, SlConfusion, i);
    g_string_append (out, i > 0 ? ",{" : "{");
    append_label (out, "label", contender, one->truth);
    g_string_append_c (out, ',');
    append_label (out, "taken_for", contender, one->guess);
    g_string_append_printf (out, ",\"pictures\":%u}", one->pictures);
  }
  g_string_append_c (out, ']');
}

static void
append_shares (GString *out, const SlObjectFigures *figures, SlMeasure measure)
{
  append_number (out, "ap", figures->ap[SL_AREA_ALL]);
  append_number (out, "ap50", figures->ap50);
  append_number (out, "ap75", figures->ap75);
  append_number (out, "ap_small", of_area (figures->ap, measure, SL_AREA_SMALL));
  append_number (out, "ap_medium", of_area (figures->ap, measure, SL_AREA_MEDIUM));
  append_number (out, "ap_large", of_area (figures->ap, measure, SL_AREA_LARGE));
  append_number (out, "ar1", of_few (figures->ar1, measure));
  append_number (out, "ar10", of_few (figures->ar10, measure));
  append_number (out, "ar", figures->ar[SL_AREA_ALL]);
  append_number (out, "ar50", figures->ar50);
  append_number (out, "ar75", figures->ar75);
  append_number (out, "ar_small", of_area (figures->ar, measure, SL_AREA_SMALL));
  append_number (out, "ar_medium", of_area (figures->ar, measure, SL_AREA_MEDIUM));
  append_number (out, "ar_large", of_area (figures->ar, measure, SL_AREA_LARGE));
}

static void
append_objects (GString *out, const SlEvaluatedModel *contender, SlMeasure measure)
{
  SlObjectFigures mean;
  g_autoptr (GArray) classes =
    sl_object_score_figures (sl_evaluated_model_objects (contender, measure), &mean);
  append_shares (out, &mean, measure);
  g_string_append_printf (out, ",\"boxes\":%u,\"found\":%u,\"classes\":[", mean.truths, mean.found);
  for (guint i = 0; i < classes->len; i++) {
    const SlObjectFigures *one = &g_array_index (classes, SlObjectFigures, i);
    g_string_append (out, i > 0 ? ",{" : "{");
    append_label (out, "label", contender, one->label);
    g_string_append_printf (out, ",\"boxes\":%u,\"found\":%u", one->truths, one->found);
    append_shares (out, one, measure);
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, ']');
}

/* Figures of boxes are the model's own; others have an object of their own. */
static void
append_measures (GString *out, const SlEvaluatedModel *contender)
{
  append_objects (out, contender, SL_MEASURE_BOXES);
  for (SlMeasure measure = SL_MEASURE_BOXES + 1; measure < SL_MEASURES; measure++) {
    if (sl_evaluated_model_objects (contender, measure) == NULL)
      continue;
    g_string_append_printf (out, ",\"%s\":{\"by\":\"%s\"", sl_measure_name (measure),
                            sl_measure_name (measure));
    append_objects (out, contender, measure);
    g_string_append_c (out, '}');
  }
}

static void
append_cells (GString *out, const SlEvaluatedModel *contender)
{
  SlCellFigures mean;
  gdouble right;
  g_autoptr (GArray) classes =
    sl_cell_score_figures (sl_evaluated_model_cells (contender), &mean, &right);
  append_number (out, "miou", mean.iou);
  append_number (out, "right", right);
  g_string_append (out, ",\"classes\":[");
  for (guint i = 0; i < classes->len; i++) {
    const SlCellFigures *one = &g_array_index (classes, SlCellFigures, i);
    g_string_append (out, i > 0 ? ",{" : "{");
    append_label (out, "label", contender, one->label);
    append_number (out, "iou", one->iou);
    g_string_append_printf (out,
                            ",\"pixels\":%" G_GUINT64_FORMAT ",\"found\":%" G_GUINT64_FORMAT "}",
                            one->truths, one->found);
  }
  g_string_append_c (out, ']');
}

void
sl_eval_print_json (const SlEvalReport *report)
{
  const SlDataset *dataset = report->dataset;
  const guint unreadable = count_unreadable (dataset);
  const char *comma = "";
  g_autoptr (GString) out = g_string_new ("{\"dataset\":");
  sl_json_append_string (out, report->path);
  g_string_append_printf (out, ",\"pictures\":%u,\"unlabelled\":%u,\"threads\":%u,\"unreadable\":[",
                          dataset->samples->len - unreadable, dataset->unlabelled, report->threads);
  for (guint i = 0; i < dataset->samples->len; i++) {
    const SlSample *sample = &g_array_index (dataset->samples, SlSample, i);
    if (!sample->unreadable)
      continue;
    g_string_append (out, comma);
    sl_json_append_string (out, sample->input->name);
    comma = ",";
  }
  g_string_append (out, "],\"models\":[");
  for (guint i = 0; i < report->contenders->len; i++) {
    SlEvaluatedModel *contender = report->contenders->pdata[i];
    g_string_append (out, i > 0 ? ",{\"model\":" : "{\"model\":");
    sl_json_append_string (out, sl_evaluated_model_path (contender));
    append_number (out, "ms", sl_evaluated_model_ms (contender));
    if (sl_evaluated_model_kind (contender) == SL_TRUTH_OBJECTS)
      append_measures (out, contender);
    else if (sl_evaluated_model_kind (contender) == SL_TRUTH_CELLS)
      append_cells (out, contender);
    else
      append_classes (out, contender);
    if (report->worst > 0)
      sl_verdicts_append_json (out, contender, dataset, report->worst);
    g_string_append_c (out, '}');
  }
  g_string_append (out, "]}");
  puts (out->str);
}
