/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slrestream: offers frames to recorders by RTSP. Frames pass from sink to src unchanged. While a
 * client watches, they are drawn on and encoded once for all clients (plugins/record/encoder.h),
 * and what comes to the request pad, encoded by the camera, is offered beside them, with the
 * predictions as ONVIF metadata. restream/server.h has the servers, restream/mount.h what clients
 * share. This file has pads, times, properties and the encoder.
 *
 * Invariant: neither pad waits for an encoder or a client.
 */
#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "plugins/base/describe.h"
#include "plugins/base/encoded_pad.h"
#include "plugins/base/password.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "plugins/camera/encoded.h"
#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "plugins/record/encoder.h"
#include "plugins/record/make.h"
#include "plugins/restream/onvif.h"
#include "plugins/restream/server.h"

GST_DEBUG_CATEGORY_STATIC (sl_restream_debug);
#define GST_CAT_DEFAULT sl_restream_debug

/* Seconds between key frames of the stream that this element encodes. */
#define KEY_INTERVAL 1
/* After which what could not be encoded is tried again. */
#define RETRY_US (10 * G_USEC_PER_SEC)

typedef struct
{
  char *rtsp, *user, *password_file, *encoder;
  gdouble max_framerate;
  gint max_width, clients;
  gboolean draw;
} Settings;

typedef struct
{
  GstElement parent;
  GstPad *sink, *src;
  Settings settings; /* object lock */
  GstPad *encoded;   /* object lock (nullable) */
  SlRestreamPath *drawn,
    *camera;                  /* object lock, as pointers: while started; (nullable) the second */
  guint64 frames, dropped;    /* object lock: encoded here, and left out by the encoder */
  GstSegment encoded_segment; /* of the thread of encoded */
  /* Of the thread of sink: */
  GstSegment segment;
  GstCaps *caps;            /* (nullable) */
  gint width, height;       /* of frames */
  SlEncoder *encoder;       /* (nullable) */
  const char *encoder_name; /* (nullable): static */
  gboolean encoder_is_set;  /* by the property */
  gboolean warned;          /* that these frames cannot be encoded */
  gint64 retry;             /* monotonic time at which it is tried again */
  SlPredictionReader reader;
  guint64 n_looked;
} SlRestream;

typedef GstElementClass SlRestreamClass;

G_DEFINE_TYPE (SlRestream, sl_restream, GST_TYPE_ELEMENT)

#define AT(member) G_STRUCT_OFFSET (SlRestream, settings.member)

static const SlProperty properties[] = {
  { "rtsp", "RTSP",
    "Where clients connect: [ADDR]:PORT/NAME, such as :8554/door. NAME is the annotated picture, "
    "NAME/camera the camera's own stream with predictions as ONVIF metadata",
    SL_PROPERTY_STRING, AT (rtsp) },
  { "user", "User", "Name that clients log in with; with password-file", SL_PROPERTY_STRING,
    AT (user) },
  { "password-file", "Password file",
    "File with the password of user in one line, read at each start", SL_PROPERTY_STRING,
    AT (password_file) },
  { "clients", "Clients", "Most clients of the port at a time; further ones get 503",
    SL_PROPERTY_INT, AT (clients), 1, SL_RESTREAM_CLIENTS_MOST, 8 },
  { "draw", "Draw", "Draw predictions on the annotated picture, where sloverlay is installed",
    SL_PROPERTY_BOOL, AT (draw), 0, 1, TRUE },
  { "max-framerate", "Frame rate", "Most frames a second of the annotated picture; 0 = all",
    SL_PROPERTY_DOUBLE, AT (max_framerate), 0, 1000, 15 },
  { "max-width", "Width", "Largest width in pixels of the annotated picture", SL_PROPERTY_INT,
    AT (max_width), 16, 16384, 1280 },
  { "encoder", "Encoder",
    "Encoder element: x264enc, openh264enc, vp8enc or jpegenc; unset = the first one that is "
    "installed",
    SL_PROPERTY_STRING, AT (encoder) },
};

#define PROP_STATS (G_N_ELEMENTS (properties) + 1)

static GstStructure *
read_stats (SlRestream *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  const guint port = self->drawn != NULL ? sl_restream_path_port (self->drawn) : 0,
              clients = self->drawn != NULL ? sl_restream_path_clients (self->drawn) : 0;
  return gst_structure_new ("stats", "port", G_TYPE_UINT, port, "clients", G_TYPE_UINT, clients,
                            "frames", G_TYPE_UINT64, self->frames, "dropped", G_TYPE_UINT64,
                            self->dropped, NULL);
}

static void
sl_restream_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_STATS) {
    g_value_take_boxed (value, read_stats ((SlRestream *) object));
    return;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  sl_property_get (object, &properties[id - 1], value);
}

