/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slrecord: records clips around events. Frames pass from sink to src unchanged, and events on them
 * begin clips. The frames of a clip come encoded by the camera from the request pad, or are encoded
 * here (plugins/record/encoder.h); source.h chooses. recorder.h decides when a clip begins and
 * ends. writer.h and clip.h write the files. This file has pads, clocks, properties and messages.
 *
 * Invariant: neither pad waits for an encoder or a disk.
 */
#include <gst/gst.h>
#include <gst/video/video.h>

#include "plugins/camera/encoded.h"
#include "plugins/base/describe.h"
#include "plugins/base/encoded_pad.h"
#include "plugins/elements.h"
#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/choose.h"
#include "plugins/base/properties.h"
#include "plugins/record/encoder.h"
#include "plugins/record/make.h"
#include "plugins/record/source.h"
#include "plugins/record/triggers.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "core/base/json.h"
#include "core/base/printable.h"

GST_DEBUG_CATEGORY_STATIC (sl_record_debug);
#define GST_CAT_DEFAULT sl_record_debug

/* Of clips that are asked for. */
#define ASKED "record"
#define ASKED_MOST 100
/* Seconds between key frames of the streams that this element encodes. */
#define KEY_INTERVAL 1
/* Bytes between streams and the disk. */
#define QUEUE_BYTES (64 << 20)
/* Frames, of which one has no timestamp. */
#define USUAL_INTERVAL (GST_SECOND / 25)
/* After which what could not be encoded is tried again. */
#define RETRY_US (10 * G_USEC_PER_SEC)

typedef struct
{
  char *location, *source, *on, *classes, *encoder;
  gdouble pre_roll, post_roll, max_length, ring_size, max_framerate, keep, max_size, min_free;
  gint max_width;
  gboolean recording, picture_boxes;
} Settings;

/* A stream's place in time. */
typedef struct
{
  GstSegment segment;
  GstClockTime last,
    interval; /* running time of the last frame; what a frame without a timestamp is after it */
} Clock;

typedef struct
{
  GstElement parent;
  GstPad *sink, *src;
  Settings settings;        /* object lock */
  GstPad *encoded;          /* object lock (nullable) */
  GQueue asked;             /* object lock: of char *: reasons of clips that were asked for */
  SlWriter *writer;         /* object lock, as a pointer */
  SlClipRecorder *recorder; /* while started */
  SlWriterCounts counts;    /* object lock: of the writer that was stopped last */
  SlClipSource source;
  /* Of the thread of encoded: */
  Clock encoded_clock;
  /* Of the thread of sink: */
  Clock clock;
  GstCaps *caps;            /* (nullable) */
  gint width, height;       /* of frames */
  SlEncoder *encoder;       /* (nullable) */
  SlEncoder *ending;        /* (nullable): the one before, with what is still in it */
  const char *encoder_name; /* (nullable): of @encoder, or the one to try next; static */
  gboolean encoder_is_set;  /* by the property */
  gboolean encodes_nothing; /* it was told that frames of these caps cannot be encoded */
  gint64 retry;             /* monotonic time at which it is tried again */
  gboolean needs_analysis;  /* events of slanalyze are named, and no frame lacked them so far */
  guint64 left_out; /* frames that the encoder had no time for; atomic is not needed: read for
                       information */
  SlTriggers triggers;
  SlPredictionReader reader;
  SlPredictionView prediction; /* of the frame, while @prediction_read */
  gboolean prediction_read;
  guint64 frames;
} SlRecord;

typedef GstElementClass SlRecordClass;

G_DEFINE_TYPE (SlRecord, sl_record, GST_TYPE_ELEMENT)

#define AT(member) G_STRUCT_OFFSET (SlRecord, settings.member)
#define DAY 86400

