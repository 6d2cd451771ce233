/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PAD: the output filled with zero, then the input's rows copied into place. */
#include <string.h>

#include "core/kernels/kernels.h"

void
sl_kernel_pad (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0), *output = sl_node_output (call->graph, call->node, 0);
  const gsize size = sl_dtype_size (input->dtype);
  gint32 amounts[2 * SL_MAX_RANK], position[SL_MAX_RANK] = { 0 };
  gsize strides[SL_MAX_RANK], step = 1, at = 0, elements = 0;
  guint count = 0;
  const guint rank = input->rank;
  memset (call->outputs[0], input->dtype == SL_DTYPE_F32 ? 0 : sl_tensor_zero_point (output), output->bytes);
  sl_constant_ints (sl_node_input (call->graph, call->node, 1), amounts, 2 * SL_MAX_RANK, &count);
  for (guint i = rank; i-- > 0;) {
    strides[i] = step;
    at += (gsize) amounts[2 * i] * step;
    step *= (gsize) output->dims[i];
  }
  const gsize row = rank > 0 ? (gsize) input->dims[rank - 1] : 1;
  sl_tensor_elements (input, &elements);
  for (gsize from = 0; from < elements; from += row) {
    memcpy ((guint8 *) call->outputs[0] + at * size, (const guint8 *) call->inputs[0] + from * size, row * size);
    for (guint k = rank > 0 ? rank - 1 : 0; k-- > 0;) {
      at += strides[k];
      if (++position[k] < input->dims[k])
        break;
      at -= strides[k] * (gsize) input->dims[k];
      position[k] = 0;
    }
  }
}
