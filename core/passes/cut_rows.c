/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A causal text model with a fixed length, cut to its first tokens. A tensor of such a model has a
 * row for each token. Every operator is proven to compute a row from that row and those before it;
 * attention does where it has a causal mask. The model then takes one row by the place of the
 * largest number among its tokens. That place is the same with fewer tokens if the last of them and
 * all behind it are padding.
 *
 * Rows are the outermost dimension, so a cut tensor is the beginning of the whole one.
 */
#include <string.h>

#include "core/graph/attention.h"
#include "core/graph/constants.h"
#include "core/ops/ops.h"
#include "core/passes/passes.h"
#include "core/passes/prepare.h"

typedef enum
{
  FIXED,  /* the same for all tokens */
  TOKENS, /* a row of the token at that place alone */
  ROWS,   /* a row of the tokens up to that place */
  PLACE,  /* which row the model takes */
  TAKEN   /* made of that row */
} Kind;

typedef struct
{
  SlGraph *graph;
  gint32 whole; /* rows */
  guint8 *kinds;
  GArray *constants; /* of Cut: inputs of nodes that are cut, too */
} State;

typedef struct
{
  guint node, input;
} Cut;

typedef gboolean (*Rule) (State *state, const SlNode *node, guint8 *kind);

/* Which dimension of @tensor the rows are: the first that is not 1; -1 = none. */
static gint
row_axis (const State *state, const SlTensor *tensor)
{
  guint i = 0;
  while (i < tensor->rank && tensor->dims[i] == 1)
    i++;
  return i < tensor->rank && tensor->dims[i] == state->whole ? (gint) i : -1;
}

static Kind
kind_of (const State *state, const SlNode *node, guint i)
{
  return i < node->n_inputs && node->inputs[i] >= 0 ? (Kind) state->kinds[node->inputs[i]] : FIXED;
}

static gboolean
is_constant (const State *state, const SlNode *node, guint i)
{
  const SlTensor *tensor = sl_node_input (state->graph, node, i);
  return tensor == NULL || tensor->data != NULL;
}

static gboolean
has_rows (Kind kind)
{
  return kind == TOKENS || kind == ROWS;
}

/* Rows of the first input, and constants beside it. */
static gboolean
by_row (State *state, const SlNode *node, guint8 *kind)
{
  const SlTensor *in = sl_node_input (state->graph, node, 0),
                 *out = sl_node_output (state->graph, node, 0);
  const gint axis = row_axis (state, in);
  for (guint i = 1; i < node->n_inputs; i++)
    if (!is_constant (state, node, i))
      return FALSE;
  *kind = (guint8) kind_of (state, node, 0);
  return has_rows ((Kind) *kind) && axis >= 0 && row_axis (state, out) >= 0;
}

/* As by_row() where operators work along the last dimension. */
static gboolean
along_last (State *state, const SlNode *node, guint8 *kind)
{
  const SlTensor *in = sl_node_input (state->graph, node, 0),
                 *out = sl_node_output (state->graph, node, 0);
  return by_row (state, node, kind) && row_axis (state, in) + 1 < (gint) in->rank
         && row_axis (state, out) + 1 < (gint) out->rank;
}

/* Whether a constant that is broadcast to @out has a row for each of its rows; *@fits: whether it
 * has that or one row for all. */
static gboolean
constant_has_rows (const State *state, const SlTensor *constant, const SlTensor *out,
                   gboolean *fits)
{
  const guint from_end = out->rank - (guint) row_axis (state, out);
  const gint32 dim = constant->rank < from_end ? 1 : constant->dims[constant->rank - from_end];
  *fits = dim == 1 || (dim == state->whole && row_axis (state, constant) >= 0);
  return dim != 1;
}

/* Operands of the same rows, or constants. */
static gboolean
by_element (State *state, const SlNode *node, guint8 *kind)
{
  const SlTensor *out = sl_node_output (state->graph, node, 0);
  *kind = TOKENS;
  if (row_axis (state, out) < 0)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (state->graph, node, i);
    gboolean fits = FALSE;
    if (input == NULL)
      return FALSE;
    const gboolean rows = constant_has_rows (state, input, out, &fits);
    if (!fits || (input->data == NULL && (!rows || !has_rows (kind_of (state, node, i)))))
      return FALSE;
    if (input->data != NULL && rows) {
      const Cut cut = { (guint) (node - (const SlNode *) (gpointer) state->graph->nodes->data), i };
      g_array_append_val (state->constants, cut);
    }
    if (input->data != NULL ? rows : kind_of (state, node, i) == ROWS)
      *kind = ROWS;
  }
  return TRUE;
}

/* Whether all of a constant is 0. */
static gboolean
is_zero (const SlTensor *tensor)
{
  const guint8 *bytes = tensor->data;
  for (gsize i = 0; i < tensor->bytes; i++)
    if (bytes[i] != 0)
      return FALSE;
  return TRUE;
}

