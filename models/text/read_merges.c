/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Byte-pair encoding in older files: a map of tokens to ids, vocab.json, and a list of merges,
 * merges.txt, which belong together; and CLIP's list of merges, from which the ids follow. What
 * such files leave out is what their programs do: GPT-2's, RoBERTa's and CLIP's.
 */
#include <string.h>

#include "core/base/fail.h"
#include "core/base/json_reader.h"
#include "models/file.h"
#include "models/text/tokenizer_private.h"

#define MAX_BYTES ((gsize) 64 << 20)
/* Of CLIP's list: the merges that it uses, for 49152 tokens with 256 bytes, twice, and 2 special
 * ones. */
#define CLIP_MERGES (49152 - 256 - 2)
/* Numbers that CLIP's models take. */
#define CLIP_LENGTH 77
#define CLIP_START "<|startoftext|>"
#define CLIP_END "<|endoftext|>"
#define WORD_END "</w>"

static void
add_pattern (SlTokenizer *t, const char *pattern)
{
  const SlSplitStep step = { .kind = SL_SPLIT_PATTERN,
                             .pattern = sl_pattern_new_regex (pattern, NULL),
                             .behaviour = SL_REMOVED,
                             .invert = TRUE };
  g_array_append_val (t->splits, step);
}

static void
add_bytes (SlTokenizer *t, SlPattern *pattern)
{
  const SlSplitStep step = { .kind = SL_SPLIT_BYTES,
                             .pattern = pattern,
                             .prefix = SL_PREFIX_NEVER };
  g_array_append_val (t->splits, step);
}

static gboolean
use_clip (SlTokenizer *t, GError **error)
{
  const SlNormalizeStep steps[] = {
    { .kind = SL_NORMALIZE_NFC },
    { .kind = SL_NORMALIZE_REPLACE,
      .pattern = sl_pattern_new_regex ("\\s+", NULL),
      .text = g_strdup (" ") },
    { .kind = SL_NORMALIZE_LOWER },
  };
  g_array_append_vals (t->normalizers, steps, G_N_ELEMENTS (steps));
  add_pattern (t, "'s|'t|'re|'ve|'m|'ll|'d|\\p{L}+|\\p{N}|[^\\s\\p{L}\\p{N}]+");
  add_bytes (t, NULL);
  t->model.suffix = g_strdup (WORD_END);
  const gint32 start = sl_vocabulary_id (t->model.vocabulary, CLIP_START),
               end = sl_vocabulary_id (t->model.vocabulary, CLIP_END);
  if (start < 0 || end < 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "tokens end with '" WORD_END "', as CLIP's do; expected '" CLIP_START
                    "' and '" CLIP_END "' among them");
  t->model.unknown = end;
  t->most = CLIP_LENGTH;
  sl_tokenizer_frame (t, start, end);
  return sl_tokenizer_add (t, CLIP_START, start, error)
         && sl_tokenizer_add (t, CLIP_END, end, error);
}

/* GPT-2, or RoBERTa where its tokens are there. */
static gboolean
use_bytes (SlTokenizer *t, GError **error)
{
  static const char *const special[] = { "<s>", "</s>", "<pad>", "<unk>", "<mask>", CLIP_END };
  const gint32 start = sl_vocabulary_id (t->model.vocabulary, "<s>"),
               end = sl_vocabulary_id (t->model.vocabulary, "</s>");
  add_bytes (t, sl_split_bytes_pattern ());
  if (start >= 0 && end >= 0)
    sl_tokenizer_frame (t, start, end);
  for (guint i = 0; i < G_N_ELEMENTS (special); i++) {
    const gint32 id = sl_vocabulary_id (t->model.vocabulary, special[i]);
    const SlAddedToken token = { .text = (char *) special[i],
                                 .id = id,
                                 .left = strcmp (special[i], "<mask>") == 0 };
    if (id >= 0 && !sl_added_add (t->added, &token, error))
      return FALSE;
  }
  return TRUE;
}

