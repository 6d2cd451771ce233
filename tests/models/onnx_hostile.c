/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX files that lie, and files beside them that they name: each is refused with a sentence,
 * within a second and with little memory; none reads what lies outside the model's folder.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

static void
refuse_bytes (GBytes *bytes, SlError code, const char *text)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *path = write_temp ("model.onnx", data, (gssize) size);
  expect_file_refused (path, code, text);
  sl_tflite_remove_temp (path);
}

static void
refuse (const SlOnnxWriter *writer, SlError code, const char *text)
{
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  refuse_bytes (bytes, code, text);
}

/* x float32[1,3,8,8] */
static SlOnnxWriter *
picture (void)
{
  SlOnnxWriter *writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 8, 8 });
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  return writer;
}

static void
accept (const SlOnnxWriter *writer)
{
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *path =
    write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (model);
  sl_tflite_remove_temp (path);
}

/* Constants that claim sizes that their bytes do not have. */
static void
test_dims (void)
{
  static const struct
  {
    guint rank;
    gint64 dims[9];
    const char *text;
  } rows[] = {
    { 2, { 65536, 65536 }, "has 0 bytes; expected 17179869184" },
    { 1, { G_GINT64_CONSTANT (4294967296) }, "its dimensions overflow" },
    { 1, { -1 }, "its dimensions overflow" },
    { 3,
      { 1 << 30, 1 << 30, 4 },
      "its dimensions overflow" }, /* times 4 bytes it is 2^64, which is 0 */
    { 4, { G_MAXINT32, G_MAXINT32, G_MAXINT32, 3 }, "its dimensions overflow" },
    { 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, "more than 8 dimensions" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture ();
    sl_onnx_message (writer->graph, 5,
                     sl_onnx_tensor ("w", SL_ONNX_FLOAT, rows[i].rank, rows[i].dims, "", 0));
    sl_onnx_writer_node (writer, "Add", "x,w", "y", NULL);
    refuse (writer, i == 0 ? SL_ERROR_FORMAT : SL_ERROR_LIMIT, rows[i].text);
  }
}

static void
test_inputs (void)
{
  static const struct
  {
    gint64 dims[4];
    const char *text;
  } rows[] = {
    { { 1, 3, 65536, 65536 }, "over the limit of 1073741824 bytes" },
    { { 1, 3, G_GINT64_CONSTANT (1) << 40, 8 }, "input 'x': dimension 2 is 1099511627776" },
    { { G_MAXINT32, G_MAXINT32, G_MAXINT32, 8 }, "input 'x': its dimensions overflow" }
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
    sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, rows[i].dims);
    sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
    sl_onnx_writer_node (writer, "Relu", "x", "y", NULL);
    refuse (writer, SL_ERROR_LIMIT, rows[i].text);
  }
}

/* Names that all have one g_str_hash() take no longer than others. */
static void
test_colliding_names (void)
{
  g_autoptr (SlOnnxWriter) writer = picture ();
  for (guint i = 0; i < 16000; i++) {
    GString *inputs = g_string_new (NULL), *output = g_string_new (NULL);
    for (guint name = 8 * i; name < 8 * i + 9; name++) {
      GString *text = name < 8 * i + 8 ? inputs : output;
      if (text->len > 0)
        g_string_append_c (text, ',');
      for (guint bit = 0; bit < 18; bit++)
        g_string_append (text,
                         ((text == inputs ? 1u << 17 | name : i) >> bit & 1) != 0 ? "BY" : "Az");
    }
    sl_onnx_writer_node (writer, "Relu", inputs->str, output->str, NULL);
    g_string_free (inputs, TRUE);
    g_string_free (output, TRUE);
  }
  refuse (writer, SL_ERROR_FORMAT, "model output 0 'y' is produced by no node");
}

