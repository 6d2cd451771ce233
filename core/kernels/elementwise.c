/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QUANTIZE, DEQUANTIZE, LOGISTIC, RELU and RELU6. From 8 bits to 8 bits each is a table of 256 bytes made when
 * the session is, indexed by the input's byte.
 */
#include "core/kernels/kernels.h"

typedef gfloat (*UnaryFunction) (gfloat x);

typedef struct
{
  guint8 bytes[256];
  SlClamp clamp;
} Table;

static gfloat
identity (gfloat x)
{
  return x;
}

static gfloat
logistic (gfloat x)
{
  return 1.0f / (1.0f + expf (-x));
}

static Table *
table_new (const SlGraph *graph, const SlNode *node, SlActivation activation, UnaryFunction function, SlArena *arena)
{
  Table *table = sl_arena_alloc (arena, sizeof *table);
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  sl_clamp_for (&table->clamp, activation, output);
  if (input->dtype == SL_DTYPE_F32)
    return table;
  const gfloat inverse = 1.0f / sl_tensor_scale (output);
  for (guint i = 0; i < 256; i++) {
    const gint32 code = input->dtype == SL_DTYPE_I8 ? (gint8) i : (gint32) i;
    const gfloat real = (gfloat) (code - sl_tensor_zero_point (input)) * sl_tensor_scale (input);
    table->bytes[i] = (guint8) sl_requantize (function (real) * inverse, sl_tensor_zero_point (output), &table->clamp);
  }
  return table;
}

static void
look_up (const SlKernelCall *call)
{
  const Table *table = call->state;
  const guint8 *in = call->inputs[0];
  guint8 *out = call->outputs[0];
  const gsize n = sl_node_output (call->graph, call->node, 0)->bytes;
  for (gsize i = 0; i < n; i++)
    out[i] = table->bytes[in[i]];
}

static gsize
elements_of (const SlKernelCall *call)
{
  gsize elements = 0;
  sl_tensor_elements (sl_node_output (call->graph, call->node, 0), &elements);
  return elements;
}

void *
sl_kernel_quantize_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  return table_new (graph, node, SL_ACTIVATION_NONE, identity, arena);
}

void
sl_kernel_quantize (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0), *output = sl_node_output (call->graph, call->node, 0);
  const Table *table = call->state;
  if (input->dtype != SL_DTYPE_F32) {
    look_up (call);
    return;
  }
  const gfloat inverse = 1.0f / sl_tensor_scale (output);
  const gsize n = elements_of (call);
  for (gsize i = 0; i < n; i++)
    sl_store_code (call->outputs[0], output->dtype, i,
                   sl_requantize (((const gfloat *) call->inputs[0])[i] * inverse, sl_tensor_zero_point (output), &table->clamp));
}

void
sl_kernel_dequantize (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gsize n = elements_of (call);
  for (gsize i = 0; i < n; i++)
    ((gfloat *) call->outputs[0])[i] =
      (gfloat) (sl_load_code (call->inputs[0], input->dtype, i) - sl_tensor_zero_point (input)) * sl_tensor_scale (input);
}

void *
sl_kernel_logistic_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  return table_new (graph, node, SL_ACTIVATION_NONE, logistic, arena);
}

void
sl_kernel_logistic (const SlKernelCall *call)
{
  if (sl_node_input (call->graph, call->node, 0)->dtype != SL_DTYPE_F32) {
    look_up (call);
    return;
  }
  const gsize n = elements_of (call);
  for (gsize i = 0; i < n; i++)
    ((gfloat *) call->outputs[0])[i] = logistic (((const gfloat *) call->inputs[0])[i]);
}

void *
sl_kernel_relu_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  return table_new (graph, node, node->op == SL_OP_RELU6 ? SL_ACTIVATION_RELU6 : SL_ACTIVATION_RELU, identity, arena);
}

void
sl_kernel_relu (const SlKernelCall *call)
{
  const Table *table = call->state;
  if (sl_node_input (call->graph, call->node, 0)->dtype != SL_DTYPE_F32) {
    look_up (call);
    return;
  }
  const gsize n = elements_of (call);
  for (gsize i = 0; i < n; i++) {
    const gfloat x = ((const gfloat *) call->inputs[0])[i];
    ((gfloat *) call->outputs[0])[i] = x < table->clamp.lo_f ? table->clamp.lo_f : x > table->clamp.hi_f ? table->clamp.hi_f : x;
  }
}
