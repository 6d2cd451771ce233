/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One row a kind of camera: the elements it needs, whether it is there at all, and how its pipeline
 * is put together. Everything ends in videoconvert, which costs nothing where the formats already
 * agree, and the sink. Elements see locations without user names and passwords, which they get as
 * properties, so none can print them.
 */
#include "plugins/camera/source.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "plugins/camera/demux.h"
#include "plugins/camera/format.h"
#include "plugins/camera/limits.h"
#include "plugins/camera/reach.h"
#include "plugins/camera/whole.h"

/* Without a model downstream a camera is asked for this much. */
#define DEFAULT_WIDTH 1280
#define DEFAULT_HEIGHT 720
#define DEFAULT_RATE 25.0
#define MAX_ELEMENTS 6

typedef gboolean (*Build) (const SlCameraPlan *plan, GstBin *bin, GstElement *convert,
                           GError **error);

typedef struct
{
  const char *name;
  const char *elements[MAX_ELEMENTS];
  gboolean (*probe) (const SlCameraPlan *plan, GCancellable *cancel, GError **error);
  Build build;
} Kind;

static const struct
{
  const char *element, *package;
} packages[] = {
  { "v4l2src", "gstreamer1.0-plugins-good" },
  { "libcamerasrc", "gstreamer1.0-libcamera" },
  { "pipewiresrc", "gstreamer1.0-pipewire" },
  { "nvvidconv", "nvidia-l4t-gstreamer, of NVIDIA's repository" },
  { "rtspsrc", "gstreamer1.0-plugins-good" },
  { "souphttpsrc", "gstreamer1.0-plugins-good" },
  { "jpegdec", "gstreamer1.0-plugins-good" },
  { "decodebin", "gstreamer1.0-plugins-base" },
  { "videotestsrc", "gstreamer1.0-plugins-base" },
  { "videoconvert", "gstreamer1.0-plugins-base" },
  { "appsrc", "gstreamer1.0-plugins-base" },
  { "filesrc", "libgstreamer1.0-0" },
  { "capsfilter", "libgstreamer1.0-0" },
  { "queue", "libgstreamer1.0-0" },
};

GType
sl_camera_protocols_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { SL_CAMERA_TCP, "Interleaved in the RTSP connection: nothing is lost, passes firewalls",
      "tcp" },
    { SL_CAMERA_UDP, "Unicast UDP: least delay, lost packets are seen", "udp" },
    { SL_CAMERA_UDP_MULTICAST, "Multicast UDP: one stream for many receivers", "udp-mcast" },
    { SL_CAMERA_ANY_TRANSPORT, "UDP, multicast, TCP: whatever the camera takes first", "any" },
    { 0, NULL, NULL },
  };
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("SlCameraProtocols", values));
  return type;
}

GType
sl_camera_quiet_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { SL_CAMERA_QUIET_ALL, "All frames are decoded", "all" },
    { SL_CAMERA_QUIET_KEY_FRAMES,
      "Key frames alone are decoded; when something moves, the frames since the last one follow",
      "keyframes" },
    { 0, NULL, NULL },
  };
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("SlCameraQuiet", values));
  return type;
}

static GstElement *
add (GstBin *bin, const char *name)
{
  GstElement *element = gst_element_factory_make (name, NULL);
  g_return_val_if_fail (element != NULL, NULL); /* sl_camera_check() found its factory */
  gst_bin_add (bin, element);
  return element;
}

/* Told in the words that sl_camera_message_fault() has a sentence for. */
static void
refuse_caps (GstElement *element)
{
  GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("Caps do not fit."), ("not-negotiated"));
}

/* A pad left unlinked would end a short file without a word. */
static void
link_pad (GstPad *pad, GstElement *to)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (to, "sink");
  if (!gst_pad_is_linked (sink) && GST_PAD_LINK_FAILED (gst_pad_link (pad, sink)))
    refuse_caps (to);
}

static void
decoded_pad (GstElement *decoder, GstPad *pad, gpointer convert)
{
  link_pad (pad, convert);
}

static SlCameraLimits
limits_of (const SlCameraPlan *plan)
{
  return (SlCameraLimits){ .max_part_bytes = (guint) plan->settings->max_part_bytes,
                           .max_pixels = (guint) plan->settings->max_pixels };
}

