/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrame: sizes computed here by the definition of each format, extents that miss by one byte, and
 * every message.
 */
#include "predict/frame_private.h"
#include "sightline/sightline.h"

#include <string.h>

#include "preprocess/normalize.h"

static GBytes *
zeros (gsize n)
{
  return g_bytes_new_take (g_malloc0 (MAX (n, 1)), n);
}

/* Bytes of a packed frame of odd size 5x3, by hand. */
static void
test_packed_sizes (void)
{
  const struct
  {
    const char *format;
    gsize bytes;
  } cases[] = {
    { "NV12", 15 + 2 * 6 },  { "NV21", 15 + 2 * 6 }, { "I420", 15 + 6 + 6 },
    { "YV12", 15 + 6 + 6 },  { "YUY2", 3 * 12 },     { "UYVY", 3 * 12 },
    { "Y42B", 15 + 9 + 9 },  { "Y444", 45 },         { "GRAY8", 15 },
    { "RGB", 45 },           { "BGR", 45 },          { "RGBx", 60 },
    { "RGBA", 60 },          { "BGRx", 60 },         { "BGRA", 60 },
    { "xRGB", 60 },          { "ARGB", 60 },         { "xBGR", 60 },
    { "ABGR", 60 },          { "RGBP", 45 },         { "P010_10LE", 2 * 15 + 24 },
    { "I420_10LE", 2 * 27 }, { "nonsense", 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) data = zeros (cases[i].bytes);
    g_assert_cmpuint (sl_frame_packed_size (cases[i].format, 5, 3), ==, cases[i].bytes);
    g_autoptr (SlFrame) frame = sl_frame_new (cases[i].format, 5, 3, data, &error);
    g_assert_true ((frame != NULL) == (cases[i].bytes > 0));
    g_assert_true ((frame == NULL) == (error != NULL));
    if (frame != NULL) {
      g_assert_cmpstr (sl_frame_get_format (frame), ==, cases[i].format);
      g_assert_cmpuint (sl_frame_get_width (frame), ==, 5);
      g_assert_cmpuint (sl_frame_get_height (frame), ==, 3);
      g_assert_true (sl_frame_get_data (frame) == data);
    }
  }
}

static void
test_all_formats_listed (void)
{
  g_auto (GStrv) names = sl_frame_dup_formats ();
  g_assert_cmpuint (g_strv_length (names), >=, 22);
  for (guint i = 0; names[i] != NULL; i++)
    g_assert_cmpuint (sl_frame_packed_size (names[i], 2, 2), >, 0);
}

static void
expect (GError **error, int code, const char *text)
{
  g_assert_error (*error, SL_ERROR, code);
  if (strstr ((*error)->message, text) == NULL)
    g_error ("expected '%s' in '%s'", text, (*error)->message);
  g_clear_error (error);
}

static void
test_packed_errors (void)
{
  GError *error = NULL;
  g_autoptr (GBytes) data = zeros (44), empty = zeros (0);
  g_assert_null (sl_frame_new ("RGB", 5, 3, data, &error));
  expect (&error, SL_ERROR_SHAPE,
          "frame RGB 5x3: expected 45 bytes (rows of 15 bytes without padding), got 44");
  g_autoptr (GBytes) few = zeros (3);
  g_assert_null (sl_frame_new ("RGB", 9, 9, few, &error));
  expect (
    &error, SL_ERROR_SHAPE,
    "frame RGB 9x9: expected 243 bytes (rows of 27 bytes without padding), got 3: correct format "
    "and size, or give offsets and strides");
  g_assert_null (sl_frame_new ("RGB", 5, 2, data, &error));
  expect (&error, SL_ERROR_SHAPE, "expected 30 bytes");
  g_assert_null (sl_frame_new ("RGB", 5, 3, empty, &error));
  expect (&error, SL_ERROR_SHAPE, "got 0");
  g_assert_null (sl_frame_new ("rgb", 5, 3, data, &error));
  expect (&error, SL_ERROR_UNSUPPORTED,
          "pixel format 'rgb' is not supported; expected one of NV12, ");
  g_assert_null (sl_frame_new ("RGB", 0, 3, data, &error));
  expect (&error, SL_ERROR_LIMIT, "frame of 0x3 pixels: expected 1..32768 each way");
  g_assert_null (sl_frame_new ("RGB", 5, G_MAXUINT, data, &error));
  expect (&error, SL_ERROR_LIMIT, "frame of 5x4294967295 pixels");
  g_assert_null (sl_frame_new ("RGB", 32768, 32768, data, &error));
  expect (&error, SL_ERROR_SHAPE, "expected 3221225472 bytes");
}

