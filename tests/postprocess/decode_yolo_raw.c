/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Heads of YOLO v2 and v3 against Darknet's formulas, and what is refused. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 96
#define HEIGHT 64
#define CLASSES 2
#define ROW (5 + CLASSES)

static SlDecoderConfig
new_config (guint maps, gint32 channels)
{
  SlDecoderConfig config = {
    .threshold = 0.3f, .max_results = 10, .input_width = WIDTH, .input_height = HEIGHT
  };
  for (guint i = 0; i < maps; i++)
    config_add (&config, SL_DTYPE_F32, DIMS (1, (HEIGHT / 32) << i, (WIDTH / 32) << i, channels), 0,
                0);
  return config;
}

/* One row of numbers in cell (@column, @line) of @map, anchor @anchor of two; returns the row. */
static gfloat *
put (gfloat *map, guint columns, guint column, guint line, guint anchor, const gfloat numbers[ROW])
{
  gfloat *row = map + ((line * columns + column) * 2 + anchor) * ROW;
  memcpy (row, numbers, ROW * sizeof *row);
  return row;
}

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static void
test_heads (void)
{
  static const gfloat large[ROW] = { 0.5f, -0.25f, 0.1f, -0.2f, 2, 1, 3 },
                      small[ROW] = { -1, 1, 0, 0.3f, 3, 2, -1 };
  gfloat coarse[2 * 3 * 2 * ROW], fine[4 * 6 * 2 * ROW];
  for (guint sigmoids = 0; sigmoids < 2; sigmoids++) {
    for (guint i = 0; i < G_N_ELEMENTS (coarse); i++)
      coarse[i] = i % ROW == 4 ? -20 : NAN;
    for (guint i = 0; i < G_N_ELEMENTS (fine); i++)
      fine[i] = i % ROW == 4 ? -20 : NAN;
    put (coarse, 3, 2, 1, 1, large);
    put (fine, 6, 1, 2, 0, small);
    SlDecoderConfig config = new_config (2, 2 * ROW);
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strconcat (
      "yolo-raw,anchors=10,20,30,40,5,6,7,8,activation=", sigmoids ? "sigmoid" : "softmax", NULL);
    g_autoptr (SlDecoding) decoding = sl_decoding_new (name, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_decoding_classes (decoding), ==, CLASSES);
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ coarse, fine });
    g_assert_cmpuint (result->n_detections, ==, 2);
    const double scores[2] = {
      sigmoid (2) * (sigmoids ? sigmoid (3) : exp (3) / (exp (3) + exp (1))),
      sigmoid (3) * (sigmoids ? sigmoid (2) : exp (2) / (exp (2) + exp (-1)))
    };
    for (guint i = 0; i < 2; i++) {
      const SlDetection *box = &result->detections[i];
      const guint which = box->label_id == 1 ? 0 : 1;
      const double x = which == 0 ? (2 + sigmoid (0.5)) * 32 : (1 + sigmoid (-1)) * 16,
                   y = which == 0 ? (1 + sigmoid (-0.25)) * 32 : (2 + sigmoid (1)) * 16;
      const double w = which == 0 ? 30 * exp (0.1) : 5,
                   h = which == 0 ? 40 * exp (-0.2) : 6 * exp (0.3);
      g_assert_cmpfloat_with_epsilon (box->confidence, scores[which], 1e-5);
      g_assert_cmpfloat_with_epsilon (box->x_min * WIDTH, x - w / 2, 1e-3);
      g_assert_cmpfloat_with_epsilon (box->x_max * WIDTH, x + w / 2, 1e-3);
      g_assert_cmpfloat_with_epsilon (box->y_min * HEIGHT, y - h / 2, 1e-3);
      g_assert_cmpfloat_with_epsilon (box->y_max * HEIGHT, y + h / 2, 1e-3);
    }
  }
}

/* The same numbers as [1,channels,H,W] give the same boxes; unstated, several maps have sigmoids.
 */
