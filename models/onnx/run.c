/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names and scopes, and the walk over a graph's nodes and those of graphs within it. */

#include "core/base/name_hash.h"
#include "models/onnx/ops.h"

#define MAX_DEPTH 8

/* An initialiser becomes a value when a node first asks for it. */
LowerValue *
onnx_read_initializer (Lower *o, const LowerScope *scope, const char *name)
{
  const SlPbMessage *constant = g_hash_table_lookup (scope->graph->initializers, name);
  LowerValue *value = constant != NULL ? onnx_read_constant (o, *constant, name) : NULL;
  if (value != NULL)
    g_hash_table_insert (scope->values, (gpointer) name, value);
  return value;
}

static void
use_name (GHashTable *used, const char *name)
{
  if (name[0] != '\0')
    g_hash_table_add (used, (gpointer) name);
}

/* Every name that @graph and the graphs within it mention. Each look at a node counts as a step. */
static void
use_graph (Lower *o, GHashTable *used, const OnnxGraph *graph)
{
  onnx_reader (o)->steps += graph->nodes->len;
  if (onnx_reader (o)->steps > ONNX_MAX_STEPS)
    return;
  for (guint i = 0; i < graph->outputs->len; i++)
    use_name (used, g_array_index (graph->outputs, OnnxEdge, i).name);
  for (guint i = 0; i < graph->nodes->len; i++) {
    const LowerNode *node = &g_array_index (graph->nodes, LowerNode, i);
    for (guint k = 0; k < node->n_inputs; k++)
      use_name (used, node->inputs[k]);
    for (guint k = 0; k < node->n_attributes; k++)
      if (node->attributes[k].graph != NULL)
        use_graph (o, used, node->attributes[k].graph);
  }
}

/* One flag a node: something that counts reads its outputs. */
static guint8 *
find_live (Lower *o, const OnnxGraph *graph)
{
  guint8 *live = g_new0 (guint8, MAX (graph->nodes->len, 1));
  g_autoptr (GHashTable) used = g_hash_table_new (sl_name_hash, g_str_equal);
  for (guint i = 0; i < graph->outputs->len; i++)
    use_name (used, g_array_index (graph->outputs, OnnxEdge, i).name);
  for (guint i = graph->nodes->len; i-- > 0;) {
    const LowerNode *node = &g_array_index (graph->nodes, LowerNode, i);
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
    return "operators of this domain are ONNX Runtime's own: take the model as it was before ONNX "
           "Runtime's tools changed it";
  if (g_str_has_prefix (domain, "ai.onnx."))
    return "of ONNX's own domains ai.onnx alone is supported: export the network without what "
           "stands around it";
  return "operators of other domains belong to the program that the model was made for: export it "
         "with ONNX's own operators";
}

static char *
full_name (const LowerNode *node)
{
  return node->domain[0] != '\0' ? g_strdup_printf ("%s.%s", node->domain, node->op)
                                 : g_strdup (node->op);
}

/* One sentence for all operators that are missing. */
static gboolean
check_operators (Lower *o, const OnnxGraph *graph, const guint8 *live)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (sl_name_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) others = g_string_new (NULL);
  const LowerNode *first = NULL;
  for (guint i = 0; i < graph->nodes->len; i++) {
    const LowerNode *node = &g_array_index (graph->nodes, LowerNode, i);
    char *name = full_name (node);
    if (!live[i] || onnx_op_find (node->domain, node->op) != NULL
        || g_hash_table_contains (seen, name)) {
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
  return lower_refuse (o, SL_ERROR_UNSUPPORTED, "operator %s is not supported%s; %s", name,
                       others->str, advice (first->domain));
}

gboolean
onnx_run_graph (Lower *o)
{
  const OnnxGraph *graph = o->scope->graph;
  const LowerNode *outer = o->node;
  onnx_reader (o)->steps += graph->nodes->len + 1;
  g_autofree guint8 *live = onnx_reader (o)->steps <= ONNX_MAX_STEPS ? find_live (o, graph) : NULL;
  if (onnx_reader (o)->steps > ONNX_MAX_STEPS)
    return lower_refuse (o, SL_ERROR_LIMIT,
                         "the iterations of the model's loops have more than %d nodes",
                         ONNX_MAX_STEPS);
  if (!check_operators (o, graph, live))
    return FALSE;
  for (guint i = 0; i < graph->nodes->len && o->error == NULL; i++) {
    o->node = &g_array_index (graph->nodes, LowerNode, i);
    if (live[i])
      lower_convert (o);
  }
  if (o->error == NULL)
    o->node = outer;
  return o->error == NULL;
}

gboolean
onnx_run_inner (Lower *o, const OnnxGraph *graph, LowerValue *const *inputs, guint n_inputs,
                LowerValue **outputs, guint n_outputs)
{
  LowerScope scope = { .outer = o->scope,
                       .graph = graph,
                       .values = g_hash_table_new (sl_name_hash, g_str_equal) };
  if (++onnx_reader (o)->depth > MAX_DEPTH)
    lower_fail (o, SL_ERROR_LIMIT, "graphs within graphs are nested more than %d deep", MAX_DEPTH);
  for (guint i = 0; i < MIN (n_inputs, graph->inputs->len); i++)
    g_hash_table_insert (scope.values, (gpointer) g_array_index (graph->inputs, OnnxEdge, i).name,
                         inputs[i]);
  o->scope = &scope;
  if (o->error == NULL && graph->outputs->len < n_outputs)
    lower_fail (o, SL_ERROR_FORMAT, "its inner graph has %u outputs; expected %u",
                graph->outputs->len, n_outputs);
  if (o->error == NULL && onnx_run_graph (o))
    for (guint i = 0; i < n_outputs && o->error == NULL; i++) {
      const char *name = g_array_index (graph->outputs, OnnxEdge, i).name;
      outputs[i] = lower_lookup (o, name);
      if (outputs[i] == NULL)
        lower_fail (o, SL_ERROR_FORMAT, "output '%s' of its inner graph is produced by no node",
                    name);
    }
  o->scope = scope.outer;
  onnx_reader (o)->depth--;
  g_hash_table_unref (scope.values);
  return o->error == NULL;
}
