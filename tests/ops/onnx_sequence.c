/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's LSTM and GRU against the equations of its specification, in double precision. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define STEPS 5
#define BATCH 2
#define INPUTS 3
#define HIDDEN 4

typedef struct
{
  guint direction; /* forward, reverse, both */
  gboolean biases, peepholes, batch_first;
  const gfloat *x;
  gfloat w[2 * 4 * HIDDEN * INPUTS], r[2 * 4 * HIDDEN * HIDDEN], b[2 * 8 * HIDDEN],
    p[2 * 3 * HIDDEN];
} Lstm;

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* A gate of cell @k, before its function: gates are input, output, forget, cell. */
static double
gate (const Lstm *l, guint d, guint which, guint k, const gfloat *x, const double *hidden,
      double cell)
{
  const guint row = which * HIDDEN + k;
  double sum = 0;
  for (guint i = 0; i < INPUTS; i++)
    sum += (double) l->w[(d * 4 * HIDDEN + row) * INPUTS + i] * (double) x[i];
  for (guint i = 0; i < HIDDEN; i++)
    sum += (double) l->r[(d * 4 * HIDDEN + row) * HIDDEN + i] * hidden[i];
  if (l->biases)
    sum += (double) l->b[d * 8 * HIDDEN + row] + (double) l->b[d * 8 * HIDDEN + 4 * HIDDEN + row];
  if (l->peepholes && which < 3)
    sum += (double) l->p[(d * 3 + which) * HIDDEN + k] * cell;
  return sum;
}

/* Direction @d of picture @batch from zeros; results by step, and the cells at the end. */
static void
run (const Lstm *l, guint d, guint batch, double results[STEPS][HIDDEN], double cells[HIDDEN])
{
  const gboolean back = l->direction == 1 || d == 1;
  double hidden[HIDDEN] = { 0 };
  memset (cells, 0, HIDDEN * sizeof cells[0]);
  for (guint s = 0; s < STEPS; s++) {
    const guint t = back ? STEPS - 1 - s : s;
    const gfloat *x = l->x + (l->batch_first ? batch * STEPS + t : t * BATCH + batch) * INPUTS;
    double next[HIDDEN];
    for (guint k = 0; k < HIDDEN; k++) {
      const double input = sigmoid (gate (l, d, 0, k, x, hidden, cells[k])),
                   forget = sigmoid (gate (l, d, 2, k, x, hidden, cells[k]));
      const double before = cells[k];
      cells[k] = forget * before + input * tanh (gate (l, d, 3, k, x, hidden, 0));
      next[k] = sigmoid (gate (l, d, 1, k, x, hidden, cells[k])) * tanh (cells[k]);
    }
    for (guint k = 0; k < HIDDEN; k++)
      results[t][k] = hidden[k] = next[k];
  }
}

static void
fill (OnnxModel *m, gfloat *values, guint n)
{
  for (guint i = 0; i < n; i++)
    values[i] = (gfloat) g_rand_double_range (m->rand, -1, 1);
}

