/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turned parts of pictures against interpolation in double precision, against the normaliser where
 * a part is upright or turned by a quarter, and on gradients, which reducing and turning leave what
 * they are.
 */
#include "preprocess/warp.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "tests/preprocess/frame.h"
#include "tests/support/perspective.h"
#include "tests/support/program.h"

/* In bytes of 0..255. */
#define SLACK 0.02
#define GUARD 32

static const SlNormalizeSpec bytes_spec = { .gain = { 1, 1, 1 } };

static double
sample (const TestFrame *frame, int c, int x, int y)
{
  return frame->sample[c][(gsize) CLAMP (y, 0, frame->height[c] - 1) * (gsize) frame->width[c]
                          + (gsize) CLAMP (x, 0, frame->width[c] - 1)];
}

/* Byte @c of the picture at (@x, @y), whose first pixel's centre is at (0.5, 0.5). */
static double
interpolate (const TestFrame *frame, int c, double x, double y)
{
  const double left = floor (x - 0.5), top = floor (y - 0.5), fx = x - 0.5 - left,
               fy = y - 0.5 - top;
  const int i = (int) left, j = (int) top;
  return (1 - fy) * ((1 - fx) * sample (frame, c, i, j) + fx * sample (frame, c, i + 1, j))
         + fy * ((1 - fx) * sample (frame, c, i, j + 1) + fx * sample (frame, c, i + 1, j + 1));
}

static double
element (const SlNormalizeSpec *spec, const guint8 *tensor, int x, int y, int c)
{
  const gsize n = (gsize) spec->width * (gsize) spec->height,
              at = (gsize) y * (gsize) spec->width + (gsize) x;
  const gsize i = spec->layout == SL_LAYOUT_NHWC
                    ? at * (spec->colour == SL_COLOUR_GRAY ? 1 : 3) + (gsize) c
                    : (gsize) c * n + at;
  gfloat value;
  guint16 half;
  if (spec->type == SL_OUT_U8)
    return tensor[i];
  if (spec->type == SL_OUT_I8)
    return (gint8) tensor[i];
  if (spec->type == SL_OUT_F16) {
    memcpy (&half, tensor + 2 * i, sizeof half);
    return (double) sl_half_to_float (half);
  }
  if (spec->type == SL_OUT_I32)
    return ((const gint32 *) (const void *) tensor)[i];
  if (spec->type == SL_OUT_I64)
    return (double) ((const gint64 *) (const void *) tensor)[i];
  memcpy (&value, tensor + 4 * i, sizeof value);
  return (double) value;
}

static gsize
tensor_bytes (const SlNormalizeSpec *spec)
{
  static const gsize bytes[] = { [SL_OUT_U8] = 1,  [SL_OUT_I8] = 1,  [SL_OUT_F32] = 4,
                                 [SL_OUT_F16] = 2, [SL_OUT_I32] = 4, [SL_OUT_I64] = 8 };
  return (gsize) spec->width * (gsize) spec->height * (spec->colour == SL_COLOUR_GRAY ? 1 : 3)
         * bytes[spec->type];
}

static guint8 *
run (SlWarp *warp, const TestFrame *frame, const SlNormalizeSpec *spec, const SlTurnedRect *part)
{
  const gsize bytes = tensor_bytes (spec);
  guint8 *tensor = g_malloc (bytes + GUARD);
  memset (tensor, 0xa5, bytes + GUARD);
  g_assert_cmpint (sl_warp_set (warp, &frame->info, spec, part), ==, SL_NORMALIZE_OK);
  sl_warp_run (warp, &frame->image, tensor);
  for (gsize i = 0; i < GUARD; i++)
    g_assert_cmphex (tensor[bytes + i], ==, 0xa5);
  return tensor;
}

/* Every pixel of the tensor, computed by turning and interpolating here. Returns how many were
 * borders. */
