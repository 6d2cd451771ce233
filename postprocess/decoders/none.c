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

/* SSR-Net's three stages: shares and shifts of bins, and a number that widens them. */
static gboolean
are_stages (const SlDecoderConfig *config)
{
  guint rows = 0, numbers = 0;
  for (guint t = 0; t < config->n_tensors; t++) {
    const guint elements = sl_decoder_elements (&config->tensors[t]);
    rows += elements > 1 && elements == (guint) sl_decoder_columns (&config->tensors[t]);
    numbers += elements == 1;
  }
  return config->n_tensors == 9 && rows == 6 && numbers == 3;
}

/* Two rows of as many numbers. */
static gboolean
are_pair (const SlDecoderConfig *config)
{
  const SlTensorInfo *t = config->tensors;
  return config->n_tensors == 2 && t[0].rank == 2 && t[1].rank == 2 && t[0].dims[0] == 1
         && t[1].dims[0] == 1 && t[0].dims[1] > 1 && t[0].dims[1] == t[1].dims[1];
}

/* Known outputs for which there is no decoder yet. */
static const char *
unmatched (const SlDecoderConfig *config)
{
  if (are_stages (config))
    return "six rows and three single numbers may be the three stages of SSR-Net, whose age or gender is a sum over all of them, which "
           "no decoder computes";
  return are_pair (config)
           ? "two rows of the same length may be two factors of a product or two lists of classes: no decoder multiplies "
             "them, and decoders read one list"
           : NULL;
}

const SlDecoder sl_decoder_none = {
  .name = "none",
  .description = "any tensors, given as they are",
  .unmatched = unmatched,
  .open = open_none,
  .decode = decode_none,
  .close = close_none,
};
