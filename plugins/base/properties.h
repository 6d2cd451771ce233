/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties as data: an element declares a table, one row a property with the place where its
 * value is stored, and gets installation, defaults, setting, reading and freeing from it.
 */
#pragma once

#include <gst/gst.h>

typedef enum
{
  SL_PROPERTY_BOOL,   /* gboolean */
  SL_PROPERTY_INT,    /* gint */
  SL_PROPERTY_DOUBLE, /* gdouble */
  SL_PROPERTY_STRING, /* char *, owned, NULL at first */
  SL_PROPERTY_CHOICE, /* gint, a value of the enumeration @choices */
} SlPropertyKind;

/**
 * SlProperty:
 * @help: what gst-inspect-1.0 prints: meaning, unit, default's meaning, an example
 * @offset: of the value in the instance
 * @minimum, @maximum, @initial: numbers and choices only
 * @choices: enumerations only
 * @live: may change while playing; others take effect at the next change from READY to PAUSED
 * @as_text: the value is stored as text, owned, NULL at first, for "auto" and for the initial
 * number; not for doubles
 */
typedef struct
{
  const char *name, *nick, *help;
  SlPropertyKind kind;
  gsize offset;
  gdouble minimum, maximum, initial;
  GType (*choices) (void);
  gboolean live, as_text;
} SlProperty;

/** sl_properties_install: for a class of elements without subclasses. Property ids are 1 + the
 * row's index. @table must outlive the class. Numbers out of range are not taken: the change from
 * NULL to READY fails with a sentence then; later there is a warning. Sets and gets values under
 * the object lock; an element that does more when one is set or read gives @klass functions of its
 * own after this. */
void sl_properties_install (GObjectClass *klass, const SlProperty *table, guint n);
/** sl_properties_init, sl_properties_clear: defaults into @instance; free its strings. */
void sl_properties_init (gpointer instance, const SlProperty *table, guint n);
void sl_properties_clear (gpointer instance, const SlProperty *table, guint n);
/** sl_property_set, sl_property_get: the caller holds whatever lock guards the values. */
void sl_property_set (gpointer instance, const SlProperty *property, const GValue *value);
void sl_property_get (gpointer instance, const SlProperty *property, GValue *value);

/** sl_property_count, sl_property_figures: (transfer floating): read-only properties of what an
 * element counts or measures: a uint64, and a structure of several values. Texts must be static. */
GParamSpec *sl_property_count (const char *name, const char *nick, const char *help);
GParamSpec *sl_property_figures (const char *name, const char *nick, const char *help);

/** Value of every "auto" choice; the others are 1 + the library's enumerator. */
#define SL_CHOICE_AUTO 0
/** Enumerations "auto" and SlColour, SlLayout, SlFit, SlOutType. */
GType sl_colour_choice_get_type (void);
GType sl_layout_choice_get_type (void);
GType sl_fit_choice_get_type (void);
GType sl_type_choice_get_type (void);
/** SlFit itself, as slresize has it. */
GType sl_resize_fit_get_type (void);
/** SlFilter itself. */
GType sl_filter_get_type (void);
/** sl_choice_nick: (transfer none) (nullable): the nick of @value, NULL for SL_CHOICE_AUTO. */
const char *sl_choice_nick (GType type, gint value);
