/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TFLite_Detection_PostProcess: box deltas, class scores and anchors -> boxes, classes, scores,
 * count, as TensorFlow's object detection API exports it. Inputs: [1,N,4] (or [1,N,4+keypoints]),
 * [1,N,classes (+1 background)], anchors [N,4] as y, x, h, w.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

/* Most scores that are looked at: the kernel keeps a float for each. */
#define MAX_SCORES (1 << 24)

static gboolean
check_params (const SlNode *node, GError **error)
{
  const SlDetectionParams *p = &node->params.detection;
  if (p->max_detections < 1 || p->max_detections > 10000)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "max_detections is %d; expected 1..10000",
                          p->max_detections);
  if (p->max_classes_per_detection < 1 || p->max_classes_per_detection > 100)
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "max_classes_per_detection is %d; expected 1..100",
                          p->max_classes_per_detection);
  if (p->use_regular_nms && (p->detections_per_class < 1 || p->detections_per_class > 10000))
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "detections_per_class is %d; expected 1..10000", p->detections_per_class);
  if (p->num_classes < 1)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "num_classes is %d; expected at least 1",
                          p->num_classes);
  if (!(p->nms_iou_threshold > 0.0f && p->nms_iou_threshold <= 1.0f))
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "nms_iou_threshold is %g; expected above 0, at most 1",
                          (double) p->nms_iou_threshold);
  if (!(p->scale_y > 0 && p->scale_x > 0 && p->scale_h > 0 && p->scale_w > 0))
    return sl_node_error (error, node, SL_ERROR_FORMAT,
                          "y_scale, x_scale, h_scale and w_scale must be above 0");
  return TRUE;
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *boxes = sl_node_input (graph, node, 0), *scores = sl_node_input (graph, node, 1),
                 *anchors = sl_node_input (graph, node, 2);
  const SlTensor *const inputs[] = { boxes, scores, anchors };
  static const char *const roles[] = { "boxes", "scores", "anchors" };
  for (guint i = 0; i < 3; i++)
    if (!sl_node_check_dtype (node, roles[i], inputs[i], SL_DTYPES_ACTIVATION, error)
        || !sl_node_check_quant (node, roles[i], inputs[i], error))
      return FALSE;
  for (guint i = 0; i < 4; i++)
    if (!sl_node_check_dtype (node, "output", sl_node_output (graph, node, i),
                              SL_DTYPE_BIT (SL_DTYPE_F32), error))
      return FALSE;
  if (!check_params (node, error))
    return FALSE;
  const gint32 classes = node->params.detection.num_classes;
  if (boxes->rank != 3 || boxes->dims[0] != 1 || boxes->dims[2] < 4 || scores->rank != 3
      || scores->dims[0] != 1 || scores->dims[1] != boxes->dims[1]
      || (scores->dims[2] != classes && scores->dims[2] - 1 != classes) || anchors->rank != 2
      || anchors->dims[0] != boxes->dims[1] || anchors->dims[1] != 4) {
    g_autofree char *b = sl_tensor_describe (boxes), *s = sl_tensor_describe (scores),
                    *a = sl_tensor_describe (anchors);
    return sl_node_error (
      error, node, SL_ERROR_SHAPE,
      "boxes %s, scores %s, anchors %s; expected [1,N,4], [1,N,%d] with or without a background "
      "class, [N,4]",
      b, s, a, classes);
  }
  if ((gint64) scores->dims[1] * scores->dims[2] > MAX_SCORES)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "%d boxes of %d scores are over the limit of %d scores", scores->dims[1],
                          scores->dims[2], MAX_SCORES);
  return TRUE;
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlDetectionParams *p = &node->params.detection;
  const gint32 n = p->max_detections * p->max_classes_per_detection;
  const gint32 shape[3] = { 1, n, 4 };
  const gint32 one = 1;
  return sl_node_set_shape (graph, node, 0, 3, shape, error)
         && sl_node_set_shape (graph, node, 1, 2, shape, error)
         && sl_node_set_shape (graph, node, 2, 2, shape, error)
         && sl_node_set_shape (graph, node, 3, 1, &one, error);
}

const SlOp sl_op_detection_postprocess = { SL_OP_NAMED_ROW (
  DETECTION_POSTPROCESS, "TFLite_Detection_PostProcess", 3, 3, 4, check, infer,
  sl_kernel_detection_prepare, sl_kernel_detection) };
