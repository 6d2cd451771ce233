/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! videoconvert ! videoscale ! SIZE ! ENCODER ! PARSER ! FORMAT ! appsink. Two frames are in it before they are smaller at most: one
 * that waits, one that is converted.
 */
#include "plugins/record/encoder.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include <string.h>

#include "base/suggest.h"
#include "plugins/record/make.h"
#include "sightline/error.h"

#define DRAIN_US (2 * G_USEC_PER_SEC)

typedef struct
{
  const char *name;
  const char *settings; /* a structure's fields */
  const char *key;      /* (nullable): property of the number of frames from a key frame to the next */
  const char *parser;   /* (nullable) */
  const char *format;   /* caps */
} Row;

static const Row rows[] = {
  { "x264enc", "s,tune=(string)zerolatency,speed-preset=(string)veryfast,threads=(string)1", "key-int-max", "h264parse",
    "video/x-h264,stream-format=avc,alignment=au" },
  { "openh264enc", "s,complexity=(string)low,rate-control=(string)quality,bitrate=(string)2000000,multi-thread=(string)1", "gop-size",
    "h264parse", "video/x-h264,stream-format=avc,alignment=au" },
  { "vp8enc", "s,deadline=(string)1,cpu-used=(string)8,target-bitrate=(string)1500000,threads=(string)1", "keyframe-max-dist", NULL,
    "video/x-vp8" },
  { "jpegenc", "s,quality=(string)80", NULL, NULL, "image/jpeg" },
};

struct _SlEncoder
{
  GstElement *pipeline, *source, *sink;
  GstBus *bus;
  SlEncoderEvents events;
  gpointer data;
  GstClockTime interval, due; /* of frames: NONE = no frame came yet */
  GMutex lock;
  GCond changed;
  gboolean drained; /* under the lock */
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
    if (row != NULL) {
      g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
                   "encoder=%s: it is not installed, or its parser is not: install %s (Debian's name)", name,
                   sl_record_package (row->name));
      return NULL;
    }
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
      names[i] = rows[i].name;
    g_autofree char *hint = sl_suggest_nearest (name, names, G_N_ELEMENTS (names));
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "encoder=%s: unknown%s", name, hint);
    return NULL;
  }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (is_installed (&rows[i]))
      return rows[i].name;
  g_set_error_literal (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
                       "no encoder is installed: expected x264enc, openh264enc, vp8enc or jpegenc: install gstreamer1.0-plugins-good");
  return NULL;
}

static gboolean
set_field (GQuark field, const GValue *value, gpointer element)
{
  gst_util_set_object_arg (element, g_quark_to_string (field), g_value_get_string (value));
  return TRUE;
}

static GstFlowReturn
new_sample (GstAppSink *sink, gpointer data)
{
  SlEncoder *self = data;
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (sink);
  if (sample == NULL)
    return GST_FLOW_EOS;
  self->events.caps (self->data, gst_sample_get_caps (sample));
  self->events.frame (self->data, gst_buffer_copy (gst_sample_get_buffer (sample)));
  return GST_FLOW_OK;
}

