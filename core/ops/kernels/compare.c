/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Comparisons, logic and selection. Quantised values are compared as the real numbers they stand
 * for, unless both sides are quantised alike.
 */
#include <string.h>

#include "core/ops/kernels/broadcast.h"
#include "core/ops/kernels/kernels.h"

typedef struct
{
  SlBroadcast broadcast;
  SlOpType op;
  const SlTensor *a, *b;
  gsize size; /* SELECT: bytes an element */
} Compare;

static inline __attribute__ ((always_inline)) gboolean
holds (SlOpType op, gdouble a, gdouble b)
{
  switch (op) {
    case SL_OP_EQUAL:
      return a == b;
    case SL_OP_NOT_EQUAL:
      return a != b;
    case SL_OP_LESS:
      return a < b;
    case SL_OP_LESS_EQUAL:
      return a <= b;
    case SL_OP_GREATER:
      return a > b;
    case SL_OP_GREATER_EQUAL:
      return a >= b;
    case SL_OP_LOGICAL_AND:
      return a != 0 && b != 0;
    default: /* LOGICAL_OR */
      return a != 0 || b != 0;
  }
}

/* int64 beyond 53 bits does not fit a double: its order is decided on the difference. */
static gboolean
holds_whole (SlOpType op, gint64 a, gint64 b)
{
  return holds (op, a < b ? 0 : a > b ? 2 : 1, 1);
}

static gdouble
real_at (const SlTensor *tensor, const void *data, gsize i)
{
  switch (tensor->dtype) {
    case SL_DTYPE_F32:
      return (gdouble) ((const gfloat *) data)[i];
    case SL_DTYPE_I32:
      return ((const gint32 *) data)[i];
    case SL_DTYPE_BOOL:
      return ((const guint8 *) data)[i] != 0;
    default:
      if (tensor->quant.count != 1)
        return sl_load_16bit (data, tensor->dtype, i);
      return (sl_load_16bit (data, tensor->dtype, i) - sl_tensor_zero_point (tensor))
             * (gdouble) sl_tensor_scale (tensor);
  }
}

static void
row_compare (const void *context, const void *const *inputs, const gsize *strides, void *output,
             gsize n)
{
  const Compare *p = context;
  guint8 *out = output;
  if (p->a->dtype == SL_DTYPE_I64) {
    for (gsize i = 0; i < n; i++)
      out[i] = (guint8) holds_whole (p->op, ((const gint64 *) inputs[0])[i * strides[0]],
                                     ((const gint64 *) inputs[1])[i * strides[1]]);
    return;
  }
  for (gsize i = 0; i < n; i++)
    out[i] = (guint8) holds (p->op, real_at (p->a, inputs[0], i * strides[0]),
                             real_at (p->b, inputs[1], i * strides[1]));
}

static void
row_not (const void *context, const void *const *inputs, const gsize *strides, void *output,
         gsize n)
{
  for (gsize i = 0; i < n; i++)
    ((guint8 *) output)[i] = ((const guint8 *) inputs[0])[i * strides[0]] == 0;
}

void *
sl_kernel_compare_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Compare *p = sl_arena_alloc (arena, sizeof *p);
  p->op = node->op;
  p->a = sl_node_input (graph, node, 0);
  p->b = sl_node_input (graph, node, 1);
  if (node->op == SL_OP_LOGICAL_NOT)
    sl_broadcast_init (&p->broadcast, graph, node, 1, row_not, p);
  else
    sl_broadcast_init (&p->broadcast, graph, node, 2, row_compare, p);
  return p;
}

static inline __attribute__ ((always_inline)) void
select_elements (gsize size, const void *const *inputs, const gsize *strides, guint8 *out, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const guint from = ((const guint8 *) inputs[0])[i * strides[0]] != 0 ? 1 : 2;
    memcpy (out + i * size, (const guint8 *) inputs[from] + i * strides[from] * size, size);
  }
}

static void
row_select (const void *context, const void *const *inputs, const gsize *strides, void *output,
            gsize n)
{
  const Compare *p = context;
  if (p->size == 1)
    select_elements (1, inputs, strides, output, n);
  else if (p->size == 4)
    select_elements (4, inputs, strides, output, n);
  else
    select_elements (p->size, inputs, strides, output, n);
}

void *
sl_kernel_select_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Compare *p = sl_arena_alloc (arena, sizeof *p);
  p->size = sl_dtype_size (sl_node_output (graph, node, 0)->dtype);
  sl_broadcast_init (&p->broadcast, graph, node, 3, row_select, p);
  return p;
}
