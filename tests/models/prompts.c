/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sentences become embeddings: a text model of a table of vectors and their mean, against double;
 * what is refused; and what memory is left.
 */
#include "models/prompts.h"
#include "models/text_encoder.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define LENGTH 6
#define TOKENS 8 /* that a text fills */
#define SMALL 16
#define LARGE 40000
#define WIDE 256
/* What may be left of a text model of 40 MB. */
#define LEFT_BYTES (8 << 20)

static const char tokenizer[] =
  "{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"padding\":{\"strategy\":\"BatchLongest\","
  "\"pad_id\":0},\"truncation\":{\"max_length\":8},\"model\":{\"type\":\"WordPiece\","
  "\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"cat\":1,\"dog\":2,\"red\":3,\"a\":4,\"photo\":5}}}";

typedef struct
{
  char *model, *tokens;
  gfloat *table; /* of the text model */
} Files;

/* ids -> rows of the table -> their mean. @length: of the input; 0 = open. */
static void
files_new (Files *files, guint rows, guint width, gint64 length, guint type)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  files->table = g_new (gfloat, (gsize) rows * width);
  for (gsize i = 0; i < (gsize) rows * width; i++)
    files->table[i] = (gfloat) g_rand_double_range (random, -1, 1);
  sl_onnx_writer_input (w, "input_ids", type, 2, (gint64[]){ 1, length });
  sl_onnx_writer_floats (w, "table", 2, (gint64[]){ rows, width }, files->table);
  sl_onnx_writer_node (w, "Gather", "table,input_ids", "rows", NULL);
  sl_onnx_writer_node (w, "ReduceMean", "rows", "text_embeds", "axes I 1", "keepdims i 0", NULL);
  sl_onnx_writer_output (w, "text_embeds", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  files->model =
    write_temp ("text.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  files->tokens = write_temp ("tokenizer.json", tokenizer, -1);
}

static void
files_clear (Files *files)
{
  sl_tflite_remove_temp (files->model);
  sl_tflite_remove_temp (files->tokens);
  g_free (files->model);
  g_free (files->tokens);
  g_free (files->table);
}

/* Adds the direction of the mean of the rows of @ids, filled up with row 0, to @sum. */
static void
add_expected (const Files *files, guint n, const guint *ids, double *sum)
{
  double mean[LENGTH] = { 0 }, squares = 0;
  for (guint i = 0; i < TOKENS; i++)
    for (guint k = 0; k < LENGTH; k++)
      mean[k] += (double) files->table[(i < n ? ids[i] : 0) * LENGTH + k] / TOKENS;
  for (guint k = 0; k < LENGTH; k++)
    squares += mean[k] * mean[k];
  for (guint k = 0; k < LENGTH; k++)
    sum[k] += mean[k] / sqrt (squares);
}

static void
expect_vector (const gfloat *got, const double *sum)
{
  double squares = 0;
  for (guint k = 0; k < LENGTH; k++)
    squares += sum[k] * sum[k];
  for (guint k = 0; k < LENGTH; k++)
    g_assert_cmpfloat_with_epsilon ((double) got[k], sum[k] / sqrt (squares), 1e-5);
}

static void
test_vectors (void)
{
  static const gint64 lengths[] = { TOKENS, 0 };
  for (guint i = 0; i < 2; i++) {
    Files files;
    files_new (&files, SMALL, LENGTH, lengths[i], i == 0 ? SL_ONNX_INT64 : SL_ONNX_INT32);
    const SlModelSettings settings = { .text_model = files.model,
                                       .tokenizer = files.tokens,
                                       .prompts = "red cat; animal = cat | dog",
                                       .templates = "a photo {};{}" };
    SlWordVectors words = { 0 };
    g_autoptr (SlLabels) labels = NULL;
    g_autoptr (SlPromptTexts) texts = NULL;
    g_autoptr (GError) error = NULL;
    double cat[LENGTH] = { 0 }, animal[LENGTH] = { 0 };
    g_assert_true (sl_prompts_encode (&settings, &words, &texts, &labels, &error));
    g_assert_no_error (error);
    g_assert_cmpuint (words.n, ==, 2);
    g_assert_cmpuint (words.length, ==, LENGTH);
    g_assert_cmpstr (sl_labels_get (labels, 0), ==, "red cat");
    g_assert_cmpstr (sl_labels_get (labels, 1), ==, "animal");
    add_expected (&files, 4, (guint[]){ 4, 5, 3, 1 }, cat);
    add_expected (&files, 2, (guint[]){ 3, 1 }, cat);
    expect_vector (words.numbers, cat);
    add_expected (&files, 3, (guint[]){ 4, 5, 1 }, animal);
    add_expected (&files, 1, (guint[]){ 1 }, animal);
    add_expected (&files, 3, (guint[]){ 4, 5, 2 }, animal);
    add_expected (&files, 1, (guint[]){ 2 }, animal);
    expect_vector (words.numbers + LENGTH, animal);
    g_free (words.numbers);
    files_clear (&files);
  }
}

static void
refuse (const SlModelSettings *settings, SlError code, const char *message)
{
  SlWordVectors words = { 0 };
  g_autoptr (SlLabels) labels = NULL;
  g_autoptr (SlPromptTexts) texts = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_false (sl_prompts_encode (settings, &words, &texts, &labels, &error));
  expect_error (&error, code, message, NULL);
  g_assert_null (words.numbers);
  g_assert_null (labels);
}

/* (transfer full): @n times @text. */
static char *
repeat (const char *text, guint n)
{
  GString *all = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    g_string_append (all, text);
  return g_string_free (all, FALSE);
}

/* Texts that would take memory or minutes are refused before a text model is loaded. */
static void
test_large (void)
{
  Files files;
  files_new (&files, SMALL, LENGTH, TOKENS, SL_ONNX_INT64);
  g_autofree char *megabyte = repeat ("cat ", 1 << 18), *many = repeat ("cat;", 10000),
                  *sentences = repeat ("|cat", 65), *classes = repeat ("cat;", 999),
                  *templates = repeat ("{} {};", 16), *places = repeat ("{}", 10000);
  g_autofree char *of_one = g_strconcat ("cat=cat", sentences + 2 * strlen ("|cat"), NULL),
                  *of_many = g_strconcat ("cat=cat", sentences + strlen ("|cat"), NULL);
  SlModelSettings s = { .text_model = "/none", .tokenizer = files.tokens, .prompts = megabyte };
  refuse (&s, SL_ERROR_LIMIT,
          "': the text is longer than 32768 bytes; expected a shorter sentence, or a shorter "
          "template");
  s.prompts = many;
  refuse (&s, SL_ERROR_ARGUMENT, "expected 1 to 1000 classes with ';' between");
  s.prompts = of_many;
  refuse (&s, SL_ERROR_ARGUMENT, "of at most 64 sentences");
  s.prompts = of_one;
  s.templates = places;
  refuse (&s, SL_ERROR_OPEN, "/none");
  s.prompts = "catcat";
  refuse (&s, SL_ERROR_LIMIT, "the text is longer than 32768 bytes");
  classes[strlen (classes) - 1] = '\0';
  templates[strlen (templates) - 1] = '\0';
  s.prompts = classes;
  s.templates = templates;
  refuse (&s, SL_ERROR_OPEN, "/none");
  g_autofree char *more = g_strconcat (templates, ";{}", NULL);
  s.templates = more;
  refuse (&s, SL_ERROR_LIMIT,
          "prompts: more than 16384 sentences, with their templates; expected fewer classes, "
          "sentences or templates");
  files_clear (&files);
}

static void
test_refused (void)
{
  Files files;
  files_new (&files, SMALL, LENGTH, TOKENS, SL_ONNX_INT64);
  SlModelSettings s = { .text_model = files.model, .tokenizer = files.tokens };
  refuse (&s, SL_ERROR_ARGUMENT,
          "prompts is not stated; expected text-model=FILE, tokenizer=FILE and "
          "prompts=SENTENCE;SENTENCE together, or embeddings=FILE.npy");
  refuse (&(SlModelSettings){ .prompts = "cat;!dog" }, SL_ERROR_ARGUMENT,
          "prompts=cat;!dog: prompts alone name the classes that a model has, in its order; "
          "expected none with '!' before it");
  s.prompts = "cat;;dog";
  refuse (&s, SL_ERROR_ARGUMENT,
          "prompts=cat;;dog: expected 1 to 1000 classes with ';' between, each a sentence or "
          "NAME=SENTENCE|SENTENCE of at most 64 sentences, and '!' before a class that is not "
          "reported; at least one without '!'");
  s.prompts = "!red;!blue";
  refuse (&s, SL_ERROR_ARGUMENT, "that is not reported; at least one without '!'");
  s.prompts = "cat";
  s.templates = "a photo";
  refuse (&s, SL_ERROR_ARGUMENT,
          "templates=a photo: expected 1 to 64 texts with ';' between, and {} in each for the "
          "sentence");
  s.templates = NULL;
  s.tokenizer = NULL;
  refuse (&s, SL_ERROR_ARGUMENT, "tokenizer is not stated");
  s.tokenizer = files.model;
  refuse (&s, SL_ERROR_FORMAT, "tokenizer: ");
  s.tokenizer = files.tokens;
  s.text_model = files.tokens;
  refuse (&s, SL_ERROR_FORMAT, "text-model: ");
  files_clear (&files);
}

/* Without a text model, sentences are for the model itself. */
static void
test_texts (void)
{
  Files files;
  SlWordVectors words = { 0 };
  g_autoptr (SlLabels) labels = NULL;
  g_autoptr (SlPromptTexts) texts = NULL;
  files_new (&files, SMALL, LENGTH, TOKENS, SL_ONNX_INT64);
  const SlModelSettings settings = { .tokenizer = files.tokens,
                                     .prompts = "!red;cat|dog",
                                     .templates = "a photo {};{}" };
  g_assert_true (sl_prompts_encode (&settings, &words, &texts, &labels, NULL));
  g_assert_null (words.numbers);
  g_assert_cmpuint (words.n, ==, 2);
  g_assert_cmpuint (words.shown, ==, 1);
  g_assert_cmpuint (texts->texts->len, ==, 6);
  g_assert_cmpstr (g_ptr_array_index (texts->texts, 2), ==, "a photo dog");
  g_assert_cmpuint (g_array_index (texts->classes, guint, 3), ==, 0);
  g_assert_cmpuint (g_array_index (texts->classes, guint, 4), ==, 1);
  g_assert_cmpint (sl_prompt_texts_dim (texts, FALSE, 0), ==, 6);
  g_assert_cmpint (sl_prompt_texts_dim (texts, FALSE, 1), ==, 3);
  files_clear (&files);
}

/* A model whose input is a picture, and one whose output is no vector. */
static void
test_other_models (void)
{
  Files files;
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13), pixels = sl_onnx_writer_new (13);
  files_new (&files, SMALL, LENGTH, TOKENS, SL_ONNX_INT64);
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (gint64[]){ 1, TOKENS });
  sl_onnx_writer_floats (w, "table", 2, (gint64[]){ SMALL, LENGTH }, files.table);
  sl_onnx_writer_node (w, "Gather", "table,input_ids", "rows", NULL);
  sl_onnx_writer_output (w, "rows", SL_ONNX_FLOAT);
  sl_onnx_writer_input (pixels, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, 8, 8 });
  sl_onnx_writer_node (pixels, "Relu", "x", "y", NULL);
  sl_onnx_writer_output (pixels, "y", SL_ONNX_FLOAT);
  const struct
  {
    SlOnnxWriter *writer;
    const char *message;
  } rows[] = {
    { w, "expected a text model with an output of one vector of floats, such as float32[1,512], "
         "got " },
    { pixels,
      "expected a text model whose inputs are int64 or int32 [1,N], got 'x' float32[1,3,8,8]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GBytes) bytes = sl_onnx_writer_finish (rows[i].writer);
    g_autofree char *path =
      write_temp ("other.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
    refuse (&(SlModelSettings){ .text_model = path, .tokenizer = files.tokens, .prompts = "cat" },
            SL_ERROR_SHAPE, rows[i].message);
    sl_tflite_remove_temp (path);
  }
  files_clear (&files);
}

/* (transfer full): the path of a text model of open length: the row of the first token; @whole: and
 * the mean of those of all. */
static char *
write_open_model (const gfloat *table, gboolean whole)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (gint64[]){ 1, 0 });
  sl_onnx_writer_floats (w, "table", 2, (gint64[]){ SMALL, LENGTH }, table);
  sl_onnx_writer_ints (w, "zero", 1, (gint64[]){ 0 });
  sl_onnx_writer_ints (w, "one", 1, (gint64[]){ 1 });
  sl_onnx_writer_node (w, "Gather", "table,input_ids", "rows", NULL);
  sl_onnx_writer_node (w, "Slice", "rows,zero,one,one", "first", NULL);
  sl_onnx_writer_node (w, "ReduceMean", "first", "begin", "axes I 1", "keepdims i 0", NULL);
  sl_onnx_writer_node (w, "ReduceMean", "rows", "mean", "axes I 1", "keepdims i 0", NULL);
  sl_onnx_writer_node (w, "Add", whole ? "begin,mean" : "begin,begin", "text_embeds", NULL);
  sl_onnx_writer_output (w, "text_embeds", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  return write_temp ("open.onnx", g_bytes_get_data (bytes, NULL),
                     (gssize) g_bytes_get_size (bytes));
}

