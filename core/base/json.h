/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing JSON by hand: strings and numbers that are valid whatever bytes come in and whatever the locale says.
 */
#ifndef SL_BASE_JSON_H
#define SL_BASE_JSON_H

#include <glib.h>

/** sl_json_append_string: @text quoted and escaped, with all that is not plain (core/base/printable.h) in escapes; null for NULL. */
void sl_json_append_string (GString *out, const char *text);
/** sl_json_append_double: @digits (1..17) significant digits; null, JSON's only word for it, when @value is not finite. */
void sl_json_append_double (GString *out, double value, guint digits);
/** sl_json_append_printf: g_string_append_printf() for text up to 255 bytes, which asks the heap for nothing. */
void sl_json_append_printf (GString *out, const char *format, ...) G_GNUC_PRINTF (2, 3);

#endif
