/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser against the double-precision specification of reference.c, for every combination
 * of format, colorimetry, siting, filter, fit, tensor type, layout and colour, on random sizes and
 * strides; and cases with exact answers.
 */
#include "preprocess/normalize.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "tests/preprocess/frame.h"
#include "tests/preprocess/reference.h"
#include "tests/support/cpu.h"
#include "tests/support/program.h"

#define GUARD 64
/* Errors allowed, in bytes of 0..255 before gain: of values that are not filtered, and of those
 * that are, whose rows and columns are weighed in fixed point. Integers may round the other way
 * within this distance of a tie. */
#define EXACT_SLACK 2e-4
#define FILTER_SLACK 0.25

static const struct
{
  double gain[3], offset[3];
} factors[] = {
  { { 1, 1, 1 }, { 0, 0, 0 } },
  { { 1, 1, 1 }, { -128, -128, -128 } },
  { { 1 / 127.5, 1 / 127.5, 1 / 127.5 }, { -1, -1, -1 } },
  { { 1 / (255 * 0.229), 1 / (255 * 0.224), 1 / (255 * 0.225) },
    { -0.485 / 0.229, -0.456 / 0.224, -0.406 / 0.225 } },
  { { -1, 0.5, 1.75 }, { 255, -20.25, -100.5 } },
  { { 0, 0.3, -0.7 }, { 12.5, 300, 90 } },
};

/* Total of the checks made, so that a loop that checks nothing is seen. */
static guint64 pixels_checked;
static double worst_error;

static gsize
element_size (SlOutType type)
{
  static const gsize sizes[] = { [SL_OUT_U8] = 1,  [SL_OUT_I8] = 1,  [SL_OUT_F32] = 4,
                                 [SL_OUT_F16] = 2, [SL_OUT_I32] = 4, [SL_OUT_I64] = 8 };
  return sizes[type];
}

/* By the definition of binary16. */
static double
half_value (guint16 half)
{
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  g_assert_cmpint (exponent, <, 31);
  const double magnitude =
    exponent == 0 ? ldexp (fraction, -24) : ldexp (1024 + fraction, exponent - 25);
  return half >> 15 ? -magnitude : magnitude;
}

static double
element (const SlNormalizeSpec *spec, const guint8 *tensor, gsize index)
{
  gfloat value;
  guint16 half;
  gint32 narrow;
  gint64 wide;
  switch (spec->type) {
    case SL_OUT_U8:
      return tensor[index];
    case SL_OUT_I8:
      return (gint8) tensor[index];
    case SL_OUT_I32:
      memcpy (&narrow, tensor + index * sizeof narrow, sizeof narrow);
      return narrow;
    case SL_OUT_I64:
      memcpy (&wide, tensor + index * sizeof wide, sizeof wide);
      return (double) wide;
    case SL_OUT_F16:
      memcpy (&half, tensor + index * sizeof half, sizeof half);
      return half_value (half);
    default:
      memcpy (&value, tensor + index * sizeof value, sizeof value);
      return value;
  }
}

static void
check_value (const SlNormalizeSpec *spec, int channel, double got, double value)
{
  const double gain = fmax (fabs (spec->gain[channel]), 1e-3);
  const double error = spec->filter == SL_FILTER_NEAREST ? EXACT_SLACK : FILTER_SLACK;
  if (spec->type == SL_OUT_F32 || spec->type == SL_OUT_F16) {
    /* Half a unit in the last place of a half, and of the smallest. */
    const double rounding = spec->type == SL_OUT_F16 ? fabs (value) / 2048 + 0x1p-25
                                                     : 1e-6 * fabs (spec->offset[channel]);
    worst_error = fmax (worst_error, (fabs (got - value) - rounding) / gain);
    g_assert_cmpfloat (fabs (got - value), <=,
                       error * gain + rounding * 1.001 + 1e-6 * fabs (spec->offset[channel]));
    return;
  }
  const double low = spec->type == SL_OUT_U8 ? 0 : -128;
  if (spec->type == SL_OUT_U8 || spec->type == SL_OUT_I8)
    value = CLAMP (value, low, low + 255);
  if (got == rint (value))
    return;
  g_assert_cmpfloat (fabs (got - rint (value)), ==, 1.0);
  g_assert_cmpfloat (fabs (value - floor (value) - 0.5), <=, fmax (error * gain, 1e-3));
}

