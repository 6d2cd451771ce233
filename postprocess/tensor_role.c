/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of tensors. A name may have several of the words: the first row of the table that has one
 * counts, so "class_scores" are scores.
 */
#include "postprocess/tensor_role.h"

#include <string.h>

static const struct
{
  const char *word;
  SlTensorRole role;
} words[] = {
  { "raw_", SL_TENSOR_OTHER },       { "anchor", SL_TENSOR_OTHER },
  { "multiclass", SL_TENSOR_OTHER }, { "mask", SL_TENSOR_OTHER },
  { "keypoint", SL_TENSOR_OTHER },   { "num_", SL_TENSOR_COUNT },
  { "_num", SL_TENSOR_COUNT },       { "count", SL_TENSOR_COUNT },
  { "valid", SL_TENSOR_COUNT },      { "score", SL_TENSOR_SCORES },
  { "conf", SL_TENSOR_SCORES },      { "prob", SL_TENSOR_SCORES },
  { "logit", SL_TENSOR_SCORES },     { "class", SL_TENSOR_CLASSES },
  { "label", SL_TENSOR_CLASSES },    { "categor", SL_TENSOR_CLASSES },
  { "box", SL_TENSOR_BOXES },        { "dets", SL_TENSOR_BOXES },
  { "location", SL_TENSOR_BOXES },   { "rects", SL_TENSOR_BOXES },
};

gboolean
sl_tensor_is_named (const SlTensorInfo *tensor, const char *part)
{
  g_autofree char *name = tensor->name != NULL ? g_ascii_strdown (tensor->name, -1) : NULL;
  return name != NULL && strstr (name, part) != NULL;
}

SlTensorRole
sl_tensor_role (const SlTensorInfo *tensor)
{
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (sl_tensor_is_named (tensor, words[i].word))
      return words[i].role;
  return SL_TENSOR_UNNAMED;
}
