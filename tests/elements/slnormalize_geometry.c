/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slnormalize's crop, orientation, filters, half floats and threads on a picture of eight pixels,
 * whose tensors anyone can write down.
 */
#include <math.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

/* 0 10 20 30
 * 40 50 60 70 */
#define PICTURE_CAPS "video/x-raw,format=GRAY8,width=4,height=2,framerate=25/1"
#define TENSOR(dims, type)                                                                    \
  "other/tensors,format=static,num_tensors=1,dimensions=(string)" dims ",types=(string)" type \
  ",framerate=25/1"

typedef struct
{
  const char *name, *element, *sink; /* @sink NULL: anything */
  const char *tag;                   /* (nullable): the stream's image-orientation */
  guint8 expected[8];
  guint n;
  double corner[2]; /* of the frame, where the tensor's upper left corner lies */
} Case;

static const Case cases[] = {
  { "identity",
    "video-direction=identity",
    NULL,
    NULL,
    { 0, 10, 20, 30, 40, 50, 60, 70 },
    8,
    { 0, 0 } },
  { "90r",
    "video-direction=90r",
    TENSOR ("1:2:4:1", "uint8"),
    NULL,
    { 40, 0, 50, 10, 60, 20, 70, 30 },
    8,
    { 0, 2 } },
  { "90r-alone",
    "video-direction=90r",
    NULL,
    NULL,
    { 40, 0, 50, 10, 60, 20, 70, 30 },
    8,
    { 0, 2 } },
  { "180", "video-direction=180", NULL, NULL, { 70, 60, 50, 40, 30, 20, 10, 0 }, 8, { 4, 2 } },
  { "90l", "video-direction=90l", NULL, NULL, { 30, 70, 20, 60, 10, 50, 0, 40 }, 8, { 4, 0 } },
  { "horiz", "video-direction=horiz", NULL, NULL, { 30, 20, 10, 0, 70, 60, 50, 40 }, 8, { 4, 0 } },
  { "vert", "video-direction=vert", NULL, NULL, { 40, 50, 60, 70, 0, 10, 20, 30 }, 8, { 0, 2 } },
  { "ul-lr", "video-direction=ul-lr", NULL, NULL, { 0, 40, 10, 50, 20, 60, 30, 70 }, 8, { 0, 0 } },
  { "ur-ll", "video-direction=ur-ll", NULL, NULL, { 70, 30, 60, 20, 50, 10, 40, 0 }, 8, { 4, 2 } },
  { "tag",
    "",
    TENSOR ("1:2:4:1", "uint8"),
    "rotate-90",
    { 40, 0, 50, 10, 60, 20, 70, 30 },
    8,
    { 0, 2 } },
  { "tag-overruled",
    "video-direction=identity",
    NULL,
    "rotate-180",
    { 0, 10, 20, 30, 40, 50, 60, 70 },
    8,
    { 0, 0 } },
  { "crop", "crop-x=1 crop-width=2", NULL, NULL, { 10, 20, 50, 60 }, 4, { 1, 0 } },
  { "crop-rest", "crop-x=2 crop-y=1", NULL, NULL, { 60, 70 }, 2, { 2, 1 } },
  { "crop-turned",
    "crop-x=1 crop-width=2 video-direction=90r",
    NULL,
    NULL,
    { 50, 10, 60, 20 },
    4,
    { 1, 2 } },
  { "area", "filter=area width=2 height=1", NULL, NULL, { 25, 45 }, 2, { 0, 0 } },
  { "auto", "width=1 height=1", NULL, NULL, { 35 }, 1, { 0, 0 } },
  { "nearest", "filter=nearest width=1 height=1", NULL, NULL, { 60 }, 1, { 0, 0 } },
};

static TestLine
setup (const char *properties, const char *sink)
{
  g_autofree char *launch = g_strdup_printf ("slnormalize %s", properties);
  return test_line_open (launch, sink, PICTURE_CAPS);
}

static GstBuffer *
picture (void)
{
  static const guint8 bytes[8] = { 0, 10, 20, 30, 40, 50, 60, 70 };
  return test_tensor_buffer (bytes, sizeof bytes);
}