static const SlProperty properties[] = {
  { "location", "Location", "Folder that clips are written into; it must exist", SL_PROPERTY_STRING,
    AT (location) },
  { "source", "Source",
    "Prefix of file names, such as the camera's name; unset = the element's name",
    SL_PROPERTY_STRING, AT (source) },
  { "on", "On",
    "Events that start clips, separated by \",\": entered, left, in, out, dwell, left-behind, "
    "empty (of slanalyze), object (a new object of sltrack; without a tracker every object); unset "
    "= all of slanalyze's; \"\" = none, only the signal record",
    SL_PROPERTY_STRING, AT (on) },
  { "classes", "Classes",
    "Classes of objects that count, such as person,car, or with ! excluded classes, such as !dog; "
    "unset = all",
    SL_PROPERTY_STRING, AT (classes) },
  { "pre-roll", "Pre-roll",
    "Seconds before the event at which a clip begins, from the key frame before",
    SL_PROPERTY_DOUBLE, AT (pre_roll), 0, 600, 5 },
  { "post-roll", "Post-roll", "Seconds that a clip continues after the last event",
    SL_PROPERTY_DOUBLE, AT (post_roll), 0, 3600, 5 },
  { "max-length", "Longest clip",
    "Seconds after which the next clip begins, at a key frame; 0 = never", SL_PROPERTY_DOUBLE,
    AT (max_length), 0, DAY, 300 },
  { "ring-size", "Ring", "Megabytes of encoded frames that are kept for pre-roll",
    SL_PROPERTY_DOUBLE, AT (ring_size), 0.001, 4000, 32 },
  { "max-framerate", "Frame rate",
    "Most frames a second to encode if the pad encoded gets no frames; 0 = all", SL_PROPERTY_DOUBLE,
    AT (max_framerate), 0, 1000, 10 },
  { "max-width", "Width",
    "Largest width in pixels of frames that slrecord encodes, and of pictures", SL_PROPERTY_INT,
    AT (max_width), 16, 16384, 1280 },
  { "picture-boxes", "Boxes in pictures",
    "The picture of an event has the drawings of sloverlay; false = only the frame, as searches by "
    "words see it best",
    SL_PROPERTY_BOOL, AT (picture_boxes), 0, 0, TRUE },
  { "encoder", "Encoder",
    "Encoder element if the pad encoded gets no frames: x264enc, openh264enc, vp8enc or jpegenc; "
    "unset = the first one that is installed",
    SL_PROPERTY_STRING, AT (encoder) },
  { "keep", "Keep", "Days that clips are kept; 0 = for ever", SL_PROPERTY_DOUBLE, AT (keep), 0,
    36500, 0 },
  { "max-size", "Size of all",
    "Most megabytes of all clips of this source; beyond it the oldest are deleted, and a single "
    "clip of that size is cut; 0 = no limit",
    SL_PROPERTY_DOUBLE, AT (max_size), 0, 1e9, 0 },
  { "min-free", "Free space",
    "Megabytes of the file system that stay free: the oldest clips of this source are deleted, or, "
    "if that is not enough, nothing is recorded until there is room; 0 = no limit",
    SL_PROPERTY_DOUBLE, AT (min_free), 0, 1e9, 200 },
  { "recording", "Recording",
    "Events begin clips; false = none, and the clip at hand ends without waiting for more events",
    SL_PROPERTY_BOOL, AT (recording), 0, 0, TRUE, NULL, TRUE },
};

#define PROP_STATS (G_N_ELEMENTS (properties) + 1)

/* Writer's thread. */
static void
clip_done (gpointer data, const SlClipDone *done)
{
  SlRecord *self = data;
  GstStructure *structure =
    gst_structure_new ("slrecord", "path", G_TYPE_STRING, done->path, "picture", G_TYPE_STRING,
                       done->picture, "event", G_TYPE_STRING, done->event, "cut", G_TYPE_STRING,
                       done->cut, "seconds", G_TYPE_DOUBLE, done->seconds, "frames", G_TYPE_UINT64,
                       done->frames, "bytes", G_TYPE_UINT64, done->bytes, NULL);
  sl_element_post (GST_ELEMENT (self), structure);
}

/* Writer's thread. */
static void
clip_warning (gpointer data, const char *text)
{
  SlRecord *self = data;
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%s", text), (NULL));
}

static const SlWriterEvents writer_events = { .done = clip_done, .warn = clip_warning };

static GstStructure *
read_stats (SlRecord *self)
{
  GST_OBJECT_LOCK (self);
  if (self->writer != NULL)
    sl_writer_counts (self->writer, &self->counts);
  const SlWriterCounts counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  return gst_structure_new ("stats", "clips", G_TYPE_UINT64, counts.clips, "bytes", G_TYPE_UINT64,
                            counts.bytes, "dropped", G_TYPE_UINT64, counts.dropped + self->left_out,
                            "failed", G_TYPE_UINT64, counts.failed, NULL);
}

