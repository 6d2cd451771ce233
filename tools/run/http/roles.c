/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of roles, as files and answers have them. */
#include "tools/run/http/roles.h"

#include <string.h>

static const char *const names[] = { "none", "look", "review", "configure" };

const char *
sl_role_name (SlRole role)
{
  return names[role];
}

gboolean
sl_role_parse (const char *name, SlRole *role)
{
  for (guint i = SL_ROLE_LOOK; i < G_N_ELEMENTS (names); i++)
    if (strcmp (name, names[i]) == 0) {
      *role = (SlRole) i;
      return TRUE;
    }
  return FALSE;
}
