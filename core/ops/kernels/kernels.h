/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plain kernels (internal to core): exact; used for nodes that no other backend supports, for
 * constant folding, and as the reference for tests of other backends. Types are float32, int8 and
 * uint8; 8-bit values are widened to int32, computed on, and brought back by one multiplication in
 * single precision, rounded half to even.
 */
#pragma once

#include <math.h>

#include "core/ops/ops.h"

/** Lowest and highest quantised (or real) output that an activation allows. */
typedef struct
{
  gint32 lo, hi;
  gfloat lo_f, hi_f;
} SlClamp;

/** sl_clamp_for: the limits of @activation in quantised values (8-bit) or real ones (float) of
 * @output. */
void sl_clamp_for (SlClamp *clamp, SlActivation activation, const SlTensor *output);

/** sl_activate_float: @value through @activation where that is a curve; @slope: of
 * SL_ACTIVATION_LEAKY_RELU. */
void sl_activate_float (SlActivation activation, gfloat slope, gfloat *value);

/** sl_load_8bit: element @i of an int8 or uint8 tensor. */
static inline gint32
sl_load_8bit (const void *data, SlDtype dtype, gsize i)
{
  return dtype == SL_DTYPE_I8 ? ((const gint8 *) data)[i] : ((const guint8 *) data)[i];
}

static inline void
sl_store_8bit (void *data, SlDtype dtype, gsize i, gint32 quantised)
{
  if (dtype == SL_DTYPE_I8)
    ((gint8 *) data)[i] = (gint8) quantised;
  else
    ((guint8 *) data)[i] = (guint8) quantised;
}

/** sl_load_16bit, sl_store_16bit: the same for int8, uint8 and int16. */
static inline gint32
sl_load_16bit (const void *data, SlDtype dtype, gsize i)
{
  return dtype == SL_DTYPE_I16 ? ((const gint16 *) data)[i] : sl_load_8bit (data, dtype, i);
}

static inline void
sl_store_16bit (void *data, SlDtype dtype, gsize i, gint32 quantised)
{
  if (dtype == SL_DTYPE_I16)
    ((gint16 *) data)[i] = (gint16) quantised;
  else
    sl_store_8bit (data, dtype, i, quantised);
}

static inline gfloat
sl_dot_floats (const gfloat *x, const gfloat *w, gint32 n)
{
  gfloat sum = 0;
  for (gint32 i = 0; i < n; i++)
    sum += x[i] * w[i];
  return sum;
}

/** sl_requantize: @value (already in units of the output's scale) to a quantised value, half to
 * even, clamped. NaN gives the lowest value.
 *  */
static inline gint32
sl_requantize (gfloat value, gint32 zero_point, const SlClamp *clamp)
{
  const gfloat lo = (gfloat) (clamp->lo - zero_point), hi = (gfloat) (clamp->hi - zero_point);
  const gfloat limited = value > lo ? (value < hi ? value : hi) : lo;
  return (gint32) lrintf (limited) + zero_point;
}

/** A table of 256 bytes by the input's byte: sl_kernel_lookup()'s state, for 8-bit operators of one
 * operand. */
typedef struct
{
  guint8 bytes[256];
} SlTable;

/** sl_table_fill_hard_swish, sl_table_fill_leaky_relu, sl_table_fill_abs: from the input's bytes to
 * the output's, in the fixed point of LiteRT with XNNPACK; FALSE when the scales are outside of
 * what it takes. */
gboolean sl_table_fill_hard_swish (SlTable *table, const SlTensor *input, const SlTensor *output);
void sl_table_fill_abs (SlTable *table, const SlTensor *input, const SlTensor *output);
void sl_table_fill_leaky_relu (SlTable *table, const SlTensor *input, const SlTensor *output,
                               gfloat alpha);
/** sl_look_up: @n bytes through @table on the session's threads. */
void sl_look_up (const SlKernelCall *call, const SlTable *table, const void *in, void *out,
                 gsize n);

void *sl_kernel_conv_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
/** sl_kernel_conv: CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED. */
void sl_kernel_conv (const SlKernelCall *call);
/** sl_kernel_conv16: the same of int16 activations with int8 weights. */
void *sl_kernel_conv16_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_conv16 (const SlKernelCall *call);
void *sl_kernel_transpose_conv_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_transpose_conv (const SlKernelCall *call);
void sl_kernel_pool_2d (const SlKernelCall *call);
/** sl_kernel_broadcast: runs what sl_kernel_binary_prepare(), sl_kernel_compare_prepare() and
 * sl_kernel_select_prepare() made. */
void sl_kernel_broadcast (const SlKernelCall *call);
void *sl_kernel_binary_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void *sl_kernel_compare_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void *sl_kernel_select_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void *sl_kernel_unary_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_unary (const SlKernelCall *call);
void sl_kernel_lookup (const SlKernelCall *call);
void *sl_kernel_concatenation_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_concatenation (const SlKernelCall *call);
void *sl_kernel_quantize_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_quantize (const SlKernelCall *call);
void sl_kernel_dequantize (const SlKernelCall *call);
void sl_kernel_cast (const SlKernelCall *call);
void *sl_kernel_reduce_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_reduce (const SlKernelCall *call);
void sl_kernel_arg_max (const SlKernelCall *call);
void *sl_kernel_topk_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_topk (const SlKernelCall *call);
/** SlCandidate: a box or point that may be an object: its score, where it is in the tensors, and
 * its class or kind. */
typedef struct
{
  gfloat score;
  gint32 place, klass;
} SlCandidate;

/** sl_candidates_order: makes @n of them, in any order, ready for sl_candidates_take(). */
void sl_candidates_order (SlCandidate *candidates, gsize n);
/** sl_candidates_take: takes the one of the highest score away from *@n > 0, of equal ones that of
 * the lowest place. */
SlCandidate sl_candidates_take (SlCandidate *candidates, gsize *n);
/** sl_sort_descending: @places of the @n @values, 0 and up, so that the greatest comes first
 * (sort.c says of equal ones). */
void sl_sort_descending (const gdouble *values, gint32 *places, gsize n);
void sl_kernel_gather (const SlKernelCall *call);
void sl_kernel_gather_nd (const SlKernelCall *call);
void *sl_kernel_resize_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_resize_bilinear (const SlKernelCall *call);
void sl_kernel_resize_nearest (const SlKernelCall *call);
void *sl_kernel_softmax_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_softmax (const SlKernelCall *call);
void *sl_kernel_detection_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_kernel_detection (const SlKernelCall *call);
