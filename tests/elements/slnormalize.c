/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slnormalize against colour equations in double precision and pictures whose tensor is known byte
 * by byte.
 */
#include <math.h>
#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/normalize_spec.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define TENSOR(dims, type) \
  "other/tensors,format=static,num_tensors=1,dimensions=" dims ",types=" type ",framerate=25/1"

typedef struct
{
  const char *format, *colorimetry;
  gint width, height;
} FormatCase;

static const FormatCase format_cases[] = {
  { "NV12", "bt601", 4, 4 },      { "NV21", "bt709", 5, 3 },   { "I420", "bt601", 7, 5 },
  { "YV12", "bt709", 4, 4 },      { "YUY2", "bt601", 5, 3 },   { "UYVY", "bt709", 6, 2 },
  { "Y42B", "bt601", 5, 3 },      { "Y444", "bt2020", 3, 3 },  { "GRAY8", "1:1:0:0", 5, 5 },
  { "RGB", "sRGB", 5, 3 },        { "BGR", "sRGB", 5, 3 },     { "RGBx", "sRGB", 4, 4 },
  { "BGRx", "sRGB", 4, 4 },       { "RGBA", "sRGB", 3, 3 },    { "BGRA", "sRGB", 3, 3 },
  { "xRGB", "sRGB", 4, 1 },       { "ARGB", "sRGB", 1, 4 },    { "xBGR", "sRGB", 4, 4 },
  { "ABGR", "sRGB", 2, 2 },       { "I420", "1:4:0:0", 4, 4 }, { "P010_10LE", "bt2020", 5, 3 },
  { "I420_10LE", "bt709", 4, 4 }, { "RGBP", "sRGB", 5, 3 },    { "I420", "bt601", 1, 1 },
  { "NV12", "bt709", 1, 1 },
};

/* R, G and B of a pixel by the definition of each colour space. */
static void
expected_rgb (const GstVideoInfo *info, const guint8 values[3], double rgb[3])
{
  if (GST_VIDEO_INFO_IS_RGB (info) || GST_VIDEO_INFO_IS_GRAY (info)) {
    for (guint i = 0; i < 3; i++)
      rgb[i] = GST_VIDEO_INFO_IS_GRAY (info) ? values[0] : values[i];
    return;
  }
  double kr = 0.299, kb = 0.114;
  if (info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709)
    kr = 0.2126, kb = 0.0722;
  else if (info->colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT2020)
    kr = 0.2627, kb = 0.0593;
  gboolean full = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  double y = full ? values[0] / 255.0 : (values[0] - 16) / 219.0;
  double u = full ? (values[1] - 128) / 255.0 : (values[1] - 128) / 224.0;
  double v = full ? (values[2] - 128) / 255.0 : (values[2] - 128) / 224.0;
  double r = y + 2 * (1 - kr) * v, b = y + 2 * (1 - kb) * u;
  double g = (y - kr * r - kb * b) / (1 - kr - kb);
  rgb[0] = CLAMP (r, 0, 1) * 255;
  rgb[1] = CLAMP (g, 0, 1) * 255;
  rgb[2] = CLAMP (b, 0, 1) * 255;
}

static void
test_format (gconstpointer data)
{
  const FormatCase *test = data;
  static const guint8 values[3] = { 120, 90, 160 };
  g_autofree char *caps =
    g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1,colorimetry=%s",
                     test->format, test->width, test->height, test->colorimetry);
  g_autofree char *tensor =
    g_strdup_printf (TENSOR ("3:%d:%d:1", "uint8"), test->width, test->height);
  TestLine fixture = test_line_open ("slnormalize", tensor, NULL);
  gst_harness_set_src_caps_str (fixture.harness, caps);
  g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (caps, values, 0)), ==,
                   GST_FLOW_OK);
  test_assert_no_error (fixture.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  GstVideoInfo info;
  double rgb[3];
  g_assert_true (gst_video_info_from_caps (&info, parsed));
  expected_rgb (&info, values, rgb);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, (gsize) test->width * test->height * 3);
  for (gsize i = 0; i < map.size; i++)
    if (fabs (map.data[i] - rgb[i % 3]) > 1.0)
      g_error ("%s byte %zu: expected %.2f, got %u", caps, i, rgb[i % 3], map.data[i]);
  gst_buffer_unmap (out, &map);
  test_line_close (fixture.harness, fixture.bus);
}

