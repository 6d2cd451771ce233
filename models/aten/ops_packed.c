/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions and linear layers with packed weights: those of torch.utils.mobile_optimizer, which
 * are float and clamp, and quantised ones. */
#include <math.h>
#include <string.h>

#include "models/lower/ops.h"
#include "models/aten/quantized.h"

static const TsPacked *
packed_of (TsProgram *program, TsValue value)
{
  if (value.kind == TS_PACKED && value.packed->weight != NULL)
    return value.packed;
  ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s; expected packed parameters",
             ts_kind_name (value.kind));
  return NULL;
}

static TsValue
tensor_of (TsTensor *tensor)
{
  return tensor == NULL ? ts_none () : (TsValue){ .kind = TS_TENSOR, .tensor = tensor };
}

static TsValue
clamped (TsProgram *program, const TsPacked *packed, TsValue y)
{
  const TsValue args[3] = { y, packed->has_low ? ts_float (packed->low) : ts_none (),
                            packed->has_high ? ts_float (packed->high) : ts_none () };
  return packed->has_low || packed->has_high ? ts_run_op (program, "aten::clamp", args, NULL, 3)
                                             : y;
}

static TsValue
float_conv (TsProgram *program, const TsCall *call)
{
  const TsPacked *p = packed_of (program, call->args[1]);
  if (p == NULL)
    return ts_none ();
  const TsValue args[9] = { call->args[0],
                            tensor_of (p->weight),
                            tensor_of (p->bias),
                            ts_int_list (program->heap, p->stride, 2),
                            ts_int_list (program->heap, p->padding, 2),
                            ts_int_list (program->heap, p->dilation, 2),
                            ts_bool (p->transposed),
                            ts_int_list (program->heap, p->output_padding, 2),
                            ts_int (p->groups) };
  return clamped (program, p, ts_run_op (program, "aten::convolution", args, NULL, 9));
}

static TsValue
float_linear (TsProgram *program, const TsCall *call)
{
  const TsPacked *p = packed_of (program, call->args[1]);
  if (p == NULL)
    return ts_none ();
  const TsValue args[3] = { call->args[0], tensor_of (p->weight), tensor_of (p->bias) };
  return clamped (program, p, ts_run_op (program, "aten::linear", args, NULL, 3));
}

/* The bias in units of what a product of codes stands for; -1 without one, or after an error. */
static gint32
whole_bias (TsProgram *program, const TsPacked *packed, const SlTensor *input,
            const SlQuant *weights, gint32 channels)
{
  gsize n = 0;
  Lower *o = &program->lower;
  LowerValue *bias = packed->bias != NULL ? ts_read (program, tensor_of (packed->bias)) : NULL;
  const gfloat *real = bias != NULL ? lower_data (o, bias, &n) : NULL;
  if (ts_failed (program) || packed->bias == NULL)
    return -1;
  if (weights->count > 1 && weights->count != (guint) channels) {
    ts_refuse (
      program, SL_ERROR_FORMAT,
      "its weights have %u scales along dimension %d; expected one, or %d along the output "
      "channels",
      weights->count, weights->axis, channels);
    return -1;
  }
  if (real == NULL || n != (gsize) channels || lower_dtype (o, bias) != SL_DTYPE_F32) {
    ts_refuse (program, SL_ERROR_FORMAT,
               "its bias has %" G_GSIZE_FORMAT " numbers; expected %d of float32", n, channels);
    return -1;
  }
  g_autofree gint32 *whole = g_new (gint32, n);
  for (gsize i = 0; i < n; i++) {
    const gfloat scale = sl_tensor_scale (input) * weights->scale[weights->count > 1 ? i : 0],
                 units = rintf (real[i] * (1 / scale));
    whole[i] = units >= 2147483648.0f    ? G_MAXINT32
               : units >= -2147483648.0f ? (gint32) units
                                         : G_MININT32;
  }
  return lower_constant (o, SL_DTYPE_I32, 1, &channels, whole);
}