static void
eos (GstAppSink *sink, gpointer data)
{
  SlEncoder *self = data;
  g_mutex_lock (&self->lock);
  self->drained = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* (transfer full): never larger than the frame, and even, as chroma needs it. */
static GstCaps *
size_caps (const GstVideoInfo *info, gint most)
{
  gint width = info->width, height = info->height;
  if (width > most) {
    height = (gint) ((gint64) height * most / width);
    width = most;
  }
  return gst_caps_new_simple ("video/x-raw", "width", G_TYPE_INT, MAX (width & ~1, 2), "height", G_TYPE_INT, MAX (height & ~1, 2), NULL);
}

static gboolean
build (SlEncoder *self, const Row *row, GstCaps *caps, const GstVideoInfo *info, gint width, guint key_frames, GError **error)
{
  GstElement *last = NULL;
  GstBin *bin = GST_BIN (self->pipeline);
  self->source = sl_record_add (bin, "appsrc", &last, error);
  if (self->source == NULL || sl_record_add (bin, "videoconvert", &last, error) == NULL
      || sl_record_add (bin, "videoscale", &last, error) == NULL)
    return FALSE;
  GstElement *size = sl_record_add (bin, "capsfilter", &last, error);
  GstElement *encoder = size != NULL ? sl_record_add (bin, row->name, &last, error) : NULL;
  if (encoder == NULL || (row->parser != NULL && sl_record_add (bin, row->parser, &last, error) == NULL))
    return FALSE;
  GstElement *format = sl_record_add (bin, "capsfilter", &last, error);
  self->sink = format != NULL ? sl_record_add (bin, "appsink", &last, error) : NULL;
  if (self->sink == NULL)
    return FALSE;
  g_autoptr (GstCaps) small = size_caps (info, width), out = gst_caps_from_string (row->format);
  g_autoptr (GstStructure) settings = gst_structure_from_string (row->settings, NULL);
  g_object_set (self->source, "caps", caps, "format", GST_FORMAT_TIME, "block", FALSE, NULL);
  g_object_set (size, "caps", small, NULL);
  g_object_set (format, "caps", out, NULL);
  gst_structure_foreach (settings, set_field, encoder);
  if (row->key != NULL)
    g_object_set (encoder, row->key, (gint) key_frames, NULL);
  g_object_set (self->sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
  gst_app_sink_set_callbacks (GST_APP_SINK (self->sink), &(GstAppSinkCallbacks){ .eos = eos, .new_sample = new_sample }, self, NULL);
  return TRUE;
}

SlEncoder *
sl_encoder_new (const char *name, GstCaps *caps, gdouble rate, gint width, guint key_interval, const SlEncoderEvents *events, gpointer data,
                GError **error)
{
  g_autoptr (SlEncoder) self = g_new0 (SlEncoder, 1);
  GstVideoInfo info;
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  self->bus = gst_element_get_bus (self->pipeline);
  self->events = *events;
  self->data = data;
  self->due = GST_CLOCK_TIME_NONE;
  if (!sl_record_reads (caps, &info)) {
    g_autofree char *got = gst_caps_to_string (caps);
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
                 "%s cannot be encoded: expected raw video in system memory, or the camera's own stream at the pad encoded", got);
    return NULL;
  }
  gdouble frames = info.fps_n > 0 && info.fps_d > 0 ? (gdouble) info.fps_n / info.fps_d : 25;
  if (rate > 0) {
    self->interval = (GstClockTime) ((gdouble) GST_SECOND / rate);
    frames = MIN (frames, rate);
  }
  if (!build (self, find_row (name), caps, &info, width, (guint) MAX (1, frames * key_interval), error))
    return NULL;
  if (gst_element_set_state (self->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return g_steal_pointer (&self);
  if (!sl_encoder_take_error (self, error))
    g_set_error (error, SL_ERROR, SL_ERROR_BACKEND, "encoder=%s: it does not start", name);
  return NULL;
}

/* Whether it is this frame's turn. A frame a little early counts: cameras are not exact. */
static gboolean
is_due (SlEncoder *self, GstClockTime time)
{
  if (self->interval == 0)
    return TRUE;
  if (GST_CLOCK_TIME_IS_VALID (self->due) && time + self->interval / 8 < self->due && self->due - time <= self->interval)
    return FALSE;
  const gboolean steady = GST_CLOCK_TIME_IS_VALID (self->due) && time < self->due + self->interval && time + self->interval > self->due;
  self->due = (steady ? self->due : time) + self->interval;
  return TRUE;
}

gboolean
sl_encoder_push (SlEncoder *self, GstBuffer *frame, GstClockTime time)
{
  if (!is_due (self, time))
    return TRUE;
  if (gst_app_src_get_current_level_buffers (GST_APP_SRC (self->source)) > 0)
    return FALSE;
  GstBuffer *copy = gst_buffer_copy_region (frame, GST_BUFFER_COPY_MEMORY, 0, -1);
  GstVideoMeta *video = gst_buffer_get_video_meta (frame);
  if (video != NULL)
    gst_buffer_add_video_meta_full (copy, video->flags, video->format, video->width, video->height, video->n_planes, video->offset,
                                    video->stride);
  GST_BUFFER_PTS (copy) = time;
  gst_app_src_push_buffer (GST_APP_SRC (self->source), copy);
  return TRUE;
}

void
sl_encoder_drain (SlEncoder *self)
{
  const gint64 until = g_get_monotonic_time () + DRAIN_US;
  gst_app_src_end_of_stream (GST_APP_SRC (self->source));
  g_mutex_lock (&self->lock);
  while (!self->drained && g_cond_wait_until (&self->changed, &self->lock, until))
    continue;
  g_mutex_unlock (&self->lock);
}

gboolean
sl_encoder_take_error (SlEncoder *self, GError **error)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (self->bus, GST_MESSAGE_ERROR);
  if (message == NULL)
    return FALSE;
  gst_message_parse_error (message, error, NULL);
  return TRUE;
}

void
sl_encoder_free (SlEncoder *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_clear_object (&self->bus);
  gst_clear_object (&self->pipeline);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self);
}
