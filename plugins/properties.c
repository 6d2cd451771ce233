/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The property table helper and the enumerations that several elements' properties share.
 */
#include "plugins/properties.h"

#include "base/picture.h"
#include "preprocess/normalize.h"

static GParamSpec *
property_spec (const SlProperty *property)
{
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  flags |= property->live ? GST_PARAM_MUTABLE_PLAYING : GST_PARAM_MUTABLE_READY;
  switch (property->kind) {
    case SL_PROPERTY_BOOL:
      return g_param_spec_boolean (property->name, property->nick, property->help, property->initial != 0, flags);
    case SL_PROPERTY_INT:
      return g_param_spec_int (property->name, property->nick, property->help, (gint) property->minimum, (gint) property->maximum,
                               (gint) property->initial, flags);
    case SL_PROPERTY_DOUBLE:
      return g_param_spec_double (property->name, property->nick, property->help, property->minimum, property->maximum, property->initial,
                                  flags);
    case SL_PROPERTY_STRING:
      return g_param_spec_string (property->name, property->nick, property->help, NULL, flags);
    case SL_PROPERTY_CHOICE:
      return g_param_spec_enum (property->name, property->nick, property->help, property->choices (), (gint) property->initial, flags);
  }
  g_assert_not_reached ();
}

void
sl_property_set (gpointer instance, const SlProperty *property, const GValue *value)
{
  gpointer place = G_STRUCT_MEMBER_P (instance, property->offset);
  switch (property->kind) {
    case SL_PROPERTY_BOOL:
      *(gboolean *) place = g_value_get_boolean (value);
      break;
    case SL_PROPERTY_INT:
      *(gint *) place = g_value_get_int (value);
      break;
    case SL_PROPERTY_DOUBLE:
      *(gdouble *) place = g_value_get_double (value);
      break;
    case SL_PROPERTY_STRING:
      g_free (*(char **) place);
      *(char **) place = g_value_dup_string (value);
      break;
    case SL_PROPERTY_CHOICE:
      *(gint *) place = g_value_get_enum (value);
      break;
  }
}

void
sl_property_get (gpointer instance, const SlProperty *property, GValue *value)
{
  gpointer place = G_STRUCT_MEMBER_P (instance, property->offset);
  switch (property->kind) {
    case SL_PROPERTY_BOOL:
      g_value_set_boolean (value, *(gboolean *) place);
      break;
    case SL_PROPERTY_INT:
      g_value_set_int (value, *(gint *) place);
      break;
    case SL_PROPERTY_DOUBLE:
      g_value_set_double (value, *(gdouble *) place);
      break;
    case SL_PROPERTY_STRING:
      g_value_set_string (value, *(char **) place);
      break;
    case SL_PROPERTY_CHOICE:
      g_value_set_enum (value, *(gint *) place);
      break;
  }
}

/* Of a parameter's specification: its row of the table. */
static GQuark
row_quark (void)
{
  return g_quark_from_static_string ("sl-property");
}

static void
set_locked (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GST_OBJECT_LOCK (object);
  sl_property_set (object, g_param_spec_get_qdata (spec, row_quark ()), value);
  GST_OBJECT_UNLOCK (object);
}

static void
get_locked (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  GST_OBJECT_LOCK (object);
  sl_property_get (object, g_param_spec_get_qdata (spec, row_quark ()), value);
  GST_OBJECT_UNLOCK (object);
}

void
sl_properties_install (GObjectClass *klass, const SlProperty *table, guint n)
{
  klass->set_property = set_locked;
  klass->get_property = get_locked;
  for (guint i = 0; i < n; i++) {
    GParamSpec *spec = property_spec (&table[i]);
    g_param_spec_set_qdata (spec, row_quark (), (gpointer) &table[i]);
    g_object_class_install_property (klass, i + 1, spec);
    if (table[i].kind == SL_PROPERTY_CHOICE)
      gst_type_mark_as_plugin_api (table[i].choices (), 0);
  }
}

