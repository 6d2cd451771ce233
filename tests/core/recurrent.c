/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layers of cells that remember, by plain and by float kernels of every instruction set, against
 * their equations in double precision: every kind of cell, forward and back, numbers of cells
 * around those of registers.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define STEPS 6
#define BATCH 2
#define MAX_CELLS 150
#define TOLERANCE 4e-6

typedef struct
{
  SlCell cell;
  guint gates, cells;
  gboolean back, biased, stated;
  const gfloat *x, *weights, *bias, *hidden, *state;
} Case;

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* What the state, times @factor where that is given, adds to gate @gate of cell @k. */
static double
state_part (const Case *c, const double *hidden, const double *factor, guint gate, guint k)
{
  const guint column = gate * c->cells + k;
  double sum = c->biased ? (double) c->bias[column] : 0;
  for (guint i = 0; i < c->cells; i++)
    sum += hidden[i] * (factor != NULL ? factor[i] : 1)
           * (double) c->weights[i * c->gates * c->cells + column];
  return sum;
}

static void
step (const Case *c, const gfloat *x, double *hidden, double *state)
{
  const guint n = c->cells;
  double reset[MAX_CELLS], next[MAX_CELLS];
  for (guint k = 0; k < n; k++)
    reset[k] = c->gates == 3 ? sigmoid ((double) x[n + k] + state_part (c, hidden, NULL, 1, k)) : 1;
  for (guint k = 0; k < n; k++) {
    const double first = (double) x[k] + state_part (c, hidden, NULL, 0, k);
    if (c->cell == SL_CELL_LSTM) {
      const double output = (double) x[n + k] + state_part (c, hidden, NULL, 1, k);
      const double forget = (double) x[2 * n + k] + state_part (c, hidden, NULL, 2, k);
      const double new = (double) x[3 * n + k] + state_part (c, hidden, NULL, 3, k);
      state[k] = sigmoid (forget) * state[k] + sigmoid (first) * tanh (new);
      next[k] = sigmoid (output) * tanh (state[k]);
    } else if (c->gates == 3) {
      const double part = c->cell == SL_CELL_GRU ? reset[k] * state_part (c, hidden, NULL, 2, k)
                                                 : state_part (c, hidden, reset, 2, k);
      next[k] =
        (1 - sigmoid (first)) * tanh ((double) x[2 * n + k] + part) + sigmoid (first) * hidden[k];
    } else {
      next[k] = c->cell == SL_CELL_TANH ? tanh (first) : fmax (first, 0);
    }
  }
  memcpy (hidden, next, n * sizeof next[0]);
}

static void
compare (const Case *c, const gfloat *got, const char *name)
{
  for (guint b = 0; b < BATCH; b++) {
    double hidden[MAX_CELLS] = { 0 }, state[MAX_CELLS] = { 0 };
    for (guint k = 0; c->stated && k < c->cells; k++) {
      hidden[k] = (double) c->hidden[b * c->cells + k];
      state[k] = (double) c->state[b * c->cells + k];
    }
    for (guint s = 0; s < STEPS; s++) {
      const guint row = (c->back ? STEPS - 1 - s : s) * BATCH + b;
      step (c, c->x + row * c->gates * c->cells, hidden, state);
      for (guint k = 0; k < c->cells; k++)
        if (!(fabs ((double) got[row * c->cells + k] - hidden[k])
              <= TOLERANCE * fmax (1, fabs (hidden[k]))))
          g_error ("%s, cell %d, %u cells, step %u: cell %u is %.9g, expected %.9g", name, c->cell,
                   c->cells, s, k, (double) got[row * c->cells + k], hidden[k]);
    }
  }
}

static void
fill (Check *check, gfloat *values, guint n, double most)
{
  for (guint i = 0; i < n; i++)
    values[i] = (gfloat) g_rand_double_range (check->rand, -most, most);
}

