/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pre-tokenizers: steps that split a normalised text into the pieces that a model gets. */
#pragma once

#include <glib.h>

#include "models/text/pattern.h"

typedef enum
{
  SL_SPLIT_BERT,
  SL_SPLIT_BYTES,
  SL_SPLIT_WORDS, /* \w+|[^\w\s]+ */
  SL_SPLIT_WHITESPACE,
  SL_SPLIT_PATTERN,
  SL_SPLIT_METASPACE,
  SL_SPLIT_DIGITS,
  SL_SPLIT_PUNCTUATION,
} SlSplitKind;

/** SlSplitBehaviour: what becomes of a match: a piece of its own, nothing, one with its neighbours
 * that match, or a part of a neighbour. */
typedef enum
{
  SL_ISOLATED,
  SL_REMOVED,
  SL_CONTIGUOUS,
  SL_MERGED_WITH_PREVIOUS,
  SL_MERGED_WITH_NEXT,
} SlSplitBehaviour;

typedef enum
{
  SL_PREFIX_ALWAYS,
  SL_PREFIX_FIRST,
  SL_PREFIX_NEVER,
} SlPrefixScheme;

/**
 * SlSplitStep:
 * @pattern: of PATTERN; of BYTES: (nullable): what splits before bytes become characters; of
 * METASPACE: the replacement of a space
 * @behaviour: of PATTERN, PUNCTUATION and DIGITS
 * @invert: of PATTERN: matches are what lies between matches
 * @prefix: of BYTES and METASPACE: whether a space is put before the text
 * @no_split: of METASPACE: spaces are replaced and nothing is split
 */
typedef struct
{
  SlSplitKind kind;
  SlPattern *pattern;
  SlSplitBehaviour behaviour;
  gboolean invert, no_split;
  SlPrefixScheme prefix;
} SlSplitStep;

/** SlPieces: consecutive pieces of a text. @ends: (element-type gsize): where each ends */
typedef struct
{
  GString *text;
  GArray *ends;
} SlPieces;

void sl_pieces_init (SlPieces *pieces);
void sl_pieces_clear (SlPieces *pieces);
void sl_split_step_clear (SlSplitStep *step);
/** sl_split_bytes_pattern: (transfer full): how GPT-2 splits words, numbers and spaces. */
SlPattern *sl_split_bytes_pattern (void);
/** sl_split: *@pieces becomes @text as @steps (SlSplitStep) split it. @first: whether the text
 * begins what the user gave. FALSE with @error set as sl_pattern_find(). */
gboolean sl_split (const GArray *steps, const GString *text, gboolean first, SlPieces *pieces,
                   GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlPieces, sl_pieces_clear)
