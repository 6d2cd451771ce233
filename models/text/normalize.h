/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Normalisers of tokenizers: steps that rewrite a text before it is split. */
#pragma once

#include <glib.h>

#include "models/text/charsmap.h"
#include "models/text/limits.h"
#include "models/text/pattern.h"
#include "models/text/vocabulary.h"

typedef enum
{
  SL_NORMALIZE_NFC,
  SL_NORMALIZE_NFD,
  SL_NORMALIZE_NFKC,
  SL_NORMALIZE_NFKD,
  SL_NORMALIZE_LOWER,
  SL_NORMALIZE_STRIP,
  SL_NORMALIZE_STRIP_ACCENTS,
  SL_NORMALIZE_REPLACE,
  SL_NORMALIZE_PREPEND,
  SL_NORMALIZE_BERT,
  SL_NORMALIZE_BYTES,
  SL_NORMALIZE_NMT,
  SL_NORMALIZE_CHARSMAP,
  SL_NORMALIZE_SENTENCEPIECE,
} SlNormalizeKind;

/**
 * SlNormalizeStep:
 * @pattern, @text: of REPLACE; @text: of PREPEND, too
 * @left, @right: of STRIP
 * @clean, @chinese, @accents, @lower: of BERT: drops control characters, separates ideographs,
 * strips accents, makes lower case
 * @charsmap: of CHARSMAP; (nullable) of SENTENCEPIECE
 * @kept: (nullable): of SENTENCEPIECE: pieces that are not rewritten
 * @dummy_prefix, @trim, @escape, @suffix: of SENTENCEPIECE: add_dummy_prefix,
 * remove_extra_whitespaces, escape_whitespaces, treat_whitespace_as_suffix
 */
typedef struct
{
  SlNormalizeKind kind;
  SlPattern *pattern;
  char *text;
  gboolean left, right;
  gboolean clean, chinese, accents, lower;
  SlCharsmap *charsmap;
  const SlVocabulary *kept;
  gboolean dummy_prefix, trim, escape, suffix;
} SlNormalizeStep;

void sl_normalize_step_clear (SlNormalizeStep *step);
/** sl_normalize: @text becomes what @steps (SlNormalizeStep) make of it. FALSE with SL_ERROR_LIMIT
 * where it gets longer than SL_TEXT_MAX. */
gboolean sl_normalize (const GArray *steps, GString *text, GError **error);
/** sl_append_byte_characters: each byte as the character that byte-level vocabularies have for it.
 */
void sl_append_byte_characters (GString *out, const char *bytes, gsize length);
