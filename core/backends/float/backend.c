/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Float layers as a backend. */
#include "core/backends/backend.h"
#include "core/backends/float/float_layers.h"
#include "core/graph/attention.h"

typedef struct
{
  SlFloatLayer *layer;
  SlFloatChain *chain;         /* (nullable): instead of a layer */
  SlFloatMatmul *matmul;       /* (nullable): likewise */
  SlFloatRecurrent *recurrent; /* (nullable): likewise */
  SlFloatAttention *attention; /* (nullable): likewise */
  SlFloatSample *sample;       /* (nullable): likewise */
  SlPool *pool;
  guint output; /* which operand it is */
} Step;

static const char *
cpu (void)
{
  return sl_float_isa ()->name;
}

static gboolean
supports (const SlGraph *graph, const SlNode *node)
{
  if (node->op == SL_OP_RECURRENT)
    return TRUE;
  if (node->op == SL_OP_ATTENTION)
    return !sl_attention_is_rounded (node->params.attention);
  if (node->op == SL_OP_GRID_SAMPLE)
    return sl_float_sample_supports (graph, node);
  return node->op == SL_OP_BATCH_MATMUL ? sl_float_matmul_supports (graph, node)
                                        : sl_float_supports (graph, node);
}

static gboolean
faster (const SlGraph *graph, const SlNode *node)
{
  return node->op == SL_OP_RECURRENT || node->op == SL_OP_BATCH_MATMUL
         || node->op == SL_OP_ATTENTION || node->op == SL_OP_GRID_SAMPLE
         || sl_float_faster (sl_float_isa (), graph, node);
}

static gpointer
prepare (SlHost *host, const SlStep *step, gpointer threads, GError **error)
{
  const SlNode *node = sl_graph_node (host->graph, g_array_index (step->nodes, guint, 0));
  Step *made = sl_arena_alloc (host->arena, sizeof *made);
  if (step->nodes->len > 1) {
    made->chain = sl_float_chain_new (sl_float_isa (), host, step, error);
    if (made->chain == NULL)
      return NULL;
  } else if (node->op == SL_OP_RECURRENT)
    made->recurrent = sl_float_recurrent_new (sl_float_isa (), host, node);
  else if (node->op == SL_OP_BATCH_MATMUL)
    made->matmul = sl_float_matmul_new (sl_float_isa (), host, node);
  else if (node->op == SL_OP_ATTENTION)
    made->attention = sl_float_attention_new (sl_float_isa (), host, node);
  else if (node->op == SL_OP_GRID_SAMPLE)
    made->sample = sl_float_sample_new (sl_float_isa (), host, node);
  else {
    made->layer = sl_float_layer_new (sl_float_isa (), host, node, error);
    if (made->layer == NULL)
      return NULL;
  }
  made->pool = host->pool;
  made->output = node->n_inputs;
  return made;
}

static gboolean
run (gpointer prepared, void *const *memory)
{
  const Step *step = prepared;
  if (step->chain != NULL)
    sl_float_chain_run (step->chain, step->pool, memory);
  else if (step->recurrent != NULL)
    sl_float_recurrent_run (step->recurrent, (const void *const *) memory, memory + step->output);
  else if (step->matmul != NULL)
    sl_float_matmul_run (step->matmul, step->pool, (const void *const *) memory,
                         memory[step->output]);
  else if (step->attention != NULL)
    sl_float_attention_run (step->attention, step->pool, (const void *const *) memory,
                            memory[step->output]);
  else if (step->sample != NULL)
    sl_float_sample_run (step->sample, (const void *const *) memory, memory[step->output]);
  else
    sl_float_layer_run (step->layer, step->pool, (const void *const *) memory,
                        memory[step->output]);
  return TRUE;
}

const SlBackend sl_backend_float = {
  .name = "float",
  .title = "float kernels",
  .failure = "a float kernel failed while running the model",
  .packs_weights = TRUE,
  .asks_weights = TRUE,
  .uses_pool = TRUE,
  .keeps_halves = TRUE,
  .cpu = cpu,
  .supports = supports,
  .faster = faster,
  .writes_parts = sl_float_writes_parts,
  .neighbours = sl_float_chain_length,
  .prepare = prepare,
  .run = run,
};
