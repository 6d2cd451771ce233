/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strings, and the errors that a program raises itself. */
#include <string.h>

#include "models/aten/ops.h"

#define MAX_SHOWN 16

static void
append_value (GString *out, TsValue value, guint depth)
{
  switch (value.kind) {
    case TS_NONE:
      g_string_append (out, "None");
      break;
    case TS_BOOL:
      g_string_append (out, value.truth ? "True" : "False");
      break;
    case TS_INT:
      g_string_append_printf (out, "%" G_GINT64_FORMAT, value.number);
      break;
    case TS_FLOAT:
      g_string_append_printf (out, "%g", value.real);
      break;
    case TS_STRING:
    case TS_DEVICE:
      g_string_append (out, value.text);
      break;
    case TS_LIST:
    case TS_TUPLE:
      g_string_append_c (out, value.kind == TS_LIST ? '[' : '(');
      for (guint i = 0; depth > 0 && i < MIN (value.list->n, MAX_SHOWN); i++) {
        g_string_append (out, i > 0 ? ", " : "");
        append_value (out, value.list->items[i], depth - 1);
      }
      g_string_append (out, value.list->n > MAX_SHOWN ? ", ..." : "");
      g_string_append_c (out, value.kind == TS_LIST ? ']' : ')');
      break;
    default:
      g_string_append_printf (out, "<%s>", ts_kind_name (value.kind));
      break;
  }
}

static TsValue
format (TsProgram *program, const TsCall *call)
{
  g_autoptr (GString) out = g_string_new (NULL);
  guint next = 0;
  if (call->args[0].kind != TS_STRING)
    return ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s; expected a string",
                      ts_kind_name (call->args[0].kind));
  for (const char *p = call->args[0].text; *p != '\0' && out->len <= TS_MAX_STRING; p++) {
    if (p[0] != '{' || p[1] != '}') {
      g_string_append_c (out, *p);
      continue;
    }
    if (next < call->n_rest)
      append_value (out, call->rest[next++], 2);
    p++;
  }
  return ts_string (program->heap, out->str);
}

static TsValue
to_text (TsProgram *program, const TsCall *call)
{
  g_autoptr (GString) out = g_string_new (NULL);
  append_value (out, call->args[0], 2);
  return ts_string (program->heap, out->str);
}

static TsValue
raise_error (TsProgram *program, const TsCall *call)
{
  g_autoptr (GString) out = g_string_new (NULL);
  append_value (out, call->args[0], 0);
  program->op = NULL;
  return ts_refuse (program, SL_ERROR_SHAPE, "the model's own code refuses this input: %s",
                    out->len > 0 ? out->str : "without a reason");
}

static TsValue
change_case (TsProgram *program, const TsCall *call)
{
  if (call->args[0].kind != TS_STRING)
    return ts_refuse (program, SL_ERROR_FORMAT, "a value of type %s; expected a string",
                      ts_kind_name (call->args[0].kind));
  g_autofree char *text = strcmp (call->op->name, "aten::lower") == 0
                            ? g_ascii_strdown (call->args[0].text, -1)
                            : g_ascii_strup (call->args[0].text, -1);
  return ts_string (program->heap, text);
}

static TsValue
has_end (TsProgram *program, const TsCall *call)
{
  if (call->args[0].kind != TS_STRING || call->args[1].kind != TS_STRING)
    return ts_refuse (program, SL_ERROR_FORMAT, "expected two strings");
  return ts_bool (strcmp (call->op->name, "aten::startswith") == 0
                    ? g_str_has_prefix (call->args[0].text, call->args[1].text)
                    : g_str_has_suffix (call->args[0].text, call->args[1].text));
}

static TsValue
find (TsProgram *program, const TsCall *call)
{
  if (call->args[0].kind != TS_STRING || call->args[1].kind != TS_STRING)
    return ts_refuse (program, SL_ERROR_FORMAT, "expected two strings");
  const char *found = strstr (call->args[0].text, call->args[1].text);
  return ts_int (found != NULL ? found - call->args[0].text : -1);
}

static TsValue
nothing (TsProgram *program, const TsCall *call)
{
  (void) program;
  (void) call;
  return ts_none ();
}

const TsOp ts_ops_text[] = {
  { "aten::format", "a,...", format },
  { "aten::str", "a", to_text },
  { "prim::RaiseException", "message,...", raise_error },
  { "aten::warn", "...", nothing },
  { "aten::_assert_scalar", "...", nothing },
  { "aten::_assert_async", "...", nothing },
  { "aten::_assert_tensor_metadata", "...", nothing },
  { "aten::sym_constrain_range", "...", nothing },
  { "aten::sym_constrain_range_for_size", "...", nothing },
  { "prim::Print", "...", nothing },
  { "aten::find", "a,b,start=0,end=-1", find },
  { "aten::lower", "a", change_case },
  { "aten::upper", "a", change_case },
  { "aten::startswith", "a,b", has_end },
  { "aten::endswith", "a,b", has_end },
  { NULL },
};
