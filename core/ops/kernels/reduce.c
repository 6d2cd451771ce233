/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reductions: one sweep over the input, row by row, into 64-bit sums (quantised values, whole
 * numbers) or doubles (floats) of the outputs. Sums of quantised values are requantised once, from
 * the exact sum.
 */

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/simd/loops.h"

typedef union
{
  gint64 whole;
  gdouble real;
} Sum;

typedef struct
{
  SlOpType op;
  const SlTensor *input, *output;
  Sum *sums;
  gsize n_sums, count; /* count: inputs reduced into each output */
  guint rank;
  gsize dims[SL_MAX_RANK];
  gsize steps[SL_MAX_RANK]; /* output step for a step along each input dimension; 0 = reduced */
} Reduce;

static void
append_axis (Reduce *p, gsize dim, gsize step, gboolean reduced)
{
  if (dim == 1)
    return;
  if (p->rank > 0 && (p->steps[p->rank - 1] == 0) == reduced) {
    p->dims[p->rank - 1] *= dim;
    p->steps[p->rank - 1] = step;
    return;
  }
  p->dims[p->rank] = dim;
  p->steps[p->rank++] = step;
}

void *
sl_kernel_reduce_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Reduce *p = sl_arena_alloc (arena, sizeof *p);
  gint32 axes[SL_MAX_RANK];
  gsize steps[SL_MAX_RANK] = { 0 }, step = 1;
  guint n_axes = 0, reduced = 0;
  p->op = node->op;
  p->input = sl_node_input (graph, node, 0);
  p->output = sl_node_output (graph, node, 0);
  sl_constant_ints (sl_node_input (graph, node, 1), axes, SL_MAX_RANK, &n_axes);
  for (guint i = 0; i < n_axes; i++)
    reduced |= 1u << (axes[i] < 0 ? axes[i] + (gint32) p->input->rank : axes[i]);
  p->count = 1;
  for (guint i = p->input->rank; i-- > 0;) {
    if (reduced & (1u << i)) {
      p->count *= (gsize) p->input->dims[i];
      continue;
    }
    steps[i] = step;
    step *= (gsize) p->input->dims[i];
  }
  for (guint i = 0; i < p->input->rank; i++)
    append_axis (p, (gsize) p->input->dims[i], steps[i], (reduced & (1u << i)) != 0);
  if (p->rank == 0) {
    p->dims[0] = 1;
    p->steps[0] = 0;
    p->rank = 1;
  }
  p->n_sums = step;
  p->sums = sl_arena_alloc (arena, step * sizeof p->sums[0]);
  return p;
}

static gdouble
merge_real (SlOpType op, gdouble sum, gdouble value)
{
  switch (op) {
    case SL_OP_REDUCE_MAX:
      return value > sum || isnan (value) ? value : sum;
    case SL_OP_REDUCE_MIN:
      return value < sum || isnan (value) ? value : sum;
    case SL_OP_REDUCE_PROD:
      return sum * value;
    default:
      return sum + value;
  }
}

static gint64
merge_whole (SlOpType op, gint64 sum, gint64 value)
{
  switch (op) {
    case SL_OP_REDUCE_MAX:
      return MAX (sum, value);
    case SL_OP_REDUCE_MIN:
      return MIN (sum, value);
    case SL_OP_REDUCE_PROD:
      return (gint64) ((guint64) sum * (guint64) value);
    default:
      return (gint64) ((guint64) sum + (guint64) value);
  }
}

/* Products of quantised values are products of what they stand for. */
static gboolean
is_real (const Reduce *p)
{
  return p->input->dtype == SL_DTYPE_F32
         || (p->op == SL_OP_REDUCE_PROD && p->input->quant.count == 1);
}

static void
start_sums (Reduce *p)
{
  const Sum real[4] = { { .real = 0 }, { .real = -INFINITY }, { .real = INFINITY }, { .real = 1 } };
  const Sum whole[4] = {
    { .whole = 0 }, { .whole = G_MININT64 }, { .whole = G_MAXINT64 }, { .whole = 1 }
  };
  const guint kind = p->op == SL_OP_REDUCE_MAX    ? 1
                     : p->op == SL_OP_REDUCE_MIN  ? 2
                     : p->op == SL_OP_REDUCE_PROD ? 3
                                                  : 0;
  const Sum start = is_real (p) ? real[kind] : whole[kind];
  for (gsize i = 0; i < p->n_sums; i++)
    p->sums[i] = start;
}

/* Sums of floats, which layers of every normalisation have. */
static void
add_floats (const gfloat *in, Sum *sums, gsize n, gsize step)
{
  if (step == 0) {
    sums->real += sl_simd_loops ()->sum (in, n);
    return;
  }
  if (step == 1) { /* a loop of its own, which compilers make one of registers */
    for (gsize i = 0; i < n; i++)
      sums[i].real += (gdouble) in[i];
    return;
  }
  for (gsize i = 0; i < n; i++)
    sums[i * step].real += (gdouble) in[i];
}

