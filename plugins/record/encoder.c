/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! videoconvert ! videoscale ! SIZE ! ENCODER ! PARSER ! FORMAT ! appsink, and behind SIZE
 * sloverlay ! videoconvert where predictions are drawn. Two frames are in it before they are
 * smaller at most: one that waits, one that is converted. Making all that takes as long as a frame
 * or longer, so a thread does it, and one frame waits meanwhile.
 *
 * Encoders may shift timestamps and say so in their segment: x264enc adds 1000 hours. What comes
 * out has running time, as what goes in.
 */
#include "plugins/record/encoder.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <string.h>

#include "core/base/suggest.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/record/make.h"
#include "core/base/fail.h"

#define DRAIN (10 * GST_SECOND)
#define INTERVAL_MOST (3600 * GST_SECOND)
/* Encoded frames may be so far from the times that went in. */
#define ROUNDING (100 * GST_MSECOND)
/* What ends the wait for the end. */
#define ABORT "sl-encoder-abort"

typedef struct
{
  const char *name;
  const char *settings; /* a structure's fields */
  const char *key; /* (nullable): property of the number of frames from a key frame to the next */
  const char *parser; /* (nullable) */
  const char *format; /* caps */
} Row;

static const Row rows[] = {
  { "x264enc", "s,tune=(string)zerolatency,speed-preset=(string)veryfast,threads=(string)1",
    "key-int-max", "h264parse", "video/x-h264,stream-format=avc,alignment=au" },
  { "openh264enc",
    "s,complexity=(string)low,rate-control=(string)quality,bitrate=(string)2000000,"
    "multi-thread=(string)1",
    "gop-size", "h264parse", "video/x-h264,stream-format=avc,alignment=au" },
  { "vp8enc",
    "s,deadline=(string)1,cpu-used=(string)8,target-bitrate=(string)1500000,threads=(string)1",
    "keyframe-max-dist", NULL, "video/x-vp8" },
  { "jpegenc", "s,quality=(string)80", NULL, NULL, "image/jpeg" },
};

struct _SlEncoder
{
  const Row *row;
  GstCaps *caps; /* of frames */
  GstVideoInfo info;
  gint width;
  guint key_frames;
  gboolean draws;
  GThread *maker;              /* (nullable) */
  GMutex lock;                 /* of these five */
  gboolean ready;              /* what follows is there, and PLAYING */
  GstBuffer *waiting;          /* (nullable): while it is not ready */
  GError *failed;              /* (nullable) */
  GstClockTime oldest, newest; /* of the frames that went in; NONE */
  GstElement *pipeline, *source, *sink;
  GstBus *bus;
  SlEncoderEvents events;
  gpointer data;
  GstClockTime interval, due;     /* of frames: NONE = no frame came yet */
  GstClockTime key_interval, key; /* of key frames: when the last one was asked for */
  GstElement *encoder;
  GThread *thread; /* (nullable): it ends */
  gint has_ended;  /* atomic */
};

static const Row *
find_row (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].name, name) == 0)
      return &rows[i];
  return NULL;
}

static gboolean
is_installed (const Row *row)
{
  return sl_record_has (row->name) && (row->parser == NULL || sl_record_has (row->parser));
}

const char *
sl_encoder_choose (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (rows)];
  if (name != NULL && *name != '\0') {
    const Row *row = find_row (name);
    if (row != NULL && is_installed (row))
      return row->name;
    if (row != NULL)
      return sl_fail_null (
        error, SL_ERROR_UNSUPPORTED,
        "encoder=%s: it is not installed, or its parser is not: install %s (Debian's name)", name,
        sl_record_package (row->name));
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
      names[i] = rows[i].name;
    g_autofree char *hint = sl_suggest_nearest (name, names, G_N_ELEMENTS (names));
    return sl_fail_null (error, SL_ERROR_ARGUMENT, "encoder=%s: unknown%s", name, hint);
  }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (is_installed (&rows[i]))
      return rows[i].name;
  return sl_fail_null (
    error, SL_ERROR_UNSUPPORTED,
    "no encoder is installed: expected x264enc, openh264enc, vp8enc or jpegenc: install "
    "gstreamer1.0-plugins-good");
}

