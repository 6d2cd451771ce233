/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One pipeline a source: uridecodebin ! videoconvert ! deinterlace ! videoconvert ! appsink, or
 * slcamera ! appsink. The sink takes only formats that the preprocessor reads, so videoconvert
 * passes buffers through untouched wherever the decoder's format is one of them. deinterlace passes
 * progressive frames through, and makes one frame of two fields. A frame's orientation, which a tag
 * tells, is noted on the frame when it comes to the sink, since there it may have to wait.
 */
#include "tools/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/base/gstbasesrc.h>
#include <unistd.h>

#include "core/base/byte_order.h"
#include "core/base/decoder_memory.h"
#include "pipelines/supervise/bus.h"
#include "plugins/camera/demux.h"
#include "plugins/camera/intact.h"
#include "plugins/camera/messages.h"
#include "plugins/camera/source.h"
#include "plugins/video/input.h"
#include "core/base/fail.h"
#include "tools/mp4_range.h"
#include "tools/picture_file.h"
#include "tools/predict/camera.h"

/* Decoded frames that may wait: decoding goes on while the model runs. */
#define MAX_WAITING 2
#define ASK_EVERY G_USEC_PER_SEC

struct _SlFrames
{
  GstElement *pipeline, *decoder, *first, *sink; /* first: what the decoder's pad is linked to */
  SlPictureFile *picture;                        /* (nullable): in place of a pipeline */
  gboolean camera;
  GstElement *source; /* (nullable): the slcamera */
  gboolean is_mjpeg;  /* the server at the address sends pictures without end, as cameras do */
  guint connect_ms;
  char *uri;
  int file;            /* of a pipe or device, else -1 */
  char *path;          /* (nullable): of a regular file */
  gboolean full_range; /* that is an MP4 file which says so */
  char *colours;       /* (nullable): of it, for what its stream does not state */
  char *missing;       /* (nullable): what no decoder was found for */
  char *warning;       /* (nullable): last complaint of a decoder that went on */
  char *note;          /* (nullable): of a camera, for the user */
  GError *failure;     /* (nullable): what a message said that ends the source */
  guint64 delivered;   /* frames */
  guint64 duration;
  gint64 asked;     /* when the duration was last asked for, in us */
  gboolean looked;  /* at the first bytes of what no path leads to; its streaming thread */
  gint moves;       /* atomic: buffers that were read or came to the sink */
  gint64 waited;    /* us for the frame that is to come */
  SlIntact *intact; /* of the decoders */
  SlIntactCounts told;
  gint orientation; /* GstVideoOrientationMethod of the frames that come to the sink; its streaming
                       thread */
};

GstElement *
sl_make_element (GstBin *bin, const char *factory, GError **error)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
  if (element == NULL)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "GStreamer has no element '%s': install its base plugins (Debian: gstreamer1.0-plugins-base)",
      factory);
  else
    gst_bin_add (bin, element);
  return element;
}

static gboolean
is_local (const SlFrames *frames)
{
  return frames->path != NULL || frames->file >= 0;
}

static void
pad_added (GstElement *decoder, GstPad *pad, gpointer data)
{
  SlFrames *frames = data;
  g_autoptr (GstPad) sink = gst_element_get_static_pad (frames->first, "sink");
  g_autoptr (GstCaps) caps = gst_pad_query_caps (pad, NULL);
  if (!gst_pad_is_linked (sink) && !gst_caps_is_empty (caps) && !gst_caps_is_any (caps)
      && g_str_has_prefix (gst_structure_get_name (gst_caps_get_structure (caps, 0)), "video/"))
    gst_pad_link (pad, sink);
}

static void
no_more_pads (GstElement *decoder, gpointer data)
{
  SlFrames *frames = data;
  g_autoptr (GstPad) sink = gst_element_get_static_pad (frames->first, "sink");
  if (!gst_pad_is_linked (sink))
    gst_element_post_message (
      decoder,
      gst_message_new_application (GST_OBJECT (decoder), gst_structure_new_empty ("no-video")));
}

