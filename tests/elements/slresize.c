/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slresize in a harness: what it negotiates, what it passes on untouched, where regions go, and
 * what it says.
 */
#include <math.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define VIDEO(format, width, height) \
  "video/x-raw,format=" format ",width=" width ",height=" height ",framerate=25/1"

static const guint8 colour[3] = { 90, 60, 200 };

/* @par: pixel-aspect-ratio expected, 0 = none or 1/1. */
typedef struct
{
  const char *name, *element, *src, *sink;
  gint width, height, par_n, par_d;
} CapsCase;

#define HD VIDEO ("NV12", "1920", "1080")

static const CapsCase caps_cases[] = {
  { "nothing", "slresize", HD, NULL, 1920, 1080, 1, 1 },
  { "width", "slresize width=640", HD, NULL, 640, 360, 1, 1 },
  { "height", "slresize height=540", HD, NULL, 960, 540, 1, 1 },
  { "both", "slresize width=300 height=300", HD, NULL, 300, 300, 16, 9 },
  { "letterbox", "slresize width=300 height=300 fit=letterbox", HD, NULL, 300, 300, 1, 1 },
  { "downstream", "slresize", HD, "video/x-raw,width=320,height=240", 320, 240, 4, 3 },
  { "downstream-width", "slresize", HD, "video/x-raw,width=320", 320, 180, 1, 1 },
  { "downstream-square", "slresize", HD, "video/x-raw,width=320,height=240,pixel-aspect-ratio=1/1",
    320, 240, 1, 1 },
  { "turned", "slresize width=360 video-direction=90r", HD, NULL, 360, 640, 1, 1 },
  { "turned-whole", "slresize video-direction=ul-lr", HD, NULL, 1080, 1920, 1, 1 },
  { "turned-anamorphic", "slresize video-direction=90l", HD ",pixel-aspect-ratio=4/3", NULL, 1080,
    1920, 3, 4 },
  { "crop", "slresize crop-x=420 crop-width=1080", HD, NULL, 1080, 1080, 1, 1 },
  { "crop-width", "slresize crop-x=420 crop-width=1080 width=100", HD, NULL, 100, 100, 1, 1 },
  { "odd", "slresize width=33", VIDEO ("I420", "99", "51"), NULL, 33, 17, 1, 1 },
  { "range", "slresize", HD, "video/x-raw,width=[16,800],height=[16,800]", 800, 450, 1, 1 },
  { "p010", "slresize width=64", VIDEO ("P010_10LE", "128", "64"), NULL, 64, 32, 1, 1 },
  { "yuy2", "slresize width=31", VIDEO ("YUY2", "62", "20"), NULL, 31, 10, 1, 1 },
};

static void
test_caps (gconstpointer data)
{
  const CapsCase *test = data;
  TestLine fixture = test_line_open (test->element, test->sink, test->src);
  g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (test->src, colour, 0)), ==,
                   GST_FLOW_OK);
  test_assert_no_error (fixture.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (fixture.harness->sinkpad);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_cmpint (info.width, ==, test->width);
  g_assert_cmpint (info.height, ==, test->height);
  g_assert_cmpint (info.par_n, ==, test->par_n);
  g_assert_cmpint (info.par_d, ==, test->par_d);
  g_assert_cmpuint (gst_buffer_get_size (out), >=, GST_VIDEO_INFO_SIZE (&info));
  test_line_close (fixture.harness, fixture.bus);
}

/* One colour stays that colour; the borders are luma 114 and neutral. */
static void
test_pixels (void)
{
  TestLine fixture = test_line_open ("slresize width=64 height=64 fit=letterbox", NULL,
                                     VIDEO ("NV12", "320", "160"));
  g_assert_cmpint (
    gst_harness_push (fixture.harness, test_frame (VIDEO ("NV12", "320", "160"), colour, 7)), ==,
    GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (fixture.harness->sinkpad);
  GstVideoInfo info;
  GstVideoFrame frame;
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 7);
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_true (gst_video_frame_map (&frame, &info, out, GST_MAP_READ));
  for (guint c = 0; c < 3; c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++) {
      const guint8 *row = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c)
                          + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c);
      const gint luma_y = c > 0 ? 2 * y : y;
      const guint8 expected = luma_y >= 16 && luma_y < 48 ? colour[c] : c > 0 ? 128 : 114;
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
        g_assert_cmpuint (row[x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)], ==, expected);
    }
  gst_video_frame_unmap (&frame);
  test_line_close (fixture.harness, fixture.bus);
}

