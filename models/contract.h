/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * SlContract: what a model expects of its input, and the meaning of its outputs. Read from the
 * model, completed by MODEL.modelinfo beside it, overridden by properties, in that order; then
 * immutable and shared. slinfer offers it upstream in caps, slnormalize follows it, slpostprocess
 * decodes by it.
 */
#pragma once

#include <glib.h>

#include "core/base/picture.h"
#include "core/base/word_vectors.h"
#include "core/graph/graph.h"
#include "core/graph/tensor_info.h"
#include "models/labels.h"
#include "models/settings.h"

/** Default brightness of letterbox borders: the gray that YOLO models are trained with. */
#define SL_PAD_VALUE 114

/**
 * SlImageContract: how the first input is made from a picture; only when @valid (rank 4 or 3, 1 or
 * 3 channels).
 * @mean, @std: real = (byte - mean) / std, in the tensor's channel order, byte in 0..255
 * @gain, @offset: stored = byte * gain + offset, rounded half to even and clamped for integer
 * types: mean, std
 *   and quantisation in one. A quantised input whose values differ by at most one step from the
 * picture's bytes
 *   (uint8: byte, int8: byte - 128) gets exactly these.
 * @fit_known, @pad_known: whether anything states them; else the decoder may (sl_contract_fit() of
 * predict/contractspec.h)
 * @range_known: FALSE for a float input whose mean and std nothing states
 */
typedef struct
{
  gboolean valid;
  gint32 width, height, channels;
  SlLayout layout;
  SlColour colour;
  SlFit fit;
  gdouble crop_share; /* with stretch and crop: the central share of each side that fills the input,
                         above 0 and at most 1 */
  gint32 pad_value;   /* 0..255, letterbox borders, before normalisation */
  gboolean fit_known, pad_known;
  gboolean range_known;
  gdouble mean[3], std[3];
  gdouble gain[3], offset[3];
} SlImageContract;

typedef struct _SlContract SlContract;
struct _SlContract
{
  /*< private >*/
  gatomicrefcount refs;
  /*< public, read only >*/
  char *model; /* path, for messages */
  guint n_inputs, n_outputs;
  SlTensorInfo inputs[SL_MAX_IO];
  SlTensorInfo outputs[SL_MAX_IO];
  SlImageContract image;
  gboolean skips_input_quantize; /* inputs[0] is what the model's first operator, a QUANTIZE, would
                                    have made of its input */
  SlTensorInfo declared;         /* that input, when @skips_input_quantize */
  char *decoder; /* (nullable): "labels", "ssd", ...; NULL = choose from the outputs' shapes */
  gboolean decoder_by_user;   /* the user states @decoder, and no file */
  GHashTable *decoder_params; /* (nullable): string -> string, the decoder's own parameters */
  SlLabels *labels;           /* (nullable) */
  SlWordVectors words;        /* of classes that sentences describe; @labels are their names */
  char *range_hint;           /* (nullable): as in SlModelMetadata */
  gboolean range_by_model;    /* the model's first operators are a normalisation, which states it */
};

SlContract *sl_contract_ref (SlContract *contract);
void sl_contract_unref (SlContract *contract);

/** sl_contract_shape_hint: (transfer full): a hint for messages about an input with one channel
 * more than a picture, or of several pictures; "" for any other. */
char *sl_contract_shape_hint (const SlTensorInfo *input);
/** sl_contract_may_be_vectors: whether the first input is float[1,length,features], whose values
 * nothing states: a gray picture, or no picture at all. */
gboolean sl_contract_may_be_vectors (const SlContract *contract);
/** sl_contract_require_range: FALSE with SL_ERROR_CONTRACT when a float picture input has no known
 * range; the message names the property and the modelinfo line that would state it. */
gboolean sl_contract_require_range (const SlContract *contract, GError **error);
/** sl_contract_require_one_input: FALSE with SL_ERROR_CONTRACT when the model has other inputs
 * beside the first; the message names them, the property and the modelinfo line that would state
 * them. */
gboolean sl_contract_require_one_input (const SlContract *contract, GError **error);
/** sl_contract_summary: (transfer full): one line: "uint8[1,224,224,3] RGB NHWC crop, decoder
 * labels, 1001 labels". */
char *sl_contract_summary (const SlContract *contract);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlContract, sl_contract_unref)
