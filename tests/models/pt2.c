/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of torch.export's archives: both forms, tensors that share and skip elements, kinds of
 * arguments, structures of outputs, state, open sizes, and what extra files say. */
#include <string.h>

#include "models/convert.h"
#include "tests/models/helpers.h"
#include "tests/models/pt2_run.h"
#include "tests/support/program.h"
#include "tests/support/torchscript_writer.h"

#define RELU "torch.ops.aten.relu.default"
#define MUL "torch.ops.aten.mul.Tensor"
#define ADD "torch.ops.aten.add.Tensor"

static const gint64 four[] = { 4 };
static const gfloat x4[] = { 1, -2, 3, 4 };

static const char *
two_args (const char *self, const char *other)
{
  static char text[256];
  g_snprintf (text, sizeof text,
              "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}},"
              "{\"name\":\"other\",\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}",
              self, other);
  return text;
}

/* y = x * scale + offset, of which one is a parameter and the other a constant. */
static void
test_forms (void)
{
  static const gfloat scale[] = { 2, 3, 4, 5 }, offset[] = { 10, 20, 30, 40 },
                      y[] = { 12, 14, 42, 60 };
  for (guint since_28 = 0; since_28 < 2; since_28++) {
    SlPt2Writer *w = sl_pt2_writer_new (since_28);
    sl_pt2_weight (w, "parameter", "p_scale", "layer.scale");
    sl_pt2_weight (w, "tensor_constant", "c_offset", "offset");
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,4");
    sl_pt2_storage (w, "0", SL_PT2_FLOAT, scale, sizeof scale);
    sl_pt2_storage (w, "1", SL_PT2_FLOAT, offset, sizeof offset);
    sl_pt2_tensor (w, "layer.scale", "0", 0, 1, four, NULL);
    sl_pt2_tensor (w, "offset", "1", 0, 1, four, NULL);
    sl_pt2_node (w, MUL, two_args ("x", "p_scale"), "mul");
    sl_pt2_node (w, ADD, two_args ("mul", "c_offset"), "add");
    sl_pt2_output (w, "add", NULL);
    expect_pt2 (w, x4, y, 4);
  }
}

/* Two weights in one storage: of the second, rows are columns, behind the first element. */
static void
test_storages (void)
{
  static const gfloat elements[] = { 100, 1, 2, 3, 4 }, y[] = { 101, 196, 305, 396 };
  static const gint64 dims[] = { 2, 2 }, strides[] = { 1, 2 };
  for (guint since_28 = 0; since_28 < 2; since_28++) {
    SlPt2Writer *w = sl_pt2_writer_new (since_28);
    sl_pt2_weight (w, "parameter", "p_a", "a");
    sl_pt2_weight (w, "parameter", "p_b", "b");
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "2,2");
    sl_pt2_storage (w, "0", SL_PT2_FLOAT, elements, sizeof elements);
    sl_pt2_tensor (w, "a", "0", 0, 1, (const gint64[]){ 1 }, NULL);
    sl_pt2_tensor (w, "b", "0", 1, 2, dims, strides);
    sl_pt2_node (w, MUL, two_args ("x", "p_a"), "mul");
    sl_pt2_node (w, ADD, two_args ("mul", "p_b"), "add");
    sl_pt2_output (w, "add", NULL);
    expect_pt2 (w, (const gfloat[]){ 1, 1.93f, 3.03f, 3.92f }, y, 4);
  }
}

