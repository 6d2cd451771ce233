/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the normaliser refuses: every field out of its range, with the status and the words of its
 * message.
 */
#include "preprocess/normalize.h"
#include "tests/support/program.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static void
expect_status (const SlImageInfo *info, const SlNormalizeSpec *spec, SlNormalizeStatus expected,
               const char *words)
{
  SlNormalizer *normalizer = (SlNormalizer *) (gpointer) &expected;
  SlNormalizeStatus status = sl_normalizer_new (&normalizer, info, spec);
  g_assert_cmpint (status, ==, expected);
  g_assert_null (normalizer);
  g_assert_nonnull (strstr (sl_normalize_status_text (status), words));
}

static void
test_bad_sizes (void)
{
  static const int bad[] = { 0, -1, 32769, G_MAXINT, G_MININT };
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 8, .height = 8 };
  const SlNormalizeSpec spec = { .width = 8, .height = 8, .gain = { 1, 1, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    SlImageInfo bad_info = info;
    SlNormalizeSpec bad_spec = spec;
    bad_info.width = bad[i];
    expect_status (&bad_info, &spec, SL_NORMALIZE_BAD_SIZE, "1 to 32768");
    bad_info = info;
    bad_info.height = bad[i];
    expect_status (&bad_info, &spec, SL_NORMALIZE_BAD_SIZE, "1 to 32768");
    bad_spec.width = bad[i];
    expect_status (&info, &bad_spec, SL_NORMALIZE_BAD_SIZE, "1 to 32768");
    bad_spec = spec;
    bad_spec.height = bad[i];
    expect_status (&info, &bad_spec, SL_NORMALIZE_BAD_SIZE, "1 to 32768");
  }
}

static void
test_bad_ranges (void)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY, 1e31, -1e300 };
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 8, .height = 8 };
  const SlNormalizeSpec spec = { .width = 8, .height = 8, .gain = { 1, 1, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    for (int c = 0; c < 3; c++) {
      SlNormalizeSpec bad_spec = spec;
      bad_spec.gain[c] = bad[i];
      expect_status (&info, &bad_spec, SL_NORMALIZE_BAD_RANGE, "finite");
      bad_spec = spec;
      bad_spec.offset[c] = bad[i];
      expect_status (&info, &bad_spec, SL_NORMALIZE_BAD_RANGE, "finite");
    }
  }
  SlNormalizeSpec bad_pad = spec;
  bad_pad.pad_value = 256;
  expect_status (&info, &bad_pad, SL_NORMALIZE_BAD_RANGE, "pad value 0 to 255");
  bad_pad.pad_value = -1;
  expect_status (&info, &bad_pad, SL_NORMALIZE_BAD_RANGE, "pad value 0 to 255");
}

static void
test_bad_crops (void)
{
  static const SlRect bad[] = {
    { 1, 1, 0, 0 },
    { 0, 0, 8, 0 },
    { 0, 0, 0, 8 },
    { -1, 0, 4, 4 },
    { 0, -1, 4, 4 },
    { 1, 0, 8, 8 },
    { 0, 1, 8, 8 },
    { 0, 0, 9, 8 },
    { 0, 0, 8, 9 },
    { 8, 8, 1, 1 },
    { 0, 0, -4, 4 },
    { 0, 0, 4, -4 },
    { G_MAXINT, 0, 4, 4 },
    { 0, G_MAXINT, 4, 4 },
    { 4, 4, G_MAXINT, 4 },
    { 4, 4, 4, G_MAXINT },
    { G_MININT, G_MININT, G_MAXINT, G_MAXINT },
  };
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 8, .height = 8 };
  SlNormalizeSpec spec = { .width = 8, .height = 8, .gain = { 1, 1, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    spec.crop = bad[i];
    expect_status (&info, &spec, SL_NORMALIZE_BAD_CROP, "inside the picture");
  }
}

static void
test_bad_shares (void)
{
  static const double bad[] = { -0.5, 0.009, 1.001, INFINITY, NAN };
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 8, .height = 8 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const SlNormalizeSpec spec = {
      .width = 8, .height = 8, .fit = SL_FIT_CROP, .share = bad[i], .gain = { 1, 1, 1 }
    };
    expect_status (&info, &spec, SL_NORMALIZE_BAD_RANGE, "the share 0.01 to 1");
  }
}

/* What a standard deviation of zero, or of NaN, makes of a gain. */
static void
test_bad_standard_deviations (void)
{
  static const double bad[] = { 0.0, -0.0, NAN };
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 8, .height = 8 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    const SlNormalizeSpec spec = {
      .width = 8, .height = 8, .type = SL_OUT_F32, .gain = { 1 / bad[i], 1 / bad[i], 1 / bad[i] }
    };
    expect_status (&info, &spec, SL_NORMALIZE_BAD_RANGE, "finite");
  }
}

static void
test_bad_enums (void)
{
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 8, .height = 8 };
  const SlNormalizeSpec spec = { .width = 8, .height = 8, .gain = { 1, 1, 1 } };
  static const int bad[] = { -1, 99 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    SlImageInfo infos[4] = { info, info, info, info };
    SlNormalizeSpec specs[6] = { spec, spec, spec, spec, spec, spec };
    infos[0].format = bad[i];
    infos[1].matrix = bad[i];
    infos[2].site_h = bad[i];
    infos[3].site_v = bad[i];
    specs[0].type = bad[i];
    specs[1].layout = bad[i];
    specs[2].colour = bad[i];
    specs[3].fit = bad[i];
    specs[4].filter = bad[i];
    specs[5].orientation = bad[i];
    expect_status (&infos[0], &spec, SL_NORMALIZE_BAD_FORMAT, "pixel format");
    for (guint k = 1; k < G_N_ELEMENTS (infos); k++)
      expect_status (&infos[k], &spec, SL_NORMALIZE_BAD_ENUM, "not a value of its enum");
    for (guint k = 0; k < G_N_ELEMENTS (specs); k++)
      expect_status (&info, &specs[k], SL_NORMALIZE_BAD_ENUM, "not a value of its enum");
  }
  g_assert_cmpstr (sl_normalize_status_text ((SlNormalizeStatus) 99), ==, "unknown status");
  g_assert_cmpstr (sl_normalize_status_text (SL_NORMALIZE_OK), ==, "success");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/normalize/bad-sizes", test_bad_sizes);
  g_test_add_func ("/normalize/bad-ranges", test_bad_ranges);
  g_test_add_func ("/normalize/bad-crops", test_bad_crops);
  g_test_add_func ("/normalize/bad-standard-deviations", test_bad_standard_deviations);
  g_test_add_func ("/normalize/bad_shares", test_bad_shares);
  g_test_add_func ("/normalize/bad-enums", test_bad_enums);
  return g_test_run ();
}
