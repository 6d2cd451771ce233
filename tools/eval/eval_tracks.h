/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline eval --tracks`: files of tracked boxes against the true ones. */
#pragma once

#include <glib.h>

/** sl_eval_tracks: @truth: file of true boxes; @files: NULL-terminated. @least: boxes with a lower
 * confidence do not count. Prints a table or, with @json, an object. */
gboolean sl_eval_tracks (const char *truth, char **files, gdouble least, gboolean json,
                         GError **error);
