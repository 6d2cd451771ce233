/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions and linear layers with packed weights: those of torch.utils.mobile_optimizer, which are float and clamp, and quantised ones. */
#include <math.h>
#include <string.h>

#include "models/onnx/ops.h"
#include "models/torchscript/quantized.h"
#include "models/torchscript/shape.h"

static const TsPacked *
packed_of (TsProgram *program, TsValue value)
{
  if (value.kind == TS_PACKED && value.packed->weight != NULL)
    return value.packed;
  ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s; expected packed parameters", ts_kind_name (value.kind));
  return NULL;
}

static TsValue
tensor_of (TsTensor *tensor)
{
  return tensor == NULL ? ts_none () : (TsValue){ .kind = TS_TENSOR, .tensor = tensor };
}

static TsValue
pair_of (TsProgram *program, const gint64 pair[2])
{
  const TsValue items[2] = { ts_int (pair[0]), ts_int (pair[1]) };
  TsValue list = ts_tuple (program->heap, items, 2);
  if (list.kind == TS_TUPLE)
    list.kind = TS_LIST;
  return list;
}

static TsValue
clamped (TsProgram *program, const TsPacked *packed, TsValue y)
{
  const TsValue args[3] = { y, packed->has_low ? ts_float (packed->low) : ts_none (),
                            packed->has_high ? ts_float (packed->high) : ts_none () };
  return packed->has_low || packed->has_high ? ts_run_op (program, "aten::clamp", args, NULL, 3) : y;
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
                            pair_of (program, p->stride),
                            pair_of (program, p->padding),
                            pair_of (program, p->dilation),
                            ts_bool (p->transposed),
                            pair_of (program, p->output_padding),
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
whole_bias (TsProgram *program, const TsPacked *packed, const SlTensor *input, const SlQuant *weights, gint32 channels)
{
  gsize n = 0;
  Onnx *o = &program->onnx;
  OnnxValue *bias = packed->bias != NULL ? ts_read (program, tensor_of (packed->bias)) : NULL;
  const gfloat *real = bias != NULL ? onnx_data (o, bias, &n) : NULL;
  if (ts_failed (program) || packed->bias == NULL)
    return -1;
  if (real == NULL || n != (gsize) channels || onnx_dtype (o, bias) != SL_DTYPE_F32) {
    ts_refuse (program, SL_ERROR_FORMAT, "its bias has %" G_GSIZE_FORMAT " numbers; expected %d of float32", n, channels);
    return -1;
  }
  g_autofree gint32 *whole = g_new (gint32, n);
  for (gsize i = 0; i < n; i++) {
    const gfloat scale = sl_tensor_scale (input) * weights->scale[weights->count > 1 ? i : 0], units = rintf (real[i] * (1 / scale));
    whole[i] = units >= 2147483648.0f ? G_MAXINT32 : units >= -2147483648.0f ? (gint32) units : G_MININT32;
  }
  return onnx_constant (o, SL_DTYPE_I32, 1, &channels, whole);
}

/* A quantised tensor and what the result is: FALSE after an error. */
static gboolean
begin (TsProgram *program, const TsCall *call, OnnxValue **x, OnnxValue **weights, SlTensor *like)
{
  const TsPacked *p = packed_of (program, call->args[1]);
  *x = ts_read (program, call->args[0]);
  if (p == NULL || *x == NULL)
    return FALSE;
  if (!ts_is_quantized (call->args[0].tensor->dtype) || p->weight->quant.n == 0) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "its input is %s and its weights are %s; expected quantised ones",
               ts_dtype_name (call->args[0].tensor->dtype), ts_dtype_name (p->weight->dtype));
    return FALSE;
  }
  *weights = ts_read (program, tensor_of (p->weight));
  return *weights != NULL && ts_quantized_result (program, call->args[0].tensor->dtype, call->args[2], call->args[3], like);
}

static SlActivation
activation_of (const TsCall *call)
{
  return g_str_has_suffix (call->op->name, "_relu") ? SL_ACTIVATION_RELU : SL_ACTIVATION_NONE;
}

