/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last encoded frames, as references, bounded in time and in bytes. What is let go is always
 * everything before a key frame, so the oldest frame is one that decoding can begin with. One
 * thread at a time.
 */
#pragma once

#include <gst/gst.h>

/** SlRingFrame: @time: running time, of decoding; @serial: counts frames, from 1. */
typedef struct
{
  GstBuffer *buffer;
  GstClockTime time;
  guint64 serial;
  gboolean key;
} SlRingFrame;

typedef struct
{
  GQueue frames; /* of SlRingFrame * */
  gsize bytes;
  guint64 serial; /* of the newest frame that there was */
} SlRing;

/** sl_ring_init: also of one that was cleared. */
void sl_ring_init (SlRing *ring);
/** sl_ring_clear: nothing is left; serials go on. */
void sl_ring_clear (SlRing *ring);
/** sl_ring_put: takes @buffer. Frames before the first key frame are not kept. */
void sl_ring_put (SlRing *ring, GstBuffer *buffer, GstClockTime time, gboolean key);
/** sl_ring_trim: lets go what is before the last key frame that is not after @since; and more while
 * there are more than @bytes: then all before the next key frame, or everything. */
void sl_ring_trim (SlRing *ring, GstClockTime since, gsize bytes);
/** sl_ring_start: (nullable): link of the last key frame that is not after @since, or of the first
 * one. */
GList *sl_ring_start (SlRing *ring, GstClockTime since);
/** sl_ring_after: (nullable): link of the oldest frame whose serial is above @serial. */
GList *sl_ring_after (SlRing *ring, guint64 serial);
