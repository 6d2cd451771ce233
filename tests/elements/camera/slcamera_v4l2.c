/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera and devices. The real one is tested where /dev/video0 exists. Elsewhere the element
 * v4l2src is replaced by one with the same name, property, errors and kind of caps, which reads the
 * caps it offers from the "device", a file: what is tested so is slcamera's part (which format,
 * what happens when the node goes and comes), not the driver's.
 */
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/base/gstpushsrc.h>
#include <unistd.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define REAL_DEVICE "/dev/video0"
#define FAST "reconnect-min=50 reconnect-max=60000 stall-timeout=1000"
#define USB                                                                                       \
  "image/jpeg, width=1280, height=720, framerate=30/1; video/x-raw, format=YUY2, width=1280, "    \
  "height=720, framerate=10/1; video/x-raw, format=YUY2, width=640, height=480, framerate=30/1; " \
  "video/x-raw, format=YUY2, width=320, height=240, framerate=30/1"

typedef struct
{
  GstPushSrc parent;
  char *device;
  GstCaps *offered;  /* while open */
  GstVideoInfo info; /* of raw caps */
  GstBuffer *jpeg;   /* of others */
} Device;

typedef GstPushSrcClass DeviceClass;

GType device_get_type (void);
G_DEFINE_TYPE (Device, device, GST_TYPE_PUSH_SRC)

static GstStaticPadTemplate device_template =
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GstStateChangeReturn
device_change_state (GstElement *element, GstStateChange transition)
{
  Device *self = (Device *) element;
  g_autofree char *text = NULL;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    if (!g_file_get_contents (self->device, &text, NULL, NULL)) {
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("Cannot identify device '%s'.", self->device),
                         (NULL));
      return GST_STATE_CHANGE_FAILURE;
    }
    self->offered = gst_caps_from_string (text);
  }
  const GstStateChangeReturn result =
    GST_ELEMENT_CLASS (device_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_clear_caps (&self->offered);
  return result;
}

static GstCaps *
device_get_caps (GstBaseSrc *source, GstCaps *filter)
{
  Device *self = (Device *) source;
  GstCaps *caps = self->offered != NULL ? gst_caps_ref (self->offered) : gst_caps_new_any ();
  GstCaps *filtered = filter != NULL ? gst_caps_intersect (caps, filter) : gst_caps_ref (caps);
  gst_caps_unref (caps);
  return filtered;
}

static GstBuffer *
make_jpeg (void)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48 ! jpegenc ! fakesink "
    "name=sink",
    NULL);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstSample) sample = NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_object_get (sink, "last-sample", &sample, NULL);
  GstBuffer *jpeg = gst_buffer_copy_deep (gst_sample_get_buffer (sample));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return jpeg;
}

static gboolean
device_set_caps (GstBaseSrc *source, GstCaps *caps)
{
  Device *self = (Device *) source;
  if (gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw"))
    return gst_video_info_from_caps (&self->info, caps);
  self->jpeg = self->jpeg != NULL ? self->jpeg : make_jpeg ();
  return TRUE;
}

static GstFlowReturn
device_create (GstPushSrc *source, GstBuffer **buffer)
{
  Device *self = (Device *) source;
  g_usleep (G_USEC_PER_SEC / 50);
  if (!g_file_test (self->device, G_FILE_TEST_EXISTS)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("Could not read from resource."),
                       ("poll error 1: No such device (19)"));
    return GST_FLOW_ERROR;
  }
  if (self->jpeg != NULL) {
    *buffer = gst_buffer_copy_deep (self->jpeg);
    GST_BUFFER_PTS (*buffer) = GST_BUFFER_DTS (*buffer) = GST_CLOCK_TIME_NONE;
    return GST_FLOW_OK;
  }
  *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&self->info), NULL);
  gst_buffer_memset (*buffer, 0, 128, -1);
  return GST_FLOW_OK;
}

static void
device_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  Device *self = (Device *) object;
  g_free (self->device);
  self->device = g_value_dup_string (value);
}

static void
device_finalize (GObject *object)
{
  Device *self = (Device *) object;
  g_free (self->device);
  gst_clear_buffer (&self->jpeg);
  G_OBJECT_CLASS (device_parent_class)->finalize (object);
}