void
sl_properties_init (gpointer instance, const SlProperty *table, guint n)
{
  for (guint i = 0; i < n; i++) {
    gpointer place = G_STRUCT_MEMBER_P (instance, table[i].offset);
    switch (table[i].kind) {
      case SL_PROPERTY_BOOL:
      case SL_PROPERTY_INT:
      case SL_PROPERTY_CHOICE:
        *(gint *) place = (gint) table[i].initial;
        break;
      case SL_PROPERTY_DOUBLE:
        *(gdouble *) place = table[i].initial;
        break;
      case SL_PROPERTY_STRING:
        *(char **) place = NULL;
        break;
    }
  }
}

void
sl_properties_clear (gpointer instance, const SlProperty *table, guint n)
{
  for (guint i = 0; i < n; i++)
    if (table[i].kind == SL_PROPERTY_STRING)
      g_clear_pointer ((char **) G_STRUCT_MEMBER_P (instance, table[i].offset), g_free);
}

/* @words as an enumeration; with @automatic (nullable), what "auto" means, which then comes first and moves the others by one. */
static GType
register_words (const char *name, const char *automatic, const SlPictureWord *words, gint n)
{
  const gint first = automatic != NULL ? 1 : 0;
  GEnumValue *values = g_new0 (GEnumValue, n + 2); /* as static as the type */
  if (automatic != NULL)
    values[0] = (GEnumValue){ SL_CHOICE_AUTO, automatic, "auto" };
  for (gint i = 0; i < n; i++)
    values[first + i] = (GEnumValue){ first + i, words[i].meaning, words[i].name };
  return g_enum_register_static (name, values);
}

GType
sl_colour_choice_get_type (void)
{
  static GType type = 0;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, register_words ("SlColourChoice", "What the model wants", sl_colour_words, SL_N_COLOURS));
  return type;
}

GType
sl_layout_choice_get_type (void)
{
  static GType type = 0;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, register_words ("SlLayoutChoice", "What the model wants", sl_layout_words, SL_N_LAYOUTS));
  return type;
}

GType
sl_fit_choice_get_type (void)
{
  static GType type = 0;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
                       register_words ("SlFitChoice", "What the model wants, stretch when it does not say", sl_fit_words, SL_N_FITS));
  return type;
}

GType
sl_resize_fit_get_type (void)
{
  static GType type = 0;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, register_words ("SlResizeFit", NULL, sl_fit_words, SL_N_FITS));
  return type;
}

GType
sl_type_choice_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { SL_CHOICE_AUTO, "What the model wants", "auto" },
    { 1 + SL_OUT_U8, "Bytes 0..255", "uint8" },
    { 1 + SL_OUT_I8, "Bytes minus 128", "int8" },
    { 1 + SL_OUT_F32, "(byte - mean) / std", "float32" },
    { 1 + SL_OUT_F16, "(byte - mean) / std, half precision", "float16" },
    { 0, NULL, NULL },
  };
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("SlTypeChoice", values));
  return type;
}

GType
sl_filter_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { SL_FILTER_NEAREST, "The nearest pixel: fast, jagged", "nearest" },
    { SL_FILTER_BILINEAR, "Between the nearest four pixels, centres aligned: aliases when reducing beyond 2", "bilinear" },
    { SL_FILTER_AREA, "Mean of the area that a pixel of the result covers", "area" },
    { SL_FILTER_AUTO, "area when reducing beyond 2, else bilinear", "auto" },
    { 0, NULL, NULL },
  };
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("SlFilter", values));
  return type;
}

const char *
sl_choice_nick (GType type, gint value)
{
  if (value == SL_CHOICE_AUTO)
    return NULL;
  GEnumClass *klass = g_type_class_ref (type);
  const GEnumValue *entry = g_enum_get_value (klass, value);
  const char *nick = entry != NULL ? entry->value_nick : NULL;
  g_type_class_unref (klass);
  return nick;
}
