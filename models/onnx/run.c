/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names and scopes, and the walk over a graph's nodes; If and Loop, which are decided while loading. */
#include <string.h>

#include "base/name_hash.h"
#include "models/onnx/build.h"
#include "models/onnx/ops.h"

#define MOST_DEPTH 8
#define MOST_TRIPS 1024
#define MOST_OUTPUTS 64

OnnxValue *
onnx_lookup (Onnx *o, const char *name)
{
  for (OnnxScope *scope = o->scope; scope != NULL; scope = scope->outer) {
    OnnxValue *value = g_hash_table_lookup (scope->values, name);
    if (value != NULL)
      return value;
    const SlPbMessage *constant = g_hash_table_lookup (scope->graph->initializers, name);
    if (constant == NULL)
      continue;
    value = onnx_read_constant (o, *constant, name);
    if (value != NULL)
      g_hash_table_insert (scope->values, (gpointer) name, value);
    return value;
  }
  return NULL;
}

static void
use_name (GHashTable *used, const char *name)
{
  if (name[0] != '\0')
    g_hash_table_add (used, (gpointer) name);
}

/* Every name that @graph and the graphs within it mention. Each look at a node counts as a step. */
static void
use_graph (Onnx *o, GHashTable *used, const OnnxGraph *graph)
{
  o->steps += graph->nodes->len;
  if (o->steps > ONNX_MOST_STEPS)
    return;
  for (guint i = 0; i < graph->outputs->len; i++)
    use_name (used, g_array_index (graph->outputs, OnnxEdge, i).name);
  for (guint i = 0; i < graph->nodes->len; i++) {
    const OnnxNode *node = &g_array_index (graph->nodes, OnnxNode, i);
    for (guint k = 0; k < node->n_inputs; k++)
      use_name (used, node->inputs[k]);
    for (guint k = 0; k < node->n_attributes; k++)
      if (node->attributes[k].graph != NULL)
        use_graph (o, used, node->attributes[k].graph);
  }
}

/* One flag a node: something that counts reads its outputs. */
static guint8 *
find_live (Onnx *o, const OnnxGraph *graph)
{
  guint8 *live = g_new0 (guint8, MAX (graph->nodes->len, 1));
  g_autoptr (GHashTable) used = g_hash_table_new (sl_name_hash, g_str_equal);
  for (guint i = 0; i < graph->outputs->len; i++)
    use_name (used, g_array_index (graph->outputs, OnnxEdge, i).name);
  for (guint i = graph->nodes->len; i-- > 0;) {
    const OnnxNode *node = &g_array_index (graph->nodes, OnnxNode, i);
    for (guint k = 0; k < node->n_outputs; k++)
      live[i] |= g_hash_table_contains (used, node->outputs[k]);
    for (guint k = 0; k < node->n_inputs && live[i]; k++)
      use_name (used, node->inputs[k]);
    for (guint k = 0; k < node->n_attributes && live[i]; k++)
      if (node->attributes[k].graph != NULL)
        use_graph (o, used, node->attributes[k].graph);
  }
  return live;
}

/* What to do about an operator that is missing. */
static const char *
advice (const char *domain)
{
  if (domain[0] == '\0')
    return "export the model without it";
  if (g_str_has_prefix (domain, "com.microsoft") || g_str_has_prefix (domain, "ai.onnx.contrib"))
    return "operators of this domain are ONNX Runtime's own: take the model as it was before ONNX Runtime's tools changed it";
  if (g_str_has_prefix (domain, "ai.onnx."))
    return "of ONNX's own domains ai.onnx alone is supported: export the network without what stands around it";
  return "operators of other domains belong to the program that the model was made for: export it with ONNX's own operators";
}

static char *
full_name (const OnnxNode *node)
{
  return node->domain[0] != '\0' ? g_strdup_printf ("%s.%s", node->domain, node->op) : g_strdup (node->op);
}

