/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpublish to files, standard output and sockets: what readers read is compared with what was
 * pushed, line by line; disks that are full, peers that go and come back. Brokers are in
 * slpublish_mqtt.c.
 */
#include "config.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/publish/topic.h"
#include "tests/elements/publish/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

static void
assert_lines (char **lines, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    g_autofree char *expected = publish_line (i);
    g_assert_cmpstr (lines[i - from], ==, expected);
  }
}

static void
test_file (void)
{
  g_autofree char *path = publish_path ("lines.json"), *uri = g_strconcat ("File://", path, NULL),
                  *text = NULL;
  GstBus *bus;
  for (guint part = 0; part < 2; part++) {
    GstHarness *harness = publish_start (part == 0 ? path : uri, "", &bus);
    publish_push_lines (harness, part * 100, part * 100 + 100);
    g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
    g_assert_cmpuint (publish_count (harness, "published"), ==, 100);
    publish_finish (harness, bus);
  }
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 201);
  assert_lines (lines, 0, 200);
}

/* What a killed program left of a line stays a line of its own. */
static void
test_half_line (void)
{
  g_autofree char *path = publish_path ("half.json"), *text = NULL, *line = publish_line (0);
  g_autofree char *expected = g_strconcat ("{\"whole\":1}\n{\"fra\n", line, "\n", NULL);
  GstBus *bus;
  g_assert_true (g_file_set_contents (path, "{\"whole\":1}\n{\"fra", -1, NULL));
  GstHarness *harness = publish_start (path, "", &bus);
  publish_push_lines (harness, 0, 1);
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  publish_finish (harness, bus);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, expected);
}

/* Text of several lines stays as it is, and a frame with nothing on it leaves no line. */
static void
test_text (void)
{
  g_autofree char *path = publish_path ("lines.txt"), *text = NULL;
  GstBus *bus;
  GstHarness *harness = publish_start (path, "", &bus);
  gst_harness_set_src_caps_str (harness, "text/x-raw,format=utf8");
  publish_push_text (harness, "cat 0.5 1 2 3 4\ndog 0.4 1 2 3 4\n");
  publish_push_text (harness, "");
  publish_push_text (harness, "cat 0.6 1 2 3 4");
  gst_harness_push_event (harness, gst_event_new_eos ());
  publish_finish (harness, bus);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "cat 0.5 1 2 3 4\ndog 0.4 1 2 3 4\ncat 0.6 1 2 3 4\n");
}

