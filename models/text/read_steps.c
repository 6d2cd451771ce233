/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Normalisers and pre-tokenizers of tokenizer.json: a table by type for each. */
#include <string.h>

#include "core/base/fail.h"
#include "models/text/fields.h"
#include "models/text/read_json.h"

/* The pattern of a step: a text or an expression. */
static SlPattern *
read_pattern (SlTokenizerJson *j, GHashTable *fields)
{
  const char *text = sl_fields_get (fields, "pattern.String"),
             *regex = sl_fields_get (fields, "pattern.Regex");
  if (text != NULL && text[0] != '\0')
    return sl_pattern_new_literal (text);
  if (regex != NULL)
    return sl_pattern_new_regex (regex, &j->problem);
  return sl_fail_null (&j->problem, SL_ERROR_FORMAT,
                       "%s: expected a pattern, {\"String\": ...} or {\"Regex\": ...}",
                       sl_fields_get (fields, "type"));
}

/* A text that a step writes. */
static char *
read_text (SlTokenizerJson *j, GHashTable *fields, const char *key)
{
  const char *text = sl_fields_get (fields, key);
  if (text != NULL && strlen (text) <= SL_PIECE_MAX)
    return g_strdup (text);
  return sl_fail_null (&j->problem, SL_ERROR_FORMAT,
                       "%s: expected a text of at most %d bytes as \"%s\"",
                       sl_fields_get (fields, "type"), SL_PIECE_MAX, key);
}

typedef struct
{
  const char *type;
  gint kind;
} Type;

static const Type normalizers[] = {
  { "NFC", SL_NORMALIZE_NFC },
  { "NFD", SL_NORMALIZE_NFD },
  { "NFKC", SL_NORMALIZE_NFKC },
  { "NFKD", SL_NORMALIZE_NFKD },
  { "Lowercase", SL_NORMALIZE_LOWER },
  { "Strip", SL_NORMALIZE_STRIP },
  { "StripAccents", SL_NORMALIZE_STRIP_ACCENTS },
  { "Replace", SL_NORMALIZE_REPLACE },
  { "Prepend", SL_NORMALIZE_PREPEND },
  { "BertNormalizer", SL_NORMALIZE_BERT },
  { "ByteLevel", SL_NORMALIZE_BYTES },
  { "Nmt", SL_NORMALIZE_NMT },
  { "Precompiled", SL_NORMALIZE_CHARSMAP },
};

static const Type splits[] = {
  { "BertPreTokenizer", SL_SPLIT_BERT },   { "ByteLevel", SL_SPLIT_BYTES },
  { "Whitespace", SL_SPLIT_WORDS },        { "WhitespaceSplit", SL_SPLIT_WHITESPACE },
  { "Split", SL_SPLIT_PATTERN },           { "CharDelimiterSplit", SL_SPLIT_PATTERN },
  { "Metaspace", SL_SPLIT_METASPACE },     { "Digits", SL_SPLIT_DIGITS },
  { "Punctuation", SL_SPLIT_PUNCTUATION },
};

/* The kind of @fields, -1 with the problem set. */
static gint
find_type (SlTokenizerJson *j, const char *what, GHashTable *fields, const Type *types, guint n)
{
  const char *type = sl_fields_get (fields, "type");
  g_autoptr (GString) names = g_string_new ("Sequence");
  for (guint i = 0; i < n; i++) {
    if (g_strcmp0 (types[i].type, type) == 0)
      return types[i].kind;
    g_string_append_printf (names, ", %s", types[i].type);
  }
  sl_fail (&j->problem, SL_ERROR_UNSUPPORTED, "the %s '%s' is not supported; expected one of %s",
           what, type != NULL ? type : "", names->str);
  return -1;
}

static gboolean
fill_normalizer (SlTokenizerJson *j, GHashTable *fields, SlNormalizeStep *step)
{
  if (step->kind == SL_NORMALIZE_STRIP) {
    step->left = sl_fields_bool (fields, "strip_left", TRUE);
    step->right = sl_fields_bool (fields, "strip_right", TRUE);
  } else if (step->kind == SL_NORMALIZE_REPLACE) {
    step->pattern = read_pattern (j, fields);
    step->text = step->pattern != NULL ? read_text (j, fields, "content") : NULL;
  } else if (step->kind == SL_NORMALIZE_PREPEND) {
    step->text = read_text (j, fields, "prepend");
  } else if (step->kind == SL_NORMALIZE_BERT) {
    step->clean = sl_fields_bool (fields, "clean_text", TRUE);
    step->chinese = sl_fields_bool (fields, "handle_chinese_chars", TRUE);
    step->lower = sl_fields_bool (fields, "lowercase", TRUE);
    step->accents = sl_fields_bool (fields, "strip_accents", step->lower);
  } else if (step->kind == SL_NORMALIZE_CHARSMAP) {
    const char *packed = sl_fields_get (fields, "precompiled_charsmap");
    gsize size = 0;
    g_autofree guint8 *bytes = g_base64_decode (packed != NULL ? packed : "", &size);
    step->charsmap = sl_charsmap_new (bytes, size, &j->problem);
  }
  return j->problem == NULL;
}

