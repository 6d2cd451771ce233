/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vectors: embeddings of length 1, values with names, and what is refused. */
#include <math.h>

#include "tests/postprocess/support.h"

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
  g_assert_nonnull (strstr (sl_decoding_note (decoding), "features are an embedding, given with length 1"));
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
  g_autoptr (SlDecoding) named = open_vector ("vector,names=yaw, pitch,units=degrees,scale=9,offset=1", &config);
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
  assert_open_fails ("vector,names=a,b,c", &config, SL_ERROR_ARGUMENT,
                     "decoder parameter names: expected 2 words with ',' between, one a number of the tensor, got 3");
  assert_open_fails ("vector,names=a", &config, SL_ERROR_ARGUMENT, "one a number of the tensor, got 1");
  assert_open_fails ("vector,units=a,b,c", &config, SL_ERROR_ARGUMENT, "one a number of the tensor, or one for all, got 3");
  assert_open_fails ("vector,kind=face", &config, SL_ERROR_ARGUMENT, "values, embedding");
  assert_open_fails ("vector,scale=inf", &config, SL_ERROR_ARGUMENT, "scale");
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2), 0, 0);
  assert_open_fails ("vector", &config, SL_ERROR_SHAPE, "expected one tensor of uint8, int8 or float32 with one dimension other than 1");
  config = vector_config (SL_DTYPE_F32, 65537, 0, 0, SL_VALUES_UNKNOWN);
  assert_open_fails ("vector", &config, SL_ERROR_SHAPE, "at most 65536 numbers");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_vector/embedding", test_embedding);
  g_test_add_func ("/decode_vector/estimates", test_estimates);
  g_test_add_func ("/decode_vector/values", test_values);
  g_test_add_func ("/decode_vector/refused", test_refused);
  return g_test_run ();
}
