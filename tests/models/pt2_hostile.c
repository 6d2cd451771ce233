/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of torch.export that lie, that would not end or that would grow: each is refused with a
 * sentence, or loads, within a second and with little memory beside the file.
 */
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/models/pt2_run.h"
#include "tests/support/program.h"
#include "tests/support/torchscript_writer.h"

#define RELU "torch.ops.aten.relu.default"
#define ZEROS "torch.ops.aten.zeros.default"
#define WHILE "torch.ops.higher_order.while_loop"
#define COND "torch.ops.higher_order.cond"
#define X PT2_TENSOR_ARG ("self", "x")
#define GRAPH_OF(inputs, outputs, nodes)                                                   \
  "{\"as_graph\":{\"name\":\"g\",\"graph\":{\"inputs\":[" inputs "],\"outputs\":[" outputs \
  "],\"nodes\":[" nodes "],\"tensor_values\":{}}}}"
#define MANY 100000
/* Conditions inside each other; JSON of more is too deep. */
#define DEPTH 40

static SlPt2Writer *
net (void)
{
  SlPt2Writer *w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "4");
  sl_pt2_output (w, "y", NULL);
  return w;
}

static char *
write_net (SlPt2Writer *writer)
{
  g_autoptr (GBytes) bytes = sl_pt2_writer_finish (writer);
  return write_temp ("net.pt2", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
}

static void
refuse_net (SlPt2Writer *writer, SlError code, const char *text)
{
  g_autofree char *path = write_net (writer);
  expect_file_refused (path, code, text);
  sl_tflite_remove_temp (path);
}

/* Loads or not, soon and small. */
static void
bound_net (SlPt2Writer *writer, gboolean loads)
{
  g_autofree char *path = write_net (writer);
  g_autoptr (GError) error = NULL;
  SlModel *model = load_bounded (path, &error);
  g_assert_cmpint (model != NULL, ==, loads);
  sl_model_unref (model);
  sl_tflite_remove_temp (path);
}

static char *
repeat (const char *text, const char *between, guint n)
{
  GString *all = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? between : "", text);
  return g_string_free (all, FALSE);
}

/* What nothing reads costs nothing. */
static void
test_spare_values (void)
{
  g_autoptr (GString) values = g_string_new ("{\"x\":{\"dtype\":7,\"sizes\":[{\"as_int\":4}]}");
  SlPt2Writer *w = net ();
  for (guint i = 0; i < MANY; i++)
    g_string_append_printf (values, ",\"v%u\":{\"dtype\":7,\"sizes\":[{\"as_int\":%u}]}", i, i);
  g_string_append_c (values, '}');
  sl_pt2_set (w, "tensor_values", values->str);
  sl_pt2_node (w, RELU, X, "y");
  bound_net (w, TRUE);
}

static void
test_long_lists (void)
{
  SlPt2Writer *w = net ();
  g_autofree char *ones = repeat ("1", ",", 20 * MANY),
                  *sizes = g_strdup_printf ("{\"name\":\"size\",\"arg\":{\"as_ints\":[%s]}}", ones),
                  *args = repeat (X, ",", 100);
  sl_pt2_node (w, ZEROS, sizes, "y");
  refuse_net (w, SL_ERROR_LIMIT, ", node 0, " ZEROS ": ");
  w = net ();
  sl_pt2_node (w, RELU, args, "y");
  refuse_net (w, SL_ERROR_FORMAT, "more than 64 arguments");
}

static void
test_many_nodes (void)
{
  SlPt2Writer *w = net ();
  g_autofree char *list =
    repeat ("{\"target\":\"" ZEROS
            "\",\"inputs\":[" PT2_ARG ("size", "{\"as_ints\":[1000,1000]}") "],\"outputs\":[]}",
            ",", MANY / 2);
  g_autofree char *nodes = g_strdup_printf ("[%s]", list);
  sl_pt2_set (w, "nodes", nodes);
  bound_net (w, FALSE);
}

static void
test_large_tensors (void)
{
  SlPt2Writer *w = net ();
  sl_pt2_node (w, ZEROS, PT2_ARG ("size", "{\"as_ints\":[100000,100000,100000]}"), "y");
  bound_net (w, FALSE);
  w = net ();
  sl_pt2_node (w, "torch.ops.aten.expand.default",
               X "," PT2_ARG ("size", "{\"as_ints\":[100000,100000,4]}"), "y");
  bound_net (w, FALSE);
  /* A weight of one element with strides of 0. */
  static const gfloat one = 1;
  w = net ();
  sl_pt2_weight (w, "parameter", "p", "p");
  sl_pt2_storage (w, "0", SL_PT2_FLOAT, &one, sizeof one);
  sl_pt2_tensor (w, "p", "0", 0, 2, (const gint64[]){ 40000, 50000 }, (const gint64[]){ 0, 0 });
  sl_pt2_node (w, "torch.ops.aten.matmul.default",
               PT2_TENSOR_ARG ("self", "x") "," PT2_TENSOR_ARG ("other", "p"), "y");
  bound_net (w, FALSE);
}

