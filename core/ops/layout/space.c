/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks of pixels moved
 * into channels or the batch and back. The batch variants pad with zero before, or crop after.
 */
#include <string.h>

#include "core/ops/kernels/moves.h"
#include "core/ops/ops.h"

#define MAX_BLOCK 1024
/* Most elements of a block: each is one move. */
#define MAX_PLACES 4096

static gboolean
depth_check (SlGraph *graph, SlNode *node, GError **error)
{
  const gint32 size = node->params.block.size;
  if (!sl_node_check_copy (graph, node, 0, 0, error)
      || !sl_node_check_rank4 (graph, node, 0, error))
    return FALSE;
  if (size < 1 || size > MAX_BLOCK)
    return sl_node_error (error, node, SL_ERROR_FORMAT, "the block size is %d; expected 1..%d",
                          size, MAX_BLOCK);
  const SlTensor *input = sl_node_input (graph, node, 0);
  const gboolean divides = node->op == SL_OP_SPACE_TO_DEPTH
                             ? input->dims[1] % size == 0 && input->dims[2] % size == 0
                             : input->dims[3] % (size * size) == 0;
  if (divides)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (input);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "input '%s' is %s, which does not divide into blocks of %d", input->name,
                        text, size);
}

static gboolean
depth_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  const gint32 size = node->params.block.size, *d = input->dims;
  const gint64 grown[3] = { (gint64) d[1] * size, (gint64) d[2] * size,
                            (gint64) d[3] * size * size };
  if (MAX (grown[0], MAX (grown[1], grown[2])) > G_MAXINT32)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "a dimension overflows");
  const gint32 deep[4] = { d[0], d[1] / size, d[2] / size, (gint32) grown[2] };
  const gint32 wide[4] = { d[0], (gint32) grown[0], (gint32) grown[1], d[3] / (size * size) };
  return sl_node_set_shape (graph, node, 0, 4, node->op == SL_OP_SPACE_TO_DEPTH ? deep : wide,
                            error);
}

static void *
depth_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  const gboolean to_depth = node->op == SL_OP_SPACE_TO_DEPTH;
  const SlTensor *wide = to_depth ? input : output, *deep = to_depth ? output : input;
  const gssize size = node->params.block.size, channels = wide->dims[3];
  SlMoves *moves = sl_moves_new (arena, input->dtype, 1);
  SlMove *move = sl_moves_add (moves, 0, 0);
  gssize w[SL_MAX_RANK], d[SL_MAX_RANK];
  sl_tensor_strides (wide, w);
  sl_tensor_strides (deep, d);
  const gssize axes[6][3] = { { wide->dims[0], w[0], d[0] },   { deep->dims[1], w[1] * size, d[1] },
                              { size, w[1], size * channels }, { deep->dims[2], w[2] * size, d[2] },
                              { size, w[2], channels },        { channels, 1, 1 } };
  for (guint i = 0; i < 6; i++)
    sl_move_axis (move, (gsize) axes[i][0], axes[i][to_depth ? 1 : 2], axes[i][to_depth ? 2 : 1]);
  return sl_moves_done (moves);
}

/* Block sizes, and paddings or crops, of the batch variants. */
typedef struct
{
  guint n;
  gint32 block[SL_MAX_RANK], edges[2 * SL_MAX_RANK];
} Blocks;

static gboolean
read_blocks (const SlGraph *graph, const SlNode *node, Blocks *blocks, GError **error)
{
  guint n_edges = 0;
  if (!sl_node_constant (graph, node, 1, "block shape", blocks->block, SL_MAX_RANK, &blocks->n,
                         error)
      || !sl_node_constant (graph, node, 2, "paddings or crops", blocks->edges, 2 * SL_MAX_RANK,
                            &n_edges, error))
    return FALSE;
  const SlTensor *input = sl_node_input (graph, node, 0);
  if (blocks->n < 1 || n_edges != 2 * blocks->n || input->rank < blocks->n + 1)
    return sl_node_error (
      error, node, SL_ERROR_SHAPE,
      "%u block sizes and %u paddings or crops do not fit an input of %u dimensions", blocks->n,
      n_edges, input->rank);
  for (guint i = 0; i < blocks->n; i++)
    if (blocks->block[i] < 1 || blocks->block[i] > MAX_BLOCK)
      return sl_node_error (error, node, SL_ERROR_FORMAT, "block size %u is %d; expected 1..%d", i,
                            blocks->block[i], MAX_BLOCK);
  gint64 places = 1;
  for (guint i = 0; i < blocks->n; i++)
    places = MIN (places * blocks->block[i], MAX_PLACES + 1);
  if (places > MAX_PLACES)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "a block has more than %d elements",
                          MAX_PLACES);
  for (guint i = 0; i < n_edges; i++)
    if (blocks->edges[i] < 0 || blocks->edges[i] > G_MAXINT16)
      return sl_node_error (error, node, SL_ERROR_FORMAT,
                            "padding or crop %u is %d; expected 0..%d", i, blocks->edges[i],
                            G_MAXINT16);
  return TRUE;
}

static gboolean
batch_check (SlGraph *graph, SlNode *node, GError **error)
{
  Blocks blocks;
  return sl_node_check_copy (graph, node, 0, 0, error) && read_blocks (graph, node, &blocks, error);
}

