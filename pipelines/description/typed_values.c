/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times, words and numbers in description files. */
#include "pipelines/description/typed_values.h"

#include <math.h>
#include <string.h>

#include "sightline/error.h"
#include "base/suggest.h"

#define MAX_TIME (24 * 60 * 60 * 1000.0)

static const struct
{
  const char *unit;
  gdouble ms;
} units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "min", 60 * 1000 }, { "h", 60 * 60 * 1000 } };

gboolean
sl_key_fail (const SlKeyEntry *entry, GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "%s:%u: [%s] %s: %s", entry->file, entry->line, entry->group, entry->key, message);
  return FALSE;
}

gboolean
sl_key_prefix (const SlKeyEntry *entry, GError **error)
{
  g_prefix_error (error, "%s:%u: [%s] %s: ", entry->file, entry->line, entry->group, entry->key);
  return FALSE;
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
  char *end = NULL;
  const gdouble number = g_ascii_isdigit (text[0]) ? g_ascii_strtod (text, &end) : -1;
  while (end != NULL && *end == ' ')
    end++;
  for (guint i = 0; end != NULL && i < G_N_ELEMENTS (units); i++)
    if (strcmp (end, units[i].unit) == 0 && number * units[i].ms <= MAX_TIME) {
      *ms = (guint) lround (number * units[i].ms);
      return TRUE;
    }
  return sl_key_fail (entry, error, "expected a time such as 500ms, 2s or 1min, at most 24h, got '%s'", text);
}

gboolean
sl_value_choice (const SlKeyEntry *entry, const char *text, const char *const *names, guint n, guint *index, GError **error)
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
