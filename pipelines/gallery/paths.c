/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/gallery/paths.h"

#include <string.h>

#include "core/base/duration.h"
#include "core/base/fail.h"
#include "core/base/printable.h"

/* Milliseconds. @shortest: by any way; G_MAXUINT = there is none. @longest: of all ways that begin
 * at a camera, without another one between. */
struct _SlIdentityPaths
{
  guint shortest[SL_IDENTITY_CAMERAS][SL_IDENTITY_CAMERAS];
  guint longest[SL_IDENTITY_CAMERAS];
};

/* "5-60s": a first time without a unit has that of the second one. */
static gboolean
read_times (const char *text, guint *least, guint *most)
{
  const char *dash = strchr (text, '-');
  if (dash == NULL || dash == text)
    return FALSE;
  const gsize digits = strspn (text, "0123456789.");
  const char *unit = dash + 1 + strspn (dash + 1, "0123456789.");
  g_autofree char *first = g_strndup (text, (gsize) (dash - text));
  g_autofree char *whole = text[digits] == '-' ? g_strconcat (first, unit, NULL) : g_strdup (first);
  return sl_duration_parse (whole, least) && sl_duration_parse (dash + 1, most) && *least <= *most
         && *most > 0;
}

static gboolean
fail (const char *path, GError **error)
{
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_NAME);
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "paths: expected FROM>TO:LEAST-MOST with the names of two cameras and times, such "
    "as gate>hall:5-60s, got '%s'",
    shown);
}

static gboolean
add_path (SlIdentityPaths *paths, const char *path, SlIdentityCameras *cameras, GError **error)
{
  const char *arrow = strchr (path, '>'), *colon = strrchr (path, ':');
  guint least, most;
  if (arrow == NULL || colon == NULL || colon < arrow || !read_times (colon + 1, &least, &most))
    return fail (path, error);
  g_autofree char *from = g_strndup (path, (gsize) (arrow - path)),
                  *to = g_strndup (arrow + 1, (gsize) (colon - arrow - 1));
  if (!sl_identity_camera_check (from, NULL) || !sl_identity_camera_check (to, NULL)
      || strcmp (from, to) == 0)
    return fail (path, error);
  const gint a = sl_identity_cameras_number (cameras, from),
             b = sl_identity_cameras_number (cameras, to);
  if (a < 0 || b < 0)
    return sl_fail (error, SL_ERROR_LIMIT, "paths: expected at most %d cameras",
                    SL_IDENTITY_CAMERAS);
  paths->shortest[a][b] = MIN (paths->shortest[a][b], least);
  paths->longest[a] = MAX (paths->longest[a], most);
  return TRUE;
}

/* Ways over other cameras, by Floyd and Warshall. */
static void
join_paths (SlIdentityPaths *paths)
{
  for (guint k = 0; k < SL_IDENTITY_CAMERAS; k++)
    for (guint a = 0; a < SL_IDENTITY_CAMERAS; a++)
      for (guint b = 0; b < SL_IDENTITY_CAMERAS; b++) {
        const guint64 way = (guint64) paths->shortest[a][k] + paths->shortest[k][b];
        if (way < paths->shortest[a][b])
          paths->shortest[a][b] = (guint) way;
      }
}

SlIdentityPaths *
sl_identity_paths_new (const char *text, SlIdentityCameras *cameras, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  g_autofree SlIdentityPaths *paths = g_new0 (SlIdentityPaths, 1);
  for (guint a = 0; a < SL_IDENTITY_CAMERAS; a++)
    for (guint b = 0; b < SL_IDENTITY_CAMERAS; b++)
      paths->shortest[a][b] = a == b ? 0 : G_MAXUINT;
  if (parts[0] == NULL) {
    fail (text, error);
    return NULL;
  }
  for (guint i = 0; parts[i] != NULL; i++)
    if (!add_path (paths, g_strstrip (parts[i]), cameras, error))
      return NULL;
  join_paths (paths);
  return g_steal_pointer (&paths);
}

gboolean
sl_identity_paths_check (const char *text, GError **error)
{
  SlIdentityCameras cameras;
  sl_identity_cameras_init (&cameras);
  g_autofree SlIdentityPaths *paths = sl_identity_paths_new (text, &cameras, error);
  sl_identity_cameras_clear (&cameras);
  return paths != NULL;
}

gboolean
sl_identity_paths_allow (const SlIdentityPaths *paths, guint from, guint to, gint64 elapsed)
{
  const gint64 ms = elapsed / 1000;
  return ms >= paths->shortest[from][to]
         || (paths->shortest[from][to] == G_MAXUINT && ms >= paths->longest[from]);
}
