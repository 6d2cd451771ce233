/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Binary operators. 8-bit sums are XNNPACK's: both quantised values times 20-bit multipliers, one
 * shift, rounded half up, or, where the node asks for it, half away from zero, as qnnpack does;
 * 8-bit products are an integer times one scale, rounded half to even; 8-bit PRELU is TensorFlow
 * Lite's. Everything else on quantised values goes through real numbers. Whole numbers wrap;
 * division by zero gives zero.
 */
#include "core/ops/kernels/broadcast.h"
#include "core/ops/kernels/fixedpoint.h"
#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

#define CURVE 256

typedef gfloat (*RealFunction) (gfloat a, gfloat b);
typedef gint64 (*WholeFunction) (gint64 a, gint64 b);

/** What a row function needs besides its operands. */
typedef struct
{
  SlBroadcast broadcast;
  SlClamp clamp;
  RealFunction real;
  WholeFunction whole;
  const SlTensor *a, *b, *output;
  gint32 zero_a, zero_b, zero_out;
  gint32 multiplier_a, multiplier_b, bias,
    shift; /* sums of quantised values; the bias has half a step in it */
  gboolean half_away;
  gfloat scale_a, scale_b, scale; /* products of quantised values, real numbers: of the result */
  SlFixed above, below; /* PRELU of quantised values: what those above zero, and products with the
                           slope, count */
  guint8 *curves;    /* (nullable): of PRELU's slopes that do not change: CURVE bytes for each that
                        there is */
  guint16 *curve_of; /* by a slope's byte: which of the curves is its */
} Binary;

static gfloat
real_add (gfloat a, gfloat b)
{
  return a + b;
}

static gfloat
real_subtract (gfloat a, gfloat b)
{
  return a - b;
}

static gfloat
real_multiply (gfloat a, gfloat b)
{
  return a * b;
}

static gfloat
real_divide (gfloat a, gfloat b)
{
  return a / b;
}

static gfloat
real_maximum (gfloat a, gfloat b)
{
  return a > b || isnan (a) ? a : b;
}

static gfloat
real_minimum (gfloat a, gfloat b)
{
  return a < b || isnan (a) ? a : b;
}

static gfloat
real_squared_difference (gfloat a, gfloat b)
{
  return (a - b) * (a - b);
}

static gfloat
real_floor_divide (gfloat a, gfloat b)
{
  return floorf (a / b);
}

static gfloat
real_floor_modulo (gfloat a, gfloat b)
{
  return a - floorf (a / b) * b;
}

static gfloat
real_prelu (gfloat a, gfloat b)
{
  return a < 0 ? a * b : a;
}

static gint64
whole_add (gint64 a, gint64 b)
{
  return (gint64) ((guint64) a + (guint64) b);
}

static gint64
whole_subtract (gint64 a, gint64 b)
{
  return (gint64) ((guint64) a - (guint64) b);
}

static gint64
whole_multiply (gint64 a, gint64 b)
{
  return (gint64) ((guint64) a * (guint64) b);
}

static gint64
whole_divide (gint64 a, gint64 b)
{
  return b == 0 ? 0 : b == -1 ? whole_subtract (0, a) : a / b;
}

static gint64
whole_maximum (gint64 a, gint64 b)
{
  return MAX (a, b);
}

static gint64
whole_minimum (gint64 a, gint64 b)
{
  return MIN (a, b);
}

static gint64
whole_squared_difference (gint64 a, gint64 b)
{
  const gint64 d = whole_subtract (a, b);
  return whole_multiply (d, d);
}

static gint64
whole_power (gint64 a, gint64 b)
{
  gint64 result = 1;
  for (; b > 0; b >>= 1, a = whole_multiply (a, a))
    result = b & 1 ? whole_multiply (result, a) : result;
  return b < 0 ? 0 : result;
}

