/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products of matrices, and normalisations made of means and products. */
#include <math.h>

#include "core/graph/first_norm.h"
#include "models/lower/ops.h"

/* Nodes before the normalisation of a graph's first convolution. */
#define MAX_BEFORE_NORM 64

gint32
lower_swap_last (Lower *o, gint32 x)
{
  const guint rank = lower_t (o, x)->rank;
  gint32 order[SL_MAX_RANK];
  for (guint i = 0; i < rank; i++)
    order[i] = (gint32) i;
  if (rank >= 2) {
    order[rank - 1] = (gint32) rank - 2;
    order[rank - 2] = (gint32) rank - 1;
  }
  return lower_transpose (o, x, order);
}

static gint32
scaled (Lower *o, gint32 x, gfloat factor)
{
  return factor == 1 ? x : lower_binary (o, SL_OP_MUL, x, lower_float (o, factor));
}

/* @weights constant, one row an output. @bias (or -1) joins in where it is a constant of one number
 * an output. */
gint32
lower_layer (Lower *o, gint32 x, gint32 weights, gint32 bias)
{
  const SlOpParams params = { .fully_connected = { .keep_dims = TRUE } };
  const SlTensor *b = lower_t (o, bias);
  const gint32 n = lower_t (o, weights)->dims[0];
  if (o->error == NULL && bias >= 0 && b->data != NULL && b->rank >= 1 && b->dims[b->rank - 1] == n
      && b->bytes == (gsize) n * sizeof (gfloat))
    return lower_emit (o, SL_OP_FULLY_CONNECTED,
                       (const gint32[]){ x, weights, lower_reshape (o, bias, &n, 1) }, 3, &params,
                       SL_DTYPE_F32);
  const gint32 y =
    lower_emit (o, SL_OP_FULLY_CONNECTED, (const gint32[]){ x, weights }, 2, &params, SL_DTYPE_F32);
  return bias >= 0 ? lower_binary (o, SL_OP_ADD, y, bias) : y;
}

static void
lower_gemm (Lower *o)
{
  LowerValue *second = lower_required (o, 1);
  const gfloat alpha = lower_attr_float (o, "alpha", 1), beta = lower_attr_float (o, "beta", 1);
  gint32 a = lower_plain (o, lower_required (o, 0));
  const gint32 b =
    second != NULL && second->codes >= 0 && alpha == 1 ? second->codes : lower_plain (o, second);
  LowerValue *c = lower_input (o, 2);
  const gboolean tb = lower_attr_int (o, "transB", 0) != 0;
  const gint32 bias = c != NULL && !c->empty ? scaled (o, lower_plain (o, c), beta) : -1;
  if (o->error == NULL && (lower_t (o, a)->rank != 2 || lower_t (o, b)->rank != 2)) {
    lower_fail (o, SL_ERROR_SHAPE, "its matrices have %u and %u dimensions; expected 2",
                lower_t (o, a)->rank, lower_t (o, b)->rank);
    return;
  }
  if (lower_attr_int (o, "transA", 0) != 0)
    a = lower_swap_last (o, a);
  if (lower_t (o, b)->data != NULL) {
    const gint32 weights = scaled (o, tb ? b : lower_swap_last (o, b), alpha);
    if (o->error == NULL && lower_t (o, a)->dims[1] != lower_t (o, weights)->dims[1]) {
      lower_fail (o, SL_ERROR_SHAPE, "matrices of depth %d and %d do not multiply",
                  lower_t (o, a)->dims[1], lower_t (o, weights)->dims[1]);
      return;
    }
    lower_set (o, 0, lower_layer (o, a, weights, bias), FALSE);
    return;
  }
  const SlOpParams params = { .matmul = { .transpose_b = tb } };
  const gint32 y = scaled (
    o, lower_emit (o, SL_OP_BATCH_MATMUL, (const gint32[]){ a, b }, 2, &params, SL_DTYPE_F32),
    alpha);
  lower_set (o, 0, bias >= 0 ? lower_binary (o, SL_OP_ADD, y, bias) : y, FALSE);
}

