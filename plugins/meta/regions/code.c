/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Codes to and from GstStructure. What is read may be anyone's: types, sizes and numbers are
 * checked.
 */
#include "plugins/meta/regions/code.h"

#include <math.h>
#include <string.h>

#define NAME "code"
#define CORNERS "corners"
#define ADD_ON "add-on"
/* Where corners are written that are far from the box, in its sides. */
#define FAR 16

void
sl_region_set_code (GstVideoRegionOfInterestMeta *region, const SlCodeView *code)
{
  GstStructure *old = gst_video_region_of_interest_meta_get_param (region, NAME);
  GVariant *payload =
    g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, code->bytes, code->n_bytes, 1);
  GstStructure *structure = gst_structure_new (
    NAME, "symbology", G_TYPE_STRING, code->symbology, "payload", G_TYPE_VARIANT, payload,
    "checked", G_TYPE_BOOLEAN, code->is_checked, "quality", G_TYPE_INT, code->quality, NULL);
  GValue corners = G_VALUE_INIT;
  if (code->text != NULL)
    gst_structure_set (structure, "text", G_TYPE_STRING, code->text, NULL);
  if (code->add_on != NULL)
    gst_structure_set (structure, ADD_ON, G_TYPE_STRING, code->add_on, NULL);
  g_value_init (&corners, GST_TYPE_ARRAY);
  for (guint i = 0; i < 8; i++) {
    GValue number = G_VALUE_INIT;
    g_value_init (&number, G_TYPE_DOUBLE);
    g_value_set_double (&number, code->corners[i / 2][i % 2]);
    gst_value_array_append_and_take_value (&corners, &number);
  }
  gst_structure_take_value (structure, CORNERS, &corners);
  if (old != NULL) {
    region->params = g_list_remove (region->params, old);
    gst_structure_free (old);
  }
  gst_video_region_of_interest_meta_add_param (region, structure);
}

static void
read_corners (const GstStructure *structure, gdouble corners[4][2])
{
  const GValue *array = gst_structure_get_value (structure, CORNERS);
  const gboolean whole =
    array != NULL && GST_VALUE_HOLDS_ARRAY (array) && gst_value_array_get_size (array) == 8;
  for (guint i = 0; i < 8; i++) {
    const GValue *value = whole ? gst_value_array_get_value (array, i) : NULL;
    const gdouble number =
      value != NULL && G_VALUE_HOLDS_DOUBLE (value) ? g_value_get_double (value) : 0;
    corners[i / 2][i % 2] = isfinite (number) ? CLAMP (number, -FAR, FAR) : 0;
  }
}

/* (nullable) */
static const char *
read_add_on (const GstStructure *structure)
{
  const char *text = gst_structure_get_string (structure, ADD_ON);
  const gsize n = text != NULL ? strspn (text, "0123456789") : 0;
  return (n == 2 || n == 5) && text[n] == '\0' ? text : NULL;
}

gboolean
sl_region_read_code (GstVideoRegionOfInterestMeta *region, SlCodeView *code)
{
  const GstStructure *structure = gst_video_region_of_interest_meta_get_param (region, NAME);
  const char *symbology =
    structure != NULL ? gst_structure_get_string (structure, "symbology") : NULL;
  const GValue *value = symbology != NULL ? gst_structure_get_value (structure, "payload") : NULL;
  GVariant *payload =
    value != NULL && G_VALUE_HOLDS_VARIANT (value) ? g_value_get_variant (value) : NULL;
  if (payload == NULL || !g_variant_is_of_type (payload, G_VARIANT_TYPE_BYTESTRING))
    return FALSE;
  *code = (SlCodeView){ .symbology = symbology,
                        .text = gst_structure_get_string (structure, "text"),
                        .add_on = read_add_on (structure) };
  code->bytes = g_variant_get_fixed_array (payload, &code->n_bytes, 1);
  if (code->n_bytes == 0 || code->n_bytes > SL_MAX_CODE_BYTES)
    return FALSE;
  gst_structure_get_boolean (structure, "checked", &code->is_checked);
  gst_structure_get_int (structure, "quality", &code->quality);
  code->quality = MAX (code->quality, 1);
  read_corners (structure, code->corners);
  return TRUE;
}
