/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera: gives the frames of the camera at a URI. When the connection is lost, the element
 * connects again.
 *
 * The element is a GstBin with an appsrc in it. The camera itself runs in a pipeline of its own
 * (plugins/camera/feed.c). Its errors, its end of stream, new caps and a peer that stops in the
 * middle of a handshake reach this pipeline only as frames, caps and messages. A live camera holds
 * one frame, the newest. A file waits for downstream. The encoded frames of the camera leave by a
 * second appsrc, which exists while the request pad exists. Invariant: a feed runs from PAUSED to
 * READY. Live frames begin at the first PLAYING, since they need the clock.
 */
#include "plugins/elements.h"

#include <gst/app/gstappsrc.h>

#include "core/base/redact.h"
#include "sightline/error.h"
#include "plugins/camera/encoded.h"
#include "plugins/camera/feed.h"
#include "plugins/camera/messages.h"
#include "plugins/camera/unused.h"
#include "plugins/base/describe.h"
#include "plugins/camera/video_meta_guard.h"
#include "plugins/motion/ignored.h"
#include "plugins/base/password.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"

#define FILE_FRAMES 2
#define ENCODED "encoded"

typedef struct
{
  GstBin parent;
  SlCameraSettings settings; /* object lock */
  GstAppSrc *output;         /* owned by the bin; NULL where appsrc is missing */
  GstPad *encoded;           /* object lock (nullable): the request pad */
  GstAppSrc *encoded_output; /* object lock (nullable): behind that pad */
  SlCameraFeed *feed;        /* object lock */
  SlCameraUri *uri;          /* checked; NULL once the feed took it */
  gboolean live;
  gboolean warned;      /* of a password file that others may read */
  gboolean told_unused; /* of properties that are ignored */
} SlCamera;

typedef GstBinClass SlCameraClass;

G_DEFINE_TYPE (SlCamera, sl_camera, GST_TYPE_BIN)

static GstStaticPadTemplate src_template =
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

static GstStaticPadTemplate encoded_template = GST_STATIC_PAD_TEMPLATE (
  ENCODED, GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (SL_CAMERA_ENCODED_CAPS));

#define AT(member) G_STRUCT_OFFSET (SlCamera, settings.member)
/* GStreamer's converters take no more. */
#define MAX_SIZE 32767
#define MAX_MS (24 * 3600 * 1000.0)

