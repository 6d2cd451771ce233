/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM in float32: peepholes, coupled input gate, projection and clipping
 * as TensorFlow Lite defines them; no layer normalisation. The state starts from zero on every run,
 * so that what one picture gives does not depend on the one before. The integer one is in
 * lstm_integer.c.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/simd/loops.h"
#include "core/ops/lstm.h"

static gboolean
check_operand (const SlGraph *graph, const SlNode *node, guint i, guint rank, gint32 rows,
               gint32 columns, gboolean required, GError **error)
{
  const SlTensor *tensor = sl_node_input (graph, node, i);
  if (tensor == NULL)
    return !required || sl_node_error (error, node, SL_ERROR_FORMAT, "input %u is missing", i);
  const gboolean quantised = sl_dtype_size (tensor->dtype) == 1 && tensor->quant.count == 1;
  if (tensor->data != NULL && tensor->rank == rank && tensor->dims[0] == rows
      && (rank == 1 || tensor->dims[1] == columns) && (tensor->dtype == SL_DTYPE_F32 || quantised))
    return TRUE;
  g_autofree char *text = sl_tensor_describe (tensor);
  g_autofree char *expected =
    rank == 1 ? g_strdup_printf ("[%d]", rows) : g_strdup_printf ("[%d,%d]", rows, columns);
  return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                        "input %u is %s%s; expected a constant float32%s", i,
                        tensor->data == NULL ? "variable " : "", text, expected);
}

/* Weights may be 8-bit values; what flows may not. */
static gboolean
check_float (const SlNode *node, const char *role, const SlTensor *tensor, GError **error)
{
  if (tensor->dtype == SL_DTYPE_F32)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (tensor);
  return sl_node_error (
    error, node, SL_ERROR_UNSUPPORTED,
    "%s '%s' is %s; expected float32 or int8: convert the model with dynamic range quantisation, "
    "which keeps weights of 8 bits, or without any",
    role, tensor->name, text);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, SL_LSTM_INPUT),
                 *recurrent =
                   sl_node_input (graph, node, SL_LSTM_RECURRENT_WEIGHTS + SL_GATE_OUTPUT);
  const gboolean integer = input->dtype == SL_DTYPE_I8;
  if (!integer
      && (!check_float (node, "input", input, error)
          || !check_float (node, "output", sl_node_output (graph, node, 0), error)))
    return FALSE;
  if (input->rank != 3 || recurrent == NULL || recurrent->rank != 2) {
    g_autofree char *text = sl_tensor_describe (input);
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "input is %s; expected 3 dimensions, and recurrent weights of 2", text);
  }
  if (integer)
    return sl_lstm_integer_check (graph, node, error);
  for (guint i = SL_LSTM_LAYER_NORM; i < node->n_inputs; i++)
    if (node->inputs[i] >= 0)
      return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                            "layer normalisation, input %u, is not supported", i);
  const gint32 cells = recurrent->dims[0], units = recurrent->dims[1];
  const gboolean coupled = node->inputs[SL_LSTM_INPUT_WEIGHTS] < 0;
  for (guint gate = 0; gate < SL_N_GATES; gate++) {
    const gboolean required = gate != SL_GATE_INPUT || !coupled;
    if (!check_operand (graph, node, SL_LSTM_INPUT_WEIGHTS + gate, 2, cells, input->dims[2],
                        required, error)
        || !check_operand (graph, node, SL_LSTM_RECURRENT_WEIGHTS + gate, 2, cells, units, required,
                           error)
        || !check_operand (graph, node, SL_LSTM_BIASES + gate, 1, cells, 0, required, error))
      return FALSE;
  }
  for (guint i = 0; i < 3; i++)
    if (!check_operand (graph, node, SL_LSTM_PEEPHOLES + i, 1, cells, 0, FALSE, error))
      return FALSE;
  return check_operand (graph, node, SL_LSTM_PROJECTION, 2, units, cells, units != cells, error)
         && check_operand (graph, node, SL_LSTM_PROJECTION_BIAS, 1, units, 0, FALSE, error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, SL_LSTM_INPUT);
  const gint32 dims[3] = {
    input->dims[0], input->dims[1],
    sl_node_input (graph, node, SL_LSTM_RECURRENT_WEIGHTS + SL_GATE_OUTPUT)->dims[1]
  };
  return sl_node_set_shape (graph, node, 0, 3, dims, error);
}

