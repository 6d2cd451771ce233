/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layers of cells with a memory: each layer is ONNX's operator of both directions, with torch's
 * gates brought into its order. A cell alone is a sequence of one step.
 */
#include <string.h>

#include "models/aten/ops.h"
#include "models/aten/shape.h"

#define MAX_LAYERS 64
#define PROJECTED "sightline::projected_lstm"

/** RecurrentKind: a row of them for each operator of ONNX. @order: where its gates lie in torch's
 * weights. */
typedef struct
{
  const char *op, *activation;
  guint gates, order[4];
} RecurrentKind;

static const RecurrentKind lstm = { "LSTM", NULL, 4, { 0, 3, 1, 2 } },
                           gru = { "GRU", NULL, 3, { 1, 0, 2 } },
                           rnn_tanh = { "RNN", NULL, 1, { 0 } },
                           rnn_relu = { "RNN", "Relu", 1, { 0 } };

static const RecurrentKind *
kind_of (const TsCall *call)
{
  const char *name = call->op->name + strlen ("aten::");
  return g_str_has_prefix (name, "lstm")       ? &lstm
         : g_str_has_prefix (name, "gru")      ? &gru
         : g_str_has_prefix (name, "rnn_tanh") ? &rnn_tanh
                                               : &rnn_relu;
}

static LowerValue *
joined (TsProgram *program, LowerValue *const *parts, guint n, gint64 axis)
{
  const LowerAttribute attribute = ts_attr_int ("axis", axis);
  return n == 1 ? parts[0] : ts_onnx (program, "Concat", parts, n, &attribute, 1);
}

/* Weights or biases with the gates in ONNX's order, in a dimension more, that of the directions. */
static LowerValue *
gates_of (TsProgram *program, const RecurrentKind *kind, TsValue value)
{
  LowerValue *parts[4], *x = ts_read (program, value);
  gint64 dims[3] = { 1 };
  if (x == NULL)
    return NULL;
  if (x->rank < 1 || x->rank > 2 || x->dims[0] % (gint32) kind->gates != 0) {
    ts_refuse (program, SL_ERROR_SHAPE,
               "weights or biases of %u dimensions; expected %u gates in 1 or 2", x->rank,
               kind->gates);
    return NULL;
  }
  const gint64 cells = x->dims[0] / (gint32) kind->gates;
  for (guint i = 0; i < x->rank; i++)
    dims[1 + i] = x->dims[i];
  for (guint i = 0; i < kind->gates; i++)
    parts[i] = ts_slice_of (program, x, 0, kind->order[i] * cells, (kind->order[i] + 1) * cells, 1);
  return ts_reshaped (program, joined (program, parts, kind->gates, 0), dims, x->rank + 1);
}

/* One layer: @params are four tensors a direction, or two without biases; @states may be NULL. */
static gboolean
run_layer (TsProgram *program, const RecurrentKind *kind, LowerValue *x, const TsValue *params,
           guint directions, gboolean biases, LowerValue *const states[2], LowerValue *outputs[3])
{
  LowerValue *parts[3][2];
  const guint each = biases ? 4 : 2;
  for (guint d = 0; d < directions; d++, params += each) {
    parts[0][d] = gates_of (program, kind, params[0]);
    parts[1][d] = gates_of (program, kind, params[1]);
    if (!biases)
      continue;
    LowerValue *const pair[2] = { gates_of (program, kind, params[2]),
                                  gates_of (program, kind, params[3]) };
    parts[2][d] = joined (program, pair, 2, 1);
  }
  if (ts_failed (program))
    return FALSE;
  const LowerText word = ts_attr_text ("", kind->activation != NULL ? kind->activation : "").text,
                  words[2] = { word, word };
  const LowerAttribute attributes[3] = {
    ts_attr_text ("direction", directions == 2 ? "bidirectional" : "forward"),
    ts_attr_int ("linear_before_reset", 1),
    { .name = "activations", .texts = words, .n_texts = kind->activation != NULL ? directions : 0 }
  };
  LowerValue *const inputs[7] = { x,
                                  joined (program, parts[0], directions, 0),
                                  joined (program, parts[1], directions, 0),
                                  biases ? joined (program, parts[2], directions, 0) : NULL,
                                  NULL,
                                  states[0],
                                  states[1] };
  return ts_onnx_all (program, kind->op, inputs, kind == &lstm ? 7 : 6, attributes, 3, outputs,
                      kind == &lstm ? 3 : 2);
}

/* [time,directions,batch,cells] as [time,batch,directions * cells]. */
static LowerValue *
side_by_side (TsProgram *program, LowerValue *y)
{
  static const gint64 order[4] = { 0, 2, 1, 3 };
  if (y == NULL)
    return NULL;
  const gint64 dims[3] = { y->dims[0], y->dims[2], (gint64) y->dims[1] * y->dims[3] };
  return ts_reshaped (program, ts_permuted (program, y, order, 4), dims, 3);
}