/* At once, or in slices in any order. */
static void
run (GRand *rand, SlNormalizer *normalizer, const SlImage *image, guint8 *tensor)
{
  if (g_rand_int_range (rand, 0, 4) > 0) {
    sl_normalizer_run (normalizer, image, tensor);
    return;
  }
  const int slices = sl_normalizer_slices (normalizer);
  const int middle = g_rand_int_range (rand, 0, slices + 1);
  const gsize bytes = sl_normalizer_scratch_bytes (normalizer);
  void *scratch = g_aligned_alloc (1, bytes, 64);
  memset (scratch, 0x5c, bytes);
  sl_normalizer_run_slices (normalizer, image, tensor, middle, slices - middle, scratch);
  sl_normalizer_run_slices (normalizer, image, tensor, 0, middle, scratch);
  g_aligned_free (scratch);
}

static void
check_case (GRand *rand, const SlImageInfo *info, const SlNormalizeSpec *spec)
{
  g_autoptr (TestFrame) frame = test_frame_new (
    rand, info, g_rand_int_range (rand, TEST_STRIDE_TIGHT, TEST_STRIDE_NEGATIVE + 1));
  const gsize channels = spec->colour == SL_COLOUR_GRAY ? 1 : 3;
  const gsize plane = (gsize) spec->width * (gsize) spec->height;
  const gsize bytes = plane * channels * element_size (spec->type);
  g_autofree guint8 *memory = g_malloc (bytes + 2 * GUARD);
  g_autofree guint8 *guard = g_malloc (GUARD);
  memset (memory, 0x5c, bytes + 2 * GUARD);
  memset (guard, 0x5c, GUARD);

  SlNormalizer *normalizer;
  g_assert_cmpint (sl_normalizer_new (&normalizer, info, spec), ==, SL_NORMALIZE_OK);
  run (rand, normalizer, &frame->image, memory + GUARD);
  sl_normalizer_free (normalizer);

  g_assert_cmpmem (memory, GUARD, guard, GUARD);
  g_assert_cmpmem (memory + GUARD + bytes, GUARD, guard, GUARD);
  for (int y = 0; y < spec->height; y++) {
    for (int x = 0; x < spec->width; x++) {
      double value[3];
      reference_pixel (frame, spec, x, y, value);
      for (gsize c = 0; c < channels; c++) {
        gsize pixel = (gsize) y * (gsize) spec->width + (gsize) x;
        gsize index = spec->layout == SL_LAYOUT_NHWC ? pixel * channels + c : c * plane + pixel;
        check_value (spec, (int) c, element (spec, memory + GUARD, index), value[c]);
      }
    }
  }
  pixels_checked += plane;
}

/* Most crops keep all of the part. A share of millionths is exact. */
static double
random_share (GRand *rand)
{
  static const double shares[] = { 0, 0, 0, 1, 0.875, 0.9, 0.953191, 0.01 };
  return shares[g_rand_int_range (rand, 0, G_N_ELEMENTS (shares))];
}

static int
random_size (GRand *rand)
{
  static const int special[] = { 1, 1, 2, 3, 16, 17, 40 };
  return g_rand_boolean (rand) ? special[g_rand_int_range (rand, 0, G_N_ELEMENTS (special))]
                               : g_rand_int_range (rand, 1, 25);
}

static void
random_factors (GRand *rand, SlNormalizeSpec *spec)
{
  int which = g_rand_int_range (rand, 0, G_N_ELEMENTS (factors));
  memcpy (spec->gain, factors[which].gain, sizeof spec->gain);
  memcpy (spec->offset, factors[which].offset, sizeof spec->offset);
}

/* Each number from @choice that selects among @n, least significant first. */
static int
take (int *choice, int n)
{
  int taken = *choice % n;
  *choice /= n;
  return taken;
}

