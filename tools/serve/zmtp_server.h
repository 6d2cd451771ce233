/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections of ZeroMQ's clients, of types REQ and DEALER. It has no thread: threads that have
 * nothing to do call sl_zmtp_server_step(), which waits for an event, reads a client, and hands
 * out its messages.
 */
#pragma once

#include "tools/serve/zmtp.h"

typedef struct _SlZmtpServer SlZmtpServer;

/**
 * SlZmtpLimits:
 * @clients: at a time, 1..65535
 * @most: bytes of a message; @keep: bytes of memory that a client keeps between messages; @large:
 * bytes that all clients together have beyond that
 * @stall_us: how long a greeting or a message may take
 */
typedef struct
{
  guint clients;
  gsize most, keep, large;
  gint64 stall_us;
} SlZmtpLimits;

/**
 * SlZmtpHandlers: called by threads in sl_zmtp_server_step(), several at a time.
 * @message: of the client @id, whose messages come one at a time; @parts are valid until it returns
 * @trouble: a sentence about a client that was refused
 */
typedef struct
{
  void (*message) (guint64 id, const SlZmtpPart *parts, guint n_parts, gpointer data);
  void (*trouble) (const char *sentence, gpointer data);
} SlZmtpHandlers;

/** sl_zmtp_server_new: takes clients of @listener (transfer full), a socket that does not block.
 * NULL with @error set. */
SlZmtpServer *sl_zmtp_server_new (int listener, const SlZmtpLimits *limits,
                                  const SlZmtpHandlers *handlers, gpointer data, GError **error);
/** sl_zmtp_server_step: waits for an event and handles it. Any thread, several at a time; of those
 * that wait, the last one gets it. TRUE for a nudge. */
gboolean sl_zmtp_server_step (SlZmtpServer *server);
/** sl_zmtp_server_nudge: sl_zmtp_server_step() returns TRUE in one thread, now or when one comes.
 */
void sl_zmtp_server_nudge (SlZmtpServer *server);
/** sl_zmtp_server_send: a message to the client @id. Any thread; never waits. A client that is
 * gone, or does not read, gets nothing. */
void sl_zmtp_server_send (SlZmtpServer *server, guint64 id, const SlZmtpPart *parts, guint n_parts);
/** sl_zmtp_server_free: no thread uses it any more. Waits a moment for clients to take what was
 * sent to them. */
void sl_zmtp_server_free (SlZmtpServer *server);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlZmtpServer, sl_zmtp_server_free)
