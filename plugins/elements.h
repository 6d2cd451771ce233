/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The elements' types: for plugin.c, which registers them, and for programs that carry the elements inside and so
 * need no plugin search path.
 */
#ifndef SL_PLUGINS_ELEMENTS_H
#define SL_PLUGINS_ELEMENTS_H

#include <gst/gst.h>

G_BEGIN_DECLS

GType sl_camera_get_type (void);
GType sl_normalize_get_type (void);
/** sl_resize_get_type: only where libyuv was found. */
GType sl_resize_get_type (void);
GType sl_infer_get_type (void);
GType sl_postprocess_get_type (void);
GType sl_predict_get_type (void);
GType sl_track_get_type (void);
GType sl_analyze_get_type (void);
GType sl_record_get_type (void);
/** sl_overlay_get_type: only where SL_HAVE_OVERLAY is defined in config.h; not among the elements registered below, because
 *  its libraries for text would weigh on every process that infers. */
GType sl_overlay_get_type (void);
/** sl_tensor_convert_get_type: only where GStreamer has GstTensorMeta, SL_HAVE_TENSOR_META in config.h. */
GType sl_tensor_convert_get_type (void);
GType sl_bmp_parse_get_type (void);
/** sl_bmp_register_type_finder: registers with @plugin (nullable) what knows BMP pictures that GStreamer does not. */
gboolean sl_bmp_register_type_finder (GstPlugin *plugin);
GType sl_exif_parse_get_type (void);
/** sl_read_get_type: only where SL_HAVE_ZBAR or SL_HAVE_ZXING is defined in config.h; not among the elements registered below, because of its libraries. */
GType sl_read_get_type (void);
/** sl_publish_get_type: not among the elements registered below either, because of its libraries for networks. */
GType sl_publish_get_type (void);
/** sl_remote_get_type: likewise, and only where libmosquitto was found. */
GType sl_remote_get_type (void);

/** sl_plugin_register_element: registers an element with @plugin (nullable): of the type called @type_name where the process has
 *  one, else of @type(). */
gboolean sl_plugin_register_element (GstPlugin *plugin, const char *name, const char *type_name, guint rank, GType (*type) (void));
/** sl_plugin_register_elements: registers every element with @plugin. */
gboolean sl_plugin_register_elements (GstPlugin *plugin);
/** sl_elements_ensure_types: makes the types of those elements, of the caller's code. */
void sl_elements_ensure_types (void);
/** sl_elements_init: gst_init() for programs that carry the elements inside; plugin files of ours that it may load find the
 *  program's types there and use them. */
void sl_elements_init (int *argc, char ***argv);
/** sl_elements_register_static: registers every element with this process, after sl_elements_init(); a plugin file of ours that
 *  GStreamer knows of, and has not loaded into this process, is forgotten, because it has the same elements. */
gboolean sl_elements_register_static (void);

G_END_DECLS

#endif