static void
test_case (gconstpointer data)
{
  const Case *test = data;
  TestLine line = setup (test->element, test->sink);
  if (test->tag != NULL)
    gst_harness_push_event (line.harness, gst_event_new_tag (gst_tag_list_new (
                                            GST_TAG_IMAGE_ORIENTATION, test->tag, NULL)));
  g_assert_cmpint (gst_harness_push (line.harness, picture ()), ==, GST_FLOW_OK);
  test_assert_no_error (line.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  g_assert_cmpmem (map.data, map.size, test->expected, test->n);
  gst_buffer_unmap (out, &map);
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
  double x, y;
  g_assert_nonnull (meta);
  sl_affine_apply (&meta->affine, 0, 0, &x, &y);
  g_assert_cmpfloat_with_epsilon (x, test->corner[0], 1e-9);
  g_assert_cmpfloat_with_epsilon (y, test->corner[1], 1e-9);
  test_line_close (line.harness, line.bus);
}

/* A normal number or zero of IEEE 754 binary16. */
static double
half (guint16 bits)
{
  const double size = (bits & 0x7c00) != 0
                        ? ldexp (1 + (bits & 0x3ff) / 1024.0, (bits >> 10 & 0x1f) - 15)
                        : ldexp (bits & 0x3ff, -24);
  return (bits & 0x8000) != 0 ? -size : size;
}

static void
test_float16 (void)
{
  TestLine line = setup ("type=float16 std=10", NULL);
  g_assert_cmpint (gst_harness_push (line.harness, picture ()), ==, GST_FLOW_OK);
  test_assert_no_error (line.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
  g_assert_cmpuint (gst_buffer_get_size (out), ==, 16);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  for (guint i = 0; i < 8; i++) {
    guint16 got;
    memcpy (&got, map.data + 2 * i, sizeof got);
    g_assert_cmpfloat_with_epsilon (half (got), i, 0.01);
  }
  gst_buffer_unmap (out, &map);
  test_line_close (line.harness, line.bus);
}

/* A model that takes the picture's bytes as wider whole numbers. */
static void
test_whole_numbers (void)
{
  static const char *const types[] = { TENSOR ("1:4:2:1", "int32"), TENSOR ("1:4:2:1", "int64") };
  for (guint t = 0; t < G_N_ELEMENTS (types); t++) {
    TestLine line = setup ("", types[t]);
    const gsize size = t == 0 ? sizeof (gint32) : sizeof (gint64);
    g_assert_cmpint (gst_harness_push (line.harness, picture ()), ==, GST_FLOW_OK);
    test_assert_no_error (line.bus);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    GstMapInfo map;
    g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
    g_assert_cmpuint (map.size, ==, 8 * size);
    for (guint i = 0; i < 8; i++) {
      gint32 narrow;
      gint64 wide = 0;
      memcpy (&narrow, map.data + size * i, sizeof narrow);
      if (t == 1)
        memcpy (&wide, map.data + size * i, sizeof wide);
      g_assert_cmpint (t == 1 ? wide : narrow, ==, 10 * i);
    }
    gst_buffer_unmap (out, &map);
    test_line_close (line.harness, line.bus);
  }
}

/* The same tensor by three threads, by as many as suit the machine, and by one, of rows that all
 * differ. */
static void
test_threads (void)
{
  static const char *const elements[] = { "slnormalize threads=3", "slnormalize threads=0",
                                          "slnormalize threads=1" };
  guint8 bytes[100 * 61];
  GstBuffer *tensors[3];
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) (i * 2654435761u >> 24);
  for (guint i = 0; i < 3; i++)
    tensors[i] = test_line_run (elements[i], TENSOR ("1:50:50:1", "uint8"),
                                "video/x-raw,format=GRAY8,width=97,height=61,framerate=25/1",
                                test_tensor_buffer (bytes, sizeof bytes));
  GstMapInfo map;
  g_assert_true (gst_buffer_map (tensors[2], &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, 50 * 50);
  g_assert_cmpint (gst_buffer_memcmp (tensors[0], 0, map.data, map.size), ==, 0);
  g_assert_cmpint (gst_buffer_memcmp (tensors[1], 0, map.data, map.size), ==, 0);
  gst_buffer_unmap (tensors[2], &map);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (tensors[i]);
}

static void
test_crop_outside (void)
{
  static const char *const elements[] = { "crop-x=3 crop-width=2", "crop-y=2", "crop-height=3",
                                          "crop-x=30000 crop-width=30000" };
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    TestLine line = setup (elements[i], NULL);
    g_assert_cmpint (gst_harness_push (line.harness, picture ()), !=, GST_FLOW_OK);
    test_assert_error (line.bus, "is not inside the frame of 4x2", "crop-x=", NULL);
    test_line_close (line.harness, line.bus);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/slnormalize/geometry", cases, test_case);
  g_test_add_func ("/slnormalize/geometry/float16", test_float16);
  g_test_add_func ("/slnormalize/geometry/whole_numbers", test_whole_numbers);
  g_test_add_func ("/slnormalize/geometry/threads", test_threads);
  g_test_add_func ("/slnormalize/geometry/crop-outside", test_crop_outside);
  return test_elements_run ();
}
