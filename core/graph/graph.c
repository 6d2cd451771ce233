/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The graph: tensors and nodes in one arena. Readers fill it through the checked functions here,
 * core/passes/prepare.c turns it into something runnable, sessions read it.
 */
#include "core/graph/graph.h"

#include <string.h>

#include "core/base/build_selection.h"
#include "core/base/fail.h"
#include "core/graph/graph_private.h"

SlGraph *
sl_graph_new (GBytes *bytes)
{
  SlGraph *graph = g_new0 (SlGraph, 1);
  g_atomic_ref_count_init (&graph->refs);
  graph->bytes = bytes != NULL ? g_bytes_ref (bytes) : NULL;
  graph->arena = sl_arena_new ();
  graph->limit = SL_MAX_TENSOR_BYTES;
  graph->work_limit = SL_MAX_WORK;
  graph->tensors = g_array_new (FALSE, TRUE, sizeof (SlTensor));
  graph->nodes = g_array_new (FALSE, TRUE, sizeof (SlNode));
  graph->imports = g_hash_table_new (g_str_hash, g_str_equal);
  graph->made = sl_made_constants_new ();
  graph->sources = g_array_new (FALSE, FALSE, sizeof (SlConstantSource));
  return graph;
}

SlGraph *
sl_graph_ref (SlGraph *graph)
{
  g_atomic_ref_count_inc (&graph->refs);
  return graph;
}

/* Graphs by identity; the table holds no reference to them, and goes with its last entry. */
static GMutex shared_mutex;
static GHashTable *shared;

SlGraph *
sl_graph_share (SlGraph *graph, const char *identity)
{
  g_return_val_if_fail (graph->prepared && graph->identity == NULL, graph);
  g_mutex_lock (&shared_mutex);
  if (shared == NULL)
    shared = g_hash_table_new (g_str_hash, g_str_equal);
  SlGraph *known = g_hash_table_lookup (shared, identity);
  if (known != NULL) {
    sl_graph_ref (known);
  } else {
    graph->identity = g_strdup (identity);
    g_hash_table_insert (shared, graph->identity, graph);
  }
  g_mutex_unlock (&shared_mutex);
  if (known == NULL)
    return graph;
  sl_graph_unref (graph);
  return known;
}

SlGraph *
sl_graph_find_shared (const char *identity)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&shared_mutex);
  SlGraph *graph = shared != NULL ? g_hash_table_lookup (shared, identity) : NULL;
  if (graph != NULL)
    sl_graph_ref (graph);
  return graph;
}

/* The last reference goes under the lock, so that nobody finds the graph meanwhile. */
static gboolean
drop_reference (SlGraph *graph)
{
  if (graph->identity == NULL)
    return g_atomic_ref_count_dec (&graph->refs);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&shared_mutex);
  const gboolean last = g_atomic_ref_count_dec (&graph->refs);
  if (last)
    g_hash_table_remove (shared, graph->identity);
  if (last && g_hash_table_size (shared) == 0)
    g_clear_pointer (&shared, g_hash_table_unref);
  return last;
}

void
sl_graph_unref (SlGraph *graph)
{
  if (graph == NULL || !drop_reference (graph))
    return;
  if (graph->attachment != NULL)
    graph->destroy_attachment (graph->attachment);
  g_free (graph->identity);
  g_array_unref (graph->tensors);
  g_array_unref (graph->nodes);
  g_hash_table_unref (graph->imports);
  sl_made_constants_free (graph->made);
  g_array_unref (graph->sources);
  sl_arena_free (graph->arena);
  if (graph->source != NULL && graph->destroy_source != NULL)
    graph->destroy_source (graph->source);
  g_clear_pointer (&graph->bytes, g_bytes_unref);
  sl_file_image_unref (graph->file);
  g_free (graph);
}

void
sl_graph_set_limit (SlGraph *graph, gsize bytes)
{
  graph->limit = bytes > 0 ? bytes : SL_MAX_TENSOR_BYTES;
}

gsize
sl_graph_limit (const SlGraph *graph)
{
  return graph->limit;
}

void
sl_graph_set_batch (SlGraph *graph, guint n)
{
  graph->batch = n;
}

guint
sl_graph_batch (const SlGraph *graph)
{
  return MAX (graph->batch, 1);
}

