/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of cameras as small numbers, which stay the same while a gallery is open. Any thread. */
#pragma once

#include <glib.h>

/** Cameras of a gallery, and bytes of a name. */
#define SL_IDENTITY_CAMERAS 64
#define SL_IDENTITY_CAMERA_NAME 64

typedef struct
{
  GMutex lock;
  char *names[SL_IDENTITY_CAMERAS];
  guint n;
} SlIdentityCameras;

void sl_identity_cameras_init (SlIdentityCameras *cameras);
void sl_identity_cameras_clear (SlIdentityCameras *cameras);
/** sl_identity_camera_check: FALSE with SL_ERROR_ARGUMENT where no camera may be called @name. */
gboolean sl_identity_camera_check (const char *name, GError **error);
/** sl_identity_cameras_number: of @name, which becomes one where it is none; -1: there are
 * SL_IDENTITY_CAMERAS others. */
gint sl_identity_cameras_number (SlIdentityCameras *cameras, const char *name);
/** sl_identity_cameras_name: (transfer none): of number @i, until the gallery is closed. */
const char *sl_identity_cameras_name (SlIdentityCameras *cameras, guint i);
/** sl_identity_cameras_list: (transfer full): names of the bits of @mask, with commas between. */
char *sl_identity_cameras_list (SlIdentityCameras *cameras, guint64 mask);