static GstElement *
add_decoder (const SlCameraPlan *plan, GstBin *bin, GstElement *convert,
             const SlCameraLimits *limits)
{
  sl_camera_limit_decoding (bin, limits);
  if (plan->tap != NULL)
    sl_camera_tap_decoders (plan->tap, bin);
  sl_intact_watch (plan->intact, bin);
  if (plan->quiet != NULL)
    sl_quiet_watch (plan->quiet, bin);
  GstElement *decoder = add (bin, "decodebin");
  g_autoptr (GstCaps) raw = gst_caps_from_string ("video/x-raw(ANY)");
  g_object_set (decoder, "caps", raw, "expose-all-streams", FALSE, NULL);
  g_signal_connect_object (decoder, "pad-added", G_CALLBACK (decoded_pad), convert, 0);
  return decoder;
}

/* test:// */

static gboolean
build_test (const SlCameraPlan *plan, GstBin *bin, GstElement *convert, GError **error)
{
  const SlCameraSettings *settings = plan->settings;
  GstElement *source = add (bin, "videotestsrc"), *filter = add (bin, "capsfilter");
  gst_util_set_object_arg (G_OBJECT (source), "pattern", plan->uri->pattern);
  g_object_set (source, "is-live", plan->uri->test_live, "num-buffers",
                plan->uri->test_frames > 0 ? plan->uri->test_frames : -1, NULL);
  g_autoptr (GstCaps) caps = gst_caps_from_string ("video/x-raw, format = (string) I420");
  if (!gst_caps_can_intersect (caps, plan->downstream))
    gst_structure_remove_field (gst_caps_get_structure (caps, 0), "format");
  if (settings->width > 0)
    gst_caps_set_simple (caps, "width", G_TYPE_INT, settings->width, NULL);
  if (settings->height > 0)
    gst_caps_set_simple (caps, "height", G_TYPE_INT, settings->height, NULL);
  if (settings->framerate > 0) {
    gint n, d;
    gst_util_double_to_fraction (settings->framerate, &n, &d);
    gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, n, d, NULL);
  }
  g_object_set (filter, "caps", caps, NULL);
  return gst_element_link_many (source, filter, convert, NULL);
}

/* file:// */