#define SMALL VIDEO ("I420", "64", "48")

static GstBuffer *
push_pull (TestLine *fixture, const char *caps)
{
  g_assert_cmpint (gst_harness_push (fixture->harness, test_frame (caps, colour, 0)), ==,
                   GST_FLOW_OK);
  test_assert_no_error (fixture->bus);
  return gst_harness_pull (fixture->harness);
}

static void
test_passthrough (void)
{
  TestLine fixture = test_line_open ("slresize", NULL, SMALL);
  g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "slresize");
  GstBuffer *in = test_frame (SMALL, colour, 0);
  gst_buffer_add_video_region_of_interest_meta (in, "cat", 1, 2, 3, 4);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (fixture.harness);
  g_assert_true (out == in);
  gst_buffer_unref (out);
  /* Set while playing, then unset. */
  gst_util_set_object_arg (G_OBJECT (element), "video-direction", "180");
  in = test_frame (SMALL, colour, 0);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  out = gst_harness_pull (fixture.harness);
  g_assert_true (out != in);
  gst_buffer_unref (out);
  gst_util_set_object_arg (G_OBJECT (element), "video-direction", "identity");
  in = test_frame (SMALL, colour, 0);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  out = gst_harness_pull (fixture.harness);
  g_assert_true (out == in);
  gst_buffer_unref (out);
  test_line_close (fixture.harness, fixture.bus);
}

static void
assert_size (TestLine *fixture, gint width, gint height)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (fixture->harness->sinkpad);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_assert_cmpint (info.width, ==, width);
  g_assert_cmpint (info.height, ==, height);
}

static void
test_tag (void)
{
  TestLine fixture = test_line_open ("slresize", NULL, SMALL);
  gst_buffer_unref (push_pull (&fixture, SMALL));
  GstTagList *tags =
    gst_tag_list_new (GST_TAG_IMAGE_ORIENTATION, "rotate-90", GST_TAG_TITLE, "t", NULL);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_tag (tags)));
  gst_buffer_unref (push_pull (&fixture, SMALL));
  assert_size (&fixture, 48, 64);
  gboolean told = FALSE;
  for (GstEvent *event; (event = gst_harness_try_pull_event (fixture.harness)) != NULL;
       gst_event_unref (event)) {
    g_autofree char *orientation = NULL;
    if (GST_EVENT_TYPE (event) != GST_EVENT_TAG)
      continue;
    gst_event_parse_tag (event, &tags);
    g_assert_true (gst_tag_list_get_string (tags, GST_TAG_IMAGE_ORIENTATION, &orientation));
    g_assert_cmpstr (orientation, ==, "rotate-0");
    told = TRUE;
  }
  g_assert_true (told);
  test_line_close (fixture.harness, fixture.bus);
}

/* Where a box of the frame (64x48, box 8,4 to 24,12) lies after each turn, by hand. */
typedef struct
{
  const char *direction;
  guint x, y, w, h;
} TurnCase;

static const TurnCase turn_cases[] = {
  { "identity", 8, 4, 16, 8 }, { "90r", 36, 8, 8, 16 },    { "180", 40, 36, 16, 8 },
  { "90l", 4, 40, 8, 16 },     { "horiz", 40, 4, 16, 8 },  { "vert", 8, 36, 16, 8 },
  { "ul-lr", 4, 8, 8, 16 },    { "ur-ll", 36, 40, 8, 16 },
};

