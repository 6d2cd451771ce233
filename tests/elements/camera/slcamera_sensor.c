/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera and cameras of a board or a desktop. The elements of libcamera, PipeWire and NVIDIA are
 * replaced by one with their names and properties: what is tested so is slcamera's part (what it
 * asks for, what happens when the camera fails, falls silent and comes back).
 */
#include <gst/base/gstbasetransform.h>
#include <gst/base/gstpushsrc.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define FAST "reconnect-min=50 reconnect-max=200 stall-timeout=1000"
#define NVMM "memory:NVMM"

/* What all stand-ins do. */
enum
{
  WORKS,
  SILENT,
  FAILS
};
static gint state; /* atomic */

typedef struct
{
  GstPushSrc parent;
  GstVideoInfo info;
} Sensor;

typedef GstPushSrcClass SensorClass;

/* What was asked for last. */
static GMutex lock;
static char *asked_name, *asked_exposure, *asked_mode;

GType sensor_get_type (void);
G_DEFINE_TYPE (Sensor, sensor, GST_TYPE_PUSH_SRC)

static GstStaticPadTemplate sensor_template = GST_STATIC_PAD_TEMPLATE (
  "src", GST_PAD_SRC, GST_PAD_ALWAYS,
  GST_STATIC_CAPS (
    "video/x-raw, format=NV12, width=[16,1920], height=[16,1080], framerate=[1/1,60/1]; "
    "video/x-raw(" NVMM "), format=NV12, width=[16,1920], height=[16,1080], framerate=[1/1,60/1]"));

static GstCaps *
sensor_fixate (GstBaseSrc *source, GstCaps *caps)
{
  caps = gst_caps_make_writable (gst_caps_truncate (caps));
  gst_structure_fixate_field_nearest_int (gst_caps_get_structure (caps, 0), "width", 1920);
  return GST_BASE_SRC_CLASS (sensor_parent_class)->fixate (source, caps);
}

static gboolean
sensor_set_caps (GstBaseSrc *source, GstCaps *caps)
{
  return gst_video_info_from_caps (&((Sensor *) source)->info, caps);
}

static GstFlowReturn
sensor_create (GstPushSrc *source, GstBuffer **buffer)
{
  Sensor *self = (Sensor *) source;
  do
    g_usleep (G_USEC_PER_SEC / 50);
  while (g_atomic_int_get (&state) == SILENT && !GST_PAD_IS_FLUSHING (GST_BASE_SRC_PAD (self)));
  if (g_atomic_int_get (&state) == FAILS) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("The sensor has gone."), (NULL));
    return GST_FLOW_ERROR;
  }
  *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&self->info), NULL);
  gst_buffer_memset (*buffer, 0, 128, -1);
  return GST_FLOW_OK;
}

static void
sensor_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GValue text = G_VALUE_INIT;
  g_value_init (&text, G_TYPE_STRING);
  g_value_transform (value, &text);
  char **asked = id <= 3 ? &asked_name : id <= 5 ? &asked_exposure : &asked_mode;
  g_mutex_lock (&lock);
  g_free (*asked);
  *asked = g_value_dup_string (&text);
  g_mutex_unlock (&lock);
  g_value_unset (&text);
}

static void
sensor_class_init (SensorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;
  object_class->set_property = sensor_set_property;
  GST_BASE_SRC_CLASS (klass)->fixate = sensor_fixate;
  GST_BASE_SRC_CLASS (klass)->set_caps = sensor_set_caps;
  klass->create = sensor_create;
  g_object_class_install_property (object_class, 1,
                                   g_param_spec_string ("camera-name", NULL, NULL, NULL, flags));
  g_object_class_install_property (object_class, 2,
                                   g_param_spec_string ("target-object", NULL, NULL, NULL, flags));
  g_object_class_install_property (object_class, 3,
                                   g_param_spec_int ("sensor-id", NULL, NULL, 0, 255, 0, flags));
  g_object_class_install_property (
    object_class, 4, g_param_spec_int ("exposure-time", NULL, NULL, 0, G_MAXINT, 0, flags));
  g_object_class_install_property (
    object_class, 5, g_param_spec_string ("exposuretimerange", NULL, NULL, NULL, flags));
  g_object_class_install_property (
    object_class, 6, g_param_spec_string ("exposure-time-mode", NULL, NULL, NULL, flags));
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &sensor_template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Test sensor", "Source/Video",
                                         "Stands in for a camera", "-");
}

