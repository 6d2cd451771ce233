/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which models an index gets: those that are stated, and else those that it has. */
#pragma once

#include "models/settings.h"
#include "tools/run/events/vectors.h"

/**
 * sl_search_models_take:
 * @folder: of clips, with embeddings or without
 * @stated: what is stated now
 * @settings: (out): and what the index of @folder knows: all of it where the same picture model is
 * stated, or none; zeroed before
 * @lost: (out) (transfer full) (nullable): the text model that is left out, since another picture
 * model is stated
 *
 * Returns: FALSE with @error set where no picture model is known.
 */
gboolean sl_search_models_take (const char *folder, const SlModelSettings *stated,
                                SlModelSettings *settings, char **lost, GError **error);
/** sl_search_models_check: whether the text model of @settings, if there is one, can be loaded and
 * makes embeddings of @length numbers. FALSE with @error set. */
gboolean sl_search_models_check (const SlModelSettings *settings, guint length, GError **error);
/** sl_search_models_keep: the text model that the index of @store knows, where @settings of the
 * same embeddings, which have @hash, state none. */
void sl_search_models_keep (SlStore *store, const char *hash, SlModelSettings *settings);
