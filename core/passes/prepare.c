/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sl_graph_prepare(): proves that a graph read from a file can run. Every tensor is produced once
 * and before it is used, every node passes its operator's check, every shape is inferred, sizes
 * stay under the limits; then the passes rewrite it, and the same proof runs again over what they
 * made.
 */
#include "core/passes/prepare.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/graph/constants.h"
#include "core/graph/graph_private.h"
#include "core/graph/lifetimes.h"
#include "core/ops/ops.h"
#include "core/passes/passes.h"
#include "core/graph/work.h"

#define RAISE_LIMIT "; set tensor-limit (MiB) higher if the model is meant to be that large"
#define RAISE_WORK_LIMIT "; set work-limit (billions) higher if the model is meant to be that slow"

/* Rounds of all passes. Each may make work for the others; real models need a few, and what is left
 * undone costs time only. */
#define MAX_ROUNDS 32

/* Sets the bytes of @tensor: 0 where a dimension is 0 or the type unknown. FALSE = no size has so
 * many, or a dimension is below 0. */
static gboolean
measure (SlTensor *tensor)
{
  gsize elements = 0;
  return sl_tensor_elements (tensor, &elements)
         && g_size_checked_mul (&tensor->bytes, elements, sl_dtype_size (tensor->dtype));
}

static gboolean
finish_tensor (const SlGraph *graph, const char *role, SlTensor *tensor, GError **error)
{
  for (guint i = 0; i < tensor->rank; i++) {
    if (tensor->dims[i] >= 1)
      continue;
    g_autofree char *text = sl_tensor_describe (tensor);
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "%s '%s' is %s: dynamic or empty shapes are not supported; export the model with a fixed "
      "shape",
      role, tensor->name, text);
  }
  if (sl_dtype_size (tensor->dtype) == 0)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "%s '%s' has no known element type", role,
                    tensor->name);
  if (!measure (tensor) || tensor->bytes > graph->limit) {
    g_autofree char *text = sl_tensor_describe (tensor);
    return sl_fail (error, SL_ERROR_LIMIT,
                    "%s '%s' is %s: over the limit of %" G_GSIZE_FORMAT " bytes" RAISE_LIMIT, role,
                    tensor->name, text, graph->limit);
  }
  return TRUE;
}

static gboolean
start_tensors (SlGraph *graph, GByteArray *defined, GError **error)
{
  for (guint i = 0; i < graph->tensors->len; i++) {
    SlTensor *tensor = &g_array_index (graph->tensors, SlTensor, i);
    if (tensor->data == NULL)
      continue;
    if (!finish_tensor (graph, "constant", tensor, error))
      return FALSE;
    defined->data[i] = 1;
  }
  for (guint i = 0; i < graph->n_inputs; i++) {
    SlTensor *tensor = &g_array_index (graph->tensors, SlTensor, graph->inputs[i]);
    if (defined->data[graph->inputs[i]])
      return sl_fail (error, SL_ERROR_FORMAT, "model input %u '%s' is a constant or listed twice",
                      i, tensor->name);
    if (!finish_tensor (graph, "input", tensor, error))
      return FALSE;
    defined->data[graph->inputs[i]] = 1;
  }
  return TRUE;
}

static gboolean
check_node_inputs (const SlGraph *graph, const SlNode *node, const GByteArray *defined,
                   GError **error)
{
  const SlOp *op = sl_op_get (node->op);
  for (guint i = 0; i < node->n_inputs; i++) {
    if (node->inputs[i] < 0) {
      if (i < op->required)
        return sl_node_error (error, node, SL_ERROR_FORMAT, "input %u is missing", i);
      continue;
    }
    if (!defined->data[node->inputs[i]])
      return sl_node_error (error, node, SL_ERROR_FORMAT,
                            "input %u, tensor %d '%s', is used before anything produces it", i,
                            node->inputs[i], sl_graph_tensor (graph, node->inputs[i])->name);
  }
  return TRUE;
}

