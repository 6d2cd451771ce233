/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program being lowered: where it begins and ends, and its errors. */
#include "models/aten/program.h"

#include "core/base/name_hash.h"

/* Bytes of names that converters make. */
#define NAME_CHUNK 4096
/* Version of ONNX's operators that the lowering means. */
#define OPSET 17

void
ts_program_init (TsProgram *program, TsHeap *heap, SlGraph *graph)
{
  *program = (TsProgram){ .heap = heap };
  program->scope.values = g_hash_table_new (sl_name_hash, g_str_equal);
  program->ops = ts_ops_new ();
  program->views = g_hash_table_new (NULL, NULL);
  program->lower.graph = graph;
  program->lower.arena = sl_graph_arena (graph);
  program->lower.scratch = heap->arena;
  program->lower.names = g_string_chunk_new (NAME_CHUNK);
  program->lower.opset = OPSET;
  program->lower.scope = &program->scope;
  program->lower.is_foreign = TRUE;
  program->lower.signed_codes = TRUE;
  program->lower.open = g_hash_table_new (NULL, NULL);
}

void
ts_program_clear (TsProgram *program)
{
  g_clear_error (&program->lower.error);
  g_string_chunk_free (program->lower.names);
  g_hash_table_unref (program->scope.values);
  g_hash_table_unref (program->ops);
  g_hash_table_unref (program->lower.open);
  g_hash_table_unref (program->views);
}

gboolean
ts_failed (const TsProgram *program)
{
  return program->heap->error != NULL || program->lower.error != NULL;
}

TsValue
ts_refuse (TsProgram *program, SlError code, const char *format, ...)
{
  va_list args;
  if (ts_failed (program))
    return ts_none ();
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  if (program->op != NULL)
    ts_fail (program->heap, code, "%s: %s", program->op, text);
  else
    ts_fail (program->heap, code, "%s", text);
  return ts_none ();
}

GError *
ts_take_error (TsProgram *program)
{
  GError **first = program->heap->error != NULL ? &program->heap->error : &program->lower.error;
  GError *error = g_steal_pointer (first);
  g_clear_error (&program->heap->error);
  g_clear_error (&program->lower.error);
  return error;
}