gboolean
sl_graph_batch_input (const SlGraph *graph, SlTensor *tensor, GError **error)
{
  const guint n = sl_graph_batch (graph);
  gsize elements;
  if (n == 1)
    return TRUE;
  if (tensor->rank > 1 && tensor->dims[0] == 1) {
    tensor->dims[0] = (gint32) n;
    if (sl_tensor_elements (tensor, &elements)
        && g_size_checked_mul (&tensor->bytes, elements, sl_dtype_size (tensor->dtype)))
      return TRUE;
  }
  g_autofree char *text = sl_tensor_describe (tensor);
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "input '%s' is %s; expected a first dimension of 1, for a batch of %u",
                  tensor->name, text, n);
}

void
sl_graph_set_file_batch (SlGraph *graph, guint n)
{
  graph->file_batch = n;
}

/* A shape for the file's batch becomes that of one item. */
static void
take_one_item (const SlGraph *graph, gsize elements_of_one, gboolean is_open, gsize known,
               gint32 *dims)
{
  const guint n = graph->file_batch;
  gsize whole;
  if (n > 1 && dims[0] == (gint32) n
      && (is_open || (g_size_checked_mul (&whole, elements_of_one, n) && known == whole)))
    dims[0] = 1;
}

void
sl_graph_batch_shape (const SlGraph *graph, gsize elements, gint32 first, gint32 *dims, guint rank)
{
  const gint32 n = (gint32) sl_graph_batch (graph);
  gsize known = 1;
  guint open = 0;
  if ((n == 1 && graph->file_batch <= 1) || rank == 0 || dims[0] < 1 || dims[0] > G_MAXINT32 / n)
    return;
  for (guint i = 0; i < rank; i++) {
    open += dims[i] == -1;
    if (dims[i] != -1 && (dims[i] < 1 || !g_size_checked_mul (&known, known, (gsize) dims[i])))
      return;
  }
  const gint32 of_file = dims[0];
  take_one_item (graph, elements / (gsize) n, open > 0 && first == n, known, dims);
  known = known / (gsize) of_file * (gsize) dims[0];
  const gboolean of_one = open > 0 ? dims[0] == 1 && first % n == 0
                                   : known == elements / (gsize) n && elements % (gsize) n == 0;
  if (of_one)
    dims[0] *= n;
}

void
sl_graph_set_work_limit (SlGraph *graph, guint64 multiply_adds)
{
  graph->work_limit = multiply_adds > 0 ? multiply_adds : SL_MAX_WORK;
}

void
sl_graph_set_precision (SlGraph *graph, SlPrecision precision)
{
  graph->precision = precision;
}

SlPrecision
sl_graph_precision (const SlGraph *graph)
{
  return graph->precision;
}

SlArena *
sl_graph_arena (SlGraph *graph)
{
  return graph->arena;
}

gint32
sl_graph_add_tensor (SlGraph *graph, const SlTensor *tensor, GError **error)
{
  g_return_val_if_fail (!graph->prepared, -1);
  if (graph->tensors->len >= SL_MAX_TENSORS) {
    sl_fail (error, SL_ERROR_LIMIT, "more than %d tensors", SL_MAX_TENSORS);
    return -1;
  }
  if (tensor->rank > SL_MAX_RANK) {
    sl_fail (error, SL_ERROR_LIMIT, "tensor '%s' has %u dimensions; at most %d are supported",
             tensor->name, tensor->rank, SL_MAX_RANK);
    return -1;
  }
  g_array_append_vals (graph->tensors, tensor, 1);
  SlTensor *added = &g_array_index (graph->tensors, SlTensor, graph->tensors->len - 1);
  if (added->name == NULL)
    added->name = "";
  return (gint32) graph->tensors->len - 1;
}

static gboolean
check_indices (const SlGraph *graph, const char *what, const gint32 *indices, guint n,
               gint32 lowest, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (indices[i] >= lowest && indices[i] < (gint32) graph->tensors->len)
      continue;
    return sl_fail (error, SL_ERROR_FORMAT, "%s %u is tensor %d; the model has tensors 0..%d", what,
                    i, indices[i], (gint) graph->tensors->len - 1);
  }
  return TRUE;
}