/* Files are cut at whole lines, none is larger than asked for, no more are kept than asked for. */
static void
test_rotation (void)
{
  g_autofree char *path = publish_path ("rotated.json");
  GstBus *bus;
  GstHarness *harness = publish_start (path, "max-file-size=1000 keep-files=3", &bus);
  publish_push_lines (harness, 0, 200);
  gst_harness_push_event (harness, gst_event_new_eos ());
  publish_finish (harness, bus);
  guint next = 200;
  for (guint i = 0; i < 5; i++) {
    g_autofree char *name = i == 0 ? g_strdup (path) : g_strdup_printf ("%s.%u", path, i),
                    *text = NULL;
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
  g_autofree char *path = publish_path ("aged.json"), *old = g_strconcat (path, ".1", NULL),
                  *text = NULL;
  GstBus *bus;
  GstHarness *harness = publish_start (path, "max-file-age=1", &bus);
  publish_push_lines (harness, 0, 1);
  while (publish_count (harness, "published") < 1)
    g_usleep (1000);
  g_usleep (G_USEC_PER_SEC * 11 / 10);
  publish_push_lines (harness, 1, 2);
  gst_harness_push_event (harness, gst_event_new_eos ());
  publish_finish (harness, bus);
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
  GstHarness *harness = publish_start ("/dev/full", "max-queue-bytes=4096 drain-timeout=50", &bus);
  publish_push_lines (harness, 0, 1);
  g_autofree char *warning = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_assert_true (g_str_has_prefix (
    warning, "/dev/full: cannot be written to: No space left on device; trying again"));
  g_autoptr (GstStructure) said = publish_wait_for_state (bus, "disconnected");
  g_assert_nonnull (strstr (gst_structure_get_string (said, "reason"),
                            "/dev/full: cannot be written to: No space left on device"));
  publish_push_lines (harness, 1, 1000);
  g_assert_cmpuint (publish_count (harness, "dropped"), >, 900);
  /* The same is not said again with each attempt: what comes next is that lines are lost, and then
   * the end. */
  g_autofree char *full = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_assert_cmpstr (
    full, ==,
    "/dev/full: the queue (max-queue-bytes) is full, from now on the oldest lines are lost and "
    "counted in dropped");
  gst_structure_free (publish_wait_for_state (bus, "disconnected"));
  gst_harness_push_event (harness, gst_event_new_eos ());
  g_autofree char *end = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  const char *dropped = strstr (end, "lines are published and ");
  g_assert_true (
    g_str_has_prefix (end, "/dev/full: at the end of the stream 0 lines are published and "));
  g_assert_cmpuint (g_ascii_strtoull (strstr (dropped, "and ") + 4, NULL, 10), ==, 1000);
  g_assert_nonnull (strstr (end, " are lost, "));
  g_assert_nonnull (strstr (end, " of them because they could not be sent within drain-timeout"));
  publish_finish (harness, bus);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *location, *more, *expected;
  } cases[] = {
    { "/nonexistent/x.json", "",
      "cannot be opened for writing: No such file or directory: expected a file in a folder that "
      "exists and may be written to" },
    { "file://host/tmp/x.json", "",
      "location=file://host/tmp/x.json: the file is on another machine, 'host': expected "
      "file:///PATH" },
    { "ftp://me:secret@host/x", "",
      "location=ftp://me:***@host/x: expected a path, \"-\", file://, unix:/path, "
      "tcp://host:port, mqtt[s]://host/topic, kafka[s]://host/topic, http[s]://host/path, "
      "ntfy[s]://host/topic, push:/file or exec:/program, got scheme \"ftp\"" },
    { "tcp://localhost", "", "expected tcp://host:port with a port of 1 to 65535" },
    { "tcp://localhost:99999", "", "expected tcp://host:port with a port of 1 to 65535" },
    { "tcp://me:secret@localhost", "",
      "location=tcp://me:***@localhost: expected tcp://host:port" },
    { "tcp:me:secret@localhost:1", "",
      "location=tcp:me:***@localhost:1: expected a path, \"-\", file://" },
    { "mqtt:me:secret@localhost/a", "", "location=mqtt:me:***@localhost/a: expected a path" },
    { "mqtt:/me:secret@localhost/a", "", "location=mqtt:/me:***@localhost/a: expected a path" },
    { "mqqt://me:secret@localhost/a", "",
      "location=mqqt://me:***@localhost/a: expected a path, \"-\", file://, unix:/path, "
      "tcp://host:port, mqtt[s]://host/topic, kafka[s]://host/topic, http[s]://host/path, "
      "ntfy[s]://host/topic, push:/file or exec:/program, got scheme \"mqqt\"" },
    { "mqtt//me:secret@localhost/a", "", "location=mqtt//me:***@localhost/a: expected a path" },
    { "me:secret@localhost/a", "", "location=me:***@localhost/a: expected a path" },
    { "/nonexistent/x.json", "password=a password-file=/b",
      "password and password-file are both set: expected one of them" },
    { "/nonexistent/x.json", "password-file=/nonexistent/pw",
      "password-file=/nonexistent/pw: No such file or directory" },
    { "/nonexistent/x.json", "file-mode=640x",
      "file-mode=640x: expected permissions in octal, 0600 to 0666, such as 0640" },
    { "/nonexistent/x.json", "file-mode=0440", "file-mode=0440: expected permissions in octal" },
    { "/nonexistent/x.json", "file-mode=0777", "file-mode=0777: expected permissions in octal" },
    { "unix:relative", "", "expected unix:/path with an absolute path" },
    { "UNIX:relative", "", "location=unix:relative: expected unix:/path with an absolute path" },
    { "TCP://localhost", "", "expected tcp://host:port with a port of 1 to 65535" },
    { "FTP://me:secret@host/x", "", "location=FTP://me:***@host/x: expected a path" },
#ifdef SL_HAVE_MOSQUITTO
    { "mqtt://localhost", "", "expected mqtt://[user[:password]@]host[:port]/topic" },
    { "mqtt://me:secret@localhost/", "", "location=mqtt://me:***@localhost/: expected mqtt://" },
    { "mqtt://localhost/a/{it}", "",
      "expected levels with {host}, {element} or {source} in them and no wildcards, got \"{it}\"" },
    { "mqtt://localhost/a/+/b", "", "no wildcards, got \"+/b\"" },
    { "mqtt://me:12/secret+@localhost/a", "",
      "location=mqtt://me:***@localhost/a: in the topic expected levels" },
    { "mqtt://me:s3cr#secret@localhost/a", "",
      "location=mqtt://me:***@localhost/a: expected mqtt://[user[:password]@]host[:port]/topic, "
      "with %23 for '#'" },
    { "mqtt://me:s3cr/secret@localhost/a", "",
      "location=mqtt://me:***@localhost/a: expected mqtt://[user" },
    { "mqtt://me:s3cr?secret@localhost/a", "",
      "location=mqtt://me:***@localhost/a: expected mqtt://[user" },
    { "mqtt://me:secret@localhost:x/a", "",
      "location=mqtt://me:***@localhost:x/a: expected mqtt://" },
    { "MQTT://localhost", "",
      "location=mqtt://localhost: expected mqtt://[user[:password]@]host[:port]/topic" },
    { "MQTTS://localhost/a", "ca-file=/nonexistent.pem",
      "ca-file=/nonexistent.pem: no such file, or it cannot be read" },
    { "mqtt://localhost/a", "ca-file=/nonexistent.pem",
      "are for mqtts://, and the location says mqtt://" },
    { "mqtts://localhost/a", "ca-file=/nonexistent.pem",
      "ca-file=/nonexistent.pem: no such file, or it cannot be read" },
    { "mqtts://localhost/a", "certificate=/dev/null",
      "certificate and private-key belong together" },
    { "mqtt://localhost/a", "availability-topic=a/#",
      "topic \"a/#\": expected at most 65535 bytes without + and #" },
#endif
#ifdef SL_HAVE_KAFKA
    { "kafka://localhost", "",
      "location=kafka://localhost: expected kafka[s]://[user[:password]@]host[:port][,"
      "host[:port]...]/topic, such as kafka://localhost/predictions" },
    { "kafka://localhost/", "", "expected kafka[s]://" },
    { "kafka:///boxes", "", "expected kafka[s]://" },
    { "kafka://a,,b/boxes", "", "expected kafka[s]://" },
    { "kafka://a:x/boxes", "", "expected kafka[s]://" },
    { "KAFKA://a:0/boxes", "", "location=kafka://a:0/boxes: expected kafka[s]://" },
    { "kafka://me:s3cr#secret@localhost/a", "",
      "location=kafka://me:***@localhost/a: expected kafka[s]://[user[:password]@]host[:port][,"
      "host[:port]...]/topic, with %23 for '#'" },
    { "kafka://me:s3cr/secret@localhost/a", "",
      "location=kafka://me:***@localhost/a: expected kafka[s]://" },
    { "kafka://me:secret@localhost,other:x/a", "",
      "location=kafka://me:***@localhost,other:x/a: expected kafka[s]://" },
    { "kafka://me:s%zzsecret@localhost/a", "",
      "location=kafka://me:***@localhost/a: expected kafka[s]://" },
    { "kafka:me:secret@localhost/a", "", "location=kafka:me:***@localhost/a: expected a path" },
    { "kafka://localhost/a/b", "",
      "expected a topic of 1 to 249 letters, digits, '.', '_' and '-', with {host}, {element} or "
      "{source} in it" },
    { "kafka://localhost/{nonsense}", "", "expected a topic of 1 to 249" },
    { "kafka://localhost/..", "", "expected a topic of 1 to 249" },
    { "kafka://localhost/a", "message-key={x}",
      "message-key={x}: expected {host}, {element} or {source}, got \"{x}\"" },
    { "kafka://localhost/a", "ca-file=/nonexistent.pem",
      "are for kafkas://, and the location says kafka://" },
    { "kafkas://localhost/a", "ca-file=/nonexistent.pem",
      "ca-file=/nonexistent.pem: no such file, or it cannot be read" },
    { "kafkas://localhost/a", "ca-file=/dev/null", "Kafka cannot be set up: " },
    { "kafkas://localhost/a", "certificate=/dev/null",
      "certificate and private-key belong together" },
    { "kafka://me@localhost/a", "sasl-mechanism=GSSAPI",
      "sasl-mechanism=GSSAPI: expected PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512" },
    { "kafka://localhost/a", "sasl-mechanism=PLAIN",
      "password and sasl-mechanism need a user: set username, or user@ in the location" },
    { "kafka://localhost/a", "password=secret",
      "password and sasl-mechanism need a user: set username, or user@ in the location" },
#endif
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *launch =
      g_strdup_printf ("slpublish location=\"%s\" %s", cases[i].location, cases[i].more);
    g_autoptr (GstElement) element = gst_object_ref_sink (gst_parse_launch (launch, NULL));
    g_autoptr (GstBus) bus = test_watch (element);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
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

/* Neither graphs of pipelines nor the readable properties show a password. */
static void
test_shown (void)
{
  g_autoptr (GstElement) pipeline = gst_object_ref_sink (gst_parse_launch (
    "fakesrc ! slpublish name=p location=\"mqtt://u:#secret@h/t\" password=secret password-file=/p",
    NULL));
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "p");
  g_autofree char *location = NULL, *password = NULL, *file = NULL;
  g_object_get (element, "location", &location, "password", &password, "password-file", &file,
                NULL);
  g_assert_cmpstr (location, ==, "mqtt://u:***@h/t");
  g_assert_null (password);
  g_assert_cmpstr (file, ==, "/p");
  g_autofree char *graph =
    gst_debug_bin_to_dot_data (GST_BIN (pipeline), GST_DEBUG_GRAPH_SHOW_VERBOSE);
  g_assert_nonnull (strstr (graph, "mqtt://u:***@h/t"));
  g_assert_null (strstr (graph, "secret"));
}

static guint
mode_of (const char *path)
{
  GStatBuf about;
  g_assert_cmpint (g_lstat (path, &about), ==, 0);
  return (guint) about.st_mode & 07777;
}

static void
publish_one (const char *path, const char *more, guint lines)
{
  GstBus *bus;
  GstHarness *harness = publish_start (path, more, &bus);
  publish_push_lines (harness, 0, lines);
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  publish_finish (harness, bus);
}

/* New files have the mode that is asked for, whatever the mask; those that are there keep theirs;
 * rotation makes new ones. */
static void
test_mode (void)
{
  g_autofree char *path = publish_path ("mode.json"), *open = publish_path ("open.json"),
                  *kept = publish_path ("kept.json");
  g_autofree char *old = g_strconcat (open, ".1", NULL);
  const mode_t mask = umask (0077);
  publish_one (path, "", 1);
  publish_one (open, "file-mode=0664 max-file-size=100", 4);
  umask (mask);
  g_assert_cmpuint (mode_of (path), ==, 0640);
  g_assert_cmpuint (mode_of (open), ==, 0664);
  g_assert_cmpuint (mode_of (old), ==, 0664);
  g_assert_true (g_file_set_contents (kept, "", 0, NULL));
  g_assert_cmpint (g_chmod (kept, 0604), ==, 0);
  publish_one (kept, "", 1);
  g_assert_cmpuint (mode_of (kept), ==, 0604);
}

/* (transfer full): what the element says when it is started with @location. */
static char *
refused (const char *location)
{
  g_autofree char *launch = g_strdup_printf ("slpublish location=\"%s\"", location);
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_parse_launch (launch, NULL));
  g_autoptr (GstBus) bus = test_watch (element);
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  return g_strdup (error->message);
}

