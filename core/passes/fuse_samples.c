/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deformable attention written out: samples of pictures of several sizes are put together, times a
 * weight for each, and their sum. The product becomes a GRID_SAMPLE of all pictures, which adds up
 * weighed samples, and the sum its RESHAPE. The samples themselves are never in memory.
 */
#include "core/ops/grid_sample.h"
#include "core/passes/passes.h"

typedef struct
{
  SlGraph *graph;
  const SlPassIndex *index;
} Fuse;

/* (nullable): the node that makes @tensor, for one reader, behind RESHAPEs that each have one
 * reader. */
static SlNode *
before_reshapes (const Fuse *fuse, gint32 tensor)
{
  SlNode *node = NULL;
  while (tensor >= 0 && fuse->index->consumers[tensor] == 1
         && (node = sl_pass_producer (fuse->index, fuse->graph, tensor)) != NULL
         && node->op == SL_OP_RESHAPE)
    tensor = node->inputs[0];
  return tensor >= 0 && fuse->index->consumers[tensor] == 1 ? node : NULL;
}

/* GRID_SAMPLE that makes @tensor of as many rows as @like's has, by the same rule; NULL where
 * another node does. */
static const SlNode *
find_samples (const Fuse *fuse, gint32 tensor, const SlNode *like)
{
  const SlNode *node = before_reshapes (fuse, tensor);
  if (node == NULL || node->op != SL_OP_GRID_SAMPLE || node->n_inputs != 2)
    return NULL;
  const SlOpParams *a = &node->params, *b = like != NULL ? &like->params : a;
  return a->grid_sample.mode == b->grid_sample.mode
             && a->grid_sample.border == b->grid_sample.border
             && a->grid_sample.align_corners == b->grid_sample.align_corners
           ? node
           : NULL;
}

/* Elements of @tensor before dimension @axis. */
static gint64
count_before (const SlTensor *tensor, gint32 axis)
{
  gint64 n = 1;
  for (gint32 i = 0; i < axis; i++)
    n *= tensor->dims[i];
  return n;
}

/* The pictures, grids and @weights whose samples @tensor [batch,rows,samples,channels] has, as
 * inputs of @made; FALSE where they are not found. */
static gboolean
find_inputs (const Fuse *fuse, gint32 tensor, gint32 weights, SlNode *made, gint32 *inputs)
{
  const SlTensor *samples = sl_graph_tensor (fuse->graph, tensor);
  const SlNode *joined = before_reshapes (fuse, tensor), *first = NULL;
  const gboolean joins = joined != NULL && joined->op == SL_OP_CONCATENATION;
  const guint n = joins ? joined->n_inputs : 1;
  if (joined == NULL || n > SL_MAX_SAMPLES
      || (joins
          && (sl_node_fused_activation (joined) != SL_ACTIVATION_NONE
              || count_before (sl_node_output (fuse->graph, joined, 0), joined->params.concat.axis)
                   != count_before (samples, 2))))
    return FALSE;
  made->n_inputs = 0;
  for (guint i = 0; i < n; i++) {
    const SlNode *node = find_samples (fuse, joins ? joined->inputs[i] : tensor, first);
    if (node == NULL)
      return FALSE;
    first = first != NULL ? first : node;
    inputs[made->n_inputs++] = node->inputs[0];
    inputs[made->n_inputs++] = node->inputs[1];
    if (i == 0)
      inputs[made->n_inputs++] = weights;
  }
  made->op = SL_OP_GRID_SAMPLE;
  made->params = (SlOpParams){ .grid_sample = first->params.grid_sample };
  made->inputs = inputs;
  const SlTensor *grid = sl_node_input (fuse->graph, made, 1);
  return sl_samples_fit (fuse->graph, made) && grid->dims[0] == samples->dims[0]
         && grid->dims[1] == samples->dims[1]
         && sl_node_input (fuse->graph, made, 0)->dims[3] == samples->dims[3];
}

/* Whether @node is the sum of samples [batch,rows,samples,channels]. */
static gboolean
is_sum (const SlGraph *graph, const SlNode *node)
{
  gint32 axis = 0;
  guint n = 0;
  if (node->op != SL_OP_SUM)
    return FALSE;
  const SlTensor *x = sl_node_input (graph, node, 0);
  return x->rank == 4 && x->dtype == SL_DTYPE_F32
         && sl_constant_ints (sl_node_input (graph, node, 1), &axis, 1, &n) && n == 1
         && (axis == 2 || axis == -2);
}

/* Whether @weights are one for each sample of @samples. */
static gboolean
are_weights (const SlTensor *weights, const SlTensor *samples)
{
  return weights->rank == 4 && weights->dims[3] == 1 && weights->dims[0] == samples->dims[0]
         && weights->dims[1] == samples->dims[1] && weights->dims[2] == samples->dims[2];
}

static guint
step (SlGraph *graph, SlPassIndex *index, SlNode *node)
{
  const Fuse fuse = { graph, index };
  gint32 inputs[1 + 2 * SL_MAX_SAMPLES];
  SlNode *product = is_sum (graph, node) && index->consumers[node->inputs[0]] == 1
                      ? sl_pass_producer (index, graph, node->inputs[0])
                      : NULL;
  if (product == NULL || product->op != SL_OP_MUL
      || sl_node_fused_activation (product) != SL_ACTIVATION_NONE)
    return 0;
  for (guint i = 0; i < 2; i++) {
    const SlTensor *samples = sl_node_input (graph, product, i);
    SlNode made = *product;
    if (!sl_tensor_same_shape (samples, sl_node_output (graph, product, 0))
        || !are_weights (sl_node_input (graph, product, 1 - i), samples)
        || !find_inputs (&fuse, product->inputs[i], product->inputs[1 - i], &made, inputs))
      continue;
    const gint32 dims[] = { samples->dims[0], samples->dims[1], 1, samples->dims[3] };
    const SlTensor *output = sl_node_output (graph, node, 0);
    made.inputs = sl_arena_memdup (graph->arena, inputs, made.n_inputs * sizeof inputs[0]);
    *product = made;
    sl_pass_set_dims (graph, product->outputs[0], G_N_ELEMENTS (dims), dims);
    sl_pass_make_reshape (graph, node, product->outputs[0], output->rank, output->dims);
    return 1;
  }
  return 0;
}

const SlPass sl_pass_fuse_samples = { "fuse_samples", .step = step };
