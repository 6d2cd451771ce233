/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps the files that users name, with messages that say what is wrong with the path. */
#ifndef SL_MODELS_FILE_H
#define SL_MODELS_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/**
 * sl_file_map:
 * @expected: what the file should be, for messages: "a labels file"
 *
 * Returns: (transfer full): the bytes of a regular file, possibly none; NULL with SL_ERROR_OPEN for a missing or unreadable
 * file, a directory, a pipe or a device. Messages do not start with @path.
 */
GBytes *sl_file_map (const char *path, const char *expected, GError **error);

G_END_DECLS

#endif
