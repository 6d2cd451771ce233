/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Opens and reads the files that users name, with messages that say what is wrong with the path. */
#pragma once

#include <glib.h>

#include "core/graph/file_image.h"

/**
 * sl_file_open:
 * @expected: what the file should be, for messages: "a labels file"
 * @stamp: (out): its state
 *
 * Returns: a file descriptor of a regular file, open for reading; -1 with SL_ERROR_OPEN for a
 * missing or unreadable file, a directory, a pipe or a device. Messages do not start with @path.
 */
int sl_file_open (const char *path, const char *expected, SlFileStamp *stamp, GError **error);

/**
 * sl_file_read:
 * @most: bytes that are read; a larger file is as good as one of @most + 1 bytes, which the caller
 * refuses
 *
 * Returns: (transfer full): the bytes of a regular file, possibly none; NULL with SL_ERROR_OPEN as
 * sl_file_open(), or when it cannot be read
 */
GBytes *sl_file_read (const char *path, const char *expected, gsize most, GError **error);
