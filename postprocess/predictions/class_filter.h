/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A filter of classes: "person,car" passes only these two, "!dog" passes all but this one. All code
 * that filters objects by their labels uses it. It is immutable.
 */
#pragma once

#include <glib.h>

/** Most names of a list. */
#define SL_CLASS_FILTER_MOST 1000

typedef struct _SlClassFilter SlClassFilter;

/**
 * sl_class_filter_parse:
 * @text: (nullable): class names, separated by ",". "!" before a name excludes it. "\" before a ","
 * makes it a part of the name. Spaces around names are ignored. When any name is included, only
 * included names pass. NULL or "" = all pass
 * @filter: (out) (transfer full) (nullable): NULL = all pass
 *
 * Returns: FALSE with @error set (SL_ERROR_ARGUMENT) for an empty name, a name that is both
 * included and excluded, and too many names
 */
gboolean sl_class_filter_parse (const char *text, SlClassFilter **filter, GError **error);
/** sl_class_filter_free: NULL is legal. */
void sl_class_filter_free (SlClassFilter *filter);
/** sl_class_filter_passes: whether objects with this @label pass. @filter: (nullable) */
gboolean sl_class_filter_passes (const SlClassFilter *filter, const char *label);
/**
 * sl_class_filter_check:
 * @filter: (nullable)
 * @names: names of the classes 0..@n - 1. A class with the name NULL has its number as name. @n 0 =
 * no known names: all have numbers
 * @whose: the owner of these classes, for messages, such as the name of a file
 *
 * Returns: FALSE with @error set (SL_ERROR_ARGUMENT) when @filter names an unknown class. The
 * message has the nearest names
 */
gboolean sl_class_filter_check (const SlClassFilter *filter, const char *const *names, guint n,
                                const char *whose, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlClassFilter, sl_class_filter_free)