static const SlProperty properties[] = {
  { "uri", "URI",
    "Address of the camera; required: v4l2:///dev/video0, rtsp://USER:PASSWORD@HOST:PORT/PATH, "
    "rtsps://, http:// or https:// (MJPEG), file:///PATH, libcamera://NAME, pipewire://NODE, "
    "csi://0, test://?pattern=ball. Reads back without the password",
    SL_PROPERTY_STRING, AT (uri) },
  { "user", "User name", "User name for the camera; overrides the one in the URI",
    SL_PROPERTY_STRING, AT (user) },
  { "password", "Password",
    "Password for the camera; overrides the one in the URI. Never shown: reads back as unset",
    SL_PROPERTY_STRING, AT (password) },
  { "password-file", "Password file",
    "File with the camera's password in one line, read at each start; replaces password and the "
    "one in the URI",
    SL_PROPERTY_STRING, AT (password_file) },
  { "width", "Width",
    "Width for cameras that offer several sizes (v4l2://, libcamera://, csi://, pipewire://, "
    "test://); 0 = the input width of the downstream model, 1280 without one",
    SL_PROPERTY_INT, AT (width), 0, MAX_SIZE, 0 },
  { "height", "Height",
    "Height for cameras that offer several sizes (v4l2://, libcamera://, csi://, pipewire://, "
    "test://); 0 = the input height of the downstream model, 720 without one",
    SL_PROPERTY_INT, AT (height), 0, MAX_SIZE, 0 },
  { "framerate", "Frame rate",
    "Frames a second: the minimum (v4l2://) or the exact rate; 0 = 25 for v4l2://, else the "
    "camera's rate",
    SL_PROPERTY_DOUBLE, AT (framerate), 0, 1000, 0 },
  { "latency", "Latency", "rtsp://: how long to wait for late or reordered packets, ms",
    SL_PROPERTY_INT, AT (latency), 0, 60000, 100 },
  { "drop-on-latency", "Drop on latency",
    "rtsp://: drop packets that are later than latency, before decoding; each time there is no "
    "frame until the next key frame",
    SL_PROPERTY_BOOL, AT (drop_on_latency), 0, 1, FALSE },
  { "protocols", "Protocols", "rtsp://: transport protocols of the packets", SL_PROPERTY_CHOICE,
    AT (protocols), 0, 0, SL_CAMERA_TCP, sl_camera_protocols_get_type },
  { "tls-verify", "Verify TLS",
    "rtsps:// and https://: refuse certificates that no authority signed; false for a camera with "
    "a self-signed certificate",
    SL_PROPERTY_BOOL, AT (tls_verify), 0, 1, TRUE },
  { "loop", "Loop", "file://: restart at the end of the file; timestamps continue",
    SL_PROPERTY_BOOL, AT (loop), 0, 1, FALSE },
  { "realtime", "Real time",
    "file://: play at the file's own speed and drop late frames, like a camera; false = as fast as "
    "downstream accepts frames, without drops",
    SL_PROPERTY_BOOL, AT (realtime), 0, 1, FALSE },
  { "connect-timeout", "Connect timeout",
    "ms from the start of a connection attempt to its first frame; 0 = no limit", SL_PROPERTY_INT,
    AT (connect_timeout), 0, MAX_MS, 15000 },
  { "stall-timeout", "Stall timeout",
    "ms without a frame after which a connected camera counts as lost; 0 = never", SL_PROPERTY_INT,
    AT (stall_timeout), 0, MAX_MS, 5000 },
  { "reconnect-min", "Shortest delay",
    "Delay before the second attempt in ms; doubled for each further one; a random part of up to a "
    "quarter is subtracted",
    SL_PROPERTY_INT, AT (reconnect_min), 10, MAX_MS, 500 },
  { "reconnect-max", "Longest delay",
    "Longest delay between attempts in ms; used at once after a wrong password", SL_PROPERTY_INT,
    AT (reconnect_max), 10, MAX_MS, 10000 },
  { "max-attempts", "Attempts",
    "Give up with an error after so many failed attempts in a row; 0 = never", SL_PROPERTY_INT,
    AT (max_attempts), 0, G_MAXINT, 0 },
  { "max-part-bytes", "Largest part",
    "http://, rtsp://: most bytes of one encoded picture (a part of an MJPEG stream, the packets "
    "of a frame); more is an error, and slcamera reconnects",
    SL_PROPERTY_INT, AT (max_part_bytes), 1024, 1 << 30, 32 << 20 },
  { "max-pixels", "Largest picture",
    "Most pixels of a picture, width times height; more is an error before memory is allocated",
    SL_PROPERTY_INT, AT (max_pixels), 1, (gdouble) MAX_SIZE *MAX_SIZE, 64 << 20 },
  { "quiet", "While nothing moves",
    "What is decoded while nothing moves: all, or keyframes (H.264 and H.265): the frames between "
    "key frames wait encoded, and are decoded, too, when something moves. The camera must not move",
    SL_PROPERTY_CHOICE, AT (quiet), 0, 0, SL_CAMERA_QUIET_ALL, sl_camera_quiet_get_type },
  { "quiet-after", "Quiet after", "quiet=keyframes: ms without motion after which it is quiet",
    SL_PROPERTY_INT, AT (quiet_after), 0, MAX_MS, 5000 },
  { "quiet-ignore", "Ignored zones",
    "quiet=keyframes: zones whose motion does not count, as ignore of slmotion has them: \"[zone "
    "tree] points=0,0 0.2,0 0.2,1\"",
    SL_PROPERTY_STRING, AT (quiet_ignore) },
};

enum
{
  PROP_STATE = G_N_ELEMENTS (properties) + 1,
  PROP_AGE,
  PROP_DAMAGED,
  PROP_QUIET_STATS,
};

/* (transfer full) (nullable): what is behind the request pad. @linked: only where something is
 * linked to it */
static GstAppSrc *
get_encoded_output (SlCamera *self, gboolean linked)
{
  GST_OBJECT_LOCK (self);
  GstAppSrc *output = self->encoded != NULL && (!linked || gst_pad_is_linked (self->encoded))
                        ? gst_object_ref (self->encoded_output)
                        : NULL;
  GST_OBJECT_UNLOCK (self);
  return output;
}

