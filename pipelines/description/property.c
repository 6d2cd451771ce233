/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties from text, for [element NAME] groups. GObject silently clamps values out of range;
 * here they are an error that states the property's range.
 */

#include "pipelines/description/property.h"

#include <gst/gst.h>

#include "core/base/fail.h"
#include "core/base/suggest.h"

#define SHOWN_NICKS 24

static char *
describe_enum (GParamSpec *pspec)
{
  const GEnumClass *klass = G_PARAM_SPEC_ENUM (pspec)->enum_class;
  GString *text = g_string_new ("one of ");
  for (guint i = 0; i < MIN (klass->n_values, SHOWN_NICKS); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", klass->values[i].value_nick);
  return g_string_free (text, FALSE);
}

static char *
describe_flags (GParamSpec *pspec)
{
  const GFlagsClass *klass = G_PARAM_SPEC_FLAGS (pspec)->flags_class;
  GString *text = g_string_new ("any of ");
  for (guint i = 0; i < MIN (klass->n_values, SHOWN_NICKS); i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", klass->values[i].value_nick);
  g_string_append (text, " with '+' between");
  return g_string_free (text, FALSE);
}

char *
sl_property_describe (GParamSpec *pspec)
{
  if (G_IS_PARAM_SPEC_BOOLEAN (pspec))
    return g_strdup ("true or false");
  if (G_IS_PARAM_SPEC_ENUM (pspec))
    return describe_enum (pspec);
  if (G_IS_PARAM_SPEC_FLAGS (pspec))
    return describe_flags (pspec);
  if (G_IS_PARAM_SPEC_INT (pspec))
    return g_strdup_printf ("an integer in %d..%d", G_PARAM_SPEC_INT (pspec)->minimum,
                            G_PARAM_SPEC_INT (pspec)->maximum);
  if (G_IS_PARAM_SPEC_UINT (pspec))
    return g_strdup_printf ("an integer in %u..%u", G_PARAM_SPEC_UINT (pspec)->minimum,
                            G_PARAM_SPEC_UINT (pspec)->maximum);
  if (G_IS_PARAM_SPEC_INT64 (pspec))
    return g_strdup_printf ("an integer in %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT,
                            G_PARAM_SPEC_INT64 (pspec)->minimum,
                            G_PARAM_SPEC_INT64 (pspec)->maximum);
  if (G_IS_PARAM_SPEC_UINT64 (pspec))
    return g_strdup_printf ("an integer in %" G_GUINT64_FORMAT "..%" G_GUINT64_FORMAT,
                            G_PARAM_SPEC_UINT64 (pspec)->minimum,
                            G_PARAM_SPEC_UINT64 (pspec)->maximum);
  if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    return g_strdup_printf ("a number in %g..%g", G_PARAM_SPEC_DOUBLE (pspec)->minimum,
                            G_PARAM_SPEC_DOUBLE (pspec)->maximum);
  if (G_IS_PARAM_SPEC_FLOAT (pspec))
    return g_strdup_printf ("a number in %g..%g", (double) G_PARAM_SPEC_FLOAT (pspec)->minimum,
                            (double) G_PARAM_SPEC_FLOAT (pspec)->maximum);
  return g_strdup_printf ("a %s", g_type_name (G_PARAM_SPEC_VALUE_TYPE (pspec)));
}

static gboolean
refuse (GError **error, const char *expected, const char *text)
{
  return sl_fail (error, SL_ERROR_ARGUMENT, "expected %s, got '%s'", expected, text);
}

/* GStreamer reads "12x" as 12, and "-1" as the largest unsigned number. */
static gboolean
is_whole_number (GParamSpec *pspec, const char *text)
{
  const GType type = G_PARAM_SPEC_VALUE_TYPE (pspec);
  char *end = NULL;
  if (type != G_TYPE_INT && type != G_TYPE_UINT && type != G_TYPE_INT64 && type != G_TYPE_UINT64
      && type != G_TYPE_FLOAT && type != G_TYPE_DOUBLE)
    return TRUE;
  if ((type == G_TYPE_UINT || type == G_TYPE_UINT64) && text[0] == '-')
    return FALSE;
  if (type == G_TYPE_FLOAT || type == G_TYPE_DOUBLE)
    g_ascii_strtod (text, &end);
  else if (text[0] == '-')
    g_ascii_strtoll (text, &end, 0);
  else
    g_ascii_strtoull (text, &end, 0);
  return end != text
         && (*end == '\0' || g_ascii_isalpha (text[0])); /* names such as max stay GStreamer's */
}

/* Elements of ours take any number, and say at their start what is wrong with it. */
static gboolean
is_in_range (GParamSpec *pspec, const GValue *value)
{
  if (G_IS_PARAM_SPEC_INT (pspec))
    return g_value_get_int (value) >= G_PARAM_SPEC_INT (pspec)->minimum
           && g_value_get_int (value) <= G_PARAM_SPEC_INT (pspec)->maximum;
  if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    return g_value_get_double (value) >= G_PARAM_SPEC_DOUBLE (pspec)->minimum
           && g_value_get_double (value) <= G_PARAM_SPEC_DOUBLE (pspec)->maximum;
  return TRUE;
}

static gboolean
set_value (GObject *object, GParamSpec *pspec, const char *text, GError **error)
{
  const GType type = G_PARAM_SPEC_VALUE_TYPE (pspec);
  g_auto (GValue) value = G_VALUE_INIT;
  g_autofree char *expected = sl_property_describe (pspec);
  g_value_init (&value, type);
  if (type == G_TYPE_STRING)
    g_value_set_string (&value, text);
  else if (!is_whole_number (pspec, text)
           || !gst_value_deserialize_with_pspec (&value, text, pspec))
    return refuse (error, expected, text);
  if (!is_in_range (pspec, &value)
      || (g_param_value_validate (pspec, &value) && type != G_TYPE_STRING))
    return refuse (error, expected, text);
  g_object_set_property (object, pspec->name, &value);
  return TRUE;
}

static gboolean
unknown_property (GObject *object, const char *name, GError **error)
{
  guint n = 0;
  g_autofree GParamSpec **all = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);
  g_autofree const char **names = g_new0 (const char *, n + 1);
  for (guint i = 0; i < n; i++)
    names[i] = (all[i]->flags & G_PARAM_WRITABLE) != 0 ? all[i]->name : NULL;
  g_autofree char *hint = sl_suggest_text (name, names, n);
  const gboolean near = *hint != '\0';
  const char *kind =
    GST_IS_ELEMENT (object) && gst_element_get_factory (GST_ELEMENT (object)) != NULL
      ? GST_OBJECT_NAME (gst_element_get_factory (GST_ELEMENT (object)))
      : G_OBJECT_TYPE_NAME (object);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s has no such property%s%s%s", kind, hint,
                  near ? "" : "; all of them: gst-inspect-1.0 ", near ? "" : kind);
}

/* Follows "child::" as far as children of that name exist. */
static gboolean
find_property (GObject *object, const char *name, GObject **target, GParamSpec **pspec)
{
  if (GST_IS_CHILD_PROXY (object))
    return gst_child_proxy_lookup (GST_CHILD_PROXY (object), name, target, pspec);
  *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (object), name);
  *target = *pspec != NULL ? g_object_ref (object) : NULL;
  return *pspec != NULL;
}

gboolean
sl_property_from_text (GObject *object, const char *name, const char *text, GError **error)
{
  g_autoptr (GObject) target = NULL;
  GParamSpec *pspec = NULL;
  if (!find_property (object, name, &target, &pspec))
    return unknown_property (object, name, error);
  if ((pspec->flags & G_PARAM_WRITABLE) == 0 || (pspec->flags & G_PARAM_CONSTRUCT_ONLY) != 0)
    return sl_fail (error, SL_ERROR_ARGUMENT, "the property cannot be set");
  return set_value (target, pspec, text, error);
}
