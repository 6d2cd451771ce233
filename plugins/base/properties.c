/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property table helper and the enumerations that several elements' properties share. */
#include "plugins/base/properties.h"

#include "core/base/picture.h"
#include "plugins/base/report.h"
#include "preprocess/normalize.h"
#include "core/base/fail.h"

/* A value that an element was given and does not take. */
typedef struct
{
  const SlProperty *property;
  char *text;
} Fault;

static GQuark
faults_quark (void)
{
  return g_quark_from_static_string ("sl-property-faults");
}

static void
fault_free (gpointer data)
{
  Fault *fault = data;
  g_free (fault->text);
  g_free (fault);
}

/* GObject answers numbers out of range with a warning, and the default stays: so they come here,
 * and are refused with a sentence at the start. */
static gboolean
take_any (GParamSpec *spec, GValue *value)
{
  return FALSE;
}

static void
any_class_init (gpointer klass, gpointer data)
{
  ((GParamSpecClass *) klass)->value_validate = take_any;
}

/* A kind of @parent's specifications that takes any number. Each plugin file has this code, and the
 * process one type. */
static GType
any_type (GType parent, const char *name)
{
  static GMutex lock;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  GType type = g_type_from_name (name);
  if (type == G_TYPE_INVALID) {
    GTypeQuery query;
    g_type_query (parent, &query);
    const GTypeInfo info = { .class_size = (guint16) query.class_size,
                             .class_init = any_class_init,
                             .instance_size = (guint16) query.instance_size };
    type = g_type_register_static (parent, name, &info, 0);
  }
  return type;
}

static GParamSpec *
int_spec (const SlProperty *property, GParamFlags flags)
{
  GParamSpecInt *spec =
    g_param_spec_internal (any_type (G_TYPE_PARAM_INT, "SlParamInt"), property->name,
                           property->nick, property->help, flags);
  spec->minimum = (gint) property->minimum;
  spec->maximum = (gint) property->maximum;
  spec->default_value = (gint) property->initial;
  return G_PARAM_SPEC (spec);
}

static GParamSpec *
double_spec (const SlProperty *property, GParamFlags flags)
{
  GParamSpecDouble *spec =
    g_param_spec_internal (any_type (G_TYPE_PARAM_DOUBLE, "SlParamDouble"), property->name,
                           property->nick, property->help, flags);
  spec->minimum = property->minimum;
  spec->maximum = property->maximum;
  spec->default_value = property->initial;
  return G_PARAM_SPEC (spec);
}

static GParamSpec *
property_spec (const SlProperty *property)
{
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  flags |= property->live ? GST_PARAM_MUTABLE_PLAYING : GST_PARAM_MUTABLE_READY;
  switch (property->kind) {
    case SL_PROPERTY_BOOL:
      return g_param_spec_boolean (property->name, property->nick, property->help,
                                   property->initial != 0, flags);
    case SL_PROPERTY_INT:
      return int_spec (property, flags);
    case SL_PROPERTY_DOUBLE:
      return double_spec (property, flags);
    case SL_PROPERTY_STRING:
      return g_param_spec_string (property->name, property->nick, property->help, NULL, flags);
    case SL_PROPERTY_CHOICE:
      return g_param_spec_enum (property->name, property->nick, property->help,
                                property->choices (), (gint) property->initial, flags);
  }
  g_assert_not_reached ();
}

/* (transfer none): what is wrong with @instance, of Fault, in the order in which it came. */
static GPtrArray *
ensure_faults (gpointer instance)
{
  GPtrArray *faults = g_object_get_qdata (instance, faults_quark ());
  if (faults == NULL) {
    faults = g_ptr_array_new_with_free_func (fault_free);
    g_object_set_qdata_full (instance, faults_quark (), faults, (GDestroyNotify) g_ptr_array_unref);
  }
  return faults;
}

