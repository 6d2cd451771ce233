/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of elements and their registration. Plugin files register elements, and so do programs
 * and libraries that contain them. A process can have the code of an element twice: in the program,
 * and in a plugin file that GStreamer loads into it. The GType exists only once, and the second
 * registration uses the existing type.
 */
#include "config.h"
#include "plugins/elements.h"

static const struct
{
  const char *name, *type_name;
  guint rank;
  GType (*type) (void);
} elements[] = {
  { "slcamera", "SlCamera", GST_RANK_NONE, sl_camera_get_type },
  { "slnormalize", "SlNormalize", GST_RANK_NONE, sl_normalize_get_type },
#ifdef SL_HAVE_LIBYUV
  { "slresize", "SlResize", GST_RANK_NONE, sl_resize_get_type },
#endif
  { "slinfer", "SlInfer", GST_RANK_NONE, sl_infer_get_type },
  { "slpostprocess", "SlPostprocess", GST_RANK_NONE, sl_postprocess_get_type },
  { "slpredict", "SlPredict", GST_RANK_NONE, sl_predict_get_type },
  { "sltrack", "SlTrack", GST_RANK_NONE, sl_track_get_type },
  { "sltext", "SlText", GST_RANK_NONE, sl_text_get_type },
  { "slanalyze", "SlAnalyze", GST_RANK_NONE, sl_analyze_get_type },
  { "slmotion", "SlMotion", GST_RANK_NONE, sl_motion_get_type },
  { "slredact", "SlRedact", GST_RANK_NONE, sl_redact_get_type },
  { "slrecord", "SlRecord", GST_RANK_NONE, sl_record_get_type },
#ifdef SL_HAVE_TENSOR_META
  { "sltensorconvert", "SlTensorConvert", GST_RANK_NONE, sl_tensor_convert_get_type },
#endif
  { "slbmpparse", "SlBmpParse", GST_RANK_PRIMARY, sl_bmp_parse_get_type },
  { "slexifparse", "SlExifParse", GST_RANK_PRIMARY, sl_exif_parse_get_type },
};

static gboolean
is_registered (const char *name, GType type)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  return factory != NULL && gst_element_factory_get_element_type (factory) == type;
}

/* A class points to its first factory for ever, so that must not be replaced. */
gboolean
sl_plugin_register_element (GstPlugin *plugin, const char *name, const char *type_name, guint rank,
                            GType (*type) (void))
{
  const GType known = g_type_from_name (type_name);
  if (known == G_TYPE_INVALID)
    return gst_element_register (plugin, name, rank, type ());
  return is_registered (name, known) || gst_element_register (plugin, name, rank, known);
}

gboolean
sl_plugin_register_elements (GstPlugin *plugin)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (!sl_plugin_register_element (plugin, elements[i].name, elements[i].type_name,
                                     elements[i].rank, elements[i].type))
      return FALSE;
  return sl_bmp_register_type_finder (plugin);
}

void
sl_elements_ensure_types (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    g_type_ensure (elements[i].type ());
}
