/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metadata of elements, and their pads. gst-inspect-1.0 prints keys that it does not know, such as
 * "example", as they are.
 */
#include "config.h"
#include "plugins/base/describe.h"

void
sl_element_class_describe (GstElementClass *klass, const char *name, const char *kinds,
                           const char *text, const char *example, const char *page)
{
  g_autofree char *uri = g_strconcat (SL_DOCS_URI "/", page, NULL);
  gst_element_class_set_static_metadata (klass, name, kinds, text, "The Sightline authors");
  gst_element_class_add_static_metadata (klass, "example", example);
  gst_element_class_add_metadata (klass, GST_ELEMENT_METADATA_DOC_URI, uri);
}

void
sl_element_class_pads (GstElementClass *klass, const char *sink, const char *src)
{
  const struct
  {
    const char *name, *caps;
    GstPadDirection direction;
  } pads[] = { { "sink", sink, GST_PAD_SINK }, { "src", src, GST_PAD_SRC } };
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++) {
    g_autoptr (GstCaps) caps = pads[i].caps != NULL ? gst_caps_from_string (pads[i].caps) : NULL;
    if (caps != NULL)
      gst_element_class_add_pad_template (
        klass, gst_pad_template_new (pads[i].name, pads[i].direction, GST_PAD_ALWAYS, caps));
  }
}
