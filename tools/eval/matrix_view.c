/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/matrix_view.h"

#include <string.h>

#include "tools/html_page.h"
#include "tools/terminal.h"

/* Most classes that are shown by themselves. */
#define MOST 24
/* From so many rows on, cells have no number. */
#define NUMBERED 16
#define CELL 34.0
#define SMALL_CELL 22.0
#define LETTERS 20
/* Width of a letter, at most on average; how far names of columns, which are turned by 55 degrees,
 * go up and to the right. */
#define LETTER 8.2
#define UP 0.82
#define ACROSS 0.58
/* Pseudo classes, which come last. */
#define OTHERS (-2)

/** A class, and how much of it is wrong. */
typedef struct
{
  gint32 label;
  guint64 wrong;
} Row;

/** @rows: (element-type Row), as they are shown; @counts: rows x rows. */
typedef struct
{
  GArray *rows;
  GHashTable *places; /* label -> 1 + row */
  guint64 *counts;
  gboolean others;
  char **names;
  gdouble size, left, top; /* of a cell, and where the first one is */
} View;

static Row *
row_of (GHashTable *rows, gint32 label)
{
  Row *row = g_hash_table_lookup (rows, GINT_TO_POINTER (label));
  if (row == NULL) {
    row = g_new0 (Row, 1);
    row->label = label;
    g_hash_table_insert (rows, GINT_TO_POINTER (label), row);
  }
  return row;
}

static gint
most_wrong_first (gconstpointer a, gconstpointer b)
{
  const Row *one = a, *two = b;
  if (one->wrong != two->wrong)
    return one->wrong > two->wrong ? -1 : 1;
  return (one->label > two->label) - (one->label < two->label);
}

/* By class; pseudo classes, which are below zero, come last. */
static gint
by_label (gconstpointer a, gconstpointer b)
{
  const guint32 one = (guint32) ((const Row *) a)->label, two = (guint32) ((const Row *) b)->label;
  return (one > two) - (one < two);
}

/* (transfer full) (element-type Row): classes with most errors first cut to those that are shown.
 */
static GArray *
choose_rows (const GArray *matrix, gboolean *others)
{
  g_autoptr (GHashTable) found = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Row));
  GHashTableIter iter;
  gpointer row;
  gboolean nothing = FALSE;
  for (guint i = 0; i < matrix->len; i++) {
    const SlMatrixCell *cell = &g_array_index (matrix, SlMatrixCell, i);
    const guint64 wrong = cell->truth != cell->guess ? cell->n : 0;
    nothing = nothing || cell->truth == SL_MATRIX_NOTHING || cell->guess == SL_MATRIX_NOTHING;
    if (cell->truth != SL_MATRIX_NOTHING)
      row_of (found, cell->truth)->wrong += wrong;
    if (cell->guess != SL_MATRIX_NOTHING)
      row_of (found, cell->guess)->wrong += wrong;
  }
  g_hash_table_iter_init (&iter, found);
  while (g_hash_table_iter_next (&iter, NULL, &row))
    g_array_append_vals (rows, row, 1);
  g_array_sort (rows, most_wrong_first);
  *others = rows->len > MOST + 1;
  const Row rest = { OTHERS, 0 }, none = { SL_MATRIX_NOTHING, 0 };
  if (*others)
    g_array_set_size (rows, MOST);
  g_array_sort (rows, by_label);
  if (*others)
    g_array_append_val (rows, rest);
  if (nothing)
    g_array_append_val (rows, none);
  return rows;
}

static guint
place_of (const View *view, gint32 label)
{
  const gpointer place = g_hash_table_lookup (view->places, GINT_TO_POINTER (label));
  return GPOINTER_TO_UINT (
           place != NULL ? place : g_hash_table_lookup (view->places, GINT_TO_POINTER (OTHERS)))
         - 1;
}

static View
view_new (const GArray *matrix)
{
  View view = { .places = g_hash_table_new (NULL, NULL) };
  view.rows = choose_rows (matrix, &view.others);
  view.counts = g_new0 (guint64, (gsize) view.rows->len * view.rows->len + 1);
  for (guint i = 0; i < view.rows->len; i++)
    g_hash_table_insert (view.places, GINT_TO_POINTER (g_array_index (view.rows, Row, i).label),
                         GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < matrix->len; i++) {
    const SlMatrixCell *cell = &g_array_index (matrix, SlMatrixCell, i);
    view.counts[(gsize) place_of (&view, cell->truth) * view.rows->len
                + place_of (&view, cell->guess)] += cell->n;
  }
  return view;
}

static void
view_clear (View *view)
{
  g_array_unref (view->rows);
  g_hash_table_unref (view->places);
  g_free (view->counts);
  g_strfreev (view->names);
}

/* (transfer full) */
static char *
name_of (const View *view, guint row, SlClassName name, gconstpointer data)
{
  const gint32 label = g_array_index (view->rows, Row, row).label;
  return label == OTHERS              ? g_strdup ("others")
         : label == SL_MATRIX_NOTHING ? g_strdup ("nothing")
                                      : name (data, label);
}

