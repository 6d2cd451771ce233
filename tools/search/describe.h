/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The group [search] of description files. */
#pragma once

#include "models/settings.h"
#include "pipelines/description/description.h"

#define SL_SEARCH_NEEDS_HTTP                                                                \
  "[search] is for events of the console: expected an address in [http] listen, or --http " \
  "ADDR:PORT; sightline search --index makes embeddings without it"

/** sl_search_describe: the group [search] of @description: nothing is stated where it has none.
 * FALSE with @error set, and the place in the file. @settings: zeroed or cleared before */
gboolean sl_search_describe (const SlDescription *description, SlModelSettings *settings,
                             GError **error);
/** sl_search_choose: the same of all @descriptions (element-type SlDescription), which may state
 * one such group. */
gboolean sl_search_choose (const GPtrArray *descriptions, SlModelSettings *settings,
                           GError **error);
