/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors, a contract and the user's settings -> an open decoder and its class names. Used by slpostprocess and by SlPredictor.
 */
#ifndef SL_PREDICT_OPENDECODING_H
#define SL_PREDICT_OPENDECODING_H

#include "models/contract.h"
#include "postprocess/decoder.h"

G_BEGIN_DECLS

/**
 * SlDecodingSettings:
 * @threshold: 0..1, below 0 = the decoder's own
 * @iou_threshold: 0..1, 0 or below = the decoder's own
 * @max_results: 1..SL_MAX_RESULTS
 * @decoder, @labels: (nullable): override the contract's
 */
typedef struct
{
  gdouble threshold, iou_threshold;
  gint max_results;
  const char *decoder, *labels;
} SlDecodingSettings;

/**
 * sl_decoding_open:
 * @contract: (nullable): whose decoder, parameters and labels count unless the settings name others
 * @tensors: what is decoded, @n of them
 * @labels: (out) (nullable): class names, a reference
 *
 * Returns: NULL with @error set, and @labels NULL, when the settings, the tensors and the labels do not fit together
 */
SlDecoding *sl_decoding_open (SlContract *contract, const SlTensorInfo *tensors, guint n, const SlDecodingSettings *settings,
                              SlLabels **labels, GError **error);

G_END_DECLS

#endif