const char *
sl_encoder_next (const char *name)
{
  for (const Row *row = find_row (name) + 1; row < rows + G_N_ELEMENTS (rows); row++)
    if (is_installed (row))
      return row->name;
  return NULL;
}

static gboolean
set_field (GQuark field, const GValue *value, gpointer element)
{
  gst_util_set_object_arg (element, g_quark_to_string (field), g_value_get_string (value));
  return TRUE;
}

/* Whether a frame of running time @time can be one that went in. If not, the encoder has failed: a
 * clip of it would show another time. */
static gboolean
check_time (SlEncoder *self, GstClockTime time)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const gboolean known = GST_CLOCK_TIME_IS_VALID (time) && GST_CLOCK_TIME_IS_VALID (self->oldest)
                         && time + ROUNDING >= self->oldest && time <= self->newest + ROUNDING;
  if (!known && self->failed == NULL)
    self->failed = g_error_new (
      SL_ERROR, SL_ERROR_BACKEND,
      "a frame of %.3f s came out, expected %.3f to %.3f s, as went in; choose another encoder",
      GST_CLOCK_TIME_IS_VALID (time) ? (gdouble) time / GST_SECOND : -1,
      (gdouble) self->oldest / GST_SECOND, (gdouble) self->newest / GST_SECOND);
  return known;
}

static GstFlowReturn
new_sample (GstAppSink *sink, gpointer data)
{
  SlEncoder *self = data;
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (sink);
  if (sample == NULL)
    return GST_FLOW_EOS;
  GstBuffer *frame = gst_buffer_copy (gst_sample_get_buffer (sample));
  const GstSegment *segment = gst_sample_get_segment (sample);
  GST_BUFFER_PTS (frame) = sl_record_running_time (segment, GST_BUFFER_PTS (frame));
  GST_BUFFER_DTS (frame) = sl_record_running_time (segment, GST_BUFFER_DTS (frame));
  if (!check_time (self, GST_BUFFER_PTS (frame))) {
    gst_buffer_unref (frame);
    return GST_FLOW_ERROR;
  }
  self->events.caps (self->data, gst_sample_get_caps (sample));
  self->events.frame (self->data, frame);
  return GST_FLOW_OK;
}

/* (transfer full): never larger than the frame, and even, as chroma needs it. Encoders would keep
 * the chroma of frames that have more, which few players and no JPEG in RTP take. */
static GstCaps *
size_caps (const GstVideoInfo *info, gint most)
{
  gint width = info->width, height = info->height;
  if (width > most) {
    height = (gint) ((gint64) height * most / width);
    width = most;
  }
  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "I420", "width", G_TYPE_INT,
                              MAX (width & ~1, 2), "height", G_TYPE_INT, MAX (height & ~1, 2),
                              NULL);
}

/* Behind the scaler: lines and letters have the size of the picture that is seen. */
static gboolean
add_overlay (GstBin *bin, GstElement **last, GError **error)
{
  return !sl_record_has ("sloverlay")
         || (sl_record_add (bin, "sloverlay", last, error) != NULL
             && sl_record_add (bin, "videoconvert", last, error) != NULL);
}

static gboolean
build (SlEncoder *self, GError **error)
{
  const Row *row = self->row;
  GstElement *last = NULL;
  GstBin *bin = GST_BIN (self->pipeline);
  self->source = sl_record_add (bin, "appsrc", &last, error);
  if (self->source == NULL || sl_record_add (bin, "videoconvert", &last, error) == NULL
      || sl_record_add (bin, "videoscale", &last, error) == NULL)
    return FALSE;
  GstElement *size = sl_record_add (bin, "capsfilter", &last, error);
  if (size != NULL && self->draws && !add_overlay (bin, &last, error))
    return FALSE;
  self->encoder = size != NULL ? sl_record_add (bin, row->name, &last, error) : NULL;
  if (self->encoder == NULL
      || (row->parser != NULL && sl_record_add (bin, row->parser, &last, error) == NULL))
    return FALSE;
  GstElement *format = sl_record_add (bin, "capsfilter", &last, error);
  self->sink = format != NULL ? sl_record_add (bin, "appsink", &last, error) : NULL;
  if (self->sink == NULL)
    return FALSE;
  g_autoptr (GstCaps) plain = sl_record_plain (self->caps);
  g_autoptr (GstCaps) small = size_caps (&self->info, self->width),
                      out = gst_caps_from_string (row->format);
  g_autoptr (GstStructure) settings = gst_structure_from_string (row->settings, NULL);
  g_object_set (self->source, "caps", plain, "format", GST_FORMAT_TIME, "block", FALSE, NULL);
  g_object_set (size, "caps", small, NULL);
  g_object_set (format, "caps", out, NULL);
  gst_structure_foreach (settings, set_field, self->encoder);
  if (row->key != NULL)
    g_object_set (self->encoder, row->key, (gint) self->key_frames, NULL);
  g_object_set (self->sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  gst_app_sink_set_callbacks (GST_APP_SINK (self->sink),
                              &(GstAppSinkCallbacks){ .new_sample = new_sample }, self, NULL);
  return TRUE;
}

/* TRUE, once, with @error set when it failed while it worked. */
static gboolean
take_message (SlEncoder *self, GError **error)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (self->bus, GST_MESSAGE_ERROR);
  if (message == NULL)
    return FALSE;
  gst_message_parse_error (message, error, NULL);
  return TRUE;
}

