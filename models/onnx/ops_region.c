/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places in pictures: what samples them. */
#include "models/onnx/build.h"
#include "models/onnx/ops.h"

/* Modes have other names before opset 20, when volumes came. */
void
onnx_grid_sample (Onnx *o)
{
  static const char *const old_modes[] = { "bilinear", "nearest", "bicubic", NULL }, *const modes[] = { "linear", "nearest", "cubic",
                                                                                                        NULL };
  static const char *const borders[] = { "zeros", "border", "reflection", NULL };
  static const SlSampleMode sample[] = { SL_SAMPLE_LINEAR, SL_SAMPLE_NEAREST, SL_SAMPLE_CUBIC };
  static const SlBorder outside[] = { SL_BORDER_ZERO, SL_BORDER_EDGE, SL_BORDER_MIRROR };
  OnnxValue *x = onnx_required (o, 0), *grid = onnx_required (o, 1);
  const SlOpParams params = { .grid_sample = { .mode = sample[onnx_attr_choice (o, "mode", o->file->opset < 20 ? old_modes : modes)],
                                               .border = outside[onnx_attr_choice (o, "padding_mode", borders)],
                                               .align_corners = onnx_attr_int (o, "align_corners", 0) != 0 } };
  if (o->error != NULL)
    return;
  if (x->rank != 4 || grid->rank != 4 || grid->dims[3] != 2 || grid->dims[0] != x->dims[0]) {
    onnx_fail (o, SL_ERROR_SHAPE, "its input has %u dimensions, its grid %u; expected [N,C,H,W] and [N,rows,columns,2]", x->rank,
               grid->rank);
    return;
  }
  const gint32 inputs[2] = { onnx_last (o, x), onnx_plain (o, grid) };
  onnx_set (o, 0, onnx_emit (o, SL_OP_GRID_SAMPLE, inputs, 2, &params, SL_DTYPE_F32), TRUE);
}
