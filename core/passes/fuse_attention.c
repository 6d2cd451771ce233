/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attention written out becomes ATTENTION: a matrix product of a softmax of a matrix product. Its
 * scores may be scaled, masked by sums and choices, and have their dimensions divided differently.
 * Nodes that only move queries, keys, values or the result become part of how ATTENTION reads and
 * writes its tensors. Where keys and values are quantised for the products, ATTENTION does that.
 */
#include <math.h>

#include "core/graph/attention.h"
#include "core/ops/ops.h"
#include "core/passes/moved_view.h"

/* Nodes between the two products. */
#define MAX_DEPTH 12
/* Nodes behind the second product among which those that read its result are. */
#define SEARCHED 64
/* Columns of more would need much memory for each thread. */
#define MAX_COLUMNS 512
/* Scores this far below others have no share in a softmax of floats, where exp (-104) is 0. Text
 * models mask with -10000, which a scale behind the mask divides by the root of a head's width. */
#define NEVER -1000.0

typedef struct
{
  SlGraph *graph;
  const SlPassIndex *index;
  SlAttention *attention;
  gint32 inputs[3 + SL_MAX_ATTENTION_MASKS];
  gint32 dims[3]; /* of the scores: matrices, queries, keys */
  gdouble outer;  /* what scores are multiplied by between here and the softmax */
} Match;

static SlNode *
only_for_one (const Match *m, gint32 tensor)
{
  return m->index->consumers[tensor] == 1 ? sl_pass_producer (m->index, m->graph, tensor) : NULL;
}

static gint32
dim_from_end (const SlTensor *tensor, guint i)
{
  return tensor->rank >= i ? tensor->dims[tensor->rank - i] : 1;
}

/* Floats that were quantised to @tensor: their tensor, and the scale; @tensor itself and 0 where it
 * is of floats. -1 where its numbers are shifted, or no node of this graph quantised it. */
static gint32
before_quantize (const Match *m, gint32 tensor, gdouble *scale)
{
  const SlTensor *t = sl_graph_tensor (m->graph, tensor);
  const SlNode *node = sl_pass_producer (m->index, m->graph, tensor);
  *scale = 0;
  if (t->dtype == SL_DTYPE_F32)
    return tensor;
  if (t->dtype != SL_DTYPE_I8 || node == NULL || node->op != SL_OP_QUANTIZE
      || sl_tensor_is_shifted (t))
    return -1;
  *scale = (gdouble) sl_tensor_scale (t);
  return node->inputs[0];
}

/* Queries, keys or values: @tensor, broadcast to the dimensions of @like but for the last two, as
 * matrices of @rows rows; by the memory of the earliest tensor that allows it. @turned: the last
 * two dimensions are exchanged */
static gboolean
find_operand (Match *m, guint which, gint32 tensor, const SlTensor *like, gboolean turned,
              gint32 rows, SlStrided *view, gdouble *factor)
{
  const SlTensor *t = sl_graph_tensor (m->graph, tensor);
  const gint32 columns = dim_from_end (t, turned ? 2 : 1);
  gint32 dims[SL_MAX_RANK], order[SL_MAX_RANK];
  if (t->rank < 2 || like->rank < t->rank || columns > MAX_COLUMNS
      || dim_from_end (t, turned ? 1 : 2) != rows || t->dtype != SL_DTYPE_F32)
    return FALSE;
  memcpy (dims, like->dims, sizeof dims);
  dims[like->rank - 2] = rows;
  dims[like->rank - 1] = columns;
  for (guint i = 0; i < t->rank; i++)
    order[i] = (gint32) (turned && i + 2 >= t->rank ? 2 * t->rank - 3 - i : i);
  for (guint back = SL_MAX_MOVES + 1; back-- > 0;) {
    SlMoved moved;
    gint64 step = 0;
    if (!sl_moved_view (m->graph, m->index, tensor, back, which < 2, &moved)
        || !sl_strided_transpose (&moved.view, t->rank, order)
        || !sl_strided_broadcast (&moved.view, like->rank, dims)
        || !sl_strided_reshape (&moved.view, 3, (const gint32[]){ m->dims[0], rows, columns })
        || !sl_strided_step (&moved.view, 2, &step) || (step != 1 && which != 1))
      continue;
    *view = moved.view;
    m->inputs[which] = moved.tensor;
    if (factor != NULL)
      *factor = moved.factor;
    return TRUE;
  }
  return FALSE;
}

