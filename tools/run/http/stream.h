/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A client that is sent one piece after the other for as long as it stays. At most one piece waits
 * for it; a client that takes none for SL_STREAM_PATIENCE seconds is let go. The server's thread.
 */
#pragma once

#include <gio/gio.h>

#define SL_STREAM_PATIENCE 10

typedef struct _SlStream SlStream;

/** SlStreamChanged: a piece is out, or the client is gone (sl_stream_is_over()); the latter once,
 * and never from within a call. */
typedef void (*SlStreamChanged) (SlStream *stream, gpointer data);

/** sl_stream_new: @connection, @socket below it (transfer full). */
SlStream *sl_stream_new (GIOStream *connection, GSocket *socket, SlStreamChanged changed,
                         gpointer data);
/** sl_stream_free: closes the connection. */
void sl_stream_free (SlStream *stream);
/** sl_stream_send: @piece (transfer full), to a stream that is ready. */
void sl_stream_send (SlStream *stream, GBytes *piece);
/** sl_stream_end: its client is let go, as if it had gone. */
void sl_stream_end (SlStream *stream);
/** sl_stream_is_ready: whether all that was sent is out. */
gboolean sl_stream_is_ready (const SlStream *stream);
gboolean sl_stream_is_over (const SlStream *stream);
/** sl_stream_idle: microseconds since a piece was last sent. */
gint64 sl_stream_idle (const SlStream *stream);
/** sl_stream_expire: to be called some times a second: ends a stream whose client does not take
 * what waits for it. */
void sl_stream_expire (SlStream *stream);