typedef struct
{
  gsize inputs, cells, units, steps, batch;
  gfloat *gates[SL_N_GATES], *cell, *hidden;
} Lstm;

static void *
prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, SL_LSTM_INPUT),
                 *recurrent =
                   sl_node_input (graph, node, SL_LSTM_RECURRENT_WEIGHTS + SL_GATE_OUTPUT);
  const gboolean time_first = node->params.lstm.time_major;
  if (input->dtype == SL_DTYPE_I8)
    return sl_lstm_integer_prepare (graph, node, arena);
  Lstm *p = sl_arena_alloc (arena, sizeof *p);
  p->inputs = (gsize) input->dims[2];
  p->cells = (gsize) recurrent->dims[0];
  p->units = (gsize) recurrent->dims[1];
  p->steps = (gsize) input->dims[time_first ? 0 : 1];
  p->batch = (gsize) input->dims[time_first ? 1 : 0];
  for (guint i = 0; i < SL_N_GATES; i++)
    p->gates[i] = sl_arena_alloc (arena, p->cells * sizeof (gfloat));
  p->cell = sl_arena_alloc (arena, p->cells * sizeof (gfloat));
  p->hidden = sl_arena_alloc (arena, p->units * sizeof (gfloat));
  return p;
}

/* out += matrix [rows, columns] * x */
static void
add_product (const gfloat *matrix, const gfloat *x, gfloat *out, gsize rows, gsize columns)
{
  for (gsize r = 0; r < rows; r++)
    out[r] += sl_simd_loops ()->dot (matrix + r * columns, x, columns);
}

static gfloat
clip (gfloat value, gfloat limit)
{
  return limit <= 0 ? value : value < -limit ? -limit : value > limit ? limit : value;
}

static void
squash (const SlNode *node, gfloat *values, gsize n)
{
  SlClamp clamp;
  const SlTensor real = { .dtype = SL_DTYPE_F32 };
  if (node->params.lstm.activation_is_tanh) {
    sl_simd_loops ()->tangent (values, values, n);
    return;
  }
  sl_clamp_for (&clamp, node->params.lstm.activation, &real);
  for (gsize i = 0; i < n; i++)
    values[i] = values[i] < clamp.lo_f   ? clamp.lo_f
                : values[i] > clamp.hi_f ? clamp.hi_f
                                         : values[i];
}

static void
fill_gate (const SlKernelCall *call, const Lstm *p, guint gate, const gfloat *x)
{
  gfloat *out = p->gates[gate];
  if (call->inputs[SL_LSTM_INPUT_WEIGHTS + gate] == NULL)
    return;
  memcpy (out, call->inputs[SL_LSTM_BIASES + gate], p->cells * sizeof out[0]);
  add_product (call->inputs[SL_LSTM_INPUT_WEIGHTS + gate], x, out, p->cells, p->inputs);
  add_product (call->inputs[SL_LSTM_RECURRENT_WEIGHTS + gate], p->hidden, out, p->cells, p->units);
}

/* @gate, which looks at the cells through @peep (nullable), as a weight from 0 to 1: the logistic
 * function is a tangent of half of it. */
static void
open_gate (gfloat *gate, const gfloat *peep, const gfloat *cell, gsize n)
{
  for (gsize i = 0; i < n; i++)
    gate[i] = 0.5f * (gate[i] + (peep != NULL ? peep[i] * cell[i] : 0));
  sl_simd_loops ()->tangent (gate, gate, n);
  for (gsize i = 0; i < n; i++)
    gate[i] = 0.5f + 0.5f * gate[i];
}

