/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Torch's operators called one by one, without a program text: what a reader of another format
 * does. */
#include <math.h>

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

static void
test_refusals (void)
{
  static const struct
  {
    const char *op, *message;
    guint n;
  } rows[] = {
    { "aten::nothing", "aten::nothing: this operator is not supported", 1 },
    { "aten::softmax", "aten::softmax: argument 'dim' is missing", 1 },
    { "aten::sigmoid", "aten::sigmoid: 2 arguments; expected at most 1: self", 2 },
    { "aten::cdist",
      "aten::cdist: this operator is not supported in this format; export the model to "
      "TorchScript or ONNX",
      2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Traced t;
    const TsValue x = begin (&t), args[] = { x, x };
    g_assert_cmpint (ts_run_op (&t.program, rows[i].op, args, NULL, rows[i].n).kind, ==, TS_NONE);
    g_autoptr (GError) error = ts_take_error (&t.program);
    g_assert_nonnull (error);
    g_assert_cmpstr (error->message, ==, rows[i].message);
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
