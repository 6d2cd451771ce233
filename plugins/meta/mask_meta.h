/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlMaskMeta: the result of a segmentation: a class for each cell of a grid over a video frame. The
 * grid does not depend on the frame's size or format, so the frame may be converted or scaled.
 */
#pragma once

#include <gst/gst.h>

/**
 * SlMaskMeta:
 * @width, @height: cells
 * @cells: width * height classes, row by row; SL_MASK_VOID unknown
 * @background: the class of the background, -1 = no class
 * @buffer: the memory of @cells, one reference; mapped as @map until the meta is freed
 * @names: names of the classes 0..254; NULL = no name; interned strings
 */
typedef struct
{
  GstMeta meta;
  guint width, height;
  const guint8 *cells;
  gint background;
  GstBuffer *buffer;
  GstMapInfo map;
  const char *names[256];
} SlMaskMeta;

GType sl_mask_meta_api_get_type (void);
const GstMetaInfo *sl_mask_meta_get_info (void);
/** sl_buffer_add_mask_meta: (nullable): @cells (transfer none) has @width * @height bytes, which
 * must not change afterwards. NULL when it cannot be mapped. */
SlMaskMeta *sl_buffer_add_mask_meta (GstBuffer *buffer, guint width, guint height,
                                     GstBuffer *cells);
/** sl_buffer_get_mask_meta: (transfer none) (nullable) */
SlMaskMeta *sl_buffer_get_mask_meta (GstBuffer *buffer);
