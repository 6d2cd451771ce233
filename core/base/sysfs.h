/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small files of the kernel, such as those below /sys. */
#pragma once

#include <glib.h>

/** sl_sysfs_line: (transfer full): the first line of @folder/@name, "" where there is none. */
char *sl_sysfs_line (const char *folder, const char *name);
