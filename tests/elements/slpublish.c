/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpublish to files, sockets and a real MQTT broker: what readers read is compared with what was pushed, line by
 * line; disks that are full, peers that go and come back, brokers that are killed.
 */
#include "config.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/elements.h"
#include "plugins/publish_topic.h"
#include "tests/elements/support.h"

#define JSON "application/x-json"
#define PATIENCE (100 * G_USEC_PER_SEC)

static char *folder;

static char *
line_of (guint i)
{
  return g_strdup_printf ("{\"frame\":%u,\"objects\":[{\"roi_type\":\"cat\"}]}", i);
}

static GstHarness *
start (const char *location, const char *more, GstBus **bus)
{
  GstHarness *harness;
  g_autofree char *launch = g_strdup_printf ("slpublish retry-min=20 retry-max=200 drain-timeout=60000 location=%s %s", location, more);
  *bus = gst_bus_new ();
  g_autoptr (GstElement) element = gst_parse_launch (launch, NULL);
  g_assert_nonnull (element);
  gst_element_set_bus (element, *bus);
  harness = gst_harness_new_with_element (element, "sink", NULL);
  gst_harness_set_src_caps_str (harness, JSON);
  return harness;
}

static void
finish (GstHarness *harness, GstBus *bus)
{
  /* Messages on the bus hold the element that holds the bus. */
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
  gst_object_unref (bus);
}

static GstFlowReturn
push_text (GstHarness *harness, const char *text)
{
  return gst_harness_push (harness, gst_buffer_new_wrapped (g_strdup (text), strlen (text)));
}

static void
push_lines (GstHarness *harness, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    g_autofree char *line = line_of (i);
    g_assert_cmpint (push_text (harness, line), ==, GST_FLOW_OK);
  }
}

static guint64
count_of (GstHarness *harness, const char *property)
{
  guint64 count = 0;
  g_object_get (harness->element, property, &count, NULL);
  return count;
}

/* Waits until @element said that it is in @state, and returns what it said. */
static GstStructure *
wait_for_state (GstBus *bus, const char *state)
{
  const gint64 until = g_get_monotonic_time () + PATIENCE;
  while (g_get_monotonic_time () < until) {
    g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, GST_SECOND / 10, GST_MESSAGE_ELEMENT);
    const GstStructure *structure = message != NULL ? gst_message_get_structure (message) : NULL;
    if (structure != NULL && strcmp (gst_structure_get_string (structure, "state"), state) == 0)
      return gst_structure_copy (structure);
  }
  g_error ("no message \"%s\" came", state);
}

static char *
path_in (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static void
assert_lines (char **lines, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    g_autofree char *expected = line_of (i);
    g_assert_cmpstr (lines[i - from], ==, expected);
  }
}

static void
test_file (void)
{
  g_autofree char *path = path_in ("lines.json"), *text = NULL;
  GstBus *bus;
  for (guint part = 0; part < 2; part++) {
    GstHarness *harness = start (path, "", &bus);
    push_lines (harness, part * 100, part * 100 + 100);
    g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
    g_assert_cmpuint (count_of (harness, "published"), ==, 100);
    finish (harness, bus);
  }
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 201);
  assert_lines (lines, 0, 200);
}

/* Text of several lines stays as it is, and a frame with nothing on it leaves no line. */
static void
test_text (void)
{
  g_autofree char *path = path_in ("lines.txt"), *text = NULL;
  GstBus *bus;
  GstHarness *harness = start (path, "", &bus);
  gst_harness_set_src_caps_str (harness, "text/x-raw,format=utf8");
  push_text (harness, "cat 0.5 1 2 3 4\ndog 0.4 1 2 3 4\n");
  push_text (harness, "");
  push_text (harness, "cat 0.6 1 2 3 4");
  gst_harness_push_event (harness, gst_event_new_eos ());
  finish (harness, bus);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "cat 0.5 1 2 3 4\ndog 0.4 1 2 3 4\ncat 0.6 1 2 3 4\n");
}

