/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that are sent piece by piece, as fast as the client takes them, or a part of one that it
 * asked for. A piece is in memory, and a client that takes none for a while is let go (stream.h).
 * The server's thread.
 */
#pragma once

#include "tools/run/http/connections.h"

/** Files that are being sent at once. */
#define SL_SENDERS_MOST 16

typedef struct _SlSenders SlSenders;

/** SlSendFile: @fd: for reading at any place, open until @free; @size: bytes; @name: (nullable):
 * what a browser saves it as; @free: of @data, when it is sent or the client is gone */
typedef struct
{
  gint fd;
  guint64 size;
  const char *type, *name;
  gpointer data;
  GDestroyNotify free;
} SlSendFile;

SlSenders *sl_senders_new (SlConnections *connections);
/** sl_senders_free: ends what is being sent. */
void sl_senders_free (SlSenders *senders);
/** sl_senders_tick: lets slow clients go; some times a second. */
void sl_senders_tick (SlSenders *senders);
/** sl_senders_is_full: whether SL_SENDERS_MOST are being sent. */
gboolean sl_senders_is_full (const SlSenders *senders);
/** sl_senders_send: answers @message with @file, or with the part of it that sl_http_range() has.
 * TRUE: @message is paused, and the caller must not unpause it; FALSE: it is answered already. */
gboolean sl_senders_send (SlSenders *senders, SoupServerMessage *message, const SlSendFile *file);
