/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* 8-bit layers as a backend. */
#include "core/backends/backend.h"
#include "core/backends/int8/attention.h"
#include "core/backends/int8/gelu.h"

typedef struct
{
  SlInt8Layer *layer;
  SlInt8Attention *attention; /* (nullable): instead of a layer */
  const SlInt8Isa *gelu;      /* (nullable): the same */
  gsize n;                    /* of its floats */
  SlPool *pool;
  guint output; /* which operand it is */
} Step;

static const char *
cpu (void)
{
  return sl_int8_isa ()->name;
}

static gboolean
supports (const SlGraph *graph, const SlNode *node)
{
  return sl_int8_attention_supports (node) || sl_int8_gelu_supports (sl_int8_isa (), graph, node)
         || sl_int8_supports (graph, node);
}

static gboolean
faster (const SlGraph *graph, const SlNode *node)
{
  return node->op == SL_OP_ATTENTION || node->op == SL_OP_GELU
         || sl_int8_faster (sl_int8_isa (), graph, node);
}

static gpointer
prepare (SlHost *host, const SlStep *step, gpointer threads, GError **error)
{
  const SlNode *node = sl_graph_node (host->graph, g_array_index (step->nodes, guint, 0));
  Step *made = sl_arena_alloc (host->arena, sizeof *made);
  if (node->op == SL_OP_ATTENTION)
    made->attention = sl_int8_attention_new (sl_int8_isa (), host, node);
  else if (node->op == SL_OP_GELU)
    made->gelu = sl_int8_isa ();
  else
    made->layer = sl_int8_layer_new (sl_int8_isa (), host, node);
  made->n = sl_tensor_count (sl_node_output (host->graph, node, 0));
  made->pool = host->pool;
  made->output = node->n_inputs;
  return made;
}

static gboolean
run (gpointer prepared, void *const *memory)
{
  const Step *step = prepared;
  const void *const *inputs = (const void *const *) memory;
  if (step->attention != NULL)
    sl_int8_attention_run (step->attention, step->pool, inputs, memory[step->output]);
  else if (step->gelu != NULL)
    sl_int8_gelu_run (step->gelu, step->pool, inputs[0], memory[step->output], step->n);
  else
    sl_int8_layer_run (step->layer, step->pool, inputs, memory[step->output]);
  return TRUE;
}

const SlBackend sl_backend_int8 = {
  .name = "int8",
  .title = "int8 kernels",
  .failure = "an int8 kernel failed while running the model",
  .packs_weights = TRUE,
  .uses_pool = TRUE,
  .cpu = cpu,
  .supports = supports,
  .faster = faster,
  .prepare = prepare,
  .run = run,
};
