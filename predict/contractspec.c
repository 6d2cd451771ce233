/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables from the contract's enums to the preprocessor's. Used by slnormalize and by SlPredictor.
 */
#include "predict/contractspec.h"

#include <string.h>

gboolean
sl_contract_out_type (SlDtype dtype, SlOutType *type)
{
  static const SlDtype dtypes[] = {
    [SL_OUT_U8] = SL_DTYPE_U8, [SL_OUT_I8] = SL_DTYPE_I8, [SL_OUT_F32] = SL_DTYPE_F32, [SL_OUT_F16] = SL_DTYPE_F16
  };
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++) {
    if (dtypes[i] == dtype) {
      *type = (SlOutType) i;
      return TRUE;
    }
  }
  return FALSE;
}

SlOutColour
sl_contract_out_colour (SlColour colour)
{
  static const SlOutColour colours[] = { [SL_COLOUR_RGB] = SL_OUT_RGB, [SL_COLOUR_BGR] = SL_OUT_BGR, [SL_COLOUR_GRAY] = SL_OUT_GRAY };
  return colours[colour];
}

SlOutLayout
sl_contract_out_layout (SlLayout layout)
{
  static const SlOutLayout layouts[] = { [SL_LAYOUT_NHWC] = SL_OUT_NHWC, [SL_LAYOUT_NCHW] = SL_OUT_NCHW };
  return layouts[layout];
}

SlAffineFit
sl_contract_out_fit (SlFit fit)
{
  static const SlAffineFit fits[] = {
    [SL_FIT_STRETCH] = SL_AFFINE_STRETCH, [SL_FIT_LETTERBOX] = SL_AFFINE_LETTERBOX, [SL_FIT_CROP] = SL_AFFINE_CROP
  };
  return fits[fit];
}

gboolean
sl_contract_spec (const SlContract *contract, SlNormalizeSpec *spec)
{
  const SlImageContract *image = &contract->image;
  if (!image->valid || !sl_contract_out_type (contract->inputs[0].dtype, &spec->type))
    return FALSE;
  spec->width = image->width;
  spec->height = image->height;
  spec->layout = sl_contract_out_layout (image->layout);
  spec->colour = sl_contract_out_colour (image->colour);
  spec->fit = sl_contract_out_fit (image->fit);
  spec->pad_value = image->pad_value;
  memcpy (spec->gain, image->gain, sizeof spec->gain);
  memcpy (spec->offset, image->offset, sizeof spec->offset);
  return TRUE;
}
