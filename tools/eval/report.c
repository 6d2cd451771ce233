/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/report.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/show.h"

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

static void
print_row (SlContender *contender, int width)
{
  g_autofree char *path = sl_show (sl_contender_path (contender), SL_SHOW_NAME);
  printf ("%-*s", width, path);
  if (sl_contender_finds_boxes (contender)) {
    SlBoxFigures mean;
    g_array_unref (sl_box_score_figures (sl_contender_boxes (contender), &mean));
    print_share (mean.ap);
    print_share (mean.ap50);
    print_share (mean.ap75);
  } else {
    SlClassFigures all;
    g_array_unref (sl_class_score_figures (sl_contender_classes (contender), &all));
    print_share (share_of (all.right, all.pictures));
    print_share (share_of (all.near, all.pictures));
  }
  printf ("  %8.2f\n", sl_contender_ms (contender));
}

static void
print_worst (const SlContender *contender)
{
  SlClassFigures all;
  g_autoptr (GArray) classes = sl_class_score_figures (sl_contender_classes (contender), &all);
  g_autoptr (GArray) confusions = sl_class_score_confusions (sl_contender_classes (contender));
  g_autofree char *path = sl_show (sl_contender_path (contender), SL_SHOW_NAME);
  printf ("\n%s: worst classes\n", path);
  for (guint i = 0; i < MIN (classes->len, SHOWN); i++) {
    const SlClassFigures *one = &g_array_index (classes, SlClassFigures, i);
    g_autofree char *label = sl_contender_label (contender, one->label);
    printf ("  %6u of %-6u %s\n", one->right, one->pictures, label);
  }
  if (confusions->len > 0)
    printf ("%s: taken for another\n", path);
  for (guint i = 0; i < MIN (confusions->len, SHOWN); i++) {
    const SlConfusion *one = &g_array_index (confusions, SlConfusion, i);
    g_autofree char *truth = sl_contender_label (contender, one->truth), *guess = sl_contender_label (contender, one->guess);
    printf ("  %6u times     %s for %s\n", one->pictures, truth, guess);
  }
}

void
sl_eval_print (const SlEvalReport *report)
{
  const SlDataset *dataset = report->dataset;
  const guint unreadable = count_unreadable (dataset);
  const gboolean of_boxes = sl_contender_finds_boxes (report->contenders->pdata[0]);
  g_autofree char *path = sl_show (report->path, SL_SHOW_NAME);
  int width = 5;
  printf ("%s: %u pictures, %u classes, %u thread%s\n", path, dataset->samples->len - unreadable, dataset->classes->len, report->threads,
          report->threads != 1 ? "s" : "");
  if (unreadable > 0)
    printf ("%u more could not be read\n", unreadable);
  if (dataset->unlabelled > 0)
    printf ("%u have no file of boxes: there is nothing to be found in them\n", dataset->unlabelled);
  for (guint i = 0; i < report->contenders->len; i++) {
    g_autofree char *name = sl_show (sl_contender_path (report->contenders->pdata[i]), SL_SHOW_NAME);
    width = MAX (width, (int) g_utf8_strlen (name, -1));
  }
  if (of_boxes)
    printf ("%-*s  %6s  %6s  %6s  %8s\n", width, "model", "AP", "AP50", "AP75", "ms");
  else
    printf ("%-*s  %6s  %6s  %8s\n", width, "model", "top-1", "top-5", "ms");
  for (guint i = 0; i < report->contenders->len; i++)
    print_row (report->contenders->pdata[i], width);
  for (guint i = 0; !of_boxes && i < report->contenders->len; i++)
    print_worst (report->contenders->pdata[i]);
}

static void
append_number (GString *out, const char *key, gdouble value)
{
  g_string_append_printf (out, ",\"%s\":", key);
  sl_json_append_double (out, value, DIGITS);
}

static void
append_label (GString *out, const char *key, const SlContender *contender, gint32 label)
{
  g_autofree char *name = sl_contender_label (contender, label);
  g_string_append_printf (out, "\"%s_id\":%d,\"%s\":", key, label, key);
  sl_json_append_string (out, name);
}

static void
append_classes (GString *out, const SlContender *contender)
{
  SlClassFigures all;
  g_autoptr (GArray) classes = sl_class_score_figures (sl_contender_classes (contender), &all);
  g_autoptr (GArray) confusions = sl_class_score_confusions (sl_contender_classes (contender));
  append_number (out, "top1", share_of (all.right, all.pictures));
  append_number (out, "top5", share_of (all.near, all.pictures));
  g_string_append (out, ",\"classes\":[");
  for (guint i = 0; i < classes->len; i++) {
    const SlClassFigures *one = &g_array_index (classes, SlClassFigures, i);
    g_string_append (out, i > 0 ? ",{" : "{");
    append_label (out, "label", contender, one->label);
    g_string_append_printf (out, ",\"pictures\":%u,\"right\":%u,\"among_five\":%u}", one->pictures, one->right, one->near);
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
append_boxes (GString *out, const SlContender *contender)
{
  SlBoxFigures mean;
  g_autoptr (GArray) classes = sl_box_score_figures (sl_contender_boxes (contender), &mean);
  append_number (out, "ap", mean.ap);
  append_number (out, "ap50", mean.ap50);
  append_number (out, "ap75", mean.ap75);
  g_string_append_printf (out, ",\"boxes\":%u,\"found\":%u,\"classes\":[", mean.truths, mean.found);
  for (guint i = 0; i < classes->len; i++) {
    const SlBoxFigures *one = &g_array_index (classes, SlBoxFigures, i);
    g_string_append (out, i > 0 ? ",{" : "{");
    append_label (out, "label", contender, one->label);
    g_string_append_printf (out, ",\"boxes\":%u,\"found\":%u", one->truths, one->found);
    append_number (out, "ap", one->ap);
    append_number (out, "ap50", one->ap50);
    append_number (out, "ap75", one->ap75);
    g_string_append_c (out, '}');
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
  g_string_append_printf (out, ",\"pictures\":%u,\"unlabelled\":%u,\"threads\":%u,\"unreadable\":[", dataset->samples->len - unreadable,
                          dataset->unlabelled, report->threads);
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
    SlContender *contender = report->contenders->pdata[i];
    g_string_append (out, i > 0 ? ",{\"model\":" : "{\"model\":");
    sl_json_append_string (out, sl_contender_path (contender));
    append_number (out, "ms", sl_contender_ms (contender));
    if (sl_contender_finds_boxes (contender))
      append_boxes (out, contender);
    else
      append_classes (out, contender);
    g_string_append_c (out, '}');
  }
  g_string_append (out, "]}");
  puts (out->str);
}