static void
run_lstm (guint direction, guint form)
{
  static const char *const words[] = { "direction s forward", "direction s reverse",
                                       "direction s bidirectional" };
  Lstm l = { .direction = direction,
             .biases = form & 1,
             .peepholes = form >> 1 & 1,
             .batch_first = form >> 2 & 1 };
  const guint n = direction == 2 ? 2 : 1;
  double all[STEPS * 2 * BATCH * HIDDEN], ends[2 * BATCH * HIDDEN], last[2 * BATCH * HIDDEN],
    results[STEPS][HIDDEN], cells[HIDDEN];
  OnnxModel m;
  onnx_model_init (&m, 14, 3 + form);
  l.x = onnx_model_floats (
    &m, "x", 3, l.batch_first ? DIMS (BATCH, STEPS, INPUTS) : DIMS (STEPS, BATCH, INPUTS));
  fill (&m, l.w, n * 4 * HIDDEN * INPUTS);
  fill (&m, l.r, n * 4 * HIDDEN * HIDDEN);
  fill (&m, l.b, n * 8 * HIDDEN);
  fill (&m, l.p, n * 3 * HIDDEN);
  sl_onnx_writer_floats (m.writer, "w", 3, DIMS (n, 4 * HIDDEN, INPUTS), l.w);
  sl_onnx_writer_floats (m.writer, "r", 3, DIMS (n, 4 * HIDDEN, HIDDEN), l.r);
  sl_onnx_writer_floats (m.writer, "b", 2, DIMS (n, 8 * HIDDEN), l.b);
  sl_onnx_writer_floats (m.writer, "p", 2, DIMS (n, 3 * HIDDEN), l.p);
  sl_onnx_writer_ints (m.writer, "lengths", BATCH, DIMS (STEPS, STEPS));
  sl_onnx_writer_ints (m.writer, "shape", 3,
                       l.batch_first ? DIMS (BATCH, n, HIDDEN) : DIMS (n, BATCH, HIDDEN));
  sl_onnx_writer_node (m.writer, "ConstantOfShape", "shape", "zeros", NULL);
  g_autofree char *inputs = g_strconcat ("x,w,r,", l.biases ? "b" : "", ",lengths,zeros,zeros",
                                         l.peepholes ? ",p" : "", NULL);
  sl_onnx_writer_node (m.writer, "LSTM", inputs, "y,end,cells", words[direction],
                       l.batch_first ? "layout i 1" : "layout i 0", "hidden_size i 4", NULL);
  for (guint d = 0; d < n; d++)
    for (guint b = 0; b < BATCH; b++) {
      run (&l, d, b, results, cells);
      for (guint k = 0; k < HIDDEN; k++) {
        for (guint t = 0; t < STEPS; t++)
          all[(l.batch_first ? (b * STEPS + t) * n + d : (t * n + d) * BATCH + b) * HIDDEN + k] =
            results[t][k];
        ends[(l.batch_first ? b * n + d : d * BATCH + b) * HIDDEN + k] =
          results[direction == 1 || d == 1 ? 0 : STEPS - 1][k];
        last[(l.batch_first ? b * n + d : d * BATCH + b) * HIDDEN + k] = cells[k];
      }
    }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, STEPS * n * BATCH * HIDDEN, all, 1e-5);
  onnx_model_expect (&m, "end", SL_ONNX_FLOAT, n * BATCH * HIDDEN, ends, 1e-5);
  onnx_model_expect (&m, "cells", SL_ONNX_FLOAT, n * BATCH * HIDDEN, last, 1e-5);
  onnx_model_clear (&m);
}

static void
test_lstm (void)
{
  for (guint direction = 0; direction < 3; direction++)
    for (guint form = 0; form < 8; form++)
      run_lstm (direction, form);
}

/* A row of weights with a vector. */
static double
product (const gfloat *row, const double *x, guint n)
{
  double sum = 0;
  for (guint i = 0; i < n; i++)
    sum += (double) row[i] * x[i];
  return sum;
}

/* GRU forward from a stated state, with the state reset before its product with weights (form 0) or
 * behind it. Gates: update, reset, hidden. */
