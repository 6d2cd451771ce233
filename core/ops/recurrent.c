/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RECURRENT: layers whose cells remember, one direction, float32. What each step's input adds to the gates comes computed, x = [time, batch,
 * gates * cells]; here the state's part is added and the cells are run. Gates lie as in ONNX: input, output, forget, cell of LSTM; update,
 * reset, hidden of GRU. Weights are [cells, gates * cells], so that a step is a sum of rows. States that are not stated are zeros.
 */
#include <math.h>
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/ops.h"

enum
{
  INPUT,
  WEIGHTS,
  BIAS,   /* of the state's part; may be missing, as the states */
  HIDDEN, /* [batch, cells] */
  CELL
};

static guint
gates_of (const SlNode *node)
{
  const SlCell cell = node->params.recurrent.cell;
  return cell == SL_CELL_LSTM ? 4 : cell == SL_CELL_GRU || cell == SL_CELL_GRU_RESET_FIRST ? 3 : 1;
}

static gboolean
check_shape (const SlGraph *graph, const SlNode *node, guint i, guint rank, gint32 rows, gint32 columns, GError **error)
{
  const SlTensor *tensor = i < node->n_inputs ? sl_node_input (graph, node, i) : NULL;
  if (tensor == NULL && i >= BIAS)
    return TRUE;
  if (tensor != NULL && tensor->dtype == SL_DTYPE_F32 && tensor->rank == rank && tensor->dims[0] == rows
      && (rank == 1 || tensor->dims[1] == columns))
    return TRUE;
  g_autofree char *text = tensor != NULL ? sl_tensor_describe (tensor) : g_strdup ("missing");
  g_autofree char *expected = rank == 1 ? g_strdup_printf ("[%d]", rows) : g_strdup_printf ("[%d,%d]", rows, columns);
  return sl_node_error (error, node, SL_ERROR_SHAPE, "input %u is %s; expected float32%s", i, text, expected);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *x = sl_node_input (graph, node, INPUT);
  const gint32 gates = (gint32) gates_of (node);
  if (x->dtype != SL_DTYPE_F32 || x->rank != 3 || x->dims[2] % gates != 0) {
    g_autofree char *text = sl_tensor_describe (x);
    return sl_node_error (error, node, SL_ERROR_SHAPE, "input is %s; expected float32[time,batch,%d cells]", text, gates);
  }
  const gint32 cells = x->dims[2] / gates, batch = x->dims[1];
  return check_shape (graph, node, WEIGHTS, 2, cells, x->dims[2], error) && check_shape (graph, node, BIAS, 1, x->dims[2], 0, error)
         && check_shape (graph, node, HIDDEN, 2, batch, cells, error) && check_shape (graph, node, CELL, 2, batch, cells, error);
}

/* Every step's state, and the last ones: hidden and, of LSTM, cell. */
static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *x = sl_node_input (graph, node, INPUT);
  const gint32 dims[3] = { x->dims[0], x->dims[1], x->dims[2] / (gint32) gates_of (node) };
  return sl_node_set_shape (graph, node, 0, 3, dims, error) && sl_node_set_shape (graph, node, 1, 2, dims + 1, error)
         && sl_node_set_shape (graph, node, 2, 2, dims + 1, error);
}

typedef struct
{
  gsize cells, width, steps, batch;
  gfloat *gates, *reset;
} Recurrent;

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *x = sl_node_input (graph, node, INPUT);
  Recurrent *p = sl_arena_alloc (arena, sizeof *p);
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
add_state (const Recurrent *p, const gfloat *weights, const gfloat *state, gsize first, gsize end)
{
  gfloat *restrict gates = p->gates;
  for (gsize k = 0; k < p->cells; k++) {
    const gfloat *restrict row = weights + k * p->width, value = state[k];
    for (gsize i = first; i < end; i++)
      gates[i] += value * row[i];
  }
}

static gfloat
sigmoid (gfloat x)
{
  return 1.0f / (1.0f + expf (-x));
}

