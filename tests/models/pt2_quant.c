/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Quantised programs of torch.export, against results of torch 2.6: ranges narrower than the type,
 * layers between codes, computed scales, scales of rows and of blocks; and what is refused. */
#include <math.h>
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/models/pt2_run.h"
#include "tests/support/program.h"

#define Q "torch.ops.quantized_decomposed."
#define UINT8 1
#define INT8 2
#define INT32 4
#define INT16 3
#define NUMBER(name, text) PT2_ARG (name, "{\"as_float\":" text "}")
#define WHOLE(name, text) PT2_ARG (name, "{\"as_int\":" text "}")
#define TYPE(name, text) PT2_ARG (name, "{\"as_scalar_type\":" text "}")

#define CHANNELS(input, scales, zeros, axis)                                                  \
  PT2_TENSOR_ARG ("input", input)                                                             \
  "," PT2_TENSOR_ARG ("scales", scales) "," PT2_TENSOR_ARG ("zero_points", zeros) "," WHOLE ( \
    "axis", axis) "," WHOLE ("quant_min", "-127") "," WHOLE ("quant_max",                     \
                                                             "127") "," TYPE ("dtype", "2")

static const gint8 weights[] = { 1, -2, 3, 4, -127, 5, 0, 100 };
static const gint64 pair[] = { 2 }, matrix[] = { 2, 4 }, square[] = { 2, 2 };

/* A tensor of the file, called as its key. */
static void
constant (SlPt2Writer *w, const char *name, guint dtype, const void *bytes, gsize length,
          guint rank, const gint64 *dims)
{
  sl_pt2_weight (w, "buffer", name, name);
  sl_pt2_storage (w, name, dtype, bytes, length);
  sl_pt2_tensor (w, name, name, 0, rank, dims, NULL);
}

static void
node_of (SlPt2Writer *w, const char *target, const char *input, const char *rest,
         const char *output)
{
  g_autofree char *args = g_strdup_printf (
    "{\"name\":\"input\",\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}},%s", input, rest);
  sl_pt2_node (w, target, args, output);
}

/* Codes of @input and what they stand for. */
static void
through_codes (SlPt2Writer *w, const char *input, const char *args, const char *codes,
               const char *output)
{
  node_of (w, Q "quantize_per_tensor.default", input, args, codes);
  node_of (w, Q "dequantize_per_tensor.default", codes, args, output);
}

static char *
codes_args (const char *scale, gint zero, gint low, gint high, guint dtype)
{
  return g_strdup_printf (
    NUMBER ("scale", "%s") "," WHOLE ("zero_point", "%d") "," WHOLE ("quant_min", "%d") "," WHOLE (
      "quant_max", "%d") "," TYPE ("dtype", "%u"),
    scale, zero, low, high, dtype);
}

