/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sentences about operators that do not run here. Most say something of the whole file: it was
 * compiled for one accelerator, or converted with operators of TensorFlow itself, or needs the
 * program that it was made for.
 */
#include "models/tflite/missing.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/tflite/operators.h"

/* Longest list of further names in a message. */
#define MAX_NAMES 400

/* Custom operators into which compilers of accelerators put most of a model. */
static const struct
{
  const char *custom, *device, *compiler, *suffix;
} compiled[] = {
  { "edgetpu-custom-op", "the Edge TPU", "edgetpu_compiler", "_edgetpu" },
  { "ethos-u", "Ethos-U", "Vela", "_vela" },
};

static gint
find_compiled (const TflMissing *missing)
{
  for (guint i = 0; i < G_N_ELEMENTS (compiled); i++)
    if (g_strcmp0 (missing->custom, compiled[i].custom) == 0)
      return (gint) i;
  return -1;
}

static gboolean
runs_subgraphs (const TflMissing *missing)
{
  static const char *const control[] = { "CALL", "IF", "WHILE", "CALL_ONCE", NULL };
  return missing->custom == NULL && g_strv_contains (control, tfl_builtin_name (missing->builtin));
}

/* "op 37 FOO" or "custom op 'Foo'" */
static char *
describe (const TflMissing *missing)
{
  if (missing->custom != NULL)
    return g_strdup_printf ("custom op '%s'", missing->custom);
  return g_strdup_printf ("op %d %s", missing->builtin, tfl_builtin_name (missing->builtin));
}

/* " (nor A, B)", empty when there is no other. */
static char *
list_others (const TflMissing *missing, guint n, guint chosen)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < n; i++) {
    if (i == chosen)
      continue;
    if (text->len > MAX_NAMES) {
      g_string_append (text, ", ...");
      break;
    }
    const char *name =
      missing[i].custom != NULL ? missing[i].custom : tfl_builtin_name (missing[i].builtin);
    g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : " (nor ", name);
  }
  if (text->len > 0)
    g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

/* Why @missing does not run, and what to do. */
static char *
explain (const TflMissing *missing)
{
  const gint target = find_compiled (missing);
  if (target >= 0)
    return g_strdup_printf (
      "the file was compiled for %s and runs only there; take the file that %s was given, whose "
      "name usually lacks %s",
      compiled[target].device, compiled[target].compiler, compiled[target].suffix);
  if (runs_subgraphs (missing))
    return g_strdup (
      "control flow, which runs further subgraphs, is not supported; export the model without "
      "loops, conditions and calls");
  if (missing->custom != NULL && g_str_has_prefix (missing->custom, "Flex"))
    return g_strdup_printf (
      "it is TensorFlow's own operator %s (SELECT_TF_OPS), which needs TensorFlow to run; convert "
      "the model with TFLITE_BUILTINS alone, and replace in it what the converter then refuses",
      missing->custom + strlen ("Flex"));
  if (missing->custom != NULL)
    return g_strdup (
      "not supported: custom operators belong to the program that the model was made for; convert "
      "the model to built-in ones");
  return g_strdup (
    "not supported; convert the model without it: 'sightline inspect --operators' lists what runs");
}

guint
tfl_missing_choose (const TflMissing *missing, guint n)
{
  for (guint i = 0; i < n; i++)
    if (find_compiled (&missing[i]) >= 0)
      return i;
  return 0;
}

void
tfl_missing_report (const TflMissing *missing, guint n, guint chosen, const char *name,
                    GError **error)
{
  g_autofree char *what = describe (&missing[chosen]);
  g_autofree char *others = list_others (missing, n, chosen);
  g_autofree char *why = explain (&missing[chosen]);
  sl_fail (error, SL_ERROR_UNSUPPORTED, "%s at node %u '%s'%s: %s", what, missing[chosen].node,
           name, others, why);
}
