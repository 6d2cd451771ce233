/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Torchvision's operators of detectors, and those functions of its programs whose steps depend on
 * what was found. */
#include <string.h>

#include "models/lower/ops.h"
#include "models/aten/ops.h"
#include "models/aten/shape.h"

static TsValue
roi_align (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]), *rois = ts_read (program, call->args[1]);
  if (x == NULL || rois == NULL || rois->rank != 2 || rois->dims[1] != 5)
    return ts_refuse (program, SL_ERROR_SHAPE,
                      "regions that are not rows of a picture's number and four edges");
  const gint64 edges[3] = { 0, 1, 5 }, axis = 1;
  LowerValue *parts[2];
  for (guint i = 0; i < 2; i++)
    parts[i] = ts_onnx (program, "Slice",
                        (LowerValue *[]){ rois, ts_constant_ints (program, &edges[i], 1),
                                          ts_constant_ints (program, &edges[i + 1], 1),
                                          ts_constant_ints (program, &axis, 1) },
                        4, NULL, 0);
  LowerValue *numbers =
    ts_onnx_pair (program, "Squeeze", parts[0], ts_constant_ints (program, &axis, 1));
  const gboolean aligned = ts_truth (program, call->args[6]);
  const LowerAttribute attributes[5] = {
    ts_attr_float ("spatial_scale", ts_to_float (program, call->args[2])),
    ts_attr_int ("output_height", ts_to_int (program, call->args[3])),
    ts_attr_int ("output_width", ts_to_int (program, call->args[4])),
    ts_attr_int ("sampling_ratio", MAX (ts_to_int (program, call->args[5]), 0)),
    ts_attr_text ("coordinate_transformation_mode", aligned ? "half_pixel" : "output_half_pixel"),
  };
  LowerValue *const inputs[3] = { x, parts[1], ts_cast (program, numbers, TS_INT32) };
  return ts_new (program, ts_onnx (program, "RoiAlign", inputs, 3, attributes, 5), TS_FLOAT32);
}

/* Which pixel was the greatest is of use in training alone: a program that asks for it is refused.
 */
static TsValue
roi_pool (TsProgram *program, const TsCall *call)
{
  const gint64 size[2] = { ts_to_int (program, call->args[3]), ts_to_int (program, call->args[4]) };
  const LowerAttribute attributes[2] = {
    ts_attr_ints (program, "pooled_shape", size, 2),
    ts_attr_float ("spatial_scale", ts_to_float (program, call->args[2])),
  };
  LowerValue *const inputs[2] = { ts_read (program, call->args[0]),
                                  ts_read (program, call->args[1]) };
  const TsValue both[2] = {
    ts_new (program, ts_onnx (program, "MaxRoiPool", inputs, 2, attributes, 2), TS_FLOAT32),
    ts_none (),
  };
  return ts_tuple (program->heap, both, 2);
}

/* Masks stay as the network gives them, each over its box, which a decoder brings to the picture:
 * pasted into pictures of their own they would be as many as there can be boxes. */
static TsValue
paste_masks (TsProgram *program, const TsCall *call)
{
  return call->args[0];
}

/* The same of masks that have a ring of zeros already. */
static TsValue
paste_ringed_masks (TsProgram *program, const TsCall *call)
{
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank != 4 || x->dims[2] < 3 || x->dims[3] < 3)
    return ts_refuse (program, SL_ERROR_SHAPE, "masks without a ring of a pixel");
  x = ts_slice_of (program, x, 2, 1, x->dims[2] - 1, 1);
  x = ts_slice_of (program, x, 3, 1, x->dims[3] - 1, 1);
  return ts_new (
    program,
    ts_onnx_pair (program, "Squeeze", x, ts_constant_ints (program, (const gint64[]){ 1 }, 1)),
    TS_FLOAT32);
}

/* Of [n,points,height,width] and regions [n,4]: [n,points,3] of x, y and 1, exchanged where the
 * caller exchanges them again, and the values. */
