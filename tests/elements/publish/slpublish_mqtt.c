/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpublish to a real MQTT broker that is stopped, killed and started again, wants a password, or
 * speaks TLS. What a subscriber hears is compared with what was pushed, line by line.
 */

#include <gio/gio.h>
#include <signal.h>
#include <string.h>

#include "tests/elements/process.h"
#include "tests/elements/publish/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

typedef struct
{
  guint port;
  char *config, *heard, *log;
  GPid broker, reader;
} Broker;

static void
start_broker (Broker *broker)
{
  const char *argv[] = { "mosquitto", "-c", broker->config, NULL };
  broker->broker = test_spawn (argv, NULL);
  test_wait_listening (broker->port);
}

/* A broker of our own, that keeps sessions on disk, and a reader that remembers its session too. */
static gboolean
open_broker (Broker *broker, const char *name, const char *more)
{
  g_autofree char *program = g_find_program_in_path ("mosquitto"),
                  *reader = g_find_program_in_path ("mosquitto_sub");
  if (program == NULL || reader == NULL) {
    g_test_skip ("needs the programs mosquitto and mosquitto_sub");
    return FALSE;
  }
  *broker = (Broker){ .port = test_reserve_port () };
  g_autofree char *folder = publish_path (""), *config_name = g_strconcat (name, ".conf", NULL),
                  *heard_name = g_strconcat (name, ".heard", NULL),
                  *log_name = g_strconcat (name, ".log", NULL);
  broker->log = publish_path (log_name);
  g_autofree char *config = g_strdup_printf (
    "listener %u 127.0.0.1\npersistence true\npersistence_location %s/\npersistence_file %s.db\n"
    "user root\n"
    "max_queued_messages 0\nlog_type all\nlog_dest file %s\n%s",
    broker->port, folder, name, broker->log, more);
  broker->config = publish_path (config_name);
  broker->heard = publish_path (heard_name);
  g_assert_true (g_file_set_contents (broker->config, config, -1, NULL));
  start_broker (broker);
  return TRUE;
}

static void
start_reader (Broker *broker)
{
  g_autofree char *port = g_strdup_printf ("%u", broker->port);
  const char *argv[] = { "mosquitto_sub", "-h", "127.0.0.1", "-p", port, "-q", "2", "-c", "-i",
                         "reader",        "-v", "-t",        "#",  NULL };
  broker->reader = test_spawn (argv, broker->heard);
}

static void
close_broker (Broker *broker)
{
  test_kill (&broker->reader, SIGKILL);
  test_kill (&broker->broker, SIGKILL);
  g_free (broker->config);
  g_free (broker->heard);
  g_free (broker->log);
}

/* Waits until the reader heard @needle. */
static char *
hear (Broker *broker, const char *needle)
{
  for (;;) {
    char *text = NULL;
    if (g_file_get_contents (broker->heard, &text, NULL, NULL) && strstr (text, needle) != NULL)
      return text;
    g_free (text);
    g_usleep (20000);
  }
}