/* @x without its first dimension, of which it has one element. */
static LowerValue *
without_first (TsProgram *program, LowerValue *x)
{
  gint64 dims[SL_MAX_RANK];
  if (x == NULL || x->rank == 0)
    return NULL;
  for (guint i = 1; i < x->rank; i++)
    dims[i - 1] = x->dims[i];
  return ts_reshaped (program, x, dims, x->rank - 1);
}

/* One layer of an LSTM whose output goes through a matrix before the next step, which ONNX does not
 * have: step after step. @params has that matrix behind each direction's others. */
static LowerValue *
run_projected (TsProgram *program, TsValue x, const TsValue *params, guint directions,
               gboolean biases, LowerValue *const states[2], LowerValue *ends[2])
{
  LowerValue *parts[3][2];
  for (guint d = 0; d < directions; d++, params += biases ? 5 : 3) {
    TsValue args[9] = { x,          ts_none (), ts_none (),
                        params[0],  params[1],  params[biases ? 4 : 2],
                        ts_none (), ts_none (), ts_bool (d == 1) };
    for (guint i = 0; i < 2; i++) {
      LowerValue *state = ts_slice_of (program, states[i], 0, d, d + 1, 1);
      args[1 + i] = ts_new (program, without_first (program, state), TS_FLOAT32);
      if (biases)
        args[6 + i] = params[2 + i];
    }
    const TsValue results = ts_run_op (program, PROJECTED, args, NULL, G_N_ELEMENTS (args));
    for (guint i = 0; i < 3 && !ts_failed (program); i++)
      parts[i][d] = ts_read (program, results.list->items[i]);
  }
  if (ts_failed (program))
    return NULL;
  for (guint i = 0; i < 2; i++)
    ends[i] = joined (program, parts[1 + i], directions, 0);
  return joined (program, parts[0], directions, 2);
}

/** Stack: what torch's operators are called with. */
typedef struct
{
  const TsList *params;
  guint layers, directions;
  gboolean biases, batch_first, projected;
  LowerValue *states[2];
} Stack;

static gboolean
read_stack (TsProgram *program, const TsCall *call, Stack *stack)
{
  const TsValue *a = call->args;
  const gboolean is_lstm = kind_of (call) == &lstm;
  if (a[2].kind != TS_LIST || (is_lstm && (a[1].kind != TS_LIST || a[1].list->n != 2))) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "sequences of different lengths, packed, are not supported");
    return FALSE;
  }
  const gint64 layers = ts_to_int (program, a[4]);
  *stack = (Stack){ .params = a[2].list,
                    .biases = ts_truth (program, a[3]),
                    .directions = ts_truth (program, a[7]) ? 2 : 1,
                    .batch_first = ts_truth (program, a[8]) };
  if (ts_truth (program, a[6]) && ts_to_float (program, a[5]) > 0)
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "the model was saved while training; call model.eval() before it is exported");
  for (guint i = 0; i < (is_lstm ? 2 : 1); i++)
    stack->states[i] = ts_read (program, is_lstm ? a[1].list->items[i] : a[1]);
  if (ts_failed (program))
    return FALSE;
  const guint all = (guint) CLAMP (layers, 0, MAX_LAYERS) * stack->directions;
  stack->projected = is_lstm && stack->params->n == all * (stack->biases ? 5 : 3);
  if (layers < 1 || layers > MAX_LAYERS
      || (!stack->projected && stack->params->n != all * (stack->biases ? 4 : 2))) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "%u tensors of weights for %" G_GINT64_FORMAT " layers; expected %u",
               stack->params->n, layers, all * (stack->biases ? 4 : 2));
    return FALSE;
  }
  stack->layers = (guint) layers;
  return TRUE;
}

/* The result of all steps, and the states of all layers at the end. */
static TsValue
sequence (TsProgram *program, const TsCall *call)
{
  static const gint64 turned[3] = { 1, 0, 2 };
  Stack s;
  LowerValue *ends[2][MAX_LAYERS] = { { NULL } }, *x = ts_read (program, call->args[0]);
  const RecurrentKind *kind = kind_of (call);
  const guint n_states = kind == &lstm ? 2 : 1;
  if (x == NULL || !read_stack (program, call, &s))
    return ts_none ();
  if (x->rank != 3)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "an input of %u dimensions; expected time, batch and inputs", x->rank);
  if (s.batch_first)
    x = ts_permuted (program, x, turned, 3);
  for (guint i = 0; i < s.layers; i++) {
    LowerValue *states[2] = { NULL }, *outputs[3] = { NULL };
    for (guint k = 0; k < n_states; k++)
      states[k] =
        ts_slice_of (program, s.states[k], 0, i * s.directions, (i + 1) * s.directions, 1);
    if (s.projected) {
      LowerValue *last[2] = { NULL };
      x = run_projected (program, ts_new (program, x, TS_FLOAT32),
                         s.params->items + i * s.directions * (s.biases ? 5 : 3), s.directions,
                         s.biases, states, last);
      for (guint k = 0; k < 2; k++)
        ends[k][i] = last[k];
      continue;
    }
    if (ts_failed (program)
        || !run_layer (program, kind, x, s.params->items + i * s.directions * (s.biases ? 4 : 2),
                       s.directions, s.biases, states, outputs))
      return ts_none ();
    x = side_by_side (program, outputs[0]);
    for (guint k = 0; k < n_states; k++)
      ends[k][i] = outputs[1 + k];
  }
  if (s.batch_first)
    x = ts_permuted (program, x, turned, 3);
  TsValue results[3] = { ts_new (program, x, TS_FLOAT32) };
  for (guint k = 0; k < n_states; k++)
    results[1 + k] = ts_new (program, joined (program, ends[k], s.layers, 0), TS_FLOAT32);
  return ts_tuple (program->heap, results, 1 + n_states);
}

