/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * From what an HTTP source reads to JPEG pictures: multipart.h as an element inside slcamera.
 */
#ifndef SL_PLUGINS_CAMERA_DEMUX_H
#define SL_PLUGINS_CAMERA_DEMUX_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define SL_TYPE_CAMERA_DEMUX (sl_camera_demux_get_type ())
G_DECLARE_FINAL_TYPE (SlCameraDemux, sl_camera_demux, SL, CAMERA_DEMUX, GstElement)

/** sl_camera_demux_register: has decodebin take this element for multipart streams in this process. */
void sl_camera_demux_register (void);
/** sl_camera_demux_new: (transfer floating): with pads "sink" and "src". A part larger than @max_part_bytes, and whatever else a camera must
 *  not send, is an error message of the element, and the flow's. */
GstElement *sl_camera_demux_new (guint max_part_bytes);

G_END_DECLS

#endif
