/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A question to folders of clips that have embeddings: by words, or by a picture. */
#pragma once

#include "tools/run/events/vectors.h"
#include "tools/search/settings.h"

/**
 * sl_search_ask:
 * @folders: (element-type utf8): with embeddings of one model
 * @stated: settings that take the place of those that the index has
 * @text: words; @picture: (nullable): the path of a picture in place of them
 * @query: which events count, and how many
 *
 * Returns: (transfer full) (element-type SlVectorHit): best first. NULL with @error set
 */
GPtrArray *sl_search_ask (const GPtrArray *folders, const SlModelSettings *stated, const char *text,
                          const char *picture, const SlEventQuery *query, GError **error);
/** sl_search_rank: the best @most of @hits (element-type SlVectorHit), best first. */
void sl_search_rank (GPtrArray *hits, guint most);
