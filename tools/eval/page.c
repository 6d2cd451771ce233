/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "tools/eval/page.h"

#include <glib/gstdio.h>
#include <math.h>
#ifdef SL_HAVE_GDK_PIXBUF
#include <gdk-pixbuf/gdk-pixbuf.h>
#endif

#include "tools/eval/matrix_view.h"
#include "tools/eval/page_classes.h"
#include "tools/eval/verdicts.h"
#include "tools/evaluate/curve.h"
#include "tools/html_chart.h"
#include "tools/html_page.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/quantize/drawn.h"

/* Longest side of a thumbnail, pixels: sharp on screens with two pixels a point. */
#define SIDE 560

/* (transfer full): the JPEG @image (base64), small enough for a page of many; as it is where it
 * cannot be made smaller. */
static char *
thumbnail_of (const char *image)
{
#ifdef SL_HAVE_GDK_PIXBUF
  gsize size;
  g_autofree guchar *data = g_base64_decode (image, &size);
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data (data, (gssize) size, NULL);
  g_autoptr (GdkPixbuf) large = gdk_pixbuf_new_from_stream (stream, NULL, NULL);
  const int width = large != NULL ? gdk_pixbuf_get_width (large) : 0,
            height = large != NULL ? gdk_pixbuf_get_height (large) : 0;
  if (MAX (width, height) <= SIDE)
    return g_strdup (image);
  const gdouble scale = (gdouble) SIDE / MAX (width, height);
  g_autoptr (GdkPixbuf) small = gdk_pixbuf_scale_simple (
    large, MAX ((int) (width * scale), 1), MAX ((int) (height * scale), 1), GDK_INTERP_BILINEAR);
  g_autofree char *jpeg = NULL;
  if (small == NULL
      || !gdk_pixbuf_save_to_buffer (small, &jpeg, &size, "jpeg", NULL, "quality", "85", NULL))
    return g_strdup (image);
  return g_base64_encode ((const guchar *) jpeg, size);
#else
  return g_strdup (image);
#endif
}

/* Curves of single classes beside that of all: more would hide it. */
#define MOST_CURVES 20

static const char *const units[] = { "pictures", "objects", "pixels" };

/* What a point of a curve has: x and y by @which: 0 precision over recall, 1 F1 over confidence. */
static void
append_curve (GString *page, const SlChart *chart, const GArray *curve, gboolean f1,
              SlChartLine line, const char *name)
{
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (SlChartPoint));
  for (guint i = 0; i < curve->len; i++) {
    const SlCurvePoint *from = &g_array_index (curve, SlCurvePoint, i);
    const SlChartPoint point = f1 ? (SlChartPoint){ from->confidence, from->f1 }
                                  : (SlChartPoint){ from->recall, from->precision };
    g_array_append_val (points, point);
  }
  sl_chart_line (page, chart, (const SlChartPoint *) (void *) points->data, points->len, line,
                 name);
}

/** The curve of all answers and those of classes. */
typedef struct
{
  GArray *all;
  GPtrArray *curves, *names; /* (element-type GArray), (element-type utf8) */
} Curves;

static void
add_class_curve (Curves *curves, const SlEvaluatedModel *contender, const GArray *answers,
                 gint32 label, guint truths)
{
  g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (SlAnswer));
  for (guint i = 0; i < answers->len; i++)
    if (g_array_index (answers, SlAnswer, i).label == label)
      g_array_append_vals (own, &g_array_index (answers, SlAnswer, i), 1);
  g_ptr_array_add (curves->curves, sl_curve_new (own, truths));
  g_ptr_array_add (curves->names, sl_evaluated_model_label (contender, label));
}

static Curves
curves_new (const SlEvaluatedModel *contender, SlMeasure measure, const GArray *answers)
{
  Curves curves = { NULL, g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref),
                    g_ptr_array_new_with_free_func (g_free) };
  if (sl_evaluated_model_kind (contender) == SL_TRUTH_CLASSES) {
    curves.all = sl_curve_new (answers, sl_evaluated_model_seen (contender)->len);
    return curves;
  }
  SlObjectFigures mean;
  g_autoptr (GArray) classes =
    sl_object_score_figures (sl_evaluated_model_objects (contender, measure), &mean);
  curves.all = sl_curve_new (answers, mean.truths);
  for (guint i = 0; i < classes->len && classes->len > 1 && classes->len <= MOST_CURVES; i++) {
    const SlObjectFigures *one = &g_array_index (classes, SlObjectFigures, i);
    if (one->truths > 0)
      add_class_curve (&curves, contender, answers, one->label, one->truths);
  }
  return curves;
}

