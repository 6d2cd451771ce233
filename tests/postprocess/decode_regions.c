/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regions of a map: drawn boxes, upright and turned, are found again; what touches is one, what is
 * small or unsure none. */
#include <math.h>
#include <time.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 120
#define HEIGHT 90
#define CELLS (WIDTH * HEIGHT)

static SlDecoderConfig
new_config (gboolean channels_first)
{
  SlDecoderConfig config = {
    .threshold = 0.6f, .max_results = 50, .input_width = WIDTH, .input_height = HEIGHT
  };
  if (channels_first)
    config_add (&config, SL_DTYPE_F32, DIMS (1, 1, HEIGHT, WIDTH), 0, 0);
  else
    config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 1), 0, 0);
  return config;
}

static SlDecoding *
open_regions (const char *name, const SlDecoderConfig *config)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  return decoding;
}

/* Fills the cells whose middle is in a box about @x, @y. */
static void
draw (gfloat *map, double x, double y, double w, double h, double angle, gfloat number)
{
  for (gint v = 0; v < HEIGHT; v++)
    for (gint u = 0; u < WIDTH; u++) {
      const double dx = u + 0.5 - x, dy = v + 0.5 - y;
      if (fabs (dx * cos (angle) + dy * sin (angle)) <= w / 2
          && fabs (dy * cos (angle) - dx * sin (angle)) <= h / 2)
        map[v * WIDTH + u] = number;
    }
}

/* Whether one of the corners of the first object is at @x, @y in cells, but for @slack. */
static gboolean
has_corner (const SlResult *result, double x, double y, double slack)
{
  for (guint k = 0; k < 4; k++) {
    const SlDetectedPoint *point = &result->keypoints[result->detections[0].first_keypoint + k];
    if (hypot (point->x * WIDTH - x, point->y * HEIGHT - y) <= slack)
      return TRUE;
  }
  return FALSE;
}

static void
test_upright (void)
{
  for (guint form = 0; form < 2; form++) {
    gfloat map[CELLS] = { 0 };
    draw (map, 40, 20, 30, 10, 0, 0.75f);
    draw (map, 90, 70, 20, 8, 0, 0.875f);
    SlDecoderConfig config = new_config (form == 0);
    g_autoptr (SlDecoding) decoding = open_regions ("regions,unclip=0", &config);
    g_assert_cmpstr (sl_decoding_names (decoding, NULL)[0], ==, "region");
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ map });
    g_assert_cmpuint (result->n_detections, ==, 2);
    g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 0.875, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->detections[1].x_min * WIDTH, 25, 1e-4);
    g_assert_cmpfloat_with_epsilon (result->detections[1].x_max * WIDTH, 55, 1e-4);
    g_assert_cmpfloat_with_epsilon (result->detections[1].y_min * HEIGHT, 15, 1e-4);
    g_assert_cmpfloat_with_epsilon (result->detections[1].y_max * HEIGHT, 25, 1e-4);
    g_assert_cmpuint (result->detections[1].n_keypoints, ==, 4);
    g_assert_nonnull (result->skeleton);
    /* DBNet's growth: area * ratio / outline, on each side. */
    g_autoptr (SlDecoding) grown = open_regions ("regions", &config);
    result = sl_decoding_run (grown, (const void *const[]){ map });
    g_assert_cmpfloat_with_epsilon (result->detections[1].x_min * WIDTH, 25 - 30 * 10 * 1.5 / 80,
                                    1e-4);
    g_assert_cmpfloat_with_epsilon (result->detections[1].y_max * HEIGHT, 25 + 30 * 10 * 1.5 / 80,
                                    1e-4);
  }
}

static void
test_turned (void)
{
  for (gint degrees = -80; degrees <= 80; degrees += 20) {
    const double angle = degrees * G_PI / 180, c = cos (angle), s = sin (angle);
    gfloat map[CELLS] = { 0 };
    draw (map, 60, 45, 50, 14, angle, 1);
    SlDecoderConfig config = new_config (TRUE);
    g_autoptr (SlDecoding) decoding = open_regions ("regions,unclip=0", &config);
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ map });
    g_assert_cmpuint (result->n_detections, ==, 1);
    for (guint k = 0; k < 4; k++) {
      const double w = k & 1 ? 25 : -25, h = k & 2 ? 7 : -7;
      g_assert_true (has_corner (result, 60 + w * c - h * s, 45 + w * s + h * c, 1.5));
    }
  }
}

/* Cells that touch at a corner are one region; noise, thin lines and unsure cells are not. */
static void
test_which (void)
{
  gfloat map[CELLS] = { 0 }, logits[CELLS];
  draw (map, 20, 20, 10, 10, 0, 1);
  draw (map, 30, 30, 10, 10, 0, 1);
  draw (map, 80, 20, 40, 1, 0, 1);
  draw (map, 80, 60, 20, 20, 0, 0.5f);
  map[5 * WIDTH + 5] = 1;
  map[CELLS - 1] = NAN;
  map[0] = INFINITY;
  for (guint i = 0; i < CELLS; i++)
    logits[i] = map[i] > 0.9f ? 4 : -4;
  SlDecoderConfig config = new_config (TRUE);
  g_autoptr (SlDecoding) decoding = open_regions ("regions,unclip=0", &config);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ map });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_true (has_corner (result, 15, 25, 1e-3) || has_corner (result, 15, 15, 1e-3));
  config.threshold = SL_OWN_THRESHOLD;
  g_autoptr (SlDecoding) lower =
    open_regions ("regions,unclip=0,smallest=1,threshold=0.4", &config);
  /* A number without end is a region of one cell, of which nobody is surer than 1. */
  result = sl_decoding_run (lower, (const void *const[]){ map });
  g_assert_cmpuint (result->n_detections, ==, 5);
  g_assert_cmpfloat (result->detections[0].confidence, ==, 1);
  config.tensors[0].values = SL_VALUES_LOGITS;
  g_autoptr (SlDecoding) of_logits = open_regions ("regions", &config);
  result = sl_decoding_run (of_logits, (const void *const[]){ logits });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 1 / (1 + exp (-4)), 1e-6);
}