/* The largest or least of a row of floats, or NaN where there is one. */
static void
find_extreme (SlOpType op, const gfloat *in, Sum *sum, gsize n)
{
  const gfloat sign = op == SL_OP_REDUCE_MAX ? 1 : -1;
  gfloat most = -INFINITY;
  gboolean unknown = isnan (sum->real);
  for (gsize i = 0; i < n; i++) {
    most = in[i] * sign > most ? in[i] * sign : most;
    unknown |= in[i] != in[i];
  }
  sum->real = unknown ? (gdouble) NAN : merge_real (op, sum->real, (gdouble) (most * sign));
}

/* One row of @n inputs from element @from; the sums are @step apart. */
static void
add_row (Reduce *p, const void *data, gsize from, Sum *sums, gsize n, gsize step)
{
  const SlTensor *input = p->input;
  const gfloat scale = sl_tensor_scale (input);
  const gint32 zero = sl_tensor_zero_point (input);
  if (input->dtype == SL_DTYPE_F32 && (p->op == SL_OP_MEAN || p->op == SL_OP_SUM)) {
    add_floats ((const gfloat *) data + from, sums, n, step);
  } else if (input->dtype == SL_DTYPE_F32 && step == 0 && p->op != SL_OP_REDUCE_PROD) {
    find_extreme (p->op, (const gfloat *) data + from, sums, n);
  } else if (input->dtype == SL_DTYPE_F32) {
    for (gsize i = 0; i < n; i++)
      sums[i * step].real =
        merge_real (p->op, sums[i * step].real, (gdouble) ((const gfloat *) data)[from + i]);
  } else if (is_real (p)) {
    for (gsize i = 0; i < n; i++)
      sums[i * step].real =
        merge_real (p->op, sums[i * step].real,
                    (sl_load_16bit (data, input->dtype, from + i) - zero) * (gdouble) scale);
  } else {
    for (gsize i = 0; i < n; i++) {
      const gint64 value = input->dtype == SL_DTYPE_I32 ? ((const gint32 *) data)[from + i]
                           : input->dtype == SL_DTYPE_I64
                             ? ((const gint64 *) data)[from + i]
                             : sl_load_16bit (data, input->dtype, from + i);
      sums[i * step].whole = merge_whole (p->op, sums[i * step].whole, value);
    }
  }
}

static void
add_all (Reduce *p, const void *data)
{
  const guint last = p->rank - 1;
  gsize position[SL_MAX_RANK] = { 0 }, at = 0, rows = 1;
  for (guint i = 0; i < last; i++)
    rows *= p->dims[i];
  for (gsize r = 0; r < rows; r++) {
    add_row (p, data, r * p->dims[last], p->sums + at, p->dims[last], p->steps[last]);
    for (guint k = last; k-- > 0;) {
      at += p->steps[k];
      if (++position[k] < p->dims[k])
        break;
      at -= p->steps[k] * p->dims[k];
      position[k] = 0;
    }
  }
}

static void
store_quantised (const Reduce *p, void *out)
{
  SlClamp clamp;
  sl_clamp_for (&clamp, SL_ACTIVATION_NONE, p->output);
  const gboolean sums = p->op == SL_OP_MEAN || p->op == SL_OP_SUM;
  const gfloat count = p->op == SL_OP_MEAN ? (gfloat) p->count : 1.0f;
  const gfloat scale = sl_tensor_scale (p->input) / (sl_tensor_scale (p->output) * count),
               inverse = 1.0f / sl_tensor_scale (p->output);
  const gint64 zeros = (gint64) sl_tensor_zero_point (p->input) * (gint64) (sums ? p->count : 1);
  for (gsize i = 0; i < p->n_sums; i++) {
    const gfloat value = is_real (p) ? (gfloat) p->sums[i].real * inverse
                                     : (gfloat) (p->sums[i].whole - zeros) * scale;
    sl_store_16bit (out, p->output->dtype, i,
                    sl_requantize (value, sl_tensor_zero_point (p->output), &clamp));
  }
}

void
sl_kernel_reduce (const SlKernelCall *call)
{
  Reduce *p = call->state;
  void *out = call->outputs[0];
  start_sums (p);
  add_all (p, call->inputs[0]);
  switch (p->output->dtype) {
    case SL_DTYPE_F32:
      for (gsize i = 0; i < p->n_sums; i++)
        ((gfloat *) out)[i] =
          (gfloat) (p->op == SL_OP_MEAN ? p->sums[i].real / (gdouble) p->count : p->sums[i].real);
      break;
    case SL_DTYPE_I32:
      for (gsize i = 0; i < p->n_sums; i++)
        ((gint32 *) out)[i] =
          (gint32) (p->op == SL_OP_MEAN ? p->sums[i].whole / (gint64) p->count : p->sums[i].whole);
      break;
    case SL_DTYPE_I64:
      for (gsize i = 0; i < p->n_sums; i++)
        ((gint64 *) out)[i] =
          p->op == SL_OP_MEAN ? p->sums[i].whole / (gint64) p->count : p->sums[i].whole;
      break;
    case SL_DTYPE_BOOL:
      for (gsize i = 0; i < p->n_sums; i++)
        ((guint8 *) out)[i] = p->sums[i].whole != 0;
      break;
    default:
      store_quantised (p, out);
  }
}
