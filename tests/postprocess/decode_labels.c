/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoder "labels" against answers computed in double precision here. */
#include <math.h>
#include <string.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

static SlDecoderConfig
vector_config (SlDtype dtype, gint32 n, gfloat scale, gint32 zero_point, gfloat threshold,
               guint max_results)
{
  SlDecoderConfig config = { .threshold = threshold, .max_results = max_results };
  config_add (&config, dtype, DIMS (1, n), scale, zero_point);
  return config;
}

static SlDecoding *
open_or_fail (SlDecoderConfig *config)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new ("labels", config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "labels");
  config_clear (config);
  return decoding;
}

static const SlResult *
run (SlDecoding *decoding, const void *data)
{
  return sl_decoding_run (decoding, &data);
}

static void
test_uint8 (void)
{
  SlDecoderConfig config = vector_config (SL_DTYPE_U8, 6, 1 / 256.f, 0, 0.1f, 3);
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  const SlResult *result = run (decoding, (const guint8[]){ 25, 220, 26, 0, 27, 255 });
  g_assert_cmpuint (result->n_classes, ==, 3);
  g_assert_cmpuint (result->n_detections, ==, 0);
  g_assert_cmpint (result->classes[0].label_id, ==, 5);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, 255 / 256.0, 1e-6);
  g_assert_cmpint (result->classes[1].label_id, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->classes[1].confidence, 220 / 256.0, 1e-6);
  g_assert_cmpint (result->classes[2].label_id, ==, 4);
  result = run (decoding, (const guint8[]){ 0, 25, 0, 0, 0, 0 }); /* 25 / 256 < 0.1 */
  g_assert_cmpuint (result->n_classes, ==, 0);
}

/* Every code around a threshold, for several scales: reported exactly when its real value reaches
 * the threshold. */
static void
test_threshold_codes (void)
{
  static const struct
  {
    gfloat scale;
    gint32 zero_point;
    gfloat threshold;
  } cases[] = { { 1 / 256.f, -128, 0.5f },
                { 1 / 256.f, -128, 0.f },
                { 1 / 256.f, -128, 1.f },
                { 0.0078f, -3, 0.31f },
                { 0.02f, 100, 0.5f } };
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    SlDecoderConfig config =
      vector_config (SL_DTYPE_I8, 1, cases[c].scale, cases[c].zero_point, cases[c].threshold, 1);
    config_param (&config, "activation", "none");
    g_autoptr (SlDecoding) decoding = open_or_fail (&config);
    for (gint code = -128; code < 128; code++) {
      gint8 data = (gint8) code;
      gfloat real = (gfloat) ((double) cases[c].scale * (code - cases[c].zero_point));
      const SlResult *result = run (decoding, &data);
      g_assert_cmpuint (result->n_classes, ==, real >= cases[c].threshold ? 1 : 0);
      if (result->n_classes == 1)
        g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, MIN (real, 1), 1e-6);
    }
  }
}

static void
test_unquantised_codes (void)
{
  SlDecoderConfig config = vector_config (SL_DTYPE_I8, 2, 0, 0, 0.1f, 2);
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  const SlResult *result = run (decoding, (const gint8[]){ -128, 92 });
  g_assert_cmpuint (result->n_classes, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, 220 / 256.0, 1e-6);
}

static void
test_ties (void)
{
  SlDecoderConfig config = vector_config (SL_DTYPE_U8, 7, 1 / 256.f, 0, 0, 4);
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  const SlResult *result = run (decoding, (const guint8[]){ 9, 50, 9, 50, 9, 60, 9 });
  static const gint32 expected[] = { 5, 1, 3, 0 };
  g_assert_cmpuint (result->n_classes, ==, 4);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpint (result->classes[i].label_id, ==, expected[i]);
}