/* The caps of an event of caps become others: with @colours, without any where that is NULL. */
static void
replace_colours (GstPadProbeInfo *info, const GstCaps *caps, const char *colours)
{
  g_autoptr (GstCaps) copy = gst_caps_copy (caps);
  if (colours != NULL)
    gst_caps_set_simple (copy, "colorimetry", G_TYPE_STRING, colours, NULL);
  else
    gst_structure_remove_field (gst_caps_get_structure (copy, 0), "colorimetry");
  gst_event_unref (GST_PAD_PROBE_INFO_EVENT (info));
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_caps (copy);
}

/* GStreamer 1.22 loses the range that the colr box of MP4 states, and decoders believe its demuxer
 * more than the stream. Without a range the stream's own counts. Where the box states full range,
 * no colours leave the demuxer, so that the parser tells those of the stream. */
static GstPadProbeReturn
forget_range (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlFrames *frames = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstVideoColorimetry colours = { 0 };
  GstCaps *caps;
  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  const GstStructure *video = gst_caps_get_structure (caps, 0);
  const char *text = gst_structure_get_string (video, "colorimetry");
  const gboolean stated = text != NULL && gst_video_colorimetry_from_string (&colours, text);
  if (frames->full_range && g_str_has_prefix (gst_structure_get_name (video), "video/")) {
    colours.range = GST_VIDEO_COLOR_RANGE_0_255;
    g_free (frames->colours);
    frames->colours = gst_video_colorimetry_to_string (&colours);
    replace_colours (info, caps, NULL);
  } else if (stated && colours.range == GST_VIDEO_COLOR_RANGE_16_235) {
    colours.range = GST_VIDEO_COLOR_RANGE_UNKNOWN;
    g_autofree char *open = gst_video_colorimetry_to_string (&colours);
    replace_colours (info, caps, open);
  }
  return GST_PAD_PROBE_OK;
}

/* Behind a parser: what the stream does not state is what the file states. */
static GstPadProbeReturn
recall_range (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const SlFrames *frames = data;
  GstCaps *caps;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) != GST_EVENT_CAPS || frames->colours == NULL)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
  const GstStructure *video = gst_caps_get_structure (caps, 0);
  if (g_str_has_prefix (gst_structure_get_name (video), "video/")
      && !gst_structure_has_field (video, "colorimetry"))
    replace_colours (info, caps, frames->colours);
  return GST_PAD_PROBE_OK;
}

static void
demuxer_pad_added (GstElement *demuxer, GstPad *pad, gpointer data)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, forget_range, data, NULL);
}

static void
watch_parser (SlFrames *frames, GstElement *parser)
{
  g_autoptr (GstPad) source = gst_element_get_static_pad (parser, "src");
  if (frames->full_range && source != NULL)
    gst_pad_add_probe (source, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, recall_range, frames, NULL);
}

/* Pictures without end, of a server that does not say so: the newest counts, as of a camera. */
static void
begin_pictures (SlFrames *frames)
{
  g_autoptr (GstElement) source = NULL;
  if (is_local (frames))
    return;
  g_object_get (frames->decoder, "source", &source, NULL);
  if (source != NULL && GST_IS_BASE_SRC (source))
    gst_base_src_set_do_timestamp (GST_BASE_SRC (source), TRUE);
  g_object_set (frames->sink, "drop", TRUE, "max-buffers", 1, NULL);
}

/* GStreamer's JPEG decoder defaults to a fast inverse DCT that darkens chroma by half a code;
 * models were trained on the accurate one. */
static void
element_added (GstBin *bin, GstBin *sub_bin, GstElement *element, gpointer data)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  sl_decoder_use_own_memory (element);
  if (factory != NULL && g_str_equal (GST_OBJECT_NAME (factory), "slcameraparts"))
    begin_pictures (data);
  if (factory != NULL && g_str_equal (GST_OBJECT_NAME (factory), "jpegdec"))
    gst_util_set_object_arg (G_OBJECT (element), "idct-method", "islow");
  if (factory != NULL && g_str_equal (GST_OBJECT_NAME (factory), "qtdemux"))
    g_signal_connect (element, "pad-added", G_CALLBACK (demuxer_pad_added), data);
  if (factory != NULL
      && gst_element_factory_list_is_type (factory, GST_ELEMENT_FACTORY_TYPE_PARSER))
    watch_parser (data, element);
}