static void
device_class_init (DeviceClass *klass)
{
  G_OBJECT_CLASS (klass)->set_property = device_set_property;
  G_OBJECT_CLASS (klass)->finalize = device_finalize;
  GST_ELEMENT_CLASS (klass)->change_state = device_change_state;
  GST_BASE_SRC_CLASS (klass)->get_caps = device_get_caps;
  GST_BASE_SRC_CLASS (klass)->set_caps = device_set_caps;
  klass->create = device_create;
  g_object_class_install_property (
    G_OBJECT_CLASS (klass), 1,
    g_param_spec_string ("device", NULL, NULL, NULL, G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &device_template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Test device", "Source/Video",
                                         "Stands in for v4l2src", "-");
}

static void
device_init (Device *self)
{
  gst_base_src_set_live (GST_BASE_SRC (self), TRUE);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_do_timestamp (GST_BASE_SRC (self), TRUE);
}

static TestCamera *
camera_for (const char *path, const char *properties, const char *downstream)
{
  g_autofree char *uri = g_strdup_printf ("v4l2://%s", path);
  return test_camera_new (uri, properties, downstream);
}

/* A slow raw format loses against nothing it could deliver in time; the sizes are what the
 * properties or the model want. */
static void
test_choice (void)
{
  g_autofree char *path = test_text_file ("video0", USB), *model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *to_model = g_strdup_printf ("slnormalize name=n ! slinfer model=%s", model);
  static const struct
  {
    const char *properties;
    gint width;
  } cases[] = { { FAST " width=600 height=400", 640 },
                { FAST " width=100 height=100", 320 },
                { FAST " framerate=5", 1280 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (TestCamera) camera = camera_for (path, cases[i].properties, NULL);
    test_camera_play (camera, GST_STATE_PLAYING);
    test_camera_wait_frames (camera, 2);
    g_assert_cmpint (camera->width, ==, cases[i].width);
  }
  g_autoptr (TestCamera) camera = camera_for (path, FAST, to_model);
  test_camera_play (camera, GST_STATE_PLAYING);
  g_autoptr (GstStructure) playing = test_camera_wait (camera, "playing");
  const GstCaps *caps = gst_value_get_caps (gst_structure_get_value (playing, "caps"));
  gint width = 0;
  g_assert_true (gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width));
  g_assert_cmpint (width, ==, 320);
  test_camera_stop (camera);
  test_remove_file (path);
  test_remove_file (model);
}

/* And what the device gave is at the pad encoded, byte for byte. */
static void
test_jpeg (void)
{
  g_autofree char *path =
    test_text_file ("video0", "image/jpeg, width=64, height=48, framerate=30/1");
  g_autoptr (TestCamera) camera = camera_for (path, FAST, NULL);
  GstElement *encoded = gst_element_factory_make ("appsink", NULL);
  g_object_set (encoded, "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add (GST_BIN (camera->pipeline), encoded);
  g_assert_true (gst_element_link_pads (camera->camera, "encoded", encoded, "sink"));
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 3);
  g_autoptr (GstSample) sample = gst_app_sink_pull_sample (GST_APP_SINK (encoded));
  g_autoptr (GstBuffer) jpeg = make_jpeg ();
  GstMapInfo map;
  g_assert_true (gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, gst_buffer_get_size (jpeg));
  g_assert_cmpint (gst_buffer_memcmp (jpeg, 0, map.data, map.size), ==, 0);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  g_assert_cmpint (camera->width, ==, 64);
  g_assert_false (camera->backwards);
  test_camera_stop (camera);
  test_remove_file (path);
}

/* The longest delay is a minute: only the node's return can bring frames back in time, also where
 * it is back before anybody has looked. */
static void
test_replug (void)
{
  g_autofree char *path = test_text_file ("video0", USB);
  g_autofree char *other = g_strconcat (path, ".unplugged", NULL);
  g_autoptr (TestCamera) camera =
    camera_for (path, "reconnect-min=60000 reconnect-max=60000 framerate=5", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  for (guint i = 0; i < 2; i++) {
    test_camera_wait_frames (camera, 3);
    g_assert_cmpint (g_rename (path, other), ==, 0);
    test_camera_wait_text (camera, GST_MESSAGE_WARNING,
                           "Could not read from resource. (poll error 1: No such device (19))");
    gst_structure_free (test_camera_wait (camera, "reconnecting"));
    if (i == 0)
      g_usleep (G_USEC_PER_SEC);
    g_assert_cmpint (g_rename (other, path), ==, 0);
  }
  test_camera_wait_frames (camera, 3);
  g_assert_false (camera->backwards);
  test_camera_stop (camera);
  test_remove_file (path);
}

static void
test_errors (void)
{
  g_autoptr (TestCamera) absent = camera_for ("/dev/video-absent", FAST, NULL);
  test_camera_play (absent, GST_STATE_PLAYING);
  test_camera_expect (
    absent, "reconnecting",
    "there is no /dev/video-absent: is the camera plugged in? 'v4l2-ctl --list-devices' lists "
    "cameras");
  g_autofree char *path =
    test_text_file ("video0", "video/x-h264, width=640, height=480, framerate=30/1");
  g_autoptr (TestCamera) strange = camera_for (path, FAST, NULL);
  test_camera_play (strange, GST_STATE_PLAYING);
  test_camera_expect (strange, "reconnecting",
                      "expected raw video or JPEG, it offers video/x-h264");
  test_camera_stop (strange);
  if (geteuid () != 0) {
    g_assert_cmpint (g_chmod (path, 0), ==, 0);
    g_autoptr (TestCamera) closed = camera_for (path, FAST, NULL);
    test_camera_play (closed, GST_STATE_PLAYING);
    test_camera_expect (closed, "reconnecting",
                        "permission denied; add this user to the group that 'ls -l ");
  }
  test_remove_file (path);
}

static void
test_real (void)
{
  if (g_access (REAL_DEVICE, R_OK | W_OK) != 0) {
    g_test_skip ("no " REAL_DEVICE);
    return;
  }
  g_autoptr (TestCamera) camera = camera_for (REAL_DEVICE, "width=320 height=240", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  test_camera_wait_frames (camera, 10);
  g_assert_false (camera->backwards);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slcamera/v4l2/real", test_real);
  if (g_access (REAL_DEVICE, R_OK | W_OK) != 0) {
    g_assert_true (gst_element_register (NULL, "v4l2src", GST_RANK_NONE, device_get_type ()));
    g_test_add_func ("/slcamera/v4l2/choice", test_choice);
    g_test_add_func ("/slcamera/v4l2/jpeg", test_jpeg);
    g_test_add_func ("/slcamera/v4l2/replug", test_replug);
    g_test_add_func ("/slcamera/v4l2/errors", test_errors);
  }
  return test_elements_run ();
}