/* A quantised tensor and what the result is: FALSE after an error. */
static gboolean
begin (TsProgram *program, const TsCall *call, LowerValue **x, LowerValue **weights, SlTensor *like)
{
  const TsPacked *p = packed_of (program, call->args[1]);
  *x = ts_read (program, call->args[0]);
  if (p == NULL || *x == NULL)
    return FALSE;
  if (!ts_is_quantized (call->args[0].tensor->dtype) || !ts_is_quantized (p->weight->dtype)) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "its input is %s and its weights are %s; expected quantised ones",
               ts_dtype_name (call->args[0].tensor->dtype), ts_dtype_name (p->weight->dtype));
    return FALSE;
  }
  *weights = ts_read (program, tensor_of (p->weight));
  return *weights != NULL
         && ts_quantized_result (program, call->args[0].tensor->dtype, call->args[2], call->args[3],
                                 like);
}

static SlActivation
activation_of (const TsCall *call)
{
  return g_str_has_suffix (call->op->name, "_relu") ? SL_ACTIVATION_RELU : SL_ACTIVATION_NONE;
}

/* Strides and the like are within what windows count. */
static gboolean
check_window (TsProgram *program, const TsPacked *p, const LowerValue *x, const LowerValue *w)
{
  for (guint i = 0; i < 2; i++)
    if (p->stride[i] < 1 || p->dilation[i] < 1 || p->padding[i] < 0 || p->output_padding[i] < 0
        || p->stride[i] > G_MAXINT16 || p->dilation[i] > G_MAXINT16 || p->padding[i] > G_MAXINT16
        || p->output_padding[i] > G_MAXINT16) {
      ts_refuse (program, SL_ERROR_FORMAT, "a stride, dilation or padding is outside 0..%d",
                 G_MAXINT16);
      return FALSE;
    }
  if (x->rank != 4 || w->rank != 4)
    ts_refuse (
      program, SL_ERROR_UNSUPPORTED,
      "its input and weights have %u and %u dimensions; expected 3 or 4, the same number for both",
      x->rank, w->rank);
  return !ts_failed (program);
}

static SlOpParams
window_of (const TsCall *call, const TsPacked *p)
{
  return (SlOpParams){ .window = { .padding = SL_PADDING_EXPLICIT,
                                   .stride_h = (gint32) p->stride[0],
                                   .stride_w = (gint32) p->stride[1],
                                   .dilation_h = (gint32) p->dilation[0],
                                   .dilation_w = (gint32) p->dilation[1],
                                   .pad_top = (gint32) p->padding[0],
                                   .pad_bottom = (gint32) p->padding[0],
                                   .pad_left = (gint32) p->padding[1],
                                   .pad_right = (gint32) p->padding[1],
                                   .activation = activation_of (call),
                                   .by_reciprocal = TRUE } };
}

/* The size of a transposed convolution's result along both dimensions; FALSE after an error. */
static gboolean
transposed_size (TsProgram *program, const TsPacked *p, const LowerValue *x, const LowerValue *w,
                 gint32 size[2])
{
  for (guint i = 0; i < 2; i++) {
    const gint64 whole = (gint64) (x->dims[2 + i] - 1) * p->stride[i] - 2 * p->padding[i]
                         + w->dims[2 + i] + p->output_padding[i];
    if (whole < 1 || whole > G_MAXINT16) {
      ts_refuse (program, SL_ERROR_SHAPE,
                 "its result has %" G_GINT64_FORMAT " rows or columns; expected 1 to %d", whole,
                 G_MAXINT16);
      return FALSE;
    }
    size[i] = (gint32) whole;
  }
  return TRUE;
}