/* Half of them the whole frame. */
static SlRect
random_crop (GRand *rand, int width, int height)
{
  if (g_rand_boolean (rand))
    return (SlRect){ 0 };
  SlRect crop = { .x = g_rand_int_range (rand, 0, width), .y = g_rand_int_range (rand, 0, height) };
  crop.width = g_rand_int_range (rand, 1, width - crop.x + 1);
  crop.height = g_rand_int_range (rand, 1, height - crop.y + 1);
  return crop;
}

/* A tenth of all tensors, fits and filters for one kind of picture. */
static void
check_tensors (GRand *rand, SlImageInfo *info, int first)
{
  for (int i = first; i < SL_OUT_COUNT * 2 * 3 * 3 * 4; i += 10) {
    int choice = i;
    SlNormalizeSpec spec = {
      .type = take (&choice, SL_OUT_COUNT),
      .layout = take (&choice, 2),
      .colour = take (&choice, 3),
      .fit = take (&choice, 3),
      .filter = take (&choice, 4),
      .width = random_size (rand),
      .height = random_size (rand),
      .pad_value = g_rand_int_range (rand, 0, 256),
    };
    info->width = random_size (rand);
    info->height = random_size (rand);
    if (g_rand_int_range (rand, 0, 8) == 0) {
      spec.width = info->width;
      spec.height = info->height;
    }
    spec.orientation = g_rand_int_range (rand, 0, 8);
    spec.crop = random_crop (rand, info->width, info->height);
    spec.share = random_share (rand);
    random_factors (rand, &spec);
    check_case (rand, info, &spec);
  }
}

static void
test_format (gconstpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (data) + 1);
  pixels_checked = 0;
  worst_error = 0;
  for (int i = 0; i < 3 * 2 * 2 * 2; i++) {
    int choice = i;
    SlImageInfo info = {
      .format = (SlPixelFormat) GPOINTER_TO_UINT (data),
      .matrix = take (&choice, 3),
      .full_range = take (&choice, 2),
      .site_h = take (&choice, 2),
      .site_v = take (&choice, 2),
    };
    check_tensors (rand, &info, i % 10);
  }
  g_test_message ("%" G_GUINT64_FORMAT " pixels, floats within %.2g of 255", pixels_checked,
                  worst_error);
  g_assert_cmpuint (pixels_checked, >, 20000);
}

/* Long axes: positions stay exact, and factors far from 1. */
static void
test_long_axes (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (99);
  for (int i = 0; i < 60; i++) {
    const int length[2] = { g_rand_int_range (rand, 1000, 32769), g_rand_int_range (rand, 1, 5) };
    const int tensor[2] = { g_rand_int_range (rand, 1, i % 10 == 0 ? 32769 : 900),
                            g_rand_int_range (rand, 1, 5) };
    const int turn = g_rand_int_range (rand, 0, 2);
    const SlImageInfo info = {
      .format = g_rand_int_range (rand, 0, SL_PIXEL_COUNT),
      .width = length[turn],
      .height = length[1 - turn],
      .site_h = g_rand_int_range (rand, 0, 2),
      .site_v = g_rand_int_range (rand, 0, 2),
    };
    SlNormalizeSpec spec = {
      .type = SL_OUT_F32,
      .fit = g_rand_int_range (rand, 0, 3),
      .filter = g_rand_int_range (rand, 0, 4),
      .orientation = g_rand_int_range (rand, 0, 8),
      .width = tensor[turn],
      .height = tensor[1 - turn],
      .share = random_share (rand),
    };
    random_factors (rand, &spec);
    check_case (rand, &info, &spec);
  }
}