static void
sl_record_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_STATS) {
    g_value_take_boxed (value, read_stats ((SlRecord *) object));
    return;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  sl_property_get (object, &properties[id - 1], value);
}

static void
ask (SlRecord *self, const char *reason)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (self->asked.length < ASKED_MOST)
    g_queue_push_tail (&self->asked, g_strdup (reason != NULL ? reason : ""));
}

static void
clock_init (Clock *clock)
{
  gst_segment_init (&clock->segment, GST_FORMAT_TIME);
  clock->last = GST_CLOCK_TIME_NONE;
  clock->interval = USUAL_INTERVAL;
}

/* Running time of a frame; of one without a timestamp, what comes after the last. */
static GstClockTime
clock_time (Clock *clock, GstClockTime time)
{
  GstClockTime running = sl_record_running_time (&clock->segment, time);
  if (!GST_CLOCK_TIME_IS_VALID (running))
    running = GST_CLOCK_TIME_IS_VALID (clock->last) ? clock->last + clock->interval : 0;
  clock->last = running;
  return running;
}

static const SlPredictionView *
read_prediction (SlRecord *self, GstBuffer *frame)
{
  if (!self->prediction_read) {
    self->prediction = (SlPredictionView){ .width = self->width, .height = self->height };
    sl_prediction_reader_read_frame (&self->reader, frame, &self->clock.segment, self->frames,
                                     &self->prediction);
    self->prediction_read = TRUE;
  }
  return &self->prediction;
}

/* The frame and when it was, for what is found on it. */
typedef struct
{
  SlRecord *self;
  GstBuffer *frame;
  GstClockTime time;
  gboolean recording;
} Moment;

/* Frames of a pool are few: the moment may wait for a disk, and so is a copy. */
static SlClipStart *
new_start (const Moment *moment, const char *word)
{
  SlRecord *self = moment->self;
  SlClipStart *start = g_new0 (SlClipStart, 1);
  GstBuffer *frame = moment->frame->pool != NULL ? gst_buffer_copy_deep (moment->frame)
                                                 : gst_buffer_ref (moment->frame);
  GString *predictions = g_string_new (NULL);
  sl_prediction_append_json (predictions, read_prediction (self, moment->frame));
  start->moment = gst_sample_new (frame, self->caps, NULL, NULL);
  start->event = g_strdup (word);
  start->predictions = g_string_free (predictions, FALSE);
  start->us = g_get_real_time ();
  gst_buffer_unref (frame);
  return start;
}

static void
event_found (gpointer data, const char *word, const char *json)
{
  const Moment *moment = data;
  SlClipRecorder *recorder = moment->self->recorder;
  if (!moment->recording)
    return;
  SlClipStart *start = sl_clip_recorder_wants_start (recorder) ? new_start (moment, word) : NULL;
  sl_clip_recorder_event (recorder, moment->time, g_strdup (json), start);
}

/* (transfer full) (nullable) */
static char *
next_asked (SlRecord *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return g_queue_pop_head (&self->asked);
}

static void
tell_asked (Moment *moment, const char *reason)
{
  GString *json = g_string_new ("{\"event\":\"" ASKED "\",\"reason\":");
  g_autofree char *shown = sl_printable (reason, SL_PRINTABLE_MESSAGE);
  sl_json_append_string (json, shown);
  g_string_append_c (json, '}');
  event_found (moment, ASKED, json->str);
  g_string_free (json, TRUE);
}

/* slanalyze writes to every frame. */
static void
warn_unanalyzed (SlRecord *self)
{
  self->needs_analysis = FALSE;
  GST_OBJECT_LOCK (self);
  g_autofree char *on = g_strdup (self->settings.on);
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_WARNING (self, STREAM, FAILED,
                       ("on=%s: frames come without events; expected slanalyze upstream: its "
                        "events begin no clip",
                        on != NULL ? on : ""),
                       (NULL));
}