static gint64
whole_floor_modulo (gint64 a, gint64 b)
{
  const gint64 rest = b == 0 || b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static gint64
whole_floor_divide (gint64 a, gint64 b)
{
  return whole_divide (whole_subtract (a, whole_floor_modulo (a, b)), b);
}

static gint64
whole_modulo (gint64 a, gint64 b)
{
  return b == 0 || b == -1 ? 0 : a % b;
}

static gint64
whole_and (gint64 a, gint64 b)
{
  return a & b;
}

static gint64
whole_or (gint64 a, gint64 b)
{
  return a | b;
}

static gint64
whole_xor (gint64 a, gint64 b)
{
  return a ^ b;
}

static const struct
{
  RealFunction real;   /* (nullable) */
  WholeFunction whole; /* (nullable) */
} functions[SL_OP_COUNT] = {
  [SL_OP_ADD] = { real_add, whole_add },
  [SL_OP_SUB] = { real_subtract, whole_subtract },
  [SL_OP_MUL] = { real_multiply, whole_multiply },
  [SL_OP_DIV] = { real_divide, whole_divide },
  [SL_OP_MAXIMUM] = { real_maximum, whole_maximum },
  [SL_OP_MINIMUM] = { real_minimum, whole_minimum },
  [SL_OP_SQUARED_DIFFERENCE] = { real_squared_difference, whole_squared_difference },
  [SL_OP_POW] = { powf, whole_power },
  [SL_OP_FLOOR_DIV] = { real_floor_divide, whole_floor_divide },
  [SL_OP_FLOOR_MOD] = { real_floor_modulo, whole_floor_modulo },
  [SL_OP_ATAN2] = { atan2f, NULL },
  [SL_OP_FMOD] = { fmodf, whole_modulo },
  [SL_OP_BITWISE_AND] = { NULL, whole_and },
  [SL_OP_BITWISE_OR] = { NULL, whole_or },
  [SL_OP_BITWISE_XOR] = { NULL, whole_xor },
  [SL_OP_PRELU] = { real_prelu, NULL },
};

/* Inlined with a known function, so that the loops become vectors. */
static inline __attribute__ ((always_inline)) void
apply (RealFunction function, const Binary *p, const void *const *inputs, const gsize *strides,
       gfloat *out, gsize n)
{
  const gfloat *a = inputs[0], *b = inputs[1], lo = p->clamp.lo_f, hi = p->clamp.hi_f;
  if (strides[0] != 0 && strides[1] != 0) {
    for (gsize i = 0; i < n; i++) {
      const gfloat value = function (a[i], b[i]);
      out[i] = value < lo ? lo : value > hi ? hi : value;
    }
  } else if (strides[0] != 0) {
    const gfloat y = b[0];
    for (gsize i = 0; i < n; i++) {
      const gfloat value = function (a[i], y);
      out[i] = value < lo ? lo : value > hi ? hi : value;
    }
  } else {
    const gfloat x = a[0];
    for (gsize i = 0; i < n; i++) {
      const gfloat value = function (x, b[i * strides[1]]);
      out[i] = value < lo ? lo : value > hi ? hi : value;
    }
  }
}

static void
row_real (const void *context, const void *const *inputs, const gsize *strides, void *output,
          gsize n)
{
  const Binary *p = context;
  if (p->real == real_add)
    apply (real_add, p, inputs, strides, output, n);
  else if (p->real == real_subtract)
    apply (real_subtract, p, inputs, strides, output, n);
  else if (p->real == real_multiply)
    apply (real_multiply, p, inputs, strides, output, n);
  else if (p->real == real_divide)
    apply (real_divide, p, inputs, strides, output, n);
  else if (p->real == real_prelu)
    apply (real_prelu, p, inputs, strides, output, n);
  else
    apply (p->real, p, inputs, strides, output, n);
}

static inline __attribute__ ((always_inline)) void
sum_quantised (const Binary *p, SlDtype dtype, const void *const *inputs, const gsize *strides,
               void *output, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const gint32 a = sl_load_8bit (inputs[0], dtype, i * strides[0]),
                 b = sl_load_8bit (inputs[1], dtype, i * strides[1]);
    const gint32 sum = p->bias + a * p->multiplier_a + b * p->multiplier_b;
    const gint32 below = p->half_away && sum < 1 << (p->shift - 1) ? 1 : 0;
    const gint32 quantised = ((sum - below) >> p->shift) + p->zero_out;
    sl_store_8bit (output, dtype, i, CLAMP (quantised, p->clamp.lo, p->clamp.hi));
  }
}

