/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One thread that obeys, beside those of GStreamer. It never waits for a decoder longer than a
 * moment, except where a state change blocks, as that of a pipe without a writer does: then nothing
 * is answered, and who asked sees to it.
 */
#include "tools/predict/server.h"

#include "plugins/elements.h"
#include "tools/frames.h"
#include "tools/predict/inputs.h"
#include "tools/predict/slots.h"
#include "tools/predict/orient.h"
#include "tools/predict/wire.h"

#define WAIT_MS 50
#define PROGRESS_EVERY (G_USEC_PER_SEC / 5)

typedef struct
{
  int socket;
  SlSlots slots;
  SlOrient *turner;
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

static guint64
stream_time (GstSample *frame)
{
  const GstSegment *segment = gst_sample_get_segment (frame);
  const GstClockTime time = GST_BUFFER_PTS (gst_sample_get_buffer (frame));
  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (time))
    return time;
  return gst_segment_to_stream_time (segment, GST_FORMAT_TIME, time);
}

static gboolean
send_frame (Server *server, GstSample *frame, GError **error)
{
  SlWire message = { .kind = SL_WIRE_FRAME,
                     .time = stream_time (frame),
                     .duration = GST_BUFFER_DURATION (gst_sample_get_buffer (frame)) };
  int file;
  GstSample *upright = sl_orient_run (server->turner, frame, sl_frames_orientation (frame), error);
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
  server.turner = sl_orient_new ();
  gboolean going = tell (&server, SL_WIRE_READY, NULL);
  while (going) {
    const gboolean busy = server.frames != NULL && server.wanted > 0;
    if (sl_wire_poll (socket, busy ? 0 : -1))
      going = obey (&server);
    else if (busy)
      going = serve (&server);
  }
}
