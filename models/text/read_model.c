/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of tokenizer.json: BPE, WordPiece or Unigram. Merges name tokens, so they are kept as
 * texts until the vocabulary is complete.
 */
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "models/text/read_json.h"

/* What SentencePiece subtracts from the lowest score for a character that is no token. */
#define UNKNOWN_PENALTY 10.0
#define MAX_MERGES (4 << 20)
#define WORDPIECE_CHARACTERS 100

typedef struct
{
  SlTokenizerJson *j;
  GString *type, *unknown, *prefix, *suffix;
  GByteArray *merges; /* texts, each with a zero behind it, two by two */
  guint n_merges;
  gint64 unknown_id, most_characters;
  gdouble lowest, dropout;
  gboolean fuse, bytes, whole, is_list, has_merges;
} Fields;

static void
fields_clear (Fields *f)
{
  g_string_free (f->type, TRUE);
  g_string_free (f->unknown, TRUE);
  g_string_free (f->prefix, TRUE);
  g_string_free (f->suffix, TRUE);
  g_byte_array_unref (f->merges);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fields, fields_clear)

static gboolean
read_vocabulary_object (Fields *f)
{
  SlJsonReader *r = &f->j->json;
  gint64 id = 0;
  if (!sl_json_reader_enter (r, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (r))
    if (!sl_json_reader_integer (r, 0, SL_VOCABULARY_MAX - 1, &id)
        || !sl_vocabulary_add (f->j->tokenizer->model.vocabulary, r->key->str, r->key->len, id, 0,
                               &f->j->problem))
      return FALSE;
  return r->error == NULL;
}

/* [["<unk>", 0.0], ["the", -3.5], ...] */
static gboolean
read_vocabulary_list (Fields *f)
{
  SlJsonReader *r = &f->j->json;
  g_autoptr (GString) piece = g_string_new (NULL);
  gdouble score = 0;
  f->is_list = TRUE;
  if (!sl_json_reader_enter (r, SL_JSON_LIST))
    return FALSE;
  for (gint64 id = 0; sl_json_reader_next (r); id++) {
    if (!sl_json_reader_enter (r, SL_JSON_LIST))
      return FALSE;
    if (!sl_json_reader_next (r) || !sl_json_reader_string (r))
      return sl_json_reader_fail (r, "expected a token and its score");
    g_string_assign (piece, r->text->str);
    if (!sl_json_reader_next (r) || !sl_json_reader_number (r, &score) || sl_json_reader_next (r))
      return sl_json_reader_fail (r, "expected a token and its score");
    if (!sl_vocabulary_add (f->j->tokenizer->model.vocabulary, piece->str, piece->len, id, score,
                            &f->j->problem))
      return FALSE;
    f->lowest = MIN (f->lowest, score);
  }
  return r->error == NULL;
}

/* "a b", or ["a", "b"] */
static gboolean
read_merge (Fields *f)
{
  SlJsonReader *r = &f->j->json;
  if (f->n_merges++ >= MAX_MERGES)
    return sl_json_reader_fail (r, "more than %d merges", MAX_MERGES);
  if (sl_json_reader_kind (r) != SL_JSON_LIST) {
    if (!sl_json_reader_string (r))
      return FALSE;
    char *space = strchr (r->text->str, ' ');
    if (space == NULL || strchr (space + 1, ' ') != NULL)
      return sl_json_reader_fail (r, "expected a merge of two tokens, got '%.40s'", r->text->str);
    *space = '\0';
    g_byte_array_append (f->merges, (const guint8 *) r->text->str, (guint) r->text->len + 1);
    return TRUE;
  }
  guint n = 0;
  if (!sl_json_reader_enter (r, SL_JSON_LIST))
    return FALSE;
  for (; sl_json_reader_next (r); n++)
    if (!sl_json_reader_string (r))
      return FALSE;
    else
      g_byte_array_append (f->merges, (const guint8 *) r->text->str, (guint) r->text->len + 1);
  return n == 2 || sl_json_reader_fail (r, "expected a merge of two tokens, got %u", n);
}

static gboolean
read_merges (Fields *f)
{
  f->has_merges = TRUE;
  if (!sl_json_reader_enter (&f->j->json, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (&f->j->json))
    if (!read_merge (f))
      return FALSE;
  return f->j->json.error == NULL;
}

static gboolean
read_flag (SlJsonReader *r, gboolean *flag)
{
  *flag = sl_json_reader_kind (r) == SL_JSON_TRUE;
  return sl_json_reader_skip (r);
}

static gboolean
read_member (Fields *f)
{
  SlJsonReader *r = &f->j->json;
  const struct
  {
    const char *key;
    GString *text;
    gboolean *flag;
    gint64 *number;
  } members[] = {
    { "type", f->type, NULL, NULL },
    { "unk_token", f->unknown, NULL, NULL },
    { "continuing_subword_prefix", f->prefix, NULL, NULL },
    { "end_of_word_suffix", f->suffix, NULL, NULL },
    { "fuse_unk", NULL, &f->fuse, NULL },
    { "byte_fallback", NULL, &f->bytes, NULL },
    { "ignore_merges", NULL, &f->whole, NULL },
    { "unk_id", NULL, NULL, &f->unknown_id },
    { "max_input_chars_per_word", NULL, NULL, &f->most_characters },
  };
  const char *key = r->key->str;
  if (sl_json_reader_kind (r) == SL_JSON_NULL)
    return sl_json_reader_skip (r);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++) {
    if (strcmp (members[i].key, key) != 0)
      continue;
    if (members[i].flag != NULL)
      return read_flag (r, members[i].flag);
    if (members[i].number != NULL)
      return sl_json_reader_integer (r, 0, G_MAXINT32, members[i].number);
    if (!sl_json_reader_string (r))
      return FALSE;
    g_string_assign (members[i].text, r->text->str);
    return TRUE;
  }
  if (strcmp (key, "vocab") == 0)
    return sl_json_reader_kind (r) == SL_JSON_LIST ? read_vocabulary_list (f)
                                                   : read_vocabulary_object (f);
  if (strcmp (key, "merges") == 0)
    return read_merges (f);
  if (strcmp (key, "dropout") == 0)
    return sl_json_reader_number (r, &f->dropout);
  return sl_json_reader_skip (r);
}

static gboolean
finish_bpe (Fields *f)
{
  SlTokenizer *t = f->j->tokenizer;
  const char *p = (const char *) f->merges->data;
  t->format = "tokenizer.json, BPE";
  t->model.encode = sl_bpe_encode;
  t->model.merges = sl_merges_new ();
  t->model.suffix = f->suffix->len > 0 ? g_strdup (f->suffix->str) : NULL;
  for (guint i = 0; i < f->n_merges; i++) {
    const char *right = p + strlen (p) + 1;
    if (!sl_merges_add (t->model.merges, &t->model, p, strlen (p), right, strlen (right),
                        &f->j->problem))
      return FALSE;
    p = right + strlen (right) + 1;
  }
  if (f->dropout == 0)
    return TRUE;
  return sl_fail (&f->j->problem, SL_ERROR_UNSUPPORTED,
                  "dropout %g: merges are left out at random, which is for training; expected null "
                  "or 0",
                  f->dropout);
}

static gboolean
finish_wordpiece (Fields *f)
{
  SlTokenizer *t = f->j->tokenizer;
  t->format = "tokenizer.json, WordPiece";
  t->model.encode = sl_wordpiece_encode;
  t->model.most_characters = (guint) f->most_characters;
  return TRUE;
}

static gboolean
finish_unigram (Fields *f)
{
  SlTokenizer *t = f->j->tokenizer;
  t->format = "tokenizer.json, Unigram";
  t->model.encode = sl_unigram_encode;
  t->model.fuse_unknown = TRUE;
  t->model.unknown = (gint32) f->unknown_id;
  t->model.unknown_score = f->lowest - UNKNOWN_PENALTY;
  if (f->unknown_id < (gint64) sl_vocabulary_count (t->model.vocabulary))
    return TRUE;
  return sl_fail (&f->j->problem, SL_ERROR_FORMAT,
                  "unk_id %" G_GINT64_FORMAT ": expected one of the %u tokens", f->unknown_id,
                  sl_vocabulary_count (t->model.vocabulary));
}

/* Old files have no type. */
static const char *
type_of (const Fields *f)
{
  return f->type->len > 0 ? f->type->str
         : f->is_list     ? "Unigram"
         : f->has_merges  ? "BPE"
                          : "WordPiece";
}

static gboolean
finish (Fields *f)
{
  SlTokenizer *t = f->j->tokenizer;
  const char *type = type_of (f);
  const gboolean wordpiece = strcmp (type, "WordPiece") == 0;
  if (strcmp (type, "Unigram") != 0 && f->is_list)
    return sl_json_reader_fail (&f->j->json, "the vocabulary of %s is a list; expected an object",
                                type);
  if (f->prefix->len == 0 && wordpiece)
    g_string_assign (f->prefix, "##");
  if (f->unknown->len == 0 && wordpiece)
    g_string_assign (f->unknown, "[UNK]");
  t->model.byte_fallback = f->bytes;
  t->model.fuse_unknown = f->fuse;
  t->model.whole_first = f->whole;
  t->model.prefix = f->prefix->len > 0 ? g_strdup (f->prefix->str) : NULL;
  if (f->unknown->len > 0) {
    t->model.unknown = sl_vocabulary_id (t->model.vocabulary, f->unknown->str);
    if (t->model.unknown < 0)
      return sl_fail (&f->j->problem, SL_ERROR_FORMAT,
                      "unk_token '%s': expected one of the vocabulary's %u tokens", f->unknown->str,
                      sl_vocabulary_count (t->model.vocabulary));
  }
  if (f->prefix->len + f->suffix->len > SL_PIECE_MAX)
    return sl_fail (&f->j->problem, SL_ERROR_LIMIT,
                    "prefix and suffix of tokens have more than %d bytes", SL_PIECE_MAX);
  if (strcmp (type, "BPE") == 0)
    return finish_bpe (f);
  if (wordpiece)
    return finish_wordpiece (f);
  if (strcmp (type, "Unigram") == 0)
    return finish_unigram (f);
  return sl_fail (&f->j->problem, SL_ERROR_UNSUPPORTED,
                  "the model '%s' is not supported; expected BPE, WordPiece or Unigram", type);
}

gboolean
sl_tokenizer_json_model (SlTokenizerJson *j)
{
  g_auto (Fields) f = { .j = j, .unknown_id = -1, .most_characters = WORDPIECE_CHARACTERS };
  f.type = g_string_new (NULL);
  f.unknown = g_string_new (NULL);
  f.prefix = g_string_new (NULL);
  f.suffix = g_string_new (NULL);
  f.merges = g_byte_array_new ();
  f.lowest = INFINITY;
  if (!sl_json_reader_enter (&j->json, SL_JSON_OBJECT))
    return FALSE;
  while (sl_json_reader_next (&j->json))
    if (!read_member (&f))
      return FALSE;
  return j->json.error == NULL && finish (&f);
}
