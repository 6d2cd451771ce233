/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An element inside slcamera, upstream of the depayloader. It passes only the RTP packets of
 * pictures whose packets have all come.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/camera/intact.h"

#define SL_TYPE_CAMERA_WHOLE (sl_camera_whole_get_type ())
G_DECLARE_FINAL_TYPE (SlCameraWhole, sl_camera_whole, SL, CAMERA_WHOLE, GstElement)

/** sl_camera_whole_new: (transfer floating): with pads "sink" and "src". Pictures without all of
 * their packets are counted in @intact; one larger than @max_part_bytes is an error message of the
 * element. */
GstElement *sl_camera_whole_new (SlIntact *intact, guint max_part_bytes);
/** sl_camera_whole_add: (transfer none): adds the element to @bin, with a queue between it and
 * @decoder, which is in @bin, too. Pictures that wait there longer than 5 s, or with more than
 * twice @max_part_bytes, are left out up to the next key frame, and counted in @intact as slow. */
GstElement *sl_camera_whole_add (GstBin *bin, SlIntact *intact, guint max_part_bytes,
                                 GstElement *decoder);
