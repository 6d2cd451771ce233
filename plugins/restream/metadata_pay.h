/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The RTP payload of ONVIF metadata, which GStreamer's own plugins in C do not have. */
#pragma once

#include <gst/gst.h>

/** sl_metadata_pay_new: (transfer floating): an element that splits documents of SL_ONVIF_CAPS into
 * RTP packets; the last packet of each has the marker. */
GstElement *sl_metadata_pay_new (void);
