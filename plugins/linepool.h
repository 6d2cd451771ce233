/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers for lines of text, taken from a pool that grows with the longest line so far, so that a stream of lines asks the
 * heap for nothing.
 */
#ifndef SL_PLUGINS_LINEPOOL_H
#define SL_PLUGINS_LINEPOOL_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** Zeroed at first. One thread at a time; buffers may outlive it. */
typedef struct
{
  GstBufferPool *pool;
  guint bytes; /* of each buffer in it */
} SlLinePool;

void sl_line_pool_clear (SlLinePool *lines);
/** sl_line_pool_take: (transfer full): a buffer with exactly @text. */
GstBuffer *sl_line_pool_take (SlLinePool *lines, const GString *text);

G_END_DECLS

#endif
