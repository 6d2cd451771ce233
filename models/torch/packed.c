/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The states of packed parameters, by class. Convolutions of quantisation have had three forms. */
#include "models/torch/packed.h"

#include <string.h>

#define CLASSES "__torch__.torch.classes."
/* Numbers of a convolution's configuration: dimensions, then pairs of stride, padding, dilation and
 * output padding, groups, flags. */
#define CONFIG 11
#define SPATIAL 2

static const struct
{
  const char *name;
  TsPackedKind kind;
} classes[] = {
  { "quantized.Conv2dPackedParamsBase", TS_PACKED_QUANTIZED_CONV },
  { "quantized.LinearPackedParamsBase", TS_PACKED_QUANTIZED_LINEAR },
  { "xnnpack.Conv2dOpContext", TS_PACKED_CONV },
  { "xnnpack.LinearOpContext", TS_PACKED_LINEAR },
  { "xnnpack.TransposeConv2dOpContext", TS_PACKED_TRANSPOSE_CONV },
};

gboolean
ts_packed_new (TsHeap *heap, const char *class_name, TsValue *value)
{
  if (!g_str_has_prefix (class_name, CLASSES))
    return FALSE;
  *value = ts_none ();
  for (guint i = 0; i < G_N_ELEMENTS (classes); i++) {
    TsPacked *packed;
    if (strcmp (class_name + strlen (CLASSES), classes[i].name) != 0)
      continue;
    packed = ts_alloc (heap, sizeof *packed);
    if (packed == NULL)
      return TRUE;
    packed->kind = classes[i].kind;
    *value = (TsValue){ .kind = TS_PACKED, .packed = packed };
    return TRUE;
  }
  ts_fail (
    heap, SL_ERROR_UNSUPPORTED,
    "class %s is not supported; expected packed convolutions or linear layers of qnnpack, fbgemm "
    "or xnnpack",
    class_name + strlen ("__torch__."));
  return TRUE;
}

static gboolean
bad_state (TsHeap *heap)
{
  return ts_fail (heap, SL_ERROR_FORMAT,
                  "the state of packed parameters is not what its class writes");
}

static gboolean
take_tensor (TsHeap *heap, TsValue value, gboolean optional, TsTensor **tensor)
{
  *tensor = value.kind == TS_TENSOR ? value.tensor : NULL;
  return *tensor != NULL || (optional && value.kind == TS_NONE) || bad_state (heap);
}

static gboolean
is_sequence (TsValue value, guint least)
{
  return (value.kind == TS_LIST || value.kind == TS_TUPLE) && value.list->n >= least;
}

/* One number for both dimensions, or one for each. */
static gboolean
take_pair (TsHeap *heap, TsValue value, gint64 pair[2])
{
  if (!is_sequence (value, 1) || value.list->n > SPATIAL)
    return bad_state (heap);
  for (guint i = 0; i < SPATIAL; i++) {
    const TsValue item = value.list->items[MIN (i, value.list->n - 1)];
    if (item.kind != TS_INT)
      return bad_state (heap);
    pair[i] = item.number;
  }
  return TRUE;
}

static gboolean
take_bound (TsHeap *heap, TsValue value, gboolean *has, gdouble *bound)
{
  *has = value.kind != TS_NONE;
  *bound = value.kind == TS_FLOAT ? value.real : value.kind == TS_INT ? (gdouble) value.number : 0;
  return value.kind == TS_NONE || value.kind == TS_FLOAT || value.kind == TS_INT
         || bad_state (heap);
}

static gboolean
set_config (TsHeap *heap, TsPacked *packed, const gint64 config[CONFIG])
{
  gint64 *const pairs[] = { packed->stride, packed->padding, packed->dilation,
                            packed->output_padding };
  if (config[0] != SPATIAL)
    return ts_fail (heap, SL_ERROR_UNSUPPORTED,
                    "packed parameters of a convolution over %" G_GINT64_FORMAT
                    " dimensions; expected 2",
                    config[0]);
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    memcpy (pairs[i], config + 1 + SPATIAL * i, SPATIAL * sizeof config[0]);
  packed->groups = config[CONFIG - 2];
  packed->transposed = (config[CONFIG - 1] & 1) != 0;
  return TRUE;
}

/* The only number of a tensor of one. */
static gboolean
take_number (TsHeap *heap, TsValue value, gint64 *number)
{
  const gint64 *ints = value.kind == TS_TENSOR && ts_tensor_elements (value.tensor) == 1
                         ? ts_tensor_ints (heap, value.tensor, 1)
                         : NULL;
  if (ints == NULL)
    return bad_state (heap);
  *number = ints[0];
  return TRUE;
}