/* What the decoder leaves open of its colours, for all elements behind it. */
static GstPadProbeReturn
complete_caps (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;
  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  g_autoptr (GstCaps) complete = sl_video_input_complete (caps);
  if (complete != caps) {
    GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_caps (complete);
    gst_event_unref (event);
  }
  return GST_PAD_PROBE_OK;
}

static GQuark
orientation_quark (void)
{
  return g_quark_from_static_string ("sl-orientation");
}

/* Whether the picture that begins with @buffer, of a pipe or a network, can be decoded as it comes.
 */
static gboolean
check_stream (GstBuffer *buffer, GError **error)
{
  GstMapInfo map;
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return TRUE;
  const SlPictureHeader header = sl_picture_header_read (map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  return sl_picture_header_check (&header, error) && sl_picture_file_check_stream (&header, error);
}

static GstPadProbeReturn
buffer_read (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlFrames *frames = data;
  g_autoptr (GError) error = NULL;
  g_atomic_int_inc (&frames->moves);
  if (frames->path != NULL || frames->looked || (info->type & GST_PAD_PROBE_TYPE_BUFFER) == 0)
    return GST_PAD_PROBE_OK;
  frames->looked = TRUE;
  if (check_stream (GST_PAD_PROBE_INFO_BUFFER (info), &error))
    return GST_PAD_PROBE_OK;
  gst_element_post_message (
    frames->sink, gst_message_new_application (
                    GST_OBJECT (frames->sink),
                    gst_structure_new ("refused", "problem", G_TYPE_STRING, error->message, NULL)));
  return GST_PAD_PROBE_DROP;
}

static GstPadProbeReturn
frame_made (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlFrames *frames = data;
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0) {
    gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (info->data), orientation_quark (),
                               GINT_TO_POINTER (frames->orientation), NULL);
    g_atomic_int_inc (&frames->moves);
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_STREAM_START) {
    frames->orientation = GST_VIDEO_ORIENTATION_IDENTITY;
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_TAG) {
    GstTagList *tags;
    GstVideoOrientationMethod method;
    gst_event_parse_tag (info->data, &tags);
    if (gst_video_orientation_from_tag (tags, &method))
      frames->orientation = method;
  }
  return GST_PAD_PROBE_OK;
}

/* What a server says it sends, in an event before its first bytes. */
static GstPadProbeReturn
look_for_mjpeg (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlFrames *frames = data;
  if (!sl_camera_type_is_mjpeg (sl_camera_content_type (GST_PAD_PROBE_INFO_EVENT (info))))
    return GST_PAD_PROBE_OK;
  gst_element_post_message (
    frames->sink,
    gst_message_new_application (GST_OBJECT (frames->sink), gst_structure_new_empty ("mjpeg")));
  return GST_PAD_PROBE_DROP;
}

static void
source_setup (GstElement *decoder, GstElement *source, gpointer data)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (source, "src");
  if (pad == NULL)
    return;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, buffer_read,
                     data, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look_for_mjpeg, data, NULL);
}

static gboolean
add_sink (SlFrames *frames, guint waiting, GError **error)
{
  frames->sink = sl_make_element (GST_BIN (frames->pipeline), "appsink", error);
  if (frames->sink == NULL)
    return FALSE;
  g_autoptr (GstCaps) caps = gst_caps_from_string (GST_VIDEO_CAPS_MAKE (SL_VIDEO_INPUT_FORMATS));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (frames->sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                     frame_made, frames, NULL);
  g_object_set (frames->sink, "caps", caps, "sync", FALSE, "max-buffers", waiting,
                "enable-last-sample", FALSE, NULL);
  return TRUE;
}

/* The last of them; NULL with @error set. Without deinterlace progressive video is decoded all the
 * same. */
static GstElement *
add_converters (SlFrames *frames, GError **error)
{
  GstBin *bin = GST_BIN (frames->pipeline);
  GstElement *deinterlace = gst_element_factory_make ("deinterlace", NULL);
  frames->first = sl_make_element (bin, "videoconvert", error);
  if (frames->first != NULL) {
    g_autoptr (GstPad) sink = gst_element_get_static_pad (frames->first, "sink");
    gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, complete_caps, NULL, NULL);
  }
  if (deinterlace == NULL || frames->first == NULL) {
    g_clear_pointer (&deinterlace, gst_object_unref);
    return frames->first;
  }
  gst_bin_add (bin, deinterlace);
  gst_util_set_object_arg (G_OBJECT (deinterlace), "mode", "auto-strict");
  gst_util_set_object_arg (G_OBJECT (deinterlace), "fields", "top");
  GstElement *last = sl_make_element (bin, "videoconvert", error);
  return last != NULL && gst_element_link_many (frames->first, deinterlace, last, NULL) ? last
                                                                                        : NULL;
}