/* The merge of line @number; FALSE without an error at a line without a merge. */
static gboolean
split_line (const char *line, gsize length, gsize *left, GError **error, guint number)
{
  const char *space = memchr (line, ' ', length);
  if (length == 0 || (number == 1 && (line[0] == '#' || line[0] == '"')))
    return FALSE;
  if (space == NULL || space == line || space + 1 == line + length
      || memchr (space + 1, ' ', (gsize) (line + length - space - 1)) != NULL
      || !g_utf8_validate (line, (gssize) length, NULL))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "line %u: expected a merge, two tokens with a space "
                    "between, got '%.*s'",
                    number, (int) MIN (length, 40), line);
  *left = (gsize) (space - line);
  return TRUE;
}

typedef gboolean (*EachMerge) (SlTokenizer *t, const char *line, gsize left, gsize length,
                               GError **error);

/* @each for the first @most merges of a list. */
static gboolean
read_lines (SlTokenizer *t, const char *data, gsize size, guint most, EachMerge each,
            GError **error)
{
  guint number = 0, n = 0;
  for (const char *line = data, *end = data + size, *next; line < end && n < most; line = next) {
    const char *newline = memchr (line, '\n', (gsize) (end - line));
    gsize length = (gsize) ((newline != NULL ? newline : end) - line), left = 0;
    GError *problem = NULL;
    next = newline != NULL ? newline + 1 : end;
    length -= length > 0 && line[length - 1] == '\r';
    number++;
    if (!split_line (line, length, &left, &problem, number)) {
      if (problem == NULL)
        continue;
      g_propagate_error (error, problem);
      return FALSE;
    }
    n++;
    if (!each (t, line, left, length, error))
      return sl_fail_prefix (error, "line %u: ", number);
  }
  return n > 0
         || sl_fail (error, SL_ERROR_FORMAT,
                     "no merges; expected lines of two tokens with a space between");
}

static gboolean
add_merge (SlTokenizer *t, const char *line, gsize left, gsize length, GError **error)
{
  return sl_merges_add (t->model.merges, &t->model, line, left, line + left + 1, length - left - 1,
                        error);
}

/* CLIP's tokens follow from the merges, so each makes the next one. */
static gboolean
add_clip_merge (SlTokenizer *t, const char *line, gsize left, gsize length, GError **error)
{
  g_autoptr (GString) made = g_string_new_len (line, (gssize) left);
  g_string_append_len (made, line + left + 1, (gssize) (length - left - 1));
  return sl_vocabulary_add (t->model.vocabulary, made->str, made->len,
                            sl_vocabulary_count (t->model.vocabulary), 0, error)
         && add_merge (t, line, left, length, error);
}

static gboolean
read_clip (SlTokenizer *t, const char *data, gsize size, GError **error)
{
  SlVocabulary *v = t->model.vocabulary;
  g_autoptr (GString) name = g_string_new (NULL);
  gboolean good = TRUE;
  t->format = "merges of CLIP, BPE";
  /* The order of the bytes: those that are characters to see, then the others. */
  for (guint word_end = 0; word_end < 2; word_end++)
    for (guint round = 0; round < 2; round++)
      for (guint b = 0; b < 256; b++) {
        const char byte = (char) b;
        g_string_truncate (name, 0);
        sl_append_byte_characters (name, &byte, 1);
        if ((g_utf8_get_char (name->str) >= 256) != (round == 1))
          continue;
        g_string_append (name, word_end == 1 ? WORD_END : "");
        good =
          good && sl_vocabulary_add (v, name->str, name->len, sl_vocabulary_count (v), 0, error);
      }
  if (!good || !read_lines (t, data, size, CLIP_MERGES, add_clip_merge, error))
    return FALSE;
  for (guint i = 0; i < 2 && good; i++) {
    const char *special = i == 0 ? CLIP_START : CLIP_END;
    good = sl_vocabulary_add (v, special, strlen (special), sl_vocabulary_count (v), 0, error);
  }
  t->pad_id = 0; /* as CLIP's own program pads */
  return good && use_clip (t, error);
}

/* Reads the first of @names beside @path. *@bytes: (transfer full) (nullable): NULL where none of
 * them is there */
static gboolean
read_beside (const char *path, const char *const *names, GBytes **bytes, GError **error)
{
  g_autofree char *folder = path != NULL ? g_path_get_dirname (path) : NULL;
  *bytes = NULL;
  for (guint i = 0; folder != NULL && names[i] != NULL; i++) {
    g_autofree char *file = g_build_filename (folder, names[i], NULL);
    if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
      return (*bytes = sl_file_read (file, "a tokenizer file", MAX_BYTES, error)) != NULL;
  }
  return TRUE;
}

