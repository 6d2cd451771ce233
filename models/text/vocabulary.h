/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pieces of a tokenizer: UTF-8 texts with an id and a score each. Readers fill it; models look
 * pieces up, and find all pieces that a text begins with.
 */
#pragma once

#include <glib.h>

/** Limits of files: pieces, ids and bytes of a piece. */
#define SL_VOCABULARY_MAX (1 << 20)
#define SL_PIECE_MAX 2048

/** SlPiece: @text is not terminated. */
typedef struct
{
  const char *text;
  guint length;
  gint32 id;
  double score;
} SlPiece;

typedef struct _SlVocabulary SlVocabulary;

SlVocabulary *sl_vocabulary_new (void);
void sl_vocabulary_free (SlVocabulary *vocabulary);
/** sl_vocabulary_add: a piece that is there already gets the new id and score. FALSE with
 * SL_ERROR_LIMIT or SL_ERROR_FORMAT: too many, too long, empty, or an id outside
 * 0..SL_VOCABULARY_MAX-1. */
gboolean sl_vocabulary_add (SlVocabulary *vocabulary, const char *text, gsize length, gint64 id,
                            double score, GError **error);
/** sl_vocabulary_find: *@piece, whose text lives as long as the vocabulary is not added to. */
gboolean sl_vocabulary_find (const SlVocabulary *vocabulary, const char *text, gsize length,
                             SlPiece *piece);
/** sl_vocabulary_id: the id, -1 where there is no such piece. */
gint32 sl_vocabulary_id (const SlVocabulary *vocabulary, const char *text);
guint sl_vocabulary_count (const SlVocabulary *vocabulary);
/** sl_vocabulary_get: piece @index in the order of adding. */
SlPiece sl_vocabulary_get (const SlVocabulary *vocabulary, guint index);
/** sl_vocabulary_finish: after the last piece, before the two functions below. */
void sl_vocabulary_finish (SlVocabulary *vocabulary);
/** sl_vocabulary_text: (transfer full) (nullable): the piece with that id. */
char *sl_vocabulary_text (const SlVocabulary *vocabulary, gint32 id);

/** SlPrefixes: a walk over the pieces that a text begins with, the shortest first. */
typedef struct
{
  const SlVocabulary *vocabulary;
  const char *text;
  gsize length;
  guint low, high, depth;
} SlPrefixes;

SlPrefixes sl_prefixes_init (const SlVocabulary *vocabulary, const char *text, gsize length);
gboolean sl_prefixes_next (SlPrefixes *prefixes, SlPiece *piece);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlVocabulary, sl_vocabulary_free)
