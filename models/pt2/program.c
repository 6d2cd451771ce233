/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/pt2/program.h"

#include <string.h>

void
pt_reader_init (SlJsonReader *reader, PtSpan span)
{
  sl_json_reader_init (reader, span.text != NULL ? span.text : "", span.length);
  reader->python = TRUE;
}

gboolean
pt_reader_done (PtProgram *program, SlJsonReader *reader)
{
  if (reader->error != NULL)
    ts_fail (program->ops.heap, SL_ERROR_FORMAT, "%s: %s", program->member, reader->error->message);
  sl_json_reader_clear (reader);
  return !ts_failed (&program->ops);
}

gboolean
pt_read_span (SlJsonReader *reader, PtSpan *span)
{
  if (sl_json_reader_kind (reader) == SL_JSON_NOTHING)
    return sl_json_reader_skip (reader);
  span->text = reader->at;
  if (!sl_json_reader_skip (reader))
    return FALSE;
  span->length = (gsize) (reader->at - span->text);
  return TRUE;
}

const char *
pt_read_text (PtProgram *program, SlJsonReader *reader)
{
  return sl_json_reader_string (reader)
           ? ts_text (program->ops.heap, reader->text->str, reader->text->len)
           : NULL;
}

gboolean
pt_read_graph (SlJsonReader *reader, PtGraph *graph)
{
  const struct
  {
    const char *key;
    PtSpan *span;
  } parts[] = { { "inputs", &graph->inputs },
                { "outputs", &graph->outputs },
                { "nodes", &graph->nodes },
                { "tensor_values", &graph->tensors } };
  *graph = (PtGraph){ .inputs = { 0 } };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    guint i = 0;
    while (i < G_N_ELEMENTS (parts) && strcmp (reader->key->str, parts[i].key) != 0)
      i++;
    if (i < G_N_ELEMENTS (parts))
      pt_read_span (reader, parts[i].span);
    else
      sl_json_reader_skip (reader);
  }
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].span->text == NULL)
      return sl_json_reader_fail (reader, "a graph has no '%s'", parts[i].key);
  return reader->error == NULL;
}

static void
read_module (PtProgram *program, SlJsonReader *reader)
{
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "graph") == 0)
      pt_read_graph (reader, &program->graph);
    else if (strcmp (reader->key->str, "signature") == 0)
      pt_read_span (reader, &program->signature);
    else if (strcmp (reader->key->str, "module_call_graph") == 0)
      pt_read_span (reader, &program->calls);
    else
      sl_json_reader_skip (reader);
}

static void
read_version (PtProgram *program, SlJsonReader *reader)
{
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "major") == 0)
      sl_json_reader_integer (reader, 0, G_MAXINT32, &program->major);
    else if (strcmp (reader->key->str, "minor") == 0)
      sl_json_reader_integer (reader, 0, G_MAXINT32, &program->minor);
    else
      sl_json_reader_skip (reader);
}

static gboolean
check_parts (PtProgram *program)
{
  const char *missing = program->major < 0                  ? "schema_version"
                        : program->graph.nodes.text == NULL ? "graph_module.graph"
                        : program->signature.text == NULL   ? "graph_module.signature"
                                                            : NULL;
  if (program->major >= 0 && program->major != PT_SCHEMA_MAJOR)
    return ts_fail (
      program->ops.heap, SL_ERROR_UNSUPPORTED,
      "%s: schema version %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT
      "; expected %d.x, which PyTorch 2.5 and later write: export the model again with "
      "torch.export.save()",
      program->member, program->major, program->minor, PT_SCHEMA_MAJOR);
  return missing == NULL
         || ts_fail (program->ops.heap, SL_ERROR_FORMAT,
                     "%s: '%s' is missing, which a program of torch.export has", program->member,
                     missing);
}

gboolean
pt_program_open (PtProgram *program)
{
  SlJsonReader reader;
  program->major = -1;
  pt_reader_init (&reader, program->text);
  sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (sl_json_reader_next (&reader))
    if (strcmp (reader.key->str, "graph_module") == 0)
      read_module (program, &reader);
    else if (strcmp (reader.key->str, "schema_version") == 0)
      read_version (program, &reader);
    else if (strcmp (reader.key->str, "range_constraints") == 0)
      pt_read_span (&reader, &program->ranges);
    else if (strcmp (reader.key->str, "torch_version") == 0
             && sl_json_reader_kind (&reader) == SL_JSON_STRING)
      program->torch_version = pt_read_text (program, &reader);
    else
      sl_json_reader_skip (&reader);
  sl_json_reader_end (&reader);
  return pt_reader_done (program, &reader) && check_parts (program);
}
