/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the reader of torch.export's archives refuses, and what it says: of the archive, of its
 * program, of its tensors. */
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/models/pt2_run.h"
#include "tests/support/program.h"
#include "tests/support/torchscript_writer.h"

#define RELU "torch.ops.aten.relu.default"
#define X PT2_TENSOR_ARG ("self", "x")
#define NODE(target, inputs, outputs) \
  "[{\"target\":\"" target "\",\"inputs\":[" inputs "],\"outputs\":[" outputs "],\"metadata\":{}}]"
#define WITH(argument) NODE (RELU, argument, PT2_TENSOR ("y"))
#define ONE "{\"as_int\":1},"
#define OLD "serialized_exported_program.json"
#define NEW "models/model.json"

/* y = relu (x) + a */
static SlPt2Writer *
net (gboolean since_28)
{
  static const gfloat elements[] = { 1, 2, 3, 4 };
  SlPt2Writer *w = sl_pt2_writer_new (since_28);
  sl_pt2_weight (w, "parameter", "p_a", "layer.a");
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
  sl_pt2_storage (w, "0", SL_PT2_FLOAT, elements, sizeof elements);
  sl_pt2_tensor (w, "layer.a", "0", 0, 1, (const gint64[]){ 4 }, NULL);
  sl_pt2_node (w, RELU, X, "relu");
  sl_pt2_node (w, "torch.ops.aten.add.Tensor",
               PT2_TENSOR_ARG ("self", "relu") "," PT2_TENSOR_ARG ("other", "p_a"), "y");
  sl_pt2_output (w, "y", NULL);
  return w;
}

