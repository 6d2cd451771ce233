/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vectors: embeddings of length 1, values with names, and what is refused. */
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

static SlDecoderConfig
vector_config (SlDtype dtype, gint32 n, gfloat scale, gint32 zero_point, SlValueKind kind)
{
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 1 };
  config_add (&config, dtype, DIMS (1, n), scale, zero_point);
  config.tensors[0].values = kind;
  return config;
}

static SlDecoding *
open_vector (const char *name, const SlDecoderConfig *config)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "vector");
  return decoding;
}

static const SlVector *
run (SlDecoding *decoding, const void *numbers)
{
  const SlResult *result = sl_decoding_run (decoding, &numbers);
  g_assert_cmpuint (result->n_classes + result->n_detections, ==, 0);
  return &result->vector;
}

static void
test_embedding (void)
{
  static const gfloat numbers[16] = { 3, 0, 4 }, none[16] = { 0 }, odd[16] = { 1, INFINITY, NAN };
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 16, 0, 0, SL_VALUES_FEATURES);
  g_autoptr (SlDecoding) decoding = open_vector (NULL, &config);
  g_assert_nonnull (
    strstr (sl_decoding_note (decoding), "features are an embedding, given with length 1"));
  const SlVector *vector = run (decoding, numbers);
  g_assert_true (vector->is_embedding && vector->n == 16 && vector->names == NULL);
  g_assert_cmpfloat (vector->values[0], ==, 0.6f);
  g_assert_cmpfloat (vector->values[1], ==, 0);
  g_assert_cmpfloat (vector->values[2], ==, 0.8f);
  g_assert_cmpfloat (run (decoding, none)->values[1], ==, 0);
  vector = run (decoding, odd);
  g_assert_true (vector->values[0] == 1 && isinf (vector->values[1]) && isnan (vector->values[2]));
}

/* Few features, and those with a unit or a scale, are estimates. */
static void
test_estimates (void)
{
  static const gfloat numbers[16] = { 0.25f, 2 };
  static const char *const names[] = { "vector,units=years", "vector,scale=1", "vector,offset=0" };
  for (gint32 n = 1; n < 16; n += 7) {
    SlDecoderConfig few = vector_config (SL_DTYPE_F32, n, 0, 0, SL_VALUES_FEATURES);
    g_autoptr (SlDecoding) decoding = open_vector (NULL, &few);
    g_assert_nonnull (strstr (sl_decoding_note (decoding), "given as they are"));
    const SlVector *vector = run (decoding, numbers);
    g_assert_false (vector->is_embedding);
    g_assert_cmpfloat (vector->values[0], ==, 0.25f);
  }
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 16, 0, 0, SL_VALUES_FEATURES);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (SlDecoding) decoding = open_vector (names[i], &config);
    const SlVector *vector = run (decoding, numbers);
    g_assert_false (vector->is_embedding);
    g_assert_cmpfloat (vector->values[1], ==, 2);
  }
}

static void
test_values (void)
{
  static const guint8 codes[] = { 10, 30 };
  SlDecoderConfig config = vector_config (SL_DTYPE_U8, 2, 0.5f, 20, SL_VALUES_LOGITS);
  g_autoptr (SlDecoding) plain = open_vector (NULL, &config);
  g_assert_nonnull (strstr (sl_decoding_note (plain), "nothing says what the numbers mean"));
  const SlVector *vector = run (plain, codes);
  g_assert_false (vector->is_embedding);
  g_assert_cmpfloat (vector->values[0], ==, -5);
  g_assert_cmpfloat (vector->values[1], ==, 5);
  g_autoptr (SlDecoding) named =
    open_vector ("vector,names=yaw, pitch,units=degrees,scale=9,offset=1", &config);
  g_assert_null (sl_decoding_note (named));
  vector = run (named, codes);
  g_assert_cmpfloat (vector->values[0], ==, -44);
  g_assert_cmpfloat (vector->values[1], ==, 46);
  g_assert_cmpstr (vector->names[0], ==, "yaw");
  g_assert_cmpstr (vector->names[1], ==, "pitch");
  g_assert_cmpstr (vector->units[1], ==, "degrees");
  g_autoptr (SlDecoding) stated = open_vector ("vector,kind=embedding", &config);
  g_assert_true (run (stated, codes)->is_embedding);
}

