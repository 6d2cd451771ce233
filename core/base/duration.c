/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers with a unit of time. */
#include "core/base/duration.h"

#include <math.h>
#include <string.h>

#define MAX_MS (24 * 60 * 60 * 1000.0)

static const struct
{
  const char *unit;
  gdouble ms;
} units[] = {
  { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "min", 60 * 1000 }, { "h", 60 * 60 * 1000 }
};

gboolean
sl_duration_parse (const char *text, guint *ms)
{
  char *end = NULL;
  const gdouble number = g_ascii_isdigit (text[0]) ? g_ascii_strtod (text, &end) : -1;
  while (end != NULL && *end == ' ')
    end++;
  for (guint i = 0; end != NULL && i < G_N_ELEMENTS (units); i++)
    if (strcmp (end, units[i].unit) == 0 && number * units[i].ms <= MAX_MS) {
      *ms = (guint) lround (number * units[i].ms);
      return TRUE;
    }
  return FALSE;
}
