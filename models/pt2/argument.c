/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arguments of nodes: a union in JSON, an object of one key that says of which kind the value is.
 * Numbers of element types, memory formats and layouts are the schema's own.
 */
#include <math.h>
#include <string.h>

#include "models/pt2/program.h"

typedef TsValue (*ReadValue) (PtProgram *program, SlJsonReader *reader);

/* The schema counts its types from 1, without the quantised ones. */
TsDtype
pt_dtype (gint64 number)
{
  if (number >= 1 && number <= 12)
    return (TsDtype) (number - 1);
  return number == 13 ? TS_BFLOAT16 : TS_N_DTYPES;
}

static TsValue
read_none (PtProgram *program, SlJsonReader *reader)
{
  sl_json_reader_skip (reader);
  return ts_none ();
}

static TsValue
read_int (PtProgram *program, SlJsonReader *reader)
{
  gint64 number = 0;
  sl_json_reader_integer (reader, G_MININT64, G_MAXINT64, &number);
  return ts_int (number);
}

/* JSON has no word for infinity and NaN: torch writes Python's, since 2.7 as strings. */
static TsValue
read_float (PtProgram *program, SlJsonReader *reader)
{
  gdouble number = 0;
  if (sl_json_reader_kind (reader) != SL_JSON_STRING) {
    sl_json_reader_number (reader, &number);
    return ts_float (number);
  }
  if (!sl_json_reader_string (reader))
    return ts_none ();
  const char *text = reader->text->str;
  if (strcmp (text, "Infinity") == 0 || strcmp (text, "-Infinity") == 0)
    return ts_float (text[0] == '-' ? -(gdouble) INFINITY : (gdouble) INFINITY);
  if (strcmp (text, "NaN") == 0)
    return ts_float ((gdouble) NAN);
  sl_json_reader_fail (reader, "expected a number, \"Infinity\", \"-Infinity\" or \"NaN\"");
  return ts_none ();
}

static TsValue
read_bool (PtProgram *program, SlJsonReader *reader)
{
  const SlJsonKind kind = sl_json_reader_kind (reader);
  if (kind != SL_JSON_TRUE && kind != SL_JSON_FALSE)
    sl_json_reader_fail (reader, "expected true or false");
  sl_json_reader_skip (reader);
  return ts_bool (kind == SL_JSON_TRUE);
}

static TsValue
read_string (PtProgram *program, SlJsonReader *reader)
{
  const char *text = pt_read_text (program, reader);
  return text != NULL ? (TsValue){ .kind = TS_STRING, .text = text } : ts_none ();
}

/* {"name": NAME, ...}: a tensor. */
static TsValue
read_tensor (PtProgram *program, SlJsonReader *reader)
{
  TsValue value = ts_none ();
  gboolean named = FALSE;
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return value;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "name") == 0) {
      named = sl_json_reader_string (reader);
      value = named ? pt_get_value (program, reader->text->str) : value;
    } else {
      sl_json_reader_skip (reader);
    }
  if (!named)
    sl_json_reader_fail (reader, "a tensor without a name");
  return value;
}

/* {"as_name": NAME}, or {"as_int": 3} and the like. */
static TsValue
read_symbol (PtProgram *program, SlJsonReader *reader)
{
  TsValue value = ts_none ();
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return value;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "as_name") == 0)
      value = sl_json_reader_string (reader) ? pt_get_value (program, reader->text->str) : value;
    else if (strcmp (reader->key->str, "as_int") == 0)
      value = read_int (program, reader);
    else if (strcmp (reader->key->str, "as_float") == 0)
      value = read_float (program, reader);
    else if (strcmp (reader->key->str, "as_bool") == 0)
      value = read_bool (program, reader);
    else
      sl_json_reader_fail (reader, "a number of the unknown kind '%s'", reader->key->str);
  return value;
}

static TsValue
read_dtype (PtProgram *program, SlJsonReader *reader)
{
  gint64 number = 0;
  if (!sl_json_reader_integer (reader, 0, G_MAXINT32, &number))
    return ts_none ();
  const TsDtype dtype = pt_dtype (number);
  if (dtype == TS_N_DTYPES)
    return ts_refuse (&program->ops, SL_ERROR_UNSUPPORTED,
                      "element type %" G_GINT64_FORMAT " of torch's schema is not supported",
                      number);
  return ts_int (dtype);
}

/* Torch's own numbers of what the schema counts from 1: contiguous, channels last (2-D, 3-D),
 * preserve. */
static TsValue
read_memory_format (PtProgram *program, SlJsonReader *reader)
{
  static const gint64 formats[] = { 0, 0, 2, 3, 1 };
  gint64 number = 0;
  sl_json_reader_integer (reader, 0, G_N_ELEMENTS (formats) - 1, &number);
  return ts_int (formats[number]);
}

static TsValue
read_device (PtProgram *program, SlJsonReader *reader)
{
  sl_json_reader_skip (reader);
  return (TsValue){ .kind = TS_DEVICE, .text = "cpu" };
}