static void
test_identity_is_exact (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (int format = SL_PIXEL_GRAY8; format < SL_PIXEL_COUNT; format++) {
    for (int i = 0; i < 2 * 3 * 3; i++) {
      int choice = i;
      SlNormalizeSpec spec = { .gain = { 1, 1, 1 },
                               .colour =
                                 format == SL_PIXEL_GRAY8 ? SL_COLOUR_GRAY : SL_COLOUR_RGB };
      spec.filter = take (&choice, 2);
      spec.fit = take (&choice, 3);
      spec.type = take (&choice, 3);
      const double offset = spec.type == SL_OUT_I8 ? -128 : 0;
      spec.offset[0] = spec.offset[1] = spec.offset[2] = offset;
      const SlImageInfo info = { .format = format, .width = 53, .height = 29, .full_range = 1 };
      spec.width = info.width;
      spec.height = info.height;
      g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_RANDOM);
      g_autofree guint8 *tensor = g_malloc (53 * 29 * 3 * sizeof (gfloat));
      SlNormalizer *normalizer;
      g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
      sl_normalizer_run (normalizer, &frame->image, tensor);
      sl_normalizer_free (normalizer);
      for (gsize p = 0; p < 53 * 29 * (gsize) frame->components; p++) {
        const gsize n = (gsize) frame->components;
        g_assert_cmpfloat (element (&spec, tensor, p), ==, frame->sample[p % n][p / n] + offset);
      }
    }
  }
}

/* A part of a picture at the tensor's size, with the channels as they are: the same bytes. Rows of
 * the picture follow each other at once, or not; and the tensor is made in two steps. */
static void
test_copy (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  for (int i = 0; i < 2 * 3 * 4 * 2 * 3; i++) {
    int choice = i;
    const gboolean is_bgr = take (&choice, 2);
    const TestStride stride = (TestStride) take (&choice, 3);
    const SlRect crop = { stride == TEST_STRIDE_TIGHT ? 0 : 5, 3, 31, 17 };
    const SlImageInfo info = { .format = is_bgr ? SL_PIXEL_BGR : SL_PIXEL_RGB,
                               .width = crop.x + crop.width + crop.x,
                               .height = 29,
                               .full_range = 1 };
    SlNormalizeSpec spec = { .width = crop.width,
                             .height = crop.height,
                             .crop = crop,
                             .colour = is_bgr ? SL_COLOUR_BGR : SL_COLOUR_RGB,
                             .gain = { 1, 1, 1 } };
    spec.fit = take (&choice, 3);
    spec.filter = take (&choice, 4);
    spec.share = take (&choice, 2);
    g_autoptr (TestFrame) frame = test_frame_new (rand, &info, stride);
    const SlImage *image = &frame->image;
    g_autofree guint8 *tensor = g_malloc (31 * 17 * 3);
    SlNormalizer *normalizer;
    g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
    g_autofree void *scratch = g_malloc (sl_normalizer_scratch_bytes (normalizer));
    sl_normalizer_run_slices (normalizer, image, tensor, 9, 8, scratch);
    sl_normalizer_run_slices (normalizer, image, tensor, 0, 9, scratch);
    sl_normalizer_free (normalizer);
    for (int y = 0; y < crop.height; y++)
      g_assert_cmpmem (tensor + y * 31 * 3, 31 * 3,
                       image->plane[0] + (y + crop.y) * image->stride[0] + crop.x * 3, 31 * 3);
  }
}

static void
test_half_to_even (void)
{
  guint8 codes[256];
  guint8 tensor[256];
  for (int i = 0; i < 256; i++)
    codes[i] = (guint8) i;
  const SlImageInfo info = { .format = SL_PIXEL_GRAY8, .width = 256, .height = 1, .full_range = 1 };
  const SlImage image = { { codes }, { 256 } };
  SlNormalizeSpec spec = {
    .width = 256, .height = 1, .colour = SL_COLOUR_GRAY, .gain = { 0.5 }, .offset = { -10 }
  };
  for (spec.type = SL_OUT_U8; spec.type <= SL_OUT_I8; spec.type++) {
    SlNormalizer *normalizer;
    g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
    sl_normalizer_run (normalizer, &image, tensor);
    sl_normalizer_free (normalizer);
    for (int i = 0; i < 256; i++)
      g_assert_cmpfloat (element (&spec, tensor, (gsize) i), ==,
                         fmax (rint (i * 0.5 - 10), spec.type == SL_OUT_U8 ? 0 : -128));
  }
}

