/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RECURRENT: layers whose cells remember, one direction, float32. What each step's input adds to
 * the gates comes computed, x = [time, batch, gates * cells]; here the state's part is added and
 * the cells are run. Gates lie as in ONNX: input, output, forget, cell of LSTM; update, reset,
 * hidden of GRU. Weights are [cells, gates * cells], so that a step is a sum of rows. States that
 * are not stated are zeros.
 */
#include <math.h>
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/recurrent.h"

enum
{
  INPUT,
  WEIGHTS,
  BIAS,   /* of the state's part; may be missing, as the states */
  HIDDEN, /* [batch, cells] */
  CELL,
  PEEPHOLES /* of LSTM, [3 * cells]: what the cells add to input, output and forget gate */
};

static guint
gates_of (const SlNode *node)
{
  const SlCell cell = node->params.recurrent.cell;
  return cell == SL_CELL_LSTM ? 4 : cell == SL_CELL_GRU || cell == SL_CELL_GRU_RESET_FIRST ? 3 : 1;
}

static gboolean
check_shape (const SlGraph *graph, const SlNode *node, guint i, guint rank, gint32 rows,
             gint32 columns, GError **error)
{
  const SlTensor *tensor = i < node->n_inputs ? sl_node_input (graph, node, i) : NULL;
  if (tensor == NULL && i >= BIAS)
    return TRUE;
  if (tensor != NULL && tensor->dtype == SL_DTYPE_F32 && tensor->rank == rank
      && tensor->dims[0] == rows && (rank == 1 || tensor->dims[1] == columns))
    return TRUE;
  g_autofree char *text = tensor != NULL ? sl_tensor_describe (tensor) : g_strdup ("missing");
  g_autofree char *expected =
    rank == 1 ? g_strdup_printf ("[%d]", rows) : g_strdup_printf ("[%d,%d]", rows, columns);
  return sl_node_error (error, node, SL_ERROR_SHAPE, "input %u is %s; expected float32%s", i, text,
                        expected);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *x = sl_node_input (graph, node, INPUT);
  const gint32 gates = (gint32) gates_of (node);
  if (x->dtype != SL_DTYPE_F32 || x->rank != 3 || x->dims[2] % gates != 0) {
    g_autofree char *text = sl_tensor_describe (x);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "input is %s; expected float32[time,batch,%d cells]", text, gates);
  }
  const gint32 cells = x->dims[2] / gates, batch = x->dims[1];
  return check_shape (graph, node, WEIGHTS, 2, cells, x->dims[2], error)
         && check_shape (graph, node, BIAS, 1, x->dims[2], 0, error)
         && check_shape (graph, node, HIDDEN, 2, batch, cells, error)
         && check_shape (graph, node, CELL, 2, batch, cells, error)
         && check_shape (graph, node, PEEPHOLES, 1, 3 * cells, 0, error);
}

/* Every step's state, and the last ones: hidden and, of LSTM, cell. */
static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *x = sl_node_input (graph, node, INPUT);
  const gint32 dims[3] = { x->dims[0], x->dims[1], x->dims[2] / (gint32) gates_of (node) };
  return sl_node_set_shape (graph, node, 0, 3, dims, error)
         && sl_node_set_shape (graph, node, 1, 2, dims + 1, error)
         && sl_node_set_shape (graph, node, 2, 2, dims + 1, error);
}

typedef struct
{
  SlCell kind;
  gsize cells, width, steps, batch;
  gfloat *gates, *reset;
} Recurrent;

/** A run: @x, @hidden and @cell are those of one step of one sequence. */
typedef struct
{
  const Recurrent *sizes;
  const SlRecurrentLoops *loops;
  const gfloat *weights, *bias, *peepholes, *x; /* @bias, @peepholes: (nullable) */
  gfloat *hidden, *cell;
} Run;

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *x = sl_node_input (graph, node, INPUT);
  Recurrent *p = sl_arena_alloc (arena, sizeof *p);
  p->kind = node->params.recurrent.cell;
  p->steps = (gsize) x->dims[0];
  p->batch = (gsize) x->dims[1];
  p->width = (gsize) x->dims[2];
  p->cells = p->width / gates_of (node);
  p->gates = sl_arena_alloc (arena, p->width * sizeof p->gates[0]);
  p->reset = sl_arena_alloc (arena, p->cells * sizeof p->reset[0]);
  return p;
}

/* Columns @first to @end - 1 of the gates get what @state adds. */
static void
add_state (const Run *run, const gfloat *state, gsize first, gsize end)
{
  const Recurrent *p = run->sizes;
  run->loops->add_rows (run->weights + first, p->width, state, p->cells, p->gates + first,
                        end - first);
}

/* Gates begin as the state's bias, and as the input's part besides, but for columns from @end on.
 */
static void
start_gates (const Run *run, gsize end)
{
  const Recurrent *p = run->sizes;
  for (gsize i = 0; i < p->width; i++)
    p->gates[i] = (run->bias != NULL ? run->bias[i] : 0) + (i < end ? run->x[i] : 0);
}

/* A gate sees the cells. */
static void
look (const Run *run, guint which, gfloat *gate)
{
  const gsize n = run->sizes->cells;
  for (gsize i = 0; i < n; i++)
    gate[i] += run->peepholes[which * n + i] * run->cell[i];
}

/* With peepholes the input and the forget gate see the cells before the step, the output gate those
 * behind it. */
