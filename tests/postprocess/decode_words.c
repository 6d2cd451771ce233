/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings of pictures beside those of sentences, against double. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define LENGTH 4
#define CLASSES 3

static gfloat sentences[CLASSES * LENGTH] = { 1, 0, 0, 0, 0.6f, 0.8f, 0, 0, 0, 0, 0.8f, -0.6f };
static const SlWordVectors words = { CLASSES, CLASSES, LENGTH, sentences };
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

/* What a model with its text model inside gives: class 0 has sentences 0 and 2, class 1 sentence 1;
 * sentence 3 is of none. */
static SlWordVectors inside = { 2, 2, 0, NULL, 4, (gint32[]){ 0, 1, 0, -1 } };

static SlDecoderConfig
inside_config (const char *first, guint n, const char *second, guint width)
{
  SlDecoderConfig config = { .max_results = 10,
                             .threshold = SL_OWN_THRESHOLD,
                             .words = &inside,
                             .n_labels = 2,
                             .first_label = names[0],
                             .label_names = names };
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (4, (gint32) width), 0, 0);
  config.tensors[0].name = (char *) first;
  config.tensors[1].name = (char *) second;
  return config;
}

static void
expect_shares (const SlResult *result, const double *logits)
{
  const double sum = exp (logits[0]) + exp (logits[1]);
  g_assert_cmpuint (result->n_classes, ==, 2);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpfloat_with_epsilon ((double) result->classes[i].confidence,
                                    exp (logits[result->classes[i].label_id]) / sum, 1e-6);
}

/* A class has the highest logit of its sentences. */
static void
test_logits (void)
{
  SlDecoderConfig config = inside_config ("logits_per_image", 4, "logits_per_text", 1);
  const gfloat logits[] = { 1.5f, 2, 2.5f, 9 }, bad[] = { 1, NAN, 1, 1 }, turned[4] = { 0 };
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "words");
  g_assert_null (sl_decoding_note (decoding));
  expect_shares (sl_decoding_run (decoding, (const void *[]){ logits, turned }),
                 (double[]){ 2.5, 2 });
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *[]){ bad, turned })->n_classes, ==, 0);
  g_autoptr (SlDecoding) scaled = sl_decoding_new ("words,scale=2,bias=-1", &config, NULL);
  expect_shares (sl_decoding_run (scaled, (const void *[]){ logits, turned }), (double[]){ 4, 3 });
}

/* A class has the mean direction of its sentences. */
static void
test_embeddings (void)
{
  SlDecoderConfig config = inside_config ("image_embeds", LENGTH, "text_embeds", LENGTH);
  const gfloat texts[] = { 2, 0, 0, 0, 0, 0.5f, 0, -1, 0, 3, 4, 0, 7, 7, 7, 7 };
  const double means[2][LENGTH] = { { 1, 0.6, 0.8, 0 }, { 0, 0.5, 0, -1 } };
  double logits[2], squares = 0;
  for (guint i = 0; i < LENGTH; i++)
    squares += (double) picture[i] * (double) picture[i];
  for (guint c = 0; c < 2; c++) {
    double own = 0, product = 0;
    for (guint i = 0; i < LENGTH; i++) {
      own += means[c][i] * means[c][i];
      product += means[c][i] * (double) picture[i];
    }
    logits[c] = 3 * product / sqrt (own) / sqrt (squares);
  }
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("words,scale=3", &config, NULL);
  expect_shares (sl_decoding_run (decoding, (const void *[]){ picture, texts }), logits);
  config.tensors[1].dims[0] = 3;
  assert_open_fails ("words", &config, SL_ERROR_SHAPE,
                     "expected logits_per_image with a number for each of 4 sentences, or "
                     "image_embeds and text_embeds with a vector for each, got ");
}

