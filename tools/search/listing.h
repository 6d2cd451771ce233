/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a search found: rows, lines of JSON, or a page with pictures. */
#pragma once

#include "tools/run/events/vectors.h"

/** sl_search_print: @hits (element-type SlVectorHit) on the standard output. */
void sl_search_print (const GPtrArray *hits, gboolean json);
/** sl_search_page: (transfer full): the same as a page, called @title. */
GString *sl_search_page (const GPtrArray *hits, const char *title);
