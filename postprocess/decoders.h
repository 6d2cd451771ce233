/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoders' table rows, for postprocess/decoders.c alone. */
#ifndef SL_POSTPROCESS_DECODERS_H
#define SL_POSTPROCESS_DECODERS_H

#include "postprocess/decoder.h"

G_BEGIN_DECLS

extern const SlDecoder sl_decoder_image;
extern const SlDecoder sl_decoder_labels;
extern const SlDecoder sl_decoder_nanodet;
extern const SlDecoder sl_decoder_pose;
extern const SlDecoder sl_decoder_segmentation;
extern const SlDecoder sl_decoder_ssd;
extern const SlDecoder sl_decoder_ssd_raw;
extern const SlDecoder sl_decoder_ultraface;
extern const SlDecoder sl_decoder_yolo;
extern const SlDecoder sl_decoder_yunet;

G_END_DECLS

#endif
