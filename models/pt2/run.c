/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the nodes of a graph: each is an operator of torch's table, a function of Python on numbers,
 * or a higher-order operator. Its arguments are values of earlier nodes, by name.
 */
#include <string.h>

#include "core/base/name_hash.h"
#include "models/pt2/program.h"

#define MAX_NAME 128
/* Operators that one message names. */
#define MAX_NAMED 24
#define TORCH_OPS "torch.ops."

/* Functions on numbers, by the row that does the same. */
static const struct
{
  const char *target, *name;
} functions[] = {
  { "_operator.add", "aten::add" },
  { "_operator.sub", "aten::sub" },
  { "_operator.mul", "aten::mul" },
  { "_operator.floordiv", "aten::floordiv" },
  { "_operator.truediv", "aten::div" },
  { "_operator.mod", "aten::remainder" },
  { "_operator.pow", "aten::pow" },
  { "_operator.neg", "aten::neg" },
  { "_operator.eq", "aten::eq" },
  { "_operator.ne", "aten::ne" },
  { "_operator.lt", "aten::lt" },
  { "_operator.le", "aten::le" },
  { "_operator.gt", "aten::gt" },
  { "_operator.ge", "aten::ge" },
  { "_operator.and_", "aten::__and__" },
  { "_operator.or_", "aten::__or__" },
  { "_operator.not_", "aten::__not__" },
  { "_operator.getitem", "aten::__getitem__" },
  { "math.ceil", "aten::ceil" },
  { "math.floor", "aten::floor" },
  { "math.sqrt", "aten::sqrt" },
  { "math.trunc", "aten::Int" },
  { "builtins.round", "aten::round" },
  { "torch.sym_float", "aten::Float" },
  { "torch.sym_int", "aten::Int" },
  { "torch.sym_max", "prim::max" },
  { "torch.sym_min", "prim::min" },
  { "torch.sym_not", "aten::__not__" },
  { "torch._sym_sqrt", "aten::sqrt" },
  { "torch.ops.aten.sym_size", "aten::size" },
  { "torch.ops.aten.sym_numel", "aten::numel" },
  { "torch.ops.aten.sym_stride", "aten::stride" },
};

gboolean
pt_operator_name (const char *target, char *name, gsize size)
{
  const gsize start = strlen (TORCH_OPS);
  const gboolean is_op = g_str_has_prefix (target, TORCH_OPS);
  const char *dot = is_op ? strchr (target + start, '.') : NULL,
             *overload = dot != NULL ? strchr (dot + 1, '.') : NULL;
  const gsize length = overload != NULL ? (gsize) (overload - target) : strlen (target);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (strlen (functions[i].target) == length
        && memcmp (functions[i].target, target, length) == 0) {
      g_strlcpy (name, functions[i].name, size);
      return TRUE;
    }
  if (dot == NULL)
    return FALSE;
  const int space = (int) (dot - target - (gssize) start);
  return (gsize) g_snprintf (name, size, "%.*s::%.*s", space, target + start,
                             (int) (target + length - dot - 1), dot + 1)
         < size;
}

void
pt_set_value (PtProgram *program, const char *name, TsValue value)
{
  TsValue *box = ts_alloc (program->ops.heap, sizeof *box);
  if (box == NULL)
    return;
  *box = value;
  g_hash_table_insert (program->values, (gpointer) name, box);
}

TsValue
pt_get_value (PtProgram *program, const char *name)
{
  const TsValue *value =
    program->values != NULL ? g_hash_table_lookup (program->values, name) : NULL;
  return value != NULL ? *value
                       : ts_refuse (&program->ops, SL_ERROR_FORMAT,
                                    "no node before this one makes the value '%s'", name);
}

/* A node's parts; @target is in the heap. */
typedef struct
{
  const char *target;
  PtSpan inputs, outputs;
} Node;

static gboolean
read_node (PtProgram *program, SlJsonReader *reader, Node *node)
{
  *node = (Node){ .target = NULL };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "target") == 0)
      node->target = pt_read_text (program, reader);
    else if (strcmp (reader->key->str, "inputs") == 0)
      pt_read_span (reader, &node->inputs);
    else if (strcmp (reader->key->str, "outputs") == 0)
      pt_read_span (reader, &node->outputs);
    else
      sl_json_reader_skip (reader);
  if (reader->error == NULL
      && (node->target == NULL || node->inputs.text == NULL || node->outputs.text == NULL))
    return sl_json_reader_fail (reader, "a node has no '%s'",
                                node->target == NULL        ? "target"
                                : node->inputs.text == NULL ? "inputs"
                                                            : "outputs");
  return reader->error == NULL && !ts_failed (&program->ops);
}