/* A model that padding does not change runs on the tokens of the longest sentence alone. */
static void
test_length (void)
{
  const struct
  {
    gboolean whole;
    const char *text;
    guint tokens;
  } rows[] = { { FALSE, "cat", 8 },
               { FALSE, "a red cat a red cat a red cat", 16 },
               { FALSE, "cat cat cat cat cat cat cat cat", 16 },
               { TRUE, "cat", 40 } };
  g_autoptr (GString) longer = g_string_new (tokenizer);
  g_string_replace (longer, "max_length\":8", "max_length\":40", 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new_static (longer->str, longer->len);
  g_autoptr (SlTokenizer) tokens = sl_tokenizer_parse (bytes, NULL, &error);
  g_assert_no_error (error);
  Files files;
  files_new (&files, SMALL, LENGTH, TOKENS, SL_ONNX_INT64);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = write_open_model (files.table, rows[i].whole);
    g_autoptr (GPtrArray) texts = g_ptr_array_new ();
    g_ptr_array_add (texts, (gpointer) "cat");
    g_ptr_array_add (texts, (gpointer) rows[i].text);
    g_autoptr (SlTextEncoder) encoder = sl_text_encoder_new (path, tokens, texts, 1, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_text_encoder_tokens (encoder), ==, rows[i].tokens);
    g_assert_cmpuint (sl_text_encoder_length (encoder), ==, LENGTH);
    sl_tflite_remove_temp (path);
  }
  files_clear (&files);
}

