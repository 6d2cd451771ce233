/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An HTTP camera for tests: MJPEG (multipart/x-mixed-replace) on 127.0.0.1, and ways to misbehave.
 * As rtsp_server, a process of its own that prints its URI once it listens. Needs no HTTP library:
 * a test peer that speaks only what is written here can break the protocol where it likes.
 *   mjpeg_server [--port 0] [--size 320x240] [--fps 20] [--mode MODE]
 * Hostile modes send as fast as the peer reads, until it goes away.
 */
#include <gio/gio.h>
#include <gst/gst.h>
#include <stdio.h>
#include <string.h>

#define BOUNDARY "frame"
#define MAX_REQUEST 8192
#define NOISE_BYTES 4096
#define BLOCK_BYTES 65536

typedef struct
{
  gint port, fps, frames;
  char *size, *mode, *login, *type;
  GBytes *jpeg;
} Options;

static GBytes *
make_jpeg (const char *size)
{
  gint width, height;
  if (sscanf (size, "%dx%d", &width, &height) != 2)
    return NULL;
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=%d,height=%d ! jpegenc ! "
    "fakesink name=sink enable-last-sample=true",
    width, height);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) sink =
    pipeline != NULL ? gst_bin_get_by_name (GST_BIN (pipeline), "sink") : NULL;
  g_autoptr (GstSample) sample = NULL;
  if (sink == NULL)
    return NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_object_get (sink, "last-sample", &sample, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  GstMapInfo map;
  if (sample == NULL || !gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ))
    return NULL;
  GBytes *jpeg = g_bytes_new (map.data, map.size);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  return jpeg;
}

static gboolean
say (GOutputStream *out, const char *text)
{
  return g_output_stream_write_all (out, text, strlen (text), NULL, NULL, NULL);
}

/* (nullable) (transfer full): request line and headers. */
static char *
read_request (GInputStream *in)
{
  g_autoptr (GString) request = g_string_new (NULL);
  char byte;
  while (request->len < MAX_REQUEST && strstr (request->str, "\r\n\r\n") == NULL
         && g_input_stream_read (in, &byte, 1, NULL, NULL) == 1)
    g_string_append_c (request, byte);
  return strstr (request->str, "\r\n\r\n") != NULL
           ? g_string_free (g_steal_pointer (&request), FALSE)
           : NULL;
}

static gboolean
send_part (const Options *options, GOutputStream *out, gsize bytes, const guint8 *data)
{
  const gsize said = g_str_equal (options->mode, "liar") ? bytes * 10 : bytes;
  g_autofree char *head = g_strdup_printf (
    "--%s\r\nContent-Type: image/jpeg\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", BOUNDARY,
    said);
  return say (out, head) && g_output_stream_write_all (out, data, bytes, NULL, NULL, NULL)
         && say (out, "\r\n");
}

/* What a hostile camera sends: @head once, behind the answer's head unless @bare, then @again, or
 * zeros where that is NULL, for ever. */