static gboolean
probe_file (const SlCameraPlan *plan, GCancellable *cancel, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (plan->uri->location);
  g_autoptr (GError) missing = NULL;
  g_autoptr (GFileInfo) info =
    g_file_query_info (file, G_FILE_ATTRIBUTE_STANDARD_TYPE "," G_FILE_ATTRIBUTE_ACCESS_CAN_READ,
                       G_FILE_QUERY_INFO_NONE, cancel, &missing);
  if (g_error_matches (missing, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    sl_fail (error, SL_ERROR_OPEN, "there is no file %s", plan->uri->location);
  else if (info == NULL)
    g_propagate_error (error, g_steal_pointer (&missing));
  if (info == NULL)
    return FALSE;
  const char *wrong = NULL;
  if (g_file_info_get_file_type (info) == G_FILE_TYPE_DIRECTORY)
    wrong = "is a folder, expected a video or a picture";
  else if (!g_file_info_get_attribute_boolean (info, G_FILE_ATTRIBUTE_ACCESS_CAN_READ))
    wrong = "is not readable for this user";
  if (wrong != NULL)
    sl_fail (error, SL_ERROR_OPEN, "%s %s", plan->uri->location, wrong);
  return wrong == NULL;
}

static gboolean
build_file (const SlCameraPlan *plan, GstBin *bin, GstElement *convert, GError **error)
{
  SlCameraLimits limits = limits_of (plan);
  limits.max_part_bytes = G_MAXUINT; /* the file is as large as it is */
  GstElement *source = add (bin, "filesrc"), *decoder = add_decoder (plan, bin, convert, &limits);
  g_object_set (source, "location", plan->uri->location, NULL);
  return gst_element_link (source, decoder);
}

/* rtsp:// and http:// */

/* Seconds, more than connect-timeout, so that it is the feed who notices and tells; 0 = never. */
static guint
element_timeout (const SlCameraSettings *settings)
{
  return settings->connect_timeout > 0 ? (guint) settings->connect_timeout / 1000 + 5 : 0;
}

static gboolean
probe_port (const SlCameraPlan *plan, GCancellable *cancel, GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (sl_camera_reach (plan->uri->location, plan->uri->port, plan->settings->tls_verify,
                       (guint) MAX (plan->settings->connect_timeout / 1000, 1), cancel, &reason))
    return TRUE;
  if (g_error_matches (reason, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE))
    sl_fail (
      error, SL_ERROR_OPEN,
      "this machine does not trust the camera's certificate: install the authority that signed it, "
      "use the name it is made for, or set tls-verify=false for a camera that signed its own");
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

static gboolean
select_video (GstElement *source, guint number, GstCaps *caps, gpointer data)
{
  gint *chosen = g_object_get_data (G_OBJECT (source), "sl-video");
  const char *media = gst_structure_get_string (gst_caps_get_structure (caps, 0), "media");
  if (g_strcmp0 (media, "video") != 0
      || (chosen != NULL && GPOINTER_TO_UINT (chosen) != number + 1))
    return FALSE;
  g_object_set_data (G_OBJECT (source), "sl-video", GUINT_TO_POINTER (number + 1));
  return TRUE;
}

gboolean
sl_camera_has_chosen (GstElement *source)
{
  return g_object_get_data (G_OBJECT (source), "sl-video") != NULL;
}

static GstPadProbeReturn
note_packet (GstPad *pad, GstPadProbeInfo *info, gpointer sockets)
{
  sl_camera_sockets_give (sockets);
  return GST_PAD_PROBE_OK;
}

static void
watch_packets (GstElement *source, GstPad *pad, gpointer sockets)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, note_packet,
                     sl_camera_sockets_ref (sockets), sl_camera_sockets_unref);
}

static void
unref_sockets (gpointer sockets, GClosure *closure)
{
  sl_camera_sockets_unref (sockets);
}

static void
rtsp_pad (GstElement *source, GstPad *pad, gpointer decoder)
{
  link_pad (pad, decoder);
}

static gboolean
build_rtsp (const SlCameraPlan *plan, GstBin *bin, GstElement *convert, GError **error)
{
  static const char *const transports[] = { [SL_CAMERA_TCP] = "tcp",
                                            [SL_CAMERA_UDP] = "udp",
                                            [SL_CAMERA_UDP_MULTICAST] = "udp-mcast",
                                            [SL_CAMERA_ANY_TRANSPORT] = "udp+udp-mcast+tcp" };
  const SlCameraSettings *settings = plan->settings;
  const SlCameraLimits limits = limits_of (plan);
  GstElement *source = add (bin, "rtspsrc"), *decoder = add_decoder (plan, bin, convert, &limits);
  g_object_set (source, "location", plan->uri->location, "user-id", plan->uri->user, "user-pw",
                plan->uri->password, "latency", (guint) settings->latency, "drop-on-latency",
                settings->drop_on_latency, "tcp-timeout",
                (guint64) element_timeout (settings) * G_USEC_PER_SEC, NULL);
  gst_util_set_object_arg (G_OBJECT (source), "protocols", transports[settings->protocols]);
  if (!settings->tls_verify)
    gst_util_set_object_arg (G_OBJECT (source), "tls-validation-flags", "0");
  g_signal_connect (source, "select-stream", G_CALLBACK (select_video), NULL);
  g_signal_connect_data (source, "pad-added", G_CALLBACK (watch_packets),
                         sl_camera_sockets_ref (plan->sockets), unref_sockets, 0);
  g_signal_connect_object (
    source, "pad-added", G_CALLBACK (rtsp_pad),
    sl_camera_whole_add (bin, plan->intact, (guint) settings->max_part_bytes, decoder), 0);
  return TRUE;
}

/* souphttpsrc tells the headers of the answer in an event before its first bytes. */
const char *
sl_camera_content_type (GstEvent *event)
{
  const GstStructure *headers = gst_event_get_structure (event);
  const GValue *value = headers != NULL && gst_structure_has_name (headers, "http-headers")
                          ? gst_structure_get_value (headers, "response-headers")
                          : NULL;
  const GstStructure *response =
    value != NULL && GST_VALUE_HOLDS_STRUCTURE (value) ? gst_value_get_structure (value) : NULL;
  for (gint i = 0; response != NULL && i < gst_structure_n_fields (response); i++) {
    const char *name = gst_structure_nth_field_name (response, (guint) i);
    if (g_ascii_strcasecmp (name, "Content-Type") == 0)
      return gst_structure_get_string (response, name);
  }
  return NULL;
}

gboolean
sl_camera_type_is_mjpeg (const char *type)
{
  return type != NULL && g_ascii_strncasecmp (type, "multipart/", strlen ("multipart/")) == 0;
}

/* Types that say nothing, or something of their own: what comes tells what it is. */
static gboolean
may_be_mjpeg (const char *type)
{
  static const char *const others[] = { "image/",           "text/",           "audio/",
                                        "application/json", "application/xml", "video/mp4",
                                        "video/mp2t" };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_ascii_strncasecmp (type, others[i], strlen (others[i])) == 0)
      return FALSE;
  return TRUE;
}