/* Codes saturate where the program says, which may be within the type's range. */
static void
test_ranges (void)
{
  static const struct
  {
    gint zero, low, high;
    guint dtype;
    gfloat y[4];
  } rows[] = {
    { 10, 0, 255, UINT8, { 1.5f, -2, 0.5f, 122.5f } },
    { 10, 0, 127, UINT8, { 1.5f, -2, 0.5f, 58.5f } },
    { 0, -127, 127, INT8, { 1.5f, -2, 0.5f, 63.5f } },
    { -3, -4, 20, INT8, { 1.5f, -0.5f, 0.5f, 11.5f } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlPt2Writer *w = sl_pt2_writer_new (TRUE);
    g_autofree char *args =
      codes_args ("0.5", rows[i].zero, rows[i].low, rows[i].high, rows[i].dtype);
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
    through_codes (w, "x", args, "q", "y");
    sl_pt2_output (w, "y", NULL);
    expect_pt2 (w, (const gfloat[]){ 1.3f, -2, 0.26f, 400 }, rows[i].y, 4);
  }
}

static SlPt2Writer *
linear_writer (gint zero_in, gint low, gint high, guint dtype)
{
  static const gfloat scales[] = { 0.02f, 0.01f }, bias[] = { 0.123f, -0.77f };
  static const gint32 zeros[] = { 0, 0 };
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  g_autofree char *in = codes_args ("0.02", zero_in, low, high, dtype);
  constant (w, "w", INT8, weights, sizeof weights, 2, matrix);
  constant (w, "s", SL_PT2_FLOAT, scales, sizeof scales, 1, pair);
  constant (w, "z", INT32, zeros, sizeof zeros, 1, pair);
  constant (w, "b", SL_PT2_FLOAT, bias, sizeof bias, 1, pair);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,4");
  through_codes (w, "x", in, "xq", "xd");
  sl_pt2_node (
    w, Q "dequantize_per_channel.default",
    PT2_TENSOR_ARG ("input", "w") "," PT2_TENSOR_ARG ("scales", "s") "," PT2_TENSOR_ARG (
      "zero_points",
      "z") "," WHOLE ("axis", "0") "," WHOLE ("quant_min",
                                              "-127") "," WHOLE ("quant_"
                                                                 "max",
                                                                 "127") "," TYPE ("dtype", "2"),
    "wd");
  return w;
}

/* The model of @w gives @y, and its only node of @op takes and gives codes. */
static void
expect_layer (SlPt2Writer *w, SlOpType op, const gfloat *x, const gfloat *y, guint n)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load_good_pt2 (w, NULL);
  const SlGraph *graph = sl_model_graph (model);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  run_pt2 (session, model, x, 0, y, n);
  guint layers = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlNode *node = sl_graph_node (graph, i);
    if (node->op != op)
      continue;
    layers++;
    g_assert_cmpint (sl_node_input (graph, node, 0)->dtype, ==, SL_DTYPE_I8);
    g_assert_cmpint (sl_node_input (graph, node, 1)->dtype, ==, SL_DTYPE_I8);
    g_assert_cmpint (sl_node_output (graph, node, 0)->dtype, ==, SL_DTYPE_I8);
  }
  g_assert_cmpuint (layers, ==, 1);
}

/* A layer between codes computes with codes, whichever way round its weights come. */
static void
test_linear (void)
{
  static const struct
  {
    gint zero_in, zero_out, low, high;
    guint dtype;
    gfloat y[2];
  } rows[] = { { -5, 3, -128, 127, INT8, { 0.39f, -0.63f } },
               { 123, 131, 0, 255, UINT8, { 0.39f, -0.63f } },
               { 60, 64, 0, 127, UINT8, { 0.33f, -1.14f } } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    const guint at = i / 2;
    SlPt2Writer *w = linear_writer (rows[at].zero_in, rows[at].low, rows[at].high, rows[at].dtype);
    g_autofree char *out =
      codes_args ("0.03", rows[at].zero_out, rows[at].low, rows[at].high, rows[at].dtype);
    if (i % 2 == 0) {
      sl_pt2_node (w, "torch.ops.aten.linear.default",
                   PT2_TENSOR_ARG ("input", "xd") "," PT2_TENSOR_ARG (
                     "weight", "wd") "," PT2_TENSOR_ARG ("bias", "b"),
                   "y");
    } else {
      sl_pt2_node (w, "torch.ops.aten.permute.default",
                   PT2_TENSOR_ARG ("self", "wd") "," PT2_ARG ("dims", "{\"as_ints\":[1,0]}"), "wt");
      sl_pt2_node (w, "torch.ops.aten.addmm.default",
                   PT2_TENSOR_ARG ("self", "b") "," PT2_TENSOR_ARG (
                     "mat1", "xd") "," PT2_TENSOR_ARG ("mat2", "wt"),
                   "y");
    }
    through_codes (w, "y", out, "yq", "yd");
    sl_pt2_output (w, "yd", NULL);
    expect_layer (w, SL_OP_FULLY_CONNECTED, (const gfloat[]){ 1.3f, -2, 0.26f, 1.9f }, rows[at].y,
                  2);
  }
}

static gdouble
hard_swish (gdouble x)
{
  return x * CLAMP (x + 3, 0, 6) / 6;
}

