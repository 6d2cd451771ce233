/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder table: names, choice by shape, and what a configuration may not say. */
#include <math.h>
#include <string.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

static SlDecoderConfig
scores_config (void)
{
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 5 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 5), 0, 0);
  return config;
}

static void
test_names (void)
{
  g_autofree char *names = sl_decoder_names ();
  SlDecoderConfig config = scores_config ();
  g_assert_nonnull (strstr (names, "labels"));
  g_assert_nonnull (strstr (names, "ssd"));
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("Labels", &config, NULL);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "labels");
  assert_open_fails ("labels", &(SlDecoderConfig){ .threshold = 0.5f, .max_results = 1 },
                     SL_ERROR_ARGUMENT, "decoder: expected 1..");
  assert_open_fails ("yolo9000", &config, SL_ERROR_ARGUMENT, ", yolo, none, got 'yolo9000'");
  sl_decoding_free (NULL);
}

static void
test_no_match (void)
{
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 5 };
  config_add (&config, SL_DTYPE_F32, DIMS (2, 3, 5, 7, 11), 0, 0);
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "no decoder takes the tensors float32[2,3,5,7,11]; sightline infer gives their numbers, "
    "docs/predictions.md lists the decoders");
  config = (SlDecoderConfig){
    .threshold = 0.5f, .max_results = 5, .input_width = 192, .input_height = 192
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 48, 48, 14), 0, 0);
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "no decoder takes the tensors float32[1,48,48,14] unnamed, because maps much smaller than the "
    "input may be classes, heat maps of points or a grid of boxes (yolo-raw,anchors=); try "
    "decoder=segmentation or decoder=pose; docs/predictions.md lists all decoders");
}

/* Whether the message for the tensors of @dims, up to a rank of 0, names @decoder. */
static gboolean
is_proposed (const gint32 dims[4][5], const char *decoder)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 5, .input_width = 320, .input_height = 320
  };
  g_autoptr (GError) error = NULL;
  for (guint t = 0; t < 4 && dims[t][0] > 0; t++)
    config_add (&config, SL_DTYPE_F32, dims[t], 0, 0);
  g_assert_null (sl_decoding_new (NULL, &config, &error));
  return strstr (error->message, decoder) != NULL;
}

/* Maps are no rows of boxes, and several vectors no points, unless one is the points in metres. */
static void
test_proposals (void)
{
  g_assert_false (
    is_proposed ((const gint32[4][5]){ { 1, 40, 40, 4 }, { 1, 40, 40, 1 } }, "decoder=detections"));
  g_assert_false (is_proposed ((const gint32[4][5]){ { 1, 8 }, { 1, 8 } }, "decoder=landmarks"));
  g_assert_false (
    is_proposed ((const gint32[4][5]){ { 1, 120 }, { 1, 66 }, { 1, 66 } }, "decoder=landmarks"));
  g_assert_true (
    is_proposed ((const gint32[4][5]){ { 1, 60 }, { 1, 1 }, { 1, 60 } }, "decoder=landmarks"));
}

/* If no threshold is stated, what is stated beside the decoder's name counts, or the decoder's own.
 */
static void
test_own_threshold (void)
{
  static const struct
  {
    const char *decoder;
    gfloat threshold;
    double expected;
  } cases[] = { { "ssd-raw", SL_OWN_THRESHOLD, 0.5 },
                { "ssd-raw,threshold=0.625", SL_OWN_THRESHOLD, 0.625 },
                { "ssd-raw,threshold=0.625", 0.25f, 0.25 },
                { "ssd-raw", 0, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlDecoderConfig config = {
      .threshold = cases[i].threshold, .max_results = 5, .input_width = 300, .input_height = 300
    };
    g_autoptr (GError) error = NULL;
    config_add (&config, SL_DTYPE_F32, DIMS (1, 1917, 4), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (1, 1917, 91), 0, 0);
    g_autoptr (SlDecoding) decoding = sl_decoding_new (cases[i].decoder, &config, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat (sl_decoding_threshold (decoding), ==, cases[i].expected);
  }
  SlDecoderConfig config = scores_config ();
  config.threshold = SL_OWN_THRESHOLD;
  assert_open_fails ("labels,threshold=2", &config, SL_ERROR_ARGUMENT,
                     "decoder parameter threshold: expected a number 0..1, got '2'");
}

static void
test_bad_config (void)
{
  static const gfloat thresholds[] = { -0.01f, 1.01f, NAN, INFINITY };
  SlDecoderConfig config = scores_config ();
  for (guint i = 0; i < G_N_ELEMENTS (thresholds); i++) {
    config.threshold = thresholds[i];
    assert_open_fails ("labels", &config, SL_ERROR_ARGUMENT, "threshold: expected 0..1, got ");
  }
  config = scores_config ();
  config.iou_threshold = -1;
  assert_open_fails ("labels", &config, SL_ERROR_ARGUMENT, "iou-threshold: expected 0..1, got -1");
  config = scores_config ();
  config.max_results = 0;
  assert_open_fails ("labels", &config, SL_ERROR_ARGUMENT, "max-results: expected 1..1000, got 0");
  config.max_results = SL_MAX_RESULTS + 1;
  assert_open_fails ("labels", &config, SL_ERROR_ARGUMENT,
                     "max-results: expected 1..1000, got 1001");
  config = scores_config ();
  config.n_tensors = 0;
  assert_open_fails (NULL, &config, SL_ERROR_ARGUMENT, "expected 1..64 tensors, got 0");
  config.n_tensors = SL_MAX_IO + 1;
  assert_open_fails (NULL, &config, SL_ERROR_ARGUMENT, "expected 1..64 tensors, got 65");
}

static void
test_bad_dimensions (void)
{
  static const gint32 dims[] = { 0, -1, G_MININT32 };
  for (guint i = 0; i < G_N_ELEMENTS (dims); i++) {
    SlDecoderConfig config = scores_config ();
    config.tensors[0].dims[1] = dims[i];
    assert_open_fails (NULL, &config, SL_ERROR_SHAPE,
                       "tensor 0: expected a rank of at most 8, dimensions of at least 1");
  }
  SlDecoderConfig config = scores_config ();
  for (guint i = 0; i < SL_MAX_RANK; i++)
    config.tensors[0].dims[i] = G_MAXINT32;
  config.tensors[0].rank = SL_MAX_RANK;
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "fewer than 2^31 elements");
  config.tensors[0].rank = SL_MAX_RANK + 1;
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "a rank of at most 8");
}

