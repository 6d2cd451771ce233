/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Properties of slcamera that some kinds of cameras have no use for. */
#pragma once

#include <glib-object.h>

#include "plugins/camera/uri.h"

/** sl_camera_has_choice: whether size and rate of the frames of @uri can be chosen. */
gboolean sl_camera_has_choice (const SlCameraUri *uri);
/** sl_camera_unused: (transfer full) (nullable): which properties of @camera, a slcamera, are set
 * and ignored for @uri, and why; NULL: none. */
char *sl_camera_unused (GObject *camera, const SlCameraUri *uri);