/* Weights are [in, out of a group, height, width]; groups are convolutions of their own. */
static TsValue
quantized_transposed (TsProgram *program, const TsCall *call, LowerValue *x, LowerValue *w,
                      const SlTensor *like)
{
  const gint32 order[4] = { 1, 2, 3, 0 };
  gint32 size[2], parts[SL_MAX_OPERANDS];
  Lower *o = &program->lower;
  const TsPacked *p = call->args[1].packed;
  if (p->groups < 1 || p->groups > SL_MAX_OPERANDS || x->dims[1] % p->groups != 0
      || w->dims[0] != x->dims[1])
    return ts_refuse (program, SL_ERROR_SHAPE,
                      "%" G_GINT64_FORMAT
                      " groups of %d channels and weights of %d; expected 1 to %d that fit",
                      p->groups, x->dims[1], w->dims[0], SL_MAX_OPERANDS);
  if (p->dilation[0] != 1 || p->dilation[1] != 1)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "quantised transposed convolutions with a dilation are not supported");
  if (!transposed_size (program, p, x, w, size))
    return ts_none ();
  const gint32 input = lower_last (o, x), plain = lower_plain (o, w),
               step = x->dims[1] / (gint32) p->groups, channels = w->dims[1];
  if (ts_failed (program))
    return ts_none ();
  const SlTensor t = *lower_t (o, input);
  const SlQuant quant = lower_t (o, plain)->quant;
  if (quant.count > 1 && (quant.axis != 1 || p->groups > 1))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "transposed weights with scales along dimension %d; expected 1, of one group",
                      quant.axis);
  const gint32 bias = whole_bias (program, p, &t, &quant, channels * (gint32) p->groups);
  const gint32 shape[4] = { x->dims[0], size[0], size[1], channels };
  const SlOpParams params = window_of (call, p), join = { .concat = { .axis = 3 } };
  for (gint32 g = 0; g < (gint32) p->groups; g++) {
    const gint32 filter =
      lower_transpose (o, lower_cut (o, plain, 0, g * step, (g + 1) * step), order);
    const gint32 inputs[4] = { lower_ints_constant (o, shape, 4), filter,
                               lower_cut (o, input, 3, g * step, (g + 1) * step),
                               bias >= 0 ? lower_cut (o, bias, 0, g * channels, (g + 1) * channels)
                                         : -1 };
    parts[g] = lower_settled (o, SL_OP_TRANSPOSE_CONV, inputs, bias >= 0 ? 4 : 3, &params, like);
  }
  const gint32 y =
    p->groups == 1 ? parts[0]
                   : lower_settled (o, SL_OP_CONCATENATION, parts, (guint) p->groups, &join, like);
  return ts_new_last (program, y, call->args[0].tensor->dtype);
}

/* Along one dimension: the same of pictures of one row. */
static TsValue
quantized_row_conv (TsProgram *program, const TsCall *call)
{
  TsCall inner = *call;
  const TsValue rows[2] = { call->args[0], ts_int (2) };
  inner.args[0] = ts_run_op (program, "aten::unsqueeze", rows, NULL, 2);
  if (ts_failed (program))
    return ts_none ();
  const TsValue row[2] = { call->op->run (program, &inner), ts_int (2) };
  return ts_run_op (program, "aten::squeeze", row, NULL, 2);
}

static TsValue
quantized_conv (TsProgram *program, const TsCall *call)
{
  SlTensor like;
  SlOpType op;
  Lower *o = &program->lower;
  LowerValue *x, *w;
  if (call->args[0].kind == TS_TENSOR && call->args[0].tensor->rank == 3)
    return quantized_row_conv (program, call);
  if (!begin (program, call, &x, &w, &like))
    return ts_none ();
  const TsPacked *p = call->args[1].packed;
  if (!check_window (program, p, x, w))
    return ts_none ();
  if (p->transposed)
    return quantized_transposed (program, call, x, w, &like);
  const SlOpParams params = window_of (call, p);
  const gint32 input = lower_last (o, x), plain = lower_plain (o, w);
  const gint32 filter = lower_conv_weights (o, plain, p->groups, x->dims[1], &op);
  if (ts_failed (program))
    return ts_none ();
  const SlTensor t = *lower_t (o, input);
  const SlQuant quant = lower_t (o, plain)->quant;
  const gint32 bias = whole_bias (program, p, &t, &quant, w->dims[0]),
               inputs[3] = { input, filter, bias };
  return ts_new_last (program, lower_settled (o, op, inputs, bias >= 0 ? 3 : 2, &params, &like),
                      call->args[0].tensor->dtype);
}

static TsValue
quantized_linear (TsProgram *program, const TsCall *call)
{
  SlTensor like;
  Lower *o = &program->lower;
  LowerValue *x, *w;
  if (!begin (program, call, &x, &w, &like))
    return ts_none ();
  const SlOpParams params = { .fully_connected = { .keep_dims = TRUE,
                                                   .activation = activation_of (call),
                                                   .by_reciprocal = TRUE } };
  const gint32 input = lower_plain (o, x), weights = lower_plain (o, w);
  if (ts_failed (program))
    return ts_none ();
  const SlTensor t = *lower_t (o, input);
  const SlQuant quant = lower_t (o, weights)->quant;
  const gint32 bias = whole_bias (program, call->args[1].packed, &t, &quant, w->dims[0]),
               inputs[3] = { input, weights, bias };
  return ts_new_plain (
    program, lower_settled (o, SL_OP_FULLY_CONNECTED, inputs, bias >= 0 ? 3 : 2, &params, &like),
    call->args[0].tensor->dtype);
}