/* Halved on top, so that identity is no passthrough. */
static void
test_region (gconstpointer data)
{
  const TurnCase *test = data;
  const gboolean exchanged = test->w < test->h;
  const double width = exchanged ? 48 : 64, height = exchanged ? 64 : 48;
  g_autofree char *element =
    g_strdup_printf ("slresize width=%d height=%d video-direction=%s", exchanged ? 24 : 32,
                     exchanged ? 32 : 24, test->direction);
  TestLine fixture = test_line_open (element, NULL, SMALL);
  GstBuffer *in = test_frame (SMALL, colour, 0);
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (in, "cat", 8, 4, 16, 8);
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, 8 / 64.0, "x_max",
                               G_TYPE_DOUBLE, 24 / 64.0, "y_min", G_TYPE_DOUBLE, 4 / 48.0, "y_max",
                               G_TYPE_DOUBLE, 12 / 48.0, "confidence", G_TYPE_DOUBLE, 0.5, NULL));
  sl_buffer_add_frame_meta (in, NULL, NULL, NULL);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  gpointer state = NULL;
  region = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (
    out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  g_assert_nonnull (region);
  g_assert_cmpuint (region->x, ==, test->x / 2);
  g_assert_cmpuint (region->y, ==, test->y / 2);
  g_assert_cmpuint (region->w, ==, test->w / 2);
  g_assert_cmpuint (region->h, ==, test->h / 2);
  g_assert_cmpstr (g_quark_to_string (region->roi_type), ==, "cat");
  GstStructure *param = gst_video_region_of_interest_meta_get_param (region, "detection");
  double box[4], confidence;
  g_assert_true (gst_structure_get (
    param, "x_min", G_TYPE_DOUBLE, &box[0], "y_min", G_TYPE_DOUBLE, &box[1], "x_max", G_TYPE_DOUBLE,
    &box[2], "y_max", G_TYPE_DOUBLE, &box[3], "confidence", G_TYPE_DOUBLE, &confidence, NULL));
  g_assert_cmpfloat (fabs (box[0] - test->x / width), <, 1e-9);
  g_assert_cmpfloat (fabs (box[1] - test->y / height), <, 1e-9);
  g_assert_cmpfloat (fabs (box[2] - (test->x + test->w) / width), <, 1e-9);
  g_assert_cmpfloat (fabs (box[3] - (test->y + test->h) / height), <, 1e-9);
  g_assert_cmpfloat (confidence, ==, 0.5);
  g_assert_nonnull (sl_buffer_get_frame_meta (out));
  g_assert_null (
    gst_buffer_iterate_meta_filtered (out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  test_line_close (fixture.harness, fixture.bus);
}

/* Whether a model looked is known behind it, also of a frame in which nothing was found. */
static void
test_looked_at (void)
{
  for (guint looked = 0; looked < 2; looked++) {
    TestLine fixture = test_line_open ("slresize width=32 height=24", NULL, SMALL);
    GstBuffer *in = test_frame (SMALL, colour, 0);
    SlFrameMeta *meta = sl_buffer_add_frame_meta (in, NULL, NULL, NULL);
    meta->content = looked ? SL_FRAME_WHOLE : SL_FRAME_SKIPPED;
    meta->decoded = 7;
    g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_assert_nonnull (sl_buffer_get_frame_meta (out));
    g_assert_cmpint (sl_buffer_was_looked_at (out), ==, looked);
    test_line_close (fixture.harness, fixture.bus);
  }
}

/* A crop cuts regions off, and drops those outside. */
static void
test_region_crop (void)
{
  TestLine fixture =
    test_line_open ("slresize crop-x=16 crop-y=16 crop-width=32 crop-height=16", NULL, SMALL);
  GstBuffer *in = test_frame (SMALL, colour, 0);
  gst_buffer_add_video_region_of_interest_meta (in, "outside", 0, 0, 16, 48);
  gst_buffer_add_video_region_of_interest_meta (in, "cut", 8, 8, 16, 16);
  gst_buffer_add_video_region_of_interest_meta (in, "huge", 0, 0, G_MAXUINT, G_MAXUINT);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  guint seen = 0;
  GstMeta *meta;
  for (gpointer state = NULL; (meta = gst_buffer_iterate_meta_filtered (
                                 out, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
                              != NULL;
       seen++) {
    const GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    const gboolean cut = region->roi_type == g_quark_from_static_string ("cut");
    g_assert_true (cut || region->roi_type == g_quark_from_static_string ("huge"));
    g_assert_cmpuint (region->x, ==, 0);
    g_assert_cmpuint (region->y, ==, 0);
    g_assert_cmpuint (region->w, ==, cut ? 8 : 32);
    g_assert_cmpuint (region->h, ==, cut ? 8 : 16);
  }
  g_assert_cmpuint (seen, ==, 2);
  test_line_close (fixture.harness, fixture.bus);
}

typedef struct
{
  const char *name, *element, *src, *words[2];
} ErrorCase;

static const ErrorCase error_cases[] = {
  { "rgb",
    "slresize width=8",
    VIDEO ("RGB", "16", "16"),
    { "RGB is not supported", "videoconvert" } },
  { "interlaced",
    "slresize width=8",
    SMALL ",interlace-mode=interleaved",
    { "interlaced", "deinterlace" } },
  { "crop-outside",
    "slresize crop-x=64 crop-width=2",
    SMALL,
    { "crop-x=64 crop-y=0 crop-width=2 crop-height=0 is not inside the frame of 64x48: expected a "
      "part of it (a size of 0 is all the rest)",
      "put caps with its size before slresize" } },
  { "crop-over",
    "slresize crop-height=49",
    SMALL,
    { "crop-x=0 crop-y=0 crop-width=0 crop-height=49 is not inside the frame of 64x48" } },
  { "custom",
    "slresize video-direction=custom",
    SMALL,
    { "video-direction=custom is not supported", "ul-lr or ur-ll" } },
  { "large",
    "slresize width=8 height=8",
    VIDEO ("GRAY8", "16385", "2"),
    { "16385x2", "1 to 16384" } },
};

static void
test_error (gconstpointer data)
{
  const ErrorCase *test = data;
  TestLine fixture = test_line_open (test->element, NULL, test->src);
  const GstFlowReturn flow =
    gst_harness_push (fixture.harness, gst_buffer_new_allocate (NULL, 64 * 48 * 3, NULL));
  g_assert_cmpint (flow, ==, GST_FLOW_NOT_NEGOTIATED);
  test_assert_error (fixture.bus, test->words[0], test->words[1], NULL);
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_small_buffer (void)
{
  TestLine fixture = test_line_open ("slresize width=32", NULL, SMALL);
  g_assert_cmpint (gst_harness_push (fixture.harness, gst_buffer_new_allocate (NULL, 100, NULL)),
                   ==, GST_FLOW_ERROR);
  test_assert_error (fixture.bus, "expected 4608 bytes (I420 64x48), got 100", NULL);
  test_line_close (fixture.harness, fixture.bus);
}

/* Strides and offsets of a GstVideoMeta are followed, and refused when they leave the buffer. */
static void
test_meta (void)
{
  for (guint good = 0; good < 2; good++) {
    TestLine fixture =
      test_line_open ("slresize width=4 height=4", NULL, VIDEO ("GRAY8", "8", "8"));
    gsize offsets[GST_VIDEO_MAX_PLANES] = { 5 };
    gint strides[GST_VIDEO_MAX_PLANES] = { 11 };
    GstBuffer *in = gst_buffer_new_allocate (NULL, good ? 90 : 89, NULL);
    gst_buffer_memset (in, 0, 0, 90);
    for (gsize y = 0; y < 8; y++)
      gst_buffer_memset (in, 5 + 11 * y, 200, 8);
    gst_buffer_add_video_meta_full (in, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8, 1,
                                    offsets, strides);
    g_assert_cmpint (gst_harness_push (fixture.harness, in), ==,
                     good ? GST_FLOW_OK : GST_FLOW_ERROR);
    if (good) {
      static const guint8 expected[16] = { 200, 200, 200, 200, 200, 200, 200, 200,
                                           200, 200, 200, 200, 200, 200, 200, 200 };
      g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
      g_assert_cmpint (gst_buffer_memcmp (out, 0, expected, 16), ==, 0);
    } else {
      test_assert_error (fixture.bus, "strides 11", NULL);
    }
    test_line_close (fixture.harness, fixture.bus);
  }
}

/* Words at odd addresses. */
static void
test_odd_stride (void)
{
  TestLine fixture =
    test_line_open ("slresize width=4 height=4", NULL, VIDEO ("P010_10LE", "8", "8"));
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, 8 * 17 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 17, 17 };
  GstBuffer *in = gst_buffer_new_allocate (NULL, 12 * 17, NULL);
  gst_buffer_add_video_meta_full (in, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_P010_10LE, 8, 8,
                                  2, offsets, strides);
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_ERROR);
  test_assert_error (fixture.bus, "even addresses", NULL);
  test_line_close (fixture.harness, fixture.bus);
}

/* The bytes of a pool that downstream offers are checked, too: it makes smaller buffers than its
 * caps say. */
static GstPadProbeReturn
offer_small (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (query, data, 100, 0, 0);
  return GST_PAD_PROBE_HANDLED;
}

static gboolean
ignore_config (GstBufferPool *pool, GstStructure *config)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (VIDEO ("I420", "32", "24"));
  gst_buffer_pool_config_set_params (config, caps, 100, 0, 0);
  return GST_BUFFER_POOL_CLASS (g_type_class_peek (GST_TYPE_BUFFER_POOL))
    ->set_config (pool, config);
}

typedef GstBufferPool SmallPool;
typedef GstBufferPoolClass SmallPoolClass;
GType small_pool_get_type (void);
G_DEFINE_TYPE (SmallPool, small_pool, GST_TYPE_BUFFER_POOL)

static void
small_pool_class_init (SmallPoolClass *klass)
{
  klass->set_config = ignore_config;
}

static void
small_pool_init (SmallPool *pool)
{
}

static void
test_small_pool (void)
{
  TestLine fixture = test_line_open ("slresize width=32", NULL, NULL);
  GstBufferPool *pool = g_object_new (small_pool_get_type (), NULL);
  gst_object_ref_sink (pool);
  gst_pad_add_probe (fixture.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_small,
                     pool, NULL);
  gst_harness_set_src_caps_str (fixture.harness, SMALL);
  g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (SMALL, colour, 0)), ==,
                   GST_FLOW_ERROR);
  test_assert_error (
    fixture.bus,
    "output buffer: expected 1152 bytes (I420 32x24), got 100: the buffer is too small; the "
    "element after slresize",
    NULL);
  test_line_close (fixture.harness, fixture.bus);
  gst_object_unref (pool);
}

