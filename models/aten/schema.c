/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the operator that a program calls and gives it its arguments, with torch's defaults for
 * those that are not written. */
#include <string.h>

#include "core/base/name_hash.h"
#include "models/aten/dynamic_rows.h"

#define MAX_NAME 64

GHashTable *
ts_ops_new (void)
{
  static const TsOp *const tables[] = {
    ts_ops_scalar, ts_ops_text,      ts_ops_list,      ts_ops_elementwise, ts_ops_window,
    ts_ops_shape,  ts_ops_axis,      ts_ops_index,     ts_ops_rows,        ts_ops_make,
    ts_ops_norm,   ts_ops_quantized, ts_ops_packed,    ts_ops_resize,      ts_ops_detect,
    ts_ops_query,  ts_ops_recurrent, ts_ops_composite, ts_ops_patches,     ts_ops_core,
    ts_ops_matrix, ts_ops_series,    ts_ops_decomposed
  };
  GHashTable *ops = g_hash_table_new (sl_name_hash, g_str_equal);
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    for (const TsOp *op = tables[i]; op->name != NULL; op++)
      g_hash_table_insert (ops, (gpointer) op->name, (gpointer) op);
  return ops;
}

/* A default as a row writes it. */
static TsValue
read_default (TsProgram *program, const char *text)
{
  char *end = NULL;
  if (strcmp (text, "None") == 0)
    return ts_none ();
  if (strcmp (text, "True") == 0 || strcmp (text, "False") == 0)
    return ts_bool (text[0] == 'T');
  if (strcmp (text, "[]") == 0)
    return ts_list (program->heap);
  const gint64 whole = g_ascii_strtoll (text, &end, 10);
  if (*end == '\0' && end != text)
    return ts_int (whole);
  const gdouble real = g_ascii_strtod (text, &end);
  if (*end == '\0' && end != text)
    return ts_float (real);
  return ts_string (program->heap, text);
}

/* The value of @keyword among the arguments, the one by place for NULL. */
static const TsValue *
find_keyword (const TsValue *args, const char *const *keywords, guint n, const char *name)
{
  for (guint i = 0; keywords != NULL && i < n; i++)
    if (keywords[i] != NULL && strcmp (keywords[i], name) == 0)
      return &args[i];
  return NULL;
}

static guint
count_given (const char *const *keywords, guint n)
{
  guint given = 0;
  while (given < n && (keywords == NULL || keywords[given] == NULL))
    given++;
  return given;
}

/* FALSE with the error set when the arguments do not fit the row. */
static gboolean
bind (TsProgram *program, TsCall *call, const TsValue *args, const char *const *keywords, guint n)
{
  const char *p = call->op->arguments;
  guint i = 0, found = 0;
  call->n_given = count_given (keywords, n);
  for (; *p != '\0' && strcmp (p, "...") != 0; i++) {
    char name[MAX_NAME], *equals;
    const char *end = p + strcspn (p, ",");
    g_strlcpy (name, p, MIN (sizeof name, (gsize) (end - p) + 1));
    p = *end == ',' ? end + 1 : end;
    equals = strchr (name, '=');
    if (equals != NULL)
      *equals++ = '\0';
    const TsValue *keyword = i < call->n_given ? NULL : find_keyword (args, keywords, n, name);
    found += keyword != NULL;
    if (i < call->n_given)
      call->args[i] = args[i];
    else if (keyword != NULL)
      call->args[i] = *keyword;
    else if (equals != NULL)
      call->args[i] = read_default (program, equals);
    else
      ts_refuse (program, SL_ERROR_FORMAT, "argument '%s' is missing", name);
  }
  if (*p != '\0') {
    call->rest = args + MIN (i, n);
    call->n_rest = n - MIN (i, n);
  } else if (call->n_given > i) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "%u arguments; expected at most %u: %s", n, i,
               call->op->arguments);
  } else if (found < n - call->n_given) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "an argument that is not supported; expected %s",
               call->op->arguments);
  }
  return !ts_failed (program);
}

