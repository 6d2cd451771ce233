/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of a message stay where they were received: the reader remembers where its parts begin,
 * and moves only what came after it. The first large part has memory of its own, aligned as a
 * tensor; no more than its end is read there. So a picture that needs no conversion is never
 * copied.
 *
 * Invariant: at <= filled <= capacity; bytes before @at are of frames of the current message.
 * Commands, and the frame of the large part, are removed once they are read.
 */
#include "tools/serve/zmtp.h"

#include <string.h>

#include "core/base/byte_order.h"
#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/graph/tensor.h"

/* The greeting: a signature of ten bytes, the version, the mechanism, who is the server, zeros. */
#define GREETING 64
#define SIGNATURE 10
#define MECHANISM 12
#define MECHANISM_SIZE 20
#define MAJOR 3
#define MINOR 1
/* Flags of a frame. */
#define MORE 1
#define LONG 2
#define COMMAND 4
/* The least memory that is taken. */
#define LEAST 4096
/* Of a text that a message shows. */
#define SHOWN 40

void
sl_zmtp_reader_init (SlZmtpReader *reader, gsize most, gsize keep)
{
  *reader = (SlZmtpReader){ .most = most, .keep = keep, .large_part = SL_ZMTP_PARTS };
}

void
sl_zmtp_reader_clear (SlZmtpReader *reader)
{
  g_clear_pointer (&reader->bytes, g_free);
  g_clear_pointer (&reader->large, sl_tensor_buffer_free);
}

guint8 *
sl_zmtp_reader_room (SlZmtpReader *reader, gsize *room)
{
  if (reader->large_flags != 0) {
    *room = reader->large_size - reader->large_filled;
    return (guint8 *) reader->large + reader->large_filled;
  }
  gsize end = MAX (reader->end, reader->end > 0 ? SL_ZMTP_AHEAD : reader->at + SL_ZMTP_AHEAD);
  if (reader->capacity < end && reader->filled == reader->capacity) {
    reader->capacity = MIN (end, MAX (2 * reader->capacity, LEAST));
    reader->bytes = g_realloc (reader->bytes, reader->capacity);
  }
  end = MIN (end, reader->capacity);
  *room = end - reader->filled;
  return reader->bytes + reader->filled;
}

void
sl_zmtp_reader_add (SlZmtpReader *reader, gsize n)
{
  if (reader->large_flags != 0)
    reader->large_filled += n;
  else
    reader->filled += n;
}

gsize
sl_zmtp_reader_memory (const SlZmtpReader *reader)
{
  return (reader->capacity > LEAST ? reader->capacity - LEAST : 0)
         + (reader->large_room > reader->keep ? reader->large_room - reader->keep : 0);
}

gboolean
sl_zmtp_reader_pending (const SlZmtpReader *reader)
{
  return reader->stage != SL_ZMTP_TRAFFIC
         || (!reader->whole
             && (reader->filled > 0 || reader->n_parts > 0 || reader->large_flags != 0));
}

/* (transfer full): @size bytes of a client, for a message. */
static char *
show (const guint8 *bytes, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) bytes, MIN (size, SHOWN));
  return sl_printable (text, SL_PRINTABLE_NAME);
}

/* Removes the @n bytes at @from. */
static void
cut (SlZmtpReader *reader, gsize from, gsize n)
{
  reader->filled -= n;
  memmove (reader->bytes + from, reader->bytes + from + n, reader->filled - from);
  reader->at = from;
  reader->end = 0;
}

/* Removes the message that was handed out. */
static void
forget_message (SlZmtpReader *reader)
{
  reader->whole = FALSE;
  reader->n_parts = 0;
  reader->size = 0;
  reader->large_part = SL_ZMTP_PARTS;
  cut (reader, 0, reader->at);
  if (reader->capacity > LEAST && reader->filled <= LEAST) {
    reader->capacity = LEAST;
    reader->bytes = g_realloc (reader->bytes, reader->capacity);
  }
  if (reader->large_room > reader->keep) {
    g_clear_pointer (&reader->large, sl_tensor_buffer_free);
    reader->large_room = 0;
  }
}