/* A link in the file's place is refused, to a file that is there and to one that is not; one in the
 * place that a rotation renames to goes away, and what it leads to stays as it is. */
static void
test_links (void)
{
  g_autofree char *victim = publish_path ("victim"), *missing = publish_path ("missing"),
                  *link = publish_path ("link.json");
  g_autofree char *path = publish_path ("turned.json"), *turned = g_strconcat (path, ".1", NULL),
                  *text = NULL;
  g_assert_true (g_file_set_contents (victim, "mine", -1, NULL));
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpint (symlink (i == 0 ? victim : missing, link), ==, 0);
    g_autofree char *said = refused (link);
    g_test_message ("%s", said);
    g_assert_nonnull (strstr (
      said,
      "cannot be opened for writing: it is a symbolic link, which is not followed: give the path "
      "that it leads to, or remove it"));
    g_assert_cmpint (g_unlink (link), ==, 0);
  }
  g_assert_false (g_file_test (missing, G_FILE_TEST_EXISTS));
  g_assert_cmpint (symlink (victim, turned), ==, 0);
  publish_one (path, "max-file-size=100", 4);
  g_assert_false (g_file_test (turned, G_FILE_TEST_IS_SYMLINK));
  g_assert_true (g_file_test (turned, G_FILE_TEST_IS_REGULAR));
  g_assert_true (g_file_get_contents (victim, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "mine");
}