static gboolean
read_map (SlTokenizer *t, const char *data, gsize size, GError **error)
{
  SlJsonReader r;
  GError *problem = NULL;
  gint64 id = 0;
  sl_json_reader_init (&r, data, size);
  gboolean good = sl_json_reader_enter (&r, SL_JSON_OBJECT);
  while (good && sl_json_reader_next (&r))
    good = sl_json_reader_integer (&r, 0, SL_VOCABULARY_MAX - 1, &id)
           && sl_vocabulary_add (t->model.vocabulary, r.key->str, r.key->len, id, 0, &problem);
  good = sl_json_reader_end (&r) && good;
  if (problem != NULL)
    g_propagate_error (error, problem);
  else if (!good)
    sl_fail (error, SL_ERROR_FORMAT, "%s", r.error->message);
  sl_json_reader_clear (&r);
  return good;
}

static gboolean
ends_words (const SlVocabulary *v)
{
  for (guint i = 0; i < sl_vocabulary_count (v); i++) {
    const SlPiece piece = sl_vocabulary_get (v, i);
    if (piece.length > strlen (WORD_END)
        && memcmp (piece.text + piece.length - strlen (WORD_END), WORD_END, strlen (WORD_END)) == 0)
      return TRUE;
  }
  return FALSE;
}

static gboolean
read_pair (SlTokenizer *t, const char *map, gsize n_map, const char *merges, gsize n_merges,
           GError **error)
{
  t->format = "vocab.json and merges.txt, BPE";
  if (!read_map (t, map, n_map, error))
    return sl_fail_prefix (error, "vocab.json: ");
  if (!read_lines (t, merges, n_merges, G_MAXUINT, add_merge, error))
    return sl_fail_prefix (error, "merges.txt: ");
  return ends_words (t->model.vocabulary) ? use_clip (t, error) : use_bytes (t, error);
}

static void
begin (SlTokenizer *t)
{
  t->model.encode = sl_bpe_encode;
  t->model.merges = sl_merges_new ();
}

/* A zero behind the bytes, which GBytes need not have. */
static char *
text_of (GBytes *bytes, gsize *size)
{
  gsize n = 0;
  const char *data = g_bytes_get_data (bytes, &n);
  *size = n;
  return g_strndup (n > 0 ? data : "", n);
}

static gboolean
read_vocab_json (SlTokenizer *t, const char *data, gsize size, const char *path, GError **error)
{
  static const char *const names[] = { "merges.txt", "vocab.bpe", NULL };
  g_autoptr (GBytes) bytes = NULL;
  gsize n_merges = 0;
  begin (t);
  if (!read_beside (path, names, &bytes, error))
    return FALSE;
  if (bytes == NULL)
    return sl_fail (error, SL_ERROR_OPEN,
                    "a map of tokens needs the list of merges beside it; expected merges.txt, or "
                    "vocab.bpe, in its folder");
  g_autofree char *merges = text_of (bytes, &n_merges);
  return read_pair (t, data, size, merges, n_merges, error);
}

static gboolean
read_merges (SlTokenizer *t, const char *data, gsize size, const char *path, GError **error)
{
  static const char *const names[] = { "vocab.json", "encoder.json", NULL };
  g_autoptr (GBytes) bytes = NULL;
  gsize n_map = 0;
  begin (t);
  if (!read_beside (path, names, &bytes, error))
    return FALSE;
  if (bytes == NULL || strstr (data, "bpe_simple_vocab") == data + 1)
    return read_clip (t, data, size, error);
  g_autofree char *map = text_of (bytes, &n_map);
  return read_pair (t, map, n_map, data, size, error);
}

static gboolean
probe_object (const char *data, gsize size)
{
  const gsize blank = strspn (data, " \t\r\n");
  return blank < size && data[blank] == '{';
}

static gboolean
probe_merges (const char *data, gsize size)
{
  return size > 10
         && (g_str_has_prefix (data, "#version") || g_str_has_prefix (data, "\"bpe_simple_vocab"));
}

const SlTokenizerReader sl_tokenizer_vocab_json = { probe_object, read_vocab_json };
const SlTokenizerReader sl_tokenizer_merges = { probe_merges, read_merges };
