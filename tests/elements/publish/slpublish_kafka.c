/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpublish to the mock cluster that comes with librdkafka, whose brokers refuse requests, close
 * connections and go away. What a consumer reads to the end of every partition is compared with
 * what was pushed.
 */
#include "config.h"

#include <dlfcn.h>
#include <gio/gio.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "plugins/base/settings.h"
#include "plugins/publish/kafka_client.h"
#include "tests/elements/process.h"
#include "tests/elements/publish/support.h"
#include "tests/elements/support.h"

#define PARTITIONS 4
#define PRODUCE 0

typedef struct
{
  rd_kafka_t *host;
  rd_kafka_mock_cluster_t *mock;
  gint brokers;
} Cluster;

/* What was read of one key, in the order of its partition. */
typedef struct
{
  gint partition;
  GPtrArray *lines;
} Heard;

/* In the library's place: the element's clients are known here, none is made where the test says
 * so, and a client has one request on its way where the test says so. */
static rd_kafka_t *newest;
static gint failures, in_turn;

rd_kafka_t *
rd_kafka_new (rd_kafka_type_t type, rd_kafka_conf_t *conf, char *reason, size_t bytes)
{
  rd_kafka_t *(*make) (rd_kafka_type_t, rd_kafka_conf_t *, char *, size_t) = NULL;
  *(void **) &make = dlsym (RTLD_NEXT, "rd_kafka_new");
  if (g_atomic_int_get (&failures) > 0) {
    g_atomic_int_add (&failures, -1);
    g_strlcpy (reason, "no thread is left", bytes);
    return NULL;
  }
  if (g_atomic_int_get (&in_turn))
    rd_kafka_conf_set (conf, "max.in.flight", "1", NULL, 0);
  rd_kafka_t *client = make (type, conf, reason, bytes);
  g_atomic_pointer_set (&newest, client);
  return client;
}

/* Questions to brokers get no answer while it is on. */
static struct
{
  GMutex lock;
  GCond changed;
  gboolean on, asked;
  guint destroyed;
} silence;

rd_kafka_resp_err_t
rd_kafka_metadata (rd_kafka_t *client, int all, rd_kafka_topic_t *topic,
                   const struct rd_kafka_metadata **about, int timeout)
{
  rd_kafka_resp_err_t (*ask) (rd_kafka_t *, int, rd_kafka_topic_t *,
                              const struct rd_kafka_metadata **, int) = NULL;
  *(void **) &ask = dlsym (RTLD_NEXT, "rd_kafka_metadata");
  g_mutex_lock (&silence.lock);
  const gboolean silent = silence.on;
  silence.asked = TRUE;
  g_cond_broadcast (&silence.changed);
  while (silence.on)
    g_cond_wait (&silence.changed, &silence.lock);
  g_mutex_unlock (&silence.lock);
  return silent ? RD_KAFKA_RESP_ERR__TIMED_OUT : ask (client, all, topic, about, timeout);
}

void
rd_kafka_destroy (rd_kafka_t *client)
{
  void (*destroy) (rd_kafka_t *) = NULL;
  *(void **) &destroy = dlsym (RTLD_NEXT, "rd_kafka_destroy");
  destroy (client);
  g_mutex_lock (&silence.lock);
  silence.destroyed++;
  g_cond_broadcast (&silence.changed);
  g_mutex_unlock (&silence.lock);
}

static void
heard_free (gpointer data)
{
  Heard *heard = data;
  g_ptr_array_unref (heard->lines);
  g_free (heard);
}

