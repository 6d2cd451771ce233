/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers spread over bins against the mean in double, of logits, shares and 8 bits. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define BINS 66

static SlDecoderConfig
new_config (guint n, SlValueKind values)
{
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10 };
  for (guint t = 0; t < n; t++) {
    config_add (&config, SL_DTYPE_F32, DIMS (1, BINS), 0, 0);
    config.tensors[t].values = values;
  }
  return config;
}

static void
test_angles (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (66);
  gfloat logits[3][BINS], shares[3][BINS];
  double expected[3];
  for (guint t = 0; t < 3; t++) {
    double sum = 0, places = 0;
    for (guint i = 0; i < BINS; i++) {
      logits[t][i] = (gfloat) g_rand_double_range (rand, -4, 4);
      sum += exp ((double) logits[t][i]);
      places += exp ((double) logits[t][i]) * i;
    }
    expected[t] = 3 * places / sum - 99;
    for (guint i = 0; i < BINS; i++)
      shares[t][i] = (gfloat) (exp ((double) logits[t][i]) / sum);
  }
  for (guint form = 0; form < 3; form++) {
    static const char *const names[] = {
      "bins,scale=3,offset=-99,names=yaw,pitch,roll,units=degrees", "bins,scale=3,offset=-99",
      "bins,scale=3,offset=-99,activation=none"
    };
    SlDecoderConfig config = new_config (3, form == 0   ? SL_VALUES_LOGITS
                                            : form == 1 ? SL_VALUES_SHARES
                                                        : SL_VALUES_UNKNOWN);
    gfloat (*numbers)[BINS] = form == 0 ? logits : shares;
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (names[form], &config, &error);
    g_assert_no_error (error);
    const SlVector *vector =
      &sl_decoding_run (decoding, (const void *const[]){ numbers[0], numbers[1], numbers[2] })
         ->vector;
    g_assert_cmpuint (vector->n, ==, 3);
    g_assert_false (vector->is_embedding);
    for (guint t = 0; t < 3; t++)
      g_assert_cmpfloat_with_epsilon (vector->values[t], expected[t], 1e-4);
    if (form > 0)
      continue;
    g_assert_cmpstr (vector->names[2], ==, "roll");
    g_assert_cmpstr (vector->units[1], ==, "degrees");
  }
}

/* An age of 8 bits; numbers that have no mean. */
static void
test_odd (void)
{
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10 };
  config_add (&config, SL_DTYPE_U8, DIMS (1, 101), 1 / 256.0f, 0);
  config.tensors[0].values = SL_VALUES_SHARES;
  guint8 shares[101] = { 0 };
  shares[30] = 64;
  shares[40] = 192;
  g_autoptr (SlDecoding) age = sl_decoding_new ("bins", &config, NULL);
  g_assert_cmpfloat_with_epsilon (
    sl_decoding_run (age, (const void *const[]){ shares })->vector.values[0], 37.5, 1e-5);
  config = new_config (1, SL_VALUES_LOGITS);
  g_autoptr (SlDecoding) logits = sl_decoding_new ("bins", &config, NULL);
  gfloat odd[BINS] = { 1000, 999, NAN };
  g_assert_true (isnan (sl_decoding_run (logits, (const void *const[]){ odd })->vector.values[0]));
  odd[2] = -1000;
  g_assert_cmpfloat_with_epsilon (
    sl_decoding_run (logits, (const void *const[]){ odd })->vector.values[0],
    exp (-1) / (1 + exp (-1)), 1e-6);
}

/* WHENet's angles have bins of their own. */
static void
test_unequal (void)
{
  static const guint bins[] = { 120, 66, 66 };
  static const double offsets[] = { -180, -99, -90 };
  gfloat shares[3][120] = { { 0 } };
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10 };
  for (guint t = 0; t < 3; t++) {
    config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) bins[t]), 0, 0);
    config.tensors[t].values = SL_VALUES_SHARES;
    shares[t][10 * t] = 0.25f;
    shares[t][10 * t + 4] = 0.75f;
  }
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("bins,scale=3,offset=-180,-99,-90", &config, &error);
  g_assert_no_error (error);
  const SlVector *vector =
    &sl_decoding_run (decoding, (const void *const[]){ shares[0], shares[1], shares[2] })->vector;
  for (guint t = 0; t < 3; t++)
    g_assert_cmpfloat_with_epsilon (vector->values[t], 3 * (10 * t + 3) + offsets[t], 1e-4);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "of WHENet bins,scale=3,offset=-180,-99,-99");
  assert_open_fails ("bins,scale=3,4", &config, SL_ERROR_ARGUMENT,
                     "scale: expected one number, or 3 for as many vectors, got 2");
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (3, SL_VALUES_LOGITS);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE,
                     "state decoder=bins, of Hopenet bins,scale=3,offset=-99,names=yaw,pitch,roll");
  assert_open_fails ("bins,names=a,b", &config, SL_ERROR_ARGUMENT, "names: expected 3 words");
  assert_open_fails ("bins,units=a,b", &config, SL_ERROR_ARGUMENT, "units: expected 3 words");
  assert_open_fails ("bins,scale=x", &config, SL_ERROR_ARGUMENT, "scale");
  assert_open_fails ("bins,offset=x", &config, SL_ERROR_ARGUMENT, "offset");
  assert_open_fails ("bins,activation=relu", &config, SL_ERROR_ARGUMENT, "activation");
  config.tensors[1].dims[1] = 1;
  assert_open_fails ("bins", &config, SL_ERROR_SHAPE, "expected vectors of 2 to 65536 bins");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_bins/angles", test_angles);
  g_test_add_func ("/decode_bins/odd", test_odd);
  g_test_add_func ("/decode_bins/unequal", test_unequal);
  g_test_add_func ("/decode_bins/refused", test_refused);
  return g_test_run ();
}
