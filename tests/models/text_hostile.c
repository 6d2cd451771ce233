/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Damaged tokenizer files: each mutant of each format is refused with a sentence, or makes tokens,
 * soon. A mutant follows from its number.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "models/text/charsmap.h"
#include "models/text/normalize.h"
#include "models/text/tokenizer.h"
#include "tests/models/helpers.h"
#include "tests/support/program.h"

#define MUTANTS 20000
/* Of one mutant, in seconds of the processor; sanitizers allowed for. */
#define LONGEST 5.0
/* What a file may say of a trie: one byte, and the two bytes of a character. */
#define UNITS 1024

#define ADDED                                                                                    \
  "\"added_tokens\":[{\"id\":1,\"content\":\"[S]\",\"special\":true,\"lstrip\":true},{\"id\":9," \
  "\"content\":\"ab\",\"single_word\":true,\"normalized\":true}],"                               \
  "\"truncation\":{\"max_length\":8,\"direction\":\"Right\"},"                                   \
  "\"padding\":{\"strategy\":{\"Fixed\":9},\"pad_id\":2},\"post_processor\":{"                   \
  "\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"[S]\"}},"             \
  "{\"Sequence\":{\"id\":\"A\"}}],\"special_tokens\":{\"[S]\":{\"ids\":[1]}}},"

static const char *const files[] = {
  "{" ADDED "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":"
  "\"Replace\",\"pattern\":{\"Regex\":\"\\\\s+\"},\"content\":\" "
  "\"},{\"type\":\"Prepend\",\"prepend\":\"_\"}]},\"pre_tokenizer\":{\"type\":\"Split\","
  "\"pattern\":{\"Regex\":\"'s| ?\\\\p{L}+|\\\\p{N}{1,3}|\\\\s+(?!\\\\S)\"},"
  "\"behavior\":\"Isolated\"},\"model\":{\"type\":\"BPE\",\"unk_token\":\"u\","
  "\"byte_fallback\":true,\"fuse_unk\":true,\"vocab\":{\"u\":0,\"a\":3,\"b\":4,\"ab\":5,\"_\":6,"
  "\"<0x20>\":7},\"merges\":[\"a b\",[\"a\",\"b\"]]}}",
  "{" ADDED "\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":"
  "\"BertPreTokenizer\"},\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"u\","
  "\"vocab\":{\"u\":0,\"a\":3,\"##b\":4,\"ab\":5,\"##a\":6},\"max_input_chars_per_word\":50}}",
  "{" ADDED "\"normalizer\":{\"type\":\"Nmt\"},\"pre_tokenizer\":{\"type\":\"Metaspace\","
  "\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"first\"},"
  "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[[\"u\",0],"
  "[\"\xe2\x96\x81\",-1.5],[\"a\",-2],[\"ab\",-3e0],[\"ba\",-2.5]]}}",
  "#version: 0.2\na b\nab a</w>\nb a\nba b</w>\nab ab\n",
  "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##b\nab\n##ab\n,\n",
};

/* Bytes of a trie that makes "a" of "A". */
static GByteArray *
small_charsmap (void)
{
  guint32 units[UNITS] = { 0 };
  const guint32 size = GUINT32_TO_LE ((guint32) sizeof units);
  units[0] = GUINT32_TO_LE (256u << 10);
  units[256 ^ 'A'] = GUINT32_TO_LE ('A' | 1u << 8 | 1u << 10);
  units[(256 ^ 'A') ^ 1] = GUINT32_TO_LE (1u << 31);
  GByteArray *bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) &size, sizeof size);
  g_byte_array_append (bytes, (const guint8 *) units, sizeof units);
  g_byte_array_append (bytes, (const guint8 *) "a", 2);
  return bytes;
}

static void
put_varint (GByteArray *out, gsize value)
{
  for (; value >= 0x80; value >>= 7)
    g_byte_array_append (out, &(guint8){ (guint8) (value | 0x80) }, 1);
  g_byte_array_append (out, &(guint8){ (guint8) value }, 1);
}

static void
put_bytes (GByteArray *out, guint8 field, const void *data, gsize size)
{
  g_byte_array_append (out, &(guint8){ (guint8) (field << 3 | 2) }, 1);
  put_varint (out, size);
  g_byte_array_append (out, data, (guint) size);
}

static void
put_piece (GByteArray *out, const char *text, gfloat score, guint8 type)
{
  g_autoptr (GByteArray) piece = g_byte_array_new ();
  guint8 fixed[5] = { 2 << 3 | 5 };
  put_bytes (piece, 1, text, strlen (text));
  memcpy (fixed + 1, &score, sizeof score);
  g_byte_array_append (piece, fixed, sizeof fixed);
  g_byte_array_append (piece, (const guint8[]){ 3 << 3, type }, 2);
  put_bytes (out, 1, piece->data, piece->len);
}