/* One sentence for all operators that are missing. */
static gboolean
check_operators (Onnx *o, const OnnxGraph *graph, const guint8 *live)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (sl_name_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) others = g_string_new (NULL);
  const OnnxNode *first = NULL;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const OnnxNode *node = &g_array_index (graph->nodes, OnnxNode, i);
    char *name = full_name (node);
    if (!live[i] || onnx_op_find (node->domain, node->op) != NULL || g_hash_table_contains (seen, name)) {
      g_free (name);
      continue;
    }
    if (first != NULL && others->len < 400)
      g_string_append_printf (others, "%s%s", others->len > 0 ? ", " : " (nor ", name);
    g_hash_table_add (seen, name);
    if (first == NULL)
      first = node;
  }
  if (first == NULL)
    return TRUE;
  if (others->len > 0)
    g_string_append_c (others, ')');
  o->node = first;
  g_autofree char *name = full_name (first);
  onnx_fail (o, SL_ERROR_UNSUPPORTED, "operator %s is not supported%s; %s", name, others->str, advice (first->domain));
  return FALSE;
}

const OnnxOp *
onnx_current (const Onnx *o)
{
  return onnx_op_find (o->node->domain, o->node->op);
}

gboolean
onnx_run_graph (Onnx *o)
{
  const OnnxGraph *graph = o->scope->graph;
  const OnnxNode *outer = o->node;
  o->steps += graph->nodes->len + 1;
  g_autofree guint8 *live = o->steps <= ONNX_MOST_STEPS ? find_live (o, graph) : NULL;
  if (o->steps > ONNX_MOST_STEPS) {
    onnx_fail (o, SL_ERROR_LIMIT, "the iterations of the model's loops have more than %d nodes", ONNX_MOST_STEPS);
    return FALSE;
  }
  if (!check_operators (o, graph, live))
    return FALSE;
  for (guint i = 0; i < graph->nodes->len && o->error == NULL; i++) {
    o->node = &g_array_index (graph->nodes, OnnxNode, i);
    if (live[i])
      onnx_convert (o);
  }
  if (o->error == NULL)
    o->node = outer;
  return o->error == NULL;
}

/* Runs an inner graph with @inputs; the values of its outputs in @outputs. */
static gboolean
run_inner (Onnx *o, const OnnxGraph *graph, OnnxValue *const *inputs, guint n_inputs, OnnxValue **outputs, guint n_outputs)
{
  OnnxScope scope = { .outer = o->scope, .graph = graph, .values = g_hash_table_new (sl_name_hash, g_str_equal) };
  if (++o->depth > MOST_DEPTH)
    onnx_fail (o, SL_ERROR_LIMIT, "graphs within graphs are nested more than %d deep", MOST_DEPTH);
  for (guint i = 0; i < MIN (n_inputs, graph->inputs->len); i++)
    g_hash_table_insert (scope.values, (gpointer) g_array_index (graph->inputs, OnnxEdge, i).name, inputs[i]);
  o->scope = &scope;
  if (o->error == NULL && graph->outputs->len < n_outputs)
    onnx_fail (o, SL_ERROR_FORMAT, "its inner graph has %u outputs; expected %u", graph->outputs->len, n_outputs);
  if (o->error == NULL && onnx_run_graph (o))
    for (guint i = 0; i < n_outputs && o->error == NULL; i++) {
      const char *name = g_array_index (graph->outputs, OnnxEdge, i).name;
      outputs[i] = onnx_lookup (o, name);
      if (outputs[i] == NULL)
        onnx_fail (o, SL_ERROR_FORMAT, "output '%s' of its inner graph is produced by no node", name);
    }
  o->scope = scope.outer;
  o->depth--;
  g_hash_table_unref (scope.values);
  return o->error == NULL;
}

/* A boolean that is known: 0 or 1, else -1. */
static gint
known_bool (Onnx *o, OnnxValue *value)
{
  gsize n = 0;
  const guint8 *data = onnx_data (o, value, &n);
  return data == NULL || onnx_dtype (o, value) != SL_DTYPE_BOOL || n != 1 ? -1 : data[0] != 0;
}

