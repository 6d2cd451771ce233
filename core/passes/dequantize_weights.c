/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights stored as 8-bit values under float activations (dynamic-range quantisation) become float
 * weights, once, so that such layers run as float ones. Where another runtime rounds the
 * activations to 8 bits, a reader says so by a FAKE_QUANTIZE before the layer. Layers that share
 * weights share the floats. Those of fully connected layers are made only where they are needed.
 */
#include "core/base/build_selection.h"
#include "core/graph/constants.h"
#include "core/ops/ops.h"
#include "core/passes/passes.h"

/* The tensor whose floats are made, of @graph. */
typedef struct
{
  SlGraph *graph;
  SlTensor stored;
} Stored;

static void
widen_signed (const guint8 *from, gsize n, gint32 zero_point, gfloat scale, gfloat *to)
{
  for (gsize i = 0; i < n; i++)
    to[i] = (gfloat) (((const gint8 *) from)[i] - zero_point) * scale;
}

static void
widen_unsigned (const guint8 *from, gsize n, gint32 zero_point, gfloat scale, gfloat *to)
{
  for (gsize i = 0; i < n; i++)
    to[i] = (gfloat) (from[i] - zero_point) * scale;
}

static gboolean
dequantize (void *memory, gpointer data, GError **error)
{
  const Stored *from = data;
  const SlTensor *stored = &from->stored;
  const gsize elements = sl_tensor_count (stored);
  const SlQuant *quant = &stored->quant;
  const gsize inner =
    quant->count > 1 ? sl_tensor_span (stored, (guint) quant->axis + 1, stored->rank) : elements;
  guint channel = 0;
  gfloat *floats = memory;
  gboolean came;
  if (!sl_graph_take_source (from->graph, stored->data, stored->bytes, &came, error))
    return FALSE;
  for (gsize i = 0; i < elements;
       i += inner, channel = channel + 1 < quant->count ? channel + 1 : 0)
    (stored->dtype == SL_DTYPE_I8 ? widen_signed : widen_unsigned) (
      (const guint8 *) stored->data + i, inner, quant->zero_point[channel], quant->scale[channel],
      floats + i);
  sl_graph_return_source (from->graph, stored->data, stored->bytes, came);
  return TRUE;
}

static void *
make_now (SlGraph *graph, const SlTensor *stored, gsize bytes)
{
  const Stored from = { graph, *stored };
  void *floats =
    sl_graph_make_constant (graph, bytes, dequantize, g_memdup2 (&from, sizeof from), g_free, NULL);
  if (floats != NULL)
    sl_graph_used_source (graph, floats, bytes, stored->data, stored->bytes);
  return floats;
}

/* Whether @stored has a scale for each row, or one. */
static gboolean
is_by_row (const SlTensor *stored)
{
  return stored->rank == 2 && (stored->quant.count == 1 || stored->quant.axis == 0);
}

/* A session packs such matrices without their floats. */
static void *
make_later (SlGraph *graph, const SlTensor *stored)
{
  const gsize rows = (gsize) stored->dims[0], columns = (gsize) stored->dims[1],
              n = stored->quant.count;
  gfloat *reals = sl_arena_alloc (graph->arena, n * sizeof reals[0]);
  for (gsize i = 0; i < n; i++)
    reals[i] = (gfloat) stored->quant.zero_point[i];
  const SlFewBits matrix = {
    .rows = rows,
    .columns = columns,
    .bits = 8,
    .is_signed = stored->dtype == SL_DTYPE_I8,
    .size = { n == 1 ? rows : 1, columns },
    .values = stored->data,
    .value_step = { columns, 1 },
    .value_bytes = stored->bytes,
    .scales = stored->quant.scale,
    .scale_step = { 1, 0 },
    .scale_bytes = n * sizeof (gfloat),
    .reals = reals,
    .real_bytes = n * sizeof (gfloat),
  };
  return sl_graph_widen_later (graph, &matrix, NULL);
}

static gint32
dequantized (SlGraph *graph, gint32 index, gboolean later)
{
  SlTensor tensor = *sl_graph_tensor (graph, index);
  const SlTensor stored = tensor;
  tensor.dtype = SL_DTYPE_F32;
  tensor.quant = (SlQuant){ 0 };
  tensor.bytes = sl_tensor_count (&tensor) * sizeof (gfloat);
  tensor.data = later && is_by_row (&stored) ? make_later (graph, &stored)
                                             : make_now (graph, &stored, tensor.bytes);
  return tensor.data != NULL ? sl_graph_add_tensor (graph, &tensor, NULL) : -1;
}

static gboolean
is_quantised (const SlTensor *tensor)
{
  return tensor != NULL && tensor->data != NULL
         && (tensor->dtype == SL_DTYPE_I8 || tensor->dtype == SL_DTYPE_U8)
         && tensor->quant.count > 0;
}

/* Layers that multiply their weights in 8 bits, where the build has kernels for it. */
static gboolean
is_dynamic (const SlNode *node)
{
#if SL_KEEPS(backend, int8)
  return node->op == SL_OP_FULLY_CONNECTED && node->params.fully_connected.dynamic;
#else
  return FALSE;
#endif
}

/* Input @k of @node is such weights. */
static gboolean
is_stored (const SlGraph *graph, const SlNode *node, guint k)
{
  const guint data = sl_op_data_at (node->op);
  return (sl_op_is_layer (node->op) || node->op == SL_OP_BATCH_MATMUL
          || node->op == SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM)
         && !is_dynamic (node) && sl_node_input (graph, node, data)->dtype == SL_DTYPE_F32
         && is_quantised (sl_node_input (graph, node, k));
}

gboolean
sl_node_has_stored_weights (const SlGraph *graph, const SlNode *node)
{
  for (guint k = 0; k < node->n_inputs; k++)
    if (is_stored (graph, node, k))
      return TRUE;
  return FALSE;
}

static guint
run (SlGraph *graph)
{
  guint changes = 0;
  const guint n = graph->tensors->len;
  g_autofree gint32 *known =
    g_new0 (gint32, n); /* by tensor: its float weights, 0 = not made, -1 = no room */
  for (guint i = 0; i < graph->nodes->len; i++) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      const gint32 from = node->inputs[k];
      if (!is_stored (graph, node, k) || from >= (gint32) n)
        continue;
      if (known[from] == 0)
        known[from] = dequantized (graph, from, node->op == SL_OP_FULLY_CONNECTED);
      if (known[from] < 0)
        continue;
      gint32 *inputs =
        sl_arena_memdup (graph->arena, node->inputs, node->n_inputs * sizeof inputs[0]);
      inputs[k] = known[from];
      node->inputs = inputs;
      changes++;
    }
  }
  return changes;
}

const SlPass sl_pass_dequantize_weights = { "dequantize_weights", run };