static void
test_float_not_finite (void)
{
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 6, 0, 0, 0, 6);
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  const SlResult *result =
    run (decoding, (const gfloat[]){ NAN, 0.25f, INFINITY, -INFINITY, 0.75f, -NAN });
  g_assert_cmpuint (result->n_classes, ==, 2);
  g_assert_cmpint (result->classes[0].label_id, ==, 4);
  g_assert_cmpint (result->classes[1].label_id, ==, 1);
  result = run (decoding, (const gfloat[]){ NAN, NAN, NAN, NAN, NAN, NAN });
  g_assert_cmpuint (result->n_classes, ==, 0);
}

static void
test_unaligned_float (void)
{
  guint8 bytes[1 + 3 * sizeof (gfloat)];
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 3, 0, 0, 0, 1);
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  memcpy (bytes + 1, (const gfloat[]){ 0.1f, 0.2f, 0.7f }, 3 * sizeof (gfloat));
  g_assert_cmpint (run (decoding, bytes + 1)->classes[0].label_id, ==, 2);
}

static void
test_softmax_float (void)
{
  static const gfloat logits[] = { 1.5f, -2, 80, 79.25f, NAN, 78 };
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 6, 0, 0, 0.01f, 6);
  config_param (&config, "activation", "softmax");
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  const SlResult *result = run (decoding, logits);
  double sum = 0;
  for (guint i = 0; i < 6; i++)
    sum += i == 4 ? 0 : exp ((double) logits[i] - 80);
  g_assert_cmpuint (result->n_classes, ==, 3);
  g_assert_cmpint (result->classes[0].label_id, ==, 2);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, 1 / sum, 1e-6);
  g_assert_cmpint (result->classes[1].label_id, ==, 3);
  g_assert_cmpfloat_with_epsilon (result->classes[1].confidence, exp (-0.75) / sum, 1e-6);
  g_assert_cmpfloat_with_epsilon (result->classes[2].confidence, exp (-2) / sum, 1e-6);
  result = run (decoding, (const gfloat[]){ INFINITY, 1, INFINITY, 3, -INFINITY, NAN });
  g_assert_cmpuint (result->n_classes, ==, 2);
  g_assert_cmpfloat_with_epsilon (result->classes[1].confidence, 0.5, 1e-6);
  result = run (decoding, (const gfloat[]){ NAN, NAN, NAN, NAN, NAN, NAN });
  g_assert_cmpuint (result->n_classes, ==, 0);
}

static void
test_softmax_codes (void)
{
  static const gint8 codes[] = { -128, 10, 127, 100 };
  const double scale = 0.0625;
  SlDecoderConfig config = vector_config (SL_DTYPE_I8, 4, (gfloat) scale, 17, 0.001f, 4);
  config_param (&config, "activation", "SoftMax");
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  const SlResult *result = run (decoding, codes);
  double sum = 0;
  for (guint i = 0; i < 4; i++)
    sum += exp (scale * (codes[i] - 17));
  g_assert_cmpuint (result->n_classes, ==, 2);
  g_assert_cmpint (result->classes[0].label_id, ==, 2);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, exp (scale * (127 - 17)) / sum,
                                  1e-6);
  g_assert_cmpfloat_with_epsilon (result->classes[1].confidence, exp (scale * (100 - 17)) / sum,
                                  1e-6);
}

static void
test_sigmoid (void)
{
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 5, 0, 0, 0.5f, 5);
  config_param (&config, "activation", "sigmoid");
  g_autoptr (SlDecoding) floats = open_or_fail (&config);
  const SlResult *result = run (floats, (const gfloat[]){ -0.01f, 0, 2, INFINITY, NAN });
  g_assert_cmpuint (result->n_classes, ==, 3);
  g_assert_cmpint (result->classes[0].label_id, ==, 3);
  g_assert_cmpfloat (result->classes[0].confidence, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->classes[1].confidence, 1 / (1 + exp (-2)), 1e-6);
  g_assert_cmpfloat_with_epsilon (result->classes[2].confidence, 0.5, 1e-6);

  config = vector_config (SL_DTYPE_U8, 3, 0.05f, 128, 0.6f, 3);
  config_param (&config, "activation", "sigmoid");
  g_autoptr (SlDecoding) codes = open_or_fail (&config);
  result = run (
    codes, (const guint8[]){ 128, 136, 137 }); /* sigmoid (0.4) = 0.5987, sigmoid (0.45) = 0.6106 */
  g_assert_cmpuint (result->n_classes, ==, 1);
  g_assert_cmpint (result->classes[0].label_id, ==, 2);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, 1 / (1 + exp (-0.45)), 1e-6);
}

