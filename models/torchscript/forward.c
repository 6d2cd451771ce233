/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Running forward() of a module: its parameters become inputs of the graph, its return values
 * outputs. Tuples and lists of outputs are numbered, those of dictionaries have their keys as
 * names. Outputs whose number of rows depends on the picture have as many as there can be, with
 * zeros behind the last.
 */
#include "models/torchscript/forward.h"

#include <string.h>

#include "core/base/name_hash.h"
#include "models/lower/ops.h"
#include "models/aten/dynamic_rows.h"
#include "models/torchscript/code.h"

/* Tuples, lists and dictionaries of outputs inside each other. */
#define MAX_DEPTH 8

typedef struct
{
  TsProgram *program;
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  guint n_inputs, n_outputs;
  GHashTable *names; /* of outputs */
} Edges;

static GBytes *
read_code (gpointer archive, const char *path, GError **error)
{
  return ts_archive_has (archive, path) ? ts_archive_read (archive, path, error) : NULL;
}

static gboolean
is_list_of_tensors (const TsExpr *type)
{
  return type != NULL && type->kind == TS_EXPR_SUBSCRIPT && strcmp (type->base->text, "List") == 0
         && type->n == 1 && strcmp (type->items[0]->text, "Tensor") == 0;
}

static gboolean
is_tensor (const TsExpr *type)
{
  if (type == NULL || type->kind != TS_EXPR_SUBSCRIPT)
    return type == NULL || strcmp (type->text, "Tensor") == 0;
  return strcmp (type->base->text, "Optional") == 0 && type->n == 1
         && strcmp (type->items[0]->text, "Tensor") == 0;
}

/* One tensor of the graph for input @name; a picture of a list has no batch. */
static TsValue
add_input (Edges *edges, const char *name, TsShape shape, gboolean listed)
{
  TsProgram *program = edges->program;
  SlTensor tensor = { .name = name,
                      .dtype =
                        shape.dtype == TS_INT64 ? SL_DTYPE_I64 : ts_dtype_graph (shape.dtype) };
  gsize elements = 0;
  if (listed && shape.rank == 4 && shape.dims[0] == 1) {
    memmove (shape.dims, shape.dims + 1, 3 * sizeof shape.dims[0]);
    shape.rank = 3;
  }
  if (edges->n_inputs >= SL_MAX_IO || tensor.dtype == SL_DTYPE_INVALID)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "input '%s' is one of more than %d, or of %s",
                      name, SL_MAX_IO, ts_dtype_name (shape.dtype));
  tensor.rank = shape.rank;
  memcpy (tensor.dims, shape.dims, sizeof tensor.dims);
  if (!sl_tensor_elements (&tensor, &elements)
      || !g_size_checked_mul (&tensor.bytes, elements, sl_dtype_size (tensor.dtype)))
    return ts_refuse (program, SL_ERROR_LIMIT, "input '%s': its dimensions overflow", name);
  const gint32 index = lower_new_tensor (&program->lower, &tensor);
  edges->inputs[edges->n_inputs++] = index;
  return ts_new_plain (program, lower_cast (&program->lower, index, ts_dtype_graph (shape.dtype)),
                       shape.dtype);
}

/* The arguments of forward(): tensors, and lists with one or all of them; what has a default keeps
 * it. */
static GArray *
make_arguments (Edges *edges, const TsDef *def, const TsShape *shapes, guint n)
{
  GArray *args = g_array_new (FALSE, FALSE, sizeof (TsValue));
  guint used = 0;
  for (guint i = 1; i < def->n && used < n && !ts_failed (edges->program); i++) {
    const TsParameter *parameter = &def->parameters[i];
    TsValue value = ts_none ();
    if (is_list_of_tensors (parameter->type)) {
      const gboolean last = i + 1 == def->n || def->parameters[i + 1].fallback != NULL;
      value = ts_list (edges->program->heap);
      do
        ts_list_append (edges->program->heap, value.list,
                        add_input (edges, parameter->name, shapes[used++], TRUE));
      while (last && used < n && !ts_failed (edges->program));
    } else if (is_tensor (parameter->type)) {
      value = add_input (edges, parameter->name, shapes[used++], FALSE);
    } else if (parameter->fallback == NULL) {
      ts_refuse (edges->program, SL_ERROR_UNSUPPORTED,
                 "argument '%s' of forward() is neither a tensor nor a list of tensors",
                 parameter->name);
    } else {
      break;
    }
    g_array_append_val (args, value);
  }
  if (used < n && !ts_failed (edges->program))
    ts_refuse (edges->program, SL_ERROR_ARGUMENT,
               "%u shapes are stated for the inputs of forward(), which takes %u tensors", n, used);
  return args;
}

