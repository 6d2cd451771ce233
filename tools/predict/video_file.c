/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * appsrc ! sloverlay ! videoconvert ! videoscale ! videorate ! capsfilter ! encoder ! parser !
 * mp4mux ! filesink, made when the first frame tells size and rate: a file has one of each, so
 * other frames are scaled, with borders, and repeated or left out. Sources follow one another on
 * one time line.
 */
#include "tools/predict/video_file.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "core/base/fail.h"
#include "pipelines/supervise/bus.h"
#include "tools/frames.h"
#include "tools/interrupt.h"
#include "tools/predict/overlay.h"

/* What pictures are shown at, and cameras that do not say. */
#define PICTURE_RATE 5
#define CAMERA_RATE 25
#define PICTURE_TIME GST_SECOND
/* H.264's common decoders and encoders end there, either way round. */
#define LONGEST_SIDE 3840
#define SHORTEST_SIDE 2160
#define MAX_WAITING 2
#define WAIT (5 * GST_MSECOND)

/* All of constant quality. */
static const struct
{
  const char *name, *parser;
  const char *settings[4]; /* property, value, ... */
  gboolean at_once; /* frames do not wait in it, and drained at the end its library complains on the
                       terminal */
} encoders[] = {
  { "x264enc", NULL, { "pass", "quant", "quantizer", "23" }, FALSE },
  { "openh264enc", "h264parse", { "rate-control", "off" }, TRUE },
  { "avenc_mpeg4", NULL, { "pass", "quant", "quantizer", "3" }, FALSE },
};

struct _SlVideoFile
{
  char *redact; /* (nullable) */
  char *path, *part;
  guint encoder; /* of encoders */
  GstElement *pipeline, *source;
  gint rate_n, rate_d;
  GstClockTime packet; /* where the encoder's next packet begins */
  GstClockTime begin, first,
    end; /* of the source at hand: on the time line, by its own timestamps; of all so far */
};

static gboolean
has_element (const char *name)
{
  g_autoptr (GstElementFactory) factory = name != NULL ? gst_element_factory_find (name) : NULL;
  return name == NULL || factory != NULL;
}

static gboolean
choose_encoder (SlVideoFile *video, GError **error)
{
  for (guint i = 0; has_element ("mp4mux") && i < G_N_ELEMENTS (encoders); i++)
    if (has_element (encoders[i].name) && has_element (encoders[i].parser)) {
      video->encoder = i;
      return TRUE;
    }
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "--draw %s: GStreamer has %s; install %s, or draw pictures (.png, .jpg)", video->path,
    has_element ("mp4mux") ? "no encoder for videos in MP4 (x264enc, openh264enc or avenc_mpeg4)"
                           : "no element 'mp4mux'",
    has_element ("mp4mux")
      ? "one (Debian: gstreamer1.0-plugins-ugly, gstreamer1.0-plugins-bad or gstreamer1.0-libav)"
      : "its good plugins (Debian: gstreamer1.0-plugins-good)");
}

SlVideoFile *
sl_video_file_new (const char *path, const char *redact, GError **error)
{
  SlVideoFile *video = g_new0 (SlVideoFile, 1);
  video->path = g_strdup (path);
  video->redact = g_strdup (redact);
  video->part = g_strconcat (path, ".part", NULL);
  video->first = GST_CLOCK_TIME_NONE;
  if (choose_encoder (video, error))
    return video;
  sl_video_file_free (video);
  return NULL;
}

/* What was written of the file goes, too. */
static void
drop_pipeline (SlVideoFile *video)
{
  if (video->pipeline != NULL) {
    gst_element_set_state (video->pipeline, GST_STATE_NULL);
    g_unlink (video->part);
  }
  gst_clear_object (&video->pipeline);
}

void
sl_video_file_free (SlVideoFile *video)
{
  if (video == NULL)
    return;
  drop_pipeline (video);
  g_free (video->path);
  g_free (video->redact);
  g_free (video->part);
  g_free (video);
}

void
sl_video_file_next_source (SlVideoFile *video)
{
  video->begin = video->end;
  video->first = GST_CLOCK_TIME_NONE;
}

/* @width, @height: made even, which the encoders' chroma needs, and no larger than they take. */
static void
fit_size (gint *width, gint *height)
{
  const double longest = MAX (*width, *height), shortest = MIN (*width, *height);
  const double scale = MIN (1, MIN (LONGEST_SIDE / longest, SHORTEST_SIDE / shortest));
  *width = MAX (2, (gint) (*width * scale + 1) / 2 * 2);
  *height = MAX (2, (gint) (*height * scale + 1) / 2 * 2);
}

