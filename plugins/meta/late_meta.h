/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlLateMeta marks frames that slcamera quiet=keyframes held back until something moved. They are
 * late, and newer ones follow at once: elements may pass them without work.
 */
#pragma once

#include <gst/gst.h>

typedef struct
{
  GstMeta meta;
} SlLateMeta;

GType sl_late_meta_api_get_type (void);
const GstMetaInfo *sl_late_meta_get_info (void);
/** sl_buffer_set_late: marks writable @buffer. */
void sl_buffer_set_late (GstBuffer *buffer);
gboolean sl_buffer_is_late (GstBuffer *buffer);
