/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Uses a GStreamer buffer pool. A buffer that returns to the pool gets its whole size again. */
#include "plugins/base/byte_pool.h"

#define MIN_BYTES 256u

/* With a quarter of room: lines of a stream differ by some digits. Without a pool, or from one that
 * refuses, buffers are still had from the heap. */
static void
grow (SlBytePool *pool, gsize bytes)
{
  sl_byte_pool_clear (pool);
  pool->bytes = MIN_BYTES;
  while (pool->bytes < bytes + bytes / 4 && pool->bytes <= G_MAXUINT / 4)
    pool->bytes *= 2;
  pool->pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool->pool);
  gst_buffer_pool_config_set_params (config, NULL, pool->bytes, 0, 0);
  if (!gst_buffer_pool_set_config (pool->pool, config)
      || !gst_buffer_pool_set_active (pool->pool, TRUE))
    gst_clear_object (&pool->pool);
}

void
sl_byte_pool_clear (SlBytePool *pool)
{
  if (pool->pool != NULL)
    gst_buffer_pool_set_active (pool->pool, FALSE);
  gst_clear_object (&pool->pool);
  pool->bytes = 0;
}

GstBuffer *
sl_byte_pool_get (SlBytePool *pool, gsize bytes)
{
  GstBuffer *buffer = NULL;
  if (pool != NULL && bytes > pool->bytes)
    grow (pool, bytes);
  if (pool == NULL || pool->pool == NULL || bytes > pool->bytes
      || gst_buffer_pool_acquire_buffer (pool->pool, &buffer, NULL) != GST_FLOW_OK)
    buffer = gst_buffer_new_allocate (NULL, bytes, NULL);
  gst_buffer_set_size (buffer, (gssize) bytes);
  return buffer;
}

GstBuffer *
sl_byte_pool_take (SlBytePool *pool, gconstpointer data, gsize bytes)
{
  GstBuffer *buffer = sl_byte_pool_get (pool, bytes);
  gst_buffer_fill (buffer, 0, data, bytes);
  return buffer;
}
