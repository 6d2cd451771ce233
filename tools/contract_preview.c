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
  if (!contract->image.valid)
    return sl_fail_null (
      error, SL_ERROR_CONTRACT,
      "%s: its first input is no picture (expected rank 3 or 4 and 1 or 3 channels): give it tensors with sightline infer%s",
      contract->model, sl_contract_channel_hint (&contract->inputs[0]));
  return sl_contract_require_one_input (contract, error)
             && sl_contract_require_range (contract, error)
           ? sl_contract_open_decoding (contract, error)
           : NULL;
}