static gboolean
build_decoder (SlFrames *frames, GError **error)
{
  GstBin *bin = GST_BIN (frames->pipeline);
  sl_camera_demux_register ();
  GstElement *decoder = frames->decoder = sl_make_element (bin, "uridecodebin", error);
  GstElement *last = decoder != NULL ? add_converters (frames, error) : NULL;
  if (last == NULL || !add_sink (frames, MAX_WAITING, error))
    return FALSE;
  g_autoptr (GstCaps) video = gst_caps_from_string ("video/x-raw(ANY)");
  g_object_set (decoder, "uri", frames->uri, "caps", video, "expose-all-streams", FALSE, NULL);
  g_signal_connect (decoder, "pad-added", G_CALLBACK (pad_added), frames);
  g_signal_connect (frames->pipeline, "deep-element-added", G_CALLBACK (element_added), frames);
  sl_intact_watch (frames->intact, bin);
  g_signal_connect (decoder, "no-more-pads", G_CALLBACK (no_more_pads), frames);
  g_signal_connect (decoder, "source-setup", G_CALLBACK (source_setup), frames);
  return gst_element_link (last, frames->sink);
}

static gboolean
build_camera (SlFrames *frames, GError **error)
{
  if (frames->source == NULL)
    frames->source = gst_object_ref_sink (sl_camera_new (frames->uri, frames->connect_ms));
  gst_bin_add (GST_BIN (frames->pipeline), frames->source);
  return add_sink (frames, 1, error) && gst_element_link (frames->source, frames->sink);
}

static void
drop_pipeline (SlFrames *frames)
{
  if (frames->pipeline != NULL)
    gst_element_set_state (frames->pipeline, GST_STATE_NULL);
  gst_clear_object (&frames->pipeline);
}

static gboolean
start (SlFrames *frames, GError **error)
{
  frames->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  if (!(frames->camera ? build_camera (frames, error) : build_decoder (frames, error)))
    return FALSE;
  /* Live sources are not waited for: the newest frame counts. Why one does not start is on the bus.
   */
  if (gst_element_set_state (frames->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_NO_PREROLL)
    g_object_set (frames->sink, "drop", TRUE, "max-buffers", 1, NULL);
  return TRUE;
}

/* GStreamer's file source opens a file more than once, at which a pipe loses what was written into
 * it. */
static gboolean
open_pipe (SlFrames *frames, GError **error)
{
  frames->file = g_open (frames->path, O_RDONLY | O_CLOEXEC, 0);
  if (frames->file < 0)
    return sl_fail (error, SL_ERROR_OPEN, "cannot be read: %s", g_strerror (errno));
  g_free (frames->uri);
  frames->uri = g_strdup_printf ("fd://%d", frames->file);
  g_clear_pointer (&frames->path, g_free);
  return TRUE;
}

/* FALSE with @error set where the file at the path is a picture that is not decoded, or not by what
 * is to decode it. */
static gboolean
open_picture (SlFrames *frames, GError **error)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (frames->path, FALSE, NULL);
  const guint8 *bytes = file != NULL ? (const guint8 *) g_mapped_file_get_contents (file) : NULL;
  if (bytes == NULL)
    return TRUE; /* GStreamer says why */
  frames->full_range = sl_mp4_is_full_range (bytes, g_mapped_file_get_length (file));
  const SlPictureHeader header = sl_picture_header_read (bytes, g_mapped_file_get_length (file));
  if (!sl_picture_header_check (&header, error))
    return FALSE;
  if (!sl_picture_file_takes (&header))
    return TRUE;
  frames->picture =
    sl_picture_file_open (&header, frames->path, bytes, g_mapped_file_get_length (file), error);
  return frames->picture != NULL;
}