/* A SentencePiece model; @model: 1 = unigram, 2 = BPE. */
static GByteArray *
sentencepiece (guint8 model)
{
  GByteArray *out = g_byte_array_new ();
  g_autoptr (GByteArray) normalizer = g_byte_array_new (), map = small_charsmap ();
  put_piece (out, "<unk>", 0, 2);
  put_piece (out, "</s>", 0, 3);
  put_piece (out, "\xe2\x96\x81", -1, 1);
  put_piece (out, "a", -2, 1);
  put_piece (out, "b", -2.5f, 1);
  put_piece (out, "ab", -3, 1);
  put_piece (out,
             "\xe2\x96\x81"
             "ab",
             -3.5f, 1);
  put_piece (out, "bb", 0, 4);
  put_piece (out, "<0x20>", 0, 6);
  put_bytes (out, 2, (const guint8[]){ 3 << 3, model, 0x98, 2, 1 }, 5);
  put_bytes (normalizer, 2, map->data, map->len);
  put_bytes (out, 3, normalizer->data, normalizer->len);
  return out;
}

/* A byte, a run or a cut, at places that follow from @number. */
static void
mutate (GByteArray *file, guint number)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (number);
  for (gint n = g_rand_int_range (random, 1, 4); n > 0 && file->len > 1; n--) {
    const guint at = (guint) g_rand_int_range (random, 0, (gint32) file->len);
    const guint other = (guint) g_rand_int_range (random, 0, (gint32) file->len);
    const guint run = (guint) g_rand_int_range (random, 1, 24), length = MIN (run, file->len - at);
    switch (g_rand_int_range (random, 0, 6)) {
      case 0:
        file->data[at] = (guint8) g_rand_int (random);
        break;
      case 1:
        file->data[at] ^= (guint8) (1u << g_rand_int_range (random, 0, 8));
        break;
      case 2:
        file->data[at] = file->data[other];
        break;
      case 3:
        g_byte_array_remove_range (file, at, length);
        break;
      case 4:
        g_byte_array_set_size (file, file->len - MIN (length, file->len - 1));
        break;
      default:
        memmove (file->data + at, file->data + MIN (other, file->len - length), length);
        break;
    }
  }
}

static void
use (const SlTokenizer *tokenizer)
{
  static const char *const texts[] = { "", "ab ba, aab", "[S]ab A\xc3\xa9  \xe4\xb8\xad z'sa123" };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_auto (SlTokens) tokens = { NULL };
    g_autoptr (GError) error = NULL;
    const gboolean good =
      sl_tokenizer_encode (tokenizer, texts[i], i == 2 ? 16 : 0, &tokens, &error);
    g_assert_cmpint (good, ==, error == NULL);
    g_assert_true (!good || i != 2 || tokens.ids->len == 16);
    g_assert_true (!good || tokens.first + tokens.count <= tokens.ids->len);
  }
}

static void
run_mutants (const guint8 *data, gsize size)
{
  guint loaded = 0;
  for (guint i = 0; i <= MUTANTS; i++) {
    g_autoptr (GByteArray) file = g_byte_array_new ();
    g_autoptr (GError) error = NULL;
    g_byte_array_append (file, data, (guint) size);
    if (i > 0)
      mutate (file, i);
    g_autoptr (GBytes) bytes = g_bytes_new (file->data, file->len);
    const clock_t start = clock ();
    g_autoptr (SlTokenizer) tokenizer = sl_tokenizer_parse (bytes, NULL, &error);
    g_assert_cmpint (tokenizer != NULL, ==, error == NULL);
    if (tokenizer != NULL)
      use (tokenizer);
    else
      g_assert_true (i > 0 && error->domain == SL_ERROR && error->message[0] != '\0');
    const double took = (double) (clock () - start) / CLOCKS_PER_SEC;
    if (took > LONGEST)
      g_error ("mutant %u took %.1f s", i, took);
    loaded += tokenizer != NULL;
  }
  g_test_message ("%u of %u mutants made a tokenizer", loaded, MUTANTS);
}

static void
test_mutants (gconstpointer data)
{
  const char *file = data;
  run_mutants ((const guint8 *) file, strlen (file));
}

static void
test_sentencepiece_mutants (gconstpointer data)
{
  g_autoptr (GByteArray) file = sentencepiece ((guint8) GPOINTER_TO_UINT (data));
  run_mutants (file->data, file->len);
}

