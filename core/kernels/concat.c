/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Concatenation: rows of each input copied in turn. An 8-bit input quantised unlike the output is converted
 * code by code, rounded half away from zero as TensorFlow Lite does.
 */
#include <string.h>

#include "core/kernels/kernels.h"

static void
convert_row (const void *from, gsize first, gsize n, const SlTensor *input, void *to, gsize at, const SlTensor *output)
{
  const gfloat inverse = 1.0f / sl_tensor_scale (output);
  const gfloat scale = sl_tensor_scale (input) * inverse;
  const gfloat bias = -(gfloat) sl_tensor_zero_point (input) * scale;
  gint32 lo = 0, hi = 0;
  sl_dtype_code_range (output->dtype, &lo, &hi);
  for (gsize i = 0; i < n; i++) {
    const gfloat value = roundf ((gfloat) sl_load_code (from, input->dtype, first + i) * scale + bias);
    const gfloat code = value + (gfloat) sl_tensor_zero_point (output);
    sl_store_code (to, output->dtype, at + i, code >= (gfloat) hi ? hi : code > (gfloat) lo ? (gint32) code : lo); /* NaN is lo */
  }
}

void
sl_kernel_concatenation (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  const guint axis = (guint) call->node->params.concat.axis;
  const gsize size = sl_dtype_size (output->dtype);
  gsize outer = 1, out_row = 1, at = 0;
  for (guint i = 0; i < axis; i++)
    outer *= (gsize) output->dims[i];
  for (guint i = axis; i < output->rank; i++)
    out_row *= (gsize) output->dims[i];
  for (guint k = 0; k < call->node->n_inputs; k++) {
    const SlTensor *input = sl_node_input (call->graph, call->node, k);
    const gsize row = out_row / (gsize) output->dims[axis] * (gsize) input->dims[axis];
    const gboolean same =
      sl_tensor_scale (input) == sl_tensor_scale (output) && sl_tensor_zero_point (input) == sl_tensor_zero_point (output);
    for (gsize r = 0; r < outer; r++) {
      if (same)
        memcpy ((guint8 *) call->outputs[0] + (r * out_row + at) * size, (const guint8 *) call->inputs[k] + r * row * size, row * size);
      else
        convert_row (call->inputs[k], r * row, row, input, call->outputs[0], r * out_row + at, output);
    }
    at += row;
  }
}
