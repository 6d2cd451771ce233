/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Field numbers are those of the public schema, version 3.
 */
#include "tests/support/tflite_options.h"

static const guint8 activations[] = {
  [SL_ACTIVATION_NONE] = 0,  [SL_ACTIVATION_RELU] = 1,        [SL_ACTIVATION_RELU_N1_TO_1] = 2,
  [SL_ACTIVATION_RELU6] = 3, [SL_ACTIVATION_RELU_0_TO_1] = 3,
};

FbNode *
sl_tflite_ints (FbWriter *fb, const gint32 *values, guint n)
{
  return fb_vector (fb, values, n, 4, 4, 0);
}

/* Operators whose options are plain numbers; the rest has an empty table. */
static void
build_more_options (FbNode *table, const SlTfliteOp *op)
{
  const SlOpParams *p = &op->params;
  switch (op->op) {
    case SL_OP_TRANSPOSE_CONV:
      fb_u8 (table, 0, p->window.padding == SL_PADDING_VALID);
      fb_i32 (table, 1, p->window.stride_w);
      fb_i32 (table, 2, p->window.stride_h);
      fb_u8 (table, 3, activations[p->window.activation]);
      break;
    case SL_OP_SPACE_TO_DEPTH:
    case SL_OP_DEPTH_TO_SPACE:
      fb_i32 (table, 0, p->block.size);
      break;
    case SL_OP_RESIZE_BILINEAR:
    case SL_OP_RESIZE_NEAREST_NEIGHBOR: {
      const guint first = op->op == SL_OP_RESIZE_BILINEAR ? 2 : 0;
      fb_u8 (table, first, p->resize.align_corners != FALSE);
      fb_u8 (table, first + 1, p->resize.half_pixel_centers != FALSE);
      break;
    }
    case SL_OP_GATHER:
      fb_i32 (table, 0, p->axis.axis);
      fb_i32 (table, 1, p->axis.batch_dims);
      break;
    case SL_OP_PACK:
    case SL_OP_UNPACK:
      fb_i32 (table, 0, p->axis.count);
      fb_i32 (table, 1, p->axis.axis);
      break;
    case SL_OP_STRIDED_SLICE:
      fb_i32 (table, 0, (gint32) p->slice.begin_mask);
      fb_i32 (table, 1, (gint32) p->slice.end_mask);
      fb_i32 (table, 2, (gint32) p->slice.ellipsis_mask);
      fb_i32 (table, 3, (gint32) p->slice.new_axis_mask);
      fb_i32 (table, 4, (gint32) p->slice.shrink_axis_mask);
      fb_u8 (table, 5, p->slice.end_is_size != FALSE);
      break;
    case SL_OP_LOCAL_RESPONSE_NORMALIZATION:
      fb_i32 (table, 0, p->local_response.before);
      fb_f32 (table, 1, p->local_response.bias);
      fb_f32 (table, 2, p->local_response.alpha);
      fb_f32 (table, 3, p->local_response.beta);
      break;
    case SL_OP_LEAKY_RELU:
      fb_f32 (table, 0, p->leaky_relu.alpha);
      break;
    case SL_OP_MIRROR_PAD:
      fb_u8 (table, 0, p->mirror.symmetric != FALSE);
      break;
    case SL_OP_GELU:
      fb_u8 (table, 0, p->gelu.approximate != FALSE);
      break;
    case SL_OP_BATCH_MATMUL:
      fb_u8 (table, 0, p->matmul.transpose_a != FALSE);
      fb_u8 (table, 1, p->matmul.transpose_b != FALSE);
      break;
    case SL_OP_CUMSUM:
      fb_u8 (table, 0, p->cumsum.exclusive != FALSE);
      fb_u8 (table, 1, p->cumsum.reverse != FALSE);
      break;
    case SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM:
      fb_u8 (table, 0, p->lstm.activation_is_tanh ? 4 : activations[p->lstm.activation]);
      fb_f32 (table, 1, p->lstm.cell_clip);
      fb_f32 (table, 2, p->lstm.projection_clip);
      fb_u8 (table, 3, p->lstm.time_major != FALSE);
      break;
    default:
      break;
  }
}

/* Paddings are TFLite's: 0 SAME, 1 VALID. */
FbNode *
sl_tflite_options_build (FbWriter *fb, const SlTfliteOp *op)
{
  const SlOpParams *p = &op->params;
  const SlWindow *w = &p->window;
  FbNode *table = fb_table (fb);

  switch (op->op) {
    case SL_OP_CONV_2D:
    case SL_OP_DEPTHWISE_CONV_2D: {
      guint shift = op->op == SL_OP_DEPTHWISE_CONV_2D ? 1 : 0;
      fb_u8 (table, 0, w->padding == SL_PADDING_VALID);
      fb_i32 (table, 1, w->stride_w);
      fb_i32 (table, 2, w->stride_h);
      if (shift)
        fb_i32 (table, 3, w->depth_multiplier);
      fb_u8 (table, 3 + shift, activations[w->activation]);
      if (w->dilation_w > 1)
        fb_i32 (table, 4 + shift, w->dilation_w);
      if (w->dilation_h > 1)
        fb_i32 (table, 5 + shift, w->dilation_h);
      break;
    }
    case SL_OP_AVERAGE_POOL_2D:
    case SL_OP_MAX_POOL_2D:
    case SL_OP_L2_POOL_2D:
      fb_u8 (table, 0, w->padding == SL_PADDING_VALID);
      fb_i32 (table, 1, w->stride_w);
      fb_i32 (table, 2, w->stride_h);
      fb_i32 (table, 3, w->filter_w);
      fb_i32 (table, 4, w->filter_h);
      fb_u8 (table, 5, activations[w->activation]);
      break;
    case SL_OP_CONCATENATION:
      fb_i32 (table, 0, p->concat.axis);
      fb_u8 (table, 1, activations[p->concat.activation]);
      break;
    case SL_OP_FULLY_CONNECTED:
      fb_u8 (table, 0, activations[p->fully_connected.activation]);
      fb_u8 (table, 2, p->fully_connected.keep_dims != FALSE);
      fb_u8 (table, 3, p->fully_connected.dynamic != FALSE);
      break;
    case SL_OP_MEAN:
    case SL_OP_SUM:
    case SL_OP_REDUCE_MAX:
    case SL_OP_REDUCE_MIN:
    case SL_OP_REDUCE_PROD:
      fb_u8 (table, 0, p->reduce.keep_dims != FALSE);
      break;
    case SL_OP_SOFTMAX:
      fb_f32 (table, 0, p->softmax.beta);
      break;
    case SL_OP_RESHAPE:
      if (p->reshape.count > 0)
        fb_ref (table, 0, sl_tflite_ints (fb, p->reshape.dims, p->reshape.count));
      break;
    case SL_OP_SQUEEZE:
      fb_ref (table, 0, sl_tflite_ints (fb, p->squeeze.axes, p->squeeze.count));
      break;
    case SL_OP_ADD:
    case SL_OP_SUB:
    case SL_OP_MUL:
    case SL_OP_DIV:
      fb_u8 (table, 0, activations[p->binary.activation]);
      break;
    default:
      build_more_options (table, op);
      break;
  }
  return table;
}