static TsValue
keypoints (TsProgram *program, const TsCall *call)
{
  const gboolean exchanged = call->op->type != SL_OP_INVALID;
  LowerValue *maps = ts_read (program, call->args[0]), *regions = ts_read (program, call->args[1]);
  if (maps == NULL || regions == NULL || maps->rank != 4)
    return ts_refuse (program, SL_ERROR_SHAPE,
                      "heat maps of another shape than [n,points,height,width]");
  LowerValue *peaks = lower_heat_map_peaks (&program->lower, maps, regions);
  LowerValue *values = ts_slice_of (program, peaks, 2, 2, 3, 1),
             *places = ts_slice_of (program, peaks, 2, 0, 2, 1);
  if (ts_failed (program))
    return ts_none ();
  const gint64 n = peaks->dims[0], points = peaks->dims[1], shape[3] = { n, points, 1 };
  const LowerAttribute axis = ts_attr_int ("axis", 2);
  LowerValue *ones = ts_scalar (program, ts_float (1), TS_FLOAT32);
  ones = ts_onnx_pair (program, "Expand", ones, ts_constant_ints (program, shape, 3));
  LowerValue *all = ts_onnx (program, "Concat", (LowerValue *[]){ places, ones }, 2, &axis, 1);
  const LowerAttribute order = ts_attr_ints (program, "perm", (const gint64[]){ 0, 2, 1 }, 3);
  if (exchanged)
    all = ts_onnx (program, "Transpose", &all, 1, &order, 1);
  const TsValue both[2] = { ts_new (program, all, TS_FLOAT32),
                            ts_new (program, ts_reshaped (program, values, shape, 2), TS_FLOAT32) };
  return ts_tuple (program->heap, both, 2);
}

static TsValue
deform (TsProgram *program, const TsCall *call)
{
  gint64 numbers[8];
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = ts_to_int (program, call->args[5 + i]);
  LowerValue *mask = ts_truth (program, call->args[13]) ? ts_read (program, call->args[3]) : NULL;
  LowerValue *inputs[5] = { ts_read (program, call->args[0]), ts_read (program, call->args[1]),
                            ts_read (program, call->args[2]),
                            call->args[4].kind != TS_NONE ? ts_read (program, call->args[4]) : NULL,
                            mask };
  const LowerAttribute attributes[] = {
    ts_attr_ints (program, "strides", numbers, 2),
    ts_attr_ints (program, "pads",
                  (const gint64[]){ numbers[2], numbers[3], numbers[2], numbers[3] }, 4),
    ts_attr_ints (program, "dilations", numbers + 4, 2),
    ts_attr_int ("group", numbers[6]),
    ts_attr_int ("offset_group", numbers[7]),
  };
  return ts_new (program,
                 ts_onnx (program, "DeformConv", inputs, 5, attributes, G_N_ELEMENTS (attributes)),
                 TS_FLOAT32);
}

const TsOp ts_ops_detect[] = {
  { "torchvision::deform_conv2d",
    "input,weight,offset,mask,bias,stride_h,stride_w,pad_h,pad_w,dil_h,dil_w,groups,offset_groups,"
    "use_mask",
    deform },
  { "torchvision::paste_masks_in_image", "masks,boxes,img_shape,padding=1", paste_masks },
  { "torchvision::_onnx_paste_masks_in_image_loop", "masks,boxes,im_h,im_w", paste_ringed_masks },
  { "torchvision::heatmaps_to_keypoints", "maps,rois", keypoints },
  { "torchvision::_onnx_heatmaps_to_keypoints_loop",
    "maps,rois,widths_ceil,heights_ceil,widths,heights,offset_x,offset_y,num_keypoints", keypoints,
    NULL, SL_OP_HEAT_MAP_PEAKS },
  { "torchvision::roi_align",
    "input,rois,spatial_scale,pooled_height,pooled_width,sampling_ratio,aligned", roi_align },
  { "torchvision::roi_pool", "input,rois,spatial_scale,pooled_height,pooled_width", roi_pool },
  { NULL },
};
