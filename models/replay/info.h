/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Information of a black box beside its inferences: the model, how it ran, and why the box was
 * written. As text it is the first section of a file (models/replay/black_box.h), a key file that
 * people can read.
 */
#pragma once

#include "core/runtime/session.h"
#include "models/model.h"

/** Files beside a model's that are told apart, and bytes of a name of one. */
#define SL_BLACK_BOX_DATA_FILES 16
#define SL_BLACK_BOX_DATA_NAME 256

/** SlBlackBoxData: a file beside the model's that has weights of it, as SlDataFile says. @name:
 * relative to the model's folder. Of more files than fit the last row stands for the rest. */
typedef struct
{
  char *name;
  guint64 bytes, hash;
} SlBlackBoxData;

/**
 * SlBlackBoxInfo:
 * @model: absolute path
 * @model_bytes, @sha256: of the model's file
 * @data: by name
 * @knows_data: whether @data is all there is: black boxes of before do not say
 * @contract: a line for people
 * @input_shape: (nullable): as in SlModelLoadOptions
 * @precision: (nullable): the same, unless floats
 * @state, @handed: (nullable): inputs that the session held, as sl_state_read() takes them
 * @skips_input_quantize: whether @inputs are the quantised values behind the model's own QUANTIZE
 * @threads: 1..SL_MAX_THREADS
 * @backends: who ran how many of the model's nodes, such as "int8 avx2: 31, xnnpack: 2"
 * @version: of Sightline
 * @reason: (nullable): why the box was written
 * @created: when; microseconds since 1970, 0 = not written yet
 * @inputs, @outputs: names are NULL; inputs that the session held are the last ones
 */
typedef struct
{
  char *model, *sha256, *contract, *input_shape, *precision, *state, *handed, *backends, *version,
    *reason;
  guint64 model_bytes;
  gboolean skips_input_quantize;
  guint threads;
  gint64 created;
  gboolean knows_data;
  guint n_data;
  SlBlackBoxData data[SL_BLACK_BOX_DATA_FILES];
  guint n_inputs, n_outputs;
  SlTensorInfo inputs[SL_MAX_IO], outputs[SL_MAX_IO];
} SlBlackBoxInfo;

/** sl_black_box_info_new: (transfer full): of a @session of @model; its file is hashed, 1 ms for
 * 0.5 MB. @input_shape: (nullable): what it was loaded with. NULL with @error set when the file's
 * bytes cannot be read any more. */
SlBlackBoxInfo *sl_black_box_info_new (SlModel *model, SlSession *session, const char *input_shape,
                                       GError **error);
void sl_black_box_info_free (SlBlackBoxInfo *info);
/** sl_black_box_info_to_text: (transfer full): the key file. */
char *sl_black_box_info_to_text (const SlBlackBoxInfo *info);
/** sl_black_box_info_from_text: (transfer full): of the @size bytes of @text, which anyone may have
 * written; NULL with SL_ERROR_FORMAT. */
SlBlackBoxInfo *sl_black_box_info_from_text (const char *text, gsize size, GError **error);
/** sl_black_box_backends: (transfer full): @backends of a session. */
char *sl_black_box_backends (const SlSession *session);
/** sl_black_box_check_model: FALSE with @error set unless @model is the one of @info, going by the
 * bytes of its files, as far as @info says; with @any, unless its tensors are those of @info. */
gboolean sl_black_box_check_model (const SlBlackBoxInfo *info, SlModel *model, gboolean any,
                                   GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlBlackBoxInfo, sl_black_box_info_free)
