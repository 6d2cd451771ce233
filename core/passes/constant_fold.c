/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constant folding: a node that reads constants only, or shapes only, is run once with its own
 * kernel and its outputs become constants. It happens node by node while the graph is verified,
 * since the shapes of later nodes may depend on the values; results much larger than their inputs
 * are computed at run time. So is everything once a graph's folding has taken as much work as a
 * file of its size may cost at load: a few bytes of FILL, TILE and BATCH_MATMUL can ask for hours.
 */
#include "core/graph/constants.h"
#include "core/ops/kernels/simd/loops.h"
#include "core/ops/ops.h"
#include "core/passes/passes.h"
#include "core/graph/work.h"

/* Results up to this size, or up to this part of the file, are folded whatever they are made of. */
#define ALWAYS_BYTES 65536
#define ALWAYS_PART 128
/* Larger ones may be this many times their inputs: int8 to float32. */
#define GROWTH 4
/* Work that folding may take, for any file, and for each byte of it and of those beside it: enough
 * to make float16 weights float32 and transpose them. */
#define ANY_WORK (G_GUINT64_CONSTANT (1) << 26)
#define BYTE_WORK 32
/* Products from this work on have SIMD loops, which are at least so many times as fast as plain
 * kernels. */
#define PRODUCT_WORK 65536
#define PRODUCT_GAIN 8
/* Rows of weights, and of the input, that are in the cache at once. */
#define PRODUCT_COLUMNS 16
#define PRODUCT_ROWS 4

static gboolean
worth_folding (const SlGraph *graph, const SlNode *node)
{
  const gsize file = graph->bytes != NULL ? g_bytes_get_size (graph->bytes) : 0;
  gsize in = 0, out = 0;
  const SlOp *op = sl_op_get (node->op);
  if ((op->run == NULL && !op->is_view) || sl_node_has_stored_weights (graph, node))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input == NULL || op->is_static)
      continue;
    if (input->data == NULL)
      return FALSE;
    in += input->bytes;
  }
  for (guint i = 0; i < node->n_outputs; i++)
    out += sl_node_output (graph, node, i)->bytes;
  return out <= MAX (ALWAYS_BYTES, file / ALWAYS_PART) || out <= GROWTH * in;
}

static gboolean
is_graph_output (const SlGraph *graph, const SlNode *node)
{
  for (guint k = 0; k < node->n_outputs; k++)
    for (guint i = 0; i < graph->n_outputs; i++)
      if (graph->outputs[i] == node->outputs[k])
        return TRUE;
  return FALSE;
}

gboolean
sl_passes_take_work (SlGraph *graph, guint64 work)
{
  const guint64 bytes = graph->bytes != NULL ? (guint64) g_bytes_get_size (graph->bytes) : 0;
  const guint64 most = ANY_WORK + BYTE_WORK * (bytes + graph->beside);
  if (work > most - graph->folding)
    return FALSE;
  graph->folding += work;
  return TRUE;
}

/* Whether @node is a large product of floats, as the layers of a text model of constant tokens are.
 */
static gboolean
is_product (const SlGraph *graph, const SlNode *node)
{
  gboolean floats = node->op == SL_OP_FULLY_CONNECTED && !node->params.fully_connected.dynamic
                    && node->params.fully_connected.activation == SL_ACTIVATION_NONE
                    && sl_node_output (graph, node, 0)->dtype == SL_DTYPE_F32;
  for (guint i = 0; i < node->n_inputs && floats; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    floats = input == NULL || input->dtype == SL_DTYPE_F32;
  }
  return floats && sl_node_work (graph, node) >= PRODUCT_WORK;
}

