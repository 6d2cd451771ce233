/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers from text that users write: properties and key files. */
#ifndef SL_MODELS_NUMBERS_H
#define SL_MODELS_NUMBERS_H

#include <glib.h>

G_BEGIN_DECLS

/** sl_numbers_parse: "1,2.5,-3" -> at most @max finite numbers. Returns how many; 0 for anything else. Locale-independent. */
guint sl_numbers_parse (const char *text, gdouble *values, guint max);

G_END_DECLS

#endif