static void
test_planar (void)
{
  gfloat coarse[2 * 3 * 2 * ROW], fine[4 * 6 * 2 * ROW], planar_coarse[G_N_ELEMENTS (coarse)],
    planar_fine[G_N_ELEMENTS (fine)];
  for (guint i = 0; i < G_N_ELEMENTS (fine); i++)
    fine[i] = (gfloat) ((i * 37) % 101) / 20 - 2.5f;
  memcpy (coarse, fine, sizeof coarse);
  for (guint i = 0; i < G_N_ELEMENTS (coarse); i++)
    planar_coarse[i % (2 * ROW) * 6 + i / (2 * ROW)] = coarse[i];
  for (guint i = 0; i < G_N_ELEMENTS (fine); i++)
    planar_fine[i % (2 * ROW) * 24 + i / (2 * ROW)] = fine[i];
  SlDecoderConfig config = new_config (2, 2 * ROW), planar = new_config (2, 2 * ROW);
  for (guint i = 0; i < 2; i++)
    memcpy (planar.tensors[i].dims, DIMS (1, 2 * ROW, (HEIGHT / 32) << i, (WIDTH / 32) << i),
            4 * sizeof (gint32));
  g_autoptr (SlDecoding) one =
    sl_decoding_new ("yolo-raw,anchors=10,20,30,40,5,6,7,8,activation=sigmoid", &config, NULL);
  g_autoptr (SlDecoding) other =
    sl_decoding_new ("yolo-raw,anchors=10,20,30,40,5,6,7,8", &planar, NULL);
  const SlResult *expected = sl_decoding_run (one, (const void *const[]){ coarse, fine });
  const SlResult *got =
    sl_decoding_run (other, (const void *const[]){ planar_coarse, planar_fine });
  g_assert_cmpuint (expected->n_detections, >, 3);
  g_assert_cmpuint (got->n_detections, ==, expected->n_detections);
  g_assert_cmpmem (got->detections, got->n_detections * sizeof (SlDetection), expected->detections,
                   expected->n_detections * sizeof (SlDetection));
  g_assert_null (sl_decoding_note (one));
  g_assert_nonnull (
    strstr (sl_decoding_note (other), "several maps are taken for YOLO v3's or v4's"));
}

/* Anchors as a dimension of their own: the same boxes, and the number of anchors is known. */
static void
test_five_dimensions (void)
{
  gfloat map[4 * 6 * 2 * ROW];
  for (guint i = 0; i < G_N_ELEMENTS (map); i++)
    map[i] = (gfloat) ((i * 37) % 101) / 20 - 2.5f;
  SlDecoderConfig flat = new_config (2, 2 * ROW);
  flat.n_tensors = 1;
  flat.tensors[0] = flat.tensors[1];
  SlDecoderConfig config = flat;
  config.tensors[0].rank = 5;
  config.tensors[0].dims[3] = 2;
  config.tensors[0].dims[4] = ROW;
  g_autoptr (SlDecoding) one = sl_decoding_new ("yolo-raw,anchors=10,20,30,40", &flat, NULL);
  g_autoptr (SlDecoding) other = sl_decoding_new ("yolo-raw,anchors=10,20,30,40", &config, NULL);
  const SlResult *expected = sl_decoding_run (one, (const void *const[]){ map });
  const SlResult *got = sl_decoding_run (other, (const void *const[]){ map });
  g_assert_cmpuint (sl_decoding_classes (other), ==, CLASSES);
  g_assert_cmpuint (expected->n_detections, >, 1);
  g_assert_cmpuint (got->n_detections, ==, expected->n_detections);
  g_assert_cmpmem (got->detections, got->n_detections * sizeof (SlDetection), expected->detections,
                   expected->n_detections * sizeof (SlDetection));
  assert_open_fails ("yolo-raw,anchors=10,20", &config, SL_ERROR_SHAPE,
                     "the maps have 2 anchors a cell, and 1 are stated for each map");
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "may be the heads of YOLO v2 to v4: state decoder=yolo-raw,anchors=WIDTH,HEIGHT,...");
  config.tensors[0].values = SL_VALUES_PROBABILITIES;
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "[1,4,6,2,7]; sightline infer");
}

/* Where the anchors divide both dimensions, cells are square. */
static void
test_either (void)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 640, .input_height = 640
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 30, 40, 40), 0, 0);
  g_autoptr (SlDecoding) planar =
    sl_decoding_new ("yolo-raw,anchors=1,2,3,4,5,6,7,8,9,10", &config, NULL);
  g_assert_cmpuint (sl_decoding_classes (planar), ==, 1);
  g_assert_nonnull (strstr (sl_decoding_note (planar), "one map is taken for YOLO v2's"));
  config.tensors[0] = (SlTensorInfo){ .dtype = SL_DTYPE_F32, .rank = 4, .dims = { 1, 30, 30, 40 } };
  g_autoptr (SlDecoding) last =
    sl_decoding_new ("yolo-raw,anchors=1,2,3,4,5,6,7,8,9,10", &config, NULL);
  g_assert_cmpuint (sl_decoding_classes (last), ==, 3);
}

static void
test_scale (void)
{
  static const gfloat row[ROW] = { 1, -1, 0, 0, 9, 9, -9 };
  gfloat map[2 * 3 * 2 * ROW];
  for (guint i = 0; i < G_N_ELEMENTS (map); i++)
    map[i] = i % ROW == 4 ? -20 : 0;
  put (map, 3, 1, 0, 0, row);
  SlDecoderConfig config = new_config (1, 2 * ROW);
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("yolo-raw,anchors=10,20,30,40,scale-xy=1.2", &config, NULL);
  const SlDetection *box = sl_decoding_run (decoding, (const void *const[]){ map })->detections;
  g_assert_cmpfloat_with_epsilon ((box->x_min + box->x_max) / 2 * WIDTH,
                                  32 * (1 + sigmoid (1) * 1.2 - 0.1), 1e-3);
  g_assert_cmpfloat_with_epsilon ((box->y_min + box->y_max) / 2 * HEIGHT,
                                  32 * (sigmoid (-1) * 1.2 - 0.1), 1e-3);
}