/* 1, -2, 0.5 and 65280 in 16 bits. */
static void
test_halves (void)
{
  static const guint16 halves[] = { 0x3c00, 0xc000, 0x3800, 0x7bf8 },
                       brains[] = { 0x3f80, 0xc000, 0x3f00, 0x477f };
  static const gfloat y[] = { 1, 4, 1.5f, 4 * 65280.0f };
  for (guint i = 0; i < 4; i++) {
    const gboolean brain = i % 2 == 1;
    SlPt2Writer *w = sl_pt2_writer_new (i / 2);
    sl_pt2_weight (w, "parameter", "p_a", "a");
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
    sl_pt2_storage (w, "0", brain ? SL_PT2_BFLOAT16 : SL_PT2_HALF, brain ? brains : halves,
                    sizeof halves);
    sl_pt2_tensor (w, "a", "0", 0, 1, four, NULL);
    sl_pt2_node (w, MUL, two_args ("x", "p_a"), "mul");
    sl_pt2_output (w, "mul", NULL);
    expect_pt2 (w, x4, y, 4);
  }
}

/* Kinds of arguments: torch 2.6's results of x[1,2,3,4] = ((7 i) % 11 - 5) / 4. */

#define MAX_RESULTS 48

typedef struct
{
  const char *name, *target, *args;
  guint n;
  gfloat results[MAX_RESULTS];
} ArgumentRow;

#define X PT2_TENSOR_ARG ("self", "x")
#define X_FLAT                                                                                    \
  -1.25f, 0.5f, -0.5f, 1.25f, 0.25f, -0.75f, 1, 0, -1, 0.75f, -0.25f, -1.25f, 0.5f, -0.5f, 1.25f, \
    0.25f, -0.75f, 1, 0, -1, 0.75f, -0.25f, -1.25f, 0.5f