/* How many messages the broker took on @topic: one that comes again has the number it had. */
static guint
messages_taken (Broker *broker, const char *topic)
{
  g_autofree char *text = NULL, *named = g_strdup_printf (", '%s', ", topic);
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  g_assert_true (g_file_get_contents (broker->log, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    const char *number = strstr (lines[i], ", m");
    if (strstr (lines[i], "Received PUBLISH from publisher") != NULL
        && strstr (lines[i], named) != NULL && number != NULL)
      g_hash_table_add (numbers,
                        GUINT_TO_POINTER (g_ascii_strtoull (number + strlen (", m"), NULL, 10)));
  }
  return g_hash_table_size (numbers);
}

static guint
occurrences (const char *text, const char *needle)
{
  guint n = 0;
  for (const char *at = text; (at = strstr (at, needle)) != NULL; at += strlen (needle))
    n++;
  return n;
}

/* Waits until the broker took @n messages on @topic. */
static void
wait_taken (Broker *broker, const char *topic, guint n)
{
  while (messages_taken (broker, topic) < n)
    g_usleep (20000);
}

/*
 * QoS 2 and a broker that is ended and started again in the middle, twice: each line is one message
 * to the broker, and heard once, in order. The reader is away meanwhile, the broker keeps for it
 * what comes: mosquitto_sub itself may lose or repeat a line when a broker ends.
 */
static void
test_broker_restarts (void)
{
  Broker broker;
  GstBus *bus;
  if (!open_broker (&broker, "restarts", "allow_anonymous true\n"))
    return;
  start_reader (&broker);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/shop/{element}", broker.port);
  GstHarness *harness = publish_start (location, "name=door qos=2 client-id=publisher", &bus);
  g_free (hear (&broker, "shop/door/available online"));
  test_kill (&broker.reader, SIGKILL);
  publish_push_lines (harness, 0, 200);
  for (guint round = 1; round <= 2; round++) {
    wait_taken (&broker, "shop/door", round * 200 - 150);
    test_kill (&broker.broker, SIGTERM);
    gst_structure_free (publish_wait_for_state (bus, "disconnected"));
    publish_push_lines (harness, round * 200, round * 200 + 200);
    start_broker (&broker);
  }
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (publish_count (harness, "published"), ==, 600);
  g_assert_cmpuint (publish_count (harness, "dropped"), ==, 0);
  start_reader (&broker);
  g_free (hear (&broker, "\"frame\":599,"));
  publish_finish (harness, bus);
  g_autofree char *heard = hear (&broker, "shop/door/available offline");
  const char *at = heard;
  for (guint i = 0; i < 600; i++) {
    g_autofree char *line = publish_line (i), *whole = g_strdup_printf ("shop/door %s\n", line);
    const char *found = strstr (heard, whole);
    if (found == NULL || found < at)
      g_error ("line %u was %s", i, found == NULL ? "not heard" : "heard too early");
    at = found;
  }
  g_assert_cmpuint (occurrences (heard, "shop/door {"), ==, 600);
  g_assert_cmpuint (messages_taken (&broker, "shop/door"), ==, 600);
  close_broker (&broker);
}

/* A broker that is killed without a word: the queue's bound is all that is lost, and the last will
 * is heard. */
static void
test_broker_killed (void)
{
  Broker broker;
  GstBus *bus;
  if (!open_broker (&broker, "killed", "allow_anonymous true\n"))
    return;
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/gate", broker.port);
  GstHarness *harness = publish_start (location, "qos=1 max-queue-bytes=4096", &bus);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  test_kill (&broker.broker, SIGKILL);
  gst_structure_free (publish_wait_for_state (bus, "disconnected"));
  publish_push_lines (harness, 0, 1000);
  const guint64 dropped = publish_count (harness, "dropped");
  g_assert_cmpuint (dropped, >, 900);
  g_assert_cmpuint (dropped, <, 1000);
  start_broker (&broker);
  start_reader (&broker);
  gst_structure_free (publish_wait_for_state (bus, "connected"));
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (publish_count (harness, "published"), ==, 1000 - dropped);
  g_assert_cmpuint (publish_count (harness, "dropped"), ==, dropped);
  publish_finish (harness, bus);
  close_broker (&broker);
}

static void
test_counts (void)
{
  Broker broker;
  GstBus *bus;
  if (!open_broker (&broker, "counts", "allow_anonymous true\n"))
    return;
  start_reader (&broker);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/yard/{source}", broker.port);
  GstHarness *harness =
    publish_start (location, "source=a/b counts=true discovery-prefix=homeassistant", &bus);
  g_free (hear (&broker, "yard/a_b/available online"));
  publish_push_text (harness,
                     "{\"objects\":[{\"roi_type\":\"cat\"},{\"roi_type\":\"traffic/light\"},"
                     "{\"roi_type\":\"cat\"}]}");
  publish_push_text (harness, "{\"objects\":[{\"roi_type\":\"cat\"},{\"roi_type\":\"cat\"}]}");
  publish_push_text (harness, "{\"objects\":[]}");
  publish_push_text (harness,
                     "{\"objects\":[],\"analysis\":{\"zones\":[{\"name\":\"the "
                     "door\",\"inside\":3}],\"lines\":[{\"name\":\"a/b\",\"in\":7,\"out\":0}]}}");
  for (guint i = 0; i < 5; i++)
    publish_push_text (harness, "{\"objects\":[{\"roi_type\":\"cat\"}]}");
  publish_push_text (harness, "not JSON at all");
  gst_harness_push_event (harness, gst_event_new_eos ());
  g_autofree char *heard = hear (&broker, "not JSON at all");
  publish_finish (harness, bus);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/cat 2\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/traffic_light 1\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/traffic_light 0\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/cat 0\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/cat 1\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/zones/the door 3\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/lines/a_b/in 7\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "yard/a_b/lines/a_b/out 0\n"), ==, 1);
  g_assert_cmpuint (occurrences (heard, "\"state_topic\":\"yard/a_b/zones/the door\""), ==,
                    2); /* a number, and whether it is occupied */
  g_assert_cmpuint (occurrences (heard, "\"state_topic\":\"yard/a_b/cat\""), ==, 2);
  g_assert_cmpuint (occurrences (heard, "\"state_topic\":\"yard/a_b/traffic_light\""), ==,
                    0); /* it was there for one line */
  g_assert_nonnull (strstr (heard, "/the_door_occupied_"));
  g_assert_nonnull (strstr (heard, "homeassistant/sensor/sightline_yard_a_b_"));
  g_assert_nonnull (strstr (heard, "\"state_topic\":\"yard/a_b\""));
  g_assert_nonnull (strstr (heard, "\"availability_topic\":\"yard/a_b/available\""));
  g_assert_nonnull (strstr (heard, "yard/a_b/available online"));
  close_broker (&broker);
}