/* Each byte is looked at once it is there: a client of another protocol may wait for an answer. */
static SlZmtpStep
read_greeting (SlZmtpReader *reader, GError **error)
{
  static const guint8 mechanism[MECHANISM_SIZE] = "NULL";
  const guint8 *bytes = reader->bytes;
  if (reader->filled == 0)
    return SL_ZMTP_WANTS;
  if (bytes[0] != 0xff || (reader->filled >= SIGNATURE && (bytes[SIGNATURE - 1] & 1) == 0)) {
    sl_fail (error, SL_ERROR_FORMAT,
             "expected ZMTP 3, which libzmq 4 speaks, got ZMTP 1 or another protocol");
    return SL_ZMTP_BROKEN;
  }
  if (reader->filled > SIGNATURE && bytes[SIGNATURE] < MAJOR) {
    sl_fail (error, SL_ERROR_FORMAT, "expected ZMTP 3, which libzmq 4 speaks, got ZMTP 2");
    return SL_ZMTP_BROKEN;
  }
  if (reader->filled < GREETING)
    return SL_ZMTP_WANTS;
  if (memcmp (bytes + MECHANISM, mechanism, sizeof mechanism) != 0) {
    g_autofree char *shown = show (bytes + MECHANISM, MECHANISM_SIZE);
    sl_fail (error, SL_ERROR_FORMAT,
             "expected the mechanism NULL, got %s: set no password and no keys in the client",
             shown);
    return SL_ZMTP_BROKEN;
  }
  reader->stage = SL_ZMTP_HANDSHAKE;
  cut (reader, 0, GREETING);
  return SL_ZMTP_GREETED;
}

/* Properties of READY: a byte for the length of the name, four for that of the value. */
static gboolean
read_ready (const guint8 *at, gsize size, GError **error)
{
  g_autofree char *shown = NULL;
  while (size > 0) {
    const gsize name = at[0];
    if (size < 1 + name + 4 || sl_be32 (at + 1 + name) > size - 1 - name - 4)
      return sl_fail (error, SL_ERROR_FORMAT, "READY: expected properties, got one that is cut");
    const char *key = (const char *) at + 1;
    const gsize length = sl_be32 (at + 1 + name);
    const guint8 *value = at + 1 + name + 4;
    if (name == strlen ("Socket-Type") && g_ascii_strncasecmp (key, "Socket-Type", name) == 0) {
      if ((length == 3 && memcmp (value, "REQ", 3) == 0)
          || (length == 6 && memcmp (value, "DEALER", 6) == 0))
        return TRUE;
      shown = show (value, length);
      break;
    }
    at = value + length;
    size -= 1 + name + 4 + length;
  }
  return sl_fail (error, SL_ERROR_FORMAT, "expected a socket of type REQ or DEALER, got %s",
                  shown != NULL ? shown : "none");
}

/* Commands that are unknown, such as those of sockets that publish, are skipped. */
static SlZmtpStep
read_command (SlZmtpReader *reader, const guint8 *at, gsize size, GError **error)
{
  const gsize name = size > 0 ? at[0] : 0;
  if (name == 0 || name > size - 1) {
    sl_fail (error, SL_ERROR_FORMAT, "expected a command with a name, got one without");
    return SL_ZMTP_BROKEN;
  }
  const char *called = (const char *) at + 1;
  const guint8 *data = at + 1 + name;
  const gsize left = size - 1 - name;
  if (name == 5 && memcmp (called, "ERROR", 5) == 0) {
    g_autofree char *shown = show (data + 1, left > 0 ? MIN (data[0], left - 1) : 0);
    sl_fail (error, SL_ERROR_FORMAT, "the client refuses the connection: %s", shown);
    return SL_ZMTP_BROKEN;
  }
  if (reader->stage == SL_ZMTP_HANDSHAKE) {
    if (name == 5 && memcmp (called, "READY", 5) == 0) {
      reader->stage = SL_ZMTP_TRAFFIC;
      return read_ready (data, left, error) ? SL_ZMTP_WANTS : SL_ZMTP_BROKEN;
    }
    g_autofree char *shown = show (at + 1, name);
    sl_fail (error, SL_ERROR_FORMAT, "expected the command READY first, got %s", shown);
    return SL_ZMTP_BROKEN;
  }
  if (name != 4 || memcmp (called, "PING", 4) != 0)
    return SL_ZMTP_WANTS;
  if (left < 2 || left > 2 + SL_ZMTP_CONTEXT) {
    sl_fail (error, SL_ERROR_FORMAT,
             "PING: expected 2 bytes of time and up to %d of context, got %" G_GSIZE_FORMAT,
             SL_ZMTP_CONTEXT, left);
    return SL_ZMTP_BROKEN;
  }
  reader->n_context = (guint) left - 2;
  memcpy (reader->context, data + 2, reader->n_context);
  return SL_ZMTP_PING;
}

