/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes, packs and resizes pictures; see test_picture.h. */
#include "tools/bench/test_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a group of samples, by component: 0 1 2, and x for padding. */
static const struct
{
  const char *planes[3];
} groups[SL_PIXEL_COUNT] = {
  [SL_PIXEL_NV12] = { { "0", "12" } },     [SL_PIXEL_NV21] = { { "0", "21" } },
  [SL_PIXEL_I420] = { { "0", "1", "2" } }, [SL_PIXEL_YV12] = { { "0", "2", "1" } },
  [SL_PIXEL_YUY2] = { { "0102" } },        [SL_PIXEL_UYVY] = { { "1020" } },
  [SL_PIXEL_Y42B] = { { "0", "1", "2" } }, [SL_PIXEL_Y444] = { { "0", "1", "2" } },
  [SL_PIXEL_P010] = { { "0", "12" } },     [SL_PIXEL_I420_10] = { { "0", "1", "2" } },
  [SL_PIXEL_GRAY8] = { { "0" } },          [SL_PIXEL_RGB] = { { "012" } },
  [SL_PIXEL_BGR] = { { "210" } },          [SL_PIXEL_RGBX] = { { "012x" } },
  [SL_PIXEL_BGRX] = { { "210x" } },        [SL_PIXEL_XRGB] = { { "x012" } },
  [SL_PIXEL_XBGR] = { { "x210" } },        [SL_PIXEL_RGBP] = { { "0", "1", "2" } },
};

static void *
allocate (size_t bytes)
{
  void *memory = aligned_alloc (4096, (bytes + 4095) / 4096 * 4096);
  if (memory == NULL) {
    fprintf (stderr, "out of memory\n");
    exit (1);
  }
  return memory;
}

/* A wave along an axis: sines and cosines of the samples, which are @step pixels apart. */
typedef struct
{
  double sin, cos;
} Angle;

static Angle *
angles (int n, int step, double pace)
{
  Angle *wave = allocate ((size_t) n * sizeof *wave);
  for (int i = 0; i < n; i++)
    wave[i] = (Angle){ sin (i * step * pace), cos (i * step * pace) };
  return wave;
}

/* The waves of a component: slow ones of every component, and fine ones of brightness alone. */
typedef struct
{
  Angle *slow_x, *slow_y, *fine_x, *fine_y;
} Waves;

static void
waves_init (Waves *waves, int c, int width, int height, int step_x, int step_y)
{
  waves->slow_x = angles (width, step_x, c == 0 ? 0.013 : c == 1 ? 0.010 : 0.002);
  waves->slow_y = angles (height, step_y, c == 0 ? 0.017 : 0.015);
  waves->fine_x = angles (width, step_x, 0.21);
  waves->fine_y = angles (height, step_y, 0.13);
}

static void
waves_clear (Waves *waves)
{
  free (waves->slow_x);
  free (waves->slow_y);
  free (waves->fine_x);
  free (waves->fine_y);
}

/* 8-bit code of a sample of colour. */
static double
colour_at (const Waves *waves, int x, int y, double grain)
{
  return 128.0 + 50.0 * waves->slow_x[x].sin * waves->slow_y[y].cos + grain / 2.0;
}

/* 8-bit code of a pixel's brightness. The fine wave is the sine of a sum. */
static double
brightness_at (const Waves *waves, int x, int y, double grain)
{
  const Angle *along = &waves->fine_x[x], *down = &waves->fine_y[y];
  const double checks = (x / 60 + y / 60) % 2 != 0 ? 15.0 : 0.0;
  return 110.0 + 60.0 * waves->slow_x[x].sin * waves->slow_y[y].cos
         + 30.0 * (along->sin * down->cos + along->cos * down->sin) + checks + grain;
}