static GstPadProbeReturn
end_behind (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  if (GST_EVENT_TYPE (event) != GST_EVENT_EOS)
    return GST_PAD_PROBE_OK;
  g_autoptr (GstPad) source = gst_element_get_static_pad (GST_PAD_PARENT (pad), "src");
  gst_pad_push_event (source, gst_event_ref (event));
  return GST_PAD_PROBE_DROP;
}

/* GStreamer 1.22's avenc_mpeg4 loses timestamps, and keeps durations. Its frames come in order, at
 * one rate, from the beginning. */
static GstPadProbeReturn
stamp_packet (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlVideoFile *video = data;
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) == 0) {
    const GstSegment *segment = NULL;
    if (GST_EVENT_TYPE (info->data) == GST_EVENT_SEGMENT)
      gst_event_parse_segment (info->data, &segment);
    video->packet = segment != NULL ? segment->start : video->packet;
    return GST_PAD_PROBE_OK;
  }
  GstBuffer *packet = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_DATA (info) = packet;
  if (GST_BUFFER_PTS (packet) > G_MAXINT64) /* none, or libav's */
    GST_BUFFER_PTS (packet) = GST_BUFFER_DTS (packet) = video->packet;
  if (GST_BUFFER_DURATION_IS_VALID (packet))
    video->packet = GST_BUFFER_PTS (packet) + GST_BUFFER_DURATION (packet);
  return GST_PAD_PROBE_OK;
}

static void
set_up (SlVideoFile *video, GstElement *filter, GstElement *encoder, const GstVideoInfo *info)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  fit_size (&width, &height);
  g_autoptr (GstCaps) caps =
    gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "I420", "width", G_TYPE_INT, width,
                         "height", G_TYPE_INT, height, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1,
                         1, "framerate", GST_TYPE_FRACTION, video->rate_n, video->rate_d, NULL);
  /* One for all frames: encoders begin anew where it changes, which the file's format does not
   * take. */
  g_autofree char *colorimetry =
    GST_VIDEO_INFO_IS_YUV (info) ? gst_video_colorimetry_to_string (&info->colorimetry) : NULL;
  gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING,
                       colorimetry != NULL ? colorimetry : "bt601", "chroma-site", G_TYPE_STRING,
                       "mpeg2", "interlace-mode", G_TYPE_STRING, "progressive", NULL);
  g_object_set (filter, "caps", caps, NULL);
  const char *const *settings = encoders[video->encoder].settings;
  for (guint i = 0; i < G_N_ELEMENTS (encoders[0].settings) && settings[i] != NULL; i += 2)
    gst_util_set_object_arg (G_OBJECT (encoder), settings[i], settings[i + 1]);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (encoder, "sink"),
                     packets = gst_element_get_static_pad (encoder, "src");
  gst_pad_add_probe (packets, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                     stamp_packet, video, NULL);
  if (encoders[video->encoder].at_once)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, end_behind, NULL, NULL);
}

static gboolean
build (SlVideoFile *video, const GstVideoInfo *info, GError **error)
{
  enum
  {
    SCALE = 1,
    FILTER = 3,
    ENCODER = 4,
    SINK = 7
  };
  const char *const names[] = { "videoconvert",
                                "videoscale",
                                "videorate",
                                "capsfilter",
                                encoders[video->encoder].name,
                                encoders[video->encoder].parser,
                                "mp4mux",
                                "filesink" };
  GstElement *made[G_N_ELEMENTS (names)] = { NULL };
  video->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstBin *bin = GST_BIN (video->pipeline);
  video->source = sl_make_element (bin, "appsrc", error);
  GstElement *last = video->source != NULL ? sl_make_drawing (bin, video->redact, error) : NULL;
  if (last == NULL || !gst_element_link (video->source, last))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (names[i] == NULL)
      continue;
    made[i] = sl_make_element (bin, names[i], error);
    if (made[i] == NULL)
      return FALSE;
    if (i == ENCODER)
      set_up (video, made[FILTER], made[ENCODER], info);
    if (!gst_element_link (last, made[i]))
      return FALSE;
    last = made[i];
  }
  g_object_set (video->source, "format", GST_FORMAT_TIME, NULL);
  g_object_set (made[SCALE], "add-borders", TRUE, NULL);
  g_object_set (made[SINK], "location", video->part, "sync", FALSE, "async", FALSE, NULL);
  return gst_element_set_state (video->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

/* FALSE, with the first error on the bus in @error, when there is one; waits for it up to @wait. */
static gboolean
check (SlVideoFile *video, GstClockTime wait, GError **error)
{
  if (!sl_bus_take_error (video->pipeline, wait, NULL, error))
    return TRUE;
  return sl_fail_prefix (error, "--draw %s: ", video->path);
}

static gboolean
start (SlVideoFile *video, GstSample *frame, gboolean moving, GError **error)
{
  GstVideoInfo info;
  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (frame)))
    return sl_fail (error, SL_ERROR_FORMAT, "--draw %s: the result is no video frame", video->path);
  const gboolean stated = GST_VIDEO_INFO_FPS_N (&info) > 0 && GST_VIDEO_INFO_FPS_D (&info) > 0;
  video->rate_n = stated ? GST_VIDEO_INFO_FPS_N (&info) : moving ? CAMERA_RATE : PICTURE_RATE;
  video->rate_d = stated ? GST_VIDEO_INFO_FPS_D (&info) : 1;
  GError *missing = NULL;
  if (build (video, &info, &missing))
    return TRUE;
  if (missing == NULL)
    sl_bus_take_refusal (video->pipeline, "the drawing pipeline", NULL, &missing);
  g_propagate_prefixed_error (error, missing, "--draw %s: ", video->path);
  return FALSE;
}

