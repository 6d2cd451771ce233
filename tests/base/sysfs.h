/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A folder made like /sys. */
#pragma once

#include <glib.h>

/** sysfs_begin: (transfer full): path of an empty folder; sysfs_end() removes it. */
char *sysfs_begin (void);
void sysfs_end (char *root);
/** sysfs_put: @root/@path becomes a file with @text, in folders that are made for it. */
void sysfs_put (const char *root, const char *path, const char *text);
/** sysfs_put_core: cpu@id; @capacity, @khz and @max_khz: 0 = no such file. */
void sysfs_put_core (const char *root, guint id, guint capacity, guint khz, guint max_khz);
