/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comma-separated numbers, spaces allowed around each. */
#include "models/numbers.h"

#include <math.h>

static const char *
skip_space (const char *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

guint
sl_numbers_parse (const char *text, gdouble *values, guint max)
{
  guint n = 0;
  for (const char *p = text;;) {
    char *end;
    if (n == max)
      return 0;
    p = skip_space (p);
    values[n] = g_ascii_strtod (p, &end);
    if (end == p || !isfinite (values[n]))
      return 0;
    n++;
    p = skip_space (end);
    if (*p == '\0')
      return n;
    if (*p++ != ',')
      return 0;
  }
}

gboolean
sl_std_is_valid (gdouble std)
{
  return isfinite (std) && std > 0;
}
