/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of a contract that `sightline inspect` shows and that `sightline predict` makes before it
 * touches a source.
 */
#include "tools/contract_preview.h"

#include "core/base/fail.h"
#include "predict/opendecoding.h"

SlDecoding *
sl_contract_open_decoding (SlContract *contract, GError **error)
{
  const SlDecodingSettings settings = { .threshold = -1, .max_results = 1 };
  g_autoptr (SlLabels) labels = NULL;
  SlDecoding *decoding =
    sl_decoding_open (contract, contract->outputs, contract->n_outputs, &settings, &labels, error);
  if (decoding == NULL)
    g_prefix_error (error, "%s: ", contract->model);
  return decoding;
}

SlDecoding *
sl_contract_open_pictures (SlContract *contract, GError **error)
{
  if (!contract->image.valid) {
    const SlTensorInfo *input = &contract->inputs[0];
    g_autofree char *got = sl_tensor_info_describe (input);
    g_autofree char *hint = sl_contract_shape_hint (input);
    return sl_fail_null (
      error, SL_ERROR_CONTRACT,
      "%s: its first input '%s' is %s, no picture (expected uint8, int8, int32, int64, float32 or "
      "float16 of rank 3 or 4 with 1 or 3 channels and batch 1): give it tensors with sightline "
      "infer%s",
      contract->model, input->name, got, hint);
  }
  return sl_contract_require_one_input (contract, error)
             && sl_contract_require_range (contract, error)
           ? sl_contract_open_decoding (contract, error)
           : NULL;
}
