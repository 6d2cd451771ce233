/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/elements/restream/support.h"

#include <gst/rtp/rtp.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/camera/support.h"

#define CAPS "video/x-raw,format=I420,width=160,height=120,framerate=15/1"
#define PATIENCE (200 * GST_SECOND)

static GstPadProbeReturn
add_object (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const SlObjectView object = { .x = 40,
                                .y = 30,
                                .w = 40,
                                .h = 30,
                                .x_min = 0.25,
                                .y_min = 0.25,
                                .x_max = 0.5,
                                .y_max = 0.5,
                                .confidence = 0.875,
                                .label_id = 0,
                                .label = "person",
                                .object_id = 7 };
  const SlPredictionView prediction = {
    .width = 160, .height = 120, .n_objects = 1, .objects = &object
  };
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  sl_buffer_add_prediction (buffer, &prediction, NULL);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

TestStream
test_stream_new (guint port, const char *properties, const char *camera)
{
  TestStream stream = { .port = port };
  g_autoptr (GError) error = NULL;
  g_autofree char *branch =
    camera != NULL ? g_strdup_printf ("t. ! queue ! %s ! out.encoded", camera) : g_strdup ("");
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc is-live=true pattern=solid-color foreground-color=0xff808080 ! " CAPS
    " ! tee name=t ! queue ! identity name=objects ! slrestream name=out rtsp=127.0.0.1:%u/door %s "
    "! fakesink sync=false %s",
    port, properties, branch);
  stream.pipeline = gst_object_ref_sink (gst_parse_launch (launch, &error));
  g_assert_no_error (error);
  g_autoptr (GstElement) objects = gst_bin_get_by_name (GST_BIN (stream.pipeline), "objects");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (objects, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, add_object, NULL, NULL);
  stream.element = gst_bin_get_by_name (GST_BIN (stream.pipeline), "out");
  stream.bus = gst_element_get_bus (stream.pipeline);
  return stream;
}

static GstPadProbeReturn
note_frame (GstPad *pad, GstPadProbeInfo *info, gpointer seen)
{
  g_atomic_int_set ((gint *) seen, 1);
  return GST_PAD_PROBE_REMOVE;
}

/* Until a frame is at the pad @name, where there is one: before that clients are told to come
 * later. */
static void
wait_for_frame (const TestStream *stream, const char *name)
{
  gint seen = 0;
  g_autoptr (GstPad) pad = gst_element_get_static_pad (stream->element, name);
  if (pad == NULL)
    return;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_frame, &seen, NULL);
  while (g_atomic_int_get (&seen) == 0)
    g_usleep (1000);
}

TestStream
test_stream_open (guint port, const char *properties, const char *camera)
{
  TestStream stream = test_stream_new (port, properties, camera);
  g_assert_cmpint (gst_element_set_state (stream.pipeline, GST_STATE_PLAYING), !=,
                   GST_STATE_CHANGE_FAILURE);
  g_assert_cmpint (gst_element_get_state (stream.pipeline, NULL, NULL, PATIENCE), !=,
                   GST_STATE_CHANGE_FAILURE);
  stream.port = (guint) test_stream_count (&stream, "port");
  wait_for_frame (&stream, "sink");
  wait_for_frame (&stream, "encoded");
  return stream;
}

void
test_stream_close (TestStream *stream)
{
  test_assert_no_error (stream->bus);
  gst_element_set_state (stream->pipeline, GST_STATE_NULL);
  gst_clear_object (&stream->bus);
  gst_clear_object (&stream->element);
  gst_clear_object (&stream->pipeline);
}

guint64
test_stream_count (const TestStream *stream, const char *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 wide = 0;
  guint narrow = 0;
  g_object_get (stream->element, "stats", &stats, NULL);
  if (gst_structure_get_uint64 (stats, name, &wide))
    return wide;
  g_assert_true (gst_structure_get_uint (stats, name, &narrow));
  return narrow;
}

void
test_stream_wait_clients (const TestStream *stream, guint n)
{
  const gint64 end = g_get_monotonic_time () + 200 * G_USEC_PER_SEC;
  while (test_stream_count (stream, "clients") != n) {
    g_assert_cmpint (g_get_monotonic_time (), <, end);
    g_usleep (10000);
  }
}

/* (transfer full): the sink pad for a stream of @media; of a new fakesink where nothing takes it,
 * since rtspsrc stops when the first packet comes at a pad without a link. */
static GstPad *
sink_for (GstBin *pipeline, const char *media)
{
  const char *name = g_strcmp0 (media, "video") == 0 ? "pictures" : "metadata";
  g_autoptr (GstElement) taker = gst_bin_get_by_name (pipeline, name);
  if (taker == NULL) {
    taker = gst_object_ref_sink (gst_element_factory_make ("fakesink", NULL));
    g_object_set (taker, "async", FALSE, "sync", FALSE, NULL);
    gst_bin_add (pipeline, taker);
    gst_element_sync_state_with_parent (taker);
  }
  return gst_element_get_static_pad (taker, "sink");
}

