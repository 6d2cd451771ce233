/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Peaks of heat maps against a plain search in double, in FOMO's form and in CenterNet's. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 12
#define HEIGHT 8
#define CELLS (WIDTH * HEIGHT)
#define CLASSES 3

static SlDecoderConfig
new_config (SlValueKind values)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 200, .input_width = 8 * WIDTH, .input_height = 8 * HEIGHT
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, CLASSES), 0, 0);
  config.tensors[0].values = values;
  return config;
}

/* Whether (@x, @y) is above @threshold and all its neighbours in a map with a step of @classes. */
static gboolean
is_plain_peak (const double *scores, gint x, gint y, guint c, double threshold)
{
  const double here = scores[(guint) (y * WIDTH + x) * CLASSES + c];
  for (gint v = MAX (y - 1, 0); v <= MIN (y + 1, HEIGHT - 1); v++)
    for (gint u = MAX (x - 1, 0); u <= MIN (x + 1, WIDTH - 1); u++)
      if ((u != x || v != y) && scores[(guint) (v * WIDTH + u) * CLASSES + c] >= here)
        return FALSE;
  return here >= threshold;
}

static void
check_fomo (const SlDecoderConfig *config, const char *name, const gfloat *numbers,
            const double *scores, guint first_class)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "centres");
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, CLASSES);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ numbers });
  guint n = 0;
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++)
      for (guint c = first_class; c < CLASSES; c++) {
        if (!is_plain_peak (scores, x, y, c, 0.5))
          continue;
        gboolean found = FALSE;
        for (guint d = 0; d < result->n_detections && !found; d++) {
          const SlDetection *box = &result->detections[d];
          found = box->label_id == (gint) c && fabs (box->x_min * WIDTH - x) < 1e-4
                  && fabs (box->y_max * HEIGHT - (y + 1)) < 1e-4
                  && fabs (box->confidence - scores[(guint) (y * WIDTH + x) * CLASSES + c]) < 1e-5;
        }
        g_assert_true (found);
        n++;
      }
  g_assert_cmpuint (result->n_detections, ==, n);
  g_assert_cmpuint (n, >, 2);
}

static void
test_fomo (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  gfloat logits[CELLS * CLASSES], shares[CELLS * CLASSES];
  double sigmoids[CELLS * CLASSES], exact[CELLS * CLASSES];
  for (guint i = 0; i < CELLS * CLASSES; i++) {
    logits[i] = (gfloat) g_rand_double_range (rand, -3, 3);
    shares[i] = (gfloat) g_rand_double (rand);
    sigmoids[i] = 1 / (1 + exp (-(double) logits[i]));
    exact[i] = shares[i];
  }
  SlDecoderConfig config = new_config (SL_VALUES_SHARES);
  check_fomo (&config, NULL, shares, exact, 1);
  check_fomo (&config, "centres,background=no", shares, exact, 0);
  config = new_config (SL_VALUES_LOGITS);
  check_fomo (&config, "centres", logits, sigmoids, 0);
}

/* Heat, sizes and offsets of [1,C,H,W], in any order; a plateau has one peak. */
static void
test_centernet (void)
{
  gfloat heat[CLASSES * CELLS] = { 0 }, sizes[2 * CELLS], offsets[2 * CELLS];
  const guint cell = 3 * WIDTH + 7;
  heat[2 * CELLS + cell] = heat[2 * CELLS + cell + 1] = 0.75f;
  for (guint i = 0; i < 2 * CELLS; i++) {
    sizes[i] = i < CELLS ? 4 : 2;
    offsets[i] = i < CELLS ? 0.25f : 0.5f;
  }
  for (guint units = 0; units < 3; units++) {
    static const char *const names[] = { "centres", "centres,units=pixels",
                                         "centres,units=normalised" };
    const double scales[][2] = { { WIDTH, HEIGHT }, { 8 * WIDTH, 8 * HEIGHT }, { 1, 1 } };
    SlDecoderConfig config = {
      .threshold = 0.3f, .max_results = 10, .input_width = 8 * WIDTH, .input_height = 8 * HEIGHT
    };
    config_add (&config, SL_DTYPE_F32, DIMS (1, 2, HEIGHT, WIDTH), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, CLASSES, HEIGHT, WIDTH), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, 2, HEIGHT, WIDTH), 0, 0);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (names[units], &config, &error);
    g_assert_no_error (error);
    const SlResult *result =
      sl_decoding_run (decoding, (const void *const[]){ sizes, heat, offsets });
    g_assert_cmpuint (result->n_detections, ==, 1);
    const SlDetection *box = &result->detections[0];
    g_assert_cmpint (box->label_id, ==, 2);
    g_assert_cmpfloat_with_epsilon ((box->x_min + box->x_max) / 2, 7.25 / WIDTH, 1e-5);
    g_assert_cmpfloat_with_epsilon ((box->y_min + box->y_max) / 2, 3.5 / HEIGHT, 1e-5);
    g_assert_cmpfloat_with_epsilon (box->x_max - box->x_min, 4 / scales[units][0], 1e-5);
    g_assert_cmpfloat_with_epsilon (box->y_max - box->y_min, 2 / scales[units][1], 1e-5);
    sizes[cell] = NAN;
    g_assert_cmpuint (
      sl_decoding_run (decoding, (const void *const[]){ sizes, heat, offsets })->n_detections, ==,
      0);
    sizes[cell] = 4;
  }
}

static void
test_not_numbers (void)
{
  gfloat heat[CELLS * CLASSES];
  for (guint i = 0; i < CELLS * CLASSES; i++)
    heat[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
  SlDecoderConfig config = new_config (SL_VALUES_SHARES);
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ heat })->n_detections, ==, 0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (SL_VALUES_SHARES);
  config.input_width = config.input_height = 0;
  assert_open_fails ("centres,units=pixels", &config, SL_ERROR_ARGUMENT,
                     "state imgsz=HEIGHT,WIDTH");
  config.tensors[0].dims[3] = 1;
  assert_open_fails ("centres,background=yes", &config, SL_ERROR_ARGUMENT,
                     "the map has one class; expected background=no");
  config.tensors[0].rank = 3;
  assert_open_fails ("centres", &config, SL_ERROR_SHAPE,
                     "expected heat maps [1,H,W,C] or [1,C,H,W]");
  config = new_config (SL_VALUES_SHARES);
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 4), 0, 0);
  assert_open_fails ("centres", &config, SL_ERROR_SHAPE, "sizes and offsets of 2 channels each");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_centres/fomo", test_fomo);
  g_test_add_func ("/decode_centres/centernet", test_centernet);
  g_test_add_func ("/decode_centres/not_numbers", test_not_numbers);
  g_test_add_func ("/decode_centres/refused", test_refused);
  return g_test_run ();
}
