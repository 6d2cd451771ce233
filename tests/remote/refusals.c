/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slremote and `sightline serve` among users who may not, brokers that limit, strangers who send
 * what they like, and settings that contradict: what is refused, and with what words. argv: the
 * program sightline.
 */
#include <gio/gio.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "plugins/elements.h"
#include "pipelines/remote/message.h"
#include "tests/remote/pool.h"
#include "tests/support/program.h"

/* What cannot start says why. */
static void
test_start_refused (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  g_autofree char *here = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool.port),
                  *spaced = g_strdup_printf ("mqtt://127.0.0.1:%u/models/my%%20toy", pool.port),
                  *flat = g_strdup_printf ("mqtt://127.0.0.1:%u/toy", pool.port);
  g_autoptr (GSocketListener) listener = g_socket_listener_new (); /* which says nothing */
  const guint silent_port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  g_autofree char
    *silent = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", silent_port),
    *silence = g_strdup_printf (
      "models/toy: the broker at 127.0.0.1:%u does not answer: correct the location, or raise "
      "contract-timeout",
      silent_port);
  const struct
  {
    const char *location, *more, *expected;
  } rows[] = {
    { silent, "contract-timeout=300", silence },
    { here, "username=a+b",
      "user name \"a+b\": expected one without +, # and /, because it is a level of the topic that "
      "answers come to" },
    { spaced, "contract-timeout=2000",
      "models/my toy: the broker has no contract of this model: start a worker, sightline serve "
      "my_toy=FILE" },
    { flat, "",
      "topic \"toy\": expected the prefix that the workers serve under and a model's name" },
    { "ftp://a/b", "",
      "location=ftp://a/b: expected mqtt://[user[:password]@]host[:port]/topic, such as "
      "mqtt://localhost/models/ssd" },
    { here, "password=a password-file=b", "password and password-file are both set" },
    { here, "ca-file=/none", "ca-file, certificate and private-key are for mqtts://" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    TestCamera camera = test_camera_open_at (rows[i].location, rows[i].more, FALSE);
    g_autofree char *text = test_wait_text (camera.bus, GST_MESSAGE_ERROR, rows[i].expected);
    g_assert_nonnull (text);
    test_camera_close (&camera);
  }
  test_pool_close (&pool);
}

static gpointer
interrupt_thread (gpointer element)
{
  g_signal_emit_by_name (element, "interrupt");
  return NULL;
}

/* A start that would wait for ten minutes ends when it is interrupted, before or meanwhile; the
 * next one waits again. */
static void
test_interrupted (void)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new (); /* which says nothing */
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  g_autofree char *launch = g_strdup_printf (
    "slremote location=mqtt://127.0.0.1:%u/models/toy contract-timeout=600000", port);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_parse_launch (launch, &error));
  g_assert_no_error (error);
  g_autoptr (GstBus) bus = test_watch (element);
  for (guint i = 0; i < 4; i++) {
    GThread *thread = g_thread_new ("interrupt", interrupt_thread, element);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_READY), ==,
                     GST_STATE_CHANGE_FAILURE);
    g_thread_join (thread);
    test_assert_error (bus, "models/toy: the wait for the model's contract was interrupted", NULL);
    gst_element_set_state (element, GST_STATE_NULL);
  }
  gst_element_set_bus (element, NULL);
}

/* Tensors that the workers' model does not take. */
static void
test_contradiction (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool.port);
  TestCamera camera = test_camera_open_at (location, "contract-timeout=100000", TRUE);
  gst_harness_set_src_caps_str (
    camera.harness,
    "other/tensors,format=static,num_tensors=1,dimensions=3:5:5:1,types=uint8,framerate=25/1");
  g_autofree char *text = test_wait_text (camera.bus, GST_MESSAGE_ERROR, "expected uint8[1,4,4,3]");
  g_assert_nonnull (strstr (
    text,
    ", got uint8[1,5,5,3]: let slnormalize make the tensor, or correct the caps before slremote, "
    "which list the sizes in reverse order"));
  test_camera_close (&camera);
  /* And a worker whose model is another than that which is served under the name. */
  g_autofree char *other = test_pair_model (),
                  *prefix = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *said = test_serve_in_vain (prefix, other);
  g_assert_nonnull (
    strstr (said, "models/toy/contract: another contract is there: expected uint8[1,4,4,3]"));
  g_assert_nonnull (strstr (said, ", got uint8[1,4,4,3]"));
  g_assert_nonnull (strstr (said, "or take --replace where all workers get the new model"));
  test_kill (&worker, SIGKILL);
  test_remove_file (other);
  test_pool_close (&pool);
}

/* Users and topics as docs/remote.md has them: a camera's user may ask and not announce, a worker's
 * the other way round. */
