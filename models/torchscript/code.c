/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Name lookup of a program: files of code/, classes, functions, attributes of objects. */
#include <string.h>

#include "core/base/name_hash.h"
#include "models/torchscript/code.h"

/* Torchvision suppresses boxes of many classes one class after the other, or at once with each
 * class moved to a place of its own. The boxes that it keeps are the same; the classes of a picture
 * are not known here. */
#define ONE_BY_ONE "_batched_nms_vanilla"
#define AT_ONCE "_batched_nms_coordinate_trick"
/* How a program makes an object without calling its class's __init__(). */
#define NEW ".__new__"
/* Files of one archive. */
#define MAX_UNITS 8192

void
ts_code_init (TsCode *code, TsProgram *program, TsReadCode read_code, gpointer archive)
{
  *code = (TsCode){ .read_code = read_code, .archive = archive };
  code->units =
    g_hash_table_new_full (sl_name_hash, g_str_equal, NULL, (GDestroyNotify) ts_unit_free);
  program->reader = code;
  program->run_body = ts_run_body;
}

void
ts_code_clear (TsCode *code)
{
  g_hash_table_unref (code->units);
}

/* (nullable): the file of dotted @name less its last part, which *@last gets. */
static const TsUnit *
find_unit (TsProgram *program, const char *name, const char **last)
{
  const char *dot = strrchr (name, '.');
  GError *error = NULL;
  if (ts_failed (program) || dot == NULL || !g_str_has_prefix (name, "__torch__"))
    return NULL;
  *last = dot + 1;
  g_autofree char *module = g_strndup (name, (gsize) (dot - name));
  g_autofree char *below = g_strdelimit (g_steal_pointer (&module), ".", '/');
  g_autofree char *path = g_strdup_printf ("code/%s.py", below);
  TsUnit *unit = g_hash_table_lookup (ts_code (program)->units, path);
  if (unit != NULL)
    return unit;
  if (g_hash_table_size (ts_code (program)->units) >= MAX_UNITS) {
    ts_fail (program->heap, SL_ERROR_LIMIT, "the program has more than %d files", MAX_UNITS);
    return NULL;
  }
  g_autoptr (GBytes) bytes =
    ts_code (program)->read_code (ts_code (program)->archive, path, &error);
  if (bytes != NULL) {
    gsize length;
    const char *text = g_bytes_get_data (bytes, &length);
    unit = ts_parse (path, text, length, program->heap->arena, &error);
  }
  if (unit != NULL)
    g_hash_table_insert (ts_code (program)->units, (gpointer) unit->name, unit);
  if (error == NULL)
    return unit;
  ts_fail (program->heap, (SlError) error->code, "%s", error->message);
  g_error_free (error);
  return NULL;
}

const TsClass *
ts_find_class (TsProgram *program, const char *name, const TsUnit **unit)
{
  const char *last = "";
  *unit = find_unit (program, name, &last);
  const TsClass *type = *unit != NULL ? g_hash_table_lookup ((*unit)->classes, last) : NULL;
  if (type == NULL && !ts_failed (program))
    ts_refuse (program, SL_ERROR_FORMAT, "the archive has no class %s", name);
  return type;
}

static TsValue
new_function (TsProgram *program, TsFunction function)
{
  TsFunction *copy = ts_alloc (program->heap, sizeof *copy);
  if (copy == NULL)
    return ts_none ();
  *copy = function;
  return (TsValue){ .kind = TS_FUNCTION, .function = copy };
}

/* TRUE where dotted @name is a member of an enumeration, which is its value. */
static gboolean
find_member (TsProgram *program, const char *name, TsValue *value)
{
  const char *last = "", *dot = strrchr (name, '.');
  g_autofree char *type_name = g_strndup (name, (gsize) (dot - name));
  const TsUnit *unit = find_unit (program, type_name, &last);
  const TsClass *type = unit != NULL ? g_hash_table_lookup (unit->classes, last) : NULL;
  for (guint i = 0; type != NULL && strcmp (type->base, "Enum") == 0 && i < type->n_fields; i++) {
    if (strcmp (type->fields[i].name, dot + 1) != 0 || type->fields[i].fallback == NULL)
      continue;
    *value = ts_evaluate (program, unit, type->fields[i].fallback);
    return TRUE;
  }
  return FALSE;
}

