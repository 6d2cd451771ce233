/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notices that a file is no longer the one that was read: looks at each watched path once a second,
 * in one thread for all, which lives while there is something to watch. So a file server that does
 * not answer holds up nothing else.
 */
#pragma once

#include "core/graph/file_image.h"

typedef struct _SlFileWatch SlFileWatch;

/** SlFileWatchFunc: another file has the path, or something was written to it; in the watch's
 * thread, with nothing locked that others need. TRUE = heard, not called again; FALSE = not now,
 * called again while it is so. */
typedef gboolean (*SlFileWatchFunc) (gpointer user);

/** sl_file_watch_new: @stamp: the state in which the file was read. A file that is missing has not
 * changed. NULL when no thread can be started: nothing is noticed then. */
SlFileWatch *sl_file_watch_new (const char *path, const SlFileStamp *stamp, SlFileWatchFunc changed,
                                gpointer user);
/** sl_file_watch_free: waits for a call that is under way, unless it is made from there. NULL is
 * legal. */
void sl_file_watch_free (SlFileWatch *watch);