/* Before anything is done for them. */
static void
test_numbers_of_outputs (void)
{
  g_autoptr (SlOnnxWriter) none = sl_onnx_writer_new (13), many = picture ();
  sl_onnx_writer_input (none, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 8, 8 });
  sl_onnx_writer_node (none, "Relu", "x", "y", NULL);
  refuse (none, SL_ERROR_LIMIT, "the model has 0 outputs; expected 1 to 64");
  sl_onnx_writer_node (many, "Relu", "x", "y", NULL);
  for (guint i = 0; i < 64; i++)
    sl_onnx_writer_output (many, "y", SL_ONNX_FLOAT);
  refuse (many, SL_ERROR_LIMIT, "the model has 65 outputs; expected 1 to 64");
}

/* Operators whose output is as large as a number in the file says. */
static void
test_large_outputs (void)
{
  static const struct
  {
    const char *op, *inputs, *attribute;
    gint64 values[8];
    guint n;
  } rows[] = {
    { "ConstantOfShape", "c", "unused i 0", { 65536, 65536 }, 2 },
    { "ConstantOfShape", "c", "unused i 0", { G_MAXINT32, G_MAXINT32, G_MAXINT32 }, 3 },
    { "Expand", "x,c", "unused i 0", { 1 << 24, 3, 8, 8 }, 4 },
    { "Expand", "x,c", "unused i 0", { G_MAXINT32, 3, 8, 8 }, 4 },
    { "Tile", "x,c", "unused i 0", { 1, 1, 65536, 65536 }, 4 },
    { "Pad", "x,c", "unused i 0", { 0, 0, 1 << 30, 1 << 30, 0, 0, 0, 0 }, 8 },
    { "Reshape", "x,c", "unused i 0", { G_MAXINT32, G_MAXINT32 }, 2 },
    { "Resize", "x,,,c", "unused i 0", { 1, 3, 1 << 20, 1 << 20 }, 4 },
    { "Resize", "x,,,c", "mode s cubic", { 1, 3, 1 << 14, 1 << 14 }, 4 },
    { "DepthToSpace", "x", "blocksize i 2147483647", { 0 }, 1 },
    { "MaxPool", "x", "kernel_shape I 2147483647,2147483647", { 0 }, 1 },
    { "AveragePool", "x", "kernel_shape I 0,0", { 0 }, 1 },
    { "Split", "x", "axis i 900000000000", { 0 }, 1 },
    { "Concat", "x", "axis i -9223372036854775808", { 0 }, 1 },
    { "Transpose", "x", "perm I 0,1,2,4294967299", { 0 }, 1 },
    { "LRN", "x", "size i 2147483648", { 0 }, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture ();
    g_autoptr (GError) error = NULL;
    sl_onnx_writer_ints (writer, "c", rows[i].n, rows[i].values);
    sl_onnx_writer_node (writer, rows[i].op, rows[i].inputs, "big", rows[i].attribute, NULL);
    sl_onnx_writer_node (writer, "Add", "big,x", "y", NULL);
    g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
    g_autofree char *path =
      write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
    g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
    g_assert_null (model);
    expect_file_refused (path, (SlError) error->code, rows[i].op);
    sl_tflite_remove_temp (path);
  }
}

/* Operators that count along dimensions: a large one takes no memory before it is refused. */
static void
test_counts (void)
{
  const gint64 depths[] = { G_MAXINT32, G_MAXINT64, (1 << 28) - 1 };
  for (guint i = 0; i < G_N_ELEMENTS (depths); i++) {
    g_autoptr (SlOnnxWriter) writer = picture ();
    sl_onnx_writer_ints (writer, "depth", 1, &depths[i]);
    sl_onnx_writer_floats (writer, "values", 1, (const gint64[]){ 2 }, (const gfloat[]){ 0, 1 });
    sl_onnx_writer_node (writer, "OneHot", "x,depth,values", "y", NULL);
    refuse (writer, SL_ERROR_LIMIT, "OneHot");
  }
  for (guint i = 0; i < 2; i++) {
    g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (14);
    sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 2,
                          i == 0 ? (const gint64[]){ 1, (1 << 28) - 1 }
                                 : (const gint64[]){ (1 << 28) - 1, 1 });
    sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
    sl_onnx_writer_node (writer, "Trilu", "x", "y", NULL);
    refuse (writer, SL_ERROR_LIMIT, "1073741824 bytes");
  }
}