static void
count (SlRestream *self, guint64 *counter)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  ++*counter;
}

/* The annotated picture */

/* Encoder's thread. */
static void
encoder_caps (gpointer data, GstCaps *caps)
{
  sl_restream_mount_set_caps (sl_restream_path_mount (((SlRestream *) data)->drawn), caps);
}

/* Encoder's thread. */
static void
encoder_frame (gpointer data, GstBuffer *frame)
{
  SlRestream *self = data;
  count (self, &self->frames);
  sl_restream_mount_frame (sl_restream_path_mount (self->drawn), frame);
  gst_buffer_unref (frame);
}

static void
encoder_ended (gpointer data)
{
}

static const SlEncoderEvents encoder_events = { .caps = encoder_caps,
                                                .frame = encoder_frame,
                                                .ended = encoder_ended };

static void
end_encoder (SlRestream *self)
{
  if (self->encoder == NULL)
    return;
  g_clear_pointer (&self->encoder, sl_encoder_free);
  sl_restream_mount_set_caps (sl_restream_path_mount (self->drawn), NULL);
}

/* Where it has the choice, the next encoder is tried at once; else the first one again, later. */
static void
cannot_encode (SlRestream *self, const GError *error)
{
  const char *failed = self->encoder_name,
             *next = failed != NULL && !self->encoder_is_set ? sl_encoder_next (failed) : NULL;
  g_autofree char *shown = sl_printable_message (error->message),
                  *caps = gst_caps_to_string (self->caps);
  end_encoder (self);
  self->encoder_name = next;
  if (next != NULL)
    return;
  self->retry = g_get_monotonic_time () + RETRY_US;
  if (!self->warned)
    GST_ELEMENT_WARNING (
      self, STREAM, ENCODE,
      ("%s cannot be encoded by %s: %s; clients of the annotated picture get none", caps,
       failed != NULL ? failed : "slrestream", shown),
      (NULL));
  self->warned = TRUE;
}

static void
new_encoder (SlRestream *self, GError **error)
{
  GST_OBJECT_LOCK (self);
  g_autofree char *chosen = g_strdup (self->settings.encoder);
  const gdouble rate = self->settings.max_framerate;
  const gint width = self->settings.max_width;
  const gboolean draws = self->settings.draw;
  GST_OBJECT_UNLOCK (self);
  self->encoder_is_set = chosen != NULL && *chosen != '\0';
  if (self->encoder_is_set || self->encoder_name == NULL)
    self->encoder_name = sl_encoder_choose (chosen, error);
  if (self->encoder_name != NULL)
    self->encoder = sl_encoder_new (self->encoder_name, self->caps, rate, width, KEY_INTERVAL,
                                    draws, &encoder_events, self, error);
}

static void
encode (SlRestream *self, GstBuffer *frame, GstClockTime time)
{
  g_autoptr (GError) error = NULL;
  if (!sl_restream_mount_is_watched (sl_restream_path_mount (self->drawn))) {
    end_encoder (self);
    return;
  }
  if (g_get_monotonic_time () < self->retry)
    return;
  if (self->encoder == NULL)
    new_encoder (self, &error);
  if (self->encoder == NULL || sl_encoder_take_error (self->encoder, &error))
    cannot_encode (self, error);
  else if (!sl_encoder_push (self->encoder, frame, time))
    count (self, &self->dropped);
}

/* Metadata */

static gint64
utc_of (const SlPredictionView *prediction)
{
  const gint64 age = prediction->latency != NULL ? MAX (0, prediction->latency->age) : 0;
  return prediction->utc != 0 ? prediction->utc : g_get_real_time () - age;
}

/* Frames that a model skipped have none. */
static void
describe (SlRestream *self, GstBuffer *frame, GstClockTime time)
{
  SlRestreamMount *mount = sl_restream_path_mount (self->camera);
  SlPredictionView prediction = { .width = self->width, .height = self->height };
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (frame);
  if (!sl_restream_mount_is_watched (mount) || (meta != NULL && meta->content >= SL_FRAME_SKIPPED))
    return;
  sl_prediction_reader_read_frame (&self->reader, frame, &self->segment, self->n_looked,
                                   &prediction);
  GString *text = g_string_new (NULL);
  sl_onvif_append (text, &prediction, utc_of (&prediction));
  sl_restream_mount_document (mount, g_string_free_to_bytes (text), time);
}

/* Pads */

static GstFlowReturn
sl_restream_chain (GstPad *pad, GstObject *parent, GstBuffer *frame)
{
  SlRestream *self = (SlRestream *) parent;
  if (self->caps == NULL) {
    gst_buffer_unref (frame);
    return sl_element_has_format (GST_ELEMENT (self), pad) ? GST_FLOW_NOT_NEGOTIATED
                                                           : GST_FLOW_ERROR;
  }
  const GstClockTime time = sl_record_running_time (&self->segment, GST_BUFFER_PTS (frame));
  if (GST_CLOCK_TIME_IS_VALID (time)) {
    encode (self, frame, time);
    if (self->camera != NULL)
      describe (self, frame, time);
  }
  self->n_looked++;
  return gst_pad_push (self->src, frame);
}

