/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RIGHT_SHIFT of whole numbers. Formats differ in what a distance beyond the type's bits, or below
 * zero, does: SlShiftRule.
 */
#include "core/ops/kernels/broadcast.h"
#include "core/ops/kernels/kernels.h"

#define WHOLE                                                                \
  (SL_DTYPES_INDEX | SL_DTYPE_BIT (SL_DTYPE_I8) | SL_DTYPE_BIT (SL_DTYPE_U8) \
   | SL_DTYPE_BIT (SL_DTYPE_I16))

typedef struct
{
  SlBroadcast broadcast;
  SlDtype dtype;
  SlShiftRule rule;
  gint64 bits;
} Shift;

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *value = sl_node_input (graph, node, 0);
  return sl_node_check_dtype (node, "input", value, WHOLE, error)
         && sl_node_check_same_dtype (node, value, sl_node_input (graph, node, 1), error)
         && sl_node_check_same_dtype (node, value, sl_node_output (graph, node, 0), error);
}

static inline gint64
shifted (const Shift *shift, gint64 value, gint64 distance)
{
  const gboolean inside = distance >= 0 && distance < shift->bits;
  if (shift->rule == SL_SHIFT_CLAMPED)
    return value >> CLAMP (distance, 0, shift->bits - 1);
  if (shift->rule == SL_SHIFT_SIGN)
    return inside ? value >> distance : value < 0 ? -1 : 0;
  return inside ? (shift->dtype == SL_DTYPE_I32 ? (guint32) value : value) >> distance : 0;
}

static void
row (const void *context, const void *const *inputs, const gsize *strides, void *output, gsize n)
{
  const Shift *shift = context;
  if (shift->dtype == SL_DTYPE_I32) {
    const gint32 *values = inputs[0], *distances = inputs[1];
    for (gsize i = 0; i < n; i++)
      ((gint32 *) output)[i] =
        (gint32) shifted (shift, values[i * strides[0]], distances[i * strides[1]]);
  } else if (shift->dtype == SL_DTYPE_I64) {
    const gint64 *values = inputs[0], *distances = inputs[1];
    for (gsize i = 0; i < n; i++)
      ((gint64 *) output)[i] = shifted (shift, values[i * strides[0]], distances[i * strides[1]]);
  } else {
    for (gsize i = 0; i < n; i++)
      sl_store_16bit (output, shift->dtype, i,
                      (gint32) shifted (shift,
                                        sl_load_16bit (inputs[0], shift->dtype, i * strides[0]),
                                        sl_load_16bit (inputs[1], shift->dtype, i * strides[1])));
  }
}

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Shift *shift = sl_arena_alloc (arena, sizeof *shift);
  shift->dtype = sl_node_input (graph, node, 0)->dtype;
  shift->rule = node->params.shift.rule;
  shift->bits = 8 * (gint64) sl_dtype_size (shift->dtype);
  sl_broadcast_init (&shift->broadcast, graph, node, 2, row, shift);
  return shift;
}

const SlOp sl_op_right_shift = {
  SL_OP_ROW (RIGHT_SHIFT, 2, 2, 1, check, sl_node_infer_broadcast, prepare, sl_kernel_broadcast),
  .in_place = TRUE,
};