/* Whatever is rounded on the way, a tensor of int8 is that of uint8 less 128. */
static void
test_int8_is_uint8 (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  for (int i = 0; i < 200; i++) {
    SlImageInfo info = { .format = g_rand_int_range (rand, 0, SL_PIXEL_COUNT),
                         .width = g_rand_int_range (rand, 1, 400),
                         .height = g_rand_int_range (rand, 1, 200) };
    SlNormalizeSpec spec = { .width = g_rand_int_range (rand, 1, 150),
                             .height = g_rand_int_range (rand, 1, 150),
                             .layout = (SlLayout) (i % 2),
                             .colour = (SlColour) (i / 2 % 3),
                             .fit = (SlFit) (i / 6 % 3),
                             .filter = (SlFilter) (i / 18 % 3),
                             .pad_value = 114 };
    for (int c = 0; c < 3; c++) {
      spec.gain[c] = i % 5 == 0 ? g_rand_double_range (rand, -2, 2) : 1;
      spec.offset[c] = i % 5 == 0 ? g_rand_double_range (rand, -50, 300) : 0;
    }
    const gsize bytes = (gsize) spec.width * (gsize) spec.height * 3;
    g_autofree guint8 *tensors = g_malloc0 (2 * bytes);
    g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_RANDOM);
    for (spec.type = SL_OUT_U8; spec.type <= SL_OUT_I8; spec.type++) {
      SlNormalizer *normalizer;
      g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
      sl_normalizer_run (normalizer, &frame->image, tensors + (spec.type == SL_OUT_I8 ? bytes : 0));
      sl_normalizer_free (normalizer);
      for (int c = 0; c < 3; c++)
        spec.offset[c] -= 128;
    }
    const gsize made = spec.colour == SL_COLOUR_GRAY ? bytes / 3 : bytes;
    for (gsize k = 0; k < made; k++)
      g_assert_cmpint (tensors[k] - 128, ==, (gint8) tensors[bytes + k]);
  }
}

/* A worked letterbox: 4x2 into 4x6 leaves two rows above and below; a stripe too thin to hold a
 * pixel centre vanishes. */
static void
test_letterbox_borders (void)
{
  static const guint8 codes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  guint8 tensor[24];
  const SlImageInfo info = { .format = SL_PIXEL_GRAY8, .width = 4, .height = 2, .full_range = 1 };
  const SlImage image = { { codes }, { 4 } };
  SlNormalizeSpec spec = { .width = 4,
                           .height = 6,
                           .colour = SL_COLOUR_GRAY,
                           .fit = SL_FIT_LETTERBOX,
                           .filter = SL_FILTER_BILINEAR,
                           .pad_value = 114,
                           .gain = { 1 } };
  SlNormalizer *normalizer;
  g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
  sl_normalizer_run (normalizer, &image, tensor);
  for (int i = 0; i < 24; i++)
    g_assert_cmpint (tensor[i], ==, i >= 8 && i < 16 ? codes[i - 8] : 114);
  const SlAffine *map = sl_normalizer_map (normalizer);
  g_assert_cmpfloat (map->xx, ==, 1.0);
  g_assert_cmpfloat (map->y0, ==, -2.0);
  sl_normalizer_free (normalizer);

  const SlImageInfo thin = { .format = SL_PIXEL_GRAY8, .width = 8, .height = 1, .full_range = 1 };
  spec.height = 4;
  g_assert_cmpint (sl_normalizer_new (&normalizer, &thin, &spec), ==, SL_NORMALIZE_OK);
  sl_normalizer_run (normalizer, &image, tensor);
  for (int i = 0; i < 16; i++)
    g_assert_cmpint (tensor[i], ==, 114);
  sl_normalizer_free (normalizer);
}

/* Threads share a normaliser: what they make together is what one makes. */
typedef struct
{
  const SlNormalizer *normalizer;
  const SlImage *image;
  guint8 *tensor;
  int first, count;
} Share;