/* A folder in the place of FILE.1: said once, with what to do, and lines wait until it is gone. */
static void
test_blocked_rotation (void)
{
  g_autofree char *path = publish_path ("blocked.json"), *turned = g_strconcat (path, ".1", NULL),
                  *expected = NULL;
  GstBus *bus;
  g_assert_cmpint (g_mkdir (turned, 0700), ==, 0);
  GstHarness *harness = publish_start (path, "max-file-size=100 keep-files=1", &bus);
  publish_push_lines (harness, 0, 4);
  g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  expected = g_strdup_printf (
    "%s: cannot be renamed to %s: Is a directory: move that folder away; trying again", path,
    turned);
  g_test_message ("%s", said);
  g_assert_true (g_str_has_prefix (said, expected));
  g_assert_cmpint (g_rmdir (turned), ==, 0);
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (publish_count (harness, "published"), ==, 4);
  publish_finish (harness, bus);
  g_assert_true (g_file_test (turned, G_FILE_TEST_IS_REGULAR));
}

/* A password that others may read is warned of at the start. */
static void
test_open_password (void)
{
  g_autofree char *path = publish_path ("warned.json"), *file = publish_path ("password");
  g_autofree char *more = g_strdup_printf ("password-file=%s", file);
  GstBus *bus;
  g_assert_true (g_file_set_contents (file, "secret\n", -1, NULL));
  g_assert_cmpint (g_chmod (file, 0644), ==, 0);
  GstHarness *harness = publish_start (path, more, &bus);
  g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_autofree char *expected = g_strdup_printf (
    "password-file=%s: other users may read or change this secret (mode 0644): chmod 600", file);
  g_assert_true (g_str_has_prefix (said, expected));
  publish_finish (harness, bus);
}

