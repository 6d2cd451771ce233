/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every supported operator; look-up by type is an index. */
#include "core/ops/ops.h"

#include <stdlib.h>

static const SlOp *const rows[SL_OP_COUNT] = {
  [SL_OP_ADD] = &sl_op_add,
  [SL_OP_SUB] = &sl_op_sub,
  [SL_OP_MUL] = &sl_op_mul,
  [SL_OP_AVERAGE_POOL_2D] = &sl_op_average_pool_2d,
  [SL_OP_MAX_POOL_2D] = &sl_op_max_pool_2d,
  [SL_OP_CONCATENATION] = &sl_op_concatenation,
  [SL_OP_CONV_2D] = &sl_op_conv_2d,
  [SL_OP_DEPTHWISE_CONV_2D] = &sl_op_depthwise_conv_2d,
  [SL_OP_FULLY_CONNECTED] = &sl_op_fully_connected,
  [SL_OP_DEQUANTIZE] = &sl_op_dequantize,
  [SL_OP_QUANTIZE] = &sl_op_quantize,
  [SL_OP_LOGISTIC] = &sl_op_logistic,
  [SL_OP_MEAN] = &sl_op_mean,
  [SL_OP_PAD] = &sl_op_pad,
  [SL_OP_RELU] = &sl_op_relu,
  [SL_OP_RELU6] = &sl_op_relu6,
  [SL_OP_RESHAPE] = &sl_op_reshape,
  [SL_OP_SQUEEZE] = &sl_op_squeeze,
  [SL_OP_EXPAND_DIMS] = &sl_op_expand_dims,
  [SL_OP_SOFTMAX] = &sl_op_softmax,
  [SL_OP_DETECTION_POSTPROCESS] = &sl_op_detection_postprocess,
};

const SlOp *
sl_op_get (SlOpType type)
{
  return (guint) type < SL_OP_COUNT ? rows[type] : NULL;
}

const char *
sl_op_name (SlOpType op)
{
  const SlOp *row = sl_op_get (op);
  return row != NULL ? row->name : "INVALID";
}

static int
compare_names (const void *a, const void *b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

char *
sl_op_supported_names (void)
{
  const char *names[SL_OP_COUNT + 1];
  guint n = 0;
  for (guint i = 0; i < SL_OP_COUNT; i++)
    if (rows[i] != NULL)
      names[n++] = rows[i]->name;
  qsort (names, n, sizeof names[0], compare_names);
  names[n] = NULL;
  return g_strjoinv (", ", (char **) names);
}
