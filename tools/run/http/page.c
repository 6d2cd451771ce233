/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of the page, and their media types. Resources have no names that lead elsewhere. */
#include "tools/run/http/page.h"

#define FOLDER "/sightline/page/"

static const struct
{
  const char *ending, *type;
} types[] = {
  { ".html", "text/html; charset=utf-8" },
  { ".js", "text/javascript; charset=utf-8" },
  { ".css", "text/css; charset=utf-8" },
  { ".json", "application/json" },
  { ".webmanifest", "application/manifest+json" },
  { ".svg", "image/svg+xml" },
  { ".png", "image/png" },
};

GBytes *
sl_http_page_file (const char *name, const char **type)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (!g_str_has_suffix (name, types[i].ending))
      continue;
    g_autofree char *path = g_strconcat (FOLDER, name, NULL);
    *type = types[i].type;
    return g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  }
  return NULL;
}
