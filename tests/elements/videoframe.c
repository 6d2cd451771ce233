/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames that are not what their caps or GstVideoMeta say, in each element that reads or writes
 * pixels: an error with sizes, and nothing outside the buffer is touched (which sanitizers see).
 * And frames that are unusual, but whole.
 */
#include "config.h"
#include "plugins/video/frame.h"

#include <string.h>

#include "plugins/overlay/canvas.h"
#include "plugins/elements.h"
#include "plugins/video/input.h"
#include "plugins/video/part.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define WIDTH 64
#define HEIGHT 48
#define CAPS(format) "video/x-raw,format=" format ",width=64,height=48,framerate=25/1"
#define LUMA (WIDTH * HEIGHT)
#define NV12_BYTES (LUMA * 3 / 2)

/* What a buffer is made of: @n_memories of these sizes, and a meta unless it has no planes. */
typedef struct
{
  const char *name;
  guint n_memories;
  gsize bytes[3];
  guint n_planes;
  gsize offset[4];
  gint stride[4];
  guint width, height;   /* 0 = those of the caps */
  GstVideoFormat format; /* UNKNOWN = that of the caps */
  const char *wrong[3];  /* parts of the error; NULL = the frame is good */
} Case;

static const Case cases[] = {
  { "short",
    1,
    { 4096 },
    .wrong = { "expected 4608 bytes (NV12 64x48), got 4096: the buffer is too small" } },
  { "one-byte-short",
    1,
    { NV12_BYTES - 1 },
    .wrong = { "expected 4608 bytes (NV12 64x48), got 4607: the buffer is too small" } },
  { "empty", 0, .wrong = { "got 0: the buffer is too small" } },
  { "short-with-meta",
    1,
    { 4096 },
    2,
    { 0, LUMA },
    { 64, 64 },
    .wrong = { "got 4096 with a GstVideoMeta of NV12 64x48, 2 planes, strides 64 64, offsets 0 "
               "3072",
               "plane 1, 24 rows of 64 bytes with stride 64, is not inside its memory of 4096 "
               "bytes" } },
  { "empty-with-meta",
    0,
    { 0 },
    2,
    { 0, LUMA },
    { 64, 64 },
    .wrong = { "got 0 with a GstVideoMeta", "the buffer is too small" } },
  { "one-byte-short-with-meta",
    1,
    { NV12_BYTES - 1 },
    2,
    { 0, LUMA },
    { 64, 64 },
    .wrong = { "plane 1", "memory of 4607 bytes" } },
  { "wide-stride",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { 1 << 20, 64 },
    .wrong = { "strides 1048576 64", "plane 0" } },
  { "largest-stride", 1, { NV12_BYTES }, 2, { 0, LUMA }, { 64, G_MAXINT }, .wrong = { "plane 1" } },
  { "smallest-stride",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { G_MININT, 64 },
    .wrong = { "plane 0" } },
  { "narrow-stride",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { 32, 64 },
    .wrong = { "rows of plane 0 overlap: they have 64 bytes, and the stride is 32" } },
  { "no-stride",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { 64, 0 },
    .wrong = { "rows of plane 1 overlap" } },
  { "negative-stride",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { -64, 64 },
    .wrong = { "strides -64 64", "plane 0" } },
  { "narrow-negative-stride",
    1,
    { NV12_BYTES },
    2,
    { LUMA - 64, LUMA },
    { -63, 64 },
    .wrong = { "rows of plane 0 overlap" } },
  { "far-offset",
    1,
    { NV12_BYTES },
    2,
    { 0, 1 << 30 },
    { 64, 64 },
    .wrong = { "offsets 0 1073741824", "cannot be mapped" } },
  { "largest-offset",
    1,
    { NV12_BYTES },
    2,
    { G_MAXSIZE, LUMA },
    { 64, 64 },
    .wrong = { "cannot be mapped" } },
  { "late-offset", 1, { NV12_BYTES }, 2, { 0, LUMA + 1 }, { 64, 64 }, .wrong = { "plane 1" } },
  { "few-planes",
    1,
    { NV12_BYTES },
    1,
    { 0 },
    { 64 },
    .wrong = { "1 plane, strides 64, offsets 0: the meta is not of such a frame" } },
  { "many-planes",
    1,
    { NV12_BYTES },
    3,
    { 0, LUMA, LUMA },
    { 64, 64, 64 },
    .wrong = { "3 planes", "the meta is not of such a frame" } },
  { "other-format",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { 64, 64 },
    .format = GST_VIDEO_FORMAT_NV16,
    .wrong = { "NV16 64x48", "the meta is not of such a frame" } },
  { "smaller-meta",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { 64, 64 },
    .width = 62,
    .height = 48,
    .wrong = { "the meta is not of such a frame" } },
  { "lower-meta",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { 64, 64 },
    .width = 64,
    .height = 46,
    .wrong = { "the meta is not of such a frame" } },
  { "larger-meta-short",
    1,
    { NV12_BYTES - 1 },
    2,
    { 0, LUMA },
    { 64, 64 },
    .width = 640,
    .height = 480,
    .wrong = { "plane 1" } },
  { "plane-in-two-memories",
    2,
    { LUMA + 100, LUMA / 2 - 100 },
    2,
    { 0, LUMA },
    { 64, 64 },
    .wrong = { "got 4608 in 2 memories", "plane 1" } },
  { "luma-in-two-memories",
    2,
    { LUMA - 1, LUMA / 2 + 1 },
    2,
    { 0, LUMA },
    { 64, 64 },
    .wrong = { "plane 0" } },
  { "good", 1, { NV12_BYTES } },
  { "good-larger", 1, { NV12_BYTES + 1000 } },
  { "good-meta", 1, { NV12_BYTES }, 2, { 0, LUMA }, { 64, 64 } },
  { "good-strides", 1, { 80 * 48 + 70 * 23 + 64 }, 2, { 0, 80 * 48 }, { 80, 70 } },
  { "good-negative-stride", 1, { NV12_BYTES }, 2, { LUMA - 64, NV12_BYTES - 64 }, { -64, -64 } },
  { "good-larger-meta",
    1,
    { 128 * 64 * 3 / 2 },
    2,
    { 0, 128 * 64 },
    { 128, 128 },
    .width = 128,
    .height = 64 },
  /* A larger picture in the meta, of which the buffer has no more than the caps say. */
  { "good-cropped-meta",
    1,
    { NV12_BYTES },
    2,
    { 0, LUMA },
    { 64, 64 },
    .width = 640,
    .height = 480 },
  { "good-planes-in-memories", 2, { LUMA, LUMA / 2 }, 2, { 0, LUMA }, { 64, 64 } },
  { "good-split-anywhere", 3, { 1000, 3000, 608 } },
};

