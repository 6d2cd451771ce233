/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A query for the class names of the upstream models. slpostprocess answers it from its labels. A
 * downstream element uses it to check its own list of classes.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/predictions/class_filter.h"

/** sl_class_names_install: for source @pad of an element that makes predictions: it answers with
 * what is offered, and asks further on. */
void sl_class_names_install (GstPad *pad);
/** sl_class_names_offer: from now on @pad answers with @names (of char *, NULL = the class's
 * number); with none of them, that nothing is known. */
void sl_class_names_offer (GstPad *pad, const GPtrArray *names);
/** sl_class_names_offers: how often any pad of the process was offered names; after a change a list
 * of classes has to be checked again. Any thread. */
guint sl_class_names_offers (void);

/** sl_class_names_ask: (transfer full) (nullable): the names of the models before @pad; NULL when
 * nobody, or not everybody, knows. */
GStrv sl_class_names_ask (GstPad *pad);
/** sl_class_names_check: FALSE with @error set when @filter (nullable) names a class that none of
 * the models before sink @pad has; not if their classes are unknown. */
gboolean sl_class_names_check (GstPad *pad, const SlClassFilter *filter, GError **error);

/** A property "classes" in use: the list it was made of, and the filter; zeroed at first. One
 * thread at a time. */
typedef struct
{
  char *text;
  SlClassFilter *filter; /* (nullable) */
} SlClassChoice;

/** sl_class_choice_is: whether @choice is that of @text (nullable). */
gboolean sl_class_choice_is (const SlClassChoice *choice, const char *text);
/** sl_class_choice_set: makes it so. FALSE with @error set, all classes then chosen, when the list
 * is wrong or sl_class_names_check() fails. */
gboolean sl_class_choice_set (SlClassChoice *choice, const char *text, GstPad *pad, GError **error);
/** sl_class_choice_follow: sl_class_choice_set() where @classes, a property of @element under its
 * object lock, is another than @choice's. FALSE, after an error message of @element, when it does
 * not fit the models before @pad. */
gboolean sl_class_choice_follow (SlClassChoice *choice, GstElement *element, char *const *classes,
                                 GstPad *pad);
/** sl_class_choice_clear: also for a zeroed struct. */
void sl_class_choice_clear (SlClassChoice *choice);
