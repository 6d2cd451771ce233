/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings of clips: of an event's picture, and of the objects in it that its notes have. */
#pragma once

#include "tools/run/events/vectors.h"
#include "tools/search/encoder.h"

/** sl_search_index_clip: @stop: (nullable): atomic: ends it, with nothing kept; @parts: (out): how
 * many embeddings were made; @why: (out) (transfer full) (nullable): why the picture, or a part of
 * it, has none: it cannot be decoded, or the model makes no direction of it. Both are untouched
 * where it was stopped. FALSE with @error set where embeddings cannot be kept. */
gboolean sl_search_index_clip (SlSearchEncoder *encoder, SlStore *store, const SlVectorModel *model,
                               const char *stem, const gint *stop, guint *parts, char **why,
                               GError **error);
/** sl_search_read_notes: what the clip @stem of @folder is; @notes is to be cleared. */
void sl_search_read_notes (const char *folder, const char *stem, SlNotes *notes);