/* If in If in If. */
static void
test_nesting (void)
{
  static const guint8 yes = 1;
  GByteArray *graph = g_byte_array_new ();
  for (guint i = 0; i < 10000; i++) {
    GByteArray *outer = g_byte_array_new (), *node = sl_onnx_node ("If", "c", "y", NULL);
    sl_onnx_node_graph (node, "then_branch", graph);
    sl_onnx_message (outer, 1, node);
    sl_onnx_message (outer, 12, sl_onnx_edge ("y", SL_ONNX_FLOAT, 0, NULL));
    graph = outer;
  }
  sl_onnx_message (graph, 5, sl_onnx_tensor ("c", SL_ONNX_BOOL, 0, NULL, &yes, 1));
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  g_byte_array_append (writer->graph, graph->data, graph->len);
  g_byte_array_unref (graph);
  refuse (writer, SL_ERROR_LIMIT, "nested more than 8 deep");
}

/* A loop that runs often around graphs that are never run, but large: its names are not looked
 * through each time for long. */
static void
test_loops (void)
{
  const gint64 trips = 1024;
  g_autoptr (SlOnnxWriter) writer = picture ();
  GByteArray *body = g_byte_array_new (), *loop = sl_onnx_node ("Loop", "n,,x", "y", NULL),
             *never = g_byte_array_new ();
  GByteArray *branch = sl_onnx_node ("If", "go", "z", NULL), *then = g_byte_array_new ();
  for (guint i = 0; i < 60000; i++)
    sl_onnx_message (never, 1, sl_onnx_node ("Relu", "x", "z", NULL));
  sl_onnx_message (never, 12, sl_onnx_edge ("z", SL_ONNX_FLOAT, 0, NULL));
  sl_onnx_message (then, 1, sl_onnx_node ("Identity", "state", "z", NULL));
  sl_onnx_message (then, 12, sl_onnx_edge ("z", SL_ONNX_FLOAT, 0, NULL));
  sl_onnx_node_graph (branch, "else_branch", never);
  sl_onnx_node_graph (branch, "then_branch", then);
  sl_onnx_message (body, 1, branch);
  sl_onnx_message (body, 1, sl_onnx_node ("Identity", "go", "next", NULL));
  for (guint i = 0; i < 3; i++)
    sl_onnx_message (body, 11,
                     sl_onnx_edge (((const char *const[]){ "i", "go", "state" })[i],
                                   i == 0 ? SL_ONNX_INT64 : SL_ONNX_FLOAT, 0, NULL));
  sl_onnx_message (body, 12, sl_onnx_edge ("next", SL_ONNX_BOOL, 0, NULL));
  sl_onnx_message (body, 12, sl_onnx_edge ("z", SL_ONNX_FLOAT, 0, NULL));
  sl_onnx_node_graph (loop, "body", body);
  sl_onnx_message (writer->graph, 5,
                   sl_onnx_tensor ("n", SL_ONNX_INT64, 0, NULL, &trips, sizeof trips));
  sl_onnx_message (writer->graph, 1, loop);
  refuse (writer, SL_ERROR_LIMIT, "the model's loops have more than");
}

static void
test_cycles (void)
{
  g_autoptr (SlOnnxWriter) writer = picture ();
  sl_onnx_writer_node (writer, "Add", "x,b", "a", NULL);
  sl_onnx_writer_node (writer, "Relu", "a", "b", NULL);
  sl_onnx_writer_node (writer, "Relu", "b", "y", NULL);
  refuse (writer, SL_ERROR_FORMAT,
          "node 1 Relu 'b' (opset 13): input 0 'a' is used before anything produces it");
  g_autoptr (SlOnnxWriter) self = picture ();
  sl_onnx_writer_node (self, "Relu", "y", "y", NULL);
  refuse (self, SL_ERROR_FORMAT, "input 0 'y' is used before anything produces it");
  g_autoptr (SlOnnxWriter) twice = picture ();
  sl_onnx_writer_node (twice, "Relu", "x", "y", NULL);
  sl_onnx_writer_node (twice, "Neg", "x", "y", NULL);
  refuse (twice, SL_ERROR_FORMAT, "output 0 'y' already has a producer");
}

