/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Variables by their names. Reading one gives its tensor of the moment: at first the graph's input,
 * after an assignment what was assigned.
 */
#include "models/tflite/variables.h"

#include <string.h>

#include "core/base/printable.h"
#include "models/tflite/schema.h"
#include "core/base/fail.h"

/* Numbers of the operators, and fields of their options. */
enum
{
  CALL_ONCE = 129,
  VAR_HANDLE = 142,
  READ_VARIABLE = 143,
  ASSIGN_VARIABLE = 144,
  OPTION_SUBGRAPH = 0,
  OPTION_CONTAINER = 0,
  OPTION_NAME = 1,
};

typedef struct
{
  char *name;
  gint32 input, current; /* tensors, -1 = none */
  const void *first;     /* (nullable): in the arena */
  gsize first_bytes;
} Variable;

struct _TflVariables
{
  TflVariableFile file;
  GArray *all;         /* of Variable */
  GHashTable *handles; /* tensors of the first subgraph to places in @all, plus 1 */
  guint64 first_nodes; /* that CALL_ONCE has run so far */
};

static void
variable_clear (gpointer data)
{
  g_free (((Variable *) data)->name);
}

gboolean
tfl_variables_is_op (gint32 builtin)
{
  return builtin == CALL_ONCE || (builtin >= VAR_HANDLE && builtin <= ASSIGN_VARIABLE);
}

gboolean
tfl_variables_is_value (gint32 builtin, gboolean output, guint i)
{
  return output ? builtin == READ_VARIABLE : builtin == ASSIGN_VARIABLE && i == 1;
}

TflVariables *
tfl_variables_new (const TflVariableFile *file)
{
  TflVariables *variables = g_new0 (TflVariables, 1);
  variables->file = *file;
  variables->all = g_array_new (FALSE, TRUE, sizeof (Variable));
  g_array_set_clear_func (variables->all, variable_clear);
  variables->handles = g_hash_table_new (NULL, NULL);
  return variables;
}

void
tfl_variables_free (TflVariables *variables)
{
  if (variables == NULL)
    return;
  g_array_unref (variables->all);
  g_hash_table_unref (variables->handles);
  g_free (variables);
}

static gboolean
bad (GError **error, const char *what)
{
  return sl_fail (error, SL_ERROR_FORMAT, "variables: %s", what);
}

/* Place of the variable that a VAR_HANDLE names, which is made where it is new; -1 with @error set
 * for too many. */
static gint
find_variable (TflVariables *variables, const SlFbTable *node, GError **error)
{
  gsize lengths[2];
  const SlFbTable options = sl_fb_table (node, TFL_OPERATOR_OPTIONS);
  const char *container = sl_fb_string (&options, OPTION_CONTAINER, &lengths[0]),
             *name = sl_fb_string (&options, OPTION_NAME, &lengths[1]);
  g_autofree char *raw = g_strdup_printf (
    "%.*s%s%.*s", (int) MIN (lengths[0], 256), container != NULL ? container : "",
    lengths[0] > 0 ? "/" : "", (int) MIN (lengths[1], 256), name != NULL ? name : "");
  g_autofree char *whole = sl_printable (raw, SL_PRINTABLE_NAME);
  for (guint i = 0; i < variables->all->len; i++)
    if (strcmp (g_array_index (variables->all, Variable, i).name, whole) == 0)
      return (gint) i;
  if (variables->all->len == SL_MAX_IO) {
    sl_fail (error, SL_ERROR_LIMIT, "the model has more than %d variables", SL_MAX_IO);
    return -1;
  }
  const Variable variable = { .name = g_steal_pointer (&whole), .input = -1, .current = -1 };
  g_array_append_val (variables->all, variable);
  return (gint) variables->all->len - 1;
}

/* (nullable): by the handle that is operand 0 of a node. */
static Variable *
operand (TflVariables *variables, GHashTable *handles, gint32 handle, GError **error)
{
  const guint place = GPOINTER_TO_UINT (g_hash_table_lookup (handles, GINT_TO_POINTER (handle)));
  if (place == 0)
    bad (error, "a node reads or assigns what no VAR_HANDLE names");
  return place == 0 ? NULL : &g_array_index (variables->all, Variable, place - 1);
}