static void
note_count (gpointer user_data, const char *label, guint count)
{
  g_string_append_printf (user_data, "%s=%u;", label, count);
}

/* What changed from line to line, also with a malformed analysis. */
static void
test_label_counts (void)
{
#define ANALYSIS(rest) "{\"objects\":[],\"analysis\":" rest "}"
  static const struct
  {
    const char *line, *changed;
  } steps[] = {
    { ANALYSIS ("{\"zones\":[{\"name\":\"door\",\"inside\":2}]}"), "zones/door=2;" },
    { ANALYSIS (
        "{\"zones\":[{\"name\":\"door\",\"inside\":2}],\"lines\":[{\"name\":\"way\",\"in\":1}]}"),
      "lines/way/in=1;" },
    { ANALYSIS (
        "{\"zones\":[{\"name\":\"door\",\"inside\":1}],\"lines\":[{\"name\":\"way\",\"in\":1}]}"),
      "zones/door=1;" },
    { ANALYSIS (
        "{\"zones\":[{\"name\":\"door\",\"inside\":1},3,{\"name\":null,\"inside\":1},"
        "{\"name\":\"\",\"inside\":1},{\"inside\":[]}],\"lines\":[{\"name\":\"way\",\"in\":1,"
        "\"out\":-4},[]]}"),
      "" },
    { ANALYSIS ("{\"zones\":{},\"lines\":7}"), "" },
    { "{\"objects\":[{\"roi_type\":\"cat\"}],\"analysis\":[]}", "cat=1;" },
    { "{\"analysis\":{}}", "" },
    { "{\"objects\":[{\"roi_type\":\"cat\"},{\"roi_type\":[]},{\"roi_type\":{}},{\"roi_type\":7}]}",
      "" },
    { "{\"objects\":[{\"roi_type\":\"dog\"}],\"analysis\":{\"zones\":[", "" },
  };
  SlLabelCounts *counts = sl_label_counts_new ();
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_autoptr (GString) changed = g_string_new (NULL);
    sl_label_counts_update (counts, steps[i].line, strlen (steps[i].line), note_count, changed);
    /* What a line says nothing of is 0, once. */
    if (i == 4)
      g_assert_true (strstr (changed->str, "zones/door=0;") != NULL
                     && strstr (changed->str, "lines/way/in=0;") != NULL);
    else
      g_assert_cmpstr (changed->str, ==, steps[i].changed);
  }
  sl_label_counts_free (counts);
}