/* A part of the program in place of the right one. @json: NULL = it is left out. */
static const struct
{
  const char *part, *json;
  SlError code;
  const char *text;
} parts[] = {
  { "schema_version", "{\"major\":9,\"minor\":1}", SL_ERROR_UNSUPPORTED,
    NEW
    ": schema version 9.1; expected 8.x, which PyTorch 2.5 and later write: export the model again "
    "with torch.export.save()" },
  { "schema_version", "{\"major\":\"8\"}", SL_ERROR_FORMAT, NEW ": " },
  { "schema_version", NULL, SL_ERROR_FORMAT,
    NEW ": 'schema_version' is missing, which a program of torch.export has" },
  { "graph", NULL, SL_ERROR_FORMAT, NEW ": 'graph_module.graph' is missing" },
  { "signature", NULL, SL_ERROR_FORMAT, NEW ": 'graph_module.signature' is missing" },
  { "nodes", NULL, SL_ERROR_FORMAT, "a graph has no 'nodes'" },
  { "tensor_values", NULL, SL_ERROR_FORMAT, "a graph has no 'tensor_values'" },
  { "input_specs", NULL, SL_ERROR_FORMAT, NEW ": the signature has no 'input_specs'" },
  { "output_specs", NULL, SL_ERROR_FORMAT, NEW ": the signature has no 'output_specs'" },
  { "nodes", "{}", SL_ERROR_FORMAT, NEW ": " },
  { "nodes", "[3]", SL_ERROR_FORMAT, NEW ": " },
  { "nodes", "[{\"inputs\":[],\"outputs\":[]}]", SL_ERROR_FORMAT,
    NEW ": node 0: line 1: a node has no 'target'" },
  { "nodes", "[{\"target\":\"a\",\"outputs\":[]}]", SL_ERROR_FORMAT, "a node has no 'inputs'" },
  { "nodes", "[{\"target\":\"a\",\"inputs\":[]}]", SL_ERROR_FORMAT, "a node has no 'outputs'" },
  { "nodes", WITH ("{\"name\":\"self\"}"), SL_ERROR_FORMAT,
    NEW ", node 0, " RELU ": line 1: an argument of a node has no 'arg'" },
  { "nodes", WITH (PT2_ARG ("self", "{}")), SL_ERROR_FORMAT, "an argument without a value" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_custom_obj\":{}}")), SL_ERROR_UNSUPPORTED,
    NEW ", node 0, " RELU ": an argument of kind 'as_custom_obj' is not supported" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_graph\":{\"name\":\"g\"}}")), SL_ERROR_FORMAT,
    "an argument of kind 'as_graph' has no graph" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_tensor\":{}}")), SL_ERROR_FORMAT,
    "a tensor without a name" },
  { "nodes", WITH (PT2_TENSOR_ARG ("self", "z")), SL_ERROR_FORMAT,
    NEW ", node 0, " RELU ": no node before this one makes the value 'z'" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_int\":1}")), SL_ERROR_UNSUPPORTED,
    NEW ", node 0, " RELU ": aten::relu: of a number it is not supported" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_int\":1.5}")), SL_ERROR_FORMAT,
    NEW ", node 0, " RELU ": line 1: expected a whole number" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_bool\":1}")), SL_ERROR_FORMAT,
    "expected true or false" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_float\":\"big\"}")), SL_ERROR_FORMAT,
    "expected a number, \"Infinity\", \"-Infinity\" or \"NaN\"" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_sym_int\":{\"as_text\":1}}")), SL_ERROR_FORMAT,
    "a number of the unknown kind 'as_text'" },
  { "nodes", WITH (PT2_ARG ("self", "{\"as_scalar_type\":99}")), SL_ERROR_UNSUPPORTED,
    "element type 99 of torch's schema is not supported" },
  { "nodes", WITH (X "," PT2_ARG ("size", "{\"as_int\":1}")), SL_ERROR_UNSUPPORTED,
    NEW ", node 0, " RELU ": aten::relu: " },
  { "nodes",
    "[{\"target\":\"torch.ops.aten.nothing.default\",\"inputs\":[],\"outputs\":[]},"
    "{\"target\":\"torch.ops.mine.blur.out\",\"inputs\":[],\"outputs\":[]},"
    "{\"target\":\"torch.ops.aten.nothing.default\",\"inputs\":[],\"outputs\":[]},"
    "{\"target\":\"builtins.print\",\"inputs\":[],\"outputs\":[]}]",
    SL_ERROR_UNSUPPORTED,
    NEW
    ": operators that are not supported: builtins.print, torch.ops.aten.nothing.default, "
    "torch.ops.mine.blur.out; save what run_decompositions() of the program gives, which writes "
    "many by others, or export the model to ONNX with torch.onnx.export(); docs/operators.md lists "
    "those that are; the file does not contain the code of custom operators: save what "
    "run_decompositions({torch.ops.mine.blur.out: FUNCTION}) of the program gives, with a function "
    "of PyTorch's operators for each" },
  { "nodes",
    "[{\"target\":\"torch.ops.mine.blur.default\",\"inputs\":[],\"outputs\":[]},"
    "{\"target\":\"torch.ops.its.edges.default\",\"inputs\":[],\"outputs\":[]}]",
    SL_ERROR_UNSUPPORTED,
    NEW
    ": operators that are not supported: torch.ops.its.edges.default, torch.ops.mine.blur.default; "
    "the file does not contain the code of custom operators: save what "
    "run_decompositions({torch.ops.its.edges.default: FUNCTION}) of the program gives, with a "
    "function of PyTorch's operators for each, or export the model with that code in place of the "
    "operators" },
  { "nodes",
    NODE ("torch.ops.aten.split.Tensor", X "," PT2_ARG ("split_size", "{\"as_int\":2}"),
          "{\"as_tensors\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}]}"),
    SL_ERROR_UNSUPPORTED,
    NEW ", node 0, torch.ops.aten.split.Tensor: 2 results; the program uses 3" },
  { "inputs", "[" PT2_TENSOR ("x") "]", SL_ERROR_FORMAT,
    NEW ": the graph has 1 inputs; expected 2, as its signature has" },
  { "outputs", "[" PT2_TENSOR ("y") "," PT2_TENSOR ("y") "]", SL_ERROR_FORMAT,
    NEW ": the graph has 2 outputs, its signature 1" },
  { "outputs", "[" PT2_TENSOR ("w") "]", SL_ERROR_FORMAT,
    NEW ", outputs of the graph: no node before this one makes the value 'w'" },
  { "outputs", "[{\"as_none\":true}]", SL_ERROR_UNSUPPORTED,
    NEW ": the program returns no tensor" },
  { "input_specs",
    "[{\"parameter\":{\"arg\":{\"name\":\"p_a\"}}},{\"user_input\":{\"arg\":" PT2_TENSOR (
      "x") "}}]",
    SL_ERROR_FORMAT, "a weight or buffer of the signature has no name" },
  { "input_specs",
    "[{\"parameter\":{\"arg\":{\"name\":\"p_a\"},\"parameter_name\":\"other\"}},"
    "{\"user_input\":{\"arg\":" PT2_TENSOR ("x") "}}]",
    SL_ERROR_FORMAT, NEW ": tensor 'other' is not among the weights and constants of the archive" },
  { "input_specs", "[{\"user_input\":{}}]", SL_ERROR_FORMAT,
    NEW ": line 1: an input of the signature has no name in the graph" },
  { "input_specs",
    "[{\"buffer\":{\"buffer_name\":\"layer.a\"}},{\"user_input\":{\"arg\":" PT2_TENSOR ("x") "}}]",
    SL_ERROR_FORMAT, "an input of the signature has no name in the graph" },
  { "input_specs", "[{\"custom_obj\":{\"arg\":{\"name\":\"o\"}}}]", SL_ERROR_UNSUPPORTED,
    NEW ": an input is an object of a class of its own; only tensors are supported" },
  { "input_specs",
    "[{\"parameter\":{\"arg\":{\"name\":\"p_a\"},\"parameter_name\":\"layer.a\"}},"
    "{\"parameter\":{\"arg\":{\"name\":\"x\"},\"parameter_name\":\"layer.a\"}}]",
    SL_ERROR_UNSUPPORTED, NEW ": the program has no tensor as an input; expected a picture" },
  { "tensor_values", "{}", SL_ERROR_UNSUPPORTED,
    NEW ": input 'x' has no type in 'tensor_values', or one that is not supported" },
  { "tensor_values", "{\"x\":{\"dtype\":7,\"sizes\":[{\"as_text\":\"4\"}]}}", SL_ERROR_FORMAT,
    "a size of the unknown kind 'as_text'" },
  { "tensor_values", "{\"x\":{\"dtype\":7,\"sizes\":[{\"as_expr\":{}}]}}", SL_ERROR_FORMAT,
    "a size without 'expr_str'" },
};