static void
test_endless_loop (void)
{
  static const char body[] =
    PT2_ARG ("", GRAPH_OF (PT2_TENSOR ("a"), "{\"as_bool\":true}", "")) "," PT2_ARG (
      "",
      GRAPH_OF (
        PT2_TENSOR ("a"), PT2_TENSOR ("b"),
        "{\"target\":\"" RELU
        "\",\"inputs\":[" PT2_TENSOR_ARG ("self", "a") "],\"outputs\":[" PT2_TENSOR (
          "b") "]}")) "," PT2_ARG ("",
                                   "{\"as_tensors\":[{\"name\":\"x\"}]}") "," PT2_ARG ("",
                                                                                       "{\"as_tenso"
                                                                                       "rs\":[]}");
  SlPt2Writer *w = net ();
  sl_pt2_node (w, WHILE, body, "y");
  refuse_net (w, SL_ERROR_LIMIT, ", node 0, " WHILE ": the loop runs more than 1024 times");
}

#define GRAPH_ARG(nodes) \
  "{\"name\":\"\",\"arg\":" GRAPH_OF (PT2_TENSOR ("x"), PT2_TENSOR ("x"), nodes) "},"
#define OF_X PT2_ARG ("", "{\"as_tensors\":[{\"name\":\"x\"}]}")

/* Conditions inside conditions. */
static void
test_nested (void)
{
  SlPt2Writer *w = net ();
  g_autofree char *inner = g_strdup ("");
  for (guint i = 0; i < DEPTH; i++) {
    char *outer =
      g_strdup_printf ("{\"target\":\"" COND
                       "\",\"inputs\":[{\"name\":\"\",\"arg\":{\"as_bool\":true}}," GRAPH_ARG ("%s")
                         GRAPH_ARG ("") OF_X "],\"outputs\":[" PT2_TENSOR ("y") "]}",
                       inner);
    g_free (inner);
    inner = outer;
  }
  g_autofree char *nodes = g_strdup_printf ("[%s]", inner);
  sl_pt2_set (w, "nodes", nodes);
  refuse_net (w, SL_ERROR_FORMAT, "more than 60 objects and lists within each other");
}

#define INNER(inputs, outputs) PT2_ARG ("", GRAPH_OF (inputs, outputs, ""))
#define A PT2_TENSOR ("a")
#define B PT2_TENSOR ("b")
#define NO_MORE PT2_ARG ("", "{\"as_tensors\":[]}")
#define PICTURE PT2_ARG ("", PT2_TENSOR ("x"))
#define SCAN "torch.ops.higher_order.scan"