static const ArgumentRow
  argument_rows
    [] = {
      { "ints",
        "torch.ops.aten.permute.default",
        X "," PT2_ARG ("dims", "{\"as_ints\":[0,2,3,1]}"),
        24,
        { -1.25f, 0.5f, 0.5f, -0.5f, -0.5f, 1.25f, 1.25f, 0.25f,  0.25f,  -0.75f, -0.75f, 1,
          1,      0,    0,    -1,    -1,    0.75f, 0.75f, -0.25f, -0.25f, -1.25f, -1.25f, 0.5f } },
      { "int",
        "torch.ops.aten.softmax.int",
        X "," PT2_ARG ("dim", "{\"as_int\":-1}"),
        24,
        { 0.0474967f, 0.273325f,  0.100551f, 0.578628f, 0.234539f,  0.0862821f,
          0.496519f,  0.182659f,  0.103623f, 0.596307f, 0.219369f,  0.0807014f,
          0.234539f,  0.0862821f, 0.496519f, 0.182659f, 0.103623f,  0.596307f,
          0.219369f,  0.0807014f, 0.438209f, 0.161208f, 0.0593052f, 0.341278f } },
      { "float",
        "torch.ops.aten.leaky_relu.default",
        X "," PT2_ARG ("negative_slope", "{\"as_float\":0.25}"),
        24,
        { -0.3125f, 0.5f,  -0.125f,  1.25f,    0.25f, -0.1875f, 1,        0,
          -0.25f,   0.75f, -0.0625f, -0.3125f, 0.5f,  -0.125f,  1.25f,    0.25f,
          -0.1875f, 1,     0,        -0.25f,   0.75f, -0.0625f, -0.3125f, 0.5f } },
      { "bool-and-none",
        "torch.ops.aten.var.correction",
        X "," PT2_ARG ("dim", "{\"as_ints\":[-1]}") "," PT2_ARG (
          "correction", "{\"as_none\":true}") "," PT2_ARG ("keepdim", "{\"as_bool\":true}"),
        6,
        { 1.208333f, 0.520833f, 0.807292f, 0.520833f, 0.807292f, 0.807292f } },
      { "string",
        "torch.ops.aten.gelu.default",
        X "," PT2_ARG ("approximate", "{\"as_string\":\"tanh\"}"),
        24,
        { -0.132286f, 0.345714f,  -0.154286f, 1.117707f,  0.149675f,  -0.170039f,
          0.841192f,  0,          -0.158808f, 0.579961f,  -0.100325f, -0.132286f,
          0.345714f,  -0.154286f, 1.117707f,  0.149675f,  -0.170039f, 0.841192f,
          0,          -0.158808f, 0.579961f,  -0.100325f, -0.132286f, 0.345714f } },
      { "floats",
        "torch.ops.aten.upsample_nearest2d.vec",
        PT2_TENSOR_ARG ("input", "x") "," PT2_ARG (
          "output_size", "{\"as_none\":true}") "," PT2_ARG ("scale_factors",
                                                            "{\"as_floats\":[2.0,1.0]}"),
        48,
        { -1.25f, 0.5f,   -0.5f,  1.25f,  -1.25f, 0.5f,   -0.5f,  1.25f, 0.25f,  -0.75f,
          1,      0,      0.25f,  -0.75f, 1,      0,      -1,     0.75f, -0.25f, -1.25f,
          -1,     0.75f,  -0.25f, -1.25f, 0.5f,   -0.5f,  1.25f,  0.25f, 0.5f,   -0.5f,
          1.25f,  0.25f,  -0.75f, 1,      0,      -1,     -0.75f, 1,     0,      -1,
          0.75f,  -0.25f, -1.25f, 0.5f,   0.75f,  -0.25f, -1.25f, 0.5f } },
      { "memory-format",
        "torch.ops.aten.clone.default",
        X "," PT2_ARG ("memory_format", "{\"as_memory_format\":1}"),
        24,
        { X_FLAT } },
      { "type-layout-device",
        "torch.ops.aten.to.dtype_layout",
        X "," PT2_ARG ("dtype", "{\"as_scalar_type\":7}") "," PT2_ARG (
          "layout",
          "{\"as_layout\":7}") "," PT2_ARG ("device",
                                            "{\"as_device\":{\"type\":\"cpu\",\"index\":null}}"),
        24,
        { X_FLAT } },
      { "symbols",
        "torch.ops.aten.view.default",
        X "," PT2_ARG ("size", "{\"as_sym_ints\":[{\"as_int\":2},{\"as_int\":12}]}"),
        24,
        { X_FLAT } },
      { "symbol",
        "torch.ops.aten.unsqueeze.default",
        X "," PT2_ARG ("dim", "{\"as_sym_int\":{\"as_int\":0}}"),
        24,
        { X_FLAT } },
      { "infinity",
        "torch.ops.aten.clamp.default",
        X "," PT2_ARG ("min", "{\"as_float\":-Infinity}") "," PT2_ARG (
          "max", "{\"as_float\":\"Infinity\"}"),
        24,
        { X_FLAT } },
    };

static void
test_argument (gconstpointer data)
{
  const ArgumentRow *row = data;
  gfloat x[24];
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  for (gint i = 0; i < 24; i++)
    x[i] = (gfloat) (7 * i % 11 - 5) / 4;
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,2,3,4");
  sl_pt2_node (w, row->target, row->args, "y");
  sl_pt2_output (w, "y", NULL);
  expect_pt2 (w, x, row->results, row->n);
}

/* Lists of tensors as arguments and results, and tensors that may be None. */
static void
test_lists (void)
{
  static const gint64 order[] = { 1, 0 };
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "2,2");
  sl_pt2_raw_node (w, "torch.ops.aten.split.Tensor", X "," PT2_ARG ("split_size", "{\"as_int\":1}"),
                   "[{\"as_tensors\":[{\"name\":\"a\"},{\"name\":\"b\"}]}]");
  sl_pt2_node (
    w, "torch.ops.aten.cat.default",
    PT2_ARG ("tensors", "{\"as_tensors\":[{\"name\":\"b\"},{\"name\":\"a\"},{\"name\":\"b\"}]}"),
    "c");
  sl_pt2_output (w, "c", NULL);
  expect_pt2 (w, x4, (const gfloat[]){ 3, 4, 1, -2, 3, 4 }, 6);

  w = sl_pt2_writer_new (TRUE);
  sl_pt2_weight (w, "tensor_constant", "c_order", "order");
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "2,2");
  sl_pt2_storage (w, "0", SL_PT2_INT64, order, sizeof order);
  sl_pt2_tensor (w, "order", "0", 0, 1, (const gint64[]){ 2 }, NULL);
  sl_pt2_node (
    w, "torch.ops.aten.index.Tensor",
    X "," PT2_ARG (
      "indices",
      "{\"as_optional_tensors\":[{\"as_none\":true},{\"as_tensor\":{\"name\":\"c_order\"}}]}"),
    "y");
  sl_pt2_output (w, "y", NULL);
  expect_pt2 (w, x4, (const gfloat[]){ -2, 1, 4, 3 }, 4);
}