static void
test_refused (void)
{
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 2, 0, 0, SL_VALUES_UNKNOWN);
  assert_open_fails (
    "vector,names=a,b,c", &config, SL_ERROR_ARGUMENT,
    "decoder parameter names: expected 2 words with ',' between, one a number of the vector, got "
    "3");
  assert_open_fails ("vector,names=a", &config, SL_ERROR_ARGUMENT,
                     "one a number of the vector, got 1");
  assert_open_fails ("vector,units=a,b,c", &config, SL_ERROR_ARGUMENT,
                     "one a number of the vector, or one for all, got 3");
  assert_open_fails ("vector,kind=face", &config, SL_ERROR_ARGUMENT, "values, embedding");
  assert_open_fails ("vector,scale=inf", &config, SL_ERROR_ARGUMENT, "scale");
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2), 0, 0);
  assert_open_fails (
    "vector", &config, SL_ERROR_SHAPE,
    "expected one tensor of uint8, int8 or float32 with one dimension other than 1");
  config = vector_config (SL_DTYPE_F32, 65537, 0, 0, SL_VALUES_UNKNOWN);
  assert_open_fails ("vector", &config, SL_ERROR_SHAPE, "at most 65536 numbers");
}

static char *
write_gallery (const char *text)
{
  char *path = NULL;
  g_close (g_file_open_tmp ("gallery-XXXXXX", &path, NULL), NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

/* Cosines by hand: with (3, 4) they are 0.6 and 0.8 along the axes, and 1 along itself. */
static void
test_gallery (void)
{
  static const gfloat numbers[] = { 3, 4 }, none[] = { 0, 0 }, odd[] = { NAN, 1 };
  g_autofree char *path = write_gallery (
    "{\"x\": [[5, 0], [-1, 0]], \"y \\u00e9\": [[0, 0.25]], \"back\": [[-3, -4]], \"self\": [[0, "
    "-1], [30, 40]]}");
  g_autofree char *all = g_strconcat ("vector,threshold=0.3,gallery=", path, NULL),
                  *few = g_strconcat ("vector,gallery=", path, NULL);
  const void *data = numbers, *zero = none, *broken = odd;
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 2, 0, 0, SL_VALUES_FEATURES);
  config.max_results = 5;
  gboolean own = FALSE;
  g_autoptr (SlDecoding) decoding = open_vector (all, &config);
  const char *const *names = sl_decoding_names (decoding, &own);
  g_assert_true (own && names[4] == NULL);
  g_assert_cmpstr (names[1], ==, "y \xc3\xa9");
  const SlResult *result = sl_decoding_run (decoding, &data);
  g_assert_cmpuint (result->n_classes, ==, 3);
  g_assert_cmpuint (result->vector.n, ==, 0);
  g_assert_cmpstr (names[result->classes[0].label_id], ==, "self");
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, 1, 1e-6);
  g_assert_cmpint (result->classes[1].label_id, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->classes[1].confidence, 0.8, 1e-6);
  g_assert_cmpfloat_with_epsilon (result->classes[2].confidence, 0.6, 1e-6);
  g_assert_cmpuint (sl_decoding_run (decoding, &zero)->n_classes, ==, 0);
  g_assert_cmpuint (sl_decoding_run (decoding, &broken)->n_classes, ==, 0);
  config.threshold = 0.7f;
  g_autoptr (SlDecoding) stricter = open_vector (few, &config);
  g_assert_cmpuint (sl_decoding_run (stricter, &data)->n_classes, ==, 2);
  config.threshold = 0;
  g_autoptr (SlDecoding) unstated = open_vector (few, &config);
  g_assert_cmpuint (sl_decoding_run (unstated, &data)->n_classes, ==, 3);
  g_unlink (path);
}

/* One product for many numbers, whose sums are made side by side: compared with double precision.
 */
