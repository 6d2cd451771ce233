/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of a contract that `sightline inspect` shows and that `sightline predict` makes before it touches a source.
 */
#include "tools/decoding.h"

#include <string.h>

#include "core/error.h"

const SlDecoder *
sl_contract_find_decoder (const SlContract *contract, GError **error)
{
  SlDecoderConfig config = { .n_tensors = contract->n_outputs,
                             .threshold = 0.5f,
                             .max_results = 1,
                             .n_labels = contract->labels != NULL ? sl_labels_count (contract->labels) : 0,
                             .input_width = contract->image.valid ? contract->image.width : 0,
                             .input_height = contract->image.valid ? contract->image.height : 0,
                             .params = contract->decoder_params };
  for (guint i = 0; i < contract->n_outputs; i++) {
    const SlTensorContract *output = &contract->outputs[i];
    SlDecoderTensor *tensor = &config.tensors[i];
    *tensor = (SlDecoderTensor){ .dtype = output->dtype, .rank = output->rank, .scale = output->scale, .zero_point = output->zero_point };
    memcpy (tensor->dims, output->dims, sizeof output->dims);
  }
  g_autoptr (SlDecoding) decoding = sl_decoding_new (contract->decoder, &config, error);
  if (decoding == NULL) {
    g_prefix_error (error, "%s: ", contract->model);
    return NULL;
  }
  const SlDecoder *decoder = sl_decoding_decoder (decoding);
  return sl_contract_check_labels (contract, sl_decoding_classes (decoding), error) ? decoder : NULL;
}

gboolean
sl_contract_check_pictures (const SlContract *contract, GError **error)
{
  if (!contract->image.valid) {
    g_set_error (error, SL_ERROR, SL_ERROR_CONTRACT,
                 "%s: its first input is no picture (expected rank 3 or 4 and 1 or 3 channels): give it tensors with sightline infer",
                 contract->model);
    return FALSE;
  }
  return sl_contract_require_range (contract, error) && sl_contract_find_decoder (contract, error) != NULL;
}