static guint
check (const TestFrame *frame, const SlNormalizeSpec *spec, const SlTurnedRect *part,
       const guint8 *tensor)
{
  guint borders = 0;
  const int channels = spec->colour == SL_COLOUR_GRAY ? 1 : 3;
  for (int y = 0; y < spec->height; y++)
    for (int x = 0; x < spec->width; x++) {
      const double across = ((x + 0.5) / spec->width - 0.5) * part->width,
                   down = ((y + 0.5) / spec->height - 0.5) * part->height;
      const double px = part->x + across * cos (part->angle) - down * sin (part->angle);
      const double py = part->y + across * sin (part->angle) + down * cos (part->angle);
      const double edge = fmin (fmin (fabs (px), fabs (px - frame->info.width)),
                                fmin (fabs (py), fabs (py - frame->info.height)));
      const gboolean inside =
        px >= 0 && py >= 0 && px <= frame->info.width && py <= frame->info.height;
      if (edge < 1e-6)
        continue;
      borders += !inside;
      for (int c = 0; c < channels; c++) {
        const double byte =
          inside ? interpolate (frame, spec->colour == SL_COLOUR_BGR ? 2 - c : c, px, py)
                 : spec->pad_value;
        double value = byte * spec->gain[c] + spec->offset[c], slack = SLACK * fabs (spec->gain[c]);
        if (spec->type == SL_OUT_U8 || spec->type == SL_OUT_I8) {
          value =
            CLAMP (value, spec->type == SL_OUT_U8 ? 0 : -128, spec->type == SL_OUT_U8 ? 255 : 127);
          slack += 0.5;
        } else if (spec->type == SL_OUT_I32 || spec->type == SL_OUT_I64)
          slack += 0.5;
        else if (spec->type == SL_OUT_F16)
          slack += fabs (value) / 2048;
        g_assert_cmpfloat (fabs (element (spec, tensor, x, y, c) - value), <=, slack + 1e-6);
      }
    }
  return borders;
}

