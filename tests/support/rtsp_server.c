/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An RTSP camera for tests: gst-rtsp-server on 127.0.0.1 with a moving test picture, and ways to
 * misbehave. Tests and soak runs start it as a process of its own, kill it with any signal and
 * start it again on the same port.
 *   rtsp_server [--port 8554] [--size 640x480] [--mode ok|stall|slow|silent|garbage|sound] ...
 * Prints the URI on standard output, one line, once it listens. Port 0 takes a free one.
 */
#include <gio/gio.h>
#include <glib-unix.h>
#include <gst/rtsp-server/rtsp-server.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/numbered_frame.h"

#define PATH "/stream"
#define GARBAGE_BYTES 4096

typedef struct
{
  gint port, fps, after_ms, gop, loss, omit, burst_ms, every_ms, still, moving;
  gboolean numbered;
  char *size, *mode, *payload, *pattern, *user, *password, *sets;
} Options;

/* Everything before the payloader must be there wherever the base and good plugins are; h264 and
 * h265 need encoders. %d: the key frames' distance */
static const struct
{
  const char *name, *format, *chain;
} payloads[] = {
  { "jpeg", "I420", "jpegenc ! rtpjpegpay name=pay0 pt=26" },
  { "raw", "UYVY", "rtpvrawpay name=pay0 pt=96" },
  { "h264", "I420",
    "openh264enc gop-size=%d bitrate=4000000 max-bitrate=0 rate-control=off qp-max=26 "
    "scene-change-detection=false ! h264parse config-interval=-1 ! rtph264pay name=pay0 pt=96" },
  { "h265", "I420",
    "x265enc key-int-max=%d speed-preset=ultrafast tune=zerolatency qp=24 "
    "option-string=scenecut=0:frame-threads=1:pools=none ! h265parse config-interval=-1 ! "
    "rtph265pay name=pay0 pt=96" },
  /* Key frames that pictures shown before them follow, which need the group before. */
  /* No key frame but the first: a column of blocks without references goes over the picture, and
     SEI messages say where that begins and ends. */
  { "h264-refresh", "I420",
    "x264enc intra-refresh=true key-int-max=%d speed-preset=ultrafast tune=zerolatency pass=quant "
    "quantizer=12 sliced-threads=false threads=1 ! h264parse config-interval=-1 ! rtph264pay "
    "name=pay0 pt=96" },
  { "h265-open", "I420",
    "x265enc key-int-max=%d speed-preset=ultrafast qp=24 option-string=scenecut=0:open-gop=1:bframe"
    "s=3:b-adapt=0:frame-threads=1:pools=none:rc-lookahead=5 ! h265parse config-interval=-1 ! "
    "rtph265pay name=pay0 pt=96" },
};

/* Frames are counted, not timed: a slow machine begins late, but gives as many. */
static GstPadProbeReturn
drop_after (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gint *left = data;
  return (*left)-- > 0 ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/* Shared media start anew when the first client comes, so every connection of a lone client gets
 * its share of frames. */
static void
configure_stall (GstRTSPMediaFactory *factory, GstRTSPMedia *media, gpointer data)
{
  const Options *options = data;
  GstElement *bin = gst_rtsp_media_get_element (media);
  GstElement *source = gst_bin_get_by_name (GST_BIN (bin), "source");
  GstPad *pad = gst_element_get_static_pad (source, "src");
  const gint frames = MAX (options->after_ms * options->fps / 1000, 2);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, drop_after, g_memdup2 (&frames, sizeof frames),
                     g_free);
  gst_object_unref (pad);
  gst_object_unref (source);
  gst_object_unref (bin);
}

/* Of the frames of a stream. */
typedef struct
{
  guint n, still, moving;
} Numbers;

/* The picture that frame @n shows. With --still some in a row show the same one. */
static guint
picture_of (const Numbers *numbers, guint n)
{
  const guint times = n / (numbers->still + numbers->moving),
              at = n % (numbers->still + numbers->moving);
  return times * numbers->moving + (at > numbers->still ? at - numbers->still : 0);
}

/* Before encoding: each frame says which one it is. */
static GstPadProbeReturn
number_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Numbers *numbers = data;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstBuffer *buffer = GST_PAD_PROBE_INFO_DATA (info) =
    gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GstVideoInfo video;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps (&video, caps)
      || !gst_video_frame_map (&frame, &video, buffer, GST_MAP_WRITE))
    return GST_PAD_PROBE_DROP;
  NumberedPicture picture;
  numbered_of_frame (&picture, &frame);
  numbered_paint (&picture, picture_of (numbers, numbers->n++) % NUMBERED_PICTURES);
  gst_video_frame_unmap (&frame);
  return GST_PAD_PROBE_OK;
}

