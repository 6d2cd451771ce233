/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The GTypes of the elements. plugin.c registers them. Programs that contain the elements use them,
 * too, and need no plugin search path.
 */
#pragma once

#include <gst/gst.h>

GType sl_camera_get_type (void);
GType sl_normalize_get_type (void);
/** sl_resize_get_type: only where libyuv was found. */
GType sl_resize_get_type (void);
GType sl_infer_get_type (void);
GType sl_postprocess_get_type (void);
GType sl_predict_get_type (void);
GType sl_track_get_type (void);
GType sl_text_get_type (void);
GType sl_analyze_get_type (void);
GType sl_motion_get_type (void);
GType sl_redact_get_type (void);
GType sl_record_get_type (void);
/** sl_overlay_get_type: only where SL_HAVE_OVERLAY is defined in config.h. It is not among the
 * elements registered below, because every process that runs a model would have to load its text
 * libraries. */
GType sl_overlay_get_type (void);
/** sl_tensor_convert_get_type: only where GStreamer has GstTensorMeta, SL_HAVE_TENSOR_META in
 * config.h. */
GType sl_tensor_convert_get_type (void);
GType sl_bmp_parse_get_type (void);
/** sl_bmp_register_type_finder: registers with @plugin (nullable) a type finder for the BMP
 * pictures that GStreamer does not recognise. */
gboolean sl_bmp_register_type_finder (GstPlugin *plugin);
GType sl_exif_parse_get_type (void);
/** sl_read_get_type: only where SL_HAVE_ZBAR or SL_HAVE_ZXING is defined in config.h. It is not
 * among the elements registered below, because of its libraries. */
GType sl_read_get_type (void);
/** sl_publish_get_type: not among the elements registered below, because of its network libraries.
 */
GType sl_publish_get_type (void);
/** sl_restream_get_type: only where gst-rtsp-server was found. Not among the elements registered
 * below, because of that library. */
GType sl_restream_get_type (void);
/** sl_gallery_element_get_type: only where SQLite was found. Not among the elements registered
 * below, because of its libraries. */
GType sl_gallery_element_get_type (void);
/** sl_remote_get_type: only where libmosquitto was found. Not among the elements registered below,
 * because of its network libraries. */
GType sl_remote_get_type (void);

/** sl_plugin_register_element: registers the element @name with @plugin (nullable). It uses the
 * type with the name @type_name where the process has one, else @type(). */
gboolean sl_plugin_register_element (GstPlugin *plugin, const char *name, const char *type_name,
                                     guint rank, GType (*type) (void));
/** GST_PLUGIN_DEFINE() takes it from here. */
#define PACKAGE "sightline"
/** SL_DEFINE_ELEMENT_PLUGIN: the plugin @plugin of a file that has one element, @type() of the name
 * @type_name. */
#define SL_DEFINE_ELEMENT_PLUGIN(plugin, description, name, type_name, type)                 \
  static gboolean plugin_init (GstPlugin *self)                                              \
  {                                                                                          \
    return sl_plugin_register_element (self, name, type_name, GST_RANK_NONE, type);          \
  }                                                                                          \
  GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, plugin, description, plugin_init, \
                     SL_VERSION, "LGPL", "Sightline", SL_DOCS_URI)

/** sl_plugin_register_elements: registers every element with @plugin. */
gboolean sl_plugin_register_elements (GstPlugin *plugin);
/** sl_elements_ensure_types: registers the GTypes of those elements from the caller's code. */
void sl_elements_ensure_types (void);
/** sl_elements_init: calls gst_init() in programs that contain the elements. Plugin files of
 * Sightline that gst_init() loads use the types of the program. */
void sl_elements_init (int *argc, char ***argv);
/** sl_elements_register_static: registers every element with this process. Call it after
 * sl_elements_init(). A plugin file of Sightline that is in GStreamer's registry but not loaded is
 * removed from the registry of this process, because it has the same elements. */
gboolean sl_elements_register_static (void);