static GstPadProbeReturn
check_content_type (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const char *type = sl_camera_content_type (GST_PAD_PROBE_INFO_EVENT (info));
  if (type == NULL || may_be_mjpeg (type))
    return GST_PAD_PROBE_OK;
  g_autoptr (GstElement) source = gst_pad_get_parent_element (pad);
  GST_ELEMENT_ERROR (
    source, STREAM, WRONG_TYPE,
    ("the server answers %s, expected multipart/x-mixed-replace (MJPEG): use the camera's MJPEG "
     "address",
     type),
    (NULL));
  return GST_PAD_PROBE_REMOVE;
}

/* A jpegdec that gets pictures within the limits. */
static GstElement *
add_jpeg_decoder (const SlCameraPlan *plan, GstBin *bin)
{
  const SlCameraLimits limits = limits_of (plan);
  GstElement *decoder = add (bin, "jpegdec");
  sl_camera_limit_jpeg (decoder, &limits);
  if (plan->tap != NULL)
    sl_camera_tap_decoder (plan->tap, decoder);
  return decoder;
}

static gboolean
build_http (const SlCameraPlan *plan, GstBin *bin, GstElement *convert, GError **error)
{
  GstElement *source = add (bin, "souphttpsrc"),
             *demuxer = sl_camera_demux_new ((guint) plan->settings->max_part_bytes);
  gst_bin_add (bin, demuxer);
  g_object_set (source, "location", plan->uri->location, "user-id", plan->uri->user, "user-pw",
                plan->uri->password, "is-live", TRUE, "do-timestamp", TRUE, "retries", 0, "timeout",
                element_timeout (plan->settings), "ssl-strict", plan->settings->tls_verify, NULL);
  if (plan->request != NULL)
    sl_camera_request_watch (plan->request, source);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (source, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, check_content_type, NULL, NULL);
  return gst_element_link_many (source, demuxer, add_jpeg_decoder (plan, bin), convert, NULL);
}

/* v4l2:// */

static gboolean
probe_device (const SlCameraPlan *plan, GCancellable *cancel, GError **error)
{
  const char *device = plan->uri->location;
  if (!g_file_test (device, G_FILE_TEST_EXISTS))
    return sl_fail (
      error, SL_ERROR_OPEN,
      "there is no %s: is the camera plugged in? 'v4l2-ctl --list-devices' lists cameras", device);
  if (g_access (device, R_OK | W_OK) != 0)
    return sl_fail (
      error, SL_ERROR_OPEN,
      "%s: permission denied; add this user to the group that 'ls -l %s' shows (video)", device,
      device);
  return TRUE;
}

/* What the URI or else properties say; 0 = nothing. */
static SlCameraWish
stated_wish (const SlCameraPlan *plan)
{
  const SlCameraSettings *settings = plan->settings;
  const SlCameraUri *uri = plan->uri;
  return (SlCameraWish){ .width = uri->width > 0 ? uri->width : settings->width,
                         .height = uri->height > 0 ? uri->height : settings->height,
                         .framerate = uri->framerate > 0 ? uri->framerate : settings->framerate };
}

static SlCameraWish
wish_for (const SlCameraPlan *plan)
{
  const gboolean model = plan->model_width > 0 && plan->model_height > 0;
  const SlCameraWish stated = stated_wish (plan);
  return (SlCameraWish){ .width = stated.width > 0 ? stated.width
                                  : model          ? plan->model_width
                                                   : DEFAULT_WIDTH,
                         .height = stated.height > 0 ? stated.height
                                   : model           ? plan->model_height
                                                     : DEFAULT_HEIGHT,
                         .framerate = stated.framerate > 0 ? stated.framerate : DEFAULT_RATE };
}