/* {"name": NAME, "arg": {...}} */
static gboolean
read_named (PtProgram *program, SlJsonReader *reader, PtArgument *argument)
{
  gboolean has_value = FALSE;
  *argument = (PtArgument){ .name = "" };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "name") == 0)
      argument->name = pt_read_text (program, reader);
    else if (strcmp (reader->key->str, "arg") == 0)
      has_value = pt_read_argument (program, reader, argument);
    else
      sl_json_reader_skip (reader);
  if (!has_value && !ts_failed (&program->ops))
    return sl_json_reader_fail (reader, "an argument of a node has no 'arg'");
  return reader->error == NULL && !ts_failed (&program->ops);
}

static gboolean
read_arguments (PtProgram *program, PtSpan span, PtArgument *args, guint *n)
{
  SlJsonReader reader;
  *n = 0;
  pt_reader_init (&reader, span);
  sl_json_reader_enter (&reader, SL_JSON_LIST);
  while (sl_json_reader_next (&reader)) {
    if (*n == PT_MAX_ARGUMENTS) {
      sl_json_reader_fail (&reader, "more than %d arguments", PT_MAX_ARGUMENTS);
      break;
    }
    if (!read_named (program, &reader, &args[(*n)++]))
      break;
  }
  return pt_reader_done (program, &reader);
}

/* Gives @value, or with @is_list each of its items, the name that the output has. */
static void
set_output (PtProgram *program, const GPtrArray *names, gboolean is_list, TsValue value)
{
  const gboolean sequence = value.kind == TS_LIST || value.kind == TS_TUPLE;
  if (!is_list && sequence && value.list->n == 1)
    value = value.list->items[0];
  const guint n = is_list && sequence ? value.list->n : 1;
  if (ts_failed (&program->ops))
    return;
  if (n < names->len) {
    ts_refuse (&program->ops, SL_ERROR_UNSUPPORTED, "%u results; the program uses %u", n,
               names->len);
    return;
  }
  if (!is_list || !sequence) {
    if (names->len == 1)
      pt_set_value (program, g_ptr_array_index (names, 0), value);
    return;
  }
  for (guint i = 0; i < names->len; i++)
    pt_set_value (program, g_ptr_array_index (names, i), value.list->items[i]);
}

/* (transfer full): the names in a list of arguments; how many arguments it has, and whether the
 * last one is a list of names. */
static GPtrArray *
read_all_names (PtProgram *program, PtSpan span, guint *n, gboolean *is_list)
{
  SlJsonReader reader;
  GPtrArray *names = g_ptr_array_new ();
  *n = 0;
  *is_list = FALSE;
  pt_reader_init (&reader, span);
  sl_json_reader_enter (&reader, SL_JSON_LIST);
  while (sl_json_reader_next (&reader) && pt_read_names (program, &reader, names, is_list))
    (*n)++;
  pt_reader_done (program, &reader);
  return names;
}

/* One output is the result, or a list of names for a list; several are the results of a tuple. */
static void
set_outputs (PtProgram *program, PtSpan span, TsValue result)
{
  guint n;
  gboolean is_list;
  g_autoptr (GPtrArray) names = read_all_names (program, span, &n, &is_list);
  if (!ts_failed (&program->ops) && n > 0)
    set_output (program, names, is_list || n > 1, result);
}

static TsValue
run_target (PtProgram *program, const char *target, const PtArgument *args, guint n)
{
  char name[MAX_NAME];
  TsValue values[PT_MAX_ARGUMENTS];
  const char *names[PT_MAX_ARGUMENTS];
  if (pt_is_control (target))
    return pt_run_control (program, target, args, n);
  if (!pt_operator_name (target, name, sizeof name))
    return ts_refuse (&program->ops, SL_ERROR_UNSUPPORTED, "this function is not supported");
  for (guint i = 0; i < n; i++) {
    if (args[i].is_graph)
      return ts_refuse (&program->ops, SL_ERROR_UNSUPPORTED, "a graph as an argument");
    values[i] = args[i].value;
    names[i] = args[i].name;
  }
  const char *kept = ts_text (program->ops.heap, name, strlen (name));
  return kept != NULL ? ts_run_named (&program->ops, kept, values, names, n) : ts_none ();
}

