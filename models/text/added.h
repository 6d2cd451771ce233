/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Added tokens: texts that are found before anything is split, such as "<|endoftext|>". */
#pragma once

#include <glib.h>

#include "models/text/vocabulary.h"

/**
 * SlAddedToken:
 * @single_word: not found inside a word
 * @left, @right: takes the white space on that side along
 * @normalized: is found in the normalised text
 */
typedef struct
{
  char *text;
  gint32 id;
  gboolean single_word, left, right, normalized;
} SlAddedToken;

/** SlSegment: bytes @start to @end of a text: the added token @id, or -1 = text. */
typedef struct
{
  gsize start, end;
  gint32 id;
} SlSegment;

typedef struct _SlAdded SlAdded;

SlAdded *sl_added_new (void);
void sl_added_free (SlAdded *added);
/** sl_added_add: copies @token. FALSE with @error set as sl_vocabulary_add(). */
gboolean sl_added_add (SlAdded *added, const SlAddedToken *token, GError **error);
/** sl_added_finish: after the last token; @normalizers as sl_normalize(). A token that @vocabulary
 * has, too, gets its id there. */
gboolean sl_added_finish (SlAdded *added, const GArray *normalizers, const SlVocabulary *vocabulary,
                          GError **error);
/** sl_added_find: appends the segments (SlSegment) of @text, without empty ones. @normalized: of
 * tokens that are found in normalised texts. */
void sl_added_find (const SlAdded *added, const char *text, gsize length, gboolean normalized,
                    GArray *segments);
/** sl_added_text: (transfer none) (nullable): the token with that id. */
const char *sl_added_text (const SlAdded *added, gint32 id);
/** sl_added_id: -1 where there is no such token. */
gint32 sl_added_id (const SlAdded *added, const char *text);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlAdded, sl_added_free)
