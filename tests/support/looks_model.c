/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/looks_model.h"

#include "tests/support/onnx_writer.h"

GBytes *
looks_model (gfloat factor)
{
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  const gint64 picture[] = { 1, 3, LOOKS_MODEL_HEIGHT, LOOKS_MODEL_WIDTH }, one[] = { 1 };
  sl_onnx_writer_input (writer, "picture", SL_ONNX_FLOAT, 4, picture);
  sl_onnx_writer_floats (writer, "factor", 1, one, &factor);
  sl_onnx_writer_node (writer, "AveragePool", "picture", "grid", "kernel_shape I 4,4",
                       "strides I 4,4", NULL);
  sl_onnx_writer_node (writer, "Mul", "grid,factor", "scaled", NULL);
  sl_onnx_writer_node (writer, "Flatten", "scaled", "embedding", NULL);
  sl_onnx_writer_output (writer, "embedding", SL_ONNX_FLOAT);
  return sl_onnx_writer_finish (writer);
}
