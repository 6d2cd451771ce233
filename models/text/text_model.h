/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models of tokenizers: byte-pair encoding, WordPiece and Unigram make ids of a piece of text. */
#pragma once

#include <glib.h>

#include "models/text/vocabulary.h"

typedef struct _SlMerges SlMerges;
typedef struct _SlTextModel SlTextModel;

/**
 * SlTextModel:
 * @encode: appends the ids (gint32) of a piece of at most SL_TEXT_MAX bytes times four
 * @vocabulary: finished; a score that is NaN: a token that texts do not make
 * @unknown: the id of what the vocabulary lacks; -1 = that is left out
 * @fuse_unknown: neighbours that the vocabulary lacks are one
 * @byte_fallback: characters that the vocabulary lacks are bytes, such as <0x0A>, if it has them
 * @whole_first: of BPE: a piece that is a token is that token, without merges
 * @merges: (nullable): of BPE; NULL = any two neighbours that are a token together merge, the one
 * with the highest score first
 * @kept: (nullable): of BPE: pieces that nothing is merged with
 * @prefix, @suffix: (nullable): of BPE: of characters but the first of a piece, and of the last; of
 * WordPiece: @prefix of tokens but the first
 * @most_characters: of WordPiece: of a piece; a longer one is unknown
 * @unknown_score: of Unigram: of a character that is no token
 * @single_precision: of Unigram: sums are rounded to float, as SentencePiece's are
 */
struct _SlTextModel
{
  void (*encode) (const SlTextModel *model, const char *text, gsize length, GArray *ids);
  SlVocabulary *vocabulary;
  gint32 unknown;
  gboolean fuse_unknown, byte_fallback, whole_first;
  SlMerges *merges;
  SlVocabulary *kept;
  char *prefix, *suffix;
  guint most_characters;
  double unknown_score;
  gboolean single_precision;
};

void sl_bpe_encode (const SlTextModel *model, const char *text, gsize length, GArray *ids);
void sl_wordpiece_encode (const SlTextModel *model, const char *text, gsize length, GArray *ids);
void sl_unigram_encode (const SlTextModel *model, const char *text, gsize length, GArray *ids);

/** sl_text_model_clear: frees what it owns. */
void sl_text_model_clear (SlTextModel *model);
/** sl_text_model_bytes: appends the bytes of @text where the model falls back to them and has all;
 * else FALSE. */
gboolean sl_text_model_bytes (const SlTextModel *model, const char *text, gsize length,
                              GArray *ids);

/** sl_merges_new: none. */
SlMerges *sl_merges_new (void);
void sl_merges_free (SlMerges *merges);
/** sl_merges_add: the next one in rank: @left and @right, tokens of @model, which make a token.
 * FALSE with SL_ERROR_FORMAT where one of the three is no token. */
gboolean sl_merges_add (SlMerges *merges, const SlTextModel *model, const char *left, gsize n_left,
                        const char *right, gsize n_right, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlMerges, sl_merges_free)
