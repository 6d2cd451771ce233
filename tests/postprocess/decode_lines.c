/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Line segments against the formula in double: end = (cell + displacement) / size of the map. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 20
#define HEIGHT 16
#define CELLS (WIDTH * HEIGHT)
#define MIDDLES 6

static gfloat scores[CELLS], ends[CELLS * 4];
static const guint cells[MIDDLES] = { 3 * WIDTH + 4,  3 * WIDTH + 12, 8 * WIDTH + 2,
                                      8 * WIDTH + 15, 12 * WIDTH + 9, 14 * WIDTH + 17 };

static SlDecoderConfig
new_config (void)
{
  return (SlDecoderConfig){
    .threshold = 0.1f, .max_results = 50, .input_width = 2 * WIDTH, .input_height = 2 * HEIGHT
  };
}

/* Middles apart from each other, ends on both sides of them. The sixth is below the threshold. */
static void
make_maps (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  memset (scores, 0, sizeof scores);
  for (guint i = 0; i < CELLS; i++)
    for (guint k = 0; k < 2; k++) {
      const double there = g_rand_double_range (rand, 1, 5);
      ends[4 * i + k] = (gfloat) -there;
      ends[4 * i + 2 + k] = (gfloat) (there * g_rand_double_range (rand, 0.9, 1.1));
    }
  for (guint i = 0; i < MIDDLES; i++)
    scores[cells[i]] = i == MIDDLES - 1 ? 0.05f : 0.9f - 0.1f * (gfloat) i;
}

static void
check_line (const SlResult *result, guint i, double shift)
{
  const SlDetection *line = &result->detections[i];
  const SlDetectedPoint *points = &result->keypoints[line->first_keypoint];
  const double x = cells[i] % WIDTH, y = (guint) (cells[i] / WIDTH);
  g_assert_cmpuint (line->n_keypoints, ==, 2);
  for (guint p = 0; p < 2; p++) {
    g_assert_cmpfloat_with_epsilon (points[p].x, (x + ends[4 * cells[i] + 2 * p]) / WIDTH, 1e-6);
    g_assert_cmpfloat_with_epsilon (points[p].y, (y + ends[4 * cells[i] + 2 * p + 1]) / HEIGHT,
                                    1e-6);
  }
  g_assert_cmpfloat_with_epsilon (line->confidence, 0.9 - 0.1 * i + shift, 1e-5);
  g_assert_cmpfloat (line->x_min, ==, points[0].x);
  g_assert_cmpfloat (line->y_max, ==, points[1].y);
}

/* As the files of M-LSD have them, in both orders. */
static void
test_maps (void)
{
  make_maps ();
  for (guint order = 0; order < 2; order++) {
    SlDecoderConfig config = new_config ();
    config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, order == 0 ? 4 : 1), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, order == 0 ? 1 : 4), 0, 0);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "lines");
    g_assert_cmpstr (sl_decoding_names (decoding, NULL)[0], ==, "line");
    const SlResult *result =
      sl_decoding_run (decoding, order == 0 ? (const void *const[]){ ends, scores }
                                            : (const void *const[]){ scores, ends });
    g_assert_null (sl_decoding_contradiction (decoding));
    g_assert_cmpuint (result->n_detections, ==, MIDDLES - 1);
    for (guint i = 0; i < MIDDLES - 1; i++)
      check_line (result, i, 0);
    g_assert_cmpstr (result->skeleton->names[0], ==, "start");
    g_assert_cmpuint (result->skeleton->n_bones, ==, 1);
  }
}

/* The best middles as rows and columns, of 32 and of 64 bits; one outside of the map. */
static void
test_best (void)
{
  gint32 narrow[MIDDLES + 1][2];
  gint64 wide[MIDDLES + 1][2];
  gfloat best[MIDDLES + 1];
  make_maps ();
  for (guint i = 0; i <= MIDDLES; i++) {
    const guint cell = cells[MIN (i, MIDDLES - 1)];
    wide[i][0] = narrow[i][0] = i == MIDDLES ? HEIGHT : (gint32) (cell / WIDTH);
    wide[i][1] = narrow[i][1] = (gint32) (cell % WIDTH);
    best[i] = i == MIDDLES ? 0.99f : scores[cell];
  }
  for (guint is_wide = 0; is_wide < 2; is_wide++) {
    SlDecoderConfig config = new_config ();
    config_add (&config, is_wide ? SL_DTYPE_I64 : SL_DTYPE_I32, DIMS (1, MIDDLES + 1, 2), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, MIDDLES + 1), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 4), 0, 0);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
    g_assert_no_error (error);
    const SlResult *result = sl_decoding_run (
      decoding,
      (const void *const[]){ is_wide ? (const void *) wide : (const void *) narrow, best, ends });
    g_assert_cmpuint (result->n_detections, ==, MIDDLES - 1);
    for (guint i = 0; i < MIDDLES - 1; i++)
      check_line (result, i, 0);
  }
}