/* A 4x2 RGB picture in which byte i is i * 10; GStreamer pads its rows to multiples of 4, and these
 * are. */
#define RAMP_CAPS "video/x-raw,format=RGB,width=4,height=2,framerate=25/1"

static GstBuffer *
ramp (void)
{
  guint8 bytes[24];
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) (i * 10);
  return test_tensor_buffer (bytes, sizeof bytes);
}

typedef struct
{
  const char *name, *element, *sink;
  gboolean bgr, planar, minus, real;
  double mean[3], std[3];
} LayoutCase;

static const LayoutCase layout_cases[] = {
  { "alone", "slnormalize", NULL },
  { "rgb", "slnormalize", TENSOR ("3:4:2:1", "uint8") },
  { "bgr", "slnormalize colour=BGR", TENSOR ("3:4:2:1", "uint8"), .bgr = TRUE },
  { "planar", "slnormalize", TENSOR ("4:2:3:1", "uint8"), .planar = TRUE },
  { "planar-property", "slnormalize layout=NCHW colour=BGR", NULL, .planar = TRUE, .bgr = TRUE },
  { "int8", "slnormalize", TENSOR ("3:4:2", "int8"), .minus = TRUE },
  { "float", "slnormalize mean=127.5 std=127.5", TENSOR ("3:4:2:1", "float32"), .real = TRUE,
    .mean = { 127.5, 127.5, 127.5 }, .std = { 127.5, 127.5, 127.5 } },
  { "float-alone", "slnormalize mean=1,2,3 std=4,5,6", NULL, .real = TRUE, .mean = { 1, 2, 3 },
    .std = { 4, 5, 6 } },
  { "float-0-1", "slnormalize std=255 type=float32", NULL, .real = TRUE, .std = { 255, 255, 255 } },
  { "legacy", "slnormalize", "other/tensor,dimension=3:4:2:1,type=uint8,framerate=25/1" },
  { "legacy-open", "slnormalize", "other/tensor" },
  { "rank-8", "slnormalize", TENSOR ("3:4:2:1:1:1:1:1", "uint8") },
};

static void
test_layout (gconstpointer data)
{
  const LayoutCase *test = data;
  TestLine fixture = test_line_open (test->element, test->sink, NULL);
  gst_harness_set_src_caps_str (fixture.harness, RAMP_CAPS);
  GstBuffer *in = ramp ();
  GST_BUFFER_PTS (in) = 7 * GST_SECOND;
  GST_BUFFER_DURATION (in) = GST_SECOND;
  GST_BUFFER_OFFSET (in) = 42;
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  test_assert_no_error (fixture.bus);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  g_assert_cmpuint (GST_BUFFER_PTS (out), ==, 7 * GST_SECOND);
  g_assert_cmpuint (GST_BUFFER_DURATION (out), ==, GST_SECOND);
  g_assert_cmpuint (GST_BUFFER_OFFSET (out), ==, 42);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, 24 * (test->real ? 4 : 1));
  for (guint pixel = 0; pixel < 8; pixel++) {
    for (guint c = 0; c < 3; c++) {
      guint at = test->planar ? c * 8 + pixel : pixel * 3 + c;
      double byte = (pixel * 3 + (test->bgr ? 2 - c : c)) * 10;
      if (test->real) {
        gfloat got;
        memcpy (&got, map.data + at * 4, 4);
        g_assert_cmpfloat_with_epsilon (got, (byte - test->mean[c]) / test->std[c], 1e-4);
      } else {
        g_assert_cmpint (test->minus ? (gint8) map.data[at] : map.data[at], ==,
                         (gint) byte - (test->minus ? 128 : 0));
      }
    }
  }
  gst_buffer_unmap (out, &map);
  test_line_close (fixture.harness, fixture.bus);
}

