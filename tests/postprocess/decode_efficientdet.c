/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* EfficientDet without post-processing: every row's box against the formulas of its anchors in
 * double, in all layouts. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 128
#define HEIGHT 256
#define CLASSES 6
#define PER_CELL 9

typedef enum
{
  LAYOUT_ROWS,
  LAYOUT_MAPS,
  LAYOUT_CHANNELS_FIRST
} Layout;

static const guint strides[5] = { 8, 16, 32, 64, 128 };

/** A row and where it lies. */
typedef struct
{
  guint level, x, y, size, shape, row; /* @row: of all */
} Place;

static guint
count_cells (guint level)
{
  return (WIDTH / strides[level]) * (HEIGHT / strides[level]);
}

static guint
count_rows (void)
{
  guint n = 0;
  for (guint l = 0; l < 5; l++)
    n += count_cells (l) * PER_CELL;
  return n;
}

static Place
place_at (guint level, guint x, guint y, guint size, guint shape)
{
  guint row = 0;
  for (guint l = 0; l < level; l++)
    row += count_cells (l) * PER_CELL;
  row += (y * (WIDTH / strides[level]) + x) * PER_CELL + size * 3 + shape;
  return (Place){ level, x, y, size, shape, row };
}

/* Boxes before scores, so that their order is not what tells them apart. */
static SlDecoderConfig
new_config (Layout layout)
{
  SlDecoderConfig config = {
    .threshold = 0.4f, .max_results = 100, .input_width = WIDTH, .input_height = HEIGHT
  };
  for (guint k = 0; k < 2; k++) {
    const gint32 numbers = k == 0 ? 4 : CLASSES;
    for (guint l = 0; l < 5 && layout != LAYOUT_ROWS; l++) {
      const gint32 w = (gint32) (WIDTH / strides[l]), h = (gint32) (HEIGHT / strides[l]);
      if (layout == LAYOUT_MAPS)
        config_add (&config, SL_DTYPE_F32, DIMS (1, h, w, PER_CELL * numbers), 0, 0);
      else
        config_add (&config, SL_DTYPE_F32, DIMS (1, PER_CELL * numbers, h, w), 0, 0);
    }
    if (layout == LAYOUT_ROWS)
      config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) count_rows (), numbers), 0, 0);
  }
  return config;
}

/* Where number @k of @per_row of a row is in the tensors of @layout. */
static gfloat *
number_of (gfloat **data, Layout layout, const Place *place, gboolean of_boxes, guint k)
{
  const guint per_row = of_boxes ? 4 : CLASSES;
  const guint cells = count_cells (place->level),
              cell = place->y * (WIDTH / strides[place->level]) + place->x;
  const guint anchor = place->size * 3 + place->shape;
  if (layout == LAYOUT_ROWS)
    return &data[of_boxes ? 0 : 1][place->row * per_row + k];
  gfloat *map = data[(of_boxes ? 0 : 5) + place->level];
  return layout == LAYOUT_MAPS ? &map[(cell * PER_CELL + anchor) * per_row + k]
                               : &map[(anchor * per_row + k) * cells + cell];
}

static gfloat **
new_data (const SlDecoderConfig *config)
{
  gfloat **data = g_new0 (gfloat *, config->n_tensors + 1);
  for (guint t = 0; t < config->n_tensors; t++) {
    gsize n = 1;
    for (guint i = 0; i < config->tensors[t].rank; i++)
      n *= (gsize) config->tensors[t].dims[i];
    data[t] = g_new (gfloat, n);
    for (gsize i = 0; i < n; i++)
      data[t][i] = -9;
  }
  return data;
}

static void
free_data (gfloat **data)
{
  for (guint t = 0; data[t] != NULL; t++)
    g_free (data[t]);
  g_free (data);
}