/* Some rows of weights and of the input at a time, so that both stay in the cache. */
static void
run_product (const SlGraph *graph, const SlNode *node, const void *const *inputs, gfloat *output)
{
  const SlTensor *weights = sl_node_input (graph, node, 1);
  const gsize columns = (gsize) weights->dims[0], depth = (gsize) weights->dims[1],
              rows = sl_tensor_count (sl_node_output (graph, node, 0)) / columns;
  const gfloat *x = inputs[0], *w = inputs[1], *bias = node->n_inputs > 2 ? inputs[2] : NULL;
  for (gsize begin = 0; begin < columns; begin += PRODUCT_COLUMNS)
    for (gsize r = 0; r < rows; r += PRODUCT_ROWS)
      for (gsize c = begin; c < MIN (begin + PRODUCT_COLUMNS, columns); c++)
        sl_simd_loops ()->dots (x + r * depth, MIN (PRODUCT_ROWS, rows - r), w + c * depth, depth,
                                output + r * columns + c, columns);
  for (gsize i = 0; i < rows * columns && bias != NULL; i++)
    output[i] += bias[i % columns];
}

/* @node, run with its own kernel: all of its inputs are constants, whose values are at @inputs. */
static void
run_node (const SlGraph *graph, const SlNode *node, const void *const *inputs, void *const *outputs)
{
  const SlOp *op = sl_op_get (node->op);
  if (is_product (graph, node)) {
    run_product (graph, node, inputs, outputs[0]);
    return;
  }
  g_autoptr (SlArena) scratch = sl_arena_new ();
  g_autofree SlKernelCall *call = g_new0 (SlKernelCall, 1);
  call->graph = graph;
  call->node = node;
  for (guint i = 0; i < node->n_inputs; i++)
    call->inputs[i] = inputs[i];
  for (guint i = 0; i < node->n_outputs; i++)
    call->outputs[i] = outputs[i];
  if (op->prepare != NULL)
    call->state = op->prepare (graph, node, scratch);
  op->run (call);
}

/* A node that makes a large constant of others of @of, in a graph of its own: passes change that of
 * the model. */
typedef struct
{
  SlGraph *of, *alone;
} Recipe;

static void
recipe_free (gpointer data)
{
  Recipe *recipe = data;
  sl_graph_unref (recipe->alone);
  g_free (recipe);
}

/* (nullable): input @i where it is a constant. */
static const SlTensor *
source_of (const Recipe *recipe, guint i)
{
  const SlTensor *input = sl_node_input (recipe->alone, sl_graph_node (recipe->alone, 0), i);
  return input != NULL && input->data != NULL ? input : NULL;
}

/* Transposing reads elements at any address, so it needs no copy of those at an odd one. */
static gboolean
take (SlGraph *graph, const SlNode *node, guint i, const SlTensor *source, const void **where,
      gboolean *came, GError **error)
{
  if (node->op == SL_OP_TRANSPOSE && i == 0)
    return sl_graph_take_values (graph, source->data, source->bytes, where, came, error);
  *where = source->data;
  return sl_graph_take_source (graph, source->data, source->bytes, came, error);
}

static gboolean
follow (void *memory, gpointer data, GError **error)
{
  const Recipe *recipe = data;
  const SlNode *node = sl_graph_node (recipe->alone, 0);
  g_autofree gboolean *came = g_new0 (gboolean, MAX (node->n_inputs, 1));
  g_autofree const void **inputs = g_new0 (const void *, MAX (node->n_inputs, 1));
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *source = source_of (recipe, i);
    if (source != NULL && !take (recipe->of, node, i, source, &inputs[i], &came[i], error))
      return FALSE;
  }
  run_node (recipe->alone, node, inputs, &memory);
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *source = source_of (recipe, i);
    if (source != NULL)
      sl_graph_return_source (recipe->of, inputs[i], source->bytes, came[i]);
  }
  return TRUE;
}

static Recipe *
recipe_new (SlGraph *graph, const SlNode *node)
{
  Recipe *recipe = g_new (Recipe, 1);
  g_autofree gint32 *inputs = g_new (gint32, MAX (node->n_inputs, 1));
  *recipe = (Recipe){ graph, sl_graph_new (NULL) };
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    inputs[i] = input != NULL ? sl_graph_add_tensor (recipe->alone, input, NULL) : -1;
  }
  const gint32 output = sl_graph_add_tensor (recipe->alone, sl_node_output (graph, node, 0), NULL);
  sl_graph_add_node (recipe->alone, node->op, node->index, inputs, node->n_inputs, &output, 1,
                     &node->params, NULL);
  return recipe;
}

