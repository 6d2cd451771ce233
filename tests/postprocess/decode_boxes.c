/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detectors with anchors and cells: anchors against those inside a real SSD, offsets worked out by
 * hand, and what tensors may not look like. Whole outputs of real models are golden.py's.
 */
#include <glib/gstdio.h>
#include <math.h>

#include "models/model.h"
#include "postprocess/anchors.h"
#include "tests/postprocess/support.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

static void
test_ssd_anchors (void)
{
  g_autofree char *path = sl_test_data ("models/ssd_mobilenet_v1.tflite");
  if (path == NULL)
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  const SlGraph *graph = sl_model_graph (model);
  const SlTensor *priors = NULL;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    if (sl_graph_node (graph, i)->op == SL_OP_DETECTION_POSTPROCESS)
      priors = sl_graph_tensor (graph, sl_graph_node (graph, i)->inputs[2]);
  g_assert_nonnull (priors);
  const SlSsdAnchors spec = { .n_maps = 6,
                              .map_width = { 19, 10, 5, 3, 2, 1 },
                              .map_height = { 19, 10, 5, 3, 2, 1 },
                              .scale_min = 0.2,
                              .scale_max = 0.95,
                              .n_ratios = 5,
                              .ratios = { 1, 2, 0.5, 3, 0.3333 },
                              .reduce_lowest = TRUE,
                              .interpolated = 1 };
  guint n = 0;
  g_autofree SlAnchor *anchors = sl_anchors_ssd (&spec, &n);
  g_assert_cmpuint (n, ==, 1917);
  g_assert_cmpint (priors->dims[0], ==, 1917);
  const guint8 *codes = priors->data;
  const double scale = sl_tensor_scale (priors), zero = sl_tensor_zero_point (priors);
  const double slack = priors->dtype == SL_DTYPE_U8 ? scale * 0.51 : 1e-4;
  for (guint i = 0; i < n; i++) {
    const gfloat ours[4] = { anchors[i].y, anchors[i].x, anchors[i].h, anchors[i].w };
    for (guint k = 0; k < 4; k++) {
      gfloat real;
      if (priors->dtype == SL_DTYPE_U8)
        real = (gfloat) ((codes[i * 4 + k] - zero) * scale);
      else
        memcpy (&real, codes + (i * 4 + k) * sizeof real, sizeof real);
      g_assert_cmpfloat_with_epsilon (ours[k], real, slack);
    }
  }
}

/* One anchor in the middle of the picture, moved and stretched. */
static void
test_ssd_raw (void)
{
  const gfloat offsets[8] = { 1, -2, (gfloat) (5 * log (2)), (gfloat) (5 * log (0.5)), 0, 0, 0, 0 };
  const gfloat scores[6] = { 9, 2, 3, 9, -9, -9 };
  static const char priors[] = "0.5 0.2\n0.5 0.2\n0.4,0.1\n0.2 0.1\n";
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (folder, "box-priors.txt", NULL);
  g_assert_true (g_file_set_contents (path, priors, -1, NULL));
  g_autofree char *name = g_strdup_printf ("ssd-raw,anchors-file=%s", path);
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10, .n_labels = 3 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2, 3), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2, 4), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (name, &config, &error);
  g_assert_no_error (error);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores, offsets });
  g_assert_cmpuint (result->n_detections, ==, 1);
  const SlDetection *found = &result->detections[0];
  g_assert_cmpint (found->label_id, ==, 2);
  g_assert_cmpfloat_with_epsilon (found->confidence, 1 / (1 + exp (-3)), 1e-6);
  const double y = 0.5 + 0.1 * 0.4, x = 0.5 - 0.2 * 0.2, h = 0.8, w = 0.1;
  g_assert_cmpfloat_with_epsilon (found->y_min, y - h / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->y_max, y + h / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->x_min, x - w / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->x_max, x + w / 2, 1e-6);
  config.tensors[0].dims[1] = config.tensors[1].dims[1] = 3;
  assert_open_fails (name, &config, SL_ERROR_SHAPE, "2 anchors for tensors of 3 rows");
  g_assert_true (g_file_set_contents (path, "1 2\n1\n", -1, NULL));
  assert_open_fails (name, &config, SL_ERROR_FORMAT, "expected four lines of equally many numbers");
  g_remove (path);
  g_rmdir (folder);
  assert_open_fails (name, &config, SL_ERROR_OPEN, "decoder parameter anchors-file: ");
}

/* What the test works out of random logits and boxes in double precision. */
typedef struct
{
  double confidence;
  guint row, label;
} Expected;