static SlFrame *
nv12 (GBytes *data, gsize second, gssize stride, gssize chroma_stride, guint n, GError **error)
{
  const gsize offsets[] = { 0, second, 0, 0 };
  const gssize strides[] = { stride, chroma_stride, 0, 0 };
  return sl_frame_new_with_layout ("NV12", 4, 4, data, offsets, strides, n, error);
}

/* NV12 4x4 with strides of 8: the last byte read is 3 * 8 + 3 of luma and, from byte 32 on, 8 + 3
 * of chroma. */
static void
test_layout (void)
{
  GError *error = NULL;
  g_autoptr (GBytes) enough = zeros (44), short_by_one = zeros (43);
  g_autoptr (SlFrame) frame = nv12 (enough, 32, 8, 8, 2, &error);
  gssize stride;
  gsize row_bytes;
  guint rows;
  g_assert_no_error (error);
  g_assert_cmpuint (sl_frame_get_n_planes (frame), ==, 2);
  g_assert_true (sl_frame_get_plane (frame, 1, &stride, &row_bytes, &rows)
                 == (const guint8 *) g_bytes_get_data (enough, NULL) + 32);
  g_assert_cmpint (stride, ==, 8);
  g_assert_cmpuint (row_bytes, ==, 4);
  g_assert_cmpuint (rows, ==, 2);
  g_assert_null (nv12 (short_by_one, 32, 8, 8, 2, &error));
  expect (
    &error, SL_ERROR_SHAPE,
    "frame NV12 4x4: plane 1 has 2 rows of 4 bytes, 8 bytes from one to the next, but the memory");
  g_assert_null (nv12 (enough, 45, 8, 8, 2, &error));
  expect (&error, SL_ERROR_SHAPE, "plane 1 starts at byte 45, but there are only 44");
  g_assert_null (nv12 (enough, G_MAXSIZE, 8, 8, 2, &error));
  expect (&error, SL_ERROR_SHAPE, "plane 1 starts at byte 18446744073709551615");
  g_assert_null (nv12 (enough, 32, G_MAXSSIZE, 8, 2, &error));
  expect (&error, SL_ERROR_SHAPE, "plane 0 has 4 rows");
  g_assert_null (nv12 (enough, 32, -8, 8, 2, &error));
  expect (&error, SL_ERROR_SHAPE, "plane 0 has 4 rows of 4 bytes, -8 bytes from one to the next");
  g_assert_null (nv12 (enough, 32, 8, 8, 1, &error));
  expect (&error, SL_ERROR_ARGUMENT, "frame NV12: expected 2 planes, got 1");
  g_assert_null (nv12 (enough, 32, 8, 8, 4, &error));
  expect (&error, SL_ERROR_ARGUMENT, "expected 2 planes, got 4");
}

static void
test_planes (void)
{
  GError *error = NULL;
  const guint8 gray[12] = { 0 };
  const guint8 *const planes[] = { gray };
  const gssize strides[] = { 4 };
  g_autoptr (SlFrame) frame =
    sl_frame_new_for_planes ("GRAY8", 4, 3, planes, strides, (const gsize[]){ 12 }, 1, &error);
  g_assert_no_error (error);
  g_assert_true (sl_frame_get_plane (frame, 0, NULL, NULL, NULL) == gray);
  g_assert_null (sl_frame_get_data (frame));
  g_assert_null (
    sl_frame_new_for_planes ("GRAY8", 4, 3, planes, strides, (const gsize[]){ 11 }, 1, &error));
  expect (&error, SL_ERROR_SHAPE, "plane 0 has 3 rows of 4 bytes");
  g_assert_null (
    sl_frame_new_for_planes ("RGB", 4, 3, planes, strides, (const gsize[]){ 12 }, 3, &error));
  expect (&error, SL_ERROR_ARGUMENT, "frame RGB: expected 1 plane, got 3");
  g_assert_null (
    sl_frame_new_for_planes ("Gray", 4, 3, planes, strides, (const gsize[]){ 12 }, 1, &error));
  expect (&error, SL_ERROR_UNSUPPORTED, "'Gray'");
}

