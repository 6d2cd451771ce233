/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files by URI. */
#pragma once

#include <glib.h>

/** sl_file_uri_path: (transfer full): the path of @uri, file://PATH or file://localhost/PATH. NULL
 * with @error set: it is malformed, or names a file of another machine. */
char *sl_file_uri_path (const char *uri, GError **error);
