/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The quantised values behind a QUANTIZE instead of the input before it: gain and offset of the
 * picture take its scale and zero point in. sl_model_load_with() calls it; what slnormalize then
 * writes is what the QUANTIZE would have made, or the value beside it where the model would have
 * rounded twice.
 */
#include <math.h>

#include "core/graph/dtype.h"
#include "models/contract_private.h"

/* A byte is tried at so many places, since pixels between bytes come of scaling. */
#define STEPS 8

typedef struct
{
  gdouble low, high;
} Range;

static Range
range_of (SlDtype dtype)
{
  return dtype == SL_DTYPE_I8   ? (Range){ -128, 127 }
         : dtype == SL_DTYPE_U8 ? (Range){ 0, 255 }
                                : (Range){ -INFINITY, INFINITY };
}

static gdouble
quantize (gdouble value, SlDtype dtype)
{
  const Range range = range_of (dtype);
  return fmin (fmax (dtype == SL_DTYPE_F32 ? value : nearbyint (value), range.low), range.high);
}

/* Whether every pixel becomes the quantised value that the model would have made of it, or the one
 * beside. */
static gboolean
same_values (const SlTensorInfo *input, const SlTensor *quantized, const SlImageContract *before,
             const SlImageContract *after)
{
  const gdouble ratio =
    (input->scale > 0 ? (gdouble) input->scale : 1) / (gdouble) sl_tensor_scale (quantized);
  for (gint c = 0; c < before->channels; c++) {
    for (gint i = 0; i <= 255 * STEPS; i++) {
      const gdouble byte = (gdouble) i / STEPS;
      const gdouble made = quantize (byte * before->gain[c] + before->offset[c], input->dtype);
      const gdouble want = quantize (
        (made - input->zero_point) * ratio + sl_tensor_zero_point (quantized), quantized->dtype);
      const gdouble got = quantize (byte * after->gain[c] + after->offset[c], quantized->dtype);
      if (!(fabs (want - got) <= 1))
        return FALSE;
    }
  }
  return TRUE;
}

gboolean
sl_contract_skip_input_quantize (SlContract *contract, const SlTensor *quantized)
{
  SlTensorInfo *input = &contract->inputs[0];
  SlImageContract image = contract->image;
  const gboolean bytes = quantized->dtype == SL_DTYPE_U8 || quantized->dtype == SL_DTYPE_I8;
  if (!image.valid || !image.range_known || !bytes || !(sl_tensor_scale (quantized) > 0))
    return FALSE;
  const gdouble ratio =
    (input->scale > 0 ? (gdouble) input->scale : 1) / (gdouble) sl_tensor_scale (quantized);
  for (gint c = 0; c < 3; c++) {
    image.gain[c] *= ratio;
    image.offset[c] =
      (image.offset[c] - input->zero_point) * ratio + sl_tensor_zero_point (quantized);
  }
  if (!same_values (input, quantized, &contract->image, &image))
    return FALSE;
  contract->skips_input_quantize = TRUE;
  contract->declared = *input;
  input->name = g_strdup (input->name);
  input->dtype = quantized->dtype;
  input->bytes = quantized->bytes;
  input->scale = sl_tensor_scale (quantized);
  input->zero_point = sl_tensor_zero_point (quantized);
  contract->image = image;
  return TRUE;
}
