/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What can be said about a contract before a frame comes.
 */
#ifndef SL_TOOLS_DECODING_H
#define SL_TOOLS_DECODING_H

#include "models/contract.h"
#include "postprocess/decoder.h"

G_BEGIN_DECLS

/** sl_contract_find_decoder: (transfer none): the decoder for the model's outputs; NULL with @error set when none takes
 *  them or the labels are too few. */
const SlDecoder *sl_contract_find_decoder (const SlContract *contract, GError **error);
/** sl_contract_check_pictures: whether pictures can be given to the model and its results read. */
gboolean sl_contract_check_pictures (const SlContract *contract, GError **error);

G_END_DECLS

#endif
