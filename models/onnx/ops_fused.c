/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes of the domain com.microsoft, which ONNX Runtime's optimiser fuses: they are split again, since the passes here fuse nodes
 * themselves. */
#include <math.h>
#include <string.h>

#include "models/onnx/build.h"
#include "models/onnx/ops.h"

static OnnxAttribute
number (const char *name, gfloat value)
{
  return (OnnxAttribute){ .name = name, .f = value };
}

/* @x within limits. */
static OnnxValue *
limited (Onnx *o, OnnxValue *x, gfloat low, gfloat high)
{
  OnnxValue *ends[2] = { onnx_value_new (o, onnx_float (o, low), FALSE), onnx_value_new (o, onnx_float (o, high), FALSE) };
  x = onnx_call (o, "Max", (OnnxValue *[]){ x, ends[0] }, 2, NULL, 0);
  return onnx_call (o, "Min", (OnnxValue *[]){ x, ends[1] }, 2, NULL, 0);
}

/* The activation that the node names, if any, with its parameters. */
static OnnxValue *
activated (Onnx *o, OnnxValue *x, const gfloat *params, guint n)
{
  static const char *const plain[] = { "Relu", "Sigmoid", "Tanh", "HardSwish", "Softplus", "Softsign" };
  const char *name = onnx_attr_text (o, "activation", "");
  OnnxAttribute attributes[2];
  if (name[0] == '\0' || o->error != NULL)
    return x;
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (strcmp (name, plain[i]) == 0)
      return onnx_call (o, name, &x, 1, NULL, 0);
  if (strcmp (name, "Clip") == 0)
    return limited (o, x, n > 0 ? params[0] : -G_MAXFLOAT, n > 1 ? params[1] : G_MAXFLOAT);
  if (strcmp (name, "LeakyRelu") == 0 || strcmp (name, "Elu") == 0) {
    attributes[0] = number ("alpha", n > 0 ? params[0] : name[0] == 'L' ? 0.01f : 1);
    return onnx_call (o, name, &x, 1, attributes, 1);
  }
  if (strcmp (name, "HardSigmoid") == 0) {
    attributes[0] = number ("alpha", n > 0 ? params[0] : 0.2f);
    attributes[1] = number ("beta", n > 1 ? params[1] : 0.5f);
    return onnx_call (o, name, &x, 1, attributes, 2);
  }
  onnx_fail (
    o, SL_ERROR_UNSUPPORTED,
    "attribute activation is '%s'; expected Relu, Sigmoid, Tanh, LeakyRelu, Elu, Clip, HardSigmoid, HardSwish, Softplus or Softsign", name);
  return NULL;
}

/* Input 3 is added before the activation. */
void
onnx_fused_conv (Onnx *o)
{
  OnnxValue *inputs[3] = { onnx_required (o, 0), onnx_required (o, 1), onnx_input (o, 2) }, *more = onnx_input (o, 3);
  const OnnxAttribute *params = onnx_attribute (o, "activation_params");
  OnnxValue *y = onnx_call (o, "Conv", inputs, 3, o->node->attributes, o->node->n_attributes);
  if (more != NULL)
    y = onnx_call (o, "Add", (OnnxValue *[]){ y, more }, 2, NULL, 0);
  onnx_set_value (o, 0, activated (o, y, params != NULL ? params->floats : NULL, params != NULL ? params->n_floats : 0));
}

void
onnx_fused_gemm (Onnx *o)
{
  OnnxValue *inputs[3] = { onnx_required (o, 0), onnx_required (o, 1), onnx_input (o, 2) };
  const gfloat params[2] = { onnx_attr_float (o, "activation_alpha", 0), onnx_attr_float (o, "activation_beta", 0) };
  const guint n = onnx_attribute (o, "activation_beta") != NULL ? 2 : onnx_attribute (o, "activation_alpha") != NULL;
  OnnxValue *y = onnx_call (o, "Gemm", inputs, 3, o->node->attributes, o->node->n_attributes);
  onnx_set_value (o, 0, activated (o, y, params, n));
}