static void
look_at (SlRecord *self, GstBuffer *frame, GstClockTime time)
{
  GST_OBJECT_LOCK (self);
  Moment moment = { self, frame, time, self->settings.recording };
  GST_OBJECT_UNLOCK (self);
  const SlAnalysis *analysis = sl_buffer_get_analysis (frame);
  self->prediction_read = FALSE;
  if (self->needs_analysis && analysis == NULL)
    warn_unanalyzed (self);
  const gboolean found = sl_buffer_has_objects (frame, self->width, self->height),
                 objects = found && sl_triggers_reads_objects (&self->triggers);
  sl_clip_recorder_trail (self->recorder, time, found ? read_prediction (self, frame) : NULL);
  if (objects || (analysis != NULL && analysis->n_events > 0))
    sl_triggers_read (&self->triggers, analysis, objects ? read_prediction (self, frame) : NULL,
                      time, event_found, &moment);
  char *reason;
  for (; (reason = next_asked (self)) != NULL; g_free (reason))
    tell_asked (&moment, reason);
}

/* Encoder's thread. */
static void
encoder_caps (gpointer data, GstCaps *caps)
{
  sl_clip_source_set_caps (&((SlRecord *) data)->source, TRUE, caps);
}

/* Encoder's thread. */
static void
encoder_frame (gpointer data, GstBuffer *frame)
{
  sl_clip_source_frame (&((SlRecord *) data)->source, TRUE, frame);
}

/* Encoder's thread: the next frame that comes, if one does, goes on. */
static void
encoder_ended (gpointer data)
{
  sl_clip_source_end (&((SlRecord *) data)->source, TRUE);
}

static const SlEncoderEvents encoder_events = { .caps = encoder_caps,
                                                .frame = encoder_frame,
                                                .ended = encoder_ended };

/* Where it has the choice, the next encoder is tried at once; else the first one again, later. It
 * is told once, until that has gone well for a while. */
static void
cannot_encode (SlRecord *self, const GError *error)
{
  const char *next = self->encoder_name != NULL && !self->encoder_is_set
                       ? sl_encoder_next (self->encoder_name)
                       : NULL;
  const gboolean told = self->encodes_nothing;
  g_autofree char *shown = sl_printable_message (error->message),
                  *caps = gst_caps_to_string (self->caps);
  g_clear_pointer (&self->encoder, sl_encoder_free);
  GST_WARNING_OBJECT (self, "%s cannot encode %s: %s", self->encoder_name, caps, shown);
  if (next == NULL) {
    self->encodes_nothing = TRUE;
    self->retry = g_get_monotonic_time () + RETRY_US;
  }
  if (next == NULL && !told)
    GST_ELEMENT_WARNING (self, STREAM, ENCODE,
                         ("%s cannot be encoded by %s: %s; nothing is recorded", caps,
                          self->encoder_name != NULL ? self->encoder_name : "slrecord", shown),
                         (NULL));
  self->encoder_name = next;
}

/* Chosen when it is needed: the pad encoded may have gone meanwhile. */
static SlEncoder *
new_encoder (SlRecord *self, GError **error)
{
  GST_OBJECT_LOCK (self);
  g_autofree char *chosen = g_strdup (self->settings.encoder);
  const gdouble rate = self->settings.max_framerate;
  const gint width = self->settings.max_width;
  GST_OBJECT_UNLOCK (self);
  self->encoder_is_set = chosen != NULL && *chosen != '\0';
  if (self->encoder_is_set || self->encoder_name == NULL)
    self->encoder_name = sl_encoder_choose (chosen, error);
  return self->encoder_name != NULL
           ? sl_encoder_new (self->encoder_name, self->caps, rate, width, KEY_INTERVAL, FALSE,
                             &encoder_events, self, error)
           : NULL;
}

/* What is in the encoder becomes part of clips if it is to, without anybody waiting; the next frame
 * starts another. */
static void
end_encoder (SlRecord *self, gboolean drain)
{
  if (!drain)
    g_clear_pointer (&self->ending, sl_encoder_free);
  if (self->encoder != NULL && drain && self->ending == NULL) {
    self->ending = g_steal_pointer (&self->encoder);
    sl_encoder_end (self->ending);
  }
  g_clear_pointer (&self->encoder, sl_encoder_free);
}

static gboolean
has_encoded (SlRecord *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->encoded != NULL;
}