/* The same picture with rows far apart, planes in odd places and rubbish between. */
static void
test_strides (void)
{
  static const guint8 values[3] = { 200, 60, 190 };
  static const char caps[] =
    "video/x-raw,format=I420,width=5,height=3,framerate=25/1,colorimetry=bt601";
  TestLine fixture = test_line_open ("slnormalize", NULL, NULL);
  gst_harness_set_src_caps_str (fixture.harness, caps);
  g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (caps, values, 0)), ==,
                   GST_FLOW_OK);
  g_autoptr (GstBuffer) plain = gst_harness_pull (fixture.harness);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 400, 13, 100 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 31, 17, 3 };
  GstVideoInfo info;
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  g_assert_true (gst_video_info_from_caps (&info, parsed));
  GstBuffer *wide = gst_buffer_new_allocate (NULL, 400 + 31 * 2 + 5, NULL);
  gst_buffer_memset (wide, 0, 0xee, gst_buffer_get_size (wide));
  gst_buffer_add_video_meta_full (wide, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 5, 3, 3,
                                  offsets, strides);
  test_fill_frame (wide, &info, values);
  g_assert_cmpint (gst_harness_push (fixture.harness, wide), ==, GST_FLOW_OK);
  test_assert_no_error (fixture.bus);
  g_autoptr (GstBuffer) strided = gst_harness_pull (fixture.harness);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (strided, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, 45);
  g_assert_cmpint (gst_buffer_memcmp (plain, 0, map.data, map.size), ==, 0);
  gst_buffer_unmap (strided, &map);
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_meta (void)
{
  static const guint8 values[3] = { 10, 20, 30 };
  static const char caps[] = "video/x-raw,format=RGB,width=16,height=8,framerate=25/1";
  TestLine fixture =
    test_line_open ("slnormalize fit=letterbox pad-value=99", TENSOR ("3:8:8:1", "uint8"), NULL);
  gst_harness_set_src_caps_str (fixture.harness, caps);
  GstBuffer *in = gst_buffer_ref (test_frame (caps, values, 0));
  g_assert_cmpint (gst_harness_push (fixture.harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (fixture.harness);
  SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
  g_assert_nonnull (meta);
  g_assert_true (meta->frame == in);
  g_assert_cmpint (meta->tensor_width, ==, 8);
  g_assert_cmpint (meta->tensor_height, ==, 8);
  g_assert_cmpint (meta->info.width, ==, 16);
  g_assert_cmpint (meta->captured, >, 0);
  g_assert_cmpint (meta->preprocessed, >=, meta->captured);
  g_assert_cmpint (meta->inferred, ==, 0);
  double x, y;
  sl_affine_apply (&meta->affine, 0, 2, &x, &y); /* 16x8 in 8x8: rows 2..6 hold the picture */
  g_assert_cmpfloat_with_epsilon (x, 0, 1e-9);
  g_assert_cmpfloat_with_epsilon (y, 0, 1e-9);
  sl_affine_apply (&meta->affine, 8, 6, &x, &y);
  g_assert_cmpfloat_with_epsilon (x, 16, 1e-9);
  g_assert_cmpfloat_with_epsilon (y, 8, 1e-9);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  g_assert_cmpuint (map.data[0], ==, 99);
  g_assert_cmpuint (map.data[(4 * 8 + 4) * 3 + 2], ==, 30);
  gst_buffer_unmap (out, &map);
  gst_buffer_unref (out);
  g_assert_cmpint (GST_MINI_OBJECT_REFCOUNT_VALUE (in), ==, 1);
  gst_buffer_unref (in);
  test_line_close (fixture.harness, fixture.bus);
}

typedef struct
{
  const char *name, *element, *sink, *caps;
  gint bytes; /* of the frame; -1 = none is needed */
  const char *has[4];
} ErrorCase;

#define GRAY(size) "video/x-raw,format=GRAY8," size ",framerate=25/1"
#define FRAME GRAY ("width=4,height=4")

static const ErrorCase error_cases[] = {
  { "format",
    "slnormalize",
    NULL,
    "video/x-raw,format=GRAY16_LE,width=4,height=4,framerate=25/1",
    32,
    { "GRAY16_LE is not supported", "NV12", "videoconvert" } },
  { "interlaced",
    "slnormalize",
    NULL,
    "video/x-raw,format=I420,width=4,height=4,framerate=25/1,interlace-mode=interleaved",
    24,
    { "interlace-mode=interleaved", "progressive", "deinterlace" } },
  { "mixed",
    "slnormalize",
    NULL,
    "video/x-raw,format=I420,width=4,height=4,framerate=25/1,interlace-mode=mixed",
    24,
    { "interlace-mode=mixed", "progressive" } },
  { "fields",
    "slnormalize",
    NULL,
    "video/x-raw,format=I420,width=4,height=4,framerate=25/1,interlace-mode=fields",
    24,
    { "interlace-mode=fields", "progressive" } },
  { "custom",
    "slnormalize video-direction=custom",
    NULL,
    FRAME,
    16,
    { "video-direction=custom is not supported",
      "expected auto, identity, 90r, 180, 90l, horiz, vert, ul-lr or ur-ll" } },
  { "empty-buffer", "slnormalize", NULL, FRAME, 0, { "expected 16 bytes", "GRAY8 4x4", "got 0" } },
  { "short-buffer", "slnormalize", NULL, FRAME, 15, { "expected 16 bytes", "got 15" } },
  { "float-unknown",
    "slnormalize",
    TENSOR ("3:4:4:1", "float32"),
    FRAME,
    16,
    { "float32", "mean", "std" } },
  { "type-float-unknown",
    "slnormalize type=float32",
    NULL,
    FRAME,
    16,
    { "float32", "mean", "std" } },
  { "mean-bytes",
    "slnormalize mean=1",
    TENSOR ("3:4:4:1", "uint8"),
    FRAME,
    16,
    { "mean and std apply to float", "uint8" } },
  { "mean-words",
    "slnormalize mean=grey type=float32",
    NULL,
    FRAME,
    16,
    { "mean=grey", "expected 1" } },
  { "mean-two",
    "slnormalize mean=1,2 colour=RGB type=float32",
    NULL,
    FRAME,
    16,
    { "mean=1,2", "expected 1 or 3 numbers" } },
  { "mean-nan",
    "slnormalize mean=nan type=float32",
    NULL,
    FRAME,
    16,
    { "mean=nan", "expected 1" } },
  { "mean-infinite",
    "slnormalize mean=-inf type=float32",
    NULL,
    FRAME,
    16,
    { "mean=-inf", "expected 1" } },
  { "std-nan", "slnormalize std=nan", NULL, FRAME, 16, { "std=nan", "above 0" } },
  { "std-negative",
    "slnormalize std=1,-1,1 colour=RGB",
    NULL,
    FRAME,
    16,
    { "std=1,-1,1", "above 0" } },
  { "std-zero", "slnormalize std=0", NULL, FRAME, 16, { "std=0", "above 0" } },
  { "width",
    "slnormalize width=5",
    TENSOR ("3:4:4:1", "uint8"),
    FRAME,
    16,
    { "uint8[1,4,4,3]", "width=5" } },
  { "height",
    "slnormalize height=5",
    TENSOR ("3:4:4:1", "uint8"),
    FRAME,
    16,
    { "uint8[1,4,4,3]", "height=5" } },
  { "type",
    "slnormalize type=int8",
    TENSOR ("3:4:4:1", "uint8"),
    FRAME,
    16,
    { "the caps after slnormalize say uint8[1,4,4,3], but its property says type=int8: change one "
      "of them" } },
  { "colour",
    "slnormalize colour=GRAY",
    TENSOR ("3:4:4:1", "uint8"),
    FRAME,
    16,
    { "uint8[1,4,4,3]", "colour=GRAY" } },
  { "layout",
    "slnormalize layout=NCHW",
    TENSOR ("3:4:4:1", "uint8"),
    FRAME,
    16,
    { "the caps after it want uint8[1,4,4,3] (mind the layout property)" } },
  { "channels",
    "slnormalize",
    TENSOR ("2:4:4:1", "uint8"),
    FRAME,
    16,
    { "1 or 3 channels", "uint8[1,4,4,2]" } },
  { "batch",
    "slnormalize",
    TENSOR ("3:4:4:2", "uint8"),
    FRAME,
    16,
    { "one picture", "uint8[2,4,4,3]" } },
  { "wide",
    "slnormalize width=8 height=8",
    NULL,
    GRAY ("width=32769,height=1"),
    32772,
    { "32769x1", "1..32768" } },
  { "huge",
    "slnormalize width=32768 height=32768 type=float32 std=1",
    NULL,
    FRAME,
    16,
    { "more than 1073741824 bytes" } },
};

static void
test_error (gconstpointer data)
{
  const ErrorCase *test = data;
  TestLine fixture = test_line_open (test->element, test->sink, NULL);
  gst_harness_set_src_caps_str (fixture.harness, test->caps);
  GstBuffer *buffer =
    test->bytes > 0 ? gst_buffer_new_allocate (NULL, (gsize) test->bytes, NULL) : gst_buffer_new ();
  g_assert_cmpint (gst_harness_push (fixture.harness, buffer), !=, GST_FLOW_OK);
  test_assert_error (fixture.bus, test->has[0], test->has[1], test->has[2], test->has[3], NULL);
  test_line_close (fixture.harness, fixture.bus);
}

typedef struct
{
  const char *name;
  gsize offset;
  gint stride;
  guint width;
  GstVideoFormat format;
} BadMetaCase;

static const BadMetaCase bad_meta_cases[] = {
  { "stride", 0, 100, 4, GST_VIDEO_FORMAT_GRAY8 },
  { "offset", 4, 4, 4, GST_VIDEO_FORMAT_GRAY8 },
  { "far-offset", 4000, 4, 4, GST_VIDEO_FORMAT_GRAY8 },
  { "width", 0, 4, 3, GST_VIDEO_FORMAT_GRAY8 },
  { "format", 0, 4, 4, GST_VIDEO_FORMAT_RGB },
  { "negative", 0, -4, 4, GST_VIDEO_FORMAT_GRAY8 },
};

static void
test_bad_meta (gconstpointer data)
{
  const BadMetaCase *test = data;
  gsize offsets[GST_VIDEO_MAX_PLANES] = { test->offset };
  gint strides[GST_VIDEO_MAX_PLANES] = { test->stride };
  TestLine fixture = test_line_open ("slnormalize", NULL, NULL);
  gst_harness_set_src_caps_str (fixture.harness, FRAME);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16, NULL);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, test->format, test->width, 4,
                                  1, offsets, strides);
  g_assert_cmpint (gst_harness_push (fixture.harness, buffer), ==, GST_FLOW_ERROR);
  test_assert_error (fixture.bus, "expected 16 bytes", "GstVideoMeta", NULL);
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_large (void)
{
  static const guint8 values[3] = { 77, 0, 0 };
  static const char caps[] = GRAY ("width=8192,height=8192");
  TestLine fixture = test_line_open ("slnormalize width=2 height=2", NULL, NULL);
  gst_harness_set_src_caps_str (fixture.harness, caps);
  g_assert_cmpint (gst_harness_push (fixture.harness, test_frame (caps, values, 0)), ==,
                   GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
  static const guint8 expected[4] = { 77, 77, 77, 77 };
  g_assert_cmpuint (gst_buffer_get_size (out), ==, 4);
  g_assert_cmpint (gst_buffer_memcmp (out, 0, expected, 4), ==, 0);
  test_line_close (fixture.harness, fixture.bus);
}

/* One pixel to a large tensor, then a caps change in the middle of the stream. */
static void
test_resize (void)
{
  static const guint8 small[3] = { 1, 2, 3 }, large[3] = { 4, 5, 6 };
  static const char one[] = "video/x-raw,format=RGB,width=1,height=1,framerate=25/1";
  static const char more[] = "video/x-raw,format=BGR,width=33,height=17,framerate=25/1";
  TestLine fixture = test_line_open ("slnormalize", TENSOR ("3:64:48:1", "uint8"), NULL);
  for (guint round = 0; round < 2; round++) {
    const guint8 *values = round == 0 ? small : large;
    gst_harness_set_src_caps_str (fixture.harness, round == 0 ? one : more);
    g_assert_cmpint (
      gst_harness_push (fixture.harness, test_frame (round == 0 ? one : more, values, 0)), ==,
      GST_FLOW_OK);
    test_assert_no_error (fixture.bus);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    GstMapInfo map;
    g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
    g_assert_cmpuint (map.size, ==, 64 * 48 * 3);
    for (gsize i = 0; i < map.size; i++)
      g_assert_cmpuint (map.data[i], ==, values[i % 3]);
    gst_buffer_unmap (out, &map);
  }
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_allocation (void)
{
  TestLine fixture = test_line_open ("slnormalize", NULL, NULL);
  gst_harness_set_src_caps_str (fixture.harness, FRAME);
  g_autoptr (GstCaps) caps = gst_caps_from_string (FRAME);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  g_assert_true (gst_pad_peer_query (fixture.harness->srcpad, query));
  g_assert_true (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  test_line_close (fixture.harness, fixture.bus);
}

static void
add_cases (const char *prefix, const void *cases, gsize size, guint n, GTestDataFunc function)
{
  for (guint i = 0; i < n; i++) {
    const char *const *named =
      (const char *const *) (const void *) ((const guint8 *) cases + i * size);
    g_autofree char *path = g_strdup_printf ("/slnormalize/%s/%u-%s", prefix, i, *named);
    g_test_add_data_func (path, named, function);
  }
}

/* What a decoder calls corrupted is left out, counted and said; corrupted=keep takes it. */
static void
test_corrupted (void)
{
  static const char caps[] = "video/x-raw,format=RGB,width=2,height=2,framerate=25/1";
  static const guint8 values[3] = { 1, 2, 3 };
  for (guint keep = 0; keep < 2; keep++) {
    TestLine fixture = test_line_open ("slnormalize", TENSOR ("3:2:2:1", "uint8"), NULL);
    g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "slnormalize");
    gst_util_set_object_arg (G_OBJECT (element), "corrupted", keep ? "keep" : "drop");
    gst_harness_set_src_caps_str (fixture.harness, caps);
    for (guint i = 0; i < 5; i++) {
      GstBuffer *frame = test_frame (caps, values, i);
      if (i < 3)
        GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_CORRUPTED);
      g_assert_cmpint (gst_harness_push (fixture.harness, frame), ==, GST_FLOW_OK);
    }
    guint64 damaged;
    g_object_get (element, "damaged", &damaged, NULL);
    g_assert_cmpuint (damaged, ==, keep ? 0 : 3);
    g_assert_cmpuint (gst_harness_buffers_received (fixture.harness), ==, keep ? 5 : 2);
    g_autoptr (GstMessage) warning = gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING);
    g_assert_true ((warning != NULL) == !keep);
    if (warning != NULL) {
      g_autoptr (GError) error = NULL;
      gst_message_parse_warning (warning, &error, NULL);
      g_assert_cmpstr (
        error->message, ==,
        "1 frames left out that are damaged or before a key frame; corrupted=keep has the model "
        "look at them");
    }
    test_line_close (fixture.harness, fixture.bus);
  }
}

/* Models whose input slnormalize cannot make; caps that are another model's. */
static void
test_contract (void)
{
  static const struct
  {
    SlTensorInfo wanted, between;
    const char *message;
  } cases[] = {
    { { .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 4 } },
      { .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 4 } },
      "the model m.tflite wants float32[1,4], which is no picture that slnormalize makes; expected "
      "uint8, int8, int32, int64, float16 or float32 of 1 or 3 channels: use another element to "
      "make its tensors" },
    { { .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, 8, 8, 3 } },
      { .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, 8, 16, 3 } },
      "the model m.tflite wants uint8[1,8,8,3], but the caps between say uint8[1,8,16,3]: remove "
      "the capsfilter" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const SlNormalizeSettings settings = { 0 };
    const SlContract contract = { .model = (char *) "m.tflite",
                                  .n_inputs = 1,
                                  .inputs = { cases[i].wanted } };
    g_autoptr (GError) error = NULL;
    SlNormalizeSpec spec;
    g_assert_false (
      sl_normalize_spec_choose (&settings, &contract, &cases[i].between, 1, &spec, &error));
    g_assert_cmpstr (error->message, ==, cases[i].message);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  add_cases ("format", format_cases, sizeof *format_cases, G_N_ELEMENTS (format_cases),
             test_format);
  add_cases ("layout", layout_cases, sizeof *layout_cases, G_N_ELEMENTS (layout_cases),
             test_layout);
  add_cases ("error", error_cases, sizeof *error_cases, G_N_ELEMENTS (error_cases), test_error);
  add_cases ("bad-meta", bad_meta_cases, sizeof *bad_meta_cases, G_N_ELEMENTS (bad_meta_cases),
             test_bad_meta);
  g_test_add_func ("/slnormalize/corrupted", test_corrupted);
  g_test_add_func ("/slnormalize/strides", test_strides);
  g_test_add_func ("/slnormalize/meta", test_meta);
  g_test_add_func ("/slnormalize/large", test_large);
  g_test_add_func ("/slnormalize/resize", test_resize);
  g_test_add_func ("/slnormalize/allocation", test_allocation);
  g_test_add_func ("/slnormalize/contract", test_contract);
  return test_elements_run ();
}