/* Pixels 128, in memories whose ends sanitizers watch. */
static GstBuffer *
make (const Case *row)
{
  GstBuffer *buffer = gst_buffer_new ();
  for (guint i = 0; i < row->n_memories; i++) {
    gpointer data = g_malloc (row->bytes[i]);
    memset (data, 128, row->bytes[i]);
    gst_buffer_append_memory (
      buffer, gst_memory_new_wrapped (0, data, row->bytes[i], 0, row->bytes[i], data, g_free));
  }
  if (row->n_planes > 0) {
    GstVideoMeta *meta = gst_buffer_add_video_meta (
      buffer, GST_VIDEO_FRAME_FLAG_NONE, row->format != 0 ? row->format : GST_VIDEO_FORMAT_NV12,
      row->width > 0 ? row->width : WIDTH, row->height > 0 ? row->height : HEIGHT);
    meta->n_planes = row->n_planes;
    memcpy (meta->offset, row->offset, sizeof meta->offset);
    memcpy (meta->stride, row->stride, sizeof meta->stride);
  }
  gst_buffer_add_video_region_of_interest_meta (buffer, "cat", 2, 2, 60, 44);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

typedef struct
{
  const char *name, *launch, *sink;
} Element;

static const Element elements[] = {
  { "slnormalize", "slnormalize width=8 height=8", NULL },
  { "slnormalize-threads", "slnormalize threads=3 width=32 height=32", NULL },
  { "slnormalize-objects", "slnormalize objects=true width=8 height=8", NULL },
#ifdef SL_HAVE_LIBYUV
  { "slresize", "slresize width=32 height=24", NULL },
  { "slresize-turned", "slresize video-direction=90r", NULL },
#endif
#ifdef SL_HAVE_OVERLAY
  { "sloverlay", "sloverlay", NULL },
  { "sloverlay-stats", "sloverlay stats=true mask-opacity=0.3", NULL },
#endif
};

static void
test_element (gconstpointer data)
{
  const Element *element = data;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *row = &cases[i];
    TestLine line = test_line_open (element->launch, element->sink, CAPS ("NV12"));
    g_test_message ("%s", row->name);
    const GstFlowReturn flow = gst_harness_push (line.harness, make (row));
    g_assert_cmpint (flow, ==, row->wrong[0] != NULL ? GST_FLOW_ERROR : GST_FLOW_OK);
    if (row->wrong[0] != NULL)
      test_assert_error (line.bus, "frame buffer: expected 4608 bytes (NV12 64x48)",
                         "; the element upstream sends something else than its caps say",
                         row->wrong[0], row->wrong[1], row->wrong[2], NULL);
    else
      test_assert_no_error (line.bus);
    test_line_close (line.harness, line.bus);
  }
}