/* Weights of 8 bits, activations that stay real: closer to the float network than what quantises
 * them for each picture. */
static TsValue
dynamic_linear (TsProgram *program, const TsCall *call)
{
  const TsPacked *p = packed_of (program, call->args[1]);
  Lower *o = &program->lower;
  LowerValue *x = ts_read (program, call->args[0]),
             *w = p != NULL ? ts_read (program, tensor_of (p->weight)) : NULL;
  if (x == NULL || w == NULL)
    return ts_none ();
  const SlOpParams params = { .fully_connected = { .keep_dims = TRUE,
                                                   .activation =
                                                     strstr (call->op->name, "relu") != NULL
                                                       ? SL_ACTIVATION_RELU
                                                       : SL_ACTIVATION_NONE } };
  const gint32 bias =
    p->bias != NULL ? lower_plain (o, ts_read (program, tensor_of (p->bias))) : -1;
  const gint32 inputs[3] = { lower_plain (o, x), lower_plain (o, w), bias };
  return ts_new_plain (program,
                       lower_settled (o, SL_OP_FULLY_CONNECTED, inputs, bias >= 0 ? 3 : 2, &params,
                                      &(SlTensor){ .dtype = SL_DTYPE_F32 }),
                       TS_FLOAT32);
}

static TsValue
new_packed (TsProgram *program, TsPacked packed, TsValue weight, TsValue bias)
{
  TsPacked *copy = ts_alloc (program->heap, sizeof *copy);
  if (copy == NULL || weight.kind != TS_TENSOR || (bias.kind != TS_TENSOR && bias.kind != TS_NONE))
    return ts_refuse (program, SL_ERROR_FORMAT, "expected a weight and a bias");
  *copy = packed;
  copy->weight = weight.tensor;
  copy->bias = bias.kind == TS_TENSOR ? bias.tensor : NULL;
  return (TsValue){ .kind = TS_PACKED, .packed = copy };
}

static TsValue
pack_linear (TsProgram *program, const TsCall *call)
{
  return new_packed (program, (TsPacked){ .kind = TS_PACKED_QUANTIZED_LINEAR }, call->args[0],
                     call->args[1]);
}

/* Pairs of a convolution, from @call's arguments from the third on; along one dimension those of a
 * row, which has the weights' height. */
static TsValue
pack_pairs (TsProgram *program, const TsCall *call, TsPacked *packed, gint64 *const *pairs,
            guint n_pairs)
{
  TsValue weight = call->args[0];
  guint n = 0;
  for (guint i = 0; i < n_pairs; i++) {
    if (!ts_to_ints (program, call->args[2 + i], pairs[i], 2, &n))
      return ts_none ();
    if (n != 1 && n != 2)
      return ts_refuse (program, SL_ERROR_FORMAT, "%u numbers; expected 1 or 2", n);
    if (n == 2)
      continue;
    pairs[i][1] = pairs[i][0];
    pairs[i][0] = pairs[i] == packed->stride || pairs[i] == packed->dilation ? 1 : 0;
  }
  if (weight.kind == TS_TENSOR && weight.tensor->rank == 3) {
    const TsValue args[2] = { weight, ts_int (2) };
    weight = ts_run_op (program, "aten::unsqueeze", args, NULL, 2);
  }
  return new_packed (program, *packed, weight, call->args[1]);
}

static TsValue
pack_conv (TsProgram *program, const TsCall *call)
{
  TsPacked packed = { .kind = TS_PACKED_QUANTIZED_CONV,
                      .groups = ts_to_int (program, call->args[5]) };
  return pack_pairs (program, call, &packed,
                     (gint64 *const[]){ packed.stride, packed.padding, packed.dilation }, 3);
}

static TsValue
pack_transposed_conv (TsProgram *program, const TsCall *call)
{
  TsPacked packed = { .kind = TS_PACKED_QUANTIZED_CONV,
                      .groups = ts_to_int (program, call->args[6]),
                      .transposed = TRUE };
  return pack_pairs (
    program, call, &packed,
    (gint64 *const[]){ packed.stride, packed.padding, packed.output_padding, packed.dilation }, 4);
}

