/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Broadcasting as an odometer over rows; see the header. */
#include "core/ops/kernels/broadcast.h"

#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"

#define PART_ELEMENTS 16384

static void
input_strides (const SlTensor *input, const SlTensor *output, gsize strides[SL_MAX_RANK + 1])
{
  gsize step = 1;
  for (guint i = output->rank; i-- > 0;) {
    const gint32 dim =
      i + input->rank >= output->rank ? input->dims[i + input->rank - output->rank] : 1;
    strides[i] = dim == 1 ? 0 : step;
    step *= (gsize) dim;
  }
}

static gboolean
can_merge (const SlBroadcast *b, guint outer, guint inner)
{
  for (guint k = 0; k < b->n_inputs; k++)
    if (b->strides[k][outer] != b->strides[k][inner] * b->dims[inner])
      return FALSE;
  return TRUE;
}

static void
copy_axis (SlBroadcast *b, guint to, guint from)
{
  b->dims[to] = b->dims[from];
  for (guint k = 0; k < b->n_inputs; k++)
    b->strides[k][to] = b->strides[k][from];
}

static void
simplify (SlBroadcast *b)
{
  guint rank = 0;
  for (guint i = 0; i < b->rank; i++) {
    if (b->dims[i] == 1)
      continue;
    if (rank > 0 && can_merge (b, rank - 1, i)) {
      const gsize dim = b->dims[rank - 1];
      copy_axis (b, rank - 1, i);
      b->dims[rank - 1] *= dim;
    } else {
      copy_axis (b, rank++, i);
    }
  }
  if (rank == 0) {
    b->dims[rank++] = 1;
    for (guint k = 0; k < b->n_inputs; k++)
      b->strides[k][0] = 0;
  }
  b->rank = rank;
}

void
sl_broadcast_init (SlBroadcast *broadcast, const SlGraph *graph, const SlNode *node, guint n_inputs,
                   SlRow row, const void *context)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  memset (broadcast, 0, sizeof *broadcast);
  broadcast->n_inputs = n_inputs;
  broadcast->rank = output->rank;
  broadcast->row = row;
  broadcast->context = context;
  broadcast->output_size = sl_dtype_size (output->dtype);
  for (guint i = 0; i < output->rank; i++)
    broadcast->dims[i] = (gsize) output->dims[i];
  for (guint k = 0; k < n_inputs; k++) {
    const SlTensor *input = sl_node_input (graph, node, k);
    broadcast->sizes[k] = sl_dtype_size (input->dtype);
    input_strides (input, output, broadcast->strides[k]);
  }
  simplify (broadcast);
}

typedef struct
{
  const SlBroadcast *b;
  const SlKernelCall *call;
} Job;

/* A single row is cut anywhere, several only between rows. */
static void
run_part (void *data, gsize first, gsize n)
{
  const Job *job = data;
  const SlBroadcast *b = job->b;
  const guint last = b->rank - 1;
  const gboolean single = b->rank == 1;
  const gsize length = single ? n : b->dims[last], rows = single ? 1 : n;
  gsize position[SL_MAX_RANK + 1] = { 0 }, at[SL_BROADCAST_INPUTS] = { 0 },
                               strides[SL_BROADCAST_INPUTS] = { 0 };
  gsize rest = first;
  for (guint i = single ? 1 : last; i-- > 0;) {
    position[i] = single ? first : rest % b->dims[i];
    rest /= b->dims[i];
    for (guint k = 0; k < b->n_inputs; k++)
      at[k] += position[i] * b->strides[k][i];
  }
  for (guint k = 0; k < b->n_inputs; k++)
    strides[k] = b->strides[k][last];
  guint8 *out = (guint8 *) job->call->outputs[0] + first * (single ? 1 : length) * b->output_size;
  for (gsize r = 0; r < rows; r++, out += length * b->output_size) {
    const void *inputs[SL_BROADCAST_INPUTS] = { NULL };
    for (guint k = 0; k < b->n_inputs; k++)
      inputs[k] = (const guint8 *) job->call->inputs[k] + at[k] * b->sizes[k];
    b->row (b->context, inputs, strides, out, length);
    for (guint i = last; i-- > 0;) {
      for (guint k = 0; k < b->n_inputs; k++)
        at[k] += b->strides[k][i];
      if (++position[i] < b->dims[i])
        break;
      for (guint k = 0; k < b->n_inputs; k++)
        at[k] -= b->strides[k][i] * b->dims[i];
      position[i] = 0;
    }
  }
}

void
sl_kernel_broadcast (const SlKernelCall *call)
{
  const SlBroadcast *broadcast = call->state;
  Job job = { broadcast, call };
  gsize rows = 1;
  for (guint i = 0; i + 1 < broadcast->rank; i++)
    rows *= broadcast->dims[i];
  if (broadcast->rank == 1)
    sl_parallel (call, broadcast->dims[0], PART_ELEMENTS, run_part, &job);
  else
    sl_parallel (call, rows, PART_ELEMENTS / broadcast->dims[broadcast->rank - 1] + 1, run_part,
                 &job);
}