static void
append_curves (GString *page, const Curves *curves, gboolean f1)
{
  const SlChart chart = f1 ? (SlChart){ "F1 over confidence", "confidence", "F1", 0, 1, 1 }
                           : (SlChart){ "Precision over recall", "recall", "precision", 0, 1, 1 };
  const SlCurvePoint *best = sl_curve_best (curves->all);
  sl_chart_begin (page, &chart);
  for (guint i = 0; i < curves->curves->len; i++)
    append_curve (page, &chart, curves->curves->pdata[i], f1, SL_CHART_FAINT,
                  curves->names->pdata[i]);
  append_curve (page, &chart, curves->all, f1, SL_CHART_MAIN, "all");
  if (best != NULL) {
    g_autofree char *text = f1 ? g_strdup_printf ("F1 %.3f at %.3f", best->f1, best->confidence)
                               : g_strdup_printf ("F1 %.3f", best->f1);
    sl_chart_dot (page, &chart, f1 ? best->confidence : best->recall,
                  f1 ? best->f1 : best->precision, text);
  }
  sl_chart_end (page);
}

static void
append_calibration (GString *page, const GArray *answers)
{
  SlCalibrationBin bins[SL_CALIBRATION_BINS];
  gdouble error;
  const SlChartPoint ends[] = { { 0, 0 }, { 1, 1 } };
  if (!sl_calibration (answers, bins, &error))
    return;
  g_autofree char *title = g_strdup_printf ("Calibration: expected error %.4f", error);
  const SlChart chart = { title, "confidence", "share that is right", 0, 1, 1 };
  sl_chart_begin (page, &chart);
  for (guint i = 0; i < SL_CALIBRATION_BINS; i++) {
    g_autofree char *name = g_strdup_printf ("%u answers, mean confidence %.4f, %.4f right",
                                             bins[i].n, bins[i].confidence, bins[i].right);
    if (bins[i].n > 0)
      sl_chart_bar (page, &chart, (gdouble) i / SL_CALIBRATION_BINS,
                    (gdouble) (i + 1) / SL_CALIBRATION_BINS, bins[i].right, name);
  }
  sl_chart_line (page, &chart, ends, G_N_ELEMENTS (ends), SL_CHART_GUIDE, "as right as confident");
  sl_chart_end (page);
}

static void
append_charts (GString *page, const SlEvaluatedModel *contender, SlMeasure measure)
{
  g_autoptr (GArray) answers = sl_evaluated_model_answers (contender, measure);
  if (answers->len == 0) {
    sl_html_append (page, "p", "The model found nothing: there are no curves.");
    return;
  }
  Curves curves = curves_new (contender, measure, answers);
  g_string_append (page, "<div class=\"charts\">\n");
  append_curves (page, &curves, FALSE);
  append_curves (page, &curves, TRUE);
  append_calibration (page, answers);
  g_string_append (page, "</div>\n");
  g_array_unref (curves.all);
  g_ptr_array_unref (curves.curves);
  g_ptr_array_unref (curves.names);
}

static char *
name_of_class (gconstpointer data, gint32 label)
{
  return sl_evaluated_model_label (data, label);
}

static void
append_matrix (GString *page, const SlEvaluatedModel *contender, gdouble confidence)
{
  const SlTruthKind kind = sl_evaluated_model_kind (contender);
  const gdouble from = isnan (confidence) ? INFINITY : confidence;
  g_autoptr (GArray) matrix = sl_evaluated_model_matrix (contender, from);
  g_autofree char *where = kind == SL_TRUTH_OBJECTS && !isnan (confidence)
                             ? g_strdup_printf (", from a confidence of %.4f on", confidence)
                             : g_strdup ("");
  g_autofree char *text = g_strdup_printf (
    "Rows are true classes, columns are predicted ones, numbers are %s%s.", units[kind], where);
  sl_html_append (page, "h3", "Confusion matrix");
  if (matrix->len == 0) {
    sl_html_append (page, "p", "It is empty: nothing was labelled and nothing found.");
    return;
  }
  sl_html_append (page, "p", text);
  g_string_append (page, "<div class=\"scroll\">\n");
  sl_matrix_view_append (page, matrix, name_of_class, contender);
  g_string_append (page, "</div>\n");
}

/* (transfer full): the folder of the data set at @path, with a '/' behind. */
static char *
folder_of (const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *folder = g_file_test (absolute, G_FILE_TEST_IS_DIR)
                              ? g_strdup (absolute)
                              : g_path_get_dirname (absolute);
  return g_str_has_suffix (folder, "/") ? g_steal_pointer (&folder)
                                        : g_strconcat (folder, "/", NULL);
}

/* Pictures of several folders may have the same name, so its folders in the data set belong to it.
 */
static const char *
name_in (const char *name, const char *root)
{
  return g_str_has_prefix (name, root) ? name + strlen (root) : name;
}

