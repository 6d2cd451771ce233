/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of the table of decoders. Only postprocess/decoders.c includes this file. */
#pragma once

#include "postprocess/decoder.h"
#include "postprocess/decoder_list.h" /* meson writes it: the list is in postprocess/meson.build */

#define SL_DECODER_ROW(name) extern const SlDecoder sl_decoder_##name;
SL_DECODERS (SL_DECODER_ROW)
#undef SL_DECODER_ROW