void
onnx_if (Onnx *o)
{
  OnnxValue *outputs[MOST_OUTPUTS];
  const gint condition = known_bool (o, onnx_required (o, 0));
  const OnnxAttribute *branch = onnx_attribute (o, condition == 1 ? "then_branch" : "else_branch");
  if (condition < 0)
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "its condition depends on the picture; only conditions that follow from shapes are supported");
  else if (branch == NULL || branch->graph == NULL || o->node->n_outputs > MOST_OUTPUTS)
    onnx_fail (o, SL_ERROR_FORMAT, "it has no graph for its condition, or more than %d outputs", MOST_OUTPUTS);
  else if (run_inner (o, branch->graph, NULL, 0, outputs, o->node->n_outputs))
    for (guint i = 0; i < o->node->n_outputs; i++)
      onnx_set_value (o, i, outputs[i]);
}

/* What the iterations gave for one scan output, one behind the other along a new first dimension. */
static OnnxValue *
join_scans (Onnx *o, const GArray *parts)
{
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (parts->len == 0 || parts->len > SL_MAX_OPERANDS) {
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "a scan output of %u iterations is not supported", parts->len);
    return NULL;
  }
  for (guint i = 0; i < parts->len; i++) {
    const gint32 tensor = onnx_plain (o, g_array_index (parts, OnnxValue *, i));
    g_array_append_val (tensors, tensor);
  }
  const SlOpParams params = { .axis = { .axis = 0, .count = (gint32) parts->len } };
  const gint32 *inputs = (const gint32 *) (gconstpointer) tensors->data;
  return onnx_value_new (o, onnx_emit (o, SL_OP_PACK, inputs, tensors->len, &params, onnx_tensor_type (o, inputs[0])), FALSE);
}

void
onnx_loop (Onnx *o)
{
  const OnnxAttribute *body = onnx_attribute (o, "body");
  OnnxValue *state[MOST_OUTPUTS] = { NULL }, *outputs[MOST_OUTPUTS] = { NULL };
  gint32 trips = MOST_TRIPS + 1;
  guint n = 0;
  const gboolean counted = onnx_input_ints (o, 0, "trip count", &trips, 1, &n);
  gint condition = onnx_has_input (o, 1) ? known_bool (o, onnx_input (o, 1)) : 1;
  const guint carried = o->node->n_inputs > 2 ? o->node->n_inputs - 2 : 0;
  if (o->error != NULL)
    return;
  if (body == NULL || body->graph == NULL || carried + 2 > MOST_OUTPUTS || body->graph->outputs->len > MOST_OUTPUTS
      || body->graph->outputs->len < carried + 1 || o->node->n_outputs + 1 > body->graph->outputs->len) {
    onnx_fail (o, SL_ERROR_FORMAT, "its body does not fit its inputs and outputs");
    return;
  }
  if (onnx_loop_of_objects (o, body->graph))
    return;
  const guint n_outputs = body->graph->outputs->len, scans = n_outputs - 1 - carried;
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint i = 0; i < scans; i++)
    g_ptr_array_add (parts, g_array_new (FALSE, FALSE, sizeof (OnnxValue *)));
  for (guint i = 0; i < carried; i++)
    state[i + 2] = onnx_required (o, i + 2);
  for (gint32 trip = 0; o->error == NULL && trip < trips && condition != 0; trip++) {
    const guint8 go = 1;
    if (condition < 0 || trip >= MOST_TRIPS) {
      onnx_fail (o, SL_ERROR_UNSUPPORTED, "the number of its iterations %s; at most %d that follow from constants and shapes are supported",
                 condition < 0 ? "depends on the picture"
                 : counted     ? "is too high"
                               : "has no end",
                 MOST_TRIPS);
      return;
    }
    state[0] = onnx_value_new (o, onnx_int_scalar (o, trip), FALSE);
    state[1] = onnx_value_new (o, onnx_constant (o, SL_DTYPE_BOOL, 0, NULL, &go), FALSE);
    if (!run_inner (o, body->graph, state, carried + 2, outputs, n_outputs))
      return;
    condition = known_bool (o, outputs[0]);
    memcpy (state + 2, outputs + 1, carried * sizeof state[0]);
    for (guint i = 0; i < scans; i++)
      g_array_append_val ((GArray *) parts->pdata[i], outputs[1 + carried + i]);
  }
  for (guint i = 0; i < o->node->n_outputs && o->error == NULL; i++)
    if (onnx_has_output (o, i))
      onnx_set_value (o, i, i < carried ? state[i + 2] : join_scans (o, parts->pdata[i - carried]));
}
