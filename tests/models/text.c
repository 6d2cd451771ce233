/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tokenizers: each normaliser, pre-tokenizer and processor of tokenizer.json on a small vocabulary,
 * and the message of each file that is refused. tests/cli/tokens.py compares whole tokenizers
 * with other implementations.
 */
#include "models/text/tokenizer.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/text/normalize.h"
#include "models/text/vocabulary.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

/* A model whose tokens are single characters, a letter each where BPE has no merges. */
#define LETTERS                                                                                  \
  "{\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"c\":3,\"d\":4,"    \
  "\" \":5,\"1\":6,\"2\":7,\".\":8,\"\xe2\x96\x81\":9,\"ab\":10,\"abc\":11,\"e\":12,"            \
  "\"\xc3\xa9\":13,\"\xc4\xa0\":14,\"i\":15,\"\xcc\x87\":16,\"A\":17},\"merges\":[\"a b\",\"ab " \
  "c\"]}"
#define WORDS                                                                                    \
  "{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"vocab\":{\"[UNK]\":0,\"un\":1,\"##aff\":2," \
  "\"##able\":3,\"able\":4,\"[CLS]\":5,\"[SEP]\":6,\",\":7,\"\xe4\xb8\xad\":8}}"
#define PARTS                                                                                      \
  "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"a\",-2],[\"b\",-2],[\"ab\",-3]," \
  "[\"aba\",-4.5],[\"<0x7A>\",-9]]%s}"

static SlTokenizer *
parse (const char *text, gssize length, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, length < 0 ? strlen (text) : (gsize) length);
  return sl_tokenizer_parse (bytes, NULL, error);
}

