/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Torch's operators called one by one, without a program text: what a reader of another format
 * does. */
#include <math.h>

#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "models/aten/ops.h"

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
    { "aten::atan2",
      "aten::atan2: this operator is not supported in this format; export the model to TorchScript or ONNX",
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/aten/calls", test_calls);
  g_test_add_func ("/models/aten/refusals", test_refusals);
  return g_test_run ();
}
