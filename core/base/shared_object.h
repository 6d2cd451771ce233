/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Libraries that a user names. */
#pragma once

#include <glib.h>

/** sl_shared_object_open: dlopen() of @name with @flags. A path of a pipe, which would keep the
 * linker waiting, and of a file that is cut off, which would crash the process, are refused. @said:
 * (out) (transfer full): printable: why NULL is returned. */
void *sl_shared_object_open (const char *name, int flags, char **said);
