/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"
#include "pipelines/description/find.h"

#include <string.h>

const char *
sl_factory_name (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  return factory != NULL ? GST_OBJECT_NAME (factory) : "";
}

void
sl_find_installed_elements (const char *element)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (element);
  if (factory == NULL)
    gst_registry_scan_path (gst_registry_get (), SL_PLUGIN_DIR);
}

GPtrArray *
sl_find_elements (GstElement *pipeline, const char *factory)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (gst_object_unref);
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  GstIteratorResult result;
  GValue item = G_VALUE_INIT;
  while ((result = gst_iterator_next (elements, &item)) == GST_ITERATOR_OK
         || result == GST_ITERATOR_RESYNC) {
    if (result == GST_ITERATOR_RESYNC) {
      g_ptr_array_set_size (found, 0);
      gst_iterator_resync (elements);
      continue;
    }
    if (strcmp (sl_factory_name (g_value_get_object (&item)), factory) == 0)
      g_ptr_array_insert (found, 0, g_value_dup_object (&item));
    g_value_reset (&item);
  }
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (elements);
  return found;
}
