/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second opinion: colours of unscaled pictures as libyuv converts them, with chroma repeated
 * (nearest) and interpolated (bilinear, samples centred). libyuv computes in 8-bit fixed point,
 * hence the tolerance, and holds the blue coefficient of U in a signed byte of 1/64, so at
 * most 2.0, hence the extra tolerance for blue.
 */
#include <glib.h>
#include <libyuv.h>
#include <math.h>

#include "preprocess/normalize.h"
#include "tests/preprocess/frame.h"
#include "tests/support/program.h"

#define TOLERANCE 3

/* @blue: the exact coefficient of U for blue. */
static const struct
{
  SlMatrix matrix;
  int full_range;
  const struct YuvConstants *constants;
  double blue;
} colorimetry[] = {
  { SL_MATRIX_BT601, 0, &kYuvI601Constants, 2.0172 },
  { SL_MATRIX_BT601, 1, &kYuvJPEGConstants, 1.772 },
  { SL_MATRIX_BT709, 0, &kYuvH709Constants, 2.1124 },
  { SL_MATRIX_BT709, 1, &kYuvF709Constants, 1.8556 },
  { SL_MATRIX_BT2020, 0, &kYuv2020Constants, 2.1418 },
  { SL_MATRIX_BT2020, 1, &kYuvV2020Constants, 1.8814 },
};

/* libyuv's answer as B G R A; FALSE where it has no such conversion. */
static gboolean
convert (const TestFrame *frame, SlFilter filter, const struct YuvConstants *constants,
         guint8 *bgra)
{
  const guint8 *const *plane = frame->image.plane;
  const int stride[3] = { (int) frame->image.stride[0], (int) frame->image.stride[1],
                          (int) frame->image.stride[2] };
  const int w = frame->info.width;
  const int h = frame->info.height;
  const gboolean bilinear = filter == SL_FILTER_BILINEAR;
  switch (frame->info.format) {
    case SL_PIXEL_I420:
      return I420ToARGBMatrixFilter (plane[0], stride[0], plane[1], stride[1], plane[2], stride[2],
                                     bgra, w * 4, constants, w, h,
                                     bilinear ? kFilterBilinear : kFilterNone)
             == 0;
    case SL_PIXEL_Y42B:
      return I422ToARGBMatrixFilter (plane[0], stride[0], plane[1], stride[1], plane[2], stride[2],
                                     bgra, w * 4, constants, w, h,
                                     bilinear ? kFilterBilinear : kFilterNone)
             == 0;
    case SL_PIXEL_Y444:
      return I444ToARGBMatrix (plane[0], stride[0], plane[1], stride[1], plane[2], stride[2], bgra,
                               w * 4, constants, w, h)
             == 0;
    case SL_PIXEL_NV12:
      return !bilinear
             && NV12ToARGBMatrix (plane[0], stride[0], plane[1], stride[1], bgra, w * 4, constants,
                                  w, h)
                  == 0;
    case SL_PIXEL_NV21:
      return !bilinear
             && NV21ToARGBMatrix (plane[0], stride[0], plane[1], stride[1], bgra, w * 4, constants,
                                  w, h)
                  == 0;
    default:
      return FALSE;
  }
}

static void
compare (GRand *rand, SlPixelFormat format, guint which, SlFilter filter)
{
  /* libyuv repeats the last chroma sample of an odd row instead of interpolating it. */
  const int even = filter == SL_FILTER_BILINEAR ? ~1 : ~0;
  const SlImageInfo info = {
    .format = format,
    .width = g_rand_int_range (rand, 2, 90) & even,
    .height = g_rand_int_range (rand, 2, 60) & even,
    .matrix = colorimetry[which].matrix,
    .full_range = colorimetry[which].full_range,
  };
  const SlNormalizeSpec spec = { .width = info.width,
                                 .height = info.height,
                                 .colour = SL_COLOUR_BGR,
                                 .filter = filter,
                                 .gain = { 1, 1, 1 } };
  const gsize pixels = (gsize) info.width * (gsize) info.height;
  g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_RANDOM);
  g_autofree guint8 *theirs = g_malloc (pixels * 4);
  g_autofree guint8 *ours = g_malloc (pixels * 3);
  if (!convert (frame, filter, colorimetry[which].constants, theirs))
    return; /* no such conversion */
  SlNormalizer *normalizer;
  g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
  sl_normalizer_run (normalizer, &frame->image, ours);
  sl_normalizer_free (normalizer);
  const int blue_slack = (int) ceil (127 * fmax (colorimetry[which].blue - 2.0, 0.0));
  for (gsize i = 0; i < pixels * 3; i++)
    g_assert_cmpint (ABS (ours[i] - theirs[i / 3 * 4 + i % 3]), <=,
                     TOLERANCE + (i % 3 == 0 ? blue_slack : 0));
}

static void
test_format (gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (data) + 1);
  for (guint which = 0; which < G_N_ELEMENTS (colorimetry); which++) {
    for (int i = 0; i < 20; i++)
      compare (rand, (SlPixelFormat) GPOINTER_TO_UINT (data), which,
               i % 2 == 0 ? SL_FILTER_NEAREST : SL_FILTER_BILINEAR);
  }
}

TEST_MAIN (int argc, char **argv)
{
  static const SlPixelFormat formats[] = { SL_PIXEL_I420, SL_PIXEL_Y42B, SL_PIXEL_Y444,
                                           SL_PIXEL_NV12, SL_PIXEL_NV21 };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree char *path =
      g_strdup_printf ("/normalize/libyuv/%s", sl_pixel_format_name (formats[i]));
    g_test_add_data_func (path, GUINT_TO_POINTER (formats[i]), test_format);
  }
  return g_test_run ();
}