static TsValue
pack_float_conv (TsProgram *program, const TsCall *call)
{
  TsPacked packed = { .kind = TS_PACKED_CONV,
                      .groups = ts_to_int (program, call->args[5]),
                      .has_low = call->args[6].kind != TS_NONE,
                      .has_high = call->args[7].kind != TS_NONE };
  gint64 *const pairs[] = { packed.stride, packed.padding, packed.dilation };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    guint n = 0;
    if (ts_to_ints (program, call->args[2 + i], pairs[i], 2, &n) && n != 2)
      return ts_refuse (program, SL_ERROR_FORMAT, "%u numbers; expected 2", n);
  }
  packed.low = packed.has_low ? ts_to_float (program, call->args[6]) : 0;
  packed.high = packed.has_high ? ts_to_float (program, call->args[7]) : 0;
  return new_packed (program, packed, call->args[0], call->args[1]);
}

static TsValue
pack_float_linear (TsProgram *program, const TsCall *call)
{
  TsPacked packed = { .kind = TS_PACKED_LINEAR,
                      .has_low = call->args[2].kind != TS_NONE,
                      .has_high = call->args[3].kind != TS_NONE };
  packed.low = packed.has_low ? ts_to_float (program, call->args[2]) : 0;
  packed.high = packed.has_high ? ts_to_float (program, call->args[3]) : 0;
  return new_packed (program, packed, call->args[0], call->args[1]);
}

static TsValue
unpack (TsProgram *program, const TsCall *call)
{
  const TsPacked *p = packed_of (program, call->args[0]);
  if (p == NULL)
    return ts_none ();
  const TsValue pair[2] = { tensor_of (p->weight), tensor_of (p->bias) };
  return ts_tuple (program->heap, pair, 2);
}

const TsOp ts_ops_packed[] = {
  { "prepacked::conv2d_clamp_run", "x,packed", float_conv },
  { "prepacked::conv2d_transpose_clamp_run", "x,packed", float_conv },
  { "prepacked::linear_clamp_run", "x,packed", float_linear },
  { "prepacked::conv2d_clamp_prepack",
    "weight,bias,stride,padding,dilation,groups,min=None,max=None", pack_float_conv },
  { "prepacked::linear_clamp_prepack", "weight,bias,min=None,max=None", pack_float_linear },
  { "quantized::conv2d", "qx,packed,scale,zero_point", quantized_conv },
  { "quantized::conv2d_relu", "qx,packed,scale,zero_point", quantized_conv },
  { "quantized::linear", "qx,packed,scale,zero_point", quantized_linear },
  { "quantized::linear_relu", "qx,packed,scale,zero_point", quantized_linear },
  { "quantized::linear_dynamic", "x,packed,reduce_range=False", dynamic_linear },
  { "quantized::linear_relu_dynamic", "x,packed,reduce_range=False", dynamic_linear },
  { "quantized::linear_prepack", "weight,bias=None", pack_linear },
  { "quantized::conv2d_prepack", "weight,bias,stride,padding,dilation,groups", pack_conv },
  { "quantized::conv_prepack", "weight,bias,stride,padding,dilation,groups", pack_conv },
  { "quantized::conv1d", "qx,packed,scale,zero_point", quantized_conv },
  { "quantized::conv1d_relu", "qx,packed,scale,zero_point", quantized_conv },
  { "quantized::conv_transpose1d", "qx,packed,scale,zero_point", quantized_conv },
  { "quantized::conv_transpose2d", "qx,packed,scale,zero_point", quantized_conv },
  { "quantized::conv1d_prepack", "weight,bias,stride,padding,dilation,groups", pack_conv },
  { "quantized::conv_transpose1d_prepack",
    "weight,bias,stride,padding,output_padding,dilation,groups", pack_transposed_conv },
  { "quantized::conv_transpose2d_prepack",
    "weight,bias,stride,padding,output_padding,dilation,groups", pack_transposed_conv },
  { "quantized::conv_transpose2d_unpack", "packed", unpack },
  { "quantized::linear_unpack", "packed", unpack },
  { "quantized::conv2d_unpack", "packed", unpack },
  { NULL },
};
