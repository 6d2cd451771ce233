/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One thread that obeys, beside those of GStreamer. It never waits for a decoder longer than a
 * moment, except where a state change blocks, as that of a pipe without a writer does: then nothing
 * is answered, and who asked sees to it.
 */
#include "tools/predict/server.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "core/base/fail.h"
#include "pipelines/supervise/bus.h"
#include "plugins/elements.h"
#include "plugins/video/input.h"
#include "tools/frames.h"
#include "tools/predict/inputs.h"
#include "tools/predict/slots.h"
#include "tools/predict/wire.h"

/* Frames turned upright, as their tag says: appsrc ! videoconvert ! videoflip ! videoconvert !
 * appsink, one frame in flight. videoflip supports nearly all formats that the preprocessor reads.
 */
#define POLL_INTERVAL (100 * GST_MSECOND)

/* @pipeline: (nullable): made when the first frame has to be turned */
typedef struct
{
  GstVideoOrientationMethod method; /* of the pipeline, which has another one when that changes */
  GstElement *pipeline, *source, *sink;
} Turner;

static void
drop_pipeline (Turner *turner)
{
  if (turner->pipeline != NULL)
    gst_element_set_state (turner->pipeline, GST_STATE_NULL);
  gst_clear_object (&turner->pipeline);
}

static GstElement *
make_flip (GstBin *bin, GError **error)
{
  GstElement *flip = gst_element_factory_make ("videoflip", NULL);
  if (flip == NULL)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "its tag says that it is to be turned upright, and GStreamer has no element 'videoflip': "
      "install its good plugins (Debian: gstreamer1.0-plugins-good)");
  else
    gst_bin_add (bin, flip);
  return flip;
}