static TsValue
quantized_conv (TsProgram *program, const TsCall *call)
{
  SlTensor like;
  SlOpType op;
  Onnx *o = &program->onnx;
  OnnxValue *x, *w;
  if (!begin (program, call, &x, &w, &like))
    return ts_none ();
  const TsPacked *p = call->args[1].packed;
  for (guint i = 0; i < 2; i++)
    if (p->stride[i] < 1 || p->dilation[i] < 1 || p->padding[i] < 0 || p->stride[i] > G_MAXINT16 || p->dilation[i] > G_MAXINT16
        || p->padding[i] > G_MAXINT16)
      return ts_refuse (program, SL_ERROR_FORMAT, "a stride, dilation or padding is outside 0..%d", G_MAXINT16);
  if (p->transposed || x->rank != 4 || w->rank != 4)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "quantised convolutions that are transposed or not along 2 dimensions are not supported");
  const SlOpParams params = { .window = { .padding = SL_PADDING_EXPLICIT,
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
  const gint32 input = onnx_last (o, x), plain = onnx_plain (o, w);
  const gint32 filter = onnx_conv_weights (o, plain, p->groups, x->dims[1], &op);
  if (ts_failed (program))
    return ts_none ();
  const SlTensor t = *onnx_t (o, input);
  const SlQuant quant = onnx_t (o, plain)->quant;
  const gint32 bias = whole_bias (program, p, &t, &quant, w->dims[0]), inputs[3] = { input, filter, bias };
  return ts_new_last (program, onnx_settled (o, op, inputs, bias >= 0 ? 3 : 2, &params, &like), call->args[0].tensor->dtype);
}

static TsValue
quantized_linear (TsProgram *program, const TsCall *call)
{
  SlTensor like;
  Onnx *o = &program->onnx;
  OnnxValue *x, *w;
  if (!begin (program, call, &x, &w, &like))
    return ts_none ();
  const SlOpParams params = { .fully_connected = { .keep_dims = TRUE, .activation = activation_of (call), .by_reciprocal = TRUE } };
  const gint32 input = onnx_plain (o, x), weights = onnx_plain (o, w);
  if (ts_failed (program))
    return ts_none ();
  const SlTensor t = *onnx_t (o, input);
  const SlQuant quant = onnx_t (o, weights)->quant;
  const gint32 bias = whole_bias (program, call->args[1].packed, &t, &quant, w->dims[0]), inputs[3] = { input, weights, bias };
  return ts_new_plain (program, onnx_settled (o, SL_OP_FULLY_CONNECTED, inputs, bias >= 0 ? 3 : 2, &params, &like),
                       call->args[0].tensor->dtype);
}

/* Weights of 8 bits, activations that stay real: closer to the float network than what quantises them for each picture. */
static TsValue
dynamic_linear (TsProgram *program, const TsCall *call)
{
  const TsPacked *p = packed_of (program, call->args[1]);
  Onnx *o = &program->onnx;
  OnnxValue *x = ts_read (program, call->args[0]), *w = p != NULL ? ts_read (program, tensor_of (p->weight)) : NULL;
  if (x == NULL || w == NULL)
    return ts_none ();
  const SlOpParams params = { .fully_connected = { .keep_dims = TRUE,
                                                   .activation =
                                                     strstr (call->op->name, "relu") != NULL ? SL_ACTIVATION_RELU : SL_ACTIVATION_NONE } };
  const gint32 bias = p->bias != NULL ? onnx_plain (o, ts_read (program, tensor_of (p->bias))) : -1;
  const gint32 inputs[3] = { onnx_plain (o, x), onnx_plain (o, w), bias };
  return ts_new_plain (
    program, onnx_settled (o, SL_OP_FULLY_CONNECTED, inputs, bias >= 0 ? 3 : 2, &params, &(SlTensor){ .dtype = SL_DTYPE_F32 }), TS_FLOAT32);
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
  return new_packed (program, (TsPacked){ .kind = TS_PACKED_QUANTIZED_LINEAR }, call->args[0], call->args[1]);
}

static TsValue
pack_conv (TsProgram *program, const TsCall *call)
{
  TsPacked packed = { .kind = TS_PACKED_QUANTIZED_CONV, .groups = ts_to_int (program, call->args[5]) };
  gint64 *const pairs[] = { packed.stride, packed.padding, packed.dilation };
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    guint n = 0;
    if (ts_to_ints (program, call->args[2 + i], pairs[i], 2, &n) && n != 2)
      return ts_refuse (program, SL_ERROR_FORMAT, "%u numbers; expected 2", n);
  }
  return new_packed (program, packed, call->args[0], call->args[1]);
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
  TsPacked packed = { .kind = TS_PACKED_LINEAR, .has_low = call->args[2].kind != TS_NONE, .has_high = call->args[3].kind != TS_NONE };
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
  { "prepacked::conv2d_clamp_run", "x,packed", float_conv, NULL, 0 },
  { "prepacked::conv2d_transpose_clamp_run", "x,packed", float_conv, NULL, 0 },
  { "prepacked::linear_clamp_run", "x,packed", float_linear, NULL, 0 },
  { "prepacked::conv2d_clamp_prepack", "weight,bias,stride,padding,dilation,groups,min=None,max=None", pack_float_conv, NULL, 0 },
  { "prepacked::linear_clamp_prepack", "weight,bias,min=None,max=None", pack_float_linear, NULL, 0 },
  { "quantized::conv2d", "qx,packed,scale,zero_point", quantized_conv, NULL, 0 },
  { "quantized::conv2d_relu", "qx,packed,scale,zero_point", quantized_conv, NULL, 0 },
  { "quantized::linear", "qx,packed,scale,zero_point", quantized_linear, NULL, 0 },
  { "quantized::linear_relu", "qx,packed,scale,zero_point", quantized_linear, NULL, 0 },
  { "quantized::linear_dynamic", "x,packed,reduce_range=False", dynamic_linear, NULL, 0 },
  { "quantized::linear_relu_dynamic", "x,packed,reduce_range=False", dynamic_linear, NULL, 0 },
  { "quantized::linear_prepack", "weight,bias=None", pack_linear, NULL, 0 },
  { "quantized::conv2d_prepack", "weight,bias,stride,padding,dilation,groups", pack_conv, NULL, 0 },
  { "quantized::conv_prepack", "weight,bias,stride,padding,dilation,groups", pack_conv, NULL, 0 },
  { "quantized::linear_unpack", "packed", unpack, NULL, 0 },
  { "quantized::conv2d_unpack", "packed", unpack, NULL, 0 },
  { NULL, NULL, NULL, NULL, 0 },
};