/* The bytes of constant @tensor of another subgraph. */
static gboolean
take_first (TflVariables *variables, Variable *variable, const SlFbTable *tensor, GError **error)
{
  const TflVariableFile *file = &variables->file;
  const guint8 *data;
  gsize bytes;
  if (!file->find_buffer (file->reader, sl_fb_u32 (tensor, TFL_TENSOR_BUFFER, 0), &data, &bytes,
                          error)
      || !file->may_copy (file->reader, bytes, error))
    return FALSE;
  if (data == NULL)
    return bad (
      error,
      "a first value is computed; expected a constant: export the model with variables that start "
      "as constants");
  guint8 *copy = sl_arena_alloc (sl_graph_arena (file->graph), bytes + SL_TENSOR_PADDING);
  memcpy (copy, data, bytes);
  variable->first = copy;
  variable->first_bytes = bytes;
  return TRUE;
}

/* A node of the subgraph that runs once. */
static gboolean
read_first_node (TflVariables *variables, GHashTable *handles, const SlFbVector *tensors,
                 const SlFbTable *node, GError **error)
{
  const TflVariableFile *file = &variables->file;
  const gint32 builtin = file->builtin (file->reader, sl_fb_u32 (node, TFL_OPERATOR_CODE, 0));
  const SlFbVector in = sl_fb_vector (node, TFL_OPERATOR_INPUTS, 4),
                   out = sl_fb_vector (node, TFL_OPERATOR_OUTPUTS, 4);
  if (builtin == VAR_HANDLE && out.count == 1) {
    const gint place = find_variable (variables, node, error);
    g_hash_table_insert (handles, GINT_TO_POINTER (sl_fb_vector_i32 (&out, 0)),
                         GINT_TO_POINTER (place + 1));
    return place >= 0;
  }
  if (builtin != ASSIGN_VARIABLE || in.count != 2)
    return bad (
      error,
      "CALL_ONCE runs more than VAR_HANDLE and ASSIGN_VARIABLE; export the model with variables "
      "that start as constants");
  Variable *variable = operand (variables, handles, sl_fb_vector_i32 (&in, 0), error);
  const gint32 value = sl_fb_vector_i32 (&in, 1);
  if (variable == NULL)
    return FALSE;
  if (value < 0 || value >= (gint64) tensors->count)
    return bad (error, "a first value is a tensor that does not exist");
  const SlFbTable tensor = sl_fb_vector_table (tensors, (guint32) value);
  return take_first (variables, variable, &tensor, error);
}

static gboolean
call_once (TflVariables *variables, const SlFbVector *subgraphs, const SlFbTable *node,
           GError **error)
{
  const SlFbTable options = sl_fb_table (node, TFL_OPERATOR_OPTIONS);
  const gint32 index = sl_fb_i32 (&options, OPTION_SUBGRAPH, 0);
  g_autoptr (GHashTable) handles = g_hash_table_new (NULL, NULL);
  if (index <= 0 || index >= (gint64) subgraphs->count)
    return bad (error, "CALL_ONCE names a subgraph that does not exist");
  const SlFbTable subgraph = sl_fb_vector_table (subgraphs, (guint32) index);
  const SlFbVector tensors = sl_fb_vector (&subgraph, TFL_SUBGRAPH_TENSORS, 4);
  const SlFbVector operators = sl_fb_vector (&subgraph, TFL_SUBGRAPH_OPERATORS, 4);
  variables->first_nodes += operators.count;
  if (variables->first_nodes > SL_MAX_NODES)
    return bad (error, "CALL_ONCE runs too many nodes");
  for (guint32 i = 0; i < operators.count; i++) {
    const SlFbTable first = sl_fb_vector_table (&operators, i);
    if (!read_first_node (variables, handles, &tensors, &first, error))
      return FALSE;
  }
  return sl_fb_check (variables->file.fb, error);
}

/* @out shows @from: the same elements in the shape of @out. */
static gboolean
add_view (SlGraph *graph, guint index, gint32 from, gint32 out, GError **error)
{
  const SlTensor *tensor = sl_graph_tensor (graph, out);
  SlOpParams params = { .reshape = { .count = tensor->rank } };
  memcpy (params.reshape.dims, tensor->dims, sizeof params.reshape.dims);
  return sl_graph_add_node (graph, SL_OP_RESHAPE, index, &from, 1, &out, 1, &params, error);
}

