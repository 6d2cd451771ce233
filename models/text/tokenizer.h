/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Tokenizers: texts to the numbers that a language model takes, by the file that comes with the
 * model. Files are untrusted. A tokenizer does not change once it is loaded, so any thread may use
 * it.
 */
#pragma once

#include <glib.h>

/** Most numbers that a text is made to fill. */
#define SL_TOKENS_MAX 65536

typedef struct _SlTokenizer SlTokenizer;

/**
 * SlTokens: what sl_tokenizer_encode() gives.
 * @ids: (element-type gint32): with padding
 * @first, @count: those of @ids that are no padding
 */
typedef struct
{
  GArray *ids;
  guint first, count;
} SlTokens;

void sl_tokens_clear (SlTokens *tokens);
/** sl_tokens_value: what a model's input of that @name (nullable) has at place @i: a token, whether
 * it is one, its place, or its part. */
gint64 sl_tokens_value (const SlTokens *tokens, const char *name, guint i);

/** sl_tokenizer_load: of the file @path: tokenizer.json, vocab.json or merges.txt with the other
 * beside it, CLIP's bpe_simple_vocab_16e6.txt or .gz, BERT's vocab.txt, or SentencePiece's model.
 * The bytes tell which. NULL with SL_ERROR_OPEN, SL_ERROR_FORMAT, SL_ERROR_UNSUPPORTED or
 * SL_ERROR_LIMIT; messages begin with @path. */
SlTokenizer *sl_tokenizer_load (const char *path, GError **error);
/** sl_tokenizer_parse: likewise of bytes; @path: (nullable): where files beside it are. Messages do
 * not begin with it. */
SlTokenizer *sl_tokenizer_parse (GBytes *bytes, const char *path, GError **error);
void sl_tokenizer_free (SlTokenizer *tokenizer);
/** sl_tokenizer_format: (transfer none): what the file is, such as "tokenizer.json, BPE". */
const char *sl_tokenizer_format (const SlTokenizer *tokenizer);
/** sl_tokenizer_most: most numbers of a text, as the file says; 0 = any number. */
guint sl_tokenizer_most (const SlTokenizer *tokenizer);
/** sl_tokenizer_token: (transfer full) (nullable): the text of a token. */
char *sl_tokenizer_token (const SlTokenizer *tokenizer, gint32 id);
/**
 * sl_tokenizer_encode:
 * @text: UTF-8; invalid bytes become U+FFFD. At most 32 KiB
 * @length: exactly so many numbers, cut and padded as the file says; 0 = as many as the file says
 * @tokens: (out caller-allocates): sl_tokens_clear() it
 *
 * FALSE with SL_ERROR_LIMIT for a text that is too long, or takes too much work.
 */
gboolean sl_tokenizer_encode (const SlTokenizer *tokenizer, const char *text, guint length,
                              SlTokens *tokens, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTokenizer, sl_tokenizer_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlTokens, sl_tokens_clear)