/* Whether query @i of a constant mask [queries,keys] has key @k: 1, 0, or -1 = in part. */
static gint
has_key (const SlTensor *mask, const SlAttentionMask *m, gint32 i, gint32 k)
{
  const gsize at = (gsize) i * (gsize) dim_from_end (mask, 1) + (gsize) k;
  if (m->is_truth)
    return (((const guint8 *) mask->data)[at] != 0) == m->keep ? 1
           : (gdouble) m->fill <= NEVER                        ? 0
                                                               : -1;
  const gdouble added = (gdouble) ((const gfloat *) mask->data)[at] * (gdouble) m->factor;
  return added == 0 ? 1 : added <= NEVER ? 0 : -1;
}

/* Whether @tensor is a constant for each of @queries and each key, the same for all matrices, that
 * there is time to look at. */
static gboolean
is_for_queries (const Match *m, const SlTensor *tensor, gint32 queries)
{
  const gint32 keys = m->dims[2];
  if (tensor->data == NULL || dim_from_end (tensor, 1) != keys || queries < 2
      || dim_from_end (tensor, 2) != queries || m->dims[1] % queries != 0)
    return FALSE;
  for (guint i = 3; i <= tensor->rank; i++)
    if (dim_from_end (tensor, i) != 1)
      return FALSE;
  return sl_passes_take_work (m->graph, (guint64) queries * (guint64) keys);
}

/* A constant mask that lets each query have keys up to one that moves on with it. */
static gboolean
is_causal (Match *m, const SlTensor *mask, const SlAttentionMask *made, gint32 queries)
{
  const gint32 keys = m->dims[2];
  gint32 past = -1;
  if (m->attention->period != 0 || !is_for_queries (m, mask, queries))
    return FALSE;
  while (past + 1 < keys && has_key (mask, made, 0, past + 1) == 1)
    past++;
  for (gint32 i = 0; i < queries; i++)
    for (gint32 k = 0; k < keys; k++)
      if (has_key (mask, made, i, k) != (k <= i + past))
        return FALSE;
  if (past < 0)
    return FALSE;
  m->attention->period = queries;
  m->attention->past = past;
  return TRUE;
}

/* Scores of the shape of @like are masked by @tensor. */
static gboolean
add_mask (Match *m, gint32 tensor, const SlTensor *like, SlAttentionMask mask)
{
  SlAttention *a = m->attention;
  const SlTensor *t = sl_graph_tensor (m->graph, tensor);
  SlMoved moved;
  if (t->dtype != (mask.is_truth ? SL_DTYPE_BOOL : SL_DTYPE_F32))
    return FALSE;
  if (is_causal (m, t, &mask, dim_from_end (like, 2)))
    return TRUE;
  if (a->n_masks == SL_MAX_ATTENTION_MASKS
      || !sl_moved_view (m->graph, m->index, tensor, 0, FALSE, &moved)
      || !sl_strided_broadcast (&moved.view, like->rank, like->dims)
      || !sl_strided_reshape (&moved.view, 3, m->dims))
    return FALSE;
  mask.view = moved.view;
  m->inputs[3 + a->n_masks] = tensor;
  a->masks[a->n_masks++] = mask;
  return TRUE;
}

/* Queries times keys. */
static gboolean
find_product (Match *m, const SlNode *node)
{
  SlAttention *a = m->attention;
  const SlTensor *scores = sl_node_output (m->graph, node, 0);
  gdouble of_q = 1, of_k = 1;
  gdouble quantum = 0;
  const gint32 keys = before_quantize (m, node->inputs[1], &quantum);
  if (node->params.matmul.transpose_a || node->params.matmul.flat || keys < 0
      || dim_from_end (scores, 2) != m->dims[1]
      || !find_operand (m, 0, node->inputs[0], scores, FALSE, m->dims[1], &a->q, &of_q)
      || !find_operand (m, 1, keys, scores, !node->params.matmul.transpose_b, m->dims[2], &a->k,
                        &of_k))
    return FALSE;
  /* Keys are quantised before they are multiplied, by a number that keeps their sign. */
  a->k_scale = (gfloat) (quantum / of_k);
  a->scale = (gfloat) (m->outer * of_q * of_k);
  return isfinite (a->scale) && isfinite (a->k_scale) && (quantum > 0) == (a->k_scale > 0)
         && a->q.dims[2] == a->k.dims[2];
}

static gboolean find_scores (Match *m, gint32 tensor, guint depth);

/* Whether a constant is 1 for all keys that a causal mask lets queries have, and makes scores of
 * others no larger. */
