/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One pipeline a source: uridecodebin ! videoconvert ! appsink. The sink takes only formats that the preprocessor
 * reads, so videoconvert passes buffers through untouched wherever the decoder's format is one of them.
 */
#include "tools/frames.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <string.h>

#include "core/error.h"
#include "tools/interrupt.h"

/* Decoded frames that may wait: decoding goes on while the model runs. */
#define MAX_WAITING 2
#define POLL_INTERVAL (100 * GST_MSECOND)

struct _SlFrames
{
  GstElement *pipeline, *convert, *sink;
  GstBus *bus;
  char *path;        /* (nullable): of a local file */
  char *missing;     /* (nullable): what no decoder was found for */
  char *warning;     /* (nullable): last complaint of a decoder that went on */
  guint64 delivered; /* frames */
  guint64 duration;
  gint64 asked; /* when the duration was last asked for, in us */
};

GstElement *
sl_make_element (GstBin *bin, const char *factory, GError **error)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  if (element == NULL)
    g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
                 "GStreamer has no element '%s': install its base plugins (Debian: gstreamer1.0-plugins-base)", factory);
  else
    gst_bin_add (bin, element);
  return element;
}

GError *
sl_bus_error (GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *debug = NULL;
  gst_message_parse_error (message, &error, &debug);
  const char *reason = debug != NULL ? strstr (debug, "reason ") : NULL;
  if (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) && reason != NULL)
    return g_error_new (error->domain, error->code, "%s (%s)", error->message, reason + strlen ("reason "));
  /* Where the message itself is general, the last line of the details says why. */
  const char *why = debug != NULL ? strrchr (debug, '\n') : NULL;
  if (why != NULL && why[1] != '\0' && strcmp (why + 1, error->message) != 0)
    return g_error_new (error->domain, error->code, "%s (%s)", error->message, why + 1);
  return g_steal_pointer (&error);
}

static void
pad_added (GstElement *decoder, GstPad *pad, gpointer data)
{
  SlFrames *frames = data;
  g_autoptr (GstPad) sink = gst_element_get_static_pad (frames->convert, "sink");
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, NULL);
  if (!gst_pad_is_linked (sink) && !gst_caps_is_empty (caps) && !gst_caps_is_any (caps)
      && g_str_has_prefix (gst_structure_get_name (gst_caps_get_structure (caps, 0)), "video/"))
    gst_pad_link (pad, sink);
}

static void
no_more_pads (GstElement *decoder, gpointer data)
{
  SlFrames *frames = data;
  g_autoptr (GstPad) sink = gst_element_get_static_pad (frames->convert, "sink");
  if (!gst_pad_is_linked (sink))
    gst_element_post_message (decoder, gst_message_new_application (GST_OBJECT (decoder), gst_structure_new_empty ("no-video")));
}

/* GStreamer's JPEG decoder defaults to a fast inverse DCT that darkens chroma by half a code; models were trained on
 * the accurate one. */
static void
element_added (GstBin *bin, GstBin *sub_bin, GstElement *element, gpointer data)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  if (factory != NULL && g_str_equal (GST_OBJECT_NAME (factory), "jpegdec"))
    gst_util_set_object_arg (G_OBJECT (element), "idct-method", "islow");
}

static gboolean
check_scheme (const char *uri, GError **error)
{
  g_autofree char *scheme = gst_uri_get_protocol (uri);
  if (gst_uri_protocol_is_supported (GST_URI_SRC, scheme))
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
               "GStreamer has no element that reads '%s://'; expected a path, file://, http://, https://, rtsp:// or v4l2://, and for the "
               "last four that their plugins are installed (Debian: gstreamer1.0-plugins-good)",
               scheme);
  return FALSE;
}