static void
test_settings (void)
{
  g_autoptr (GBytes) data = zeros (8 * 8 * 3 / 2);
  SlFrame *frame = sl_frame_new ("NV12", 8, 8, data, NULL);
  SlImageInfo info;
  SlImage image;
  g_assert_cmpuint (sl_frame_get_timestamp (frame), ==, G_MAXUINT64);
  sl_frame_set_timestamp (frame, 40);
  g_assert_cmpuint (sl_frame_get_timestamp (frame), ==, 40);
  sl_frame_get_image (frame, &info, &image);
  g_assert_cmpint (info.matrix, ==, SL_MATRIX_BT601);
  g_assert_false (info.full_range);
  sl_frame_set_colorimetry (frame, SL_FRAME_MATRIX_BT2020, TRUE);
  g_assert_cmpint (sl_frame_get_matrix (frame), ==, SL_FRAME_MATRIX_BT2020);
  g_assert_true (sl_frame_get_full_range (frame));
  sl_frame_get_image (frame, &info, &image);
  g_assert_cmpint (info.matrix, ==, SL_MATRIX_BT2020);
  g_assert_true (info.full_range);
  SlFrame *again = g_boxed_copy (SL_TYPE_FRAME, frame);
  sl_frame_unref (frame);
  g_assert_cmpuint (sl_frame_get_width (again), ==, 8);
  g_boxed_free (SL_TYPE_FRAME, again);
}

/* As tests/elements/videoframe.c has it of GStreamer. */
static void
test_unstated_matrix (void)
{
  for (guint rows = 560; rows <= 592; rows++) {
    SlImageInfo info;
    SlImage image;
    g_autoptr (GBytes) data = zeros (sl_frame_packed_size ("I420", 2, rows));
    g_autoptr (SlFrame) frame = sl_frame_new ("I420", 2, rows, data, NULL);
    sl_frame_get_image (frame, &info, &image);
    g_assert_cmpint (info.matrix, ==, rows > 576 ? SL_MATRIX_BT709 : SL_MATRIX_BT601);
  }
}

/* Frames, pictures in memory and the normaliser, as picture and as tensor, agree on the largest
 * side. */
static void
test_largest_side (void)
{
  static const SlNormalizeSpec spec = { .width = 1, .height = 1, .gain = { 1, 1, 1 } };
  for (guint side = SL_MAX_SIDE; side <= SL_MAX_SIDE + 1; side++) {
    const gboolean taken = side == 32768;
    const SlImageInfo small = { .format = SL_PIXEL_GRAY8, .width = 1, .height = 1 };
    const SlImageInfo wide = { .format = SL_PIXEL_GRAY8, .width = (int) side, .height = 1 };
    SlNormalizeSpec tensor = spec;
    tensor.width = (int) side;
    SlNormalizer *from = NULL, *to = NULL;
    g_assert_cmpuint (sl_frame_packed_size ("GRAY8", side, 1), ==, taken ? side : 0);
    g_assert_cmpuint (sl_frame_packed_size ("GRAY8", 1, side), ==, taken ? side : 0);
    g_assert_cmpuint (sl_image_row_bytes (&wide, 0), ==, taken ? side : 0);
    g_assert_cmpint (sl_normalizer_new (&from, &wide, &spec), ==,
                     taken ? SL_NORMALIZE_OK : SL_NORMALIZE_BAD_SIZE);
    g_assert_cmpint (sl_normalizer_new (&to, &small, &tensor), ==,
                     taken ? SL_NORMALIZE_OK : SL_NORMALIZE_BAD_SIZE);
    sl_normalizer_free (from);
    sl_normalizer_free (to);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frame/packed-sizes", test_packed_sizes);
  g_test_add_func ("/frame/formats", test_all_formats_listed);
  g_test_add_func ("/frame/packed-errors", test_packed_errors);
  g_test_add_func ("/frame/largest-side", test_largest_side);
  g_test_add_func ("/frame/layout", test_layout);
  g_test_add_func ("/frame/planes", test_planes);
  g_test_add_func ("/frame/settings", test_settings);
  g_test_add_func ("/frame/unstated-matrix", test_unstated_matrix);
  return g_test_run ();
}
