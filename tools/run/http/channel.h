/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one pipeline shows: its feed, and the clients that look at its pictures and predictions.
 * Pictures are made only for clients that are ready for one, and not faster than the settings say.
 * The server's thread, but for what says otherwise.
 */
#pragma once

#include "pipelines/description/description.h"
#include "tools/run/http/connections.h"
#include "tools/run/http/feed.h"
#include "tools/run/http/messages.h"

typedef struct _SlChannel SlChannel;

/** sl_channel_new: @settings and @messages must live as long. Main thread, before the server's
 * runs. */
SlChannel *sl_channel_new (const char *name, const SlHttpSettings *settings, SlMessages *messages);
/** sl_channel_free: main thread, after the server's ran and the feed was detached. */
void sl_channel_free (SlChannel *channel);
/** sl_channel_feed: (transfer none): any thread. */
SlFeed *sl_channel_feed (SlChannel *channel);
/** sl_channel_start: serves from now on, in the thread's default context. */
void sl_channel_start (SlChannel *channel, SlConnections *connections);
/** sl_channel_stop: lets all clients go. */
void sl_channel_stop (SlChannel *channel);
/** sl_channel_tick: to be called some times a second. */
void sl_channel_tick (SlChannel *channel);
/** sl_channel_viewers, sl_channel_listeners: clients of pictures, of predictions. */
guint sl_channel_viewers (const SlChannel *channel);
guint sl_channel_listeners (const SlChannel *channel);
/** sl_channel_snapshot: answers @message with the next picture. @drawn: with predictions; @width:
 * pixels that are enough, 0 = those of the settings, which are the most */
void sl_channel_snapshot (SlChannel *channel, SoupServerMessage *message, gboolean drawn,
                          guint width);
/** SlChannelStream: what a client sees: pictures with predictions or without; predictions, without
 * the results of zones and lines or with them. */
typedef enum
{
  SL_CHANNEL_DRAWN,
  SL_CHANNEL_CLEAN,
  SL_CHANNEL_PREDICTIONS,
  SL_CHANNEL_ANALYSED
} SlChannelStream;

/** sl_channel_stream: answers @message with one after the other. */
void sl_channel_stream (SlChannel *channel, SoupServerMessage *message, SlChannelStream what);
/** sl_channel_json: (transfer full): @predictions, with the results of zones and lines of the
 * newest frame where @analysed and they are known: a moment after they were first asked for. */
GString *sl_channel_json (SlChannel *channel, const SlPredictions *predictions, gboolean analysed);