/* Through the whole of slpredict. */
static void
test_predict (void)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8),
                  *launch = g_strdup_printf ("slpredict model=%s", model);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *row = &cases[i];
    TestLine line = test_line_open (launch, "application/x-json", CAPS ("NV12"));
    g_test_message ("%s", row->name);
    const GstFlowReturn flow = gst_harness_push (line.harness, make (row));
    g_assert_cmpint (flow, ==, row->wrong[0] != NULL ? GST_FLOW_ERROR : GST_FLOW_OK);
    if (row->wrong[0] != NULL)
      test_assert_error (line.bus, "frame buffer: expected 4608 bytes (NV12 64x48)", row->wrong[0],
                         NULL);
    else
      gst_buffer_unref (gst_harness_pull (line.harness));
    test_line_close (line.harness, line.bus);
  }
  test_remove_file (model);
}

#ifdef SL_HAVE_OVERLAY
/* The whole region is drawn, the bytes around the rows are not: the meta's picture is larger than
 * the caps'. */
static void
test_overlay_stays_inside (void)
{
  static const Case row = { "padded",
                            1,
                            { 100 * 60 },
                            1,
                            { 500 },
                            { 100 },
                            .width = 100,
                            .height = 50,
                            .format = GST_VIDEO_FORMAT_GRAY8 };
  TestLine line = test_line_open ("sloverlay labels=false thickness=4", NULL, CAPS ("GRAY8"));
  GstBuffer *in = make (&row);
  gst_buffer_add_video_region_of_interest_meta (in, "dog", 30, 30, 1000, 1000);
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
  guint8 bytes[100 * 60];
  g_assert_cmpuint (gst_buffer_extract (out, 0, bytes, sizeof bytes), ==, sizeof bytes);
  guint drawn = 0;
  for (guint i = 0; i < sizeof bytes; i++) {
    const gint x = ((gint) i - 500) % 100, y = ((gint) i - 500) / 100;
    if (i >= 500 && x < WIDTH && y < HEIGHT)
      drawn += bytes[i] != 128;
    else
      g_assert_cmpuint (bytes[i], ==, 128);
  }
  g_assert_cmpuint (drawn, >, 4 * 60);
  test_line_close (line.harness, line.bus);
}

