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

/* [1,@channels,H,W] or [1,H,W,@channels]; any number of channels where it is 0. */
static gboolean
is_map (const SlTensorInfo *t, gint32 channels)
{
  return t->rank == 4 && t->dims[0] == 1 && t->dims[1] > 1 && t->dims[2] > 1
         && (channels == 0 || t->dims[1] == channels || t->dims[3] == channels);
}

/* Heat maps of points and fields of both coordinates of the limbs between them. */
static gboolean
are_limbs (const SlTensorInfo *a, const SlTensorInfo *b)
{
  return (is_map (a, 38) && is_map (b, 19)) || (is_map (a, 52) && is_map (b, 26));
}

/* A picture and how much each of its pixels belongs to the foreground. */
static gboolean
are_matte (const SlTensorInfo *picture, const SlTensorInfo *alpha)
{
  const gboolean planar = picture->rank == 4 && picture->dims[1] == 3;
  const guint first = planar ? 2 : 1;
  return is_map (picture, 3) && alpha->rank == 4 && alpha->dims[planar ? 1 : 3] == 1
         && alpha->dims[first] == picture->dims[first]
         && alpha->dims[first + 1] == picture->dims[first + 1];
}

/* More numbers beside a single one are points rather than classes. */
#define MOST_CLASSES_BESIDE 8

/* A number beside a row of scores. */
static gboolean
are_estimate_and_classes (const SlTensorInfo *number, const SlTensorInfo *row)
{
  return sl_decoder_elements (number) == 1 && sl_decoder_is_vector (row)
         && sl_decoder_elements (row) > 1 && sl_decoder_elements (row) <= MOST_CLASSES_BESIDE;
}

/* Features of patches of a picture, [1,N,C], and of all of it, [1,C]. */
static gboolean
are_patches (const SlTensorInfo *patches, const SlTensorInfo *whole)
{
  return patches->rank == 3 && patches->dims[0] == 1 && patches->dims[1] > 1 && whole->rank == 2
         && whole->dims[0] == 1 && whole->dims[1] == patches->dims[2] && whole->dims[1] >= 64;
}

static gboolean
in_any_order (const SlTensorInfo *t, gboolean (*are) (const SlTensorInfo *a, const SlTensorInfo *b))
{
  return are (&t[0], &t[1]) || are (&t[1], &t[0]);
}

/* What outputs of known networks are that no decoder reads. */
static const char *
unmatched (const SlDecoderConfig *config)
{
  static const struct
  {
    gboolean (*are) (const SlTensorInfo *a, const SlTensorInfo *b);
    const char *why;
  } pairs[] = {
    { are_limbs,
      "heat maps of points and fields of limbs may be OpenPose's, whose points no decoder joins to "
      "persons: decoder=none gives the maps, or write one (docs/decoder-plugins.md)" },
    { are_matte,
      "a picture and a map of its size may be the foreground and its matte, as RVM gives them: "
      "decoder=segmentation,tensor=1 gives the foreground as a mask where the matte is the "
      "second" },
    { are_patches,
      "rows and one row of as many features may be patches and the whole of a picture, as DINOv2 "
      "gives them: export the one output that is needed for decoder=vector,kind=embedding, or "
      "decoder=none gives both" },
    { are_estimate_and_classes,
      "a number and a row may be an estimate beside scores of classes, such as age and gender, and "
      "decoders read one of them: decoder=none gives both, or export the one that is needed" },
  };
  const SlTensorInfo *t = config->tensors;
  if (config->n_tensors == 1 && t[0].rank == 3 && t[0].dims[0] == 1 && t[0].dims[1] == 3
      && t[0].dims[2] == 3)
    return "nine numbers may be the matrix of a rotation, such as of a head (6DRepNet), of which "
           "no decoder computes angles: decoder=none gives them";
  for (guint i = 0; i < G_N_ELEMENTS (pairs) && config->n_tensors == 2; i++)
    if (in_any_order (t, pairs[i].are))
      return pairs[i].why;
  return NULL;
}

const SlDecoder sl_decoder_none = {
  .name = "none",
  .description = "any tensors, given as they are",
  .unmatched = unmatched,
  .open = open_none,
  .decode = decode_none,
  .close = close_none,
};
