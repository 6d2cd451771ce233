/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Class names from a table: lines of the same number of fields, with ',', ';', tabs, ':' or '='
 * between, of which one has the number of the class. Which one that is, and which has the name, a
 * first line may say. A list of names with commas in them has no such column and is not a table.
 */
#include <string.h>

#include "models/label_list.h"

#define MAX_COLUMNS 64

/* All fields are in one text, since a file may have millions of them. */
typedef struct
{
  GString *text;
  GArray *fields;   /* guint32: where each begins in @text, row by row */
  GPtrArray *lines; /* of SlLabelLine, one a row */
  guint columns;
  gboolean header;
  gint number, name; /* columns; -1 = none */
} Table;

static void
table_clear (Table *table)
{
  if (table->text != NULL)
    g_string_free (table->text, TRUE);
  g_clear_pointer (&table->fields, g_array_unref);
  g_clear_pointer (&table->lines, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Table, table_clear)

/* Adds the fields of @line, without blanks and quotes around them; how many. @field: room for one.
 */
static guint
split (Table *table, const char *line, char separator, GString *field)
{
  const char *p = line;
  for (guint n = 1;; n++) {
    const guint32 at = (guint32) table->text->len;
    g_string_truncate (field, 0);
    p += strspn (p, " ");
    const gboolean quoted = *p == '"';
    for (p += quoted; *p != '\0' && (quoted || *p != separator); p++) {
      if (quoted && *p == '"' && *++p != '"')
        break;
      g_string_append_c (field, *p);
    }
    p += strcspn (p, (char[]){ separator, '\0' });
    g_strstrip (field->str);
    g_array_append_val (table->fields, at);
    g_string_append (table->text, field->str);
    g_string_append_c (table->text, '\0');
    if (*p == '\0' || n > MAX_COLUMNS)
      return n;
    p++;
  }
}

static const char *
cell (const Table *table, guint row, guint column)
{
  return table->text->str + g_array_index (table->fields, guint32, row * table->columns + column);
}

/* Whether @column has a number below the limit in each row behind the header, none of them twice;
 * with @dense also none left out. */
static gboolean
holds_numbers (const Table *table, guint column, gboolean dense)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_direct_hash, g_direct_equal);
  guint64 number = 0, highest = 0;
  const guint first = table->header;
  for (guint i = first; i < table->lines->len; i++) {
    if (!sl_label_number (cell (table, i, column), &number) || number >= SL_MAX_CLASSES
        || !g_hash_table_add (seen, GUINT_TO_POINTER ((guint) number + 1)))
      return FALSE;
    highest = MAX (highest, number);
  }
  const guint n = table->lines->len - first;
  return n > 0 && (!dense || highest <= n);
}

/* Fills @table when @lines are rows of at least two fields with @separator between. */
static gboolean
split_rows (Table *table, GPtrArray *lines, char separator)
{
  table->text = g_string_new (NULL);
  table->fields = g_array_new (FALSE, FALSE, sizeof (guint32));
  table->lines = g_ptr_array_new ();
  g_autoptr (GString) field = g_string_new (NULL);
  for (guint i = 0; i < lines->len; i++) {
    SlLabelLine *line = lines->pdata[i];
    if (line->text[0] == '\0')
      continue;
    const guint n = split (table, line->text, separator, field);
    g_ptr_array_add (table->lines, line);
    table->columns = table->lines->len == 1 ? n : table->columns;
    if (n != table->columns || n < 2 || n > MAX_COLUMNS)
      return FALSE;
  }
  return table->lines->len > 0;
}

static gboolean
is_header (const Table *table)
{
  gboolean named = FALSE;
  for (guint c = 0; c < table->columns; c++)
    named = named || sl_label_key_rank (cell (table, 0, c)) > 0;
  return named && table->lines->len > 1;
}

static void
find_number_column (Table *table)
{
  table->number = -1;
  for (guint c = 0; c < table->columns; c++) {
    const char *title = table->header ? cell (table, 0, c) : "";
    if (table->number < 0 && (!table->header || sl_label_key_is_number (title))
        && holds_numbers (table, c, !table->header && c > 0))
      table->number = (gint) c;
  }
  for (guint c = 0; c < table->columns && table->number < 0; c++)
    if (holds_numbers (table, c, TRUE))
      table->number = (gint) c;
}

/* Finds the columns. FALSE where none has numbers of classes, and the first line does not say which
 * one has names. */
static gboolean
find_columns (Table *table)
{
  guint best = G_MAXUINT, candidates = 0;
  table->header = is_header (table);
  table->name = -1;
  find_number_column (table);
  for (guint c = 0; c < table->columns; c++) {
    if ((gint) c == table->number)
      continue;
    const guint rank = table->header ? sl_label_key_rank (cell (table, 0, c)) : 1;
    candidates += rank > 0;
    if (rank > 0 && rank < best) {
      best = rank;
      table->name = (gint) c;
    }
  }
  if (!table->header && candidates > 1)
    table->name = -1;
  return table->number >= 0 || table->header;
}

/* Whether @lines are a table; then @table has its columns. */
static gboolean
find_table (Table *table, GPtrArray *lines)
{
  static const char separators[] = ",;\t:=";
  for (guint i = 0; separators[i] != '\0'; i++) {
    table_clear (table);
    *table = (Table){ 0 };
    if (split_rows (table, lines, separators[i]) && find_columns (table))
      return TRUE;
  }
  return FALSE;
}

static gboolean
probe (const char *text, const char *extension)
{
  g_auto (Table) table = { 0 };
  g_autoptr (GPtrArray) lines = sl_label_lines (text);
  return find_table (&table, lines);
}

static gboolean
read_labels (SlLabelList *list, const char *text, GError **error)
{
  g_auto (Table) table = { 0 };
  g_autoptr (GPtrArray) lines = sl_label_lines (text);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint64 number = 0;
  if (!find_table (&table, lines) || table.name < 0)
    return sl_label_list_fail (
      list, error,
      "a table of %u columns, several of which may be names; expected two columns, or a first line "
      "that calls one of them name",
      table.columns);
  for (guint i = table.header; i < table.lines->len; i++) {
    const SlLabelLine *line = table.lines->pdata[i];
    const char *name = cell (&table, i, (guint) table.name);
    if (table.number >= 0) /* a column of numbers alone: find_number_column() */
      sl_label_number (cell (&table, i, (guint) table.number), &number);
    else if (!g_hash_table_add (seen, (gpointer) name))
      return sl_label_list_fail (list, error,
                                 "line %u: '%s' again; expected a table with one line a class",
                                 line->number, name);
    if (!sl_label_list_set (list, table.number >= 0 ? number : list->names->len, name, line->number,
                            error))
      return FALSE;
  }
  return TRUE;
}

const SlLabelFormat sl_label_csv = { "CSV", probe, read_labels };