/* Every format it draws on, one byte short of its last sample. */
static void
test_overlay_formats (void)
{
  static const char *const formats[] = { "I420", "YV12", "NV12", "NV21", "Y42B", "Y444",
                                         "NV16", "NV24", "YUY2", "UYVY", "YVYU", "RGB",
                                         "BGR",  "RGBA", "BGRA", "RGBx", "BGRx", "ARGB",
                                         "ABGR", "xRGB", "xBGR", "GRAY8" };
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    for (gsize missing = 0; missing <= 1; missing++) {
      GstVideoInfo info;
      gst_video_info_set_format (&info, gst_video_format_from_string (formats[i]), 21, 11);
      g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
      g_autofree char *text = gst_caps_to_string (caps);
      const guint last = GST_VIDEO_INFO_N_PLANES (&info) - 1;
      gint rows;
      gsize row_bytes;
      sl_video_plane_extent (&info, last, &rows, &row_bytes);
      const gsize bytes =
        info.offset[last] + (gsize) (rows - 1) * (gsize) info.stride[last] + row_bytes - missing;
      gpointer memory = g_malloc0 (bytes);
      GstBuffer *buffer = gst_buffer_new_wrapped (memory, bytes);
      gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo->format, 21, 11,
                                      last + 1, info.offset, info.stride);
      gst_buffer_add_video_region_of_interest_meta (buffer, "cat", 1, 1, 20, 10);
      TestLine line = test_line_open ("sloverlay", NULL, text);
      g_assert_cmpint (gst_harness_push (line.harness, buffer), ==,
                       missing > 0 ? GST_FLOW_ERROR : GST_FLOW_OK);
      if (missing > 0)
        test_assert_error (line.bus, formats[i], "is not inside its memory", NULL);
      test_assert_no_error (line.bus);
      test_line_close (line.harness, line.bus);
    }
  }
}
#endif

/* Rows and bytes are those that the preprocessor reads, which has a table of its own. */
static void
test_extents (void)
{
  g_auto (GStrv) formats = g_strsplit (&SL_VIDEO_INPUT_FORMATS[2], ",", -1);
  for (guint i = 0; formats[i] != NULL; i++) {
    const char *name = g_strstrip (g_strdelimit (formats[i], "}", ' '));
    for (gint width = 1; width <= 9; width++) {
      GstVideoInfo video, read;
      SlImageInfo image;
      gst_video_info_set_format (&video, gst_video_format_from_string (name), (guint) width, 7);
      g_autoptr (GstCaps) caps = gst_video_info_to_caps (&video);
      g_assert_true (
        sl_video_input_read (caps, "test", SL_VIDEO_INPUT_FORMATS, &read, &image, NULL));
      for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (&video); p++) {
        gint rows;
        gsize row_bytes;
        sl_video_plane_extent (&video, p, &rows, &row_bytes);
        g_assert_cmpint (rows, ==, sl_image_plane_rows (&image, (int) p));
        g_assert_cmpuint (row_bytes, ==, sl_image_row_bytes (&image, (int) p));
      }
    }
  }
}

/* Palettes are a plane of their own, packed samples have no pixel stride, tiles are refused. */
static void
test_unusual (void)
{
  GstVideoInfo video;
  GstVideoFrame frame;
  g_autoptr (GError) error = NULL;
  gint rows;
  gsize row_bytes;
  gst_video_info_set_format (&video, GST_VIDEO_FORMAT_RGB8P, 5, 3);
  sl_video_plane_extent (&video, 1, &rows, &row_bytes);
  g_assert_cmpint (rows, ==, 1);
  g_assert_cmpuint (row_bytes, ==, 1024);
  gst_video_info_set_format (&video, GST_VIDEO_FORMAT_v210, 48, 2);
  sl_video_plane_extent (&video, 0, &rows, &row_bytes);
  g_assert_cmpint (rows, ==, 2);
  g_assert_cmpuint (row_bytes, ==, 128);
  gst_video_info_set_format (&video, GST_VIDEO_FORMAT_NV12_64Z32, 128, 64);
  g_autoptr (GstBuffer) tiles = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&video), NULL);
  g_assert_false (sl_video_frame_map (&frame, &video, tiles, GST_MAP_READ, &error));
  g_assert_nonnull (strstr (error->message, "tiles are not supported, only rows"));
}

