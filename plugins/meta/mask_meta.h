/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlMaskMeta: a class for each cell of a grid over a video frame, as segmentation gives it. It says nothing about pixels,
 * so a frame may be converted or scaled under it.
 */
#ifndef SL_PLUGINS_META_MASK_META_H
#define SL_PLUGINS_META_MASK_META_H

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * SlMaskMeta:
 * @width, @height: cells
 * @cells: width * height classes, row by row; SL_MASK_VOID unknown
 * @background: the class that is the background, -1 = none is
 * @buffer: where @cells are, one reference; mapped as @map for as long as the meta lives
 * @names: of classes 0..254; NULL = none; interned strings
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
/** sl_buffer_add_mask_meta: @cells (transfer none) has @width * @height bytes, which nobody writes to any more. (nullable): NULL when it
 *  cannot be mapped */
SlMaskMeta *sl_buffer_add_mask_meta (GstBuffer *buffer, guint width, guint height, GstBuffer *cells);
/** sl_buffer_get_mask_meta: (transfer none) (nullable) */
SlMaskMeta *sl_buffer_get_mask_meta (GstBuffer *buffer);

G_END_DECLS

#endif
