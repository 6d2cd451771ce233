/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts to and from GstStructure. What is read may be anyone's: types, lengths and numbers are
 * checked.
 */
#include "plugins/meta/regions/text.h"

#include <math.h>
#include <string.h>

#include "core/base/printable.h"

#define NAME "text"
#define SHARES "shares"
#define READ "read"
/* Names of formats longer than this are not ours. */
#define LONGEST_FORMAT 64

static void
append_float (GValue *array, gfloat number)
{
  GValue value = G_VALUE_INIT;
  g_value_init (&value, G_TYPE_FLOAT);
  g_value_set_float (&value, number);
  gst_value_array_append_and_take_value (array, &value);
}

static void
append_uint (GValue *array, guint number)
{
  GValue value = G_VALUE_INIT;
  g_value_init (&value, G_TYPE_UINT);
  g_value_set_uint (&value, number);
  gst_value_array_append_and_take_value (array, &value);
}

void
sl_reading_set_shares (GstStructure *classification, const gfloat *shares, guint n)
{
  GValue array = G_VALUE_INIT;
  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < MIN (n, SL_MAX_TEXT); i++)
    append_float (&array, shares[i]);
  gst_structure_take_value (classification, SHARES, &array);
}

/* (nullable): item @i of the array @field. */
static const GValue *
item_of (const GstStructure *structure, const char *field, guint i)
{
  const GValue *array = gst_structure_get_value (structure, field);
  return array != NULL && GST_VALUE_HOLDS_ARRAY (array) && i < gst_value_array_get_size (array)
           ? gst_value_array_get_value (array, i)
           : NULL;
}

/* 0..1; @otherwise where there is none. */
static gfloat
read_share (const GstStructure *structure, guint i, double otherwise)
{
  const GValue *value = item_of (structure, SHARES, i);
  const double share =
    value != NULL && G_VALUE_HOLDS_FLOAT (value) ? (double) g_value_get_float (value) : otherwise;
  return share >= 0 ? (gfloat) MIN (share, 1) : 0;
}

static double
read_confidence (const GstStructure *structure, double otherwise)
{
  double confidence = otherwise;
  gst_structure_get_double (structure, "confidence", &confidence);
  return confidence >= 0 ? MIN (confidence, 1) : 0;
}

/* A character that is part of a text: a control character is not. */
static gboolean
is_readable (gunichar c)
{
  return sl_is_plain (c);
}

static void
read_reading (const GstStructure *classification, const char *text, SlReading *reading)
{
  const double confidence = read_confidence (classification, 1);
  reading->n = 0;
  for (guint i = 0; *text != '\0' && reading->n < SL_MAX_TEXT; i++) {
    const gunichar c = sl_utf8_next (&text);
    if (!is_readable (c))
      continue;
    reading->characters[reading->n] = c;
    reading->shares[reading->n++] = read_share (classification, i, confidence);
  }
}

gboolean
sl_region_get_reading (const GstVideoRegionOfInterestMeta *region, SlReading *reading)
{
  reading->n = 0;
  for (const GList *l = region->params; l != NULL; l = l->next) {
    gint label_id = 0;
    const char *text = gst_structure_get_string (l->data, "label");
    if (text != NULL && gst_structure_has_name (l->data, "classification")
        && gst_structure_get_int (l->data, "label_id", &label_id) && label_id == SL_TEXT_ID)
      read_reading (l->data, text, reading);
  }
  return reading->n > 0;
}

void
sl_region_set_text (GstVideoRegionOfInterestMeta *region, const SlTextView *text)
{
  GstStructure *old = gst_video_region_of_interest_meta_get_param (region, NAME);
  GstStructure *structure =
    gst_structure_new (NAME, "text", G_TYPE_STRING, text->text, "confidence", G_TYPE_DOUBLE,
                       text->confidence, "votes", G_TYPE_UINT, text->votes, NULL);
  GValue shares = G_VALUE_INIT, read = G_VALUE_INIT;
  if (text->format != NULL)
    gst_structure_set (structure, "format", G_TYPE_STRING, text->format, NULL);
  g_value_init (&shares, GST_TYPE_ARRAY);
  g_value_init (&read, GST_TYPE_ARRAY);
  for (guint i = 0; i < text->n; i++) {
    append_float (&shares, text->characters[i].confidence);
    append_uint (&read, text->characters[i].read);
  }
  gst_structure_take_value (structure, SHARES, &shares);
  gst_structure_take_value (structure, READ, &read);
  if (old != NULL) {
    region->params = g_list_remove (region->params, old);
    gst_structure_free (old);
  }
  gst_video_region_of_interest_meta_add_param (region, structure);
}

static gunichar
read_replaced (const GstStructure *structure, guint i)
{
  const GValue *value = item_of (structure, READ, i);
  const guint c = value != NULL && G_VALUE_HOLDS_UINT (value) ? g_value_get_uint (value) : 0;
  return g_unichar_validate (c) && is_readable (c) ? c : 0;
}

gboolean
sl_region_read_text (GstVideoRegionOfInterestMeta *region, SlTextView *text)
{
  const GstStructure *structure = gst_video_region_of_interest_meta_get_param (region, NAME);
  const char *at = structure != NULL ? gst_structure_get_string (structure, "text") : NULL,
             *format = structure != NULL ? gst_structure_get_string (structure, "format") : NULL;
  gsize bytes = 0;
  if (at == NULL || *at == '\0')
    return FALSE;
  *text = (SlTextView){ .confidence = read_confidence (structure, 0) };
  for (guint i = 0; *at != '\0' && text->n < SL_MAX_TEXT; i++) {
    const gunichar c = sl_utf8_next (&at);
    text->characters[text->n++] =
      (SlTextCharacter){ c, read_replaced (structure, i), read_share (structure, i, 0) };
    bytes += (gsize) g_unichar_to_utf8 (c, text->text + bytes);
  }
  text->text[bytes] = '\0';
  gst_structure_get_uint (structure, "votes", &text->votes);
  text->votes = MAX (text->votes, 1);
  if (format != NULL && strlen (format) <= LONGEST_FORMAT)
    text->format = g_intern_string (format);
  return TRUE;
}