/* A row of a table for each token, or the row at the place. */
static gboolean
gather (State *state, const SlNode *node, guint8 *kind)
{
  const SlTensor *table = sl_node_input (state->graph, node, 0),
                 *out = sl_node_output (state->graph, node, 0);
  const Kind of = kind_of (state, node, 0), at = kind_of (state, node, 1);
  if (node->params.axis.batch_dims != 0)
    return FALSE;
  if (table->data != NULL && has_rows (at)) {
    *kind = (guint8) at;
    return node->params.axis.axis == 0 && row_axis (state, out) >= 0;
  }
  *kind = TAKEN;
  return has_rows (of) && at == PLACE && node->params.axis.axis == row_axis (state, table)
         && sl_tensor_count (sl_node_input (state->graph, node, 1)) == 1;
}

static gboolean
arg_max (State *state, const SlNode *node, guint8 *kind)
{
  const SlTensor *in = sl_node_input (state->graph, node, 0);
  *kind = PLACE;
  return kind_of (state, node, 0) == TOKENS && sl_tensor_count (in) == (gsize) state->whole
         && sl_tensor_count (sl_node_output (state->graph, node, 0)) == 1;
}

/* Whether row i of @view, [matrices,rows,columns], is in row i of @tensor. */
static gboolean
is_view_of_rows (const State *state, const SlStrided *view, const SlTensor *tensor)
{
  const gint64 row = (gint64) sl_tensor_count (tensor) / state->whole;
  const guint at = view->ends[0];
  gint64 reach = view->offset;
  if (view->rank != 3 || view->dims[1] != state->whole || view->ends[1] != at + 1
      || row_axis (state, tensor) < 0 || view->factors[at].step != row || view->offset < 0)
    return FALSE;
  for (guint i = 0; i < view->ends[2]; i++) {
    if (view->factors[i].step < 0)
      return FALSE;
    reach += i != at ? (view->factors[i].size - 1) * view->factors[i].step : 0;
  }
  return reach < row;
}

static gboolean
attention (State *state, const SlNode *node, guint8 *kind)
{
  const SlAttention *a = node->params.attention;
  const SlStrided *const views[] = { &a->q, &a->k, &a->v };
  *kind = ROWS;
  if (a->n_masks > 0 || a->period != state->whole || a->past != 0
      || !is_view_of_rows (state, &a->y, sl_node_output (state->graph, node, 0)))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    if (!has_rows (kind_of (state, node, i))
        || !is_view_of_rows (state, views[i], sl_node_input (state->graph, node, i)))
      return FALSE;
  return TRUE;
}

static const struct
{
  SlOpType op;
  Rule rule;
} rules[] = {
  { SL_OP_ADD, by_element },       { SL_OP_SUB, by_element },
  { SL_OP_MUL, by_element },       { SL_OP_DIV, by_element },
  { SL_OP_EQUAL, by_element },     { SL_OP_NOT_EQUAL, by_element },
  { SL_OP_MAXIMUM, by_element },   { SL_OP_MINIMUM, by_element },
  { SL_OP_CAST, by_row },          { SL_OP_LOGISTIC, by_row },
  { SL_OP_RELU, by_row },          { SL_OP_GELU, by_row },
  { SL_OP_TANH, by_row },          { SL_OP_ERF, by_row },
  { SL_OP_SILU, by_row },          { SL_OP_SQUARE, by_row },
  { SL_OP_RESHAPE, by_row },       { SL_OP_SQUEEZE, by_row },
  { SL_OP_EXPAND_DIMS, by_row },   { SL_OP_FULLY_CONNECTED, along_last },
  { SL_OP_NORMALIZE, along_last }, { SL_OP_ATTENTION, attention },
  { SL_OP_GATHER, gather },        { SL_OP_ARG_MAX, arg_max },
};

/* What is made of the place is the place where nothing is added to it. */
static gboolean
keeps_place (const State *state, const SlNode *node)
{
  gboolean keeps = node->op == SL_OP_CAST || node->op == SL_OP_RESHAPE || node->op == SL_OP_SQUEEZE
                   || node->op == SL_OP_EXPAND_DIMS || node->op == SL_OP_ADD;
  for (guint i = 0; i < node->n_inputs && node->op == SL_OP_ADD; i++)
    if (kind_of (state, node, i) != PLACE)
      keeps =
        keeps && is_constant (state, node, i) && is_zero (sl_node_input (state->graph, node, i));
  return keeps;
}

/* The kind of what @node makes; FALSE where nothing is known of it. */
static gboolean
find_kind (State *state, const SlNode *node, guint8 *kind)
{
  gboolean rows = FALSE, place = FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    rows |= has_rows (kind_of (state, node, i));
    place |= kind_of (state, node, i) == PLACE;
  }
  *kind = place ? PLACE : TAKEN;
  if (!rows)
    return !place || keeps_place (state, node);
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (rules[i].op == node->op)
      return node->n_outputs == 1 && rules[i].rule (state, node, kind);
  return FALSE;
}