static void
encode (SlRecord *self, GstBuffer *frame, GstClockTime time)
{
  g_autoptr (GError) error = NULL;
  if (!sl_clip_source_is_own (&self->source, has_encoded (self), time)) {
    end_encoder (self, FALSE);
    return;
  }
  if (self->encodes_nothing && g_get_monotonic_time () < self->retry)
    return;
  if (self->ending != NULL && !sl_encoder_has_ended (self->ending)) {
    self->left_out++;
    return;
  }
  g_clear_pointer (&self->ending, sl_encoder_free);
  if (self->encoder == NULL)
    self->encoder = new_encoder (self, &error);
  if (self->encoder == NULL || sl_encoder_take_error (self->encoder, &error))
    cannot_encode (self, error);
  else if (!sl_encoder_push (self->encoder, frame, time))
    self->left_out++;
  else if (self->encodes_nothing && g_get_monotonic_time () > self->retry + RETRY_US)
    self->encodes_nothing = FALSE;
}

static GstFlowReturn
sl_record_chain (GstPad *pad, GstObject *parent, GstBuffer *frame)
{
  SlRecord *self = (SlRecord *) parent;
  if (self->caps == NULL) {
    gst_buffer_unref (frame);
    return sl_element_has_format (GST_ELEMENT (self), pad) ? GST_FLOW_NOT_NEGOTIATED
                                                           : GST_FLOW_ERROR;
  }
  const GstClockTime time = clock_time (&self->clock, GST_BUFFER_PTS (frame));
  if (sl_clip_recorder_look (self->recorder,
                             time)) /* encoders would wait for the time that they had reached */
    end_encoder (self, FALSE);
  look_at (self, frame, time);
  encode (self, frame, time);
  sl_clip_recorder_seen (self->recorder, time);
  self->frames++;
  return gst_pad_push (self->src, frame);
}

static gboolean
set_caps (SlRecord *self, GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint fps_n = 0, fps_d = 1;
  if (!gst_structure_get_int (structure, "width", &self->width)
      || !gst_structure_get_int (structure, "height", &self->height))
    return FALSE;
  if (!sl_class_choice_follow (&self->triggers.choice, GST_ELEMENT (self), &self->settings.classes,
                               self->sink))
    return FALSE;
  gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d);
  self->clock.interval = fps_n > 0
                           ? gst_util_uint64_scale (GST_SECOND, (guint64) fps_d, (guint64) fps_n)
                           : USUAL_INTERVAL;
  if (self->caps == NULL || !gst_caps_is_equal (self->caps, caps))
    end_encoder (self, TRUE);
  self->encodes_nothing = FALSE;
  self->encoder_name = NULL;
  gst_caps_replace (&self->caps, caps);
  return TRUE;
}

static gboolean
sl_record_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlRecord *self = (SlRecord *) parent;
  GstCaps *caps;
  GstClockTime time, duration;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      if (!set_caps (self, caps)) {
        gst_event_unref (event);
        return FALSE;
      }
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->clock.segment);
      break;
    case GST_EVENT_GAP:
      gst_event_parse_gap (event, &time, &duration);
      sl_clip_recorder_seen (self->recorder, clock_time (&self->clock, time));
      break;
    case GST_EVENT_FLUSH_STOP:
      end_encoder (self, FALSE);
      sl_clip_recorder_reset (self->recorder);
      clock_init (&self->clock);
      break;
    case GST_EVENT_EOS:
      end_encoder (self, TRUE);
      if (self->ending == NULL)
        encoder_ended (self);
      sl_clip_recorder_end (self->recorder, FALSE);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* Bytes are shared; those of a pool are copied, because a camera has few. */
