/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LSTM, GRU and RNN. What the inputs add to the gates is one product for all steps; the core's
 * operator adds the state's part step by step, each direction for itself. Layout 0 is
 * [time,batch,...], layout 1 [batch,time,...].
 */
#include <string.h>

#include "models/lower/ops.h"

/* Inputs. */
enum
{
  INPUT,
  WEIGHTS,
  RECURRENT,
  BIASES,
  LENGTHS,
  HIDDEN,
  CELL,
  PEEPHOLES
};

/** @cells: the hidden size; @input: [time,batch,inputs]; @states: of hidden and cell,
 * [directions,batch,cells], or -1; @peepholes: of LSTM, [directions,3 cells], or -1 */
typedef struct
{
  SlCell cell;
  gint32 input, weights, recurrent, biases, peepholes, states[2];
  gint32 gates, cells;
  guint directions;
  gboolean batch_first;
} Layer;

static gboolean
has_text (LowerText text, const char *word)
{
  return text.size == strlen (word) && memcmp (text.data, word, text.size) == 0;
}

/* Functions other than the usual ones are refused, but for RNN's Relu. */
static void
check_activations (Lower *o, Layer *l)
{
  static const char *const usual[][3] = {
    [SL_CELL_LSTM] = { "Sigmoid", "Tanh", "Tanh" }, [SL_CELL_GRU] = { "Sigmoid", "Tanh" }
  };
  const LowerAttribute *attribute = lower_attribute (o, "activations");
  const guint n = attribute != NULL ? attribute->n_texts : 0, each = l->cell == SL_CELL_LSTM  ? 3
                                                                     : l->cell == SL_CELL_GRU ? 2
                                                                                              : 1;
  if (l->cell == SL_CELL_TANH && n > 0 && has_text (attribute->texts[0], "Relu"))
    l->cell = SL_CELL_RELU;
  gboolean fits = n == 0 || n == each * l->directions;
  for (guint i = 0; i < n && fits; i++)
    fits = has_text (attribute->texts[i], each > 1                  ? usual[l->cell][i % each]
                                          : l->cell == SL_CELL_RELU ? "Relu"
                                                                    : "Tanh");
  if (!fits)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "attribute activations has other functions than sigmoid and tanh, or relu of RNN");
}

/* Refuses the attributes that change what a cell computes. */
static void
check_cells (Lower *o)
{
  static const char *const refused[] = { "activation_alpha", "activation_beta", "clip" };
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    if (lower_attribute (o, refused[i]) != NULL)
      lower_fail (
        o, SL_ERROR_UNSUPPORTED,
        "attribute %s is not supported; expected none, for sigmoid and tanh without limits",
        refused[i]);
  if (lower_attr_int (o, "input_forget", 0) != 0)
    lower_fail (o, SL_ERROR_UNSUPPORTED, "attribute input_forget is 1; expected 0");
}

/* Refuses sequences that are not all as long as the input's @steps. */
static void
check_lengths (Lower *o, gint32 steps)
{
  gsize n = 0;
  LowerValue *value = lower_input (o, LENGTHS);
  const gint32 *data = lower_data (o, value, &n);
  if (o->error != NULL || value == NULL || value->empty)
    return;
  gboolean whole = data != NULL && lower_dtype (o, value) == SL_DTYPE_I32;
  for (gsize i = 0; i < n && whole; i++)
    whole = data[i] == steps;
  if (!whole)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "its sequence lengths, input %u, differ from the input's %d steps", LENGTHS, steps);
}

gint32
lower_optional (Lower *o, guint i)
{
  return lower_has_input (o, i) ? lower_plain (o, lower_input (o, i)) : -1;
}

/* Time first, whatever the layout. */
static gint32
turned (Lower *o, const Layer *l, gint32 x)
{
  return x >= 0 && l->batch_first ? lower_transpose (o, x, (const gint32[]){ 1, 0, 2 }) : x;
}

static gboolean
has_shape (Lower *o, gint32 tensor, guint rank, gint32 a, gint32 b, gint32 c)
{
  const SlTensor *t = lower_t (o, tensor);
  return t->dtype == SL_DTYPE_F32 && t->rank == rank && t->dims[0] == a && t->dims[1] == b
         && (rank < 3 || t->dims[2] == c);
}