static void
check_box (const SlDetection *box, const Place *place, const double offsets[4],
           const double shape[2])
{
  const double stride = strides[place->level], side = 4 * stride * pow (2, place->size / 3.0);
  const double w = side * shape[0] * exp (offsets[3]), h = side * shape[1] * exp (offsets[2]);
  const double x = (place->x + 0.5) * stride + offsets[1] * side * shape[0],
               y = (place->y + 0.5) * stride + offsets[0] * side * shape[1];
  g_assert_cmpfloat_with_epsilon (box->x_min * WIDTH, x - w / 2, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->x_max * WIDTH, x + w / 2, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->y_min * HEIGHT, y - h / 2, 1e-3);
  g_assert_cmpfloat_with_epsilon (box->y_max * HEIGHT, y + h / 2, 1e-3);
}

/* Rows of every level and shape, each alone. */
static void
check_layout (Layout layout, gboolean torch, gboolean swapped)
{
  static const double automl_shapes[3][2] = { { 1, 1 },
                                              { G_SQRT2, 1 / G_SQRT2 },
                                              { 1 / G_SQRT2, G_SQRT2 } };
  static const double torch_shapes[3][2] = { { 1, 1 }, { 1.4, 0.7 }, { 0.7, 1.4 } };
  static const double offsets[4] = { 0.125, -0.25, -0.5, 0.375 }; /* y, x, height, width */
  const Place places[] = { place_at (0, 3, 2, 0, 0), place_at (0, 15, 31, 2, 1),
                           place_at (1, 7, 4, 1, 2), place_at (2, 0, 7, 2, 2),
                           place_at (3, 1, 3, 0, 1), place_at (4, 0, 1, 2, 0) };
  const char *const names[] = { "efficientdet", "efficientdet,preset=torch",
                                "efficientdet,order=xy", "efficientdet,preset=torch,order=xy" };
  SlDecoderConfig config = new_config (layout);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new (names[(torch ? 1 : 0) + (swapped ? 2 : 0)], &config, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, CLASSES);
  gfloat **data = new_data (&config);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    const guint label = i % CLASSES;
    *number_of (data, layout, &places[i], FALSE, label) = 1.5f;
    for (guint k = 0; k < 4; k++)
      *number_of (data, layout, &places[i], TRUE, swapped ? k ^ 1 : k) = (gfloat) offsets[k];
    const SlResult *result = sl_decoding_run (decoding, (const void *const *) data);
    g_assert_cmpuint (result->n_detections, ==, 1);
    g_assert_cmpint (result->detections[0].label_id, ==, (gint) label);
    g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 1 / (1 + exp (-1.5)), 1e-6);
    check_box (&result->detections[0], &places[i], offsets,
               (torch ? torch_shapes : automl_shapes)[places[i].shape]);
    *number_of (data, layout, &places[i], FALSE, label) = -9;
  }
  free_data (data);
}

static void
test_layouts (void)
{
  for (Layout layout = LAYOUT_ROWS; layout <= LAYOUT_CHANNELS_FIRST; layout++)
    for (guint form = 0; form < 4; form++)
      check_layout (layout, form & 1, form & 2);
}

/* Levels of 8 bits with scales of their own; a LOGISTIC has made the scores. */
static void
test_quantised (void)
{
  SlDecoderConfig config = new_config (LAYOUT_MAPS);
  const Place low = place_at (1, 2, 3, 0, 0), high = place_at (2, 0, 0, 1, 0);
  guint8 *data[10];
  for (guint t = 0; t < 10; t++) {
    config.tensors[t].dtype = SL_DTYPE_U8;
    config.tensors[t].scale = t < 5 ? 0.125f : t % 2 == 0 ? 1 / 256.0f : 1 / 512.0f;
    config.tensors[t].zero_point = t < 5 ? 128 : 0;
    config.tensors[t].values = SL_VALUES_PROBABILITIES;
    data[t] = g_malloc (count_cells (t % 5) * PER_CELL * (t < 5 ? 4u : CLASSES));
    memset (data[t], t < 5 ? 128 : 0, count_cells (t % 5) * PER_CELL * (t < 5 ? 4u : CLASSES));
  }
  const guint low_row = (low.y * (WIDTH / 16) + low.x) * PER_CELL, high_row = 3;
  data[5 + low.level][low_row * CLASSES + 2] = 128;
  data[5 + high.level][high_row * CLASSES + 5] = 240;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("efficientdet,background-offset=1", &config, &error);
  g_assert_no_error (error);
  const SlResult *result = sl_decoding_run (decoding, (const void *const *) data);
  g_assert_cmpuint (result->n_detections, ==, 2);
  g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 0.5, 1e-6);
  g_assert_cmpint (result->detections[0].label_id, ==, 3);
  g_assert_cmpfloat_with_epsilon (result->detections[1].confidence, 240 / 512.0, 1e-6);
  g_assert_cmpint (result->detections[1].label_id, ==, 6);
  check_box (&result->detections[0], &low, (const double[4]){ 0 }, (const double[2]){ 1, 1 });
  for (guint t = 0; t < 10; t++)
    g_free (data[t]);
}

