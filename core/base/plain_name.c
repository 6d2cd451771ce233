/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/plain_name.h"

#include <string.h>

#include "core/base/printable.h"

gboolean
sl_is_plain_name (const char *name, gsize most)
{
  gboolean plain = *name != '\0' && strlen (name) <= most && g_utf8_validate (name, -1, NULL);
  for (const char *at = name; plain && *at != '\0';)
    plain = sl_is_plain (sl_utf8_next (&at));
  return plain;
}