static void
sensor_init (Sensor *self)
{
  gst_base_src_set_live (GST_BASE_SRC (self), TRUE);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_do_timestamp (GST_BASE_SRC (self), TRUE);
}

/* Stands in for nvvidconv: takes the feature off. */
typedef GstBaseTransform Converter;
typedef GstBaseTransformClass ConverterClass;

GType converter_get_type (void);
G_DEFINE_TYPE (Converter, converter, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate converter_sink = GST_STATIC_PAD_TEMPLATE (
  "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw(" NVMM ")"));
static GstStaticPadTemplate converter_src =
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("video/x-raw"));

static GstCaps *
converter_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                          GstCaps *filter)
{
  GstCaps *other = gst_caps_copy (caps);
  for (guint i = 0; i < gst_caps_get_size (other); i++)
    gst_caps_set_features (other, i,
                           direction == GST_PAD_SINK ? NULL : gst_caps_features_new (NVMM, NULL));
  if (filter == NULL)
    return other;
  GstCaps *filtered = gst_caps_intersect (other, filter);
  gst_caps_unref (other);
  return filtered;
}

static GstFlowReturn
converter_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  return GST_FLOW_OK;
}

static void
converter_class_init (ConverterClass *klass)
{
  klass->transform_caps = converter_transform_caps;
  klass->transform_ip = converter_transform_ip;
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &converter_sink);
  gst_element_class_add_static_pad_template (GST_ELEMENT_CLASS (klass), &converter_src);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass), "Test converter", "Filter",
                                         "Stands in for nvvidconv", "-");
}

static void
converter_init (Converter *self)
{
}

static void
stand_in (const char *name, GType type)
{
  g_autoptr (GstPluginFeature) there = gst_registry_lookup_feature (gst_registry_get (), name);
  if (there != NULL)
    gst_registry_remove_feature (gst_registry_get (), there);
  g_assert_true (gst_element_register (NULL, name, GST_RANK_NONE, type));
}

static void
expect_asked (const char *name, const char *exposure)
{
  g_mutex_lock (&lock);
  g_assert_cmpstr (asked_name, ==, name);
  g_assert_cmpstr (asked_exposure, ==, exposure);
  g_assert_cmpstr (asked_mode, ==, exposure != NULL ? "manual" : NULL);
  g_clear_pointer (&asked_name, g_free);
  g_clear_pointer (&asked_exposure, g_free);
  g_clear_pointer (&asked_mode, g_free);
  g_mutex_unlock (&lock);
}

/* What the URI says goes where the element has it; a size where the element makes any, else only
 * one that is asked for. */
static void
test_asked (void)
{
  static const struct
  {
    const char *uri, *properties, *name, *exposure;
    gint width, height;
  } cases[] = {
    { "libcamera://", FAST, NULL, NULL, 1280, 720 },
    { "libcamera:///base/i2c@1/imx219@10?width=640&height=480&exposure=5000", FAST " width=320",
      "/base/i2c@1/imx219@10", "5000", 640, 480 },
    { "libcamera://", FAST " width=320 height=240", NULL, NULL, 320, 240 },
    { "pipewire://40", FAST, "40", NULL, 1920, 1 },
    { "pipewire://camera?width=800&height=600&framerate=15", FAST, "camera", NULL, 800, 600 },
    { "csi://1?exposure=5000", FAST, "1", "5000000 5000000", 1280, 720 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (TestCamera) camera = test_camera_new (cases[i].uri, cases[i].properties, NULL);
    g_test_message ("%s", cases[i].uri);
    test_camera_play (camera, GST_STATE_PLAYING);
    test_camera_wait_frames (camera, 2);
    g_assert_cmpint (camera->width, ==, cases[i].width);
    g_assert_true (camera->height == cases[i].height || cases[i].height == 1);
    expect_asked (cases[i].name, cases[i].exposure);
  }
}

/* As any camera: it fails and comes back, falls silent and comes back. */
static void
test_recovery (void)
{
  static const char *const uris[] = { "libcamera://one", "pipewire://one" };
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++) {
    g_autoptr (TestCamera) camera = test_camera_new (uris[i], FAST, NULL);
    test_camera_play (camera, GST_STATE_PLAYING);
    test_camera_wait_frames (camera, 2);
    g_atomic_int_set (&state, FAILS);
    test_camera_expect (camera, "reconnecting", "The sensor has gone.");
    g_atomic_int_set (&state, WORKS);
    gst_structure_free (test_camera_wait (camera, "playing"));
    test_camera_wait_frames (camera, 2);
    g_atomic_int_set (&state, SILENT);
    gst_structure_free (test_camera_wait (camera, "stalled"));
    g_atomic_int_set (&state, WORKS);
    gst_structure_free (test_camera_wait (camera, "playing"));
    test_camera_wait_frames (camera, 2);
    g_assert_false (camera->backwards);
    test_camera_stop (camera);
  }
}

