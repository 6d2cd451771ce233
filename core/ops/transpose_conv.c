/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TRANSPOSE_CONV: inputs are the output's shape (constant), weights [out, height, width, in], the
 * data and an optional bias. Float, or 8-bit with weights of the same type, per tensor or, int8,
 * per channel; int16 with int8 weights.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
check_weights (const SlGraph *graph, const SlNode *node, GError **error)
{
  const SlTensor *weights = sl_node_input (graph, node, 1), *input = sl_node_input (graph, node, 2);
  const gboolean hybrid = input->dtype == SL_DTYPE_F32 && sl_dtype_size (weights->dtype) == 1;
  if (weights->data == NULL || weights->rank != 4 || weights->dims[3] != input->dims[3]) {
    g_autofree char *text = sl_tensor_describe (weights);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "weights '%s' are %s%s; expected a constant [out,height,width,%d]",
                          weights->name, weights->data == NULL ? "variable " : "", text,
                          input->dims[3]);
  }
  const gboolean words = input->dtype == SL_DTYPE_I16;
  if (words ? !sl_node_check_dtype (node, "weights", weights, SL_DTYPE_BIT (SL_DTYPE_I8), error)
            : !hybrid && !sl_node_check_same_dtype (node, input, weights, error))
    return FALSE;
  if (weights->dtype == SL_DTYPE_F32 || weights->quant.count <= 1)
    return sl_node_check_quant (node, "weights", weights, error);
  if (weights->dtype != SL_DTYPE_I8 || weights->quant.axis != 0
      || weights->quant.count != (guint) weights->dims[0])
    return sl_node_error (
      error, node, SL_ERROR_UNSUPPORTED,
      "weights '%s' have %u scales along dimension %d; expected %d along dimension 0",
      weights->name, weights->quant.count, weights->quant.axis, weights->dims[0]);
  return TRUE;
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 2), *output = sl_node_output (graph, node, 0),
                 *bias = sl_node_input (graph, node, 3);
  gint32 shape[4];
  guint count = 0;
  if (!sl_node_check_dtype (node, "input", input,
                            SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16), error)
      || !sl_node_check_same_dtype (node, input, output, error)
      || !sl_node_check_quant (node, "input", input, error)
      || !sl_node_check_quant (node, "output", output, error)
      || !sl_node_check_rank4 (graph, node, 2, error) || !check_weights (graph, node, error)
      || !sl_node_constant (graph, node, 0, "output shape", shape, 4, &count, error))
    return FALSE;
  if (count != 4)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "the output shape has %u entries; expected 4", count);
  if (bias == NULL)
    return TRUE;
  gsize elements = 0;
  if (bias->data == NULL || !sl_tensor_elements (bias, &elements)
      || elements != (gsize) sl_node_input (graph, node, 1)->dims[0])
    return sl_node_error (error, node, SL_ERROR_SHAPE, "the bias must be a constant of %d values",
                          sl_node_input (graph, node, 1)->dims[0]);
  return sl_node_check_bias_dtype (node, input, bias, error);
}

/* The forward convolution from the output must give the input back: that fixes the paddings. */
static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *weights = sl_node_input (graph, node, 1), *input = sl_node_input (graph, node, 2);
  gint32 shape[4] = { 0 }, h = 0, w = 0;
  guint count = 0;
  SlWindow window = node->params.window;
  sl_constant_ints (sl_node_input (graph, node, 0), shape, 4, &count);
  window.dilation_h = window.dilation_w = 1;
  if (shape[0] == 1 && (guint) input->dims[0] == sl_graph_batch (graph))
    shape[0] = input->dims[0];
  if (shape[0] != input->dims[0] || shape[3] != weights->dims[0] || shape[1] < 1 || shape[2] < 1)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "the output shape is [%d,%d,%d,%d]; expected [%d,height,width,%d]",
                          shape[0], shape[1], shape[2], shape[3], input->dims[0], weights->dims[0]);
  if (!sl_window_resolve (node, &window, shape[1], shape[2], weights->dims[1], weights->dims[2], &h,
                          &w, error))
    return FALSE;
  if (h != input->dims[1] || w != input->dims[2])
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "an output of %dx%d comes from %dx%d; the input is %dx%d", shape[1],
                          shape[2], h, w, input->dims[1], input->dims[2]);
  node->params.window = window;
  return sl_node_set_shape (graph, node, 0, 4, shape, error);
}

const SlOp sl_op_transpose_conv = { SL_OP_ROW (TRANSPOSE_CONV, 3, 4, 1, check, infer,
                                               sl_kernel_transpose_conv_prepare,
                                               sl_kernel_transpose_conv) };
