/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators of one operand. From 8 bits to 8 bits each is a table of 256 bytes made when the
 * session is, indexed by the input's byte; the rest computes in single precision.
 */
#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

#define PART_ELEMENTS 16384
#define PART_FLOATS 4096

typedef gfloat (*RealFunction) (gfloat x);

static gfloat
real_identity (gfloat x)
{
  return x;
}

static gfloat
real_logistic (gfloat x)
{
  return 1.0f / (1.0f + expf (-x));
}

static gfloat
real_mish (gfloat x)
{
  return x * tanhf (x > 20 ? x : log1pf (expf (x)));
}

static gfloat
real_silu (gfloat x)
{
  return x / (1.0f + expf (-x));
}

static gfloat
real_elu (gfloat x)
{
  return x < 0 ? expm1f (x) : x;
}

static gfloat
real_gelu (gfloat x)
{
  return 0.5f * x * erfcf (x * -0.7071067812f);
}

static gfloat
real_gelu_tanh (gfloat x)
{
  return 0.5f * x * (1.0f + tanhf (0.7978845608f * (x + 0.044715f * x * x * x)));
}

static gfloat
real_hard_swish (gfloat x)
{
  const gfloat gate = x + 3.0f;
  return x * (gate < 0 ? 0 : gate > 6.0f ? 6.0f : gate) / 6.0f;
}

static gfloat
real_neg (gfloat x)
{
  return -x;
}

static gfloat
real_sign (gfloat x)
{
  return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}

static gfloat
real_rsqrt (gfloat x)
{
  return 1.0f / sqrtf (x);
}

static gfloat
real_square (gfloat x)
{
  return x * x;
}

static const RealFunction functions[SL_OP_COUNT] = {
  [SL_OP_LOGISTIC] = real_logistic,
  [SL_OP_SILU] = real_silu,
  [SL_OP_MISH] = real_mish,
  [SL_OP_ELU] = real_elu,
  [SL_OP_GELU] = real_gelu,
  [SL_OP_HARD_SWISH] = real_hard_swish,
  [SL_OP_TANH] = tanhf,
  [SL_OP_ABS] = fabsf,
  [SL_OP_NEG] = real_neg,
  [SL_OP_SIGN] = real_sign,
  [SL_OP_FLOOR] = floorf,
  [SL_OP_CEIL] = ceilf,
  [SL_OP_ROUND] = rintf, /* half to even */
  [SL_OP_EXP] = expf,
  [SL_OP_LOG] = logf,
  [SL_OP_SQRT] = sqrtf,
  [SL_OP_RSQRT] = real_rsqrt,
  [SL_OP_SQUARE] = real_square,
  [SL_OP_SIN] = sinf,
  [SL_OP_COS] = cosf,
  [SL_OP_ERF] = erff,
  [SL_OP_ASIN] = asinf,
  [SL_OP_ACOS] = acosf,
  [SL_OP_ATAN] = atanf,
  [SL_OP_SINH] = sinhf,
  [SL_OP_COSH] = coshf,
  [SL_OP_ASINH] = asinhf,
  [SL_OP_ACOSH] = acoshf,
  [SL_OP_ATANH] = atanhf,
  [SL_OP_RELU] = real_identity,
  [SL_OP_RELU6] = real_identity,
  [SL_OP_RELU_N1_TO_1] = real_identity,
  [SL_OP_RELU_0_TO_1] = real_identity,
};

static const RealFunction curves[] = {
  [SL_ACTIVATION_LOGISTIC] = real_logistic,
  [SL_ACTIVATION_SILU] = real_silu,
  [SL_ACTIVATION_HARD_SWISH] = real_hard_swish,
  [SL_ACTIVATION_GELU] = real_gelu,
  [SL_ACTIVATION_GELU_TANH] = real_gelu_tanh,
  [SL_ACTIVATION_TANH] = tanhf,
  [SL_ACTIVATION_MISH] = real_mish,
};

G_STATIC_ASSERT (G_N_ELEMENTS (curves) == SL_ACTIVATION_LEAKY_RELU);

static gfloat
leaky_relu (gfloat x, gfloat slope)
{
  return x < 0 ? x * slope : x;
}

void
sl_activate_float (SlActivation activation, gfloat slope, gfloat *value)
{
  if (activation == SL_ACTIVATION_LEAKY_RELU)
    *value = leaky_relu (*value, slope);
  else if (sl_activation_is_curve (activation))
    *value = curves[activation](*value);
}

typedef struct
{
  const SlTable *table;
  const guint8 *in;
  guint8 *out;
} LookUp;

static void
look_up_part (void *data, gsize first, gsize n)
{
  const LookUp *job = data;
  sl_simd_loops ()->look_up (job->table->bytes, job->in + first, job->out + first, n);
}

void
sl_look_up (const SlKernelCall *call, const SlTable *table, const void *in, void *out, gsize n)
{
  LookUp job = { table, in, out };
  sl_parallel (call, n, PART_ELEMENTS, look_up_part, &job);
}

void
sl_kernel_lookup (const SlKernelCall *call)
{
  sl_look_up (call, call->inputs[1], call->inputs[0], call->outputs[0],
              sl_node_output (call->graph, call->node, 0)->bytes);
}

typedef struct
{
  SlTable table;
  RealFunction function; /* NULL for LEAKY_RELU, which has @alpha */
  gfloat alpha;
  SlClamp clamp;
  const SlTensor *input, *output;
  gsize elements;
} Unary;