static void
row_sum (const void *context, const void *const *inputs, const gsize *strides, void *output,
         gsize n)
{
  const Binary *p = context;
  if (p->output->dtype == SL_DTYPE_I8)
    sum_quantised (p, SL_DTYPE_I8, inputs, strides, output, n);
  else
    sum_quantised (p, SL_DTYPE_U8, inputs, strides, output, n);
}

static void
row_product (const void *context, const void *const *inputs, const gsize *strides, void *output,
             gsize n)
{
  const Binary *p = context;
  const SlDtype dtype = p->output->dtype;
  for (gsize i = 0; i < n; i++) {
    const gint32 a = sl_load_8bit (inputs[0], dtype, i * strides[0]),
                 b = sl_load_8bit (inputs[1], dtype, i * strides[1]);
    const gfloat value = (gfloat) ((a - p->zero_a) * (b - p->zero_b)) * p->scale;
    sl_store_8bit (output, dtype, i, sl_requantize (value, p->zero_out, &p->clamp));
  }
}

static void
row_prelu (const void *context, const void *const *inputs, const gsize *strides, void *output,
           gsize n)
{
  const Binary *p = context;
  const SlDtype dtype = p->output->dtype;
  for (gsize i = 0; i < n; i++) {
    const gint32 a = sl_load_8bit (inputs[0], dtype, i * strides[0]) - p->zero_a;
    const gint32 b = sl_load_8bit (inputs[1], dtype, i * strides[1]) - p->zero_b;
    const gint64 quantised =
      (gint64) (a < 0 ? sl_fixed_multiply (a * b, p->below) : sl_fixed_multiply (a, p->above))
      + p->zero_out;
    sl_store_8bit (output, dtype, i, (gint32) CLAMP (quantised, p->clamp.lo, p->clamp.hi));
  }
}

static void
row_curves (const void *context, const void *const *inputs, const gsize *strides, void *output,
            gsize n)
{
  const Binary *p = context;
  const guint8 *a = inputs[0], *b = inputs[1], *curves = p->curves;
  guint8 *out = output;
  for (gsize i = 0; i < n; i++)
    out[i] = curves[(gsize) p->curve_of[b[i * strides[1]]] * CURVE + a[i * strides[0]]];
}

/* What PRELU makes of each byte, for each slope that its constant has; FALSE where that is more
 * than there are values. */
static gboolean
draw_curves (Binary *p, SlArena *arena)
{
  guint8 slopes[CURVE], bytes[CURVE];
  guint16 curve_of[CURVE];
  const guint8 *constant = p->b->data;
  guint n = 0;
  memset (curve_of, 0xff, sizeof curve_of);
  for (gsize i = 0; constant != NULL && i < p->b->bytes; i++)
    if (curve_of[constant[i]] == G_MAXUINT16) {
      slopes[n] = constant[i];
      curve_of[constant[i]] = (guint16) n++;
    }
  if (n == 0 || p->output->bytes < (gsize) n * CURVE)
    return FALSE;
  for (guint i = 0; i < CURVE; i++)
    bytes[i] = (guint8) i;
  p->curve_of = sl_arena_alloc (arena, sizeof curve_of);
  memcpy (p->curve_of, curve_of, sizeof curve_of);
  p->curves = sl_arena_alloc (arena, (gsize) n * CURVE);
  for (guint i = 0; i < n; i++)
    row_prelu (p, (const void *const[]){ bytes, &slopes[i] }, (const gsize[]){ 1, 0 },
               p->curves + i * CURVE, CURVE);
  return TRUE;
}

static void
row_quantised (const void *context, const void *const *inputs, const gsize *strides, void *output,
               gsize n)
{
  const Binary *p = context;
  const SlDtype dtype = p->output->dtype;
  for (gsize i = 0; i < n; i++) {
    const gfloat a =
      (gfloat) (sl_load_16bit (inputs[0], dtype, i * strides[0]) - p->zero_a) * p->scale_a;
    const gfloat b =
      (gfloat) (sl_load_16bit (inputs[1], dtype, i * strides[1]) - p->zero_b) * p->scale_b;
    sl_store_16bit (output, dtype, i,
                    sl_requantize (p->real (a, b) * p->scale, p->zero_out, &p->clamp));
  }
}