SlFrames *
sl_frames_open (const char *uri, gboolean camera, guint connect_ms, GError **error)
{
  g_autoptr (SlFrames) frames = g_new0 (SlFrames, 1);
  frames->uri = g_strdup (uri);
  frames->camera = camera;
  frames->connect_ms = connect_ms;
  frames->file = -1;
  frames->intact = sl_intact_new ();
  if (!camera && gst_uri_has_protocol (uri, "file"))
    frames->path = g_filename_from_uri (uri, NULL, NULL);
  if (frames->path != NULL && !g_file_test (frames->path, G_FILE_TEST_IS_REGULAR)
      && !open_pipe (frames, error))
    return NULL;
  if (frames->path != NULL && !open_picture (frames, error))
    return NULL;
  return frames->picture != NULL || start (frames, error) ? g_steal_pointer (&frames) : NULL;
}

SlFrames *
sl_frames_open_camera (GstElement *camera, const char *uri, GError **error)
{
  g_autoptr (SlFrames) frames = g_new0 (SlFrames, 1);
  frames->uri = g_strdup (uri);
  frames->camera = TRUE;
  frames->source = gst_object_ref (camera);
  frames->intact = sl_intact_new ();
  frames->file = -1;
  return start (frames, error) ? g_steal_pointer (&frames) : NULL;
}

void
sl_frames_close (SlFrames *frames)
{
  if (frames == NULL)
    return;
  drop_pipeline (frames);
  g_clear_pointer (&frames->picture, sl_picture_file_close);
  gst_clear_object (&frames->source);
  if (frames->file >= 0)
    close (frames->file);
  g_free (frames->uri);
  g_free (frames->path);
  g_free (frames->colours);
  g_free (frames->missing);
  g_free (frames->warning);
  g_free (frames->note);
  g_clear_error (&frames->failure);
  sl_intact_unref (frames->intact);
  g_free (frames);
}

static void
set_no_decoder (SlFrames *frames, GError **error)
{
  sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "cannot be decoded: no %s is installed; install a GStreamer plugin that has one (Debian: "
    "gstreamer1.0-plugins-good for PNG, JPEG and most containers, gstreamer1.0-libav for most "
    "codecs)",
    frames->missing);
}

static void
set_no_video (SlFrames *frames, GError **error)
{
  if (frames->missing != NULL)
    set_no_decoder (frames, error);
  else
    sl_fail (error, SL_ERROR_FORMAT, "has no video in it");
}

static void
set_read_error (SlFrames *frames, const GError *cause, GError **error)
{
  g_autofree char *reason = g_error_matches (cause, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED)
                              ? sl_camera_unreachable (frames->uri)
                              : NULL;
  sl_fail (error, SL_ERROR_FORMAT, "cannot be %s: %s; %s",
           cause->domain == GST_RESOURCE_ERROR || !is_local (frames) ? "read" : "decoded",
           reason != NULL ? reason : cause->message,
           is_local (frames)
             ? "it is damaged or cut short"
             : "check the address, and that what it names is there and switched on");
}

/* Turns GStreamer's errors into what the user can act on. */
static void
set_decode_error (SlFrames *frames, const GError *cause, GError **error)
{
  if (frames->missing != NULL)
    set_no_decoder (frames, error);
  else if (g_error_matches (cause, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN))
    set_no_video (frames,
                  error); /* there is a decoder for all that is in it, and none of it is video */
  else if (g_error_matches (cause, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND))
    sl_fail (error, SL_ERROR_FORMAT, SL_CAMERA_UNKNOWN_TYPE);
  else if (frames->delivered > 0)
    sl_fail (error, SL_ERROR_FORMAT, "decoding stopped after %" G_GUINT64_FORMAT " frames: %s",
             frames->delivered, cause->message);
  else
    set_read_error (frames, cause, error);
}

static void
decoder_failed (gpointer data, const char *element, const GError *error)
{
  SlFrames *frames = data;
  set_decode_error (frames, error, &frames->failure);
}

static void
decoder_warned (gpointer data, const char *element, const GError *warning)
{
  SlFrames *frames = data;
  g_free (frames->warning);
  frames->warning = g_strdup (warning->message);
}

