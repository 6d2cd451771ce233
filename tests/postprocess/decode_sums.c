/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that are sums over several tensors, SSR-Net's and a dot product, against double. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define STAGES 3
#define BINS 3
#define TENSORS (3 * STAGES)

static gfloat shares[STAGES][BINS], shifts[STAGES][BINS], widths[STAGES];

/* The number in shares of the range, as the paper has it. */
static double
make_stages (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  double sum = 0;
  for (guint k = 0; k < STAGES; k++) {
    double places = 0, product = 1;
    widths[k] = (gfloat) g_rand_double_range (rand, -0.2, 0.2);
    for (guint i = 0; i < BINS; i++) {
      shares[k][i] = (gfloat) g_rand_double_range (rand, 0, 0.6);
      shifts[k][i] = (gfloat) g_rand_double_range (rand, -0.5, 0.5);
      places += (double) shares[k][i] * (i + (double) shifts[k][i]);
    }
    for (guint j = 0; j <= k; j++)
      product *= BINS * (1 + (double) widths[j]);
    sum += places / product;
  }
  return sum;
}

/* @order 0: shares, widths, shifts, unnamed; 1: named, stage by stage, the shifts first. */
static SlDecoderConfig
new_stages (guint order, const void **data)
{
  SlDecoderConfig config = { .max_results = 10 };
  for (guint t = 0; t < TENSORS; t++) {
    const guint kind = order == 0 ? t / STAGES : 2 - t % 3, k = order == 0 ? t % STAGES : t / 3;
    config_add (&config, SL_DTYPE_F32, DIMS (1, kind == 1 ? 1 : BINS), 0, 0);
    data[t] = kind == 0   ? (const void *) shares[k]
              : kind == 1 ? (const void *) &widths[k]
                          : (const void *) shifts[k];
    if (order == 1)
      config.tensors[t].name = (char *) (kind == 0   ? "prob_stage"
                                         : kind == 1 ? "delta"
                                                     : "index_offset");
  }
  return config;
}

static void
test_ssrnet (void)
{
  const double sum = make_stages ();
  for (guint order = 0; order < 2; order++) {
    const void *data[TENSORS];
    SlDecoderConfig config = new_stages (order, data);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding =
      sl_decoding_new ("ssrnet,range=101,names=age,units=years", &config, &error);
    g_assert_no_error (error);
    const SlVector *vector = &sl_decoding_run (decoding, data)->vector;
    g_assert_null (sl_decoding_contradiction (decoding));
    g_assert_cmpuint (vector->n, ==, 1);
    g_assert_false (vector->is_embedding);
    g_assert_cmpfloat_with_epsilon (vector->values[0], 101 * sum, 1e-4);
    g_assert_cmpstr (vector->names[0], ==, "age");
    g_assert_cmpstr (vector->units[0], ==, "years");
  }
}

/* Sums far from 0..1 are no SSR-Net's. */
static void
test_contradicted (void)
{
  const void *data[TENSORS];
  make_stages ();
  SlDecoderConfig config = new_stages (0, data);
  shares[0][2] = 40;
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("ssrnet,range=1", &config, NULL);
  g_assert_cmpuint (sl_decoding_run (decoding, data)->vector.n, ==, 0);
  const char *why = sl_decoding_contradiction (decoding);
  if (why == NULL || strstr (why, "of the range, and SSR-Net's to 0..1") == NULL)
    g_error ("%s", why);
}

static void
test_ssrnet_refused (void)
{
  const void *data[TENSORS];
  SlDecoderConfig config = new_stages (0, data);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "state decoder=ssrnet,range=101 of an age");
  assert_open_fails ("ssrnet", &config, SL_ERROR_ARGUMENT,
                     "state range=101 of an age, range=1 of a gender");
  assert_open_fails ("ssrnet,range=x", &config, SL_ERROR_ARGUMENT, "range");
  assert_open_fails ("ssrnet,range=1,names=a,b", &config, SL_ERROR_ARGUMENT,
                     "names: expected 1 word");
  assert_open_fails ("ssrnet,range=1,units=a,b", &config, SL_ERROR_ARGUMENT,
                     "units: expected 1 word");
  config.tensors[1].dims[1] = BINS + 1;
  assert_open_fails ("ssrnet,range=1", &config, SL_ERROR_SHAPE,
                     "expected three tensors a stage: shares [1,bins]");
  config.n_tensors = TENSORS - 1;
  assert_open_fails ("ssrnet,range=1", &config, SL_ERROR_SHAPE, "expected three tensors a stage");
}

static SlDecoderConfig
new_pair (void)
{
  SlDecoderConfig config = { .max_results = 10 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 5), 0, 0);
  config_add (&config, SL_DTYPE_U8, DIMS (1, 5), 0.5f, 2);
  return config;
}

static void
test_dot (void)
{
  static const gfloat a[5] = { 1.5f, -2, 0.25f, 8, 9 };
  static const guint8 b[5] = { 4, 3, 0, 2, 2 }; /* 1, 0.5, -1, 0, 0 */
  static const struct
  {
    const char *name;
    double number;
  } rows[] = { { "dot", 1.5 - 1 - 0.25 },
               { "dot,absolute=yes,names=spoof", 1.5 + 1 + 0.25 },
               { "dot,scale=4,offset=-1,units=points", 4 * 0.25 - 1 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlDecoderConfig config = new_pair ();
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (rows[i].name, &config, &error);
    g_assert_no_error (error);
    const SlVector *vector = &sl_decoding_run (decoding, (const void *const[]){ a, b })->vector;
    g_assert_cmpuint (vector->n, ==, 1);
    g_assert_cmpfloat_with_epsilon (vector->values[0], rows[i].number, 1e-6);
    g_assert_cmpstr (vector->names != NULL ? vector->names[0] : NULL, ==, i == 1 ? "spoof" : NULL);
    g_assert_cmpstr (vector->units != NULL ? vector->units[0] : NULL, ==, i == 2 ? "points" : NULL);
  }
}

static void
test_dot_refused (void)
{
  SlDecoderConfig config = new_pair ();
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE,
                     "state decoder=dot for the sum of their products");
  assert_open_fails ("dot,absolute=2", &config, SL_ERROR_ARGUMENT, "absolute");
  assert_open_fails ("dot,scale=x", &config, SL_ERROR_ARGUMENT, "scale");
  assert_open_fails ("dot,offset=x", &config, SL_ERROR_ARGUMENT, "offset");
  assert_open_fails ("dot,names=a,b", &config, SL_ERROR_ARGUMENT, "names: expected 1 word");
  assert_open_fails ("dot,units=a,b", &config, SL_ERROR_ARGUMENT, "units: expected 1 word");
  config.tensors[1].dims[1] = 6;
  assert_open_fails ("dot", &config, SL_ERROR_SHAPE, "expected two vectors of the same length");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_sums/ssrnet", test_ssrnet);
  g_test_add_func ("/decode_sums/contradicted", test_contradicted);
  g_test_add_func ("/decode_sums/ssrnet_refused", test_ssrnet_refused);
  g_test_add_func ("/decode_sums/dot", test_dot);
  g_test_add_func ("/decode_sums/dot_refused", test_dot_refused);
  return g_test_run ();
}