static void
test_not_a_number (void)
{
  static const gfloat odd[ROW] = { 0, 0, NAN, 0, 9, 9, -9 };
  gfloat map[2 * 3 * 2 * ROW];
  for (guint i = 0; i < G_N_ELEMENTS (map); i++)
    map[i] = odd[i % ROW];
  SlDecoderConfig config = new_config (1, 2 * ROW);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("yolo-raw,anchors=10,20,30,40", &config, NULL);
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ map })->n_detections, ==, 0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (2, 2 * ROW);
  assert_open_fails ("yolo-raw", &config, SL_ERROR_ARGUMENT,
                     "for each anchor of 2 maps, the same number for each, got 0 numbers");
  assert_open_fails ("yolo-raw,anchors=1,2,3,4,5,6", &config, SL_ERROR_ARGUMENT, "got 6 numbers");
  assert_open_fails ("yolo-raw,anchors=1,2,3,4,5,6,1,2,3,4,5,6", &config, SL_ERROR_SHAPE,
                     "neither 14 nor 2 channels, the same in all maps, are those of 3 anchors");
  assert_open_fails ("yolo-raw,anchors=1,2,3,4,5,6,7,8,scale-xy=1,1.1,1.2", &config,
                     SL_ERROR_ARGUMENT,
                     "scale-xy: expected a number for each of 2 maps, or one for all, got 3");
  config.input_width = 0;
  assert_open_fails ("yolo-raw,anchors=1,2,3,4,5,6,7,8", &config, SL_ERROR_ARGUMENT,
                     "decoder yolo-raw: the size of the model's input is not known, which anchors "
                     "need: state imgsz=HEIGHT,WIDTH");
  config.tensors[1].rank = 3;
  assert_open_fails (
    "yolo-raw,anchors=1,2", &config, SL_ERROR_SHAPE,
    "expected a map [1,H,W,A*(5+classes)], [1,H,W,A,5+classes], [1,A,H,W,5+classes] or "
    "[1,A*(5+classes),H,W]");
}

#define LARGE_WIDTH 160
#define LARGE_HEIGHT 128
#define LARGE_CELLS (LARGE_WIDTH * LARGE_HEIGHT / 64)

/* Three maps of strides 32, 16 and 8, of three anchors: as YOLOv5 trains them, or with the anchors
 * in the channels. */
static SlDecoderConfig
three_maps (gboolean anchors_first)
{
  SlDecoderConfig config = {
    .threshold = 0.3f, .max_results = 10, .input_width = LARGE_WIDTH, .input_height = LARGE_HEIGHT
  };
  for (gint i = 0; i < 3; i++) {
    const gint32 width = LARGE_WIDTH / (32 >> i), height = LARGE_HEIGHT / (32 >> i);
    if (anchors_first)
      config_add (&config, SL_DTYPE_F32, DIMS (1, 3, height, width, ROW), 0, 0);
    else
      config_add (&config, SL_DTYPE_F32, DIMS (1, 3 * ROW, height, width), 0, 0);
  }
  return config;
}

/* A row in the cell of column 2 and line 1 of the map of stride 16, anchor 1; the other maps are
 * empty. */
static void
fill_three (gfloat *maps[3], gboolean anchors_first, const gfloat row[ROW])
{
  const guint cells = LARGE_CELLS / 4, cell = 1 * 10 + 2;
  for (guint t = 0; t < 3; t++)
    for (guint i = 0; i < 3 * ROW * LARGE_CELLS; i++)
      maps[t][i] = -20;
  for (guint k = 0; k < ROW; k++)
    maps[1][anchors_first ? (cells + cell) * ROW + k : (ROW + k) * cells + cell] = row[k];
}

