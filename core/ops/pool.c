/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D (the root of the mean square, float only) over NHWC;
 * padding is not counted in averages.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

/* Sums of so many quantised values fit 32 bits. */
#define MAX_WINDOW (1 << 22)
#define MAX_WINDOW_I16 (1 << 15)

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  if (!sl_node_check_typed (graph, node, 1, SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16),
                            error)
      || !sl_node_check_rank4 (graph, node, 0, error))
    return FALSE;
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  if (node->op == SL_OP_L2_POOL_2D
      && !sl_node_check_dtype (node, "input", input, SL_DTYPE_BIT (SL_DTYPE_F32), error))
    return FALSE;
  if (sl_tensor_scale (input) != sl_tensor_scale (output)
      || sl_tensor_zero_point (input) != sl_tensor_zero_point (output))
    return sl_node_error (
      error, node, SL_ERROR_UNSUPPORTED,
      "input and output are quantised differently (scale %g and %g); pooling keeps codes",
      (double) sl_tensor_scale (input), (double) sl_tensor_scale (output));
  node->params.window.dilation_h = node->params.window.dilation_w = 1;
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  SlWindow *window = &node->params.window;
  gint32 dims[4] = { input->dims[0], 0, 0, input->dims[3] };
  if (!sl_window_resolve (node, window, input->dims[1], input->dims[2], window->filter_h,
                          window->filter_w, &dims[1], &dims[2], error))
    return FALSE;
  if (window->pad_top >= window->filter_h || window->pad_left >= window->filter_w
      || window->pad_bottom >= window->filter_h || window->pad_right >= window->filter_w)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "a %dx%d window would lie in the padding alone", window->filter_h,
                          window->filter_w);
  const gint32 most = input->dtype == SL_DTYPE_I16 ? MAX_WINDOW_I16 : MAX_WINDOW;
  if ((gint64) window->filter_h * window->filter_w > most)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "a %dx%d window is over the limit of %d pixels", window->filter_h,
                          window->filter_w, most);
  return sl_node_set_shape (graph, node, 0, 4, dims, error);
}

const SlOp sl_op_average_pool_2d = { SL_OP_ROW (AVERAGE_POOL_2D, 1, 1, 1, check, infer, NULL,
                                                sl_kernel_pool_2d) };

const SlOp sl_op_max_pool_2d = { SL_OP_ROW (MAX_POOL_2D, 1, 1, 1, check, infer, NULL,
                                            sl_kernel_pool_2d) };

const SlOp sl_op_l2_pool_2d = { SL_OP_ROW (L2_POOL_2D, 1, 1, 1, check, infer, NULL,
                                           sl_kernel_pool_2d) };
