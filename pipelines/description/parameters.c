/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parameters are resolved on demand: looking one up resolves its default, which may look up others.
 * A parameter found open on the way is a cycle. Values of the caller are literal: nothing is
 * substituted in them.
 */
#include "pipelines/description/parameters.h"

#include <math.h>
#include <string.h>

#include "core/base/zoo_name.h"
#include "core/base/fail.h"
#include "pipelines/description/substitute.h"
#include "core/base/suggest.h"
#include "pipelines/description/typed_values.h"

#define MAX_PARAMETERS 256

typedef enum
{
  WAITING,
  OPEN,
  RESOLVED
} Progress;

typedef struct
{
  SlParameter parameter;
  Progress progress;
  SlKeyEntry at;          /* (transfer none): where it was declared first */
  char *text;             /* (nullable): its default before substitution */
  SlKeyEntry text_at;     /* (transfer none) */
  SlKeyEntry limit_at[2]; /* (transfer none): of minimum and maximum */
  SlKeyEntry choices_at;  /* (transfer none) */
} Declared;

struct _SlParameterSet
{
  GPtrArray *declared; /* of Declared */
  GHashTable *by_name; /* (transfer none) name -> Declared */
  GHashTable *values;  /* (nullable) (transfer none) */
  const char *path;
  guint nesting;
};

static const char *const type_names[] = {
  "string", "integer", "number", "boolean", "path", "choice"
};

static const char *
type_name (SlParameterType type)
{
  return type_names[type];
}

static void
parameter_clear (gpointer data)
{
  SlParameter *parameter = data;
  g_free (parameter->name);
  g_free (parameter->value);
  g_free (parameter->description);
  g_free (parameter->environment);
  g_strfreev (parameter->choices);
}

static void
declared_free (gpointer data)
{
  Declared *declared = data;
  parameter_clear (&declared->parameter);
  g_free (declared->text);
  g_free (declared);
}

SlParameterSet *
sl_parameter_set_new (void)
{
  SlParameterSet *set = g_new0 (SlParameterSet, 1);
  set->declared = g_ptr_array_new_with_free_func (declared_free);
  set->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  return set;
}

void
sl_parameter_set_free (SlParameterSet *set)
{
  g_hash_table_unref (set->by_name);
  g_ptr_array_unref (set->declared);
  g_free (set);
}

/* The parameter @name, declared by @entry if it was not before. */
static Declared *
declare (SlParameterSet *set, const char *name, const SlKeyEntry *entry, GError **error)
{
  Declared *declared = g_hash_table_lookup (set->by_name, name);
  if (declared != NULL)
    return declared;
  if (!sl_parameter_name_valid (name)) {
    sl_key_fail (entry, error,
                 "'%s' is no name for a parameter; expected letters, digits, _ and -, at most %d",
                 name, SL_PARAMETER_NAME_MAX);
    return NULL;
  }
  if (set->declared->len >= MAX_PARAMETERS) {
    sl_key_fail (entry, error, "more than %d parameters", MAX_PARAMETERS);
    return NULL;
  }
  declared = g_new0 (Declared, 1);
  declared->parameter.name = g_strdup (name);
  declared->parameter.minimum = -INFINITY;
  declared->parameter.maximum = INFINITY;
  declared->at = *entry;
  g_ptr_array_add (set->declared, declared);
  g_hash_table_insert (set->by_name, declared->parameter.name, declared);
  return declared;
}

static gboolean
take_default (Declared *declared, const SlKeyEntry *entry, GError **error)
{
  g_free (declared->text);
  declared->text = g_strdup (entry->value);
  declared->text_at = *entry;
  return TRUE;
}

static gboolean
take_description (Declared *declared, const SlKeyEntry *entry, GError **error)
{
  g_free (declared->parameter.description);
  declared->parameter.description = g_strdup (entry->value);
  return TRUE;
}