static void
check_case (Case *c)
{
  const gint32 cells = (gint32) c->cells, width = (gint32) (c->gates * c->cells);
  const gint32 x_dims[] = { STEPS, BATCH, width }, w_dims[] = { cells, width },
               state_dims[] = { BATCH, cells };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autoptr (GError) error = NULL;
  g_autofree gfloat *weights = g_new (gfloat, c->cells * c->gates * c->cells),
                    *bias = g_new (gfloat, c->gates * c->cells);
  g_autofree gfloat *hidden = g_new (gfloat, BATCH * c->cells),
                    *state = g_new (gfloat, BATCH * c->cells);
  Check check;
  check_init (&check, c->cells);
  fill (&check, weights, c->cells * c->gates * c->cells, 2 / sqrt (c->cells));
  fill (&check, bias, c->gates * c->cells, 1);
  fill (&check, hidden, BATCH * c->cells, 1);
  fill (&check, state, BATCH * c->cells, 1);
  const gint32 inputs[] = {
    check_input (&check, SL_DTYPE_F32, 3, x_dims, 0, 0),
    check_constant (&check, SL_DTYPE_F32, 2, w_dims, NULL, 0, 0, 0, weights),
    c->biased ? check_constant (&check, SL_DTYPE_F32, 1, &width, NULL, 0, 0, 0, bias) : -1,
    c->stated ? check_constant (&check, SL_DTYPE_F32, 2, state_dims, NULL, 0, 0, 0, hidden) : -1,
    c->stated ? check_constant (&check, SL_DTYPE_F32, 2, state_dims, NULL, 0, 0, 0, state) : -1
  };
  gint32 outputs[3];
  for (guint i = 0; i < 3; i++)
    outputs[i] = check_output (&check, SL_DTYPE_F32, 0, 0);
  const SlOpParams params = { .recurrent = { .cell = c->cell, .back = c->back } };
  sl_graph_add_node (check.graph, SL_OP_RECURRENT, 0, inputs, 5, outputs, 3, &params, &error);
  g_assert_no_error (error);
  check_prepare (&check);
  fill (&check, check.input_data[0], STEPS * BATCH * (guint) width, 2);
  c->x = check.input_data[0];
  c->weights = weights;
  c->bias = bias;
  c->hidden = hidden;
  c->state = state;
  for (guint i = 0; i <= n_isas; i++) {
    sl_float_isa_force (i < n_isas ? isas[i] : NULL);
    gfloat *got = check_run (&check, i == n_isas, 1);
    compare (c, got, i < n_isas ? isas[i]->name : "plain");
    sl_tensor_buffer_free (got);
  }
  check_clear (&check);
}

static void
test_cells (void)
{
  static const guint gates[] = { [SL_CELL_LSTM] = 4,
                                 [SL_CELL_GRU] = 3,
                                 [SL_CELL_GRU_RESET_FIRST] = 3,
                                 [SL_CELL_TANH] = 1,
                                 [SL_CELL_RELU] = 1 };
  static const guint cells[] = { 1, 3, 8, 17, 32, 45, MAX_CELLS };
  for (guint kind = 0; kind < G_N_ELEMENTS (gates); kind++)
    for (guint i = 0; i < G_N_ELEMENTS (cells); i++)
      for (guint form = 0; form < 4; form++) {
        Case c = { .cell = (SlCell) kind,
                   .gates = gates[kind],
                   .cells = cells[i],
                   .back = form % 2,
                   .biased = form > 0,
                   .stated = form > 1 };
        check_case (&c);
      }
}

/* A NaN in the first step reaches the last state. */
static void
test_nan (void)
{
  enum
  {
    CELLS = 19
  };
  static const SlCell kinds[] = { SL_CELL_LSTM, SL_CELL_GRU, SL_CELL_GRU_RESET_FIRST, SL_CELL_TANH,
                                  SL_CELL_RELU };
  static const gint32 gates[] = { 4, 3, 3, 1, 1 };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    const gint32 width = gates[kind] * CELLS, x_dims[] = { 2, 1, width },
                 w_dims[] = { CELLS, width };
    g_autofree gfloat *weights = g_new0 (gfloat, CELLS * width);
    g_autoptr (GError) error = NULL;
    gint32 outputs[3];
    Check check;
    check_init (&check, kind);
    const gint32 inputs[] = {
      check_input (&check, SL_DTYPE_F32, 3, x_dims, 0, 0),
      check_constant (&check, SL_DTYPE_F32, 2, w_dims, NULL, 0, 0, 0, weights), -1, -1, -1
    };
    for (guint i = 0; i < 3; i++)
      outputs[i] = check_output (&check, SL_DTYPE_F32, 0, 0);
    sl_graph_add_node (check.graph, SL_OP_RECURRENT, 0, inputs, 5, outputs, 3,
                       &(SlOpParams){ .recurrent = { .cell = kinds[kind] } }, &error);
    g_assert_no_error (error);
    check_prepare (&check);
    for (gint32 i = 0; i < 2 * width; i++)
      ((gfloat *) check.input_data[0])[i] = i < width ? NAN : 0.5f;
    for (guint i = 0; i <= n_isas; i++) {
      sl_float_isa_force (i < n_isas ? isas[i] : NULL);
      gfloat *got = check_run (&check, i == n_isas, 1);
      for (guint k = 0; k < 2 * CELLS; k++)
        if (!isnan (got[k]))
          g_error ("%s, cell %u: value %u is %g, expected NaN",
                   i < n_isas ? isas[i]->name : "plain", kind, k, (double) got[k]);
      sl_tensor_buffer_free (got);
    }
    check_clear (&check);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/recurrent", test_cells);
  g_test_add_func ("/core/recurrent/nan", test_nan);
  return g_test_run ();
}