static gint
compare_expected (gconstpointer a, gconstpointer b)
{
  const double x = ((const Expected *) a)->confidence, y = ((const Expected *) b)->confidence;
  return x < y ? 1 : x > y ? -1 : 0;
}

static void
expect_query (GArray *list, double threshold, double confidence, guint row, guint label)
{
  if (confidence >= threshold)
    g_array_append_val (list, ((Expected){ confidence, row, label }));
}

/* Queries by softmax with "no object" last, or class by class by sigmoid. */
static GArray *
expected_queries (const gfloat *logits, guint n, guint columns, gboolean softmax, double threshold)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Expected));
  for (guint row = 0; row < n; row++) {
    const gfloat *x = logits + (gsize) row * columns;
    double sum = 0;
    guint best = 0;
    for (guint c = 0; c < columns; c++)
      sum += exp ((double) x[c]);
    for (guint c = 1; c + 1 < columns; c++)
      best = x[c] > x[best] ? c : best;
    if (softmax)
      expect_query (list, threshold, exp ((double) x[best]) / sum, row, best);
    for (guint c = 0; c < columns && !softmax; c++)
      expect_query (list, threshold, 1 / (1 + exp (-(double) x[c])), row, c);
  }
  g_array_sort (list, compare_expected);
  return list;
}

static void
test_detr (gconstpointer data)
{
  const gboolean softmax = GPOINTER_TO_INT (data);
  const guint n = 100, columns = softmax ? 92 : 80;
  g_autofree gfloat *logits = g_new (gfloat, n * columns), *boxes = g_new (gfloat, n * 4);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint i = 0; i < n * columns; i++)
    logits[i] = (gfloat) g_rand_double_range (rand, -12, softmax ? 4 : 0.1);
  for (guint row = 0; row < n && softmax; row += 3)
    logits[row * columns + row % columns] += 9;
  for (guint i = 0; i < n * 4; i++)
    boxes[i] = (gfloat) g_rand_double_range (rand, 0.1, 0.9);
  g_autoptr (GArray) expected = expected_queries (logits, n, columns, softmax, 0.3);
  SlDecoderConfig config = { .threshold = 0.3f, .max_results = 200 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n, (gint32) columns), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n, 4), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "detr");
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, softmax ? 91 : 80);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ logits, boxes });
  g_assert_cmpuint (expected->len, >, 5);
  g_assert_cmpuint (result->n_detections, ==, MIN (expected->len, 200));
  for (guint i = 0; i < result->n_detections; i++) {
    const Expected *wanted = &g_array_index (expected, Expected, i);
    const SlDetection *found = &result->detections[i];
    const gfloat *box = boxes + (gsize) wanted->row * 4;
    g_assert_cmpfloat_with_epsilon (found->confidence, wanted->confidence, 1e-6);
    g_assert_cmpint (found->label_id, ==, (gint) wanted->label);
    g_assert_cmpfloat_with_epsilon (found->x_min, box[0] - box[2] / 2, 1e-6);
    g_assert_cmpfloat_with_epsilon (found->y_max, box[1] + box[3] / 2, 1e-6);
  }
}

/* What tells one activation from another, and what cannot be. */
static void
test_detr_activation (void)
{
  static const struct
  {
    guint columns, n_labels;
    SlValueKind values;
    guint classes;
  } rows[] = { { 92, 0, SL_VALUES_UNKNOWN, 91 }, { 91, 0, SL_VALUES_UNKNOWN, 91 },
               { 5, 4, SL_VALUES_LOGITS, 4 },    { 5, 5, SL_VALUES_LOGITS, 5 },
               { 1, 1, SL_VALUES_LOGITS, 1 },    { 5, 4, SL_VALUES_PROBABILITIES, 4 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10, .n_labels = rows[i].n_labels };
    config_add (&config, SL_DTYPE_F32, DIMS (1, 300, 4), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, 300, (gint32) rows[i].columns), 0, 0);
    config.tensors[1].values = rows[i].values;
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_decoding_classes (decoding), ==, rows[i].classes);
  }
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 300, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 300, 1), 0, 0);
  assert_open_fails ("detr,activation=softmax", &config, SL_ERROR_ARGUMENT,
                     "the tensor has 1 a query: expected sigmoid or none");
  assert_open_fails ("detr,activation=x", &config, SL_ERROR_ARGUMENT, "softmax, sigmoid, none");
  config.tensors[1].dims[1] = 299;
  assert_open_fails ("detr", &config, SL_ERROR_SHAPE,
                     "expected tensors logits[1,N,classes] and boxes[1,N,4]");
}