static const struct
{
  const char *mode;
  gboolean bare;
  const char *head, *again;
} attacks[] = {
  { "endless", FALSE, "--frame\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8\xff\xe0", NULL },
  { "length", FALSE, "--frame\r\nContent-Length: 4294967306\r\n\r\n\xff\xd8\xff\xe0", NULL },
  { "negative", FALSE, "--frame\r\nContent-Length: -1\r\n\r\n\xff\xd8\xff\xe0", NULL },
  { "overflow", FALSE,
    "--frame\r\nContent-Length: 99999999999999999999999999\r\n\r\n\xff\xd8\xff\xe0", NULL },
  { "header", FALSE, "--frame\r\n",
    "X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" },
  { "line", FALSE,
    "--frame\r\nX-Filler: ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
  { "unbounded", FALSE, "\r\n", "No boundary here.\r\n" },
  { "empty", FALSE, "", "--frame\r\nContent-Type: image/jpeg\r\nContent-Length: 0\r\n\r\n\r\n" },
  { "text", FALSE, "", "--frame\r\nContent-Type: text/plain\r\n\r\nno picture\r\n" },
  { "answer", TRUE, "HTTP/1.1 200 OK\r\n",
    "X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" },
  { "rtsp-body", TRUE, "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 1000000000\r\n\r\n", NULL },
  { "rtsp-header", TRUE, "RTSP/1.0 200 OK\r\nCSeq: 1\r\n",
    "X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" },
  { "rtsp-line", TRUE, "RTSP/1.0 200 OK\r\nCSeq: 1\r\nX-Filler: ",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
  { "answer-line", TRUE, "HTTP/1.1 200 OK\r\nX-Filler: ",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
};

static gboolean
say_head (GOutputStream *out, const char *boundary, const char *type)
{
  if (type != NULL) {
    g_autofree char *line =
      !g_str_equal (type, "none") ? g_strdup_printf ("Content-Type: %s\r\n", type) : g_strdup ("");
    g_autofree char *odd = g_strdup_printf ("HTTP/1.0 200 OK\r\nConnection: close\r\n%s\r\n", line);
    return say (out, odd);
  }
  g_autofree char *head = g_strdup_printf (
    "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: multipart/x-mixed-replace; "
    "boundary=%s\r\n\r\n",
    boundary);
  return say (out, head);
}

/* FALSE where @mode is no attack. */
static gboolean
attack (const char *mode, GOutputStream *out)
{
  for (guint i = 0; i < G_N_ELEMENTS (attacks); i++) {
    if (!g_str_equal (attacks[i].mode, mode))
      continue;
    g_autoptr (GByteArray) block = g_byte_array_new ();
    while (attacks[i].again != NULL && block->len < BLOCK_BYTES)
      g_byte_array_append (block, (const guint8 *) attacks[i].again,
                           (guint) strlen (attacks[i].again));
    if (attacks[i].again == NULL) {
      g_byte_array_set_size (block, BLOCK_BYTES);
      memset (block->data, 0, block->len);
    }
    gboolean there =
      (attacks[i].bare || say_head (out, BOUNDARY, NULL)) && say (out, attacks[i].head);
    /* To rtspsrc as fast as a network is: what comes between two looks at its connection is not
     * bounded. */
    const gulong pause = g_str_has_prefix (mode, "rtsp") ? G_USEC_PER_SEC / 1000 : 0;
    for (; there; g_usleep (pause))
      there = g_output_stream_write_all (out, block->data, block->len, NULL, NULL, NULL);
    return TRUE;
  }
  return FALSE;
}

/* A picture whose frame header says 65500x65500, and one whose only scan is there 200 times. */
static GByteArray *
make_bomb (GBytes *jpeg, gboolean of_scans)
{
  gsize n, frame = 0, scan = 0;
  const guint8 *data = g_bytes_get_data (jpeg, &n);
  for (gsize i = 2; i + 4 < n && scan == 0; i += 2u + ((gsize) data[i + 2] << 8 | data[i + 3])) {
    frame = data[i + 1] == 0xc0 ? i : frame;
    scan = data[i + 1] == 0xda ? i : 0;
  }
  GByteArray *bomb = g_byte_array_append (g_byte_array_new (), data, (guint) n - 2);
  for (guint i = 0; of_scans && i < 200; i++)
    g_byte_array_append (bomb, data + scan, (guint) (n - 2 - scan));
  g_byte_array_append (bomb, data + n - 2, 2);
  if (!of_scans)
    for (guint i = 5; i < 9; i += 2) {
      bomb->data[frame + i] = 65500 >> 8;
      bomb->data[frame + i + 1] = 65500 & 255;
    }
  return bomb;
}

static void
wait_for_close (GInputStream *in)
{
  guint8 byte;
  while (g_input_stream_read (in, &byte, 1, NULL, NULL) > 0)
    continue;
}

static void
stream (const Options *options, GInputStream *in, GOutputStream *out)
{
  gsize bytes;
  const guint8 *jpeg = g_bytes_get_data (options->jpeg, &bytes);
  g_autofree guint8 *corrupt = g_memdup2 (jpeg, bytes);
  for (gsize i = 2; i < bytes; i++)
    corrupt[i] = (guint8) (i * 37);
  const gboolean broken = g_str_equal (options->mode, "corrupt");
  const char *said = g_str_equal (options->mode, "boundary") ? "another" : BOUNDARY;
  g_autoptr (GByteArray) bomb = make_bomb (options->jpeg, g_str_equal (options->mode, "scans"));
  if (!say_head (out, said, options->type))
    return;
  if (g_str_equal (options->mode, "pixels") || g_str_equal (options->mode, "scans")) {
    bytes = bomb->len;
    jpeg = bomb->data;
  }
  const gboolean limited =
    g_str_equal (options->mode, "stall") || g_str_equal (options->mode, "close");
  for (gint i = 0; !limited || i < options->frames; i++) {
    if (!send_part (options, out, bytes, broken ? corrupt : jpeg))
      return;
    g_usleep ((gulong) (G_USEC_PER_SEC / options->fps));
  }
  if (g_str_equal (options->mode, "stall"))
    wait_for_close (in);
}

static void
make_noise (GOutputStream *out)
{
  guint8 bytes[NOISE_BYTES];
  do {
    for (guint i = 0; i < sizeof bytes; i++)
      bytes[i] = (guint8) g_random_int ();
    g_usleep (10000);
  } while (g_output_stream_write_all (out, bytes, sizeof bytes, NULL, NULL, NULL));
}

static void
answer (const Options *options, GInputStream *in, GOutputStream *out)
{
  g_autofree char *request = read_request (in);
  if (request == NULL)
    return;
  if (options->login != NULL) {
    g_autofree char *code =
      g_base64_encode ((const guchar *) options->login, strlen (options->login));
    if (strstr (request, code) == NULL) {
      say (out, "HTTP/1.0 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"camera\"\r\n"
                "Content-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
  }
  if (g_str_equal (options->mode, "missing")) {
    say (out, "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  } else if (g_str_equal (options->mode, "snapshot")) {
    gsize bytes;
    const guint8 *jpeg = g_bytes_get_data (options->jpeg, &bytes);
    say (out, "HTTP/1.0 200 OK\r\nContent-Type: image/jpeg\r\nConnection: close\r\n\r\n");
    g_output_stream_write_all (out, jpeg, bytes, NULL, NULL, NULL);
  } else if (!attack (options->mode, out)) {
    stream (options, in, out);
  }
}

static gboolean
is_mode (const char *mode)
{
  static const char *const modes[] = { "ok",    "stall",    "close",  "boundary", "corrupt",
                                       "liar",  "snapshot", "silent", "garbage",  "pixels",
                                       "scans", "missing",  NULL };
  gboolean known = g_strv_contains (modes, mode);
  for (guint i = 0; i < G_N_ELEMENTS (attacks); i++)
    known = known || g_str_equal (attacks[i].mode, mode);
  return known;
}

static gboolean
serve (GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
       gpointer data)
{
  const Options *options = data;
  GInputStream *in = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  if (g_str_equal (options->mode, "silent"))
    wait_for_close (in);
  else if (g_str_equal (options->mode, "garbage"))
    make_noise (out);
  else
    answer (options, in, out);
  return TRUE;
}

/* -1 with a message on standard error, else the port. */
static gint
listen_on (GSocketListener *service, gint port)
{
  g_autoptr (GInetAddress) loopback = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new (loopback, (guint16) port);
  g_autoptr (GSocketAddress) bound = NULL;
  g_autoptr (GError) error = NULL;
  if (g_socket_listener_add_address (service, address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP,
                                     NULL, &bound, &error))
    return g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
  fprintf (stderr, "mjpeg_server: %s\n", error->message);
  return -1;
}

int
main (int argc, char **argv)
{
  Options options = { .fps = 20, .frames = 10 };
  const GOptionEntry entries[] = {
    { "port", 'p', 0, G_OPTION_ARG_INT, &options.port, "TCP port, 0 = a free one (0)", "PORT" },
    { "size", 's', 0, G_OPTION_ARG_STRING, &options.size, "size of the picture (320x240)",
      "WIDTHxHEIGHT" },
    { "fps", 'f', 0, G_OPTION_ARG_INT, &options.fps, "frames a second (20)", "N" },
    { "frames", 'n', 0, G_OPTION_ARG_INT, &options.frames,
      "for stall and close: so many frames first (10)", "N" },
    { "login", 0, 0, G_OPTION_ARG_STRING, &options.login, "ask for this user name and password",
      "USER:PASSWORD" },
    { "type", 0, 0, G_OPTION_ARG_STRING, &options.type,
      "Content-Type of the answer; none: without one (multipart/x-mixed-replace)", "TYPE" },
    { "mode", 'm', 0, G_OPTION_ARG_STRING, &options.mode,
      "ok; stall: frames stop, the connection stays; close; boundary: announces another one than "
      "it sends; corrupt: no JPEG decodes; snapshot: one picture; liar: wrong Content-Length; "
      "silent: never answers; garbage: answers with noise; pixels, scans: a picture that is larger "
      "than it seems; endless, length, negative, overflow, header, line, unbounded, empty, text, "
      "answer, answer-line: without end; rtsp-body, rtsp-header, rtsp-line: the same, to a client "
      "of RTSP",
      "MODE" },
    { 0 },
  };
  gst_init (&argc, &argv);
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    fprintf (stderr, "mjpeg_server: %s\n", error->message);
    return 2;
  }
  options.mode = options.mode != NULL ? options.mode : g_strdup ("ok");
  options.jpeg = make_jpeg (options.size != NULL ? options.size : "320x240");
  GSocketService *service = g_threaded_socket_service_new (16);
  g_signal_connect (service, "run", G_CALLBACK (serve), &options);
  if (options.jpeg == NULL || !is_mode (options.mode)) {
    fprintf (stderr, "mjpeg_server: wrong --size or --mode, or no jpegenc\n");
    return 2;
  }
  const gint port = listen_on (G_SOCKET_LISTENER (service), options.port);
  if (port < 0)
    return 1;
  printf ("http://127.0.0.1:%d/video\n", port);
  fflush (stdout);
  g_main_loop_run (g_main_loop_new (NULL, FALSE));
  return 0;
}
