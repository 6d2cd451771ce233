/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Shared code of decoders: reads their string parameters and describes tensors in messages. */
#pragma once

#include "postprocess/decoder.h"

/** sl_decoder_param: (transfer none) (nullable): parameter @key as text. */
const char *sl_decoder_param (const SlDecoderConfig *config, const char *key);
/** Parameters of every decoder. */
#define SL_PARAM_THRESHOLD "threshold"
#define SL_PARAM_CHECK "check"
/** sl_decoder_model_params: those, and what exporters write into models that not every
 * decoder needs. */
extern const SlDecoderParam sl_decoder_model_params[];
/** sl_decoder_param_row: (transfer none) (nullable): the row @key of @params (nullable). */
const SlDecoderParam *sl_decoder_param_row (const SlDecoderParam *params, const char *key);
/** sl_decoder_param_check: FALSE with SL_ERROR_ARGUMENT when @text is a value that @row takes with
 * no model. */
gboolean sl_decoder_param_check (const SlDecoderParam *row, const char *text, GError **error);

/* These read parameter @key by its row of @params. FALSE with SL_ERROR_ARGUMENT when the value is
 * not one that the row allows. */
/** sl_decoder_param_int: *@value becomes @fallback when @key is absent. */
gboolean sl_decoder_param_int (const SlDecoderConfig *config, const SlDecoderParam *params,
                               const char *key, gint fallback, gint *value, GError **error);
/** sl_decoder_param_choice: *@value becomes the index of the value in the row's choices, 0 when
 * @key is absent. */
gboolean sl_decoder_param_choice (const SlDecoderConfig *config, const SlDecoderParam *params,
                                  const char *key, guint *value, GError **error);
/** sl_decoder_param_bool: as sl_decoder_param_int(), for yes/no, true/false, 1/0. */
gboolean sl_decoder_param_bool (const SlDecoderConfig *config, const SlDecoderParam *params,
                                const char *key, gboolean fallback, gboolean *value,
                                GError **error);
/** sl_decoder_param_double: as sl_decoder_param_int(), for a finite number. */
gboolean sl_decoder_param_double (const SlDecoderConfig *config, const SlDecoderParam *params,
                                  const char *key, double fallback, double *value, GError **error);
/** sl_decoder_param_list: reads "1,2.5" into @values, which has room for the row's most numbers.
 * *@n and @values do not change when @key is absent. */
gboolean sl_decoder_param_list (const SlDecoderConfig *config, const SlDecoderParam *params,
                                const char *key, double *values, guint *n, GError **error);
/** sl_decoder_param_words: *@words (transfer full) (nullable) becomes one word for each of the @n
 * numbers of a vector. With @may_be_one, one word for all numbers is accepted, too. *@words does
 * not change when @key is absent. */
gboolean sl_decoder_param_words (const SlDecoderConfig *config, const char *key, guint n,
                                 gboolean may_be_one, char ***words, GError **error);
/** sl_decoder_param_size: pixels of the model's input: the parameter "imgsz" ("height,width" or one
 * number), else the size in @config. 0 x 0 when both are absent. */
gboolean sl_decoder_param_size (const SlDecoderConfig *config, gint32 *width, gint32 *height,
                                GError **error);
/** sl_decoder_refuse: returns NULL and sets SL_ERROR_SHAPE; the message has @expected and the
 * tensors of @config. */
gpointer sl_decoder_refuse (const SlDecoderConfig *config, const char *decoder,
                            const char *expected, GError **error);
/** sl_decoder_elements: product of the dimensions; 0 when one is not positive or the product
 * exceeds 2^31 - 1. */
guint sl_decoder_elements (const SlTensorInfo *tensor);
/** sl_decoder_is_vector: whether at most one dimension of @tensor differs from 1. */
gboolean sl_decoder_is_vector (const SlTensorInfo *tensor);
/** sl_decoder_find_rows: finds the @skip-th float tensor with @rows rows of @columns numbers, and
 * writes its index to @at. */
gboolean sl_decoder_find_rows (const SlDecoderConfig *config, guint rows, guint columns, guint skip,
                               guint *at);
/** sl_decoder_one_class: SlDecoder.classes where there is one. */
guint sl_decoder_one_class (const SlDecoderConfig *config);
/** sl_decoder_columns: the last dimension of a tensor with at least two dimensions, else 0. */
guint sl_decoder_columns (const SlTensorInfo *tensor);
/** sl_decoder_describe: (transfer full): describes all tensors, such as "float32[1,10,4],
 * float32[1,10]". */
char *sl_decoder_describe (const SlDecoderConfig *config);
