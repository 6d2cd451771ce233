/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detectors that take embeddings of classes as an input: products of a picture's mean colour and
 * the embeddings, against double; embeddings of files; and what is refused.
 */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define LENGTH 3
#define SIDE 2
#define MOST 5
#define LARGE 40000
#define WIDE 256
/* What may be left of a table of 40 MB. */
#define LEFT_BYTES (8 << 20)

static const gfloat rows[MOST * LENGTH] = { 1, 2, 3, -1, 0.5f, 2, 0, 0, 4, 3, -2, 1, 1, 1, 1 };

/* (transfer full): the path of the model that @w has written. */
static char *
save (const SlOnnxWriter *w, const char *name)
{
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  return write_temp (name, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
}

/* (transfer full): the path of a model: mean colours of "x" times "e" [1,classes,3], times "mask".
 * @room: 0 = open. */
static char *
write_detector (guint room, gboolean masked)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  if (masked)
    sl_onnx_writer_input (w, "mask", SL_ONNX_INT64, 2, (gint64[]){ 1, room });
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, SIDE, SIDE });
  sl_onnx_writer_input (w, "e", SL_ONNX_FLOAT, 3, (gint64[]){ 1, room, LENGTH });
  sl_onnx_writer_ints (w, "column", 3, (gint64[]){ 1, LENGTH, 1 });
  sl_onnx_writer_ints (w, "row", 2, (gint64[]){ 1, -1 });
  sl_onnx_writer_node (w, "GlobalAveragePool", "x", "means", NULL);
  sl_onnx_writer_node (w, "Reshape", "means,column", "colours", NULL);
  sl_onnx_writer_node (w, "MatMul", "e,colours", "products", NULL);
  sl_onnx_writer_node (w, "Reshape", "products,row", masked ? "all" : "y", NULL);
  if (masked) {
    sl_onnx_writer_node (w, "Cast", "mask", "float_mask", "to i 1", NULL);
    sl_onnx_writer_node (w, "Mul", "all,float_mask", "y", NULL);
  }
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  return save (w, "detector.onnx");
}

/* (transfer full): a .npy file of the first @n rows, in version @version of the format. */
static char *
write_rows (guint n, gboolean halves, guint8 version)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree char *header =
    g_strdup_printf ("{'descr': '%s', 'fortran_order': False, 'shape': (%u, %d), }\n",
                     halves ? "<f2" : "<f4", n, LENGTH);
  const guint8 length = (guint8) strlen (header);
  const guint8 start[12] = { 0x93, 'N', 'U', 'M', 'P', 'Y', version, 0, length, 0, 0, 0 };
  g_byte_array_append (bytes, start, version == 1 ? 10 : 12);
  g_byte_array_append (bytes, (const guint8 *) header, length);
  for (guint i = 0; i < n * LENGTH; i++) {
    const guint16 half = sl_half_from_float (rows[i]);
    g_byte_array_append (bytes, halves ? (const guint8 *) &half : (const guint8 *) &rows[i],
                         halves ? sizeof half : sizeof rows[i]);
  }
  return write_temp ("rows.npy", (const char *) bytes->data, (gssize) bytes->len);
}

static SlModel *
load (const char *path, const SlModelSettings *settings)
{
  g_autoptr (GError) error = NULL;
  SlModel *model = sl_model_load (path, settings, &error);
  g_assert_no_error (error);
  return model;
}

/* Runs @model on one picture: product @k is that of row @of[k], 0 for -1. */
static void
expect_products (SlModel *model, guint n, const gint *of)
{
  static const gfloat means[] = { 0.5f, -1, 2 };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  const SlContract *contract = sl_model_contract (model);
  g_assert_cmpuint (contract->n_inputs, ==, 1);
  g_assert_cmpstr (contract->inputs[0].name, ==, "x");
  g_assert_cmpuint (contract->outputs[0].bytes, ==, n * sizeof (gfloat));
  gfloat *input = sl_tensor_buffer_new (contract->inputs[0].bytes),
         *output = sl_tensor_buffer_new (contract->outputs[0].bytes);
  const gboolean planes = contract->inputs[0].dims[1] == 3;
  for (guint i = 0; i < 3 * SIDE * SIDE; i++)
    input[i] = means[planes ? i / (SIDE * SIDE) : i % 3];
  g_assert_cmpint (sl_session_run (session, (const void *[]){ input }, (void *[]){ output }), ==,
                   SL_STATUS_OK);
  for (guint k = 0; k < n; k++) {
    double product = 0;
    for (guint c = 0; c < LENGTH && of[k] >= 0; c++)
      product += (double) rows[of[k] * LENGTH + c] * (double) means[c];
    g_assert_cmpfloat_with_epsilon ((double) output[k], product, 1e-5);
  }
  sl_tensor_buffer_free (input);
  sl_tensor_buffer_free (output);
}

