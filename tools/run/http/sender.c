/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/http/sender.h"

#include <string.h>
#include <unistd.h>

#include "tools/run/http/server.h"
#include "tools/run/http/stream.h"

#define PIECE (128 << 10)

/* @at, @end: offsets of the bytes that are still to be sent */
typedef struct
{
  SlSenders *senders;
  SoupServerMessage *message; /* (nullable): until it is begun */
  GSource *begin;             /* (nullable) */
  SlSendFile file;
  char *head;
  SlStream *stream; /* (nullable) */
  guint64 at, end;
} Sender;

struct _SlSenders
{
  SlConnections *connections;
  GPtrArray *all; /* of Sender */
};

static void
sender_free (gpointer data)
{
  Sender *sender = data;
  if (sender->begin != NULL) {
    g_source_destroy (sender->begin);
    g_source_unref (sender->begin);
  }
  g_clear_pointer (&sender->stream, sl_stream_free);
  g_clear_object (&sender->message);
  sender->file.free (sender->file.data);
  g_free (sender->head);
  g_free (sender);
}

SlSenders *
sl_senders_new (SlConnections *connections)
{
  SlSenders *senders = g_new0 (SlSenders, 1);
  senders->connections = connections;
  senders->all = g_ptr_array_new_with_free_func (sender_free);
  return senders;
}

void
sl_senders_free (SlSenders *senders)
{
  g_ptr_array_unref (senders->all);
  g_free (senders);
}

void
sl_senders_tick (SlSenders *senders)
{
  for (guint i = 0; i < senders->all->len; i++) {
    Sender *sender = senders->all->pdata[i];
    if (sender->stream != NULL)
      sl_stream_expire (sender->stream);
  }
}

gboolean
sl_senders_is_full (const SlSenders *senders)
{
  return senders->all->len >= SL_SENDERS_MOST;
}

/* Also where the file is shorter than it was: the client sees that bytes are missing. */
static void
send_more (SlStream *stream, gpointer data)
{
  Sender *sender = data;
  if (sl_stream_is_over (stream) || sender->at >= sender->end) {
    g_ptr_array_remove_fast (sender->senders->all, sender);
    return;
  }
  if (!sl_stream_is_ready (stream))
    return;
  guint8 *piece = g_malloc (PIECE);
  const gssize n = pread (sender->file.fd, piece, (gsize) MIN (PIECE, sender->end - sender->at),
                          (off_t) sender->at);
  if (n <= 0) {
    g_free (piece);
    g_ptr_array_remove_fast (sender->senders->all, sender);
    return;
  }
  sender->at += (guint64) n;
  sl_stream_send (stream, g_bytes_new_take (piece, (gsize) n));
}

static gboolean
on_begin (gpointer data)
{
  Sender *sender = data;
  GSocket *socket = NULL;
  g_autoptr (SoupServerMessage) message = g_steal_pointer (&sender->message);
  g_clear_pointer (&sender->begin, g_source_unref);
  GIOStream *connection = sl_connections_steal (sender->senders->connections, message, &socket);
  if (connection == NULL) {
    g_ptr_array_remove_fast (sender->senders->all, sender);
    return G_SOURCE_REMOVE;
  }
  sender->stream = sl_stream_new (connection, socket, send_more, sender);
  sl_stream_send (sender->stream, g_bytes_new (sender->head, strlen (sender->head)));
  return G_SOURCE_REMOVE;
}

static gboolean
read_digits (const char **text, guint64 *number)
{
  if (!g_ascii_isdigit (**text))
    return FALSE;
  *number = g_ascii_strtoull (*text, (char **) text, 10);
  return TRUE;
}

/* One range of bytes, "bytes=A-B", "bytes=A-" or "bytes=-N": to others, and where B is before A,
 * the whole is sent. FALSE: it is beyond the end. */
static gboolean
read_range (const char *range, guint64 size, guint64 *at, guint64 *end, gboolean *part)
{
  guint64 first = 0, last = 0;
  const char *c = range != NULL && g_str_has_prefix (range, "bytes=") ? range + 6 : "";
  const gboolean has_first = read_digits (&c, &first);
  *part = FALSE;
  *at = 0;
  *end = size;
  if (*c != '-')
    return TRUE;
  c++;
  const gboolean has_last = read_digits (&c, &last);
  if (*c != '\0' || (!has_first && !has_last) || (has_first && has_last && last < first))
    return TRUE;
  *part = TRUE;
  *at = has_first ? first : size - MIN (size, last);
  *end = has_first && has_last && last < size ? last + 1 : size;
  return *at < *end;
}

static char *
make_head (const SlSendFile *file, guint64 at, guint64 end, gboolean part)
{
  GString *head = g_string_new (part ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n");
  g_string_append_printf (
    head,
    "Content-Type: %s\r\nContent-Length: %" G_GUINT64_FORMAT
    "\r\nAccept-Ranges: bytes\r\nConnection: close\r\nCache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: "
    "same-origin\r\nContent-Security-Policy: " SL_HTTP_DATA_POLICY "\r\n",
    file->type, end - at);
  if (part)
    g_string_append_printf (head,
                            "Content-Range: bytes %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT
                            "/%" G_GUINT64_FORMAT "\r\n",
                            at, end - 1, file->size);
  if (file->name != NULL)
    g_string_append_printf (head, "Content-Disposition: attachment; filename=\"%s\"\r\n",
                            file->name);
  g_string_append (head, "\r\n");
  return g_string_free (head, FALSE);
}

gboolean
sl_senders_send (SlSenders *senders, SoupServerMessage *message, const SlSendFile *file)
{
  guint64 at, end;
  gboolean part;
  if (soup_server_message_get_method (message) == SOUP_METHOD_HEAD) {
    SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
    sl_http_answer (message, SOUP_STATUS_OK, file->type, g_string_new (NULL));
    soup_message_headers_set_content_length (headers, (goffset) file->size);
    soup_message_headers_replace (headers, "Accept-Ranges", "bytes");
    file->free (file->data);
    return FALSE;
  }
  if (!read_range (sl_http_range (message), file->size, &at, &end, &part)) {
    g_autofree char *size = g_strdup_printf ("bytes */%" G_GUINT64_FORMAT, file->size);
    soup_message_headers_replace (soup_server_message_get_response_headers (message),
                                  "Content-Range", size);
    sl_http_answer_text (message, SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE,
                         "there is nothing there: expected bytes of %" G_GUINT64_FORMAT,
                         file->size);
    file->free (file->data);
    return FALSE;
  }
  Sender *sender = g_new0 (Sender, 1);
  sender->senders = senders;
  sender->message = g_object_ref (message);
  sender->file = *file;
  sender->at = at;
  sender->end = end;
  sender->head = make_head (file, at, end, part);
  g_ptr_array_add (senders->all, sender);
  soup_server_message_pause (message);
  sender->begin = g_idle_source_new ();
  g_source_set_callback (sender->begin, on_begin, sender, NULL);
  g_source_attach (sender->begin, g_main_context_get_thread_default ());
  return TRUE;
}
