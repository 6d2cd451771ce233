/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What cameras and workers agree on, encodings and batches, and what a worker tells of itself: to
 * cameras, to browsers, to Prometheus, to a service manager. argv: the program sightline.
 */
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "plugins/elements.h"
#include "plugins/meta/frame_meta.h"
#include "pipelines/remote/message.h"
#include "tests/remote/pool.h"
#include "tests/support/program.h"

#define SIDE 32
#define PICTURE (SIDE * SIDE * 3)
#define CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=3:32:32:1,types=uint8,framerate=25/1"

/* A picture of soft colours, the same for all. */
static void
draw (guint8 *picture)
{
  for (guint i = 0; i < PICTURE; i++)
    picture[i] = (guint8) (40 + i / 96 * 5 + i % 3 * 20);
}

/* The means of its channels, as the model gives them, of a frame that a camera with @more asked
 * for. */
static void
ask (const TestPool *pool, const char *more, guint8 means[3])
{
  guint8 picture[PICTURE];
  GstMapInfo map;
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models/toy", pool->port),
                  *all = g_strconcat ("contract-timeout=100000 deadline=60000 ", more, NULL);
  TestCamera camera = test_camera_open_at (location, all, TRUE);
  gst_harness_set_src_caps_str (camera.harness, CAPS);
  draw (picture);
  GstBuffer *buffer = test_tensor_buffer (picture, sizeof picture);
  GstVideoInfo info;
  gst_video_info_init (&info);
  sl_buffer_add_frame_meta (buffer, NULL, NULL, &info);
  g_assert_cmpint (gst_harness_push (camera.harness, buffer), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (camera.harness);
  g_assert_nonnull (out);
  g_assert_cmpstr (sl_buffer_get_frame_meta (out)->worker, ==,
                   "w1"); /* where it was computed goes with it */
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  memcpy (means, map.data, 3);
  gst_buffer_unmap (out, &map);
  g_assert_cmpuint (test_camera_count (&camera, "refused"), ==, 0);
  test_camera_close (&camera);
}

static void
test_encodings (void)
{
  TestPool pool;
  guint8 plain[3], lz4[3], jpeg[3];
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  test_remove_file (pool.model);
  g_free (pool.model);
  pool.model = test_sized_colour_model (SL_DTYPE_U8, SIDE);
  GPid worker = test_serve (&pool, "--name", "w1");
  ask (&pool, "", plain);
  ask (&pool, "encoding=lz4", lz4);
  g_assert_cmpmem (lz4, 3, plain, 3);
  ask (&pool, "encoding=jpeg jpeg-quality=100", jpeg);
  for (guint c = 0; c < 3; c++)
    g_assert_cmpint (ABS (jpeg[c] - plain[c]), <=, 2);
  test_kill (&worker, SIGKILL);
  test_pool_close (&pool);
}

/* A stranger, who remembers the last request that he hears. */
typedef struct
{
  GMutex lock;
  char *topic, *response;
  void *correlation;
  guint16 correlation_size;
  guint encoding;
  GBytes *contract;
  guint n;
} Stranger;

static void
hear (struct mosquitto *client, void *data, const struct mosquitto_message *message,
      const mosquitto_property *properties)
{
  Stranger *stranger = data;
  g_mutex_lock (&stranger->lock);
  if (g_str_has_suffix (message->topic, "/contract") && message->payloadlen > 0) {
    g_clear_pointer (&stranger->contract, g_bytes_unref);
    stranger->contract = g_bytes_new (message->payload, (gsize) message->payloadlen);
  } else if (message->payloadlen > 24) {
    g_free (stranger->response);
    free (stranger->correlation);
    stranger->correlation = NULL;
    char *response = NULL;
    mosquitto_property_read_string (properties, MQTT_PROP_RESPONSE_TOPIC, &response, false);
    mosquitto_property_read_binary (properties, MQTT_PROP_CORRELATION_DATA, &stranger->correlation,
                                    &stranger->correlation_size, false);
    stranger->response = g_strdup (response);
    free (response);
    stranger->encoding = ((const guint8 *) message->payload)[20];
    stranger->n++;
  }
  g_mutex_unlock (&stranger->lock);
}

static struct mosquitto *
open_stranger (const TestPool *pool, Stranger *stranger)
{
  struct mosquitto *client = mosquitto_new (NULL, true, stranger);
  g_mutex_init (&stranger->lock);
  mosquitto_int_option (client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
  mosquitto_message_v5_callback_set (client, hear);
  g_assert_cmpint (mosquitto_connect (client, "127.0.0.1", (int) pool->port, 60), ==,
                   MOSQ_ERR_SUCCESS);
  g_assert_cmpint (mosquitto_loop_start (client), ==, MOSQ_ERR_SUCCESS);
  mosquitto_subscribe (client, NULL, "models/toy/contract", 1);
  mosquitto_subscribe (client, NULL, "models/toy/work/#", 1);
  return client;
}

static void
close_stranger (struct mosquitto *client, Stranger *stranger)
{
  mosquitto_disconnect (client);
  mosquitto_loop_stop (client, false);
  mosquitto_destroy (client);
  g_clear_pointer (&stranger->contract, g_bytes_unref);
  g_free (stranger->response);
  free (stranger->correlation);
  g_mutex_clear (&stranger->lock);
}

/* (transfer full): the contract at the broker, once it has @fragment in it, or not. */
static char *
wait_contract (Stranger *stranger, const char *fragment, gboolean has)
{
  for (;; g_usleep (5000)) {
    g_mutex_lock (&stranger->lock);
    char *text = stranger->contract != NULL
                   ? g_strndup (g_bytes_get_data (stranger->contract, NULL),
                                g_bytes_get_size (stranger->contract))
                   : NULL;
    g_mutex_unlock (&stranger->lock);
    if (text != NULL && (strstr (text, fragment) != NULL) == has)
      return text;
    g_free (text);
  }
}

static guint
wait_requests (Stranger *stranger, guint n)
{
  for (;; g_usleep (5000)) {
    g_mutex_lock (&stranger->lock);
    const guint heard = stranger->n, encoding = stranger->encoding;
    g_mutex_unlock (&stranger->lock);
    if (heard >= n)
      return encoding;
  }
}

/* @data as the answer to the last request that @stranger heard. */
static void
answer (struct mosquitto *client, const Stranger *stranger, const void *data, gsize size)
{
  mosquitto_property *properties = NULL;
  mosquitto_property_add_binary (&properties, MQTT_PROP_CORRELATION_DATA, stranger->correlation,
                                 stranger->correlation_size);
  mosquitto_publish_v5 (client, NULL, stranger->response, (int) size, data, 1, false, properties);
  mosquitto_property_free_all (&properties);
}

/* Workers that do not read what a camera asks in: by the contract, and by an answer. Frames travel
 * as they are, and go on. */
static void
test_encoding_refused (void)
{
  TestPool pool;
  Stranger stranger = { .n = 0 };
  gsize size;
  if ((sl_remote_encodings_built () & 1u << SL_REMOTE_ENCODING_LZ4) == 0) {
    g_test_skip ("needs liblz4");
    return;
  }
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  struct mosquitto *client = open_stranger (&pool, &stranger);
  g_autofree char *text = wait_contract (&stranger, "\"lz4\"", TRUE);
  TestCamera camera = test_camera_open (&pool, "encoding=lz4");
  test_stop (worker);
  test_camera_push (&camera, 7);
  g_assert_cmpuint (wait_requests (&stranger, 1), ==, SL_REMOTE_ENCODING_LZ4);
  g_autofree guint8 *refusal = sl_remote_refusal_new ("I read none", TRUE, &size);
  answer (client, &stranger, refusal, size);
  g_assert_cmpuint (wait_requests (&stranger, 2), ==, SL_REMOTE_ENCODING_NONE);
  g_autofree char *told =
    test_wait_text (camera.bus, GST_MESSAGE_WARNING,
                    "encoding=lz4: this build and the workers of models/toy read ");
  g_assert_nonnull (strstr (told, ": frames travel as they are"));
  /* And one that reads it answers what was sent first. */
  char hash[SL_REMOTE_HASH];
  g_autoptr (SlContract) contract =
    sl_remote_contract_read (text, strlen (text), "t", hash, &(guint){ 0 }, NULL);
  const guint8 means[] = { 7, 10, 13 };
  g_autofree guint8 *other = sl_remote_answer_new (contract, "w2", 1, 1, SL_REMOTE_ENCODING_LZ4,
                                                   (const void *const[]){ means }, &size);
  answer (client, &stranger, other, size);
  test_camera_pull (&camera, 7);
  g_assert_cmpuint (test_camera_count (&camera, "refused"), ==, 1);
  kill (worker, SIGCONT);
  test_camera_push_and_pull (&camera, 8, 10);
  test_camera_close (&camera);
  /* Another build's announcement names more than this one reads: the worker takes that away. */
  g_auto (GStrv) halves = g_strsplit (text, "\"encodings\":[", 2);
  g_assert_nonnull (halves[1]);
  g_autofree char *none = g_strdup_printf ("%s%s", halves[0], strchr (halves[1], ']') + 2);
  mosquitto_publish (client, NULL, "models/toy/contract", (int) strlen (none), none, 1, true);
  g_free (wait_contract (&stranger, "encodings", FALSE));
  camera = test_camera_open (&pool, "encoding=lz4");
  g_autofree char *again =
    test_wait_text (camera.bus, GST_MESSAGE_WARNING,
                    "encoding=lz4: this build and the workers of models/toy read none");
  g_assert_nonnull (again);
  test_camera_push_and_pull (&camera, 0, 3);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  close_stranger (client, &stranger);
  test_pool_close (&pool);
}

/* Workers of another build read what this one does not write: frames travel as they are, and are
 * answered. */
static void
test_encoding_not_built (void)
{
  TestPool pool;
  Stranger stranger = { .n = 0 };
  const guint built = sl_remote_encodings_built ();
  if (built == (1u << SL_REMOTE_N_ENCODINGS) - 1) {
    g_test_skip ("needs a build without liblz4 or libjpeg");
    return;
  }
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  GPid worker = test_serve (&pool, NULL, NULL);
  struct mosquitto *client = open_stranger (&pool, &stranger);
  g_free (wait_contract (&stranger, "contract", TRUE));
  test_stop (worker);
  char hash[SL_REMOTE_HASH];
  gsize size;
  const void *data = g_bytes_get_data (stranger.contract, &size);
  g_autoptr (SlContract) contract =
    sl_remote_contract_read (data, size, "t", hash, &(guint){ 0 }, NULL);
  g_autoptr (GBytes) more =
    sl_remote_contract_write (contract, (1u << SL_REMOTE_N_ENCODINGS) - 1, hash);
  data = g_bytes_get_data (more, &size);
  mosquitto_publish (client, NULL, "models/toy/contract", (int) size, data, 1, true);
  g_free (wait_contract (&stranger, "\"lz4\",\"jpeg\"", TRUE));
  const SlRemoteEncoding missing =
    (built & 1u << SL_REMOTE_ENCODING_LZ4) == 0 ? SL_REMOTE_ENCODING_LZ4 : SL_REMOTE_ENCODING_JPEG;
  g_autofree char *encoding = g_strconcat ("encoding=", sl_remote_encoding_name (missing), NULL),
                  *expected = g_strconcat (
                    encoding, ": this build and the workers of models/toy read ", NULL);
  TestCamera camera = test_camera_open (&pool, encoding);
  g_free (test_wait_text (camera.bus, GST_MESSAGE_WARNING, expected));
  test_camera_push (&camera, 7);
  g_assert_cmpuint (wait_requests (&stranger, 1), ==, SL_REMOTE_ENCODING_NONE);
  kill (worker, SIGCONT);
  test_camera_pull (&camera, 7);
  g_assert_cmpuint (test_camera_count (&camera, "refused"), ==, 0);
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  close_stranger (client, &stranger);
  test_pool_close (&pool);
}

/* A model whose input is no picture of bytes. */
static void
test_encoding_unsuited (void)
{
  TestPool pool;
  const gint32 shape[] = { 1, 48 };
  if ((sl_remote_encodings_built () & 1u << SL_REMOTE_ENCODING_JPEG) == 0) {
    g_test_skip ("needs libjpeg");
    return;
  }
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  g_autofree char *model = test_reshape_model (4, shape, 2),
                  *prefix = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *location = g_strconcat (prefix, "/toy", NULL),
                  *named = g_strconcat ("toy=", model, NULL);
  const char *argv[] = { test_sightline, "serve", named,   "--location", prefix,
                         "--mean",       "0",     "--std", "1",          NULL };
  GPid worker = test_spawn (argv, NULL);
  TestCamera camera = test_camera_open_at (location, "contract-timeout=100000 encoding=jpeg", TRUE);
  g_autofree char *told =
    test_wait_text (camera.bus, GST_MESSAGE_WARNING,
                    "encoding=jpeg: expected a model whose first input is a picture, ");
  g_assert_nonnull (strstr (told, "got float32[1,4,4,3]: frames travel as they are"));
  test_camera_close (&camera);
  test_kill (&worker, SIGKILL);
  test_remove_file (model);
  test_pool_close (&pool);
}

/* A worker with @more options, its log in a pipe, and the address of its page. */
static GSubprocess *
serve_logged (const TestPool *pool, const char *option, const char *value, GDataInputStream **log)
{
  g_autofree char *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool->port),
                  *named = g_strconcat ("toy=", pool->model, NULL);
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_set_child_setup (launcher, test_die_with_parent, NULL, NULL);
  GSubprocess *worker =
    g_subprocess_launcher_spawn (launcher, NULL, test_sightline, "serve", named, "--location",
                                 location, "--name", "w1", option, value, NULL);
  g_assert_nonnull (worker);
  *log = g_data_input_stream_new (g_subprocess_get_stderr_pipe (worker));
  return worker;
}

/* (transfer full): the next line of @log that has @fragment in it. */
static char *
wait_line (GDataInputStream *log, const char *fragment)
{
  for (;;) {
    char *line = g_data_input_stream_read_line (log, NULL, NULL, NULL);
    g_assert_nonnull (line);
    if (strstr (line, fragment) != NULL)
      return line;
    g_free (line);
  }
}

/* (transfer full): what is answered to a GET. */
static char *
get (guint port, const char *path)
{
  g_autoptr (GSocket) socket =
    g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new_from_string ("127.0.0.1", port);
  g_autofree char *request = g_strdup_printf (
    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", path, port);
  GString *answer = g_string_new (NULL);
  char bytes[4096];
  gssize n;
  g_assert_true (g_socket_connect (socket, address, NULL, NULL));
  g_assert_cmpint (g_socket_send (socket, request, strlen (request), NULL, NULL), ==,
                   (gssize) strlen (request));
  while ((n = g_socket_receive (socket, bytes, sizeof bytes, NULL, NULL)) > 0)
    g_string_append_len (answer, bytes, n);
  return g_string_free (answer, FALSE);
}

static void
wait_answer (guint port, const char *path, const char *status, const char *fragment)
{
  for (;; g_usleep (20000)) {
    g_autofree char *answer = get (port, path);
    if (g_str_has_prefix (answer, status) && strstr (answer, fragment) != NULL)
      return;
    g_test_message ("expected '%s' and '%s', got '%s'", status, fragment, answer);
  }
}

/* The port of the page that the worker shows; 0, the test skipped, where it is built without. */
static guint
find_port (GDataInputStream *log)
{
  g_autofree char *line = wait_line (log, "http");
  if (strstr (line, "shows the worker") != NULL)
    return (guint) g_ascii_strtoull (strrchr (line, ':') + 1, NULL, 10);
  g_test_skip ("built without libsoup");
  return 0;
}

/* The page, its figures, and health, which is bad while the broker is away. */
static void
test_http (void)
{
  TestPool pool;
  g_autoptr (GDataInputStream) log = NULL;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  g_autoptr (GSubprocess) worker = serve_logged (&pool, "--http", "127.0.0.1:0", &log);
  const guint port = find_port (log);
  if (port == 0) {
    test_pool_close (&pool);
    return;
  }
  wait_answer (port, "/health", "HTTP/1.1 200", "{\"ok\":true,\"reasons\":[]}");
  TestCamera camera = test_camera_open (&pool, "");
  test_camera_push_and_pull (&camera, 0, 5);
  wait_answer (port, "/metrics", "HTTP/1.1 200",
               "\nsightline_serve_answered_total{model=\"toy\"} 5\n");
  wait_answer (port, "/metrics", "HTTP/1.1 200", "\nsightline_serve_clients{model=\"toy\"} 1\n");
  wait_answer (port, "/metrics", "HTTP/1.1 200",
               "\nsightline_serve_seconds_count{model=\"toy\",stage=\"age\"} 5\n");
  wait_answer (port, "/status", "HTTP/1.1 200", "\"worker\":\"w1\",");
  wait_answer (port, "/status", "HTTP/1.1 200", "\"name\":\"toy\",");
  wait_answer (port, "/", "HTTP/1.1 200", "<title>Sightline worker</title>");
  wait_answer (port, "/none", "HTTP/1.1 404",
               "/none: there is nothing here; expected one of /, /status, /health, /metrics");
  test_kill (&pool.broker, SIGKILL);
  wait_answer (port, "/health", "HTTP/1.1 503", "\"the broker is away: MQTT broker 127.0.0.1:");
  wait_answer (port, "/metrics", "HTTP/1.1 200", "\nsightline_serve_state{state=\"away\"} 1\n");
  test_start_broker (&pool);
  wait_answer (port, "/health", "HTTP/1.1 200", "{\"ok\":true,\"reasons\":[]}");
  test_camera_close (&camera);
  g_subprocess_send_signal (worker, SIGTERM);
  g_assert_true (g_subprocess_wait (worker, NULL, NULL));
  g_assert_cmpint (g_subprocess_get_exit_status (worker), ==, 0);
  test_pool_close (&pool);
}

/* How many requests the worker computed together with others. */
static guint64
count_batched (guint port)
{
  g_autofree char *status = get (port, "/status");
  const char *at = strstr (status, "\"batched\":");
  g_assert_nonnull (at);
  return g_ascii_strtoull (at + strlen ("\"batched\":"), NULL, 10);
}

/* Bytes that Linux has received for the connection of @pid to the port @port, and @pid not read. */
static gsize
received (GPid pid, guint port)
{
  g_autofree char *fds = g_strdup_printf ("/proc/%d/fd", (int) pid),
                  *path = g_strdup_printf ("/proc/%d/net/tcp", (int) pid), *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GDir) dir = g_dir_open (fds, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *fd = g_build_filename (fds, name, NULL), *target = g_file_read_link (fd, NULL);
    for (guint i = 1; lines[i] != NULL; i++) {
      guint remote = 0, queued = 0;
      gulong inode = 0;
      if (sscanf (lines[i], "%*u: %*8x:%*4x %*8x:%4x 01 %*8x:%8x %*s %*s %*u %*u %lu", &remote,
                  &queued, &inode)
            != 3
          || remote != port)
        continue;
      g_autofree char *socket = g_strdup_printf ("socket:[%lu]", inode);
      if (g_strcmp0 (socket, target) == 0)
        return queued;
    }
  }
  return 0;
}

static gsize
wait_received (GPid pid, guint port, gsize least)
{
  gsize bytes;
  while ((bytes = received (pid, port)) < least)
    g_usleep (1000);
  return bytes;
}

/* Frames that wait are computed at once, and each gets its own answer. The model takes longer than
 * a frame's way from the socket to the queue. */
static void
test_batches (void)
{
  TestPool pool;
  g_autoptr (GDataInputStream) log = NULL;
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  test_remove_file (pool.model);
  g_free (pool.model);
  pool.model = test_slow_colour_model ();
  g_autoptr (GSubprocess) worker = serve_logged (&pool, "--batch=2", "--http=127.0.0.1:0", &log);
  const guint port = find_port (log);
  if (port == 0) {
    test_pool_close (&pool);
    return;
  }
  const GPid pid = (GPid) g_ascii_strtoll (g_subprocess_get_identifier (worker), NULL, 10);
  TestCamera one = test_camera_open (&pool, "window=8"), two = test_camera_open (&pool, "window=8");
  test_camera_push_and_pull (&one, 0, 1);
  test_stop (pid);
  test_camera_push (&one, 1);
  const gsize frame = wait_received (pid, pool.port, 1);
  for (guint i = 2; i < 9; i++)
    test_camera_push (&one, i);
  for (guint i = 1; i < 9; i++)
    test_camera_push (&two, 100 + i);
  wait_received (pid, pool.port, 16 * frame);
  g_assert_cmpint (kill (pid, SIGCONT), ==, 0);
  for (guint i = 1; i < 9; i++) {
    test_camera_pull (&one, i);
    test_camera_pull (&two, 100 + i);
  }
  wait_answer (port, "/metrics", "HTTP/1.1 200",
               "\nsightline_serve_answered_total{model=\"toy\"} 17\n");
  const guint64 batched = count_batched (port);
  g_assert_cmpuint (batched, >, 0);
  g_assert_cmpuint (test_camera_count (&one, "refused") + test_camera_count (&two, "refused"), ==,
                    0);
  g_assert_cmpuint (batched % 2, ==, 0);
  test_camera_close (&one);
  test_camera_close (&two);
  g_subprocess_send_signal (worker, SIGTERM);
  g_assert_true (g_subprocess_wait (worker, NULL, NULL));
  g_assert_cmpint (g_subprocess_get_exit_status (worker), ==, 0);
  test_pool_close (&pool);
}

/* @said: all that was told so far, which grows until it has @fragment in it. */
static void
wait_told (GSocket *manager, GString *said, const char *fragment)
{
  char bytes[512];
  while (strstr (said->str, fragment) == NULL) {
    const gssize n = g_socket_receive (manager, bytes, sizeof bytes, NULL, NULL);
    g_assert_cmpint (n, >, 0);
    g_string_append_len (said, bytes, n);
    g_string_append_c (said, '\n');
  }
}

/* A service manager hears when requests are taken, that the worker lives, and that it ends. */
static void
test_manager (void)
{
  TestPool pool;
  GString *said = g_string_new (NULL);
  if (!test_pool_open (&pool, "allow_anonymous true"))
    return;
  g_autofree char *path = g_build_filename (pool.folder, "notify", NULL),
                  *location = g_strdup_printf ("mqtt://127.0.0.1:%u/models", pool.port),
                  *named = g_strconcat ("toy=", pool.model, NULL);
  g_autoptr (GSocket) manager =
    g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_DEFAULT, NULL);
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (path);
  g_assert_true (g_socket_bind (manager, address, FALSE, NULL));
  g_socket_set_timeout (manager, 100);
  g_autoptr (GSubprocessLauncher) launcher =
    g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_set_child_setup (launcher, test_die_with_parent, NULL, NULL);
  g_subprocess_launcher_setenv (launcher, "NOTIFY_SOCKET", path, TRUE);
  g_subprocess_launcher_setenv (launcher, "WATCHDOG_USEC", "200000", TRUE);
  g_autoptr (GSubprocess) worker = g_subprocess_launcher_spawn (
    launcher, NULL, test_sightline, "serve", named, "--location", location, NULL);
  wait_told (manager, said, "READY=1");
  wait_told (manager, said, "STATUS=serving, 0.0 answers a second, 0 requests wait");
  g_string_truncate (said, 0);
  wait_told (manager, said, "WATCHDOG=1");
  g_string_truncate (said, 0);
  wait_told (manager, said, "WATCHDOG=1");
  g_subprocess_send_signal (worker, SIGTERM);
  wait_told (manager, said, "STOPPING=1");
  g_assert_true (g_subprocess_wait (worker, NULL, NULL));
  g_assert_cmpint (g_subprocess_get_exit_status (worker), ==, 0);
  unlink (path);
  g_string_free (said, TRUE);
  test_pool_close (&pool);
}

TEST_MAIN (int argc, char **argv)
{
  test_pool_init (&argc, &argv);
  g_test_add_func ("/serve/encodings", test_encodings);
  g_test_add_func ("/serve/encoding-refused", test_encoding_refused);
  g_test_add_func ("/serve/encoding-not-built", test_encoding_not_built);
  g_test_add_func ("/serve/encoding-unsuited", test_encoding_unsuited);
  g_test_add_func ("/serve/http", test_http);
  g_test_add_func ("/serve/batches", test_batches);
  g_test_add_func ("/serve/manager", test_manager);
  return test_pool_run ();
}
