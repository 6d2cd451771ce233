/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RetinaFace's tensors against the formulas of its PyTorch program (box_utils.py, prior_box.py), in
 * double precision: priors, boxes, points, both families of priors, and scores without a softmax.
 */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 200 /* not a multiple of any stride but 8 */
#define HEIGHT 120
#define MAX_ROWS 4000

static const struct
{
  guint n_levels;
  double sizes[4][4]; /* 0 behind the last */
} families[] = { { 3, { { 16, 32 }, { 64, 128 }, { 256, 512 } } },
                 { 4, { { 10, 16, 24 }, { 32, 48 }, { 64, 96 }, { 128, 192, 256 } } } };

static gfloat boxes[MAX_ROWS][4], scores[MAX_ROWS][2], points[MAX_ROWS][10];

/* PriorBox.forward(): middles and sides, as shares of the input. */
static guint
make_priors (guint family, double priors[MAX_ROWS][4])
{
  guint n = 0;
  for (guint l = 0; l < families[family].n_levels; l++) {
    const double step = 8 << l;
    for (guint i = 0; i < (guint) ceil (HEIGHT / step); i++)
      for (guint j = 0; j < (guint) ceil (WIDTH / step); j++)
        for (guint s = 0; families[family].sizes[l][s] > 0; s++) {
          priors[n][0] = (j + 0.5) * step / WIDTH;
          priors[n][1] = (i + 0.5) * step / HEIGHT;
          priors[n][2] = families[family].sizes[l][s] / WIDTH;
          priors[n][3] = families[family].sizes[l][s] / HEIGHT;
          n++;
        }
  }
  return n;
}

/* encode() and encode_landm(): what the network gives for a box and points around it. */
static void
write_face (const double prior[4], guint row, const double box[4], double score, gboolean logits)
{
  for (guint k = 0; k < 2; k++) {
    boxes[row][k] = (gfloat) ((box[k] - prior[k]) / (0.1 * prior[2 + k]));
    boxes[row][2 + k] = (gfloat) (log (box[2 + k] / prior[2 + k]) / 0.2);
    for (guint p = 0; p < 5; p++)
      points[row][2 * p + k] =
        (gfloat) ((box[k] + 0.01 * (p + 1.0) - prior[k]) / (0.1 * prior[2 + k]));
  }
  scores[row][0] = (gfloat) (logits ? 1.5 : 1 - score);
  scores[row][1] = (gfloat) (logits ? 1.5 + log (score / (1 - score)) : score);
}

static SlDecoderConfig
make_config (guint n)
{
  SlDecoderConfig config = {
    .threshold = SL_OWN_THRESHOLD, .max_results = 10, .input_width = WIDTH, .input_height = HEIGHT
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n, 10), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n, 2), 0, 0);
  return config;
}

static const struct
{
  const char *name, *decoder;
  guint family;
  gboolean logits;
} forms[] = {
  { "shares", NULL, 0, FALSE },
  { "small", NULL, 1, FALSE },
  { "told-logits", NULL, 0, TRUE },
  { "stated", "retinaface,activation=softmax", 1, TRUE },
  { "none", "RetinaFace,activation=none", 0, FALSE },
};

static void
clear_numbers (gboolean logits)
{
  memset (boxes, 0, sizeof boxes);
  memset (points, 0, sizeof points);
  for (guint i = 0; i < MAX_ROWS; i++) {
    scores[i][0] = logits ? 4 : 1;
    scores[i][1] = logits ? -4 : 0;
  }
}