/* Says once at which node the first error happened. */
static void
locate (PtProgram *program, guint number, const char *target)
{
  TsProgram *ops = &program->ops;
  if (!ts_failed (ops) || ops->located)
    return;
  ops->located = TRUE;
  GError **error = ops->heap->error != NULL ? &ops->heap->error : &ops->lower.error;
  char *message = (*error)->message;
  const gsize length = strlen (program->member);
  /* What a reader of the text says begins with the member, too. */
  if (g_str_has_prefix (message, program->member) && g_str_has_prefix (message + length, ": "))
    memmove (message, message + length + 2, strlen (message + length + 2) + 1);
  g_prefix_error (error, "%s, node %u, %s: ", program->member, number,
                  target != NULL ? target : "without a target");
}

static void
run_nodes (PtProgram *program, const PtGraph *graph)
{
  SlJsonReader reader;
  PtArgument args[PT_MAX_ARGUMENTS];
  guint number = 0, n = 0;
  pt_reader_init (&reader, graph->nodes);
  sl_json_reader_enter (&reader, SL_JSON_LIST);
  for (; sl_json_reader_next (&reader); number++) {
    Node node;
    if (++program->ops.steps > TS_MAX_STEPS)
      ts_fail (program->ops.heap, SL_ERROR_LIMIT, "the program takes more than %d steps",
               TS_MAX_STEPS);
    if (read_node (program, &reader, &node) && read_arguments (program, node.inputs, args, &n))
      set_outputs (program, node.outputs, run_target (program, node.target, args, n));
    locate (program, number, node.target);
    if (ts_failed (&program->ops))
      break;
  }
  pt_reader_done (program, &reader);
}

/* The inputs of @graph, in order, get @args. */
static void
bind (PtProgram *program, const PtGraph *graph, const TsValue *args, guint n)
{
  guint n_inputs;
  gboolean is_list;
  g_autoptr (GPtrArray) names = read_all_names (program, graph->inputs, &n_inputs, &is_list);
  if (ts_failed (&program->ops))
    return;
  if (names->len != n) {
    ts_refuse (&program->ops, SL_ERROR_FORMAT,
               "%s: the graph has %u inputs; expected %u, as its %s has", program->member,
               names->len, n, program->depth == 1 ? "signature" : "caller");
    return;
  }
  for (guint i = 0; i < n; i++)
    pt_set_value (program, g_ptr_array_index (names, i), args[i]);
}

static TsValue
read_results (PtProgram *program, const PtGraph *graph)
{
  SlJsonReader reader;
  const TsValue results = ts_list (program->ops.heap);
  pt_reader_init (&reader, graph->outputs);
  sl_json_reader_enter (&reader, SL_JSON_LIST);
  while (sl_json_reader_next (&reader)) {
    PtArgument argument = { .name = "" };
    if (!pt_read_argument (program, &reader, &argument)
        || !ts_list_append (program->ops.heap, results.list, argument.value))
      break;
  }
  if (program->ops.heap->error != NULL && !program->ops.located)
    g_prefix_error (&program->ops.heap->error, "%s, outputs of the graph: ", program->member);
  return pt_reader_done (program, &reader) ? results : ts_none ();
}

TsValue
pt_run_graph (PtProgram *program, const PtGraph *graph, const TsValue *args, guint n)
{
  GHashTable *outer = program->values;
  if (ts_failed (&program->ops))
    return ts_none ();
  if (program->depth == TS_MAX_CALLS)
    return ts_refuse (&program->ops, SL_ERROR_LIMIT, "graphs are nested too deeply");
  program->depth++;
  program->values = g_hash_table_new (sl_name_hash, g_str_equal);
  bind (program, graph, args, n);
  if (!ts_failed (&program->ops))
    run_nodes (program, graph);
  const TsValue results = ts_failed (&program->ops) ? ts_none () : read_results (program, graph);
  g_hash_table_unref (program->values);
  program->values = outer;
  program->depth--;
  return results;
}

/* Looking at nodes without running them. */

