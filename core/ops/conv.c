/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: weights with an optional bias. Float, with
 * weights that may be stored as 8-bit values (a pass makes them float); 8-bit with int8 weights per
 * tensor or per channel, or uint8 weights per tensor; int16 with int8 weights (TensorFlow Lite
 * quantisation specification).
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
check_constant (const SlNode *node, const char *role, const SlTensor *tensor, GError **error)
{
  if (tensor->data != NULL)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (tensor);
  return sl_node_error (
    error, node, SL_ERROR_UNSUPPORTED,
    "%s '%s' is %s that is computed or given for each run; expected a constant in the file: export "
    "the model for inference, with its weights frozen",
    role, tensor->name, text);
}

/* Weights: constant, the input's type or, for a float input, 8-bit values; 8-bit ones quantised per
 * tensor or along @axis. */
static gboolean
check_weights (const SlGraph *graph, const SlNode *node, gint axis, guint rank, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  if (!check_constant (node, "the tensor of weights", weights, error))
    return FALSE;
  if (weights->rank != rank)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "weights '%s' have %u dimensions; expected %u", weights->name,
                          weights->rank, rank);
  const gboolean hybrid = input->dtype == SL_DTYPE_F32
                          && (weights->dtype == SL_DTYPE_I8 || weights->dtype == SL_DTYPE_U8);
  const gboolean int16 = input->dtype == SL_DTYPE_I16 && weights->dtype == SL_DTYPE_I8;
  if (!hybrid && !int16 && !sl_node_check_same_dtype (node, input, weights, error))
    return FALSE;
  if (weights->dtype == SL_DTYPE_F32)
    return TRUE;
  if (weights->dtype == SL_DTYPE_U8 || weights->quant.count <= 1)
    return sl_node_check_quant (node, "weights", weights, error);
  if (weights->quant.count != (guint) weights->dims[axis] || weights->quant.axis != axis)
    return sl_node_error (
      error, node, SL_ERROR_FORMAT,
      "weights '%s' have %u scales along dimension %d; expected %d along dimension %d",
      weights->name, weights->quant.count, weights->quant.axis, weights->dims[axis], axis);
  for (guint i = 0; i < weights->quant.count; i++)
    if (weights->quant.zero_point[i] != 0)
      return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                            "weights '%s' have zero point %d in channel %u; expected 0",
                            weights->name, weights->quant.zero_point[i], i);
  return TRUE;
}

static gboolean
check_bias (const SlGraph *graph, const SlNode *node, gint32 channels, GError **error)
{
  const SlTensor *bias = sl_node_input (graph, node, 2);
  gsize elements = 0;
  if (bias == NULL)
    return TRUE;
  if (!check_constant (node, "bias", bias, error))
    return FALSE;
  if (!sl_tensor_elements (bias, &elements) || elements != (gsize) channels) {
    g_autofree char *text = sl_tensor_describe (bias);
    return sl_node_error (error, node, SL_ERROR_SHAPE, "bias '%s' is %s; expected %d values",
                          bias->name, text, channels);
  }
  return sl_node_check_bias_dtype (node, sl_node_input (graph, node, 0), bias, error);
}

/* int16 values are symmetric by specification: their zero points are 0. */
static gboolean
check_data (const SlGraph *graph, const SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  if (input->dtype != SL_DTYPE_I16)
    return sl_node_check_activations (graph, node, 1, error);
  if (!sl_node_check_same_dtype (node, input, output, error)
      || !sl_node_check_quant (node, "input", input, error)
      || !sl_node_check_quant (node, "output", output, error))
    return FALSE;
  if (sl_tensor_zero_point (input) == 0 && sl_tensor_zero_point (output) == 0)
    return TRUE;
  return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                        "zero points of int16 are %d and %d; expected 0",
                        sl_tensor_zero_point (input), sl_tensor_zero_point (output));
}

