/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the frames that elements of a running pipeline dropped, by reason. Drops of slpredict and
 * of camera connections are not included.
 */
#pragma once

#include <gst/gst.h>

typedef enum
{
  SL_DROP_LATE,   /* an element that was too late skipped them, and told so by a QoS message */
  SL_DROP_QUEUE,  /* a queue, or an appsrc, was full and leaky */
  SL_DROP_CAMERA, /* a newer frame of an slcamera took their place before anyone took them */
  SL_N_DROPS
} SlDrop;

typedef struct _SlDrops SlDrops;

SlDrops *sl_drops_new (void);
/** sl_drops_free: what is watched must be in NULL. NULL is legal. */
void sl_drops_free (SlDrops *drops);
/** sl_drops_watch: counts in @element, if it is one that may drop frames. Any thread; before frames
 * flow through it. */
void sl_drops_watch (SlDrops *drops, GstElement *element);
/** sl_drops_take_message: of the pipeline's bus; counts what a QoS message tells, and takes no
 * notice of others. */
void sl_drops_take_message (SlDrops *drops, GstMessage *message);
/** sl_drops_read: the sums so far, which never fall. A queue's are those that two readings in a row
 * saw. Any thread. */
void sl_drops_read (SlDrops *drops, guint64 counts[SL_N_DROPS]);
/** sl_drop_name: "late", "queue" or "camera". */
const char *sl_drop_name (SlDrop drop);