/* Several results of one operator. */
static void
test_results (void)
{
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "2,2");
  sl_pt2_node (w, "torch.ops.aten.max.dim", X "," PT2_ARG ("dim", "{\"as_int\":1}"), "best,where");
  sl_pt2_output (w, "best", NULL);
  expect_pt2 (w, x4, (const gfloat[]){ 1, 4 }, 2);
}

/* Structures of outputs: the names that each has. */

#define LEAF "{\\\"type\\\":null,\\\"context\\\":null,\\\"children_spec\\\":[]}"
#define NODE(type, context, children)                                \
  "{\\\"type\\\":\\\"builtins." type "\\\",\\\"context\\\":" context \
  ",\\\"children_spec\\\":[" children "]}"
#define CALLS(spec) \
  "[{\"fqn\":\"\",\"signature\":{\"inputs\":[],\"outputs\":[],\"out_spec\":\"[1, " spec "]\"}}]"
#define NULL_CONTEXT "\\\"null\\\""

static const struct
{
  const char *calls, *names;
} structures[] = {
  { "[]", "output.0 output.1 output.2" },
  { CALLS (NODE ("tuple", NULL_CONTEXT, LEAF "," LEAF "," LEAF)), "output.0 output.1 output.2" },
  { CALLS (NODE ("list", NULL_CONTEXT, LEAF "," LEAF "," LEAF)), "output.0 output.1 output.2" },
  { CALLS (NODE ("dict",
                 "\\\"[\\\\\\\"mask\\\\\\\", \\\\\\\"label\\\\\\\", \\\\\\\"aux\\\\\\\"]\\\"",
                 LEAF "," LEAF "," LEAF)),
    "mask label aux" },
  { CALLS (NODE ("tuple", NULL_CONTEXT, LEAF "," NODE ("list", NULL_CONTEXT, LEAF "," LEAF))),
    "output.0 output.1.0 output.1.1" },
  { CALLS (NODE ("dict", "\\\"[\\\\\\\"a\\\\\\\", \\\\\\\"b\\\\\\\"]\\\"",
                 NODE ("tuple", NULL_CONTEXT, LEAF "," LEAF) "," LEAF)),
    "a.0 a.1 b" },
};

static SlPt2Writer *
three_outputs (const char *calls)
{
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,4");
  for (guint i = 0; i < 3; i++) {
    const char name[] = { (char) ('a' + i), '\0' };
    sl_pt2_node (w, i == 0 ? RELU : "torch.ops.aten.neg.default", X, name);
    sl_pt2_output (w, name, NULL);
  }
  sl_pt2_set (w, "module_call_graph", calls);
  return w;
}

static void
test_structures (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (structures); i++) {
    g_autoptr (SlModel) model = load_good_pt2 (three_outputs (structures[i].calls), NULL);
    const SlGraph *graph = sl_model_graph (model);
    g_auto (GStrv) names = g_strsplit (structures[i].names, " ", -1);
    g_assert_cmpuint (sl_graph_n_outputs (graph), ==, g_strv_length (names));
    for (guint k = 0; names[k] != NULL; k++)
      g_assert_cmpstr (sl_graph_output_tensor (graph, k)->name, ==, names[k]);
  }
  refuse_pt2 (three_outputs (CALLS (NODE ("tuple", NULL_CONTEXT, LEAF "," LEAF))), NULL,
              SL_ERROR_FORMAT, "models/model.json: out_spec has 2 outputs; expected 3");
}