typedef struct
{
  PtProgram *program;
  gpointer data;
  void (*look) (PtProgram *program, const Node *node, gpointer data);
} Walk;

static void walk_nodes (const Walk *walk, PtSpan nodes);

/* The graphs among a node's arguments. */
static void
walk_inner (const Walk *walk, PtSpan inputs)
{
  SlJsonReader reader;
  pt_reader_init (&reader, inputs);
  const SlJsonKind kind = sl_json_reader_kind (&reader);
  if (kind == SL_JSON_LIST || kind == SL_JSON_OBJECT)
    sl_json_reader_enter (&reader, kind);
  while (reader.error == NULL && reader.depth > 0) {
    if (!sl_json_reader_next (&reader))
      continue;
    PtGraph graph;
    const SlJsonKind inner = sl_json_reader_kind (&reader);
    if (strcmp (reader.key->str, "graph") == 0 && inner == SL_JSON_OBJECT) {
      if (pt_read_graph (&reader, &graph))
        walk_nodes (walk, graph.nodes);
    } else if (inner == SL_JSON_OBJECT || inner == SL_JSON_LIST) {
      sl_json_reader_enter (&reader, inner);
    } else {
      sl_json_reader_skip (&reader);
    }
  }
  pt_reader_done (walk->program, &reader);
}

static void
walk_nodes (const Walk *walk, PtSpan nodes)
{
  SlJsonReader reader;
  Node node;
  guint number = 0;
  if (walk->program->depth == TS_MAX_CALLS)
    return;
  walk->program->depth++;
  pt_reader_init (&reader, nodes);
  sl_json_reader_enter (&reader, SL_JSON_LIST);
  while (sl_json_reader_next (&reader) && read_node (walk->program, &reader, &node)) {
    walk->look (walk->program, &node, walk->data);
    if (pt_is_control (node.target))
      walk_inner (walk, node.inputs);
    if (ts_failed (&walk->program->ops))
      break;
    number++;
  }
  if (reader.error != NULL)
    g_prefix_error (&reader.error, "node %u: ", number);
  pt_reader_done (walk->program, &reader);
  walk->program->depth--;
}

static void
look_and_count (PtProgram *program, const Node *node, gpointer data)
{
  const guint count = GPOINTER_TO_UINT (g_hash_table_lookup (data, node->target));
  g_hash_table_insert (data, (gpointer) node->target, GUINT_TO_POINTER (count + 1));
}

static gboolean
is_known (PtProgram *program, const char *target)
{
  char name[MAX_NAME];
  return pt_is_control (target)
         || (pt_operator_name (target, name, sizeof name) && ts_has_op (&program->ops, name));
}

/* An operator that PyTorch and its libraries do not have. */
static gboolean
is_custom (const char *target)
{
  static const char *const ours[] = { "aten",       "higher_order",         "prims",
                                      "quantized",  "quantized_decomposed", "torchao",
                                      "torchvision" };
  if (!g_str_has_prefix (target, TORCH_OPS))
    return FALSE;
  const char *space = target + strlen (TORCH_OPS);
  const gsize length = strcspn (space, ".");
  for (guint i = 0; i < G_N_ELEMENTS (ours); i++)
    if (strlen (ours[i]) == length && memcmp (ours[i], space, length) == 0)
      return FALSE;
  return TRUE;
}

/* FALSE with an error that names those of @targets that are not supported. */
static gboolean
check_targets (PtProgram *program, const GList *targets)
{
  g_autoptr (GString) list = g_string_new (NULL);
  const char *custom = NULL;
  guint n = 0, n_custom = 0;
  for (const GList *target = targets; target != NULL; target = target->next) {
    if (is_known (program, target->data))
      continue;
    if (n++ < MAX_NAMED)
      g_string_append_printf (list, "%s%.*s", n > 1 ? ", " : "", MAX_NAME,
                              (const char *) target->data);
    if (is_custom (target->data) && n_custom++ == 0)
      custom = target->data;
  }
  if (n == 0)
    return TRUE;
  if (n > MAX_NAMED)
    g_string_append_printf (list, " and %u more", n - MAX_NAMED);
  if (n > n_custom)
    g_string_append (
      list,
      "; save what run_decompositions() of the program gives, which writes many by others, or "
      "export the model to ONNX with torch.onnx.export(); docs/operators.md lists those that are");
  if (n_custom > 0)
    g_string_append_printf (
      list,
      "; the file does not contain the code of custom operators: save what "
      "run_decompositions({%.*s: FUNCTION}) of the program gives, with a function of PyTorch's "
      "operators for each, or export the model with that code in place of the operators",
      MAX_NAME, custom);
  return ts_fail (program->ops.heap, SL_ERROR_UNSUPPORTED,
                  "%s: operators that are not supported: %s", program->member, list->str);
}

