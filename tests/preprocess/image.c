/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The format table: names and planes are GStreamer's. Where bytes lie is tested through the
 * normaliser.
 */
#include "preprocess/image.h"
#include "tests/support/program.h"

#include <glib.h>
#include <string.h>

static void
test_table (void)
{
  static const struct
  {
    SlPixelFormat format;
    const char *name;
    int planes;
  } cases[] = {
    { SL_PIXEL_NV12, "NV12", 2 },      { SL_PIXEL_NV21, "NV21", 2 },
    { SL_PIXEL_I420, "I420", 3 },      { SL_PIXEL_YV12, "YV12", 3 },
    { SL_PIXEL_YUY2, "YUY2", 1 },      { SL_PIXEL_UYVY, "UYVY", 1 },
    { SL_PIXEL_Y42B, "Y42B", 3 },      { SL_PIXEL_Y444, "Y444", 3 },
    { SL_PIXEL_GRAY8, "GRAY8", 1 },    { SL_PIXEL_RGB, "RGB", 1 },
    { SL_PIXEL_BGR, "BGR", 1 },        { SL_PIXEL_RGBX, "RGBx", 1 },
    { SL_PIXEL_BGRX, "BGRx", 1 },      { SL_PIXEL_XRGB, "xRGB", 1 },
    { SL_PIXEL_XBGR, "xBGR", 1 },      { SL_PIXEL_RGBP, "RGBP", 3 },
    { SL_PIXEL_P010, "P010_10LE", 2 }, { SL_PIXEL_I420_10, "I420_10LE", 3 },
  };
  g_assert_cmpuint (G_N_ELEMENTS (cases), ==, SL_PIXEL_COUNT);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_assert_cmpstr (sl_pixel_format_name (cases[i].format), ==, cases[i].name);
    g_assert_cmpint (sl_pixel_format_planes (cases[i].format), ==, cases[i].planes);
  }
}

static void
test_out_of_table (void)
{
  const int bad[] = { -1, SL_PIXEL_COUNT, G_MAXINT, G_MININT };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_null (sl_pixel_layout ((SlPixelFormat) bad[i]));
    g_assert_cmpstr (sl_pixel_format_name ((SlPixelFormat) bad[i]), ==, "unknown");
    g_assert_cmpint (sl_pixel_format_planes ((SlPixelFormat) bad[i]), ==, 0);
  }
}

/* Sizes of odd pictures, counted by hand. */
static void
test_extents (void)
{
  static const struct
  {
    SlPixelFormat format;
    gsize bytes[3];
    int rows[3];
  } cases[] = {
    { SL_PIXEL_NV12, { 7, 8 }, { 5, 3 } },
    { SL_PIXEL_I420, { 7, 4, 4 }, { 5, 3, 3 } },
    { SL_PIXEL_Y42B, { 7, 4, 4 }, { 5, 5, 5 } },
    { SL_PIXEL_Y444, { 7, 7, 7 }, { 5, 5, 5 } },
    { SL_PIXEL_YUY2, { 16 }, { 5 } },
    { SL_PIXEL_UYVY, { 16 }, { 5 } },
    { SL_PIXEL_P010, { 14, 16 }, { 5, 3 } },
    { SL_PIXEL_I420_10, { 14, 8, 8 }, { 5, 3, 3 } },
    { SL_PIXEL_GRAY8, { 7 }, { 5 } },
    { SL_PIXEL_RGB, { 21 }, { 5 } },
    { SL_PIXEL_XBGR, { 28 }, { 5 } },
    { SL_PIXEL_RGBP, { 7, 7, 7 }, { 5, 5, 5 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const SlImageInfo info = { .format = cases[i].format, .width = 7, .height = 5 };
    for (int p = -1; p <= 3; p++) {
      const gboolean valid = p >= 0 && p < 3;
      g_assert_cmpuint (sl_image_row_bytes (&info, p), ==, valid ? cases[i].bytes[p] : 0);
      g_assert_cmpint (sl_image_plane_rows (&info, p), ==, valid ? cases[i].rows[p] : 0);
    }
  }
}

static void
expect_check (const SlImageInfo *info, const guint8 *luma, ptrdiff_t stride, const SlMemory *memory,
              SlImageStatus expected, const char *words)
{
  const SlImage image = { { luma, memory[1].data }, { stride, 8 } };
  g_assert_cmpint (sl_image_check (info, &image, memory), ==, expected);
  g_assert_nonnull (strstr (sl_image_status_text (expected), words));
}

static void
test_check (void)
{
  guint8 arena[320] = { 0 };
  const guint8 *bytes = arena + 32;
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 8, .height = 4 };
  SlMemory memory[3] = { { bytes, 10 * 3 + 8 }, { bytes + 128, 16 } };
  expect_check (&info, bytes, 10, memory, SL_IMAGE_OK, "success");
  expect_check (&info, bytes + 30, -10, memory, SL_IMAGE_OK, "success");
  expect_check (&info, bytes + 30, 0, memory, SL_IMAGE_OK, "success");
  expect_check (&info, bytes, 11, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  expect_check (&info, bytes + 1, 10, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  expect_check (&info, bytes + 31, -10, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  expect_check (&info, bytes + 29, -10, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  expect_check (&info, bytes - 1, 10, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  expect_check (&info, bytes + 100, 10, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  expect_check (&info, bytes, PTRDIFF_MAX / 2, memory, SL_IMAGE_STRIDE_OVERFLOW, "stride");
  expect_check (&info, bytes, PTRDIFF_MIN, memory, SL_IMAGE_STRIDE_OVERFLOW, "stride");
  expect_check (&info, bytes, PTRDIFF_MIN / 3, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  memory[1].size--;
  expect_check (&info, bytes, 10, memory, SL_IMAGE_TOO_SMALL, "smaller than");
  const SlImageInfo bad[] = { { .format = SL_PIXEL_COUNT, .width = 8, .height = 4 },
                              { .width = 0, .height = 4 },
                              { .width = 8, .height = 32769 } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    expect_check (&bad[i], bytes, 10, memory, SL_IMAGE_BAD_INFO, "1 to 32768");
  g_assert_cmpstr (sl_image_status_text ((SlImageStatus) 99), ==, "unknown status");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/image/table", test_table);
  g_test_add_func ("/image/out-of-table", test_out_of_table);
  g_test_add_func ("/image/extents", test_extents);
  g_test_add_func ("/image/check", test_check);
  return g_test_run ();
}