static GstBuffer *
keep_frame (SlRecord *self, GstBuffer *frame)
{
  const GstBufferCopyFlags flags = GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS
                                   | GST_BUFFER_COPY_MEMORY
                                   | (frame->pool != NULL ? GST_BUFFER_COPY_DEEP : 0);
  GstBuffer *kept = gst_buffer_copy_region (frame, flags, 0, -1);
  Clock *clock = &self->encoded_clock;
  const GstClockTime dts = sl_record_running_time (&clock->segment, GST_BUFFER_DTS (frame));
  const gboolean timed = GST_BUFFER_PTS_IS_VALID (frame);
  const GstClockTime pts =
    timed ? sl_record_running_time (&clock->segment, GST_BUFFER_PTS (frame)) : dts;
  clock->last = GST_BUFFER_PTS (kept) =
    GST_CLOCK_TIME_IS_VALID (pts) ? pts : clock_time (clock, GST_CLOCK_TIME_NONE);
  GST_BUFFER_DTS (kept) =
    GST_CLOCK_TIME_IS_VALID (dts) && dts <= GST_BUFFER_PTS (kept) ? dts : GST_CLOCK_TIME_NONE;
  if (GST_BUFFER_DURATION_IS_VALID (frame))
    clock->interval = GST_BUFFER_DURATION (frame);
  gst_buffer_unref (frame);
  return kept;
}

static GstFlowReturn
sl_record_encoded_chain (GstPad *pad, GstObject *parent, GstBuffer *frame)
{
  SlRecord *self = (SlRecord *) parent;
  if (gst_buffer_get_size (frame) == 0)
    gst_buffer_unref (frame);
  else
    sl_clip_source_frame (&self->source, FALSE, keep_frame (self, frame));
  return GST_FLOW_OK;
}

static gboolean
sl_record_encoded_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlRecord *self = (SlRecord *) parent;
  GstCaps *caps;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      sl_clip_source_set_caps (&self->source, FALSE, caps);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->encoded_clock.segment);
      break;
    case GST_EVENT_FLUSH_STOP:
      sl_clip_source_reset (&self->source);
      clock_init (&self->encoded_clock);
      break;
    case GST_EVENT_EOS:
      sl_clip_source_end (&self->source, FALSE);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM_OOB:
      if (gst_event_has_name (event, SL_CAMERA_ENCODED_NONE))
        sl_clip_source_none (&self->source);
      break;
    default:
      break;
  }
  gst_event_unref (event);
  return TRUE;
}

static GstPad *
sl_record_request_new_pad (GstElement *element, GstPadTemplate *template, const gchar *name,
                           const GstCaps *caps)
{
  return sl_encoded_pad_request (element, template, &((SlRecord *) element)->encoded,
                                 sl_record_encoded_chain, sl_record_encoded_event);
}

static void
sl_record_release_pad (GstElement *element, GstPad *pad)
{
  sl_encoded_pad_release (element, pad, &((SlRecord *) element)->encoded);
}

static guint64
megabytes (gdouble value)
{
  return (guint64) (value * 1e6);
}

static GstClockTime
seconds (gdouble value)
{
  return (GstClockTime) (value * GST_SECOND);
}

/* What events begin clips, and what encodes them. */
static gboolean
check_settings (GstElement *element, GError **error)
{
  SlRecord *self = (SlRecord *) element;
  GST_OBJECT_LOCK (self);
  g_autofree char *on = g_strdup (self->settings.on), *encoder = g_strdup (self->settings.encoder);
  const gboolean encodes = self->encoded == NULL;
  GST_OBJECT_UNLOCK (self);
  return sl_triggers_open (&self->triggers, on, error)
         && (!encodes || sl_encoder_choose (encoder, error) != NULL);
}