TsValue
ts_find_global (TsProgram *program, const char *name)
{
  const char *last = "";
  if (g_str_has_suffix (name, NEW)) { /* an object whose attributes the program sets itself */
    g_autofree char *class_name = g_strndup (name, strlen (name) - strlen (NEW));
    const TsUnit *unit;
    const TsClass *type = ts_find_class (program, class_name, &unit);
    return new_function (
      program, (TsFunction){ .unit = unit,
                             .type = type,
                             .is_bare = TRUE,
                             .class_name = sl_arena_strdup (program->heap->arena, class_name) });
  }
  const TsUnit *unit = find_unit (program, name, &last);
  if (strcmp (last, ONE_BY_ONE) == 0)
    last = AT_ONCE;
  const TsDef *def = unit != NULL ? g_hash_table_lookup (unit->functions, last) : NULL;
  const TsClass *type = unit != NULL ? g_hash_table_lookup (unit->classes, last) : NULL;
  if (def != NULL || type != NULL)
    return new_function (
      program, (TsFunction){ .unit = unit, .def = def, .type = type, .class_name = name });
  TsValue member = ts_none ();
  if (unit == NULL && strchr (name, '.') != NULL && find_member (program, name, &member))
    return member;
  return ts_refuse (program, SL_ERROR_FORMAT, "the archive has nothing called %s", name);
}

/* An object of which the file has what __getstate__() gave becomes one by its class's own
 * __setstate__(). */
static void
restore (TsProgram *program, TsObject *object)
{
  const TsUnit *unit;
  if (!object->has_state)
    return;
  object->has_state = FALSE;
  const TsClass *type = ts_find_class (program, object->class_name, &unit);
  const TsDef *def = type != NULL ? ts_class_method (type, "__setstate__") : NULL;
  if (type == NULL)
    return;
  if (def == NULL) {
    ts_refuse (program, SL_ERROR_FORMAT, "class %s has no __setstate__", object->class_name);
    return;
  }
  const TsFunction function = {
    .unit = unit, .def = def, .is_bound = TRUE, .self = { .kind = TS_OBJECT, .object = object }
  };
  ts_call (program, &function, &object->state, NULL, 1);
}

/* FALSE without an error when the class has neither a method nor a value of that name. */
static gboolean
class_attribute (TsProgram *program, TsObject *object, const char *name, TsValue *result)
{
  const TsUnit *unit;
  const TsClass *type = ts_find_class (program, object->class_name, &unit);
  if (type == NULL)
    return FALSE;
  const TsDef *def = ts_class_method (type, name);
  if (def != NULL) {
    const TsFunction method = {
      .unit = unit, .def = def, .is_bound = TRUE, .self = { .kind = TS_OBJECT, .object = object }
    };
    *result = new_function (program, method);
    return TRUE;
  }
  for (guint i = 0; i < type->n_fields; i++) {
    if (strcmp (type->fields[i].name, name) != 0 || type->fields[i].fallback == NULL)
      continue;
    *result = ts_evaluate (program, unit, type->fields[i].fallback);
    return TRUE;
  }
  return FALSE;
}

TsValue
ts_get_attribute (TsProgram *program, TsValue base, const char *name)
{
  TsValue result = ts_none ();
  if (ts_failed (program))
    return result;
  if ((base.kind == TS_STRING || base.kind == TS_INT) && strcmp (name, "value") == 0)
    return base;
  if (base.kind != TS_OBJECT)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "attribute '%s' of a value of type %s", name,
                      ts_kind_name (base.kind));
  restore (program, base.object);
  const TsValue *found = ts_attribute (base.object, name);
  if (found != NULL)
    return *found;
  if (!class_attribute (program, base.object, name, &result) && !ts_failed (program))
    return ts_refuse (program, SL_ERROR_FORMAT, "an object of %s has no attribute '%s'",
                      base.object->class_name, name);
  return result;
}

gboolean
ts_has_attribute (TsProgram *program, TsValue base, const char *name)
{
  TsValue result;
  if (base.kind != TS_OBJECT || ts_failed (program))
    return FALSE;
  restore (program, base.object);
  return ts_attribute (base.object, name) != NULL
         || class_attribute (program, base.object, name, &result);
}
