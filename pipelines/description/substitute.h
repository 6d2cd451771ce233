/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ${parameter} in the values of description files. */
#pragma once

#include <glib.h>

/** Longest text after substitution, in bytes. */
#define SL_SUBSTITUTE_MAX ((gsize) 1 << 20)
/** Longest name of a parameter, in bytes. */
#define SL_PARAMETER_NAME_MAX 64

/** Finds a parameter's value: (transfer none); NULL with @error set when there is none. */
typedef const char *(*SlLookup) (const char *name, gpointer data, GError **error);

/**
 * sl_substitute:
 * @text: "${name}" stands for a value, "$${" for "${"; any other "$" is itself
 * @launch: values are escaped for gst-launch's grammar, so that each stays one word, whatever is in
 * it
 *
 * Returns: (transfer full): NULL with @error set; the message has no file and line, which the
 * caller knows.
 */
char *sl_substitute (const char *text, gboolean launch, SlLookup lookup, gpointer data,
                     GError **error);
/** sl_launch_count: at least as many as @launch, a line of gst-launch's grammar, has elements:
 * caps, references and bins count, too. */
guint sl_launch_count (const char *launch);
/** sl_parameter_name_valid: a letter or _, then letters, digits, _ and -; at most
 * SL_PARAMETER_NAME_MAX. */
gboolean sl_parameter_name_valid (const char *name);