static void
say (const Broker *broker, const char *topic, const char *text, gboolean retain)
{
  g_autofree char *port = g_strdup_printf ("%u", broker->port);
  g_autoptr (GError) error = NULL;
  const char *argv[] = {
    "mosquitto_pub",      "-h", "127.0.0.1", "-p", port, "-t", topic, "-m", text,
    retain ? "-r" : NULL, NULL
  };
  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL,
                &error);
  g_assert_no_error (error);
}

/* The switch is obeyed, and its state is published. Other payloads and retained commands change
 * nothing. */
static void
test_switch (void)
{
  Broker broker;
  GstBus *bus;
  gboolean enabled = FALSE;
  g_autofree char *tool = g_find_program_in_path ("mosquitto_pub");
  if (tool == NULL) {
    g_test_skip ("needs the program mosquitto_pub");
    return;
  }
  if (!open_broker (&broker, "switch", "allow_anonymous true\n"))
    return;
  start_reader (&broker);
  say (&broker, "gate/enabled/set", "OFF", TRUE);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/gate", broker.port);
  GstHarness *harness =
    publish_start (location, "counts=true discovery-prefix=homeassistant", &bus);
  g_free (hear (&broker, "gate/enabled ON"));
  for (guint i = 0; i < 5; i++)
    publish_push_text (harness, "{\"objects\":[{\"roi_type\":\"cat\"}]}");
  g_free (hear (&broker, "gate/cat 1"));
  say (&broker, "gate/threshold/set", "50 %", FALSE);
  g_autofree char *refused = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_assert_cmpstr (
    refused, ==,
    "the broker's threshold/set: expected a number from 0 to 1, got '50 %'; nothing changes");
  say (&broker, "gate/enabled/set", "OFF", FALSE);
  g_free (hear (&broker, "gate/enabled OFF"));
  g_free (hear (&broker, "gate/cat 0")); /* nobody looks any more */
  g_autofree char *kept = NULL;
  g_object_get (harness->element, "enabled", &enabled, "kept", &kept, NULL);
  g_assert_false (enabled);
  g_assert_cmpstr (kept, ==, "OFF");
  publish_push_text (harness, "{\"objects\":[{\"roi_type\":\"unheard\"}]}");
  g_object_set (harness->element, "enabled", TRUE, NULL);
  publish_push_text (harness, "{\"objects\":[{\"roi_type\":\"dog\"}]}");
  gst_harness_push_event (harness, gst_event_new_eos ());
  g_autofree char *heard = hear (&broker, "gate/dog 1");
  g_assert_null (strstr (heard, "unheard"));
  g_assert_cmpuint (occurrences (heard, "gate/enabled ON"), ==, 2);
  publish_finish (harness, bus);
  harness = publish_start (location, "discovery-prefix=homeassistant kept=OFF", &bus);
  g_object_get (harness->element, "enabled", &enabled, NULL);
  g_assert_false (enabled); /* over a restart, too */
  publish_finish (harness, bus);
  close_broker (&broker);
}