/* The matrix of frames that state none is GStreamer's own, in what models see and where predictions
 * are drawn. */
static void
test_unstated_matrix (void)
{
  for (guint height = 480; height <= 768; height += 16) {
    for (guint rows = height; rows <= height + 1; rows++) {
      GstVideoInfo stated, video;
      SlImageInfo image;
      g_autoptr (GError) error = NULL;
      g_autofree char *text =
        g_strdup_printf ("video/x-raw,format=I420,width=16,height=%u,framerate=25/1", rows);
      g_autoptr (GstCaps) caps = gst_caps_from_string (text);
      gst_video_info_set_format (&stated, GST_VIDEO_FORMAT_I420, 16, rows);
      const gboolean bt601 = stated.colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT601;
      g_assert_true (bt601 || stated.colorimetry.matrix == GST_VIDEO_COLOR_MATRIX_BT709);
      g_assert_true (
        sl_video_input_read (caps, "test", SL_VIDEO_INPUT_FORMATS, &video, &image, &error));
      g_assert_cmpint (image.matrix, ==, bt601 ? SL_MATRIX_BT601 : SL_MATRIX_BT709);
#ifdef SL_HAVE_OVERLAY
      g_autoptr (GstBuffer) buffer =
        gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&video), NULL);
      GstVideoFrame mapped;
      SlCanvas canvas;
      double kr, kb;
      video.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_UNKNOWN;
      g_assert_true (sl_video_frame_map (&mapped, &video, buffer, GST_MAP_READWRITE, &error));
      sl_canvas_init (&canvas, &mapped);
      gst_video_color_matrix_get_Kr_Kb (stated.colorimetry.matrix, &kr, &kb);
      g_assert_cmpfloat (canvas.kr, ==, kr);
      gst_video_frame_unmap (&mapped);
#endif
    }
  }
}

/* The sentence that refuses "custom" lists every other value of GStreamer's property, and each of
 * them turns frames its own way. */
static void
test_directions (void)
{
  GEnumClass *directions = g_type_class_ref (GST_TYPE_VIDEO_ORIENTATION_METHOD);
  g_autoptr (GError) error = NULL;
  g_assert_false (sl_video_part_check_direction (GST_VIDEO_ORIENTATION_CUSTOM, &error));
  g_auto (GStrv) words = g_regex_split_simple (", | or |expected ", error->message, 0, 0);
  g_assert_cmpuint (g_strv_length (words), ==,
                    directions->n_values); /* the first is what precedes them, in place of custom */
  for (guint i = 0; i < directions->n_values; i++) {
    const GEnumValue *value = &directions->values[i];
    if (value->value == GST_VIDEO_ORIENTATION_CUSTOM)
      continue;
    g_assert_true (g_strv_contains ((const gchar *const *) words + 1, value->value_nick));
    g_assert_true (sl_video_part_check_direction (value->value, &error));
    if (value->value != GST_VIDEO_ORIENTATION_AUTO)
      g_assert_cmpint (sl_video_part_orientation (value->value, GST_VIDEO_ORIENTATION_180), ==,
                       value->value);
  }
  g_assert_cmpint (
    sl_video_part_orientation (GST_VIDEO_ORIENTATION_AUTO, GST_VIDEO_ORIENTATION_90L), ==,
    SL_ORIENTATION_90L);
  g_type_class_unref (directions);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
  g_test_add_func ("/videoframe/overlay-stays-inside", test_overlay_stays_inside);
  g_test_add_func ("/videoframe/overlay-formats", test_overlay_formats);
#endif
  TEST_ADD_CASES ("/videoframe", elements, test_element);
  g_test_add_func ("/videoframe/slpredict", test_predict);
  g_test_add_func ("/videoframe/directions", test_directions);
  g_test_add_func ("/videoframe/extents", test_extents);
  g_test_add_func ("/videoframe/unstated-matrix", test_unstated_matrix);
  g_test_add_func ("/videoframe/unusual", test_unusual);
  return test_elements_run ();
}