static void
test_ssd_raw_codes (void)
{
  guint8 offsets[1917 * 4], scores[1917 * 4];
  SlDecoderConfig config = {
    .threshold = 0.6f, .max_results = 10, .input_width = 300, .input_height = 300
  };
  config_add (&config, SL_DTYPE_U8, DIMS (1, 1917, 4), 0.1f, 128);
  config_add (&config, SL_DTYPE_U8, DIMS (1, 1917, 4), 0.1f, 128);
  memset (offsets, 128, sizeof offsets);
  memset (scores, 100, sizeof scores);
  scores[1916 * 4 + 3] = 138; /* the last anchor, logit 1 */
  scores[4] = 255;            /* background */
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("ssd-raw,background-offset=-1", &config, &error);
  g_assert_no_error (error);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ offsets, scores });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpint (result->detections[0].label_id, ==, 2);
  g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 1 / (1 + exp (-1)), 1e-6);
  const double side = sqrt (0.95); /* between the last scale and 1 */
  g_assert_cmpfloat_with_epsilon (result->detections[0].x_min, 0.5 - side / 2, 1e-6);
}

static void
test_ssd_raw_errors (void)
{
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1917, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1917, 91), 0, 0);
  assert_open_fails ("ssd-raw", &config, SL_ERROR_ARGUMENT,
                     "which anchors need: state imgsz=HEIGHT,WIDTH or feature-maps=");
  assert_open_fails ("ssd-raw,scales=1,2", &config, SL_ERROR_ARGUMENT,
                     "scales: expected 4 numbers");
  assert_open_fails ("ssd-raw,feature-maps=4096,4096,4096", &config, SL_ERROR_LIMIT,
                     "over 10 million anchors");
  config.input_width = config.input_height = 320;
  assert_open_fails ("ssd-raw", &config, SL_ERROR_SHAPE, "2034 anchors for tensors of 1917 rows");
  config.tensors[1].dims[1] = 1916;
  assert_open_fails ("ssd-raw", &config, SL_ERROR_SHAPE,
                     "expected tensors offsets[1,N,4] and scores[1,N,classes]");
}

static void
test_ultraface (void)
{
  static const gfloat corners[8] = { 0.1f, 0.2f, 0.3f, 0.4f, 0.1f, 0.2f, 0.3f, 0.41f };
  static const gfloat scores[4] = { 0.1f, 0.9f, 0.2f, 0.8f };
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 10 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2, 2), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 2, 4), 0, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "ultraface");
  g_assert_cmpstr (sl_decoding_decoder (decoding)->names[0], ==, "face");
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores, corners });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat (result->detections[0].y_max, ==, 0.4f);
  assert_open_fails ("ultraface,boxes=offsets,imgsz=240,320", &config, SL_ERROR_SHAPE,
                     "an input of 320x240 has 4420 anchors, the tensors have 2 rows");
  config.tensors[0].dims[2] = 3;
  assert_open_fails ("ultraface", &config, SL_ERROR_SHAPE,
                     "expected tensors boxes[1,N,4] and scores[1,N,2]");
}

static void
test_nanodet_plus (void)
{
  enum
  {
    COLUMNS = 2 + 32,
    CELLS = 64 + 16 + 4 + 1
  };
  gfloat data[CELLS * COLUMNS] = { 0 };
  gfloat *row = &data[(64 + 5) * COLUMNS]; /* stride 16, cell (1, 1): centre (16, 16) */
  row[1] = 0.75f;
  for (guint edge = 0; edge < 4; edge++)
    row[2 + edge * 8 + edge % 2] = 50; /* distances 0, 1, 0, 1 cells */
  row[2 + 2 * 8 + 2] = 50;             /* right: half 0, half 2 */
  data[3 * COLUMNS] = NAN;
  data[4 * COLUMNS] = 0.9f;
  data[4 * COLUMNS + 5] = NAN;
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .n_labels = 2, .input_width = 64, .input_height = 64
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, CELLS, COLUMNS), 0, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "nanodet");
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ data });
  g_assert_cmpuint (result->n_detections, ==, 1);
  const SlDetection *found = &result->detections[0];
  g_assert_cmpint (found->label_id, ==, 1);
  g_assert_cmpfloat_with_epsilon (found->x_min, 0.25, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->y_min, 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->x_max, 0.5, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->y_max, 0.5, 1e-6);
}