static inline gfloat
value_of (const Unary *p, gfloat x)
{
  return p->function != NULL ? p->function (x) : leaky_relu (x, p->alpha);
}

/* To the nearest quantised value. */
static void
fill_nearest (Unary *p)
{
  const gfloat inverse = 1.0f / sl_tensor_scale (p->output);
  for (guint i = 0; i < 256; i++) {
    const gint32 quantised = p->input->dtype == SL_DTYPE_I8 ? (gint8) i : (gint32) i;
    const gfloat real =
      (gfloat) (quantised - sl_tensor_zero_point (p->input)) * sl_tensor_scale (p->input);
    p->table.bytes[i] = (guint8) sl_requantize (value_of (p, real) * inverse,
                                                sl_tensor_zero_point (p->output), &p->clamp);
  }
}

/* From quantised values to quantised values: in the fixed point of LiteRT where that is known to
 * differ from the nearest one. */
static void
fill_table (Unary *p, SlOpType op)
{
  if (op == SL_OP_LEAKY_RELU)
    sl_table_fill_leaky_relu (&p->table, p->input, p->output, p->alpha);
  else if (op == SL_OP_ABS)
    sl_table_fill_abs (&p->table, p->input, p->output);
  else if (op != SL_OP_HARD_SWISH || !sl_table_fill_hard_swish (&p->table, p->input, p->output))
    fill_nearest (p);
}

void *
sl_kernel_unary_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Unary *p = sl_arena_alloc (arena, sizeof *p);
  p->input = sl_node_input (graph, node, 0);
  p->output = sl_node_output (graph, node, 0);
  p->function = functions[node->op];
  if (node->op == SL_OP_LEAKY_RELU)
    p->alpha = node->params.leaky_relu.alpha;
  else if (node->op == SL_OP_GELU && node->params.gelu.approximate)
    p->function = real_gelu_tanh;
  sl_tensor_elements (p->output, &p->elements);
  sl_clamp_for (&p->clamp, sl_op_clamp (node->op), p->output);
  if (sl_dtype_size (p->input->dtype) == 1)
    fill_table (p, node->op);
  return p;
}

typedef struct
{
  const SlKernelCall *call;
  const Unary *unary;
} Job;

static void
floats_part (void *data, gsize first, gsize n)
{
  const Job *job = data;
  const Unary *p = job->unary;
  const gfloat *in = (const gfloat *) job->call->inputs[0] + first;
  gfloat *out = (gfloat *) job->call->outputs[0] + first;
  for (gsize i = 0; i < n; i++) {
    const gfloat x = value_of (p, in[i]);
    out[i] = x < p->clamp.lo_f ? p->clamp.lo_f : x > p->clamp.hi_f ? p->clamp.hi_f : x;
  }
}

static void
quantised_part (void *data, gsize first, gsize n)
{
  const Job *job = data;
  const Unary *p = job->unary;
  const gfloat scale = sl_tensor_scale (p->input), inverse = 1.0f / sl_tensor_scale (p->output);
  const gint32 zero = sl_tensor_zero_point (p->input), zero_out = sl_tensor_zero_point (p->output);
  for (gsize i = first; i < first + n; i++) {
    const gfloat real =
      (gfloat) (sl_load_16bit (job->call->inputs[0], p->input->dtype, i) - zero) * scale;
    const gfloat value = value_of (p, real) * inverse;
    sl_store_16bit (job->call->outputs[0], p->output->dtype, i,
                    sl_requantize (value, zero_out, &p->clamp));
  }
}

/* ABS, NEG, SIGN and SQUARE; the lowest number stays as it is. */
static gint64
whole_value (SlOpType op, gint64 x)
{
  switch (op) {
    case SL_OP_ABS:
      return x < 0 ? (gint64) (0 - (guint64) x) : x;
    case SL_OP_NEG:
      return (gint64) (0 - (guint64) x);
    case SL_OP_SIGN:
      return (x > 0) - (x < 0);
    case SL_OP_SQUARE:
      return (gint64) ((guint64) x * (guint64) x);
    default:
      return MAX (x, 0); /* RELU */
  }
}

static void
whole_part (void *data, gsize first, gsize n)
{
  const Job *job = data;
  const SlOpType op = job->call->node->op;
  for (gsize i = first; i < first + n; i++) {
    if (job->unary->input->dtype == SL_DTYPE_I32)
      ((gint32 *) job->call->outputs[0])[i] =
        (gint32) whole_value (op, ((const gint32 *) job->call->inputs[0])[i]);
    else
      ((gint64 *) job->call->outputs[0])[i] =
        whole_value (op, ((const gint64 *) job->call->inputs[0])[i]);
  }
}

void
sl_kernel_unary (const SlKernelCall *call)
{
  const Unary *p = call->state;
  Job job = { call, p };
  switch (p->input->dtype) {
    case SL_DTYPE_F32:
      sl_parallel (call, p->elements, PART_FLOATS, floats_part, &job);
      break;
    case SL_DTYPE_I16:
      sl_parallel (call, p->elements, PART_ELEMENTS, quantised_part, &job);
      break;
    case SL_DTYPE_I8:
    case SL_DTYPE_U8:
      sl_look_up (call, &p->table, call->inputs[0], call->outputs[0], p->elements);
      break;
    default:
      sl_parallel (call, p->elements, PART_ELEMENTS, whole_part, &job);
  }
}