/* Nodes that stand before those that they read, as tools leave them that append casts: also what a
 * graph within a node reads. */
static void
test_order (void)
{
  g_autoptr (SlOnnxWriter) writer = picture ();
  sl_onnx_writer_node (writer, "Neg", "b", "y", NULL);
  sl_onnx_writer_node (writer, "Add", "x,a", "b", NULL);
  sl_onnx_writer_node (writer, "Relu", "x", "a", NULL);
  accept (writer);

  g_autoptr (SlOnnxWriter) inner = picture ();
  const guint8 yes = 1;
  GByteArray *graphs[2], *node = sl_onnx_node ("If", "c", "y", NULL);
  for (guint i = 0; i < 2; i++) {
    graphs[i] = g_byte_array_new ();
    sl_onnx_message (graphs[i], 1, sl_onnx_node ("Neg", "a", i == 0 ? "t" : "e", NULL));
    sl_onnx_message (graphs[i], 12, sl_onnx_edge (i == 0 ? "t" : "e", SL_ONNX_FLOAT, 0, NULL));
    sl_onnx_node_graph (node, i == 0 ? "then_branch" : "else_branch", graphs[i]);
  }
  sl_onnx_message (inner->graph, 5, sl_onnx_tensor ("c", SL_ONNX_BOOL, 0, NULL, &yes, 1));
  sl_onnx_message (inner->graph, 1, node);
  sl_onnx_writer_node (inner, "Relu", "x", "a", NULL);
  accept (inner);

  /* Each node waits for the next one. */
  g_autoptr (SlOnnxWriter) chain = picture ();
  for (guint i = 0; i < 3000; i++) {
    g_autofree char *from = g_strdup_printf ("v%u", i + 1), *to = g_strdup_printf ("v%u", i);
    sl_onnx_writer_node (chain, "Relu", i == 2999 ? "x" : from, i == 0 ? "y" : to, NULL);
  }
  accept (chain);
}