static void
remove_path (char *path)
{
  sl_tflite_remove_temp (path);
  g_free (path);
}

static void
test_products (void)
{
  char *open = write_detector (0, FALSE), *fixed = write_detector (MOST, FALSE),
       *masked = write_detector (MOST, TRUE), *three = write_rows (3, FALSE, 1),
       *halves = write_rows (3, TRUE, 2);
  const SlModelSettings names = { .embeddings = three, .prompts = "cat;!dog;door" },
                        nameless = { .embeddings = halves };
  g_autoptr (SlModel) first = load (open, &names);
  const SlContract *contract = sl_model_contract (first);
  expect_products (first, 3, (gint[]){ 0, 2, 1 }); /* negative classes are the last ones */
  g_assert_cmpuint (contract->words.n, ==, 3);
  g_assert_cmpuint (contract->words.shown, ==, 2);
  g_assert_null (contract->words.numbers);
  g_assert_cmpstr (sl_labels_get (contract->labels, 1), ==, "door");
  g_assert_cmpstr (sl_labels_get (contract->labels, 2), ==, "dog");
  g_assert_null (contract->decoder);
  g_autoptr (SlModel) second = load (open, &nameless);
  expect_products (second, 3, (gint[]){ 0, 1, 2 });
  g_assert_null (sl_model_contract (second)->labels);
  g_autoptr (SlModel) filled = load (fixed, &names);
  expect_products (filled, MOST, (gint[]){ 0, 2, 1, 1, 1 });
  g_assert_cmpuint (sl_labels_count (sl_model_contract (filled)->labels), ==, MOST);
  g_autoptr (SlModel) without = load (masked, &names);
  expect_products (without, MOST, (gint[]){ 0, 2, 1, -1, -1 });
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_model_batch_graph (filled, 2, &error));
  expect_error (&error, SL_ERROR_UNSUPPORTED,
                "inputs are fixed (fixed-inputs), which have no batch", NULL);
  remove_path (open);
  remove_path (fixed);
  remove_path (masked);
  remove_path (three);
  remove_path (halves);
}

/* Models of one old file: those of the same classes share a graph. */
static void
test_shared (void)
{
  char *path = write_detector (0, FALSE), *two = write_rows (2, FALSE, 1),
       *three = write_rows (3, FALSE, 1);
  sl_tflite_make_old (path);
  const SlModelSettings of_two = { .embeddings = two }, of_three = { .embeddings = three };
  g_autoptr (SlModel) first = load (path, &of_two);
  g_autoptr (SlModel) second = load (path, &of_three);
  g_autoptr (SlModel) third = load (path, &of_two);
  g_assert_true (sl_model_graph (first) == sl_model_graph (third));
  g_assert_true (sl_model_graph (first) != sl_model_graph (second));
  expect_products (second, 3, (gint[]){ 0, 1, 2 });
  expect_products (third, 2, (gint[]){ 0, 1 });
  remove_path (path);
  remove_path (two);
  remove_path (three);
}

static void
refuse (const char *path, const SlModelSettings *settings, SlError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_model_load (path, settings, &error));
  expect_error (&error, code, message, NULL);
}