static void
step_lstm (const Run *run)
{
  const gsize n = run->sizes->cells;
  const gboolean sees = run->peepholes != NULL;
  gfloat *input = run->sizes->gates, *output = input + n, *forget = output + n, *new = forget + n,
         *cell = run->cell;
  start_gates (run, 4 * n);
  add_state (run, run->hidden, 0, 4 * n);
  if (sees) {
    look (run, 0, input);
    look (run, 2, forget);
    run->loops->activate (SL_ACTIVATION_LOGISTIC, forget, forget, n);
  }
  run->loops->activate (SL_ACTIVATION_LOGISTIC, input, input, sees ? n : 3 * n);
  run->loops->activate (SL_ACTIVATION_TANH, new, new, n);
  for (gsize i = 0; i < n; i++)
    cell[i] = forget[i] * cell[i] + input[i] * new[i];
  if (sees) {
    look (run, 1, output);
    run->loops->activate (SL_ACTIVATION_LOGISTIC, output, output, n);
  }
  run->loops->activate (SL_ACTIVATION_TANH, cell, new, n);
  for (gsize i = 0; i < n; i++)
    run->hidden[i] = output[i] * new[i];
}

/* The state's part of the hidden gate is reset after the product, or before it. */
static void
step_gru (const Run *run)
{
  const gsize n = run->sizes->cells;
  gfloat *update = run->sizes->gates, *reset = update + n, *new = reset + n, *hidden = run->hidden;
  const gboolean first = run->sizes->kind == SL_CELL_GRU_RESET_FIRST;
  start_gates (run, first ? 3 * n : 2 * n);
  add_state (run, hidden, 0, first ? 2 * n : 3 * n);
  run->loops->activate (SL_ACTIVATION_LOGISTIC, update, update, 2 * n);
  for (gsize i = 0; i < n; i++) {
    run->sizes->reset[i] = reset[i] * hidden[i];
    if (!first)
      new[i] = run->x[2 * n + i] + reset[i] * new[i];
  }
  if (first)
    add_state (run, run->sizes->reset, 2 * n, 3 * n);
  run->loops->activate (SL_ACTIVATION_TANH, new, new, n);
  for (gsize i = 0; i < n; i++)
    hidden[i] = (1 - update[i]) * new[i] + update[i] * hidden[i];
}

static void
step_plain (const Run *run)
{
  const gsize n = run->sizes->cells;
  gfloat *gates = run->sizes->gates;
  start_gates (run, n);
  add_state (run, run->hidden, 0, n);
  if (run->sizes->kind == SL_CELL_TANH)
    run->loops->activate (SL_ACTIVATION_TANH, gates, run->hidden, n);
  for (gsize i = 0; run->sizes->kind == SL_CELL_RELU && i < n; i++)
    run->hidden[i] = gates[i] < 0 ? 0 : gates[i];
}

static void
start (gfloat *state, const gfloat *from, gsize n)
{
  memset (state, 0, n * sizeof state[0]);
  if (from != NULL)
    memcpy (state, from, n * sizeof state[0]);
}

void
sl_recurrent_run (const SlKernelCall *call, const SlRecurrentLoops *loops)
{
  const Recurrent *p = call->state;
  const gboolean back = call->node->params.recurrent.back;
  gfloat *hidden = call->outputs[1], *cell = call->outputs[2];
  Run run = {
    .sizes = p, .loops = loops, .weights = call->inputs[WEIGHTS], .bias = call->inputs[BIAS]
  };
  run.peepholes = call->node->n_inputs > PEEPHOLES ? call->inputs[PEEPHOLES] : NULL;
  start (hidden, call->inputs[HIDDEN], p->batch * p->cells);
  start (cell, call->inputs[CELL], p->batch * p->cells);
  for (gsize i = 0; i < p->steps; i++) {
    const gsize t = back ? p->steps - 1 - i : i;
    for (gsize b = 0; b < p->batch; b++) {
      run.x = (const gfloat *) call->inputs[INPUT] + (t * p->batch + b) * p->width;
      run.hidden = hidden + b * p->cells;
      run.cell = cell + b * p->cells;
      if (p->kind == SL_CELL_LSTM)
        step_lstm (&run);
      else if (p->kind == SL_CELL_GRU || p->kind == SL_CELL_GRU_RESET_FIRST)
        step_gru (&run);
      else
        step_plain (&run);
    }
    memcpy ((gfloat *) call->outputs[0] + t * p->batch * p->cells, hidden,
            p->batch * p->cells * sizeof hidden[0]);
  }
}

static void
add_rows (const gfloat *rows, gsize stride, const gfloat *factors, gsize n_rows,
          gfloat *restrict sums, gsize n)
{
  for (gsize k = 0; k < n_rows; k++)
    for (gsize i = 0; i < n; i++)
      sums[i] += factors[k] * rows[k * stride + i];
}

static void
activate (SlActivation activation, const gfloat *in, gfloat *out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = activation == SL_ACTIVATION_TANH ? tanhf (in[i]) : 1.0f / (1.0f + expf (-in[i]));
}

static void
run (const SlKernelCall *call)
{
  static const SlRecurrentLoops loops = { add_rows, activate };
  sl_recurrent_run (call, &loops);
}

const SlOp sl_op_recurrent = {
  SL_OP_RECURRENT, "RECURRENT", CELL + 1, PEEPHOLES + 1, BIAS, 3, check, infer, prepare, run
};