/* Anchors of other sizes and ratios; the anchors themselves may lie beside. */
static void
test_parameters (void)
{
  SlDecoderConfig config = {
    .threshold = 0.4f, .max_results = 10, .input_width = 64, .input_height = 64
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 40, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 40, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 40, 4), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (
    "efficientdet,strides=16,32,scales=2,ratios=4,anchor-scale=3,activation=none", &config, &error);
  g_assert_no_error (error);
  gfloat scores[160] = { 0 }, offsets[160] = { 0 };
  scores[4 * 35 + 1] = 0.75f; /* the second map's second cell, larger anchor */
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ scores, offsets, offsets });
  g_assert_cmpuint (result->n_detections, ==, 1);
  const double side = 3 * 32 * G_SQRT2;
  g_assert_cmpfloat_with_epsilon (result->detections[0].x_min * 64, 48 - side, 1e-3);
  g_assert_cmpfloat_with_epsilon (result->detections[0].y_max * 64, 16 + side / 4, 1e-3);
  for (guint i = 0; i < 160; i++)
    scores[i] = i % 2 == 0 ? NAN : 2;
  memset (offsets, 0xff, sizeof offsets);
  g_assert_cmpuint (
    sl_decoding_run (decoding, (const void *const[]){ scores, offsets, offsets })->n_detections, ==,
    0);
}

static void
test_refused (void)
{
  SlDecoderConfig config = new_config (LAYOUT_MAPS);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE,
                     "state decoder=efficientdet, of PyTorch's efficientdet,preset=torch");
  config = new_config (LAYOUT_ROWS);
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "layers= and feature-maps= of the model; EfficientDet's are decoder=efficientdet, queries "
    "without anchors decoder=detr");
  assert_open_fails ("efficientdet,strides=8,16", &config, SL_ERROR_SHAPE,
                     "state strides=, scales= and ratios= of the model");
  assert_open_fails ("efficientdet,preset=tf", &config, SL_ERROR_ARGUMENT, "preset");
  assert_open_fails ("efficientdet,order=zx", &config, SL_ERROR_ARGUMENT, "order");
  assert_open_fails ("efficientdet,activation=relu", &config, SL_ERROR_ARGUMENT, "activation");
  assert_open_fails ("efficientdet,background-offset=x", &config, SL_ERROR_ARGUMENT,
                     "background-offset");
  config.input_width = 0;
  assert_open_fails (
    "efficientdet", &config, SL_ERROR_ARGUMENT,
    "decoder efficientdet: the size of the model's input is not known, which anchors need: state "
    "imgsz=HEIGHT,WIDTH");
  config = new_config (LAYOUT_CHANNELS_FIRST);
  config.tensors[7].dims[1] = PER_CELL * (CLASSES + 1);
  assert_open_fails ("efficientdet", &config, SL_ERROR_SHAPE,
                     "9 anchors a cell, for an input of 128x256");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decode_efficientdet/layouts", test_layouts);
  g_test_add_func ("/decode_efficientdet/quantised", test_quantised);
  g_test_add_func ("/decode_efficientdet/parameters", test_parameters);
  g_test_add_func ("/decode_efficientdet/refused", test_refused);
  return g_test_run ();
}
