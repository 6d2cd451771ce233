/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators: their types, parameters, and the table row that describes each (arity, check, shape inference,
 * own kernel). Adding one is a file in core/ops/ and a line in core/ops/table.c.
 *
 * Operand order and layouts are TensorFlow Lite's: activations NHWC, convolution weights OHWI, depthwise
 * weights 1HWC, bias last and optional (index -1).
 */
#ifndef SL_CORE_OP_H
#define SL_CORE_OP_H

#include <glib.h>

#include "core/tensor.h"

G_BEGIN_DECLS

typedef enum
{
  SL_OP_INVALID = 0,
  SL_OP_ADD,
  SL_OP_SUB,
  SL_OP_MUL,
  SL_OP_AVERAGE_POOL_2D,
  SL_OP_MAX_POOL_2D,
  SL_OP_CONCATENATION,
  SL_OP_CONV_2D,
  SL_OP_DEPTHWISE_CONV_2D,
  SL_OP_FULLY_CONNECTED,
  SL_OP_DEQUANTIZE,
  SL_OP_QUANTIZE,
  SL_OP_LOGISTIC,
  SL_OP_MEAN,
  SL_OP_PAD,
  SL_OP_RELU,
  SL_OP_RELU6,
  SL_OP_RESHAPE,
  SL_OP_SQUEEZE,
  SL_OP_EXPAND_DIMS,
  SL_OP_SOFTMAX,
  SL_OP_DETECTION_POSTPROCESS,
  SL_OP_COUNT
} SlOpType;

typedef enum
{
  SL_PADDING_VALID,
  SL_PADDING_SAME,
  SL_PADDING_EXPLICIT
} SlPadding;

typedef enum
{
  SL_ACTIVATION_NONE,
  SL_ACTIVATION_RELU,
  SL_ACTIVATION_RELU_N1_TO_1,
  SL_ACTIVATION_RELU6
} SlActivation;

/** Window geometry shared by convolutions and pooling. Paddings count pixels; filled in by shape inference
 *  for SL_PADDING_SAME and SL_PADDING_VALID, given for SL_PADDING_EXPLICIT. */
typedef struct
{
  SlPadding padding;
  gint32 stride_h, stride_w;
  gint32 dilation_h, dilation_w;
  gint32 filter_h, filter_w; /* pooling only; convolutions read it from their weights */
  gint32 pad_top, pad_bottom, pad_left, pad_right;
  gint32 depth_multiplier; /* depthwise only */
  SlActivation activation;
} SlWindow;

/** Parameters of TFLite_Detection_PostProcess (custom op of TensorFlow's object detection API). */
typedef struct
{
  gint32 max_detections;
  gint32 max_classes_per_detection;
  gint32 detections_per_class;
  gboolean use_regular_nms;
  gint32 num_classes; /* without background */
  gfloat nms_score_threshold;
  gfloat nms_iou_threshold;
  gfloat scale_y, scale_x, scale_h, scale_w;
} SlDetectionParams;

typedef union
{
  SlWindow window;
  struct
  {
    SlActivation activation;
  } binary; /* ADD, SUB, MUL */
  struct
  {
    gint32 axis;
    SlActivation activation;
  } concat;
  struct
  {
    SlActivation activation;
    gboolean keep_dims;
  } fully_connected;
  struct
  {
    gboolean keep_dims;
  } reduce; /* MEAN: axes are the second input, a constant */
  struct
  {
    gfloat beta;
  } softmax;
  struct
  {
    guint count; /* dimensions of the new shape as written, -1 allowed once; 0 when it is the second input */
    gint32 dims[SL_MAX_RANK];
  } reshape;
  struct
  {
    guint count; /* axes to drop; 0 = every dimension of 1 */
    gint32 axes[SL_MAX_RANK];
  } squeeze;
  SlDetectionParams detection;
} SlOpParams;

G_END_DECLS

#endif
