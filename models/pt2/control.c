/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Higher-order operators: their arguments are graphs. A condition that follows from shapes and
 * constants chooses a branch; of one that depends on the picture both branches are computed, and
 * the results are chosen element by element. Loops are run while loading, once for each iteration;
 * how often must follow from shapes and constants.
 */
#include <string.h>

#include "models/pt2/program.h"

#define OPS "torch.ops.higher_order."
/* Iterations of a loop. */
#define MAX_TRIPS 1024

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
    return pt_run_graph (program, &args[ts_truth (&program->ops, args[0].value) ? 1 : 2].graph,
                         inputs, count);
  const TsValue yes = pt_run_graph (program, &args[1].graph, inputs, count),
                no = pt_run_graph (program, &args[2].graph, inputs, count);
  return choose (program, args[0].value, yes, no);
}

/* The next list among the arguments after @at. */
static const TsList *
next_list (const PtArgument *args, guint n, guint *at)
{
  static const TsList none = { .n = 0 };
  for (; *at < n; (*at)++)
    if (args[*at].value.kind == TS_LIST || args[*at].value.kind == TS_TUPLE)
      return args[(*at)++].value.list;
  return &none;
}

/* Copies the @from's items behind the @n of @to; how many there are then. */
static guint
append (PtProgram *program, TsValue to[PT_MAX_ARGUMENTS], guint n, const TsValue *from, guint count)
{
  if (count > PT_MAX_ARGUMENTS - n) {
    ts_refuse (&program->ops, SL_ERROR_LIMIT, "a loop over more than %d values", PT_MAX_ARGUMENTS);
    return n;
  }
  for (guint i = 0; i < count; i++)
    to[n + i] = from[i];
  return n + count;
}

/* (condition, body, carried values, other operands) */
static TsValue
run_while (PtProgram *program, const PtArgument *args, guint n)
{
  guint at = 0;
  const TsList *carried = next_list (args, n, &at), *others = next_list (args, n, &at);
  TsValue values[PT_MAX_ARGUMENTS];
  const guint count = carried->n;
  if (n < 2 || !args[0].is_graph || !args[1].is_graph)
    return ts_refuse (&program->ops, SL_ERROR_FORMAT, "expected a condition and a body");
  guint all = append (program, values, 0, carried->items, count);
  all = append (program, values, all, others->items, others->n);
  for (guint trip = 0; !ts_failed (&program->ops); trip++) {
    const TsValue go = pt_run_graph (program, &args[0].graph, values, all);
    if (ts_failed (&program->ops))
      break;
    if (go.list->n != 1 || !is_known (program, go.list->items[0]))
      return ts_refuse (
        &program->ops, SL_ERROR_UNSUPPORTED,
        "how often the loop runs depends on the picture; expected a condition that follows from "
        "sizes and constants");
    if (!ts_truth (&program->ops, go.list->items[0]))
      return ts_tuple (program->ops.heap, values, count);
    if (trip == MAX_TRIPS)
      return ts_refuse (&program->ops, SL_ERROR_LIMIT, "the loop runs more than %d times",
                        MAX_TRIPS);
    const TsValue next = pt_run_graph (program, &args[1].graph, values, all);
    if (!ts_failed (&program->ops) && next.list->n != count)
      return ts_refuse (&program->ops, SL_ERROR_FORMAT, "the body of %u values gives %u", count,
                        next.list->n);
    if (!ts_failed (&program->ops))
      append (program, values, 0, next.list->items, count);
  }
  return ts_none ();
}

/* The number of elements along @dim, the same in all of @list; -1 with the error set. */
static gint32
count_elements (PtProgram *program, const TsList *list, gint64 dim)
{
  gint32 size = -1;
  for (guint i = 0; i < list->n; i++) {
    const TsValue x = list->items[i];
    const gboolean good =
      x.kind == TS_TENSOR && dim < x.tensor->rank && (size < 0 || size == x.tensor->dims[dim]);
    if (!good) {
      ts_refuse (&program->ops, SL_ERROR_SHAPE,
                 "operand %u has no dimension %" G_GINT64_FORMAT ", or another size of it", i, dim);
      return -1;
    }
    size = x.tensor->dims[dim];
  }
  if (size < 0 || size > MAX_TRIPS)
    ts_refuse (&program->ops, SL_ERROR_LIMIT, "a loop over %d elements; expected 0 to %d", size,
               MAX_TRIPS);
  return ts_failed (&program->ops) ? -1 : size;
}

