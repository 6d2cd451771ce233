/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A password or key in a separate file, which command lines, description files and process lists
 * do not show.
 */
#pragma once

#include <glib.h>

/** Bytes of a password or key at most. */
#define SL_SECRET_MAX 4096

/**
 * sl_secret_file_read: (transfer full): what is in the regular file @path, without the newline at
 * its end.
 * @warning: (out) (transfer full): a sentence where others may read or change the file, else NULL
 *
 * Returns NULL with a G_FILE_ERROR whose message names the file: it cannot be read, is no regular
 * file, is empty, is longer than SL_SECRET_MAX, or has a second line or a NUL in it.
 */
char *sl_secret_file_read (const char *path, char **warning, GError **error);
