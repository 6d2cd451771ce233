/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/page_classes.h"

#include <math.h>

#include "tools/html_page.h"

/* Rows that are not folded away. */
#define OPEN_ROWS 30

/** A row: the figure that it is sorted by, with a bar, and more columns. */
typedef struct
{
  char *name;
  gdouble share;
  gdouble more[3]; /* as @formats of the table */
} Row;

/** What a kind of figure is called. @columns: of the name, the share and more; @whole: whether a
 * column has whole numbers. */
typedef struct
{
  const char *columns[5];
  gboolean whole[3];
} Table;

static void
row_clear (gpointer row)
{
  g_free (((Row *) row)->name);
}

static void
append_share (GString *page, gdouble share)
{
  g_autofree char *text = isnan (share) ? g_strdup ("-") : g_strdup_printf ("%.4f", share);
  sl_html_append (page, "td class=\"n\"", text);
}

static void
append_number (GString *page, gdouble value, gboolean whole)
{
  g_autofree char *text = g_strdup_printf ("%.0f", value);
  if (whole)
    sl_html_append (page, "td class=\"n\"", text);
  else
    append_share (page, value);
}

static gint
worst_first (gconstpointer a, gconstpointer b)
{
  const gdouble one = ((const Row *) a)->share, two = ((const Row *) b)->share;
  if (isnan (one) || isnan (two))
    return (isnan (one) != 0) - (isnan (two) != 0);
  return (one > two) - (one < two);
}

static void
append_rows (GString *page, const Table *table, const GArray *rows, guint from, guint to)
{
  g_string_append (page, "<div class=\"scroll\"><table><tr class=\"head\">");
  for (guint i = 0; i < G_N_ELEMENTS (table->columns); i++) {
    if (table->columns[i] != NULL)
      sl_html_append (page, i > 0 ? "th class=\"n\"" : "th", table->columns[i]);
    g_string_append (page, i == 1 ? "<th></th>" : "");
  }
  g_string_append (page, "</tr>\n");
  for (guint i = from; i < to; i++) {
    const Row *row = &g_array_index (rows, Row, i);
    g_string_append (page, "<tr>");
    sl_html_append (page, "td", row->name);
    append_share (page, row->share);
    sl_html_append_bar (page, isnan (row->share) ? 0 : row->share);
    for (guint k = 0; k < G_N_ELEMENTS (row->more); k++)
      if (table->columns[2 + k] != NULL)
        append_number (page, row->more[k], table->whole[k]);
    g_string_append (page, "</tr>\n");
  }
  g_string_append (page, "</table></div>\n");
}

static void
append_table (GString *page, const Table *table, GArray *rows)
{
  g_array_sort (rows, worst_first);
  append_rows (page, table, rows, 0, MIN (rows->len, OPEN_ROWS));
  if (rows->len <= OPEN_ROWS)
    return;
  g_string_append_printf (page, "<details><summary>%u more classes</summary>\n",
                          rows->len - OPEN_ROWS);
  append_rows (page, table, rows, OPEN_ROWS, rows->len);
  g_string_append (page, "</details>\n");
}

static void
add_row (GArray *rows, const SlEvaluatedModel *contender, gint32 label, gdouble share,
         gdouble first, gdouble second, gdouble third)
{
  const Row row = { sl_evaluated_model_label (contender, label), share, { first, second, third } };
  g_array_append_val (rows, row);
}

static void
append_objects (GString *page, const SlEvaluatedModel *contender, SlMeasure measure, GArray *rows)
{
  static const Table table = { { "class", "AP", "AP50", "labelled", "found" },
                               { FALSE, TRUE, TRUE } };
  SlObjectFigures mean;
  g_autoptr (GArray) classes =
    sl_object_score_figures (sl_evaluated_model_objects (contender, measure), &mean);
  for (guint i = 0; i < classes->len; i++) {
    const SlObjectFigures *one = &g_array_index (classes, SlObjectFigures, i);
    add_row (rows, contender, one->label, one->ap[SL_AREA_ALL], one->ap50, one->truths, one->found);
  }
  append_table (page, &table, rows);
}

static void
append_cells (GString *page, const SlEvaluatedModel *contender, GArray *rows)
{
  static const Table table = { { "class", "IoU", "pixels labelled", "pixels found", NULL },
                               { TRUE, TRUE, TRUE } };
  SlCellFigures mean;
  gdouble right;
  g_autoptr (GArray) classes =
    sl_cell_score_figures (sl_evaluated_model_cells (contender), &mean, &right);
  for (guint i = 0; i < classes->len; i++) {
    const SlCellFigures *one = &g_array_index (classes, SlCellFigures, i);
    add_row (rows, contender, one->label, one->iou, (gdouble) one->truths, (gdouble) one->found, 0);
  }
  append_table (page, &table, rows);
}