static gpointer
run_share (gpointer data)
{
  const Share *share = data;
  void *scratch = g_aligned_alloc (1, sl_normalizer_scratch_bytes (share->normalizer), 64);
  sl_normalizer_run_slices (share->normalizer, share->image, share->tensor, share->first,
                            share->count, scratch);
  g_aligned_free (scratch);
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 321, .height = 203 };
  g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_RANDOM);
  for (int orientation = 0; orientation < 8; orientation++) {
    SlNormalizeSpec spec = { .width = 97,
                             .height = 71,
                             .fit = SL_FIT_LETTERBOX,
                             .filter = SL_FILTER_AUTO,
                             .gain = { 1, 1, 1 } };
    guint8 alone[97 * 71 * 3], together[97 * 71 * 3];
    GThread *threads[4];
    Share shares[4];
    SlNormalizer *normalizer;
    spec.orientation = (SlOrientation) orientation;
    g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
    sl_normalizer_run (normalizer, &frame->image, alone);
    const int slices = sl_normalizer_slices (normalizer);
    for (int i = 0; i < 4; i++) {
      const int first = slices * i / 4;
      shares[i] =
        (Share){ normalizer, &frame->image, together, first, slices * (i + 1) / 4 - first };
      threads[i] = g_thread_new ("slice", run_share, &shares[i]);
    }
    for (int i = 0; i < 4; i++)
      g_thread_join (threads[i]);
    sl_normalizer_free (normalizer);
    g_assert_cmpmem (alone, sizeof alone, together, sizeof together);
  }
}

/* State kept between rows must not leak into the next picture. */
static void
test_runs_are_independent (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  const SlImageInfo info = { .format = SL_PIXEL_NV12, .width = 20, .height = 14 };
  const SlNormalizeSpec spec = {
    .width = 31, .height = 33, .filter = SL_FILTER_BILINEAR, .gain = { 1, 1, 1 }
  };
  g_autoptr (TestFrame) a = test_frame_new (rand, &info, TEST_STRIDE_TIGHT);
  g_autoptr (TestFrame) b = test_frame_new (rand, &info, TEST_STRIDE_NEGATIVE);
  guint8 fresh[31 * 33 * 3], again[31 * 33 * 3];
  SlNormalizer *normalizer;
  g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
  sl_normalizer_run (normalizer, &a->image, fresh);
  sl_normalizer_run (normalizer, &b->image, again);
  sl_normalizer_run (normalizer, &a->image, again);
  sl_normalizer_free (normalizer);
  g_assert_cmpmem (fresh, sizeof fresh, again, sizeof again);
}

/* Extreme but legal factors: results stay in range, nothing overflows. */
static void
test_extreme_factors (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  const SlImageInfo info = { .format = SL_PIXEL_I420, .width = 5, .height = 5 };
  static const double extremes[] = { 1e30, -1e30, 1e-300, 0 };
  for (int i = 0; i < 4 * 4 * 3; i++) {
    int choice = i;
    SlNormalizeSpec spec = { .width = 7, .height = 3, .filter = SL_FILTER_BILINEAR };
    const double gain = extremes[take (&choice, 4)];
    const double offset = extremes[take (&choice, 4)];
    spec.type = take (&choice, 3);
    for (int c = 0; c < 3; c++) {
      spec.gain[c] = gain;
      spec.offset[c] = offset;
    }
    g_autoptr (TestFrame) frame = test_frame_new (rand, &info, TEST_STRIDE_TIGHT);
    gfloat tensor[7 * 3 * 3];
    SlNormalizer *normalizer;
    g_assert_cmpint (sl_normalizer_new (&normalizer, &info, &spec), ==, SL_NORMALIZE_OK);
    sl_normalizer_run (normalizer, &frame->image, tensor);
    sl_normalizer_free (normalizer);
    for (gsize k = 0; spec.type == SL_OUT_F32 && k < G_N_ELEMENTS (tensor); k++)
      g_assert_true (isfinite (tensor[k]));
  }
}

/* A normaliser that was another one before makes what a new one makes, whatever it was, and after
 * refusing something, too. */