static void
fill_component (SlBenchPicture *picture, int c, int shift_w, int shift_h, int bits)
{
  const int width = (picture->info.width + shift_w) >> shift_w;
  const int height = (picture->info.height + shift_h) >> shift_h;
  uint32_t noise = (uint32_t) c + 1;
  Waves waves;
  picture->width[c] = width;
  picture->height[c] = height;
  picture->sample[c] = allocate ((size_t) width * (size_t) height * sizeof (uint16_t));
  waves_init (&waves, c, width, height, 1 << shift_w, 1 << shift_h);
  for (int y = 0; y < height; y++) {
    uint16_t *row = picture->sample[c] + (size_t) y * (size_t) width;
    for (int x = 0; x < width; x++) {
      noise = noise * 1664525u + 1013904223u;
      const double grain = (double) (noise >> 28);
      const double code =
        c > 0 ? colour_at (&waves, x, y, grain) : brightness_at (&waves, x, y, grain);
      row[x] = (uint16_t) (code * (1 << (bits - 8)));
    }
  }
  waves_clear (&waves);
}

static void
pack_row (const SlBenchPicture *picture, const char *group, int y, uint8_t *row, size_t bytes)
{
  const SlPixelLayout *layout = sl_pixel_layout (picture->info.format);
  const size_t size = layout->bits > 8 ? 2 : 1;
  const int low = layout->bits > 8 ? 6 - layout->shift : 0;
  const size_t lanes = strlen (group);
  int taken[3] = { 0 };
  for (size_t i = 0; i < bytes / size; i++) {
    const int c = group[i % lanes] == 'x' ? -1 : group[i % lanes] - '0';
    unsigned int code = 255;
    if (c >= 0 && taken[c] < picture->width[c])
      code = picture->sample[c][(size_t) y * (size_t) picture->width[c] + (size_t) taken[c]++];
    for (size_t b = 0; b < size; b++)
      row[i * size + b] = (uint8_t) (code << low >> 8 * b);
  }
}

void
sl_bench_picture_init (SlBenchPicture *picture, SlPixelFormat format, int width, int height)
{
  const SlPixelLayout *layout = sl_pixel_layout (format);
  *picture = (SlBenchPicture){ .info = { .format = format, .width = width, .height = height } };
  picture->components = layout->components == SL_COMPONENTS_GRAY ? 1 : 3;
  for (int c = 0; c < picture->components; c++)
    fill_component (picture, c, c > 0 ? layout->chroma_shift_w : 0,
                    c > 0 ? layout->chroma_shift_h : 0, layout->bits);
  for (int p = 0; p < layout->planes; p++)
    picture->bytes +=
      sl_image_row_bytes (&picture->info, p) * (size_t) sl_image_plane_rows (&picture->info, p);
  picture->memory = allocate (picture->bytes);
  uint8_t *row = picture->memory;
  for (int p = 0; p < layout->planes; p++) {
    const size_t bytes = sl_image_row_bytes (&picture->info, p);
    for (int y = 0; y < sl_image_plane_rows (&picture->info, p); y++, row += bytes)
      pack_row (picture, groups[format].planes[p], y, row, bytes);
  }
}

void
sl_bench_picture_clear (SlBenchPicture *picture)
{
  for (int c = 0; c < 3; c++)
    free (picture->sample[c]);
  free (picture->memory);
}

void
sl_bench_picture_image (const SlBenchPicture *picture, const uint8_t *memory, SlImage *image)
{
  for (int p = 0; p < sl_pixel_format_planes (picture->info.format); p++) {
    image->plane[p] = memory;
    image->stride[p] = (ptrdiff_t) sl_image_row_bytes (&picture->info, p);
    memory +=
      sl_image_row_bytes (&picture->info, p) * (size_t) sl_image_plane_rows (&picture->info, p);
  }
}

/* Mean of samples over an interval, or between two, clamped to the plane: along one axis the
 * weights of @n samples. */
static double
weigh (SlFilter filter, double centre, double scale, int k)
{
  if (filter == SL_FILTER_AREA && scale > 1.0)
    return fmax (fmin (centre + scale / 2.0, k + 1.0) - fmax (centre - scale / 2.0, k), 0.0)
           / scale;
  return fmax (1.0 - fabs (centre - 0.5 - k), 0.0);
}