/* Whether a frame of @flags and @size may come now. */
static gboolean
check_frame (const SlZmtpReader *reader, guint8 flags, guint64 size, GError **error)
{
  const gboolean command = (flags & COMMAND) != 0;
  if ((flags & ~(MORE | LONG | COMMAND)) != 0 || (command && (flags & MORE) != 0))
    return sl_fail (error, SL_ERROR_FORMAT, "expected a frame, got one with the flags 0x%02x",
                    flags);
  if (!command && reader->stage != SL_ZMTP_TRAFFIC)
    return sl_fail (error, SL_ERROR_FORMAT, "expected the command READY first, got a message");
  if (command && size > SL_ZMTP_COMMAND)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "expected a command of at most %d bytes, got one of %" G_GUINT64_FORMAT,
                    SL_ZMTP_COMMAND, size);
  if (!command && reader->n_parts == SL_ZMTP_PARTS)
    return sl_fail (error, SL_ERROR_LIMIT, "expected a message of at most %d parts, got more",
                    SL_ZMTP_PARTS);
  return command || size <= reader->most - reader->size
         || sl_fail (error, SL_ERROR_LIMIT,
                     "expected a message of at most %" G_GSIZE_FORMAT
                     " bytes, got a part of %" G_GUINT64_FORMAT " after %" G_GSIZE_FORMAT
                     " bytes: send smaller pictures",
                     reader->most, size, reader->size);
}

static SlZmtpStep
finish_message (SlZmtpReader *reader)
{
  for (guint i = 0; i < reader->n_parts; i++) {
    SlZmtpPart *part = &reader->parts[i];
    part->data = i == reader->large_part ? reader->large : reader->bytes + reader->offsets[i];
    part->own = i == reader->large_part && part->size == reader->large_room ? &reader->large : NULL;
  }
  reader->whole = TRUE;
  return SL_ZMTP_MESSAGE;
}

static SlZmtpStep
finish_part (SlZmtpReader *reader, gsize size, guint8 flags)
{
  reader->parts[reader->n_parts++].size = size;
  reader->size += size;
  return (flags & MORE) != 0 ? SL_ZMTP_WANTS : finish_message (reader);
}

/* Memory for the large part whose frame is at @at, and what is there of it. */
static gboolean
begin_large (SlZmtpReader *reader, guint8 flags, gsize header, gsize size, GError **error)
{
  const gsize there = MIN (reader->filled - reader->at - header, size);
  if (reader->large_room != size) {
    g_clear_pointer (&reader->large, sl_tensor_buffer_free);
    reader->large = sl_tensor_buffer_new_unset (size);
    reader->large_room = reader->large != NULL ? size : 0;
  }
  if (reader->large == NULL)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "there is no memory for a part of %" G_GSIZE_FORMAT " bytes", size);
  memcpy (reader->large, reader->bytes + reader->at + header, there);
  cut (reader, reader->at, header + there);
  reader->large_part = reader->n_parts;
  reader->large_flags = flags;
  reader->large_size = size;
  reader->large_filled = there;
  return TRUE;
}