static void
test_turned (void)
{
  static const double factors[][2] = { { 1, 0 }, { 1 / 127.5, -1 }, { -1, 255 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  SlWarp *warp = sl_warp_new ();
  guint borders = 0, pixels = 0;
  for (guint i = 0; i < 200; i++) {
    const SlImageInfo info = { .format = SL_PIXEL_RGB,
                               .width = g_rand_int_range (rand, 1, 60),
                               .height = g_rand_int_range (rand, 1, 60) };
    g_autoptr (TestFrame) frame = test_frame_new (rand, &info, (TestStride) (i % 3));
    const double *factor = factors[i % 3];
    SlNormalizeSpec spec = { .width = g_rand_int_range (rand, 1, 40),
                             .height = g_rand_int_range (rand, 1, 40),
                             .type = (SlOutType) g_rand_int_range (rand, 0, SL_OUT_COUNT),
                             .layout = (SlLayout) g_rand_int_range (rand, 0, 2),
                             .colour = g_rand_boolean (rand) ? SL_COLOUR_RGB : SL_COLOUR_BGR,
                             .pad_value = 114,
                             .gain = { factor[0], factor[0], factor[0] },
                             .offset = { factor[1], factor[1], factor[1] } };
    if (spec.type == SL_OUT_I8)
      spec.offset[0] = spec.offset[1] = spec.offset[2] = -128;
    const SlTurnedRect part = { g_rand_double_range (rand, -5, info.width + 5),
                                g_rand_double_range (rand, -5, info.height + 5),
                                spec.width * g_rand_double_range (rand, 0.1, 2),
                                spec.height * g_rand_double_range (rand, 0.1, 2),
                                g_rand_double_range (rand, -7, 7) };
    g_autofree guint8 *tensor = run (warp, frame, &spec, &part);
    borders += check (frame, &spec, &part, tensor);
    pixels += (guint) (spec.width * spec.height);
  }
  g_assert_cmpuint (borders, >, pixels / 20);
  g_assert_cmpuint (borders, <, pixels * 7 / 8);
  sl_warp_free (warp);
}

/* Quarter turns of whole pixels are the normaliser's, of every pixel format's colours. */
static void
test_quarters (void)
{
  static const SlOrientation orientations[] = { SL_ORIENTATION_IDENTITY, SL_ORIENTATION_90L,
                                                SL_ORIENTATION_180, SL_ORIENTATION_90R };
  static const SlPixelFormat formats[] = { SL_PIXEL_NV12, SL_PIXEL_RGB, SL_PIXEL_GRAY8 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  SlWarp *warp = sl_warp_new ();
  for (guint i = 0; i < 2 * G_N_ELEMENTS (orientations) * G_N_ELEMENTS (formats); i++) {
    const SlImageInfo info = { .format = formats[i / 8], .width = 64, .height = 48 };
    g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_TIGHT);
    SlNormalizeSpec spec = bytes_spec;
    spec.width = spec.height = 20;
    spec.colour = i % 2 ? SL_COLOUR_GRAY : SL_COLOUR_RGB;
    const SlTurnedRect part = { 24, 18, 20, 20, (i / 2 % 4) * G_PI / 2 };
    g_autofree guint8 *got = run (warp, frame, &spec, &part);
    g_autofree guint8 *want = g_malloc (tensor_bytes (&spec));
    spec.crop = (SlRect){ 14, 8, 20, 20 };
    spec.orientation = orientations[i / 2 % 4];
    spec.filter = SL_FILTER_BILINEAR;
    SlNormalizer *normalizer;
    g_assert_cmpint (sl_normalizer_new (&normalizer, &frame->info, &spec), ==, SL_NORMALIZE_OK);
    sl_normalizer_run (normalizer, &frame->image, want);
    sl_normalizer_free (normalizer);
    const gsize channels = spec.colour == SL_COLOUR_GRAY ? 1 : 3;
    /* At the edge the normaliser has no colours of pixels beyond. */
    for (gsize k = 2; k < 18; k++)
      for (gsize c = 2 * channels; c < 18 * channels; c++)
        g_assert_cmpint (ABS (got[k * 20 * channels + c] - want[k * 20 * channels + c]), <=, 1);
  }
  sl_warp_free (warp);
}

/* A gradient reduced by whole and broken numbers. */
static void
test_reduced (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  const SlImageInfo info = {
    .format = SL_PIXEL_GRAY8, .width = 250, .height = 240, .full_range = 1
  };
  g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_TIGHT);
  SlWarp *warp = sl_warp_new ();
  for (int y = 0; y < info.height; y++)
    for (int x = 0; x < info.width; x++)
      ((guint8 *) frame->image.plane[0])[y * frame->image.stride[0] + x] = (guint8) x;
  for (guint i = 0; i < 40; i++) {
    SlNormalizeSpec spec = bytes_spec;
    spec.width = spec.height = 12;
    spec.colour = SL_COLOUR_GRAY;
    spec.type = SL_OUT_F32;
    const double side = 12 * g_rand_double_range (rand, 2.1, 9);
    const SlTurnedRect part = { 125, 120, side, side, g_rand_double_range (rand, -4, 4) };
    g_autofree guint8 *tensor = run (warp, frame, &spec, &part);
    for (int y = 0; y < 12; y++)
      for (int x = 0; x < 12; x++) {
        const double want = part.x
                            + side
                                * (((x + 0.5) / 12 - 0.5) * cos (part.angle)
                                   - ((y + 0.5) / 12 - 0.5) * sin (part.angle))
                            - 0.5;
        g_assert_cmpfloat (fabs (element (&spec, tensor, x, y, 0) - want), <=,
                           1.1); /* of which the reduced picture's rounding is a half */
      }
  }
  sl_warp_free (warp);
}

/* A part of which nothing is in the picture is border; places far away and nonsense are refused. */
/* Parts between corners, some outside of the picture, with both fits. */
static void
test_corners (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);
  SlWarp *warp = sl_warp_new ();
  guint inside = 0, borders = 0;
  for (guint i = 0; i < 200; i++) {
    const SlImageInfo info = { .format = SL_PIXEL_RGB,
                               .width = g_rand_int_range (rand, 20, 60),
                               .height = g_rand_int_range (rand, 20, 60) };
    g_autoptr (TestFrame) frame = test_frame_new (rand, &info, (TestStride) (i % 3));
    const SlNormalizeSpec spec = { .width = g_rand_int_range (rand, 24, 50),
                                   .height = g_rand_int_range (rand, 24, 40),
                                   .colour = SL_COLOUR_RGB,
                                   .fit = i % 2 == 0 ? SL_FIT_STRETCH : SL_FIT_LETTERBOX,
                                   .pad_value = 99,
                                   .gain = { 1, 1, 1 } };
    double points[4][2], m[8], width, height;
    SlCorners corners;
    for (guint k = 0; k < 8; k++)
      points[k / 2][k % 2] =
        (k / 2 == (k % 2 == 0 ? 1 : 3) || k / 2 == 2 ? 30 : 0) + g_rand_double_range (rand, -8, 12);
    if (!sl_corners_order ((const double (*)[2]) points, &corners))
      continue;
    sl_corners_size (&corners, &width, &height);
    const double scale = fmin (spec.width / width, spec.height / height),
                 w = i % 2 == 0 ? spec.width : width * scale,
                 h = i % 2 == 0 ? spec.height : height * scale, left = (spec.width - w) / 2,
                 top = (spec.height - h) / 2;
    const double ends[4][2] = {
      { left, top }, { left + w, top }, { left + w, top + h }, { left, top + h }
    };
    g_autofree guint8 *tensor = g_malloc (tensor_bytes (&spec));
    perspective_solve (ends, corners.at, m);
    g_assert_cmpint (sl_warp_set_corners (warp, &info, &spec, &corners), ==, SL_NORMALIZE_OK);
    sl_warp_run (warp, &frame->image, tensor);
    for (int y = 0; y < spec.height; y++)
      for (int x = 0; x < spec.width; x++) {
        const double px = x + 0.5, py = y + 0.5;
        double u, v;
        perspective_apply (m, px, py, &u, &v);
        const gboolean seen = px >= left && px <= left + w && py >= top && py <= top + h && u >= 0
                              && v >= 0 && u <= info.width && v <= info.height;
        const double edge = fmin (
          fmin (fmin (fabs (u), fabs (u - info.width)), fmin (fabs (v), fabs (v - info.height))),
          fmin (fmin (fabs (px - left), fabs (px - left - w)),
                fmin (fabs (py - top), fabs (py - top - h))));
        if (edge < 1e-6)
          continue;
        inside += seen;
        borders += !seen;
        for (int c = 0; c < 3; c++)
          g_assert_cmpfloat (
            fabs (element (&spec, tensor, x, y, c) - (seen ? interpolate (frame, c, u, v) : 99)),
            <=, 0.55);
      }
  }
  g_assert_cmpuint (inside, >, 50000);
  g_assert_cmpuint (borders, >, 5000);
  sl_warp_free (warp);
}

