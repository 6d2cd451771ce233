/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "predict/need.h"

#include <string.h>

#define ZONE "zone:"

gboolean
sl_need_parse (const char *text, SlNeedKind *kind, const char **zone)
{
  static const char *const names[] = { "any", "motion", "objects" };
  *kind = SL_NEED_ANY;
  *zone = NULL;
  if (text == NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (text, names[i]) == 0) {
      *kind = (SlNeedKind) i;
      return TRUE;
    }
  if (!g_str_has_prefix (text, ZONE) || text[strlen (ZONE)] == '\0')
    return FALSE;
  *kind = SL_NEED_ZONE;
  *zone = text + strlen (ZONE);
  return TRUE;
}
