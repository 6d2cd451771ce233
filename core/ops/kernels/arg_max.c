/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ARG_MAX, ARG_MIN (the first of equals wins, NaN never) and TOPK_V2. Quantised values along the
 * last dimension, as class maps have them, are searched 16 at a time.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

#define PART_ELEMENTS 32768
/* Rows searched before their indices are widened. */
#define BLOCK 512

typedef struct
{
  const SlKernelCall *call;
  const SlTensor *input;
  gsize n, inner; /* elements searched, and how far they are apart */
  gboolean lowest;
} Search;

static gdouble
value_at (const void *data, SlDtype dtype, gsize i)
{
  switch (dtype) {
    case SL_DTYPE_F32:
      return (gdouble) ((const gfloat *) data)[i];
    case SL_DTYPE_I32:
      return ((const gint32 *) data)[i];
    default:
      return sl_load_16bit (data, dtype, i);
  }
}

static gsize
search_any (const Search *s, gsize at)
{
  gdouble best = -INFINITY;
  gsize found = 0;
  for (gsize i = 0; i < s->n; i++) {
    const gdouble value = value_at (s->call->inputs[0], s->input->dtype, at + i * s->inner);
    if ((s->lowest ? -value : value) > best) {
      best = s->lowest ? -value : value;
      found = i;
    }
  }
  return found;
}

static gsize
search_floats (const gfloat *in, gsize n)
{
  gfloat best = -INFINITY;
  gsize found = 0;
  for (gsize i = 0; i < n; i++)
    if (in[i] > best) {
      best = in[i];
      found = i;
    }
  return found;
}

/* Rows of 8-bit values, a block at a time. Their order is that of unsigned bytes flipped: 0x80 for
 * signed ones, all bits for the lowest. */
static void
search_bytes (const Search *s, gsize first, gsize n, gboolean is_int64)
{
  const guint8 flip = (s->input->dtype == SL_DTYPE_I8 ? 0x80 : 0) ^ (s->lowest ? 0xff : 0);
  gint32 block[BLOCK];
  for (gsize k = first; k < first + n; k += BLOCK) {
    const gsize rows = MIN (BLOCK, first + n - k);
    gint32 *found = is_int64 ? block : (gint32 *) s->call->outputs[0] + k;
    sl_simd_loops ()->arg_max ((const guint8 *) s->call->inputs[0] + k * s->n, s->n, rows, flip,
                               found);
    for (gsize i = 0; is_int64 && i < rows; i++)
      ((gint64 *) s->call->outputs[0])[k + i] = block[i];
  }
}

static void
search_part (void *data, gsize first, gsize n)
{
  const Search *s = data;
  const SlDtype dtype = s->input->dtype;
  const gboolean is_int64 =
    sl_node_output (s->call->graph, s->call->node, 0)->dtype == SL_DTYPE_I64;
  if (s->inner == 1 && (dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8)) {
    search_bytes (s, first, n, is_int64);
    return;
  }
  for (gsize k = first; k < first + n; k++) {
    const gsize at = k / s->inner * s->inner * s->n + k % s->inner;
    gsize found;
    if (dtype == SL_DTYPE_F32 && s->inner == 1 && !s->lowest)
      found = search_floats ((const gfloat *) s->call->inputs[0] + at, s->n);
    else
      found = search_any (s, at);
    if (is_int64)
      ((gint64 *) s->call->outputs[0])[k] = (gint64) found;
    else
      ((gint32 *) s->call->outputs[0])[k] = (gint32) found;
  }
}

void
sl_kernel_arg_max (const SlKernelCall *call)
{
  Search s = {
    .call = call,
    .input = sl_node_input (call->graph, call->node, 0),
  };
  gint32 axis = 0;
  guint count = 0;
  sl_constant_ints (sl_node_input (call->graph, call->node, 1), &axis, 1, &count);
  axis += axis < 0 ? (gint32) s.input->rank : 0;
  s.n = (gsize) s.input->dims[axis];
  s.lowest = call->node->op == SL_OP_ARG_MIN;
  s.inner = sl_tensor_span (s.input, (guint) axis + 1, s.input->rank);
  sl_parallel (call, sl_tensor_count (sl_node_output (call->graph, call->node, 0)),
               PART_ELEMENTS / s.n + 1, search_part, &s);
}

/* An ordered list of the k best so far; most elements are refused by one comparison. */
typedef struct
{
  gdouble *values;
} TopK;

void *
sl_kernel_topk_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  TopK *p = sl_arena_alloc (arena, sizeof *p);
  p->values = sl_arena_alloc (arena, (gsize) output->dims[output->rank - 1] * sizeof p->values[0]);
  return p;
}

static gdouble
sortable (const void *data, SlDtype dtype, gsize i)
{
  const gdouble value = value_at (data, dtype, i);
  return isnan (value) ? -INFINITY : value;
}

/* Places of the @k greatest of @n elements from @first, of equal ones the first ones. */
static void
greatest (const SlKernelCall *call, gsize first, gsize n, gsize k, gint32 *indices)
{
  const TopK *p = call->state;
  const SlDtype dtype = sl_node_input (call->graph, call->node, 0)->dtype;
  gsize kept = 0;
  for (gsize i = 0; i < n; i++) {
    const gdouble value = sortable (call->inputs[0], dtype, first + i);
    if (kept == k && !(value > p->values[k - 1]))
      continue;
    gsize low = 0, high = kept;
    while (low < high) {
      const gsize middle = (low + high) / 2;
      if (p->values[middle] >= value)
        low = middle + 1;
      else
        high = middle;
    }
    kept = MIN (kept + 1, k);
    memmove (p->values + low + 1, p->values + low, (kept - 1 - low) * sizeof p->values[0]);
    memmove (indices + low + 1, indices + low, (kept - 1 - low) * sizeof indices[0]);
    p->values[low] = value;
    indices[low] = (gint32) i;
  }
}

void
sl_kernel_topk (const SlKernelCall *call)
{
  const TopK *p = call->state;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gsize n = (gsize) input->dims[input->rank - 1], k = (gsize) output->dims[output->rank - 1],
              size = sl_dtype_size (input->dtype);
  const gsize elements = sl_tensor_count (input);
  for (gsize row = 0; row < elements / n; row++) {
    gint32 *indices = (gint32 *) call->outputs[1] + row * k;
    if (call->node->params.topk.unstable && k == n) {
      for (gsize i = 0; i < n; i++)
        p->values[i] = sortable (call->inputs[0], input->dtype, row * n + i);
      sl_sort_descending (p->values, indices, n);
    } else {
      greatest (call, row * n, n, k, indices);
    }
    for (gsize i = 0; i < k; i++)
      memcpy ((guint8 *) call->outputs[0] + (row * k + i) * size,
              (const guint8 *) call->inputs[0] + (row * n + (gsize) indices[i]) * size, size);
  }
}
