/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QUANTIZE, DEQUANTIZE and CAST. Between 8-bit values of one type QUANTIZE is XNNPACK's: the ratio
 * of scales in 8 fractional bits, rounded half up; between other types, and outside the range
 * XNNPACK accepts, it is TensorFlow Lite's.
 */
#include "core/base/half.h"
#include "core/ops/kernels/fixedpoint.h"
#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

#define PART_ELEMENTS 16384

typedef struct
{
  SlTable table;
  SlClamp clamp;
  SlFixed ratio; /* from quantised values: of the two scales */
} Quantize;

/* Element @i of a tensor of quantised values. */
static gint32
load (const void *data, SlDtype dtype, gsize i)
{
  return dtype == SL_DTYPE_I32 ? ((const gint32 *) data)[i] : sl_load_16bit (data, dtype, i);
}

static void
store (void *data, SlDtype dtype, gsize i, gint32 quantised)
{
  if (dtype == SL_DTYPE_I32)
    ((gint32 *) data)[i] = quantised;
  else
    sl_store_16bit (data, dtype, i, quantised);
}

static gint32
requantize (const Quantize *p, const SlTensor *input, const SlTensor *output, gint32 quantised)
{
  const gint64 distance = (gint64) quantised - sl_tensor_zero_point (input);
  const gint64 value =
    (gint64) sl_fixed_multiply ((gint32) CLAMP (distance, G_MININT32, G_MAXINT32), p->ratio)
    + sl_tensor_zero_point (output);
  return (gint32) CLAMP (value, p->clamp.lo, p->clamp.hi);
}

static void
fill_table (Quantize *p, const SlTensor *input, const SlTensor *output)
{
  const gfloat ratio = sl_tensor_scale (input) / sl_tensor_scale (output);
  const gboolean xnnpack = input->dtype == output->dtype && ratio >= 0x1p-8f && ratio < 0x1p+7f;
  const gint32 multiplier = xnnpack ? (gint32) lrintf (256.0f * ratio) : 0;
  for (gint32 i = 0; i < 256; i++) {
    const gint32 quantised = input->dtype == SL_DTYPE_I8 ? (gint8) i : i;
    const gint32 value = sl_fixed8_multiply (quantised - sl_tensor_zero_point (input), multiplier)
                         + sl_tensor_zero_point (output);
    p->table.bytes[i] = (guint8) (xnnpack ? CLAMP (value, p->clamp.lo, p->clamp.hi)
                                          : requantize (p, input, output, quantised));
  }
}

void *
sl_kernel_quantize_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Quantize *p = sl_arena_alloc (arena, sizeof *p);
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  sl_clamp_for (&p->clamp, SL_ACTIVATION_NONE, output);
  if (input->dtype != SL_DTYPE_F32)
    p->ratio =
      sl_fixed_from_real ((gdouble) sl_tensor_scale (input) / (gdouble) sl_tensor_scale (output));
  if (sl_dtype_size (input->dtype) == 1 && sl_dtype_size (output->dtype) == 1)
    fill_table (p, input, output);
  return p;
}

static void
quantize_part (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Quantize *p = call->state;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gfloat inverse = 1.0f / sl_tensor_scale (output), *reals = call->inputs[0];
  for (gsize i = first; i < first + n; i++)
    store (call->outputs[0], output->dtype, i,
           input->dtype == SL_DTYPE_F32
             ? sl_requantize (reals[i] * inverse, sl_tensor_zero_point (output), &p->clamp)
             : requantize (p, input, output, load (call->inputs[0], input->dtype, i)));
}

void
sl_kernel_quantize (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const Quantize *p = call->state;
  const gsize elements = sl_tensor_count (output);
  if (sl_dtype_size (input->dtype) == 1 && sl_dtype_size (output->dtype) == 1)
    sl_look_up (call, &p->table, call->inputs[0], call->outputs[0], elements);
  else
    sl_parallel (call, elements, PART_ELEMENTS, quantize_part, (void *) call);
}

/* Quantised values may be scaled along one axis: @inner elements in a row share a scale, of which
 * there are @quant.count. */
static void
dequantize_part (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  gfloat *out = call->outputs[0];
  if (input->dtype == SL_DTYPE_F16) {
    sl_simd_loops ()->from_halves ((const guint16 *) call->inputs[0] + first, out + first, n);
    return;
  }
  const guint count = input->quant.count;
  const gsize inner =
    count > 1 ? sl_tensor_span (input, (guint) input->quant.axis + 1, input->rank) : 1;
  for (gsize i = first; i < first + n; i++) {
    const gsize channel = count > 1 ? i / inner % count : 0;
    out[i] =
      (gfloat) (sl_load_16bit (call->inputs[0], input->dtype, i) - input->quant.zero_point[channel])
      * input->quant.scale[channel];
  }
}

void
sl_kernel_dequantize (const SlKernelCall *call)
{
  sl_parallel (call, sl_tensor_count (sl_node_output (call->graph, call->node, 0)), PART_ELEMENTS,
               dequantize_part, (void *) call);
}

