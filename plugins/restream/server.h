/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The RTSP servers of this process: one for each address and port, whose paths belong to elements
 * of any pipeline. The clients of a path stay connected for a while after its element has stopped,
 * so that a pipeline can be replaced.
 */
#pragma once

#include "plugins/restream/mount.h"
#include "plugins/restream/place.h"

/** SlRestreamPath: a path of a server, as long as an element has it. */
typedef struct _SlRestreamPath SlRestreamPath;

/**
 * sl_restream_claim:
 * @suffix: behind the path of @place: "" or "/NAME"
 *
 * Starts the server where nothing listens there yet. Returns NULL with @error set: the port is
 * taken by another program, the path by another element, or the user is another one than that of
 * the port's other paths.
 */
SlRestreamPath *sl_restream_claim (const SlRestreamPlace *place, const char *suffix,
                                   gboolean has_metadata, GError **error);
/** sl_restream_release: the last one of a server stops it, unless clients are there. */
void sl_restream_release (SlRestreamPath *path);
/** sl_restream_path_mount: (transfer none) */
SlRestreamMount *sl_restream_path_mount (SlRestreamPath *path);
/** sl_restream_path_port: on which the server listens. */
guint sl_restream_path_port (SlRestreamPath *path);
/** sl_restream_path_clients: connections to the server, all of its paths'. */
guint sl_restream_path_clients (SlRestreamPath *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRestreamPath, sl_restream_release)
