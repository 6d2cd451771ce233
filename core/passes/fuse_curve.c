/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Float products that are an activation written out become that activation: SILU, HARD_SWISH, GELU
 * and MISH as converters spell them. Such a product is of a tensor, of something computed from it
 * alone, and of constants, in any order. Files of 16-bit floats have these constants rounded. Their
 * own kernels would round each result as much, so the activation is what the file means.
 */
#include <math.h>

#include "core/base/half.h"
#include "core/ops/ops.h"
#include "core/passes/moved_view.h"

/* Products of products of products: deeper ones are left alone. */
#define MAX_DEPTH 4
/* Constants of a file have a few digits. */
#define TOLERANCE 1e-5

typedef struct
{
  SlGraph *graph;
  SlPassIndex *index;
} Fuse;

/** The factors of a product: tensors and the product of the constants. */
typedef struct
{
  gint32 tensors[2];
  guint n;
  gdouble constant;
} Factors;

static gboolean
is_near (gdouble a, gdouble b)
{
  return fabs (a - b) <= TOLERANCE * fabs (b);
}

/* @value in 16 bits. */
static gdouble
as_half (gdouble value)
{
  return (gdouble) sl_half_to_float (sl_half_from_float ((gfloat) value));
}

static gdouble
as_bfloat (gdouble value)
{
  return (gdouble) sl_bfloat_to_float (sl_bfloat_from_float ((gfloat) value));
}

/* Whether @a is @b as files have it: in float32, binary16 or bfloat16. */
static gboolean
is_stored (gdouble a, gdouble b)
{
  return is_near (a, b) || is_near (a, as_half (b)) || is_near (a, as_bfloat (b));
}

/* (nullable): the node that makes @tensor for one reader alone. */
static SlNode *
only_for_one (const Fuse *fuse, gint32 tensor)
{
  return fuse->index->consumers[tensor] == 1 ? sl_pass_producer (fuse->index, fuse->graph, tensor)
                                             : NULL;
}

/* Whether @node is @op, without an activation, of a tensor and a constant. */
static gboolean
is_with_number (const Fuse *fuse, const SlNode *node, SlOpType op, gint32 *tensor, gdouble *value)
{
  if (node == NULL || node->op != op || node->params.binary.activation != SL_ACTIVATION_NONE)
    return FALSE;
  for (guint i = 0; i < (op == SL_OP_DIV ? 1 : 2); i++)
    if (sl_pass_number (fuse->graph, node->inputs[1 - i], value)) {
      *tensor = node->inputs[i];
      return TRUE;
    }
  return FALSE;
}

/* Whether @tensor is @x times @factor. */
static gboolean
is_multiple (const Fuse *fuse, gint32 tensor, gint32 x, gdouble factor)
{
  gint32 of = -1;
  gdouble value = 0;
  const SlNode *node = only_for_one (fuse, tensor);
  if (is_with_number (fuse, node, SL_OP_MUL, &of, &value))
    return of == x && is_stored (value, factor);
  return is_with_number (fuse, node, SL_OP_DIV, &of, &value) && of == x
         && is_stored (value, 1 / factor);
}

static gboolean add_factors (const Fuse *fuse, const SlNode *node, guint depth, Factors *factors);

static gboolean
add_factor (const Fuse *fuse, gint32 tensor, guint depth, Factors *factors)
{
  gdouble value = 0;
  const SlNode *node = only_for_one (fuse, tensor);
  if (sl_pass_number (fuse->graph, tensor, &value)) {
    factors->constant *= value;
    return TRUE;
  }
  if (depth < MAX_DEPTH && node != NULL && (node->op == SL_OP_MUL || node->op == SL_OP_DIV)
      && node->params.binary.activation == SL_ACTIVATION_NONE)
    return add_factors (fuse, node, depth + 1, factors);
  if (factors->n == G_N_ELEMENTS (factors->tensors))
    return FALSE;
  factors->tensors[factors->n++] = tensor;
  return TRUE;
}

static gboolean
add_factors (const Fuse *fuse, const SlNode *node, guint depth, Factors *factors)
{
  gdouble divisor = 1;
  if (node->op == SL_OP_MUL)
    return add_factor (fuse, node->inputs[0], depth, factors)
           && add_factor (fuse, node->inputs[1], depth, factors);
  if (!sl_pass_number (fuse->graph, node->inputs[1], &divisor))
    return FALSE;
  factors->constant /= divisor;
  return add_factor (fuse, node->inputs[0], depth, factors);
}

