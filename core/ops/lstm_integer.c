/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM of int8 as TensorFlow Lite's converter writes it: int8 input,
 * weights and output, gates of 16 bits with 12 behind the point, cells of 16 bits whose scale is a
 * power of two. Products with weights are TensorFlow Lite's to the bit. The logistic function and
 * the hyperbolic tangent are rounded to 15 bits behind the point, where TensorFlow Lite's are up to
 * a few of those off, so a result may be one code beside its. Without peepholes, projection and
 * layer normalisation. The state starts from zero on every run.
 */
#include <math.h>
#include <string.h>

#include "core/ops/kernels/fixedpoint.h"
#include "core/ops/lstm.h"

/* Numbers that a gate adds up: sums of so many products fit 32 bits. */
#define MAX_COLUMNS 32768
#define GATE_BITS 12
#define UNIT 32768.0 /* 1 in 15 bits behind the point */

/** What one tensor adds to a gate. */
typedef struct
{
  const gint8 *weights;
  const gint32 *bias; /* (nullable) */
  SlFixed scale;
  gsize columns;
  gint32 zero_point;
} Product;

typedef struct
{
  gsize inputs, cells, steps, batch;
  Product from_input[SL_N_GATES], from_hidden[SL_N_GATES];
  SlFixed output_scale;
  gint32 output_zero;
  gint cell_bits; /* behind the point */
  gint32 cell_clip;
  gint16 *gates[SL_N_GATES], *cell;
  gint8 *hidden;
} Lstm;

static gboolean
check_constant (const SlGraph *graph, const SlNode *node, guint i, SlDtype dtype, gint32 rows,
                gint32 columns, GError **error)
{
  const SlTensor *tensor = sl_node_input (graph, node, i);
  const guint rank = columns > 0 ? 2 : 1;
  if (tensor == NULL)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "input %u is missing", i);
  if (tensor->data != NULL && tensor->dtype == dtype && tensor->rank == rank
      && tensor->dims[0] == rows
      && (rank == 1
          || (tensor->dims[1] == columns && tensor->quant.count == 1
              && sl_tensor_zero_point (tensor) == 0)))
    return TRUE;
  g_autofree char *text = sl_tensor_describe (tensor);
  g_autofree char *expected =
    rank == 1 ? g_strdup_printf ("[%d]", rows)
              : g_strdup_printf ("[%d,%d] of one scale, zero point 0", rows, columns);
  return sl_node_error (
    error, node, SL_ERROR_UNSUPPORTED, "input %u is %s%s; expected a constant %s%s", i,
    tensor->data == NULL ? "variable " : "", text, sl_dtype_name (dtype), expected);
}

static gboolean
check_forms (const SlNode *node, GError **error)
{
  int exponent;
  const gfloat scale = node->params.lstm.cell_scale;
  for (guint i = SL_LSTM_PEEPHOLES; i < node->n_inputs; i++)
    if (node->inputs[i] >= 0 && (i < SL_LSTM_BIASES || i >= SL_LSTM_PROJECTION))
      return sl_node_error (
        error, node, SL_ERROR_UNSUPPORTED,
        "input %u: integer LSTMs run without peepholes, projection and layer normalisation; "
        "convert the model with dynamic range quantisation, which keeps weights of 8 bits",
        i);
  if (!node->params.lstm.activation_is_tanh)
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "its activation is not TANH, which integer LSTMs have");
  if (frexpf (scale, &exponent) == 0.5f && exponent <= 1 && exponent >= -14)
    return TRUE;
  return sl_node_error (
    error, node, SL_ERROR_UNSUPPORTED,
    "the scale of its cell state, input %d, is %g; expected a power of two from 2^-15 to 1",
    SL_LSTM_STATES + 1, (double) scale);
}

gboolean
sl_lstm_integer_check (const SlGraph *graph, const SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, SL_LSTM_INPUT),
                 *output = sl_node_output (graph, node, 0);
  const SlTensor *recurrent =
    sl_node_input (graph, node, SL_LSTM_RECURRENT_WEIGHTS + SL_GATE_OUTPUT);
  if (!sl_node_check_dtype (node, "output", output, SL_DTYPE_BIT (SL_DTYPE_I8), error)
      || !sl_node_check_quant (node, "input", input, error)
      || !sl_node_check_quant (node, "output", output, error) || !check_forms (node, error))
    return FALSE;
  const gint32 cells = recurrent->dims[0], columns = input->dims[2];
  if (cells > MAX_COLUMNS || columns > MAX_COLUMNS)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "%d inputs and %d cells; at most %d of each run in integers", columns,
                          cells, MAX_COLUMNS);
  for (guint gate = 0; gate < SL_N_GATES; gate++)
    if ((gate != SL_GATE_INPUT || node->inputs[SL_LSTM_INPUT_WEIGHTS] >= 0)
        && (!check_constant (graph, node, SL_LSTM_INPUT_WEIGHTS + gate, SL_DTYPE_I8, cells, columns,
                             error)
            || !check_constant (graph, node, SL_LSTM_RECURRENT_WEIGHTS + gate, SL_DTYPE_I8, cells,
                                cells, error)
            || !check_constant (graph, node, SL_LSTM_BIASES + gate, SL_DTYPE_I32, cells, 0, error)))
      return FALSE;
  return TRUE;
}

static Product
product_of (const SlGraph *graph, const SlNode *node, guint weights, const SlTensor *data)
{
  const SlTensor *tensor = sl_node_input (graph, node, weights);
  const gdouble scale =
    (gdouble) sl_tensor_scale (data) * (gdouble) sl_tensor_scale (tensor) * (1 << GATE_BITS);
  return (Product){ .weights = tensor->data,
                    .scale = sl_fixed_from_real (scale),
                    .columns = (gsize) tensor->dims[1],
                    .zero_point = sl_tensor_zero_point (data) };
}