/* {"as_tensor": {...}} or {"as_none": ...}. */
static TsValue
read_optional (PtProgram *program, SlJsonReader *reader)
{
  TsValue value = ts_none ();
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return value;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "as_tensor") == 0)
      value = read_tensor (program, reader);
    else
      sl_json_reader_skip (reader);
  return value;
}

static TsValue
read_list (PtProgram *program, SlJsonReader *reader, ReadValue item)
{
  const TsValue list = ts_list (program->ops.heap);
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return list;
  while (sl_json_reader_next (reader)) {
    const TsValue value = item (program, reader);
    if (ts_failed (&program->ops) || !ts_list_append (program->ops.heap, list.list, value))
      return ts_none ();
  }
  return list;
}

/* @many: a list of @read's values. */
static const struct
{
  const char *key;
  ReadValue read;
  gboolean many;
} kinds[] = {
  { "as_tensor", read_tensor, FALSE },
  { "as_int", read_int, FALSE },
  { "as_ints", read_int, TRUE },
  { "as_float", read_float, FALSE },
  { "as_none", read_none, FALSE },
  { "as_bool", read_bool, FALSE },
  { "as_scalar_type", read_dtype, FALSE },
  { "as_tensors", read_tensor, TRUE },
  { "as_sym_int", read_symbol, FALSE },
  { "as_sym_ints", read_symbol, TRUE },
  { "as_string", read_string, FALSE },
  { "as_device", read_device, FALSE },
  { "as_floats", read_float, TRUE },
  { "as_bools", read_bool, TRUE },
  { "as_strings", read_string, TRUE },
  { "as_sym_bool", read_symbol, FALSE },
  { "as_sym_bools", read_symbol, TRUE },
  { "as_sym_float", read_symbol, FALSE },
  { "as_sym_floats", read_symbol, TRUE },
  { "as_memory_format", read_memory_format, FALSE },
  { "as_layout", read_none, FALSE },
  { "as_optional_tensor", read_optional, FALSE },
  { "as_optional_tensors", read_optional, TRUE },
  { "as_operator", read_string, FALSE },
};

/* {"name": NAME, "graph": {...}} */
static void
read_inner_graph (PtProgram *program, SlJsonReader *reader, PtArgument *argument)
{
  argument->is_graph = TRUE;
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return;
  while (sl_json_reader_next (reader))
    if (strcmp (reader->key->str, "graph") == 0)
      pt_read_graph (reader, &argument->graph);
    else
      sl_json_reader_skip (reader);
  if (argument->graph.nodes.text == NULL)
    sl_json_reader_fail (reader, "an argument of kind 'as_graph' has no graph");
}

gboolean
pt_read_argument (PtProgram *program, SlJsonReader *reader, PtArgument *argument)
{
  gboolean known = FALSE;
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    const char *key = reader->key->str;
    guint i = 0;
    while (i < G_N_ELEMENTS (kinds) && strcmp (key, kinds[i].key) != 0)
      i++;
    known = TRUE;
    if (strcmp (key, "as_graph") == 0)
      read_inner_graph (program, reader, argument);
    else if (i == G_N_ELEMENTS (kinds))
      return ts_fail (program->ops.heap, SL_ERROR_UNSUPPORTED,
                      "an argument of kind '%s' is not supported", key);
    else
      argument->value = kinds[i].many ? read_list (program, reader, kinds[i].read)
                                      : kinds[i].read (program, reader);
  }
  if (!known)
    return sl_json_reader_fail (reader, "an argument without a value");
  return reader->error == NULL && !ts_failed (&program->ops);
}

/* The names in a value of any kind: those behind "name" and "as_name". */
static void
collect_names (PtProgram *program, SlJsonReader *reader, GPtrArray *names)
{
  const guint depth = reader->depth;
  const SlJsonKind kind = sl_json_reader_kind (reader);
  if (kind != SL_JSON_OBJECT && kind != SL_JSON_LIST) {
    sl_json_reader_skip (reader);
    return;
  }
  sl_json_reader_enter (reader, kind);
  while (reader->error == NULL && reader->depth > depth) {
    if (!sl_json_reader_next (reader))
      continue;
    const SlJsonKind inner = sl_json_reader_kind (reader);
    const gboolean is_name =
      inner == SL_JSON_STRING
      && (strcmp (reader->key->str, "name") == 0 || strcmp (reader->key->str, "as_name") == 0);
    const char *name = is_name ? pt_read_text (program, reader) : NULL;
    if (name != NULL)
      g_ptr_array_add (names, (gpointer) name);
    else if (inner == SL_JSON_OBJECT || inner == SL_JSON_LIST)
      sl_json_reader_enter (reader, inner);
    else if (!is_name)
      sl_json_reader_skip (reader);
  }
}

gboolean
pt_read_names (PtProgram *program, SlJsonReader *reader, GPtrArray *names, gboolean *is_list)
{
  *is_list = FALSE;
  if (!sl_json_reader_enter (reader, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    const guint before = names->len;
    *is_list = sl_json_reader_kind (reader) == SL_JSON_LIST;
    collect_names (program, reader, names);
    if (!*is_list && names->len == before)
      g_ptr_array_add (names, (gpointer) "");
  }
  return reader->error == NULL && !ts_failed (&program->ops);
}
