/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pieces are written asynchronously; what the client says is read and forgotten, because its end of
 * the connection is how it says goodbye. Callbacks may come after the end: they hold the stream's
 * shell, which goes with the last of them.
 */
#include "tools/run/http/stream.h"

/* Bytes that a client may say once it is a stream's: nothing is asked of it any more. */
#define MAX_HEARD 4096

struct _SlStream
{
  gint references; /* of the owner and of operations that go on */
  GIOStream *connection;
  GSocket *socket;
  GCancellable *cancellable;
  GBytes *piece; /* (nullable): on its way */
  gint64 sent;
  gboolean over;
  gsize heard;
  SlStreamChanged changed; /* NULL once freed */
  gpointer data;
  char read[256];
};

static void read_more (SlStream *stream);

static void
unref (SlStream *stream)
{
  if (--stream->references > 0)
    return;
  g_clear_pointer (&stream->piece, g_bytes_unref);
  g_object_unref (stream->connection);
  g_object_unref (stream->socket);
  g_object_unref (stream->cancellable);
  g_free (stream);
}

static void
tell (SlStream *stream)
{
  if (stream->changed != NULL)
    stream->changed (stream, stream->data);
}

/* The socket is shut down below TLS, whose own goodbye could wait for the client. */
static void
finish (SlStream *stream)
{
  if (stream->over)
    return;
  stream->over = TRUE;
  g_socket_shutdown (stream->socket, TRUE, TRUE, NULL);
  g_cancellable_cancel (stream->cancellable);
}

static void
on_read (GObject *input, GAsyncResult *result, gpointer data)
{
  SlStream *stream = data;
  const gssize n = g_input_stream_read_finish (G_INPUT_STREAM (input), result, NULL);
  stream->heard += (gsize) MAX (n, 0);
  if (n > 0 && stream->heard <= MAX_HEARD && !stream->over) {
    read_more (stream);
  } else if (stream->changed != NULL) {
    finish (stream);
    tell (stream);
  }
  unref (stream);
}

static void
read_more (SlStream *stream)
{
  stream->references++;
  g_input_stream_read_async (g_io_stream_get_input_stream (stream->connection), stream->read,
                             sizeof stream->read, G_PRIORITY_DEFAULT, stream->cancellable, on_read,
                             stream);
}

SlStream *
sl_stream_new (GIOStream *connection, GSocket *socket, SlStreamChanged changed, gpointer data)
{
  SlStream *stream = g_new0 (SlStream, 1);
  stream->references = 1;
  stream->connection = connection;
  stream->socket = socket;
  stream->cancellable = g_cancellable_new ();
  stream->sent = g_get_monotonic_time ();
  stream->changed = changed;
  stream->data = data;
  read_more (stream);
  return stream;
}

void
sl_stream_free (SlStream *stream)
{
  stream->changed = NULL;
  finish (stream);
  unref (stream);
}

static void
on_written (GObject *output, GAsyncResult *result, gpointer data)
{
  SlStream *stream = data;
  g_clear_pointer (&stream->piece, g_bytes_unref);
  /* A client that is gone is noticed by reading, too, which tells. */
  if (!g_output_stream_write_all_finish (G_OUTPUT_STREAM (output), result, NULL, NULL))
    finish (stream);
  else if (!stream->over)
    tell (stream);
  unref (stream);
}

void
sl_stream_send (SlStream *stream, GBytes *piece)
{
  gsize size;
  const void *data = g_bytes_get_data (piece, &size);
  g_assert (stream->piece == NULL);
  stream->piece = piece;
  stream->sent = g_get_monotonic_time ();
  stream->references++;
  g_output_stream_write_all_async (g_io_stream_get_output_stream (stream->connection), data, size,
                                   G_PRIORITY_DEFAULT, stream->cancellable, on_written, stream);
}

gboolean
sl_stream_is_ready (const SlStream *stream)
{
  return stream->piece == NULL && !stream->over;
}

gboolean
sl_stream_is_over (const SlStream *stream)
{
  return stream->over;
}

gint64
sl_stream_idle (const SlStream *stream)
{
  return g_get_monotonic_time () - stream->sent;
}

void
sl_stream_end (SlStream *stream)
{
  finish (stream);
}

void
sl_stream_expire (SlStream *stream)
{
  if (stream->piece != NULL && sl_stream_idle (stream) > SL_STREAM_PATIENCE * G_USEC_PER_SEC)
    finish (stream);
}