static gboolean
finish_node_outputs (SlGraph *graph, const SlNode *node, GByteArray *defined, GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++) {
    SlTensor *tensor = sl_node_output (graph, node, i);
    if (defined->data[node->outputs[i]])
      return sl_node_error (error, node, SL_ERROR_FORMAT,
                            "output %u, tensor %d '%s', already has a producer or is a constant", i,
                            node->outputs[i], tensor->name);
    defined->data[node->outputs[i]] = 1;
    if (!finish_tensor (graph, "tensor", tensor, error))
      return sl_fail_prefix (error, "node %u %s: ", node->index, sl_op_name (node->op));
  }
  return TRUE;
}

/* Weights that several layers read are packed for each of them: what all layers read together
 * beyond what a file may hold, four times its size as floats, counts as tensors do, which take
 * @taken bytes. */
static gboolean
check_shared (const SlGraph *graph, gsize taken, GError **error)
{
  const gsize held = graph->bytes != NULL ? 4 * g_bytes_get_size (graph->bytes) : 0;
  gsize weights = 0;
  for (guint k = 0; k < graph->nodes->len; k++) {
    const SlNode *node = &g_array_index (graph->nodes, SlNode, k);
    if (sl_node_multiply_adds (graph, node) == 0)
      continue;
    for (guint i = 0; i < node->n_inputs; i++) {
      const SlTensor *tensor = sl_node_input (graph, node, i);
      if (tensor != NULL && tensor->data != NULL
          && !g_size_checked_add (&weights, weights, tensor->bytes))
        weights = G_MAXSIZE;
    }
    if (weights > held && weights - held > graph->limit - taken)
      return sl_node_error (
        error, node, SL_ERROR_LIMIT,
        "the model's tensors, and weights that layers share, need more than %" G_GSIZE_FORMAT
        " bytes" RAISE_LIMIT,
        graph->limit);
  }
  return TRUE;
}

static gboolean
add_bytes (gsize *total, const SlTensor *tensor)
{
  return tensor->data != NULL
         || (g_size_checked_add (total, *total, tensor->bytes) && *total <= G_MAXSIZE / 8);
}

/* The sum of all tensors that are computed or given. FALSE = there is no measure for it. */
static gboolean
sum_tensors (const SlGraph *graph, gsize *total)
{
  gboolean known = TRUE;
  *total = 0;
  for (guint i = 0; i < graph->n_inputs; i++)
    known = known && add_bytes (total, sl_graph_tensor (graph, graph->inputs[i]));
  for (guint i = 0; i < graph->nodes->len && known; i++) {
    const SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    for (guint o = 0; o < node->n_outputs; o++)
      known = known && add_bytes (total, sl_node_output (graph, node, o));
  }
  return known;
}

/* What lies in memory at once is within the limit, and so are weights beside it. It is counted only
 * where all tensors together are not. */
static gboolean
check_memory (const SlGraph *graph, GError **error)
{
  guint at = 0;
  gsize total;
  const gboolean known = sum_tensors (graph, &total);
  if (known && total > graph->limit)
    total = sl_memory_at_once (graph, &at);
  if (known && total <= graph->limit)
    return check_shared (graph, total, error);
  const SlNode *node = at < graph->nodes->len ? &g_array_index (graph->nodes, SlNode, at) : NULL;
  g_autofree char *text = g_strdup_printf ("the model's tensors need more than %" G_GSIZE_FORMAT
                                           " bytes at once" RAISE_LIMIT,
                                           graph->limit);
  const guint64 needed = ((guint64) total >> 20) + 1;
  if (known && needed <= SL_MAX_TENSOR_LIMIT) {
    char *more = g_strdup_printf ("%s: tensor-limit=%" G_GUINT64_FORMAT " would do", text, needed);
    g_free (text);
    text = more;
  }
  if (node != NULL)
    return sl_node_error (error, node, SL_ERROR_LIMIT, "%s", text);
  return sl_fail (error, SL_ERROR_LIMIT, "%s", text);
}

/* Whether @tensor, a bias, adds nothing. */
static gboolean
adds_nothing (const SlTensor *tensor)
{
  gsize n = 0;
  if (tensor == NULL)
    return TRUE;
  if (tensor->data == NULL || !sl_tensor_elements (tensor, &n))
    return FALSE;
  const guint8 *bytes = tensor->data;
  for (gsize i = 0; i < n * sl_dtype_size (tensor->dtype); i++)
    if (bytes[i] != 0)
      return FALSE;
  return TRUE;
}