gint32
lower_product (Lower *o, gint32 a, gint32 b)
{
  const SlTensor x = *lower_t (o, a), y = *lower_t (o, b);
  if (o->error == NULL && (x.rank == 0 || y.rank == 0))
    return lower_fail (o, SL_ERROR_SHAPE, "a scalar is no matrix");
  if (o->error == NULL && y.data != NULL && y.rank == 2 && x.data == NULL
      && x.dims[x.rank - 1] == y.dims[0])
    return lower_layer (o, a, lower_swap_last (o, b), -1);
  const SlOpParams params = { 0 };
  return lower_emit (o, SL_OP_BATCH_MATMUL, (const gint32[]){ a, b }, 2, &params,
                     lower_tensor_type (o, a));
}

/* Vectors are matrices of one row or column, which the result loses again. */
static void
lower_mat_mul (Lower *o)
{
  LowerValue *values[2] = { lower_required (o, 0), lower_required (o, 1) };
  gint32 a = lower_plain (o, values[0]), dims[SL_MAX_RANK];
  gint32 b = values[1] != NULL && values[1]->codes >= 0 && values[1]->rank == 2
                 && values[0] != values[1] && lower_t (o, a)->data == NULL
               ? values[1]->codes
               : lower_plain (o, values[1]);
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, values[0]->rank == 0 || values[1]->rank == 0, SL_ERROR_SHAPE,
                     "a scalar is no matrix"))
    return;
  if (values[0]->rank == 1)
    a = lower_reshape (o, a, (const gint32[]){ 1, values[0]->dims[0] }, 2);
  if (values[1]->rank == 1)
    b = lower_reshape (o, b, (const gint32[]){ values[1]->dims[0], 1 }, 2);
  gint32 y = lower_product (o, a, b);
  const SlTensor *t = lower_t (o, y);
  guint rank = 0;
  for (guint i = 0; i < t->rank; i++)
    if (!(i + 2 == t->rank && values[0]->rank == 1) && !(i + 1 == t->rank && values[1]->rank == 1))
      dims[rank++] = t->dims[i];
  lower_set (o, 0, lower_reshape (o, y, dims, rank), FALSE);
}

/* Statistics and parameters of one number a channel, channels last: no dimensions before them. */
static gint32
channel_input (Lower *o, guint i)
{
  LowerValue *value = lower_required (o, i);
  return lower_plain (o, value);
}

/* (x - mean) / sqrt (variance + epsilon) over @axes. */
static gint32
standardise (Lower *o, gint32 x, const gint32 *axes, guint n, gfloat epsilon, gint32 *mean_out,
             gint32 *inverse_out)
{
  const gint32 mean = lower_reduce (o, SL_OP_MEAN, x, axes, n, TRUE);
  const gint32 centred = lower_binary (o, SL_OP_SUB, x, mean);
  const gint32 variance =
    lower_reduce (o, SL_OP_MEAN, lower_unary (o, SL_OP_SQUARE, centred), axes, n, TRUE);
  const gint32 inverse =
    lower_unary (o, SL_OP_RSQRT, lower_binary (o, SL_OP_ADD, variance, lower_float (o, epsilon)));
  if (mean_out != NULL)
    *mean_out = mean;
  if (inverse_out != NULL)
    *inverse_out = inverse;
  return lower_binary (o, SL_OP_MUL, centred, inverse);
}

/* Trained models have statistics of their own; a file exported for training takes those of the
 * batch. */
static gboolean
takes_batch_statistics (const Lower *o)
{
  return o->opset >= 14 ? lower_attr_int (o, "training_mode", 0) != 0 : lower_has_output (o, 1);
}

static gint32
of_batch (Lower *o, const LowerValue *x, gint32 input, gint32 scale, gint32 bias, gfloat epsilon)
{
  gint32 axes[SL_MAX_RANK];
  for (guint i = 0; i + 1 < x->rank; i++)
    axes[i] = (gint32) i;
  const gint32 y = standardise (o, input, axes, MAX (x->rank, 1) - 1, epsilon, NULL, NULL);
  return lower_binary (o, SL_OP_ADD, lower_binary (o, SL_OP_MUL, y, scale), bias);
}

/* What a channel is multiplied by, and what is added: here, where all four are known vectors of
 * floats, so that no step between stays in memory. */