static void
test_refused (void)
{
  static const gfloat zeros[LENGTH] = { 0 };
  char *model = write_detector (2, FALSE), *three = write_rows (3, FALSE, 1),
       *text = write_temp ("rows.npy", "none of these", -1), *array = NULL;
  SlModelSettings s = { .embeddings = three };
  refuse (model, &s, SL_ERROR_SHAPE,
          "prompts: 3 classes are stated, and input 'e' has room for 2; expected no more, or a "
          "model that leaves their number open");
  s.prompts = "cat;dog";
  refuse (model, &s, SL_ERROR_ARGUMENT,
          "rows.npy has 3 rows, and prompts=cat;dog names 2 classes; expected a name for each row, "
          "in their order");
  s.prompts = "!cat;!dog;!door";
  refuse (model, &s, SL_ERROR_ARGUMENT, "'!' before a class that is not reported");
  s = (SlModelSettings){ .embeddings = three, .tokenizer = text };
  refuse (model, &s, SL_ERROR_ARGUMENT,
          "comes with a text model; expected embeddings=FILE.npy, or");
  s = (SlModelSettings){ .embeddings = text };
  refuse (model, &s, SL_ERROR_FORMAT, "embeddings: ");
  s.embeddings = "/none/of.npy";
  refuse (model, &s, SL_ERROR_OPEN, "embeddings: /none/of.npy: ");
  char *content = NULL;
  gsize length = 0;
  g_assert_true (g_file_get_contents (three, &content, &length, NULL));
  memcpy (content + length - sizeof zeros, zeros, sizeof zeros);
  array = write_temp ("zeros.npy", content, (gssize) length);
  s.embeddings = array;
  refuse (model, &s, SL_ERROR_FORMAT,
          "row 2 has no direction; expected finite numbers that are not all 0");
  remove_path (array);
  memcpy (strstr (content + 10, "<f4"), "<i4", 3);
  array = write_temp ("whole.npy", content, (gssize) length);
  s.embeddings = array;
  refuse (model, &s, SL_ERROR_SHAPE,
          "expected float32 or float16 [classes,length], 1 to 1000 classes, got ");
  g_free (content);
  remove_path (array);
  remove_path (model);
  remove_path (three);
  remove_path (text);
}

/* Each bad file of embeddings is the right one with some bytes replaced. */
static void
test_embeddings_refused (void)
{
  static const struct
  {
    const char *old, *new, *message;
    SlError code;
  } bad[] = {
    { "False, ", "True,  ", "the first dimension changes fastest (fortran_order)",
      SL_ERROR_FORMAT },
    { "<f4", ">f4", "numbers of a type that is not read", SL_ERROR_FORMAT },
    { "<f4", "|O1", "numbers of a type that is not read", SL_ERROR_FORMAT },
    { "(3, 3)", "(3, 9)", "expected 108 bytes for float32[3,9], got 36", SL_ERROR_FORMAT },
    { "(3, 3)", "(9,)  ", "[classes,length], 1 to 1000 classes, got float32[9]", SL_ERROR_SHAPE },
    { "(3, 3)", "(9, 1)", "[classes,length], 1 to 1000 classes, got float32[9,1]", SL_ERROR_SHAPE },
    { "(3, 3)", "(-3,3)", "a shape that is not read", SL_ERROR_FORMAT }
  };
  char *model = write_detector (0, FALSE), *three = write_rows (3, FALSE, 1);
  g_autofree char *content = NULL;
  gsize length = 0;
  g_assert_true (g_file_get_contents (three, &content, &length, NULL));
  for (guint i = 0; i <= G_N_ELEMENTS (bad); i++) {
    g_autofree char *bytes = g_memdup2 (content, length);
    const gfloat nan = NAN;
    if (i < G_N_ELEMENTS (bad))
      memcpy (strstr (bytes + 10, bad[i].old), bad[i].new, strlen (bad[i].new));
    else
      memcpy (bytes + length - sizeof nan, &nan, sizeof nan);
    char *array = write_temp ("bad.npy", bytes, (gssize) length);
    const SlModelSettings s = { .embeddings = array };
    refuse (model, &s, i < G_N_ELEMENTS (bad) ? bad[i].code : SL_ERROR_FORMAT,
            i < G_N_ELEMENTS (bad) ? bad[i].message : "row 2 has no direction");
    remove_path (array);
  }
  remove_path (model);
  remove_path (three);
}

static const char tokenizer[] =
  "{\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"padding\":{\"strategy\":{\"Fixed\":8},"
  "\"pad_id\":0},\"truncation\":{\"max_length\":8},\"model\":{\"type\":\"WordPiece\","
  "\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"cat\":1,\"dog\":2,\"red\":3,\".\":4,\"!\":5}}}";

/* (transfer full): the path of a model whose first numbers are the tokens that it is given: one row
 * of them, plus their types, or @n rows. */
static char *
write_token_model (gint64 n, gint64 tokens, gboolean captioned)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (gint64[]){ n, tokens });
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, SIDE, SIDE });
  if (captioned)
    sl_onnx_writer_input (w, "token_type_ids", SL_ONNX_INT64, 2, (gint64[]){ n, tokens });
  sl_onnx_writer_node (w, "Cast", "input_ids", "numbers", "to i 1", NULL);
  sl_onnx_writer_node (w, "ReduceMax", "x", "most", "keepdims i 0", NULL);
  sl_onnx_writer_node (w, "Mul", "numbers,most", captioned ? "sums" : "y", NULL);
  if (captioned) {
    sl_onnx_writer_node (w, "Cast", "token_type_ids", "types", "to i 1", NULL);
    sl_onnx_writer_node (w, "Add", "sums,types", "y", NULL);
  }
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  return save (w, "tokens.onnx");
}

