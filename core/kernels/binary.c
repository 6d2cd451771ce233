/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ADD, SUB and MUL with broadcasting: an odometer over the output, strides of 0 where an input repeats. */
#include "core/kernels/kernels.h"

typedef gfloat (*BinaryFunction) (gfloat a, gfloat b);

static gfloat
add (gfloat a, gfloat b)
{
  return a + b;
}

static gfloat
subtract (gfloat a, gfloat b)
{
  return a - b;
}

static gfloat
multiply (gfloat a, gfloat b)
{
  return a * b;
}

static void
broadcast_strides (const SlTensor *input, const SlTensor *output, gsize strides[SL_MAX_RANK])
{
  gsize step = 1;
  for (guint i = output->rank; i-- > 0;) {
    const gint32 dim = i + input->rank >= output->rank ? input->dims[i + input->rank - output->rank] : 1;
    strides[i] = dim == 1 ? 0 : step;
    step *= (gsize) dim;
  }
}

static gfloat
load_real (const void *data, const SlTensor *tensor, gsize i)
{
  if (tensor->dtype == SL_DTYPE_F32)
    return ((const gfloat *) data)[i];
  return (gfloat) (sl_load_code (data, tensor->dtype, i) - sl_tensor_zero_point (tensor)) * sl_tensor_scale (tensor);
}

static void
run_binary (const SlKernelCall *call, BinaryFunction function)
{
  const SlTensor *a = sl_node_input (call->graph, call->node, 0), *b = sl_node_input (call->graph, call->node, 1);
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  gsize strides_a[SL_MAX_RANK], strides_b[SL_MAX_RANK], elements = 0, at_a = 0, at_b = 0;
  gint32 position[SL_MAX_RANK] = { 0 };
  SlClamp clamp;
  sl_clamp_for (&clamp, call->node->params.binary.activation, output);
  broadcast_strides (a, output, strides_a);
  broadcast_strides (b, output, strides_b);
  sl_tensor_elements (output, &elements);
  for (gsize i = 0; i < elements; i++) {
    const gfloat value = function (load_real (call->inputs[0], a, at_a), load_real (call->inputs[1], b, at_b));
    if (output->dtype == SL_DTYPE_F32)
      ((gfloat *) call->outputs[0])[i] = value < clamp.lo_f ? clamp.lo_f : value > clamp.hi_f ? clamp.hi_f : value;
    else
      sl_store_code (call->outputs[0], output->dtype, i,
                     sl_requantize (value / sl_tensor_scale (output), sl_tensor_zero_point (output), &clamp));
    for (guint k = output->rank; k-- > 0;) {
      at_a += strides_a[k];
      at_b += strides_b[k];
      if (++position[k] < output->dims[k])
        break;
      at_a -= strides_a[k] * (gsize) output->dims[k];
      at_b -= strides_b[k] * (gsize) output->dims[k];
      position[k] = 0;
    }
  }
}

void
sl_kernel_add (const SlKernelCall *call)
{
  run_binary (call, add);
}

void
sl_kernel_sub (const SlKernelCall *call)
{
  run_binary (call, subtract);
}

void
sl_kernel_mul (const SlKernelCall *call)
{
  run_binary (call, multiply);
}
