/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The MQTT transport against a broker in this file that speaks MQTT 3.1.1 from its specification
 * and resets its connections wherever it likes. It knows what no subscriber can: under which
 * message id each line came. MQTT lets a line come again under its id, and exactly once means that
 * it never comes under a second one.
 */
#include "config.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>

#include "plugins/publish/publisher.h"
#include "tests/support/program.h"

#define LINES 1500
#define PATIENCE (100 * G_USEC_PER_SEC)

enum
{
  CONNECT = 1,
  PUBLISH = 3,
  PUBREL = 6,
  PINGREQ = 12,
  DISCONNECT = 14,
};

typedef struct
{
  GSocketListener *listener;
  GCancellable *stop;
  GThread *thread;
  GHashTable *ids;  /* line -> message id */
  GPtrArray *heard; /* lines, borrowed, in the order they first came */
  guint n_repeated; /* lines that came again under another id */
  guint n_resets;
} Broker;

typedef struct
{
  guint8 first; /* kind and flags */
  guint8 body[512];
  gsize bytes;
} Packet;

static gboolean
read_packet (Broker *broker, GInputStream *in, Packet *packet)
{
  gsize got, length = 0;
  guint8 byte;
  guint shift = 0;
  if (!g_input_stream_read_all (in, &packet->first, 1, &got, broker->stop, NULL) || got != 1)
    return FALSE;
  do {
    if (!g_input_stream_read_all (in, &byte, 1, &got, broker->stop, NULL) || got != 1)
      return FALSE;
    length |= (gsize) (byte & 0x7f) << shift;
    shift += 7;
  } while ((byte & 0x80) != 0);
  g_assert_cmpuint (length, <=, sizeof packet->body);
  return g_input_stream_read_all (in, packet->body, length, &packet->bytes, broker->stop, NULL)
         && packet->bytes == length;
}

static guint
number_at (const Packet *packet, gsize at)
{
  g_assert_cmpuint (at + 2, <=, packet->bytes);
  return (guint) packet->body[at] << 8 | packet->body[at + 1];
}

static void
answer (Broker *broker, GOutputStream *out, guint8 first, guint number)
{
  const guint8 packet[] = { first, 2, (guint8) (number >> 8), (guint8) number };
  g_output_stream_write_all (out, packet, sizeof packet, NULL, broker->stop, NULL);
}

static void
note_line (Broker *broker, const Packet *packet, guint id, gsize at)
{
  char *line = g_strndup ((const char *) packet->body + at, packet->bytes - at);
  gpointer known;
  if (!g_hash_table_lookup_extended (broker->ids, line, NULL, &known)) {
    g_ptr_array_add (broker->heard, line);
    g_hash_table_insert (broker->ids, line, GUINT_TO_POINTER (id));
    return;
  }
  broker->n_repeated += GPOINTER_TO_UINT (known) != id;
  g_free (line);
}

/* FALSE: the connection ends. */
static gboolean
take_packet (Broker *broker, GOutputStream *out, const Packet *packet, guint *n_published)
{
  switch (packet->first >> 4) {
    case CONNECT:
      answer (broker, out, 0x20, 0);
      return TRUE;
    case PUBLISH: {
      const guint topic = number_at (packet, 0), id = number_at (packet, 2 + topic);
      g_assert_cmpuint (packet->first >> 1 & 3, ==, 2);
      note_line (broker, packet, id, 4 + topic);
      answer (broker, out, 0x50, id);
      (*n_published)++;
      return TRUE;
    }
    case PUBREL:
      answer (broker, out, 0x70, number_at (packet, 0));
      return TRUE;
    case PINGREQ:
      return g_output_stream_write_all (out, "\xd0\0", 2, NULL, broker->stop, NULL);
    default:
      g_assert_cmpuint (packet->first >> 4, ==, DISCONNECT);
      return FALSE;
  }
}

static gpointer
broker_thread (gpointer data)
{
  Broker *broker = data;
  for (;;) {
    g_autoptr (GSocketConnection) peer =
      g_socket_listener_accept (broker->listener, NULL, broker->stop, NULL);
    if (peer == NULL)
      return NULL;
    g_autoptr (GInputStream) in =
      g_buffered_input_stream_new (g_io_stream_get_input_stream (G_IO_STREAM (peer)));
    GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (peer));
    const guint end = 1 + broker->n_resets % 40;
    guint n_published = 0;
    Packet packet;
    while (n_published < end && read_packet (broker, in, &packet)
           && take_packet (broker, out, &packet, &n_published))
      continue;
    if (n_published == end) {
      const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
      setsockopt (g_socket_get_fd (g_socket_connection_get_socket (peer)), SOL_SOCKET, SO_LINGER,
                  &reset, sizeof reset);
      broker->n_resets++;
    }
    g_io_stream_close (G_IO_STREAM (peer), NULL, NULL);
  }
}

static guint
start_broker (Broker *broker)
{
  *broker = (Broker){ .listener = g_socket_listener_new (), .stop = g_cancellable_new () };
  const guint port = g_socket_listener_add_any_inet_port (broker->listener, NULL, NULL);
  broker->ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  broker->heard = g_ptr_array_new ();
  broker->thread = g_thread_new ("broker", broker_thread, broker);
  return port;
}

static void
stop_broker (Broker *broker)
{
  g_cancellable_cancel (broker->stop);
  g_thread_join (broker->thread);
}

static void
clear_broker (Broker *broker)
{
  g_ptr_array_unref (broker->heard);
  g_hash_table_unref (broker->ids);
  g_object_unref (broker->listener);
  g_object_unref (broker->stop);
}

static void
ignore_news (gpointer user_data, SlPublishState state, const char *reason, guint retry_ms)
{
}

/* Connections break while lines are being written: none is lost, none comes under two ids, and all
 * come in order. */
static void
test_resets (void)
{
  Broker broker;
  const guint port = start_broker (&broker);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/a", port);
  g_autoptr (GError) error = NULL;
  const SlPublishSettings settings = { .location = location,
                                       .name = "a",
                                       .source = "a",
                                       .client_id = "publisher",
                                       .availability = "",
                                       .queue_bytes = 1 << 20,
                                       .retry_min_ms = 1,
                                       .retry_max_ms = 1,
                                       .qos = 2,
                                       .keep_alive = 60 };
  SlPublisher *publisher = sl_publisher_new (&settings, ignore_news, NULL, NULL, &error);
  SlPublishCounts counts;
  g_assert_no_error (error);
  for (guint i = 0; i < LINES; i++) {
    g_autofree char *line = g_strdup_printf ("{\"frame\":%u}", i);
    g_assert_cmpint (sl_publisher_put (publisher, line, strlen (line)), ==, SL_PUT_TAKEN);
  }
  g_assert_true (sl_publisher_drain (publisher, PATIENCE));
  sl_publisher_stop (publisher, &counts);
  stop_broker (&broker);
  g_assert_cmpuint (broker.n_resets, >=, LINES / 40);
  g_assert_cmpuint (counts.published, ==, LINES);
  g_assert_cmpuint (counts.dropped, ==, 0);
  g_assert_cmpuint (broker.n_repeated, ==, 0);
  g_assert_cmpuint (broker.heard->len, ==, LINES);
  for (guint i = 0; i < LINES; i++) {
    g_autofree char *line = g_strdup_printf ("{\"frame\":%u}", i);
    g_assert_cmpstr (g_ptr_array_index (broker.heard, i), ==, line);
  }
  clear_broker (&broker);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/publish-mqtt/resets", test_resets);
  return g_test_run ();
}