static void
expect_ids (const SlTokenizer *tokenizer, const char *text, guint n, const gint32 *ids)
{
  g_auto (SlTokens) tokens = { NULL };
  g_autoptr (GError) error = NULL;
  g_assert_true (sl_tokenizer_encode (tokenizer, text, 0, &tokens, &error));
  g_assert_cmpmem (tokens.ids->data, tokens.ids->len * sizeof (gint32), ids, n * sizeof (gint32));
}

/* What spm_encode gives of this model. */
static void
test_sentencepiece (void)
{
  for (guint8 model = 1; model <= 2; model++) {
    g_autoptr (GByteArray) file = sentencepiece (model);
    g_autoptr (GBytes) bytes = g_bytes_new (file->data, file->len);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlTokenizer) tokenizer = sl_tokenizer_parse (bytes, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (sl_tokenizer_format (tokenizer), ==,
                     model == 1 ? "SentencePiece, Unigram" : "SentencePiece, BPE");
    expect_ids (tokenizer, "ab", 1, (const gint32[]){ 6 });
    expect_ids (tokenizer, "  Ab  ", 1, (const gint32[]){ 6 });
    expect_ids (tokenizer, "abb", 3, (const gint32[]){ 2, 3, 7 });
    expect_ids (tokenizer, "azz a", 5, (const gint32[]){ 2, 3, 0, 2, 3 });
    expect_ids (tokenizer, "   ", 0, NULL);
  }
}

/* Pieces and a text that make a search as long as it can be. */
static void
test_long (void)
{
  g_autoptr (GString) json =
    g_string_new ("{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":["
                  "[\"u\",0]"),
                      run = g_string_new (NULL);
  g_autofree char *text = g_strnfill (SL_TEXT_MAX, 'a');
  g_autoptr (GError) error = NULL;
  for (guint i = 1; i <= 500; i++) {
    g_string_append_c (run, 'a');
    g_string_append_printf (json, ",[\"%s\",-%u],[\"%sb\",-1]", run->str, i, run->str);
  }
  g_string_append (json, "]}}");
  g_autoptr (GBytes) bytes = g_bytes_new (json->str, json->len);
  const clock_t start = clock ();
  g_autoptr (SlTokenizer) tokenizer = sl_tokenizer_parse (bytes, NULL, &error);
  g_assert_no_error (error);
  g_auto (SlTokens) tokens = { NULL };
  g_assert_true (sl_tokenizer_encode (tokenizer, text, 0, &tokens, &error));
  g_assert_cmpfloat ((double) (clock () - start) / CLOCKS_PER_SEC, <, 20);
}

/* Objects within each other, deeper than any file needs. */
static void
test_deep (void)
{
  g_autoptr (GString) json = g_string_new ("{\"normalizer\":");
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < 100000; i++)
    g_string_append (json, "{\"type\":\"Sequence\",\"normalizers\":[");
  g_string_append (json, "\"model\": {");
  g_autoptr (GBytes) bytes = g_bytes_new (json->str, json->len);
  g_assert_null (sl_tokenizer_parse (bytes, NULL, &error));
  g_assert_nonnull (error);
}

static void
test_charsmap (void)
{
  g_autoptr (GByteArray) bytes = small_charsmap ();
  g_autoptr (GError) error = NULL;
  g_autoptr (SlCharsmap) map = sl_charsmap_new (bytes->data, bytes->len, &error);
  gsize matched = 0;
  g_assert_no_error (error);
  g_assert_cmpstr (sl_charsmap_find (map, "AB", 2, TRUE, &matched), ==, "a");
  g_assert_cmpuint (matched, ==, 1);
  g_assert_null (sl_charsmap_find (map, "BA", 2, TRUE, &matched));
  bytes->data[0] = 1;
  g_assert_null (sl_charsmap_new (bytes->data, bytes->len, &error));
  expect_error (&error, SL_ERROR_FORMAT, "says that its trie has 4097", NULL);
}

TEST_MAIN (int argc, char **argv)
{
  static const char *const names[] = { "bpe", "wordpiece", "unigram", "clip", "vocab-text" };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *name = g_strconcat ("/models/text_hostile/", names[i], NULL);
    g_test_add_data_func (name, files[i], test_mutants);
  }
  g_test_add_data_func ("/models/text_hostile/spm-unigram", GUINT_TO_POINTER (1),
                        test_sentencepiece_mutants);
  g_test_add_data_func ("/models/text_hostile/spm-bpe", GUINT_TO_POINTER (2),
                        test_sentencepiece_mutants);
  g_test_add_func ("/models/text_hostile/sentencepiece", test_sentencepiece);
  g_test_add_func ("/models/text_hostile/charsmap", test_charsmap);
  g_test_add_func ("/models/text_hostile/long", test_long);
  g_test_add_func ("/models/text_hostile/deep", test_deep);
  return g_test_run ();
}