/* FALSE: @value is remembered as what is wrong with @instance until the property has another. */
static gboolean
check_number (gpointer instance, const SlProperty *property, const GValue *value)
{
  const gboolean whole = property->kind == SL_PROPERTY_INT;
  const gdouble number = whole ? g_value_get_int (value) : g_value_get_double (value);
  GPtrArray *faults = ensure_faults (instance);
  for (guint i = faults->len; i > 0; i--)
    if (((const Fault *) g_ptr_array_index (faults, i - 1))->property == property)
      g_ptr_array_remove_index (faults, i - 1);
  if (number >= property->minimum && number <= property->maximum)
    return TRUE;
  Fault *fault = g_new0 (Fault, 1);
  fault->property = property;
  fault->text =
    g_strdup_printf ("%s=%.15g: expected %s in %.15g..%.15g", property->name, number,
                     whole ? "an integer" : "a number", property->minimum, property->maximum);
  if (GST_IS_ELEMENT (instance) && GST_STATE (instance) != GST_STATE_NULL)
    g_warning ("%s: %s; it stays as it was", GST_OBJECT_NAME (instance), fault->text);
  g_ptr_array_add (faults, fault);
  return FALSE;
}

/* FALSE with @error set, to all that is wrong with @instance. */
static gboolean
check_faults (gpointer instance, GError **error)
{
  const GPtrArray *faults = g_object_get_qdata (instance, faults_quark ());
  if (faults == NULL || faults->len == 0)
    return TRUE;
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < faults->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "; " : "",
                            ((const Fault *) g_ptr_array_index (faults, i))->text);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s", text->str);
}

/* (transfer full) (nullable): what is stored of a property whose value is stored as text. */
static char *
text_of (const SlProperty *property, const GValue *value)
{
  switch (property->kind) {
    case SL_PROPERTY_BOOL:
      return g_strdup (g_value_get_boolean (value) ? "true" : "false");
    case SL_PROPERTY_INT:
      return g_value_get_int (value) != property->initial
               ? g_strdup_printf ("%d", g_value_get_int (value))
               : NULL;
    case SL_PROPERTY_CHOICE:
      return g_strdup (sl_choice_nick (property->choices (), g_value_get_enum (value)));
    case SL_PROPERTY_STRING:
      return g_value_dup_string (value);
    case SL_PROPERTY_DOUBLE:
      break;
  }
  g_assert_not_reached ();
}

static gint
choice_of (GType type, const char *nick)
{
  GEnumClass *klass = g_type_class_ref (type);
  const GEnumValue *entry = g_enum_get_value_by_nick (klass, nick);
  const gint value = entry != NULL ? entry->value : SL_CHOICE_AUTO;
  g_type_class_unref (klass);
  return value;
}

/* @text: (nullable) */
static void
get_from_text (const SlProperty *property, const char *text, GValue *value)
{
  if (property->kind == SL_PROPERTY_STRING)
    g_value_set_string (value, text);
  else if (property->kind == SL_PROPERTY_BOOL)
    g_value_set_boolean (value, text != NULL ? g_str_equal (text, "true") : property->initial != 0);
  else if (property->kind == SL_PROPERTY_INT)
    g_value_set_int (value, text != NULL ? (gint) g_ascii_strtoll (text, NULL, 10)
                                         : (gint) property->initial);
  else
    g_value_set_enum (value, text != NULL ? choice_of (property->choices (), text)
                                          : (gint) property->initial);
}

void
sl_property_set (gpointer instance, const SlProperty *property, const GValue *value)
{
  if ((property->kind == SL_PROPERTY_INT || property->kind == SL_PROPERTY_DOUBLE)
      && !check_number (instance, property, value))
    return;
  gpointer place = G_STRUCT_MEMBER_P (instance, property->offset);
  if (property->as_text) {
    g_free (*(char **) place);
    *(char **) place = text_of (property, value);
    return;
  }
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
  if (property->as_text) {
    get_from_text (property, *(char **) place, value);
    return;
  }
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
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  sl_property_set (object, g_param_spec_get_qdata (spec, row_quark ()), value);
}

static void
get_locked (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  sl_property_get (object, g_param_spec_get_qdata (spec, row_quark ()), value);
}

typedef GstStateChangeReturn (*ChangeState) (GstElement *, GstStateChange);

/* Of an element's type: what changes its state. */
static GQuark
change_quark (void)
{
  return g_quark_from_static_string ("sl-change-state");
}

static GstStateChangeReturn
change_state (GstElement *element, GstStateChange transition)
{
  const ChangeState own = (ChangeState) g_type_get_qdata (G_OBJECT_TYPE (element), change_quark ());
  g_autoptr (GError) error = NULL;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    GST_OBJECT_LOCK (element);
    check_faults (element, &error);
    GST_OBJECT_UNLOCK (element);
  }
  if (error == NULL)
    return own (element, transition);
  sl_element_report (element, error);
  return GST_STATE_CHANGE_FAILURE;
}