static gboolean
keeps_keys (const Match *m, const SlTensor *tensor, gint32 queries)
{
  const SlAttention *a = m->attention;
  const gint32 keys = m->dims[2];
  if (a->period != queries || tensor->dtype != SL_DTYPE_F32 || !is_for_queries (m, tensor, queries))
    return FALSE;
  const gfloat *values = tensor->data;
  for (gint32 i = 0; i < queries; i++, values += keys)
    for (gint32 k = 0; k < keys; k++)
      if (k <= i + a->past ? values[k] != 1 : !(fabsf (values[k]) <= 1))
        return FALSE;
  return TRUE;
}

/* Scores times a constant that hides the keys that the mask behind it hides, too. */
static gboolean
find_kept (Match *m, const SlNode *node, guint depth)
{
  const SlTensor *like = sl_node_output (m->graph, node, 0);
  for (guint i = 0; i < 2; i++)
    if (keeps_keys (m, sl_node_input (m->graph, node, 1 - i), dim_from_end (like, 2))
        && sl_tensor_same_shape (sl_node_input (m->graph, node, i), like))
      return find_scores (m, node->inputs[i], depth + 1);
  return FALSE;
}

/* Scores and a mask, of which either may come first, but not where it is subtracted. */
static gboolean
find_masked (Match *m, const SlNode *node, guint depth)
{
  const SlTensor *like = sl_node_output (m->graph, node, 0);
  const guint first = node->op == SL_OP_SELECT ? 1 : 0, n = node->op == SL_OP_SUB ? 1 : 2;
  for (guint i = first; i < first + n; i++) {
    const gint32 scores = node->inputs[i], other = node->inputs[2 * first + 1 - i];
    const Match before = *m;
    const SlAttention was = *m->attention;
    SlAttentionMask mask = { .factor = (gfloat) (n == 1 ? -m->outer : m->outer) };
    gdouble fill = 0;
    gboolean good = sl_tensor_same_shape (sl_graph_tensor (m->graph, scores), like);
    if (good && node->op == SL_OP_SELECT) {
      good = sl_pass_number (m->graph, node->inputs[3 - i], &fill);
      mask.fill = (gfloat) (fill * m->outer);
      mask.is_truth = TRUE;
      mask.keep = i == 1;
    }
    if (good && add_mask (m, node->op == SL_OP_SELECT ? node->inputs[0] : other, like, mask)
        && find_scores (m, scores, depth + 1))
      return TRUE;
    *m = before;
    *m->attention = was;
  }
  return FALSE;
}

static gboolean
find_scores (Match *m, gint32 tensor, guint depth)
{
  const SlNode *node = only_for_one (m, tensor);
  gdouble factor = 1;
  gint32 of = -1;
  if (node == NULL || depth > MAX_DEPTH
      || dim_from_end (sl_graph_tensor (m->graph, tensor), 1) != m->dims[2])
    return FALSE;
  if (sl_pass_scaled (m->graph, node, &of, &factor)) {
    m->outer *= factor;
    return find_scores (m, of, depth + 1);
  }
  switch (node->op) {
    case SL_OP_RESHAPE:
      return find_scores (m, node->inputs[0], depth + 1);
    case SL_OP_SELECT:
      return find_masked (m, node, depth);
    case SL_OP_ADD:
    case SL_OP_SUB:
      return node->params.binary.activation == SL_ACTIVATION_NONE && find_masked (m, node, depth);
    case SL_OP_MUL:
      return node->params.binary.activation == SL_ACTIVATION_NONE && find_kept (m, node, depth);
    case SL_OP_BATCH_MATMUL:
      return find_product (m, node);
    default:
      return FALSE;
  }
}

/* The softmax behind which @shares, up to their shape, are. */
static gboolean
find_softmax (Match *m, gint32 shares)
{
  const SlNode *node = only_for_one (m, shares);
  for (guint i = 0; i < MAX_DEPTH && node != NULL && node->op == SL_OP_RESHAPE; i++)
    node = only_for_one (m, node->inputs[0]);
  if (node == NULL || node->op != SL_OP_SOFTMAX
      || dim_from_end (sl_node_output (m->graph, node, 0), 1) != m->dims[2])
    return FALSE;
  m->outer = (gdouble) node->params.softmax.beta;
  return find_scores (m, node->inputs[0], 0);
}