static gboolean
known_factors (Lower *o, const gint32 *inputs, gfloat epsilon, gint32 *factor, gint32 *offset)
{
  const gfloat *data[4];
  const gsize bytes = lower_t (o, inputs[0])->bytes, n = bytes / sizeof (gfloat);
  for (guint i = 0; i < 4; i++) {
    const SlTensor *tensor = lower_t (o, inputs[i]);
    data[i] = lower_constant_data (o, inputs[i]);
    if (tensor->dtype != SL_DTYPE_F32 || tensor->rank != 1 || tensor->bytes != bytes
        || data[i] == NULL)
      return FALSE;
  }
  g_autofree gfloat *by = g_new (gfloat, 2 * n);
  gfloat *plus = by + n;
  for (gsize c = 0; c < n; c++) {
    by[c] = data[0][c] / sqrtf (data[3][c] + epsilon);
    plus[c] = data[1][c] - data[2][c] * by[c];
  }
  *factor = lower_constant (o, SL_DTYPE_F32, 1, (const gint32[]){ (gint32) n }, by);
  *offset = lower_constant (o, SL_DTYPE_F32, 1, (const gint32[]){ (gint32) n }, plus);
  return TRUE;
}

/* Whether @input is what the only convolution so far makes, and @scale and @bias are a number for
 * each channel of it. Few nodes are before that one's normalisation. */
static gboolean
is_first (const Lower *o, gint32 input, gint32 scale, gint32 bias)
{
  const SlTensor *by = lower_t (o, scale), *plus = lower_t (o, bias);
  const guint n = sl_graph_n_nodes (o->graph);
  guint convolutions = 0;
  gboolean found = FALSE;
  for (guint i = 0; i < n && n <= MAX_BEFORE_NORM; i++) {
    const SlNode *node = sl_graph_node (o->graph, i);
    convolutions += node->op == SL_OP_CONV_2D;
    found = found || (node->op == SL_OP_CONV_2D && node->outputs[0] == input);
  }
  return found && convolutions == 1 && by->dtype == SL_DTYPE_F32 && plus->dtype == SL_DTYPE_F32
         && by->rank == 1 && plus->rank == 1 && by->bytes == plus->bytes;
}

static void
lower_batch_norm (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint32 scale = channel_input (o, 1), bias = channel_input (o, 2),
               mean = channel_input (o, 3), variance = channel_input (o, 4);
  const gfloat epsilon = lower_attr_float (o, "epsilon", 1e-5f);
  const gint32 input = lower_last (o, x);
  if (o->error != NULL)
    return;
  if (takes_batch_statistics (o)) {
    lower_set (o, 0, of_batch (o, x, input, scale, bias, epsilon), TRUE);
    return;
  }
  const gfloat *by = lower_constant_data (o, scale), *plus = lower_constant_data (o, bias);
  if (by != NULL && plus != NULL && is_first (o, input, scale, bias))
    sl_graph_set_first_norm (o->graph, by, plus, (guint) lower_t (o, scale)->dims[0]);
  gint32 factor, offset;
  if (!known_factors (o, (const gint32[]){ scale, bias, mean, variance }, epsilon, &factor,
                      &offset)) {
    const gint32 root =
      lower_unary (o, SL_OP_SQRT, lower_binary (o, SL_OP_ADD, variance, lower_float (o, epsilon)));
    factor = lower_binary (o, SL_OP_DIV, scale, root);
    offset = lower_binary (o, SL_OP_SUB, bias, lower_binary (o, SL_OP_MUL, mean, factor));
  }
  lower_set (o, 0, lower_binary (o, SL_OP_ADD, lower_binary (o, SL_OP_MUL, input, factor), offset),
             TRUE);
}

static void
lower_instance_norm (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint32 scale = channel_input (o, 1), bias = channel_input (o, 2), input = lower_last (o, x);
  gint32 axes[SL_MAX_RANK];
  if (lower_fail_if (o, o->error != NULL || x->rank < 3, SL_ERROR_SHAPE,
                     "its input has fewer than 3 dimensions"))
    return;
  for (guint i = 0; i + 2 < x->rank; i++)
    axes[i] = (gint32) i + 1;
  const gint32 y =
    standardise (o, input, axes, x->rank - 2, lower_attr_float (o, "epsilon", 1e-5f), NULL, NULL);
  lower_set (o, 0, lower_binary (o, SL_OP_ADD, lower_binary (o, SL_OP_MUL, y, scale), bias), TRUE);
}

