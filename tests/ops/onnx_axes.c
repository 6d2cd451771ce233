/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that compute along a dimension: sums, maxima, normalisations. */
#include "tests/ops/onnxaxes.h"
#include "tests/support/program.h"

#include <math.h>
#include <string.h>

static void
build_same (AxisCase *c)
{
  axis_add_along (c, "", NULL);
}

/* Of the elements that are summed up with the one at @at: everything from the axis on before
 * opset 13. */
static double
softmax_value (const AxisCase *c, const gint64 *at)
{
  const gboolean flat = c->row->opset < 13;
  double sum = 0, top = -INFINITY;
  gint64 p[AXIS_RANK];
  for (guint pass = 0; pass < 2; pass++)
    for (gint64 e = 0; e < 120; e++) {
      gboolean with = TRUE;
      gint64 rest = e;
      for (gint64 i = AXIS_RANK; i-- > 0; rest /= c->dims[i]) {
        p[i] = rest % c->dims[i];
        with &= i == c->d || (flat && i > c->d) || p[i] == at[i];
      }
      if (with && pass == 0)
        top = fmax (top, axis_data_at (c, p));
      else if (with)
        sum += exp (axis_data_at (c, p) - top);
    }
  const double x = axis_data_at (c, at);
  if (strcmp (c->row->op, "Hardmax") == 0)
    return x == top;
  return strcmp (c->row->op, "Softmax") == 0 ? exp (x - top) / sum : x - top - log (sum);
}

/* Forms: one axis or two, dimensions kept or dropped. */
static gboolean
reduced (const AxisCase *c, gint64 i)
{
  return i == c->d || (c->form >= 2 && i == (c->d + 2) % AXIS_RANK);
}

static void
build_reduce (AxisCase *c)
{
  const gboolean keep = c->form & 1;
  const gint64 axes[2] = { c->axis, (c->d + 2) % AXIS_RANK };
  g_autofree char *list =
    g_strdup_printf (c->form < 2 ? "axes I %d" : "axes I %d,%d", (int) axes[0], (int) axes[1]);
  const gboolean input = c->row->opset >= (strcmp (c->row->op, "ReduceSum") == 0 ? 13 : 18);
  sl_onnx_writer_ints (c->m.writer, "axes", c->form < 2 ? 1 : 2, axes);
  axis_add (c, input ? ",axes" : "", keep ? "keepdims i 1" : "keepdims i 0", input ? NULL : list);
  c->rank = 0;
  for (gint64 i = 0; i < AXIS_RANK; i++)
    if (keep || !reduced (c, i))
      c->out[c->rank++] = reduced (c, i) ? 1 : c->dims[i];
}

static double
reduce_value (const AxisCase *c, const gint64 *at)
{
  const char *op = c->row->op + strlen ("Reduce");
  double sum = 0, product = 1, top = -INFINITY, least = INFINITY, absolute = 0, squares = 0,
         exps = 0, n = 0;
  gint64 p[AXIS_RANK];
  for (gint64 e = 0; e < 120; e++) {
    gint64 rest = e, from = c->rank;
    gboolean with = TRUE;
    for (gint64 i = AXIS_RANK; i-- > 0; rest /= c->dims[i]) {
      p[i] = rest % c->dims[i];
      if (reduced (c, i))
        from -= c->form & 1;
      else
        with &= at[--from] == p[i];
    }
    const double x = axis_data_at (c, p);
    if (!with)
      continue;
    sum += x;
    product *= x;
    top = fmax (top, x);
    least = fmin (least, x);
    absolute += fabs (x);
    squares += x * x;
    exps += exp (x);
    n++;
  }
  const struct
  {
    const char *op;
    double value;
  } results[] = { { "Sum", sum },           { "Mean", sum / n },     { "Max", top },
                  { "Min", least },         { "Prod", product },     { "L1", absolute },
                  { "L2", sqrt (squares) }, { "LogSum", log (sum) }, { "LogSumExp", log (exps) },
                  { "SumSquare", squares } };
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    if (strcmp (results[i].op, op) == 0)
      return results[i].value;
  g_assert_not_reached ();
}

static void
build_arg (AxisCase *c)
{
  axis_add_along (c, "", c->form ? "keepdims i 1" : "keepdims i 0");
  axis_drop (c, (gboolean) c->form);
}

static double
arg_value (const AxisCase *c, const gint64 *at)
{
  const double sign = strcmp (c->row->op, "ArgMax") == 0 ? 1 : -1;
  gint64 p[AXIS_RANK], best = 0;
  double top = -INFINITY;
  axis_base_of (c, at, p);
  for (; p[c->d] < c->dims[c->d]; p[c->d]++)
    if (sign * axis_data_at (c, p) > top) {
      top = sign * axis_data_at (c, p);
      best = p[c->d];
    }
  return (double) best;
}

