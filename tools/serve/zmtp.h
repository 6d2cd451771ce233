/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ZeroMQ's protocol on the wire, ZMTP 3 (RFC 23 and RFC 37), for the side that clients connect to:
 * a reader of what a client sends, and functions that write what it gets. Nothing here knows a
 * socket, so tests feed bytes. One mechanism is taken, NULL, and clients of types REQ and DEALER.
 */
#pragma once

#include <glib.h>

/** Parts of a message at most, and bytes of a command. */
#define SL_ZMTP_PARTS 8
#define SL_ZMTP_COMMAND 4096
/** Bytes that are read ahead while it is unknown how long the next frame is. */
#define SL_ZMTP_AHEAD 4096
/** Bytes from which on a part is received into memory of its own, one of a message. */
#define SL_ZMTP_LARGE (16 << 10)
/** Bytes of the context of a PING. */
#define SL_ZMTP_CONTEXT 16

/** What a client sent. */
typedef enum
{
  SL_ZMTP_WANTS,   /* nothing whole yet: more bytes are wanted */
  SL_ZMTP_GREETED, /* its greeting: it wants READY */
  SL_ZMTP_PING,    /* it wants a PONG with the context */
  SL_ZMTP_MESSAGE, /* the parts of a message */
  SL_ZMTP_BROKEN   /* something that is refused, for good */
} SlZmtpStep;

/** SlZmtpPart: @own: (nullable): where the address of @data is, if that is memory of
 * sl_tensor_buffer_new_unset() of just @size bytes; a reader of the message may leave other such
 * memory there, and owns this one then */
typedef struct
{
  const guint8 *data;
  gsize size;
  void **own;
} SlZmtpPart;

typedef enum
{
  SL_ZMTP_GREETING,
  SL_ZMTP_HANDSHAKE,
  SL_ZMTP_TRAFFIC
} SlZmtpStage;

/**
 * SlZmtpReader:
 * @most: bytes of a message at most, without what frames it
 * @keep: bytes of memory for a large part that stay from one message to the next
 * @bytes: what came of the message that is being read, and what came after it; @filled of
 * @capacity bytes
 * @at: where the next frame begins
 * @end: where it ends, 0 = unknown
 * @size: bytes of the parts so far
 * @offsets, @parts: of the message, @n_parts of them; their data is set once the message is whole
 * @large: (nullable): memory of @large_room bytes, for the part @large_part of @large_size bytes,
 * of which @large_filled came; SL_ZMTP_PARTS = none has been large yet
 * @large_flags: of its frame while it is read, else 0
 * @context: of the last PING, @n_context bytes
 */
typedef struct
{
  gsize most, keep;
  guint8 *bytes;
  gsize filled, capacity, at, end, size;
  SlZmtpStage stage;
  gboolean whole; /* the message before @at was handed out */
  gsize offsets[SL_ZMTP_PARTS];
  SlZmtpPart parts[SL_ZMTP_PARTS];
  guint n_parts;
  void *large;
  gsize large_room, large_size, large_filled;
  guint large_part;
  guint8 large_flags;
  guint8 context[SL_ZMTP_CONTEXT];
  guint n_context;
} SlZmtpReader;

void sl_zmtp_reader_init (SlZmtpReader *reader, gsize most, gsize keep);
void sl_zmtp_reader_clear (SlZmtpReader *reader);
/** sl_zmtp_reader_room: where the client's next bytes go, @room of them at most, which is not 0.
 * Valid until the next call. Memory is counted when it is taken, and is the system's until bytes
 * come. */
guint8 *sl_zmtp_reader_room (SlZmtpReader *reader, gsize *room);
/** sl_zmtp_reader_add: @n bytes came there. */
void sl_zmtp_reader_add (SlZmtpReader *reader, gsize n);
/** sl_zmtp_reader_next: the next that is whole. The parts of a message are valid until the next
 * call. With SL_ZMTP_BROKEN @error says what the client did; its connection ends then. */
SlZmtpStep sl_zmtp_reader_next (SlZmtpReader *reader, GError **error);
/** sl_zmtp_reader_memory: bytes that it has beyond those that it keeps. */
gsize sl_zmtp_reader_memory (const SlZmtpReader *reader);
/** sl_zmtp_reader_pending: whether the client has begun something and not ended it. */
gboolean sl_zmtp_reader_pending (const SlZmtpReader *reader);

/** sl_zmtp_append_greeting: of version 3.1 with the mechanism NULL. */
void sl_zmtp_append_greeting (GByteArray *out);
/** sl_zmtp_append_ready: as a socket of type ROUTER. */
void sl_zmtp_append_ready (GByteArray *out);
/** sl_zmtp_append_pong: to the last PING. */
void sl_zmtp_append_pong (GByteArray *out, const SlZmtpReader *reader);
/** sl_zmtp_append_part: a part of a message; @more: others follow. */
void sl_zmtp_append_part (GByteArray *out, gconstpointer data, gsize size, gboolean more);
