/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Tensors, a contract and the user's settings -> an open decoder and its class names. Used by
 * slpostprocess and by SlPredictor.
 */
#pragma once

#include "models/contract.h"
#include "postprocess/decoder.h"
#include "postprocess/predictions/class_filter.h"

/**
 * SlDecodingSettings:
 * @threshold: 0..1, below 0 = the decoder's own
 * @iou_threshold: 0..1, 0 or below = the decoder's own
 * @max_results: 1..SL_MAX_RESULTS
 * @decoder, @labels: (nullable): override the contract's
 * @row: (nullable): the decoder itself; overrides @decoder and the contract
 */
typedef struct
{
  gdouble threshold, iou_threshold;
  gint max_results;
  const char *decoder, *labels;
  const SlDecoder *row;
} SlDecodingSettings;

/**
 * sl_decoding_open:
 * @contract: (nullable): its decoder, parameters and labels are used unless the settings name
 * others
 * @tensors: what is decoded, @n of them
 * @labels: (out) (nullable): class names, a reference
 *
 * Returns: NULL with @error set, and @labels NULL, when the settings, the tensors and the labels do
 * not fit together
 */
SlDecoding *sl_decoding_open (const SlContract *contract, const SlTensorInfo *tensors, guint n,
                              const SlDecodingSettings *settings, SlLabels **labels,
                              GError **error);

/** sl_decoding_scores_decoder: (nullable): "labels" if @decoding uses the decoder "vector" only
 * because the meaning of @contract's output is unknown, so that the numbers may be scores of
 * classes; NULL if @decoding is to be kept. */
const char *sl_decoding_scores_decoder (const SlDecoding *decoding, const SlContract *contract);

/** sl_decoding_vector_note: (nullable): a note for users who expected labels, if @decoding uses the
 * decoder "vector" and neither @contract (nullable) nor @stated (nullable) names it. */
const char *sl_decoding_vector_note (const SlDecoding *decoding, const SlContract *contract,
                                     const char *stated);

/** sl_decoding_agrees: after sl_decoding_run(): FALSE with SL_ERROR_CONTRACT when the values
 * contradict the decoder. A choice that they decided is logged once. @model: (nullable): for
 * messages */
gboolean sl_decoding_agrees (SlDecoding *decoding, const char *model, GError **error);

/** sl_decoding_class_names: (transfer full): names of classes 0, 1, ..., NULL for those without a
 * name. The names live as long as @labels (nullable). */
GPtrArray *sl_decoding_class_names (const SlDecoding *decoding, const SlLabels *labels);
/** sl_decoding_check_classes: FALSE with @error set when @filter (nullable) names a class that
 * @decoding with @labels (nullable) does not have. @model: (nullable): for messages, where no
 * labels have a name */
gboolean sl_decoding_check_classes (const SlDecoding *decoding, const SlLabels *labels,
                                    const char *model, const SlClassFilter *filter, GError **error);