static void
append_classes (GString *page, const SlEvaluatedModel *contender, GArray *rows)
{
  static const Table table = { { "class", "top-1", "top-5", "pictures", NULL },
                               { FALSE, TRUE, TRUE } };
  SlClassFigures all;
  g_autoptr (GArray) classes =
    sl_class_score_figures (sl_evaluated_model_classes (contender), &all);
  for (guint i = 0; i < classes->len; i++) {
    const SlClassFigures *one = &g_array_index (classes, SlClassFigures, i);
    add_row (rows, contender, one->label, (gdouble) one->right / one->pictures,
             (gdouble) one->near / one->pictures, one->pictures, 0);
  }
  append_table (page, &table, rows);
}

void
sl_page_classes_append (GString *page, const SlEvaluatedModel *contender, SlMeasure measure)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_array_set_clear_func (rows, row_clear);
  if (sl_evaluated_model_kind (contender) == SL_TRUTH_OBJECTS)
    append_objects (page, contender, measure, rows);
  else if (sl_evaluated_model_kind (contender) == SL_TRUTH_CELLS)
    append_cells (page, contender, rows);
  else
    append_classes (page, contender, rows);
}

/* The figures of a model that come first, by @measure of objects. */
static void
append_figures (GString *page, SlEvaluatedModel *contender, SlMeasure measure)
{
  SlObjectFigures objects;
  SlClassFigures classes;
  SlCellFigures cells;
  gdouble right;
  switch (sl_evaluated_model_kind (contender)) {
    case SL_TRUTH_OBJECTS:
      g_array_unref (
        sl_object_score_figures (sl_evaluated_model_objects (contender, measure), &objects));
      sl_html_append (page, "td", sl_measure_name (measure));
      append_share (page, objects.ap[SL_AREA_ALL]);
      append_share (page, objects.ap50);
      append_share (page, objects.ar[SL_AREA_ALL]);
      break;
    case SL_TRUTH_CELLS:
      g_array_unref (sl_cell_score_figures (sl_evaluated_model_cells (contender), &cells, &right));
      append_share (page, cells.iou);
      append_share (page, right);
      break;
    default:
      g_array_unref (sl_class_score_figures (sl_evaluated_model_classes (contender), &classes));
      append_share (page, classes.pictures > 0 ? (gdouble) classes.right / classes.pictures : NAN);
      append_share (page, classes.pictures > 0 ? (gdouble) classes.near / classes.pictures : NAN);
  }
}

void
sl_page_summary_append (GString *page, const SlEvalReport *report)
{
  static const char *const headings[] = {
    "<th class=\"n\">top-1</th><th class=\"n\">top-5</th>",
    "<th>by</th><th class=\"n\">AP</th><th class=\"n\">AP50</th><th class=\"n\">AR</th>",
    "<th class=\"n\">mIoU</th><th class=\"n\">right</th>"
  };
  const SlTruthKind kind = sl_evaluated_model_kind (report->contenders->pdata[0]);
  const guint read = sl_evaluated_model_seen (report->contenders->pdata[0])->len;
  g_autofree char *text = g_strdup_printf ("%u pictures, %u thread%s", read, report->threads,
                                           report->threads != 1 ? "s" : "");
  sl_html_append (page, "p", text);
  g_string_append_printf (page,
                          "<div class=\"scroll\"><table><tr class=\"head\"><th>model</th>%s<th "
                          "class=\"n\">ms</th></tr>\n",
                          headings[kind]);
  for (guint i = 0; i < report->contenders->len; i++)
    for (SlMeasure measure = SL_MEASURE_BOXES;
         measure < (kind == SL_TRUTH_OBJECTS ? SL_MEASURES : 1); measure++) {
      SlEvaluatedModel *contender = report->contenders->pdata[i];
      g_autofree char *ms = g_strdup_printf ("%.2f", sl_evaluated_model_ms (contender));
      if (kind == SL_TRUTH_OBJECTS && sl_evaluated_model_objects (contender, measure) == NULL)
        continue;
      g_string_append (page, "<tr>");
      sl_html_append (page, "td", sl_evaluated_model_path (contender));
      append_figures (page, contender, measure);
      sl_html_append (page, "td class=\"n\"", ms);
      g_string_append (page, "</tr>\n");
    }
  g_string_append (page, "</table></div>\n");
}
