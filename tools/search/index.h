/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings of clips: of an event's picture, and of the objects in it that its notes have. */
#pragma once

#include "tools/run/events/vectors.h"
#include "tools/search/encoder.h"

/** sl_search_index_clip: @stop: (nullable): atomic: ends it, with nothing kept; @parts: (out)
 * (optional): how many embeddings were made: 0 where there is no picture that can be decoded. FALSE
 * with @error set where they cannot be made or kept. */
gboolean sl_search_index_clip (SlSearchEncoder *encoder, SlStore *store, const SlVectorModel *model,
                               const char *stem, const gint *stop, guint *parts, GError **error);
/** sl_search_read_notes: what the clip @stem of @folder is; @notes is to be cleared. */
void sl_search_read_notes (const char *folder, const char *stem, SlNotes *notes);