/* Files are cut at whole lines, none is larger than asked for, no more are kept than asked for. */
static void
test_rotation (void)
{
  g_autofree char *path = path_in ("rotated.json");
  GstBus *bus;
  GstHarness *harness = start (path, "max-file-size=1000 keep-files=3", &bus);
  push_lines (harness, 0, 200);
  gst_harness_push_event (harness, gst_event_new_eos ());
  finish (harness, bus);
  guint next = 200;
  for (guint i = 0; i < 5; i++) {
    g_autofree char *name = i == 0 ? g_strdup (path) : g_strdup_printf ("%s.%u", path, i), *text = NULL;
    gsize bytes;
    g_assert_cmpint (g_file_get_contents (name, &text, &bytes, NULL), ==, i <= 3);
    if (i > 3)
      break;
    g_assert_cmpuint (bytes, <=, 1000);
    g_assert_cmpint (text[bytes - 1], ==, '\n');
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
    const guint n = g_strv_length (lines) - 1;
    assert_lines (lines, next - n, next);
    next -= n;
  }
}

static void
test_age (void)
{
  g_autofree char *path = path_in ("aged.json"), *old = g_strconcat (path, ".1", NULL), *text = NULL;
  GstBus *bus;
  GstHarness *harness = start (path, "max-file-age=1", &bus);
  push_lines (harness, 0, 1);
  g_usleep (G_USEC_PER_SEC * 11 / 10);
  push_lines (harness, 1, 2);
  gst_harness_push_event (harness, gst_event_new_eos ());
  finish (harness, bus);
  g_assert_true (g_file_get_contents (old, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "\"frame\":0"));
  g_assert_null (strstr (text, "\"frame\":1"));
}

/* Linux's device that is always full: said once, tried again, and nothing waits for it. */
static void
test_full_disk (void)
{
  GstBus *bus;
  if (access ("/dev/full", W_OK) != 0) {
    g_test_skip ("no /dev/full here");
    return;
  }
  GstHarness *harness = start ("/dev/full", "max-queue-bytes=4096", &bus);
  push_lines (harness, 0, 1);
  g_autoptr (GstStructure) said = wait_for_state (bus, "disconnected");
  g_assert_nonnull (strstr (gst_structure_get_string (said, "reason"), "/dev/full: cannot be written to: No space left on device"));
  push_lines (harness, 1, 1000);
  g_assert_cmpuint (count_of (harness, "dropped"), >, 900);
  finish (harness, bus);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *location, *more, *expected;
  } cases[] = {
    { "/nonexistent/x.json", "", "cannot be opened for writing: No such file or directory: expected a file in a folder that exists" },
    { "ftp://me:secret@host/x", "", "location=ftp://me:***@host/x: expected a path" },
    { "tcp://localhost", "", "expected tcp://host:port with a port of 1 to 65535" },
    { "tcp://localhost:99999", "", "expected tcp://host:port with a port of 1 to 65535" },
    { "unix:relative", "", "expected unix:/path with an absolute path" },
#ifdef SL_HAVE_MOSQUITTO
    { "mqtt://localhost", "", "expected mqtt://[user[:password]@]host[:port]/topic" },
    { "mqtt://me:secret@localhost/", "", "location=mqtt://me:***@localhost/: expected mqtt://" },
    { "mqtt://localhost/a/{nonsense}", "",
      "expected levels with {host}, {element} or {source} in them and no wildcards, got \"{nonsense}\"" },
    { "mqtt://localhost/a/+/b", "", "no wildcards, got \"+/b\"" },
    { "mqtt://localhost/a", "ca-file=/nonexistent.pem", "are for mqtts://, and the location says mqtt://" },
    { "mqtts://localhost/a", "ca-file=/nonexistent.pem", "ca-file=/nonexistent.pem: no such file, or it cannot be read" },
    { "mqtts://localhost/a", "certificate=/dev/null", "certificate and private-key belong together" },
    { "mqtt://localhost/a", "availability-topic=a/#", "topic \"a/#\": expected at most 65535 bytes without + and #" },
#endif
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *launch = g_strdup_printf ("slpublish location=\"%s\" %s", cases[i].location, cases[i].more);
    g_autoptr (GstElement) element = gst_object_ref_sink (gst_parse_launch (launch, NULL));
    g_autoptr (GstBus) bus = test_watch (element);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
    g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_autoptr (GError) error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, cases[i].expected));
    g_assert_null (strstr (error->message, "secret"));
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
  }
}