/* Element @i along @dim of each of @list, behind the @n values of @to. */
static guint
append_elements (PtProgram *program, TsValue to[PT_MAX_ARGUMENTS], guint n, const TsList *list,
                 gint64 dim, gint32 i)
{
  for (guint k = 0; k < list->n && !ts_failed (&program->ops); k++) {
    const TsValue select[] = { list->items[k], ts_int (dim), ts_int (i) },
                  one = ts_run_op (&program->ops, "aten::select", select, NULL, 3);
    n = append (program, to, n, &one, 1);
  }
  return n;
}

/* @parts: by iteration; of each the results from @first on are stacked. */
static void
stack (PtProgram *program, const TsValue *parts, gint32 trips, guint first, TsValue results)
{
  const guint n = trips > 0 && !ts_failed (&program->ops) ? parts[0].list->n : 0;
  for (guint k = first; k < n && !ts_failed (&program->ops); k++) {
    const TsValue list = ts_list (program->ops.heap), args[] = { list, ts_int (0) };
    for (gint32 i = 0; i < trips && !ts_failed (&program->ops); i++)
      ts_list_append (program->ops.heap, list.list, parts[i].list->items[k]);
    if (!ts_failed (&program->ops))
      ts_list_append (program->ops.heap, results.list,
                      ts_run_op (&program->ops, "aten::stack", args, NULL, 2));
  }
}

/*
 * Iterations over the elements of @xs along @dim: @body gets the carried values, an element of each
 * and the other operands; its first results are carried on, the rest are stacked.
 */
static TsValue
iterate (PtProgram *program, const PtGraph *body, const TsList *carried, const TsList *xs,
         const TsList *others, gint64 dim, gboolean reverse)
{
  TsValue values[PT_MAX_ARGUMENTS];
  const TsValue results = ts_list (program->ops.heap);
  const gint32 trips = count_elements (program, xs, dim);
  g_autofree TsValue *parts = g_new0 (TsValue, MAX (trips, 0) + 1);
  append (program, values, 0, carried->items, carried->n);
  for (gint32 trip = 0; trip < trips && !ts_failed (&program->ops); trip++) {
    const gint32 i = reverse ? trips - 1 - trip : trip;
    guint n = append_elements (program, values, carried->n, xs, dim, i);
    n = append (program, values, n, others->items, others->n);
    parts[i] = pt_run_graph (program, body, values, n);
    if (!ts_failed (&program->ops) && parts[i].list->n < carried->n)
      return ts_refuse (&program->ops, SL_ERROR_FORMAT, "the body gives %u values; expected %u",
                        parts[i].list->n, carried->n);
    if (!ts_failed (&program->ops))
      append (program, values, 0, parts[i].list->items, carried->n);
  }
  for (guint k = 0; k < carried->n && !ts_failed (&program->ops); k++)
    ts_list_append (program->ops.heap, results.list, values[k]);
  stack (program, parts, trips, carried->n, results);
  return ts_failed (&program->ops) ? ts_none () : results;
}

/* (body, operands to go over, other operands) */
static TsValue
run_map (PtProgram *program, const PtArgument *args, guint n)
{
  static const TsList none = { .n = 0 };
  guint at = 0;
  const TsList *xs = next_list (args, n, &at), *others = next_list (args, n, &at);
  if (n < 2 || !args[0].is_graph)
    return ts_refuse (&program->ops, SL_ERROR_FORMAT, "expected a graph");
  return iterate (program, &args[0].graph, &none, xs, others, 0, FALSE);
}

/* (body, first values, operands to go over, dimension, from the end on, other operands); since
 * PyTorch 2.7 without the two in between. */
static TsValue
run_scan (PtProgram *program, const PtArgument *args, guint n)
{
  guint at = 0;
  gint64 dim = 0;
  gboolean reverse = FALSE;
  const TsList *carried = next_list (args, n, &at), *xs = next_list (args, n, &at),
               *others = next_list (args, n, &at);
  for (guint i = 1; i < n; i++) {
    dim = args[i].value.kind == TS_INT ? args[i].value.number : dim;
    reverse |= args[i].value.kind == TS_BOOL && args[i].value.truth;
  }
  if (n < 3 || !args[0].is_graph || dim < 0)
    return ts_refuse (&program->ops, SL_ERROR_FORMAT, "expected a graph and two lists");
  return iterate (program, &args[0].graph, carried, xs, others, dim, reverse);
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
  { OPS "while_loop", run_while },
  { OPS "map_impl", run_map },
  { OPS "scan", run_scan },
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