/* The large part; as read_frame(). */
static SlZmtpStep
read_large (SlZmtpReader *reader, gboolean *whole)
{
  const guint8 flags = reader->large_flags;
  *whole = reader->large_filled == reader->large_size;
  if (!*whole)
    return SL_ZMTP_WANTS;
  reader->large_flags = 0;
  return finish_part (reader, reader->large_size, flags);
}

/* The frame at @at; SL_ZMTP_WANTS with @whole set where it is there, and nobody needs to know. */
static SlZmtpStep
read_frame (SlZmtpReader *reader, gboolean *whole, GError **error)
{
  const guint8 *frame = reader->bytes + reader->at;
  const gsize there = reader->filled - reader->at;
  *whole = FALSE;
  if (there == 0)
    return SL_ZMTP_WANTS;
  const guint8 flags = frame[0];
  const gsize header = (flags & LONG) != 0 ? 9 : 2;
  if (there < header)
    return SL_ZMTP_WANTS;
  const guint64 size =
    header == 2 ? frame[1] : (guint64) sl_be32 (frame + 1) << 32 | sl_be32 (frame + 5);
  if (!check_frame (reader, flags, size, error))
    return SL_ZMTP_BROKEN;
  if ((flags & COMMAND) == 0 && size >= SL_ZMTP_LARGE && reader->large_part == SL_ZMTP_PARTS)
    return begin_large (reader, flags, header, (gsize) size, error) ? read_large (reader, whole)
                                                                    : SL_ZMTP_BROKEN;
  reader->end = reader->at + header + (gsize) size;
  if (there < header + size)
    return SL_ZMTP_WANTS;
  *whole = TRUE;
  if ((flags & COMMAND) != 0) {
    const SlZmtpStep step = read_command (reader, frame + header, (gsize) size, error);
    if (step != SL_ZMTP_BROKEN)
      cut (reader, reader->at, header + (gsize) size);
    return step;
  }
  reader->offsets[reader->n_parts] = reader->at + header;
  reader->at = reader->end;
  reader->end = 0;
  return finish_part (reader, (gsize) size, flags);
}

SlZmtpStep
sl_zmtp_reader_next (SlZmtpReader *reader, GError **error)
{
  SlZmtpStep step;
  gboolean whole;
  if (reader->whole)
    forget_message (reader);
  if (reader->stage == SL_ZMTP_GREETING)
    return read_greeting (reader, error);
  do
    step =
      reader->large_flags != 0 ? read_large (reader, &whole) : read_frame (reader, &whole, error);
  while (step == SL_ZMTP_WANTS && whole);
  return step;
}

void
sl_zmtp_append_greeting (GByteArray *out)
{
  guint8 greeting[GREETING] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, MAJOR, MINOR };
  memcpy (greeting + MECHANISM, "NULL", 4);
  g_byte_array_append (out, greeting, sizeof greeting);
}

void
sl_zmtp_append_part (GByteArray *out, gconstpointer data, gsize size, gboolean more)
{
  const guint8 flags = more ? MORE : 0;
  if (size <= G_MAXUINT8) {
    const guint8 header[] = { flags, (guint8) size };
    g_byte_array_append (out, header, sizeof header);
  } else {
    const guint64 length = GUINT64_TO_BE ((guint64) size);
    guint8 header[9] = { flags | LONG };
    memcpy (header + 1, &length, sizeof length);
    g_byte_array_append (out, header, sizeof header);
  }
  if (size > 0)
    g_byte_array_append (out, data, (guint) size);
}

void
sl_zmtp_append_ready (GByteArray *out)
{
  static const guint8 ready[] = "\4\34\5READY\13Socket-Type\0\0\0\6ROUTER";
  g_byte_array_append (out, ready, sizeof ready - 1);
}

void
sl_zmtp_append_pong (GByteArray *out, const SlZmtpReader *reader)
{
  const guint8 header[] = { COMMAND, (guint8) (5 + reader->n_context), 4, 'P', 'O', 'N', 'G' };
  g_byte_array_append (out, header, sizeof header);
  g_byte_array_append (out, reader->context, reader->n_context);
}