static gboolean
check_shapes (Lower *o, Layer *l)
{
  const SlTensor x = *lower_t (o, l->input), w = *lower_t (o, l->weights),
                 r = *lower_t (o, l->recurrent);
  const gint32 n = (gint32) l->directions;
  l->cells = r.rank == 3 ? r.dims[2] : 0;
  const gint32 width = l->gates * l->cells;
  if (x.rank != 3 || x.dtype != SL_DTYPE_F32 || !has_shape (o, l->weights, 3, n, width, x.dims[2])
      || !has_shape (o, l->recurrent, 3, n, width, l->cells))
    return lower_refuse (
      o, SL_ERROR_SHAPE,
      "its input has %u dimensions, its weights %u and %u; expected [time,batch,inputs], [%d,%d "
      "hidden,inputs] and [%d,%d hidden,hidden]",
      x.rank, w.rank, r.rank, n, l->gates, n, l->gates);
  if ((l->biases >= 0 && !has_shape (o, l->biases, 2, n, 2 * width, 0))
      || (l->peepholes >= 0 && !has_shape (o, l->peepholes, 2, n, 3 * l->cells, 0)))
    lower_fail (o, SL_ERROR_SHAPE, "its biases or peepholes do not fit %d cells", l->cells);
  for (guint i = 0; i < 2; i++)
    if (l->states[i] >= 0 && !has_shape (o, l->states[i], 3, n, x.dims[1], l->cells))
      lower_fail (
        o, SL_ERROR_SHAPE,
        "its initial state, input %u, does not fit %d directions of %d pictures and %d cells",
        HIDDEN + i, n, x.dims[1], l->cells);
  check_lengths (o, x.dims[0]);
  return o->error == NULL;
}

static gboolean
read_layer (Lower *o, Layer *l)
{
  const char *op = o->node->op;
  l->cell = strcmp (op, "LSTM") == 0  ? SL_CELL_LSTM
            : strcmp (op, "GRU") == 0 ? SL_CELL_GRU
                                      : SL_CELL_TANH;
  l->gates = l->cell == SL_CELL_LSTM ? 4 : l->cell == SL_CELL_GRU ? 3 : 1;
  l->batch_first = lower_attr_int (o, "layout", 0) != 0;
  check_activations (o, l);
  check_cells (o);
  if (l->cell == SL_CELL_GRU && lower_attr_int (o, "linear_before_reset", 0) == 0)
    l->cell = SL_CELL_GRU_RESET_FIRST;
  l->input = lower_plain (o, lower_required (o, INPUT));
  l->weights = lower_plain (o, lower_required (o, WEIGHTS));
  l->recurrent = lower_plain (o, lower_required (o, RECURRENT));
  l->biases = lower_optional (o, BIASES);
  l->peepholes = l->cell == SL_CELL_LSTM ? lower_optional (o, PEEPHOLES) : -1;
  if (o->error != NULL)
    return FALSE;
  if (lower_t (o, l->input)->rank == 3)
    l->input = turned (o, l, l->input);
  for (guint i = 0; i < 2; i++) {
    l->states[i] = i == 0 || l->cell == SL_CELL_LSTM ? lower_optional (o, HIDDEN + i) : -1;
    if (o->error == NULL && l->states[i] >= 0 && lower_t (o, l->states[i])->rank == 3)
      l->states[i] = turned (o, l, l->states[i]);
  }
  return o->error == NULL && check_shapes (o, l);
}

/* Direction @d of a tensor, without that dimension. */
static gint32
direction_of (Lower *o, gint32 tensor, guint d)
{
  if (tensor < 0)
    return -1;
  const SlTensor t = *lower_t (o, tensor);
  return lower_reshape (o, lower_cut (o, tensor, 0, (gint32) d, (gint32) d + 1), t.dims + 1,
                        MAX (t.rank, 1) - 1);
}