/* On the way out: packets that the network loses. */
static GstPadProbeReturn
lose_packets (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const Options *options = data;
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0)
    return g_random_int_range (0, 100) < options->loss ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  GstBufferList *list = GST_PAD_PROBE_INFO_DATA (info) =
    gst_buffer_list_make_writable (GST_PAD_PROBE_INFO_BUFFER_LIST (info));
  for (guint i = gst_buffer_list_length (list); i > 0; i--)
    if (g_random_int_range (0, 100) < options->loss)
      gst_buffer_list_remove (list, i - 1, 1);
  return gst_buffer_list_length (list) > 0 ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/* Pictures that the camera itself leaves out, before it numbers packets. */
static GstPadProbeReturn
omit_picture (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const Options *options = data;
  static gint n;
  return ++n % options->omit == 0
             && GST_BUFFER_FLAG_IS_SET (GST_PAD_PROBE_INFO_BUFFER (info),
                                        GST_BUFFER_FLAG_DELTA_UNIT)
           ? GST_PAD_PROBE_DROP
           : GST_PAD_PROBE_OK;
}

/* And a camera that sends nothing for a while, and then all of that at once. */
static GstPadProbeReturn
hold_packets (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const Options *options = data;
  static gint64 next;
  const gint64 now = g_get_monotonic_time ();
  if (now >= next) {
    if (next > 0)
      g_usleep ((gulong) options->burst_ms * 1000);
    next = g_get_monotonic_time () + options->every_ms * G_GINT64_CONSTANT (1000);
  }
  return GST_PAD_PROBE_OK;
}

/* A description of the session with another encoding's parameter sets. */
static GstPadProbeReturn
change_sets (GstPad *pad, GstPadProbeInfo *info, gpointer sets)
{
  GstCaps *caps;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
  g_autoptr (GstCaps) changed = gst_caps_copy (caps);
  gst_caps_set_simple (changed, "sprop-parameter-sets", G_TYPE_STRING, sets, NULL);
  gst_event_unref (GST_PAD_PROBE_INFO_EVENT (info));
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_caps (changed);
  return GST_PAD_PROBE_OK;
}

static void
probe (GstElement *bin, const char *name, const char *pad_name, GstPadProbeType type,
       GstPadProbeCallback callback, gpointer data, GDestroyNotify free_data)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (bin), name);
  GstPad *pad = gst_element_get_static_pad (element, pad_name);
  gst_pad_add_probe (pad, type, callback, data, free_data);
  gst_object_unref (pad);
  gst_object_unref (element);
}

static void
configure_stream (GstRTSPMediaFactory *factory, GstRTSPMedia *media, gpointer data)
{
  const GstPadProbeType packets = GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST;
  Options *options = data;
  GstElement *bin = gst_rtsp_media_get_element (media);
  const Numbers numbers = { 0, (guint) options->still, (guint) MAX (options->moving, 1) };
  if (options->numbered)
    probe (bin, "frames", "src", GST_PAD_PROBE_TYPE_BUFFER, number_frame,
           g_memdup2 (&numbers, sizeof numbers), g_free);
  if (options->omit > 0)
    probe (bin, "pay0", "sink", GST_PAD_PROBE_TYPE_BUFFER, omit_picture, options, NULL);
  if (options->loss > 0)
    probe (bin, "pay0", "src", packets, lose_packets, options, NULL);
  if (options->burst_ms > 0)
    probe (bin, "pay0", "src", packets, hold_packets, options, NULL);
  if (options->sets != NULL)
    probe (bin, "pay0", "src", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, change_sets, options->sets,
           NULL);
  gst_object_unref (bin);
}

static GstRTSPStatusCode
answer_late (GstRTSPClient *client, GstRTSPContext *context, gpointer data)
{
  const Options *options = data;
  g_usleep ((gulong) options->after_ms * 1000);
  return GST_RTSP_STS_OK;
}

static void
slow_client (GstRTSPServer *server, GstRTSPClient *client, gpointer data)
{
  g_signal_connect (client, "pre-describe-request", G_CALLBACK (answer_late), data);
}

static char *
launch_line (const Options *options)
{
  gint width, height;
  if (sscanf (options->size, "%dx%d", &width, &height) != 2)
    return NULL;
  if (g_str_equal (options->mode, "sound"))
    return g_strdup ("( audiotestsrc is-live=true ! rtpL16pay name=pay0 pt=97 )");
  for (guint i = 0; i < G_N_ELEMENTS (payloads); i++)
    if (g_str_equal (payloads[i].name, options->payload)) {
      g_auto (GStrv) chain = g_strsplit (payloads[i].chain, "%d", 2);
      g_autofree char *gop = g_strdup_printf ("%d", options->gop);
      g_autofree char *encoder = g_strjoinv (gop, chain);
      return g_strdup_printf (
        "( videotestsrc name=source is-live=true pattern=%s ! "
        "capsfilter name=frames caps=video/x-raw,format=%s,width=%d,height=%d,framerate=%d/1 ! %s "
        ")",
        options->pattern, payloads[i].format, width, height, options->fps, encoder);
    }
  return NULL;
}

