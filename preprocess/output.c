/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds and factors of the types that tensors are made of, for those who make tensors of pictures.
 */
#include "preprocess/output.h"

#include <math.h>
#include <stdint.h>

#define MAX_FACTOR 1e30

static const struct
{
  size_t bytes;
  double low, high, bias; /* what mixes make is @bias above what is stored: see SlStore */
} out_types[] = {
  [SL_OUT_U8] = { sizeof (uint8_t), 0.0, 255.0, 0.0 },
  [SL_OUT_I8] = { sizeof (int8_t), 0.0, 255.0, 128.0 },
  [SL_OUT_F32] = { sizeof (float), -INFINITY, INFINITY, 0.0 },
  [SL_OUT_F16] = { sizeof (uint16_t), -65504.0, 65504.0, 0.0 },
  [SL_OUT_I32] = { sizeof (int32_t), -2147483520.0, 2147483520.0, 0.0 },
  [SL_OUT_I64] = { sizeof (int64_t), -2147483520.0, 2147483520.0, 0.0 },
};

size_t
sl_output_bytes (SlOutType type)
{
  return out_types[type].bytes;
}

SlStore
sl_output_store (SlOutType type, SlStoreLayout layout)
{
  const SlStore store = sl_kernels_get ()->store[type][layout];
  return store != NULL ? store : sl_kernels_c.store[type][layout];
}

double
sl_output_bias (SlOutType type)
{
  return out_types[type].bias;
}

static bool
valid_size (int size)
{
  return size >= 1 && size <= SL_MAX_SIDE;
}

static bool
valid_enums (const SlImageInfo *image, const SlNormalizeSpec *spec)
{
  return (unsigned int) image->matrix <= SL_MATRIX_BT2020
         && (unsigned int) image->site_h <= SL_SITE_COSITED
         && (unsigned int) image->site_v <= SL_SITE_COSITED
         && (unsigned int) spec->type < SL_OUT_COUNT
         && (unsigned int) spec->layout <= SL_LAYOUT_NCHW
         && (unsigned int) spec->colour <= SL_COLOUR_GRAY && (unsigned int) spec->fit <= SL_FIT_CROP
         && (unsigned int) spec->filter <= SL_FILTER_AUTO
         && (unsigned int) spec->orientation <= SL_ORIENTATION_UR_LL;
}

SlNormalizeStatus
sl_output_check (const SlImageInfo *image, const SlNormalizeSpec *spec)
{
  if (sl_pixel_layout (image->format) == NULL)
    return SL_NORMALIZE_BAD_FORMAT;
  if (!valid_enums (image, spec))
    return SL_NORMALIZE_BAD_ENUM;
  if (!valid_size (image->width) || !valid_size (image->height) || !valid_size (spec->width)
      || !valid_size (spec->height))
    return SL_NORMALIZE_BAD_SIZE;
  if (!sl_image_has_crop (image, &spec->crop))
    return SL_NORMALIZE_BAD_CROP;
  const int channels = spec->colour == SL_COLOUR_GRAY ? 1 : 3;
  if ((uint64_t) spec->width * (uint64_t) spec->height * (uint64_t) channels
        * out_types[spec->type].bytes
      > PTRDIFF_MAX)
    return SL_NORMALIZE_BAD_SIZE;
  if (spec->pad_value < 0 || spec->pad_value > 255)
    return SL_NORMALIZE_BAD_RANGE;
  if (spec->share != 0 && !(spec->share >= SL_LEAST_SHARE && spec->share <= 1))
    return SL_NORMALIZE_BAD_RANGE;
  for (int i = 0; i < channels; i++) {
    /* NaN fails these too. */
    if (!(fabs (spec->gain[i]) <= MAX_FACTOR) || !(fabs (spec->offset[i]) <= MAX_FACTOR))
      return SL_NORMALIZE_BAD_RANGE;
  }
  return SL_NORMALIZE_OK;
}

void
sl_output_mix (SlMix *mix, const double row[4], int bits, double gain, double stored_offset,
               SlOutType type)
{
  const double code = ldexp (1.0, bits - SL_ROW_BITS - SL_TAP_BITS);
  const double offset = stored_offset + out_types[type].bias;
  const double bounds[2] = { offset, 255.0 * gain + offset };
  double low = fmin (bounds[0], bounds[1]);
  double high = fmax (bounds[0], bounds[1]);
  low = fmin (fmax (low, out_types[type].low), out_types[type].high);
  high = fmin (fmax (high, out_types[type].low), out_types[type].high);
  for (int i = 0; i < 3; i++)
    mix->m[i] = (float) (row[i] * gain * code);
  mix->constant = (float) (row[3] * gain + offset);
  mix->low = (float) low;
  mix->high = (float) high;
}