/* Parameters behind the name win over those of the model, and unknown ones are refused. */
static void
test_params (void)
{
  SlDecoderConfig config = scores_config ();
  const gfloat logits[5] = { 0, 1, 2, 3, 4 };
  config_param (&config, "activation", "none");
  config_param (&config, "task", "classify");
  config.threshold = 0;
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("labels, activation = sigmoid,background-offset=-1", &config, NULL);
  g_assert_nonnull (decoding);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ logits });
  g_assert_cmpint (result->classes[0].label_id, ==, 3);
  g_assert_cmpfloat_with_epsilon (result->classes[0].confidence, 1 / (1 + exp (-4)), 1e-6);
  assert_open_fails ("labels,sigmoid", &config, SL_ERROR_ARGUMENT,
                     "expected NAME or NAME,PARAMETER=VALUE,..., got 'sigmoid'");
  config = scores_config ();
  assert_open_fails (
    "labels,activaton=none", &config, SL_ERROR_ARGUMENT,
    "decoder labels: no parameter 'activaton'; there are: activation, background-offset");
  assert_open_fails ("label,activation=none", &config, SL_ERROR_ARGUMENT, "got 'label'");
  assert_open_fails ("", &config, SL_ERROR_ARGUMENT, "got ''");
}

/* The best k of all results the struct can hold. */
static void
test_most_results (void)
{
  SlDecoderConfig config = { .threshold = 0, .max_results = SL_MAX_RESULTS };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3000), 0, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("labels", &config, NULL);
  g_autofree gfloat *scores = g_new (gfloat, 3000);
  for (guint i = 0; i < 3000; i++)
    scores[i] = (gfloat) ((i * 7919) % 3000) / 3000;
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores });
  g_assert_cmpuint (result->n_classes, ==, SL_MAX_RESULTS);
  for (guint i = 0; i < SL_MAX_RESULTS; i++)
    g_assert_cmpfloat_with_epsilon (result->classes[i].confidence, (2999 - i) / 3000.0, 1e-6);
}

/* Values that no model could make right, of every parameter of every decoder: only texts wait for
 * the model. */
static void
test_values (void)
{
  static const char *const
    texts[] = { "alphabet",          "names",     "units",  "gallery", "task", "anchors-file",
                "score-calibration", "kpt_shape", "stride", NULL },
    *const bad[] = { "@", "", "1e999", "-1e30", "0.5x", "yes,no,yes,no,@" };
  g_autofree char *names = sl_decoder_names ();
  g_auto (GStrv) decoders = g_strsplit (names, ", ", -1);
  guint checked = 0;
  for (guint i = 0; decoders[i] != NULL; i++) {
    g_autoptr (GError) all = NULL;
    g_autofree char *unknown = g_strconcat (decoders[i], ",nosuch=1", NULL);
    g_assert_false (sl_decoder_check (unknown, &all));
    g_auto (GStrv) listed = g_strsplit (strstr (all->message, "there are: ") + 11, ", ", -1);
    for (guint k = 0; listed[k] != NULL && strcmp (listed[k], "none") != 0; k++)
      for (guint b = 0; b < G_N_ELEMENTS (bad); b++) {
        g_autoptr (GError) error = NULL;
        g_autofree char *text = g_strdup_printf ("%s,%s=%s", decoders[i], listed[k], bad[b]);
        g_autofree char *start = g_strdup_printf ("decoder parameter %s: expected ", listed[k]);
        const gboolean good = sl_decoder_check (text, &error);
        g_test_message ("%s", text);
        if (good) {
          g_assert_true (g_strv_contains (texts, listed[k]));
          continue;
        }
        g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
        g_assert_true (g_str_has_prefix (error->message, start));
        checked++;
      }
  }
  g_assert_cmpuint (checked, >, 300);
}

