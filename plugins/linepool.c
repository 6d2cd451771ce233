/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A GStreamer buffer pool behind it: a buffer that comes back has its whole size again.
 */
#include "plugins/linepool.h"

#define LEAST_BYTES 256u

/* Without a pool, or from one that refuses, buffers are still had from the heap. */
static void
grow (SlLinePool *lines, gsize bytes)
{
  sl_line_pool_clear (lines);
  lines->bytes = LEAST_BYTES;
  while (lines->bytes < bytes && lines->bytes <= G_MAXUINT / 4)
    lines->bytes *= 2;
  lines->pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (lines->pool);
  gst_buffer_pool_config_set_params (config, NULL, lines->bytes, 0, 0);
  if (!gst_buffer_pool_set_config (lines->pool, config) || !gst_buffer_pool_set_active (lines->pool, TRUE))
    gst_clear_object (&lines->pool);
}

void
sl_line_pool_clear (SlLinePool *lines)
{
  if (lines->pool != NULL)
    gst_buffer_pool_set_active (lines->pool, FALSE);
  gst_clear_object (&lines->pool);
  lines->bytes = 0;
}

GstBuffer *
sl_line_pool_take (SlLinePool *lines, const GString *text)
{
  GstBuffer *buffer = NULL;
  if (text->len > lines->bytes)
    grow (lines, text->len);
  if (lines->pool == NULL || text->len > lines->bytes || gst_buffer_pool_acquire_buffer (lines->pool, &buffer, NULL) != GST_FLOW_OK)
    buffer = gst_buffer_new_allocate (NULL, text->len, NULL);
  gst_buffer_fill (buffer, 0, text->str, text->len);
  gst_buffer_set_size (buffer, (gssize) text->len);
  return buffer;
}