/* Every beginning of a good file. */
static void
test_truncated (void)
{
  g_autoptr (SlOnnxWriter) writer = picture ();
  const gfloat weights[3] = { 1, 2, 3 };
  sl_onnx_writer_floats (writer, "w", 4, (const gint64[]){ 1, 3, 1, 1 }, weights);
  sl_onnx_writer_node (writer, "Conv", "x,w", "y", "kernel_shape I 1,1", NULL);
  g_autoptr (GBytes) whole = sl_onnx_writer_finish (writer);
  gsize size;
  const char *data = g_bytes_get_data (whole, &size);
  for (gsize length = 16; length < size; length++) {
    g_autofree char *path = write_temp ("model.onnx", data, (gssize) length);
    g_autoptr (GError) error = NULL;
    g_assert_null (sl_model_load (path, NULL, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
    sl_tflite_remove_temp (path);
  }
}

/* Fields that are no fields. */
static void
test_fields (void)
{
  static const struct
  {
    const char *bytes;
    gsize length;
    const char *text;
  } rows[] = {
    { "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13,
      "a number has more than 10 bytes" },
    { "\x3a\x7f\x00", 3, "longer than what holds it" },
    { "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "longer than what holds it" },
    { "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 13,
      "a number has more than 10 bytes" },
    { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 11, "a field has no valid number" },
    { "\x00\x00", 2, "a field has no valid number" },
    { "\x0b", 1, "a field is of no known kind" },
    { "\x3f\x00", 2, "a field is of no known kind" },
    { "\x39\x00\x00", 3, "a number is cut off" },
    { "\x3d\x00\x00", 3, "a number is cut off" },
    { "\x08", 1, "a number is cut off" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture ();
    sl_onnx_writer_node (writer, "Relu", "x", "y", NULL);
    g_byte_array_append (writer->more, (const guint8 *) rows[i].bytes, (guint) rows[i].length);
    refuse (writer, SL_ERROR_FORMAT, rows[i].text);
  }
}

/* Fields that come too often. */
static void
test_repeated (void)
{
  g_autoptr (SlOnnxWriter) nodes = picture (), numbers = picture (), outputs = picture (),
                           operands = picture (), graphs = picture ();
  for (guint i = 0; i < 70000; i++)
    sl_onnx_writer_node (nodes, "Relu", "x", "y", NULL);
  refuse (nodes, SL_ERROR_LIMIT, "more than 65536 nodes");
  GByteArray *attribute = g_byte_array_new (), *node = sl_onnx_node ("Relu", "x", "y", NULL),
             *many = sl_onnx_node ("Sum", "x", "y", NULL);
  g_autofree guint8 *zeros = g_malloc0 (1 << 21);
  sl_onnx_bytes (attribute, 8, zeros, 1 << 21);
  sl_onnx_message (node, 5, attribute);
  sl_onnx_message (numbers->graph, 1, node);
  refuse (numbers, SL_ERROR_LIMIT, "numbers in attributes");
  for (guint i = 0; i < 5000; i++)
    sl_onnx_writer_output (outputs, "y", SL_ONNX_FLOAT);
  refuse (outputs, SL_ERROR_LIMIT, "inputs or outputs");
  for (guint i = 0; i < 1000; i++)
    sl_onnx_text (many, 1, "x");
  sl_onnx_message (operands->graph, 1, many);
  refuse (operands, SL_ERROR_LIMIT, "node 0 has more than 256 inputs");
  for (guint i = 0; i < 5000; i++)
    sl_onnx_bytes (graphs->more, 7, graphs->graph->data, graphs->graph->len);
  refuse (graphs, SL_ERROR_LIMIT, "more than 4096 graphs");
}

/* Nodes of a few bytes for each of which the reader makes constants: their sum is bounded while
 * they are read. */
static void
test_made (void)
{
  static const gint64 image[] = { 63, 63 }, block[] = { 32, 32 }, columns[] = { 1, 1024, 1024 };
  g_autoptr (SlOnnxWriter) pools = picture (), unfolded = picture ();
  g_autoptr (GString) all = g_string_new (NULL);
  for (guint i = 0; i < 64; i++) {
    g_autofree char *in = i > 0 ? g_strdup_printf ("p%u", i - 1) : g_strdup ("x"),
                    *out = i < 63 ? g_strdup_printf ("p%u", i) : g_strdup ("y");
    sl_onnx_writer_node (pools, "AveragePool", in, out, "kernel_shape I 256,256", "dilations I 2,2",
                         "pads I 255,255,255,255", NULL);
  }
  refuse (pools, SL_ERROR_LIMIT, "what is made of the shapes of the model's nodes takes");
  sl_onnx_writer_ints (unfolded, "image", 2, image);
  sl_onnx_writer_ints (unfolded, "block", 2, block);
  sl_onnx_writer_ints (unfolded, "columns", 3, columns);
  sl_onnx_writer_node (unfolded, "ReduceSum", "x", "s", "keepdims i 0", NULL);
  sl_onnx_writer_node (unfolded, "Expand", "s,columns", "c", NULL);
  for (guint i = 0; i < 40; i++) {
    g_autofree char *out = g_strdup_printf ("u%u", i);
    sl_onnx_writer_node (unfolded, "Col2Im", "c,image,block", out, NULL);
    g_string_append_printf (all, "%s%s", i > 0 ? "," : "", out);
  }
  sl_onnx_writer_node (unfolded, "Sum", all->str, "y", NULL);
  refuse (unfolded, SL_ERROR_LIMIT, "what is made of the shapes of the model's nodes takes");
}

/* Operators of other domains are refused by their names, with what to do, unless nothing reads what
 * they give. */
static void
test_domains (void)
{
  static const struct
  {
    const char *domain, *text;
  } rows[] = {
    { "com.example",
      "node 1 Warp 'y' (opset 13): operator com.example.Warp is not supported; operators of other "
      "domains belong to the program that the model was made for: export it with ONNX's own "
      "operators" },
    { "com.microsoft.nchwc",
      "operator com.microsoft.nchwc.Warp is not supported; operators of this domain are ONNX "
      "Runtime's own" },
    { "ai.onnx.ml",
      "operator ai.onnx.ml.Warp is not supported; of ONNX's own domains ai.onnx alone is "
      "supported" },
    { "", "operator Warp is not supported; export the model without it" },
    { "ai.onnx", "operator Warp is not supported; export the model without it" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlOnnxWriter) writer = picture (), unread = picture ();
    GByteArray *node = sl_onnx_node ("Warp", "r", "y", NULL),
               *same = sl_onnx_node ("Warp", "x", "z", NULL);
    sl_onnx_text (node, 7, rows[i].domain);
    sl_onnx_text (same, 7, rows[i].domain);
    sl_onnx_writer_node (writer, "Relu", "x", "r", NULL);
    sl_onnx_message (writer->graph, 1, node);
    refuse (writer, SL_ERROR_UNSUPPORTED, rows[i].text);
    sl_onnx_message (unread->graph, 1, same);
    sl_onnx_writer_node (unread, "Relu", "x", "y", NULL);
    accept (unread);
  }
}

/* Functions, sparse weights and what is for training: refused by name, but for the last, which a
 * prediction does not need. */
static void
test_foreign (void)
{
  g_autoptr (SlOnnxWriter) functions = picture (), sparse = picture (), constant = picture (),
                           training = picture ();
  GByteArray *function = g_byte_array_new (), *weights = g_byte_array_new (),
             *node = sl_onnx_node ("Constant", "", "c", NULL), *attribute = g_byte_array_new ();
  sl_onnx_text (function, 1, "aten_linear");
  sl_onnx_text (function, 10, "pkg.torch.ops");
  sl_onnx_message (functions->more, 25, function);
  sl_onnx_writer_node (functions, "Relu", "x", "y", NULL);
  refuse (
    functions, SL_ERROR_UNSUPPORTED,
    "the model defines function 'aten_linear' of the domain 'pkg.torch.ops', and functions are not "
    "supported; inline them with onnx.inliner.inline_local_functions()");
  sl_onnx_message (weights, 1,
                   sl_onnx_tensor ("w", SL_ONNX_FLOAT, 1, (const gint64[]){ 1 }, "\0\0\0", 4));
  sl_onnx_message (sparse->graph, 15, weights);
  sl_onnx_writer_node (sparse, "Relu", "x", "y", NULL);
  refuse (sparse, SL_ERROR_UNSUPPORTED,
          "initializer 'w' is sparse, which is not supported; export the model with dense weights");
  sl_onnx_text (attribute, 1, "sparse_value");
  sl_onnx_message (node, 5, attribute);
  sl_onnx_message (constant->graph, 1, node);
  sl_onnx_writer_node (constant, "Add", "x,c", "y", NULL);
  refuse (constant, SL_ERROR_UNSUPPORTED,
          "node 0 Constant 'c' (opset 13): attribute sparse_value is not supported");
  sl_onnx_text (training->more, 20, "");
  sl_onnx_writer_node (training, "Relu", "x", "y", NULL);
  accept (training);
}

static void
test_empty_output (void)
{
  g_autoptr (SlOnnxWriter) writer = picture ();
  sl_onnx_writer_ints (writer, "zero", 1, (const gint64[]){ 0 });
  sl_onnx_writer_node (writer, "Slice", "x,zero,zero", "y", NULL);
  refuse (writer, SL_ERROR_UNSUPPORTED,
          "model output 0 'y' has no elements; export the model without it");
}

/* Texts of megabytes where a word belongs, read anew in each of many nodes. */
static void
test_long_words (void)
{
  g_autoptr (SlOnnxWriter) writer = picture ();
  g_autofree char *word = g_strnfill (100000, 'm'),
                  *attribute = g_strconcat ("mode s ", word, NULL);
  sl_onnx_writer_ints (writer, "c", 4, (const gint64[]){ 1, 3, 16, 16 });
  sl_onnx_writer_node (writer, "Resize", "x,,,c", "y", attribute, NULL);
  refuse (writer, SL_ERROR_FORMAT, "attribute 'mode' has 100000 bytes");
}

/** A model whose weights are said to lie elsewhere, in a folder of its own. */
typedef struct
{
  char *path, *folder;
} Split;

static void
split_new (Split *split, const char *location, const char *offset, const char *length)
{
  g_autoptr (SlOnnxWriter) writer = picture ();
  sl_onnx_message (writer->graph, 5,
                   sl_onnx_external_tensor ("w", SL_ONNX_FLOAT, 1, (const gint64[]){ 8 }, location,
                                            offset, length));
  sl_onnx_writer_node (writer, "Add", "x,w", "y", NULL);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  split->path =
    write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  split->folder = g_path_get_dirname (split->path);
}

static void
split_clear (Split *split)
{
  sl_tflite_remove_temp (split->path);
  g_free (split->path);
  g_free (split->folder);
}

static void
test_external_names (void)
{
  static const struct
  {
    const char *location, *text;
  } rows[] = {
    { "../../etc/passwd",
      "would lie in '../../etc/passwd'; expected a file inside the model's folder" },
    { "/etc/passwd", "would lie in '/etc/passwd'; expected a file inside the model's folder" },
    { "a/../../x", "expected a file inside the model's folder" },
    { "..", "expected a file inside the model's folder" },
    { "", "expected a file inside the model's folder" },
    { "..\\..\\x", "expected a file inside the model's folder" },
    { "C:\\x", "expected a file inside the model's folder" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Split split;
    split_new (&split, rows[i].location, NULL, NULL);
    expect_file_refused (split.path, SL_ERROR_FORMAT, rows[i].text);
    split_clear (&split);
  }
  Split missing;
  split_new (&missing, "weights.bin", NULL, NULL);
  expect_file_refused (missing.path, SL_ERROR_OPEN,
                       "weights.bin': No such file or directory; put that file beside the model");
  split_clear (&missing);
}

static void
test_external_sizes (void)
{
  static const struct
  {
    const char *offset, *length, *text;
  } rows[] = {
    { "0", "64", "the files do not belong together" },
    { "40", NULL, "the files do not belong together" },
    { "18446744073709551615", NULL, "its offset is no number" },
    { "9223372036854775807", NULL, "the files do not belong together" },
    { "-4", NULL, "its offset is no number" },
    { "0x10", NULL, "its offset is no number" },
    { "0", "4 GB", "its length is no number" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Split split;
    split_new (&split, "weights.bin", rows[i].offset, rows[i].length);
    g_autofree char *data = g_build_filename (split.folder, "weights.bin", NULL);
    g_assert_true (
      g_file_set_contents (data, "0123456789012345678901234567890123456789012345678901", 52, NULL));
    expect_file_refused (split.path, SL_ERROR_FORMAT, rows[i].text);
    g_unlink (data);
    split_clear (&split);
  }
}

/* Links, folders and pipes in the place of the data. */
static void
test_external_kinds (void)
{
  Split split;
  split_new (&split, "sub/weights.bin", NULL, NULL);
  g_autofree char *sub = g_build_filename (split.folder, "sub", NULL),
                  *data = g_build_filename (sub, "weights.bin", NULL);
  g_autofree char *real = g_build_filename (split.folder, "real.bin", NULL);
  g_autoptr (GError) error = NULL;
  const gfloat weights[8] = { 0 };
  g_assert_cmpint (symlink ("/etc", sub), ==, 0);
  expect_file_refused (split.path, SL_ERROR_OPEN, "No such file or directory");
  g_unlink (sub);
  g_mkdir (sub, 0700);
  g_assert_cmpint (symlink ("/etc/passwd", data), ==, 0);
  expect_file_refused (split.path, SL_ERROR_FORMAT, "is a link out of the model's folder");
  g_unlink (data);
  g_assert_cmpint (symlink ("weights.bin", data), ==, 0);
  expect_file_refused (split.path, SL_ERROR_OPEN, "Too many levels of symbolic links");
  g_unlink (data);
  g_assert_cmpint (mkfifo (data, 0600), ==, 0);
  expect_file_refused (split.path, SL_ERROR_OPEN, "not a file");
  g_unlink (data);
  g_assert_cmpint (g_mkdir (data, 0700), ==, 0);
  expect_file_refused (split.path, SL_ERROR_OPEN, "not a file");
  g_rmdir (data);
  g_assert_true (g_file_set_contents (real, (const char *) weights, sizeof weights, NULL));
  g_assert_cmpint (symlink ("../real.bin", data), ==, 0);
  SlModel *model = sl_model_load (split.path, NULL, &error);
  g_assert_no_error (error);
  g_clear_pointer (&model, sl_model_unref);
  g_unlink (data);
  g_unlink (real);
  g_rmdir (sub);
  split_clear (&split);
}

/* Weights that changed beside a model that did not are another graph's; the same ones are shared.
 */
static void
test_external_shared (void)
{
  Split split;
  split_new (&split, "weights.bin", NULL, NULL);
  g_autofree char *data = g_build_filename (split.folder, "weights.bin", NULL);
  g_autoptr (GError) error = NULL;
  gfloat weights[8] = { 0 };
  g_assert_true (g_file_set_contents (data, (const char *) weights, sizeof weights, NULL));
  sl_tflite_make_old (split.path);
  g_autoptr (SlModel) one = sl_model_load (split.path, NULL, &error),
                      same = sl_model_load (split.path, NULL, &error);
  g_assert_no_error (error);
  weights[3] = 1;
  g_assert_true (g_file_set_contents (data, (const char *) weights, sizeof weights, NULL));
  g_autoptr (SlModel) other = sl_model_load (split.path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_model_graph (one) == sl_model_graph (same));
  g_assert_true (sl_model_graph (one) != sl_model_graph (other));
  g_unlink (data);
  split_clear (&split);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-hostile/dims", test_dims);
  g_test_add_func ("/onnx-hostile/inputs", test_inputs);
  g_test_add_func ("/onnx-hostile/order", test_order);
  g_test_add_func ("/onnx-hostile/colliding-names", test_colliding_names);
  g_test_add_func ("/onnx-hostile/numbers-of-outputs", test_numbers_of_outputs);
  g_test_add_func ("/onnx-hostile/large-outputs", test_large_outputs);
  g_test_add_func ("/onnx-hostile/counts", test_counts);
  g_test_add_func ("/onnx-hostile/nesting", test_nesting);
  g_test_add_func ("/onnx-hostile/loops", test_loops);
  g_test_add_func ("/onnx-hostile/cycles", test_cycles);
  g_test_add_func ("/onnx-hostile/truncated", test_truncated);
  g_test_add_func ("/onnx-hostile/fields", test_fields);
  g_test_add_func ("/onnx-hostile/repeated", test_repeated);
  g_test_add_func ("/onnx-hostile/made", test_made);
  g_test_add_func ("/onnx-hostile/domains", test_domains);
  g_test_add_func ("/onnx-hostile/foreign", test_foreign);
  g_test_add_func ("/onnx-hostile/empty-output", test_empty_output);
  g_test_add_func ("/onnx-hostile/long-words", test_long_words);
  g_test_add_func ("/onnx-hostile/external-names", test_external_names);
  g_test_add_func ("/onnx-hostile/external-sizes", test_external_sizes);
  g_test_add_func ("/onnx-hostile/external-kinds", test_external_kinds);
  g_test_add_func ("/onnx-hostile/external-shared", test_external_shared);
  return g_test_run ();
}