static gboolean
set_caps (SlRestream *self, GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  if (!gst_structure_get_int (structure, "width", &self->width)
      || !gst_structure_get_int (structure, "height", &self->height))
    return FALSE;
  if (self->caps == NULL || !gst_caps_is_equal (self->caps, caps))
    g_clear_pointer (&self->encoder, sl_encoder_free); /* clients go on with the next one */
  self->encoder_name = NULL;
  self->warned = FALSE;
  self->retry = 0;
  gst_caps_replace (&self->caps, caps);
  return TRUE;
}

static gboolean
sl_restream_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlRestream *self = (SlRestream *) parent;
  GstCaps *caps;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      if (!set_caps (self, caps)) {
        gst_event_unref (event);
        return FALSE;
      }
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      g_clear_pointer (&self->encoder, sl_encoder_free); /* its times may not go back */
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

static GstFlowReturn
sl_restream_encoded_chain (GstPad *pad, GstObject *parent, GstBuffer *frame)
{
  SlRestream *self = (SlRestream *) parent;
  SlRestreamMount *mount = sl_restream_path_mount (self->camera);
  if (gst_buffer_get_size (frame) > 0 && sl_restream_mount_is_watched (mount)) {
    GstBuffer *timed = gst_buffer_copy (frame);
    GST_BUFFER_PTS (timed) =
      sl_record_running_time (&self->encoded_segment, GST_BUFFER_PTS (frame));
    GST_BUFFER_DTS (timed) =
      sl_record_running_time (&self->encoded_segment, GST_BUFFER_DTS (frame));
    sl_restream_mount_frame (mount, timed);
    gst_buffer_unref (timed);
  }
  gst_buffer_unref (frame);
  return GST_FLOW_OK;
}

static gboolean
sl_restream_encoded_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlRestream *self = (SlRestream *) parent;
  GstCaps *caps = NULL;
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
    gst_event_copy_segment (event, &self->encoded_segment);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    sl_restream_mount_set_caps (sl_restream_path_mount (self->camera), caps);
  } else if (gst_event_has_name (event, SL_CAMERA_ENCODED_NONE)) {
    sl_restream_mount_set_raw (sl_restream_path_mount (self->camera));
  }
  gst_event_unref (event);
  return TRUE;
}

static GstPad *
sl_restream_request_new_pad (GstElement *element, GstPadTemplate *template, const gchar *name,
                             const GstCaps *caps)
{
  return sl_encoded_pad_request (element, template, &((SlRestream *) element)->encoded,
                                 sl_restream_encoded_chain, sl_restream_encoded_event);
}

static void
sl_restream_release_pad (GstElement *element, GstPad *pad)
{
  sl_encoded_pad_release (element, pad, &((SlRestream *) element)->encoded);
}

/* States */

static gboolean
read_user (const Settings *settings, SlRestreamPlace *place, char **warning, GError **error)
{
  const gboolean user = settings->user != NULL && *settings->user != '\0',
                 file = settings->password_file != NULL && *settings->password_file != '\0';
  if (user != file)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "%s is set and %s is not: expected both, or neither for clients without a password",
      user ? "user" : "password-file", user ? "password-file" : "user");
  if (!user)
    return TRUE;
  place->user = g_strdup (settings->user);
  return sl_password_choose (NULL, settings->password_file, &place->password, warning, error);
}

/* Object lock held. */
static gboolean
read_place (SlRestream *self, SlRestreamPlace *place, char **warning, GError **error)
{
  const Settings *settings = &self->settings;
  place->clients = (guint) settings->clients;
  place->camera = self->encoded != NULL;
  if (settings->rtsp == NULL || *settings->rtsp == '\0')
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "rtsp is not set: expected [ADDR]:PORT/NAME, such as rtsp=:8554/door");
  return sl_restream_place_parse (place, settings->rtsp, error)
         && read_user (settings, place, warning, error);
}

static void
warn (SlRestream *self, const SlRestreamPlace *place, const char *warning)
{
  if (warning != NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("password-file=%s", warning), (NULL));
  if (sl_restream_place_is_open (place))
    GST_ELEMENT_WARNING (
      self, RESOURCE, SETTINGS,
      ("rtsp: other machines can watch %s without a password: set user and password-file, or an "
       "address such as 127.0.0.1",
       place->path),
      (NULL));
}

