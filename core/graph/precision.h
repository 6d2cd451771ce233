/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Precision of float layers. */
#pragma once

#include <glib.h>

/** SL_PRECISION_NAMES: for messages. */
#define SL_PRECISION_NAMES "float, bf16 or fp16"

/**
 * SlPrecision: precision of float layers that are matrix products; everything else stays as in the
 * model.
 * @SL_PRECISION_FLOAT: as the model has it
 * @SL_PRECISION_BF16: weights are rounded to bfloat16, where processors multiply these activations,
 * too; sums are floats
 * @SL_PRECISION_FP16: weights, and tensors between layers, are rounded to binary16
 */
typedef enum
{
  SL_PRECISION_FLOAT,
  SL_PRECISION_BF16,
  SL_PRECISION_FP16
} SlPrecision;

/** sl_precision_parse: (nullable) @text: NULL and "" are SL_PRECISION_FLOAT. FALSE with
 * SL_ERROR_ARGUMENT for an unknown name. */
gboolean sl_precision_parse (const char *text, SlPrecision *precision, GError **error);
/** sl_precision_name: (transfer none): "bf16". */
const char *sl_precision_name (SlPrecision precision);
