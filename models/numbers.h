/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Numbers from text that users write: properties and key files. */
#pragma once

#include <glib.h>

/** sl_numbers_parse: "1,2.5,-3" -> at most @max finite numbers. Returns how many; 0 for anything
 * else. Locale-independent. */
guint sl_numbers_parse (const char *text, gdouble *values, guint max);

/** sl_std_is_valid: whether pixels may be divided by @std: a finite number above 0, wherever it is
 * stated. */
gboolean sl_std_is_valid (gdouble std);
