/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Normalisations with learnt or measured statistics. Without weights they count as one, without
 * biases as zero. */
#include <float.h>
#include <math.h>

#include "models/aten/ops.h"
#include "models/aten/shape.h"

#define MAX_CHANNELS (1 << 20)

/* A vector of @n equal floats, where the program gives no tensor. */
static LowerValue *
or_constant (TsProgram *program, TsValue value, gint32 n, gfloat fallback)
{
  if (value.kind != TS_NONE)
    return ts_read (program, value);
  if (n < 1 || n > MAX_CHANNELS) {
    ts_refuse (program, SL_ERROR_LIMIT, "%d channels; expected 1 to %d", n, MAX_CHANNELS);
    return NULL;
  }
  g_autofree gfloat *numbers = g_new (gfloat, (gsize) n);
  for (gint32 i = 0; i < n; i++)
    numbers[i] = fallback;
  return ts_constant_floats (program, numbers, (guint) n);
}

static TsValue
batch_norm (TsProgram *program, const TsCall *call)
{
  const LowerAttribute epsilon = ts_attr_float ("epsilon", ts_to_float (program, call->args[7]));
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank < 2)
    return ts_refuse (program, SL_ERROR_SHAPE, "a tensor of %u dimensions",
                      x != NULL ? x->rank : 0);
  if (ts_truth (program, call->args[5]) || call->args[3].kind == TS_NONE)
    return ts_refuse (
      program, SL_ERROR_UNSUPPORTED,
      "it has no measured mean, or is in training; call model.eval() before the model is exported");
  LowerValue *const inputs[5] = { x, or_constant (program, call->args[1], x->dims[1], 1),
                                  or_constant (program, call->args[2], x->dims[1], 0),
                                  ts_read (program, call->args[3]),
                                  ts_read (program, call->args[4]) };
  return ts_new (program, ts_onnx (program, "BatchNormalization", inputs, 5, &epsilon, 1),
                 TS_FLOAT32);
}

static TsValue
instance_norm (TsProgram *program, const TsCall *call)
{
  const LowerAttribute epsilon = ts_attr_float ("epsilon", ts_to_float (program, call->args[7]));
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank < 3)
    return ts_refuse (program, SL_ERROR_SHAPE, "a tensor of %u dimensions",
                      x != NULL ? x->rank : 0);
  LowerValue *const inputs[5] = {
    x, or_constant (program, call->args[1], x->dims[1], 1),
    or_constant (program, call->args[2], x->dims[1], 0),
    call->args[3].kind != TS_NONE ? ts_read (program, call->args[3]) : NULL,
    call->args[4].kind != TS_NONE ? ts_read (program, call->args[4]) : NULL
  };
  const gboolean measured =
    !ts_truth (program, call->args[5]) && inputs[3] != NULL && inputs[4] != NULL;
  return ts_new (program,
                 ts_onnx (program, measured ? "BatchNormalization" : "InstanceNormalization",
                          inputs, measured ? 5 : 3, &epsilon, 1),
                 TS_FLOAT32);
}

/* ONNX's @op over the last dimensions, of which there are as many as the second argument has; the
 * third argument is the scale. */
static TsValue
normalize_last (TsProgram *program, const TsCall *call, const char *op, TsValue bias,
                gdouble epsilon)
{
  gint64 shape[SL_MAX_RANK], count = 1;
  guint n = 0;
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || !ts_to_ints (program, call->args[1], shape, SL_MAX_RANK, &n))
    return ts_none ();
  for (guint i = 0; i < n; i++)
    count = MIN (count * CLAMP (shape[i], 1, G_MAXINT16), G_MAXINT32);
  const LowerAttribute attributes[2] = { ts_attr_float ("epsilon", epsilon),
                                         ts_attr_int ("axis", -(gint64) n) };
  LowerValue *scale = or_constant (program, call->args[2], (gint32) count, 1);
  LowerValue *const inputs[3] = { x, ts_reshaped (program, scale, shape, n),
                                  bias.kind != TS_NONE ? ts_read (program, bias) : NULL };
  return ts_new (program, ts_onnx (program, op, inputs, 3, attributes, 2), TS_FLOAT32);
}

static TsValue
layer_norm (TsProgram *program, const TsCall *call)
{
  return normalize_last (program, call, "LayerNormalization", call->args[3],
                         ts_to_float (program, call->args[4]));
}

/* Torch's default is the step of floats at 1. */
static TsValue
rms_norm (TsProgram *program, const TsCall *call)
{
  return normalize_last (program, call, "RMSNormalization", ts_none (),
                         call->args[3].kind != TS_NONE ? ts_to_float (program, call->args[3])
                                                       : (gdouble) FLT_EPSILON);
}

/* As torch's exporter has it: instance normalisation of the groups, then scale and bias of the
 * channels. */
static TsValue
group_norm (TsProgram *program, const TsCall *call)
{
  gint64 dims[SL_MAX_RANK], per_channel[SL_MAX_RANK];
  const gint64 groups = ts_to_int (program, call->args[1]);
  const LowerAttribute epsilon = ts_attr_float ("epsilon", ts_to_float (program, call->args[4]));
  LowerValue *x = ts_read (program, call->args[0]);
  if (x == NULL || x->rank < 2 || groups < 1 || groups > G_MAXINT16 || x->dims[1] % groups != 0)
    return ts_refuse (program, SL_ERROR_SHAPE, "%" G_GINT64_FORMAT " groups do not fit the tensor",
                      groups);
  for (guint i = 0; i < x->rank; i++) {
    dims[i] = x->dims[i];
    per_channel[i] = i == 0 ? x->dims[1] : 1;
  }
  const gint64 flat[3] = { x->dims[0], groups,
                           (gint64) lower_elements (x) / MAX (x->dims[0] * groups, 1) };
  LowerValue *const inputs[3] = { ts_reshaped (program, x, flat, 3),
                                  or_constant (program, ts_none (), (gint32) groups, 1),
                                  or_constant (program, ts_none (), (gint32) groups, 0) };
  LowerValue *y = ts_reshaped (
    program, ts_onnx (program, "InstanceNormalization", inputs, 3, &epsilon, 1), dims, x->rank);
  for (guint i = 2; i < 4; i++)
    if (call->args[i].kind != TS_NONE)
      y = ts_onnx_pair (
        program, i == 2 ? "Mul" : "Add", y,
        ts_reshaped (program, ts_read (program, call->args[i]), per_channel, x->rank - 1));
  return ts_new (program, y, TS_FLOAT32);
}

const TsOp ts_ops_norm[] = {
  { "aten::batch_norm",
    "input,weight,bias,running_mean,running_var,training,momentum,eps,cudnn_enabled=None",
    batch_norm },
  { "aten::instance_norm",
    "input,weight,bias,running_mean,running_var,use_input_stats,momentum,eps,cudnn_enabled=None",
    instance_norm },
  { "aten::layer_norm", "input,normalized_shape,weight=None,bias=None,eps=1e-05,cudnn_enable=None",
    layer_norm },
  { "aten::rms_norm", "input,normalized_shape,weight=None,eps=None", rms_norm },
  { "aten::group_norm", "input,num_groups,weight=None,bias=None,eps=1e-05,cudnn_enabled=None",
    group_norm },
  { NULL },
};
