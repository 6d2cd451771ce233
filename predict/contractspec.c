/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables from the contract's enums to the preprocessor's. Used by slnormalize and by SlPredictor.
 */
#include "predict/contractspec.h"

#include <string.h>

gboolean
sl_contract_out_type (SlDtype dtype, SlOutType *type)
{
  static const SlDtype dtypes[] = { [SL_OUT_U8] = SL_DTYPE_U8,
                                    [SL_OUT_I8] = SL_DTYPE_I8,
                                    [SL_OUT_F32] = SL_DTYPE_F32,
                                    [SL_OUT_F16] = SL_DTYPE_F16 };
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++) {
    if (dtypes[i] == dtype) {
      *type = (SlOutType) i;
      return TRUE;
    }
  }
  return FALSE;
}

gboolean
sl_contract_spec (const SlContract *contract, SlNormalizeSpec *spec)
{
  const SlImageContract *image = &contract->image;
  if (!image->valid || !sl_contract_out_type (contract->inputs[0].dtype, &spec->type))
    return FALSE;
  spec->width = image->width;
  spec->height = image->height;
  spec->layout = image->layout;
  spec->colour = image->colour;
  spec->fit = image->fit;
  spec->share = image->crop_share;
  spec->pad_value = image->pad_value;
  memcpy (spec->gain, image->gain, sizeof spec->gain);
  memcpy (spec->offset, image->offset, sizeof spec->offset);
  return TRUE;
}
