/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/sysfs.h"

#include <string.h>

char *
sl_sysfs_line (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return g_strdup ("");
  text[strcspn (text, "\n")] = '\0';
  return text;
}