static gboolean
check_arity (const SlOp *op, guint index, guint n_inputs, guint n_outputs, GError **error)
{
  const guint most = MAX (op->n_outputs, op->max_outputs);
  if (n_inputs >= op->min_inputs && n_inputs <= op->max_inputs && n_outputs >= op->n_outputs
      && n_outputs <= most)
    return TRUE;
  g_autofree char *outputs = op->n_outputs == most
                               ? g_strdup_printf ("%u", most)
                               : g_strdup_printf ("%u to %u", op->n_outputs, most);
  return sl_fail (error, SL_ERROR_FORMAT,
                  "node %u %s: expected %u to %u inputs and %s outputs, got %u and %u", index,
                  op->name, op->min_inputs, op->max_inputs, outputs, n_inputs, n_outputs);
}

gboolean
sl_graph_add_node (SlGraph *graph, SlOpType type, guint index, const gint32 *inputs, guint n_inputs,
                   const gint32 *outputs, guint n_outputs, const SlOpParams *params, GError **error)
{
  g_return_val_if_fail (!graph->prepared, FALSE);
  g_return_val_if_fail (type > SL_OP_INVALID && type < SL_OP_COUNT, FALSE);
  const SlOp *op = sl_op_get (type);

  if (op == NULL)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "node %u: operator %s " SL_LEFT_OUT, index,
                    sl_op_name (type));
  if (graph->nodes->len >= SL_MAX_NODES)
    return sl_fail (error, SL_ERROR_LIMIT, "more than %d nodes", SL_MAX_NODES);
  if (!check_arity (op, index, n_inputs, n_outputs, error))
    return FALSE;
  if (!check_indices (graph, "input", inputs, n_inputs, -1, error)
      || !check_indices (graph, "output", outputs, n_outputs, 0, error))
    return sl_fail_prefix (error, "node %u %s: ", index, op->name);
  SlNode node = { .op = type, .index = index, .n_inputs = n_inputs, .n_outputs = n_outputs };
  node.inputs = sl_arena_memdup (graph->arena, inputs, n_inputs * sizeof inputs[0]);
  node.outputs = sl_arena_memdup (graph->arena, outputs, n_outputs * sizeof outputs[0]);
  node.name = sl_graph_tensor (graph, outputs[0])->name;
  if (params != NULL)
    node.params = *params;
  g_array_append_val (graph->nodes, node);
  graph->given[type] = TRUE;
  return TRUE;
}

void
sl_graph_note_import (SlGraph *graph, const char *name)
{
  g_hash_table_add (graph->imports, (gpointer) name);
}

const char **
sl_graph_imports (const SlGraph *graph)
{
  return (const char **) g_hash_table_get_keys_as_array (graph->imports, NULL);
}

gboolean
sl_graph_set_io (SlGraph *graph, const gint32 *inputs, guint n_inputs, const gint32 *outputs,
                 guint n_outputs, GError **error)
{
  g_return_val_if_fail (!graph->prepared, FALSE);
  if (n_inputs < 1 || n_inputs > SL_MAX_IO || n_outputs < 1 || n_outputs > SL_MAX_IO)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "the model has %u inputs and %u outputs; expected 1 to %d of each", n_inputs,
                    n_outputs, SL_MAX_IO);
  if (!check_indices (graph, "model input", inputs, n_inputs, 0, error)
      || !check_indices (graph, "model output", outputs, n_outputs, 0, error))
    return FALSE;
  graph->n_inputs = n_inputs;
  graph->n_outputs = n_outputs;
  memcpy (graph->inputs, inputs, n_inputs * sizeof inputs[0]);
  memcpy (graph->outputs, outputs, n_outputs * sizeof outputs[0]);
  for (guint i = 0; i < SL_MAX_IO; i++)
    graph->input_at[i] = graph->output_at[i] = (guint8) i;
  return TRUE;
}

void
sl_graph_fix_input (SlGraph *graph, guint i, const void *data)
{
  g_return_if_fail (!graph->prepared && i < graph->n_inputs && graph->n_inputs > 1);
  g_array_index (graph->tensors, SlTensor, graph->inputs[i]).data = data;
  graph->n_inputs--;
  memmove (&graph->inputs[i], &graph->inputs[i + 1],
           (graph->n_inputs - i) * sizeof graph->inputs[0]);
  memmove (&graph->input_at[i], &graph->input_at[i + 1],
           (graph->n_inputs - i) * sizeof graph->input_at[0]);
}

