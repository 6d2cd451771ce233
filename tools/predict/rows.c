/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of CSV. What a row does not have is empty, which readers take as null. */
#include "tools/predict/rows.h"

#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/fail.h"

void
sl_rows_append_text (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  while (*text != '\0') {
    const gunichar c = sl_utf8_next (&text);
    if (c == '"')
      g_string_append_c (out, '"');
    g_string_append_unichar (out, c < ' ' ? ' ' : c);
  }
  g_string_append_c (out, '"');
}

/* What a code says, so that its bytes can be told from it again: a backslash is two; in a text a
 * character that is not plain is \uHHHH, in what is none a byte that is not printable ASCII \xHH.
 */
static void
append_code (GString *out, const SlCodeView *code)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (const char *at = code->text; at != NULL && *at != '\0';) {
    const gunichar c = sl_utf8_next (&at);
    if (c == '\\')
      g_string_append (text, "\\\\");
    else if (sl_is_plain (c))
      g_string_append_unichar (text, c);
    else
      g_string_append_printf (text, "\\u%04x", (guint) c);
  }
  for (gsize i = 0; code->text == NULL && i < code->n_bytes; i++) {
    if (code->bytes[i] == '\\')
      g_string_append (text, "\\\\");
    else if (g_ascii_isprint (code->bytes[i]))
      g_string_append_c (text, (char) code->bytes[i]);
    else
      g_string_append_printf (text, "\\x%02x", code->bytes[i]);
  }
  sl_rows_append_text (out, code->symbology);
  g_string_append_c (out, ',');
  sl_rows_append_text (out, text->str);
}

static void
begin_row (GString *out, const SlPredictionView *prediction, guint index, guint rows)
{
  sl_rows_append_text (out, prediction->source != NULL ? prediction->source : "");
  g_string_append_printf (out, ",%u,%u,%" G_GUINT64_FORMAT ",", index, rows, prediction->frame);
  if (prediction->timestamp != G_MAXUINT64)
    sl_json_append_double (out, (double) prediction->timestamp / 1e9, 12);
  g_string_append_printf (out, ",%d,%d,", prediction->width, prediction->height);
}

static void
append_label (GString *out, const char *label, gint32 id, double score)
{
  sl_rows_append_text (out, label);
  g_string_append_printf (out, ",%d,", id);
  sl_json_append_double (out, score, 6);
}

gboolean
sl_rows_append (GString *out, const SlPredictionView *prediction, GError **error)
{
  const guint found = prediction->n_objects + prediction->n_labels, rows = MAX (found, 1);
  if (prediction->made_picture || prediction->mask.width > 0 || prediction->vector.n > 0
      || prediction->outputs.n > 0)
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "--format=csv: the model gives more than objects and labels: take --format=json, which has "
      "everything");
  for (guint i = 0; i < prediction->n_objects; i++) {
    const SlObjectView *object = &prediction->objects[i];
    begin_row (out, prediction, i, rows);
    append_label (out, object->label, object->label_id, object->confidence);
    g_string_append_printf (out, ",%d,%d,%d,%d,", object->x, object->y, object->w, object->h);
    if (object->code != NULL)
      append_code (out, object->code);
    else if (object->text != NULL)
      append_code (out, &(SlCodeView){ .symbology = "text", .text = object->text->text });
    else
      g_string_append_c (out, ',');
    g_string_append_c (out, '\n');
  }
  for (guint i = 0; i < prediction->n_labels; i++) {
    begin_row (out, prediction, prediction->n_objects + i, rows);
    append_label (out, prediction->labels[i].label, prediction->labels[i].label_id,
                  prediction->labels[i].confidence);
    g_string_append (out, ",,,,,,\n");
  }
  if (found == 0) {
    begin_row (out, prediction, 0, rows);
    g_string_append (out, ",,,,,,,,\n");
  }
  return TRUE;
}

static gboolean
read_number (const char **at, guint *number)
{
  char *end;
  if (!g_ascii_isdigit (**at))
    return FALSE;
  const guint64 value = g_ascii_strtoull (*at, &end, 10);
  *at = end + 1;
  *number = (guint) MIN (value, G_MAXUINT);
  return *end == ',';
}

gboolean
sl_rows_parse (const char *line, SlRowPlace *place)
{
  const char *at = line;
  if (*at++ != '"')
    return FALSE;
  while (*at != '\0' && (*at != '"' || at[1] == '"'))
    at += *at == '"' ? 2 : 1;
  if (at[0] != '"' || at[1] != ',')
    return FALSE;
  place->name_bytes = (gsize) (at + 1 - line);
  at += 2;
  return read_number (&at, &place->index) && read_number (&at, &place->rows)
         && place->index < place->rows;
}
