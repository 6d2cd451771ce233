/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Converts a contract to the preprocessor's types, since contracts and the preprocessor do not know
 * each other.
 */
#pragma once

#include "core/base/affine.h"
#include "models/contract.h"
#include "postprocess/decoder.h"
#include "preprocess/normalize.h"

/** sl_contract_out_type: FALSE when the preprocessor makes no tensors of @dtype. */
gboolean sl_contract_out_type (SlDtype dtype, SlOutType *type);
/**
 * SlContractFit: how a picture fills the input.
 * @fit, @pad_value: what the contract states, else the decoder
 * @decoder: (nullable): the decoder that expects a fit
 * @expected: the fit that it expects, which a contract may contradict
 */
typedef struct
{
  SlFit fit;
  gint32 pad_value;
  const char *decoder;
  SlFit expected;
} SlContractFit;

SlContractFit sl_contract_fit (const SlContract *contract);
/** sl_contract_fit_doubt: (transfer full) (nullable): a sentence where @decoding, which @contract
 * does not name, expects another fit than @map, tensor -> frame, has. */
char *sl_contract_fit_doubt (const SlContract *contract, const SlDecoding *decoding,
                             const SlAffine *map);
/** sl_contract_spec: fills all of @spec but filter, orientation and crop, gain and offset as far as
 * the contract knows them; FALSE when the first input is no picture that the preprocessor makes. */
gboolean sl_contract_spec (const SlContract *contract, SlNormalizeSpec *spec);