/* As many regions as a map can have take no longer than their cells. */
static void
test_many (void)
{
  SlDecoderConfig config = { .threshold = 0.6f, .max_results = 50 };
  config_add (&config, SL_DTYPE_U8, DIMS (1, 2048, 2048, 1), 1 / 255.0f, 0);
  g_autofree guint8 *map = g_malloc0 (2048 * 2048);
  for (guint i = 0; i < 2048 * 2048; i++)
    map[i] = i % 2 == 0 && i / 2048 % 2 == 0 ? 255 : 0;
  g_autoptr (SlDecoding) decoding = open_regions ("regions", &config);
  const clock_t begin = clock (); /* of this process, however busy the machine is */
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ map })->n_detections, ==, 0);
  memset (map, 255, 2048 * 2048);
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ map })->n_detections, ==, 1);
  g_assert_cmpint (clock () - begin, <, 20 * CLOCKS_PER_SEC);
}

/* CRAFT's maps of the half of a picture: characters of a word hang together by links, which widen
 * no box; what has links alone is nothing. */
static void
test_links (void)
{
  gfloat text[CELLS] = { 0 }, links[CELLS] = { 0 }, both[2 * CELLS], features[CELLS] = { 0 };
  draw (text, 20, 20, 10, 10, 0, 0.75f);
  draw (text, 40, 20, 10, 10, 0, 0.5f);
  draw (links, 30, 20, 20, 4, 0, 1);
  draw (links, 30, 30, 4, 20, 0, 1);
  draw (text, 90, 60, 12, 10, 0, 0.875f);
  draw (text, 100, 69, 8, 8, 0, 0.625f); /* touches the one before at a corner alone */
  draw (links, 90, 20, 20, 10, 0, 1);
  draw (text, 20.5, 80.5, 3, 3, 0, 1); /* nine cells */
  text[0] = links[1] = NAN;
  for (guint i = 0; i < CELLS; i++) {
    both[2 * i] = text[i];
    both[2 * i + 1] = links[i];
  }
  for (guint form = 0; form < 2; form++) {
    SlDecoderConfig config = {
      .threshold = 0.6f, .max_results = 50, .input_width = 2 * WIDTH, .input_height = 2 * HEIGHT
    };
    if (form == 1)
      config_add (&config, SL_DTYPE_F32, DIMS (1, 32, HEIGHT, WIDTH), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, HEIGHT, WIDTH, 2), 0, 0);
    g_autoptr (SlDecoding) decoding = open_regions (form == 0 ? "regions,unclip=0" : NULL, &config);
    g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "regions");
    const SlResult *result =
      sl_decoding_run (decoding, (const void *const[]){ form == 1 ? features : both, both });
    g_assert_cmpuint (result->n_detections, ==, 3);
    const SlDetection *word = &result->detections[1];
    /* 100 + 100 + 10 * 4 + 4 * 18 - 4 * 2 cells, in a box of 30 x 25 */
    const double grow = form == 0 ? 0 : sqrt (304.0 * 25 / (30 * 25));
    g_assert_cmpfloat_with_epsilon (word->confidence, 0.75, 1e-6);
    g_assert_cmpfloat_with_epsilon (word->x_min * WIDTH, 15 - grow, 0.2);
    g_assert_cmpfloat_with_epsilon (word->x_max * WIDTH, 45 + grow, 0.2);
    g_assert_cmpfloat_with_epsilon (word->y_min * HEIGHT, 15 - grow, 0.2);
    g_assert_cmpfloat_with_epsilon (word->y_max * HEIGHT, 25 + grow, 0.2);
  }
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (TRUE);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE,
                     "a mask (decoder=segmentation), regions of text (decoder=regions)");
  assert_open_fails ("regions,cell-threshold=2", &config, SL_ERROR_ARGUMENT, "cell-threshold");
  assert_open_fails ("regions,unclip=-1", &config, SL_ERROR_ARGUMENT, "unclip");
  assert_open_fails ("regions,smallest=x", &config, SL_ERROR_ARGUMENT, "smallest");
  assert_open_fails ("regions,activation=relu", &config, SL_ERROR_ARGUMENT, "activation");
  config.tensors[0].dims[1] = 3;
  assert_open_fails ("regions", &config, SL_ERROR_SHAPE, "expected one map [1,1,H,W] or [1,H,W,1]");
  config.tensors[0].dims[1] = 2;
  config.input_width = 2 * WIDTH;
  config.input_height = 2 * HEIGHT;
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE,
                     "as CRAFT gives them (decoder=regions), or two classes");
  assert_open_fails ("regions,link-threshold=2", &config, SL_ERROR_ARGUMENT, "link-threshold");
  config = new_config (TRUE);
  config.tensors[0].dims[2] = 1 << 20;
  assert_open_fails ("regions", &config, SL_ERROR_SHAPE, "at most 4194304 cells");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_regions/upright", test_upright);
  g_test_add_func ("/decode_regions/turned", test_turned);
  g_test_add_func ("/decode_regions/which", test_which);
  g_test_add_func ("/decode_regions/links", test_links);
  g_test_add_func ("/decode_regions/many", test_many);
  g_test_add_func ("/decode_regions/refused", test_refused);
  return g_test_run ();
}
