/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which way people can go from camera to camera, and how long it takes. Nobody is on another camera
 * before the shortest way there takes. Nobody is on a camera to which no way leads, unless there
 * was time to leave what the cameras watch, and to come back.
 */
#pragma once

#include "pipelines/gallery/cameras.h"

typedef struct _SlIdentityPaths SlIdentityPaths;

/** sl_identity_paths_new: of "gate>hall:5-60s,hall>gate:5-60s"; names become numbers of @cameras.
 * NULL with @error set. */
SlIdentityPaths *sl_identity_paths_new (const char *text, SlIdentityCameras *cameras,
                                        GError **error);
/** sl_identity_paths_check: FALSE with @error set where @text states no paths. */
gboolean sl_identity_paths_check (const char *text, GError **error);
/** sl_identity_paths_allow: whether somebody whom camera @from saw @elapsed microseconds ago can be
 * on camera @to. */
gboolean sl_identity_paths_allow (const SlIdentityPaths *paths, guint from, guint to,
                                  gint64 elapsed);