/* The tokens of @text, with '|' between. */
static char *
tokens_of (const SlTokenizer *tokenizer, const char *text, guint length)
{
  g_autoptr (GError) error = NULL;
  g_auto (SlTokens) tokens = { NULL };
  GString *all = g_string_new (NULL);
  g_assert_true (sl_tokenizer_encode (tokenizer, text, length, &tokens, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < tokens.ids->len; i++) {
    g_autofree char *token = sl_tokenizer_token (tokenizer, g_array_index (tokens.ids, gint32, i));
    g_string_append_printf (all, "%s%s", i > 0 ? "|" : "", token != NULL ? token : "-");
  }
  return g_string_free (all, FALSE);
}

/* The tokens of @text by a tokenizer.json with @model and @parts, "\"normalizer\": ..., ". */
static void
expect_tokens (const char *model, const char *parts, const char *text, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = g_strdup_printf ("{%s\"model\":%s}", parts, model);
  g_autoptr (SlTokenizer) tokenizer = parse (json, -1, &error);
  g_assert_no_error (error);
  g_autofree char *got = tokens_of (tokenizer, text, 0);
  if (strcmp (got, expected) != 0)
    g_test_message ("%s '%s'", parts, text);
  g_assert_cmpstr (got, ==, expected);
}

static void
test_normalizers (void)
{
  static const struct
  {
    const char *normalizer, *text, *expected;
  } rows[] = {
    { "null", "ab", "ab" },
    { "{\"type\":\"NFC\"}", "e\xcc\x81", "\xc3\xa9" },
    { "{\"type\":\"NFD\"}", "\xc3\xa9", "e|?" },
    { "{\"type\":\"NFKC\"}", "\xef\xbd\x81", "a" },
    { "{\"type\":\"NFKD\"}", "\xef\xbd\x81\xc3\xa9", "a|e|?" },
    { "{\"type\":\"Lowercase\"}", "A\xc4\xb0\xe2\x93\x90", "a|i|\xcc\x87|?" },
    { "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}", "  a ", "a| " },
    { "{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}", " a\xe3\x80\x80", " |a" },
    { "{\"type\":\"StripAccents\"}", "e\xcc\x81", "e" },
    { "{\"type\":\"Replace\",\"pattern\":{\"String\":\"bb\"},\"content\":\"c\"}", "abbb", "a|c|b" },
    { "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"b+\"},\"content\":\"\"}", "abbba", "a|a" },
    { "{\"type\":\"Prepend\",\"prepend\":\"\xe2\x96\x81\"}", "a", "\xe2\x96\x81|a" },
    { "{\"type\":\"Nmt\"}", "a\tb\x01", "a| |b" },
    { "{\"type\":\"ByteLevel\"}", "a b", "a|\xc4\xa0|b" },
    { "{\"type\":\"BertNormalizer\"}", "A\xc3\xa9\x01\t\xe4\xb8\xad", "a|e| | |?| " },
    { "{\"type\":\"BertNormalizer\",\"lowercase\":false,\"handle_chinese_chars\":false}",
      "A\xc3\xa9\xe4\xb8\xad", "A|\xc3\xa9|?" },
    { "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Sequence\",\"normalizers\":[{\"type\":"
      "\"NFD\"}]},{\"type\":\"StripAccents\"}]}",
      "\xc3\xa9", "e" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *parts = g_strdup_printf ("\"normalizer\":%s,", rows[i].normalizer);
    expect_tokens (LETTERS, parts, rows[i].text, rows[i].expected);
  }
}

/* The bounds of pieces show where "abc" is no token, because it was split. */
static void
test_splits (void)
{
  static const struct
  {
    const char *split, *text, *expected;
  } rows[] = {
    { "null", "abc", "abc" },
    { "{\"type\":\"WhitespaceSplit\"}",
      "ab\xc2\xa0"
      "c",
      "ab|c" },
    { "{\"type\":\"Whitespace\"}", "ab..c", "ab|.|.|c" },
    { "{\"type\":\"BertPreTokenizer\"}", "ab. abc", "ab|.|abc" },
    { "{\"type\":\"Punctuation\"}", "ab.c", "ab|.|c" },
    { "{\"type\":\"Punctuation\",\"behavior\":\"Removed\"}", "ab.c", "ab|c" },
    { "{\"type\":\"Digits\",\"individual_digits\":true}", "12c", "1|2|c" },
    { "{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"d\"}", "abdc", "ab|c" },
    { "{\"type\":\"Metaspace\",\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"always\"}",
      "a b", "\xe2\x96\x81|a|\xe2\x96\x81|b" },
    { "{\"type\":\"Metaspace\",\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"never\"}",
      "a b", "a|\xe2\x96\x81|b" },
    { "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", "ab", "\xc4\xa0|ab" },
    { "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}", "a b",
      "a|\xc4\xa0|b" },
    { "{\"type\":\"Split\",\"pattern\":{\"String\":\"b\"},\"behavior\":\"Isolated\"}", "abc",
      "a|b|c" },
    { "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"ab\"},\"behavior\":\"Removed\"}", "abc", "c" },
    { "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"ab\"},\"behavior\":\"Removed\","
      "\"invert\":true}",
      "abcab", "ab|ab" },
    { "{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},\"behavior\":\"MergedWithPrevious\"}",
      "bab", "b|a|b" },
    { "{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},\"behavior\":\"MergedWithNext\"}", "cab",
      "c|ab" },
    { "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[ab]\"},\"behavior\":\"Contiguous\"}", "abc",
      "ab|c" },
    { "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":"
      "\"Digits\"}]}",
      "a 12", "a|1|2" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *parts = g_strdup_printf ("\"pre_tokenizer\":%s,", rows[i].split);
    expect_tokens (LETTERS, parts, rows[i].text, rows[i].expected);
  }
}

static void
test_models (void)
{
  g_autofree char *plain = g_strdup_printf (PARTS, ""),
                  *bytes = g_strdup_printf (PARTS, ",\"byte_fallback\":true");
  const char *bert = "\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},";
  expect_tokens (WORDS, bert, "unaffable able, unx", "un|##aff|##able|able|,|[UNK]");
  /* ab + a = -5, a + b + a = -6, aba = -4.5. */
  expect_tokens (plain, "", "aba", "aba");
  expect_tokens (plain, "", "abab", "ab|ab");
  expect_tokens (plain, "", "azzb", "a|<unk>|b");
  expect_tokens (bytes, "", "azyb", "a|<unk>|b"); /* one byte is no token, so none is used */
  expect_tokens (bytes, "", "azzb", "a|<0x7A>|<0x7A>|b");
  expect_tokens (
    "{\"unk_token\":\"u\",\"vocab\":{\"u\":0,\"a\":1},\"merges\":[],\"fuse_unk\":true}", "", "axxa",
    "a|u|a"); /* without a type */
  expect_tokens (
    "{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"#b\":1,\"ab\":2,\"ab</w>\":3,\"#b</w>\":4,\"abc\":5},"
    "\"continuing_subword_prefix\":\"#\",\"end_of_word_suffix\":\"</w>\",\"merges\":[[\"a\","
    "\"#b\"],[\"a\",\"#b</w>\"]]}",
    "", "ab", "ab</w>");
  expect_tokens ("{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"ignore_merges\":true,"
                 "\"merges\":[]}",
                 "", "ab", "ab");
}

static void
test_added (void)
{
  const char *parts =
    "\"added_tokens\":[{\"id\":20,\"content\":\"<x>\",\"special\":true},{\"id\":21,\"content\":"
    "\"<xy>\",\"lstrip\":true,\"special\":true},{\"id\":22,\"content\":\"cd\",\"single_word\":true,"
    "\"normalized\":false},{\"id\":23,\"content\":\"DD\",\"normalized\":true}],"
    "\"normalizer\":{\"type\":\"Lowercase\"},";
  expect_tokens (LETTERS, parts, "ab<x>c", "ab|<x>|c");
  expect_tokens (LETTERS, parts, "a  <xy>b", "a|<xy>|b");
  expect_tokens (LETTERS, parts, "cd cdd", "cd| |c|DD");
  expect_tokens (LETTERS, parts, "<x><x>", "<x>|<x>");
}

#define FRAME                                                                                     \
  "\"post_processor\":{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\"},{\"type\":" \
  "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"[S]\",\"type_id\":0}},"         \
  "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"[E]\","                \
  "\"type_id\":0}}],\"special_tokens\":{\"[S]\":{\"id\":\"[S]\",\"ids\":[6],\"tokens\":[\"1\"]}," \
  "\"[E]\":{\"id\":\"[E]\",\"ids\":[7],\"tokens\":[\"2\"]}}}]},"

static void
test_frame (void)
{
  g_autoptr (GError) error = NULL;
  expect_tokens (LETTERS, FRAME, "dd", "1|d|d|2");
  expect_tokens (LETTERS, FRAME "\"truncation\":{\"max_length\":4,\"direction\":\"Right\"},",
                 "abdad", "1|ab|d|2");
  expect_tokens (LETTERS, FRAME "\"truncation\":{\"max_length\":4,\"direction\":\"Left\"},",
                 "abdad", "1|a|d|2");
  expect_tokens (LETTERS,
                 "\"padding\":{\"strategy\":{\"Fixed\":4},\"direction\":\"Right\",\"pad_id\":8},",
                 "ab", "ab|.|.|.");
  expect_tokens (
    LETTERS,
    "\"padding\":{\"strategy\":\"BatchLongest\",\"pad_to_multiple_of\":2,\"direction\":"
    "\"Left\",\"pad_id\":8},",
    "abdd", ".|ab|d|d");
  expect_tokens (WORDS,
                 "\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",6],\"cls\":["
                 "\"[CLS]\",5]},",
                 "able", "[CLS]|able|[SEP]");
  g_autofree char *json = g_strdup_printf ("{" FRAME "\"model\":" LETTERS "}");
  g_autoptr (SlTokenizer) tokenizer = parse (json, -1, &error);
  g_assert_no_error (error);
  g_autofree char *longer = tokens_of (tokenizer, "ab", 5),
                  *shorter = tokens_of (tokenizer, "dddd", 3),
                  *tiny = tokens_of (tokenizer, "dddd", 1);
  g_assert_cmpstr (longer, ==, "1|ab|2|?|?");
  g_assert_cmpstr (shorter, ==, "1|d|2");
  g_assert_cmpstr (tiny, ==, "1");
}

#define TEN "1,1,1,1,1,1,1,1,1,1,"

static void
test_refused (void)
{
  static const struct
  {
    const char *json;
    SlError code;
    const char *message;
  } rows[] = {
    { "", SL_ERROR_FORMAT,
      "this is no tokenizer; expected tokenizer.json, vocab.json with merges.txt, CLIP's "
      "bpe_simple_vocab_16e6.txt, BERT's vocab.txt or a SentencePiece model" },
    { "{\"model\":{\"type\":\"BPE\",", SL_ERROR_FORMAT,
      "line 1: expected a string, but the file ends" },
    { "{\"normalizer\":{\"type\":\"Upper\"},\"model\":{}}", SL_ERROR_UNSUPPORTED,
      "the normaliser 'Upper' is not supported; expected one of Sequence, NFC, NFD, NFKC, NFKD, "
      "Lowercase, Strip, StripAccents, Replace, Prepend, BertNormalizer, ByteLevel, Nmt, "
      "Precompiled" },
    { "{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"},\"model\":{}}", SL_ERROR_UNSUPPORTED,
      "the pre-tokenizer 'UnicodeScripts' is not supported; expected one of Sequence, "
      "BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Split, CharDelimiterSplit, "
      "Metaspace, Digits, Punctuation" },
    { "{\"post_processor\":{\"type\":\"Other\"},\"model\":{}}", SL_ERROR_UNSUPPORTED,
      "the post-processor 'Other' is not supported; expected TemplateProcessing, BertProcessing, "
      "RobertaProcessing, ByteLevel or Sequence" },
    { "{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0}}}", SL_ERROR_UNSUPPORTED,
      "the model 'WordLevel' is not supported; expected BPE, WordPiece or Unigram" },
    { "{\"normalizer\":{\"type\":\"Replace\",\"content\":\"\"},\"model\":{}}", SL_ERROR_FORMAT,
      "Replace: expected a pattern, {\"String\": ...} or {\"Regex\": ...}" },
    { "{\"normalizer\":{\"type\":\"Prepend\"},\"model\":{}}", SL_ERROR_FORMAT,
      "Prepend: expected a text of at most 2048 bytes as \"prepend\"" },
    { "{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"},\"model\":{}}",
      SL_ERROR_FORMAT,
      "a precompiled character map of 3 bytes says that its trie has 0; the file is damaged or "
      "truncated" },
    { "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a-z&&[^b]]\"}},"
      "\"model\":{}}",
      SL_ERROR_UNSUPPORTED,
      "the regular expression '[a-z&&[^b]]' contains '&&', which means something else to PCRE; "
      "expected an expression without it" },
    { "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\"a\"},"
      "\"behavior\":\"Kept\"},\"model\":{}}",
      SL_ERROR_FORMAT,
      "Split: behavior 'Kept'; expected Isolated, Removed, Contiguous, MergedWithPrevious or "
      "MergedWithNext" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}", SL_ERROR_FORMAT,
      "merge 0, 'a' and 'b': expected both, and what they make, to be tokens" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"ab\"]}}", SL_ERROR_FORMAT,
      "line 1: expected a merge of two tokens, got 'ab'" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}}", SL_ERROR_FORMAT,
      "line 1: expected a merge of two tokens, got 1" },
    { "{\"model\":{\"type\":\"BPE\",\"dropout\":0.1,\"vocab\":{\"a\":0},\"merges\":[]}}",
      SL_ERROR_UNSUPPORTED,
      "dropout 0.1: merges are left out at random, which is for training; expected null or 0" },
    { "{\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"a\":0}}}", SL_ERROR_FORMAT,
      "unk_token '[UNK]': expected one of the vocabulary's 1 tokens" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":[[\"a\",0]],\"merges\":[]}}", SL_ERROR_FORMAT,
      "line 1: the vocabulary of BPE is a list; expected an object" },
    { "{\"model\":{\"type\":\"Unigram\",\"unk_id\":7,\"vocab\":[[\"a\",0]]}}", SL_ERROR_FORMAT,
      "unk_id 7: expected one of the 1 tokens" },
    { "{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", SL_ERROR_FORMAT,
      "line 1: expected a token and its score" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"\":0}}}", SL_ERROR_FORMAT,
      "a token of 0 bytes; expected 1 to 2048" },
    { "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1048576}}}", SL_ERROR_FORMAT,
      "line 1: expected a whole number from 0 to 1048575, got 1048576" },
    { "{\"added_tokens\":[{\"id\":1}],\"model\":{}}", SL_ERROR_FORMAT,
      "line 1: expected an added token with content and an id below 1048576" },
    { "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
      "\"[X]\"}}]},\"model\":{}}",
      SL_ERROR_FORMAT, "the template names the token '[X]'; expected one of its special_tokens" },
    { "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{}]},\"model\":{}}",
      SL_ERROR_FORMAT,
      "line 1: expected at most 64 places of a template, each a SpecialToken or a Sequence" },
    { "{\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"a\",1,2]},\"model\":{}}",
      SL_ERROR_FORMAT, "line 1: expected \"sep\": [TOKEN, ID]" },
    { "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"special_tokens\":{\"a\":{\"ids\":"
      "[" TEN TEN TEN TEN TEN TEN "1,1,1,1,1]}}},\"model\":{}}",
      SL_ERROR_FORMAT, "line 1: expected at most 64 ids of a special token" },
    { "{\"post_processor\":{\"type\":\"TemplateProcessing\",\"special_tokens\":{\"a\":{\"ids\":"
      "[" TEN TEN TEN TEN "1]}},\"single\":[{\"SpecialToken\":{\"id\":\"a\"}},{\"SpecialToken\":{"
      "\"id\":\"a\"}}]},\"model\":{}}",
      SL_ERROR_LIMIT, "templates put 82 tokens around a text; expected at most 64" },
    { "{\"model\":{\"vocab\":{\"[UNK]\":0}},\"model\":{}}", SL_ERROR_FORMAT,
      "line 1: a second model" },
    { "{\"a\":1}", SL_ERROR_OPEN,
      "a map of tokens needs the list of merges beside it; expected merges.txt, or vocab.bpe, in "
      "its folder" },
    { "#version: 0.2\n", SL_ERROR_FORMAT,
      "no merges; expected lines of two tokens with a space between" },
    { "#version: 0.2\nab\n", SL_ERROR_FORMAT,
      "line 2: expected a merge, two tokens with a space between, got 'ab'" },
    { "#version: 0.2\na ab\n", SL_ERROR_FORMAT,
      "line 2: merge 0, 'a' and 'ab': expected both, and what they make, to be tokens" },
    { "[UNK]\na\n", SL_ERROR_FORMAT,
      "a list of tokens without '[CLS]'; expected BERT's vocab.txt, which has it" },
    { "[UNK]\n\xff\n", SL_ERROR_FORMAT, "line 2: expected a token in UTF-8" },
    { "\n\x05\n\x01"
      "a\x18\x02\n\x03\n\x01"
      "a",
      SL_ERROR_FORMAT, "pieces 0 and 1 are both 'a'; expected different texts" },
    { "\n\x03\n\x01"
      "a",
      SL_ERROR_FORMAT, "1 pieces and none is the unknown one; expected a SentencePiece model" },
    { "\n\x05\n\x01"
      "a\x18\x02\x12\x02\x18\x03",
      SL_ERROR_UNSUPPORTED,
      "a SentencePiece model of type 3 is not supported; expected unigram or bpe" },
    { "\n\x03\n\x01"
      "a\n\x09\n",
      SL_ERROR_FORMAT,
      "byte 5: a field is longer than what holds it; the file is damaged or truncated" },
    { "\n\x03\n\x01\xff", SL_ERROR_FORMAT, "piece 0: expected a text in UTF-8 and a finite score" },
    { "\x1f\x8b\x08", SL_ERROR_FORMAT,
      "the gzip file is damaged or truncated after 0 unpacked bytes" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTokenizer) tokenizer = parse (rows[i].json, -1, &error);
    g_assert_null (tokenizer);
    g_assert_cmpstr (error->message, ==, rows[i].message);
    g_assert_error (error, SL_ERROR, (gint) rows[i].code);
  }
}