/* The input of the node @op that makes @tensor for one reader alone, -1 where another does. */
static gint32
behind (const Fuse *fuse, gint32 tensor, SlOpType op)
{
  const SlNode *node = tensor >= 0 ? only_for_one (fuse, tensor) : NULL;
  return node != NULL && node->op == op ? node->inputs[0] : -1;
}

/* log (1 + @tensor), whose @tensor; -1 where it is not that. */
static gint32
behind_log1p (const Fuse *fuse, gint32 tensor)
{
  gint32 of = -1;
  gdouble value = 0;
  const gint32 sum = behind (fuse, tensor, SL_OP_LOG);
  const SlNode *node = sum >= 0 ? only_for_one (fuse, sum) : NULL;
  return is_with_number (fuse, node, SL_OP_ADD, &of, &value) && value == 1 ? of : -1;
}

/* log (1 + exp @x), or the same as the larger of @x and 0 plus log (1 + exp -|@x|). */
static gboolean
is_softplus (const Fuse *fuse, gint32 tensor, gint32 x)
{
  if (behind (fuse, behind_log1p (fuse, tensor), SL_OP_EXP) == x)
    return TRUE;
  const SlNode *sum = only_for_one (fuse, tensor);
  for (guint i = 0; sum != NULL && sum->op == SL_OP_ADD && i < 2; i++) {
    const gint32 size =
      behind (fuse, behind (fuse, behind_log1p (fuse, sum->inputs[1 - i]), SL_OP_EXP), SL_OP_NEG);
    if (behind (fuse, sum->inputs[i], SL_OP_RELU) == x && behind (fuse, size, SL_OP_ABS) == x)
      return sum->params.binary.activation == SL_ACTIVATION_NONE;
  }
  return FALSE;
}

/** Coefficients of a polynomial, of x to the power of their index. */
typedef struct
{
  gdouble of[4];
} Cubic;

static gboolean
multiply (Cubic *a, const Cubic *b)
{
  Cubic product = { { 0 } };
  for (guint i = 0; i < 4; i++)
    for (guint k = 0; k < 4; k++) {
      if (i + k < 4)
        product.of[i + k] += a->of[i] * b->of[k];
      else if (a->of[i] * b->of[k] != 0)
        return FALSE;
    }
  *a = product;
  return TRUE;
}

static gboolean as_cubic (const Fuse *fuse, gint32 tensor, gint32 x, guint depth, Cubic *cubic);

static gboolean
combine (const Fuse *fuse, const SlNode *node, gint32 x, guint depth, Cubic *cubic)
{
  Cubic second = { { 0 } };
  gdouble exponent = 0;
  if (node->op == SL_OP_SQUARE
      || (node->op == SL_OP_POW && sl_pass_number (fuse->graph, node->inputs[1], &exponent))) {
    if (!as_cubic (fuse, node->inputs[0], x, depth, cubic)
        || (exponent != 2 && exponent != 3 && node->op == SL_OP_POW))
      return FALSE;
    second = *cubic;
    return multiply (cubic, &second) && (exponent != 3 || multiply (cubic, &second));
  }
  if ((node->op != SL_OP_ADD && node->op != SL_OP_MUL)
      || node->params.binary.activation != SL_ACTIVATION_NONE
      || !as_cubic (fuse, node->inputs[0], x, depth, cubic)
      || !as_cubic (fuse, node->inputs[1], x, depth, &second))
    return FALSE;
  if (node->op == SL_OP_MUL)
    return multiply (cubic, &second);
  for (guint i = 0; i < 4; i++)
    cubic->of[i] += second.of[i];
  return TRUE;
}

/* Whether @tensor is a polynomial in @x of no higher degree than 3. */
static gboolean
as_cubic (const Fuse *fuse, gint32 tensor, gint32 x, guint depth, Cubic *cubic)
{
  *cubic = (Cubic){ { 0 } };
  if (tensor == x)
    cubic->of[1] = 1;
  if (tensor == x || sl_pass_number (fuse->graph, tensor, &cubic->of[0]))
    return TRUE;
  const SlNode *node = depth < MAX_DEPTH ? only_for_one (fuse, tensor) : NULL;
  return node != NULL && combine (fuse, node, x, depth + 1, cubic);
}

/* Whether @cubic is @slope times a sum of x and @bend times its cube. */
static gboolean
is_bent_line (const Cubic *cubic, gdouble slope, gdouble bend)
{
  return cubic->of[0] == 0 && is_near (cubic->of[1], slope) && cubic->of[2] == 0
         && is_near (cubic->of[3], slope * bend);
}