/* The element was made without appsrc: said when it is started, since a constructor cannot. */
static gboolean
check_output (SlCamera *self, GError **error)
{
  if (self->output != NULL)
    return TRUE;
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
               "GStreamer's element 'appsrc' is missing, which slcamera needs: install "
               "gstreamer1.0-plugins-base (Debian's name)");
  return FALSE;
}

/* Under the object lock. */
static gboolean
check_zones (SlCamera *self, GError **error)
{
  SlIgnored ignored = { 0 };
  const gboolean good =
    sl_ignored_set (&ignored, self->settings.quiet_ignore, "quiet-ignore", error);
  sl_ignored_clear (&ignored);
  return good;
}

/* Under the object lock. (transfer full) (nullable) */
static SlCameraUri *
read_uri (SlCamera *self, char **warning, GError **error)
{
  g_autoptr (SlCameraUri) uri = sl_camera_uri_parse (self->settings.uri, error);
  g_autofree char *password = NULL;
  if (uri == NULL || !check_zones (self, error)
      || !sl_password_choose (self->settings.password, self->settings.password_file, &password,
                              warning, error))
    return NULL;
  sl_camera_uri_set_credentials (uri, self->settings.user, password);
  self->live = sl_camera_is_live (uri, &self->settings);
  return g_steal_pointer (&uri);
}

/* Once in the element's life: a camera may be started again and again. */
static void
warn_unused (SlCamera *self, const SlCameraUri *uri)
{
  g_autofree char *unused = self->told_unused ? NULL : sl_camera_unused (G_OBJECT (self), uri);
  if (unused == NULL)
    return;
  self->told_unused = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s", unused), (NULL));
}

static gboolean
prepare (SlCamera *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *warning = NULL;
  GST_OBJECT_LOCK (self);
  SlCameraUri *uri = read_uri (self, &warning, &error);
  GST_OBJECT_UNLOCK (self);
  if (warning != NULL && !self->warned) {
    self->warned = TRUE;
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("password-file=%s", warning), (NULL));
  }
  if (uri == NULL || !check_output (self, &error) || !sl_camera_check (uri, &error)) {
    if (error->domain == SL_ERROR)
      sl_element_report (GST_ELEMENT (self), error);
    else
      sl_camera_post (GST_ELEMENT (self), GST_MESSAGE_ERROR, error, error->message);
    sl_camera_uri_free (uri);
    return FALSE;
  }
  warn_unused (self, uri);
  sl_camera_uri_free (self->uri);
  self->uri = uri;
  g_object_set (
    self->output, "is-live", self->live, "format", GST_FORMAT_TIME, "block", !self->live,
    "leaky-type", self->live ? GST_APP_LEAKY_TYPE_DOWNSTREAM : GST_APP_LEAKY_TYPE_NONE, "max-bytes",
    G_GUINT64_CONSTANT (0), "max-buffers", (guint64) (self->live ? 1 : FILE_FRAMES), NULL);
  g_autoptr (GstAppSrc) encoded = get_encoded_output (self, FALSE);
  if (encoded != NULL)
    sl_camera_encoded_set_up (encoded, self->live);
  return TRUE;
}

static void
start (SlCamera *self)
{
  if (self->uri == NULL) /* the feed is running */
    return;
  GST_OBJECT_LOCK (self);
  SlCameraSettings settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  g_autoptr (GstAppSrc) encoded = get_encoded_output (self, TRUE);
  SlCameraFeed *feed = sl_camera_feed_start (GST_ELEMENT (self), self->output, encoded,
                                             g_steal_pointer (&self->uri), &settings);
  GST_OBJECT_LOCK (self);
  self->feed = feed;
  GST_OBJECT_UNLOCK (self);
}

static void
stop (SlCamera *self)
{
  GST_OBJECT_LOCK (self);
  SlCameraFeed *feed = g_steal_pointer (&self->feed);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&feed, sl_camera_feed_stop);
}

/* On its way to PAUSED a live appsrc begins to refuse frames, which would end the feed, and with
 * GStreamer 1.26 its thread ends for good where PLAYING comes before that has noticed. */