static gboolean
conv_check (SlGraph *graph, SlNode *node, GError **error)
{
  if (!check_data (graph, node, error) || !sl_node_check_rank4 (graph, node, 0, error)
      || !check_weights (graph, node, 0, 4, error))
    return FALSE;
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  if (input->dims[3] % weights->dims[3] != 0
      || weights->dims[0] % (input->dims[3] / weights->dims[3]) != 0)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "input has %d channels, weights take %d and give %d; these do not divide",
                          input->dims[3], weights->dims[3], weights->dims[0]);
  return check_bias (graph, node, weights->dims[0], error);
}

static gboolean
depthwise_check (SlGraph *graph, SlNode *node, GError **error)
{
  if (!check_data (graph, node, error) || !sl_node_check_rank4 (graph, node, 0, error)
      || !check_weights (graph, node, 3, 4, error))
    return FALSE;
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  if (weights->dims[0] != 1 || weights->dims[3] % input->dims[3] != 0) {
    g_autofree char *text = sl_tensor_describe (weights);
    return sl_node_error (error, node, SL_ERROR_SHAPE, "weights '%s' are %s; expected [1,h,w,n*%d]",
                          weights->name, text, input->dims[3]);
  }
  node->params.window.depth_multiplier = weights->dims[3] / input->dims[3];
  return check_bias (graph, node, weights->dims[3], error);
}

static gboolean
conv_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  const guint channels = node->op == SL_OP_DEPTHWISE_CONV_2D ? 3 : 0;
  gint32 dims[4] = { input->dims[0], 0, 0, weights->dims[channels] };
  return sl_window_resolve (node, &node->params.window, input->dims[1], input->dims[2],
                            weights->dims[1], weights->dims[2], &dims[1], &dims[2], error)
         && sl_node_set_shape (graph, node, 0, 4, dims, error);
}

static gboolean
fully_connected_check (SlGraph *graph, SlNode *node, GError **error)
{
  gsize elements = 0;
  if (!check_data (graph, node, error) || !check_weights (graph, node, 0, 2, error))
    return FALSE;
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  if (!sl_tensor_elements (input, &elements) || elements % (gsize) weights->dims[1] != 0
      || (node->params.fully_connected.keep_dims
          && (input->rank < 1 || input->dims[input->rank - 1] != weights->dims[1]))) {
    g_autofree char *text = sl_tensor_describe (input);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "input '%s' is %s; the weights take %d values a row", input->name, text,
                          weights->dims[1]);
  }
  return check_bias (graph, node, weights->dims[0], error);
}

static gboolean
fully_connected_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  gint32 dims[SL_MAX_RANK];
  guint rank = 2;
  if (node->params.fully_connected.keep_dims) {
    rank = input->rank;
    for (guint i = 0; i + 1 < rank; i++)
      dims[i] = input->dims[i];
  } else {
    const gsize rows = sl_tensor_count (input) / (gsize) weights->dims[1];
    if (rows > G_MAXINT32)
      return sl_node_error (error, node, SL_ERROR_LIMIT, "%" G_GSIZE_FORMAT " rows are too many",
                            rows);
    dims[0] = (gint32) rows;
  }
  dims[rank - 1] = weights->dims[0];
  return sl_node_set_shape (graph, node, 0, rank, dims, error);
}

const SlOp sl_op_conv_2d = { SL_OP_ROW (CONV_2D, 2, 3, 1, conv_check, conv_infer,
                                        sl_kernel_conv_prepare, sl_kernel_conv) };

const SlOp sl_op_depthwise_conv_2d = { SL_OP_ROW (DEPTHWISE_CONV_2D, 2, 3, 1, depthwise_check,
                                                  conv_infer, sl_kernel_conv_prepare,
                                                  sl_kernel_conv) };

const SlOp sl_op_fully_connected = { SL_OP_ROW (FULLY_CONNECTED, 2, 3, 1, fully_connected_check,
                                                fully_connected_infer, sl_kernel_conv_prepare,
                                                sl_kernel_conv) };
