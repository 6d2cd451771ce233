/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/pt2/signature.h"

#include <string.h>

#include "models/torch/extras.h"

static const struct
{
  const char *key;
  PtKind kind;
} kinds[] = {
  { "parameter", PT_WEIGHT },           { "buffer", PT_BUFFER },
  { "tensor_constant", PT_WEIGHT },     { "user_input", PT_USER },
  { "constant_input", PT_NUMBER },      { "user_output", PT_RESULT },
  { "buffer_mutation", PT_NEW_BUFFER },
};

/* {"name": NAME}, or an argument: of a tensor its name, else its value. */
static void
read_arg (PtProgram *program, SlJsonReader *reader, PtSpec *spec)
{
  PtSpan span = { 0 };
  SlJsonReader inner;
  if (!pt_read_span (reader, &span))
    return;
  pt_reader_init (&inner, span);
  sl_json_reader_enter (&inner, SL_JSON_OBJECT);
  while (sl_json_reader_next (&inner))
    if (strcmp (inner.key->str, "name") == 0)
      spec->name = pt_read_text (program, &inner);
    else if (strcmp (inner.key->str, "as_tensor") == 0)
      read_arg (program, &inner, spec);
    else
      sl_json_reader_skip (&inner);
  if (!pt_reader_done (program, &inner) || spec->name != NULL)
    return;
  PtArgument argument = { .name = "" };
  pt_reader_init (&inner, span);
  /* Outputs are read when the graph has run. */
  if (spec->kind == PT_USER || spec->kind == PT_NUMBER)
    pt_read_argument (program, &inner, &argument);
  spec->number = argument.value;
  spec->kind = spec->kind == PT_USER ? PT_NUMBER : spec->kind;
  pt_reader_done (program, &inner);
}

/* {"parameter": {"arg": {...}, "parameter_name": NAME}} */
static gboolean
read_spec (PtProgram *program, SlJsonReader *reader, PtSpec *spec)
{
  *spec = (PtSpec){ .kind = PT_OTHER };
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    if (strcmp (reader->key->str, "custom_obj") == 0)
      return ts_fail (program->ops.heap, SL_ERROR_UNSUPPORTED,
                      "%s: an input is an object of a class of its own; only tensors are supported",
                      program->member);
    for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
      if (strcmp (reader->key->str, kinds[i].key) == 0)
        spec->kind = kinds[i].kind;
    if (spec->kind == PT_OTHER || sl_json_reader_kind (reader) != SL_JSON_OBJECT) {
      sl_json_reader_skip (reader);
      continue;
    }
    sl_json_reader_enter (reader, SL_JSON_OBJECT);
    while (sl_json_reader_next (reader))
      if (strcmp (reader->key->str, "arg") == 0 || strcmp (reader->key->str, "value") == 0)
        read_arg (program, reader, spec);
      else if (g_str_has_suffix (reader->key->str, "_name"))
        spec->target = pt_read_text (program, reader);
      else
        sl_json_reader_skip (reader);
  }
  const gboolean has_target =
    spec->kind != PT_WEIGHT && spec->kind != PT_BUFFER && spec->kind != PT_NEW_BUFFER;
  const gboolean has_name =
    spec->name != NULL
    || (spec->kind != PT_WEIGHT && spec->kind != PT_BUFFER && spec->kind != PT_USER);
  if (reader->error == NULL && !ts_failed (&program->ops) && !has_name)
    return sl_json_reader_fail (reader, "an input of the signature has no name in the graph");
  if (reader->error == NULL && !ts_failed (&program->ops) && !has_target && spec->target == NULL)
    return sl_json_reader_fail (reader, "a weight or buffer of the signature has no name");
  return reader->error == NULL && !ts_failed (&program->ops);
}

