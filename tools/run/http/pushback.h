/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection whose first bytes have been read: its next reader gets them again. */
#pragma once

#include <gio/gio.h>

/** Most bytes. */
#define SL_PUSHBACK_MOST 32

/** sl_pushback_new: (transfer full): @base (transfer none), whose streams can be polled, after @n
 * @bytes. */
GIOStream *sl_pushback_new (GIOStream *base, const void *bytes, gsize n);
