/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The side of the wire that runs the model. Two frames of a file are requested ahead, so decoding
 * continues while the model runs. Frames of other sources are not, so the newest one comes. The
 * decoding process reports its progress; without progress a time limit runs. For files and networks
 * it counts the clock: the bytes of a file are there, and the process itself reports silent
 * networks. For pipes it counts processor time, since they may wait for data. Cameras have timeouts
 * of their own. Time counts in small steps, so a stopped program does not use up the limit.
 */
#include "tools/predict/decoder_client.h"

#include <gst/video/video.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/fail.h"
#include "tools/interrupt.h"
#include "tools/predict/slots.h"
#include "tools/predict/wire.h"

#define STEP_MS 100
/* What the process has on top, of a network, to say by itself that it gave up. */
#define NETWORK_US (2 * G_USEC_PER_SEC)
#define MAX_STEP_US (3 * G_USEC_PER_SEC / 10)
#define CLOSE_MS 1000
#define AHEAD 2

struct _SlDecoderClient
{
  SlSpawner *spawner;
  SlRemoteNote note;
  guint timeout;
  const char *option;
  int socket; /* the reader's; -1 while no process runs */
  pid_t process;
  gboolean ready;       /* it takes orders */
  SlSlotReader *reader; /* (nullable) */
  const SlInput *input; /* (nullable): the source that is open */
  guint64 duration;
  char *caps_text;
  GstCaps *caps; /* (nullable): of caps_text */
  gint64 waited; /* us without progress */
};

SlDecoderClient *
sl_decoder_client_new (SlSpawner *spawner, guint timeout, const char *option, SlRemoteNote note)
{
  SlDecoderClient *frames = g_new0 (SlDecoderClient, 1);
  frames->spawner = spawner;
  frames->timeout = timeout;
  frames->option = option;
  frames->note = note;
  frames->socket = -1;
  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET); /* caps are read from text, and elements that
                                                       know this type are in the other process */
  return frames;
}

/* Frames that are still somewhere stay as they are. */
static int
stop_process (SlDecoderClient *frames, gboolean gone)
{
  g_clear_pointer (&frames->reader, sl_slot_reader_unref);
  frames->socket = -1;
  frames->input = NULL;
  return sl_spawner_stop (frames->spawner, gone);
}

void
sl_decoder_client_free (SlDecoderClient *frames)
{
  if (frames == NULL)
    return;
  if (frames->socket >= 0)
    stop_process (frames, FALSE);
  gst_clear_caps (&frames->caps);
  g_free (frames->caps_text);
  g_free (frames);
}

static gint64
computed_us (pid_t process)
{
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid (process, &clock) != 0 || clock_gettime (clock, &time) != 0)
    return 0;
  return (gint64) time.tv_sec * G_USEC_PER_SEC + time.tv_nsec / 1000;
}

static gboolean
is_network (const SlInput *input)
{
  return input->kind == SL_INPUT_STREAM && !gst_uri_has_protocol (input->uri, "file");
}

static gint64
clock_of (const SlDecoderClient *frames)
{
  return frames->input->kind == SL_INPUT_FILE || is_network (frames->input)
           ? g_get_monotonic_time ()
           : computed_us (frames->process);
}

/* @status: as waitpid() tells */
static void
set_crashed (int status, GError **error)
{
  g_autofree char *how = WIFSIGNALED (status)
                           ? g_strdup (g_strsignal (WTERMSIG (status)))
                           : g_strdup_printf ("exit status %d", WEXITSTATUS (status));
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL)
    sl_fail (error, SL_ERROR_LIMIT,
             "the process that decodes it was killed: perhaps it needs more memory than there is");
  else
    sl_fail (error, SL_ERROR_FORMAT, "its decoder crashed (%s): it is damaged, or made to do that",
             how);
}

typedef enum
{
  RECEIVED,
  INTERRUPTED,
  OVERDUE,
  LATE,
  GONE
} Outcome;

/* The next message. @text: SL_WIRE_MAX_TEXT + 1 bytes */
static Outcome
await (SlDecoderClient *frames, gboolean limited, gint64 deadline, SlWire *message, char *text,
       int *file)
{
  const gint64 limit =
    frames->timeout * (gint64) G_USEC_PER_SEC
    + (limited && frames->timeout > 0 && is_network (frames->input) ? NETWORK_US : 0);
  while (!sl_interrupted ()) {
    if (g_get_monotonic_time () >= deadline)
      return LATE;
    const gint64 before = limited ? clock_of (frames) : 0;
    if (sl_wire_poll (frames->socket, STEP_MS))
      return sl_wire_receive (frames->socket, message, text, file) ? RECEIVED
             : sl_interrupted ()                                   ? INTERRUPTED
                                                                   : GONE;
    if (limited)
      frames->waited += MIN (clock_of (frames) - before, MAX_STEP_US);
    if (limited && limit > 0 && frames->waited >= limit)
      return OVERDUE;
  }
  return INTERRUPTED;
}

/* Ends the process, and says why unless the user wanted it. */
static void
give_up (SlDecoderClient *frames, Outcome outcome, GError **error)
{
  const int status = stop_process (frames, outcome == GONE);
  if (outcome == OVERDUE)
    sl_fail (error, SL_ERROR_FORMAT,
             "given up: its decoder made no progress for %u s%s; it is damaged, or needs longer",
             frames->timeout, frames->option);
  else if (outcome == GONE)
    set_crashed (status, error);
}

static gboolean
start_process (SlDecoderClient *frames, GError **error)
{
  frames->ready = FALSE;
  if (!sl_spawner_start (frames->spawner, &frames->socket, &frames->process, error))
    return FALSE;
  frames->reader = sl_slot_reader_new (frames->socket);
  return TRUE;
}