/* Other caps in the middle of the stream, a flush, the end. */
static void
test_stream (void)
{
  TestLine fixture = test_line_open ("slresize width=32", NULL, SMALL);
  gst_buffer_unref (push_pull (&fixture, SMALL));
  assert_size (&fixture, 32, 24);
  gst_harness_set_src_caps_str (fixture.harness, VIDEO ("NV12", "128", "64"));
  gst_buffer_unref (push_pull (&fixture, VIDEO ("NV12", "128", "64")));
  assert_size (&fixture, 32, 16);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_start ()));
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_stop (TRUE)));
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_segment (&segment)));
  gst_buffer_unref (push_pull (&fixture, VIDEO ("NV12", "128", "64")));
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_eos ()));
  test_assert_no_error (fixture.bus);
  test_line_close (fixture.harness, fixture.bus);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/slresize/caps", caps_cases, test_caps);
  TEST_ADD_CASES ("/slresize/region", turn_cases, test_region);
  TEST_ADD_CASES ("/slresize/error", error_cases, test_error);
  g_test_add_func ("/slresize/pixels", test_pixels);
  g_test_add_func ("/slresize/passthrough", test_passthrough);
  g_test_add_func ("/slresize/tag", test_tag);
  g_test_add_func ("/slresize/region-crop", test_region_crop);
  g_test_add_func ("/slresize/small-buffer", test_small_buffer);
  g_test_add_func ("/slresize/looked-at", test_looked_at);
  g_test_add_func ("/slresize/meta", test_meta);
  g_test_add_func ("/slresize/odd-stride", test_odd_stride);
  g_test_add_func ("/slresize/small-pool", test_small_pool);
  g_test_add_func ("/slresize/stream", test_stream);
  return test_elements_run ();
}