static void
keep_taking (SlCamera *self)
{
  g_autoptr (GstAppSrc) encoded = get_encoded_output (self, FALSE);
  GST_BASE_SRC_GET_CLASS (self->output)->unlock_stop (GST_BASE_SRC (self->output));
  if (encoded != NULL)
    GST_BASE_SRC_GET_CLASS (encoded)->unlock_stop (GST_BASE_SRC (encoded));
}

static GstStateChangeReturn
sl_camera_change_state (GstElement *element, GstStateChange transition)
{
  SlCamera *self = (SlCamera *) element;
  if ((transition == GST_STATE_CHANGE_NULL_TO_READY
       || transition == GST_STATE_CHANGE_READY_TO_PAUSED)
      && !prepare (self))
    return GST_STATE_CHANGE_FAILURE;
  GstStateChangeReturn result =
    GST_ELEMENT_CLASS (sl_camera_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || transition == GST_STATE_CHANGE_READY_TO_NULL)
    stop (self);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    g_clear_pointer (&self->uri, sl_camera_uri_free);
  if (result == GST_STATE_CHANGE_FAILURE)
    return result;
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED && self->live)
    keep_taking (self);
  if (transition
      == (self->live ? GST_STATE_CHANGE_PAUSED_TO_PLAYING : GST_STATE_CHANGE_READY_TO_PAUSED))
    start (self);
  return result;
}

/* NULL: the element runs, has the pad already, or is without appsrc, which it says when it is
 * started. */
static GstPad *
sl_camera_request_new_pad (GstElement *element, GstPadTemplate *template, const gchar *name,
                           const GstCaps *caps)
{
  SlCamera *self = (SlCamera *) element;
  GST_OBJECT_LOCK (self);
  const gboolean late = GST_STATE (element) > GST_STATE_READY, there = self->encoded != NULL;
  GST_OBJECT_UNLOCK (self);
  GstElement *output = !late && !there && self->output != NULL ? sl_camera_encoded_new () : NULL;
  if (output == NULL)
    return NULL;
  gst_bin_add (GST_BIN (self), output);
  gst_element_sync_state_with_parent (output);
  g_autoptr (GstPad) inner = gst_element_get_static_pad (output, "src");
  GstPad *pad = gst_ghost_pad_new_from_template (ENCODED, inner, template);
  GST_OBJECT_LOCK (self);
  self->encoded = pad;
  self->encoded_output = gst_object_ref (GST_APP_SRC (output));
  GST_OBJECT_UNLOCK (self);
  gst_element_add_pad (element, pad);
  return pad;
}

static void
sl_camera_release_pad (GstElement *element, GstPad *pad)
{
  SlCamera *self = (SlCamera *) element;
  GST_OBJECT_LOCK (self);
  GstElement *output = GST_ELEMENT (self->encoded_output);
  self->encoded = NULL;
  self->encoded_output = NULL;
  GST_OBJECT_UNLOCK (self);
  gst_pad_set_active (pad, FALSE);
  gst_element_set_state (output, GST_STATE_NULL);
  gst_element_remove_pad (element, pad);
  if (GST_OBJECT_PARENT (output)
      == GST_OBJECT (self)) /* a bin that is disposed of has none any more */
    gst_bin_remove (GST_BIN (self), output);
  gst_object_unref (output);
}

/* (transfer full) */
static GstStructure *
quiet_stats (SlCamera *self)
{
  SlQuietFigures figures = { 0 };
  if (self->feed != NULL)
    sl_camera_feed_quiet (self->feed, &figures);
  return gst_structure_new (
    "quiet-stats", "quiet", G_TYPE_BOOLEAN, figures.quiet, "keys", G_TYPE_UINT64, figures.keys,
    "skipped", G_TYPE_UINT64, figures.skipped, "held", G_TYPE_UINT64, figures.held, "by-picture",
    G_TYPE_UINT64, figures.by_picture, "by-size", G_TYPE_UINT64, figures.by_size, "by-limit",
    G_TYPE_UINT64, figures.by_limit, "false-alarms", G_TYPE_UINT64, figures.false_alarms, NULL);
}