/* When a frame of @time, as its source counts, is shown. */
static GstClockTime
time_of (SlVideoFile *video, GstClockTime time)
{
  if (!GST_CLOCK_TIME_IS_VALID (video->first))
    video->first = time;
  return GST_CLOCK_TIME_IS_VALID (time) && time >= video->first ? video->begin + time - video->first
                                                                : video->end;
}

/* Hands on @frame, to be shown at @time, and waits while enough are in line. */
static gboolean
push (SlVideoFile *video, GstSample *frame, GstClockTime time, GstClockTime step, GError **error)
{
  GstSegment segment;
  GstBuffer *buffer = gst_buffer_copy (gst_sample_get_buffer (frame));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  GST_BUFFER_PTS (buffer) = time;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (buffer) = step;
  video->end = MAX (video->end, time + step);
  g_autoptr (GstCaps) caps = gst_caps_copy (gst_sample_get_caps (frame));
  gst_structure_remove_fields (gst_caps_get_structure (caps, 0), "multiview-mode",
                               "multiview-flags", NULL); /* some sources state them */
  GstSample *sample = gst_sample_new (buffer, caps, &segment, NULL);
  gst_app_src_push_sample (GST_APP_SRC (video->source), sample);
  gst_sample_unref (sample);
  gst_buffer_unref (buffer);
  gboolean good = check (video, 0, error);
  while (good && !sl_interrupted ()
         && gst_app_src_get_current_level_buffers (GST_APP_SRC (video->source)) >= MAX_WAITING)
    good = check (video, WAIT, error);
  return good;
}

gboolean
sl_video_file_write (SlVideoFile *video, GstSample *frame, gboolean moving, GError **error)
{
  if (video->pipeline == NULL && !start (video, frame, moving, error)) {
    drop_pipeline (video);
    return FALSE;
  }
  const GstClockTime step =
    gst_util_uint64_scale (GST_SECOND, (guint64) video->rate_d, (guint64) video->rate_n);
  const GstClockTime shown =
    moving ? time_of (video, GST_BUFFER_PTS (gst_sample_get_buffer (frame))) : video->end;
  gboolean good = push (video, frame, shown, step, error);
  for (GstClockTime later = step; good && !moving && later + step / 2 < PICTURE_TIME; later += step)
    good = push (video, frame, shown + later, step, error);
  return good;
}

gboolean
sl_video_file_finish (SlVideoFile *video, GError **error)
{
  if (video->pipeline == NULL)
    return TRUE;
  gst_app_src_end_of_stream (GST_APP_SRC (video->source));
  if (!sl_bus_wait_for_end (video->pipeline, GST_CLOCK_TIME_NONE, error))
    return sl_fail_prefix (error, "--draw %s: ", video->path);
  gst_element_set_state (video->pipeline, GST_STATE_NULL);
  gst_clear_object (&video->pipeline);
  if (g_rename (video->part, video->path) == 0)
    return TRUE;
  sl_fail (error, SL_ERROR_OPEN, "--draw %s: cannot be written: %s", video->path,
           g_strerror (errno));
  g_unlink (video->part);
  return FALSE;
}