/* Whole numbers travel as int64, everything else as double. */
static gint64
load_whole (const void *data, SlDtype dtype, gsize i)
{
  switch (dtype) {
    case SL_DTYPE_I8:
      return ((const gint8 *) data)[i];
    case SL_DTYPE_I16:
      return ((const gint16 *) data)[i];
    case SL_DTYPE_U16:
      return ((const guint16 *) data)[i];
    case SL_DTYPE_I32:
      return ((const gint32 *) data)[i];
    case SL_DTYPE_U32:
      return ((const guint32 *) data)[i];
    case SL_DTYPE_I64:
    case SL_DTYPE_U64:
      return ((const gint64 *) data)[i];
    case SL_DTYPE_BOOL:
      return ((const guint8 *) data)[i] != 0;
    default:
      return ((const guint8 *) data)[i];
  }
}

static void
store_whole (void *data, SlDtype dtype, gsize i, gint64 value)
{
  switch (dtype) {
    case SL_DTYPE_I8:
    case SL_DTYPE_U8:
      ((guint8 *) data)[i] = (guint8) value;
      break;
    case SL_DTYPE_I16:
    case SL_DTYPE_U16:
      ((guint16 *) data)[i] = (guint16) value;
      break;
    case SL_DTYPE_I32:
    case SL_DTYPE_U32:
      ((guint32 *) data)[i] = (guint32) value;
      break;
    case SL_DTYPE_I64:
    case SL_DTYPE_U64:
      ((gint64 *) data)[i] = value;
      break;
    case SL_DTYPE_BOOL:
      ((guint8 *) data)[i] = value != 0;
      break;
    case SL_DTYPE_F64:
      ((gdouble *) data)[i] = (gdouble) value;
      break;
    case SL_DTYPE_F16:
      ((guint16 *) data)[i] = sl_half_from_float ((gfloat) value);
      break;
    default:
      ((gfloat *) data)[i] = (gfloat) value;
  }
}

/* Towards zero, saturated; NaN gives 0. */
static gint64
truncated (gdouble value, SlDtype dtype)
{
  const gboolean is_signed =
    dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_I16 || dtype == SL_DTYPE_I32 || dtype == SL_DTYPE_I64;
  const gint bits = 8 * (gint) sl_dtype_size (dtype) - is_signed;
  const gdouble end = ldexp (1.0, MIN (bits, 63)), lowest = is_signed ? -end : 0;
  if (!(value > lowest)) /* NaN too */
    return value <= lowest && is_signed
             ? -(gint64) (bits == 63 ? G_MAXINT64 : (gint64) end) - (bits == 63)
             : 0;
  return value >= end ? (gint64) (bits >= 63 ? G_MAXINT64 : (gint64) end - 1) : (gint64) value;
}

static void
cast_part (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlDtype from = sl_node_input (call->graph, call->node, 0)->dtype,
                to = sl_node_output (call->graph, call->node, 0)->dtype;
  const gboolean real = from == SL_DTYPE_F32 || from == SL_DTYPE_F64 || from == SL_DTYPE_F16;
  if (from == SL_DTYPE_F16 && to == SL_DTYPE_F32) {
    sl_simd_loops ()->from_halves ((const guint16 *) call->inputs[0] + first,
                                   (gfloat *) call->outputs[0] + first, n);
    return;
  }
  if (from == SL_DTYPE_F32 && to == SL_DTYPE_F16) {
    sl_simd_loops ()->to_halves ((const gfloat *) call->inputs[0] + first,
                                 (guint16 *) call->outputs[0] + first, n);
    return;
  }
  for (gsize i = first; i < first + n; i++) {
    if (!real) {
      store_whole (call->outputs[0], to, i, load_whole (call->inputs[0], from, i));
      continue;
    }
    const gdouble value = from == SL_DTYPE_F32 ? (gdouble) ((const gfloat *) call->inputs[0])[i]
                          : from == SL_DTYPE_F64
                            ? ((const gdouble *) call->inputs[0])[i]
                            : (gdouble) sl_half_to_float (((const guint16 *) call->inputs[0])[i]);
    if (to == SL_DTYPE_F32)
      ((gfloat *) call->outputs[0])[i] = (gfloat) value;
    else if (to == SL_DTYPE_F64)
      ((gdouble *) call->outputs[0])[i] = value;
    else if (to == SL_DTYPE_F16)
      ((guint16 *) call->outputs[0])[i] = sl_half_from_float ((gfloat) value);
    else if (to == SL_DTYPE_BOOL)
      ((guint8 *) call->outputs[0])[i] = value != 0;
    else
      store_whole (call->outputs[0], to, i, truncated (value, to));
  }
}

void
sl_kernel_cast (const SlKernelCall *call)
{
  sl_parallel (call, sl_tensor_count (sl_node_output (call->graph, call->node, 0)), PART_ELEMENTS,
               cast_part, (void *) call);
}