/* Form 1: (weight, bias, [stride], [padding], [dilation], groups), all of them tensors. */
static gboolean
fill_conv_of_tensors (TsHeap *heap, TsPacked *packed, const TsValue *items, guint n)
{
  gint64 config[CONFIG] = { SPATIAL };
  if (n < 6)
    return bad_state (heap);
  for (guint i = 0; i < 3; i++)
    for (guint k = 0; k < SPATIAL; k++)
      if (!is_sequence (items[2 + i], SPATIAL)
          || !take_number (heap, items[2 + i].list->items[k], config + 1 + SPATIAL * i + k))
        return bad_state (heap);
  return take_number (heap, items[5], config + CONFIG - 2)
         && take_tensor (heap, items[0], FALSE, &packed->weight)
         && take_tensor (heap, items[1], TRUE, &packed->bias) && set_config (heap, packed, config);
}

/* Form 2: ("2", [configuration, weight], [bias]), the configuration a tensor; form 3: (3,
 * [configuration], [nothing, weight, bias]). */
static gboolean
fill_quantized_conv (TsHeap *heap, TsPacked *packed, const TsValue *items, guint n)
{
  if (n >= 6 && items[0].kind == TS_TENSOR)
    return fill_conv_of_tensors (heap, packed, items, n);
  if (n != 3 || (items[0].kind == TS_INT && items[0].number != 3)
      || (items[0].kind == TS_STRING && strcmp (items[0].text, "2") != 0))
    return ts_fail (
      heap, SL_ERROR_UNSUPPORTED,
      "packed parameters of a convolution are of a form that is not known; expected 1, 2 or 3");
  const gboolean numbers = items[0].kind == TS_INT;
  if (!is_sequence (items[1], numbers ? CONFIG : 2) || !is_sequence (items[2], numbers ? 3 : 1))
    return bad_state (heap);
  gint64 config[CONFIG];
  const TsValue *first = items[1].list->items, *second = items[2].list->items;
  if (!numbers) {
    const gint64 *ints =
      first[0].kind == TS_TENSOR && ts_tensor_elements (first[0].tensor) == CONFIG
        ? ts_tensor_ints (heap, first[0].tensor, CONFIG)
        : NULL;
    if (ints == NULL)
      return bad_state (heap);
    memcpy (config, ints, sizeof config);
  }
  for (guint i = 0; i < CONFIG && numbers; i++) {
    if (first[i].kind != TS_INT)
      return bad_state (heap);
    config[i] = first[i].number;
  }
  return take_tensor (heap, numbers ? second[1] : first[1], FALSE, &packed->weight)
         && take_tensor (heap, numbers ? second[2] : second[0], TRUE, &packed->bias)
         && set_config (heap, packed, config);
}

/* (weight, bias, [stride], [padding], [dilation], groups, low, high), with [output padding] behind
 * the padding where it is transposed. */
static gboolean
fill_conv (TsHeap *heap, TsPacked *packed, const TsValue *items, guint n)
{
  const guint more = packed->kind == TS_PACKED_TRANSPOSE_CONV ? 1 : 0;
  packed->transposed = more > 0;
  if (n < 8 + more || items[5 + more].kind != TS_INT)
    return bad_state (heap);
  packed->groups = items[5 + more].number;
  return take_tensor (heap, items[0], FALSE, &packed->weight)
         && take_tensor (heap, items[1], TRUE, &packed->bias)
         && take_pair (heap, items[2], packed->stride)
         && take_pair (heap, items[3], packed->padding)
         && (more == 0 || take_pair (heap, items[4], packed->output_padding))
         && take_pair (heap, items[4 + more], packed->dilation)
         && take_bound (heap, items[6 + more], &packed->has_low, &packed->low)
         && take_bound (heap, items[7 + more], &packed->has_high, &packed->high);
}

static gboolean
fill_linear (TsHeap *heap, TsPacked *packed, const TsValue *items, guint n)
{
  const gboolean clamped = packed->kind == TS_PACKED_LINEAR;
  if (n < (clamped ? 4 : 2))
    return bad_state (heap);
  return take_tensor (heap, items[0], FALSE, &packed->weight)
         && take_tensor (heap, items[1], TRUE, &packed->bias)
         && (!clamped
             || (take_bound (heap, items[2], &packed->has_low, &packed->low)
                 && take_bound (heap, items[3], &packed->has_high, &packed->high)));
}

gboolean
ts_packed_fill (TsHeap *heap, TsPacked *packed, TsValue state)
{
  if (!is_sequence (state, 1))
    return bad_state (heap);
  const TsValue *items = state.list->items;
  switch (packed->kind) {
    case TS_PACKED_QUANTIZED_CONV:
      return fill_quantized_conv (heap, packed, items, state.list->n);
    case TS_PACKED_CONV:
    case TS_PACKED_TRANSPOSE_CONV:
      return fill_conv (heap, packed, items, state.list->n);
    default:
      return fill_linear (heap, packed, items, state.list->n);
  }
}