static gboolean
build_v4l2 (const SlCameraPlan *plan, GstBin *bin, GstElement *convert, GError **error)
{
  GstElement *source = add (bin, "v4l2src"), *filter = add (bin, "capsfilter");
  g_object_set (source, "device", plan->uri->location, NULL);
  if (gst_element_set_state (source, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
    return sl_fail (error, SL_ERROR_OPEN, "%s cannot be opened", plan->uri->location);
  const SlCameraWish wish = wish_for (plan);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (source, "src");
  g_autoptr (GstCaps) offered = gst_pad_query_caps (pad, NULL);
  g_autoptr (GstCaps) chosen = sl_camera_choose_caps (offered, plan->downstream, &wish);
  if (chosen == NULL) {
    g_autofree char *text = gst_caps_to_string (offered);
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "%s: expected raw video or JPEG, it offers %s",
                    plan->uri->location, text);
  }
  g_object_set (filter, "caps", chosen, NULL);
  if (!gst_structure_has_name (gst_caps_get_structure (chosen, 0), "image/jpeg"))
    return gst_element_link_many (source, filter, convert, NULL);
  return gst_element_link_many (source, filter, add_jpeg_decoder (plan, bin), convert, NULL);
}

/* libcamera://, pipewire:// and csi:// */

/**
 * Sensor:
 * @name: the property for the camera's name or number; @name_before: (nullable): what older
 * versions have in its place
 * @exposure: (nullable): the property for an exposure: microseconds, or with @in_ns a range of
 * nanoseconds
 * @scales: makes pictures of any size, so that one must be asked for
 * @memory: (nullable): the caps feature of its pictures, from which @converter brings them to
 * system memory
 */
typedef struct
{
  const char *element, *name, *name_before, *exposure;
  gboolean in_ns, scales;
  const char *memory, *converter;
} Sensor;

static const Sensor libcamera = { "libcamerasrc", "camera-name", NULL, "exposure-time",
                                  FALSE,          TRUE,          NULL, NULL };
static const Sensor pipewire = { "pipewiresrc", "target-object", "path", NULL,
                                 FALSE,         FALSE,           NULL,   NULL };
static const Sensor argus = { "nvarguscamerasrc",  "sensor-id", NULL,
                              "exposuretimerange", TRUE,        TRUE,
                              "memory:NVMM",       "nvvidconv" };

static gboolean
is_there (const char *element)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (element);
  return factory != NULL;
}

/* Who reads sensors of a board: NVIDIA's element where it is, else libcamera's. */
static const Sensor *
sensor_of (const SlCameraUri *uri)
{
  if (uri->kind == SL_CAMERA_PIPEWIRE)
    return &pipewire;
  return uri->kind == SL_CAMERA_CSI && is_there (argus.element) ? &argus : &libcamera;
}

static gboolean
has_property (GstElement *element, const char *name)
{
  return name != NULL && g_object_class_find_property (G_OBJECT_GET_CLASS (element), name) != NULL;
}

/* What the URI asks for and the element has no property for is refused before anything starts. */
static gboolean
check_sensor (const SlCameraUri *uri, GError **error)
{
  const Sensor *sensor = sensor_of (uri);
  g_autoptr (GstElement) source =
    gst_object_ref_sink (gst_element_factory_make (sensor->element, NULL));
  if (uri->exposure > 0 && !has_property (source, sensor->exposure)) {
    g_set_error (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "uri=%s: exposure: %s has no property for it here: expected width=, height= or framerate=",
      uri->display, sensor->element);
    return FALSE;
  }
  if (sensor == &libcamera && uri->kind == SL_CAMERA_CSI && !g_str_equal (uri->location, "0")) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "uri=%s: libcamera knows cameras by their names: expected csi://0, the first, or "
                 "libcamera://NAME; 'cam -l' lists names",
                 uri->display);
    return FALSE;
  }
  return TRUE;
}