/* A matrix that is transposed is made later. */
static gboolean
is_turned (const SlGraph *graph, const SlNode *node, SlMadeOf *of)
{
  gint32 order[2];
  guint n = 0;
  const SlTensor *input = sl_node_input (graph, node, 0);
  if (node->op != SL_OP_TRANSPOSE || input->rank != 2 || input->dtype != SL_DTYPE_F32
      || !sl_constant_ints (sl_node_input (graph, node, 1), order, 2, &n) || n != 2
      || (order[0] != 1 && order[0] != -1))
    return FALSE;
  *of = (SlMadeOf){ .data = input->data,
                    .bytes = input->bytes,
                    .rows = (gsize) input->dims[0],
                    .columns = (gsize) input->dims[1] };
  return TRUE;
}

/* The only output of @node, which is large. */
static gboolean
make_large (SlGraph *graph, const SlNode *node, GError **error)
{
  SlMadeOf of;
  SlTensor *output = sl_node_output (graph, node, 0);
  if (is_turned (graph, node, &of)) {
    output->data = sl_graph_make_later (graph, output->bytes, &of, follow, recipe_new (graph, node),
                                        recipe_free, error);
    return output->data != NULL;
  }
  output->data = sl_graph_make_constant (graph, output->bytes, follow, recipe_new (graph, node),
                                         recipe_free, error);
  for (guint i = 0; i < node->n_inputs && output->data != NULL; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input != NULL && input->data != NULL)
      sl_graph_used_source (graph, output->data, output->bytes, input->data, input->bytes);
  }
  return output->data != NULL;
}

static gboolean
make_all (SlGraph *graph, const SlNode *node, GError **error)
{
  g_autofree void **outputs = g_new (void *, node->n_outputs);
  g_autofree const void **inputs = g_new0 (const void *, MAX (node->n_inputs, 1));
  if (!sl_graph_need_inputs (graph, node, error))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    inputs[i] = node->inputs[i] < 0 ? NULL : sl_node_input (graph, node, i)->data;
  for (guint i = 0; i < node->n_outputs; i++)
    outputs[i] =
      sl_arena_alloc (graph->arena, sl_node_output (graph, node, i)->bytes + SL_TENSOR_PADDING);
  run_node (graph, node, inputs, outputs);
  for (guint i = 0; i < node->n_outputs; i++)
    sl_node_output (graph, node, i)->data = outputs[i];
  for (guint i = 0; i < node->n_inputs; i++) {
    const SlTensor *input = sl_node_input (graph, node, i);
    if (input != NULL && input->data != NULL && input->bytes >= SL_LARGE_CONSTANT)
      sl_graph_spare_constant (graph, input->data, input->bytes); /* such as a layer's weights */
  }
  return TRUE;
}

/* What folding @node takes, in multiply-adds of a plain kernel. */
static guint64
folding_work (const SlGraph *graph, const SlNode *node)
{
  return sl_node_work (graph, node) / (is_product (graph, node) ? PRODUCT_GAIN : 1);
}

gboolean
sl_constant_fold (SlGraph *graph, SlNode *node, guint *folded, GError **error)
{
  const SlOp *op = sl_op_get (node->op);
  gboolean folds = TRUE;
  if (!worth_folding (graph, node) || is_graph_output (graph, node)
      || !sl_passes_take_work (graph, folding_work (graph, node)))
    return TRUE;
  if (op->is_view)
    sl_node_output (graph, node, 0)->data = sl_node_input (graph, node, 0)->data;
  else if (node->n_outputs > 1 || sl_node_output (graph, node, 0)->bytes < SL_LARGE_CONSTANT)
    folds = make_all (graph, node, error);
  else
    folds = make_large (graph, node, error);
  if (!folds)
    return FALSE;
  node->op = SL_OP_INVALID;
  *folded += 1;
  return TRUE;
}