static void
open_cluster (Cluster *cluster, gint brokers)
{
  char reason[256];
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  rd_kafka_conf_set (conf, "log_level", "0", NULL, 0);
  cluster->host = rd_kafka_new (RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
  g_assert_nonnull (cluster->host);
  cluster->mock = rd_kafka_mock_cluster_new (cluster->host, brokers);
  cluster->brokers = brokers;
  g_assert_cmpint (rd_kafka_mock_topic_create (cluster->mock, "boxes", PARTITIONS, 1), ==,
                   RD_KAFKA_RESP_ERR_NO_ERROR);
}

static void
close_cluster (Cluster *cluster)
{
  rd_kafka_mock_cluster_destroy (cluster->mock);
  rd_kafka_destroy (cluster->host);
}

static void
set_down (Cluster *cluster, gboolean down)
{
  for (gint i = 1; i <= cluster->brokers; i++)
    g_assert_cmpint (down ? rd_kafka_mock_broker_set_down (cluster->mock, i)
                          : rd_kafka_mock_broker_set_up (cluster->mock, i),
                     ==, RD_KAFKA_RESP_ERR_NO_ERROR);
}

static char *
location_of (Cluster *cluster, const char *topic)
{
  return g_strdup_printf ("kafka://%s/%s", rd_kafka_mock_cluster_bootstraps (cluster->mock), topic);
}

static void
take_message (GHashTable *all, const rd_kafka_message_t *message)
{
  g_autofree char *key = g_strndup (message->key, message->key_len);
  Heard *heard = g_hash_table_lookup (all, key);
  if (heard == NULL) {
    heard = g_new0 (Heard, 1);
    heard->partition = message->partition;
    heard->lines = g_ptr_array_new_with_free_func (g_free);
    g_hash_table_insert (all, g_strdup (key), heard);
  }
  g_assert_cmpint (heard->partition, ==, message->partition);
  g_ptr_array_add (heard->lines, g_strndup (message->payload, message->len));
}

/* (transfer full) (element-type utf8 Heard): all that is in the topic, by key. */
static GHashTable *
read_topic (Cluster *cluster, const char *topic)
{
  GHashTable *all = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, heard_free);
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  rd_kafka_conf_set (conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps (cluster->mock),
                     NULL, 0);
  rd_kafka_conf_set (conf, "group.id", "reader", NULL, 0);
  rd_kafka_conf_set (conf, "enable.partition.eof", "true", NULL, 0);
  rd_kafka_conf_set (conf, "fetch.wait.max.ms", "10", NULL, 0);
  rd_kafka_conf_set (conf, "log_level", "0", NULL, 0);
  rd_kafka_t *reader = rd_kafka_new (RD_KAFKA_CONSUMER, conf, NULL, 0);
  g_assert_nonnull (reader);
  rd_kafka_topic_partition_list_t *parts = rd_kafka_topic_partition_list_new (PARTITIONS);
  for (gint i = 0; i < PARTITIONS; i++)
    rd_kafka_topic_partition_list_add (parts, topic, i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  rd_kafka_assign (reader, parts);
  for (guint ends = 0; ends < (1 << PARTITIONS) - 1;) {
    rd_kafka_message_t *message = rd_kafka_consumer_poll (reader, 100);
    if (message == NULL)
      continue;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
      ends |= 1u << message->partition;
    else if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
      take_message (all, message);
    rd_kafka_message_destroy (message);
  }
  rd_kafka_topic_partition_list_destroy (parts);
  rd_kafka_consumer_close (reader);
  rd_kafka_destroy (reader);
  return all;
}

/* What was read of @key are lines from @from on, each once and in order. Returns their number. */
static guint
count_lines (GHashTable *all, const char *key, guint from)
{
  const Heard *heard = g_hash_table_lookup (all, key);
  const guint n = heard != NULL ? heard->lines->len : 0;
  for (guint i = 0; i < n; i++) {
    g_autofree char *line = publish_line (from + i);
    g_assert_cmpstr (heard->lines->pdata[i], ==, line);
  }
  return n;
}

/* Each line from @from up to, not with, @to, once and in order, is what was read of @key. */
static void
check_lines (GHashTable *all, const char *key, guint from, guint to)
{
  g_assert_cmpuint (count_lines (all, key, from), ==, to - from);
}

static void
end_stream (GstHarness *harness, guint64 published, guint64 dropped)
{
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (publish_count (harness, "published"), ==, published);
  g_assert_cmpuint (publish_count (harness, "dropped"), ==, dropped);
}

/* Three cameras, one topic: a camera's lines are in one partition, in order; keys are what was
 * asked for. */
static void
test_keys (void)
{
  Cluster cluster;
  GstBus *buses[3];
  GstHarness *harnesses[3];
  const char *more[] = { "source=door", "name=gate", "source=yard message-key=shop/{source}" };
  g_autofree char *named = g_strdup_printf ("%s/gate", g_get_host_name ());
  const char *keys[] = { "door", named, "shop/yard" };
  open_cluster (&cluster, 3);
  g_autofree char *location = location_of (&cluster, "boxes");
  for (guint i = 0; i < 3; i++)
    harnesses[i] = publish_start (location, more[i], &buses[i]);
  for (guint at = 0; at < 500; at += 100)
    for (guint i = 0; i < 3; i++)
      publish_push_lines (harnesses[i], at, at + 100);
  for (guint i = 0; i < 3; i++)
    end_stream (harnesses[i], 500, 0);
  g_autoptr (GHashTable) all = read_topic (&cluster, "boxes");
  g_assert_cmpuint (g_hash_table_size (all), ==, 3);
  for (guint i = 0; i < 3; i++) {
    check_lines (all, keys[i], 0, 500);
    publish_finish (harnesses[i], buses[i]);
  }
  close_cluster (&cluster);
}

/* Brokers that refuse for now and close connections: the library sends again, and each line is
 * there once, in order. A real broker does not write a request whose predecessor it refused. The
 * mock does, and the library takes its acknowledgement for that of both. So requests go in turn. */
static void
test_once (void)
{
  Cluster cluster;
  GstBus *bus;
  open_cluster (&cluster, 3);
  g_atomic_int_set (&in_turn, TRUE);
  g_autofree char *location = location_of (&cluster, "boxes");
  GstHarness *harness = publish_start (location, "source=door", &bus);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  g_atomic_int_set (&in_turn, FALSE);
  for (guint at = 0; at < 600; at += 300) {
    rd_kafka_mock_push_request_errors (
      cluster.mock, PRODUCE, 3, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR__TRANSPORT,
      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
    publish_push_lines (harness, at, at + 300);
    g_usleep (20000);
  }
  end_stream (harness, 600, 0);
  g_autoptr (GHashTable) all = read_topic (&cluster, "boxes");
  check_lines (all, "door", 0, 600);
  publish_finish (harness, bus);
  close_cluster (&cluster);
}

/* A cluster that goes away and comes back: what is lost is what the queue has no room for, and it
 * is counted. */
static void
test_away (void)
{
  Cluster cluster;
  GstBus *bus;
  open_cluster (&cluster, 1);
  g_autofree char *location = location_of (&cluster, "boxes");
  GstHarness *harness = publish_start (location, "source=door max-queue-bytes=4096", &bus);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  set_down (&cluster, TRUE);
  gst_structure_free (publish_wait_for_state (bus, "disconnected"));
  g_autofree char *text = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_test_message ("%s", text);
  g_assert_true (g_str_has_prefix (text, "Kafka broker 127.0.0.1:"));
  g_assert_nonnull (
    strstr (text, "; trying again, lines are kept meanwhile up to max-queue-bytes"));
  publish_push_lines (harness, 0, 1000);
  const guint64 dropped = publish_count (harness, "dropped");
  g_assert_cmpuint (dropped, >, 800);
  g_assert_cmpuint (dropped, <, 1000);
  set_down (&cluster, FALSE);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  end_stream (harness, 1000 - dropped, dropped);
  g_autoptr (GHashTable) all = read_topic (&cluster, "boxes");
  check_lines (all, "door", (guint) dropped, 1000);
  publish_finish (harness, bus);
  close_cluster (&cluster);
}

/* A line that brokers will not have is counted, its reason is told, and the next one goes out. */
static void
test_refused (void)
{
  Cluster cluster;
  GstBus *bus;
  open_cluster (&cluster, 1);
  g_autofree char *location = location_of (&cluster, "boxes");
  GstHarness *harness = publish_start (location, "source=door", &bus);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  rd_kafka_mock_push_request_errors (cluster.mock, PRODUCE, 1, RD_KAFKA_RESP_ERR_INVALID_RECORD);
  publish_push_lines (harness, 0, 1);
  GstStructure *told = publish_wait_for_state (bus, "refused");
  g_assert_cmpstr (
    gst_structure_get_string (told, "reason"), ==,
    "Kafka topic boxes: a line was refused: Broker: Broker failed to validate record");
  gst_structure_free (told);
  g_autofree char *text = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_assert_nonnull (
    strstr (text, "failed to validate record; such lines are lost and counted in dropped"));
  /* More than brokers take in a message. */
  g_autofree char *large = g_strnfill (2000000, 'x');
  publish_push_text (harness, large);
  publish_push_lines (harness, 2, 10);
  end_stream (harness, 8, 2);
  g_autoptr (GHashTable) all = read_topic (&cluster, "boxes");
  check_lines (all, "door", 2, 10);
  publish_finish (harness, bus);
  close_cluster (&cluster);
}

static void
check_warning (const char *location, const char *more, const char *first, const char *then)
{
  GstBus *bus;
  GstHarness *harness = publish_start (location, more, &bus);
  publish_push_lines (harness, 0, 10);
  g_autofree char *text = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_test_message ("%s", text);
  g_assert_nonnull (strstr (text, first));
  g_assert_nonnull (strstr (text, then));
  g_assert_null (strstr (text, "secret"));
  const gint64 begun = g_get_monotonic_time ();
  g_assert_cmpint (gst_element_set_state (harness->element, GST_STATE_NULL), ==,
                   GST_STATE_CHANGE_SUCCESS);
  g_assert_cmpint (g_get_monotonic_time () - begun, <, PUBLISH_PATIENCE / 4);
  g_assert_cmpuint (publish_count (harness, "published"), ==, 0);
  g_assert_cmpuint (publish_count (harness, "dropped"), ==, 10);
  publish_finish (harness, bus);
}

/* Nobody there, a topic that is not there, no TLS there: the warning says so, and stopping takes no
 * time. */
static void
test_warnings (void)
{
  Cluster cluster;
  g_autofree char *nobody = g_strdup_printf ("kafka://127.0.0.1:%u/boxes", test_reserve_port ());
  check_warning (nobody, "", "Kafka broker 127.0.0.1:", "Connection refused; trying again");
  open_cluster (&cluster, 1);
  rd_kafka_mock_topic_set_error (cluster.mock, "closed",
                                 RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  rd_kafka_mock_topic_set_error (cluster.mock, "nowhere", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const char *brokers = rd_kafka_mock_cluster_bootstraps (cluster.mock);
  g_autofree char *closed = location_of (&cluster, "closed"),
                  *nowhere = location_of (&cluster, "nowhere"),
                  *tls = g_strdup_printf ("kafkas://me:secret@%s/boxes", brokers);
  /* The mock cluster lists partitions of a topic that it refuses, which no broker does. A client of
   * librdkafka 2.8 has none of them then, and crashes; that of 2.0 skips them. */
  if (rd_kafka_version () < 0x02010000)
    check_warning (closed, "", "Kafka topic closed: Broker: Topic authorization failed",
                   ": make the topic, or give this user the right to write to it; trying again");
  check_warning (nowhere, "", "Kafka topic nowhere: Broker: Unknown topic or partition",
                 ": make the topic, or give this user the right to write to it; trying again");
  check_warning (tls, "", "Kafka broker sasl_ssl://127.0.0.1:", "trying again");
  close_cluster (&cluster);
}

/* A broker of which no more is there than what refuses a user: answers to ApiVersions,
 * SaslHandshake and SaslAuthenticate, from the protocol's guide. */
static void
refuse_user (GSocketConnection *connection)
{
  /* Behind the correlation id. Keys 0, 3, 17, 18, 22 and 36, each with its first and last version;
   * throttle time. */
  static const guint8 versions[] = { 0, 0,  7, 0, 0, 0,  0, 0, 7,  0, 0, 3, 0, 0, 0, 4,  0,
                                     0, 17, 0, 0, 0, 1,  0, 0, 18, 0, 0, 0, 3, 0, 0, 22, 0,
                                     0, 0,  1, 0, 0, 36, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0 };
  static const guint8 handshake[] = { 0, 0, 0, 0, 0, 1, 0, 5, 'P', 'L', 'A', 'I', 'N' };
  static const guint8 authenticate[] = {
    0, 58, 0, 7, 'n', 'o', ' ', 'u', 's', 'e', 'r', 0, 0, 0, 0
  };
  GInputStream *in = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  guint8 head[12], rest[1024];
  gsize got;
  while (g_input_stream_read_all (in, head, sizeof head, &got, NULL, NULL) && got == sizeof head) {
    const gsize size = (gsize) head[2] << 8 | head[3];
    const guint key = head[5];
    if (size < 8 || size - 8 > sizeof rest
        || !g_input_stream_read_all (in, rest, size - 8, NULL, NULL, NULL))
      break;
    const guint8 *body = key == 18 ? versions : key == 17 ? handshake : authenticate;
    const gsize bytes = key == 18   ? sizeof versions
                        : key == 17 ? sizeof handshake
                                    : sizeof authenticate;
    guint8 answer[8] = { 0, 0, 0, (guint8) (4 + bytes) };
    memcpy (answer + 4, head + 8, 4);
    g_output_stream_write_all (out, answer, sizeof answer, NULL, NULL, NULL);
    g_output_stream_write_all (out, body, bytes, NULL, NULL, NULL);
  }
}

typedef struct
{
  GSocketListener *listener;
  GCancellable *end;
} Refusing;

static gpointer
refusing_thread (gpointer data)
{
  const Refusing *self = data;
  GSocketConnection *connection;
  while ((connection = g_socket_listener_accept (self->listener, NULL, self->end, NULL)) != NULL) {
    refuse_user (connection);
    g_object_unref (connection);
  }
  return NULL;
}

static void
test_user (void)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  g_autoptr (GCancellable) end = g_cancellable_new ();
  Refusing refusing = { listener, end };
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  g_assert_cmpuint (port, >, 0);
  GThread *thread = g_thread_new ("broker", refusing_thread, &refusing);
  g_autofree char *location = g_strdup_printf ("kafka://me:secret@127.0.0.1:%u/boxes", port);
  check_warning (location, "sasl-mechanism=PLAIN", "no user",
                 ": check username, password and sasl-mechanism; trying again");
  g_cancellable_cancel (end);
  g_thread_join (thread);
}

/* A server with a certificate of its own signing: refused without it; with it, what follows is no
 * Kafka. */
static void
test_tls (void)
{
  g_autofree char *certificate = NULL, *key = NULL, *program = g_find_program_in_path ("openssl");
  if (!test_certificate (&certificate, &key))
    return;
  const guint port = test_reserve_port ();
  g_autofree char *number = g_strdup_printf ("%u", port),
                  *location = g_strdup_printf ("kafkas://localhost:%u/boxes", port),
                  *with = g_strdup_printf ("ca-file=%s", certificate);
  const char *argv[] = { program,     "s_server", "-accept", number,   "-cert",
                         certificate, "-key",     key,       "-quiet", NULL };
  GPid server = test_spawn (argv, "/dev/null");
  test_wait_listening (port);
  check_warning (
    location, "", "certificate verify failed",
    ": is its certificate made for this host name, and signed by ca-file or the system's "
    "authorities?");
  GstBus *bus;
  GstHarness *harness = publish_start (location, with, &bus);
  g_usleep (G_USEC_PER_SEC / 5);
  g_autoptr (GstMessage) warning = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  if (warning != NULL) {
    g_autoptr (GError) error = NULL;
    gst_message_parse_warning (warning, &error, NULL);
    g_assert_null (strstr (error->message, "certificate"));
  }
  publish_finish (harness, bus);
  test_kill (&server, SIGKILL);
  test_remove_file (certificate);
  test_remove_file (key);
}

/* The end of the stream waits for a cluster that is away no longer than it is told to. */
static void
test_drain (void)
{
  GstBus *bus;
  g_autofree char *nobody = g_strdup_printf ("kafka://127.0.0.1:%u/boxes", test_reserve_port ());
  GstHarness *harness = publish_start (nobody, "drain-timeout=100", &bus);
  publish_push_lines (harness, 0, 10);
  gst_structure_free (publish_wait_for_state (bus, "disconnected"));
  const gint64 begun = g_get_monotonic_time ();
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  gst_element_set_state (harness->element, GST_STATE_NULL);
  g_assert_cmpint (g_get_monotonic_time () - begun, <, PUBLISH_PATIENCE / 4);
  g_assert_cmpuint (publish_count (harness, "dropped"), ==, 10);
  publish_finish (harness, bus);
}

/* A right that is taken away costs what was on its way; lines wait until it is given back. */
static void
test_right (void)
{
  Cluster cluster;
  GstBus *bus;
  open_cluster (&cluster, 1);
  g_autofree char *location = location_of (&cluster, "boxes");
  GstHarness *harness = publish_start (location, "source=door", &bus);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  rd_kafka_mock_topic_set_error (cluster.mock, "boxes",
                                 RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  rd_kafka_mock_push_request_errors (cluster.mock, PRODUCE, 1,
                                     RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  publish_push_lines (harness, 0, 1);
  gst_structure_free (publish_wait_for_state (bus, "refused"));
  publish_push_lines (harness, 1, 10);
  gst_structure_free (publish_wait_for_state (bus, "disconnected"));
  rd_kafka_mock_topic_set_error (cluster.mock, "boxes", RD_KAFKA_RESP_ERR_NO_ERROR);
  end_stream (harness, 9, 1);
  g_autoptr (GHashTable) all = read_topic (&cluster, "boxes");
  check_lines (all, "door", 1, 10);
  publish_finish (harness, bus);
  close_cluster (&cluster);
}

/* A client that is of no use any more, and another that cannot be made at once: the next attempt
 * makes one, and lines go on. */
static void
test_fatal (void)
{
  Cluster cluster;
  GstBus *bus;
  open_cluster (&cluster, 1);
  g_autofree char *location = location_of (&cluster, "boxes");
  GstHarness *harness = publish_start (location, "source=door retry-min=10 retry-max=20", &bus);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  rd_kafka_t *client = g_atomic_pointer_get (&newest);
  g_atomic_int_set (&failures, 2);
  g_assert_cmpint (rd_kafka_test_fatal_error (
                     client, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "count lost"),
                   ==, RD_KAFKA_RESP_ERR_NO_ERROR);
  gst_structure_free (publish_wait_for_state (bus, "disconnected"));
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  g_assert_cmpint (g_atomic_int_get (&failures), ==, 0);
  publish_push_lines (harness, 0, 10);
  end_stream (harness, 10, 0);
  g_autoptr (GHashTable) all = read_topic (&cluster, "boxes");
  check_lines (all, "door", 0, 10);
  publish_finish (harness, bus);
  close_cluster (&cluster);
}

/* Stopped in the middle: what the library has is given a moment, and everything is counted as
 * published or as lost. A line whose acknowledgement came too late is there and counts as lost. */
static void
test_stop (void)
{
  Cluster cluster;
  GstBus *bus;
  open_cluster (&cluster, 1);
  g_autofree char *location = location_of (&cluster, "boxes");
  GstHarness *harness = publish_start (location, "source=door", &bus);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  publish_push_lines (harness, 0, 300);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  const guint64 published = publish_count (harness, "published");
  g_assert_cmpuint (published + publish_count (harness, "dropped"), ==, 300);
  g_autoptr (GHashTable) all = read_topic (&cluster, "boxes");
  const guint there = count_lines (all, "door", 0);
  g_assert_cmpuint (there, >=, published);
  g_assert_cmpuint (there, <=, 300);
  publish_finish (harness, bus);
  close_cluster (&cluster);
}

static gpointer
cancel_when_asked (gpointer data)
{
  g_mutex_lock (&silence.lock);
  while (!silence.asked)
    g_cond_wait (&silence.changed, &silence.lock);
  g_mutex_unlock (&silence.lock);
  g_cancellable_cancel (data);
  return NULL;
}

/* A broker that accepts and says nothing: a stop ends the question while the library waits for an
 * answer, and so does the client; the library's own is destroyed when the question has ended. */
static void
test_silent_broker (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) stop = g_cancellable_new ();
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  const gint events = eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC);
  silence.on = TRUE;
  silence.asked = FALSE;
  silence.destroyed = 0;
  SlKafkaClient *client = sl_kafka_client_new (conf, "boxes", events, &error);
  g_assert_no_error (error);
  GThread *canceller = g_thread_new ("stop", cancel_when_asked, stop);
  rd_kafka_resp_err_t code;
  g_assert_false (sl_kafka_client_find_topic (client, 1000, stop, &code));
  g_assert_cmpint (code, ==, RD_KAFKA_RESP_ERR__TIMED_OUT);
  g_assert_true (g_cancellable_is_cancelled (stop));
  g_thread_join (canceller);
  sl_kafka_client_free (client);
  g_mutex_lock (&silence.lock);
  g_assert_cmpuint (silence.destroyed, ==, 0);
  silence.on = FALSE;
  g_cond_broadcast (&silence.changed);
  while (silence.destroyed == 0)
    g_cond_wait (&silence.changed, &silence.lock);
  g_mutex_unlock (&silence.lock);
  rd_kafka_conf_destroy (conf);
  close (events);
}

/* The check of the settings connects to nobody, and reads what the start reads. */
static void
test_check (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) server =
    g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  g_autoptr (GSocketAddress) any = g_inet_socket_address_new_from_string ("127.0.0.1", 0);
  g_assert_true (g_socket_bind (server, any, FALSE, NULL) && g_socket_listen (server, NULL));
  g_autoptr (GSocketAddress) here = g_socket_get_local_address (server, NULL);
  g_autofree char *location =
    g_strdup_printf ("kafka://127.0.0.1:%u/boxes",
                     (guint) g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (here)));
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slpublish", NULL));
  g_object_set (element, "location", location, NULL);
  g_assert_true (sl_element_check_settings (element, &error));
  g_assert_no_error (error);
  g_assert_cmpint (g_socket_condition_check (server, G_IO_IN), ==, 0);
  g_object_set (element, "location", "kafkas://127.0.0.1/boxes", "ca-file", "/dev/null", NULL);
  g_assert_false (sl_element_check_settings (element, &error));
  g_assert_true (g_str_has_prefix (error->message, "Kafka cannot be set up: "));
}

int
main (int argc, char **argv)
{
  publish_init (&argc, &argv);
  g_test_add_func ("/slpublish-kafka/silent-broker", test_silent_broker);
  g_test_add_func ("/slpublish-kafka/keys", test_keys);
  g_test_add_func ("/slpublish-kafka/once", test_once);
  g_test_add_func ("/slpublish-kafka/away", test_away);
  g_test_add_func ("/slpublish-kafka/refused", test_refused);
  g_test_add_func ("/slpublish-kafka/right", test_right);
  g_test_add_func ("/slpublish-kafka/warnings", test_warnings);
  g_test_add_func ("/slpublish-kafka/user", test_user);
  g_test_add_func ("/slpublish-kafka/tls", test_tls);
  g_test_add_func ("/slpublish-kafka/drain", test_drain);
  g_test_add_func ("/slpublish-kafka/fatal", test_fatal);
  g_test_add_func ("/slpublish-kafka/stop", test_stop);
  g_test_add_func ("/slpublish-kafka/check", test_check);
  return publish_run ();
}