static void
test_gallery_long (void)
{
  GString *text = g_string_new ("{\"a\": [[");
  gfloat numbers[131];
  double product = 0, squares = 0, of_numbers = 0;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    const double other = (i * 37) % 101 - 40.0;
    numbers[i] = (gfloat) ((i * 53) % 97) - 30;
    product += numbers[i] * other;
    squares += other * other;
    of_numbers += (double) numbers[i] * numbers[i];
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", (int) other);
  }
  g_string_append (text, "]]}");
  g_autofree char *path = write_gallery (text->str),
                  *name = g_strconcat ("vector,threshold=0,gallery=", path, NULL);
  const void *data = numbers;
  SlDecoderConfig config =
    vector_config (SL_DTYPE_F32, G_N_ELEMENTS (numbers), 0, 0, SL_VALUES_FEATURES);
  g_autoptr (SlDecoding) decoding = open_vector (name, &config);
  const SlResult *result = sl_decoding_run (decoding, &data);
  g_assert_cmpuint (result->n_classes, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence,
                                  product / sqrt (squares * of_numbers), 1e-5);
  g_string_free (text, TRUE);
  g_unlink (path);
}

static void
test_bad_gallery (void)
{
  g_autoptr (GString) many = g_string_new ("{\"a\": [[1, 2]");
  for (guint i = 0; i < 100000; i++)
    g_string_append (many, ",[1,2]");
  g_string_append (many, "]}");
  const struct
  {
    const char *text, *message;
  } cases[] = {
    { "", "line 1: expected an object, but the file ends" },
    { "hello",
      "line 1: expected an object, got 'hello'; expected a gallery: {\"NAME\": [[NUMBER, ...], "
      "...], ...}" },
    { "{}", "expected names, got none" },
    { "{\"anna\": []}", "'anna': expected a list of vectors, got none" },
    { "{\"anna\": [[1, 2, 3]]}",
      "'anna': expected vectors of 2 numbers, as the model's output has, got 3: was it made with "
      "another model?" },
    { "{\"anna\": [[1, 2]],\n\"ben\": [[1]]}",
      "line 2: 'ben': expected vectors of 2 numbers, as the model's output has, got 1" },
    { "{\"anna\": [1, 2]}", "expected a list, got a number" },
    { "{\"anna\": [[NaN, 2]]}", "expected a number, got 'NaN" },
    { "{\"anna\": [[1e60, 2]]}", "'anna': expected finite numbers, got 1e+60" },
    { "{\"anna\": [[0, 0]]}", "'anna': expected a vector with a direction, got zeros" },
    { "{\"anna\": [[1, 2]], \"anna\": [[1, 2]]}", "'anna' stands there twice" },
    { "{\"\": [[1, 2]]}", "expected a name for each list of vectors, got an empty one" },
    { "{\"anna\": [[1, 2]]} x", "more behind the end of the value" },
    { many->str, "more than 100000 vectors or 33554432 numbers" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = write_gallery (cases[i].text),
                    *name = g_strconcat ("vector,gallery=", path, NULL);
    SlDecoderConfig config = vector_config (SL_DTYPE_F32, 2, 0, 0, SL_VALUES_FEATURES);
    assert_open_fails (name, &config, SL_ERROR_FORMAT, cases[i].message);
    assert_open_fails (name, &config, SL_ERROR_FORMAT, path);
    g_unlink (path);
  }
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 2, 0, 0, SL_VALUES_FEATURES);
  assert_open_fails ("vector,gallery=/none.json", &config, SL_ERROR_OPEN,
                     "/none.json: no such file; expected a gallery, a JSON file");
  assert_open_fails ("vector,gallery=/", &config, SL_ERROR_OPEN,
                     "/: not a file; expected a gallery");
  g_autofree char *large = write_gallery (""),
                  *named = g_strconcat ("vector,gallery=", large, NULL);
  g_assert_cmpint (truncate (large, (256 << 20) + 1), ==, 0);
  assert_open_fails (named, &config, SL_ERROR_LIMIT,
                     ": expected a gallery of at most 256 MiB, got 268435457 bytes");
  g_unlink (large);
  assert_open_fails ("vector,gallery=/none.json,threshold=2", &config, SL_ERROR_ARGUMENT,
                     "decoder parameter threshold: expected a number 0..1");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_vector/embedding", test_embedding);
  g_test_add_func ("/decode_vector/estimates", test_estimates);
  g_test_add_func ("/decode_vector/values", test_values);
  g_test_add_func ("/decode_vector/refused", test_refused);
  g_test_add_func ("/decode_vector/gallery", test_gallery);
  g_test_add_func ("/decode_vector/gallery_long", test_gallery_long);
  g_test_add_func ("/decode_vector/bad_gallery", test_bad_gallery);
  return g_test_run ();
}
