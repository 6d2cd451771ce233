/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How an object looks: its embedding, as a structure "look" on its region, from sltrack to
 * slgallery, which takes it away. Frames carry it only where slgallery has asked for it.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "plugins/base/byte_pool.h"

/** sl_region_set_look: @look has @length numbers, of which @pool (nullable) has room for a copy. */
void sl_region_set_look (GstVideoRegionOfInterestMeta *region, SlBytePool *pool, const gfloat *look,
                         guint length);
/** sl_region_take_look: (transfer full) (nullable): a buffer with an embedding of @length numbers;
 * the region has none then. */
GstBuffer *sl_region_take_look (GstVideoRegionOfInterestMeta *region, guint length);

/** sl_looks_query: (transfer full): asks upstream which model makes embeddings, and for them. */
GstQuery *sl_looks_query (void);
/** sl_looks_is_asked: whether @query is that question. */
gboolean sl_looks_is_asked (GstQuery *query);
/** sl_looks_answer: embeddings of @length numbers, of the model with the SHA-256 @hash. */
void sl_looks_answer (GstQuery *query, const char *hash, guint length);
/** sl_looks_read: (transfer none) (nullable): the hash, and @length; NULL: nobody answered. */
const char *sl_looks_read (GstQuery *query, guint *length);