static void
test_gru (gconstpointer data)
{
  const gboolean behind = GPOINTER_TO_UINT (data) != 0;
  gfloat w[3 * HIDDEN * INPUTS], r[3 * HIDDEN * HIDDEN], b[6 * HIDDEN];
  double state[BATCH][HIDDEN], all[STEPS * BATCH * HIDDEN];
  OnnxModel m;
  onnx_model_init (&m, 14, 5);
  const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (STEPS, BATCH, INPUTS)),
               *h = onnx_model_floats (&m, "h", 3, DIMS (1, BATCH, HIDDEN));
  fill (&m, w, G_N_ELEMENTS (w));
  fill (&m, r, G_N_ELEMENTS (r));
  fill (&m, b, G_N_ELEMENTS (b));
  sl_onnx_writer_floats (m.writer, "w", 3, DIMS (1, 3 * HIDDEN, INPUTS), w);
  sl_onnx_writer_floats (m.writer, "r", 3, DIMS (1, 3 * HIDDEN, HIDDEN), r);
  sl_onnx_writer_floats (m.writer, "b", 2, DIMS (1, 6 * HIDDEN), b);
  sl_onnx_writer_node (m.writer, "GRU", "x,w,r,b,,h", "y,end",
                       behind ? "linear_before_reset i 1" : "linear_before_reset i 0", NULL);
  for (guint i = 0; i < BATCH * HIDDEN; i++)
    state[i / HIDDEN][i % HIDDEN] = (double) h[i];
  for (guint i = 0; i < STEPS * BATCH; i++) {
    double *old = state[i % BATCH], in[INPUTS], gates[2][HIDDEN], reset[HIDDEN], next[HIDDEN];
    for (guint k = 0; k < INPUTS; k++)
      in[k] = (double) x[i * INPUTS + k];
    for (guint k = 0; k < 2 * HIDDEN; k++)
      gates[k / HIDDEN][k % HIDDEN] =
        sigmoid (product (w + k * INPUTS, in, INPUTS) + product (r + k * HIDDEN, old, HIDDEN)
                 + (double) b[k] + (double) b[3 * HIDDEN + k]);
    for (guint k = 0; k < HIDDEN; k++)
      reset[k] = gates[1][k] * old[k];
    for (guint k = 0; k < HIDDEN; k++) {
      const guint row = 2 * HIDDEN + k;
      const double bias = (double) b[3 * HIDDEN + row],
                   part = product (w + row * INPUTS, in, INPUTS) + (double) b[row];
      const double new =
        tanh (part
              + (behind ? gates[1][k] * (product (r + row * HIDDEN, old, HIDDEN) + bias)
                        : product (r + row * HIDDEN, reset, HIDDEN) + bias));
      next[k] = (1 - gates[0][k]) * new + gates[0][k] * old[k];
    }
    for (guint k = 0; k < HIDDEN; k++)
      all[i * HIDDEN + k] = old[k] = next[k];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, STEPS * BATCH * HIDDEN, all, 1e-5);
  onnx_model_expect (&m, "end", SL_ONNX_FLOAT, BATCH * HIDDEN, &state[0][0], 1e-5);
  onnx_model_clear (&m);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *inputs, *attribute, *text;
  } rows[] = {
    { "x,w,r", "clip f 1", "attribute clip is not supported" },
    { "x,w,r", "input_forget i 1", "attribute input_forget is 1; expected 0" },
    { "x,w,r", "direction s both",
      "attribute direction is 'both'; expected one of forward, reverse, bidirectional" },
    { "x,w,r", "direction s bidirectional",
      "expected [time,batch,inputs], [2,4 hidden,inputs] and [2,4 hidden,hidden]" },
    { "x,r,w", NULL, "expected [time,batch,inputs], [1,4 hidden,inputs]" },
    { "x,w,r,r", NULL, "its biases or peepholes do not fit 4 cells" },
    { "x,w,r,,lengths", NULL, "its sequence lengths, input 4, differ from the input's 5 steps" },
    { "x,w,r,,,x", NULL,
      "its initial state, input 5, does not fit 1 directions of 2 pictures and 4 cells" },
    { "x,w,r,,,,x", NULL,
      "its initial state, input 6, does not fit 1 directions of 2 pictures and 4 cells" },
    { "x,w,r,,,x,,peepholes", NULL,
      "its initial state, input 5, does not fit 1 directions of 2 pictures and 4 cells" },
    { "x,w,r,,,,,state", NULL, "its biases or peepholes do not fit 4 cells" },
    { "x,w,r,,lengths,,,peepholes", NULL,
      "its sequence lengths, input 4, differ from the input's 5 steps" },
    { "x,w", NULL, "input 2 is missing" },
  };
  const gfloat ones[4 * HIDDEN * HIDDEN] = { 1 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 14, 3);
    onnx_model_floats (&m, "x", 3, DIMS (STEPS, BATCH, INPUTS));
    onnx_model_floats (&m, "v", 3, DIMS (1, 4 * HIDDEN, INPUTS));
    sl_onnx_writer_floats (m.writer, "w", 3, DIMS (1, 4 * HIDDEN, INPUTS), ones);
    sl_onnx_writer_floats (m.writer, "r", 3, DIMS (1, 4 * HIDDEN, HIDDEN), ones);
    sl_onnx_writer_floats (m.writer, "state", 3, DIMS (1, BATCH, HIDDEN), ones);
    sl_onnx_writer_floats (m.writer, "peepholes", 2, DIMS (1, 3 * HIDDEN), ones);
    sl_onnx_writer_ints (m.writer, "lengths", 2, DIMS (STEPS, STEPS - 1));
    sl_onnx_writer_node (m.writer, "LSTM", rows[i].inputs, "y", rows[i].attribute, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-sequence/lstm", test_lstm);
  g_test_add_data_func ("/onnx-sequence/gru-reset-before", GUINT_TO_POINTER (0), test_gru);
  g_test_add_data_func ("/onnx-sequence/gru-reset-behind", GUINT_TO_POINTER (1), test_gru);
  g_test_add_func ("/onnx-sequence/refused", test_refused);
  return g_test_run ();
}
