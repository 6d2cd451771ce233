/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times, words and numbers in description files. */
#include "pipelines/description/typed_values.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/duration.h"

gboolean
sl_key_fail (const SlKeyEntry *entry, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  return sl_fail (error, SL_ERROR_FORMAT, "%s:%u: [%s] %s: %s", entry->file, entry->line,
                  entry->group, entry->key, message);
}

gboolean
sl_key_prefix (const SlKeyEntry *entry, GError **error)
{
  return sl_fail_prefix (error, "%s:%u: [%s] %s: ", entry->file, entry->line, entry->group,
                         entry->key);
}

gboolean
sl_value_number (const char *text, gdouble *number)
{
  char *end = NULL;
  if (!g_ascii_isdigit (text[0]) && strchr ("+-.", text[0]) == NULL)
    return FALSE;
  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*number);
}

gboolean
sl_value_time (const SlKeyEntry *entry, const char *text, guint *ms, GError **error)
{
  return sl_duration_parse (text, ms)
         || sl_key_fail (entry, error, "expected " SL_DURATION_EXPECTED ", got '%s'", text);
}

gboolean
sl_value_choice (const SlKeyEntry *entry, const char *text, const char *const *names, guint n,
                 guint *index, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (text, names[i]) == 0) {
      *index = i;
      return TRUE;
    }
  g_autoptr (GString) all = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (all, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", names[i]);
  return sl_key_fail (entry, error, "expected %s, got '%s'", all->str, text);
}
