/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/gallery/cameras.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/plain_name.h"
#include "core/base/printable.h"

void
sl_identity_cameras_init (SlIdentityCameras *cameras)
{
  memset (cameras, 0, sizeof *cameras);
  g_mutex_init (&cameras->lock);
}

void
sl_identity_cameras_clear (SlIdentityCameras *cameras)
{
  for (guint i = 0; i < cameras->n; i++)
    g_free (cameras->names[i]);
  cameras->n = 0;
  g_mutex_clear (&cameras->lock);
}

gboolean
sl_identity_camera_check (const char *name, GError **error)
{
  if (sl_is_plain_name (name, SL_IDENTITY_CAMERA_NAME) && strchr (name, ',') == NULL)
    return TRUE;
  g_autofree char *shown = sl_printable (name, SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "camera: expected a name of 1 to %d bytes without commas and control characters, "
                  "got '%s'",
                  SL_IDENTITY_CAMERA_NAME, shown);
}

gint
sl_identity_cameras_number (SlIdentityCameras *cameras, const char *name)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&cameras->lock);
  for (guint i = 0; i < cameras->n; i++)
    if (strcmp (cameras->names[i], name) == 0)
      return (gint) i;
  if (cameras->n == SL_IDENTITY_CAMERAS)
    return -1;
  cameras->names[cameras->n] = g_strdup (name);
  return (gint) cameras->n++;
}

const char *
sl_identity_cameras_name (SlIdentityCameras *cameras, guint i)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&cameras->lock);
  return cameras->names[i];
}

char *
sl_identity_cameras_list (SlIdentityCameras *cameras, guint64 mask)
{
  GString *list = g_string_new (NULL);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&cameras->lock);
  for (guint i = 0; i < cameras->n; i++)
    if ((mask >> i & 1) != 0)
      g_string_append_printf (list, "%s%s", list->len > 0 ? "," : "", cameras->names[i]);
  return g_string_free (list, FALSE);
}