/* A running sum of frames, as torch.export writes it: a new value as an output, or in place. */
static void
test_state (void)
{
  static const gfloat first[] = { 100, 0, 0, 0 },
                      sums[][4] = { { 101, -2, 3, 4 }, { 102, -4, 6, 8 }, { 103, -6, 9, 12 } };
  for (guint i = 0; i < 4; i++) {
    g_autoptr (GError) error = NULL;
    const gboolean in_place = i % 2 == 1;
    SlPt2Writer *w = sl_pt2_writer_new (i / 2);
    sl_pt2_weight (w, "buffer", "b_sum", "sum");
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
    sl_pt2_storage (w, "0", SL_PT2_FLOAT, first, sizeof first);
    sl_pt2_tensor (w, "sum", "0", 0, 1, four, NULL);
    sl_pt2_node (w, in_place ? "torch.ops.aten.add_.Tensor" : ADD, two_args ("b_sum", "x"), "add");
    sl_pt2_node (w, "torch.ops.aten.clone.default", PT2_TENSOR_ARG ("self", "add"), "y");
    if (!in_place)
      sl_pt2_output (w, "add", "sum");
    sl_pt2_output (w, "y", NULL);
    g_autoptr (SlModel) model = load_good_pt2 (w, NULL);
    g_assert_cmpuint (sl_graph_n_held (sl_model_graph (model)), ==, 1);
    g_assert_null (sl_model_to_tflite (model, &error));
    expect_error (
      &error, SL_ERROR_UNSUPPORTED,
      "the model carries state from frame to frame (sum=sum), and a file of TensorFlow Lite is "
      "written without state",
      NULL);
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
    g_assert_no_error (error);
    for (guint frame = 0; frame < G_N_ELEMENTS (sums); frame++)
      run_pt2 (session, model, x4, 0, sums[frame], 4);
  }
}

/* Open sizes. */

static SlPt2Writer *
open_net (const char *sizes)
{
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, sizes);
  sl_pt2_node (w, RELU, X, "y");
  sl_pt2_output (w, "y", NULL);
  sl_pt2_set (w, "range_constraints",
              "{\"s0\":{\"min_val\":0,\"max_val\":null},\"s1\":{\"min_val\":2,\"max_val\":20}}");
  return w;
}

static void
expect_shape (SlPt2Writer *writer, const char *stated, const gint32 *dims, guint rank)
{
  g_autoptr (SlModel) model = load_good_pt2 (writer, stated);
  const SlTensor *tensor = sl_graph_declared_input_tensor (sl_model_graph (model), 0);
  g_assert_cmpmem (tensor->dims, tensor->rank * sizeof *dims, dims, rank * sizeof *dims);
}

static void
test_sizes (void)
{
  expect_shape (open_net ("s0,3,4,4"), NULL, (const gint32[]){ 1, 3, 4, 4 }, 4);
  expect_shape (open_net ("s0,3,32*s1,32*s1"), "1,3,64,64", (const gint32[]){ 1, 3, 64, 64 }, 4);
  expect_shape (open_net ("1,3,2*s1 - 1,4"), "1,3,5,4", (const gint32[]){ 1, 3, 5, 4 }, 4);
  SlPt2Writer *w = open_net ("1,2");
  sl_pt2_set (w, "tensor_values",
              "{\"x\":{\"dtype\":7,\"sizes\":[{\"as_int\":1},{\"as_expr\":{\"expr_str\":"
              "\"Mul(Integer(2), Symbol('s1', positive=True, integer=True))\"}}]}}");
  expect_shape (w, "1,6", (const gint32[]){ 1, 6 }, 2);
}

