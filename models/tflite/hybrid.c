/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/tflite/hybrid.h"

/* (nullable): the constant 8-bit weights of a layer that reads floats. */
static const SlTensor *
stored_weights (const SlGraph *graph, const gint32 *inputs, guint n)
{
  if (n < 2 || inputs[0] < 0 || inputs[1] < 0)
    return NULL;
  const SlTensor *weights = sl_graph_tensor (graph, inputs[1]);
  return sl_graph_tensor (graph, inputs[0])->dtype == SL_DTYPE_F32
             && sl_dtype_size (weights->dtype) == 1 && weights->data != NULL
             && weights->quant.count > 0
           ? weights
           : NULL;
}

/* XNNPACK, which takes the weights of type INT8, rounds from the least number to the most, and for
 * each pixel of windows of one pixel. The kernel that takes older converters' weights rounds
 * symmetrically. */
gboolean
tfl_round_activations (SlGraph *graph, guint index, const SlWindow *window, gint32 *inputs, guint n,
                       GError **error)
{
  const SlTensor *weights = stored_weights (graph, inputs, n);
  if (weights == NULL || weights->rank != 4)
    return TRUE;
  const gboolean one_pixel = weights->dims[1] == 1 && weights->dims[2] == 1 && window->stride_h == 1
                             && window->stride_w == 1;
  const gboolean is_old = weights->dtype == SL_DTYPE_U8;
  const SlOpParams params = { .fake_quantize = { .symmetric = is_old,
                                                 .by_pixel = one_pixel && !is_old } };
  SlTensor rounded = *sl_graph_tensor (graph, inputs[0]);
  rounded.data = NULL;
  const gint32 made = sl_graph_add_tensor (graph, &rounded, error);
  if (made < 0
      || !sl_graph_add_node (graph, SL_OP_FAKE_QUANTIZE, index, inputs, 1, &made, 1, &params,
                             error))
    return FALSE;
  inputs[0] = made;
  return TRUE;
}

gboolean
tfl_rounds_rows (const SlGraph *graph, const gint32 *inputs, guint n)
{
  const SlTensor *weights = stored_weights (graph, inputs, n);
  return weights != NULL && weights->dtype == SL_DTYPE_I8 && !sl_tensor_is_shifted (weights);
}
