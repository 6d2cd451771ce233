/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables have fixed column widths, because frames are printed as they come; the label is the last
 * column. Each line is written and flushed whole, for readers at the other end of a pipe.
 */
#include "tools/predict/printing.h"

#include "core/base/printable.h"
#include "tools/predict/rows.h"

/* Values of a vector that are printed one a line. */
#define MAX_VALUE_ROWS 16

#define NS_PER_MS G_GUINT64_CONSTANT (1000000)

static void
write_line (SlReport *report)
{
  g_string_append_c (report->line, '\n');
  fwrite (report->line->str, 1, report->line->len, report->out);
  fflush (report->out);
  g_string_truncate (report->line, 0);
}

static void
write_heading (SlReport *report, const SlPredictionView *prediction, gboolean moving)
{
  report->headed = TRUE;
  report->moving = moving;
  report->boxes = prediction->n_objects > 0;
  g_autofree char *source = sl_printable_message (prediction->source);
  g_string_append_printf (report->line, "%s (%dx%d)", source, prediction->width,
                          prediction->height);
  write_line (report);
}

static void
write_columns (SlReport *report)
{
  g_string_append (report->line, report->moving ? "    frame          time" : "");
  g_string_append (report->line, report->shares ? "       share" : "  confidence");
  g_string_append (report->line, report->boxes ? "      x      y      w      h" : "");
  g_string_append (report->line, "  label");
  write_line (report);
}

static void
append_time (GString *line, const SlPredictionView *prediction)
{
  guint64 ms = prediction->timestamp / NS_PER_MS;
  g_string_append_printf (line, "%9" G_GUINT64_FORMAT, prediction->frame);
  if (prediction->timestamp == G_MAXUINT64)
    g_string_append_printf (line, "  %12s", "-");
  else
    g_string_append_printf (line, "  %2" G_GUINT64_FORMAT ":%02u:%02u.%03u", ms / 3600000,
                            (guint) (ms / 60000 % 60), (guint) (ms / 1000 % 60),
                            (guint) (ms % 1000));
}

static void
begin_row (SlReport *report, const SlPredictionView *prediction, gboolean box, double confidence)
{
  if (report->rows == 0 || (box && !report->boxes)) {
    report->boxes = box;
    write_columns (report);
  }
  report->rows++;
  if (report->moving)
    append_time (report->line, prediction);
  g_string_append_printf (report->line, "  %10.2f", confidence);
}

/* The last column. */
static void
end_row (SlReport *report, const char *label)
{
  g_autofree char *shown = sl_printable (label, SL_PRINTABLE_LABEL);
  g_string_append_printf (report->line, "  %s", shown);
  write_line (report);
}

/* The last column, with what was read of the object. */
static void
end_read_row (SlReport *report, const SlObjectView *object)
{
  g_autofree char *label = sl_printable (object->label, SL_PRINTABLE_LABEL),
                  *symbology = sl_printable (object->code->symbology, SL_PRINTABLE_LABEL);
  g_string_append_printf (report->line, "  %s  %s ", label, symbology);
  sl_code_append_text (report->line, object->code, SL_PRINTABLE_NAME);
  if (object->code->add_on != NULL)
    g_string_append_printf (report->line, " + %s", object->code->add_on);
  write_line (report);
}

/* The last column, with the text of all readings of the object, and its confidence. */
static void
end_text_row (SlReport *report, const SlObjectView *object)
{
  g_autofree char *label = sl_printable (object->label, SL_PRINTABLE_LABEL),
                  *text = sl_printable (object->text->text, SL_PRINTABLE_NAME),
                  *format = object->text->format != NULL
                              ? sl_printable (object->text->format, SL_PRINTABLE_LABEL)
                              : NULL;
  g_string_append_printf (report->line, "  %s  %s  %.2f", label, text, object->text->confidence);
  if (format != NULL)
    g_string_append_printf (report->line, "  %s", format);
  write_line (report);
}

/* The model's result is the picture itself, which --draw writes. */
static void
print_picture (SlReport *report, const SlPredictionView *prediction)
{
  report->rows++;
  if (report->moving)
    append_time (report->line, prediction);
  g_string_append_printf (report->line, "  a picture of %dx%d: --draw=FILE writes it",
                          prediction->width, prediction->height);
  write_line (report);
}