/* Complains about paths early and in plain words; GStreamer's own come late and vary with the version. */
static char *
source_uri (const char *source, GError **error)
{
  GStatBuf status;
  g_autofree char *local = NULL;
  if (g_stat (source, &status) != 0) {
    int missing = errno;
    if (!gst_uri_is_valid (source) || strstr (source, ":/") == NULL) {
      g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "%s; expected a picture, a video or a URI%s",
                   missing == ENOENT ? "no such file, check the path" : g_strerror (missing),
                   g_str_equal (source, "-") ? "; standard input is /dev/stdin" : "");
      return NULL;
    }
    if (!gst_uri_has_protocol (source, "file"))
      return check_scheme (source, error) ? g_strdup (source) : NULL;
    local = g_filename_from_uri (source, NULL, error);
    return local != NULL ? source_uri (local, error) : NULL;
  }
  if (S_ISDIR (status.st_mode))
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "expected a picture or video, got a directory: name the files in it");
  else if (S_ISREG (status.st_mode) && status.st_size == 0)
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "the file is empty; expected a picture or video");
  else if (g_access (source, R_OK) != 0)
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "%s; expected a file that may be read", g_strerror (errno));
  else
    return gst_filename_to_uri (source, error);
  return NULL;
}

static gboolean
build (SlFrames *frames, const char *uri, GstCaps *caps, GError **error)
{
  GstBin *bin;
  frames->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  frames->bus = gst_element_get_bus (frames->pipeline);
  bin = GST_BIN (frames->pipeline);
  GstElement *decoder = sl_make_element (bin, "uridecodebin", error);
  frames->convert = decoder != NULL ? sl_make_element (bin, "videoconvert", error) : NULL;
  frames->sink = frames->convert != NULL ? sl_make_element (bin, "appsink", error) : NULL;
  if (frames->sink == NULL)
    return FALSE;
  g_autoptr (GstCaps) video = gst_caps_from_string ("video/x-raw(ANY)");
  g_object_set (decoder, "uri", uri, "caps", video, "expose-all-streams", FALSE, NULL);
  g_object_set (frames->sink, "caps", caps, "sync", FALSE, "max-buffers", MAX_WAITING, "enable-last-sample", FALSE, NULL);
  g_signal_connect (decoder, "pad-added", G_CALLBACK (pad_added), frames);
  g_signal_connect (frames->pipeline, "deep-element-added", G_CALLBACK (element_added), NULL);
  g_signal_connect (decoder, "no-more-pads", G_CALLBACK (no_more_pads), frames);
  return gst_element_link (frames->convert, frames->sink);
}

SlFrames *
sl_frames_open (const char *source, GstCaps *caps, GError **error)
{
  g_autofree char *uri = source_uri (source, error);
  if (uri == NULL)
    return NULL;
  g_autoptr (SlFrames) frames = g_new0 (SlFrames, 1);
  if (gst_uri_has_protocol (uri, "file"))
    frames->path = g_filename_from_uri (uri, NULL, NULL);
  if (!build (frames, uri, caps, error))
    return NULL;
  /* Live sources are not waited for: the newest frame counts. */
  if (gst_element_set_state (frames->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_NO_PREROLL)
    g_object_set (frames->sink, "drop", TRUE, "max-buffers", 1, NULL);
  return g_steal_pointer (&frames);
}

void
sl_frames_close (SlFrames *frames)
{
  if (frames == NULL)
    return;
  if (frames->pipeline != NULL)
    gst_element_set_state (frames->pipeline, GST_STATE_NULL);
  gst_clear_object (&frames->bus);
  gst_clear_object (&frames->pipeline);
  g_free (frames->path);
  g_free (frames->missing);
  g_free (frames->warning);
  g_free (frames);
}

static void
set_no_decoder (SlFrames *frames, GError **error)
{
  g_set_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED,
               "cannot be decoded: no %s is installed; install a GStreamer plugin that has one (Debian: gstreamer1.0-plugins-good "
               "for PNG, JPEG and most containers, gstreamer1.0-libav for most codecs)",
               frames->missing);
}

static void
set_no_video (SlFrames *frames, GError **error)
{
  if (frames->missing != NULL)
    set_no_decoder (frames, error);
  else
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "has no video in it");
}

