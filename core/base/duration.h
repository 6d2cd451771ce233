/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Durations as text, such as 500ms or 2min. */
#pragma once

#include <glib.h>

/** What is expected of such a text, for messages. */
#define SL_DURATION_EXPECTED "a time such as 500ms, 2s or 1min, at most 24h"

/** sl_duration_parse: "500ms", "2s", "1min", "1h", a bare number is seconds; 0..24 h as
 * milliseconds. FALSE when @text is none. */
gboolean sl_duration_parse (const char *text, guint *ms);