static gboolean
read_settings (SlRestream *self, SlRestreamPlace *place, char **warning, GError **error)
{
  GST_OBJECT_LOCK (self);
  const gboolean good = read_place (self, place, warning, error);
  g_autofree char *encoder = g_strdup (self->settings.encoder);
  GST_OBJECT_UNLOCK (self);
  return good && sl_encoder_choose (encoder, error) != NULL;
}

static gboolean
check_settings (GstElement *element, GError **error)
{
  g_auto (SlRestreamPlace) place = { 0 };
  g_autofree char *warning = NULL;
  return read_settings ((SlRestream *) element, &place, &warning, error);
}

/* Settings that are wrong by themselves are check_settings()' concern. */
static gboolean
check_meeting (GstElement *element, GstElement *other, GError **error)
{
  g_auto (SlRestreamPlace) place = { 0 }, others = { 0 };
  g_autofree char *warning = NULL, *others_warning = NULL;
  return !read_settings ((SlRestream *) element, &place, &warning, NULL)
         || !read_settings ((SlRestream *) other, &others, &others_warning, NULL)
         || sl_restream_place_meets (&place, &others, error);
}

static gboolean
open_paths (SlRestream *self, GError **error)
{
  g_auto (SlRestreamPlace) place = { 0 };
  g_autofree char *warning = NULL;
  if (!read_settings (self, &place, &warning, error))
    return FALSE;
  warn (self, &place, warning);
  g_autoptr (SlRestreamPath) drawn = sl_restream_claim (&place, "", FALSE, error);
  if (drawn == NULL)
    return FALSE;
  SlRestreamPath *camera =
    place.camera ? sl_restream_claim (&place, SL_RESTREAM_CAMERA, TRUE, error) : NULL;
  if (place.camera && camera == NULL)
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->drawn = g_steal_pointer (&drawn);
  self->camera = camera;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
start (SlRestream *self)
{
  g_autoptr (GError) error = NULL;
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  gst_segment_init (&self->encoded_segment, GST_FORMAT_TIME);
  self->frames = self->dropped = self->n_looked = 0;
  if (open_paths (self, &error))
    return TRUE;
  return sl_element_report (GST_ELEMENT (self), error);
}

/* After the pads are not active any more. */
static void
stop (SlRestream *self)
{
  g_clear_pointer (&self->encoder, sl_encoder_free);
  GST_OBJECT_LOCK (self);
  SlRestreamPath *drawn = g_steal_pointer (&self->drawn), *camera = g_steal_pointer (&self->camera);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&camera, sl_restream_release);
  g_clear_pointer (&drawn, sl_restream_release);
  gst_clear_caps (&self->caps);
}

static GstStateChangeReturn
sl_restream_change_state (GstElement *element, GstStateChange transition)
{
  SlRestream *self = (SlRestream *) element;
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn changed =
    GST_ELEMENT_CLASS (sl_restream_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return changed;
}

static void
sl_restream_finalize (GObject *object)
{
  SlRestream *self = (SlRestream *) object;
  sl_prediction_reader_clear (&self->reader);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_restream_parent_class)->finalize (object);
}

static void
sl_restream_class_init (SlRestreamClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_restream_debug, "slrestream", 0, "streams for recorders");
  object_class->finalize = sl_restream_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_restream_get_property;
  g_object_class_install_property (
    object_class, PROP_STATS,
    sl_property_figures (
      "stats", "Counts",
      "A structure with port and clients (uint: connections to it), frames (uint64: encoded here) "
      "and dropped (uint64: left out as the encoder was busy)"));
  sl_encoded_pad_class (klass);
  sl_element_class_describe (
    klass, "Sightline restreamer", "Filter/Network/Video",
    "Offers frames to recorders by RTSP: the annotated picture, and the camera's own stream with "
    "predictions as ONVIF metadata. Frames pass unchanged.",
    "gst-launch-1.0 slcamera name=camera uri=rtsp://192.0.2.1/stream camera.src ! slpredict "
    "model=ssd.tflite ! slrestream name=out rtsp=127.0.0.1:8554/door ! fakesink camera.encoded ! "
    "out.encoded",
    "restreaming.md");
  klass->change_state = sl_restream_change_state;
  sl_element_class_set_check (klass, check_settings);
  sl_element_class_set_meet (klass, check_meeting);
  klass->request_new_pad = sl_restream_request_new_pad;
  klass->release_pad = sl_restream_release_pad;
}

static void
sl_restream_init (SlRestream *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_prediction_reader_init (&self->reader);
  self->sink = sl_encoded_pad_add (GST_ELEMENT (self), "sink");
  self->src = sl_encoded_pad_add (GST_ELEMENT (self), "src");
  gst_pad_set_chain_function (self->sink, sl_restream_chain);
  gst_pad_set_event_function (self->sink, sl_restream_sink_event);
}