static void
test_counts_of_text (void)
{
  GstBus *bus;
  GstHarness *harness = publish_start ("mqtt://127.0.0.1:1/a", "counts=true", &bus);
  gst_harness_set_src_caps_str (harness, "text/x-raw,format=utf8");
  g_assert_cmpint (publish_push_text (harness, "cat"), ==, GST_FLOW_NOT_NEGOTIATED);
  g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_ERROR);
  g_assert_cmpstr (
    said, ==,
    "counts and discovery-prefix need predictions as JSON, and the input is text: ask for "
    "application/x-json before slpublish");
  publish_finish (harness, bus);
}

static void
test_unset (void)
{
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slpublish", NULL));
  g_autoptr (GstBus) bus = test_watch (element);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;
  gst_message_parse_error (message, &error, NULL);
  g_assert_nonnull (strstr (
    error->message,
    "location is not set: expected a path, \"-\" for standard output, unix:/path, tcp://host:port, "
    "mqtt://host/topic or kafka://host/topic"));
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
  g_assert_true (g_socket_listener_add_address (server->listener, address, G_SOCKET_TYPE_STREAM,
                                                G_SOCKET_PROTOCOL_DEFAULT, NULL, NULL, &error));
  g_object_unref (address);
}

static void
take_peer (Server *server)
{
  server->peer = g_socket_listener_accept (server->listener, NULL, NULL, NULL);
  g_assert_nonnull (server->peer);
  server->lines =
    g_data_input_stream_new (g_io_stream_get_input_stream (G_IO_STREAM (server->peer)));
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
    g_autofree char *expected = publish_line (i),
                    *got = g_data_input_stream_read_line (server->lines, NULL, NULL, NULL);
    g_assert_cmpstr (got, ==, expected);
  }
}

/* The peer goes while nothing is sent: what comes meanwhile waits for the next one, whole and in
 * order. */
static void
check_socket (const char *location, Server *server)
{
  GstBus *bus;
  GstHarness *harness = publish_start (location, "", &bus);
  take_peer (server);
  publish_push_lines (harness, 0, 50);
  assert_served (server, 0, 50);
  drop_peer (server);
  g_autoptr (GstStructure) said = publish_wait_for_state (bus, "disconnected");
  g_assert_nonnull (
    strstr (gst_structure_get_string (said, "reason"), "the peer closed the connection"));
  publish_push_lines (harness, 50, 150);
  take_peer (server);
  assert_served (server, 50, 150);
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_assert_cmpuint (publish_count (harness, "published"), ==, 150);
  g_assert_cmpuint (publish_count (harness, "dropped"), ==, 0);
  publish_finish (harness, bus);
  drop_peer (server);
  g_clear_object (&server->listener);
}

static void
test_unix (void)
{
  Server server;
  g_autofree char *path = publish_path ("socket"), *location = g_strconcat ("unix:", path, NULL);
  serve_at (&server, g_unix_socket_address_new (path));
  check_socket (location, &server);
}

#define LONG_LINES 100
#define LONG_BYTES 100000

/* Line number @i, much longer: a hundred are more than a system holds for a peer, and pushed in no
 * time. */
