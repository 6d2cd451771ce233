/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which classes count: "person,car" are those two, "!dog" all but that one. The one place that reads such lists; whoever has objects
 * with labels asks it. Immutable once it is made.
 */
#ifndef SL_PREDICTIONS_CLASS_FILTER_H
#define SL_PREDICTIONS_CLASS_FILTER_H

#include <glib.h>

G_BEGIN_DECLS

/** Most names of a list. */
#define SL_CLASS_FILTER_MOST 1000

typedef struct _SlClassFilter SlClassFilter;

/**
 * sl_class_filter_parse:
 * @text: (nullable): class names with "," between, "!" before those that do not count; a "\" before a "," that belongs to a name.
 *   Spaces around names do not count. With names that count, no others do. NULL or "" = all count
 * @filter: (out) (transfer full) (nullable): NULL = all count
 *
 * Returns: FALSE with @error set (SL_ERROR_ARGUMENT) for an empty name, a name that both counts and does not, and too many names
 */
gboolean sl_class_filter_parse (const char *text, SlClassFilter **filter, GError **error);
/** sl_class_filter_free: NULL is legal. */
void sl_class_filter_free (SlClassFilter *filter);
/** sl_class_filter_passes: whether objects with this @label count. @filter: (nullable) */
gboolean sl_class_filter_passes (const SlClassFilter *filter, const char *label);
/**
 * sl_class_filter_check:
 * @filter: (nullable)
 * @names: of classes 0..@n - 1; a class that is NULL is called by its number. @n 0 = nothing is known: they have numbers
 * @whose: what has these classes, for messages, such as a file's name
 *
 * Returns: FALSE with @error set (SL_ERROR_ARGUMENT), the nearest names in its message, when @filter names a class that is not there
 */
gboolean sl_class_filter_check (const SlClassFilter *filter, const char *const *names, guint n, const char *whose, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlClassFilter, sl_class_filter_free)

G_END_DECLS

#endif