/* Values at the ends of ranges, words in any case, and spaces are taken. */
static void
test_good_values (void)
{
  static const char *const good[] = { "yolo,preset=V11",
                                      "yolo,columns=x1y1x2y2,score,class",
                                      "yolo,columns=-, xywh ,score,class",
                                      "yolo,strides=1,4096",
                                      "yolo,keypoints=17,3",
                                      "labels,threshold=0",
                                      "labels,threshold=1",
                                      "labels,check=No",
                                      "labels,background-offset=-1000",
                                      "image,range=frame",
                                      "image,range=-1,1",
                                      "vector,units=degrees",
                                      "bins,units=degrees,years",
                                      "text,blank=0",
                                      "ssd,order=Scores, boxes,count,classes",
                                      "yolo,imgsz=640",
                                      "yolo,imgsz=480,640",
                                      "pose,point-threshold=1e-3",
                                      "none,threshold=0.5" };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autoptr (GError) error = NULL;
    sl_decoder_check (good[i], &error);
    g_assert_no_error (error);
  }
}

/* Outputs of known networks whose decoder must be named: the message says what they are, and
 * proposes no labels. */
static void
test_known_outputs (void)
{
  SlDecoderConfig stages = { .max_results = 1, .input_width = 64, .input_height = 64 };
  for (guint t = 0; t < 9; t++)
    config_add (&stages, SL_DTYPE_F32, DIMS (1, t / 3 == 1 ? 1 : 3), 0, 0);
  assert_open_fails (NULL, &stages, SL_ERROR_SHAPE,
                     "may be SSR-Net: state decoder=ssrnet,range=101 of an age");
  SlDecoderConfig pair = { .max_results = 1, .input_width = 256, .input_height = 256 };
  config_add (&pair, SL_DTYPE_F32, DIMS (1, 8), 0, 0);
  config_add (&pair, SL_DTYPE_F32, DIMS (1, 8), 0, 0);
  assert_open_fails (
    NULL, &pair, SL_ERROR_SHAPE,
    "state decoder=dot for the sum of their products, dot,absolute=yes for FaceAntiSpoofing");
}

/* The same for pairs of outputs, in both orders. */
static void
test_known_pairs (void)
{
  static const struct
  {
    gint32 one[5], two[5];
    const char *why;
  } rows[] = {
    { { 1, 38, 32, 32 },
      { 1, 19, 32, 32 },
      "may be OpenPose's, whose points no decoder joins to persons: decoder=none" },
    { { 1, 32, 32, 38 }, { 1, 32, 32, 19 }, "may be OpenPose's" },
    { { 1, 3, 64, 64 }, { 1, 1, 64, 64 }, "as RVM gives them: decoder=segmentation,tensor=1" },
    { { 1, 64, 64, 3 }, { 1, 64, 64, 1 }, "as RVM gives them" },
    { { 1, 257, 384 }, { 1, 384 }, "as DINOv2 gives them: export the one output" },
    { { 1, 1 }, { 1, 42 }, "try decoder=landmarks" },
    { { 1, 1 }, { 1, 2 }, "may be an estimate beside scores of classes, such as age and gender" },
  };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (rows); i++) {
    SlDecoderConfig config = { .max_results = 1, .input_width = 128, .input_height = 128 };
    config_add (&config, SL_DTYPE_F32, i % 2 == 0 ? rows[i / 2].one : rows[i / 2].two, 0, 0);
    config_add (&config, SL_DTYPE_F32, i % 2 == 0 ? rows[i / 2].two : rows[i / 2].one, 0, 0);
    assert_open_fails (NULL, &config, SL_ERROR_SHAPE, rows[i / 2].why);
  }
  SlDecoderConfig matrix = { .max_results = 1, .input_width = 224, .input_height = 224 };
  config_add (&matrix, SL_DTYPE_F32, DIMS (1, 3, 3), 0, 0);
  assert_open_fails (NULL, &matrix, SL_ERROR_SHAPE,
                     "may be the matrix of a rotation, such as of a head (6DRepNet)");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decoders/known_outputs", test_known_outputs);
  g_test_add_func ("/decoders/known_pairs", test_known_pairs);
  g_test_add_func ("/decoders/names", test_names);
  g_test_add_func ("/decoders/no_match", test_no_match);
  g_test_add_func ("/decoders/proposals", test_proposals);
  g_test_add_func ("/decoders/bad_config", test_bad_config);
  g_test_add_func ("/decoders/own_threshold", test_own_threshold);
  g_test_add_func ("/decoders/bad_dimensions", test_bad_dimensions);
  g_test_add_func ("/decoders/params", test_params);
  g_test_add_func ("/decoders/values", test_values);
  g_test_add_func ("/decoders/good_values", test_good_values);
  g_test_add_func ("/decoders/most_results", test_most_results);
  return g_test_run ();
}
