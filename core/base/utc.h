/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times of the day as text. */
#pragma once

#include <glib.h>

/** sl_utc_append: @us, microseconds since 1970, as ISO 8601 has it in UTC:
 * 2026-03-01T16:04:05.678Z. It asks the heap for nothing. */
void sl_utc_append (GString *out, gint64 us);
