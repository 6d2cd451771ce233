/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows whose bodies are code: a body is parsed when it is first called. Messages say where the
 * model's own code called it. */
#include <string.h>

#include "models/torchscript/code.h"

/* (nullable): the function of a row, which is parsed when it is first called. */
static const TsDef *
definition (TsProgram *program, const TsOp *op, const TsUnit **unit)
{
  TsUnit *parsed = g_hash_table_lookup (ts_code (program)->units, op->name);
  if (parsed == NULL) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GString) text = g_string_new ("def f(");
    g_auto (GStrv) names = g_strsplit (op->arguments, ",", -1),
                   lines = g_strsplit (op->onnx, "\n", -1);
    for (guint i = 0; names[i] != NULL; i++) {
      char *equals = strchr (names[i], '=');
      if (equals != NULL)
        *equals = '\0';
      g_string_append_printf (text, "%s%s: Tensor", i > 0 ? ",\n  " : "", names[i]);
    }
    g_string_append (text, ") -> Tensor:\n");
    for (guint i = 0; lines[i] != NULL; i++)
      g_string_append_printf (text, "  %s\n", lines[i]);
    parsed = ts_parse (op->name, text->str, text->len, program->heap->arena, &error);
    g_assert_no_error (error);
    parsed->is_built_in = TRUE;
    g_hash_table_insert (ts_code (program)->units, (gpointer) parsed->name, parsed);
  }
  *unit = parsed;
  return g_hash_table_lookup (parsed->functions, "f");
}

TsValue
ts_run_body (TsProgram *program, const TsCall *call)
{
  const TsUnit *unit;
  guint n = 1;
  for (const char *p = call->op->arguments; *p != '\0'; p++)
    n += *p == ',';
  const TsDef *def = definition (program, call->op, &unit);
  const TsFunction function = { .unit = unit, .def = def };
  return ts_call (program, &function, call->args, NULL, n);
}