/* The state behind one step. */
static TsValue
cell (TsProgram *program, const TsCall *call)
{
  const RecurrentKind *kind = kind_of (call);
  const TsValue *a = call->args;
  const guint n_states = kind == &lstm ? 2 : 1;
  LowerValue *x = ts_read (program, a[0]), *states[2] = { NULL }, *outputs[3] = { NULL };
  if (kind == &lstm && (a[1].kind != TS_LIST || a[1].list->n != 2))
    return ts_refuse (program, SL_ERROR_FORMAT, "expected two states");
  for (guint i = 0; i < n_states; i++) {
    LowerValue *state = ts_read (program, kind == &lstm ? a[1].list->items[i] : a[1]);
    if (x == NULL || state == NULL || x->rank != 2 || state->rank != 2)
      return ts_refuse (program, SL_ERROR_SHAPE, "expected an input and states of two dimensions");
    states[i] =
      ts_reshaped (program, state, (const gint64[]){ 1, state->dims[0], state->dims[1] }, 3);
  }
  x = ts_reshaped (program, x, (const gint64[]){ 1, x->dims[0], x->dims[1] }, 3);
  if (!run_layer (program, kind, x, a + 2, 1, a[4].kind != TS_NONE, states, outputs))
    return ts_none ();
  TsValue results[2];
  for (guint i = 0; i < n_states; i++) {
    const gint64 dims[2] = { outputs[1 + i]->dims[1], outputs[1 + i]->dims[2] };
    results[i] = ts_new (program, ts_reshaped (program, outputs[1 + i], dims, 2), TS_FLOAT32);
  }
  return n_states == 1 ? results[0] : ts_tuple (program->heap, results, 2);
}

#define STEPS                                                                                     \
  "n = torch.size(x, 0)\n"                                                                        \
  "g = torch.linear(x, w_ih, b_ih)\n"                                                             \
  "l = annotate(List[Tensor], [])\n"                                                              \
  "for i in range(n):\n"                                                                          \
  "  t = i\n"                                                                                     \
  "  if backwards:\n"                                                                             \
  "    t = torch.sub(torch.sub(n, 1), i)\n"                                                       \
  "  a = torch.add(torch.select(g, 0, t), torch.linear(h, w_hh, b_hh))\n"                         \
  "  p, f, z, o, = torch.chunk(a, 4, 1)\n"                                                        \
  "  c = torch.add(torch.mul(torch.sigmoid(f), c), torch.mul(torch.sigmoid(p), torch.tanh(z)))\n" \
  "  h = torch.linear(torch.mul(torch.sigmoid(o), torch.tanh(c)), w_hr)\n"                        \
  "  _0 = torch.append(l, torch.unsqueeze(h, 0))\n"                                               \
  "if backwards:\n"                                                                               \
  "  _1 = torch.reverse(l)\n"                                                                     \
  "return (torch.cat(l, 0), torch.unsqueeze(h, 0), torch.unsqueeze(c, 0))"

#define SEQUENCE \
  "input,hx,params,has_biases,num_layers,dropout,train,bidirectional,batch_first=False"
#define CELL "input,hx,w_ih,w_hh,b_ih=None,b_hh=None"

const TsOp ts_ops_recurrent[] = {
  { PROJECTED, "x,h,c,w_ih,w_hh,w_hr,b_ih,b_hh,backwards", ts_composite, STEPS },
  { "aten::lstm", SEQUENCE, sequence },
  { "aten::gru", SEQUENCE, sequence },
  { "aten::rnn_tanh", SEQUENCE, sequence },
  { "aten::rnn_relu", SEQUENCE, sequence },
  { "aten::lstm_cell", CELL, cell },
  { "aten::gru_cell", CELL, cell },
  { "aten::rnn_tanh_cell", CELL, cell },
  { "aten::rnn_relu_cell", CELL, cell },
  { NULL },
};
