/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoders' table rows, for postprocess/decoders.c alone. */
#ifndef SL_POSTPROCESS_DECODERS_H
#define SL_POSTPROCESS_DECODERS_H

#include "postprocess/decoder.h"

G_BEGIN_DECLS

extern const SlDecoder sl_decoder_labels;
extern const SlDecoder sl_decoder_ssd;

G_END_DECLS

#endif