static void
test_set_again (void)
{
  GRand *rand = g_rand_new_with_seed (7);
  const SlImageInfo info = {
    .format = SL_PIXEL_NV12, .width = 201, .height = 133, .site_h = SL_SITE_COSITED
  };
  g_autofree guint8 *luma = g_malloc (201 * 133), *chroma = g_malloc (202 * 67),
                    *a = g_malloc (64 * 64 * 3), *b = g_malloc (64 * 64 * 3);
  const SlImage image = { { luma, chroma, NULL }, { 201, 202, 0 } };
  SlNormalizer *again = NULL;
  for (guint i = 0; i < 201 * 133; i++)
    luma[i] = (guint8) g_rand_int (rand);
  for (guint i = 0; i < 202 * 67; i++)
    chroma[i] = (guint8) g_rand_int (rand);
  for (guint round = 0; round < 300; round++) {
    SlNormalizer *fresh = NULL;
    SlNormalizeSpec spec = { .width = g_rand_int_range (rand, 1, 65),
                             .height = g_rand_int_range (rand, 1, 65),
                             .fit = (SlFit) g_rand_int_range (rand, 0, 3),
                             .colour = (SlColour) g_rand_int_range (rand, 0, 3),
                             .layout = (SlLayout) g_rand_int_range (rand, 0, 2),
                             .filter = (SlFilter) g_rand_int_range (rand, 0, 4),
                             .orientation = (SlOrientation) g_rand_int_range (rand, 0, 8),
                             .pad_value = 114,
                             .gain = { 1, 1, 1 } };
    spec.crop.x = g_rand_int_range (rand, 0, 200);
    spec.crop.y = g_rand_int_range (rand, 0, 132);
    spec.crop.width = g_rand_int_range (rand, 1, 202 - spec.crop.x);
    spec.crop.height = g_rand_int_range (rand, 1, 134 - spec.crop.y);
    g_assert_cmpint (sl_normalizer_new (&fresh, &info, &spec), ==, SL_NORMALIZE_OK);
    if (again == NULL)
      g_assert_cmpint (sl_normalizer_new (&again, &info, &spec), ==, SL_NORMALIZE_OK);
    g_assert_cmpint (sl_normalizer_set (again, &info, &spec), ==, SL_NORMALIZE_OK);
    const gsize bytes =
      (gsize) spec.width * (gsize) spec.height * (spec.colour == SL_COLOUR_GRAY ? 1 : 3);
    sl_normalizer_run (fresh, &image, a);
    sl_normalizer_run (again, &image, b);
    g_assert_cmpmem (a, bytes, b, bytes);
    g_assert_cmpmem (sl_normalizer_map (fresh), sizeof (SlAffine), sl_normalizer_map (again),
                     sizeof (SlAffine));
    spec.crop.x = 201;
    g_assert_cmpint (sl_normalizer_set (again, &info, &spec), ==, SL_NORMALIZE_BAD_CROP);
    sl_normalizer_free (fresh);
  }
  sl_normalizer_free (again);
  g_rand_free (rand);
}

TEST_MAIN (int argc, char **argv)
{
  if (sl_test_lacks_cpu ())
    return 0;
  g_test_init (&argc, &argv, NULL);
  g_test_message ("kernels: %s", sl_normalizer_cpu ());
  for (guint format = 0; format < SL_PIXEL_COUNT; format++) {
    g_autofree char *path =
      g_strdup_printf ("/normalize/reference/%s", sl_pixel_format_name (format));
    g_test_add_data_func (path, GUINT_TO_POINTER (format), test_format);
  }
  g_test_add_func ("/normalize/long-axes", test_long_axes);
  g_test_add_func ("/normalize/identity-is-exact", test_identity_is_exact);
  g_test_add_func ("/normalize/copy", test_copy);
  g_test_add_func ("/normalize/half-to-even", test_half_to_even);
  g_test_add_func ("/normalize/int8-is-uint8", test_int8_is_uint8);
  g_test_add_func ("/normalize/letterbox-borders", test_letterbox_borders);
  g_test_add_func ("/normalize/threads", test_threads);
  g_test_add_func ("/normalize/set-again", test_set_again);
  g_test_add_func ("/normalize/runs-are-independent", test_runs_are_independent);
  g_test_add_func ("/normalize/extreme-factors", test_extreme_factors);
  return g_test_run ();
}