/* Over batch, height and width, unless axes say otherwise. */
static void
lower_mean_variance_norm (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gint32 axes[SL_MAX_RANK] = { 0, 2, 3 };
  guint n = 3;
  gboolean last = FALSE;
  guint stated = 0;
  if (lower_attr_ints (o, "axes", axes, SL_MAX_RANK, &stated))
    n = stated;
  const gint32 input = lower_any (o, x, &last);
  if (o->error != NULL)
    return;
  for (guint i = 0; i < n; i++)
    axes[i] = (gint32) lower_axis (lower_norm_axis (o, axes[i], x->rank), x->rank, last);
  const gint32 centred =
    lower_binary (o, SL_OP_SUB, input, lower_reduce (o, SL_OP_MEAN, input, axes, n, TRUE));
  const gint32 variance =
    lower_reduce (o, SL_OP_MEAN, lower_unary (o, SL_OP_SQUARE, centred), axes, n, TRUE);
  const gint32 deviation =
    lower_binary (o, SL_OP_ADD, lower_unary (o, SL_OP_SQRT, variance), lower_float (o, 1e-9f));
  lower_set (o, 0, lower_binary (o, SL_OP_DIV, centred, deviation), last);
}

/* Groups of channels: scale and bias were one a group up to opset 20, one a channel since. */
static void
lower_group_norm (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *scale = lower_required (o, 1),
             *bias = lower_required (o, 2);
  const gint64 groups = lower_attr_int (o, "num_groups", 0);
  gint32 apart[3] = { 0 }, one[3] = { 1, 0, 1 };
  if (o->error != NULL)
    return;
  if (x->rank < 3 || groups < 1 || groups > x->dims[1] || x->dims[1] % groups != 0) {
    lower_fail (o, SL_ERROR_SHAPE, "%" G_GINT64_FORMAT " groups do not divide its channels",
                groups);
    return;
  }
  apart[0] = x->dims[0];
  apart[1] = one[1] = (gint32) groups;
  apart[2] = (gint32) (lower_elements (x) / (gsize) x->dims[0] / (gsize) groups);
  const gint32 axes[1] = { 2 };
  gint32 y = standardise (o, lower_reshape (o, lower_plain (o, x), apart, 3), axes, 1,
                          lower_attr_float (o, "epsilon", 1e-5f), NULL, NULL);
  gint32 factor = lower_plain (o, scale), offset = lower_plain (o, bias);
  if (scale->dims[0] == groups && scale->dims[0] != x->dims[1]) {
    y = lower_binary (o, SL_OP_MUL, y, lower_reshape (o, factor, one, 3));
    y = lower_reshape (o, lower_binary (o, SL_OP_ADD, y, lower_reshape (o, offset, one, 3)),
                       x->dims, x->rank);
  } else {
    gint32 channel[SL_MAX_RANK] = { x->dims[1], 1, 1, 1, 1, 1, 1, 1 };
    y = lower_reshape (o, y, x->dims, x->rank);
    y = lower_binary (o, SL_OP_MUL, y, lower_reshape (o, factor, channel, x->rank - 1));
    y = lower_binary (o, SL_OP_ADD, y, lower_reshape (o, offset, channel, x->rank - 1));
  }
  lower_set (o, 0, y, FALSE);
}

void
lower_layer_norm (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *bias = lower_input (o, 2);
  const gint32 input = lower_plain (o, x), scale = lower_plain (o, lower_required (o, 1));
  gint32 axes[SL_MAX_RANK], mean = -1, inverse = -1;
  guint n = 0;
  if (o->error != NULL)
    return;
  for (guint i = lower_norm_axis (o, lower_attr_int (o, "axis", -1), x->rank); i < x->rank; i++)
    axes[n++] = (gint32) i;
  gint32 y =
    standardise (o, input, axes, n, lower_attr_float (o, "epsilon", 1e-5f), &mean, &inverse);
  y = lower_binary (o, SL_OP_MUL, y, scale);
  lower_set (o, 0, bias != NULL ? lower_binary (o, SL_OP_ADD, y, lower_plain (o, bias)) : y, FALSE);
  lower_set (o, 1, mean, FALSE);
  lower_set (o, 2, inverse, FALSE);
}

