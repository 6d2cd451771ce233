/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What can be said about a contract before a frame comes. */
#pragma once

#include "models/contract.h"
#include "postprocess/decoder.h"

/** sl_contract_open_decoding: the decoder for the model's outputs; NULL with @error set when none
 * takes them or the labels do not fit. */
SlDecoding *sl_contract_open_decoding (SlContract *contract, GError **error);
/** sl_contract_open_pictures: the same for a model that pictures are given to; NULL with @error set
 * also when they cannot be. */
SlDecoding *sl_contract_open_pictures (SlContract *contract, GError **error);
