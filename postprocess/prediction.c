/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predictions as JSON and text. Called once a frame by whoever prints them. Output is valid JSON and UTF-8
 * whatever bytes labels and sources hold, and does not depend on the locale.
 */
#include "postprocess/prediction.h"

#include "postprocess/json.h"

/* As JSON strings, but bare: characters that would break a line become spaces. */
static void
append_plain (GString *out, const char *text)
{
  while (*text != '\0') {
    gunichar c = sl_utf8_next (&text);
    g_string_append_unichar (out, c < 0x20 || c == 0x7f ? ' ' : c);
  }
}

static void
append_double (GString *out, double value)
{
  sl_json_append_double (out, value, 6);
}

static void
append_field (GString *out, const char *name, double value)
{
  g_string_append (out, name);
  append_double (out, value);
}

static void
append_object (GString *out, const SlObject *object)
{
  g_string_append_printf (out, "{\"x\":%d,\"y\":%d,\"w\":%d,\"h\":%d,\"roi_type\":", object->x, object->y, object->w, object->h);
  sl_json_append_string (out, object->label);
  append_field (out, ",\"detection\":{\"bounding_box\":{\"x_min\":", object->x_min);
  append_field (out, ",\"x_max\":", object->x_max);
  append_field (out, ",\"y_min\":", object->y_min);
  append_field (out, ",\"y_max\":", object->y_max);
  append_field (out, "},\"confidence\":", object->confidence);
  g_string_append (out, ",\"label\":");
  sl_json_append_string (out, object->label);
  g_string_append_printf (out, ",\"label_id\":%d}}", object->label_id);
}

static void
append_label (GString *out, const SlLabelled *label)
{
  g_string_append (out, "{\"label\":");
  sl_json_append_string (out, label->label);
  g_string_append_printf (out, ",\"label_id\":%d", label->label_id);
  append_field (out, ",\"confidence\":", label->confidence);
  g_string_append_c (out, '}');
}

void
sl_prediction_append_json (GString *out, const SlPrediction *prediction)
{
  g_string_append (out, "{\"source\":");
  sl_json_append_string (out, prediction->source);
  g_string_append_printf (out, ",\"frame\":%" G_GUINT64_FORMAT ",\"timestamp\":", prediction->frame);
  if (prediction->timestamp == G_MAXUINT64)
    g_string_append (out, "null");
  else
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, prediction->timestamp);
  g_string_append_printf (out, ",\"resolution\":{\"width\":%d,\"height\":%d},\"objects\":[", prediction->width, prediction->height);
  for (guint i = 0; i < prediction->n_objects; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    append_object (out, &prediction->objects[i]);
  }
  g_string_append (out, "],\"labels\":[");
  for (guint i = 0; i < prediction->n_labels; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    append_label (out, &prediction->labels[i]);
  }
  g_string_append (out, "]}");
}

void
sl_prediction_append_text (GString *out, const SlPrediction *prediction)
{
  if (prediction->n_objects == 0 && prediction->n_labels > 0) {
    append_plain (out, prediction->labels[0].label);
    g_string_append_c (out, '\n');
  }
  for (guint i = 0; i < prediction->n_objects; i++) {
    const SlObject *object = &prediction->objects[i];
    append_plain (out, object->label);
    g_string_append_c (out, ' ');
    append_double (out, object->confidence);
    g_string_append_printf (out, " %d %d %d %d\n", object->x, object->y, object->w, object->h);
  }
}
