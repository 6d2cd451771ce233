/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sltrack camera-motion=true before a camera that jerks over a drawn scene: ids of people who stand
 * side by side. */
#include "tests/elements/people.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/texture.h"

/* Where the camera looks, frame by frame: still, then jerks farther than from person to person. */
static const gint jerks[][2] = { { 0, 0 },   { 0, 0 },   { 0, 0 },   { 0, 0 }, { 44, 6 },
                                 { -10, 0 }, { 36, 20 }, { 60, -8 }, { 0, 0 }, { 0, 0 } };

static GstBuffer *
scene (guint i)
{
  static const TestClothes clothes = { { 240, 240, 240 }, { 20, 20, 20 } };
  GstBuffer *buffer = test_people_frame (i);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gint n = 0; n < TEST_PEOPLE_WIDTH * TEST_PEOPLE_HEIGHT; n++)
    map.data[3 * n] = map.data[3 * n + 1] = map.data[3 * n + 2] =
      texture_at (n % TEST_PEOPLE_WIDTH - jerks[i][0], n / TEST_PEOPLE_WIDTH - jerks[i][1]);
  gst_buffer_unmap (buffer, &map);
  for (guint k = 0; k < 3; k++)
    test_people_add (buffer, (guint) (80 + 40 * (gint) k + jerks[i][0]), (guint) (90 + jerks[i][1]),
                     clothes);
  return buffer;
}

/* Frames in which a person has another id than at first. */
static guint
count_wrong (const char *properties, const char *format)
{
  g_autofree char *launch =
    g_strdup_printf ("videoconvert ! video/x-raw,format=%s ! sltrack %s", format, properties);
  TestLine line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  guint wrong = 0;
  for (guint i = 0; i < G_N_ELEMENTS (jerks); i++) {
    g_assert_cmpint (gst_harness_push (line.harness, scene (i)), ==, GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull (line.harness);
    for (guint k = 0; k < 3; k++)
      wrong += test_id_at (out, (guint) (80 + 40 * (gint) k + jerks[i][0])) != (gint) k + 1;
    gst_buffer_unref (out);
  }
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  return wrong;
}

static void
test_jerks (void)
{
  static const char *const formats[] = { "RGB", "I420", "NV12", "YUY2", "BGRx", "GRAY8" };
  g_assert_cmpuint (count_wrong ("", "RGB"), >, 3);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    g_assert_cmpuint (count_wrong ("camera-motion=true", formats[i]), ==, 0);
}

/* With OC-SORT what was seen before moves, too. */
static void
test_observed (void)
{
  g_assert_cmpuint (count_wrong ("camera-motion=true observation-centred=true", "RGB"), ==, 0);
}

static void
test_format (void)
{
  TestLine line = test_line_open ("sltrack camera-motion=true", NULL, NULL);
  gst_harness_set_src_caps_str (line.harness,
                                "video/x-raw,format=P010_10LE,width=320,height=240,framerate=25/1");
  test_assert_error (
    line.bus,
    "pixel format P010_10LE is not supported; expected one of { NV12, NV21, I420, "
    "YV12, YUY2, UYVY, Y42B, Y444, GRAY8, RGB, BGR, RGBx, BGRx, RGBA, BGRA, xRGB, "
    "ARGB, xBGR, ABGR, RGBP }: put videoconvert before sltrack with camera-motion=",
    NULL);
  test_line_close (line.harness, line.bus);
}

/* Formats that upstream can convert, or choose, are no error. */
static void
test_converted (void)
{
  static const struct
  {
    const char *caps, *launch, *format;
  } cases[] = {
    { "video/x-raw,format=v210,width=48,height=32,framerate=25/1",
      "videoconvert ! sltrack camera-motion=true", NULL },
    { "video/x-raw,format=P010_10LE,width=48,height=32,framerate=25/1",
      "videoconvert ! queue ! sltrack ! identity ! sltrack camera-motion=true", NULL },
    { "video/x-raw,format=P010_10LE,width=48,height=32,framerate=25/1", "videoconvert ! sltrack",
      "P010_10LE" },
    { "video/x-raw,format=NV12,width=48,height=32,framerate=25/1",
      "videoconvert ! sltrack camera-motion=true", "NV12" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    TestLine line = test_line_open (cases[i].launch, NULL, cases[i].caps);
    GstVideoInfo info;
    g_autoptr (GstCaps) caps = gst_caps_from_string (cases[i].caps);
    g_assert_true (gst_video_info_from_caps (&info, caps));
    GstBuffer *in = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
    gst_buffer_memset (in, 0, 0, GST_VIDEO_INFO_SIZE (&info));
    GST_BUFFER_PTS (in) = 0;
    g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (line.harness));
    test_assert_no_error (line.bus);
    if (cases[i].format != NULL) {
      g_autoptr (GstCaps) got = gst_pad_get_current_caps (line.harness->sinkpad);
      g_assert_cmpstr (gst_structure_get_string (gst_caps_get_structure (got, 0), "format"), ==,
                       cases[i].format);
    }
    test_line_close (line.harness, line.bus);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/sltrack/camera/jerks", test_jerks);
  g_test_add_func ("/sltrack/camera/observed", test_observed);
  g_test_add_func ("/sltrack/camera/format", test_format);
  g_test_add_func ("/sltrack/camera/converted", test_converted);
  return test_elements_run ();
}