/* (nullable): the node that alone reads @tensor, soon behind node @first. */
static SlNode *
only_reader (const Match *m, gint32 tensor, guint first)
{
  const guint end = MIN (first + SEARCHED, m->graph->nodes->len);
  for (guint i = first; m->index->consumers[tensor] == 1 && i < end; i++) {
    SlNode *node = &g_array_index (m->graph->nodes, SlNode, i);
    if (node->op != SL_OP_INVALID && node->n_inputs > 0 && node->inputs[0] == tensor)
      return node;
  }
  return NULL;
}

/* The result is written where the TRANSPOSE behind @node puts it. */
static void
write_transposed (Match *m, SlNode *node)
{
  SlAttention *a = m->attention;
  gint32 order[SL_MAX_RANK], back[SL_MAX_RANK];
  guint n = 0;
  gint64 step = 0;
  SlStrided view;
  const guint at = (guint) (node - (const SlNode *) (gpointer) m->graph->nodes->data);
  SlNode *shape = only_reader (m, node->outputs[0], at), *turn = shape;
  if (shape != NULL && shape->op == SL_OP_RESHAPE)
    turn = only_reader (m, shape->outputs[0], at);
  if (turn == NULL || turn->op != SL_OP_TRANSPOSE
      || !sl_constant_ints (sl_node_input (m->graph, turn, 1), order, SL_MAX_RANK, &n))
    return;
  const SlTensor *output = sl_node_output (m->graph, turn, 0);
  for (guint i = 0; i < n; i++)
    back[order[i] + (order[i] < 0 ? (gint32) n : 0)] = (gint32) i;
  if (!sl_strided_whole (&view, output->rank, output->dims)
      || !sl_strided_transpose (&view, n, back) || !sl_strided_reshape (&view, 3, a->y.dims)
      || !sl_strided_step (&view, 2, &step) || step != 1)
    return;
  a->y = view;
  node->outputs = turn->outputs;
  turn->op = SL_OP_INVALID;
  if (shape != turn)
    shape->op = SL_OP_INVALID;
}

static void
make (Match *m, SlNode *node)
{
  SlAttention *a = m->attention;
  if (a->n_masks == 2) { /* found from the last one to the first */
    const SlAttentionMask first = a->masks[1];
    const gint32 tensor = m->inputs[4];
    a->masks[1] = a->masks[0];
    a->masks[0] = first;
    m->inputs[4] = m->inputs[3];
    m->inputs[3] = tensor;
  }
  write_transposed (m, node);
  const SlTensor *output = sl_node_output (m->graph, node, 0);
  a->rank = output->rank;
  memcpy (a->dims, output->dims, sizeof a->dims);
  node->op = SL_OP_ATTENTION;
  node->n_inputs = 3 + a->n_masks;
  node->inputs = sl_arena_memdup (m->graph->arena, m->inputs, node->n_inputs * sizeof m->inputs[0]);
  node->params = (SlOpParams){ .attention = sl_arena_memdup (m->graph->arena, a, sizeof *a) };
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  SlAttention attention = { 0 };
  Match m = { graph, index, &attention, { -1, -1, -1, -1, -1 }, { 0 }, 1 };
  gsize elements = 0;
  if (graph->apart || sl_op_get (SL_OP_ATTENTION) == NULL || node->op != SL_OP_BATCH_MATMUL
      || node->params.matmul.transpose_a || node->params.matmul.flat)
    return 0;
  const SlTensor *y = sl_node_output (graph, node, 0), *shares = sl_node_input (graph, node, 0);
  const gint32 rows = dim_from_end (y, 2), width = dim_from_end (y, 1);
  m.dims[1] = rows;
  m.dims[2] = dim_from_end (shares, 1);
  if (y->dtype != SL_DTYPE_F32 || !sl_tensor_elements (y, &elements))
    return 0;
  m.dims[0] = (gint32) (elements / (gsize) rows / (gsize) width);
  gdouble quantum = 0;
  const gint32 values = before_quantize (&m, node->inputs[1], &quantum);
  if (!sl_tensor_elements (shares, &elements)
      || elements != (gsize) m.dims[0] * (gsize) rows * (gsize) m.dims[2]
      || !find_softmax (&m, node->inputs[0]) || values < 0
      || !find_operand (&m, 2, values, y, node->params.matmul.transpose_b, m.dims[2], &attention.v,
                        NULL)
      || !sl_strided_whole (&attention.y, 3, (const gint32[]){ m.dims[0], rows, width }))
    return 0;
  attention.v_scale = (gfloat) quantum;
  if ((attention.v_scale > 0) != sl_attention_is_rounded (&attention))
    return 0;
  make (&m, node);
  return 1;
}

const SlPass sl_pass_fuse_attention = { "fuse_attention", .step = step };
