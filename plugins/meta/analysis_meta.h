/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlAnalysisMeta: the results of zones and lines up to a video frame. All coordinates are in 0..1
 * of the frame, so the frame may be converted or scaled.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/base/byte_pool.h"
#include "postprocess/predictions/analysis.h"

/**
 * SlAnalysisMeta:
 * @analysis: in @buffer
 * @buffer: one reference; mapped as @map for as long as the meta lives
 */
typedef struct
{
  GstMeta meta;
  const SlAnalysis *analysis;
  GstBuffer *buffer;
  GstMapInfo map;
} SlAnalysisMeta;

GType sl_analysis_meta_api_get_type (void);
const GstMetaInfo *sl_analysis_meta_get_info (void);
/** sl_buffer_set_analysis: puts a copy of @analysis on writable @buffer, in place of one that is
 * there. @events: whether its events are this frame's; @pool: (nullable): where the copy's memory
 * comes from */
void sl_buffer_set_analysis (GstBuffer *buffer, const SlAnalysis *analysis, gboolean events,
                             SlBytePool *pool);
/** sl_buffer_get_analysis: (transfer none) (nullable): as long as it is on @buffer */
const SlAnalysis *sl_buffer_get_analysis (GstBuffer *buffer);
