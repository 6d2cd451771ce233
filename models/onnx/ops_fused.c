/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes of the domain com.microsoft, which ONNX Runtime's optimiser fuses: they are split again,
 * since the passes here fuse nodes themselves. */
#include <string.h>

#include "models/onnx/ops.h"

static LowerAttribute
number (const char *name, gfloat value)
{
  return (LowerAttribute){ .name = name, .f = value };
}

/* @x within limits. */
static LowerValue *
limited (Lower *o, LowerValue *x, gfloat low, gfloat high)
{
  LowerValue *ends[2] = { lower_value_new (o, lower_float (o, low), FALSE),
                          lower_value_new (o, lower_float (o, high), FALSE) };
  x = lower_call (o, "Max", (LowerValue *[]){ x, ends[0] }, 2, NULL, 0);
  return lower_call (o, "Min", (LowerValue *[]){ x, ends[1] }, 2, NULL, 0);
}

/* The activation that the node names, if any, with its parameters. */
static LowerValue *
activated (Lower *o, LowerValue *x, const gfloat *params, guint n)
{
  static const char *const plain[] = { "Relu",      "Sigmoid",  "Tanh",
                                       "HardSwish", "Softplus", "Softsign" };
  const char *name = lower_attr_text (o, "activation", "");
  LowerAttribute attributes[2];
  if (name[0] == '\0' || o->error != NULL)
    return x;
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (strcmp (name, plain[i]) == 0)
      return lower_call (o, name, &x, 1, NULL, 0);
  if (strcmp (name, "Clip") == 0)
    return limited (o, x, n > 0 ? params[0] : -G_MAXFLOAT, n > 1 ? params[1] : G_MAXFLOAT);
  if (strcmp (name, "LeakyRelu") == 0 || strcmp (name, "Elu") == 0) {
    attributes[0] = number ("alpha", n > 0 ? params[0] : name[0] == 'L' ? 0.01f : 1);
    return lower_call (o, name, &x, 1, attributes, 1);
  }
  if (strcmp (name, "HardSigmoid") == 0) {
    attributes[0] = number ("alpha", n > 0 ? params[0] : 0.2f);
    attributes[1] = number ("beta", n > 1 ? params[1] : 0.5f);
    return lower_call (o, name, &x, 1, attributes, 2);
  }
  return lower_fail_null (
    o, SL_ERROR_UNSUPPORTED,
    "attribute activation is '%s'; expected Relu, Sigmoid, Tanh, LeakyRelu, Elu, Clip, "
    "HardSigmoid, HardSwish, Softplus or Softsign",
    name);
}

/* Input 3 is added before the activation. */
void
onnx_fused_conv (Lower *o)
{
  LowerValue *inputs[3] = { lower_required (o, 0), lower_required (o, 1), lower_input (o, 2) },
             *more = lower_input (o, 3);
  const LowerAttribute *params = lower_attribute (o, "activation_params");
  LowerValue *y = lower_call (o, "Conv", inputs, 3, o->node->attributes, o->node->n_attributes);
  if (more != NULL)
    y = lower_call (o, "Add", (LowerValue *[]){ y, more }, 2, NULL, 0);
  lower_set_value (o, 0,
                   activated (o, y, params != NULL ? params->floats : NULL,
                              params != NULL ? params->n_floats : 0));
}

void
onnx_fused_gemm (Lower *o)
{
  LowerValue *inputs[3] = { lower_required (o, 0), lower_required (o, 1), lower_input (o, 2) };
  const gfloat params[2] = { lower_attr_float (o, "activation_alpha", 0),
                             lower_attr_float (o, "activation_beta", 0) };
  const guint n = lower_attribute (o, "activation_beta") != NULL
                    ? 2
                    : lower_attribute (o, "activation_alpha") != NULL;
  LowerValue *y = lower_call (o, "Gemm", inputs, 3, o->node->attributes, o->node->n_attributes);
  lower_set_value (o, 0, activated (o, y, params, n));
}