static gboolean
open_all (SlRecord *self, GError **error)
{
  SlFolder folder;
  GST_OBJECT_LOCK (self);
  const Settings *s = &self->settings;
  g_autofree char *location = g_strdup (s->location),
                  *source = g_strdup (s->source != NULL ? s->source : GST_OBJECT_NAME (self));
  const SlClipRecorderSettings times = { .pre_roll = seconds (s->pre_roll),
                                         .post_roll = seconds (s->post_roll),
                                         .max_length = seconds (s->max_length),
                                         .ring_bytes = megabytes (s->ring_size) };
  const gint64 keep = (gint64) (s->keep * DAY * G_USEC_PER_SEC);
  const guint64 max_bytes = megabytes (s->max_size), min_free = megabytes (s->min_free);
  const SlPictureLook look = { (guint) s->max_width, s->picture_boxes };
  const gboolean encodes = self->encoded == NULL;
  self->needs_analysis = sl_triggers_needs_analysis (s->on);
  GST_OBJECT_UNLOCK (self);
  if (!check_settings (GST_ELEMENT (self), error)
      || !sl_folder_open (&folder, location, source, error))
    return FALSE;
  folder.keep = keep;
  folder.max_bytes = max_bytes;
  folder.min_free = min_free;
  SlWriter *writer = sl_writer_new (&folder, QUEUE_BYTES, look, &writer_events,
                                    gst_object_ref (self), gst_object_unref);
  self->recorder = sl_clip_recorder_new (&times, writer);
  sl_clip_source_start (&self->source, self->recorder, encodes);
  GST_OBJECT_LOCK (self);
  self->writer = writer;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
start (SlRecord *self)
{
  g_autoptr (GError) error = NULL;
  clock_init (&self->clock);
  clock_init (&self->encoded_clock);
  self->encodes_nothing = FALSE;
  self->encoder_name = NULL;
  self->frames = self->left_out = 0;
  if (open_all (self, &error))
    return TRUE;
  return sl_element_report (GST_ELEMENT (self), error);
}

/* After the pads are not active any more. */
static void
stop (SlRecord *self)
{
  SlWriterCounts counts = { 0 };
  end_encoder (self, TRUE);
  if (self->ending != NULL)
    sl_encoder_join (self->ending);
  g_clear_pointer (&self->ending, sl_encoder_free);
  sl_clip_source_stop (&self->source);
  g_clear_pointer (&self->recorder, sl_clip_recorder_free);
  GST_OBJECT_LOCK (self);
  SlWriter *writer = g_steal_pointer (&self->writer);
  g_queue_clear_full (&self->asked, g_free);
  GST_OBJECT_UNLOCK (self);
  if (writer != NULL)
    sl_writer_stop (writer, &counts);
  GST_OBJECT_LOCK (self);
  self->counts = writer != NULL ? counts : self->counts;
  GST_OBJECT_UNLOCK (self);
  gst_clear_caps (&self->caps);
}

static GstStateChangeReturn
sl_record_change_state (GstElement *element, GstStateChange transition)
{
  SlRecord *self = (SlRecord *) element;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn changed =
    GST_ELEMENT_CLASS (sl_record_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return changed;
}

static void
sl_record_finalize (GObject *object)
{
  SlRecord *self = (SlRecord *) object;
  sl_triggers_clear (&self->triggers);
  sl_prediction_reader_clear (&self->reader);
  sl_clip_source_clear (&self->source);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_record_parent_class)->finalize (object);
}

static void
sl_record_class_init (SlRecordClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_record_debug, "slrecord", 0, "clips around events");
  object_class->finalize = sl_record_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_record_get_property;
  g_object_class_install_property (
    object_class, PROP_STATS,
    sl_property_figures (
      "stats", "Counts",
      "A structure with clips (complete ones), bytes (of their videos), dropped (frames that were "
      "not encoded or not written) and failed (clips that could not be saved), all uint64"));
  g_signal_new_class_handler ("record", G_TYPE_FROM_CLASS (klass),
                              G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (ask), NULL, NULL,
                              NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  sl_encoded_pad_class (klass);
  sl_element_class_describe (
    klass, "Sightline recorder", "Filter/Recorder/Video",
    "Writes a clip around each event of slanalyze, around each new object, or on request: the "
    "camera's encoded stream, or frames that it encodes itself, with a pre-roll, a picture of the "
    "event and its predictions. Frames pass unchanged.",
    "gst-launch-1.0 v4l2src ! slpredict model=ssd.tflite threshold=0.1 ! sltrack ! slanalyze "
    "regions=\"[line way] points=0,0.5 1,0.5\" ! slrecord location=clips ! fakesink",
    "recording.md");
  klass->change_state = sl_record_change_state;
  sl_element_class_set_check (klass, check_settings);
  klass->request_new_pad = sl_record_request_new_pad;
  klass->release_pad = sl_record_release_pad;
}

static void
sl_record_init (SlRecord *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_prediction_reader_init (&self->reader);
  sl_clip_source_init (&self->source);
  clock_init (&self->clock);
  clock_init (&self->encoded_clock);
  self->sink = sl_encoded_pad_add (GST_ELEMENT (self), "sink");
  self->src = sl_encoded_pad_add (GST_ELEMENT (self), "src");
  gst_pad_set_chain_function (self->sink, sl_record_chain);
  gst_pad_set_event_function (self->sink, sl_record_sink_event);
}
