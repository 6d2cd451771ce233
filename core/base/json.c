/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON strings and numbers. Used for predictions and by the program's --json outputs. The output is
 * valid UTF-8 and JSON for any input and in any locale.
 */
#include "core/base/json.h"

#include <math.h>
#include <string.h>

#include "core/base/printable.h"

void
sl_json_append_printf (GString *out, const char *format, ...)
{
  char text[256];
  va_list args;
  va_start (args, format);
  g_vsnprintf (text, sizeof text, format, args);
  va_end (args);
  g_string_append (out, text);
}

static void
append_escaped (GString *out, gunichar c)
{
  static const char escaped[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
  const char *found = c < 128 && c != 0 ? strchr (escaped, (int) c) : NULL;
  if (found != NULL)
    sl_json_append_printf (out, "\\%c", letters[found - escaped]);
  else if (!sl_is_plain (c))
    sl_json_append_printf (out, "\\u%04x", (guint) c);
  else
    g_string_append_unichar (out, c);
}

void
sl_json_append_string (GString *out, const char *text)
{
  if (text == NULL) {
    g_string_append (out, "null");
    return;
  }
  g_string_append_c (out, '"');
  while (*text != '\0')
    append_escaped (out, sl_utf8_next (&text));
  g_string_append_c (out, '"');
}

void
sl_json_append_double (GString *out, double value, guint digits)
{
  char format[8], text[G_ASCII_DTOSTR_BUF_SIZE];
  g_snprintf (format, sizeof format, "%%.%ug", MIN (digits, 17));
  g_string_append (out,
                   isfinite (value) ? g_ascii_formatd (text, sizeof text, format, value) : "null");
}

void
sl_json_append_key (GString *out, const char *key)
{
  const char last = out->str[out->len - 1];
  g_string_append (out, last == '{' || last == '[' ? "\"" : ",\"");
  g_string_append (out, key);
  g_string_append (out, "\":");
}

void
sl_json_append_text (GString *out, const char *key, const char *text)
{
  sl_json_append_key (out, key);
  sl_json_append_string (out, text);
}

void
sl_json_append_number (GString *out, const char *key, double value, guint digits)
{
  sl_json_append_key (out, key);
  sl_json_append_double (out, value, digits);
}

void
sl_json_append_count (GString *out, const char *key, guint64 count)
{
  sl_json_append_key (out, key);
  sl_json_append_printf (out, "%" G_GUINT64_FORMAT, count);
}

void
sl_json_append_boolean (GString *out, const char *key, gboolean value)
{
  sl_json_append_key (out, key);
  g_string_append (out, value ? "true" : "false");
}
