/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/field/picture.h"

#include <stdlib.h>

#include "core/base/percentile.h"
#include "tools/bench/test_picture.h"
#include "tools/bench/timing.h"

#define WIDTH 1920
#define HEIGHT 1080
#define MOST_RUNS 200
#define ERROR_STEP 13 /* every so many pixels are compared */

static const struct
{
  SlPixelFormat format;
  int size;
  SlFit fit;
  SlOutType type;
} rows[SL_FIELD_PICTURES] = {
  { SL_PIXEL_NV12, 224, SL_FIT_STRETCH, SL_OUT_U8 },
  { SL_PIXEL_NV12, 224, SL_FIT_STRETCH, SL_OUT_F32 },
  { SL_PIXEL_NV12, 640, SL_FIT_LETTERBOX, SL_OUT_I8 },
  { SL_PIXEL_NV12, 640, SL_FIT_LETTERBOX, SL_OUT_F32 },
  { SL_PIXEL_I420, 640, SL_FIT_LETTERBOX, SL_OUT_F32 },
  { SL_PIXEL_YUY2, 640, SL_FIT_LETTERBOX, SL_OUT_F32 },
  { SL_PIXEL_BGRX, 640, SL_FIT_LETTERBOX, SL_OUT_F32 },
};

static const char *
type_name (SlOutType type)
{
  return type == SL_OUT_U8 ? "uint8" : type == SL_OUT_I8 ? "int8" : "float32";
}

static SlNormalizeSpec
spec_of (guint i)
{
  const SlOutType type = rows[i].type;
  SlNormalizeSpec spec = { rows[i].size, rows[i].size,   type, SL_LAYOUT_NHWC, SL_COLOUR_RGB,
                           rows[i].fit,  SL_FILTER_AREA, 114,  { 0 },          { 0 } };
  for (int c = 0; c < 3; c++) {
    spec.gain[c] = type == SL_OUT_F32 ? 1.0 / 255 : 1.0;
    spec.offset[c] = type == SL_OUT_I8 ? -128.0 : 0.0;
  }
  return spec;
}

static void
measure (SlNormalizer *normalizer, const SlImage *image, void *tensor, double most_ms,
         SlFieldPicture *picture)
{
  double ms[MOST_RUNS];
  guint n = 0;
  const double start = sl_timing_now_ms ();
  for (double at = start; n < MOST_RUNS && at - start < most_ms; n++) {
    sl_normalizer_run (normalizer, image, tensor);
    const double now = sl_timing_now_ms ();
    ms[n] = now - at;
    at = now;
  }
  if (n == 0)
    return;
  sl_timing_sort (ms, n);
  picture->least_us = ms[0] * 1e3;
  picture->median_us = ms[sl_percentile_index (n, 50)] * 1e3;
}

void
sl_field_picture_run (guint i, double most_ms, SlFieldPicture *picture)
{
  SlBenchPicture source;
  SlNormalizer *normalizer = NULL;
  SlImage image = { { NULL }, { 0 } };
  const SlNormalizeSpec spec = spec_of (i);
  *picture = (SlFieldPicture){ .format = sl_pixel_format_name (rows[i].format),
                               .fit = rows[i].fit == SL_FIT_STRETCH ? "stretch" : "letterbox",
                               .type = type_name (rows[i].type),
                               .size = (guint) rows[i].size };
  sl_bench_picture_init (&source, rows[i].format, WIDTH, HEIGHT);
  sl_bench_picture_image (&source, source.memory, &image);
  const SlNormalizeStatus status = sl_normalizer_new (&normalizer, &source.info, &spec);
  g_assert (status == SL_NORMALIZE_OK);
  void *tensor = g_aligned_alloc0 (3 * picture->size * picture->size, sizeof (float), 64);
  sl_normalizer_run (normalizer, &image, tensor);
  picture->error = sl_bench_picture_error (&source, &spec, tensor, ERROR_STEP);
  picture->right = picture->error <= SL_FIELD_PICTURE_BOUND;
  measure (normalizer, &image, tensor, most_ms, picture);
  g_aligned_free (tensor);
  sl_normalizer_free (normalizer);
  sl_bench_picture_clear (&source);
}