/* What PCRE says of an expression is its own. */
static void
test_bad_expression (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTokenizer) tokenizer =
    parse ("{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a\"}},\"model\":{}}",
           -1, &error);
  g_assert_null (tokenizer);
  g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
  g_assert_true (
    g_str_has_prefix (error->message, "the regular expression '(a' is not one that PCRE reads: "));
}

/* An expression is compiled by PCRE, whose work grows with its length. */
static void
test_long_expression (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *expression = g_strnfill (4097, 'a');
  g_autofree char *json = g_strdup_printf (
    "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%s\"}},\"model\":{}}",
    expression);
  g_autoptr (SlTokenizer) tokenizer = parse (json, -1, &error);
  g_assert_null (tokenizer);
  g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==, "a regular expression of 4097 bytes; expected at most 4096");
}

/* What stands before or behind the tokens of a word fits where a token fits. */
static void
test_long_prefix (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = g_strnfill (2049, 'a');
  g_autofree char *json =
    g_strdup_printf ("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],"
                     "\"continuing_subword_prefix\":\"%s\"}}",
                     prefix);
  g_autoptr (SlTokenizer) tokenizer = parse (json, -1, &error);
  g_assert_null (tokenizer);
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_cmpstr (error->message, ==, "prefix and suffix of tokens have more than 2048 bytes");
}