/* Options that the element has nothing for, and elements that are not there. */
static void
test_refused (void)
{
  static const struct
  {
    const char *uri, *message;
  } cases[] = {
    { "pipewire://40?exposure=5000",
      "uri=pipewire://40?exposure=5000: exposure: pipewiresrc has no property for it here: "
      "expected width=, height= or framerate=" },
    { "v4l2:///dev/video0?exposure=5000",
      "exposure: v4l2src has no property for it: expected width=, height= or framerate=" },
    { "libcamera://?zoom=2",
      "'zoom=2' is no option of a camera: expected width=PIXELS, height=PIXELS, framerate=NUMBER "
      "or exposure=MICROSECONDS" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (TestCamera) camera = test_camera_new (cases[i].uri, NULL, NULL);
    g_assert_cmpint (gst_element_set_state (camera->pipeline, GST_STATE_PLAYING), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (camera->bus, cases[i].message, NULL);
  }
}

static void
test_missing (void)
{
  static const struct
  {
    const char *element, *uri, *message;
  } cases[] = {
    { "pipewiresrc", "pipewire://40",
      "element 'pipewiresrc' is missing, which slcamera needs for pipewire://: install "
      "gstreamer1.0-pipewire" },
    { "nvvidconv", "csi://0",
      "element 'nvvidconv' is missing, which slcamera needs for csi://: install "
      "nvidia-l4t-gstreamer" },
    { "nvarguscamerasrc", "csi://1",
      "uri=csi://1: libcamera knows cameras by their names: expected csi://0, the first, or "
      "libcamera://NAME" },
    { "libcamerasrc", "libcamera://",
      "element 'libcamerasrc' is missing, which slcamera needs for libcamera://: install "
      "gstreamer1.0-libcamera" },
    { "libcamerasrc", "csi://0",
      "element 'libcamerasrc' is missing, which slcamera needs for csi://: install "
      "gstreamer1.0-libcamera" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstPluginFeature *feature = gst_registry_lookup_feature (gst_registry_get (), cases[i].element);
    if (feature != NULL)
      gst_registry_remove_feature (gst_registry_get (), feature);
    gst_clear_object (&feature);
    g_autoptr (TestCamera) camera = test_camera_new (cases[i].uri, NULL, NULL);
    g_assert_cmpint (gst_element_set_state (camera->pipeline, GST_STATE_PLAYING), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (camera->bus, cases[i].message, NULL);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  stand_in ("libcamerasrc", sensor_get_type ());
  stand_in ("pipewiresrc", sensor_get_type ());
  stand_in ("nvarguscamerasrc", sensor_get_type ());
  stand_in ("nvvidconv", converter_get_type ());
  g_test_add_func ("/slcamera/sensor/asked", test_asked);
  g_test_add_func ("/slcamera/sensor/recovery", test_recovery);
  g_test_add_func ("/slcamera/sensor/refused", test_refused);
  g_test_add_func ("/slcamera/sensor/missing", test_missing); /* takes them away */
  return test_elements_run ();
}