static void
test_background (void)
{
  SlDecoderConfig config = vector_config (SL_DTYPE_U8, 3, 1 / 256.f, 0, 0, 3);
  config_param (&config, "background-offset", "-1");
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("labels", &config, NULL);
  g_assert_nonnull (decoding);
  g_assert_cmpuint (sl_decoding_decoder (decoding)->classes (&config), ==, 2);
  config_clear (&config);
  const SlResult *result = run (decoding, (const guint8[]){ 200, 10, 20 });
  g_assert_cmpuint (result->n_classes, ==, 2);
  g_assert_cmpint (result->classes[0].label_id, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, 20 / 256.0, 1e-6);
  g_assert_cmpint (result->classes[1].label_id, ==, 0);
}

static void
test_shapes (void)
{
  static const gint32 shapes[][5] = { { 4 }, { 1, 4 }, { 4, 1 }, { 1, 1, 1, 4 }, { 1, 4, 1, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    SlDecoderConfig config = { .threshold = 0.5f, .max_results = 1 };
    config_add (&config, SL_DTYPE_U8, shapes[i], 1 / 256.f, 0);
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
    g_assert_nonnull (decoding);
    g_assert_cmpuint (sl_decoding_decoder (decoding)->classes (&config), ==, 4);
    g_assert_cmpint (run (decoding, (const guint8[]){ 1, 2, 200, 3 })->classes[0].label_id, ==, 2);
  }
}

static void
test_refused (void)
{
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 1 };
  config_add (&config, SL_DTYPE_U8, DIMS (1, 7, 7, 3), 1 / 256.f, 0);
  assert_open_fails ("labels", &config, SL_ERROR_SHAPE,
                     "one dimension other than 1, such as uint8[1,1001], got uint8[1,7,7,3]");
  config = vector_config (SL_DTYPE_I16, 5, 0.1f, 0, 0, 1);
  assert_open_fails ("labels", &config, SL_ERROR_SHAPE, "got int16[1,5]");
  config = vector_config (SL_DTYPE_F32, 5, 0, 0, 0, 1);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 5), 0, 0);
  assert_open_fails ("labels", &config, SL_ERROR_SHAPE, "got float32[1,5], float32[1,5]");
  config = vector_config (SL_DTYPE_F32, 5, 0, 0, 0, 1);
  config_param (&config, "activation", "tanh");
  assert_open_fails ("labels", &config, SL_ERROR_ARGUMENT,
                     "activation: expected one of none, softmax, sigmoid, got 'tanh'");
  config = vector_config (SL_DTYPE_F32, 5, 0, 0, 0, 1);
  config_param (&config, "background-offset", "one");
  assert_open_fails ("labels", &config, SL_ERROR_ARGUMENT,
                     "background-offset: expected an integer -1000..1000, got 'one'");
}