static void
test_unset (void)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make ("slpublish", NULL));
  g_autoptr (GstBus) bus = test_watch (element);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (error->message, "location is not set: expected a path"));
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
}

/* A server that reads lines. */
typedef struct
{
  GSocketListener *listener;
  GSocketConnection *peer;
  GDataInputStream *lines;
} Server;

static void
serve_at (Server *server, GSocketAddress *address)
{
  g_autoptr (GError) error = NULL;
  server->listener = g_socket_listener_new ();
  g_assert_true (
    g_socket_listener_add_address (server->listener, address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, &error));
  g_object_unref (address);
}

static void
take_peer (Server *server)
{
  server->peer = g_socket_listener_accept (server->listener, NULL, NULL, NULL);
  g_assert_nonnull (server->peer);
  server->lines = g_data_input_stream_new (g_io_stream_get_input_stream (G_IO_STREAM (server->peer)));
}

static void
drop_peer (Server *server)
{
  g_io_stream_close (G_IO_STREAM (server->peer), NULL, NULL);
  g_clear_object (&server->lines);
  g_clear_object (&server->peer);
}

static void
assert_served (Server *server, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    g_autofree char *expected = line_of (i), *got = g_data_input_stream_read_line (server->lines, NULL, NULL, NULL);
    g_assert_cmpstr (got, ==, expected);
  }
}

/* The peer goes while nothing is sent: what comes meanwhile waits for the next one, whole and in order. */
static void
check_socket (const char *location, Server *server)
{
  GstBus *bus;
  GstHarness *harness = start (location, "", &bus);
  take_peer (server);
  push_lines (harness, 0, 50);
  assert_served (server, 0, 50);
  drop_peer (server);
  g_autoptr (GstStructure) said = wait_for_state (bus, "disconnected");
  g_assert_nonnull (strstr (gst_structure_get_string (said, "reason"), "the peer closed the connection"));
  push_lines (harness, 50, 150);
  take_peer (server);
  assert_served (server, 50, 150);
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (count_of (harness, "published"), ==, 150);
  g_assert_cmpuint (count_of (harness, "dropped"), ==, 0);
  finish (harness, bus);
  drop_peer (server);
  g_clear_object (&server->listener);
}

static void
test_unix (void)
{
  Server server;
  g_autofree char *path = path_in ("socket"), *location = g_strconcat ("unix:", path, NULL);
  serve_at (&server, g_unix_socket_address_new (path));
  check_socket (location, &server);
}

static guint
free_port (void)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  return g_socket_listener_add_any_inet_port (listener, NULL, NULL);
}

static void
test_tcp (void)
{
  Server server;
  const guint port = free_port ();
  g_autofree char *location = g_strdup_printf ("tcp://127.0.0.1:%u", port);
  serve_at (&server, g_inet_socket_address_new_from_string ("127.0.0.1", port));
  check_socket (location, &server);
}

/* Nobody there, for all the port is taken: the bound holds, the newest lines are those kept, the end does not wait for ever, and
 * stopping neither. */
static void
test_nobody (void)
{
  GstBus *bus;
  g_autoptr (GSocket) taken = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  g_autoptr (GSocketAddress) any = g_inet_socket_address_new_from_string ("127.0.0.1", 0);
  g_assert_true (g_socket_bind (taken, any, FALSE, NULL));
  g_autoptr (GSocketAddress) address = g_socket_get_local_address (taken, NULL);
  g_autofree char *location = g_strdup_printf ("tcp://127.0.0.1:%u", g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (address)));
  GstHarness *harness = start (location, "max-queue-bytes=2048 drain-timeout=100", &bus);
  g_autoptr (GstStructure) said = wait_for_state (bus, "disconnected");
  g_assert_nonnull (strstr (gst_structure_get_string (said, "reason"), "Connection refused"));
  push_lines (harness, 0, 1000);
  const guint64 dropped = count_of (harness, "dropped");
  g_assert_cmpuint (dropped, >, 900);
  const gint64 before = g_get_monotonic_time ();
  gst_harness_push_event (harness, gst_event_new_eos ());
  gst_element_set_state (harness->element, GST_STATE_NULL);
  g_assert_cmpint (g_get_monotonic_time () - before, <, PATIENCE / 4);
  g_assert_cmpuint (count_of (harness, "dropped"), ==, 1000);
  finish (harness, bus);
}