/* Logits and displacements in one map, with neighbours that are not middles. */
static void
test_one_map (void)
{
  gfloat map[5 * CELLS];
  make_maps ();
  for (guint i = 0; i < CELLS; i++) {
    map[i] = -8;
    for (guint k = 0; k < 4; k++)
      map[(k + 1) * CELLS + i] = ends[4 * i + k];
  }
  for (guint i = 0; i < MIDDLES; i++) {
    const double score = scores[cells[i]];
    map[cells[i]] = (gfloat) log (score / (1 - score));
    map[cells[i] + 1] = map[cells[i]] - 0.01f;
  }
  SlDecoderConfig config = new_config ();
  config_add (&config, SL_DTYPE_F32, DIMS (1, 5, HEIGHT, WIDTH), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("lines", &config, &error);
  g_assert_no_error (error);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ map });
  g_assert_cmpuint (result->n_detections, ==, MIDDLES - 1);
  for (guint i = 0; i < MIDDLES - 1; i++)
    check_line (result, i, 0);
}

/* Upright and level segments have boxes of one pixel; short ones and such as are no numbers none.
 */
static void
test_odd (void)
{
  make_maps ();
  memcpy (&ends[4 * cells[0]], (const gfloat[]){ 0, -3, 0, 3 }, 4 * sizeof (gfloat));
  memcpy (&ends[4 * cells[1]], (const gfloat[]){ -0.5f, 0, 0.5f, 0 }, 4 * sizeof (gfloat));
  ends[4 * cells[2]] = NAN;
  scores[cells[3]] = NAN;
  SlDecoderConfig config = new_config ();
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 1), 0, 0);
  g_autoptr (SlDecoding) all = sl_decoding_new ("lines", &config, NULL);
  const SlResult *result = sl_decoding_run (all, (const void *const[]){ ends, scores });
  g_assert_cmpuint (result->n_detections, ==, 3);
  const SlDetection *upright = &result->detections[0];
  g_assert_cmpfloat_with_epsilon (upright->x_max - upright->x_min, 0.5 / WIDTH, 1e-6);
  g_assert_cmpfloat_with_epsilon (upright->y_max - upright->y_min, 6.0 / HEIGHT, 1e-6);
  g_autoptr (SlDecoding) some = sl_decoding_new ("lines,shortest=2", &config, NULL);
  g_assert_cmpuint (sl_decoding_run (some, (const void *const[]){ ends, scores })->n_detections, ==,
                    2);
}

/* Distances to the four sides of a box are no displacements of ends. */
static void
test_contradicted (void)
{
  make_maps ();
  for (guint i = 0; i < 4 * CELLS; i++)
    ends[i] = fabsf (ends[i]);
  SlDecoderConfig config = new_config ();
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 1), 0, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ ends, scores });
  g_assert_cmpuint (result->n_detections, ==, 0);
  const char *why = sl_decoding_contradiction (decoding);
  if (why == NULL
      || strstr (why, "of 5 segments 5 have both ends on one side of the middle") == NULL)
    g_error ("%s", why);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config ();
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 4), 0, 0);
  assert_open_fails ("lines", &config, SL_ERROR_SHAPE, "expected scores[1,H,W,1] and");
  config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 1), 0, 0);
  assert_open_fails ("lines,shortest=-1", &config, SL_ERROR_ARGUMENT, "shortest");
  assert_open_fails ("lines,activation=softmax", &config, SL_ERROR_ARGUMENT, "activation");
  config.input_width = 4 * WIDTH;
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "no decoder takes");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_lines/maps", test_maps);
  g_test_add_func ("/decode_lines/best", test_best);
  g_test_add_func ("/decode_lines/one_map", test_one_map);
  g_test_add_func ("/decode_lines/odd", test_odd);
  g_test_add_func ("/decode_lines/contradicted", test_contradicted);
  g_test_add_func ("/decode_lines/refused", test_refused);
  return g_test_run ();
}