/* Transposed as the node says; the factor goes into a constant where one is. */
void
onnx_fused_mat_mul (Lower *o)
{
  LowerValue *values[2] = { lower_required (o, 0), lower_required (o, 1) };
  static const char *const names[2] = { "transA", "transB" }, *const batches[2] = { "transBatchA",
                                                                                    "transBatchB" };
  const gint32 alpha = lower_float (o, lower_attr_float (o, "alpha", 1));
  gsize n = 0;
  for (guint i = 0; i < 2 && o->error == NULL; i++) {
    if (lower_attr_int (o, batches[i], 0) != 0)
      lower_fail (o, SL_ERROR_UNSUPPORTED, "attribute %s is 1; expected 0", batches[i]);
    if (lower_attr_int (o, names[i], 0) != 0 && values[i]->rank > 1)
      values[i] = lower_value_new (o, lower_swap_last (o, lower_plain (o, values[i])), FALSE);
  }
  LowerValue *factor = lower_value_new (o, alpha, FALSE);
  const gboolean scaled = lower_attr_float (o, "alpha", 1) != 1,
                 constant = lower_data (o, values[1], &n) != NULL;
  if (scaled && constant)
    values[1] = lower_call (o, "Mul", (LowerValue *[]){ values[1], factor }, 2, NULL, 0);
  LowerValue *y = lower_call (o, "MatMul", values, 2, NULL, 0);
  lower_set_value (
    o, 0,
    scaled && !constant ? lower_call (o, "Mul", (LowerValue *[]){ y, factor }, 2, NULL, 0) : y);
}

/* With a bias, input 1, before it. */
static void
gelu_of_sum (Lower *o, gboolean approximate)
{
  const SlOpParams params = { .gelu = { .approximate = approximate } };
  gint32 x = lower_plain (o, lower_required (o, 0));
  if (lower_has_input (o, 1))
    x = lower_binary (o, SL_OP_ADD, x, lower_plain (o, lower_input (o, 1)));
  lower_set (o, 0, lower_emit (o, SL_OP_GELU, &x, 1, &params, SL_DTYPE_F32), FALSE);
}

void
onnx_bias_gelu (Lower *o)
{
  gelu_of_sum (o, FALSE);
}

void
onnx_fast_gelu (Lower *o)
{
  gelu_of_sum (o, TRUE);
}

void
onnx_quick_gelu (Lower *o)
{
  gboolean last = FALSE;
  const gint32 x = lower_any (o, lower_required (o, 0), &last);
  const gint32 wide =
    lower_binary (o, SL_OP_MUL, x, lower_float (o, lower_attr_float (o, "alpha", 1.702f)));
  lower_set (o, 0, lower_binary (o, SL_OP_MUL, x, lower_unary (o, SL_OP_LOGISTIC, wide)), last);
}

/* Normalises the sum of two tensors and a bias: inputs 0, 1 and @bias; output 3 is that sum. */
static void
skip_norm (Lower *o, const char *op, LowerValue *offset, guint bias)
{
  const LowerAttribute attributes[2] = {
    number ("epsilon", lower_attr_float (o, "epsilon", 1e-12f)), { .name = "axis", .i = -1 }
  };
  gint32 sum = lower_binary (o, SL_OP_ADD, lower_plain (o, lower_required (o, 0)),
                             lower_plain (o, lower_required (o, 1)));
  if (lower_has_input (o, bias))
    sum = lower_binary (o, SL_OP_ADD, sum, lower_plain (o, lower_input (o, bias)));
  if (lower_has_output (o, 1) || lower_has_output (o, 2))
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "outputs 1 and 2, of training, are not supported; export the model for inference");
  LowerValue *inputs[3] = { lower_value_new (o, sum, FALSE), lower_required (o, 2), offset };
  LowerValue *y = lower_call (o, op, inputs, offset != NULL ? 3 : 2, attributes, 2);
  lower_set_value (o, 0, y);
  lower_set_value (o, 3, inputs[0]);
}

void
onnx_skip_layer_norm (Lower *o)
{
  skip_norm (o, "LayerNormalization", lower_input (o, 3), 4);
}

void
onnx_skip_rms_norm (Lower *o)
{
  skip_norm (o, "RMSNormalization", NULL, 3);
}
