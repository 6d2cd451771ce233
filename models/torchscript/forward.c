/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs forward() of a module: its parameters become inputs of the graph, its return values outputs.
 */
#include "models/torchscript/forward.h"

#include <string.h>

#include "models/torch/edges.h"
#include "models/torchscript/code.h"

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

/* The arguments of forward(): tensors, and lists with one or all of them; what has a default keeps
 * it. */
static GArray *
make_arguments (TsEdges *edges, const TsDef *def, const TsShape *shapes, guint n)
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
                        ts_add_input (edges, parameter->name, shapes[used++], TRUE));
      while (last && used < n && !ts_failed (edges->program));
    } else if (is_tensor (parameter->type)) {
      value = ts_add_input (edges, parameter->name, shapes[used++], FALSE);
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

static void
run (TsEdges *edges, const TsModule *module, const TsShape *shapes, guint n)
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
  ts_add_outputs (edges, "output", result);
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
  TsEdges edges;
  ts_program_init (&program, module->heap, graph);
  ts_edges_init (&edges, &program);
  ts_code_init (&code, &program, read_code, module->archive);
  code.constants = module->constants.kind == TS_TUPLE ? module->constants.list : NULL;
  program.lower.may_copy = module->heap->most_bytes;
  run (&edges, module, shapes, n);
  if (!ts_failed (&program))
    sl_graph_set_io (graph, edges.inputs, edges.n_inputs, edges.outputs, edges.n_outputs,
                     &program.lower.error);
  GError *error = ts_take_error (&program);
  ts_code_clear (&code);
  ts_edges_clear (&edges);
  ts_program_clear (&program);
  if (error == NULL)
    return TRUE;
  module->heap->error = error;
  return FALSE;
}