static double
resample (const SlBenchPicture *picture, int c, SlFilter filter, double x, double y, double scale_x,
          double scale_y)
{
  const double cx = x * picture->width[c] / picture->info.width,
               cy = y * picture->height[c] / picture->info.height;
  /* Which filter is a matter of pixels; samples of a halved plane are narrower boxes. */
  const double sx = scale_x * picture->width[c] / picture->info.width,
               sy = scale_y * picture->height[c] / picture->info.height;
  double sum = 0.0, total = 0.0;
  for (int j = (int) floor (cy - sy / 2 - 1); j <= (int) (cy + sy / 2 + 1); j++) {
    for (int i = (int) floor (cx - sx / 2 - 1); i <= (int) (cx + sx / 2 + 1); i++) {
      const bool inside = i >= 0 && j >= 0 && i < picture->width[c] && j < picture->height[c];
      const double w = inside ? weigh (filter, cx, sx, i) * weigh (filter, cy, sy, j) : 0.0;
      if (w > 0.0)
        sum += w * picture->sample[c][(size_t) j * (size_t) picture->width[c] + (size_t) i];
      total += w;
    }
  }
  return sum / total;
}

static void
to_rgb (const SlBenchPicture *picture, const double code[3], double rgb[3])
{
  const SlPixelLayout *layout = sl_pixel_layout (picture->info.format);
  const double unit = 1 << (layout->bits - 8);
  memcpy (rgb, code, 3 * sizeof *rgb);
  if (layout->components != SL_COMPONENTS_RGB) {
    const double y = (code[0] / unit - 16) / 219 * 255;
    const double u = picture->components == 3 ? (code[1] / unit - 128) / 224 * 255 : 0;
    const double v = picture->components == 3 ? (code[2] / unit - 128) / 224 * 255 : 0;
    rgb[0] = y + 1.402 * v;
    rgb[1] = y - (0.299 * 1.402 * v + 0.114 * 1.772 * u) / 0.587;
    rgb[2] = y + 1.772 * u;
  }
  for (int i = 0; i < 3; i++)
    rgb[i] = fmin (fmax (rgb[i], 0), 255);
}

static double
half_value (uint16_t half)
{
  const int exponent = half >> 10 & 31;
  const double magnitude =
    exponent == 0 ? ldexp (half & 1023, -24) : ldexp ((half & 1023) + 1024, exponent - 25);
  return half >> 15 != 0 ? -magnitude : magnitude;
}

static double
element (SlOutType type, const void *tensor, size_t at)
{
  switch (type) {
    case SL_OUT_U8:
      return ((const uint8_t *) tensor)[at];
    case SL_OUT_I8:
      return ((const int8_t *) tensor)[at];
    case SL_OUT_F16:
      return half_value (((const uint16_t *) tensor)[at]);
    case SL_OUT_I32:
      return ((const int32_t *) tensor)[at];
    case SL_OUT_I64:
      return (double) ((const int64_t *) tensor)[at];
    case SL_OUT_F32:
      break;
  }
  return (double) ((const float *) tensor)[at];
}

double
sl_bench_picture_error (const SlBenchPicture *picture, const SlNormalizeSpec *spec,
                        const void *tensor, int step)
{
  const size_t plane = (size_t) spec->width * (size_t) spec->height;
  const bool integer = spec->type == SL_OUT_U8 || spec->type == SL_OUT_I8;
  SlAffine map;
  double worst = 0.0;
  sl_affine_fit (&map, spec->fit, picture->info.width, picture->info.height, spec->width,
                 spec->height);
  for (size_t pixel = 0; pixel < plane; pixel += (size_t) step) {
    double code[3] = { 0.0 }, rgb[3], x, y;
    sl_affine_apply (&map, (double) (pixel % (size_t) spec->width) + 0.5,
                     (double) (pixel / (size_t) spec->width) + 0.5, &x, &y);
    if (x < 0 || y < 0 || x >= picture->info.width || y >= picture->info.height)
      continue;
    for (int c = 0; c < picture->components; c++)
      code[c] = resample (picture, c, spec->filter, x, y, map.xx, map.yy);
    to_rgb (picture, code, rgb);
    for (size_t c = 0; c < 3; c++) {
      const size_t at = spec->layout == SL_LAYOUT_NHWC ? pixel * 3 + c : c * plane + pixel;
      const double error =
        fabs (element (spec->type, tensor, at) - (rgb[c] * spec->gain[c] + spec->offset[c]))
        / fabs (spec->gain[c]);
      worst = fmax (worst, integer ? error - 0.5 : error);
    }
  }
  return worst;
}
