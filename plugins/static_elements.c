/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For programs that carry the elements inside and so need no plugin search path. gst_init() may
 * load every plugin file into the process, ours too, where it makes the registry and has no scanner
 * to do it: the program's types are made before.
 */
#include "config.h"
#include "plugins/elements.h"

#define NAME "sightline"

void
sl_elements_init (int *argc, char ***argv)
{
  sl_elements_ensure_types ();
#ifdef SL_HAVE_OVERLAY
  g_type_ensure (sl_overlay_get_type ());
#endif
  gst_init (argc, argv);
}

gboolean
sl_elements_register_static (void)
{
  GstRegistry *registry = gst_registry_get ();
  g_autoptr (GstPlugin) found = gst_registry_find_plugin (registry, NAME);
  if (found != NULL && !gst_plugin_is_loaded (found))
    gst_registry_remove_plugin (registry, found);
  return gst_plugin_register_static (GST_VERSION_MAJOR, GST_VERSION_MINOR, NAME,
                                     "Sightline's elements", sl_plugin_register_elements,
                                     SL_VERSION, "LGPL", NAME, "Sightline", SL_DOCS_URI);
}
