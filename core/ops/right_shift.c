/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RIGHT_SHIFT: whole numbers divided by a power of two and rounded down, bit by bit. A distance
 * beyond the type's bits, or below zero, leaves only the sign: 0 or -1.
 */
#include "core/ops/kernels/broadcast.h"
#include "core/ops/kernels/kernels.h"

/* Narrower numbers are shifted as int64, so they have the same limit. */
#define MAX_DISTANCE 63
#define WHOLE                                                                \
  (SL_DTYPES_INDEX | SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_U8) \
   | SL_DTYPE_BIT (SL_DTYPE_I16))

typedef struct
{
  SlBroadcast broadcast;
  SlDtype dtype;
} Shift;

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *value = sl_node_input (graph, node, 0);
  return sl_node_check_dtype (node, "input", value, WHOLE, error)
         && sl_node_check_same_dtype (node, value, sl_node_input (graph, node, 1), error)
         && sl_node_check_same_dtype (node, value, sl_node_output (graph, node, 0), error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  gint32 dims[SL_MAX_RANK];
  guint rank = 0;
  return sl_node_broadcast (node, sl_node_input (graph, node, 0), sl_node_input (graph, node, 1),
                            dims, &rank, error)
         && sl_node_set_shape (graph, node, 0, rank, dims, error);
}

static inline gint64
shifted (gint64 value, gint64 distance)
{
  return value >> MIN ((guint64) distance, MAX_DISTANCE);
}

static void
row (const void *context, const void *const *inputs, const gsize *strides, void *output, gsize n)
{
  const Shift *shift = context;
  if (shift->dtype == SL_DTYPE_I32) {
    const gint32 *values = inputs[0], *distances = inputs[1];
    for (gsize i = 0; i < n; i++)
      ((gint32 *) output)[i] = (gint32) shifted (values[i * strides[0]], distances[i * strides[1]]);
  } else if (shift->dtype == SL_DTYPE_I64) {
    const gint64 *values = inputs[0], *distances = inputs[1];
    for (gsize i = 0; i < n; i++)
      ((gint64 *) output)[i] = shifted (values[i * strides[0]], distances[i * strides[1]]);
  } else {
    for (gsize i = 0; i < n; i++)
      sl_store_16bit (output, shift->dtype, i,
                      (gint32) shifted (sl_load_16bit (inputs[0], shift->dtype, i * strides[0]),
                                        sl_load_16bit (inputs[1], shift->dtype, i * strides[1])));
  }
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Shift *shift = sl_arena_alloc (arena, sizeof *shift);
  shift->dtype = sl_node_input (graph, node, 0)->dtype;
  sl_broadcast_init (&shift->broadcast, graph, node, 2, row, shift);
  return shift;
}

const SlOp sl_op_right_shift = {
  SL_OP_ROW (RIGHT_SHIFT, 2, 2, 1, check, infer, prepare, sl_kernel_broadcast),
  .in_place = TRUE,
};