static void
decoder_posted (gpointer data, GstMessage *message)
{
  SlFrames *frames = data;
  const GstStructure *structure = gst_message_get_structure (message);
  if (gst_structure_has_name (structure, "missing-plugin")) {
    const char *name = gst_structure_get_string (structure, "name");
    g_free (frames->missing);
    frames->missing = g_strdup (name != NULL ? name : "decoder for it");
  } else if (gst_structure_has_name (structure, "mjpeg")) {
    frames->is_mjpeg = TRUE;
  } else if (gst_structure_has_name (structure, "refused")) {
    sl_fail (&frames->failure, SL_ERROR_UNSUPPORTED, "%s",
             gst_structure_get_string (structure, "problem"));
  } else if (gst_structure_has_name (structure, "no-video")) {
    set_no_video (frames, &frames->failure);
  }
}

/* Frames of a camera wait in the pipeline while its messages are read. */
static gboolean
has_begun (const SlFrames *frames)
{
  gint64 age = -1;
  g_object_get (frames->source, "last-frame-age", &age, NULL);
  return age >= 0;
}

/* slcamera tries for ever; somebody at a terminal wants to hear at once that an address is wrong.
 * So the first attempt that fails before any frame came is the end, and whatever happens later is
 * told and left to slcamera. */
static void
camera_posted (gpointer data, GstMessage *message)
{
  SlFrames *frames = data;
  if (!has_begun (frames))
    frames->failure = sl_camera_failed_attempt (message);
}

static void
camera_failed (gpointer data, const char *element, const GError *error)
{
  SlFrames *frames = data;
  frames->failure = sl_camera_error (error, frames->uri);
}

static void
camera_said (gpointer data, const char *element, const GError *said)
{
  SlFrames *frames = data;
  if (has_begun (frames))
    frames->note = sl_camera_note (said, frames->uri);
}

static const SlBusEvents decoder_events = { .failed = decoder_failed,
                                            .warned = decoder_warned,
                                            .posted = decoder_posted };
static const SlBusEvents camera_events = {
  .failed = camera_failed, .warned = camera_said, .informed = camera_said, .posted = camera_posted
};

/* FALSE with @error set when a message ends the source. */
static gboolean
read_messages (SlFrames *frames, GError **error)
{
  const SlBusEvents *events = frames->camera ? &camera_events : &decoder_events;
  while (frames->failure == NULL && !frames->is_mjpeg && frames->note == NULL
         && sl_bus_read (frames->pipeline, events, frames))
    ;
  if (frames->failure == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&frames->failure));
  return FALSE;
}

/* Whether a JPEG file has no end of image behind the beginning of its pixels; decoders fill up with
 * gray and say nothing. */
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
    at += bytes[at + 1] == 0xff ? 1 : 2 + sl_be16 (bytes + at + 2);
  for (; at + 2 <= n; at++)
    if (bytes[at] == 0xff && bytes[at + 1] == 0xd9)
      return FALSE;
  return TRUE;
}

static SlFramesStatus
end (SlFrames *frames, GError **error)
{
  SlIntactCounts counts;
  sl_intact_read (frames->intact, &counts);
  if (frames->delivered > 0 && frames->path != NULL && jpeg_is_cut_short (frames->path))
    sl_fail (
      error, SL_ERROR_FORMAT,
      "the JPEG picture is cut short: what is missing of it was gray to the model; get a new copy "
      "of the file");
  else if (frames->delivered == 0 && counts.early > 0)
    sl_fail (error, SL_ERROR_FORMAT,
             "cannot be decoded: none of its %" G_GUINT64_FORMAT
             " frames is a key frame, with which decoding begins; it is a part of a video",
             counts.early);
  else if (frames->delivered == 0)
    sl_fail (error, SL_ERROR_FORMAT, "cannot be decoded: %s",
             frames->warning != NULL ? frames->warning
                                     : "no frame could be read; it is damaged or cut short");
  else
    return SL_FRAMES_END;
  return SL_FRAMES_FAILED;
}

static gboolean
check_progressive (SlFrames *frames, GstSample *sample, GError **error)
{
  const char *mode = gst_structure_get_string (
    gst_caps_get_structure (gst_sample_get_caps (sample), 0), "interlace-mode");
  frames->delivered++;
  if (frames->camera || mode == NULL || g_str_equal (mode, "progressive"))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "the video is interlaced (interlace-mode=%s), and GStreamer has no element 'deinterlace': "
    "install its good plugins (Debian: gstreamer1.0-plugins-good)",
    mode);
}

