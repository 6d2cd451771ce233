/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Concatenation: rows of each input copied in turn. An 8-bit input quantised unlike the output goes
 * through a table, rounded half away from zero as TensorFlow Lite does. An input that is NULL was
 * written in place.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/moves.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

#define PART_BYTES 65536

typedef struct
{
  gsize outer, out_row; /* rows of the output, and bytes in one */
  gsize *row, *at;      /* by input: bytes of its part of a row, and where it begins */
  SlTable **tables;     /* by input; NULL = copied */
} Concat;

static SlTable *
table_new (const SlTensor *input, const SlTensor *output, SlArena *arena)
{
  SlTable *table = sl_arena_alloc (arena, sizeof *table);
  const gfloat scale = sl_tensor_scale (input) * (1.0f / sl_tensor_scale (output));
  const gfloat bias = -(gfloat) sl_tensor_zero_point (input) * scale;
  gint32 lo = 0, hi = 0;
  sl_dtype_range (output->dtype, &lo, &hi);
  for (guint i = 0; i < 256; i++) {
    const gfloat from = input->dtype == SL_DTYPE_I8 ? (gint8) i : (gfloat) i;
    const gfloat quantised = roundf (from * scale + bias) + (gfloat) sl_tensor_zero_point (output);
    table->bytes[i] = (guint8) (quantised >= (gfloat) hi  ? hi
                                : quantised > (gfloat) lo ? (gint32) quantised
                                                          : lo); /* NaN is lo */
  }
  return table;
}

void *
sl_kernel_concatenation_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  const guint axis = (guint) node->params.concat.axis;
  Concat *p = sl_arena_alloc (arena, sizeof *p);
  const gsize inner =
    sl_tensor_span (output, axis + 1, output->rank) * sl_dtype_size (output->dtype);
  gsize at = 0;
  p->row = sl_arena_alloc (arena, node->n_inputs * sizeof p->row[0]);
  p->at = sl_arena_alloc (arena, node->n_inputs * sizeof p->at[0]);
  p->tables = sl_arena_alloc (arena, node->n_inputs * sizeof p->tables[0]);
  p->outer = sl_tensor_span (output, 0, axis);
  p->out_row = inner * (gsize) output->dims[axis];
  for (guint k = 0; k < node->n_inputs; k++) {
    const SlTensor *input = sl_node_input (graph, node, k);
    p->row[k] = inner * (gsize) input->dims[axis];
    p->at[k] = at;
    at += p->row[k];
    if (sl_dtype_size (input->dtype) == 1
        && (sl_tensor_scale (input) != sl_tensor_scale (output)
            || sl_tensor_zero_point (input) != sl_tensor_zero_point (output)))
      p->tables[k] = table_new (input, output, arena);
  }
  return p;
}

static void
copy_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Concat *p = call->state;
  for (guint k = 0; k < call->node->n_inputs; k++) {
    const gsize row = p->row[k];
    if (call->inputs[k] == NULL)
      continue;
    const guint8 *in = (const guint8 *) call->inputs[k] + first * row;
    guint8 *out = (guint8 *) call->outputs[0] + first * p->out_row + p->at[k];
    for (gsize r = 0; r < n; r++, in += row, out += p->out_row) {
      if (p->tables[k] == NULL)
        sl_copy_row (out, in, row);
      else
        sl_simd_loops ()->look_up (p->tables[k]->bytes, in, out, row);
    }
  }
}

void
sl_kernel_concatenation (const SlKernelCall *call)
{
  const Concat *p = call->state;
  guint copied = 0;
  for (guint k = 0; k < call->node->n_inputs; k++)
    copied += call->inputs[k] != NULL;
  if (copied > 0)
    sl_parallel (call, p->outer, PART_BYTES / p->out_row + 1, copy_rows, (void *) call);
}