static void
test_parts (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    SlPt2Writer *w = net (TRUE);
    sl_pt2_set (w, parts[i].part, parts[i].json);
    refuse_pt2 (w, NULL, parts[i].code, parts[i].text);
  }
  SlPt2Writer *w = net (FALSE);
  sl_pt2_set (w, "schema_version", "{\"major\":7}");
  refuse_pt2 (w, NULL, SL_ERROR_UNSUPPORTED, OLD ": schema version 7.0; expected 8.x");
}

/* A member in place of the right one. @data: NULL = there is none. */
static const struct
{
  gboolean since_28;
  const char *member, *data;
  SlError code;
  const char *text;
} members[] = {
  { TRUE, NEW, "{\"graph_module\":", SL_ERROR_FORMAT, NEW ": " },
  { FALSE, OLD, "[]", SL_ERROR_FORMAT, OLD ": " },
  { TRUE, NEW, NULL, SL_ERROR_FORMAT, "looks like a zip archive; expected" },
  { TRUE, "byteorder", "big", SL_ERROR_UNSUPPORTED,
    "the tensors of the archive have the byte order 'big'; expected little, that of this machine: "
    "save the program on one like it" },
  { TRUE, "data/aotinductor/model/a.so", "x", SL_ERROR_UNSUPPORTED,
    "the archive holds a program compiled by AOTInductor (data/aotinductor/), which runs in "
    "PyTorch alone; save the program with torch.export.save() instead" },
  { TRUE, "data/weights/model_weights_config.json", NULL, SL_ERROR_FORMAT,
    NEW ": tensor 'layer.a' is not among the weights and constants of the archive" },
  { TRUE, "data/weights/0", NULL, SL_ERROR_FORMAT,
    "tensor 'layer.a': the archive has no member 'net/data/weights/0'" },
  { TRUE, "data/weights/0", "abcdabcdabcd", SL_ERROR_FORMAT,
    "tensor 'layer.a': it has elements outside its storage '0'" },
  { FALSE, "serialized_state_dict.pt", NULL, SL_ERROR_FORMAT,
    OLD ": tensor 'layer.a' is not among the weights and constants of the archive" },
  { FALSE, "serialized_state_dict.pt", "PK\3\4abcdefghijklmnopqrst", SL_ERROR_FORMAT,
    "serialized_state_dict.pt: the zip archive has no directory at its end" },
};