static void
name_sensor (const Sensor *sensor, const SlCameraUri *uri, GstElement *source)
{
  const char *name = has_property (source, sensor->name) ? sensor->name : sensor->name_before;
  if (uri->location[0] != '\0' && has_property (source, name)
      && (sensor != &libcamera || uri->kind == SL_CAMERA_LIBCAMERA))
    gst_util_set_object_arg (G_OBJECT (source), name, uri->location);
  if (uri->exposure > 0) {
    const gint64 time = (gint64) uri->exposure * (sensor->in_ns ? 1000 : 1);
    g_autofree char *text =
      sensor->in_ns ? g_strdup_printf ("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, time, time)
                    : g_strdup_printf ("%" G_GINT64_FORMAT, time);
    if (has_property (source, "exposure-time-mode")) /* of newer libcamera, which leaves the time
                                                        alone unless this says so */
      gst_util_set_object_arg (G_OBJECT (source), "exposure-time-mode", "manual");
    gst_util_set_object_arg (G_OBJECT (source), sensor->exposure, text);
  }
}

static GstCaps *
sensor_caps (const SlCameraPlan *plan, const Sensor *sensor)
{
  const SlCameraWish wish = sensor->scales ? wish_for (plan) : stated_wish (plan);
  const gdouble rate = stated_wish (plan).framerate;
  GstCaps *caps = gst_caps_new_empty_simple ("video/x-raw");
  if (sensor->memory != NULL)
    gst_caps_set_features_simple (caps, gst_caps_features_new (sensor->memory, NULL));
  else if (!sensor->scales)
    gst_caps_append (caps, gst_caps_new_empty_simple ("image/jpeg"));
  if (wish.width > 0)
    gst_caps_set_simple (caps, "width", G_TYPE_INT, wish.width, NULL);
  if (wish.height > 0)
    gst_caps_set_simple (caps, "height", G_TYPE_INT, wish.height, NULL);
  if (rate > 0) {
    gint n, d;
    gst_util_double_to_fraction (rate, &n, &d);
    gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, n, d, NULL);
  }
  return caps;
}

static gboolean
build_sensor (const SlCameraPlan *plan, GstBin *bin, GstElement *convert, GError **error)
{
  const Sensor *sensor = sensor_of (plan->uri);
  const SlCameraLimits limits = limits_of (plan);
  GstElement *source = add (bin, sensor->element), *filter = add (bin, "capsfilter");
  g_autoptr (GstCaps) caps = sensor_caps (plan, sensor);
  name_sensor (sensor, plan->uri, source);
  g_object_set (filter, "caps", caps, NULL);
  if (sensor->converter != NULL)
    return gst_element_link_many (source, filter, add (bin, sensor->converter), convert, NULL);
  return gst_element_link_many (
    source, filter, sensor->scales ? convert : add_decoder (plan, bin, convert, &limits), NULL);
}

static const Kind kinds[] = {
  [SL_CAMERA_V4L2] = { "v4l2://",
                       { "v4l2src", "capsfilter", "jpegdec" },
                       probe_device,
                       build_v4l2 },
  [SL_CAMERA_RTSP] = { "rtsp://", { "rtspsrc", "queue", "decodebin" }, probe_port, build_rtsp },
  [SL_CAMERA_HTTP] = { "http://", { "souphttpsrc", "jpegdec" }, probe_port, build_http },
  [SL_CAMERA_FILE] = { "file://", { "filesrc", "decodebin" }, probe_file, build_file },
  [SL_CAMERA_TEST] = { "test://", { "videotestsrc", "capsfilter" }, NULL, build_test },
  [SL_CAMERA_LIBCAMERA] = { "libcamera://", { "libcamerasrc", "capsfilter" }, NULL, build_sensor },
  [SL_CAMERA_PIPEWIRE] = { "pipewire://",
                           { "pipewiresrc", "capsfilter", "decodebin" },
                           NULL,
                           build_sensor },
  [SL_CAMERA_CSI] = { "csi://", { "capsfilter" }, NULL, build_sensor },
};

gboolean
sl_camera_is_live (const SlCameraUri *uri, const SlCameraSettings *settings)
{
  switch (uri->kind) {
    case SL_CAMERA_FILE:
      return settings->realtime;
    case SL_CAMERA_TEST:
      return uri->test_live;
    default:
      return TRUE;
  }
}

gboolean
sl_camera_may_end (const SlCameraUri *uri)
{
  return uri->kind == SL_CAMERA_FILE || uri->kind == SL_CAMERA_TEST;
}

