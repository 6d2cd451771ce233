/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Torchvision's operators of detectors. */
#include "models/torchscript/ops.h"

static TsValue
roi_align (TsProgram *program, const TsCall *call)
{
  OnnxValue *x = ts_read (program, call->args[0]), *rois = ts_read (program, call->args[1]);
  if (x == NULL || rois == NULL || rois->rank != 2 || rois->dims[1] != 5)
    return ts_refuse (program, SL_ERROR_SHAPE, "regions that are not rows of a picture's number and four edges");
  const gint64 edges[3] = { 0, 1, 5 }, axis = 1;
  OnnxValue *parts[2];
  for (guint i = 0; i < 2; i++)
    parts[i] = ts_onnx (program, "Slice",
                        (OnnxValue *[]){ rois, ts_constant_ints (program, &edges[i], 1), ts_constant_ints (program, &edges[i + 1], 1),
                                         ts_constant_ints (program, &axis, 1) },
                        4, NULL, 0);
  OnnxValue *numbers = ts_onnx (program, "Squeeze", (OnnxValue *[]){ parts[0], ts_constant_ints (program, &axis, 1) }, 2, NULL, 0);
  const gboolean aligned = ts_truth (program, call->args[6]);
  const OnnxAttribute attributes[5] = {
    ts_attr_float ("spatial_scale", ts_to_float (program, call->args[2])),
    ts_attr_int ("output_height", ts_to_int (program, call->args[3])),
    ts_attr_int ("output_width", ts_to_int (program, call->args[4])),
    ts_attr_int ("sampling_ratio", MAX (ts_to_int (program, call->args[5]), 0)),
    ts_attr_text (program, "coordinate_transformation_mode", aligned ? "half_pixel" : "output_half_pixel"),
  };
  OnnxValue *const inputs[3] = { x, parts[1], ts_cast (program, numbers, TS_INT32) };
  return ts_new (program, ts_onnx (program, "RoiAlign", inputs, 3, attributes, 5), TS_FLOAT32);
}

const TsOp ts_ops_detect[] = {
  { "torchvision::roi_align", "input,rois,spatial_scale,pooled_height,pooled_width,sampling_ratio,aligned", roi_align, NULL, 0 },
  { NULL, NULL, NULL, NULL, 0 },
};
