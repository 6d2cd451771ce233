/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/fail.h"

static void
set (GError **error, SlError code, const char *format, va_list args)
{
  if (error != NULL)
    g_propagate_error (error, g_error_new_valist (SL_ERROR, code, format, args));
}

gboolean
sl_fail (GError **error, SlError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  set (error, code, format, args);
  va_end (args);
  return FALSE;
}

gpointer
sl_fail_null (GError **error, SlError code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  set (error, code, format, args);
  va_end (args);
  return NULL;
}

gboolean
sl_fail_prefix (GError **error, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *prefix = g_strdup_vprintf (format, args);
  va_end (args);
  g_prefix_error_literal (error, prefix);
  return FALSE;
}