static void
row_whole (const void *context, const void *const *inputs, const gsize *strides, void *output,
           gsize n)
{
  const Binary *p = context;
  if (p->output->dtype == SL_DTYPE_I32) {
    const gint32 *a = inputs[0], *b = inputs[1];
    for (gsize i = 0; i < n; i++)
      ((gint32 *) output)[i] = (gint32) p->whole (a[i * strides[0]], b[i * strides[1]]);
    return;
  }
  const gint64 *a = inputs[0], *b = inputs[1];
  for (gsize i = 0; i < n; i++)
    ((gint64 *) output)[i] = p->whole (a[i * strides[0]], b[i * strides[1]]);
}

/* The arithmetic of XNNPACK's 8-bit ADD and SUB, for ratios of scales in the range it accepts. */
static gboolean
prepare_sum (Binary *p, gboolean subtract, gboolean half_away)
{
  const gfloat out = sl_tensor_scale (p->output), ratio_a = p->scale_a / out,
               ratio_b = p->scale_b / out, most = MAX (ratio_a, ratio_b);
  if (!(MIN (ratio_a, ratio_b) >= 0x1p-10f && most < 0x1p+8f))
    return FALSE;
  p->shift = sl_add_shift (most, half_away);
  p->multiplier_a = (gint32) lrintf (ldexpf (ratio_a, p->shift));
  p->multiplier_b = (gint32) lrintf (ldexpf (ratio_b, p->shift)) * (subtract ? -1 : 1);
  p->half_away = half_away;
  p->bias = (1 << (p->shift - 1)) - p->multiplier_a * p->zero_a - p->multiplier_b * p->zero_b;
  return TRUE;
}

static SlRow
choose_row (Binary *p, const SlNode *node, SlArena *arena)
{
  const SlDtype dtype = p->output->dtype;
  const gboolean bytes = dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8;
  p->real = functions[node->op].real;
  p->whole = functions[node->op].whole;
  if (dtype == SL_DTYPE_F32)
    return row_real;
  if (dtype == SL_DTYPE_I32 || dtype == SL_DTYPE_I64)
    return row_whole;
  p->scale_a = sl_tensor_scale (p->a);
  p->scale_b = sl_tensor_scale (p->b);
  p->scale = 1.0f / sl_tensor_scale (p->output);
  p->zero_a = sl_tensor_zero_point (p->a);
  p->zero_b = sl_tensor_zero_point (p->b);
  p->zero_out = sl_tensor_zero_point (p->output);
  if (bytes && (node->op == SL_OP_ADD || node->op == SL_OP_SUB)
      && prepare_sum (p, node->op == SL_OP_SUB, node->params.binary.half_away))
    return row_sum;
  if (bytes && node->op == SL_OP_MUL) {
    p->scale = p->scale_a * p->scale_b / sl_tensor_scale (p->output);
    return row_product;
  }
  if (bytes && node->op == SL_OP_PRELU) {
    const gdouble out = (gdouble) sl_tensor_scale (p->output);
    p->above = sl_fixed_from_real ((gdouble) p->scale_a / out);
    p->below = sl_fixed_from_real ((gdouble) p->scale_a * (gdouble) p->scale_b / out);
    return draw_curves (p, arena) ? row_curves : row_prelu;
  }
  return row_quantised;
}

void *
sl_kernel_binary_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Binary *p = sl_arena_alloc (arena, sizeof *p);
  const gboolean fused = node->op == SL_OP_ADD || node->op == SL_OP_SUB || node->op == SL_OP_MUL
                         || node->op == SL_OP_DIV;
  p->a = sl_node_input (graph, node, 0);
  p->b = sl_node_input (graph, node, 1);
  p->output = sl_node_output (graph, node, 0);
  sl_clamp_for (&p->clamp, fused ? node->params.binary.activation : SL_ACTIVATION_NONE, p->output);
  const SlRow row = choose_row (p, node, arena);
  sl_broadcast_init (&p->broadcast, graph, node, 2, row, p);
  return p;
}
