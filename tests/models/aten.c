/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Torch's operators called one by one, without a program text: what a reader of another format
 * does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "models/aten/ops.h"
#include "tests/support/program.h"

#define HEAP ((gsize) 1 << 20)
#define ELEMENTS 6

typedef struct
{
  TsHeap heap;
  TsProgram program;
  SlGraph *graph;
  gint32 input;
} Traced;

static TsValue
begin (Traced *t)
{
  const SlTensor x = { .name = "x",
                       .dtype = SL_DTYPE_F32,
                       .rank = 2,
                       .dims = { 2, 3 },
                       .bytes = ELEMENTS * sizeof (gfloat) };
  ts_heap_init (&t->heap, HEAP);
  t->graph = sl_graph_new (NULL);
  ts_program_init (&t->program, &t->heap, t->graph);
  t->program.lower.may_copy = HEAP;
  t->input = lower_new_tensor (&t->program.lower, &x);
  return ts_new_plain (&t->program, t->input, TS_FLOAT32);
}

static void
end (Traced *t)
{
  ts_program_clear (&t->program);
  ts_heap_clear (&t->heap);
  sl_graph_unref (t->graph);
}

/* softmax (2 x + 1, dim=-1), whose second operand and dimension come by name. */
static void
test_calls (void)
{
  Traced t;
  g_autoptr (GError) error = NULL;
  static const char *const add_names[] = { NULL, "other", "alpha" }, *const softmax_names[] = {
    NULL, "dim"
  };
  gfloat *from = sl_tensor_buffer_new (ELEMENTS * sizeof (gfloat)),
         *to = sl_tensor_buffer_new (ELEMENTS * sizeof (gfloat));
  const TsValue x = begin (&t), twice[] = { x, ts_int (2) };
  const TsValue sum[] = { ts_run_op (&t.program, "aten::mul", twice, NULL, 2), ts_float (0.5),
                          ts_int (2) };
  const TsValue softmax[] = { ts_run_op (&t.program, "aten::add", sum, add_names, 3), ts_int (-1) };
  const TsValue y = ts_run_op (&t.program, "aten::softmax", softmax, softmax_names, 2);
  g_assert_no_error (t.heap.error);
  g_assert_no_error (t.program.lower.error);
  g_assert_cmpuint (y.tensor->rank, ==, 2);
  const gint32 output = lower_plain (&t.program.lower, ts_read (&t.program, y));
  g_assert_true (sl_graph_set_io (t.graph, &t.input, 1, &output, 1, &error)
                 && sl_graph_prepare (t.graph, &error));
  g_autoptr (SlSession) session = sl_session_new (t.graph, 1, &error);
  g_assert_no_error (error);
  for (gint i = 0; i < ELEMENTS; i++)
    from[i] = (gfloat) (i * 5 % 7 - 3) / 2;
  g_assert_cmpint (sl_session_run (session, (const void *[]){ from }, (void *[]){ to }), ==,
                   SL_STATUS_OK);
  for (gint i = 0; i < ELEMENTS; i++) {
    gdouble total = 0;
    for (gint k = i / 3 * 3; k < i / 3 * 3 + 3; k++)
      total += exp (2 * (gdouble) from[k] + 1);
    g_assert_cmpfloat (fabs ((gdouble) to[i] - exp (2 * (gdouble) from[i] + 1) / total), <, 1e-6);
  }
  sl_tensor_buffer_free (from);
  sl_tensor_buffer_free (to);
  end (&t);
}

/* A row's third argument has another name than torch's schema, and is found by its place; the copy
 * of a view keeps its elements when the base is written. */