static gboolean
take_environment (Declared *declared, const SlKeyEntry *entry, GError **error)
{
  const char *name = entry->value;
  if (name[0] == '\0' || g_ascii_isdigit (name[0])
      || name[strspn (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_")] != '\0')
    return sl_key_fail (entry, error,
                        "expected the name of a variable (letters, digits and _), got '%s'", name);
  g_free (declared->parameter.environment);
  declared->parameter.environment = g_strdup (name);
  return TRUE;
}

static gboolean
take_type (Declared *declared, const SlKeyEntry *entry, GError **error)
{
  guint type = 0;
  if (!sl_value_choice (entry, entry->value, type_names, G_N_ELEMENTS (type_names) - 1, &type,
                        error))
    return FALSE;
  declared->parameter.type = (SlParameterType) type;
  return TRUE;
}

static gboolean
take_choices (Declared *declared, const SlKeyEntry *entry, GError **error)
{
  g_auto (GStrv) choices = g_strsplit (entry->value, ";", -1);
  for (guint i = 0; choices[i] != NULL; i++)
    if (g_strstrip (choices[i])[0] == '\0')
      return sl_key_fail (entry, error, "expected words with ';' between, got '%s'", entry->value);
  if (choices[0] == NULL)
    return sl_key_fail (entry, error, "expected words with ';' between, got ''");
  g_strfreev (declared->parameter.choices);
  declared->parameter.choices = g_steal_pointer (&choices);
  declared->choices_at = *entry;
  declared->parameter.type = SL_PARAMETER_CHOICE;
  return TRUE;
}

static gboolean
take_limit (Declared *declared, const SlKeyEntry *entry, GError **error)
{
  const gboolean is_maximum = strcmp (entry->key, "maximum") == 0;
  declared->limit_at[is_maximum] = *entry;
  return sl_value_number (entry->value,
                          is_maximum ? &declared->parameter.maximum : &declared->parameter.minimum)
         || sl_key_fail (entry, error, "expected a number, got '%s'", entry->value);
}

/* The keys of [parameter NAME]. */
static const struct
{
  const char *key;
  gboolean (*take) (Declared *, const SlKeyEntry *, GError **);
} details[] = {
  { "default", take_default },
  { "description", take_description },
  { "type", take_type },
  { "choices", take_choices },
  { "minimum", take_limit },
  { "maximum", take_limit },
  { "environment", take_environment },
};

gboolean
sl_parameter_set_default (SlParameterSet *set, const SlKeyEntry *entry, GError **error)
{
  Declared *declared = declare (set, entry->key, entry, error);
  return declared != NULL && take_default (declared, entry, error);
}

gboolean
sl_parameter_set_detail (SlParameterSet *set, const char *name, const SlKeyEntry *entry,
                         GError **error)
{
  const char *known[G_N_ELEMENTS (details)];
  Declared *declared = declare (set, name, entry, error);
  if (declared == NULL)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (details); i++) {
    known[i] = details[i].key;
    if (strcmp (entry->key, details[i].key) == 0)
      return details[i].take (declared, entry, error);
  }
  g_autofree char *hint = sl_suggest_text (entry->key, known, G_N_ELEMENTS (known));
  return sl_key_fail (entry, error, "unknown key%s", hint);
}

static char *
complain_about_number (const SlParameter *parameter, const char *value)
{
  const gboolean integer = parameter->type == SL_PARAMETER_INTEGER;
  gdouble number = 0;
  if (!sl_value_number (value, &number)
      || (integer && value[strspn (value, "+-0123456789")] != '\0'))
    return g_strdup_printf ("expected %s, got '%s'", integer ? "an integer" : "a number", value);
  if (number < parameter->minimum)
    return g_strdup_printf ("expected at least %g, got '%s'", parameter->minimum, value);
  return number > parameter->maximum
           ? g_strdup_printf ("expected at most %g, got '%s'", parameter->maximum, value)
           : NULL;
}

static char *
complain_about_choice (const SlParameter *parameter, const char *value)
{
  if (g_strv_contains ((const char *const *) parameter->choices, value))
    return NULL;
  g_autofree char *all = g_strjoinv (", ", parameter->choices);
  return g_strdup_printf ("expected one of %s, got '%s'", all, value);
}

/* (transfer full) (nullable): what is wrong with @value. */
static char *
complaint (const SlParameter *parameter, const char *value)
{
  switch (parameter->type) {
    case SL_PARAMETER_BOOLEAN:
      return strcmp (value, "true") == 0 || strcmp (value, "false") == 0
               ? NULL
               : g_strdup_printf ("expected true or false, got '%s'", value);
    case SL_PARAMETER_CHOICE:
      return complain_about_choice (parameter, value);
    case SL_PARAMETER_INTEGER:
    case SL_PARAMETER_NUMBER:
      return complain_about_number (parameter, value);
    case SL_PARAMETER_PATH:
      return value[0] == '\0' ? g_strdup ("expected a path, got ''") : NULL;
    default:
      return NULL;
  }
}

static gboolean
take_value (SlParameterSet *set, Declared *declared, const char *value, GError **error)
{
  g_autofree char *wrong = NULL;
  if (!g_utf8_validate (value, -1, NULL))
    wrong = g_strdup ("expected UTF-8");
  else
    wrong = complaint (&declared->parameter, value);
  if (wrong != NULL)
    sl_fail (error, SL_ERROR_ARGUMENT, "%s: parameter %s%s%s: %s", set->path,
             declared->parameter.name,
             declared->parameter.from_environment ? ", from the environment's " : "",
             declared->parameter.from_environment ? declared->parameter.environment : "", wrong);
  declared->parameter.value = g_strdup (value);
  return wrong == NULL;
}

static char *
beside (const char *file, char *value)
{
  if (g_path_is_absolute (value) || sl_zoo_name (value) != NULL)
    return value;
  g_autofree char *folder = g_path_get_dirname (file);
  char *path =
    strcmp (folder, ".") == 0 ? g_strdup (value) : g_build_filename (folder, value, NULL);
  g_free (value);
  return path;
}

static gboolean
take_text (SlParameterSet *set, Declared *declared, GError **error)
{
  char *value = sl_substitute (declared->text, FALSE, sl_parameter_set_lookup, set, error);
  if (value == NULL)
    return sl_key_prefix (&declared->text_at, error);
  g_autofree char *wrong = complaint (&declared->parameter, value);
  if (declared->parameter.type == SL_PARAMETER_PATH && wrong == NULL)
    value = beside (declared->text_at.file, value);
  declared->parameter.value = value;
  declared->parameter.is_default = TRUE;
  return wrong == NULL || sl_key_fail (&declared->text_at, error, "%s", wrong);
}

static gboolean
resolve (SlParameterSet *set, Declared *declared, GError **error)
{
  const char *variable = declared->parameter.environment;
  const char *value =
    set->values != NULL ? g_hash_table_lookup (set->values, declared->parameter.name) : NULL;
  declared->parameter.from_environment =
    value == NULL && variable != NULL && (value = g_getenv (variable)) != NULL;
  gboolean good = FALSE;
  declared->progress = OPEN;
  set->nesting++;
  if (value != NULL)
    good = take_value (set, declared, value, error);
  else if (declared->text != NULL)
    good = take_text (set, declared, error);
  else
    sl_fail (error, SL_ERROR_ARGUMENT,
             "%s:%u: parameter %s has no default and no value: give one with --set %s=VALUE%s%s",
             declared->at.file, declared->at.line, declared->parameter.name,
             declared->parameter.name, variable != NULL ? ", or in the environment as " : "",
             variable != NULL ? variable : "");
  set->nesting--;
  declared->progress = RESOLVED;
  return good;
}

static void
unknown (SlParameterSet *set, const char *name, const char *prefix, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < set->declared->len; i++)
    g_ptr_array_add (names, ((Declared *) set->declared->pdata[i])->parameter.name);
  g_autofree char *hint = sl_suggest_text (name, (const char *const *) names->pdata, names->len);
  g_autofree char *shown = g_utf8_make_valid (name, -1);
  sl_fail (error, SL_ERROR_ARGUMENT, "%sunknown parameter '%s'%s", prefix, shown,
           names->len == 0 ? "; the description declares none" : hint);
}

const char *
sl_parameter_set_lookup (const char *name, gpointer data, GError **error)
{
  SlParameterSet *set = data;
  Declared *declared = g_hash_table_lookup (set->by_name, name);
  if (declared == NULL) {
    unknown (set, name, "", error);
    return NULL;
  }
  if (declared->progress == OPEN || set->nesting > SL_DESCRIPTION_MAX_NESTING)
    return sl_fail_null (error, SL_ERROR_LIMIT,
                         declared->progress == OPEN
                           ? "${%s} stands for itself"
                           : "${%s}: parameters within parameters too deep",
                         name);
  if (declared->progress == WAITING && !resolve (set, declared, error))
    return NULL;
  return declared->parameter.value;
}

static gboolean
check_declaration (const Declared *declared, GError **error)
{
  const SlParameter *parameter = &declared->parameter;
  const gboolean numeric =
    parameter->type == SL_PARAMETER_INTEGER || parameter->type == SL_PARAMETER_NUMBER;
  for (guint i = 0; i < 2; i++)
    if (declared->limit_at[i].key != NULL && !numeric)
      return sl_key_fail (&declared->limit_at[i], error,
                          "only for type=integer and type=number; this parameter is a %s",
                          type_name (parameter->type));
  if (parameter->choices != NULL && parameter->type != SL_PARAMETER_CHOICE)
    return sl_key_fail (&declared->choices_at, error, "only without type; this parameter is a %s",
                        type_name (parameter->type));
  return TRUE;
}

static gboolean
check_values (SlParameterSet *set, GError **error)
{
  GHashTableIter iter;
  gpointer name;
  g_autofree char *prefix = g_strdup_printf ("%s: ", set->path);
  if (set->values == NULL)
    return TRUE;
  g_hash_table_iter_init (&iter, set->values);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_hash_table_contains (set->by_name, name)) {
      unknown (set, name, prefix, error);
      return FALSE;
    }
  return TRUE;
}

gboolean
sl_parameter_set_resolve (SlParameterSet *set, GHashTable *values, const char *path, GError **error)
{
  set->values = values;
  set->path = path;
  gboolean good = check_values (set, error);
  for (guint i = 0; good && i < set->declared->len; i++) {
    Declared *declared = set->declared->pdata[i];
    good = check_declaration (declared, error)
           && (declared->progress != WAITING || resolve (set, declared, error));
  }
  return good;
}

GArray *
sl_parameter_set_steal (SlParameterSet *set)
{
  GArray *parameters = g_array_new (FALSE, TRUE, sizeof (SlParameter));
  g_array_set_clear_func (parameters, parameter_clear);
  for (guint i = 0; i < set->declared->len; i++) {
    Declared *declared = set->declared->pdata[i];
    g_array_append_val (parameters, declared->parameter);
    memset (&declared->parameter, 0, sizeof declared->parameter);
  }
  g_hash_table_remove_all (set->by_name);
  g_ptr_array_set_size (set->declared, 0);
  return parameters;
}
