/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The structure is a text in JSON inside the program's: [1, {"type": "builtins.dict", "context":
 * "[\"mask\"]", "children_spec": [...]}]. A node without a type is an output.
 */
#include "models/pt2/structure.h"

#include <string.h>

#define MAX_DEPTH 8

typedef struct
{
  PtProgram *program;
  SlJsonReader reader;
  const TsValue *outputs;
  guint n, used;
} Builder;

/* The keys of a dictionary: a list in JSON inside a string; a class of outputs has it as its first
 * element. FALSE: there are not @n. */
static gboolean
read_keys (Builder *b, const char *context, TsValue *keys, guint n)
{
  SlJsonReader r;
  guint found = 0;
  sl_json_reader_init (&r, context, strlen (context));
  if (sl_json_reader_kind (&r) == SL_JSON_LIST && sl_json_reader_enter (&r, SL_JSON_LIST)) {
    while (sl_json_reader_next (&r)) {
      const SlJsonKind kind = sl_json_reader_kind (&r);
      if (kind == SL_JSON_LIST && found == 0) {
        sl_json_reader_enter (&r, SL_JSON_LIST);
        continue;
      }
      if (kind == SL_JSON_STRING && found < n && sl_json_reader_string (&r))
        keys[found] = ts_string (b->program->ops.heap, r.text->str);
      else
        sl_json_reader_skip (&r);
      found += kind == SL_JSON_STRING;
    }
  }
  const gboolean good = r.error == NULL && found == n;
  sl_json_reader_clear (&r);
  return good;
}

static TsValue
pack (Builder *b, const char *context, const TsList *children)
{
  TsHeap *heap = b->program->ops.heap;
  g_autofree TsValue *keys = g_new0 (TsValue, children->n + 1);
  if (context == NULL || children->n == 0 || !read_keys (b, context, keys, children->n))
    return ts_tuple (heap, children->items, children->n);
  const TsValue dict = ts_dict (heap);
  for (guint i = 0; i < children->n && heap->error == NULL; i++)
    ts_dict_set (heap, dict.dict, keys[i], children->items[i]);
  return dict;
}

static TsValue
build (Builder *b, guint depth)
{
  SlJsonReader *r = &b->reader;
  TsHeap *heap = b->program->ops.heap;
  const char *context = NULL;
  gboolean leaf = TRUE;
  TsValue children = ts_list (heap);
  if (depth > MAX_DEPTH) {
    sl_json_reader_fail (r, "outputs are nested too deeply");
    return ts_none ();
  }
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return ts_none ();
  while (sl_json_reader_next (r))
    if (strcmp (r->key->str, "type") == 0) {
      leaf = sl_json_reader_kind (r) == SL_JSON_NULL;
      sl_json_reader_skip (r);
    } else if (strcmp (r->key->str, "context") == 0 && sl_json_reader_kind (r) == SL_JSON_STRING) {
      context = pt_read_text (b->program, r);
    } else if (strcmp (r->key->str, "children_spec") == 0
               && sl_json_reader_enter (r, SL_JSON_LIST)) {
      while (heap->error == NULL && sl_json_reader_next (r))
        ts_list_append (heap, children.list, build (b, depth + 1));
    } else {
      sl_json_reader_skip (r);
    }
  if (leaf)
    return b->used < b->n ? b->outputs[b->used++] : ts_none ();
  return heap->error == NULL ? pack (b, context, children.list) : ts_none ();
}

/* (nullable): the text of "out_spec" of the first call, which is the program's own. */
static const char *
find_text (PtProgram *program)
{
  SlJsonReader r;
  const char *text = NULL;
  if (program->calls.text == NULL)
    return NULL;
  pt_reader_init (&r, program->calls);
  sl_json_reader_enter (&r, SL_JSON_LIST);
  if (sl_json_reader_next (&r))
    sl_json_reader_enter (&r, SL_JSON_OBJECT);
  while (text == NULL && r.depth > 1 && sl_json_reader_next (&r)) {
    if (strcmp (r.key->str, "signature") != 0 || sl_json_reader_kind (&r) != SL_JSON_OBJECT) {
      sl_json_reader_skip (&r);
      continue;
    }
    sl_json_reader_enter (&r, SL_JSON_OBJECT);
    while (text == NULL && sl_json_reader_next (&r))
      if (strcmp (r.key->str, "out_spec") == 0 && sl_json_reader_kind (&r) == SL_JSON_STRING)
        text = pt_read_text (program, &r);
      else
        sl_json_reader_skip (&r);
  }
  pt_reader_done (program, &r);
  return text;
}

TsValue
pt_build_result (PtProgram *program, const TsValue *outputs, guint n)
{
  const char *text = find_text (program);
  Builder b = { .program = program, .outputs = outputs, .n = n };
  TsValue result = ts_none ();
  if (ts_failed (&program->ops))
    return result;
  if (text == NULL)
    return n == 1 ? outputs[0] : ts_tuple (program->ops.heap, outputs, n);
  sl_json_reader_init (&b.reader, text, strlen (text));
  sl_json_reader_enter (&b.reader, SL_JSON_LIST);
  while (sl_json_reader_next (&b.reader))
    if (sl_json_reader_kind (&b.reader) == SL_JSON_OBJECT)
      result = build (&b, 0);
    else
      sl_json_reader_skip (&b.reader);
  if (b.reader.error != NULL || b.used != n)
    ts_fail (program->ops.heap, SL_ERROR_FORMAT, "%s: out_spec has %u outputs; expected %u%s%s",
             program->member, b.used, n, b.reader.error != NULL ? ": " : "",
             b.reader.error != NULL ? b.reader.error->message : "");
  sl_json_reader_clear (&b.reader);
  return result;
}