static void
require_password (GstRTSPServer *server, GstRTSPMediaFactory *factory, const Options *options)
{
  GstRTSPAuth *auth = gst_rtsp_auth_new ();
  GstRTSPToken *token =
    gst_rtsp_token_new (GST_RTSP_TOKEN_MEDIA_FACTORY_ROLE, G_TYPE_STRING, "user", NULL);
  g_autofree char *basic = gst_rtsp_auth_make_basic (options->user, options->password);
  gst_rtsp_auth_add_basic (auth, basic, token);
  gst_rtsp_server_set_auth (server, auth);
  gst_rtsp_media_factory_add_role (factory, "user", GST_RTSP_PERM_MEDIA_FACTORY_ACCESS,
                                   G_TYPE_BOOLEAN, TRUE, GST_RTSP_PERM_MEDIA_FACTORY_CONSTRUCT,
                                   G_TYPE_BOOLEAN, TRUE, NULL);
  gst_rtsp_token_unref (token);
  g_object_unref (auth);
}

static gint
serve_rtsp (const Options *options)
{
  g_autofree char *launch = launch_line (options);
  if (launch == NULL) {
    fprintf (stderr,
             "rtsp_server: --size %s --payload %s: expected WIDTHxHEIGHT and jpeg, raw, h264, "
             "h264-refresh, h265 or h265-open\n",
             options->size, options->payload);
    return -1;
  }
  GstRTSPServer *server = gst_rtsp_server_new ();
  g_autofree char *service = g_strdup_printf ("%d", options->port);
  gst_rtsp_server_set_address (server, "127.0.0.1");
  gst_rtsp_server_set_service (server, service);
  GstRTSPMediaFactory *factory = gst_rtsp_media_factory_new ();
  gst_rtsp_media_factory_set_launch (factory, launch);
  gst_rtsp_media_factory_set_shared (factory, TRUE);
  g_signal_connect (factory, "media-configure", G_CALLBACK (configure_stream), (gpointer) options);
  if (g_str_equal (options->mode, "stall"))
    g_signal_connect (factory, "media-configure", G_CALLBACK (configure_stall), (gpointer) options);
  if (g_str_equal (options->mode, "slow"))
    g_signal_connect (server, "client-connected", G_CALLBACK (slow_client), (gpointer) options);
  if (options->user != NULL && options->password != NULL)
    require_password (server, factory, options);
  GstRTSPMountPoints *mounts = gst_rtsp_server_get_mount_points (server);
  gst_rtsp_mount_points_add_factory (mounts, PATH, factory);
  g_object_unref (mounts);
  return gst_rtsp_server_attach (server, NULL) != 0 ? gst_rtsp_server_get_bound_port (server) : -1;
}

/* A thread a connection: noise until the client gives up, or nothing. */
static gboolean
talk_nonsense (GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
               gpointer data)
{
  const Options *options = data;
  GInputStream *in = g_io_stream_get_input_stream (G_IO_STREAM (connection));
  GOutputStream *out = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  guint8 bytes[GARBAGE_BYTES];
  if (g_str_equal (options->mode, "garbage")) {
    do {
      for (guint i = 0; i < sizeof bytes; i++)
        bytes[i] = (guint8) g_random_int ();
      g_usleep (10000);
    } while (g_output_stream_write_all (out, bytes, sizeof bytes, NULL, NULL, NULL));
  }
  while (g_input_stream_read (in, bytes, sizeof bytes, NULL, NULL) > 0)
    continue;
  return TRUE;
}

static gint
serve_nonsense (const Options *options)
{
  GSocketService *service = g_threaded_socket_service_new (16);
  g_autoptr (GInetAddress) loopback = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  g_autoptr (GSocketAddress) address =
    g_inet_socket_address_new (loopback, (guint16) options->port);
  g_autoptr (GSocketAddress) bound = NULL;
  g_autoptr (GError) error = NULL;
  if (!g_socket_listener_add_address (G_SOCKET_LISTENER (service), address, G_SOCKET_TYPE_STREAM,
                                      G_SOCKET_PROTOCOL_TCP, NULL, &bound, &error)) {
    fprintf (stderr, "rtsp_server: %s\n", error->message);
    return -1;
  }
  g_signal_connect (service, "run", G_CALLBACK (talk_nonsense), (gpointer) options);
  g_socket_service_start (service);
  return g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (bound));
}

