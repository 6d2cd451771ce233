/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Colour matrices against published code values: the 8-bit primaries of BT.601 and BT.709, black,
 * white, and the coefficients printed in the recommendations.
 */
#include "preprocess/colour.h"
#include "tests/support/program.h"

#include <glib.h>

static double
row_apply (const SlColourRow row, const double code[3])
{
  return row[0] * code[0] + row[1] * code[1] + row[2] * code[2] + row[3];
}

static void
test_known_values (void)
{
  /* Codes are rounded to 8 bits, so colours come back within a code or two (@slack). */
  static const struct
  {
    SlMatrix matrix;
    bool full;
    double yuv[3], rgb[3], slack;
  } cases[] = {
    { SL_MATRIX_BT601, false, { 16, 128, 128 }, { 0, 0, 0 }, 1e-9 },
    { SL_MATRIX_BT601, false, { 235, 128, 128 }, { 255, 255, 255 }, 1e-9 },
    { SL_MATRIX_BT709, false, { 235, 128, 128 }, { 255, 255, 255 }, 1e-9 },
    { SL_MATRIX_BT2020, false, { 235, 128, 128 }, { 255, 255, 255 }, 1e-9 },
    { SL_MATRIX_BT601, true, { 255, 128, 128 }, { 255, 255, 255 }, 1e-9 },
    { SL_MATRIX_BT2020, true, { 0, 128, 128 }, { 0, 0, 0 }, 1e-9 },
    { SL_MATRIX_BT601, false, { 81, 90, 240 }, { 255, 0, 0 }, 1.5 },
    { SL_MATRIX_BT601, false, { 145, 54, 34 }, { 0, 255, 0 }, 1.5 },
    { SL_MATRIX_BT601, false, { 41, 240, 110 }, { 0, 0, 255 }, 1.5 },
    { SL_MATRIX_BT709, false, { 63, 102, 240 }, { 255, 0, 0 }, 1.5 },
    { SL_MATRIX_BT709, false, { 173, 42, 26 }, { 0, 255, 0 }, 1.5 },
    { SL_MATRIX_BT709, false, { 32, 240, 118 }, { 0, 0, 255 }, 1.5 },
    { SL_MATRIX_BT601, true, { 76, 85, 255 }, { 255, 0, 0 }, 2.0 },
    { SL_MATRIX_BT601, true, { 150, 44, 21 }, { 0, 255, 0 }, 2.0 },
    { SL_MATRIX_BT601, true, { 29, 255, 107 }, { 0, 0, 255 }, 2.0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlColourRow rows[3];
    sl_colour_yuv_to_rgb (cases[i].matrix, cases[i].full, 8, rows);
    for (int c = 0; c < 3; c++)
      g_assert_cmpfloat_with_epsilon (row_apply (rows[c], cases[i].yuv), cases[i].rgb[c],
                                      cases[i].slack);
  }
}

/* Codes of ten bits as BT.2020 and BT.2100 print them. */
static void
test_ten_bits (void)
{
  SlColourRow rows[3];
  sl_colour_yuv_to_rgb (SL_MATRIX_BT2020, false, 10, rows);
  for (int c = 0; c < 3; c++) {
    g_assert_cmpfloat_with_epsilon (row_apply (rows[c], (double[]){ 64, 512, 512 }), 0.0, 1e-9);
    g_assert_cmpfloat_with_epsilon (row_apply (rows[c], (double[]){ 940, 512, 512 }), 255.0, 1e-9);
  }
  sl_colour_yuv_to_rgb (SL_MATRIX_BT709, true, 10, rows);
  g_assert_cmpfloat_with_epsilon (row_apply (rows[1], (double[]){ 1023, 512, 512 }), 255.0, 1e-9);
  sl_colour_luma_to_gray (false, 10, rows[0]);
  g_assert_cmpfloat_with_epsilon (row_apply (rows[0], (double[]){ 940, 0, 0 }), 255.0, 1e-9);
}

static void
test_coefficients (void)
{
  /* Full range: R - Y per Cr, B - Y per Cb, and the two of green. */
  static const struct
  {
    SlMatrix matrix;
    double v_red, u_blue, u_green, v_green;
  } cases[] = {
    { SL_MATRIX_BT601, 1.402, 1.772, -0.344136, -0.714136 },
    { SL_MATRIX_BT709, 1.5748, 1.8556, -0.187324, -0.468124 },
    { SL_MATRIX_BT2020, 1.4746, 1.8814, -0.164553, -0.571353 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlColourRow rows[3];
    sl_colour_yuv_to_rgb (cases[i].matrix, true, 8, rows);
    g_assert_cmpfloat_with_epsilon (rows[0][2], cases[i].v_red, 1e-6);
    g_assert_cmpfloat_with_epsilon (rows[2][1], cases[i].u_blue, 1e-6);
    g_assert_cmpfloat_with_epsilon (rows[1][1], cases[i].u_green, 1e-6);
    g_assert_cmpfloat_with_epsilon (rows[1][2], cases[i].v_green, 1e-6);
    g_assert_cmpfloat (rows[0][1], ==, 0.0);
    g_assert_cmpfloat (rows[2][2], ==, 0.0);
  }
}

static void
test_gray (void)
{
  SlColourRow row;
  sl_colour_luma_to_gray (false, 8, row);
  g_assert_cmpfloat_with_epsilon (row_apply (row, (double[]){ 16, 7, 9 }), 0.0, 1e-9);
  g_assert_cmpfloat_with_epsilon (row_apply (row, (double[]){ 235, 7, 9 }), 255.0, 1e-9);
  sl_colour_luma_to_gray (true, 8, row);
  g_assert_cmpfloat (row_apply (row, (double[]){ 77, 7, 9 }), ==, 77.0);
  sl_colour_rgb_to_gray (row);
  g_assert_cmpfloat_with_epsilon (row_apply (row, (double[]){ 100, 0, 0 }), 29.9, 1e-9);
  g_assert_cmpfloat_with_epsilon (row_apply (row, (double[]){ 0, 100, 0 }), 58.7, 1e-9);
  g_assert_cmpfloat_with_epsilon (row_apply (row, (double[]){ 0, 0, 100 }), 11.4, 1e-9);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/colour/known-values", test_known_values);
  g_test_add_func ("/colour/ten-bits", test_ten_bits);
  g_test_add_func ("/colour/coefficients", test_coefficients);
  g_test_add_func ("/colour/gray", test_gray);
  return g_test_run ();
}