/* A face a level, and one that overlaps the first and is suppressed. */
static void
test_faces (gconstpointer data)
{
  const guint form = GPOINTER_TO_UINT (data);
  static double priors[MAX_ROWS][4];
  const guint n = make_priors (forms[form].family, priors),
              n_faces = families[forms[form].family].n_levels;
  clear_numbers (forms[form].logits);
  guint row = 0;
  for (guint l = 0; l < n_faces; l++) {
    while (priors[row][2] * WIDTH < families[forms[form].family].sizes[l][1] - 0.5)
      row++;
    write_face (priors[row], row, (const double[]){ 0.15 + 0.2 * l, 0.4, 0.1, 0.2 }, 0.9 - 0.05 * l,
                forms[form].logits);
  }
  write_face (priors[n - 1], n - 1, (const double[]){ 0.16, 0.4, 0.1, 0.2 }, 0.8,
              forms[form].logits);
  SlDecoderConfig config = make_config (n);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (forms[form].decoder, &config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "retinaface");
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, 1);
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ points, boxes, scores });
  g_assert_null (sl_decoding_contradiction (decoding));
  g_autofree char *choice = sl_decoding_take_choice (decoding);
  g_assert_true ((choice != NULL) == (forms[form].decoder == NULL && forms[form].logits));
  g_assert_true (choice == NULL || strstr (choice, "activation=softmax is taken") != NULL);
  g_assert_cmpuint (result->n_detections, ==, n_faces);
  for (guint l = 0; l < n_faces; l++) {
    const SlDetection *face = &result->detections[l];
    const double x = 0.15 + 0.2 * l;
    g_assert_cmpfloat_with_epsilon (face->confidence, 0.9 - 0.05 * l, 1e-6);
    g_assert_cmpfloat_with_epsilon (face->x_min, x - 0.05, 1e-6);
    g_assert_cmpfloat_with_epsilon (face->x_max, x + 0.05, 1e-6);
    g_assert_cmpfloat_with_epsilon (face->y_min, 0.3, 1e-6);
    g_assert_cmpfloat_with_epsilon (face->y_max, 0.5, 1e-6);
    for (guint p = 0; p < 5; p++) {
      g_assert_cmpfloat_with_epsilon (result->keypoints[face->first_keypoint + p].x,
                                      x + 0.01 * (p + 1), 1e-6);
      g_assert_cmpfloat_with_epsilon (result->keypoints[face->first_keypoint + p].y,
                                      0.4 + 0.01 * (p + 1), 1e-6);
    }
  }
}

static void
test_errors (void)
{
  static double priors[MAX_ROWS][4];
  const guint n = make_priors (0, priors);
  SlDecoderConfig config = make_config (n);
  config.input_width = 320;
  assert_open_fails ("retinaface", &config, SL_ERROR_SHAPE, "for an input of 320x120");
  config.input_width = 0;
  assert_open_fails ("retinaface", &config, SL_ERROR_SHAPE, "imgsz= states its size");
  config = make_config (n);
  config.tensors[0].dims[2] = 8;
  assert_open_fails ("retinaface", &config, SL_ERROR_SHAPE, "points[N,10] with N ");
  config = make_config (n);
  assert_open_fails ("retinaface,activation=sigmoid", &config, SL_ERROR_ARGUMENT,
                     "expected one of none, softmax, got 'sigmoid'");
}

/* Numbers that cannot be shares contradict what is stated; what is not finite is no face. */
static void
test_contradiction (void)
{
  static double priors[MAX_ROWS][4];
  const guint n = make_priors (0, priors);
  SlDecoderConfig config = make_config (n);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("retinaface,activation=none", &config, NULL);
  clear_numbers (TRUE);
  sl_decoding_run (decoding, (const void *const[]){ points, boxes, scores });
  g_assert_nonnull (
    strstr (sl_decoding_contradiction (decoding),
            "scores are -4..4, outside of 0..1; state decoder=retinaface,activation=softmax"));
  g_autoptr (SlDecoding) other = sl_decoding_new (NULL, &config, NULL);
  clear_numbers (FALSE);
  scores[3][1] = NAN;
  scores[4][1] = 0.9f;
  boxes[4][0] = NAN;
  const SlResult *result = sl_decoding_run (other, (const void *const[]){ points, boxes, scores });
  g_assert_cmpuint (result->n_detections, ==, 0);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    g_autofree char *path = g_strdup_printf ("/retinaface/%s", forms[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_faces);
  }
  g_test_add_func ("/retinaface/errors", test_errors);
  g_test_add_func ("/retinaface/contradiction", test_contradiction);
  return g_test_run ();
}