/* A fully connected layer whose weights are computed for each run, as attention is written in 8
 * bits, is a product of two matrices. */
static void
settle_product (const SlGraph *graph, SlNode *node)
{
  if (node->op != SL_OP_FULLY_CONNECTED || node->n_inputs < 2
      || (node->n_inputs > 2 && !adds_nothing (sl_node_input (graph, node, 2)))
      || node->params.fully_connected.activation != SL_ACTIVATION_NONE)
    return;
  const SlTensor *input = sl_node_input (graph, node, 0), *weights = sl_node_input (graph, node, 1);
  const gboolean flat = input->rank > 2 && !node->params.fully_connected.keep_dims;
  if (weights->data != NULL || weights->rank != 2 || input->rank < 2
      || weights->dtype != input->dtype
      || (weights->dtype != SL_DTYPE_I8 && (weights->dtype != SL_DTYPE_F32 || flat)))
    return;
  node->op = SL_OP_BATCH_MATMUL;
  node->n_inputs = 2;
  node->params = (SlOpParams){ .matmul = { .transpose_b = TRUE, .flat = flat } };
}

/* An operator relies on inputs that are there and have sizes; those of nodes before it do once
 * their outputs are finished. */
static gboolean
prove_node (SlGraph *graph, SlNode *node, const GByteArray *defined, GError **error)
{
  if (!check_node_inputs (graph, node, defined, error)
      || !sl_graph_need_values (graph, node, error))
    return FALSE;
  settle_product (graph, node);
  const SlOp *op = sl_op_get (node->op);
  return op->check (graph, node, error) && op->infer (graph, node, error);
}

/* MiB that tensors take at once, where nodes from @first on, which is proven, are not over a limit;
 * 0 = their shapes are not known, or no limit is as large. @defined is used up. */
static guint64
count_rest (SlGraph *graph, guint first, GByteArray *defined)
{
  gsize total;
  guint at;
  for (guint i = first; i < graph->nodes->len; i++) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (i > first && !prove_node (graph, node, defined, NULL))
      return 0;
    for (guint o = 0; o < node->n_outputs; o++) {
      SlTensor *tensor = sl_node_output (graph, node, o);
      if ((i > first && defined->data[node->outputs[o]]) || !measure (tensor) || tensor->bytes == 0)
        return 0;
      defined->data[node->outputs[o]] = 1;
    }
  }
  sl_pass_remove_nodes (graph);
  if (!sum_tensors (graph, &total))
    return 0;
  total = sl_memory_at_once (graph, &at);
  return total >> 20 < SL_MAX_TENSOR_LIMIT ? ((guint64) total >> 20) + 1 : 0;
}

/* Adds to an error of the limit of one tensor which limit would do for all. */
static void
name_limit (SlGraph *graph, guint first, GByteArray *defined, GError **error)
{
  const guint64 needed = error != NULL && g_error_matches (*error, SL_ERROR, SL_ERROR_LIMIT)
                           ? count_rest (graph, first, defined)
                           : 0;
  if (needed == 0)
    return;
  char *text =
    g_strdup_printf ("%s: tensor-limit=%" G_GUINT64_FORMAT " would do", (*error)->message, needed);
  g_free ((*error)->message);
  (*error)->message = text;
}