static void
step_lstm (const Recurrent *p, const gfloat *x, gfloat *hidden, gfloat *cell)
{
  const gsize n = p->cells;
  for (gsize i = 0; i < n; i++) {
    const gfloat input = sigmoid (x[i] + p->gates[i]), output = sigmoid (x[n + i] + p->gates[n + i]);
    const gfloat forget = sigmoid (x[2 * n + i] + p->gates[2 * n + i]), new = tanhf (x[3 * n + i] + p->gates[3 * n + i]);
    cell[i] = forget * cell[i] + input * new;
    hidden[i] = output * tanhf (cell[i]);
  }
}

/* The state's part of the hidden gate is reset after the product, or before it. */
static void
step_gru (const SlKernelCall *call, const Recurrent *p, const gfloat *x, gfloat *hidden)
{
  const gsize n = p->cells;
  const gboolean first = call->node->params.recurrent.cell == SL_CELL_GRU_RESET_FIRST;
  for (gsize i = 0; i < n; i++)
    p->reset[i] = sigmoid (x[n + i] + p->gates[n + i]);
  if (first) {
    for (gsize i = 0; i < n; i++)
      p->reset[i] *= hidden[i];
    add_state (p, call->inputs[WEIGHTS], p->reset, 2 * n, 3 * n);
  }
  for (gsize i = 0; i < n; i++) {
    const gfloat update = sigmoid (x[i] + p->gates[i]), state = p->gates[2 * n + i];
    const gfloat new = tanhf (x[2 * n + i] + (first ? state : p->reset[i] * state));
    hidden[i] = (1 - update) * new + update *hidden[i];
  }
}

static void
one_step (const SlKernelCall *call, const Recurrent *p, const gfloat *x, gfloat *hidden, gfloat *cell)
{
  const SlCell kind = call->node->params.recurrent.cell;
  memset (p->gates, 0, p->width * sizeof p->gates[0]);
  if (call->inputs[BIAS] != NULL)
    memcpy (p->gates, call->inputs[BIAS], p->width * sizeof p->gates[0]);
  add_state (p, call->inputs[WEIGHTS], hidden, 0, kind == SL_CELL_GRU_RESET_FIRST ? 2 * p->cells : p->width);
  if (kind == SL_CELL_LSTM)
    step_lstm (p, x, hidden, cell);
  else if (kind == SL_CELL_GRU || kind == SL_CELL_GRU_RESET_FIRST)
    step_gru (call, p, x, hidden);
  else
    for (gsize i = 0; i < p->cells; i++)
      hidden[i] = kind == SL_CELL_TANH ? tanhf (x[i] + p->gates[i]) : fmaxf (x[i] + p->gates[i], 0);
}

static void
start (gfloat *state, const gfloat *from, gsize n)
{
  memset (state, 0, n * sizeof state[0]);
  if (from != NULL)
    memcpy (state, from, n * sizeof state[0]);
}

static void
run (const SlKernelCall *call)
{
  const Recurrent *p = call->state;
  const gboolean back = call->node->params.recurrent.back;
  gfloat *hidden = call->outputs[1], *cell = call->outputs[2];
  start (hidden, call->inputs[HIDDEN], p->batch * p->cells);
  start (cell, call->inputs[CELL], p->batch * p->cells);
  for (gsize i = 0; i < p->steps; i++) {
    const gsize t = back ? p->steps - 1 - i : i;
    for (gsize b = 0; b < p->batch; b++)
      one_step (call, p, (const gfloat *) call->inputs[INPUT] + (t * p->batch + b) * p->width, hidden + b * p->cells, cell + b * p->cells);
    memcpy ((gfloat *) call->outputs[0] + t * p->batch * p->cells, hidden, p->batch * p->cells * sizeof hidden[0]);
  }
}

const SlOp sl_op_recurrent = {
  .type = SL_OP_RECURRENT,
  .name = "RECURRENT",
  .min_inputs = CELL + 1,
  .max_inputs = CELL + 1,
  .required = BIAS,
  .n_outputs = 3,
  .check = check,
  .infer = infer,
  .prepare = prepare,
  .run = run,
};