static void
test_memory (void)
{
#ifdef TEST_ADDRESS_SANITIZER
  g_test_skip ("the sanitizer keeps what was freed");
#else
  Files files;
  files_new (&files, LARGE, WIDE, TOKENS, SL_ONNX_INT64);
  const SlModelSettings settings = { .text_model = files.model,
                                     .tokenizer = files.tokens,
                                     .prompts = "cat;dog" };
  SlWordVectors words = { 0 };
  g_autoptr (SlLabels) labels = NULL;
  g_autoptr (SlPromptTexts) texts = NULL;
  const gsize before = resident_bytes ();
  g_assert_true (sl_prompts_encode (&settings, &words, &texts, &labels, NULL));
  const gsize after = resident_bytes ();
  g_test_message ("%.1f MB before, %.1f MB after", (double) before / 1e6, (double) after / 1e6);
  g_assert_cmpuint (after, <, before + LEFT_BYTES);
  g_free (words.numbers);
  files_clear (&files);
#endif
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/prompts/vectors", test_vectors);
  g_test_add_func ("/models/prompts/refused", test_refused);
  g_test_add_func ("/models/prompts/large", test_large);
  g_test_add_func ("/models/prompts/texts", test_texts);
  g_test_add_func ("/models/prompts/other-models", test_other_models);
  g_test_add_func ("/models/prompts/length", test_length);
  g_test_add_func ("/models/prompts/memory", test_memory);
  return g_test_run ();
}