/* What inspect shows. */
static void
test_facts (void)
{
  static const char *const facts[][2] = {
    { "producer", "PyTorch 2.6.0, schema 8.2 of torch.export" },
    { "sizes", "x s0,3,32*s1,32*s1; s1 from 2 to 20" },
    { "operators", "aten.relu.default 1" },
  };
  const char *value = NULL;
  g_autoptr (SlModel) model = load_good_pt2 (open_net ("s0,3,32*s1,32*s1"), "1,3,64,64");
  for (guint i = 0; i < G_N_ELEMENTS (facts); i++) {
    g_assert_cmpstr (sl_model_fact (model, i, &value), ==, facts[i][0]);
    g_assert_cmpstr (value, ==, facts[i][1]);
  }
  g_assert_null (sl_model_fact (model, G_N_ELEMENTS (facts), &value));
}

/* Outputs whose number of rows depends on the picture. */
static void
test_rows (void)
{
  const char *value = NULL;
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
  sl_pt2_node (w, "torch.ops.aten.nonzero.default", X, "places");
  sl_pt2_node (w, RELU, X, "y");
  sl_pt2_output (w, "places", NULL);
  sl_pt2_output (w, "y", NULL);
  g_autoptr (SlModel) model = load_good_pt2 (w, NULL);
  g_assert_cmpstr (sl_model_fact (model, 2, &value), ==, "rows");
  g_assert_cmpstr (value, ==,
                   "output.0: as many as there can be; those without an object are zeros");
}

static void
test_refused_sizes (void)
{
  refuse_pt2 (
    open_net ("s0,3,32*s1,32*s1"), NULL, SL_ERROR_SHAPE,
    "the program leaves sizes of input 'x' open (x s0,3,32*s1,32*s1; s1 from 2 to 20); state them, "
    "for example as input-shape=1,3,4,4");
  /* Nobody is asked for the size of a program that cannot run. */
  SlPt2Writer *w = open_net ("s0,3,32*s1,32*s1");
  sl_pt2_node (w, "torch.ops.aten.nothing.default", "", "z");
  refuse_pt2 (w, NULL, SL_ERROR_UNSUPPORTED,
              "operators that are not supported: torch.ops.aten.nothing.default");
  refuse_pt2 (open_net ("s0,3,32*s1,32*s1"), "1,3,32,32", SL_ERROR_SHAPE,
              "s1 is 1 for the stated sizes; the program was exported for it from 2 to 20");
  refuse_pt2 (
    open_net ("s0,3,32*s1,32*s1"), "1,3,64,96", SL_ERROR_SHAPE,
    "input 'x', dimension 3: 96 is stated; expected 32*s1, by the sizes before it 64, for which "
    "the program was exported");
  refuse_pt2 (
    open_net ("s0,3,32*s1,32*s1"), "1,3,65,65", SL_ERROR_SHAPE,
    "input 'x', dimension 2: 65 is stated; expected 32*s1, for which the program was exported");
  refuse_pt2 (
    open_net ("s0,3,4,4"), "1,3,4,5", SL_ERROR_SHAPE,
    "input 'x', dimension 3: input-shape states 5, and the program was exported for 4 alone; "
    "export it with dynamic_shapes");
  refuse_pt2 (open_net ("s0,3,4,4"), "1,3,4", SL_ERROR_SHAPE,
              "input 'x' has 4 dimensions; input-shape states 3");
  refuse_pt2 (open_net ("s0,3,4,4"), "1,3,4,4;1", SL_ERROR_ARGUMENT,
              "input-shape states 2 shapes; expected at most 1, one for each input");
}

