/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CenterFace's maps against its formulas in double, channels first and last. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 20
#define HEIGHT 12
#define CELLS (WIDTH * HEIGHT)

enum
{
  HEAT,
  SIZES,
  OFFSETS,
  POINTS,
  N_MAPS
};

static const guint channels[N_MAPS] = { 1, 2, 2, 10 };

static SlDecoderConfig
new_config (gboolean channels_last)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 50, .input_width = 4 * WIDTH, .input_height = 4 * HEIGHT
  };
  for (guint m = 0; m < N_MAPS; m++)
    if (channels_last)
      config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, (gint32) channels[m]), 0, 0);
    else
      config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) channels[m], HEIGHT, WIDTH), 0, 0);
  return config;
}

/* A number of map @m in a face's cell. */
static double
number_of (guint face, guint m, guint c, gboolean of_logits)
{
  switch (m) {
    case HEAT:
      return of_logits ? 2 - (double) face : 0.875 - 0.25 * face;
    case SIZES:
      return 0.5 + 0.75 * c + 0.25 * face;
    case OFFSETS:
      return 0.25 - 0.375 * c;
    default:
      return 0.0625 * (c + 1) + 0.03125 * face;
  }
}

static gfloat *
number_in (gfloat *const data[N_MAPS], guint m, guint cell, guint c, gboolean channels_last)
{
  return &data[m][channels_last ? cell * channels[m] + c : c * CELLS + cell];
}

/* Two faces; a neighbour of the first is less sure, and suppressed. */
static void
fill (gfloat *const data[N_MAPS], const guint faces[2][2], gboolean channels_last,
      gboolean of_logits)
{
  for (guint i = 0; i < CELLS; i++)
    data[HEAT][i] = of_logits ? -5 : 0;
  for (guint f = 0; f < 2; f++)
    for (guint beside = 0; beside < 2; beside++)
      for (guint m = 0; m < N_MAPS; m++)
        for (guint c = 0; c < channels[m]; c++)
          *number_in (data, m, faces[f][1] * WIDTH + faces[f][0] + beside, c, channels_last) =
            (gfloat) (number_of (f, m, c, of_logits) - (m == HEAT ? 0.0625 * beside : 0));
}

static void
check_face (const SlResult *result, guint f, const guint place[2], gboolean of_logits)
{
  const SlDetection *found = &result->detections[f];
  const double score = number_of (f, HEAT, 0, of_logits),
               height = 4 * exp (number_of (f, SIZES, 0, FALSE)),
               width = 4 * exp (number_of (f, SIZES, 1, FALSE)),
               left = (place[0] + number_of (f, OFFSETS, 1, FALSE) + 0.5) * 4 - width / 2,
               top = (place[1] + number_of (f, OFFSETS, 0, FALSE) + 0.5) * 4 - height / 2;
  g_assert_cmpfloat_with_epsilon (found->x_min, left / (4 * WIDTH), 1e-6);
  g_assert_cmpfloat_with_epsilon (found->y_min, top / (4 * HEIGHT), 1e-6);
  g_assert_cmpfloat_with_epsilon (found->x_max, (left + width) / (4 * WIDTH), 1e-6);
  g_assert_cmpfloat_with_epsilon (found->y_max, (top + height) / (4 * HEIGHT), 1e-6);
  g_assert_cmpfloat_with_epsilon (found->confidence, of_logits ? 1 / (1 + exp (-score)) : score,
                                  1e-6);
  g_assert_cmpuint (found->n_keypoints, ==, 5);
  for (guint k = 0; k < 5; k++) {
    const SlDetectedPoint *point = &result->keypoints[found->first_keypoint + k];
    g_assert_cmpfloat_with_epsilon (
      point->x, (number_of (f, POINTS, 2 * k + 1, FALSE) * width + left) / (4 * WIDTH), 1e-6);
    g_assert_cmpfloat_with_epsilon (
      point->y, (number_of (f, POINTS, 2 * k, FALSE) * height + top) / (4 * HEIGHT), 1e-6);
  }
}

static void
test_faces (void)
{
  static const guint faces[2][2] = { { 4, 5 }, { 14, 8 } };
  for (guint form = 0; form < 4; form++) {
    const gboolean channels_last = form & 1, of_logits = form & 2;
    SlDecoderConfig config = new_config (channels_last);
    gfloat *data[N_MAPS];
    g_autoptr (GError) error = NULL;
    config.tensors[HEAT].values = of_logits ? SL_VALUES_LOGITS : SL_VALUES_PROBABILITIES;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "centerface");
    for (guint m = 0; m < N_MAPS; m++)
      data[m] = g_new0 (gfloat, CELLS * channels[m]);
    fill (data, faces, channels_last, of_logits);
    const SlResult *result = sl_decoding_run (decoding, (const void *const *) data);
    g_assert_cmpuint (result->n_detections, ==, 2);
    for (guint f = 0; f < 2; f++)
      check_face (result, f, faces[f], of_logits);
    for (guint m = 0; m < N_MAPS; m++)
      g_free (data[m]);
  }
}

static void
test_not_numbers (void)
{
  SlDecoderConfig config = new_config (TRUE);
  gfloat heat[CELLS] = { 0 }, sizes[CELLS * 2] = { 0 }, offsets[CELLS * 2] = { 0 },
         points[CELLS * 10];
  const void *const data[] = { heat, sizes, offsets, points };
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  for (guint i = 0; i < CELLS * 10; i++)
    points[i] = i % 2 == 0 ? NAN : INFINITY;
  heat[30] = 0.75f;
  const SlResult *result = sl_decoding_run (decoding, data);
  g_assert_cmpuint (result->n_detections, ==, 1);
  for (guint k = 0; k < 5; k++)
    g_assert_cmpfloat (result->keypoints[k].confidence, ==, 0);
  sizes[60] = 1000;
  g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, 0);
  sizes[60] = 0;
  offsets[61] = NAN;
  g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, 0);
  for (guint i = 0; i < CELLS; i++)
    heat[i] = i % 2 == 0 ? NAN : -INFINITY;
  g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, 0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (FALSE);
  assert_open_fails ("centerface,activation=relu", &config, SL_ERROR_ARGUMENT, "activation");
  config.tensors[POINTS].dims[1] = 5;
  assert_open_fails ("centerface", &config, SL_ERROR_SHAPE,
                     "expected maps of middles [1,1,H,W], sizes [1,2,H,W], offsets [1,2,H,W] and "
                     "points [1,10,H,W]");
  config = new_config (TRUE);
  config.input_width = 2 * WIDTH;
  g_autoptr (SlDecoding) other = sl_decoding_new (NULL, &config, NULL);
  g_assert_true (other == NULL || g_strcmp0 (sl_decoding_decoder (other)->name, "centerface") != 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_centerface/faces", test_faces);
  g_test_add_func ("/decode_centerface/not_numbers", test_not_numbers);
  g_test_add_func ("/decode_centerface/refused", test_refused);
  return g_test_run ();
}
