/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BERT's vocab.txt: a token a line, whose number is its id. Where no token has a capital letter,
 * texts are made lower case, and accents are dropped. */
#include <string.h>

#include "core/base/fail.h"
#include "models/text/tokenizer_private.h"

#define CHARACTERS 100

static gboolean
is_special (const char *line, gsize length)
{
  return length > 2 && line[0] == '[' && line[length - 1] == ']';
}

static gboolean
has_capital (const char *line, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (g_ascii_isupper (line[i]))
      return TRUE;
  return FALSE;
}

/* *@capitals: whether a word has one. */
static gboolean
read_lines (SlTokenizer *t, const char *data, gsize size, gboolean *capitals, GError **error)
{
  guint id = 0;
  for (const char *line = data, *end = data + size, *next; line < end; line = next, id++) {
    const char *newline = memchr (line, '\n', (gsize) (end - line));
    gsize length = (gsize) ((newline != NULL ? newline : end) - line);
    next = newline != NULL ? newline + 1 : end;
    length -= length > 0 && line[length - 1] == '\r';
    if (length == 0)
      continue;
    if (!g_utf8_validate (line, (gssize) length, NULL))
      return sl_fail (error, SL_ERROR_FORMAT, "line %u: expected a token in UTF-8", id + 1);
    if (!sl_vocabulary_add (t->model.vocabulary, line, length, id, 0, error))
      return sl_fail_prefix (error, "line %u: ", id + 1);
    *capitals |= !is_special (line, length) && has_capital (line, length);
  }
  return TRUE;
}

static gboolean
read_tokenizer (SlTokenizer *t, const char *data, gsize size, const char *path, GError **error)
{
  static const char *const special[] = { "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]" };
  gboolean capitals = FALSE;
  gint32 ids[G_N_ELEMENTS (special)];
  (void) path;
  t->format = "vocab.txt, WordPiece";
  t->model.encode = sl_wordpiece_encode;
  t->model.prefix = g_strdup ("##");
  t->model.most_characters = CHARACTERS;
  if (!read_lines (t, data, size, &capitals, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (special); i++) {
    ids[i] = sl_vocabulary_id (t->model.vocabulary, special[i]);
    if (i < 3 && ids[i] < 0)
      return sl_fail (error, SL_ERROR_FORMAT,
                      "a list of tokens without '%s'; expected BERT's vocab.txt, which has it",
                      special[i]);
    if (ids[i] >= 0 && !sl_tokenizer_add (t, special[i], ids[i], error))
      return FALSE;
  }
  const SlNormalizeStep normalizer = { .kind = SL_NORMALIZE_BERT,
                                       .clean = TRUE,
                                       .chinese = TRUE,
                                       .lower = !capitals,
                                       .accents = !capitals };
  const SlSplitStep split = { .kind = SL_SPLIT_BERT };
  g_array_append_val (t->normalizers, normalizer);
  g_array_append_val (t->splits, split);
  t->model.unknown = ids[0];
  sl_tokenizer_frame (t, ids[1], ids[2]);
  return TRUE;
}

static gboolean
probe (const char *data, gsize size)
{
  (void) size;
  return g_str_has_prefix (data, "[UNK]") || strstr (data, "\n[UNK]") != NULL;
}

const SlTokenizerReader sl_tokenizer_vocab_text = { probe, read_tokenizer };