static void
test_access (void)
{
  TestPool pool;
  g_autofree char *tool = g_find_program_in_path ("mosquitto_passwd");
  if (tool == NULL) {
    g_test_skip ("needs the program mosquitto_passwd");
    return;
  }
  g_autofree char *folder = g_dir_make_tmp ("sl-access-XXXXXX", NULL),
                  *passwords = g_build_filename (folder, "passwords", NULL),
                  *root = g_strdup (g_getenv ("SIGHTLINE_SOURCE_ROOT")),
                  *access = g_build_filename (root, "tools", "data", "mosquitto.acl", NULL);
  const char *const users[] = { "worker", "camera" };
  for (guint i = 0; i < G_N_ELEMENTS (users); i++) {
    const char *argv[] = { tool, "-b", passwords, users[i], "secret", NULL };
    if (i == 0)
      g_assert_true (g_file_set_contents (passwords, "", 0, NULL));
    g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                                 NULL, NULL, NULL, NULL));
  }
  g_autofree char *more =
    g_strdup_printf ("allow_anonymous false\npassword_file %s\nacl_file %s\n", passwords, access);
  if (test_pool_open (&pool, more)) {
    g_autofree char *to_serve =
                      g_strdup_printf ("mqtt://worker:secret@127.0.0.1:%u/models", pool.port),
                    *right =
                      g_strdup_printf ("mqtt://camera:secret@127.0.0.1:%u/models/toy", pool.port),
                    *wrong =
                      g_strdup_printf ("mqtt://camera:wrong@127.0.0.1:%u/models/toy", pool.port),
                    *as_camera =
                      g_strdup_printf ("mqtt://camera:secret@127.0.0.1:%u/models", pool.port);
    GPid worker = test_serve_at (to_serve, pool.model, NULL, NULL);
    TestCamera camera = test_camera_open_at (right, "contract-timeout=100000 deadline=60000", TRUE);
    test_camera_push_and_pull (&camera, 0, 5);
    test_camera_close (&camera);
    camera = test_camera_open_at (wrong, "contract-timeout=100000", FALSE);
    g_autofree char *text =
      test_wait_text (camera.bus, GST_MESSAGE_ERROR, "check username and password");
    g_assert_null (strstr (text, "wrong"));
    test_camera_close (&camera);
    g_autofree char *said = test_serve_in_vain (as_camera, pool.model);
    g_assert_nonnull (strstr (said, "the broker does not let this user announce: "));
    test_kill (&worker, SIGKILL);
    test_pool_close (&pool);
  }
  remove (passwords);
  remove (folder);
}

static void
test_tls (void)
{
  TestPool pool;
  g_autofree char *certificate = NULL, *key = NULL;
  if (!test_certificate (&certificate, &key))
    return;
  g_autofree char *more =
    g_strdup_printf ("allow_anonymous true\ncertfile %s\nkeyfile %s", certificate, key);
  if (test_pool_open (&pool, more)) {
    g_autofree char *prefix = g_strdup_printf ("mqtts://localhost:%u/models", pool.port),
                    *location = g_strconcat (prefix, "/toy", NULL),
                    *with = g_strdup_printf ("ca-file=%s contract-timeout=100000 deadline=60000",
                                             certificate);
    GPid worker = test_serve_at (prefix, pool.model, "--ca-file", certificate);
    TestCamera camera = test_camera_open_at (location, with, TRUE);
    test_camera_push_and_pull (&camera, 0, 5);
    test_camera_close (&camera);
    camera = test_camera_open_at (location, "contract-timeout=100000", FALSE);
    g_autofree char *text = test_wait_text (camera.bus, GST_MESSAGE_ERROR, "A TLS error occurred");
    g_assert_nonnull (text);
    test_camera_close (&camera);
    test_kill (&worker, SIGKILL);
    test_pool_close (&pool);
  }
  test_remove_file (certificate);
  test_remove_file (key);
}