static void
test_names_and_copies (void)
{
  Traced t;
  g_autoptr (GError) error = NULL;
  static const char *const scatter_names[] = { "self", "dim", "index", "value" };
  static const gfloat index[] = { 2, 0 };
  gfloat *from = sl_tensor_buffer_new (ELEMENTS * sizeof (gfloat)),
         *to = sl_tensor_buffer_new (2 * ELEMENTS * sizeof (gfloat));
  const TsValue x = begin (&t), base = ts_run_op (&t.program, "aten::clone", &x, NULL, 1);
  const TsValue order[] = { base, ts_int_list (&t.heap, (const gint64[]){ 1, 0 }, 2) };
  const TsValue copy = ts_run_op (&t.program, "aten::permute_copy", order, NULL, 2);
  const TsValue rows[] = {
    ts_new (&t.program, ts_constant_floats (&t.program, index, 2), TS_FLOAT32), ts_int (TS_INT64)
  };
  const TsValue shaped[] = { ts_run_op (&t.program, "aten::to", rows, NULL, 2),
                             ts_int_list (&t.heap, (const gint64[]){ 2, 1 }, 2) };
  const TsValue scatter[] = { base, ts_int (1),
                              ts_run_op (&t.program, "aten::reshape", shaped, NULL, 2),
                              ts_float (7) };
  ts_run_named (&t.program, "aten::scatter_", scatter, scatter_names, 4);
  const TsValue flat[] = { copy, ts_int_list (&t.heap, (const gint64[]){ 2, 3 }, 2) };
  const TsValue both = ts_list (&t.heap), join[] = { both, ts_int (0) };
  ts_list_append (&t.heap, both.list, base);
  ts_list_append (&t.heap, both.list, ts_run_op (&t.program, "aten::reshape", flat, NULL, 2));
  const TsValue y = ts_run_op (&t.program, "aten::cat", join, NULL, 2);
  g_assert_no_error (t.heap.error);
  g_assert_no_error (t.program.lower.error);
  const gint32 output = lower_plain (&t.program.lower, ts_read (&t.program, y));
  g_assert_true (sl_graph_set_io (t.graph, &t.input, 1, &output, 1, &error)
                 && sl_graph_prepare (t.graph, &error));
  g_autoptr (SlSession) session = sl_session_new (t.graph, 1, &error);
  g_assert_no_error (error);
  for (gint i = 0; i < ELEMENTS; i++)
    from[i] = (gfloat) i;
  g_assert_cmpint (sl_session_run (session, (const void *[]){ from }, (void *[]){ to }), ==,
                   SL_STATUS_OK);
  static const gfloat expected[] = { 0, 1, 7, 7, 4, 5, 0, 3, 1, 4, 2, 5 };
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpfloat (to[i], ==, expected[i]);
  sl_tensor_buffer_free (from);
  sl_tensor_buffer_free (to);
  end (&t);
}

/* (transfer full): @dims, such as "2,3", as of a tensor; "" = a scalar. */
static SlTensor
tensor_of (const char *dims, SlDtype dtype)
{
  g_auto (GStrv) numbers = g_strsplit (dims, ",", -1);
  SlTensor tensor = {
    .name = "t", .dtype = dtype, .rank = g_strv_length (numbers), .bytes = sl_dtype_size (dtype)
  };
  for (guint i = 0; i < tensor.rank; i++) {
    tensor.dims[i] = atoi (numbers[i]);
    tensor.bytes *= (gsize) tensor.dims[i];
  }
  return tensor;
}

/* An argument of an operator. - is None, and [a;b] is a list. x:DIMS is a tensor of floats, b:DIMS
 * of bool, i:DIMS of int64, and q:DIMS is quantised. Numbers, 'text', true and false stand for
 * themselves. */
static TsValue
value_of (Traced *t, const char *text)
{
  static const struct
  {
    char sign;
    SlDtype dtype;
    TsDtype type;
  } tensors[] = { { 'x', SL_DTYPE_F32, TS_FLOAT32 },
                  { 'q', SL_DTYPE_F32, TS_FLOAT32 },
                  { 'b', SL_DTYPE_BOOL, TS_BOOLEAN },
                  { 'i', SL_DTYPE_I32, TS_INT64 } };
  g_autofree char *inner = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    if (text[0] == tensors[i].sign && text[1] == ':') {
      const SlTensor tensor = tensor_of (text + 2, tensors[i].dtype);
      const TsValue x =
        ts_new_plain (&t->program, lower_new_tensor (&t->program.lower, &tensor), tensors[i].type);
      const TsValue codes[] = { x, ts_float (0.5), ts_int (0), ts_int (TS_QUINT8) };
      return text[0] != 'q' ? x
                            : ts_run_op (&t->program, "aten::quantize_per_tensor", codes, NULL, 4);
    }
  if (text[0] == '[' || text[0] == '\'')
    inner = g_strndup (text + 1, strlen (text) - 2);
  if (text[0] == '\'')
    return ts_string (&t->heap, inner);
  if (text[0] == '[') {
    const TsValue list = ts_list (&t->heap);
    g_auto (GStrv) items = g_strsplit (inner, ";", -1);
    for (guint i = 0; items[i] != NULL; i++)
      ts_list_append (&t->heap, list.list, value_of (t, items[i]));
    return list;
  }
  if (strcmp (text, "-") == 0)
    return ts_none ();
  if (strcmp (text, "true") == 0 || strcmp (text, "false") == 0)
    return ts_bool (text[0] == 't');
  return strchr (text, '.') != NULL ? ts_float (g_ascii_strtod (text, NULL)) : ts_int (atoi (text));
}