static gboolean
start (SlEncoder *self, GError **error)
{
  if (!build (self, error))
    return FALSE;
  if (gst_element_set_state (self->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return TRUE;
  if (!take_message (self, error))
    sl_fail (error, SL_ERROR_BACKEND, "encoder=%s: it does not start", self->row->name);
  return FALSE;
}

static gpointer
make_thread (gpointer data)
{
  SlEncoder *self = data;
  GError *failed = NULL;
  const gboolean started = start (self, &failed);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->ready = started;
  self->failed = failed;
  if (started && self->waiting != NULL)
    gst_app_src_push_buffer (GST_APP_SRC (self->source), g_steal_pointer (&self->waiting));
  return NULL;
}

SlEncoder *
sl_encoder_new (const char *name, GstCaps *caps, gdouble rate, gint width, guint key_interval,
                gboolean draws, const SlEncoderEvents *events, gpointer data, GError **error)
{
  g_autoptr (SlEncoder) self = g_new0 (SlEncoder, 1);
  g_mutex_init (&self->lock);
  self->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  self->bus = gst_element_get_bus (self->pipeline);
  self->events = *events;
  self->data = data;
  self->due = self->key = self->oldest = self->newest = GST_CLOCK_TIME_NONE;
  self->key_interval = key_interval * GST_SECOND;
  self->row = find_row (name);
  self->caps = gst_caps_ref (caps);
  self->width = width;
  self->draws = draws;
  if (!sl_record_reads (caps, &self->info))
    return sl_fail_null (
      error, SL_ERROR_UNSUPPORTED,
      "expected raw video of whole frames in system memory, or the camera's own stream at the pad "
      "encoded");
  gdouble frames = self->info.fps_n > 0 && self->info.fps_d > 0
                     ? (gdouble) self->info.fps_n / self->info.fps_d
                     : 25;
  if (rate > 0) {
    self->interval = (GstClockTime) MIN ((gdouble) GST_SECOND / rate, (gdouble) INTERVAL_MOST);
    frames = MIN (frames, rate);
  }
  self->key_frames = (guint) MAX (1, frames * key_interval);
  self->maker = g_thread_try_new ("sl-record-encoder", make_thread, self, NULL);
  if (self->maker == NULL)
    make_thread (self);
  return g_steal_pointer (&self);
}

/* Whether it is this frame's turn. A frame a little early counts: cameras are not exact. */
static gboolean
is_due (SlEncoder *self, GstClockTime time)
{
  if (self->interval == 0)
    return TRUE;
  if (GST_CLOCK_TIME_IS_VALID (self->due) && time + self->interval / 8 < self->due
      && self->due - time <= self->interval)
    return FALSE;
  const gboolean steady = GST_CLOCK_TIME_IS_VALID (self->due) && time < self->due + self->interval
                          && time + self->interval > self->due;
  self->due = (steady ? self->due : time) + self->interval;
  return TRUE;
}

/* Its settings count frames, which may come more rarely than caps say. */
static void
ask_for_key (SlEncoder *self, GstClockTime time)
{
  if (GST_CLOCK_TIME_IS_VALID (self->key) && time >= self->key
      && time - self->key < self->key_interval)
    return;
  if (GST_CLOCK_TIME_IS_VALID (self->key)) /* the first frame is one */
    gst_element_send_event (
      self->encoder, gst_video_event_new_upstream_force_key_unit (GST_CLOCK_TIME_NONE, TRUE, 0));
  self->key = time;
}

/* FALSE while another frame waits. */
static gboolean
has_room (SlEncoder *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->ready ? gst_app_src_get_current_level_buffers (GST_APP_SRC (self->source)) == 0
                     : self->waiting == NULL;
}

/* (transfer full): refers to the memory of @frame; its other metas are kept where they are drawn.
 */
static GstBuffer *
copy_frame (const SlEncoder *self, GstBuffer *frame, GstClockTime time)
{
  const GstBufferCopyFlags flags =
    GST_BUFFER_COPY_MEMORY | (self->draws ? GST_BUFFER_COPY_META : GST_BUFFER_COPY_NONE);
  GstBuffer *copy = gst_buffer_copy_region (frame, flags, 0, -1);
  GstVideoMeta *video = gst_buffer_get_video_meta (frame);
  if (self->draws)
    sl_buffer_keep_regions (copy);
  else if (video != NULL)
    gst_buffer_add_video_meta_full (copy, video->flags, video->format, video->width, video->height,
                                    video->n_planes, video->offset, video->stride);
  GST_BUFFER_PTS (copy) = time;
  return copy;
}

gboolean
sl_encoder_push (SlEncoder *self, GstBuffer *frame, GstClockTime time)
{
  if (!is_due (self, time))
    return TRUE;
  if (!has_room (self))
    return FALSE;
  GstBuffer *copy = copy_frame (self, frame, time);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->oldest = GST_CLOCK_TIME_IS_VALID (self->oldest) ? MIN (self->oldest, time) : time;
  self->newest = GST_CLOCK_TIME_IS_VALID (self->newest) ? MAX (self->newest, time) : time;
  if (self->ready) {
    ask_for_key (self, time);
    gst_app_src_push_buffer (GST_APP_SRC (self->source), copy);
  } else {
    self->key = time;
    self->waiting = copy;
  }
  return TRUE;
}

static gpointer
end_thread (gpointer data)
{
  SlEncoder *self = data;
  if (self->maker != NULL)
    g_thread_join (g_steal_pointer (&self->maker));
  if (self->ready)
    gst_app_src_end_of_stream (GST_APP_SRC (self->source));
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (self->bus, self->ready ? DRAIN : 0,
                                GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_APPLICATION);
  if (message == NULL || GST_MESSAGE_TYPE (message) != GST_MESSAGE_APPLICATION)
    self->events.ended (self->data);
  g_atomic_int_set (&self->has_ended, 1);
  return NULL;
}

void
sl_encoder_end (SlEncoder *self)
{
  self->thread = g_thread_new ("sl-record-end", end_thread, self);
}

gboolean
sl_encoder_has_ended (SlEncoder *self)
{
  return g_atomic_int_get (&self->has_ended) != 0;
}

void
sl_encoder_join (SlEncoder *self)
{
  g_thread_join (g_steal_pointer (&self->thread));
}

gboolean
sl_encoder_take_error (SlEncoder *self, GError **error)
{
  g_autoptr (GError) posted = NULL;
  /* The message comes first: check_time() names a cause before the pipeline posts its error. */
  const gboolean has_message = take_message (self, &posted);
  g_mutex_lock (&self->lock);
  GError *failed = g_steal_pointer (&self->failed);
  g_mutex_unlock (&self->lock);
  if (failed == NULL && !has_message)
    return FALSE;
  g_propagate_error (error, failed != NULL ? failed : g_steal_pointer (&posted));
  return TRUE;
}

void
sl_encoder_free (SlEncoder *self)
{
  if (self->thread != NULL) {
    gst_bus_post (self->bus, gst_message_new_application (NULL, gst_structure_new_empty (ABORT)));
    sl_encoder_join (self);
  }
  if (self->maker != NULL)
    g_thread_join (self->maker);
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_clear_buffer (&self->waiting);
  g_clear_error (&self->failed);
  gst_clear_caps (&self->caps);
  g_mutex_clear (&self->lock);
  gst_clear_object (&self->bus);
  gst_clear_object (&self->pipeline);
  g_free (self);
}