/* The name of an output, with a number where another has it already. */
static const char *
unused_name (Edges *edges, const char *wanted)
{
  g_autofree char *name = g_strdup (wanted);
  for (guint i = 1; g_hash_table_contains (edges->names, name); i++) {
    g_free (name);
    name = g_strdup_printf ("%s.%u", wanted, i);
  }
  const char *kept = sl_arena_strdup (edges->program->lower.arena, name);
  g_hash_table_add (edges->names, (gpointer) kept);
  return kept;
}

static void
add_output (Edges *edges, const char *name, TsValue value)
{
  TsProgram *program = edges->program;
  Lower *o = &program->lower;
  LowerValue *x = ts_filled_rows (program, value, 0);
  if (x == NULL)
    return;
  if (x->empty || edges->n_outputs >= SL_MAX_IO) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "output '%s' has no elements, or is one of more than %d", name, SL_MAX_IO);
    return;
  }
  gint32 tensor = lower_plain (o, x);
  if (value.tensor->dtype == TS_QUINT8)
    tensor = lower_unsigned (o, tensor);
  else if (value.tensor->dtype == TS_INT64)
    tensor = lower_cast (o, tensor, SL_DTYPE_I64);
  if (!ts_failed (program))
    tensor = lower_own_output (o, tensor, edges->inputs, edges->n_inputs, edges->outputs,
                               edges->n_outputs);
  if (ts_failed (program))
    return;
  lower_change_tensor (o, tensor)->name = unused_name (edges, name);
  edges->outputs[edges->n_outputs++] = tensor;
}

/* Only tensors are outputs: None and numbers are skipped. */
static void
add_outputs (Edges *edges, const char *name, TsValue value, guint depth)
{
  if (ts_failed (edges->program) || depth > MAX_DEPTH)
    return;
  if (value.kind == TS_TENSOR)
    add_output (edges, name, value);
  if (value.kind == TS_DICT)
    for (guint i = 0; i < value.dict->n; i++)
      add_outputs (edges,
                   value.dict->entries[i].key.kind == TS_STRING ? value.dict->entries[i].key.text
                                                                : name,
                   value.dict->entries[i].value, depth + 1);
  if (value.kind != TS_LIST && value.kind != TS_TUPLE)
    return;
  for (guint i = 0; i < value.list->n; i++) {
    g_autofree char *numbered =
      value.list->n > 1 ? g_strdup_printf ("%s.%u", name, i) : g_strdup (name);
    add_outputs (edges, numbered, value.list->items[i], depth + 1);
  }
}

static void
run (Edges *edges, const TsModule *module, const TsShape *shapes, guint n)
{
  TsProgram *program = edges->program;
  const TsValue forward = ts_get_attribute (program, module->module, "forward");
  if (forward.kind != TS_FUNCTION || forward.function->def == NULL) {
    ts_refuse (program, SL_ERROR_FORMAT, "class %s has no forward()",
               module->module.object->class_name);
    return;
  }
  g_autoptr (GArray) args = make_arguments (edges, forward.function->def, shapes, n);
  const TsValue result = ts_call (program, forward.function,
                                  (const TsValue *) (gconstpointer) args->data, NULL, args->len);
  add_outputs (edges, "output", result, 0);
  if (edges->n_outputs == 0)
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "forward() returns a value of type %s; expected tensors",
               ts_kind_name (result.kind));
}

gboolean
ts_forward (const TsModule *module, const TsShape *shapes, guint n, SlGraph *graph)
{
  TsProgram program;
  TsCode code;
  g_autoptr (GHashTable) names = g_hash_table_new (sl_name_hash, g_str_equal);
  Edges edges = { .program = &program, .names = names };
  ts_program_init (&program, module->heap, graph);
  ts_code_init (&code, &program, read_code, module->archive);
  code.constants = module->constants.kind == TS_TUPLE ? module->constants.list : NULL;
  program.lower.may_copy = module->heap->most_bytes;
  run (&edges, module, shapes, n);
  if (!ts_failed (&program))
    sl_graph_set_io (graph, edges.inputs, edges.n_inputs, edges.outputs, edges.n_outputs,
                     &program.lower.error);
  GError *error = ts_take_error (&program);
  ts_code_clear (&code);
  ts_program_clear (&program);
  if (error == NULL)
    return TRUE;
  module->heap->error = error;
  return FALSE;
}
