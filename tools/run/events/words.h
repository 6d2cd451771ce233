/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which words events are found by, for choices. Any thread; each call waits for the disk. */
#pragma once

#include "tools/run/events/store.h"

/** Words of a kind at most. */
#define SL_EVENT_WORDS_MOST 200

/** sl_event_words: (transfer full) (element-type utf8): those of @kind that events of @stores have,
 * in order. NULL with @error set. */
GPtrArray *sl_event_words (GPtrArray *stores, SlWordKind kind, GError **error);
