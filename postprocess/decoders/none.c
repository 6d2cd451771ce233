/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decoder "none": outputs the model's tensors unchanged, with names, shapes, types and scales, for
 * decoding elsewhere. It accepts any tensors, so it is chosen only by name. Its result is a copy,
 * like all results of decoders: a tensor's buffer returns to its pool before predictions are
 * written.
 */
#include <string.h>

#include "core/base/fail.h"
#include "postprocess/decoders.h"
#include "postprocess/params.h"

typedef struct
{
  guint n;
  SlTensorInfo infos[SL_MAX_IO];
  void *data[SL_MAX_IO];
} State;

static void
close_none (gpointer opened)
{
  State *state = opened;
  sl_tensor_infos_clear (state->infos, state->n);
  for (guint t = 0; t < state->n; t++)
    g_free (state->data[t]);
  g_free (state);
}

static gpointer
open_none (const SlDecoderConfig *config, GError **error)
{
  State *state = g_new0 (State, 1);
  state->n = config->n_tensors;
  for (guint t = 0; t < state->n; t++) {
    SlTensorInfo *info = &state->infos[t];
    *info = config->tensors[t];
    info->name = g_strdup (config->tensors[t].name);
    info->bytes = (gsize) sl_decoder_elements (info) * sl_dtype_size (info->dtype);
    state->data[t] = g_try_malloc (info->bytes);
    if (state->data[t] != NULL)
      continue;
    sl_fail (error, SL_ERROR_BACKEND,
             "decoder none: no memory for the %" G_GSIZE_FORMAT " bytes of tensor %u", info->bytes,
             t);
    close_none (state);
    return NULL;
  }
  return state;
}

static void
decode_none (gpointer opened, const void *const *data, SlResult *result)
{
  const State *state = opened;
  for (guint t = 0; t < state->n; t++)
    memcpy (state->data[t], data[t], state->infos[t].bytes);
  result->outputs = (SlOutputs){ state->n, state->infos, (const void *const *) state->data };
}

const SlDecoder sl_decoder_none = {
  .name = "none",
  .description = "any tensors, given as they are",
  .open = open_none,
  .decode = decode_none,
  .close = close_none,
};