/* [time,batch,cells], and the last hidden state and cell, [batch,cells]. */
static gboolean
run_direction (Lower *o, const Layer *l, guint d, gboolean back, gint32 results[3])
{
  static const SlDtype types[3] = { SL_DTYPE_F32, SL_DTYPE_F32, SL_DTYPE_F32 };
  const SlOpParams params = { .recurrent = { .cell = l->cell, .back = back } },
                   linear = { .fully_connected = { .keep_dims = TRUE } };
  const gint32 width = l->gates * l->cells, biases = direction_of (o, l->biases, d),
               weights = direction_of (o, l->weights, d);
  gint32 x;
  if (o->error == NULL && lower_t (o, weights)->data != NULL) {
    const gint32 bias = biases >= 0 ? lower_cut (o, biases, 0, 0, width) : -1;
    x = lower_emit (o, SL_OP_FULLY_CONNECTED, (const gint32[]){ l->input, weights, bias },
                    bias >= 0 ? 3 : 2, &linear, SL_DTYPE_F32);
  } else {
    const SlOpParams product = { .matmul = { .transpose_b = TRUE } };
    x = lower_emit (o, SL_OP_BATCH_MATMUL, (const gint32[]){ l->input, weights }, 2, &product,
                    SL_DTYPE_F32);
    x = biases >= 0 ? lower_binary (o, SL_OP_ADD, x, lower_cut (o, biases, 0, 0, width)) : x;
  }
  const gint32 inputs[6] = { x,
                             lower_transpose (o, direction_of (o, l->recurrent, d),
                                              (const gint32[]){ 1, 0 }),
                             biases >= 0 ? lower_cut (o, biases, 0, width, 2 * width) : -1,
                             direction_of (o, l->states[0], d),
                             direction_of (o, l->states[1], d),
                             direction_of (o, l->peepholes, d) };
  return o->error == NULL
         && lower_emit_all (o, SL_OP_RECURRENT, inputs, l->peepholes >= 0 ? 6 : 5, &params, types,
                            results, 3);
}

/* Parts of all directions, along a new dimension @axis of tensors of @rank dimensions. */
static gint32
side_by_side (Lower *o, const gint32 *parts, guint n, guint axis)
{
  gint32 apart[2];
  const SlTensor t = *lower_t (o, parts[0]);
  gint32 dims[SL_MAX_RANK];
  for (guint i = 0; i <= t.rank; i++)
    dims[i] = i == axis ? 1 : t.dims[i > axis ? i - 1 : i];
  for (guint i = 0; i < n; i++)
    apart[i] = lower_reshape (o, parts[i], dims, t.rank + 1);
  const SlOpParams params = { .concat = { .axis = (gint32) axis } };
  return n == 1 ? apart[0] : lower_emit (o, SL_OP_CONCATENATION, apart, n, &params, SL_DTYPE_F32);
}

/* Y is [time,directions,batch,cells] or [batch,time,directions,cells], a state at the end
 * [directions,batch,cells] or with batch first. */
static void
lower_recurrent (Lower *o)
{
  static const char *const words[] = { "forward", "reverse", "bidirectional", NULL };
  const guint direction = lower_attr_choice (o, "direction", words);
  Layer l = { .directions = direction == 2 ? 2 : 1 };
  gint32 parts[3][2], results[3];
  if (o->error != NULL || !read_layer (o, &l))
    return;
  for (guint d = 0; d < l.directions; d++) {
    if (!run_direction (o, &l, d, direction == 1 || d == 1, results))
      return;
    for (guint i = 0; i < 3; i++)
      parts[i][d] = results[i];
  }
  for (guint i = 0; i < (l.cell == SL_CELL_LSTM ? 3 : 2); i++) {
    if (!lower_has_output (o, i))
      continue;
    gint32 y = side_by_side (o, parts[i], l.directions, i == 0 ? 1 : 0);
    if (l.batch_first)
      y = lower_transpose (o, y,
                           i == 0 ? (const gint32[]){ 2, 0, 1, 3 } : (const gint32[]){ 1, 0, 2 });
    lower_set (o, i, y, FALSE);
  }
}

const LowerOp lower_ops_recurrent[] = {
  { LOWER_ROW (GRU, lower_recurrent), SL_OP_RECURRENT },
  { LOWER_ROW (LSTM, lower_recurrent), SL_OP_RECURRENT },
  { LOWER_ROW (RNN, lower_recurrent), SL_OP_RECURRENT },
  { NULL },
};