static void
refuse_text (const char *parts, const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_auto (SlTokens) tokens = { NULL };
  g_autofree char *json = g_strdup_printf ("{%s\"model\":" LETTERS "}", parts);
  g_autoptr (SlTokenizer) tokenizer = parse (json, -1, &error);
  g_assert_no_error (error);
  g_assert_false (sl_tokenizer_encode (tokenizer, text, 0, &tokens, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_true (g_str_has_prefix (error->message, message));
}

static void
test_limits (void)
{
  g_autoptr (GString) text = g_string_new (NULL), name = g_string_new (NULL);
  g_autoptr (SlVocabulary) v = sl_vocabulary_new ();
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i <= SL_TEXT_MAX; i++)
    g_string_append_c (text, 'a');
  refuse_text ("", text->str, "the text is longer than 32768 bytes; expected a shorter text");
  g_autofree char *run = g_strnfill (4000, 'b');
  refuse_text ("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"b\"},\"content\":"
               "\"aaaaaaaaaaaaaaaa\"},",
               run,
               "the text is longer than 32768 bytes, or the tokenizer's normaliser makes it so");
  /* A pattern that tries all ways to divide a run. */
  refuse_text (
    "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a+)+$\"},\"behavior\":"
    "\"Isolated\"},",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
    "the regular expression '(a+)+$' takes too much work for this text");
  g_assert_false (sl_vocabulary_add (v, "a", 1, SL_VOCABULARY_MAX, 0, &error));
  expect_error (&error, SL_ERROR_LIMIT, "token 0 has the id 1048576", NULL);
  for (guint i = 0; i <= SL_PIECE_MAX; i++)
    g_string_append_c (name, 'b');
  g_assert_false (sl_vocabulary_add (v, name->str, name->len, 0, 0, &error));
  expect_error (&error, SL_ERROR_FORMAT, "a token of 2049 bytes; expected 1 to 2048", NULL);
}

/* A walk over prefixes against a comparison with every piece. */
static void
test_prefixes (void)
{
  g_autoptr (SlVocabulary) v = sl_vocabulary_new ();
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  char name[12] = { 0 };
  for (guint i = 0; i < 3000; i++) {
    const gsize length = (gsize) g_rand_int_range (random, 1, 9);
    for (gsize k = 0; k < length; k++)
      name[k] = (char) ('a' + g_rand_int_range (random, 0, 3));
    g_assert_true (sl_vocabulary_add (v, name, length, i, i, NULL));
  }
  sl_vocabulary_finish (v);
  for (guint round = 0; round < 500; round++) {
    SlPiece piece, same;
    guint found = 0, expected = 0;
    for (gsize k = 0; k < sizeof name; k++)
      name[k] = (char) ('a' + g_rand_int_range (random, 0, 4));
    SlPrefixes prefixes = sl_prefixes_init (v, name, sizeof name);
    for (gsize before = 0; sl_prefixes_next (&prefixes, &piece); before = piece.length, found++) {
      g_assert_true (piece.length > before && memcmp (piece.text, name, piece.length) == 0);
      g_assert_true (sl_vocabulary_find (v, name, piece.length, &same));
      g_assert_cmpint (same.id, ==, piece.id);
    }
    for (guint i = 0; i < sl_vocabulary_count (v); i++) {
      piece = sl_vocabulary_get (v, i);
      expected += memcmp (piece.text, name, piece.length) == 0;
    }
    g_assert_cmpuint (found, ==, expected);
  }
}

static void
test_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *vocabulary =
    write_temp ("vocab.json",
                "{\"a\":0,\"b\":1,\"ab\":2,\"<s>\":3,\"</s>\":4,\"<mask>\":5,\"\xc4\xa0\":6}", -1);
  g_autofree char *folder = g_path_get_dirname (vocabulary),
                  *merges = g_build_filename (folder, "merges.txt", NULL);
  g_assert_null (sl_tokenizer_load (merges, &error));
  expect_error (&error, SL_ERROR_OPEN, "merges.txt: ", NULL);
  g_assert_true (g_file_set_contents (merges, "#version: 0.2\na b\n", -1, NULL));
  g_autoptr (SlTokenizer) by_map = sl_tokenizer_load (vocabulary, &error);
  g_assert_no_error (error);
  g_autoptr (SlTokenizer) by_merges = sl_tokenizer_load (merges, &error);
  g_assert_no_error (error);
  g_autofree char *first = tokens_of (by_map, "ab ba<mask>", 0),
                  *second = tokens_of (by_merges, "ab ba<mask>", 0);
  g_assert_cmpstr (first, ==, "<s>|ab|\xc4\xa0|b|a|<mask>|</s>");
  g_assert_cmpstr (second, ==, first);
  g_assert_cmpstr (sl_tokenizer_format (by_map), ==, "vocab.json and merges.txt, BPE");
  g_assert_true (g_file_set_contents (vocabulary, "{\"a</w>\":0}", -1, NULL));
  g_assert_null (sl_tokenizer_load (vocabulary, &error));
  expect_error (&error, SL_ERROR_FORMAT, "merges.txt: line 2: merge 0", NULL);
  g_assert_true (g_file_set_contents (vocabulary, "{\"a\":0,\"b</w>\":1,\"ab</w>\":2}", -1, NULL));
  g_assert_true (g_file_set_contents (merges, "a b</w>\n", -1, NULL));
  g_assert_null (sl_tokenizer_load (vocabulary, &error));
  expect_error (&error, SL_ERROR_FORMAT,
                "tokens end with '</w>', as CLIP's do; expected '<|startoftext|>' and "
                "'<|endoftext|>' among them",
                NULL);
  g_unlink (merges);
  sl_tflite_remove_temp (vocabulary);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/text/normalizers", test_normalizers);
  g_test_add_func ("/models/text/bad-expression", test_bad_expression);
  g_test_add_func ("/models/text/long-expression", test_long_expression);
  g_test_add_func ("/models/text/long-prefix", test_long_prefix);
  g_test_add_func ("/models/text/splits", test_splits);
  g_test_add_func ("/models/text/models", test_models);
  g_test_add_func ("/models/text/added", test_added);
  g_test_add_func ("/models/text/frame", test_frame);
  g_test_add_func ("/models/text/refused", test_refused);
  g_test_add_func ("/models/text/limits", test_limits);
  g_test_add_func ("/models/text/prefixes", test_prefixes);
  g_test_add_func ("/models/text/files", test_files);
  return g_test_run ();
}