static char *
long_line (guint i)
{
  char *line = g_malloc (LONG_BYTES + 1);
  const gint start = g_snprintf (line, LONG_BYTES, "{\"frame\":%u,\"text\":\"", i);
  memset (line + start, 'a' + i % 26, (gsize) (LONG_BYTES - start));
  memcpy (line + LONG_BYTES - 2, "\"}", 3);
  return line;
}

static void
assert_long_lines (Server *server, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    g_autofree char *expected = long_line (i),
                    *got = g_data_input_stream_read_line (server->lines, NULL, NULL, NULL);
    g_assert_true (g_strcmp0 (got, expected) == 0);
  }
}

/* Nobody listens until lines are lost: that, how many when lines go out again, and the same at the
 * end. */
static void
test_losses (void)
{
  Server server;
  GstBus *bus;
  g_autofree char *path = publish_path ("late"), *location = g_strconcat ("unix:", path, NULL);
  GstHarness *harness = publish_start (location, "max-queue-bytes=4096 retry-max=200", &bus);
  g_free (publish_wait_for_text (bus, GST_MESSAGE_WARNING));
  publish_push_lines (harness, 0, 1000);
  const guint64 dropped = publish_count (harness, "dropped");
  g_autofree char *full = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_assert_nonnull (strstr (
    full,
    ": the queue (max-queue-bytes) is full, from now on the oldest lines are lost and counted in "
    "dropped"));
  serve_at (&server, g_unix_socket_address_new (path));
  take_peer (&server);
  assert_served (&server, (guint) dropped, 1000);
  while (publish_count (harness, "published") < 1000 - dropped)
    g_usleep (1000);
  publish_push_lines (harness, 1000, 1001);
  g_autofree char *again = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_autofree char *lost = g_strdup_printf (
    "%s: lines go out again; %" G_GUINT64_FORMAT " were lost so far", location, dropped);
  g_assert_cmpstr (again, ==, lost);
  assert_served (&server, 1000, 1001);
  g_assert_true (gst_harness_push_event (harness, gst_event_new_eos ()));
  g_autofree char *end = publish_wait_for_text (bus, GST_MESSAGE_WARNING);
  g_autofree char *sum = g_strdup_printf (
    "%s: at the end of the stream %" G_GUINT64_FORMAT " lines are published and %" G_GUINT64_FORMAT
    " are lost, 0 of them because they could not be sent within drain-timeout",
    location, 1001 - dropped, dropped);
  g_assert_cmpstr (end, ==, sum);
  publish_finish (harness, bus);
  drop_peer (&server);
  g_clear_object (&server.listener);
}

/* The peer goes with more lines on their way than the system takes: the next one's first line is a
 * whole one. */
static void
test_broken_pipe (void)
{
  Server server;
  GstBus *bus;
  g_autofree char *path = publish_path ("pipe"), *location = g_strconcat ("unix:", path, NULL);
  serve_at (&server, g_unix_socket_address_new (path));
  GstHarness *harness = publish_start (location, "max-queue-bytes=100000000", &bus);
  take_peer (&server);
  for (guint i = 0; i < LONG_LINES; i++) {
    g_autofree char *line = long_line (i);
    g_assert_cmpint (publish_push_text (harness, line), ==, GST_FLOW_OK);
  }
  assert_long_lines (&server, 0, 2);
  drop_peer (&server);
  g_autoptr (GstStructure) said = publish_wait_for_state (bus, "disconnected");
  const char *reason = gst_structure_get_string (
    said, "reason"); /* the second where the peer goes while the system takes a line */
  if (strstr (reason, "Broken pipe") == NULL && strstr (reason, "Connection reset by peer") == NULL)
    g_error ("the peer went, and the reason is: %s", reason);
  take_peer (&server);
  g_autofree char *first = g_data_input_stream_read_line (server.lines, NULL, NULL, NULL);
  guint number = 0;
  g_assert_cmpint (sscanf (first, "{\"frame\":%u,", &number), ==, 1);
  g_autofree char *whole = long_line (number);
  g_assert_true (g_str_equal (first, whole));
  assert_long_lines (&server, number + 1, LONG_LINES);
  publish_finish (harness, bus);
  drop_peer (&server);
  g_clear_object (&server.listener);
}