static void
update_cells (const SlKernelCall *call, const Lstm *p)
{
  const SlNode *node = call->node;
  gfloat *input = p->gates[SL_GATE_INPUT], *forget = p->gates[SL_GATE_FORGET],
         *new = p->gates[SL_GATE_CELL], *output = p->gates[SL_GATE_OUTPUT];
  open_gate (forget, call->inputs[SL_LSTM_PEEPHOLES + 1], p->cell, p->cells);
  if (call->inputs[SL_LSTM_INPUT_WEIGHTS] != NULL)
    open_gate (input, call->inputs[SL_LSTM_PEEPHOLES], p->cell, p->cells);
  for (gsize i = 0; call->inputs[SL_LSTM_INPUT_WEIGHTS] == NULL && i < p->cells; i++)
    input[i] = 1.0f - forget[i];
  squash (node, new, p->cells);
  for (gsize i = 0; i < p->cells; i++)
    p->cell[i] = clip (forget[i] * p->cell[i] + input[i] * new[i], node->params.lstm.cell_clip);
  open_gate (output, call->inputs[SL_LSTM_PEEPHOLES + 2], p->cell, p->cells);
  memcpy (new, p->cell, p->cells * sizeof new[0]);
  squash (node, new, p->cells);
  for (gsize i = 0; i < p->cells; i++)
    output[i] *= new[i];
}

static void
one_step (const SlKernelCall *call, const Lstm *p, const gfloat *x, gfloat *out)
{
  const SlNode *node = call->node;
  for (guint gate = 0; gate < SL_N_GATES; gate++)
    fill_gate (call, p, gate, x);
  update_cells (call, p);
  if (call->inputs[SL_LSTM_PROJECTION] == NULL) {
    memcpy (p->hidden, p->gates[SL_GATE_OUTPUT], p->units * sizeof p->hidden[0]);
  } else {
    memset (p->hidden, 0, p->units * sizeof p->hidden[0]);
    if (call->inputs[SL_LSTM_PROJECTION_BIAS] != NULL)
      memcpy (p->hidden, call->inputs[SL_LSTM_PROJECTION_BIAS], p->units * sizeof p->hidden[0]);
    add_product (call->inputs[SL_LSTM_PROJECTION], p->gates[SL_GATE_OUTPUT], p->hidden, p->units,
                 p->cells);
    for (gsize i = 0; i < p->units; i++)
      p->hidden[i] = clip (p->hidden[i], node->params.lstm.projection_clip);
  }
  memcpy (out, p->hidden, p->units * sizeof out[0]);
}

static void
run (const SlKernelCall *call)
{
  if (sl_node_input (call->graph, call->node, SL_LSTM_INPUT)->dtype == SL_DTYPE_I8) {
    sl_lstm_integer_run (call);
    return;
  }
  const Lstm *p = call->state;
  for (gsize b = 0; b < p->batch; b++) {
    memset (p->cell, 0, p->cells * sizeof p->cell[0]);
    memset (p->hidden, 0, p->units * sizeof p->hidden[0]);
    for (gsize t = 0; t < p->steps; t++) {
      const gsize at = call->node->params.lstm.time_major ? t * p->batch + b : b * p->steps + t;
      one_step (call, p, (const gfloat *) call->inputs[SL_LSTM_INPUT] + at * p->inputs,
                (gfloat *) call->outputs[0] + at * p->units);
    }
  }
}

const SlOp sl_op_unidirectional_sequence_lstm = {
  .type = SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM,
  .name = "UNIDIRECTIONAL_SEQUENCE_LSTM",
  .min_inputs = SL_LSTM_STATES,
  .max_inputs = SL_LSTM_N_INPUTS,
  .required = 1,
  .n_outputs = 1,
  .check = check,
  .infer = infer,
  .prepare = prepare,
  .run = run,
};
