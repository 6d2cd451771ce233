/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR over NHWC to a constant height and width. */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 size[2];
  guint count = 0;
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_check_rank4 (graph, node, 0, error))
    return FALSE;
  if (node->op == SL_OP_RESIZE_BILINEAR
      && !sl_node_check_dtype (node, "input", sl_node_input (graph, node, 0),
                               SL_DTYPES_ACTIVATION | SL_DTYPE_BIT (SL_DTYPE_I16), error))
    return FALSE;
  if (!sl_node_constant (graph, node, 1, "size", size, 2, &count, error))
    return FALSE;
  if (count != 2)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "the size has %u entries; expected height and width", count);
  g_assert (!node->params.resize.fused
            || (node->op == SL_OP_RESIZE_BILINEAR
                && sl_node_input (graph, node, 0)->dtype == SL_DTYPE_F32));
  if (node->params.resize.align_corners && node->params.resize.half_pixel_centers)
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "align_corners and half_pixel_centers exclude each other");
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  gint32 size[2] = { 0 };
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), size, 2, &count);
  const gint32 dims[4] = { input->dims[0], size[0], size[1], input->dims[3] };
  return sl_node_set_shape (graph, node, 0, 4, dims, error);
}

const SlOp sl_op_resize_bilinear = { SL_OP_ROW (
  RESIZE_BILINEAR, 2, 2, 1, check, infer, sl_kernel_resize_prepare, sl_kernel_resize_bilinear) };

/* Inputs: the picture, the size, the axis, which is the last. */
static gboolean
arg_max_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlDtype dtype = sl_node_input (graph, node, 0)->dtype;
  g_assert (dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8);
  return sl_node_check_rank4 (graph, node, 0, error);
}

static gboolean
arg_max_infer (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 dims[3] = { sl_node_input (graph, node, 0)->dims[0] };
  guint count = 0;
  sl_constant_ints (sl_node_input (graph, node, 1), dims + 1, 2, &count);
  return sl_node_set_shape (graph, node, 0, 3, dims, error);
}

const SlOp sl_op_resize_arg_max = { SL_OP_NAMED_ROW (
  RESIZE_ARG_MAX, "RESIZE_BILINEAR+ARG_MAX", 3, 3, 1, arg_max_check, arg_max_infer,
  sl_kernel_resize_prepare, sl_kernel_resize_bilinear) };

const SlOp sl_op_resize_nearest_neighbor = { SL_OP_ROW (RESIZE_NEAREST_NEIGHBOR, 2, 2, 1, check,
                                                        infer, sl_kernel_resize_prepare,
                                                        sl_kernel_resize_nearest) };