/* A broker that wants a password: without, it says so and goes on trying; with it, lines get
 * through. */
static void
test_password (void)
{
  Broker broker;
  GstBus *bus;
  g_autofree char *passwords = publish_path ("passwords"),
                  *more = g_strdup_printf ("allow_anonymous false\npassword_file %s\n", passwords);
  g_autofree char *tool = g_find_program_in_path ("mosquitto_passwd");
  if (tool == NULL) {
    g_test_skip ("needs the program mosquitto_passwd");
    return;
  }
  const char *argv[] = { tool, "-b", "-c", passwords, "me", "secret", NULL };
  g_assert_true (
    g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL));
  if (!open_broker (&broker, "password", more))
    return;
  g_autofree char *without = g_strdup_printf ("mqtt://me:wrong@127.0.0.1:%u/a", broker.port);
  GstHarness *harness = publish_start (without, "", &bus);
  g_autoptr (GstStructure) said = publish_wait_for_state (bus, "disconnected");
  g_assert_nonnull (
    strstr (gst_structure_get_string (said, "reason"), "check username and password"));
  g_assert_null (strstr (gst_structure_get_string (said, "location"), "wrong"));
  publish_finish (harness, bus);
  g_autofree char *with = g_strdup_printf ("mqtt://me:secret@127.0.0.1:%u/a", broker.port);
  g_autofree char *user = g_strdup_printf ("mqtt://me@127.0.0.1:%u/a", broker.port);
  g_autofree char *file = publish_path ("secret"),
                  *from_file = g_strdup_printf ("password-file=%s", file);
  g_assert_true (g_file_set_contents (file, "secret\n", -1, NULL));
  const struct
  {
    const char *location, *more;
  } rows[] = { { with, "" }, { user, "password=secret" }, { user, from_file } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    harness = publish_start (rows[i].location, rows[i].more, &bus);
    publish_push_lines (harness, 0, 10);
    g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
    g_assert_cmpuint (publish_count (harness, "published"), ==, 10);
    publish_finish (harness, bus);
  }
  close_broker (&broker);
}

/* A broker that signed its own certificate: refused without it, taken with it. */
static void
test_tls (void)
{
  Broker broker;
  GstBus *bus;
  g_autofree char *certificate = NULL, *key = NULL;
  if (!test_certificate (&certificate, &key))
    return;
  g_autofree char *more =
    g_strdup_printf ("allow_anonymous true\ncertfile %s\nkeyfile %s\n", certificate, key);
  if (open_broker (&broker, "tls", more)) {
    g_autofree char *location = g_strdup_printf ("mqtts://localhost:%u/a", broker.port);
    g_autofree char *with = g_strdup_printf ("ca-file=%s", certificate);
    g_autofree char *expected = g_strdup_printf (
      "MQTT broker localhost:%u: A TLS error occurred. Is its certificate made for this host name, "
      "and signed by ca-file or the system's authorities?",
      broker.port);
    GstHarness *harness = publish_start (location, "", &bus);
    g_autoptr (GstStructure) said = publish_wait_for_state (bus, "disconnected");
    g_assert_cmpstr (gst_structure_get_string (said, "reason"), ==, expected);
    publish_finish (harness, bus);
    harness = publish_start (location, with, &bus);
    publish_push_lines (harness, 0, 10);
    g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
    g_assert_cmpuint (publish_count (harness, "published"), ==, 10);
    publish_finish (harness, bus);
    close_broker (&broker);
  }
  test_remove_file (certificate);
  test_remove_file (key);
}

TEST_MAIN (int argc, char **argv)
{
  publish_init (&argc, &argv);
  g_test_add_func ("/slpublish/mqtt/broker-restarts", test_broker_restarts);
  g_test_add_func ("/slpublish/mqtt/broker-killed", test_broker_killed);
  g_test_add_func ("/slpublish/mqtt/counts", test_counts);
  g_test_add_func ("/slpublish/mqtt/switch", test_switch);
  g_test_add_func ("/slpublish/mqtt/password", test_password);
  g_test_add_func ("/slpublish/mqtt/tls", test_tls);
  return publish_run ();
}