/* Links that a launch line delays are made by one handler for all pads, which two pads at once
 * confuse. */
static void
link_stream (GstElement *source, GstPad *pad, gpointer pipeline)
{
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, NULL);
  const char *media = gst_structure_get_string (gst_caps_get_structure (caps, 0), "media");
  g_autoptr (GstPad) sink = sink_for (pipeline, media);
  g_assert_cmpint (gst_pad_link (pad, sink), ==, GST_PAD_LINK_OK);
}

TestClient
test_client_new (const char *location, const char *properties, gboolean metadata)
{
  TestClient client = { 0 };
  g_autoptr (GError) error = NULL;
  test_forgive_gstreamer (); /* as rtspsrc adds pads, too */
  g_autofree char *launch = g_strdup_printf (
    "rtspsrc name=source location=rtsp://%s latency=0 %s rtpjpegdepay name=pictures ! jpegdec ! "
    "videoconvert ! video/x-raw,format=I420 ! appsink name=video sync=false%s",
    location, properties, metadata ? " appsink name=metadata sync=false" : "");
  client.pipeline = gst_object_ref_sink (gst_parse_launch (launch, &error));
  g_assert_no_error (error);
  client.video = GST_APP_SINK (gst_bin_get_by_name (GST_BIN (client.pipeline), "video"));
  if (metadata)
    client.metadata = GST_APP_SINK (gst_bin_get_by_name (GST_BIN (client.pipeline), "metadata"));
  client.bus = gst_element_get_bus (client.pipeline);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (client.pipeline), "source");
  g_signal_connect (source, "pad-added", G_CALLBACK (link_stream), client.pipeline);
  gst_element_set_state (client.pipeline, GST_STATE_PLAYING);
  return client;
}

TestClient
test_client_watch (const TestStream *stream, const char *path, gboolean metadata)
{
  g_autofree char *location = g_strdup_printf ("127.0.0.1:%u%s", stream->port, path);
  return test_client_new (location, "protocols=tcp", metadata);
}

void
test_client_free (TestClient *client)
{
  gst_element_set_state (client->pipeline, GST_STATE_NULL);
  gst_clear_object (&client->bus);
  gst_clear_object (&client->video);
  gst_clear_object (&client->metadata);
  gst_clear_object (&client->pipeline);
}

/* An encoder that takes its time to begin has clients come again later. */
static void
come_again (TestClient *client)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *detail = NULL;
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (client->bus, GST_MESSAGE_ERROR);
  if (message == NULL)
    return;
  gst_message_parse_error (message, &error, &detail);
  if (detail == NULL || strstr (detail, "no frame has come; try again later") == NULL)
    g_error ("no picture came: %s: %s", error->message, detail);
  gst_element_set_state (client->pipeline, GST_STATE_NULL);
  gst_element_set_state (client->pipeline, GST_STATE_PLAYING);
}

GstSample *
test_client_picture (TestClient *client)
{
  GstSample *sample;
  while ((sample = gst_app_sink_try_pull_sample (client->video, GST_SECOND / 5)) == NULL) {
    come_again (client);
    g_assert_false (gst_app_sink_is_eos (client->video));
  }
  return sample;
}

void
test_client_pictures (TestClient *client, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_sample_unref (test_client_picture (client));
}

/* A packet's payload is appended; whether it is the last one. */
static gboolean
append_payload (GString *text, GstBuffer *packet)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  g_assert_true (gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp));
  const gboolean is_last = gst_rtp_buffer_get_marker (&rtp);
  g_string_append_len (text, gst_rtp_buffer_get_payload (&rtp),
                       gst_rtp_buffer_get_payload_len (&rtp));
  gst_rtp_buffer_unmap (&rtp);
  return is_last;
}

char *
test_client_document (TestClient *client)
{
  GString *text = g_string_new (NULL);
  for (gboolean is_last = FALSE; !is_last;) {
    g_autoptr (GstSample) sample = gst_app_sink_try_pull_sample (client->metadata, PATIENCE);
    g_assert_nonnull (sample);
    is_last = append_payload (text, gst_sample_get_buffer (sample));
  }
  return g_string_free (text, FALSE);
}

/* rtspsrc of GStreamer 1.26 warns, and its end of stream comes when the session times out. */
static gboolean
is_closed (GstMessage *message)
{
  g_autoptr (GError) warning = NULL;
  g_autofree char *debug = NULL;
  gst_message_parse_warning (message, &warning, &debug);
  return debug != NULL && strstr (debug, "The server closed the connection") != NULL;
}

char *
test_client_error (TestClient *client)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstMessage) message = NULL;
  do {
    gst_clear_message (&message);
    message = gst_bus_timed_pop_filtered (
      client->bus, PATIENCE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_WARNING);
    g_assert_nonnull (message);
  } while (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING && !is_closed (message));
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR)
    return g_strdup ("");
  g_autofree char *debug = NULL;
  gst_message_parse_error (message, &error, &debug);
  return g_strconcat (error->message, " ", debug, NULL);
}