/* Random vectors with many equal scores against a plain selection. */
static void
test_random (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  for (guint round = 0; round < 200; round++) {
    guint n = (guint) g_rand_int_range (random, 1, 300),
          k = (guint) g_rand_int_range (random, 1, 40);
    g_autofree guint8 *codes = g_malloc (n);
    g_autofree gboolean *taken = g_new0 (gboolean, n);
    SlDecoderConfig config = vector_config (SL_DTYPE_U8, (gint32) n, 1 / 256.f, 0, 0, k);
    g_autoptr (SlDecoding) decoding = open_or_fail (&config);
    for (guint i = 0; i < n; i++)
      codes[i] = (guint8) g_rand_int_range (random, 0, 30);
    const SlResult *result = run (decoding, codes);
    g_assert_cmpuint (result->n_classes, ==, MIN (n, k));
    for (guint r = 0; r < result->n_classes; r++) {
      gint best = -1;
      for (guint i = 0; i < n; i++)
        if (!taken[i] && (best < 0 || codes[i] > codes[best]))
          best = (gint) i;
      taken[best] = TRUE;
      g_assert_cmpint (result->classes[r].label_id, ==, best);
      g_assert_cmpfloat_with_epsilon (result->classes[r].confidence, codes[best] / 256.0, 1e-6);
    }
  }
}

static double
softmax_of (const double *logits, guint n, guint i)
{
  double sum = 0;
  for (guint k = 0; k < n; k++)
    sum += exp (logits[k]);
  return exp (logits[i]) / sum;
}

/* Codes that mean numbers beyond 0..1 are logits, unless the model's operators say that
 * probabilities come. */
static void
test_told_by_codes (void)
{
  static const guint8 codes[] = { 193, 180, 93 };
  const double logits[] = { 100 * 0.143, 87 * 0.143, 0 };
  for (guint kind = SL_VALUES_UNKNOWN; kind <= SL_VALUES_LOGITS; kind++) {
    SlDecoderConfig config = vector_config (SL_DTYPE_U8, 3, 0.143f, 93, 0, 3);
    config.tensors[0].values = kind;
    g_autoptr (SlDecoding) decoding = open_or_fail (&config);
    const SlResult *result = run (decoding, codes);
    g_assert_cmpint (result->classes[0].label_id, ==, 0);
    if (kind == SL_VALUES_PROBABILITIES) {
      g_assert_cmpfloat (result->classes[0].confidence, ==, 1);
      g_assert_nonnull (
        strstr (sl_decoding_note (decoding), "sigmoids or clamps make the numbers"));
      continue;
    }
    for (guint i = 0; i < 3; i++)
      g_assert_cmpfloat_with_epsilon (result->classes[i].confidence, softmax_of (logits, 3, i),
                                      1e-6);
    g_assert_nonnull (strstr (sl_decoding_note (decoding),
                              "the tensor holds logits: confidences are their softmax"));
  }
  SlDecoderConfig config = vector_config (SL_DTYPE_U8, 1, 0.143f, 93, 0, 1);
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  g_assert_cmpfloat_with_epsilon (run (decoding, codes)->classes[0].confidence,
                                  1 / (1 + exp (-14.3)), 1e-6);
  g_assert_nonnull (strstr (sl_decoding_note (decoding),
                            "the tensor holds a logit: the confidence is its sigmoid"));
}

/* Of floats the operators tell, else the first number outside 0..1, from which on they are logits
 * for good. */
static void
test_told_by_floats (void)
{
  static const gfloat low[] = { 0.25f, 0.5f, 0.25f }, high[] = { 0.25f, 3, 0.25f };
  const double low_logits[] = { 0.25, 0.5, 0.25 }, high_logits[] = { 0.25, 3, 0.25 };
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 3, 0, 0, 0, 1);
  g_autoptr (SlDecoding) unknown = open_or_fail (&config);
  g_assert_nonnull (strstr (sl_decoding_note (unknown),
                            "nothing says whether the tensor holds probabilities or logits"));
  g_assert_cmpfloat (run (unknown, low)->classes[0].confidence, ==, 0.5);
  g_assert_cmpfloat_with_epsilon (run (unknown, high)->classes[0].confidence,
                                  softmax_of (high_logits, 3, 1), 1e-6);
  g_assert_cmpfloat_with_epsilon (run (unknown, low)->classes[0].confidence,
                                  softmax_of (low_logits, 3, 1), 1e-6);

  config = vector_config (SL_DTYPE_F32, 3, 0, 0, 0, 1);
  config.tensors[0].values = SL_VALUES_LOGITS;
  g_autoptr (SlDecoding) logits = open_or_fail (&config);
  g_assert_cmpfloat_with_epsilon (run (logits, low)->classes[0].confidence,
                                  softmax_of (low_logits, 3, 1), 1e-6);

  config = vector_config (SL_DTYPE_F32, 3, 0, 0, 0, 1);
  config_param (&config, "activation", "none");
  g_autoptr (SlDecoding) stated = open_or_fail (&config);
  g_assert_null (sl_decoding_note (stated));
  g_assert_cmpfloat (run (stated, high)->classes[0].confidence, ==, 1);
}

