/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What decoders share: reading their string parameters and describing tensors in messages.
 */
#ifndef SL_POSTPROCESS_PARAMS_H
#define SL_POSTPROCESS_PARAMS_H

#include "postprocess/decoder.h"

G_BEGIN_DECLS

/** sl_decoder_param: (transfer none) (nullable): parameter @key as text. */
const char *sl_decoder_param (const SlDecoderConfig *config, const char *key);
/** sl_decoder_param_int: *@value is @fallback when @key is absent; FALSE with SL_ERROR_ARGUMENT when it is no integer in @lo..@hi. */
gboolean sl_decoder_param_int (const SlDecoderConfig *config, const char *key, gint fallback, gint lo, gint hi, gint *value,
                               GError **error);
/** sl_decoder_param_choice: index of the parameter's value in the NULL-terminated @choices, 0 when absent; FALSE with
 *  SL_ERROR_ARGUMENT naming the choices otherwise. */
gboolean sl_decoder_param_choice (const SlDecoderConfig *config, const char *key, const char *const *choices, guint *value, GError **error);
/** sl_decoder_elements: product of the dimensions; 0 when one is not positive or the product exceeds 2^31 - 1. */
guint sl_decoder_elements (const SlDecoderTensor *tensor);
/** sl_decoder_describe: (transfer full): "float32[1,10,4], float32[1,10]" of every tensor. */
char *sl_decoder_describe (const SlDecoderConfig *config);

G_END_DECLS

#endif