void *
sl_lstm_integer_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, SL_LSTM_INPUT),
                 *output = sl_node_output (graph, node, 0);
  const gboolean time_first = node->params.lstm.time_major;
  Lstm *p = sl_arena_alloc (arena, sizeof *p);
  memset (p, 0, sizeof *p);
  p->inputs = (gsize) input->dims[2];
  p->cells = (gsize) output->dims[2];
  p->steps = (gsize) input->dims[time_first ? 0 : 1];
  p->batch = (gsize) input->dims[time_first ? 1 : 0];
  for (guint gate = 0; gate < SL_N_GATES; gate++) {
    p->gates[gate] = sl_arena_alloc (arena, p->cells * sizeof p->gates[0][0]);
    if (sl_node_input (graph, node, SL_LSTM_INPUT_WEIGHTS + gate) == NULL)
      continue;
    p->from_input[gate] = product_of (graph, node, SL_LSTM_INPUT_WEIGHTS + gate, input);
    p->from_input[gate].bias = sl_node_input (graph, node, SL_LSTM_BIASES + gate)->data;
    p->from_hidden[gate] = product_of (graph, node, SL_LSTM_RECURRENT_WEIGHTS + gate, output);
  }
  p->cell = sl_arena_alloc (arena, p->cells * sizeof p->cell[0]);
  p->hidden = sl_arena_alloc (arena, p->cells);
  p->output_scale = sl_fixed_from_real (1 / (UNIT * UNIT) / (gdouble) sl_tensor_scale (output));
  p->output_zero = sl_tensor_zero_point (output);
  p->cell_bits = -ilogbf (node->params.lstm.cell_scale);
  const gdouble clip =
    (gdouble) node->params.lstm.cell_clip / (gdouble) node->params.lstm.cell_scale;
  p->cell_clip = clip > 0 && clip < G_MAXINT16 ? (gint32) clip : 0;
  return p;
}

static gint16
saturate (gint64 value)
{
  return (gint16) CLAMP (value, G_MININT16, G_MAXINT16);
}

/* What cell @i's row of weights makes of @x, on top of @before. */
static gint16
add_product (const Product *product, const gint8 *x, gsize i, gint16 before)
{
  const gint8 *row = product->weights + i * product->columns;
  gint64 sum = product->bias != NULL ? product->bias[i] : 0;
  for (gsize k = 0; k < product->columns; k++)
    sum += (gint32) row[k] * (x[k] - product->zero_point);
  return saturate (
    (gint64) sl_fixed_multiply ((gint32) CLAMP (sum, G_MININT32, G_MAXINT32), product->scale)
    + before);
}

/* A tangent or logistic function of a number with @bits behind the point, with 15 of them. */
static gint16
squash (gint16 value, gint bits, gboolean is_tangent)
{
  const gdouble x = ldexp (value, -bits);
  return saturate (lrint (UNIT * (is_tangent ? tanh (x) : 1 / (1 + exp (-x)))));
}

static void
update_cells (const Lstm *p, const SlKernelCall *call)
{
  for (gsize i = 0; i < p->cells; i++) {
    const gint16 forget = squash (p->gates[SL_GATE_FORGET][i], GATE_BITS, FALSE);
    const gint16 new = squash (p->gates[SL_GATE_CELL][i], GATE_BITS, TRUE);
    const gint16 input = call->inputs[SL_LSTM_INPUT_WEIGHTS] != NULL
                           ? squash (p->gates[SL_GATE_INPUT][i], GATE_BITS, FALSE)
                           : (gint16) (G_MAXINT16 - forget);
    const gint16 kept = saturate (sl_fixed_shift_right ((gint64) forget * p->cell[i], 15));
    const gint16 added = saturate (sl_fixed_shift_right ((gint64) input * new, 30 - p->cell_bits));
    p->cell[i] = saturate ((gint64) kept + added);
    if (p->cell_clip > 0)
      p->cell[i] = (gint16) CLAMP (p->cell[i], -p->cell_clip, p->cell_clip);
    const gint16 output = squash (p->gates[SL_GATE_OUTPUT][i], GATE_BITS, FALSE);
    const gint32 result = sl_fixed_multiply (
      (gint32) output * squash (p->cell[i], p->cell_bits, TRUE), p->output_scale);
    p->hidden[i] = (gint8) CLAMP ((gint64) result + p->output_zero, G_MININT8, G_MAXINT8);
  }
}

void
sl_lstm_integer_run (const SlKernelCall *call)
{
  const Lstm *p = call->state;
  for (gsize b = 0; b < p->batch; b++) {
    memset (p->cell, 0, p->cells * sizeof p->cell[0]);
    memset (p->hidden, p->output_zero, p->cells);
    for (gsize t = 0; t < p->steps; t++) {
      const gsize at = call->node->params.lstm.time_major ? t * p->batch + b : b * p->steps + t;
      const gint8 *x = (const gint8 *) call->inputs[SL_LSTM_INPUT] + at * p->inputs;
      for (guint gate = 0; gate < SL_N_GATES; gate++)
        for (gsize i = 0; i < p->cells && p->from_input[gate].weights != NULL; i++)
          p->gates[gate][i] = add_product (&p->from_hidden[gate], p->hidden, i,
                                           add_product (&p->from_input[gate], x, i, 0));
      update_cells (p, call);
      memcpy ((gint8 *) call->outputs[0] + at * p->cells, p->hidden, p->cells);
    }
  }
}