/* Without labels a vector holds scores where a softmax or sigmoids make it, where its codes are
 * those of probabilities and no operator says otherwise, and where it is as long as ImageNet's
 * classes. */
static void
test_vectors (void)
{
  static const struct
  {
    SlDtype dtype;
    guint n;
    gfloat scale;
    SlValueKind values;
    gboolean labels;
  } rows[] = {
    { SL_DTYPE_F32, 5, 0, SL_VALUES_SHARES, TRUE },
    { SL_DTYPE_F32, 5, 0, SL_VALUES_PROBABILITIES, TRUE },
    { SL_DTYPE_F32, 1, 0, SL_VALUES_PROBABILITIES, FALSE },
    { SL_DTYPE_F32, 5, 0, SL_VALUES_LOGITS, FALSE },
    { SL_DTYPE_F32, 5, 0, SL_VALUES_UNKNOWN, FALSE },
    { SL_DTYPE_F32, 1000, 0, SL_VALUES_LOGITS, TRUE },
    { SL_DTYPE_F32, 1001, 0, SL_VALUES_UNKNOWN, TRUE },
    { SL_DTYPE_F32, 1000, 0, SL_VALUES_FEATURES, FALSE },
    { SL_DTYPE_U8, 5, 1 / 256.f, SL_VALUES_UNKNOWN, TRUE },
    { SL_DTYPE_U8, 5, 1 / 256.f, SL_VALUES_LOGITS, FALSE },
    { SL_DTYPE_U8, 5, 0.02f, SL_VALUES_UNKNOWN, FALSE },
    { SL_DTYPE_U8, 5, 0.02f, SL_VALUES_SHARES, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlDecoderConfig config = vector_config (rows[i].dtype, rows[i].n, rows[i].scale, 0, 0, 1);
    config.tensors[0].values = rows[i].values;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
    g_assert_cmpint (decoding != NULL
                       && strcmp (sl_decoding_decoder (decoding)->name, "labels") == 0,
                     ==, rows[i].labels);
    if (rows[i].labels && rows[i].values == SL_VALUES_PROBABILITIES)
      g_assert_nonnull (
        strstr (sl_decoding_note (decoding), "taken for scores of classes without names"));
  }
}

/* Numbers that are no classes are taken for some only when that is said; else they are a vector. */
static void
test_unmatched (void)
{
  for (guint i = 0; i < 2; i++) {
    SlDecoderConfig config = vector_config (SL_DTYPE_F32, i == 0 ? 1 : 1280, 0, 0, 0, 1);
    config.tensors[0].values = SL_VALUES_FEATURES;
    g_autoptr (SlDecoding) unnamed = sl_decoding_new (NULL, &config, NULL);
    g_assert_cmpstr (sl_decoding_decoder (unnamed)->name, ==, "vector");
    config.n_labels = i == 0 ? 1 : 1280;
    g_autoptr (SlDecoding) labelled = sl_decoding_new (NULL, &config, NULL);
    g_assert_cmpstr (sl_decoding_decoder (labelled)->name, ==, "labels");
    config.n_labels = 0;
    g_autoptr (SlDecoding) named = sl_decoding_new ("labels", &config, NULL);
    g_assert_cmpstr (sl_decoding_decoder (named)->name, ==, "labels");
  }
}

/* One number with two names is the share of the second; the first has the rest. */
static void
test_two_names_for_one_number (void)
{
  static const struct
  {
    SlDtype dtype;
    SlValueKind values;
    gfloat number;
    double second;
  } cases[] = { { SL_DTYPE_F32, SL_VALUES_PROBABILITIES, 0.08f, 0.08 },
                { SL_DTYPE_F32, SL_VALUES_PROBABILITIES, 0.75f, 0.75 },
                { SL_DTYPE_F32, SL_VALUES_LOGITS, -1.5f,
                  0.18242552380635635 }, /* 1 / (1 + exp (1.5)) */
                { SL_DTYPE_F32, SL_VALUES_UNKNOWN, 2.0f, 0.8807970779778823 },
                { SL_DTYPE_U8, SL_VALUES_PROBABILITIES, 64, 0.25 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlDecoderConfig config =
      vector_config (cases[i].dtype, 1, cases[i].dtype == SL_DTYPE_U8 ? 1 / 256.f : 0, 0, 0, 5);
    config.tensors[0].values = cases[i].values;
    config.n_labels = 2;
    g_autoptr (SlDecoding) decoding = open_or_fail (&config);
    g_assert_cmpuint (sl_decoding_classes (decoding), ==, 2);
    g_assert_nonnull (strstr (sl_decoding_note (decoding), "share of the second name"));
    const guint8 code = (guint8) MAX (cases[i].number, 0);
    const SlResult *result =
      run (decoding,
           cases[i].dtype == SL_DTYPE_U8 ? (const void *) &code : (const void *) &cases[i].number);
    const gint best = cases[i].second >= 0.5;
    g_assert_cmpuint (result->n_classes, ==, 2);
    g_assert_cmpint (result->classes[0].label_id, ==, best);
    g_assert_cmpint (result->classes[1].label_id, ==, 1 - best);
    g_assert_cmpfloat_with_epsilon (result->classes[0].confidence,
                                    best == 1 ? cases[i].second : 1 - cases[i].second, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->classes[1].confidence,
                                    best == 1 ? 1 - cases[i].second : cases[i].second, 1e-6);
  }
  SlDecoderConfig config = vector_config (SL_DTYPE_F32, 1, 0, 0, 0, 1);
  config.n_labels = 2;
  g_autoptr (SlDecoding) decoding = open_or_fail (&config);
  g_assert_cmpuint (run (decoding, (const gfloat[]){ 0.9f })->n_classes, ==, 1);
  g_assert_cmpuint (run (decoding, (const gfloat[]){ NAN })->n_classes, ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_labels/uint8", test_uint8);
  g_test_add_func ("/decode_labels/threshold_codes", test_threshold_codes);
  g_test_add_func ("/decode_labels/unquantised_codes", test_unquantised_codes);
  g_test_add_func ("/decode_labels/ties", test_ties);
  g_test_add_func ("/decode_labels/float_not_finite", test_float_not_finite);
  g_test_add_func ("/decode_labels/unaligned_float", test_unaligned_float);
  g_test_add_func ("/decode_labels/softmax_float", test_softmax_float);
  g_test_add_func ("/decode_labels/softmax_codes", test_softmax_codes);
  g_test_add_func ("/decode_labels/sigmoid", test_sigmoid);
  g_test_add_func ("/decode_labels/background", test_background);
  g_test_add_func ("/decode_labels/shapes", test_shapes);
  g_test_add_func ("/decode_labels/refused", test_refused);
  g_test_add_func ("/decode_labels/random", test_random);
  g_test_add_func ("/decode_labels/told_by_codes", test_told_by_codes);
  g_test_add_func ("/decode_labels/told_by_floats", test_told_by_floats);
  g_test_add_func ("/decode_labels/vectors", test_vectors);
  g_test_add_func ("/decode_labels/unmatched", test_unmatched);
  g_test_add_func ("/decode_labels/two_names_for_one_number", test_two_names_for_one_number);
  return g_test_run ();
}