static void
test_cell_errors (void)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 64, .input_height = 64
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 64, 80), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 64, 32), 0, 0);
  assert_open_fails ("nanodet", &config, SL_ERROR_SHAPE,
                     "decoder nanodet: expected for an input of 64x64 a row for each cell");
  assert_open_fails ("nanodet,bins=1", &config, SL_ERROR_ARGUMENT,
                     "bins: expected an integer 2..64");
  assert_open_fails (
    "yunet", &config, SL_ERROR_SHAPE,
    "for an input of 64x64 and each of 3 strides float32 tensors of 1, 1, 4 and 10 columns");
  config.input_width = 0;
  assert_open_fails ("yunet", &config, SL_ERROR_ARGUMENT,
                     "decoder yunet: the size of the model's input is not known, which boxes in "
                     "cells need: state imgsz=HEIGHT,WIDTH");
  config.n_tensors = 0;
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 100, 3), 0, 0);
  assert_open_fails ("detections,units=pixels", &config, SL_ERROR_ARGUMENT,
                     "decoder detections: boxes are in pixels of the model's input, whose size is "
                     "not known: state imgsz=HEIGHT,WIDTH");
}

/* One stride: the geometric mean of two scores, whatever their order, and broken numbers. */
static void
test_yunet (void)
{
  static const gfloat classes[4] = { 0.8f, 0.9f, NAN, 1 }, objects[4] = { 0.9f, 0.1f, 1, 1 };
  static const gfloat boxes[16] = { 0.5f, 0.5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NAN, 0, 0, 0 };
  gfloat points[40] = { 0.25f, 0.5f, NAN, 1 };
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 64, .input_height = 64
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 4, 1), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 4, 10), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 4, 1), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 4, 4), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("yunet,strides=32", &config, &error);
  g_assert_no_error (error);
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ classes, points, objects, boxes });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, sqrt (0.72), 1e-6);
  g_assert_cmpfloat_with_epsilon (result->detections[0].x_min, 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (result->detections[0].x_max, 0.5, 1e-6);
  g_assert_cmpuint (result->detections[0].n_keypoints, ==, 5);
  g_assert_cmpfloat_with_epsilon (result->keypoints[0].x, 0.125, 1e-6);
  g_assert_cmpfloat_with_epsilon (result->keypoints[0].y, 0.25, 1e-6);
  g_assert_cmpfloat (result->keypoints[1].confidence, ==, 0);
  g_assert_true (result->skeleton == &sl_skeleton_face);
}

/* Two cells of six: powers of the scores, a tangent, a sigmoid; and NaN. */
static void
test_fastestdet (void)
{
  enum
  {
    CELLS = 6
  };
  gfloat data[7 * CELLS] = { 0 };
  const gfloat cell[7] = { 0.9f, 0.5f, -0.25f, -1, 0.5f, 0.1f, 0.8f },
               broken[7] = { 1, NAN, 0, 0, 0, 1, 0 };
  for (guint k = 0; k < 7; k++) {
    data[k * CELLS + 4] = cell[k]; /* row 1, column 1 */
    data[k * CELLS] = broken[k];
  }
  data[5] = NAN;
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .n_labels = 2, .input_width = 48, .input_height = 32
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 7, 2, 3), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "fastestdet");
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, 2);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ data });
  g_assert_cmpuint (result->n_detections, ==, 1);
  const SlDetection *found = &result->detections[0];
  const double x = (1 + tanh (0.5)) / 3, y = (1 + tanh (-0.25)) / 2, w = 1 / (1 + exp (1)),
               h = 1 / (1 + exp (-0.5));
  g_assert_cmpint (found->label_id, ==, 1);
  g_assert_cmpfloat_with_epsilon (found->confidence, pow (0.9, 0.6) * pow (0.8, 0.4), 1e-6);
  g_assert_cmpfloat_with_epsilon (found->x_min, x - w / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->y_min, y - h / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->x_max, x + w / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (found->y_max, y + h / 2, 1e-6);
  config.tensors[0].rank = 3;
  assert_open_fails ("fastestdet", &config, SL_ERROR_SHAPE, "expected one map [1,5+classes,H,W]");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/boxes/ssd_anchors", test_ssd_anchors);
  g_test_add_func ("/boxes/ssd_raw", test_ssd_raw);
  g_test_add_data_func ("/boxes/detr/softmax", GINT_TO_POINTER (TRUE), test_detr);
  g_test_add_data_func ("/boxes/detr/sigmoid", GINT_TO_POINTER (FALSE), test_detr);
  g_test_add_func ("/boxes/detr/activation", test_detr_activation);
  g_test_add_func ("/boxes/ssd_raw_codes", test_ssd_raw_codes);
  g_test_add_func ("/boxes/ssd_raw_errors", test_ssd_raw_errors);
  g_test_add_func ("/boxes/ultraface", test_ultraface);
  g_test_add_func ("/boxes/nanodet_plus", test_nanodet_plus);
  g_test_add_func ("/boxes/fastestdet", test_fastestdet);
  g_test_add_func ("/boxes/cell_errors", test_cell_errors);
  g_test_add_func ("/boxes/yunet", test_yunet);
  return g_test_run ();
}
