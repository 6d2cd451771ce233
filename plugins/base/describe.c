/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metadata of elements. gst-inspect-1.0 prints keys that it does not know, such as "example", as
 * they are.
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