static GArray *
read_specs (PtProgram *program, SlJsonReader *reader)
{
  g_autoptr (GArray) specs = g_array_new (FALSE, FALSE, sizeof (PtSpec));
  PtSpec spec;
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return NULL;
  while (sl_json_reader_next (reader) && read_spec (program, reader, &spec))
    g_array_append_val (specs, spec);
  return g_steal_pointer (&specs);
}

gboolean
pt_read_signature (PtProgram *program, GArray **inputs, GArray **outputs)
{
  SlJsonReader reader;
  *inputs = *outputs = NULL;
  pt_reader_init (&reader, program->signature);
  sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (sl_json_reader_next (&reader))
    if (strcmp (reader.key->str, "input_specs") == 0 && *inputs == NULL)
      *inputs = read_specs (program, &reader);
    else if (strcmp (reader.key->str, "output_specs") == 0 && *outputs == NULL)
      *outputs = read_specs (program, &reader);
    else
      sl_json_reader_skip (&reader);
  if (pt_reader_done (program, &reader) && (*inputs == NULL || *outputs == NULL))
    ts_fail (program->ops.heap, SL_ERROR_FORMAT, "%s: the signature has no '%s'", program->member,
             *inputs == NULL ? "input_specs" : "output_specs");
  return !ts_failed (&program->ops);
}

guint
pt_mark_states (PtProgram *program, GArray *inputs, const GArray *outputs)
{
  g_autoptr (GHashTable) written = pt_find_written (program),
                         renewed = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = 0;
  for (guint i = 0; i < outputs->len; i++) {
    const PtSpec *spec = &g_array_index (outputs, PtSpec, i);
    if (spec->kind == PT_NEW_BUFFER)
      g_hash_table_add (renewed, (gpointer) spec->target);
  }
  for (guint i = 0; i < inputs->len; i++) {
    PtSpec *spec = &g_array_index (inputs, PtSpec, i);
    if (spec->kind != PT_BUFFER
        || !(g_hash_table_contains (written, spec->name)
             || g_hash_table_contains (renewed, spec->target)))
      continue;
    spec->kind = PT_STATE;
    n++;
  }
  return n;
}

/* (nullable): "nn_module_stack" of the first node: "key,path,class" by ';'. */
static const char *
find_stack (PtProgram *program)
{
  SlJsonReader r;
  const char *stack = NULL;
  pt_reader_init (&r, program->graph.nodes);
  sl_json_reader_enter (&r, SL_JSON_LIST);
  while (stack == NULL && sl_json_reader_next (&r)) {
    if (!sl_json_reader_enter (&r, SL_JSON_OBJECT))
      break;
    while (stack == NULL && sl_json_reader_next (&r)) {
      if (strcmp (r.key->str, "metadata") != 0 || sl_json_reader_kind (&r) != SL_JSON_OBJECT) {
        sl_json_reader_skip (&r);
        continue;
      }
      sl_json_reader_enter (&r, SL_JSON_OBJECT);
      while (stack == NULL && sl_json_reader_next (&r))
        if (strcmp (r.key->str, "nn_module_stack") == 0
            && sl_json_reader_kind (&r) == SL_JSON_STRING)
          stack = pt_read_text (program, &r);
        else
          sl_json_reader_skip (&r);
    }
  }
  pt_reader_done (program, &r);
  return stack;
}

char *
pt_class_name (PtProgram *program, const char **hint)
{
  const char *stack = find_stack (program);
  char *name = NULL;
  *hint = NULL;
  if (stack == NULL)
    return NULL;
  g_auto (GStrv) modules = g_strsplit (stack, ";", -1);
  for (guint i = 0; modules[i] != NULL; i++) {
    const char *comma = strrchr (modules[i], ','), *type = comma != NULL ? comma + 1 : modules[i];
    const char *dot = strrchr (type, '.');
    if (i == 0)
      name = g_strdup (dot != NULL ? dot + 1 : type);
    if (*hint == NULL)
      *hint = ts_guess_range (type);
  }
  return name;
}