static gboolean
read_variable (TflVariables *variables, Variable *variable, gint32 out, guint index, GError **error)
{
  if (variable->current >= 0)
    return add_view (variables->file.graph, index, variable->current, out, error);
  SlTensor *tensor = (SlTensor *) sl_graph_tensor (variables->file.graph, out);
  if (variable->name[0] != '\0')
    tensor->name = sl_arena_strdup (sl_graph_arena (variables->file.graph), variable->name);
  variable->input = variable->current = out;
  return TRUE;
}

gboolean
tfl_variables_read_node (TflVariables *variables, const SlFbVector *subgraphs,
                         const SlFbTable *node, guint index, GError **error)
{
  const TflVariableFile *file = &variables->file;
  const gint32 builtin = file->builtin (file->reader, sl_fb_u32 (node, TFL_OPERATOR_CODE, 0));
  const SlFbVector in = sl_fb_vector (node, TFL_OPERATOR_INPUTS, 4),
                   out = sl_fb_vector (node, TFL_OPERATOR_OUTPUTS, 4);
  if (builtin == CALL_ONCE)
    return call_once (variables, subgraphs, node, error);
  if (out.count != (builtin == ASSIGN_VARIABLE ? 0 : 1)
      || in.count != (guint32) (builtin - VAR_HANDLE))
    return bad (error, "a node has another number of inputs or outputs than its operator");
  if (builtin == VAR_HANDLE) {
    const gint place = find_variable (variables, node, error);
    g_hash_table_insert (variables->handles, GINT_TO_POINTER (sl_fb_vector_i32 (&out, 0)),
                         GINT_TO_POINTER (place + 1));
    return place >= 0;
  }
  Variable *variable = operand (variables, variables->handles, sl_fb_vector_i32 (&in, 0), error);
  if (variable == NULL)
    return FALSE;
  if (builtin == READ_VARIABLE)
    return read_variable (variables, variable, sl_fb_vector_i32 (&out, 0), index, error);
  variable->current = sl_fb_vector_i32 (&in, 1);
  return variable->current >= 0 || bad (error, "a value that is assigned is missing");
}

static gboolean
check_first (const Variable *variable, const SlTensor *tensor, GError **error)
{
  gsize elements, bytes;
  if (variable->first == NULL
      || (sl_tensor_elements (tensor, &elements)
          && g_size_checked_mul (&bytes, elements, sl_dtype_size (tensor->dtype))
          && bytes == variable->first_bytes))
    return TRUE;
  g_autofree char *text = sl_tensor_describe (tensor);
  return sl_fail (error, SL_ERROR_FORMAT,
                  "variables: '%s' is %s, but its first value has %" G_GSIZE_FORMAT " bytes",
                  variable->name, text, variable->first_bytes);
}

gboolean
tfl_variables_finish (TflVariables *variables, guint index, gint32 *inputs, guint *n_inputs,
                      gint32 *outputs, guint *n_outputs, SlModelMetadata *metadata, GError **error)
{
  SlGraph *graph = variables->file.graph;
  g_autoptr (GString) pairs = g_string_new (NULL);
  guint n = 0;
  for (guint i = 0; i < variables->all->len; i++) {
    const Variable *variable = &g_array_index (variables->all, Variable, i);
    if (variable->input < 0)
      continue;
    if (*n_inputs == SL_MAX_IO || *n_outputs == SL_MAX_IO)
      return sl_fail (error, SL_ERROR_LIMIT,
                      "the model has more than %d inputs or outputs with its variables", SL_MAX_IO);
    SlTensor after = *sl_graph_tensor (graph, variable->input);
    const gint32 out =
      check_first (variable, &after, error) ? sl_graph_add_tensor (graph, &after, error) : -1;
    if (out < 0 || !add_view (graph, index, variable->current, out, error))
      return FALSE;
    g_string_append_printf (pairs, "%s#%u=#%u", n > 0 ? "," : "", *n_inputs, *n_outputs);
    inputs[(*n_inputs)++] = variable->input;
    outputs[(*n_outputs)++] = out;
    metadata->state_first[n++] = variable->first;
  }
  if (n > 0)
    metadata->state = g_string_free (g_steal_pointer (&pairs), FALSE);
  return TRUE;
}