/* @arguments: as of value_of(), space between */
static void
test_refusals (void)
{
  static const struct
  {
    const char *op, *arguments, *message;
  } rows[] = {
    { "aten::nothing", "x:2,3", "this operator is not supported" },
    { "aten::softmax", "x:2,3", "argument 'dim' is missing" },
    { "aten::softmax", "x:2,3 'a'", "a value of type str where a whole number is needed" },
    { "aten::sigmoid", "x:2,3 x:2,3", "2 arguments; expected at most 1: self" },
    { "aten::cdist", "x:2,3 x:2,3",
      "this operator is not supported in this format; export the model to TorchScript or ONNX" },
    { "aten::nonzero", "x:", "of a tensor without dimensions" },
    { "aten::len", "x:", "of a tensor without dimensions" },
    { "aten::size", "x: 0", "of a tensor without dimensions" },
    { "aten::index", "x:2,3 [b:3,2]", "truth values of another shape than the tensor's" },
    { "aten::index", "x:2097153 [b:2097153]",
      "a choice among 2097153 rows; expected 1 to 2097152" },
    { "aten::index_put_", "x:2,3 [b:3,2] 5", "truth values of another shape than the tensor's" },
    { "aten::index", "x:2,3 [i:2;i:2;i:2]", "expected a list of at most 2 tensors" },
    { "aten::__getitem__", "[1;2] 'a'", "a list is indexed by a value of type str" },
    { "aten::__getitem__", "'ab' 2", "an index is outside a string" },
    { "aten::slice", "[1;2] - - 0", "elements of a list in steps of 0" },
    { "aten::scaled_dot_product_attention", "x:1,1,2,3 x:1,1,2,3 x:1,1,2,3 - 0.5",
      "dropout is not supported; export the module after eval()" },
    { "torchvision::roi_align", "x:1,3,3,3 x:2,4 1.0 2 2 0 false",
      "regions that are not rows of a picture's number and four edges" },
    { "aten::elu", "x:2,3 1.0 2.0 1.0", "scales other than 1 are not supported" },
    { "aten::arange", "", "a range of 0 numbers" },
    { "aten::linspace", "0 1 0", "0 elements; expected 1 to 65536" },
    { "aten::meshgrid", "5", "expected a list of at most 8 tensors" },
    { "aten::meshgrid", "[x:2;x:2,3]", "expected tensors of one dimension" },
    { "aten::batch_norm", "x:2,3 - - - - true 0.1 0.001 false",
      "it has no measured mean, or is in training; call model.eval() before the model is "
      "exported" },
    { "aten::group_norm", "x:2,3 2 - - 0.001 false", "2 groups do not fit the tensor" },
    { "aten::channel_shuffle", "x:1,3,2,2 2", "2 groups do not fit the tensor" },
    { "aten::pixel_unshuffle", "x:1,3,3,4 2", "a factor of 2 does not fit the tensor" },
    { "aten::upsample_nearest2d", "x:2,3 [4;4] - -", "expected a tensor of 4 dimensions" },
    { "aten::grid_sampler", "x:1,3,3,3 x:1,2,2,2 3 0 false", "an unknown mode" },
    { "aten::__range_length", "0 5 0", "a range from 0 to 5 in steps of 0" },
    { "aten::unbind", "x:65,1 0", "65 parts; expected at most 64" },
    { "aten::stack", "[]", "a list without tensors" },
    { "aten::startswith", "'ab' 5", "expected two strings" },
    { "aten::find", "'ab' 5", "expected two strings" },
    { "aten::adaptive_max_pool2d", "x:1,1,3000,1 [2999;1]",
      "2999 uneven cells along one dimension" },
    { "quantized::mul_scalar", "q:2,3 -1.0", "by -1; only numbers above 0 are supported" },
    { "quantized::cat", "[] 0 1.0 0", "expected a list of 1 to 256 tensors" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Traced t;
    TsValue args[12];
    g_auto (GStrv) texts = g_strsplit (rows[i].arguments, " ", -1);
    g_autofree char *expected = g_strconcat (rows[i].op, ": ", rows[i].message, NULL);
    const guint n = g_strv_length (texts);
    g_assert_cmpuint (n, <=, G_N_ELEMENTS (args));
    begin (&t);
    for (guint k = 0; k < n; k++)
      args[k] = value_of (&t, texts[k]);
    g_assert_no_error (t.heap.error);
    ts_run_op (&t.program, rows[i].op, args, NULL, n);
    g_autoptr (GError) error = ts_take_error (&t.program);
    g_assert_nonnull (error);
    g_assert_cmpstr (error->message, ==, expected);
    end (&t);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/aten/calls", test_calls);
  g_test_add_func ("/models/aten/names-and-copies", test_names_and_copies);
  g_test_add_func ("/models/aten/refusals", test_refusals);
  return g_test_run ();
}
