/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables from the contract's enums to the preprocessor's. Used by slnormalize and by SlPredictor.
 */
#include "predict/contractspec.h"

#include <math.h>
#include <string.h>

#include "core/base/picture.h"
#include "predict/opendecoding.h"

/* Width and height of a picture that differ in scale by more are stretched. */
#define STRETCHED_FROM 0.02

gboolean
sl_contract_out_type (SlDtype dtype, SlOutType *type)
{
  static const SlDtype dtypes[] = {
    [SL_OUT_U8] = SL_DTYPE_U8,   [SL_OUT_I8] = SL_DTYPE_I8,   [SL_OUT_F32] = SL_DTYPE_F32,
    [SL_OUT_F16] = SL_DTYPE_F16, [SL_OUT_I32] = SL_DTYPE_I32, [SL_OUT_I64] = SL_DTYPE_I64
  };
  for (guint i = 0; i < G_N_ELEMENTS (dtypes); i++) {
    if (dtypes[i] == dtype) {
      *type = (SlOutType) i;
      return TRUE;
    }
  }
  return FALSE;
}

/* (nullable): the claim of the decoder of @contract; NULL where none takes the outputs. */
static const SlDecoderPictures *
claim_of (const SlContract *contract, const char **decoder)
{
  const SlDecodingSettings settings = { .threshold = -1, .max_results = 1 };
  g_autoptr (SlLabels) labels = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_open (contract, contract->outputs, contract->n_outputs, &settings, &labels, NULL);
  if (decoding == NULL)
    return NULL;
  *decoder = sl_decoding_decoder (decoding)->name;
  return sl_decoding_decoder (decoding)->pictures;
}

SlContractFit
sl_contract_fit (const SlContract *contract)
{
  const SlImageContract *image = &contract->image;
  SlContractFit result = { image->fit, image->pad_value, NULL, SL_FIT_STRETCH };
  const char *decoder = NULL;
  const SlDecoderPictures *claim =
    image->valid && contract->n_outputs > 0 ? claim_of (contract, &decoder) : NULL;
  if (claim == NULL)
    return result;
  result.decoder = decoder;
  result.expected = claim->fit;
  if (!image->fit_known)
    result.fit = claim->fit;
  if (!image->pad_known)
    result.pad_value = claim->pad_value;
  return result;
}

char *
sl_contract_fit_doubt (const SlContract *contract, const SlDecoding *decoding, const SlAffine *map)
{
  const SlDecoder *decoder = sl_decoding_decoder (decoding);
  const double ratio = hypot (map->xx, map->yx) / hypot (map->xy, map->yy);
  if (decoder->pictures == NULL || decoder->pictures->fit == SL_FIT_STRETCH
      || !contract->image.valid || contract->image.fit_known
      || !(fabs (log (ratio)) > STRETCHED_FROM))
    return NULL;
  const char *fit = sl_fit_name (decoder->pictures->fit);
  return g_strdup_printf (
    "decoder %s is for pictures with fit=%s, and these are stretched, since the model was loaded "
    "without that decoder: state decoder=%s where the model is stated (slinfer, or "
    "MODEL.modelinfo), or fit=%s of slnormalize",
    decoder->name, fit, decoder->name, fit);
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
  const SlContractFit fit = sl_contract_fit (contract);
  spec->fit = fit.fit;
  spec->share = image->crop_share;
  spec->pad_value = fit.pad_value;
  memcpy (spec->gain, image->gain, sizeof spec->gain);
  memcpy (spec->offset, image->offset, sizeof spec->offset);
  return TRUE;
}