/* Tensor @i of the first *@n goes behind all @all of them. */
static void
move_behind (gint32 *tensors, guint8 *places, guint *n, guint all, guint i)
{
  const gint32 tensor = tensors[i];
  const guint8 place = places[i];
  memmove (&tensors[i], &tensors[i + 1], (all - i - 1) * sizeof tensors[0]);
  memmove (&places[i], &places[i + 1], (all - i - 1) * sizeof places[0]);
  tensors[all - 1] = tensor;
  places[all - 1] = place;
  (*n)--;
}

void
sl_graph_hold_input (SlGraph *graph, guint i, gint output, gboolean shown, const void *first)
{
  g_return_if_fail (graph->prepared && i < graph->n_inputs && graph->n_inputs > 1
                    && output < (gint) graph->n_outputs);
  SlHeldInput *held = &graph->held[graph->n_held];
  *held = (SlHeldInput){ .input = graph->inputs[i],
                         .output = output < 0 ? -1 : graph->outputs[output],
                         .at = -1,
                         .first = first };
  move_behind (graph->inputs, graph->input_at, &graph->n_inputs, graph->n_inputs + graph->n_held,
               i);
  graph->n_held++;
  if (output < 0)
    return;
  if (shown) {
    held->at = output;
    return;
  }
  g_return_if_fail (graph->n_outputs > 1);
  move_behind (graph->outputs, graph->output_at, &graph->n_outputs,
               graph->n_outputs + graph->n_carried, (guint) output);
  graph->n_carried++;
  for (guint k = 0; k + 1 < graph->n_held; k++)
    if (graph->held[k].at > output)
      graph->held[k].at--;
}

guint
sl_graph_n_held (const SlGraph *graph)
{
  return graph->n_held;
}

const SlHeldInput *
sl_graph_held (const SlGraph *graph, guint i)
{
  return &graph->held[i];
}

guint
sl_graph_held_place (const SlGraph *graph, guint i)
{
  return graph->input_at[graph->n_inputs + i];
}

gboolean
sl_graph_carries_state (const SlGraph *graph)
{
  for (guint i = 0; i < graph->n_held; i++)
    if (graph->held[i].output >= 0)
      return TRUE;
  return FALSE;
}

const gint32 *
sl_graph_all_inputs (const SlGraph *graph, guint *n, const guint8 **places)
{
  *n = graph->n_inputs + graph->n_held;
  if (places != NULL)
    *places = graph->input_at;
  return graph->inputs;
}

const gint32 *
sl_graph_all_outputs (const SlGraph *graph, guint *n, const guint8 **places)
{
  *n = graph->n_outputs + graph->n_carried;
  if (places != NULL)
    *places = graph->output_at;
  return graph->outputs;
}

gboolean
sl_graph_fix_channels (SlGraph *graph, guint i, guint axis, gint32 n, const void *data,
                       GError **error)
{
  const gint32 whole = graph->inputs[i];
  SlTensor input = *sl_graph_tensor (graph, whole), fixed = input;
  g_return_val_if_fail (!graph->prepared && axis < input.rank && n > 0 && n < input.dims[axis],
                        FALSE);
  input.dims[axis] -= n;
  fixed.dims[axis] = n;
  fixed.data = data;
  const gint32 given = sl_graph_add_tensor (graph, &input, error);
  const gint32 constant = given >= 0 ? sl_graph_add_tensor (graph, &fixed, error) : -1;
  const SlOpParams params = { .concat = { .axis = (gint32) axis } };
  if (constant < 0
      || !sl_graph_add_node (graph, SL_OP_CONCATENATION, graph->nodes->len,
                             (const gint32[]){ given, constant }, 2, &whole, 1, &params, error))
    return FALSE;
  const SlNode node = g_array_index (graph->nodes, SlNode, graph->nodes->len - 1);
  g_array_set_size (graph->nodes, graph->nodes->len - 1);
  g_array_prepend_val (graph->nodes, node);
  graph->inputs[i] = given;
  return TRUE;
}

guint
sl_graph_n_tensors (const SlGraph *graph)
{
  return graph->tensors->len;
}

