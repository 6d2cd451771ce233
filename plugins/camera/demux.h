/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * An element inside slcamera that splits the multipart stream of an HTTP source into JPEG pictures.
 * It uses multipart.h.
 */
#pragma once

#include <gst/gst.h>

#define SL_TYPE_CAMERA_DEMUX (sl_camera_demux_get_type ())
G_DECLARE_FINAL_TYPE (SlCameraDemux, sl_camera_demux, SL, CAMERA_DEMUX, GstElement)

/** sl_camera_demux_register: registers this element, so that decodebin uses it for multipart
 * streams in this process. */
void sl_camera_demux_register (void);
/** sl_camera_demux_new: (transfer floating): has the pads "sink" and "src". A part larger than
 * @max_part_bytes, or other invalid data, gives an error message and GST_FLOW_ERROR. */
GstElement *sl_camera_demux_new (guint max_part_bytes);
