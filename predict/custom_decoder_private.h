/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row of a custom decoder, for SlPredictor. */
#pragma once

#include "postprocess/decoder.h"
#include "sightline/custom_decoder.h"

/** sl_custom_decoder_row: as long as @self lives, and decodings opened by it. */
const SlDecoder *sl_custom_decoder_row (SlCustomDecoder *self);