/* However long it takes to get ready: GStreamer may have to look through its plugins. */
static gboolean
await_ready (SlDecoderClient *frames, GError **error)
{
  char text[SL_WIRE_MAX_TEXT + 1];
  SlWire message;
  int file = -1;
  if (frames->socket < 0 && !start_process (frames, error))
    return FALSE;
  const Outcome outcome =
    frames->ready ? RECEIVED : await (frames, FALSE, G_MAXINT64, &message, text, &file);
  frames->ready = outcome == RECEIVED;
  if (!frames->ready)
    give_up (frames, outcome, error);
  return frames->ready;
}

void
sl_decoder_client_prepare (SlDecoderClient *frames)
{
  if (frames->socket < 0)
    start_process (frames, NULL); /* tried again, and complained of, when it is needed */
}

static void
ask (SlDecoderClient *frames)
{
  sl_wire_send (frames->socket, &(SlWire){ .kind = SL_WIRE_NEXT }, NULL, -1);
}

gboolean
sl_decoder_client_open (SlDecoderClient *frames, const SlInput *input, GError **error)
{
  if (input->error != NULL) {
    g_propagate_error (error, g_error_copy (input->error));
    return FALSE;
  }
  if (!await_ready (frames, error))
    return FALSE;
  const SlWire order = { .kind = SL_WIRE_OPEN,
                         .number = input->kind,
                         .time = (guint64) frames->timeout * 1000 };
  sl_wire_send (frames->socket, &order, input->uri, -1);
  frames->input = input;
  frames->duration = 0;
  for (guint i = 0; input->kind == SL_INPUT_FILE && i < AHEAD; i++)
    ask (frames);
  return TRUE;
}

/* (nullable): of @text, which is the same for most frames of a source. */
static GstCaps *
read_caps (SlDecoderClient *frames, const char *text)
{
  if (g_strcmp0 (frames->caps_text, text) == 0)
    return frames->caps;
  gst_clear_caps (&frames->caps);
  g_free (frames->caps_text);
  frames->caps_text = g_strdup (text);
  return frames->caps = gst_caps_from_string (text);
}

/* Frames on their way are for nobody; a process that does not get done is ended. */
void
sl_decoder_client_close (SlDecoderClient *frames)
{
  char text[SL_WIRE_MAX_TEXT + 1];
  SlWire message = { .kind = SL_WIRE_READY };
  int file = -1;
  if (frames->input == NULL)
    return;
  frames->input = NULL;
  sl_wire_send (frames->socket, &(SlWire){ .kind = SL_WIRE_CLOSE }, NULL, -1);
  const gint64 deadline = g_get_monotonic_time () + CLOSE_MS * 1000;
  while (message.kind != SL_WIRE_CLOSED) {
    const gint64 left = deadline - g_get_monotonic_time ();
    if (sl_interrupted () || left <= 0 || !sl_wire_poll (frames->socket, (int) (left / 1000) + 1)
        || !sl_wire_receive (frames->socket, &message, text, &file)) {
      stop_process (frames, FALSE);
      return;
    }
    if (message.kind != SL_WIRE_FRAME)
      continue;
    GstBuffer *unused =
      sl_slot_reader_read (frames->reader, message.number, file, read_caps (frames, text), NULL);
    gst_clear_buffer (&unused);
  }
}

static GstSample *
read_frame (SlDecoderClient *frames, const SlWire *message, const char *text, int file,
            GError **error)
{
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  GstBuffer *buffer =
    sl_slot_reader_read (frames->reader, message->number, file, read_caps (frames, text), error);
  if (buffer == NULL) {
    stop_process (frames, FALSE);
    return NULL;
  }
  GST_BUFFER_PTS (buffer) = message->time;
  GST_BUFFER_DURATION (buffer) = message->duration;
  GstSample *sample = gst_sample_new (buffer, frames->caps, &segment, NULL);
  gst_buffer_unref (buffer);
  if (frames->input->kind == SL_INPUT_FILE)
    ask (frames);
  return sample;
}

GstSample *
sl_decoder_client_until (SlDecoderClient *frames, gint64 deadline, GError **error)
{
  char text[SL_WIRE_MAX_TEXT + 1];
  SlWire message;
  int file = -1;
  frames->waited = 0;
  if (frames->input->kind != SL_INPUT_FILE)
    ask (frames);
  for (;;) {
    const Outcome outcome =
      await (frames, frames->input->kind != SL_INPUT_CAMERA, deadline, &message, text, &file);
    if (outcome == LATE)
      return NULL;
    if (outcome != RECEIVED) {
      give_up (frames, outcome, error);
      return NULL;
    }
    frames->waited = 0;
    switch (message.kind) {
      case SL_WIRE_FRAME:
        return read_frame (frames, &message, text, file, error);
      case SL_WIRE_NOTE:
        if (frames->note != NULL)
          frames->note (frames->input->name, text);
        break;
      case SL_WIRE_LENGTH:
        frames->duration = message.time;
        break;
      case SL_WIRE_FAILED:
        sl_fail (error, SL_ERROR_FORMAT, "%s", text);
        frames->input = NULL;
        return NULL;
      case SL_WIRE_END:
        frames->input = NULL;
        return NULL;
      default:
        break;
    }
  }
}

GstSample *
sl_decoder_client_next (SlDecoderClient *frames, GError **error)
{
  return sl_decoder_client_until (frames, G_MAXINT64, error);
}

guint64
sl_decoder_client_duration (const SlDecoderClient *frames)
{
  return frames->duration;
}