/* Values are rows; of an embedding, or of more values than anybody reads, how many there are. */
static void
print_vector (SlReport *report, const SlPredictionView *prediction)
{
  const SlVector *vector = &prediction->vector;
  const gboolean short_enough =
    vector->n > 0 && !vector->is_embedding && vector->n <= MAX_VALUE_ROWS;
  if (short_enough && report->rows == 0) {
    g_string_append_printf (report->line, "%s       value  name",
                            report->moving ? "    frame          time" : "");
    write_line (report);
  }
  for (guint i = 0; i < vector->n && short_enough; i++) {
    g_autofree char *place = g_strdup_printf ("%u", i);
    g_autofree char *name =
      sl_printable (vector->names != NULL ? vector->names[i] : place, SL_PRINTABLE_LABEL);
    g_autofree char *unit =
      sl_printable (vector->units != NULL ? vector->units[i] : "", SL_PRINTABLE_LABEL);
    report->rows++;
    if (report->moving)
      append_time (report->line, prediction);
    g_string_append_printf (report->line, "  %10.4g  %s%s%s%s", (double) vector->values[i], name,
                            unit[0] != '\0' ? " (" : "", unit, unit[0] != '\0' ? ")" : "");
    write_line (report);
  }
  if (short_enough || vector->n == 0)
    return;
  report->rows++;
  if (report->moving)
    append_time (report->line, prediction);
  g_string_append_printf (report->line, "  %s of %u number%s: --json has %s",
                          vector->is_embedding ? "an embedding" : "a vector", vector->n,
                          vector->n == 1 ? "" : "s", vector->n == 1 ? "it" : "them");
  write_line (report);
}

/* Tensors that nothing decodes. */
static void
print_outputs (SlReport *report, const SlPredictionView *prediction)
{
  for (guint i = 0; i < prediction->outputs.n; i++) {
    const SlTensorInfo *info = &prediction->outputs.infos[i];
    g_autofree char *name = sl_printable (info->name != NULL ? info->name : "", SL_PRINTABLE_LABEL),
                    *shape = sl_tensor_infos_describe (info, 1);
    report->rows++;
    if (report->moving)
      append_time (report->line, prediction);
    g_string_append_printf (report->line, "  tensor %s %s: --json has its numbers", name, shape);
    write_line (report);
  }
}

static void
print_table (SlReport *report, const SlPredictionView *prediction, gboolean moving)
{
  report->shares = prediction->mask.width > 0;
  if (!report->headed)
    write_heading (report, prediction, moving);
  for (guint i = 0; i < prediction->n_objects; i++) {
    const SlObjectView *object = &prediction->objects[i];
    begin_row (report, prediction, TRUE, object->confidence);
    g_string_append_printf (report->line, " %6d %6d %6d %6d", object->x, object->y, object->w,
                            object->h);
    if (object->code != NULL)
      end_read_row (report, object);
    else if (object->text != NULL)
      end_text_row (report, object);
    else
      end_row (report, object->label);
  }
  for (guint i = 0; i < prediction->n_mask_classes; i++) {
    const SlMaskClass *found = &prediction->mask_classes[i];
    if (found->label_id == prediction->mask.background)
      continue;
    begin_row (report, prediction, FALSE, found->fraction);
    end_row (report, found->label);
  }
  for (guint i = 0; i < prediction->n_labels; i++) {
    const SlLabelled *label = &prediction->labels[i];
    begin_row (report, prediction, FALSE, label->confidence);
    g_string_append (report->line, report->boxes ? "                            " : "");
    end_row (report, label->label);
  }
  print_vector (report, prediction);
  print_outputs (report, prediction);
  if (prediction->made_picture)
    print_picture (report, prediction);
}

/* In one piece: a reader sees all of a frame or nothing. */
static gboolean
print_rows (SlReport *report, const SlPredictionView *prediction, GError **error)
{
  const gboolean good = sl_rows_append (report->line, prediction, error);
  if (good)
    fwrite (report->line->str, 1, report->line->len, report->out);
  fflush (report->out);
  g_string_truncate (report->line, 0);
  return good;
}

gboolean
sl_report_frame (SlReport *report, const SlPredictionView *prediction, gboolean moving,
                 GError **error)
{
  if (report->line == NULL)
    report->line = g_string_new (NULL);
  if (report->format == SL_REPORT_CSV)
    return print_rows (report, prediction, error);
  if (report->format == SL_REPORT_TABLE) {
    print_table (report, prediction, moving);
    return TRUE;
  }
  sl_prediction_append_json (report->line, prediction);
  write_line (report);
  return TRUE;
}

void
sl_report_end (SlReport *report, guint64 frames)
{
  if (report->format == SL_REPORT_TABLE && frames > 0 && report->rows == 0)
    fputs ("  nothing found above the threshold\n", report->out);
  fflush (report->out);
  report->headed = FALSE;
  report->boxes = FALSE;
  report->rows = 0;
}

void
sl_report_clear (SlReport *report)
{
  if (report->line != NULL)
    g_string_free (report->line, TRUE);
  report->line = NULL;
}