/* Whether @tensor is the tangent in GELU's approximation. */
static gboolean
is_gelu_tangent (const Fuse *fuse, gint32 tensor, gint32 x)
{
  const gdouble slope = sqrt (M_2_PI), bend = 0.044715;
  Cubic cubic;
  const gint32 of = behind (fuse, tensor, SL_OP_TANH);
  return of >= 0 && as_cubic (fuse, of, x, 0, &cubic)
         && (is_bent_line (&cubic, slope, bend)
             || is_bent_line (&cubic, as_half (slope), as_half (bend))
             || is_bent_line (&cubic, as_bfloat (slope), as_bfloat (bend)));
}

/* What @x times @gate times @constant is; SL_OP_INVALID for none of these. @approximate: GELU by a
 * tangent */
static SlOpType
kind_of (const Fuse *fuse, gint32 x, gint32 gate, gdouble constant, gboolean *approximate)
{
  gint32 of = -1;
  gdouble value = 0;
  const SlNode *node = only_for_one (fuse, gate);
  if (node == NULL)
    return SL_OP_INVALID;
  if (node->op == SL_OP_LOGISTIC)
    return node->inputs[0] == x && is_near (constant, 1) ? SL_OP_SILU : SL_OP_INVALID;
  if (node->op == SL_OP_TANH)
    return is_near (constant, 1) && is_softplus (fuse, node->inputs[0], x) ? SL_OP_MISH
                                                                           : SL_OP_INVALID;
  if (node->op == SL_OP_RELU6 || node->op == SL_OP_RELU_0_TO_1) {
    const SlNode *line = only_for_one (fuse, node->inputs[0]);
    if (!is_with_number (fuse, line, SL_OP_ADD, &of, &value))
      return SL_OP_INVALID;
    const gboolean is_gate =
      node->op == SL_OP_RELU6
        ? of == x && value == 3 && is_stored (constant, 1 / 6.0)
        : value == 0.5 && is_near (constant, 1) && is_multiple (fuse, of, x, 1 / 6.0);
    return is_gate ? SL_OP_HARD_SWISH : SL_OP_INVALID;
  }
  if (!is_with_number (fuse, node, SL_OP_ADD, &of, &value) || value != 1
      || !is_near (constant, 0.5))
    return SL_OP_INVALID;
  *approximate = is_gelu_tangent (fuse, of, x);
  if (*approximate)
    return SL_OP_GELU;
  const SlNode *erf = only_for_one (fuse, of);
  return erf != NULL && erf->op == SL_OP_ERF && is_multiple (fuse, erf->inputs[0], x, M_SQRT1_2)
           ? SL_OP_GELU
           : SL_OP_INVALID;
}

/* Removes what only @tensor needed, up to @x. */
static void
remove_behind (const Fuse *fuse, gint32 tensor, gint32 x)
{
  SlNode *node = tensor != x ? only_for_one (fuse, tensor) : NULL;
  fuse->index->consumers[tensor]--;
  if (node == NULL)
    return;
  node->op = SL_OP_INVALID;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] >= 0)
      remove_behind (fuse, node->inputs[i], x);
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  const Fuse fuse = { graph, index };
  Factors factors = { .constant = 1 };
  if ((node->op != SL_OP_MUL && node->op != SL_OP_DIV)
      || node->params.binary.activation != SL_ACTIVATION_NONE
      || sl_node_output (graph, node, 0)->dtype != SL_DTYPE_F32
      || !add_factors (&fuse, node, 0, &factors) || factors.n != 2)
    return 0;
  for (guint i = 0; i < 2; i++) {
    const gint32 x = factors.tensors[i];
    gboolean approximate = FALSE;
    const SlOpType op = kind_of (&fuse, x, factors.tensors[1 - i], factors.constant, &approximate);
    if (op == SL_OP_INVALID
        || !sl_tensor_same_shape (sl_graph_tensor (graph, x), sl_node_output (graph, node, 0)))
      continue;
    for (guint k = 0; k < 2; k++)
      remove_behind (&fuse, node->inputs[k], x);
    gint32 *inputs = sl_arena_memdup (graph->arena, &x, sizeof x);
    index->consumers[x]++;
    node->op = op;
    node->inputs = inputs;
    node->n_inputs = 1;
    node->params = (SlOpParams){ 0 };
    if (op == SL_OP_GELU)
      node->params.gelu.approximate = approximate;
    return 1;
  }
  return 0;
}

const SlPass sl_pass_fuse_curve = { "fuse_curve", .step = step };