static gboolean
batch_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  const gboolean to_batch = node->op == SL_OP_SPACE_TO_BATCH_ND;
  Blocks blocks;
  gint32 dims[SL_MAX_RANK];
  gint64 batch = input->dims[0];
  if (!read_blocks (graph, node, &blocks, error))
    return FALSE;
  memcpy (dims, input->dims, sizeof dims);
  for (guint i = 0; i < blocks.n; i++) {
    const gint64 edges = (gint64) blocks.edges[2 * i] + blocks.edges[2 * i + 1],
                 dim = input->dims[i + 1], block = blocks.block[i];
    const gint64 size = to_batch ? (dim + edges) / block : dim * block - edges;
    if ((to_batch && (dim + edges) % block != 0) || (!to_batch && batch % block != 0) || size < 1
        || size > G_MAXINT32)
      return sl_node_error (error, node, SL_ERROR_SHAPE,
                            "dimension %u of size %d does not divide into blocks of %d", i + 1,
                            input->dims[i + 1], blocks.block[i]);
    batch = to_batch ? batch * block : batch / block;
    if (batch > G_MAXINT32)
      return sl_node_error (error, node, SL_ERROR_LIMIT, "the batch overflows");
    dims[i + 1] = (gint32) size;
  }
  dims[0] = (gint32) batch;
  return sl_node_set_shape (graph, node, 0, input->rank, dims, error);
}

/* Positions k with 0 <= k * block + at - before < size: the first, and how many. */
static gsize
inside (gint64 size, gint64 block, gint64 at, gint64 before, gint64 *first)
{
  const gint64 low = before - at, high = size + before - at;
  *first = low > 0 ? (low + block - 1) / block : 0;
  const gint64 end = high > 0 ? (high + block - 1) / block : 0;
  return end > *first ? (gsize) (end - *first) : 0;
}

/* One move for each place inside a block: a grid of pixels of the wide tensor beside one image of
 * the batch. */
static void *
batch_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *output = sl_node_output (graph, node, 0);
  const gboolean to_batch = node->op == SL_OP_SPACE_TO_BATCH_ND;
  const SlTensor *wide = to_batch ? input : output, *deep = to_batch ? output : input;
  const guint n_places = (guint) (deep->dims[0] / wide->dims[0]);
  SlMoves *moves = sl_moves_new (arena, input->dtype, n_places);
  Blocks blocks;
  gssize w[SL_MAX_RANK], d[SL_MAX_RANK];
  read_blocks (graph, node, &blocks, NULL);
  sl_tensor_strides (wide, w);
  sl_tensor_strides (deep, d);
  moves->fill = to_batch;
  if (input->dtype == SL_DTYPE_I8 || input->dtype == SL_DTYPE_U8)
    moves->fill_value[0] = (guint8) sl_tensor_zero_point (input);
  for (guint place = 0; place < n_places; place++) {
    SlMove box = { .input = 0, .output = 0 };
    gssize at_wide = 0, at_deep = (gssize) place * wide->dims[0] * d[0];
    guint rest = place;
    gsize places = 1;
    gint64 in_block[SL_MAX_RANK];
    for (guint i = blocks.n; i-- > 0; rest /= (guint) blocks.block[i])
      in_block[i] = rest % (guint) blocks.block[i];
    sl_move_axis (&box, (gsize) wide->dims[0], to_batch ? w[0] : d[0], to_batch ? d[0] : w[0]);
    for (guint i = 0; i < blocks.n; i++) {
      gint64 first = 0;
      const gsize count =
        inside (wide->dims[i + 1], blocks.block[i], in_block[i], blocks.edges[2 * i], &first);
      const gssize step = w[i + 1] * blocks.block[i];
      at_wide += (first * blocks.block[i] + in_block[i] - blocks.edges[2 * i]) * w[i + 1];
      at_deep += first * d[i + 1];
      places *= count;
      sl_move_axis (&box, count, to_batch ? step : d[i + 1], to_batch ? d[i + 1] : step);
    }
    if (places == 0)
      continue;
    for (guint i = blocks.n + 1; i < wide->rank; i++)
      sl_move_axis (&box, (gsize) wide->dims[i], to_batch ? w[i] : d[i], to_batch ? d[i] : w[i]);
    box.from_at = (gsize) (to_batch ? at_wide : at_deep);
    box.to_at = (gsize) (to_batch ? at_deep : at_wide);
    *sl_moves_add (moves, 0, 0) = box;
  }
  return sl_moves_done (moves);
}

const SlOp sl_op_space_to_depth = { SL_OP_ROW (SPACE_TO_DEPTH, 1, 1, 1, depth_check, depth_infer,
                                               depth_prepare, sl_kernel_moves) };

const SlOp sl_op_depth_to_space = { SL_OP_ROW (DEPTH_TO_SPACE, 1, 1, 1, depth_check, depth_infer,
                                               depth_prepare, sl_kernel_moves) };

const SlOp sl_op_space_to_batch_nd = { SL_OP_ROW (SPACE_TO_BATCH_ND, 3, 3, 1, batch_check,
                                                  batch_infer, batch_prepare, sl_kernel_moves) };

const SlOp sl_op_batch_to_space_nd = { SL_OP_ROW (BATCH_TO_SPACE_ND, 3, 3, 1, batch_check,
                                                  batch_infer, batch_prepare, sl_kernel_moves) };