guint
sl_graph_n_nodes (const SlGraph *graph)
{
  return graph->nodes->len;
}

const SlTensor *
sl_graph_tensor (const SlGraph *graph, gint32 index)
{
  return &g_array_index (graph->tensors, SlTensor, index);
}

const SlNode *
sl_graph_node (const SlGraph *graph, guint index)
{
  return &g_array_index (graph->nodes, SlNode, index);
}

SlTensor *
sl_node_input (const SlGraph *graph, const SlNode *node, guint i)
{
  if (i >= node->n_inputs || node->inputs[i] < 0)
    return NULL;
  return (SlTensor *) sl_graph_tensor (graph, node->inputs[i]);
}

SlTensor *
sl_node_output (const SlGraph *graph, const SlNode *node, guint i)
{
  return (SlTensor *) sl_graph_tensor (graph, node->outputs[i]);
}

guint
sl_graph_n_inputs (const SlGraph *graph)
{
  return graph->n_inputs;
}

guint
sl_graph_n_outputs (const SlGraph *graph)
{
  return graph->n_outputs;
}

gint32
sl_graph_input (const SlGraph *graph, guint i)
{
  return graph->inputs[i];
}

gint32
sl_graph_output (const SlGraph *graph, guint i)
{
  return graph->outputs[i];
}

const SlTensor *
sl_graph_input_tensor (const SlGraph *graph, guint i)
{
  return sl_graph_tensor (graph, graph->inputs[i]);
}

const SlTensor *
sl_graph_output_tensor (const SlGraph *graph, guint i)
{
  return sl_graph_tensor (graph, graph->outputs[i]);
}

void
sl_graph_set_file (SlGraph *graph, SlFileImage *file)
{
  g_return_if_fail (graph->file == NULL);
  graph->file = sl_file_image_ref (file);
}

SlFileImage *
sl_graph_file (const SlGraph *graph)
{
  return graph->file;
}

void
sl_graph_set_copied (SlGraph *graph)
{
  graph->copied = TRUE;
}

void
sl_graph_keep_apart (SlGraph *graph)
{
  graph->apart = TRUE;
}

gboolean
sl_graph_is_copied (const SlGraph *graph)
{
  return graph->copied;
}

void
sl_graph_set_source (SlGraph *graph, gpointer source, GDestroyNotify destroy)
{
  g_return_if_fail (graph->source == NULL);
  graph->source = source;
  graph->destroy_source = destroy;
}

gpointer
sl_graph_source (const SlGraph *graph)
{
  return graph->source;
}

gpointer
sl_graph_attach (SlGraph *graph, gpointer (*make) (void), GDestroyNotify destroy)
{
  static GMutex mutex;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mutex);
  if (graph->attachment == NULL) {
    graph->attachment = make ();
    graph->destroy_attachment = destroy;
  }
  return graph->attachment;
}

const SlTensor *
sl_graph_declared_input_tensor (const SlGraph *graph, guint i)
{
  return graph->skipped && i == 0 ? sl_graph_tensor (graph, graph->declared_input)
                                  : sl_graph_input_tensor (graph, i);
}

gboolean
sl_graph_skips_input_quantize (const SlGraph *graph)
{
  return graph->skipped;
}

gboolean
sl_graph_set_whole (SlGraph *graph, const char *runtime, GError **error)
{
  gsize total = 0;
  for (guint i = 0; i < graph->tensors->len; i++)
    if (!g_size_checked_add (&total, total, g_array_index (graph->tensors, SlTensor, i).bytes)
        || total > graph->limit)
      return sl_fail (error, SL_ERROR_LIMIT,
                      "its inputs and outputs take more than %" G_GSIZE_FORMAT
                      " bytes; raise tensor-limit",
                      graph->limit);
  graph->whole = runtime;
  graph->prepared = TRUE;
  return TRUE;
}

const char *
sl_graph_whole (const SlGraph *graph)
{
  return graph->whole;
}

gsize
sl_graph_constant_bytes (const SlGraph *graph)
{
  gsize total = 0;
  for (guint i = 0; i < graph->tensors->len; i++)
    if (sl_graph_tensor (graph, (gint32) i)->data != NULL)
      total += sl_graph_tensor (graph, (gint32) i)->bytes;
  return total;
}