/* Conditions and loops whose graphs and operands do not go together. */
static void
test_control (void)
{
  static const struct
  {
    const char *target, *arguments;
    SlError code;
    const char *text;
  } rows[] = {
    { WHILE, X, SL_ERROR_FORMAT, "expected a condition and a body" },
    { WHILE, INNER (A, A) "," INNER (A, A) "," OF_X "," NO_MORE, SL_ERROR_UNSUPPORTED,
      "how often the loop runs depends on the picture; expected a condition that follows from "
      "sizes and constants" },
    { WHILE, INNER (A, "{\"as_bool\":true}") "," INNER (A, A "," A) "," OF_X "," NO_MORE,
      SL_ERROR_FORMAT, "the body of 1 values gives 2" },
    { SCAN, INNER (A "," B, "") "," OF_X "," OF_X, SL_ERROR_FORMAT,
      "the body gives 0 values; expected 1" },
    { SCAN, INNER (A "," B, A) "," OF_X "," OF_X "," PT2_ARG ("dim", "{\"as_int\":1}"),
      SL_ERROR_SHAPE, "operand 0 has no dimension 1, or another size of it" },
    { COND, PICTURE "," INNER (A, A) "," INNER (A, A "," A) "," OF_X, SL_ERROR_FORMAT,
      "branches with 1 and 2 results" },
    { COND, PICTURE "," INNER (A, "{\"as_int\":1}") "," INNER (A, "{\"as_int\":2}") "," OF_X,
      SL_ERROR_UNSUPPORTED,
      "result 0 is another number in each branch, and the condition depends on the picture" },
    { RELU, INNER (A, A), SL_ERROR_UNSUPPORTED, "a graph as an argument" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (", node 0, %s: %s", rows[i].target, rows[i].text);
    SlPt2Writer *w = net ();
    sl_pt2_node (w, rows[i].target, rows[i].arguments, "y");
    refuse_net (w, rows[i].code, text);
  }
}

/* Messages stay short: refuse_net() checks that. */
static void
test_long_messages (void)
{
  g_autofree char *name = repeat ("a", "", 10 * MANY),
                  *target = g_strdup_printf ("torch.ops.%s.b.default", name);
  g_autoptr (GString) ranges = g_string_new ("{");
  SlPt2Writer *w = net ();
  sl_pt2_node (w, target, X, "y");
  refuse_net (w, SL_ERROR_UNSUPPORTED, "operators that are not supported: torch.ops.aaaa");
  w = sl_pt2_writer_new (TRUE);
  sl_pt2_input (w, "x", SL_PT2_FLOAT, "s0,s1");
  sl_pt2_node (w, RELU, X, "y");
  sl_pt2_output (w, "y", NULL);
  for (guint i = 0; i < MANY; i++)
    g_string_append_printf (ranges, "%s\"s%u\":{\"min_val\":2,\"max_val\":9}", i > 0 ? "," : "", i);
  g_string_append_c (ranges, '}');
  sl_pt2_set (w, "range_constraints", ranges->str);
  refuse_net (w, SL_ERROR_SHAPE, "the program leaves sizes of input 'x' open (x s0,s1; s0 from 2");
}

/* Many entries name one member, which torch.save() wrote and which takes long to open. */
static void
test_one_for_many (void)
{
  static const char pickle[] =
    "\x80\2ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\n"
    "X\1\0\0\0000X\3\0\0\0cpuK\1tQK\0K\1\205K\1\205\211ccollections\nOrderedDict\n)RtR.";
  static const gfloat one = 1;
  SlPt2Writer *w = net ();
  SlTorchscriptWriter *saved = sl_torchscript_writer_new ();
  gsize size;
  sl_torchscript_writer_add (saved, "data.pkl", pickle, sizeof pickle - 1);
  sl_torchscript_writer_add (saved, "data/0", &one, sizeof one);
  for (guint i = 0; i < MANY / 10; i++) {
    g_autofree char *name = g_strdup_printf ("spare/%u", i);
    sl_torchscript_writer_add (saved, name, "", 0);
  }
  g_autoptr (GBytes) bytes = sl_torchscript_writer_finish (saved);
  g_autoptr (GString) config = g_string_new ("{\"config\":{");
  for (guint i = 0; i < MANY / 10; i++)
    g_string_append_printf (config, "%s\"w%u\":{\"path_name\":\"p\",\"use_pickle\":true}",
                            i > 0 ? "," : "", i);
  g_string_append (config, "}}");
  const void *data = g_bytes_get_data (bytes, &size);
  sl_pt2_member (w, "data/weights/p", data, size);
  sl_pt2_member (w, "data/weights/model_weights_config.json", config->str, config->len);
  sl_pt2_node (w, RELU, X, "y");
  bound_net (w, TRUE);
}

/* A size with so many signs, brackets or calls that a recursion would leave the stack. */
static void
test_deep_sizes (void)
{
  static const char *const parts[] = { "-", "(", "Mul(" };
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree char *deep = repeat (parts[i], "", 10 * MANY),
                    *values = g_strdup_printf (
                      "{\"x\":{\"dtype\":7,\"sizes\":[{\"as_expr\":{\"expr_str\":\"%ss0\"}}]}}",
                      deep);
    SlPt2Writer *w = net ();
    sl_pt2_set (w, "tensor_values", values);
    sl_pt2_node (w, RELU, X, "y");
    refuse_net (w, SL_ERROR_SHAPE, "the program leaves sizes of input 'x' open (x ");
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pt2-hostile/spare-values", test_spare_values);
  g_test_add_func ("/pt2-hostile/long-lists", test_long_lists);
  g_test_add_func ("/pt2-hostile/many-nodes", test_many_nodes);
  g_test_add_func ("/pt2-hostile/large-tensors", test_large_tensors);
  g_test_add_func ("/pt2-hostile/endless-loop", test_endless_loop);
  g_test_add_func ("/pt2-hostile/nested", test_nested);
  g_test_add_func ("/pt2-hostile/control", test_control);
  g_test_add_func ("/pt2-hostile/deep-sizes", test_deep_sizes);
  g_test_add_func ("/pt2-hostile/long-messages", test_long_messages);
  g_test_add_func ("/pt2-hostile/one-for-many", test_one_for_many);
  return g_test_run ();
}