static gdouble
silu (gdouble x)
{
  return x / (1 + exp (-x));
}

static gdouble
sigmoid (gdouble x)
{
  return 1 / (1 + exp (-x));
}

static gdouble
gelu (gdouble x)
{
  return x * (1 + erf (x / G_SQRT2)) / 2;
}

/* A curve between a layer and the codes of its result, in double precision: it must not get lost
 * where the layer computes with codes. */
static void
test_curve (void)
{
  static const struct
  {
    const char *target;
    gdouble (*curve) (gdouble x);
  } rows[] = { { "torch.ops.aten.hardswish_.default", hard_swish },
               { "torch.ops.aten.silu.default", silu },
               { "torch.ops.aten.sigmoid.default", sigmoid },
               { "torch.ops.aten.tanh.default", tanh },
               { "torch.ops.aten.gelu.default", gelu } };
  const gdouble sums[] = { 0.3966, -0.621 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlPt2Writer *w = linear_writer (-5, -128, 127, INT8);
    g_autofree char *out = codes_args ("0.03", 3, -128, 127, INT8);
    gfloat y[2];
    sl_pt2_node (w, "torch.ops.aten.linear.default",
                 PT2_TENSOR_ARG ("input", "xd") "," PT2_TENSOR_ARG (
                   "weight", "wd") "," PT2_TENSOR_ARG ("bias", "b"),
                 "sum");
    sl_pt2_node (w, rows[i].target, PT2_TENSOR_ARG ("self", "sum"), "y");
    through_codes (w, "y", out, "yq", "yd");
    sl_pt2_output (w, "yd", NULL);
    for (guint k = 0; k < 2; k++)
      y[k] = (gfloat) (0.03 * rint (rows[i].curve (sums[k]) / 0.03));
    expect_pt2 (w, (const gfloat[]){ 1.3f, -2, 0.26f, 1.9f }, y, 2);
  }
}

/* A picture with channels first reaches a convolution as codes. */
static void
test_conv (void)
{
  static const gint8 codes[] = { 1, -2, -127, 5 };
  static const gint64 dims[] = { 2, 2, 1, 1 };
  static const gfloat scales[] = { 0.02f, 0.01f }, bias[] = { 0.123f, -0.77f },
                      x[] = { 1.3f, -2, 0.26f, 1.9f, 0.5f, -0.7f, 1.1f, -1.5f },
                      y[] = { 0.12f, 0.12f, 0.09f, 0.21f, -2.4f, 1.74f, -1.05f, -3.27f };
  static const gint32 zeros[] = { 0, 0 };
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  g_autofree char *in = codes_args ("0.02", -5, -128, 127, INT8),
                  *out = codes_args ("0.03", 3, -128, 127, INT8);
  constant (w, "w", INT8, codes, sizeof codes, 4, dims);
  constant (w, "s", SL_PT2_FLOAT, scales, sizeof scales, 1, pair);
  constant (w, "z", INT32, zeros, sizeof zeros, 1, pair);
  constant (w, "b", SL_PT2_FLOAT, bias, sizeof bias, 1, pair);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,2,2,2");
  through_codes (w, "x", in, "xq", "xd");
  sl_pt2_node (w, Q "dequantize_per_channel.default", CHANNELS ("w", "s", "z", "0"), "wd");
  sl_pt2_node (w, "torch.ops.aten.conv2d.default",
               PT2_TENSOR_ARG ("input", "xd") "," PT2_TENSOR_ARG (
                 "weight", "wd") "," PT2_TENSOR_ARG ("bias", "b"),
               "y");
  through_codes (w, "y", out, "yq", "yd");
  sl_pt2_output (w, "yd", NULL);
  expect_layer (w, SL_OP_CONV_2D, x, y, 8);
}