static gboolean
has_element (const char *name, const char *scheme, GError **error)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);
  if (factory != NULL)
    return TRUE;
  const char *package = "";
  for (guint i = 0; i < G_N_ELEMENTS (packages); i++)
    if (g_str_equal (packages[i].element, name))
      package = packages[i].package;
  g_set_error (
    error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
    "GStreamer's element '%s' is missing, which slcamera needs for %s: install %s (Debian's name "
    "of the package)",
    name, scheme, package);
  return FALSE;
}

static gboolean
check_pattern (const SlCameraUri *uri, GError **error)
{
  g_autoptr (GstElement) source =
    gst_object_ref_sink (gst_element_factory_make ("videotestsrc", NULL));
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (source), "pattern");
  GEnumClass *patterns = G_PARAM_SPEC_ENUM (spec)->enum_class;
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < patterns->n_values; i++) {
    if (g_str_equal (patterns->values[i].value_nick, uri->pattern))
      return TRUE;
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", patterns->values[i].value_nick);
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
               "uri=%s: '%s' is no pattern: expected one of %s", uri->display, uri->pattern,
               names->str);
  return FALSE;
}

gboolean
sl_camera_check (const SlCameraUri *uri, GError **error)
{
  const Kind *kind = &kinds[uri->kind];
  for (guint i = 0; i < MAX_ELEMENTS && kind->elements[i] != NULL; i++)
    if (!has_element (kind->elements[i], kind->name, error))
      return FALSE;
  if (!has_element ("videoconvert", kind->name, error))
    return FALSE;
  if (uri->kind == SL_CAMERA_TEST)
    return check_pattern (uri, error);
  if (uri->kind == SL_CAMERA_V4L2 && uri->exposure > 0) {
    g_set_error (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "uri=%s: exposure: v4l2src has no property for it: expected width=, height= or framerate=; "
      "'v4l2-ctl --set-ctrl' sets it",
      uri->display);
    return FALSE;
  }
  if (kind->build != build_sensor)
    return TRUE;
  const Sensor *sensor = sensor_of (uri);
  return has_element (sensor->element, kind->name, error)
         && (sensor->converter == NULL || has_element (sensor->converter, kind->name, error))
         && check_sensor (uri, error);
}

gboolean
sl_camera_probe (const SlCameraPlan *plan, GCancellable *cancel, GError **error)
{
  const Kind *kind = &kinds[plan->uri->kind];
  return kind->probe == NULL || kind->probe (plan, cancel, error);
}

/* Refused caps are an error at once: a demuxer may have read all of a short file by then, and
 * nobody else would tell. */
static GstPadProbeReturn
check_caps (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;
  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  /* By what the elements behind it take, too; videoconvert answers accept-caps queries for itself
   * alone. */
  g_autoptr (GstCaps) taken = gst_pad_query_caps (pad, NULL);
  if (!gst_caps_can_intersect (caps, taken)) {
    g_autoptr (GstElement) convert = gst_pad_get_parent_element (pad);
    refuse_caps (convert);
  }
  return GST_PAD_PROBE_OK;
}

/* Interlaced frames are deinterlaced at the same frame rate; progressive frames pass through
 * unchanged. Where deinterlace is not installed, a downstream element that takes no interlaced
 * video refuses the caps with an error message. */
static GstElement *
add_deinterlacer (GstBin *pipeline)
{
  if (!is_there ("deinterlace"))
    return NULL;
  GstElement *deinterlace = add (pipeline, "deinterlace");
  gst_util_set_object_arg (G_OBJECT (deinterlace), "fields", "top");
  return deinterlace;
}

gboolean
sl_camera_build (const SlCameraPlan *plan, GstBin *pipeline, GstElement *sink, GError **error)
{
  GstElement *convert = add (pipeline, "videoconvert");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (convert, "sink");
  const SlCameraLimits limits = limits_of (plan);
  sl_camera_limit_frames (convert, &limits);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, check_caps, NULL, NULL);
  if (plan->settings->realtime && plan->uri->kind == SL_CAMERA_FILE)
    g_object_set (sink, "sync", TRUE, "async", TRUE, NULL);
  GstElement *deinterlace = add_deinterlacer (pipeline);
  const gboolean linked = deinterlace != NULL
                            ? gst_element_link_many (convert, deinterlace, sink, NULL)
                            : gst_element_link (convert, sink);
  return linked && kinds[plan->uri->kind].build (plan, pipeline, convert, error);
}
