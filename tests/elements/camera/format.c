/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which format of a camera is chosen. The lists are such as USB cameras give: raw at full rate when
 * small, at a few frames a second when large, JPEG for the rest.
 */
#include "plugins/camera/format.h"

#include "tests/elements/support.h"
#include "tests/support/program.h"

#define USB                                                                                      \
  "image/jpeg, width=1920, height=1080, framerate={30/1, 15/1}; image/jpeg, width=1280, "        \
  "height=720, framerate=30/1; image/jpeg, width=640, height=480, framerate={30/1, 15/1};"       \
  "video/x-raw, format=YUY2, width=1920, height=1080, framerate=5/1; video/x-raw, format=YUY2, " \
  "width=1280, height=720,framerate=10/1; video/x-raw, format=YUY2, width=640, height=480, "     \
  "framerate={30/1, 15/1};video/x-raw, format=YUY2, width=320, height=240, framerate=30/1"
#define RANGES                                                                                   \
  "video/x-raw, format={RGB, NV12}, width=[32, 2592, 2], height=[32, 1944, 2], framerate=[1/1, " \
  "90/1]"
#define ALL "video/x-raw"
#define YUV "video/x-raw, format={NV12, YUY2, I420}"

static const struct
{
  const char *name, *device, *downstream;
  SlCameraWish wish;
  const char *expected;
} cases[] = {
  { "raw-before-jpeg",
    USB,
    YUV,
    { 300, 300, 25 },
    "video/x-raw, format=YUY2, width=640, height=480, framerate=30/1" },
  { "small-is-enough",
    USB,
    YUV,
    { 224, 224, 25 },
    "video/x-raw, format=YUY2, width=320, height=240, framerate=30/1" },
  { "rate-before-cost",
    USB,
    YUV,
    { 1280, 720, 25 },
    "image/jpeg, width=1280, height=720, framerate=30/1" },
  { "slow-raw-is-enough",
    USB,
    YUV,
    { 1280, 720, 5 },
    "video/x-raw, format=YUY2, width=1280, height=720, framerate=10/1" },
  { "rate-no-higher-than-wanted",
    USB,
    YUV,
    { 640, 480, 10 },
    "video/x-raw, format=YUY2, width=640, height=480, framerate=15/1" },
  { "29.97-is-30",
    "video/x-raw, format=YUY2, width=640, height=480, framerate=30000/1001; image/jpeg, width=640, "
    "height=480, framerate=30/1",
    YUV,
    { 640, 480, 30 },
    "video/x-raw, format=YUY2, width=640, height=480, framerate=30000/1001" },
  { "larger-than-offered",
    USB,
    YUV,
    { 4000, 3000, 25 },
    "image/jpeg, width=1920, height=1080, framerate=30/1" },
  { "downstream-size",
    USB,
    "video/x-raw, width=1280, height=720",
    { 300, 300, 5 },
    "video/x-raw, format=YUY2, width=1280, height=720, framerate=10/1" },
  { "format-downstream-takes",
    RANGES,
    YUV,
    { 300, 301, 25 },
    "video/x-raw, format=NV12, width=300, height=302, framerate=25/1" },
  { "other-format",
    RANGES,
    "video/x-raw, format=RGB",
    { 3000, 1, 100 },
    "video/x-raw, format=RGB, width=2592, height=32, framerate=90/1" },
  { "bayer-is-nothing",
    "video/x-bayer, format=rggb, width=640, height=480, framerate=30/1",
    ALL,
    { 1, 1, 1 },
    NULL },
  { "h264-is-nothing",
    "video/x-h264, width=640, height=480, framerate=30/1",
    ALL,
    { 1, 1, 1 },
    NULL },
};

static void
test_choose (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstCaps) device = gst_caps_from_string (cases[i].device);
    g_autoptr (GstCaps) downstream = gst_caps_from_string (cases[i].downstream);
    g_autoptr (GstCaps) chosen = sl_camera_choose_caps (device, downstream, &cases[i].wish);
    g_autofree char *text = chosen != NULL ? gst_caps_to_string (chosen) : g_strdup ("nothing");
    g_test_message ("%s: %s", cases[i].name, text);
    g_assert_true ((chosen == NULL) == (cases[i].expected == NULL));
    g_autoptr (GstCaps) expected =
      cases[i].expected != NULL ? gst_caps_from_string (cases[i].expected) : NULL;
    if (expected != NULL && !gst_caps_is_equal (chosen, expected))
      g_error ("%s: expected %s, got %s", cases[i].name, cases[i].expected, text);
  }
}

/* The model says uint8[1,4,4,3]; through anything that passes frames on, and not before there is
 * one. */
static void
test_model_size (void)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *launch = g_strdup_printf (
    "identity name=start ! queue ! tee name=t ! queue ! slnormalize ! slinfer model=%s ! fakesink "
    "t. ! fakesink",
    model);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL),
                         start = gst_bin_get_by_name (GST_BIN (pipeline), "start");
  g_autoptr (GstPad) src = gst_element_get_static_pad (start, "src");
  gint width, height;
  g_assert_false (sl_camera_model_size (src, &width, &height));
  gst_element_set_state (pipeline, GST_STATE_READY);
  g_assert_true (sl_camera_model_size (src, &width, &height));
  g_assert_cmpint (width, ==, 4);
  g_assert_cmpint (height, ==, 4);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  test_remove_file (model);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/cameraformat/choose", test_choose);
  g_test_add_func ("/cameraformat/model-size", test_model_size);
  return test_elements_run ();
}