static gboolean
build (Turner *turner, GError **error)
{
  turner->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstBin *bin = GST_BIN (turner->pipeline);
  GstElement *flip = make_flip (bin, error);
  GstElement *before = flip != NULL ? sl_make_element (bin, "videoconvert", error) : NULL;
  GstElement *behind = before != NULL ? sl_make_element (bin, "videoconvert", error) : NULL;
  turner->source = behind != NULL ? sl_make_element (bin, "appsrc", error) : NULL;
  turner->sink = turner->source != NULL ? sl_make_element (bin, "appsink", error) : NULL;
  if (turner->sink == NULL)
    return FALSE;
  g_autoptr (GstCaps) caps = gst_caps_from_string (GST_VIDEO_CAPS_MAKE (SL_VIDEO_INPUT_FORMATS));
  g_object_set (flip, "video-direction", turner->method, NULL);
  g_object_set (turner->source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (turner->sink, "caps", caps, "sync", FALSE, "async", FALSE, "enable-last-sample",
                FALSE, NULL);
  if (gst_element_link_many (turner->source, before, flip, behind, turner->sink, NULL)
      && gst_element_set_state (turner->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  sl_bus_take_refusal (turner->pipeline, "the pipeline that turns frames", NULL, error);
  return FALSE;
}

/* (transfer full): @frame turned by @method, in a format that slnormalize takes;
 * @frame itself where nothing is to do. */
static GstSample *
turn_upright (Turner *turner, GstSample *frame, GstVideoOrientationMethod method, GError **error)
{
  if (method == GST_VIDEO_ORIENTATION_IDENTITY || method > GST_VIDEO_ORIENTATION_UR_LL)
    return gst_sample_ref (frame);
  if (method != turner->method)
    drop_pipeline (turner);
  turner->method = method;
  if (turner->pipeline == NULL && !build (turner, error)) {
    drop_pipeline (turner);
    return NULL;
  }
  gst_app_src_push_sample (GST_APP_SRC (turner->source), frame);
  for (;;) {
    GstSample *turned = gst_app_sink_try_pull_sample (GST_APP_SINK (turner->sink), POLL_INTERVAL);
    if (turned != NULL)
      return turned;
    if (sl_bus_take_error (turner->pipeline, 0, NULL, error)) {
      g_prefix_error (error, "cannot be turned upright: ");
      drop_pipeline (turner);
      return NULL;
    }
  }
}

#define WAIT_MS 50
#define PROGRESS_EVERY (G_USEC_PER_SEC / 5)

typedef struct
{
  int socket;
  SlSlots slots;
  Turner turner;
  SlFrames *frames; /* (nullable): the source at hand */
  guint wanted;     /* frames that may be sent */
  guint moves;      /* of the source when progress was last told */
  gint64 told;      /* when, in us */
  guint64 length;   /* of the source, as told; 0 = unknown */
} Server;

static gboolean
tell (Server *server, SlWireKind kind, const char *text)
{
  return sl_wire_send (server->socket, &(SlWire){ .kind = kind }, text, -1);
}

static void
close_source (Server *server)
{
  g_clear_pointer (&server->frames, sl_frames_close);
  server->wanted = server->moves = 0;
  server->length = 0;
}

/* Takes @error. */
static gboolean
fail (Server *server, GError *error)
{
  const gboolean told = tell (server, SL_WIRE_FAILED, error->message);
  g_error_free (error);
  close_source (server);
  return told;
}

static gboolean
obey (Server *server)
{
  char text[SL_WIRE_MAX_TEXT + 1];
  GError *error = NULL;
  SlWire order;
  int file;
  if (!sl_wire_receive (server->socket, &order, text, &file))
    return FALSE;
  switch (order.kind) {
    case SL_WIRE_OPEN:
      close_source (server);
      server->frames =
        sl_frames_open (text, order.number == SL_INPUT_CAMERA, (guint) order.time, &error);
      return server->frames != NULL || fail (server, error);
    case SL_WIRE_NEXT:
      server->wanted++;
      return TRUE;
    case SL_WIRE_RELEASE:
      sl_slots_release (&server->slots, order.number);
      return TRUE;
    case SL_WIRE_CLOSE:
      close_source (server);
      return tell (server, SL_WIRE_CLOSED, NULL);
    default:
      return FALSE;
  }
}

static gboolean
send_frame (Server *server, GstSample *frame, GError **error)
{
  SlWire message = { .kind = SL_WIRE_FRAME,
                     .time = sl_frames_time (frame),
                     .duration = GST_BUFFER_DURATION (gst_sample_get_buffer (frame)) };
  int file;
  GstSample *upright = turn_upright (&server->turner, frame, sl_frames_orientation (frame), error);
  const gboolean written =
    upright != NULL && sl_slots_write (&server->slots, upright, &message.number, &file, error);
  if (written) {
    g_autofree char *caps = gst_caps_to_string (gst_sample_get_caps (upright));
    sl_wire_send (server->socket, &message, caps, file);
  }
  g_clear_pointer (&upright, gst_sample_unref);
  return written;
}

static gboolean
tell_length (Server *server)
{
  const guint64 length = sl_frames_duration (server->frames);
  if (length == server->length)
    return TRUE;
  server->length = length;
  return sl_wire_send (server->socket, &(SlWire){ .kind = SL_WIRE_LENGTH, .time = length }, NULL,
                       -1);
}

static gboolean
tell_progress (Server *server)
{
  const guint moves = sl_frames_moves (server->frames);
  const gint64 now = g_get_monotonic_time ();
  g_autofree char *note = sl_frames_take_note (server->frames, FALSE);
  if (note != NULL && !tell (server, SL_WIRE_NOTE, note))
    return FALSE;
  if (moves == server->moves || now - server->told < PROGRESS_EVERY)
    return TRUE;
  server->moves = moves;
  server->told = now;
  return tell (server, SL_WIRE_PROGRESS, NULL);
}

/* Waits a moment for a frame and sends it; FALSE when nobody listens. */
static gboolean
serve (Server *server)
{
  GstSample *frame;
  GError *error = NULL;
  const SlFramesStatus status = sl_frames_pull (server->frames, WAIT_MS, &frame, &error);
  if (status == SL_FRAMES_FRAME && send_frame (server, frame, &error)) {
    server->wanted--;
    gst_sample_unref (frame);
    return tell_length (server);
  }
  g_clear_pointer (&frame, gst_sample_unref);
  if (error != NULL)
    return fail (server, error);
  if (status != SL_FRAMES_END)
    return tell_progress (server);
  for (char *note; (note = sl_frames_take_note (server->frames, TRUE)) != NULL; g_free (note))
    tell (server, SL_WIRE_NOTE, note);
  close_source (server);
  return tell (server, SL_WIRE_END, NULL);
}

void
sl_server_run (int socket)
{
  Server server = { .socket = socket };
  sl_elements_init (NULL, NULL);
  sl_elements_register_static ();
  gboolean going = tell (&server, SL_WIRE_READY, NULL);
  while (going) {
    const gboolean busy = server.frames != NULL && server.wanted > 0;
    if (sl_wire_poll (socket, busy ? 0 : -1))
      going = obey (&server);
    else if (busy)
      going = serve (&server);
  }
}
