/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the row of an operator that formats are lowered to, and converts a node by it. */

#include "core/base/name_hash.h"
#include "models/lower/ops.h"

/* Inputs of an operator that others are made of. */
#define MAX_CALLED 4

const LowerOp *
lower_row (gsize *index, const LowerOp *const *tables, const char *op)
{
  if (g_once_init_enter (index)) {
    GHashTable *rows = g_hash_table_new (g_str_hash, g_str_equal);
    for (guint i = 0; tables[i] != NULL; i++)
      for (const LowerOp *row = tables[i]; row->op != NULL; row++)
        g_hash_table_insert (rows, (gpointer) row->op, (gpointer) row);
    g_once_init_leave (index, (gsize) rows);
  }
  return g_hash_table_lookup ((GHashTable *) *index, op);
}

const LowerOp *
lower_find_op (const char *op)
{
  static const LowerOp *const tables[] = { lower_ops_attention,
                                           lower_ops_axis,
                                           lower_ops_einsum,
                                           lower_ops_elements,
                                           lower_ops_elementwise,
                                           lower_ops_matrix,
                                           lower_ops_recurrent,
                                           lower_ops_region,
                                           lower_ops_resize,
                                           lower_ops_shape,
                                           lower_ops_volume,
                                           lower_ops_window,
                                           NULL };
  static gsize index;
  return lower_row (&index, tables, op);
}

void
lower_convert (Lower *o)
{
  const LowerOp *outer = o->row;
  o->row =
    o->find_op != NULL ? o->find_op (o->node->domain, o->node->op) : lower_find_op (o->node->op);
  sl_graph_note_import (o->graph, o->row->op);
  if (o->row->convert != NULL)
    o->row->convert (o);
  else
    lower_fail (o, SL_ERROR_UNSUPPORTED, "operator %s " SL_LEFT_OUT, o->row->op);
  o->row = outer;
}

LowerValue *
lower_call (Lower *o, const char *op, LowerValue *const *inputs, guint n,
            const LowerAttribute *attributes, guint n_attributes)
{
  static const char *const places[MAX_CALLED] = { "<0>", "<1>", "<2>", "<3>" };
  const char *names[MAX_CALLED], *output;
  const LowerNode *outer = o->node, *caller = o->caller;
  g_return_val_if_fail (n <= MAX_CALLED, NULL);
  if (o->error != NULL)
    return NULL;
  g_autoptr (GHashTable) values = g_hash_table_new (sl_name_hash, g_str_equal);
  LowerScope scope = { .graph = o->scope->graph, .values = values }, *around = o->scope;
  for (guint i = 0; i < n; i++) {
    names[i] = inputs[i] != NULL ? places[i] : "";
    if (inputs[i] != NULL)
      g_hash_table_insert (values, (gpointer) places[i], inputs[i]);
  }
  output = outer != NULL && outer->n_outputs > 0 ? outer->outputs[0] : "";
  if (output[0] == '\0' || output[0] == '<')
    output = "output";
  const LowerNode node = { .op = op,
                           .domain = "",
                           .name = "",
                           .index = outer != NULL ? outer->index : 0,
                           .n_inputs = n,
                           .n_outputs = 1,
                           .n_attributes = n_attributes,
                           .inputs = names,
                           .outputs = &output,
                           .attributes = attributes };
  o->caller = caller != NULL ? caller : outer;
  o->node = &node;
  o->scope = &scope;
  lower_convert (o);
  o->scope = around;
  o->node = outer;
  o->caller = caller;
  return o->error == NULL ? g_hash_table_lookup (values, output) : NULL;
}
