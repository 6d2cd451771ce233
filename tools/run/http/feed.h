/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one pipeline sees, on its way from streaming threads to the server's thread: the newest
 * predictions always, a frame only when one is wanted, and then a reference to it. Streaming
 * threads take a lock that is held for pointers.
 */
#pragma once

#include <gst/gst.h>

#include "sightline/predictions.h"

typedef struct _SlFeed SlFeed;

/** SlFeedFrame: @predictions: (nullable): of this frame; NULL = those that are on it, if any. */
typedef struct
{
  GstBuffer *buffer;
  GstCaps *caps;
  SlPredictions *predictions;
} SlFeedFrame;

/** sl_feed_new: @notify: called from streaming threads when a wanted frame is there, or predictions
 * that somebody watches. */
SlFeed *sl_feed_new (const char *name, void (*notify) (gpointer), gpointer data);
/** sl_feed_free: of a feed that is attached to nothing. */
void sl_feed_free (SlFeed *feed);
const char *sl_feed_name (const SlFeed *feed);
/** sl_feed_attach: to @pipeline, which does not play. */
void sl_feed_attach (SlFeed *feed, GstElement *pipeline);
/** sl_feed_detach: from its pipeline, which must be in NULL. Its predictions go with it. */
void sl_feed_detach (SlFeed *feed);
/** sl_feed_set_watched: whether new predictions are notified. */
void sl_feed_set_watched (SlFeed *feed, gboolean watched);
/** sl_feed_set_analysing: whether the newest results of zones and lines are kept. */
void sl_feed_set_analysing (SlFeed *feed, gboolean analysing);
/** sl_feed_analysis: (transfer full) (nullable): those of the newest frame behind an slanalyze, as
 * JSON. */
char *sl_feed_analysis (SlFeed *feed);
/** sl_feed_want_frame: the next frame is kept and notified. */
void sl_feed_want_frame (SlFeed *feed);
/** sl_feed_newest: (transfer full) (nullable): the newest predictions of the pipeline, unless they
 * are older than @stall milliseconds.
 *  @serial: (out): the number, from 1, of the newest that there ever were; 0 = none yet. */
SlPredictions *sl_feed_newest (SlFeed *feed, guint stall, guint64 *serial);
/** sl_feed_take_frame: FALSE when none is there. @frame: (out): to be cleared. */
gboolean sl_feed_take_frame (SlFeed *feed, SlFeedFrame *frame);
void sl_feed_frame_clear (SlFeedFrame *frame);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlFeedFrame, sl_feed_frame_clear)