/* The row of @name, or of the operator of which it is the form in place, or the one that copies. */
static const TsOp *
find_op (TsProgram *program, const char *name, gboolean *in_place)
{
  static const char copied[] = "_copy";
  const TsOp *op = g_hash_table_lookup (program->ops, name);
  const gsize length = strlen (name);
  *in_place = FALSE;
  if (op == NULL && g_str_has_suffix (name, copied)) {
    g_autofree char *stem = g_strndup (name, length - strlen (copied));
    return g_hash_table_lookup (program->ops, stem);
  }
  if (op != NULL || length < 2 || name[length - 1] != '_' || name[length - 2] == '_')
    return op;
  g_autofree char *stem = g_strndup (name, length - 1);
  op = g_hash_table_lookup (program->ops, stem);
  *in_place = op != NULL;
  return op;
}

/* The results of a row whose operator was called by its name with "_copy" behind: none shares
 * elements with an argument. */
static TsValue
unshared (TsProgram *program, TsValue result)
{
  if (result.kind == TS_TENSOR)
    return ts_run_op (program, "aten::clone", &result, NULL, 1);
  for (guint i = 0; result.kind == TS_LIST && i < result.list->n; i++)
    result.list->items[i] = unshared (program, result.list->items[i]);
  return result;
}

gboolean
ts_has_op (TsProgram *program, const char *name)
{
  gboolean in_place;
  return find_op (program, name, &in_place) != NULL;
}

/* The number of the argument @name in a row's list; -1: it is not there. */
static gint
find_argument (const char *arguments, const char *name)
{
  const gsize length = strlen (name);
  gint i = 0;
  for (const char *p = arguments; *p != '\0'; i++) {
    const gsize own = strcspn (p, ",="), all = strcspn (p, ",");
    if (own == length && memcmp (p, name, length) == 0)
      return i;
    p += all + (p[all] == ',');
  }
  return -1;
}

/* (nullable): the name of the argument number @i of a row's list, unless one of @names is that. */
static const char *
name_at (TsProgram *program, const char *arguments, guint i, const char *const *names, guint n)
{
  const char *p = arguments;
  for (; i > 0 && *p != '\0'; i--) {
    p += strcspn (p, ",");
    p += *p == ',';
  }
  const char *name = *p != '\0' ? ts_text (program->heap, p, strcspn (p, ",=")) : NULL;
  for (guint k = 0; name != NULL && k < n; k++)
    if (strcmp (names[k], name) == 0)
      return NULL;
  return name;
}

TsValue
ts_run_named (TsProgram *program, const char *name, const TsValue *args, const char *const *names,
              guint n)
{
  gboolean in_place;
  const TsOp *op = ts_failed (program) ? NULL : find_op (program, name, &in_place);
  g_autofree const char **keywords = g_new0 (const char *, n + 1);
  guint by_place = 0;
  while (by_place < n && op != NULL
         && (strstr (op->arguments, "...") != NULL || names[by_place][0] == '\0'
             || find_argument (op->arguments, names[by_place]) < 0))
    by_place++;
  for (guint i = by_place; i < n; i++) {
    const char *other = find_argument (op->arguments, names[i]) < 0
                          ? name_at (program, op->arguments, i, names, n)
                          : NULL;
    keywords[i] = other != NULL ? other : names[i];
  }
  return ts_run_op (program, name, args, keywords, n);
}

TsValue
ts_run_op (TsProgram *program, const char *name, const TsValue *args, const char *const *keywords,
           guint n)
{
  TsCall call = { 0 };
  gboolean in_place;
  const char *outer = program->op;
  TsValue result = ts_none ();
  if (ts_failed (program))
    return result;
  program->op = name;
  call.op = find_op (program, name, &in_place);
  if (call.op == NULL)
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "this operator is not supported");
  else if (bind (program, &call, args, keywords, n))
    result = call.op->run (program, &call);
  if (call.op != NULL && !in_place && strcmp (call.op->name, name) != 0)
    result = unshared (program, result);
  ts_pass_rows (program, args, n, result);
  if (in_place && result.kind == TS_TENSOR && n > 0 && args[0].kind == TS_TENSOR) {
    ts_write (program, args[0].tensor, result);
    result = args[0];
  }
  if (program->lower.error != NULL && !program->located && outer == NULL)
    g_prefix_error (&program->lower.error, "%s: ", name);
  program->op = outer;
  return ts_failed (program) ? ts_none () : result;
}