static gboolean
read_normalizer (SlJsonReader *reader, gpointer data)
{
  SlTokenizerJson *j = data;
  SlNormalizeStep step = { 0 };
  g_autoptr (GHashTable) fields = sl_fields_read (reader, "normalizers", read_normalizer, j);
  if (fields == NULL)
    return FALSE;
  if (g_strcmp0 (sl_fields_get (fields, "type"), "Sequence") == 0)
    return TRUE;
  const gint kind = find_type (j, "normaliser", fields, normalizers, G_N_ELEMENTS (normalizers));
  if (kind < 0)
    return FALSE;
  step.kind = (SlNormalizeKind) kind;
  const gboolean filled = fill_normalizer (j, fields, &step);
  if (filled)
    g_array_append_val (j->tokenizer->normalizers, step);
  else
    sl_normalize_step_clear (&step);
  return filled;
}

static gboolean
read_behaviour (SlTokenizerJson *j, GHashTable *fields, SlSplitStep *step)
{
  static const char *const names[] = { [SL_ISOLATED] = "Isolated",
                                       [SL_REMOVED] = "Removed",
                                       [SL_CONTIGUOUS] = "Contiguous",
                                       [SL_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
                                       [SL_MERGED_WITH_NEXT] = "MergedWithNext" };
  const char *name = sl_fields_get (fields, "behavior");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (name == NULL || strcmp (names[i], name) == 0) {
      step->behaviour = (SlSplitBehaviour) i;
      return TRUE;
    }
  return sl_fail (&j->problem, SL_ERROR_FORMAT,
                  "%s: behavior '%s'; expected Isolated, Removed, Contiguous, MergedWithPrevious "
                  "or MergedWithNext",
                  sl_fields_get (fields, "type"), name);
}

static void
fill_metaspace (GHashTable *fields, SlSplitStep *step)
{
  const char *space = sl_fields_get (fields, "replacement"),
             *scheme = sl_fields_get (fields, "prepend_scheme");
  const gboolean prefixed = sl_fields_bool (fields, "add_prefix_space", TRUE);
  step->pattern =
    sl_pattern_new_literal (space != NULL && space[0] != '\0' ? space : "\xe2\x96\x81");
  step->no_split = !sl_fields_bool (fields, "split", TRUE);
  step->prefix = !prefixed || g_strcmp0 (scheme, "never") == 0 ? SL_PREFIX_NEVER
                 : g_strcmp0 (scheme, "first") == 0            ? SL_PREFIX_FIRST
                                                               : SL_PREFIX_ALWAYS;
}

static gboolean
fill_split (SlTokenizerJson *j, GHashTable *fields, SlSplitStep *step)
{
  const char *delimiter = sl_fields_get (fields, "delimiter");
  if (step->kind == SL_SPLIT_METASPACE) {
    fill_metaspace (fields, step);
  } else if (step->kind == SL_SPLIT_BYTES) {
    step->prefix =
      sl_fields_bool (fields, "add_prefix_space", TRUE) ? SL_PREFIX_ALWAYS : SL_PREFIX_NEVER;
    step->pattern = sl_fields_bool (fields, "use_regex", TRUE) ? sl_split_bytes_pattern () : NULL;
  } else if (step->kind == SL_SPLIT_DIGITS) {
    step->behaviour =
      sl_fields_bool (fields, "individual_digits", FALSE) ? SL_ISOLATED : SL_CONTIGUOUS;
  } else if (step->kind == SL_SPLIT_PATTERN && delimiter != NULL) {
    step->pattern = sl_pattern_new_literal (delimiter);
    step->behaviour = SL_REMOVED;
  } else if (read_behaviour (j, fields, step) && step->kind == SL_SPLIT_PATTERN) {
    step->pattern = read_pattern (j, fields);
    step->invert = sl_fields_bool (fields, "invert", FALSE);
  }
  return j->problem == NULL;
}

static gboolean
read_split (SlJsonReader *reader, gpointer data)
{
  SlTokenizerJson *j = data;
  SlSplitStep step = { 0 };
  g_autoptr (GHashTable) fields = sl_fields_read (reader, "pretokenizers", read_split, j);
  if (fields == NULL)
    return FALSE;
  if (g_strcmp0 (sl_fields_get (fields, "type"), "Sequence") == 0)
    return TRUE;
  const gint kind = find_type (j, "pre-tokenizer", fields, splits, G_N_ELEMENTS (splits));
  if (kind < 0)
    return FALSE;
  step.kind = (SlSplitKind) kind;
  const gboolean filled = fill_split (j, fields, &step);
  if (filled)
    g_array_append_val (j->tokenizer->splits, step);
  else
    sl_split_step_clear (&step);
  return filled;
}

gboolean
sl_tokenizer_json_normalizer (SlTokenizerJson *j)
{
  return sl_tokenizer_json_is_null (j) || read_normalizer (&j->json, j);
}

gboolean
sl_tokenizer_json_split (SlTokenizerJson *j)
{
  return sl_tokenizer_json_is_null (j) || read_split (&j->json, j);
}