/* A stranger at the broker. */
static struct mosquitto *
open_stranger (const TestPool *pool)
{
  struct mosquitto *client = mosquitto_new (NULL, true, NULL);
  mosquitto_int_option (client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
  g_assert_cmpint (mosquitto_connect (client, "127.0.0.1", (int) pool->port, 60), ==,
                   MOSQ_ERR_SUCCESS);
  g_assert_cmpint (mosquitto_loop_start (client), ==, MOSQ_ERR_SUCCESS);
  return client;
}

static void
send_stranger (struct mosquitto *client, const char *topic, const void *data, gsize size,
               const char *response, const void *correlation, gsize correlation_size)
{
  mosquitto_property *properties = NULL;
  if (response != NULL)
    mosquitto_property_add_string (&properties, MQTT_PROP_RESPONSE_TOPIC, response);
  if (correlation != NULL)
    mosquitto_property_add_binary (&properties, MQTT_PROP_CORRELATION_DATA, correlation,
                                   (uint16_t) correlation_size);
  mosquitto_publish_v5 (client, NULL, topic, (int) size, data, 1, false, properties);
  mosquitto_property_free_all (&properties);
}

static void
note_topic (struct mosquitto *client, void *data, const struct mosquitto_message *message)
{
  GAsyncQueue *heard = data;
  g_async_queue_push (heard, g_strdup (message->topic));
}

/* Malformed requests are refused or ignored, the worker publishes nowhere but below answers/, and
 * cameras' frames go on. */
static void
test_hostile (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  g_autoptr (GAsyncQueue) heard = g_async_queue_new_full (g_free);
  g_autoptr (GRand) chance = g_rand_new_with_seed (2026);
  GPid worker = test_serve (&pool, NULL, NULL);
  TestCamera camera = test_camera_open (&pool, "");
  struct mosquitto *stranger = open_stranger (&pool), *listener = open_stranger (&pool);
  mosquitto_user_data_set (listener, heard);
  mosquitto_message_callback_set (listener, note_topic);
  mosquitto_subscribe (listener, NULL, "home/#", 1);
  mosquitto_subscribe (listener, NULL, "models/toy/answers/#", 1);
  mosquitto_subscribe (listener, NULL, "models/toy/work/#", 1);
  guint n = 0;
  char *asked = NULL; /* models/toy/work/HASH/anyone, once the listener's subscriptions are there */
  while (asked == NULL || !g_str_has_prefix (asked, "models/toy/work/")) {
    g_free (asked);
    test_camera_push_and_pull (&camera, n, n + 1);
    n++;
    asked = g_async_queue_timeout_pop (heard, G_USEC_PER_SEC / 10);
  }
  const char *const responses[] = { "home/door/open", "models/toy/answers/another/x",
                                    "models/toy/answers/anyone/stranger", NULL };
  for (guint i = 0; i < 60; i++) {
    guint8 bytes[200];
    for (guint k = 0; k < sizeof bytes; k++)
      bytes[k] = (guint8) g_rand_int_range (chance, 0, 256);
    memcpy (bytes, "SLRQ\1\0\1\0", i % 3 == 0 ? 8 : 0);
    send_stranger (stranger, asked, bytes, i % 5 == 0 ? 0 : sizeof bytes, responses[i % 4],
                   i % 2 == 0 ? bytes : NULL, i % 40);
  }
  test_camera_push_and_pull (&camera, n, n + 4);
  /* What the camera hears at its own topic of strangers: it knows the topic of its answers only
   * from the broker. */
  gboolean told = FALSE;
  for (char *topic; !told; g_free (topic)) {
    topic = g_async_queue_pop (heard);
    g_assert_false (g_str_has_prefix (topic, "home/"));
    g_assert_false (g_str_has_prefix (topic, "models/toy/answers/another/"));
    told = strcmp (topic, "models/toy/answers/anyone/stranger") == 0;
    if (!told && g_str_has_prefix (topic, "models/toy/answers/anyone/"))
      for (guint i = 0; i < 3; i++)
        send_stranger (stranger, topic, "SLAN", 4, NULL, "0123456789abcdef", i * 8);
  }
  g_assert_true (told); /* the refusal */
  test_camera_wait_count (&camera, "refused", 3);
  test_camera_push_and_pull (&camera, n + 4, n + 8);
  g_assert_cmpuint (test_camera_count (&camera, "answered"), ==, n + 8);
  g_free (asked);
  mosquitto_disconnect (stranger);
  mosquitto_disconnect (listener);
  mosquitto_loop_stop (stranger, false);
  mosquitto_loop_stop (listener, false);
  mosquitto_destroy (stranger);
  mosquitto_destroy (listener);
  test_camera_close (&camera);
  g_assert_cmpint (test_kill (&worker, SIGTERM), ==, 0);
  test_pool_close (&pool);
}

/* A frame of @bytes zeros, as which the harness' caps have been set. */
static void
push_zeros (const TestCamera *camera, gsize bytes)
{
  g_autofree guint8 *zeros = g_malloc0 (bytes);
  g_assert_cmpint (gst_harness_push (camera->harness, test_tensor_buffer (zeros, bytes)), ==,
                   GST_FLOW_OK);
}

#define LARGE_SIDE 32
#define LARGE_BYTES (LARGE_SIDE * LARGE_SIDE * 3 * 4)
#define LARGE_CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=3:32:32:1,types=float32,framerate=25/1"

static void
check_too_large (const char *limit, const char *expected)
{
  TestPool pool;
  g_autofree char *more = g_strdup_printf ("allow_anonymous true\nmax_packet_size %s", limit);
  if (!test_pool_open (&pool, more))
    return;
  const gint32 shape[] = { 1, LARGE_BYTES / 4 };
  g_autofree char *model = test_reshape_model (LARGE_SIDE, shape, 2), *name = g_strnfill (200, 'n'),
                  *prefix = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *location = g_strconcat (prefix, "/toy", NULL);
  g_autofree char *named = g_strconcat ("toy=", model, NULL);
  const char *argv[] = { test_sightline, "serve",  named, "--location", prefix, "--name",
                         name,           "--mean", "0",   "--std",      "1",    NULL };
  GPid worker = test_spawn (argv, NULL);
  TestCamera camera = test_camera_open_at (location, "contract-timeout=100000 deadline=1000", TRUE);
  gst_harness_set_src_caps_str (camera.harness, LARGE_CAPS);
  push_zeros (&camera, LARGE_BYTES);
  g_autofree char *text = test_wait_text (camera.bus, GST_MESSAGE_WARNING, expected);
  g_assert_nonnull (
    strstr (text, "bytes: the broker's limit is smaller: raise its max_packet_size"));
  test_camera_wait_count (&camera, "lost", 1);
  g_assert_cmpuint (test_camera_count (&camera, "refused"), >=, 1);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_remove_file (model);
  test_pool_close (&pool);
}

/* A broker that takes no messages of a size: the frame is lost and a sentence says why, whether its
 * request or the answer is too large (the worker's name makes it larger than the request). A worker
 * that cannot announce ends. */
static void
test_too_large (void)
{
  TestPool pool;
  check_too_large ("12000", "a request of 12316 bytes");
  check_too_large ("12500", "a worker refused a frame: an answer of 12512 bytes");
  if (!test_pool_open (&pool, "allow_anonymous true\nmax_packet_size 450"))
    return;
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *said = test_serve_in_vain (location, pool.model);
  g_assert_nonnull (strstr (said, "an announcement of "));
  g_assert_nonnull (
    strstr (said, "bytes: the broker's limit is smaller: raise its max_packet_size"));
  test_pool_close (&pool);
}

/* A worker that may report and not announce. */
static void
test_announcement_denied (void)
{
  TestPool pool;
  g_autofree char *access = test_text_file (
                    "access", "topic readwrite models/workers/#\ntopic read models/#\n"),
                  *more = g_strdup_printf ("allow_anonymous true\nacl_file %s", access);
  if (test_pool_open (&pool, more)) {
    g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                    *said = test_serve_in_vain (location, pool.model);
    g_assert_nonnull (strstr (said, "the broker does not let this user announce: "));
    test_pool_close (&pool);
  }
  test_remove_file (access);
}

/* A worker whose broker dies while it ends says so, and nothing of time. */
static void
test_broker_dies_last (void)
{
  TestPool pool;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *named = g_strconcat ("toy=", pool.model, NULL), *said = NULL;
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, test_die_with_parent, NULL, NULL);
  g_autoptr (GSubprocess) worker = g_subprocess_launcher_spawn (
    launcher, NULL, test_sightline, "serve", named, "--location", location, NULL);
  TestCamera camera = test_camera_open (&pool, "");
  test_camera_wait_workers (&camera, 1);
  test_stop (pool.broker);
  g_subprocess_send_signal (worker, SIGTERM);
  g_usleep (300000);
  test_kill (&pool.broker, SIGKILL);
  g_assert_true (g_subprocess_communicate_utf8 (worker, NULL, NULL, NULL, &said, NULL));
  g_assert_null (strstr (said, "took longer than"));
  /* Where the machine was so slow that the broker died before the worker began to end, it has
   * nothing to say. */
  g_assert_true (g_subprocess_get_exit_status (worker) == 0
                 || strstr (said, "the connection broke before all that was taken was answered"));
  test_camera_close (&camera);
  test_pool_close (&pool);
}

TEST_MAIN (int argc, char **argv)
{
  test_pool_init (&argc, &argv);
  g_test_add_func ("/slremote/start-refused", test_start_refused);
  g_test_add_func ("/slremote/interrupted", test_interrupted);
  g_test_add_func ("/slremote/contradiction", test_contradiction);
  g_test_add_func ("/slremote/access", test_access);
  g_test_add_func ("/slremote/tls", test_tls);
  g_test_add_func ("/slremote/hostile", test_hostile);
  g_test_add_func ("/slremote/too-large", test_too_large);
  g_test_add_func ("/slremote/announcement-denied", test_announcement_denied);
  g_test_add_func ("/slremote/broker-dies-last", test_broker_dies_last);
  return test_pool_run ();
}