/* The properties do not contain the password: pipeline dumps and logs print properties. */
static void
sl_camera_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  SlCamera *self = (SlCamera *) object;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (id == PROP_STATE)
    g_value_set_string (value, self->feed != NULL ? sl_camera_feed_state (self->feed) : "stopped");
  else if (id == PROP_AGE)
    g_value_set_int64 (value, self->feed != NULL ? sl_camera_feed_age (self->feed) : -1);
  else if (id == PROP_DAMAGED)
    g_value_set_uint64 (value, self->feed != NULL ? sl_camera_feed_damaged (self->feed) : 0);
  else if (id == PROP_QUIET_STATS)
    g_value_take_boxed (value, quiet_stats (self));
  else if (properties[id - 1].offset == AT (uri) && self->settings.uri != NULL)
    g_value_take_string (value, sl_redact_uri (self->settings.uri, NULL));
  else if (properties[id - 1].offset != AT (password))
    sl_property_get (self, &properties[id - 1], value);
}

static void
sl_camera_finalize (GObject *object)
{
  SlCamera *self = (SlCamera *) object;
  sl_camera_uri_free (self->uri);
  sl_properties_clear (self, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_camera_parent_class)->finalize (object);
}

static void
sl_camera_class_init (SlCameraClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  object_class->finalize = sl_camera_finalize;
  element_class->change_state = sl_camera_change_state;
  element_class->request_new_pad = sl_camera_request_new_pad;
  element_class->release_pad = sl_camera_release_pad;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_camera_get_property;
  g_object_class_install_property (
    object_class, PROP_STATE,
    g_param_spec_string ("state", "State",
                         "stopped, connecting, playing, waiting, stalled, reconnecting or ended",
                         "stopped", G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (
    object_class, PROP_AGE,
    g_param_spec_int64 ("last-frame-age", "Age of the last frame",
                        "ms since the last frame, -1 before the first", -1, G_MAXINT64, -1,
                        G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (
    object_class, PROP_DAMAGED,
    sl_property_count (
      "damaged", "Damaged frames",
      "Frames since the start that were left out: before the first key frame, with missing data, "
      "or after such a frame up to the next key frame"));
  g_object_class_install_property (
    object_class, PROP_QUIET_STATS,
    sl_property_figures (
      "quiet-stats", "Quiet statistics",
      "quiet=keyframes, since the start, as a structure: quiet (boolean), and as uint64: keys (key "
      "frames without motion), skipped (frames left out since nothing moved), held (frames that "
      "waited and were decoded then), by-picture, by-size, by-limit (ends of quiet times: a key "
      "frame with motion, large encoded frames, no key frame for too long), false-alarms (by-size "
      "without motion)"));
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_add_static_pad_template (element_class, &encoded_template);
  sl_element_class_describe (
    element_class, "Camera", "Source/Video",
    "Outputs frames of the camera at uri (v4l2://, libcamera://, pipewire://, csi://, rtsp://, "
    "http:// MJPEG, file://, test://), always the newest one. Reconnects when the camera goes away "
    "or sends nothing, and posts 'slcamera' messages about it. Its pad 'encoded' has the encoded "
    "stream of the camera.",
    "gst-launch-1.0 slcamera uri=rtsp://camera/stream ! slpredict model=ssd.tflite ! "
    "application/x-json ! fdsink",
    "cameras.md");
}

static void
sl_camera_init (SlCamera *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SOURCE);
  gst_bin_set_suppressed_flags (GST_BIN (self), GST_ELEMENT_FLAG_SOURCE | GST_ELEMENT_FLAG_SINK);
  GstElement *output = gst_element_factory_make ("appsrc", "output");
  GstPad *inner = NULL;
  if (output != NULL) {
    gst_bin_add (GST_BIN (self), output);
    self->output = GST_APP_SRC (output);
    inner = gst_element_get_static_pad (output, "src");
    sl_video_meta_guard (inner, GST_ELEMENT (self));
  }
  GstPadTemplate *template = gst_static_pad_template_get (&src_template);
  gst_element_add_pad (GST_ELEMENT (self),
                       inner != NULL ? gst_ghost_pad_new_from_template ("src", inner, template)
                                     : gst_ghost_pad_new_no_target_from_template ("src", template));
  gst_object_unref (template);
  gst_clear_object (&inner);
}