/* The reader of standard output has ended: a permanent error, and no signal. Between the two dup2()
 * nothing may print. */
static void
test_stdout (void)
{
  GstBus *bus;
  gint ends[2];
  fflush (stdout);
  const gint before = dup (STDOUT_FILENO);
  g_assert_cmpint (pipe (ends), ==, 0);
  dup2 (ends[1], STDOUT_FILENO);
  close (ends[1]);
  close (ends[0]);
  GstHarness *harness = publish_start ("-", "", &bus);
  publish_push_text (harness, "{}");
  g_autofree char *said = publish_wait_for_text (bus, GST_MESSAGE_ERROR);
  const GstFlowReturn flow = publish_push_text (harness, "{}");
  dup2 (before, STDOUT_FILENO);
  close (before);
  g_assert_cmpstr (
    said, ==,
    "standard output: cannot be written to: Broken pipe: nothing can be published any more");
  g_assert_cmpint (flow, ==, GST_FLOW_ERROR);
  publish_finish (harness, bus);
}

static void
test_tcp (void)
{
  Server server;
  const guint port = test_reserve_port ();
  g_autofree char *location = g_strdup_printf ("TCP://127.0.0.1:%u", port);
  serve_at (&server, g_inet_socket_address_new_from_string ("127.0.0.1", port));
  check_socket (location, &server);
}

/* Nobody there: the bound holds, the newest lines are those kept, the end does not wait for ever,
 * and stopping neither. */
static void
test_nobody (void)
{
  GstBus *bus;
  g_autofree char *location = g_strdup_printf ("tcp://127.0.0.1:%u", test_reserve_port ());
  GstHarness *harness = publish_start (location, "max-queue-bytes=2048 drain-timeout=100", &bus);
  g_autoptr (GstStructure) said = publish_wait_for_state (bus, "disconnected");
  g_assert_nonnull (strstr (gst_structure_get_string (said, "reason"), "Connection refused"));
  publish_push_lines (harness, 0, 1000);
  const guint64 dropped = publish_count (harness, "dropped");
  g_assert_cmpuint (dropped, >, 900);
  const gint64 before = g_get_monotonic_time ();
  gst_harness_push_event (harness, gst_event_new_eos ());
  gst_element_set_state (harness->element, GST_STATE_NULL);
  g_assert_cmpint (g_get_monotonic_time () - before, <, PUBLISH_PATIENCE / 4);
  g_assert_cmpuint (publish_count (harness, "dropped"), ==, 1000);
  publish_finish (harness, bus);
}

TEST_MAIN (int argc, char **argv)
{
  publish_init (&argc, &argv);
  g_test_add_func ("/slpublish/file", test_file);
  g_test_add_func ("/slpublish/half-line", test_half_line);
  g_test_add_func ("/slpublish/text", test_text);
  g_test_add_func ("/slpublish/rotation", test_rotation);
  g_test_add_func ("/slpublish/age", test_age);
  g_test_add_func ("/slpublish/full-disk", test_full_disk);
  g_test_add_func ("/slpublish/errors", test_errors);
  g_test_add_func ("/slpublish/shown", test_shown);
  g_test_add_func ("/slpublish/mode", test_mode);
  g_test_add_func ("/slpublish/links", test_links);
  g_test_add_func ("/slpublish/blocked-rotation", test_blocked_rotation);
  g_test_add_func ("/slpublish/open-password", test_open_password);
  g_test_add_func ("/slpublish/unset", test_unset);
  g_test_add_func ("/slpublish/unix", test_unix);
  g_test_add_func ("/slpublish/losses", test_losses);
  g_test_add_func ("/slpublish/broken-pipe", test_broken_pipe);
  g_test_add_func ("/slpublish/stdout", test_stdout);
  g_test_add_func ("/slpublish/tcp", test_tcp);
  g_test_add_func ("/slpublish/nobody", test_nobody);
#ifdef SL_HAVE_MOSQUITTO
  g_test_add_func ("/slpublish/label-counts", test_label_counts);
  g_test_add_func ("/slpublish/counts-of-text", test_counts_of_text);
#endif
  return publish_run ();
}
