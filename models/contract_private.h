/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a contract from the known facts about a model. For sl_model_load() and tests; all other
 * code gets a finished contract from an SlModel.
 */
#pragma once

#include "models/contract.h"
#include "models/modelinfo.h"
#include "models/reader.h"

/** SL_MAX_SCALED: where bytes are scaled for a network, they become numbers of at most so much. */
#define SL_MAX_SCALED 10

/**
 * sl_contract_new:
 * @path: the model file, for messages
 * @graph: a prepared graph
 * @metadata: what the model file says
 * @info: (nullable): the key file beside it; wins over @metadata; its groups take the names of
 * their tensors
 * @overrides: (nullable): what properties say; win over both
 *
 * Returns: (transfer full): NULL with @error set when a value is malformed, contradicts the model,
 * or labels cannot be read
 */
SlContract *sl_contract_new (const char *path, const SlGraph *graph,
                             const SlModelMetadata *metadata, SlModelInfo *info,
                             const SlModelSettings *overrides, GError **error);

/** sl_contract_set_words: the classes are those of @words, with the names @labels (nullable);
 * @rows: how many of them the model's outputs have; @columns: (nullable): as in SlWordVectors.
 * Without either its output is an embedding. @contract is not shared yet. */
void sl_contract_set_words (SlContract *contract, const SlWordVectors *words, const GArray *columns,
                            SlLabels *labels, guint rows);

/**
 * sl_contract_skip_input_quantize: makes a contract of a picture ask for @quantized, the tensor
 * that the QUANTIZE of its only input makes, instead of that input; @contract is not shared yet.
 *
 * Returns: FALSE, with @contract as it was, when a pixel could come out more than one quantised
 * value away from what the QUANTIZE would have made of it, when the input is no picture or of no
 * known range, and when @quantized is neither uint8 nor int8
 */
gboolean sl_contract_skip_input_quantize (SlContract *contract, const SlTensor *quantized);
