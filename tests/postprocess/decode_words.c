/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings of pictures beside those of sentences, against double. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define LENGTH 4
#define CLASSES 3

static gfloat sentences[CLASSES * LENGTH] = { 1, 0, 0, 0, 0.6f, 0.8f, 0, 0, 0, 0, 0.8f, -0.6f };
static const SlWordVectors words = { CLASSES, LENGTH, sentences };
static const char *const names[] = { "a cat", "a dog", "a door" };
static const gfloat picture[LENGTH] = { 3, 1, 0.5f, -2 };

static SlDecoderConfig
new_config (void)
{
  SlDecoderConfig config = { .max_results = 10,
                             .threshold = SL_OWN_THRESHOLD,
                             .words = &words,
                             .n_labels = CLASSES,
                             .first_label = names[0],
                             .label_names = names };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 7), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, LENGTH), 0, 0);
  return config;
}

static SlDecoding *
open_words (const char *decoder)
{
  g_autoptr (GError) error = NULL;
  SlDecoderConfig config = new_config ();
  SlDecoding *decoding = sl_decoding_new (decoder, &config, &error);
  g_assert_no_error (error);
  return decoding;
}

static double
logit_of (guint c, double scale, double bias)
{
  double product = 0, squares = 0;
  for (guint i = 0; i < LENGTH; i++) {
    product += (double) picture[i] * (double) sentences[c * LENGTH + i];
    squares += (double) picture[i] * (double) picture[i];
  }
  return product / sqrt (squares) * scale + bias;
}

static void
test_softmax (void)
{
  g_autoptr (SlDecoding) decoding = open_words ("words,scale=5");
  const gfloat other[7] = { 0 };
  const SlResult *result = sl_decoding_run (decoding, (const void *[]){ other, picture });
  double sum = 0;
  for (guint c = 0; c < CLASSES; c++)
    sum += exp (logit_of (c, 5, 0));
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, CLASSES);
  g_assert_cmpuint (result->n_classes, ==, CLASSES);
  for (guint i = 0; i < CLASSES; i++) {
    const SlClass *class = &result->classes[i];
    g_assert_cmpfloat_with_epsilon ((double) class->confidence,
                                    exp (logit_of ((guint) class->label_id, 5, 0)) / sum, 1e-6);
    g_assert_true (i == 0 || class->confidence <= class[-1].confidence);
  }
  g_assert_null (sl_decoding_note (decoding));
  g_autoptr (SlDecoding) untold = open_words ("words");
  g_assert_nonnull (strstr (sl_decoding_note (untold), "so it is CLIP's"));
}

static void
test_sigmoid (void)
{
  g_autoptr (SlDecoding) decoding =
    open_words ("words,activation=sigmoid,scale=4,bias=-2,threshold=0.2");
  const gfloat other[7] = { 0 };
  const SlResult *result = sl_decoding_run (decoding, (const void *[]){ other, picture });
  guint expected = 0;
  for (guint c = 0; c < CLASSES; c++)
    expected += 1 / (1 + exp (-logit_of (c, 4, -2))) >= 0.2;
  g_assert_cmpuint (result->n_classes, ==, expected);
  for (guint i = 0; i < result->n_classes; i++)
    g_assert_cmpfloat_with_epsilon (
      (double) result->classes[i].confidence,
      1 / (1 + exp (-logit_of ((guint) result->classes[i].label_id, 4, -2))), 1e-6);
}

static void
test_none (void)
{
  const gfloat other[7] = { 0 }, nothing[LENGTH] = { 0 }, broken[LENGTH] = { NAN, 1, 1, 1 };
  g_autoptr (SlDecoding) decoding = open_words ("words,scale=1,none-below=0.9");
  const SlResult *result = sl_decoding_run (decoding, (const void *[]){ other, picture });
  gboolean own = FALSE;
  g_assert_cmpuint (result->n_classes, ==, 1);
  g_assert_cmpint (result->classes[0].label_id, ==, CLASSES);
  g_assert_cmpstr (sl_decoding_names (decoding, &own)[CLASSES], ==, "none of these");
  g_assert_cmpstr (sl_decoding_names (decoding, &own)[1], ==, "a dog");
  g_assert_true (own);
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *[]){ other, nothing })->n_classes, ==,
                    0);
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *[]){ other, broken })->n_classes, ==,
                    0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config ();
  config.n_tensors = 1;
  assert_open_fails ("words", &config, SL_ERROR_SHAPE,
                     "a vector of 4 numbers, as many as the embeddings of the text model have");
  config = new_config ();
  config.words = NULL;
  assert_open_fails ("words", &config, SL_ERROR_SHAPE,
                     "classes as sentences: state text-model, tokenizer and prompts");
  config = new_config ();
  assert_open_fails ("words,none-below=2", &config, SL_ERROR_ARGUMENT, "none-below");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/postprocess/decode_words/softmax", test_softmax);
  g_test_add_func ("/postprocess/decode_words/sigmoid", test_sigmoid);
  g_test_add_func ("/postprocess/decode_words/none", test_none);
  g_test_add_func ("/postprocess/decode_words/refused", test_refused);
  return g_test_run ();
}