static void
append_picture (GString *page, const SlEvaluatedModel *contender, const SlModelSettings *settings,
                const char *threshold, const SlInput *input, const SlVerdict *verdict,
                const char *root, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = sl_verdict_text (contender, verdict);
  g_autofree char *file =
    input->uri != NULL ? g_filename_from_uri (input->uri, NULL, &error) : NULL;
  g_autofree char *image = file != NULL
                             ? sl_drawn_new_from (sl_evaluated_model_path (contender), settings,
                                                  threshold, file, folder, &error)
                             : NULL;
  g_autofree char *small = image != NULL ? thumbnail_of (image) : NULL;
  g_string_append (page, "<figure>");
  if (small != NULL)
    g_string_append_printf (page, "<img alt=\"\" src=\"data:image/jpeg;base64,%s\">", small);
  g_string_append (page, "<figcaption>");
  sl_html_append_text (page, name_in (input->name, root));
  g_string_append (page, "<br>");
  sl_html_append_text (page, text);
  if (image == NULL && error != NULL) {
    g_string_append (page, "<br>");
    sl_html_append_text (page, error->message);
  }
  g_string_append (page, "</figcaption></figure>\n");
}

static void
append_worst (GString *page, const SlEvalReport *report, const SlEvaluatedModel *contender,
              const SlModelSettings *settings, const GArray *verdicts, gdouble confidence,
              const char *folder)
{
  const guint n =
    MIN (report->worst > 0 ? report->worst : SL_EVAL_PAGE_WORST, SL_EVAL_PAGE_MOST_WORST);
  g_autoptr (GArray) worst = sl_verdicts_worst (verdicts, n);
  g_autofree char *root = folder_of (report->path);
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  const char *threshold =
    isnan (confidence) ? NULL : g_ascii_dtostr (text, sizeof text, CLAMP (confidence, 0, 1));
  SlProgress progress;
  sl_html_append (page, "h3", "Worst pictures");
  if (worst->len == 0)
    sl_html_append (page, "p", "None: all of each picture is right.");
  g_string_append (page, "<div class=\"sheet\">\n");
  sl_progress_start (&progress, "drawing", "pictures", worst->len);
  for (guint i = 0; i < worst->len && !sl_interrupted (); i++) {
    const SlVerdict *verdict = &g_array_index (worst, SlVerdict, i);
    const SlSample *sample =
      &g_array_index (report->dataset->samples, SlSample, verdict->seen.sample);
    append_picture (page, contender, settings, threshold, sample->input, verdict, root, folder);
    sl_progress_show (&progress, i + 1);
  }
  sl_progress_hide ();
  g_string_append (page, "</div>\n");
}

static void
append_model (GString *page, const SlEvalReport *report, const SlEvaluatedModel *contender,
              const SlModelSettings *settings, const char *folder)
{
  const SlTruthKind kind = sl_evaluated_model_kind (contender);
  gdouble confidence;
  g_autoptr (GArray) verdicts = sl_verdicts_new (contender, SL_MEASURE_BOXES, &confidence);
  sl_html_append (page, "h2", sl_evaluated_model_path (contender));
  for (SlMeasure measure = SL_MEASURE_BOXES; measure < SL_MEASURES && kind == SL_TRUTH_OBJECTS;
       measure++) {
    g_autofree char *heading = g_strdup_printf ("By %s", sl_measure_name (measure));
    if (sl_evaluated_model_objects (contender, measure) == NULL)
      continue;
    sl_html_append (page, "h3", heading);
    append_charts (page, contender, measure);
    sl_page_classes_append (page, contender, measure);
  }
  if (kind == SL_TRUTH_CLASSES)
    append_charts (page, contender, SL_MEASURE_BOXES);
  append_matrix (page, contender, confidence);
  if (kind != SL_TRUTH_OBJECTS) {
    sl_html_append (page, "h3", "Classes");
    sl_page_classes_append (page, contender, SL_MEASURE_BOXES);
  }
  append_worst (page, report, contender, settings, verdicts, confidence, folder);
}

gboolean
sl_eval_page_write (const SlEvalReport *report, const SlModelSettings *settings, const char *path,
                    GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", error);
  g_autoptr (GString) page = sl_html_page_new ("sightline eval", 90);
  if (folder == NULL)
    return FALSE;
  sl_html_append (page, "h1", report->path);
  sl_page_summary_append (page, report);
  for (guint i = 0; i < report->contenders->len && !sl_interrupted (); i++)
    append_model (page, report, report->contenders->pdata[i], settings, folder);
  sl_html_page_end (page);
  g_rmdir (folder);
  return !sl_interrupted () && sl_options_write_text ("--html", path, page, error);
}