static gboolean
quit (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

int
main (int argc, char **argv)
{
  Options options = {
    .port = 8554, .fps = 15, .after_ms = 2000, .gop = 30, .every_ms = 1000, .moving = 50
  };
  const GOptionEntry entries[] = {
    { "port", 'p', 0, G_OPTION_ARG_INT, &options.port, "TCP port, 0 = a free one (8554)", "PORT" },
    { "size", 's', 0, G_OPTION_ARG_STRING, &options.size, "size of the picture (640x480)",
      "WIDTHxHEIGHT" },
    { "fps", 'f', 0, G_OPTION_ARG_INT, &options.fps, "frames a second (15)", "N" },
    { "mode", 'm', 0, G_OPTION_ARG_STRING, &options.mode,
      "ok; stall: after --after of frames no more come, the connection stays; slow: DESCRIBE is "
      "answered after --after; silent: connects and never answers; garbage: answers with noise; "
      "sound: no pictures",
      "MODE" },
    { "after", 'a', 0, G_OPTION_ARG_INT, &options.after_ms, "for stall and slow (2000)", "MS" },
    { "payload", 0, 0, G_OPTION_ARG_STRING, &options.payload,
      "jpeg, raw, h264, h264-refresh, h265 or h265-open (jpeg)", "NAME" },
    { "gop", 0, 0, G_OPTION_ARG_INT, &options.gop, "frames from one key frame to the next (30)",
      "N" },
    { "numbered", 0, 0, G_OPTION_ARG_NONE, &options.numbered,
      "pictures of tests/support/numbered.h", NULL },
    { "still", 0, 0, G_OPTION_ARG_INT, &options.still,
      "with --numbered: so many frames in a row show the same picture, then --moving do not (0)",
      "N" },
    { "moving", 0, 0, G_OPTION_ARG_INT, &options.moving, "see --still (50)", "N" },
    { "loss", 0, 0, G_OPTION_ARG_INT, &options.loss, "lose that many of the packets", "PERCENT" },
    { "omit", 0, 0, G_OPTION_ARG_INT, &options.omit,
      "send no packets of each Nth picture, key frames not among them", "N" },
    { "burst", 0, 0, G_OPTION_ARG_INT, &options.burst_ms,
      "send nothing for so long, then all of it at once", "MS" },
    { "every", 0, 0, G_OPTION_ARG_INT, &options.every_ms,
      "how long to send between two bursts (1000)", "MS" },
    { "sets", 0, 0, G_OPTION_ARG_STRING, &options.sets,
      "parameter sets that the description of the session tells (those of the stream)",
      "BASE64,BASE64" },
    { "pattern", 0, 0, G_OPTION_ARG_STRING, &options.pattern, "pattern of videotestsrc (ball)",
      "NAME" },
    { "user", 0, 0, G_OPTION_ARG_STRING, &options.user, "ask for this user name and --password",
      "NAME" },
    { "password", 0, 0, G_OPTION_ARG_STRING, &options.password, NULL, "TEXT" },
    { 0 },
  };
  gst_init (&argc, &argv);
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    fprintf (stderr, "rtsp_server: %s\n", error->message);
    return 2;
  }
  options.size = options.size != NULL ? options.size : g_strdup ("640x480");
  options.mode = options.mode != NULL ? options.mode : g_strdup ("ok");
  options.payload = options.payload != NULL ? options.payload : g_strdup ("jpeg");
  options.pattern = options.pattern != NULL ? options.pattern : g_strdup ("ball");
  static const char *const rtsp_modes[] = { "ok", "stall", "slow", "sound", NULL },
                           *const other_modes[] = { "silent", "garbage", NULL };
  gint port = -1;
  if (g_strv_contains (rtsp_modes, options.mode))
    port = serve_rtsp (&options);
  else if (g_strv_contains (other_modes, options.mode))
    port = serve_nonsense (&options);
  else
    fprintf (stderr, "rtsp_server: --mode %s: expected ok, stall, slow, sound, silent or garbage\n",
             options.mode);
  if (port < 0) {
    fprintf (stderr, "rtsp_server: cannot serve on port %d\n", options.port);
    return 1;
  }
  printf ("rtsp://127.0.0.1:%d" PATH "\n", port);
  fflush (stdout);
  GMainLoop *loop = g_main_loop_new (NULL, FALSE);
  g_unix_signal_add (SIGTERM, quit, loop);
  g_unix_signal_add (SIGINT, quit, loop);
  g_main_loop_run (loop);
  return 0;
}
