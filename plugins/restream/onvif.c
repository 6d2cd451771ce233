/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONVIF's frames are -1..1 in both directions, and their second axis points up. A class has two
 * names where ONVIF has a word of its own for it: that word, and the model's.
 */
#include "plugins/restream/onvif.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/utc.h"

/* Labels of common data sets, and the types of ONVIF's analytics. */
static const struct
{
  const char *label, *type;
} types[] = {
  { "person", "Human" },
  { "face", "Face" },
  { "car", "Vehicle" },
  { "truck", "Vehicle" },
  { "bus", "Vehicle" },
  { "motorcycle", "Vehicle" },
  { "train", "Vehicle" },
  { "bicycle", "Bicycle" },
  { "bird", "Animal" },
  { "cat", "Animal" },
  { "dog", "Animal" },
  { "horse", "Animal" },
  { "sheep", "Animal" },
  { "cow", "Animal" },
  { "elephant", "Animal" },
  { "bear", "Animal" },
  { "license plate", "LicensePlate" },
};

/* sl_printable() leaves no control character, which XML could not hold. */
static void
append_text (GString *out, const char *text)
{
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_LABEL);
  g_autofree char *escaped = g_markup_escape_text (shown, -1);
  g_string_append (out, escaped);
}

static void
append_type (GString *out, const char *type, gdouble likelihood)
{
  sl_json_append_printf (out, "<tt:Type Likelihood=\"%.3f\">", CLAMP (likelihood, 0, 1));
  append_text (out, type);
  g_string_append (out, "</tt:Type>");
}

static void
append_class (GString *out, const char *label, gdouble likelihood)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_ascii_strcasecmp (types[i].label, label) == 0)
      append_type (out, types[i].type, likelihood);
  append_type (out, label, likelihood);
}

static void
append_shape (GString *out, gdouble x_min, gdouble y_min, gdouble x_max, gdouble y_max)
{
  sl_json_append_printf (out,
                         "<tt:Shape><tt:BoundingBox left=\"%.5f\" top=\"%.5f\" right=\"%.5f\" "
                         "bottom=\"%.5f\"/>",
                         2 * x_min - 1, 1 - 2 * y_min, 2 * x_max - 1, 1 - 2 * y_max);
  sl_json_append_printf (out, "<tt:CenterOfGravity x=\"%.5f\" y=\"%.5f\"/></tt:Shape>",
                         x_min + x_max - 1, 1 - y_min - y_max);
}

static void
append_object (GString *out, const SlObjectView *object)
{
  g_string_append (out, "<tt:Object");
  if (object->object_id > 0)
    sl_json_append_printf (out, " ObjectId=\"%d\"", object->object_id);
  g_string_append (out, "><tt:Appearance>");
  append_shape (out, object->x_min, object->y_min, object->x_max, object->y_max);
  g_string_append (out, "<tt:Class>");
  append_class (out, object->label, object->confidence);
  for (guint i = 0; i < object->n_labels; i++)
    append_type (out, object->labels[i].label, object->labels[i].confidence);
  g_string_append (out, "</tt:Class></tt:Appearance></tt:Object>");
}

/* A label is of the whole frame. */
static void
append_label (GString *out, const SlLabelled *label)
{
  g_string_append (out, "<tt:Object><tt:Appearance>");
  append_shape (out, 0, 0, 1, 1);
  g_string_append (out, "<tt:Class>");
  append_class (out, label->label, label->confidence);
  g_string_append (out, "</tt:Class></tt:Appearance></tt:Object>");
}

void
sl_onvif_append (GString *out, const SlPredictionView *prediction, gint64 utc)
{
  g_string_append (out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                        "<tt:MetadataStream xmlns:tt=\"http://www.onvif.org/ver10/schema\">");
  if (prediction != NULL) {
    g_string_append (out, "<tt:VideoAnalytics><tt:Frame UtcTime=\"");
    sl_utc_append (out, utc);
    g_string_append (out, "\">");
    for (guint i = 0; i < prediction->n_objects; i++)
      append_object (out, &prediction->objects[i]);
    for (guint i = 0; i < prediction->n_labels; i++)
      append_label (out, &prediction->labels[i]);
    g_string_append (out, "</tt:Frame></tt:VideoAnalytics>");
  }
  g_string_append (out, "</tt:MetadataStream>");
}