char *
pt_check_operators (PtProgram *program)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (sl_name_hash, g_str_equal);
  const Walk walk = { program, counts, look_and_count };
  walk_nodes (&walk, program->graph.nodes);
  g_autoptr (GList) targets = g_list_sort (g_hash_table_get_keys (counts), (GCompareFunc) strcmp);
  if (ts_failed (&program->ops) || !check_targets (program, targets))
    return NULL;
  GString *list = g_string_new (NULL);
  for (const GList *target = targets; target != NULL; target = target->next) {
    const char *text = target->data;
    g_string_append_printf (list, "%s%s %u", list->len > 0 ? ", " : "",
                            g_str_has_prefix (text, TORCH_OPS) ? text + strlen (TORCH_OPS) : text,
                            GPOINTER_TO_UINT (g_hash_table_lookup (counts, text)));
  }
  return g_string_free (list, FALSE);
}

/* Operators whose result shares elements with their first argument. */
static const char *const views[] = {
  "alias",     "detach",    "diagonal", "expand",  "flatten", "narrow",    "permute",
  "reshape",   "select",    "slice",    "squeeze", "t",       "transpose", "unbind",
  "unflatten", "unsqueeze", "view",     "view_as", "chunk",   "split",     "split_with_sizes",
};

/* @roots: name -> the graph's input that it is a part of; @written: those inputs that are written.
 */
typedef struct
{
  GHashTable *roots, *written;
} Writes;

static void
look_for_writes (PtProgram *program, const Node *node, gpointer data)
{
  const Writes *writes = data;
  char name[MAX_NAME];
  SlJsonReader reader;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  guint n;
  gboolean is_list;
  if (!pt_operator_name (node->target, name, sizeof name))
    return;
  const char *stem = strstr (name, "::");
  const gsize length = strlen (name);
  const gboolean writes_first = length > 1 && name[length - 1] == '_' && name[length - 2] != '_';
  gboolean shares = writes_first;
  for (guint i = 0; i < G_N_ELEMENTS (views) && stem != NULL; i++)
    shares |= strcmp (stem + 2, views[i]) == 0;
  if (!shares)
    return;
  pt_reader_init (&reader, node->inputs);
  sl_json_reader_enter (&reader, SL_JSON_LIST);
  if (sl_json_reader_next (&reader))
    sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (reader.depth > 1 && sl_json_reader_next (&reader))
    if (strcmp (reader.key->str, "arg") == 0)
      pt_read_names (program, &reader, inputs, &is_list);
    else
      sl_json_reader_skip (&reader);
  if (!pt_reader_done (program, &reader) || inputs->len == 0)
    return;
  const char *root = g_hash_table_lookup (writes->roots, g_ptr_array_index (inputs, 0));
  if (root == NULL)
    return;
  if (writes_first)
    g_hash_table_add (writes->written, (gpointer) root);
  g_autoptr (GPtrArray) outputs = read_all_names (program, node->outputs, &n, &is_list);
  for (guint i = 0; i < outputs->len; i++)
    g_hash_table_insert (writes->roots, g_ptr_array_index (outputs, i), (gpointer) root);
}

GHashTable *
pt_find_written (PtProgram *program)
{
  g_autoptr (GHashTable) roots = g_hash_table_new (sl_name_hash, g_str_equal);
  guint n;
  gboolean is_list;
  g_autoptr (GPtrArray) names = read_all_names (program, program->graph.inputs, &n, &is_list);
  Writes writes = { roots, g_hash_table_new (sl_name_hash, g_str_equal) };
  const Walk walk = { program, &writes, look_for_writes };
  for (guint i = 0; i < names->len; i++)
    g_hash_table_insert (roots, g_ptr_array_index (names, i), g_ptr_array_index (names, i));
  walk_nodes (&walk, program->graph.nodes);
  return writes.written;
}
