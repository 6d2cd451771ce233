/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The only place that knows how servers and mirrors are named. */
#include "tools/zoo/source.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/redact.h"

#define REGISTRY "https://registry.npmjs.org"
#define MIRROR "SIGHTLINE_ZOO_MIRROR"

/* (transfer full) (nullable): the line @key= of the npmrc of the user. */
static char *
npmrc_line (const char *key)
{
  g_autofree char *path = g_build_filename (g_get_home_dir (), ".npmrc", NULL), *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    char *equals = strchr (lines[i], '=');
    if (equals == NULL)
      continue;
    *equals = '\0';
    if (strcmp (g_strstrip (lines[i]), key) == 0)
      return g_strdup (g_strstrip (equals + 1));
  }
  return NULL;
}

char *
sl_zoo_npm_setting (const char *key)
{
  g_autofree char *lower = g_strconcat ("npm_config_", key, NULL),
                  *upper = g_ascii_strup (lower, -1);
  const char *stated = g_getenv (lower);
  if (stated == NULL || *stated == '\0')
    stated = g_getenv (upper);
  return stated != NULL && *stated != '\0' ? g_strdup (stated) : npmrc_line (key);
}

/* (transfer full): the registry of @package. */
static char *
find_registry (const char *package)
{
  const char *slash = strchr (package, '/');
  g_autofree char *scope =
                    package[0] == '@' ? g_strndup (package, (gsize) (slash - package)) : NULL,
                  *key = g_strconcat (scope != NULL ? scope : "", ":registry", NULL);
  char *stated = scope != NULL ? npmrc_line (key) : NULL;
  if (stated == NULL)
    stated = sl_zoo_npm_setting ("registry");
  return stated != NULL ? stated : g_strdup (REGISTRY);
}

/* @place below @base, an address or a folder. */
static gboolean
take_place (SlZooSource *source, const char *base, const char *place, const char *setting,
            GError **error)
{
  const char *folder = g_str_has_prefix (base, "file://") ? base + 7 : base;
  const gboolean is_folder = g_path_is_absolute (folder);
  const char *at = strrchr (base, '@'), *scheme = strstr (base, "://");
  g_autofree char *shown = sl_redact_uri (base, NULL);
  if (!is_folder && !g_str_has_prefix (base, "https://") && !g_str_has_prefix (base, "http://"))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: expected https://HOST, http://HOST or the absolute path of a folder, got "
                    "'%s'",
                    setting, shown);
  if (!is_folder && at != NULL && memchr (scheme + 3, '/', (gsize) (at - scheme - 3)) == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: %s has a user or a password in it, which are not sent; use a folder that "
                    "npm or curl filled",
                    setting, shown);
  const gsize length = strlen (folder);
  const gboolean ends = length > 0 && folder[length - 1] == '/';
  source->is_local = is_folder;
  source->place = g_strconcat (is_folder ? folder : base, ends ? "" : "/", place, NULL);
  return TRUE;
}

/* "npm:PACKAGE@VERSION/PATH", which was checked when the row was read. */
static gboolean
take_package (SlZooSource *source, const char *text, const char *mirror, GError **error)
{
  const char *slash = text[0] == '@' ? strchr (text, '/') + 1 : text, *at = strchr (slash, '@'),
             *path = strchr (at, '/');
  g_autofree char *package = g_strndup (text, (gsize) (at - text)),
                  *name = g_strndup (slash, (gsize) (at - slash)),
                  *version = g_strndup (at + 1, (gsize) (path - at - 1));
  g_autofree char *place = g_strdup_printf ("%s/-/%s-%s.tgz", package, name, version),
                  *registry = find_registry (package);
  source->path = g_strdup (path + 1);
  return mirror != NULL ? take_place (source, mirror, place, MIRROR, error)
                        : take_place (source, registry, place, "npm's setting registry", error);
}

SlZooSource *
sl_zoo_source_new (const SlZooRow *row, GError **error)
{
  g_autoptr (SlZooSource) source = g_new0 (SlZooSource, 1);
  const char *stated = g_getenv (MIRROR),
             *mirror = stated != NULL && *stated != '\0' ? stated : NULL;
  gboolean good = TRUE;
  if (g_str_has_prefix (row->source, "npm:"))
    good = take_package (source, row->source + strlen ("npm:"), mirror, error);
  else if (mirror != NULL)
    good = take_place (source, mirror, row->source + strlen ("https://"), MIRROR, error);
  else
    source->place = g_strdup (row->source);
  return good ? g_steal_pointer (&source) : NULL;
}

void
sl_zoo_source_free (SlZooSource *source)
{
  if (source == NULL)
    return;
  g_free (source->place);
  g_free (source->path);
  g_free (source);
}