/* Of the first element of a type: its class is whole by now, with what the element itself does when
 * its state changes. */
static void
constructed (GObject *object)
{
  static GMutex lock;
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (object);
  GObjectClass *parent = g_type_class_peek (g_type_parent (G_OBJECT_TYPE (object)));
  g_mutex_lock (&lock);
  if (klass->change_state != change_state) {
    g_type_set_qdata (G_OBJECT_TYPE (object), change_quark (), (gpointer) klass->change_state);
    klass->change_state = change_state;
  }
  g_mutex_unlock (&lock);
  parent->constructed (object);
}

void
sl_properties_install (GObjectClass *klass, const SlProperty *table, guint n)
{
  klass->set_property = set_locked;
  klass->get_property = get_locked;
  klass->constructed = constructed;
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
    switch (table[i].as_text ? SL_PROPERTY_STRING : table[i].kind) {
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
    if (table[i].kind == SL_PROPERTY_STRING || table[i].as_text)
      g_clear_pointer ((char **) G_STRUCT_MEMBER_P (instance, table[i].offset), g_free);
}

/* Once: @words as the enumeration @name; with @automatic (nullable), what "auto" means, which then
 * comes first and moves the others by one. */
static GType
words_type (GType *type, const char *name, const char *automatic, const SlPictureWord *words,
            gint n)
{
  if (!g_once_init_enter (type))
    return *type;
  const gint first = automatic != NULL ? 1 : 0;
  GEnumValue *values = g_new0 (GEnumValue, n + 2); /* as static as the type */
  if (automatic != NULL)
    values[0] = (GEnumValue){ SL_CHOICE_AUTO, automatic, "auto" };
  for (gint i = 0; i < n; i++)
    values[first + i] = (GEnumValue){ first + i, words[i].meaning, words[i].name };
  g_once_init_leave (type, g_enum_register_static (name, values));
  return *type;
}

GType
sl_colour_choice_get_type (void)
{
  static GType type = 0;
  return words_type (&type, "SlColourChoice", "What the model wants", sl_colour_words,
                     SL_N_COLOURS);
}

GType
sl_layout_choice_get_type (void)
{
  static GType type = 0;
  return words_type (&type, "SlLayoutChoice", "What the model wants", sl_layout_words,
                     SL_N_LAYOUTS);
}

GType
sl_fit_choice_get_type (void)
{
  static GType type = 0;
  return words_type (&type, "SlFitChoice", "What the model wants, stretch when it does not say",
                     sl_fit_words, SL_N_FITS);
}

GType
sl_resize_fit_get_type (void)
{
  static GType type = 0;
  return words_type (&type, "SlResizeFit", NULL, sl_fit_words, SL_N_FITS);
}

G_DEFINE_ENUM_TYPE (SlTypeChoice, sl_type_choice,
                    { SL_CHOICE_AUTO, "What the model wants", "auto" },
                    { 1 + SL_OUT_U8, "Bytes 0..255", "uint8" },
                    { 1 + SL_OUT_I8, "Bytes minus 128", "int8" },
                    { 1 + SL_OUT_F32, "(byte - mean) / std", "float32" },
                    { 1 + SL_OUT_F16, "(byte - mean) / std, half precision", "float16" })

G_DEFINE_ENUM_TYPE (
  SlFilter, sl_filter, { SL_FILTER_NEAREST, "The nearest pixel: fast, jagged", "nearest" },
  { SL_FILTER_BILINEAR,
    "Between the nearest four pixels, centres aligned: aliases when reducing beyond 2",
    "bilinear" },
  { SL_FILTER_AREA, "Mean of the area that a pixel of the result covers", "area" },
  { SL_FILTER_AUTO, "area when reducing beyond 2, else bilinear", "auto" })

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

GParamSpec *
sl_property_count (const char *name, const char *nick, const char *help)
{
  return g_param_spec_uint64 (name, nick, help, 0, G_MAXUINT64, 0,
                              G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

GParamSpec *
sl_property_figures (const char *name, const char *nick, const char *help)
{
  return g_param_spec_boxed (name, nick, help, GST_TYPE_STRUCTURE,
                             G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}