static void
test_members (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++) {
    SlPt2Writer *w = net (members[i].since_28);
    sl_pt2_member (w, members[i].member, members[i].data,
                   members[i].data != NULL ? strlen (members[i].data) : 0);
    refuse_pt2 (w, NULL, members[i].code, members[i].text);
  }
}

/* Several programs: the one called model is read, and others are named. */
static void
test_several (void)
{
  SlPt2Writer *w = net (TRUE);
  sl_pt2_member (w, "models/other.json", "{}", 2);
  sl_model_unref (load_good_pt2 (w, NULL));
  w = net (TRUE);
  sl_pt2_member (w, NEW, NULL, 0);
  sl_pt2_member (w, "models/first.json", "{}", 2);
  sl_pt2_member (w, "models/second.json", "{}", 2);
  refuse_pt2 (
    w, NULL, SL_ERROR_UNSUPPORTED,
    "the archive holds 2 programs (first, second); expected one, or one that is called model");
}

/* What AOTInductor packages by itself: machine code, and no program beside it. */
static void
test_compiled (void)
{
  SlPt2Writer *w = net (TRUE);
  sl_pt2_member (w, NEW, NULL, 0);
  sl_pt2_member (w, "data/aotinductor/model/a.so", "x", 1);
  refuse_pt2 (w, NULL, SL_ERROR_UNSUPPORTED,
              "the archive holds a program compiled by AOTInductor (data/aotinductor/)");
}

/* An archive of the form since PyTorch 2.8 whose folder has other files alone. */
static void
test_none (void)
{
  SlPt2Writer *w = net (TRUE);
  sl_pt2_member (w, NEW, NULL, 0);
  sl_pt2_member (w, "models/readme.txt", "{}", 2);
  refuse_pt2 (w, NULL, SL_ERROR_FORMAT,
              "the archive has no program: expected a member models/model.json");
}

/* An entry of the table of weights. */
static const struct
{
  const char *entry;
  SlError code;
  const char *text;
} entries[] = {
  { "{}", SL_ERROR_FORMAT, "a tensor without 'path_name'" },
  { "{\"path_name\":\"custom_obj_0\"}", SL_ERROR_UNSUPPORTED,
    "'layer.a' is an object of a class of its own; only tensors are supported" },
  { "{\"path_name\":\"0\",\"tensor_meta\":{\"dtype\":40}}", SL_ERROR_UNSUPPORTED,
    "tensor 'layer.a': element type 40 of torch's schema is not supported" },
  { "{\"path_name\":\"0\",\"tensor_meta\":{\"dtype\":7,\"sizes\":[{\"as_int\":4}]}}",
    SL_ERROR_FORMAT, "tensor 'layer.a': 1 sizes and 0 strides; expected a stride for each size" },
  { "{\"path_name\":\"0\",\"tensor_meta\":{\"dtype\":7,\"sizes\":[{\"as_expr\":4}]}}",
    SL_ERROR_FORMAT, "a size or a stride that is not a number: 'as_expr'" },
  { "{\"path_name\":\"0\",\"tensor_meta\":{\"dtype\":7,\"sizes\":[{\"as_int\":4}],"
    "\"strides\":[{\"as_int\":1}],\"storage_offset\":{\"as_int\":1}}}",
    SL_ERROR_FORMAT, "tensor 'layer.a': it has elements outside its storage '0'" },
  { "{\"path_name\":\"0\",\"tensor_meta\":{\"dtype\":7,\"sizes\":[{}]}}", SL_ERROR_FORMAT,
    "a size without a number" },
  { "{\"path_name\":\"0\",\"tensor_meta\":{\"dtype\":7,\"sizes\":[" ONE ONE ONE ONE ONE ONE ONE ONE
    "{\"as_int\":1}]}}",
    SL_ERROR_FORMAT, "a tensor of more than 8 dimensions" },
  { "{\"path_name\":\"0\",\"use_pickle\":true}", SL_ERROR_FORMAT,
    "data/weights/0: the zip archive has no directory at its end" },
};