/* The kind of every tensor; FALSE where the model is no such one. */
static gboolean
prove (State *state)
{
  SlGraph *graph = state->graph;
  gboolean taken = FALSE;
  for (guint i = 0; i < graph->n_inputs; i++) {
    const SlTensor *input = sl_graph_input_tensor (graph, i);
    if (input->rank != 2 || input->dims[0] != 1 || input->dims[1] != state->whole)
      return FALSE;
    state->kinds[graph->inputs[i]] = TOKENS;
  }
  for (guint i = 0; i < graph->nodes->len; i++) {
    const SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    guint8 kind = FIXED;
    if (!find_kind (state, node, &kind))
      return FALSE;
    for (guint k = 0; k < node->n_outputs; k++)
      state->kinds[node->outputs[k]] = kind;
    taken |= kind == TAKEN;
  }
  return taken;
}

static void
cut_view (SlStrided *view, gint32 rows)
{
  view->dims[1] = rows;
  view->factors[view->ends[0]].size = rows;
}

static void
cut_attention (const State *state, SlNode *node, gint32 rows)
{
  SlAttention *a =
    sl_arena_memdup (state->graph->arena, node->params.attention, sizeof *node->params.attention);
  a->dims[row_axis (state, sl_node_output (state->graph, node, 0))] = rows;
  a->period = rows;
  cut_view (&a->q, rows);
  cut_view (&a->k, rows);
  cut_view (&a->v, rows);
  cut_view (&a->y, rows);
  node->params.attention = a;
}

/* RESHAPE, whose output has its new dimensions, states these. */
static void
cut_shape (const SlGraph *graph, SlNode *node)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  node->n_inputs = 1;
  node->params.reshape.count = output->rank;
  memcpy (node->params.reshape.dims, output->dims, output->rank * sizeof output->dims[0]);
}

/* The constant that is input @cut has the first @rows of it. */
static gboolean
cut_constant (const State *state, const Cut *cut, gint32 rows, GError **error)
{
  SlGraph *graph = state->graph;
  SlNode *node = &g_array_index (graph->nodes, SlNode, cut->node);
  SlTensor tensor = *sl_node_input (graph, node, cut->input);
  tensor.dims[row_axis (state, &tensor)] = rows;
  tensor.bytes = tensor.bytes / (gsize) state->whole * (gsize) rows;
  guint8 *data = sl_arena_alloc (graph->arena, tensor.bytes + SL_TENSOR_PADDING);
  tensor.data = memcpy (data, tensor.data, tensor.bytes);
  gint32 *inputs =
    sl_arena_memdup (graph->arena, node->inputs, node->n_inputs * sizeof node->inputs[0]);
  inputs[cut->input] = sl_graph_add_tensor (graph, &tensor, error);
  node->inputs = inputs;
  return inputs[cut->input] >= 0;
}

static gboolean
apply (State *state, gint32 rows, GError **error)
{
  SlGraph *graph = state->graph;
  const guint n = graph->tensors->len;
  graph->prepared = FALSE;
  for (guint i = 0; i < graph->nodes->len; i++) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (node->op == SL_OP_ATTENTION && state->kinds[node->outputs[0]] == ROWS)
      cut_attention (state, node, rows);
  }
  for (guint i = 0; i < state->constants->len; i++)
    if (!cut_constant (state, &g_array_index (state->constants, Cut, i), rows, error))
      return FALSE;
  for (guint i = 0; i < n; i++) {
    SlTensor *tensor = &g_array_index (graph->tensors, SlTensor, i);
    if (!has_rows ((Kind) state->kinds[i]))
      continue;
    tensor->dims[row_axis (state, tensor)] = rows;
    tensor->bytes = tensor->bytes / (gsize) state->whole * (gsize) rows;
  }
  for (guint i = 0; i < graph->nodes->len; i++) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (node->op == SL_OP_RESHAPE && has_rows ((Kind) state->kinds[node->outputs[0]]))
      cut_shape (graph, node);
  }
  return sl_graph_prepare (graph, error); /* proves all shapes again */
}

gboolean
sl_graph_cut_rows (SlGraph *graph, guint rows, GError **error)
{
  g_return_val_if_fail (graph->prepared && graph->n_inputs > 0, FALSE);
  const SlTensor *input = sl_graph_input_tensor (graph, 0);
  if (input->rank != 2 || rows < 2 || graph->n_held > 0 || input->dims[1] <= (gint32) rows)
    return TRUE;
  /* Operators check floats: a graph with tensors in binary16 cannot be proven again. */
  if (graph->precision == SL_PRECISION_FP16)
    return TRUE;
  g_autofree guint8 *kinds = g_new0 (guint8, graph->tensors->len);
  g_autoptr (GArray) constants = g_array_new (FALSE, FALSE, sizeof (Cut));
  State state = { graph, input->dims[1], kinds, constants };
  for (guint i = 0; i < graph->nodes->len; i++)
    if (!sl_graph_need_values (graph, &g_array_index (graph->nodes, SlNode, i), error))
      return FALSE;
  return !prove (&state) || apply (&state, (gint32) rows, error);
}
