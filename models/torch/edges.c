/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/torch/edges.h"

#include <string.h>

#include "core/base/name_hash.h"
#include "models/aten/dynamic_rows.h"

/* Tuples, lists and dictionaries of outputs inside each other. */
#define MAX_DEPTH 8

void
ts_edges_init (TsEdges *edges, TsProgram *program)
{
  *edges = (TsEdges){ .program = program };
  edges->names = g_hash_table_new (sl_name_hash, g_str_equal);
  edges->padded = g_string_new (NULL);
}

void
ts_edges_clear (TsEdges *edges)
{
  g_hash_table_unref (edges->names);
  g_string_free (edges->padded, TRUE);
}

SlDtype
ts_edge_dtype (const TsEdges *edges, TsDtype dtype)
{
  if (dtype == TS_FLOAT16 && edges->halves)
    return SL_DTYPE_F16;
  if (dtype == TS_FLOAT64 && edges->doubles)
    return SL_DTYPE_F64;
  return dtype == TS_INT64 ? SL_DTYPE_I64 : ts_dtype_graph (dtype);
}

TsValue
ts_add_input (TsEdges *edges, const char *name, TsShape shape, gboolean listed)
{
  TsProgram *program = edges->program;
  SlTensor tensor = { .name = name, .dtype = ts_edge_dtype (edges, shape.dtype) };
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

/* The name of an output, with a number where another has it already. */
static const char *
unused_name (TsEdges *edges, const char *wanted)
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
add_output (TsEdges *edges, const char *name, TsValue value)
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
  else if (value.tensor->dtype == TS_INT64 || sl_dtype_is_float (lower_tensor_type (o, tensor)))
    tensor = lower_cast (o, tensor, ts_edge_dtype (edges, value.tensor->dtype));
  if (!ts_failed (program))
    tensor = lower_own_output (o, tensor, edges->inputs, edges->n_inputs, edges->outputs,
                               edges->n_outputs);
  if (ts_failed (program))
    return;
  lower_change_tensor (o, tensor)->name = unused_name (edges, name);
  edges->outputs[edges->n_outputs++] = tensor;
  if (value.tensor->valid != NULL)
    g_string_append_printf (edges->padded, "%s%s", edges->padded->len > 0 ? ", " : "",
                            lower_t (o, tensor)->name);
}

static void
add_outputs (TsEdges *edges, const char *name, TsValue value, guint depth)
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

void
ts_add_outputs (TsEdges *edges, const char *name, TsValue value)
{
  add_outputs (edges, name, value, 0);
}