/* (transfer full): @name, or as much of its start as fits. */
static char *
shortened (const char *name)
{
  if (sl_terminal_width (name) <= LETTERS)
    return g_strdup (name);
  g_autofree char *start = g_utf8_substring (name, 0, MIN (g_utf8_strlen (name, -1), LETTERS - 1));
  while (sl_terminal_width (start) >= LETTERS)
    *g_utf8_prev_char (start + strlen (start)) = '\0';
  return g_strconcat (start, "…", NULL);
}

static void
append_label (GString *page, const char *name, const char *place)
{
  g_autofree char *shown = shortened (name);
  g_string_append_printf (page, "<text %s>", place);
  sl_html_append_text (page, shown);
  g_string_append (page, "<title>");
  sl_html_append_text (page, name);
  g_string_append (page, "</title></text>\n");
}

/* (transfer full): few letters: 12, 3.4k, 56M. */
static char *
short_number (guint64 n)
{
  static const char units[] = { 'k', 'M', 'G', 'T' };
  if (n < 1000)
    return g_strdup_printf ("%u", (guint) n);
  gdouble value = (gdouble) n / 1000;
  guint unit = 0;
  for (; value >= 999.5 && unit + 1 < G_N_ELEMENTS (units); unit++)
    value /= 1000;
  return g_strdup_printf (value < 9.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
}

static void
append_cell (GString *page, const View *view, guint row, guint column)
{
  const gdouble size = view->size;
  const guint n = view->rows->len;
  guint64 sum = 0;
  for (guint i = 0; i < n; i++)
    sum += view->counts[(gsize) row * n + i];
  const guint64 count = view->counts[(gsize) row * n + column];
  if (count == 0)
    return;
  const gdouble share = (gdouble) count / (gdouble) sum, x = view->left + column * size,
                y = view->top + row * size;
  const gboolean wrong = row != column;
  g_string_append_printf (page,
                          "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                          "fill-opacity=\"%.3f\"><title>",
                          wrong ? "wrong" : "cell", x + 0.5, y + 0.5, size - 1, size - 1,
                          0.12 + 0.68 * share);
  g_autofree char *hint =
    g_strdup_printf ("%s taken for %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
                     view->names[row], view->names[column], count, sum);
  sl_html_append_text (page, hint);
  g_string_append (page, "</title></rect>\n");
  g_autofree char *number = short_number (count);
  if (n <= NUMBERED)
    g_string_append_printf (
      page,
      "<text class=\"number\" pointer-events=\"none\" text-anchor=\"middle\" x=\"%.1f\" "
      "y=\"%.1f\">%s</text>\n",
      x + size / 2, y + size / 2 + 4, number);
}

/* Leaves room for the longest name that is shown. */
static void
lay_out (View *view, SlClassName name, gconstpointer data)
{
  guint longest = 0;
  view->names = g_new0 (char *, (gsize) view->rows->len + 1);
  for (guint i = 0; i < view->rows->len; i++) {
    view->names[i] = name_of (view, i, name, data);
    longest = MAX (longest, MIN (sl_terminal_width (view->names[i]), LETTERS));
  }
  view->size = view->rows->len <= NUMBERED ? CELL : SMALL_CELL;
  view->left = 10 + LETTER * longest;
  view->top = 14 + UP * LETTER * longest;
}

static void
append_labels (GString *page, const View *view)
{
  char place[120];
  for (guint i = 0; i < view->rows->len; i++) {
    const gdouble at = i * view->size + view->size / 2;
    g_snprintf (place, sizeof place, "x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\"", view->left - 6,
                view->top + at + 4);
    append_label (page, view->names[i], place);
    g_snprintf (place, sizeof place, "transform=\"translate(%.1f %.1f) rotate(-55)\"",
                view->left + at + 3, view->top - 6);
    append_label (page, view->names[i], place);
  }
}

void
sl_matrix_view_append (GString *page, const GArray *matrix, SlClassName name, gconstpointer data)
{
  View view = view_new (matrix);
  const guint n = view.rows->len;
  lay_out (&view, name, data);
  const gdouble side = n * view.size, width = view.left + side + ACROSS * view.left,
                height = view.top + side + 1;
  g_string_append_printf (
    page,
    "<svg class=\"matrix\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
    "role=\"img\"><title>Confusion matrix</title>\n",
    width, height, width, height);
  g_string_append_printf (page, "<path class=\"grid\" d=\"M%.1f %.1fh%.1fv%.1fh-%.1fz\"/>\n",
                          view.left, view.top, side, side, side);
  append_labels (page, &view);
  for (guint row = 0; row < n; row++)
    for (guint column = 0; column < n; column++)
      append_cell (page, &view, row, column);
  g_string_append (page, "</svg>\n");
  if (view.others) {
    g_autofree char *text = g_strdup_printf (
      "The %d classes with most errors. The others are one row and one column; where these meet "
      "are also their confusions with one another.",
      MOST);
    sl_html_append (page, "p", text);
  }
  view_clear (&view);
}