/* A negative class takes its part of the softmax, and is not reported; nor is a box of it. */
static void
test_negative (void)
{
  const SlWordVectors two = { CLASSES, 2, LENGTH, sentences }, boxes_two = { CLASSES, 2, 0, NULL };
  const gfloat other[7] = { 0 };
  SlDecoderConfig config = new_config ();
  double sum = 0;
  config.words = &two;
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("words,scale=5", &config, NULL);
  const SlResult *result = sl_decoding_run (decoding, (const void *[]){ other, picture });
  for (guint c = 0; c < CLASSES; c++)
    sum += exp (logit_of (c, 5, 0));
  g_assert_cmpuint (result->n_classes, ==, 2);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpfloat_with_epsilon (
      (double) result->classes[i].confidence,
      exp (logit_of ((guint) result->classes[i].label_id, 5, 0)) / sum, 1e-6);
  /* Four queries: without a rival, beaten, not beaten, negative alone. */
  const gfloat logits[4 * CLASSES] = { 2, -9, -9, 2, -9, 3, 2, 1, 1.5f, -9, -9, 4 };
  const gfloat boxes[16] = { 0.5f, 0.5f, 0.2f, 0.2f, 0.5f, 0.5f, 0.2f, 0.2f,
                             0.5f, 0.5f, 0.2f, 0.2f, 0.5f, 0.5f, 0.2f, 0.2f };
  const gfloat near[16] = { 0.5f, 0.5f, 0.2f, 0.2f, 0.5f,  0.5f, 0.2f, 0.2f,
                            0.6f, 0.5f, 0.2f, 0.2f, 0.52f, 0.5f, 0.2f, 0.2f };
  SlDecoderConfig queries = { .max_results = 10, .threshold = 0.5f, .words = &boxes_two };
  config_add (&queries, SL_DTYPE_F32, DIMS (1, 4, CLASSES), 0, 0);
  config_add (&queries, SL_DTYPE_F32, DIMS (1, 4, 4), 0, 0);
  g_autoptr (SlDecoding) detr =
    sl_decoding_new ("detr,activation=sigmoid,iou-threshold=1", &queries, NULL);
  result = sl_decoding_run (detr, (const void *[]){ logits, boxes });
  g_assert_cmpuint (result->n_detections, ==, 2);
  g_assert_cmpint (result->detections[0].label_id, ==, 0);
  g_assert_cmpint (result->detections[1].label_id, ==, 0);
  /* A negative class may be the highest of every query. */
  const gfloat beaten[4 * CLASSES] = { -9, -9, 4, -9, -9, 4, -9, -9, 4, -9, -9, 4 };
  g_autoptr (SlDecoding) rival = sl_decoding_new ("detr", &queries, NULL);
  g_assert_cmpuint (sl_decoding_run (rival, (const void *[]){ beaten, boxes })->n_detections, ==,
                    0);
  g_assert_null (sl_decoding_contradiction (rival));
  /* Queries that are patches find an object together; those 0, 2 and 3 overlap by 1/3 and 9/11. */
  const gfloat seen[4 * CLASSES] = { 2, -9, -9, -9, -9, -9, 1, -9, -9, 1.5f, 1.2f, -9 };
  const struct
  {
    const char *decoder;
    guint n;
  } rows[] = { { "detr", 3 },
               { "detr,iou-threshold=0.3", 2 },
               { "detr,agnostic=yes", 2 },
               { "detr,iou-threshold=1", 4 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (SlDecoding) patches = sl_decoding_new (rows[i].decoder, &queries, NULL);
    result = sl_decoding_run (patches, (const void *[]){ seen, near });
    g_assert_cmpuint (result->n_detections, ==, rows[i].n);
  }
}

/* A class has the highest of its columns; boxes and logits are found among other tensors. */
static void
test_columns (void)
{
  gint32 columns[] = { -1, 0, 0, 1 };
  const SlWordVectors spans = {
    .n = 2, .shown = 2, .n_columns = G_N_ELEMENTS (columns), .columns = columns
  };
  const gfloat logits[2 * 5] = { 9, -1, 1, -2, -INFINITY, 9, -3, -2, 2, -INFINITY };
  const gfloat boxes[8] = { 0.5f, 0.5f, 0.2f, 0.2f, 0.3f, 0.3f, 0.2f, 0.2f }, other[4] = { 0 };
  SlDecoderConfig config = {
    .max_results = 10, .threshold = 0.5f, .words = &spans, .n_labels = 2, .label_names = names
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2, 5), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 4), 0, 0);
  config.tensors[0].name = (char *) "logits";
  config.tensors[1].name = (char *) "pred_boxes";
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "detr");
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, 2);
  const SlResult *result = sl_decoding_run (decoding, (const void *[]){ logits, boxes, other });
  g_assert_cmpuint (result->n_detections, ==, 2);
  g_assert_cmpint (result->detections[0].label_id, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 1 / (1 + exp (-2)), 1e-6);
  g_assert_cmpint (result->detections[1].label_id, ==, 0);
  g_assert_cmpfloat_with_epsilon (result->detections[1].confidence, 1 / (1 + exp (-1)), 1e-6);
  assert_open_fails ("detr,activation=softmax", &config, SL_ERROR_ARGUMENT,
                     "each class of prompts counts by itself; expected sigmoid or none");
}

/* Of rows of YOLO the best class counts, so a box whose best class is negative is none. */
static void
test_negative_yolo (void)
{
  const SlWordVectors two = { CLASSES, 2, 0, NULL };
  const gfloat rows[2 * 7] = { 0.3f, 0.3f, 0.1f, 0.1f, 0.8f, 0.1f, 0.9f,
                               0.7f, 0.7f, 0.1f, 0.1f, 0.1f, 0.7f, 0.6f };
  SlDecoderConfig config = {
    .max_results = 10, .threshold = 0.5f, .words = &two, .n_labels = CLASSES, .label_names = names
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2, 7), 0, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new (
    "yolo,transposed=no,objectness=no,end-to-end=no,units=normalised", &config, NULL);
  const SlResult *result = sl_decoding_run (decoding, (const void *[]){ rows });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpint (result->detections[0].label_id, ==, 1);
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
  g_test_add_func ("/postprocess/decode_words/negative", test_negative);
  g_test_add_func ("/postprocess/decode_words/logits", test_logits);
  g_test_add_func ("/postprocess/decode_words/embeddings", test_embeddings);
  g_test_add_func ("/postprocess/decode_words/columns", test_columns);
  g_test_add_func ("/postprocess/decode_words/negative-yolo", test_negative_yolo);
  g_test_add_func ("/postprocess/decode_words/refused", test_refused);
  return g_test_run ();
}