/* Transposed as the node says; the factor goes into a constant where one is. */
void
onnx_fused_mat_mul (Onnx *o)
{
  OnnxValue *values[2] = { onnx_required (o, 0), onnx_required (o, 1) };
  static const char *const names[2] = { "transA", "transB" }, *const batches[2] = { "transBatchA", "transBatchB" };
  const gint32 alpha = onnx_float (o, onnx_attr_float (o, "alpha", 1));
  gsize n = 0;
  for (guint i = 0; i < 2 && o->error == NULL; i++) {
    if (onnx_attr_int (o, batches[i], 0) != 0)
      onnx_fail (o, SL_ERROR_UNSUPPORTED, "attribute %s is 1; expected 0", batches[i]);
    if (onnx_attr_int (o, names[i], 0) != 0 && values[i]->rank > 1)
      values[i] = onnx_value_new (o, onnx_swap_last (o, onnx_plain (o, values[i])), FALSE);
  }
  OnnxValue *factor = onnx_value_new (o, alpha, FALSE);
  const gboolean scaled = onnx_attr_float (o, "alpha", 1) != 1, constant = onnx_data (o, values[1], &n) != NULL;
  if (scaled && constant)
    values[1] = onnx_call (o, "Mul", (OnnxValue *[]){ values[1], factor }, 2, NULL, 0);
  OnnxValue *y = onnx_call (o, "MatMul", values, 2, NULL, 0);
  onnx_set_value (o, 0, scaled && !constant ? onnx_call (o, "Mul", (OnnxValue *[]){ y, factor }, 2, NULL, 0) : y);
}

/* With a bias, input 1, before it. */
static void
gelu_of_sum (Onnx *o, gboolean approximate)
{
  const SlOpParams params = { .gelu = { .approximate = approximate } };
  gint32 x = onnx_plain (o, onnx_required (o, 0));
  if (onnx_has_input (o, 1))
    x = onnx_binary (o, SL_OP_ADD, x, onnx_plain (o, onnx_input (o, 1)));
  onnx_set (o, 0, onnx_emit (o, SL_OP_GELU, &x, 1, &params, SL_DTYPE_F32), FALSE);
}

void
onnx_bias_gelu (Onnx *o)
{
  gelu_of_sum (o, FALSE);
}

void
onnx_fast_gelu (Onnx *o)
{
  gelu_of_sum (o, TRUE);
}

void
onnx_quick_gelu (Onnx *o)
{
  gboolean last = FALSE;
  const gint32 x = onnx_any (o, onnx_required (o, 0), &last);
  const gint32 wide = onnx_binary (o, SL_OP_MUL, x, onnx_float (o, onnx_attr_float (o, "alpha", 1.702f)));
  onnx_set (o, 0, onnx_binary (o, SL_OP_MUL, x, onnx_unary (o, SL_OP_LOGISTIC, wide)), last);
}

/* Normalises the sum of two tensors and a bias: inputs 0, 1 and @bias; output 3 is that sum. */
static void
skip_norm (Onnx *o, const char *op, OnnxValue *offset, guint bias)
{
  const OnnxAttribute attributes[2] = { number ("epsilon", onnx_attr_float (o, "epsilon", 1e-12f)), { .name = "axis", .i = -1 } };
  gint32 sum = onnx_binary (o, SL_OP_ADD, onnx_plain (o, onnx_required (o, 0)), onnx_plain (o, onnx_required (o, 1)));
  if (onnx_has_input (o, bias))
    sum = onnx_binary (o, SL_OP_ADD, sum, onnx_plain (o, onnx_input (o, bias)));
  if (onnx_has_output (o, 1) || onnx_has_output (o, 2))
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "outputs 1 and 2, of training, are not supported; export the model for inference");
  OnnxValue *inputs[3] = { onnx_value_new (o, sum, FALSE), onnx_required (o, 2), offset };
  OnnxValue *y = onnx_call (o, op, inputs, offset != NULL ? 3 : 2, attributes, 2);
  onnx_set_value (o, 0, y);
  onnx_set_value (o, 3, inputs[0]);
}

void
onnx_skip_layer_norm (Onnx *o)
{
  skip_norm (o, "LayerNormalization", onnx_input (o, 3), 4);
}

void
onnx_skip_rms_norm (Onnx *o)
{
  skip_norm (o, "RMSNormalization", NULL, 3);
}
