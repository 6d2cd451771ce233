/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of elements.
 */
#include "config.h"
#include "plugins/elements.h"

#define NAME "sightline"

static const struct
{
  const char *name;
  guint rank;
  GType (*type) (void);
} elements[] = {
  { "slcamera", GST_RANK_NONE, sl_camera_get_type },         { "slnormalize", GST_RANK_NONE, sl_normalize_get_type },
#ifdef SL_HAVE_LIBYUV
  { "slresize", GST_RANK_NONE, sl_resize_get_type },
#endif
  { "slinfer", GST_RANK_NONE, sl_infer_get_type },           { "slpostprocess", GST_RANK_NONE, sl_postprocess_get_type },
  { "slpredict", GST_RANK_NONE, sl_predict_get_type },       { "sltrack", GST_RANK_NONE, sl_track_get_type },
  { "slbmpparse", GST_RANK_PRIMARY, sl_bmp_parse_get_type },
};

gboolean
sl_plugin_register_elements (GstPlugin *plugin)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (!gst_element_register (plugin, elements[i].name, elements[i].rank, elements[i].type ()))
      return FALSE;
  return TRUE;
}

gboolean
sl_elements_register_static (void)
{
  GstRegistry *registry = gst_registry_get ();
  g_autoptr (GstPlugin) found = gst_registry_find_plugin (registry, NAME);
  if (found != NULL)
    gst_registry_remove_plugin (registry, found);
  return gst_plugin_register_static (GST_VERSION_MAJOR, GST_VERSION_MINOR, NAME, "Sightline's elements", sl_plugin_register_elements,
                                     SL_VERSION, "LGPL", NAME, "Sightline", "unknown");
}