/* What the author added, in the folder of each form. */
static void
test_extra (void)
{
  static const char labels[] = "cat\ndog\n", info[] =
                                               "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\n"
                                               "input-shape=1,3,64,64\nmean=0\nstd=255\n";
  for (guint since_28 = 0; since_28 < 2; since_28++) {
    SlPt2Writer *w = sl_pt2_writer_new (since_28);
    sl_pt2_input (w, "x", SL_PT2_FLOAT, "s0,3,s1,s1");
    sl_pt2_node (w, RELU, X, "y");
    sl_pt2_output (w, "y", NULL);
    sl_pt2_member (w, since_28 ? "extra/labels.txt" : "extra_files/labels.txt", labels,
                   strlen (labels));
    sl_pt2_member (w, since_28 ? "extra/net.modelinfo" : "extra_files/net.modelinfo", info,
                   strlen (info));
    g_autoptr (SlModel) model = load_good_pt2 (w, NULL);
    const SlContract *contract = sl_model_contract (model);
    g_assert_cmpuint (sl_labels_count (contract->labels), ==, 2);
    g_assert_cmpfloat (contract->image.std[0], ==, 255);
    g_assert_cmpint (sl_graph_declared_input_tensor (sl_model_graph (model), 0)->dims[3], ==, 64);
  }
}

/* The class of the module proposes what torchvision trains with, in the message that asks. */
static void
test_hint (void)
{
  g_autoptr (GError) error = NULL;
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "1,3,4,4");
  sl_pt2_output (w, "y", NULL);
  sl_pt2_set (w, "nodes",
              "[{\"target\":\"" RELU "\",\"inputs\":[" X "],\"outputs\":[" PT2_TENSOR (
                "y") "],\"metadata\":{"
                     "\"nn_module_stack\":\"L__self__,,torchvision.models.resnet.ResNet\"}}]");
  g_autoptr (SlModel) model = load_good_pt2 (w, NULL);
  g_assert_false (sl_contract_require_range (sl_model_contract (model), &error));
  expect_error (&error, SL_ERROR_CONTRACT, "input 'x' is float32[1,3,4,4]",
                "torchvision's models are trained with mean=123.675,116.28,103.53", NULL);
}

/* A number that the program was exported with is no input of the graph. */
static void
test_number (void)
{
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
  sl_pt2_node (w, RELU, X, "y");
  sl_pt2_output (w, "y", NULL);
  sl_pt2_set (w, "inputs", "[{\"as_int\":3}," PT2_TENSOR ("x") "]");
  sl_pt2_set (w, "input_specs",
              "[{\"constant_input\":{\"name\":\"n\",\"value\":{\"as_int\":3}}},"
              "{\"user_input\":{\"arg\":" PT2_TENSOR ("x") "}}]");
  expect_pt2 (w, x4, (const gfloat[]){ 1, 0, 3, 4 }, 4);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/pt2/forms", test_forms);
  g_test_add_func ("/models/pt2/storages", test_storages);
  g_test_add_func ("/models/pt2/halves", test_halves);
  for (guint i = 0; i < G_N_ELEMENTS (argument_rows); i++) {
    g_autofree char *path = g_strconcat ("/models/pt2/argument/", argument_rows[i].name, NULL);
    g_test_add_data_func (path, &argument_rows[i], test_argument);
  }
  g_test_add_func ("/models/pt2/lists", test_lists);
  g_test_add_func ("/models/pt2/results", test_results);
  g_test_add_func ("/models/pt2/structures", test_structures);
  g_test_add_func ("/models/pt2/state", test_state);
  g_test_add_func ("/models/pt2/sizes", test_sizes);
  g_test_add_func ("/models/pt2/rows", test_rows);
  g_test_add_func ("/models/pt2/facts", test_facts);
  g_test_add_func ("/models/pt2/refused-sizes", test_refused_sizes);
  g_test_add_func ("/models/pt2/extra", test_extra);
  g_test_add_func ("/models/pt2/hint", test_hint);
  g_test_add_func ("/models/pt2/number", test_number);
  return g_test_run ();
}
