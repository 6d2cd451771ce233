/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What regions say of their objects, kept where others convert a frame: videoconvert and videoscale
 * of GStreamer 1.22 copy regions, but not their parameters, so that confidences, ids and keypoints
 * would be lost.
 */
#pragma once

#include <gst/gst.h>

/** sl_buffer_keep_regions: from now on the regions of @buffer, which is writable, keep their
 * parameters in copies of it, whatever their format and size. To be called once more when regions
 * were added. */
void sl_buffer_keep_regions (GstBuffer *buffer);