void
lower_rms_norm (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint32 input = lower_plain (o, x), scale = lower_plain (o, lower_required (o, 1));
  gint32 axes[SL_MAX_RANK];
  guint n = 0;
  if (o->error != NULL)
    return;
  for (guint i = lower_norm_axis (o, lower_attr_int (o, "axis", -1), x->rank); i < x->rank; i++)
    axes[n++] = (gint32) i;
  const gint32 square =
    lower_reduce (o, SL_OP_MEAN, lower_unary (o, SL_OP_SQUARE, input), axes, n, TRUE);
  const gint32 inverse = lower_unary (
    o, SL_OP_RSQRT,
    lower_binary (o, SL_OP_ADD, square, lower_float (o, lower_attr_float (o, "epsilon", 1e-5f))));
  lower_set (o, 0, lower_binary (o, SL_OP_MUL, lower_binary (o, SL_OP_MUL, input, inverse), scale),
             FALSE);
  lower_set (o, 1, inverse, FALSE);
}

static void
lower_lp_norm (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  gboolean last = FALSE;
  const gint32 input = lower_any (o, x, &last);
  const gint64 p = lower_attr_int (o, "p", 2);
  if (o->error != NULL)
    return;
  if (p != 1 && p != 2)
    lower_fail (o, SL_ERROR_UNSUPPORTED, "attribute p is %" G_GINT64_FORMAT "; expected 1 or 2", p);
  const gint32 axes[1] = { (gint32) lower_axis (
    lower_norm_axis (o, lower_attr_int (o, "axis", -1), x->rank), x->rank, last) };
  gint32 norm = lower_reduce (
    o, SL_OP_SUM, lower_unary (o, p == 1 ? SL_OP_ABS : SL_OP_SQUARE, input), axes, 1, TRUE);
  norm = p == 2 ? lower_unary (o, SL_OP_SQRT, norm) : norm;
  lower_set (o, 0, lower_binary (o, SL_OP_DIV, input, norm), last);
}

static void
lower_lrn (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gint32 input = lower_last (o, x);
  const gint64 size = lower_attr_int (o, "size", 1);
  if (o->error != NULL)
    return;
  if (lower_fail_if (o, x->rank < 2, SL_ERROR_SHAPE,
                     "input has %u dimensions; expected at least 2, a batch and channels", x->rank))
    return;
  if (lower_fail_if (o, size < 1 || size > G_MAXINT32, SL_ERROR_FORMAT,
                     "size is %" G_GINT64_FORMAT "; expected 1 or more", size))
    return;
  const SlOpParams params = { .local_response = { .before = (gint32) ((size - 1) / 2),
                                                  .after = (gint32) (size / 2),
                                                  .bias = lower_attr_float (o, "bias", 1),
                                                  .alpha = lower_attr_float (o, "alpha", 1e-4f)
                                                           / (gfloat) size,
                                                  .beta = lower_attr_float (o, "beta", 0.75f) } };
  lower_set (o, 0,
             lower_emit (o, SL_OP_LOCAL_RESPONSE_NORMALIZATION, &input, 1, &params,
                         lower_tensor_type (o, input)),
             TRUE);
}

static void
lower_det (Lower *o)
{
  lower_set (o, 0, lower_unary (o, SL_OP_DETERMINANT, lower_plain (o, lower_required (o, 0))),
             FALSE);
}

const LowerOp lower_ops_matrix[] = {
  { LOWER_ROW (BatchNormalization, lower_batch_norm), 0 },
  { LOWER_ROW (Det, lower_det), 0 },
  { LOWER_ROW (Gemm, lower_gemm), 0 },
  { LOWER_ROW (GroupNormalization, lower_group_norm), 0 },
  { LOWER_ROW (InstanceNormalization, lower_instance_norm), 0 },
  { LOWER_ROW (LRN, lower_lrn), 0 },
  { LOWER_ROW (LayerNormalization, lower_layer_norm), 0 },
  { LOWER_ROW (LpNormalization, lower_lp_norm), 0 },
  { LOWER_ROW (MatMul, lower_mat_mul), 0 },
  { LOWER_ROW (MeanVarianceNormalization, lower_mean_variance_norm), 0 },
  { LOWER_ROW (RMSNormalization, lower_rms_norm), 0 },
  { LOWER_ROW (SimplifiedLayerNormalization, lower_rms_norm), 0 },
  { NULL },
};
