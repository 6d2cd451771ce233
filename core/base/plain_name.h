/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that people state, and that are shown to others. */
#pragma once

#include <glib.h>

/** sl_is_plain_name: whether @name is 1 to @most bytes of UTF-8, and all of it sl_is_plain(). */
gboolean sl_is_plain_name (const char *name, gsize most);
