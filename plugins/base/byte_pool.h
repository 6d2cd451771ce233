/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers for lines of text and for masks. Their pool grows to the largest size so far, so that a
 * running stream allocates no memory.
 */
#pragma once

#include <gst/gst.h>

/** Zeroed at first. One thread at a time; buffers may outlive it. */
typedef struct
{
  GstBufferPool *pool;
  guint bytes; /* of each buffer in it */
} SlBytePool;

void sl_byte_pool_clear (SlBytePool *pool);
/** sl_byte_pool_get: (transfer full): a buffer of @bytes, whatever they are. @pool: (nullable):
 * without one it is had from the heap */
GstBuffer *sl_byte_pool_get (SlBytePool *pool, gsize bytes);
/** sl_byte_pool_take: (transfer full): likewise with a copy of @data. */
GstBuffer *sl_byte_pool_take (SlBytePool *pool, gconstpointer data, gsize bytes);
