/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of labels, which may be anything, read whole and no further than a limit. */
#pragma once

#include <glib.h>

/**
 * sl_bounded_file_read:
 * @what: what is expected, for messages, which start with @path: "a text file"
 * @most: bytes
 * @length: (out) (optional): bytes read
 *
 * Returns: (transfer full): the bytes and a 0 behind them; NULL with @error set when the file is
 * not there, is not a regular one, is larger or cannot be read
 */
char *sl_bounded_file_read (const char *path, const char *what, gsize most, gsize *length,
                            GError **error);