/* The @n numbers that @model gives for a picture of ones, and the class of each column. */
static void
expect_tokens (SlModel *model, guint n, const gint *ids, guint n_columns, const gint32 *columns)
{
  const SlContract *contract = sl_model_contract (model);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  g_assert_cmpuint (contract->n_inputs, ==, 1);
  g_assert_cmpstr (contract->inputs[0].name, ==, "x");
  gfloat *input = sl_tensor_buffer_new (contract->inputs[0].bytes),
         *output = sl_tensor_buffer_new (contract->outputs[0].bytes);
  for (guint i = 0; i < 3 * SIDE * SIDE; i++)
    input[i] = 1;
  g_assert_cmpuint (contract->outputs[0].bytes, ==, n * sizeof (gfloat));
  g_assert_cmpint (sl_session_run (session, (const void *[]){ input }, (void *[]){ output }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat (output[i], ==, (gfloat) ids[i]);
  g_assert_cmpmem (contract->words.columns, contract->words.n_columns * sizeof (gint32), columns,
                   n_columns * sizeof (gint32));
  sl_tensor_buffer_free (input);
  sl_tensor_buffer_free (output);
}

/* A row of tokens for each sentence, in one more row than there are; and a caption of all. */
static void
test_tokens (void)
{
  char *open = write_token_model (0, 0, FALSE), *fixed = write_token_model (4, 3, FALSE),
       *caption = write_token_model (0, 0, TRUE), *tokens = write_temp ("t.json", tokenizer, -1);
  const SlModelSettings s = { .tokenizer = tokens, .prompts = "!dog;pet=red cat|dog" };
  const gint three[] = { 3, 1, 2, 0, 2, 0 }, filled[] = { 3, 1, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0 },
             joined[] = { 3, 1, 4, 2, 4, 2, 4 };
  g_autoptr (SlModel) first = load (open, &s);
  expect_tokens (first, 6, three, 3, (gint32[]){ 0, 0, 1 });
  g_autoptr (SlModel) second = load (fixed, &s);
  expect_tokens (second, 12, filled, 4, (gint32[]){ 0, 0, 1, -1 });
  g_autoptr (SlModel) third = load (caption, &s);
  expect_tokens (third, 7, joined, 7, (gint32[]){ 0, 0, -1, 0, -1, 1, -1 });
  g_assert_cmpuint (sl_model_contract (third)->words.shown, ==, 1);
  remove_path (open);
  remove_path (fixed);
  remove_path (caption);
  remove_path (tokens);
}

/* Layers of a text model inside, whose input is constant: a product of floats with SIMD loops, and
 * its sum with a bias. */
static void
test_layers (void)
{
  const gint64 table_dims[2] = { 6, WIDE }, dims[2] = { WIDE, WIDE };
  g_autofree gfloat *table = g_new (gfloat, 6 * WIDE), *weights = g_new (gfloat, WIDE * WIDE),
                    *bias = g_new (gfloat, WIDE);
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  for (guint i = 0; i < WIDE * WIDE; i++)
    weights[i] = (gfloat) g_rand_double_range (random, -1, 1);
  for (guint i = 0; i < 6 * WIDE; i++)
    table[i] = (gfloat) g_rand_double_range (random, -1, 1);
  for (guint i = 0; i < WIDE; i++)
    bias[i] = (gfloat) i;
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (gint64[]){ 0, 0 });
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, SIDE, SIDE });
  sl_onnx_writer_floats (w, "table", 2, table_dims, table);
  sl_onnx_writer_floats (w, "weights", 2, dims, weights);
  sl_onnx_writer_floats (w, "bias", 1, dims, bias);
  sl_onnx_writer_node (w, "Gather", "table,input_ids", "words", NULL);
  sl_onnx_writer_node (w, "MatMul", "words,weights", "products", NULL);
  sl_onnx_writer_node (w, "Add", "products,bias", "sums", NULL);
  sl_onnx_writer_node (w, "ReduceMax", "x", "most", "keepdims i 0", NULL);
  sl_onnx_writer_node (w, "Mul", "sums,most", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  char *path = save (w, "layers.onnx"), *tokens = write_temp ("t.json", tokenizer, -1);
  const SlModelSettings s = { .tokenizer = tokens, .prompts = "red cat;dog" };
  const guint ids[] = { 3, 1, 2, 0 };
  g_autoptr (SlModel) model = load (path, &s);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  for (guint i = 0; i < sl_graph_n_nodes (sl_model_graph (model)); i++)
    g_assert_cmpint (sl_graph_node (sl_model_graph (model), i)->op, !=, SL_OP_FULLY_CONNECTED);
  const gfloat input[3 * SIDE * SIDE] = { 1 };
  g_autofree gfloat *output = g_new (gfloat, 4 * WIDE);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ input }, (void *[]){ output }), ==,
                   SL_STATUS_OK);
  for (guint r = 0; r < 4; r++)
    for (guint c = 0; c < WIDE; c++) {
      double sum = (double) bias[c];
      for (guint k = 0; k < WIDE; k++)
        sum += (double) table[ids[r] * WIDE + k] * (double) weights[k * WIDE + c];
      g_assert_cmpfloat_with_epsilon ((double) output[r * WIDE + c], sum, 1e-4);
    }
  remove_path (path);
  remove_path (tokens);
}