/* A server may send no data for any time, or send data without video for ever. FALSE with @error
 * set once that took too long. slcamera has its own time limits. */
static gboolean
may_wait (SlFrames *frames, gint64 since, GError **error)
{
  frames->waited += g_get_monotonic_time () - since;
  if (frames->camera || is_local (frames) || frames->connect_ms == 0
      || frames->waited < frames->connect_ms * G_GINT64_CONSTANT (1000))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_OPEN,
    "given up: no frame for %u s (--timeout), %s; check the address, or give it longer",
    frames->connect_ms / 1000,
    sl_frames_moves (frames) > 0 ? "though data came" : "and no data came");
}

SlFramesStatus
sl_frames_pull (SlFrames *frames, guint ms, GstSample **sample, GError **error)
{
  const gint64 since = g_get_monotonic_time ();
  if (frames->picture != NULL) {
    *sample = sl_picture_file_next (frames->picture);
    return *sample != NULL ? SL_FRAMES_FRAME : SL_FRAMES_END;
  }
  *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (frames->sink), ms * GST_MSECOND);
  if (*sample != NULL) {
    frames->waited = 0;
    return check_progressive (frames, *sample, error) ? SL_FRAMES_FRAME : SL_FRAMES_FAILED;
  }
  if (!read_messages (frames, error))
    return SL_FRAMES_FAILED;
  if (frames->is_mjpeg) {
    drop_pipeline (frames);
    frames->is_mjpeg = FALSE;
    frames->camera = TRUE;
    return start (frames, error) ? SL_FRAMES_NOTHING : SL_FRAMES_FAILED;
  }
  if (gst_app_sink_is_eos (GST_APP_SINK (frames->sink)))
    return end (frames, error);
  return may_wait (frames, since, error) ? SL_FRAMES_NOTHING : SL_FRAMES_FAILED;
}

GstVideoOrientationMethod
sl_frames_orientation (GstSample *sample)
{
  return (GstVideoOrientationMethod) GPOINTER_TO_INT (gst_mini_object_get_qdata (
    GST_MINI_OBJECT_CAST (gst_sample_get_buffer (sample)), orientation_quark ()));
}

guint64
sl_frames_time (GstSample *frame)
{
  const GstSegment *segment = gst_sample_get_segment (frame);
  GstClockTime time = GST_BUFFER_PTS (gst_sample_get_buffer (frame));
  if (segment->format == GST_FORMAT_TIME && GST_CLOCK_TIME_IS_VALID (time))
    time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, time);
  return time;
}

guint
sl_frames_moves (SlFrames *frames)
{
  if (frames->camera) /* it knows how long it waits */
    g_atomic_int_inc (&frames->moves);
  return (guint) g_atomic_int_get (&frames->moves);
}

/* Frames that decoders left out, which slcamera tells by itself. */
static char *
left_out (SlFrames *frames, gboolean at_end)
{
  SlIntactCounts counts;
  sl_intact_read (frames->intact, &counts);
  char *early = frames->delivered > 0 || at_end
                  ? sl_camera_early_text (counts.early - frames->told.early)
                  : NULL;
  if (early != NULL) {
    frames->told.early = counts.early;
    return early;
  }
  char *damaged =
    at_end ? sl_camera_damaged_text (counts.damaged - frames->told.damaged, SL_CAMERA_TCP) : NULL;
  frames->told.damaged = at_end ? counts.damaged : frames->told.damaged;
  return damaged;
}

char *
sl_frames_take_note (SlFrames *frames, gboolean at_end)
{
  char *note = g_steal_pointer (&frames->note);
  return note != NULL || frames->camera ? note : left_out (frames, at_end);
}

guint64
sl_frames_duration (SlFrames *frames)
{
  gint64 now = g_get_monotonic_time (), duration;
  if (frames->pipeline != NULL && frames->duration == 0 && now - frames->asked > ASK_EVERY) {
    frames->asked = now;
    if (gst_element_query_duration (frames->pipeline, GST_FORMAT_TIME, &duration) && duration > 0)
      frames->duration = (guint64) duration;
  }
  return frames->duration;
}
