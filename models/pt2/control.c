/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Higher-order operators: their arguments are graphs. A condition that follows from shapes and
 * constants chooses a branch; of one that depends on the picture both branches are computed, and
 * the results are chosen element by element.
 */
#include <string.h>

#include "models/pt2/program.h"

#define OPS "torch.ops.higher_order."

/* The list of operands, argument @i, as an array. */
static const TsValue *
operands (PtProgram *program, const PtArgument *args, guint n, guint i, guint *count)
{
  const TsValue value = i < n ? args[i].value : ts_none ();
  const gboolean sequence = value.kind == TS_LIST || value.kind == TS_TUPLE;
  *count = sequence ? value.list->n : 0;
  return sequence ? value.list->items : NULL;
}

/* Whether @condition is known now: a number, or a tensor of constants. */
static gboolean
is_known (PtProgram *program, TsValue condition)
{
  gsize n = 0;
  if (condition.kind != TS_TENSOR)
    return TRUE;
  LowerValue *value = ts_read (&program->ops, condition);
  return value == NULL || lower_data (&program->ops.lower, value, &n) != NULL;
}

static TsValue
choose (PtProgram *program, TsValue condition, TsValue yes, TsValue no)
{
  const TsValue results = ts_list (program->ops.heap);
  if (ts_failed (&program->ops))
    return ts_none ();
  if (yes.list->n != no.list->n)
    return ts_refuse (&program->ops, SL_ERROR_FORMAT, "branches with %u and %u results",
                      yes.list->n, no.list->n);
  for (guint i = 0; i < yes.list->n && !ts_failed (&program->ops); i++) {
    const TsValue a = yes.list->items[i], b = no.list->items[i], args[] = { condition, a, b };
    const gboolean tensors = a.kind == TS_TENSOR && b.kind == TS_TENSOR;
    if (tensors
        && (a.tensor->rank != b.tensor->rank
            || memcmp (a.tensor->dims, b.tensor->dims, a.tensor->rank * sizeof a.tensor->dims[0])
                 != 0))
      return ts_refuse (
        &program->ops, SL_ERROR_UNSUPPORTED,
        "result %u has another size in each branch, and the condition depends on the picture", i);
    if (!tensors && !ts_equal (a, b))
      return ts_refuse (
        &program->ops, SL_ERROR_UNSUPPORTED,
        "result %u is another number in each branch, and the condition depends on the picture", i);
    ts_list_append (program->ops.heap, results.list,
                    tensors ? ts_run_op (&program->ops, "aten::where", args, NULL, 3) : a);
  }
  return results;
}

/* (condition, graph, graph, operands) */
static TsValue
run_cond (PtProgram *program, const PtArgument *args, guint n)
{
  guint count = 0;
  const TsValue *inputs = operands (program, args, n, 3, &count);
  if (n < 3 || !args[1].is_graph || !args[2].is_graph)
    return ts_refuse (&program->ops, SL_ERROR_FORMAT, "expected a condition and two graphs");
  if (is_known (program, args[0].value))
    return pt_run_graph (program,
                         &args[ts_truth (&program->ops, args[0].value) ? 1 : 2].graph, inputs,
                         count);
  const TsValue yes = pt_run_graph (program, &args[1].graph, inputs, count),
                no = pt_run_graph (program, &args[2].graph, inputs, count);
  return choose (program, args[0].value, yes, no);
}

/* (graph, operands): wraps a part of the program, as checkpointing does. */
static TsValue
run_wrapped (PtProgram *program, const PtArgument *args, guint n)
{
  TsValue inputs[PT_MAX_ARGUMENTS];
  guint i = 0, count = 0;
  while (i < n && !args[i].is_graph)
    i++;
  if (i == n)
    return ts_refuse (&program->ops, SL_ERROR_FORMAT, "expected a graph");
  for (guint k = i + 1; k < n; k++)
    inputs[count++] = args[k].value;
  return pt_run_graph (program, &args[i].graph, inputs, count);
}

static const struct
{
  const char *target;
  TsValue (*run) (PtProgram *program, const PtArgument *args, guint n);
} rows[] = {
  { OPS "cond", run_cond },
  { OPS "wrap_with_set_grad_enabled", run_wrapped },
  { OPS "wrap_with_autocast", run_wrapped },
};

gboolean
pt_is_control (const char *target)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].target, target) == 0)
      return TRUE;
  return FALSE;
}

TsValue
pt_run_control (PtProgram *program, const char *target, const PtArgument *args, guint n)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (rows[i].target, target) == 0)
      return rows[i].run (program, args, n);
  return ts_none ();
}