#ifdef SL_HAVE_MOSQUITTO

typedef struct
{
  guint port;
  char *config, *heard;
  GPid broker, reader;
} Broker;

/* In the child: a test that fails leaves nothing running. */
static void
die_with_parent (gpointer data)
{
#ifdef PR_SET_PDEATHSIG
  prctl (PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static GPid
spawn (const char *const *argv, const char *output)
{
  g_autoptr (GError) error = NULL;
  const GSpawnFlags flags =
    G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL | (output == NULL ? G_SPAWN_STDOUT_TO_DEV_NULL : 0);
  GPid pid = 0;
  gint out = -1;
  if (output != NULL)
    out = g_open (output, O_WRONLY | O_CREAT | O_APPEND, 0600);
  g_assert_true (g_spawn_async_with_fds (NULL, (char **) argv, NULL, flags, die_with_parent, NULL, &pid, -1, out, -1, &error));
  if (out >= 0)
    close (out);
  return pid;
}

static void
kill_wait (GPid *pid, gint with)
{
  gint status;
  if (*pid == 0)
    return;
  kill (*pid, with);
  waitpid (*pid, &status, 0);
  g_spawn_close_pid (*pid);
  *pid = 0;
}

static void
wait_listening (guint port)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_socket_client_set_enable_proxy (client, FALSE);
  const gint64 until = g_get_monotonic_time () + PATIENCE;
  for (;;) {
    g_autoptr (GSocketConnection) connection = g_socket_client_connect_to_host (client, "127.0.0.1", (guint16) port, NULL, NULL);
    if (connection != NULL)
      return;
    g_assert_cmpint (g_get_monotonic_time (), <, until);
    g_usleep (20000);
  }
}

static void
start_broker (Broker *broker)
{
  const char *argv[] = { "mosquitto", "-c", broker->config, NULL };
  broker->broker = spawn (argv, NULL);
  wait_listening (broker->port);
}

/* A broker of our own on a free port, that keeps sessions on disk, and a reader that remembers its session too. */
static gboolean
open_broker (Broker *broker, const char *name, const char *more)
{
  g_autofree char *program = g_find_program_in_path ("mosquitto"), *reader = g_find_program_in_path ("mosquitto_sub");
  if (program == NULL || reader == NULL) {
    g_test_skip ("needs the programs mosquitto and mosquitto_sub");
    return FALSE;
  }
  *broker = (Broker){ .port = free_port () };
  g_autofree char *config_name = g_strconcat (name, ".conf", NULL), *heard_name = g_strconcat (name, ".heard", NULL);
  g_autofree char *config =
    g_strdup_printf ("listener %u 127.0.0.1\npersistence true\npersistence_location %s/\npersistence_file %s.db\nuser root\n"
                     "max_queued_messages 0\n%s",
                     broker->port, folder, name, more);
  broker->config = path_in (config_name);
  broker->heard = path_in (heard_name);
  g_assert_true (g_file_set_contents (broker->config, config, -1, NULL));
  start_broker (broker);
  return TRUE;
}

static void
start_reader (Broker *broker)
{
  g_autofree char *port = g_strdup_printf ("%u", broker->port);
  const char *argv[] = { "mosquitto_sub", "-h", "127.0.0.1", "-p", port, "-q", "2", "-c", "-i", "reader", "-v", "-t", "#", NULL };
  broker->reader = spawn (argv, broker->heard);
}

static void
close_broker (Broker *broker)
{
  kill_wait (&broker->reader, SIGKILL);
  kill_wait (&broker->broker, SIGKILL);
  g_free (broker->config);
  g_free (broker->heard);
}

/* Waits until the reader heard @needle. */
static char *
hear (Broker *broker, const char *needle)
{
  const gint64 until = g_get_monotonic_time () + PATIENCE;
  for (;;) {
    char *text = NULL;
    if (g_file_get_contents (broker->heard, &text, NULL, NULL) && strstr (text, needle) != NULL)
      return text;
    if (g_get_monotonic_time () > until)
      g_error ("\"%s\" was never heard, only: %s", needle, text);
    g_free (text);
    g_usleep (20000);
  }
}

static guint
occurrences (const char *text, const char *needle)
{
  guint n = 0;
  for (const char *at = text; (at = strstr (at, needle)) != NULL; at += strlen (needle))
    n++;
  return n;
}

/* QoS 2 and a broker that is ended and started again in the middle, twice: each line is heard once, in order. */
static void
test_broker_restarts (void)
{
  Broker broker;
  GstBus *bus;
  if (!open_broker (&broker, "restarts", "allow_anonymous true\n"))
    return;
  start_reader (&broker);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/shop/{element}", broker.port);
  GstHarness *harness = start (location, "name=door qos=2 client-id=publisher", &bus);
  g_free (hear (&broker, "shop/door/available online"));
  push_lines (harness, 0, 200);
  for (guint round = 1; round <= 2; round++) {
    g_free (hear (&broker, "\"frame\":50,"));
    kill_wait (&broker.broker, SIGTERM);
    gst_structure_free (wait_for_state (bus, "disconnected"));
    push_lines (harness, round * 200, round * 200 + 200);
    start_broker (&broker);
  }
  for (guint i = 0; i < 600; i++) {
    g_autofree char *part = g_strdup_printf ("\"frame\":%u,", i);
    g_free (hear (&broker, part));
  }
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (count_of (harness, "published"), ==, 600);
  g_assert_cmpuint (count_of (harness, "dropped"), ==, 0);
  finish (harness, bus);
  g_autofree char *heard = hear (&broker, "shop/door/available offline");
  const char *at = heard;
  for (guint i = 0; i < 600; i++) {
    g_autofree char *line = line_of (i), *whole = g_strdup_printf ("shop/door %s\n", line);
    g_assert_cmpuint (occurrences (heard, whole), ==, 1);
    const char *found = strstr (heard, whole);
    g_assert_true (found >= at);
    at = found;
  }
  close_broker (&broker);
}

/* A broker that is killed without a word: the queue's bound is all that is lost, and the last will is heard. */
static void
test_broker_killed (void)
{
  Broker broker;
  GstBus *bus;
  if (!open_broker (&broker, "killed", "allow_anonymous true\n"))
    return;
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/gate", broker.port);
  GstHarness *harness = start (location, "qos=1 max-queue-bytes=4096", &bus);
  gst_structure_free (wait_for_state (bus, "connected"));
  kill_wait (&broker.broker, SIGKILL);
  gst_structure_free (wait_for_state (bus, "disconnected"));
  push_lines (harness, 0, 1000);
  const guint64 dropped = count_of (harness, "dropped");
  g_assert_cmpuint (dropped, >, 900);
  g_assert_cmpuint (dropped, <, 1000);
  start_broker (&broker);
  start_reader (&broker);
  gst_structure_free (wait_for_state (bus, "connected"));
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (count_of (harness, "published"), ==, 1000 - dropped);
  g_assert_cmpuint (count_of (harness, "dropped"), ==, dropped);
  finish (harness, bus);
  close_broker (&broker);
}

static void
test_counts (void)
{
  Broker broker;
  GstBus *bus;
#ifndef SL_HAVE_JSON_GLIB
  g_test_skip ("needs JSON-GLib");
  return;
#endif
  if (!open_broker (&broker, "counts", "allow_anonymous true\n"))
    return;
  start_reader (&broker);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/yard/{source}", broker.port);
  GstHarness *harness = start (location, "source=a/b counts=true discovery-prefix=homeassistant", &bus);
  g_free (hear (&broker, "yard/a_b/available online"));
  push_text (harness, "{\"objects\":[{\"roi_type\":\"cat\"},{\"roi_type\":\"traffic/light\"},{\"roi_type\":\"cat\"}]}");
  push_text (harness, "{\"objects\":[{\"roi_type\":\"cat\"},{\"roi_type\":\"cat\"}]}");
  push_text (harness, "{\"objects\":[]}");
  push_text (harness, "not JSON at all");
  gst_harness_push_event (harness, gst_event_new_eos ());
  g_autofree char *heard = hear (&broker, "not JSON at all");
  finish (harness, bus);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/cat 2\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/traffic_light 1\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/traffic_light 0\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/cat 0\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/cat 1\n"), ==, 0);
  g_assert_nonnull (strstr (heard, "homeassistant/sensor/sightline-"));
  g_assert_nonnull (strstr (heard, "\"state_topic\":\"yard/a_b\""));
  g_assert_nonnull (strstr (heard, "\"availability_topic\":\"yard/a_b/available\""));
  g_assert_nonnull (strstr (heard, "yard/a_b/available online"));
  close_broker (&broker);
}

/* A broker that wants a password: without, it says so and goes on trying; with it, lines get through. */
static void
test_password (void)
{
  Broker broker;
  GstBus *bus;
  g_autofree char *passwords = path_in ("passwords"), *more = g_strdup_printf ("allow_anonymous false\npassword_file %s\n", passwords);
  g_autofree char *tool = g_find_program_in_path ("mosquitto_passwd");
  if (tool == NULL) {
    g_test_skip ("needs the program mosquitto_passwd");
    return;
  }
  const char *argv[] = { tool, "-b", "-c", passwords, "me", "secret", NULL };
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL));
  if (!open_broker (&broker, "password", more))
    return;
  g_autofree char *without = g_strdup_printf ("mqtt://me:wrong@127.0.0.1:%u/a", broker.port);
  GstHarness *harness = start (without, "", &bus);
  g_autoptr (GstStructure) said = wait_for_state (bus, "disconnected");
  g_assert_nonnull (strstr (gst_structure_get_string (said, "reason"), "check username and password"));
  g_assert_null (strstr (gst_structure_get_string (said, "location"), "wrong"));
  finish (harness, bus);
  g_autofree char *with = g_strdup_printf ("mqtt://me:secret@127.0.0.1:%u/a", broker.port);
  harness = start (with, "", &bus);
  push_lines (harness, 0, 10);
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (count_of (harness, "published"), ==, 10);
  finish (harness, bus);
  close_broker (&broker);
}

