/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of tracked boxes: MOTChallenge's text, a line "frame,id,x,y,width,height,..." for each box
 * with frames from 1 on, and JSON lines as `sightline predict --json` and the elements write them,
 * with frames from 0 on.
 */
#pragma once

#include <glib.h>

/** sl_track_file_read: @truth: whether the seventh number of a text line says that the box counts,
 * and the eighth is MOTChallenge's class; else the seventh is a confidence, and boxes below @least
 * are skipped. Returns: (transfer full) (element-type SlTrackedBox): sorted by frame and id; NULL
 * with @error set. */
GArray *sl_track_file_read (const char *path, gboolean truth, gdouble least, GError **error);