/* Boxes of the presets, by the formulas and anchors that their repositories have. */
static void
test_presets (void)
{
  static const gfloat row[ROW] = { 0.5f, -1, 0.25f, -0.5f, 2, -9, 3 };
  static const struct
  {
    const char *name;
    gboolean squares;
    double anchor[2], scale;
  } rows[] = { { "v3", FALSE, { 62, 45 }, 1 },
               { "v4", FALSE, { 76, 55 }, 1.1 },
               { "v5", TRUE, { 62, 45 }, 2 },
               { "v7", TRUE, { 76, 55 }, 2 } };
  gfloat *maps[3];
  for (guint t = 0; t < 3; t++)
    maps[t] = g_new (gfloat, 3 * ROW * LARGE_CELLS);
  for (guint i = 0; i < 3 * G_N_ELEMENTS (rows); i++) {
    const guint which = i / 3, form = i % 3; /* 2: past the sigmoid */
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strdup_printf ("yolo-raw,preset=%s", rows[which].name);
    SlDecoderConfig config = three_maps (form != 1);
    gfloat numbers[ROW];
    for (guint k = 0; k < ROW; k++)
      numbers[k] = form == 2 ? (gfloat) sigmoid ((double) row[k]) : row[k];
    for (guint t = 0; t < 3 && form == 2; t++)
      config.tensors[t].values = SL_VALUES_PROBABILITIES;
    if (form == 2 && !rows[which].squares) {
      assert_open_fails (name, &config, SL_ERROR_ARGUMENT,
                         "numbers of 0..1 are no logarithms of sizes");
      continue;
    }
    fill_three (maps, form != 1, numbers);
    g_autoptr (SlDecoding) decoding = sl_decoding_new (name, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_decoding_classes (decoding), ==, CLASSES);
    const SlResult *result = sl_decoding_run (decoding, (const void *const *) maps);
    g_assert_cmpuint (result->n_detections, ==, 1);
    const SlDetection *box = &result->detections[0];
    const double scale = rows[which].scale;
    const double x = 16 * (2.5 + (sigmoid (0.5) - 0.5) * scale),
                 y = 16 * (1.5 + (sigmoid (-1) - 0.5) * scale);
    const double w =
      rows[which].anchor[0] * (rows[which].squares ? pow (2 * sigmoid (0.25), 2) : exp (0.25));
    const double h =
      rows[which].anchor[1] * (rows[which].squares ? pow (2 * sigmoid (-0.5), 2) : exp (-0.5));
    g_assert_cmpint (box->label_id, ==, 1);
    g_assert_cmpfloat_with_epsilon (box->confidence, sigmoid (2) * sigmoid (3), 1e-5);
    g_assert_cmpfloat_with_epsilon ((box->x_min + box->x_max) / 2 * LARGE_WIDTH, x, 1e-3);
    g_assert_cmpfloat_with_epsilon ((box->y_min + box->y_max) / 2 * LARGE_HEIGHT, y, 1e-3);
    g_assert_cmpfloat_with_epsilon ((box->x_max - box->x_min) * LARGE_WIDTH, w, 1e-3);
    g_assert_cmpfloat_with_epsilon ((box->y_max - box->y_min) * LARGE_HEIGHT, h, 1e-3);
  }
  for (guint t = 0; t < 3; t++)
    g_free (maps[t]);
}

/* What messages ask for; other anchors stand beside a preset, whose formulas remain. */
static void
test_presets_asked (void)
{
  SlDecoderConfig config = three_maps (TRUE), planar = three_maps (FALSE), two = planar;
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE,
                     "may be the heads of YOLO v5 or v7: state decoder=yolo-raw,preset=v5");
  assert_open_fails (NULL, &planar, SL_ERROR_SHAPE,
                     "three maps of strides 8, 16 and 32 may be the heads of YOLO v3 to v7");
  two.n_tensors = 2;
  assert_open_fails ("yolo-raw,preset=v5", &two, SL_ERROR_SHAPE,
                     "the anchors of v5 are those of three maps of strides 8, 16 and 32");
  assert_open_fails ("yolo-raw,preset=v9", &two, SL_ERROR_ARGUMENT, "preset");
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("yolo-raw,preset=v5,anchors=1,2,3,4,5,6,7,8", &two, &error);
  g_assert_error (error, SL_ERROR, SL_ERROR_SHAPE);
  g_clear_error (&error);
  g_autoptr (SlDecoding) own =
    sl_decoding_new ("yolo-raw,preset=v5,anchors=1,2,3,4,5,6,7,8,9,10,11,12", &two, &error);
  g_assert_no_error (error);
  g_assert_null (decoding);
  g_assert_cmpuint (sl_decoding_classes (own), ==, CLASSES);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_yolo_raw/heads", test_heads);
  g_test_add_func ("/decode_yolo_raw/planar", test_planar);
  g_test_add_func ("/decode_yolo_raw/five_dimensions", test_five_dimensions);
  g_test_add_func ("/decode_yolo_raw/either", test_either);
  g_test_add_func ("/decode_yolo_raw/scale", test_scale);
  g_test_add_func ("/decode_yolo_raw/not_a_number", test_not_a_number);
  g_test_add_func ("/decode_yolo_raw/refused", test_refused);
  g_test_add_func ("/decode_yolo_raw/presets", test_presets);
  g_test_add_func ("/decode_yolo_raw/presets_asked", test_presets_asked);
  return g_test_run ();
}