#endif

int
main (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_assert_true (gst_element_register (NULL, "slpublish", GST_RANK_NONE, sl_publish_get_type ()));
  folder = g_dir_make_tmp ("sightline-XXXXXX", NULL);
  g_test_add_func ("/slpublish/file", test_file);
  g_test_add_func ("/slpublish/text", test_text);
  g_test_add_func ("/slpublish/rotation", test_rotation);
  g_test_add_func ("/slpublish/age", test_age);
  g_test_add_func ("/slpublish/full-disk", test_full_disk);
  g_test_add_func ("/slpublish/errors", test_errors);
  g_test_add_func ("/slpublish/unset", test_unset);
  g_test_add_func ("/slpublish/unix", test_unix);
  g_test_add_func ("/slpublish/tcp", test_tcp);
  g_test_add_func ("/slpublish/nobody", test_nobody);
#ifdef SL_HAVE_MOSQUITTO
  g_test_add_func ("/slpublish/broker-restarts", test_broker_restarts);
  g_test_add_func ("/slpublish/broker-killed", test_broker_killed);
  g_test_add_func ("/slpublish/counts", test_counts);
  g_test_add_func ("/slpublish/password", test_password);
#endif
  const int status = g_test_run ();
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = path_in (name);
    g_remove (path);
  }
  g_dir_close (dir);
  g_rmdir (folder);
  g_free (folder);
  return status;
}