static void
test_entries (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++) {
    SlPt2Writer *w = net (TRUE);
    g_autofree char *text = g_strdup_printf ("{\"config\":{\"layer.a\":%s}}", entries[i].entry);
    sl_pt2_member (w, "data/weights/model_weights_config.json", text, strlen (text));
    refuse_pt2 (w, NULL, entries[i].code, entries[i].text);
  }
}

/* What torch.save() wrote is no table, or names functions that make no tensor. */
static void
test_pickles (void)
{
  static const struct
  {
    const char *pickle;
    gsize length;
    SlError code;
    const char *text;
  } rows[] = {
    { "\x80\2K\1.", 5, SL_ERROR_FORMAT,
      "serialized_state_dict.pt: expected a dictionary of tensors, got a value of the kind int" },
    { "\x80\2cos\nsystem\nX\2\0\0\0ls\x85R.", 24, SL_ERROR_UNSUPPORTED,
      "serialized_state_dict.pt: data.pkl, byte 3: it names 'os system'" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlPt2Writer *w = net (FALSE);
    SlTorchscriptWriter *saved = sl_torchscript_writer_new ();
    gsize size;
    sl_torchscript_writer_add (saved, "data.pkl", rows[i].pickle, rows[i].length);
    g_autoptr (GBytes) bytes = sl_torchscript_writer_finish (saved);
    const void *data = g_bytes_get_data (bytes, &size);
    sl_pt2_member (w, "serialized_state_dict.pt", data, size);
    refuse_pt2 (w, NULL, rows[i].code, rows[i].text);
  }
}

/* Of a condition that depends on the picture both branches must give the same sizes. */
#define GRAPH(nodes)                                                   \
  "{\"as_graph\":{\"name\":\"g\",\"graph\":{\"inputs\":[" PT2_TENSOR ( \
    "q") "],\"outputs\":[" PT2_TENSOR ("r") "],\"nodes\":[" nodes "],\"tensor_values\":{}}}}"
#define INNER(target, more)                                                   \
  "{\"target\":\"" target "\",\"inputs\":[" PT2_TENSOR_ARG ("self", "q") more \
    "],\"outputs\":[" PT2_TENSOR ("r") "]}"
#define SUM                                                   \
  "{\"target\":\"torch.ops.aten.sum.default\",\"inputs\":[" X \
  "],\"outputs\":[" PT2_TENSOR ("s") "]},"
#define ABOVE_ZERO                                                         \
  "{\"target\":\"torch.ops.aten.gt.Scalar\",\"inputs\":[" PT2_TENSOR_ARG ( \
    "self", "s") "," PT2_ARG ("other", "{\"as_int\":0}") "],\"outputs\":[" PT2_TENSOR ("c") "]},"
#define CHOICE(yes, no)          \
  PT2_ARG ("", PT2_TENSOR ("c")) \
  "," PT2_ARG ("", yes) "," PT2_ARG ("", no) "," PT2_ARG ("", "{\"as_tensors\":[{\"name\":\"x\"}]}")
#define COND(yes, no)                                                                    \
  "[" SUM ABOVE_ZERO "{\"target\":\"torch.ops.higher_order.cond\",\"inputs\":[" CHOICE ( \
    yes, no) "],\"outputs\":[{\"as_tensors\":[{\"name\":\"y\"}]}]}]"

static void
test_branches (void)
{
  static const char *const without_graph[] = {
    NODE ("torch.ops.higher_order.map_impl", X, PT2_TENSOR ("y")),
    NODE ("torch.ops.higher_order.wrap_with_autocast", X, PT2_TENSOR ("y")),
  };
  static const gfloat x[] = { 1, -2, 3, 4 };
  SlPt2Writer *w = net (TRUE);
  sl_pt2_set (w, "nodes",
              COND (GRAPH (INNER (RELU, "")), GRAPH (INNER ("torch.ops.aten.neg.default", ""))));
  expect_pt2 (w, x, (const gfloat[]){ 1, 0, 3, 4 }, 4);
  w = net (TRUE);
  sl_pt2_set (
    w, "nodes",
    COND (GRAPH (INNER (RELU, "")), GRAPH (INNER ("torch.ops.aten.unsqueeze.default",
                                                  "," PT2_ARG ("dim", "{\"as_int\":0}")))));
  refuse_pt2 (
    w, NULL, SL_ERROR_UNSUPPORTED,
    NEW ", node 2, torch.ops.higher_order.cond: result 0 has another size in each branch, and the "
        "condition depends on the picture");
  w = net (TRUE);
  sl_pt2_set (w, "nodes", NODE ("torch.ops.higher_order.cond", X, PT2_TENSOR ("y")));
  refuse_pt2 (w, NULL, SL_ERROR_FORMAT, "expected a condition and two graphs");
  for (guint i = 0; i < G_N_ELEMENTS (without_graph); i++) {
    w = net (TRUE);
    sl_pt2_set (w, "nodes", without_graph[i]);
    refuse_pt2 (w, NULL, SL_ERROR_FORMAT, "expected a graph");
  }
}

/* More of something than a program may have. */
static void
test_limits (void)
{
  g_autoptr (GString) args = g_string_new (X);
  SlPt2Writer *w = net (TRUE);
  for (guint i = 0; i < 64; i++)
    g_string_append (args, "," X);
  sl_pt2_node (w, RELU, args->str, "z");
  refuse_pt2 (w, NULL, SL_ERROR_FORMAT, "more than 64 arguments");
  w = net (TRUE);
  for (guint i = 0; i <= SL_MAX_IO; i++) {
    g_autofree char *name = g_strdup_printf ("x%u", i);
    sl_pt2_input (w, name, SL_PT2_FLOAT, "4");
  }
  refuse_pt2 (w, NULL, SL_ERROR_UNSUPPORTED, NEW ": more than 64 inputs");
}

/* An archive of torch.export by its form, without the program that makes it one. */
static void
test_archive (void)
{
  SlPt2Writer *w = net (TRUE);
  sl_pt2_member (w, "archive_format", NULL, 0);
  sl_pt2_member (w, "other/archive_format", "pt2", 3);
  refuse_pt2 (w, NULL, SL_ERROR_FORMAT,
              "a zip archive of torch.export without its program: expected a member " OLD
              " (PyTorch up to 2.7) or NAME/archive_format (from 2.8 on)");
}

/* A changed byte of the weights, in both forms, would change results without a word. */
static void
test_damaged (void)
{
  static const gfloat elements[] = { 1, 2, 3, 4 };
  for (guint since_28 = 0; since_28 < 2; since_28++) {
    g_autoptr (GBytes) bytes = sl_pt2_writer_finish (net (since_28));
    gsize size;
    const guint8 *data = g_bytes_get_data (bytes, &size);
    g_autofree guint8 *damaged = g_memdup2 (data, size);
    guint8 *weights = memmem (damaged, size, elements, sizeof elements);
    g_assert_nonnull (weights);
    weights[5] ^= 64;
    g_autofree char *path = write_temp ("net.pt2", (const char *) damaged, (gssize) size);
    expect_file_refused (path, SL_ERROR_FORMAT, "the contents differ from their checksum or size");
    sl_tflite_remove_temp (path);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/pt2-errors/parts", test_parts);
  g_test_add_func ("/models/pt2-errors/members", test_members);
  g_test_add_func ("/models/pt2-errors/several", test_several);
  g_test_add_func ("/models/pt2-errors/compiled", test_compiled);
  g_test_add_func ("/models/pt2-errors/none", test_none);
  g_test_add_func ("/models/pt2-errors/entries", test_entries);
  g_test_add_func ("/models/pt2-errors/pickles", test_pickles);
  g_test_add_func ("/models/pt2-errors/branches", test_branches);
  g_test_add_func ("/models/pt2-errors/limits", test_limits);
  g_test_add_func ("/models/pt2-errors/archive", test_archive);
  g_test_add_func ("/models/pt2-errors/damaged", test_damaged);
  return g_test_run ();
}