/* Turns GStreamer's errors into what the user can act on. */
static void
set_decode_error (SlFrames *frames, GstMessage *message, GError **error)
{
  g_autoptr (GError) cause = sl_bus_error (message);
  if (frames->missing != NULL)
    set_no_decoder (frames, error);
  else if (g_error_matches (cause, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN))
    set_no_video (frames, error); /* there is a decoder for all that is in it, and none of it is video */
  else if (g_error_matches (cause, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND))
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "is no picture or video that GStreamer knows, or is damaged at its start");
  else if (frames->delivered > 0)
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "decoding stopped after %" G_GUINT64_FORMAT " frames: %s", frames->delivered,
                 cause->message);
  else
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "cannot be %s: %s; %s",
                 cause->domain == GST_RESOURCE_ERROR || frames->path == NULL ? "read" : "decoded", cause->message,
                 frames->path != NULL ? "it is damaged or cut short"
                                      : "check the address, and that what it names is there and switched on");
}

/* FALSE with @error set when a message ends the source. */
static gboolean
read_messages (SlFrames *frames, GError **error)
{
  const GstMessageType types = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_ELEMENT | GST_MESSAGE_APPLICATION;
  GstMessage *message;
  gboolean going = TRUE;
  while (going && (message = gst_bus_pop_filtered (frames->bus, types)) != NULL) {
    const GstStructure *structure = gst_message_get_structure (message);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      set_decode_error (frames, message, error);
      going = FALSE;
    } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
      g_autoptr (GError) warning = NULL;
      gst_message_parse_warning (message, &warning, NULL);
      g_free (frames->warning);
      frames->warning = g_strdup (warning->message);
    } else if (gst_structure_has_name (structure, "missing-plugin")) {
      const char *name = gst_structure_get_string (structure, "name");
      g_free (frames->missing);
      frames->missing = g_strdup (name != NULL ? name : "decoder for it");
    } else if (gst_structure_has_name (structure, "no-video")) {
      set_no_video (frames, error);
      going = FALSE;
    }
    gst_message_unref (message);
  }
  return going;
}

/* Whether a JPEG file has no end of image behind the beginning of its pixels; decoders fill up with gray and say nothing. */
static gboolean
jpeg_is_cut_short (const char *path)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, NULL);
  const guint8 *bytes = file != NULL ? (const guint8 *) g_mapped_file_get_contents (file) : NULL;
  const gsize n = file != NULL ? g_mapped_file_get_length (file) : 0;
  gsize at = 2;
  if (n < 4 || bytes[0] != 0xff || bytes[1] != 0xd8)
    return FALSE;
  /* Segments before the pixels may hold a smaller picture with an end of its own. */
  while (at + 4 <= n && bytes[at] == 0xff && bytes[at + 1] != 0xda)
    at += bytes[at + 1] == 0xff ? 1 : 2 + (gsize) (bytes[at + 2] << 8 | bytes[at + 3]);
  for (; at + 2 <= n; at++)
    if (bytes[at] == 0xff && bytes[at + 1] == 0xd9)
      return FALSE;
  return TRUE;
}

GstSample *
sl_frames_next (SlFrames *frames, GError **error)
{
  GstAppSink *sink = GST_APP_SINK (frames->sink);
  while (!sl_interrupted ()) {
    GstSample *sample = gst_app_sink_try_pull_sample (sink, POLL_INTERVAL);
    if (sample != NULL) {
      frames->delivered++;
      return sample;
    }
    if (!read_messages (frames, error))
      return NULL;
    if (!gst_app_sink_is_eos (sink))
      continue;
    if (frames->delivered > 0 && frames->path != NULL && jpeg_is_cut_short (frames->path))
      g_set_error (error, SL_ERROR, SL_ERROR_FORMAT,
                   "the JPEG picture is cut short: what is missing of it was gray to the model; get a new copy of the file");
    if (frames->delivered == 0)
      g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "cannot be decoded: %s",
                   frames->warning != NULL ? frames->warning : "no frame could be read; it is damaged or cut short");
    return NULL;
  }
  return NULL;
}

guint64
sl_frames_duration (SlFrames *frames)
{
  gint64 now = g_get_monotonic_time (), duration;
  if (frames->duration == 0 && now - frames->asked > G_USEC_PER_SEC) {
    frames->asked = now;
    if (gst_element_query_duration (frames->pipeline, GST_FORMAT_TIME, &duration) && duration > 0)
      frames->duration = (guint64) duration;
  }
  return frames->duration;
}