static void
test_refused (void)
{
  static const SlTurnedRect bad[] = { { NAN, 0, 1, 1, 0 },      { 0, INFINITY, 1, 1, 0 },
                                      { 0, 0, 0, 1, 0 },        { 0, 0, 1, -1, 0 },
                                      { 0, 0, 1, INFINITY, 0 }, { 0, 0, 1, 1, NAN },
                                      { 1e300, 0, 1, 1, 0 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  const SlImageInfo info = { .format = SL_PIXEL_RGB, .width = 16, .height = 16 };
  g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_TIGHT);
  SlNormalizeSpec spec = bytes_spec;
  spec.width = spec.height = 4;
  spec.pad_value = 77;
  SlWarp *warp = sl_warp_new ();
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_cmpint (sl_warp_set (warp, &info, &spec, &bad[i]), ==, SL_NORMALIZE_BAD_CROP);
  const SlTurnedRect away = { -1e6, 1e6, 30, 30, 1 };
  g_autofree guint8 *tensor = run (warp, frame, &spec, &away);
  for (gsize i = 0; i < tensor_bytes (&spec); i++)
    g_assert_cmpuint (tensor[i], ==, 77);
  spec.width = 0;
  g_assert_cmpint (sl_warp_set (warp, &info, &spec, &away), ==, SL_NORMALIZE_BAD_SIZE);
  sl_warp_free (warp);
  sl_warp_free (NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/warp/turned", test_turned);
  g_test_add_func ("/warp/quarters", test_quarters);
  g_test_add_func ("/warp/reduced", test_reduced);
  g_test_add_func ("/warp/corners", test_corners);
  g_test_add_func ("/warp/refused", test_refused);
  return g_test_run ();
}
