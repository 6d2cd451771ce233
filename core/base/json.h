/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing JSON: strings and numbers are valid for any input bytes and in any locale. */
#pragma once

#include <glib.h>

/** sl_json_append_string: @text quoted and escaped, including characters that are not plain
 * (core/base/printable.h); null for NULL. */
void sl_json_append_string (GString *out, const char *text);
/** sl_json_append_double: @digits (1..17) significant digits; null, JSON's only word for it, when
 * @value is not finite. */
void sl_json_append_double (GString *out, double value, guint digits);
/** sl_json_append_key: "@key": of a member, behind a comma where @out does not end with an opening
 * bracket. */
void sl_json_append_key (GString *out, const char *key);
/** sl_json_append_text: a member with a string, sl_json_append_string(). */
void sl_json_append_text (GString *out, const char *key, const char *text);
/** sl_json_append_number: a member with a number, sl_json_append_double(). */
void sl_json_append_number (GString *out, const char *key, double value, guint digits);
/** sl_json_append_count: a member with a whole number. */
void sl_json_append_count (GString *out, const char *key, guint64 count);
/** sl_json_append_boolean: a member that is true or false. */
void sl_json_append_boolean (GString *out, const char *key, gboolean value);
/** sl_json_append_printf: g_string_append_printf() for text up to 255 bytes, which asks the heap
 * for nothing. */
void sl_json_append_printf (GString *out, const char *format, ...) G_GNUC_PRINTF (2, 3);
