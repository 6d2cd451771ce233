/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SentencePiece's precompiled character map: a trie of texts and what replaces each of them. */
#pragma once

#include <glib.h>

typedef struct _SlCharsmap SlCharsmap;

/** sl_charsmap_new: of @size untrusted bytes, which are copied; NULL with SL_ERROR_FORMAT. */
SlCharsmap *sl_charsmap_new (const guint8 *data, gsize size, GError **error);
void sl_charsmap_free (SlCharsmap *map);
/** sl_charsmap_find: (transfer none) (nullable): what replaces the beginning of @text, *@matched
 * bytes of it: the longest entry, or else the shortest. */
const char *sl_charsmap_find (const SlCharsmap *map, const char *text, gsize length,
                              gboolean longest, gsize *matched);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlCharsmap, sl_charsmap_free)