/* Scales that follow from the values. */
static void
test_computed (void)
{
  static const struct
  {
    const char *choose, *choose_args, *way, *low, *sizes;
    gfloat y[4];
  } rows[] = {
    { "choose_qparams.tensor",
      WHOLE ("quant_min", "-128") "," WHOLE ("quant_max", "127") "," NUMBER (
        "eps", "1e-7") "," TYPE ("dtype", "2"),
      "per_tensor.tensor",
      "-128",
      "4",
      { 1.29411769f, -2, 0.258823544f, 4 } },
    { "choose_qparams_symmetric.tensor",
      WHOLE ("quant_min", "-127") "," WHOLE ("quant_max", "127") "," NUMBER (
        "eps", "1e-7") "," TYPE ("dtype", "2"),
      "per_tensor.tensor",
      "-127",
      "4",
      { 1.29133856f, -2.01574802f, 0.251968503f, 4 } },
    { "choose_qparams_per_token.default",
      TYPE ("dtype", "2"),
      "per_token.default",
      "-128",
      "2,2",
      { 1.30708659f, -2, 0.251968503f, 4 } },
    { "choose_qparams_per_token_asymmetric.default",
      TYPE ("dtype", "2"),
      "per_token.default",
      "-128",
      "2,2",
      { 1.29411757f, -2.00588226f, 0.266666681f, 4 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *plural = i < 2 ? "" : "s";
    g_autofree char *choose = g_strconcat (Q, rows[i].choose, NULL),
                    *quantize = g_strconcat (Q "quantize_", rows[i].way, NULL),
                    *dequantize = g_strconcat (Q "dequantize_", rows[i].way, NULL);
    g_autofree char *args = g_strdup_printf (
      "{\"name\":\"scale%s\",\"arg\":{\"as_tensor\":{\"name\":\"s\"}}},"
      "{\"name\":\"zero_point%s\",\"arg\":{\"as_tensor\":{\"name\":\"z\"}}}," WHOLE (
        "quant_min", "%s") "," WHOLE ("quant_max", "127") "," TYPE ("dtype", "2"),
      plural, plural, rows[i].low);
    SlPt2Writer *w = sl_pt2_writer_new (TRUE);
    sl_pt2_input (w, "x", SL_PT2_FLOAT, rows[i].sizes);
    node_of (w, choose, "x", rows[i].choose_args, "s,z");
    node_of (w, quantize, "x", args, "q");
    node_of (w, dequantize, "q", args, "y");
    sl_pt2_output (w, "y", NULL);
    expect_pt2 (w, (const gfloat[]){ 1.3f, -2, 0.26f, 4 }, rows[i].y, 4);
  }
}

#define GROUP_ARGS                                                                       \
  PT2_TENSOR_ARG ("input", "w")                                                          \
  "," PT2_TENSOR_ARG ("scales", "s") "," PT2_TENSOR_ARG ("zero_points", "z") "," WHOLE ( \
    "quant_min", "-128") "," WHOLE ("quant_max",                                         \
                                    "127") "," TYPE ("dtype", "2") "," WHOLE ("group_size", "2")
#define AFFINE_ARGS(block)                                                   \
  PT2_TENSOR_ARG ("input", "w")                                              \
  "," PT2_ARG ("block_size", "{\"as_ints\":" block "}") "," PT2_TENSOR_ARG ( \
    "scale", "s") "," PT2_TENSOR_ARG ("zero_point", "z") "," TYPE ("input_dtype", "2")

/* A linear layer of weights with a scale for each two elements. */
static void
test_blocks (void)
{
  static const char *const targets[][2] = {
    { Q "dequantize_per_channel_group.default", GROUP_ARGS },
    { "torch.ops.torchao.dequantize_affine.default", AFFINE_ARGS ("[1,2]") },
    { "torch.ops.pt2e_quant.dequantize_affine.default", AFFINE_ARGS ("[1,2]") },
  };
  static const gfloat scales[] = { 0.5f, 0.25f, 2, 1 }, x[] = { 1.3f, -2, 0.26f, 4 },
                      y[] = { 7.19499969f, 62.5800171f };
  static const gint32 zeros[] = { 1, 0, 0, -3 };
  for (guint i = 0; i < G_N_ELEMENTS (targets); i++) {
    SlPt2Writer *w = sl_pt2_writer_new (TRUE);
    constant (w, "w", INT8, weights, sizeof weights, 2, matrix);
    constant (w, "s", SL_PT2_FLOAT, scales, sizeof scales, 2, square);
    constant (w, "z", INT32, zeros, sizeof zeros, 2, square);
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,4");
    sl_pt2_node (w, targets[i][0], targets[i][1], "wd");
    sl_pt2_node (w, "torch.ops.aten.linear.default",
                 PT2_TENSOR_ARG ("input", "x") "," PT2_TENSOR_ARG ("weight", "wd"), "y");
    sl_pt2_output (w, "y", NULL);
    expect_pt2 (w, x, y, 2);
  }
}

/* And with one for each row. */
static void
test_rows (void)
{
  static const gfloat scales[] = { 0.5f, 0.25f }, x[] = { 1.3f, -2, 0.26f, 4 },
                      y[] = { 11.04f, 56.2250023f };
  static const gint32 zeros[] = { 0, 0 };
  for (guint i = 0; i < 2; i++) {
    SlPt2Writer *w = sl_pt2_writer_new (TRUE);
    constant (w, "w", INT8, weights, sizeof weights, 2, matrix);
    constant (w, "s", SL_PT2_FLOAT, scales, sizeof scales, 1, pair);
    constant (w, "z", INT32, zeros, sizeof zeros, 1, pair);
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,4");
    if (i == 0) {
      sl_pt2_node (w, "torch.ops.aten._weight_int8pack_mm.default",
                   PT2_TENSOR_ARG ("self", "x") "," PT2_TENSOR_ARG (
                     "mat2", "w") "," PT2_TENSOR_ARG ("scales", "s"),
                   "y");
    } else {
      sl_pt2_node (w, "torch.ops.torchao.dequantize_affine.default", AFFINE_ARGS ("[1,4]"), "wd");
      sl_pt2_node (w, "torch.ops.aten.linear.default",
                   PT2_TENSOR_ARG ("input", "x") "," PT2_TENSOR_ARG ("weight", "wd"), "y");
    }
    sl_pt2_output (w, "y", NULL);
    expect_pt2 (w, x, y, 2);
  }
}

/* What the file says is refused in one sentence. */
static void
test_refused (void)
{
  static const struct
  {
    const char *scale;
    gint zero, low, high;
    guint dtype;
    SlError code;
    const char *text;
  } rows[] = {
    { "0.5", 0, -32768, 32767, INT16, SL_ERROR_UNSUPPORTED,
      "codes of int16; expected int8 or uint8" },
    { "0.5", 0, -129, 127, INT8, SL_ERROR_FORMAT,
      "codes from -129 to 127; int8 has those from -128 to 127" },
    { "0.5", 0, 5, 5, UINT8, SL_ERROR_FORMAT, "codes from 5 to 5; uint8 has those from 0 to 255" },
    { "-0.5", 0, 0, 255, UINT8, SL_ERROR_FORMAT,
      "scale -0.5 and zero point 0 of codes of uint8; expected a finite scale above 0, and a zero "
      "point from 0 to 255" },
    { "0.5", -1, 0, 255, UINT8, SL_ERROR_FORMAT, "scale 0.5 and zero point -1 of codes of uint8" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlPt2Writer *w = sl_pt2_writer_new (TRUE);
    g_autofree char *args =
      codes_args (rows[i].scale, rows[i].zero, rows[i].low, rows[i].high, rows[i].dtype);
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
    node_of (w, Q "quantize_per_tensor.default", "x", args, "q");
    sl_pt2_output (w, "q", NULL);
    refuse_pt2 (w, NULL, rows[i].code, rows[i].text);
  }
}

static void
refuse_node (const char *target, const char *args, const char *text, SlError code)
{
  static const gfloat scales[] = { 0.5f, 0.25f };
  static const gint32 zeros[] = { 0, 0 };
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  constant (w, "w", INT8, weights, sizeof weights, 2, matrix);
  constant (w, "s", SL_PT2_FLOAT, scales, sizeof scales, 1, pair);
  constant (w, "z", INT32, zeros, sizeof zeros, 1, pair);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "2,4");
  sl_pt2_node (w, target, args, "y");
  sl_pt2_output (w, "y", NULL);
  refuse_pt2 (w, NULL, code, text);
}

static void
test_refused_nodes (void)
{
  static const struct
  {
    const char *target, *args, *text;
    SlError code;
  } rows[] = {
    { Q "dequantize_per_channel.default", CHANNELS ("w", "s", "z", "1"),
      "2 scales along dimension 1 of size 4; expected as many", SL_ERROR_FORMAT },
    { Q "dequantize_per_channel.default", CHANNELS ("w", "s", "w", "0"),
      "8 zero points for 2 scales; expected as many", SL_ERROR_FORMAT },
    { Q "dequantize_per_channel.default", CHANNELS ("w", "x", "z", "0"),
      "its scales and zero points must be constants", SL_ERROR_UNSUPPORTED },
    { Q "dequantize_per_channel.default", CHANNELS ("x", "s", "z", "0"),
      "its codes are float32; expected int8 or uint8, or a constant of int32",
      SL_ERROR_UNSUPPORTED },
    { Q "quantize_per_channel.default", CHANNELS ("x", "s", "z", "0"),
      "2 scales of what is computed; expected one, or a constant", SL_ERROR_UNSUPPORTED },
    { Q "dequantize_per_channel_group.default", GROUP_ARGS,
      "2 scales for blocks of 2 in rows of 4; expected one for each whole block", SL_ERROR_FORMAT },
    { "torch.ops.torchao.dequantize_affine.default", AFFINE_ARGS ("[2,2]"),
      "blocks of 2 along dimension 0; expected 1", SL_ERROR_UNSUPPORTED },
    { "torch.ops.torchao.dequantize_affine.default", AFFINE_ARGS ("[4]"),
      "only constant weights with constant scales are supported; quantise with weights alone",
      SL_ERROR_UNSUPPORTED },
    { "torch.ops.torchao.dequantize_affine.default",
      AFFINE_ARGS ("[1,4]") "," PT2_ARG ("zero_point_domain", "{\"as_string\":\"FLOAT\"}"),
      "zero points of the kind FLOAT; expected whole numbers (INT)", SL_ERROR_UNSUPPORTED },
    { "torch.ops.torchao.quantize_affine.default", PT2_TENSOR_ARG ("input", "x"),
      "activations are quantised by PT2E here", SL_ERROR_UNSUPPORTED },
    { "torch.ops.aten._weight_int4pack_mm.default", PT2_TENSOR_ARG ("self", "x"),
      "weights packed for one kernel are not supported; export the model before its weights are "
      "packed, or quantise it with 8 bits",
      SL_ERROR_UNSUPPORTED },
    { Q "choose_qparams.tensor",
      PT2_TENSOR_ARG ("input", "x") "," WHOLE ("quant_min", "7") "," WHOLE (
        "quant_max", "7") "," NUMBER ("eps", "1e-7") "," TYPE ("dtype", "2"),
      "codes from 7 to 7", SL_ERROR_FORMAT },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    refuse_node (rows[i].target, rows[i].args, rows[i].text, rows[i].code);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/pt2-quant/ranges", test_ranges);
  g_test_add_func ("/models/pt2-quant/linear", test_linear);
  g_test_add_func ("/models/pt2-quant/curve", test_curve);
  g_test_add_func ("/models/pt2-quant/conv", test_conv);
  g_test_add_func ("/models/pt2-quant/computed", test_computed);
  g_test_add_func ("/models/pt2-quant/blocks", test_blocks);
  g_test_add_func ("/models/pt2-quant/rows", test_rows);
  g_test_add_func ("/models/pt2-quant/refused", test_refused);
  g_test_add_func ("/models/pt2-quant/refused-nodes", test_refused_nodes);
  return g_test_run ();
}
