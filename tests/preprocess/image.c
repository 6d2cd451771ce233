/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The format table: names and planes are GStreamer's. Where bytes lie is tested through the normaliser.
 */
#include "preprocess/image.h"

#include <glib.h>

static void
test_table (void)
{
  static const struct
  {
    SlPixelFormat format;
    const char *name;
    int planes;
  } cases[] = {
    { SL_PIXEL_NV12, "NV12", 2 },      { SL_PIXEL_NV21, "NV21", 2 },         { SL_PIXEL_I420, "I420", 3 }, { SL_PIXEL_YV12, "YV12", 3 },
    { SL_PIXEL_YUY2, "YUY2", 1 },      { SL_PIXEL_UYVY, "UYVY", 1 },         { SL_PIXEL_Y42B, "Y42B", 3 }, { SL_PIXEL_Y444, "Y444", 3 },
    { SL_PIXEL_GRAY8, "GRAY8", 1 },    { SL_PIXEL_RGB, "RGB", 1 },           { SL_PIXEL_BGR, "BGR", 1 },   { SL_PIXEL_RGBX, "RGBx", 1 },
    { SL_PIXEL_BGRX, "BGRx", 1 },      { SL_PIXEL_XRGB, "xRGB", 1 },         { SL_PIXEL_XBGR, "xBGR", 1 }, { SL_PIXEL_RGBP, "RGBP", 3 },
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/image/table", test_table);
  g_test_add_func ("/image/out-of-table", test_out_of_table);
  return g_test_run ();
}