static void
build_top_k (AxisCase *c)
{
  g_autofree char *axis = axis_text (c), *inputs = g_strconcat (c->data, ",k", NULL);
  sl_onnx_writer_ints (c->m.writer, "k", 1, AXIS_DIMS (2));
  sl_onnx_writer_node (c->m.writer, "TopK", inputs, c->row->whole ? "none,y" : "y,none", axis,
                       c->form ? "largest i 1" : "largest i 0", NULL);
  c->out[c->d] = 2;
}

/* The element of which as many are before it as its place in the result says. */
static double
top_k_value (const AxisCase *c, const gint64 *at)
{
  const double sign = c->form ? 1 : -1;
  gint64 p[AXIS_RANK], q[AXIS_RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] < c->dims[c->d]; p[c->d]++) {
    gint64 before = 0;
    memcpy (q, p, sizeof q);
    for (q[c->d] = 0; q[c->d] < c->dims[c->d]; q[c->d]++)
      before += sign * axis_data_at (c, q) > sign * axis_data_at (c, p);
    if (before == at[c->d])
      return c->row->whole ? (double) p[c->d] : axis_data_at (c, p);
  }
  g_assert_not_reached ();
}

static void
build_cum_sum (AxisCase *c)
{
  sl_onnx_writer_ints (c->m.writer, "axis", 1, &c->axis);
  axis_add (c, ",axis", NULL, NULL);
}

static double
cum_sum_value (const AxisCase *c, const gint64 *at)
{
  double sum = 0;
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] <= at[c->d]; p[c->d]++)
    sum += axis_data_at (c, p);
  return sum;
}

static void
build_layer_norm (AxisCase *c)
{
  c->other = onnx_model_floats (&c->m, "scale", (guint) (AXIS_RANK - c->d), c->dims + c->d);
  axis_add_along (c, ",scale", "epsilon f 0.01");
}

static double
layer_norm_value (const AxisCase *c, const gint64 *at)
{
  double sum = 0, squares = 0, n = 0;
  gint64 p[AXIS_RANK], place = 0;
  for (gint64 e = 0; e < 120; e++) {
    gboolean with = TRUE;
    gint64 rest = e;
    for (gint64 i = AXIS_RANK; i-- > 0; rest /= c->dims[i]) {
      p[i] = rest % c->dims[i];
      with &= i >= c->d || p[i] == at[i];
    }
    sum += with ? axis_data_at (c, p) : 0;
    squares += with ? axis_data_at (c, p) * axis_data_at (c, p) : 0;
    n += with;
  }
  for (gint64 i = c->d; i < AXIS_RANK; i++)
    place = place * c->dims[i] + at[i];
  const double mean = sum / n;
  return (axis_data_at (c, at) - mean) / sqrt (squares / n - mean * mean + (double) 0.01f)
         * (double) c->other[place];
}

static void
build_lp (AxisCase *c)
{
  axis_add_along (c, "", c->form ? "p i 1" : "p i 2");
}

static double
lp_value (const AxisCase *c, const gint64 *at)
{
  double sum = 0;
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] < c->dims[c->d]; p[c->d]++)
    sum += c->form ? fabs (axis_data_at (c, p)) : axis_data_at (c, p) * axis_data_at (c, p);
  return axis_data_at (c, at) / (c->form ? sum : sqrt (sum));
}

static const AxisRow rows[] = {
  { "Softmax", 11, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "Softmax", 13, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "LogSoftmax", 11, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "LogSoftmax", 13, 1, { 0 }, FALSE, 1e-5, build_same, softmax_value },
  { "Hardmax", 11, 1, { 0 }, FALSE, 0, build_same, softmax_value },
  { "Hardmax", 13, 1, { 0 }, FALSE, 0, build_same, softmax_value },
  { "ReduceSum", 11, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceSum", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceMean", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceMean", 18, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceMax", 13, 4, { 0 }, FALSE, 0, build_reduce, reduce_value },
  { "ReduceMin", 18, 4, { 0 }, FALSE, 0, build_reduce, reduce_value },
  { "ReduceProd", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceL1", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceL2", 18, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceLogSum", 13, 4, { 0 }, FALSE, 1e-4, build_reduce, reduce_value },
  { "ReduceLogSumExp", 13, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ReduceSumSquare", 18, 4, { 0 }, FALSE, 1e-5, build_reduce, reduce_value },
  { "ArgMax", 13, 2, { 0 }, TRUE, 0, build_arg, arg_value },
  { "ArgMin", 11, 2, { 0 }, TRUE, 0, build_arg, arg_value },
  { "TopK", 13, 2, { 0 }, FALSE, 0, build_top_k, top_k_value },
  { "TopK", 11, 2, { 0 }, TRUE, 0, build_top_k, top_k_value },
  { "CumSum", 14, 1, { 0 }, FALSE, 1e-5, build_cum_sum, cum_sum_value },
  { "LayerNormalization", 17, 1, { 0 }, FALSE, 1e-4, build_layer_norm, layer_norm_value },
  { "LpNormalization", 13, 2, { 0 }, FALSE, 1e-5, build_lp, lp_value },
};

TEST_MAIN (int argc, char **argv)
{
  return axis_run (argc, argv, rows, G_N_ELEMENTS (rows));
}