/* @folded counts the nodes whose results are now constants: they are gone from the graph. */
static gboolean
verify (SlGraph *graph, guint *folded, GError **error)
{
  g_autoptr (GByteArray) defined = g_byte_array_new ();
  g_byte_array_set_size (defined, graph->tensors->len);
  memset (defined->data, 0, defined->len);

  if (graph->n_inputs == 0)
    return sl_fail (error, SL_ERROR_FORMAT, "the model names no inputs and outputs");
  if (!start_tensors (graph, defined, error))
    return FALSE;
  for (guint i = 0; i < graph->nodes->len; i++) {
    SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (!prove_node (graph, node, defined, error))
      return FALSE;
    if (!finish_node_outputs (graph, node, defined, error)) {
      name_limit (graph, i, defined, error);
      return FALSE;
    }
    if (!sl_constant_fold (graph, node, folded, error))
      return FALSE;
  }
  sl_pass_remove_nodes (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    if (!sl_graph_need_values (graph, &g_array_index (graph->nodes, SlNode, i), error))
      return FALSE;
  for (guint i = 0; i < graph->n_outputs; i++) {
    if (defined->data[graph->outputs[i]])
      continue;
    return sl_fail (error, SL_ERROR_FORMAT, "model output %u '%s' is produced by no node", i,
                    sl_graph_output_tensor (graph, i)->name);
  }
  return TRUE;
}

gboolean
sl_graph_settle_node (SlGraph *graph, GError **error)
{
  g_return_val_if_fail (!graph->prepared && graph->nodes->len > 0, FALSE);
  SlNode *node = &g_array_index (graph->nodes, SlNode, graph->nodes->len - 1);
  const SlOp *op = sl_op_get (node->op);
  guint folded = 0;
  if (!sl_graph_need_values (graph, node, error) || !op->check (graph, node, error)
      || !op->infer (graph, node, error))
    return FALSE;
  for (guint i = 0; i < node->n_outputs; i++)
    if (!finish_tensor (graph, "tensor", sl_node_output (graph, node, i), error))
      return FALSE;
  if (!sl_constant_fold (graph, node, &folded, error))
    return FALSE;
  graph->pass_changes[SL_PASS_CONSTANT_FOLD] += folded;
  g_array_set_size (graph->nodes, graph->nodes->len - folded);
  return TRUE;
}

static gboolean
check_work (const SlGraph *graph, GError **error)
{
  const guint64 work = sl_graph_work (graph);
  if (work <= graph->work_limit)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_LIMIT,
    "a frame takes about %.4g billion multiply-adds, or as much other work: over the limit of "
    "%.4g" RAISE_WORK_LIMIT,
    (gdouble) work / 1e9, (gdouble) graph->work_limit / 1e9);
}

/* No kernel reads 8-bit weights under floats: a graph without room for float ones may not run. */
static gboolean
check_weights (const SlGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->nodes->len; i++) {
    const SlNode *node = &g_array_index (graph->nodes, SlNode, i);
    if (sl_node_has_stored_weights (graph, node))
      return sl_node_error (
        error, node, SL_ERROR_LIMIT,
        "its weights of 8 bits become float, for which %u tensors leave no room; at most %d",
        graph->tensors->len, SL_MAX_TENSORS);
  }
  return TRUE;
}

gboolean
sl_graph_prepare (SlGraph *graph, GError **error)
{
  if (graph->prepared)
    return TRUE;
  guint changes = 1;
  graph->input_scale = sl_graph_find_input_scale (graph);
  graph->input_top = sl_graph_find_input_top (graph);
  for (guint round = 0; changes > 0; round++) {
    guint folded = 0;
    if (!verify (graph, &folded, error))
      return FALSE;
    graph->pass_changes[SL_PASS_CONSTANT_FOLD] += folded;
    changes = round < MAX_ROUNDS ? sl_passes_run (graph) : 0;
  }
  sl_graph_narrow (graph);
  sl_graph_find_rounded (graph);
  if (!check_memory (graph, error) || !check_work (graph, error) || !check_weights (graph, error))
    return FALSE;
  graph->prepared = TRUE;
  return TRUE;
}

gdouble
sl_graph_input_scale (const SlGraph *graph)
{
  return graph->input_scale;
}

gdouble
sl_graph_input_top (const SlGraph *graph)
{
  return graph->input_top;
}

const char *
sl_graph_may_need (const SlGraph *graph, SlOpType op)
{
  gboolean may = graph->given[op];
  for (guint of = 1; of < SL_OP_COUNT; of++)
    may |= graph->given[of] && sl_passes_make ((SlOpType) of, op);
  return may ? sl_op_type_name (op) : NULL;
}

guint
sl_graph_n_passes (const SlGraph *graph)
{
  return sl_passes_count ();
}

const char *
sl_graph_pass (const SlGraph *graph, guint i, guint *changes)
{
  *changes = graph->pass_changes[i];
  return sl_passes_name (i);
}