/* What a text model inside was computed of is not in memory once the model is loaded. */
static void
test_memory (void)
{
#ifdef TEST_ADDRESS_SANITIZER
  g_test_skip ("the sanitizer keeps what was freed");
#else
  const gint64 dims[2] = { LARGE, WIDE };
  g_autofree gfloat *table = g_new (gfloat, LARGE * WIDE);
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  for (guint i = 0; i < LARGE * WIDE; i++)
    table[i] = (gfloat) (i % 1000);
  sl_onnx_writer_input (w, "input_ids", SL_ONNX_INT64, 2, (gint64[]){ 0, 0 });
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, SIDE, SIDE });
  sl_onnx_writer_floats (w, "table", 2, dims, table);
  sl_onnx_writer_node (w, "Gather", "table,input_ids", "words", NULL);
  sl_onnx_writer_node (w, "ReduceMax", "x", "most", "keepdims i 0", NULL);
  sl_onnx_writer_node (w, "Mul", "words,most", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  char *path = save (w, "large.onnx"), *tokens = write_temp ("t.json", tokenizer, -1);
  const SlModelSettings s = { .tokenizer = tokens, .prompts = "cat;dog" };
  const gsize before = resident_bytes ();
  g_autoptr (SlModel) model = load (path, &s);
  g_assert_nonnull (model);
  const gsize after = resident_bytes ();
  g_test_message ("%.1f MB before, %.1f MB after", (double) before / 1e6, (double) after / 1e6);
  g_assert_cmpuint (after, <, before + LEFT_BYTES);
  remove_path (path);
  remove_path (tokens);
#endif
}

static void
test_tokens_refused (void)
{
  char *few = write_token_model (1, 3, FALSE), *small = write_token_model (1, 2, TRUE),
       *other = write_detector (2, FALSE), *tokens = write_temp ("t.json", tokenizer, -1);
  const SlModelSettings s = { .tokenizer = tokens, .prompts = "cat;dog" };
  refuse (few, &s, SL_ERROR_SHAPE,
          "prompts: 2 sentences are stated, and the model has room for 1; expected no more, or a "
          "model that leaves their number open");
  refuse (
    small, &s, SL_ERROR_LIMIT,
    "prompts: 'cat. dog.' is 4 tokens, and the model has room for 2; expected fewer or shorter "
    "sentences");
  refuse (other, &s, SL_ERROR_ARGUMENT,
          "text-model is not stated; expected text-model=FILE, tokenizer=FILE and "
          "prompts=SENTENCE;SENTENCE together, or a model with the input 'input_ids'");
  remove_path (few);
  remove_path (small);
  remove_path (other);
  remove_path (tokens);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/words/products", test_products);
  g_test_add_func ("/models/words/shared", test_shared);
  g_test_add_func ("/models/words/refused", test_refused);
  g_test_add_func ("/models/words/embeddings-refused", test_embeddings_refused);
  g_test_add_func ("/models/words/tokens", test_tokens);
  g_test_add_func ("/models/words/layers", test_layers);
  g_test_add_func ("/models/words/memory", test_memory);
  g_test_add_func ("/models/words/tokens-refused", test_tokens_refused);
  return g_test_run ();
}
