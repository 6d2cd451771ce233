/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Class maps, poses and pictures: small tensors whose meaning can be read off them. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define SIDE 8
#define CELLS (SIDE * SIDE)

static SlDecoderConfig
new_config (SlDtype dtype, const gint32 *dims, gfloat scale, gint32 zero_point)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 64, .input_height = 32
  };
  config_add (&config, dtype, dims, scale, zero_point);
  return config;
}

static SlDecoding *
open_one (const char *name, const SlDecoderConfig *config, const char *expected)
{
  g_autoptr (GError) error = NULL;
  SlDecoding *decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, expected);
  return decoding;
}

static void
test_map (void)
{
  gint64 wide[CELLS];
  gint32 narrow[CELLS];
  for (gint i = 0; i < CELLS; i++)
    wide[i] = narrow[i] = i % 21;
  wide[3] = -1;
  wide[4] = G_MAXINT64;
  wide[5] = 255;
  narrow[3] = G_MININT32;
  narrow[4] = 256;
  narrow[5] = 255;
  for (guint k = 0; k < 2; k++) {
    SlDecoderConfig config =
      new_config (k ? SL_DTYPE_I64 : SL_DTYPE_I32, DIMS (1, SIDE, SIDE), 0, 0);
    g_autoptr (SlDecoding) decoding = open_one (NULL, &config, "segmentation");
    const SlResult *result =
      sl_decoding_run (decoding, (const void *const[]){ k ? (void *) wide : (void *) narrow });
    g_assert_cmpuint (result->mask.width, ==, SIDE);
    g_assert_cmpuint (result->mask.height, ==, SIDE);
    for (guint i = 0; i < CELLS; i++)
      g_assert_cmpuint (result->mask.classes[i], ==, i >= 3 && i <= 5 ? SL_MASK_VOID : i % 21);
  }
}

/* Class 0 is the background where its name, the number of classes or the parameter says so. */
static void
test_background (void)
{
  static const struct
  {
    gint32 channels;
    guint classes, n_labels;
    const char *first_label, *parameter;
    gint background;
    const char *note;
  } rows[] = {
    { 19, 0, 19, "road", NULL, SL_NO_BACKGROUND, "no class is the background" },
    { 19, 0, 0, NULL, NULL, SL_NO_BACKGROUND, "no class is the background" },
    { 19, 0, 19, "Background", NULL, 0, "class 0 is the background" },
    { 19, 0, 19, NULL, NULL, 0, "class 0 is the background" }, /* a gap */
    { 19, 0, 19, "road", "yes", 0, NULL },
    { 21, 0, 0, NULL, NULL, 0, "class 0 is the background" },
    { 21, 0, 21, "wall", NULL, SL_NO_BACKGROUND, "no class is the background" },
    { 21, 0, 0, NULL, "no", SL_NO_BACKGROUND, NULL },
    { 2, 0, 0, NULL, NULL, 0, "class 0 is the background" },
    { 0, 0, 0, NULL, NULL, SL_NO_BACKGROUND, "no class is the background" }, /* a map */
    { 0, 21, 0, NULL, NULL, 0, "class 0 is the background" },
    { 0, 19, 0, NULL, NULL, SL_NO_BACKGROUND, "no class is the background" },
  };
  g_autofree gfloat *scores = g_new0 (gfloat, CELLS * 21);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlDecoderConfig config =
      rows[i].channels > 0 ? new_config (SL_DTYPE_F32, DIMS (1, SIDE, SIDE, rows[i].channels), 0, 0)
                           : new_config (SL_DTYPE_I64, DIMS (1, SIDE, SIDE), 0, 0);
    config.n_labels = rows[i].n_labels;
    config.first_label = rows[i].first_label;
    config.tensors[0].classes = rows[i].classes;
    if (rows[i].parameter != NULL)
      config_param (&config, "background", rows[i].parameter);
    g_autoptr (SlDecoding) decoding = open_one ("segmentation", &config, "segmentation");
    config_clear (&config);
    g_assert_cmpint (sl_decoding_run (decoding, (const void *const[]){ scores })->mask.background,
                     ==, rows[i].background);
    if (rows[i].note == NULL)
      g_assert_null (sl_decoding_note (decoding));
    else
      g_assert_true (g_str_has_prefix (sl_decoding_note (decoding), rows[i].note));
  }
}

/* The class (x + 2 y) % 5 wins at cell (x, y), in both layouts and three types. */
static void
test_scores (void)
{
  for (guint kind = 0; kind < 6; kind++) {
    const gboolean planar = kind % 2;
    const SlDtype dtype = kind < 2 ? SL_DTYPE_F32 : kind < 4 ? SL_DTYPE_U8 : SL_DTYPE_I8;
    gfloat floats[CELLS * 5];
    guint8 codes[CELLS * 5];
    for (guint i = 0; i < CELLS; i++)
      for (guint c = 0; c < 5; c++) {
        const guint at = planar ? c * CELLS + i : i * 5 + c, wins = (i % SIDE + 2 * (i / SIDE)) % 5;
        floats[at] = c == wins ? -1 : -2 - (gfloat) c;
        codes[at] = dtype == SL_DTYPE_I8 ? (c == wins ? 5 : 0x80 + c) : (c == wins ? 200 : 100 + c);
      }
    floats[0] = NAN;
    SlDecoderConfig config = planar ? new_config (dtype, DIMS (1, 5, SIDE, SIDE), 1, 0)
                                    : new_config (dtype, DIMS (1, SIDE, SIDE, 5), 1, 0);
    config.input_width = config.input_height = SIDE;
    g_autoptr (SlDecoding) decoding = open_one (NULL, &config, "segmentation");
    g_assert_cmpuint (sl_decoding_classes (decoding), ==, 5);
    const SlResult *result = sl_decoding_run (
      decoding, (const void *const[]){ kind < 2 ? (void *) floats : (void *) codes });
    for (guint i = 0; i < CELLS; i++)
      if (kind >= 2 || i > 0)
        g_assert_cmpuint (result->mask.classes[i], ==, (i % SIDE + 2 * (i / SIDE)) % 5);
  }
}

/* Scores of a coarse grid are as often heat maps or a detector's: labels, a softmax or the user say
 * that they are classes. */
static void
test_coarse (void)
{
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, SIDE, SIDE, 14), 0, 0);
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "no decoder takes the tensors float32[1,8,8,14] unnamed, because maps much smaller than the "
    "input may be");
  config.n_labels = 13;
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "maps much smaller than the input");
  config.n_labels = 14;
  g_autoptr (SlDecoding) labelled = open_one (NULL, &config, "segmentation");
  config.n_labels = 0;
  config.tensors[0].values = SL_VALUES_SHARES;
  g_autoptr (SlDecoding) shares = open_one (NULL, &config, "segmentation");
  config.tensors[0].values = SL_VALUES_PROBABILITIES;
  g_autoptr (SlDecoding) named = open_one ("pose", &config, "pose");
  config.input_width = config.input_height = SIDE + 1;
  g_autoptr (SlDecoding) fine = open_one (NULL, &config, "segmentation");
  g_assert_true (labelled != NULL && shares != NULL && named != NULL && fine != NULL);
}

/* The only label of a mask is that of its pixels, not of the rest; "background" alone is no name.
 */
static void
test_label_of_mask (void)
{
  static const char *const labels[] = { "selfie", "Background", NULL };
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, SIDE, SIDE, 1), 0, 0);
    gfloat scores[CELLS] = { 0, 1 };
    gboolean own;
    config.n_labels = 1;
    config.first_label = labels[i];
    g_autoptr (SlDecoding) decoding = open_one ("segmentation", &config, "segmentation");
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ scores });
    g_assert_cmpuint (result->mask.classes[0], ==, 0);
    g_assert_cmpuint (result->mask.classes[1], ==, 1);
    g_assert_cmpint (result->mask.background, ==, 0);
    const char *const *names = sl_decoding_names (decoding, &own);
    g_assert_cmpint (own, ==, i == 0);
    if (i == 0)
      g_assert_true (g_str_equal (names[0], "background") && g_str_equal (names[1], "selfie"));
    else
      g_assert_null (names);
  }
}

/* Two numbers a pixel: classes of a colour picture, which a gray one's may be too, beside its
 * colours. */
static void
test_two_of_gray (void)
{
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, 2, SIDE, SIDE), 0, 0);
  config.input_width = config.input_height = SIDE;
  g_autoptr (SlDecoding) colour = open_one (NULL, &config, "segmentation");
  config.gray = TRUE;
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "two numbers a pixel of a gray picture may be its colours, which have no decoder, or two "
    "classes (decoder=segmentation)");
  config.tensors[0].values = SL_VALUES_SHARES;
  g_autoptr (SlDecoding) shares = open_one (NULL, &config, "segmentation");
  config.tensors[0].values = SL_VALUES_UNKNOWN;
  config.n_labels = 2;
  g_autoptr (SlDecoding) labelled = open_one (NULL, &config, "segmentation");
  g_assert_true (colour != NULL && shares != NULL && labelled != NULL);
}

/* Several masks: the message names the line for the first. A picture with a mask behind it is no
 * map of three classes. */
static void
test_several_masks (void)
{
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, 1, SIDE, SIDE), 0, 0);
  g_autoptr (GError) error = NULL;
  config.input_width = config.input_height = SIDE;
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1, SIDE / 2, SIDE / 2), 0, 0);
  assert_open_fails (
    NULL, &config, SL_ERROR_SHAPE,
    "the first of several maps, as large as the input, may be a mask, as U-2-Net and IS-Net give "
    "it (decoder=segmentation)");
  g_autoptr (SlDecoding) named = open_one ("segmentation", &config, "segmentation");
  g_assert_nonnull (named);
  config = new_config (SL_DTYPE_F32, DIMS (1, 3, SIDE, SIDE), 0, 0);
  config.input_width = config.input_height = SIDE;
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1, SIDE, SIDE), 0, 0);
  g_assert_null (sl_decoding_new (NULL, &config, &error));
  g_assert_nonnull (strstr (error->message, "decoder=segmentation,tensor=1"));
}

/* Points of a person alone are taken for one: of 21, a hand's, the third number is a depth. */
static void
test_other_points (void)
{
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, 21, 3), 0, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) unnamed = sl_decoding_new (NULL, &config, &error);
  g_assert_true (unnamed == NULL || g_strcmp0 (sl_decoding_decoder (unnamed)->name, "pose") != 0);
  g_autoptr (SlDecoding) named = open_one ("pose", &config, "pose");
  g_assert_nonnull (named);
}

/* Scores and auxiliary scores of the same shape: the first count. */
static void
test_auxiliary (void)
{
  gfloat scores[2][CELLS * 5];
  for (guint i = 0; i < 2 * CELLS * 5; i++)
    scores[i / (CELLS * 5)][i % (CELLS * 5)] = i / CELLS % 5 == 1 + i / (CELLS * 5) ? 1 : 0;
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, 5, SIDE, SIDE), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 5, SIDE, SIDE), 0, 0);
  config.input_width = config.input_height = SIDE;
  g_autoptr (SlDecoding) decoding = open_one (NULL, &config, "segmentation");
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ scores[0], scores[1] });
  for (guint i = 0; i < CELLS; i++)
    g_assert_cmpuint (result->mask.classes[i], ==, 1);
  config.input_width = config.input_height = 2 * SIDE;
  g_autoptr (SlDecoding) named = open_one ("segmentation", &config, "segmentation");
  g_assert_nonnull (named);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "no decoder takes the tensors");
  config.tensors[1].dims[1] = 4;
  assert_open_fails ("segmentation", &config, SL_ERROR_SHAPE,
                     "which have the same shape where it is smaller than the input");
  /* One as large as the input before any others, when it is named: U-2-Net's. */
  config.input_width = config.input_height = SIDE;
  config.tensors[0].dims[1] = 1;
  config.tensors[1].dims[2] = SIDE / 2;
  g_autoptr (SlDecoding) whole = open_one ("segmentation", &config, "segmentation");
  result = sl_decoding_run (whole, (const void *const[]){ scores[0], scores[1] });
  g_assert_cmpuint (result->mask.width, ==, SIDE);
  assert_open_fails (NULL, &config, SL_ERROR_SHAPE, "no decoder takes the tensors");
}

static void
test_one_channel (void)
{
  gfloat logits[CELLS];
  for (guint i = 0; i < CELLS; i++)
    logits[i] = i % 3 == 0 ? 0.1f : i % 3 == 1 ? -0.1f : NAN;
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, SIDE, SIDE, 1), 0, 0);
  g_autoptr (SlDecoding) decoding =
    open_one ("segmentation,activation=sigmoid", &config, "segmentation");
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ logits });
  for (guint i = 0; i < CELLS; i++)
    g_assert_cmpuint (result->mask.classes[i], ==, i % 3 == 0);
  config.tensors[0].dtype = SL_DTYPE_U16;
  assert_open_fails ("segmentation", &config, SL_ERROR_SHAPE,
                     "decoder segmentation: expected one tensor: a mask of classes [1,H,W]");
}

static void
test_list (void)
{
  gfloat points[17 * 3];
  for (guint k = 0; k < 17; k++) {
    points[3 * k] = 0.25f + 0.01f * (gfloat) k;
    points[3 * k + 1] = 0.5f + 0.02f * (gfloat) k;
    points[3 * k + 2] = k == 16 ? 0.1f : 0.9f;
  }
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, 1, 17, 3), 0, 0);
  g_autoptr (SlDecoding) decoding = open_one (NULL, &config, "pose");
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ points });
  g_assert_cmpuint (result->n_detections, ==, 1);
  const SlDetection *person = &result->detections[0];
  g_assert_cmpfloat_with_epsilon (person->x_min, 0.5, 1e-6);
  g_assert_cmpfloat_with_epsilon (person->x_max, 0.8, 1e-6); /* the last point is too unsure */
  g_assert_cmpfloat_with_epsilon (person->y_max, 0.4, 1e-6);
  g_assert_cmpfloat_with_epsilon (person->confidence, (16 * 0.9 + 0.1) / 17, 1e-6);
  g_assert_cmpuint (person->n_keypoints, ==, 17);
  g_assert_true (result->skeleton == &sl_skeleton_person);
  for (guint k = 0; k < 17; k++)
    points[3 * k + 2] = NAN;
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ points })->n_detections, ==,
                    0);
}

static void
test_persons (void)
{
  gfloat rows[6 * 56] = { 0 };
  const gfloat box[5] = { 0.1f, 0.2f, 0.3f, 0.4f, 0.75f };
  memcpy (&rows[2 * 56 + 51], box, sizeof box);
  rows[2 * 56 + 3] = 0.125f;
  rows[3 * 56 + 55] = 0.9f; /* no area */
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, 6, 56), 0, 0);
  g_autoptr (SlDecoding) decoding = open_one (NULL, &config, "pose");
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ rows });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat (result->detections[0].x_min, ==, 0.2f);
  g_assert_cmpfloat (result->detections[0].y_max, ==, 0.3f);
  g_assert_cmpfloat (result->keypoints[1].y, ==, 0.125f);
}

/* PosenetDecoderOp's outputs: of three persons two count, and the confidence of one is too low.
 * Points are pixels of 400 x 200. */
static void
test_points (void)
{
  enum
  {
    P = 3,
    K = 17
  };
  static const gfloat totals[P] = { 0.9f, 0.1f, 0.8f };
  static const guint32 shapes[4][4] = { { 1, P, K, 2 }, { 1, P, K }, { 1, P }, { 1 } };
  static const guint ranks[4] = { 4, 3, 2, 1 };
  gfloat points[P * K * 2], confidences[P * K], count = 2;
  for (guint i = 0; i < P * K; i++) {
    points[2 * i] = (gfloat) (10 * (i % K));
    points[2 * i + 1] = (gfloat) (4 * (i % K)) + 100;
    confidences[i] = i % K == 3 ? 0 : 0.75f;
  }
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, P, K, 2), 0, 0);
  config.n_tensors = 4;
  for (guint i = 0; i < 4; i++) {
    config.tensors[i] = config.tensors[0];
    config.tensors[i].rank = ranks[i];
    for (guint k = 0; k < ranks[i]; k++)
      config.tensors[i].dims[k] = shapes[i][k];
  }
  config.input_width = 0;
  assert_open_fails (
    "pose", &config, SL_ERROR_ARGUMENT,
    "decoder pose: points are in pixels of the model's input, whose size is not known");
  config.input_width = 400;
  config.input_height = 200;
  g_autoptr (SlDecoding) decoding = open_one (NULL, &config, "pose");
  const void *const data[4] = { points, confidences, totals, &count };
  const SlResult *result = sl_decoding_run (decoding, data);
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat (result->detections[0].confidence, ==, 0.9f);
  g_assert_cmpfloat_with_epsilon (result->detections[0].x_min, 0.25, 1e-6);
  g_assert_cmpfloat_with_epsilon (result->detections[0].x_max, 0.41, 1e-6);
  g_assert_cmpfloat_with_epsilon (result->detections[0].y_max, 0.8, 1e-6);
  for (guint k = 0; k < K; k++) {
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].x, 0.25 + 0.01 * k, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].y, 0.05 * k, 1e-6);
    g_assert_cmpfloat (result->keypoints[k].confidence, ==, k == 3 ? 0 : 0.75f);
  }
  count = 1e9f;
  g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, 2);
  count = NAN;
  g_assert_cmpuint (sl_decoding_run (decoding, data)->n_detections, ==, 0);
}

/* Point k is hottest at column k % 9 of row k / 9; with offsets it lies 3 pixels right of and 2
 * over its cell. */
static void
test_heat_maps (void)
{
  enum
  {
    W = 9,
    H = 5,
    K = 17
  };
  gfloat heat[W * H * K], offsets[W * H * 2 * K];
  for (guint i = 0; i < W * H; i++)
    for (guint k = 0; k < K; k++) {
      heat[i * K + k] = i == k ? 2 : -2;
      offsets[i * 2 * K + k] = -2;
      offsets[i * 2 * K + K + k] = 3;
    }
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, H, W, K), 0, 0);
  g_autoptr (SlDecoding) plain = open_one ("pose,activation=sigmoid", &config, "pose");
  const SlResult *result = sl_decoding_run (plain, (const void *const[]){ heat });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 1 / (1 + exp (-2)), 1e-6);
  for (guint k = 0; k < K; k++) {
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].x, (k % W + 0.5) / W, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].y, (k / W + 0.5) / H, 1e-6);
  }
  config_add (&config, SL_DTYPE_F32, DIMS (1, H, W, 2 * K), 0, 0);
  g_autoptr (SlDecoding) moved = open_one (NULL, &config, "pose");
  result = sl_decoding_run (moved, (const void *const[]){ heat, offsets });
  for (guint k = 0; k < K; k++) {
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].x, k % W / 8.0 + 3 / 64.0, 1e-6);
    g_assert_cmpfloat_with_epsilon (result->keypoints[k].y, k / W / 4.0 - 2 / 32.0, 1e-6);
  }
  config.input_width = 0;
  assert_open_fails ("pose", &config, SL_ERROR_ARGUMENT, "decoder pose: points are in pixels");
  config.tensors[1].dims[3] = K;
  assert_open_fails ("pose", &config, SL_ERROR_SHAPE,
                     "heat maps[1,H,W,K] with or without offsets[1,H,W,2*K]");
}

static void
test_image (void)
{
  gfloat floats[CELLS * 3];
  guint8 codes[CELLS * 3];
  for (guint i = 0; i < CELLS; i++)
    for (guint c = 0; c < 3; c++) {
      floats[c * CELLS + i] = (gfloat) ((double) (i + 64 * c) / 191 * 2 - 1);
      codes[i * 3 + c] = (guint8) (i + 64 * c);
    }
  floats[0] = NAN;
  floats[1] = -INFINITY;
  floats[2] = INFINITY;
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, 3, SIDE, SIDE), 0, 0);
  g_autoptr (SlDecoding) planar = open_one ("image,range=-1,1", &config, "image");
  const SlResult *result = sl_decoding_run (planar, (const void *const[]){ floats });
  g_assert_cmpuint (result->picture.channels, ==, 3);
  for (guint i = 3; i < CELLS; i++)
    for (guint c = 0; c < 3; c++)
      g_assert_cmpuint (result->picture.pixels[i * 3 + c], ==,
                        (guint) lrint ((i + 64 * c) * 255.0 / 191));
  g_assert_cmpuint (result->picture.pixels[0], ==, 0);
  g_assert_cmpuint (result->picture.pixels[3], ==, 0);
  g_assert_cmpuint (result->picture.pixels[6], ==, 255);
  assert_open_fails (NULL, &config, SL_ERROR_CONTRACT,
                     "nothing says which numbers are black and white: state range=0,1");
  assert_open_fails ("image,range=1", &config, SL_ERROR_CONTRACT, "state range=0,1");
  config = new_config (SL_DTYPE_U8, DIMS (1, SIDE, SIDE, 3), 1 / 255.0f, 0);
  g_autoptr (SlDecoding) bytes = open_one ("image,colour=BGR", &config, "image");
  result = sl_decoding_run (bytes, (const void *const[]){ codes });
  for (guint i = 0; i < CELLS; i++)
    for (guint c = 0; c < 3; c++)
      g_assert_cmpuint (result->picture.pixels[i * 3 + 2 - c], ==, codes[i * 3 + c]);
  config.tensors[0].dims[3] = 4;
  assert_open_fails ("image", &config, SL_ERROR_SHAPE,
                     "decoder image: expected one tensor [1,H,W,3]");
}

/* Depths: black and white are the frame's own, which are beside the picture. */
static void
test_range_of_frame (void)
{
  gfloat depths[CELLS];
  for (guint kind = 0; kind < 3; kind++) {
    const double low = kind == 0 ? -3 : kind == 1 ? 1e6 : 7, step = kind == 2 ? 0 : 0.5;
    for (guint i = 0; i < CELLS; i++)
      depths[i] = (gfloat) (low + step * (i * 29 % CELLS));
    depths[0] = (gfloat) low;
    depths[1] = NAN;
    depths[2] = INFINITY;
    SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, SIDE, SIDE), 0, 0);
    g_autoptr (SlDecoding) decoding = open_one ("image,range=frame", &config, "image");
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ depths });
    double lowest = INFINITY, highest = -INFINITY;
    for (guint i = 0; i < CELLS; i++)
      if (isfinite (depths[i])) {
        lowest = MIN (lowest, (double) depths[i]);
        highest = MAX (highest, (double) depths[i]);
      }
    g_assert_cmpuint (result->vector.n, ==, 2);
    g_assert_cmpfloat (result->vector.values[0], ==, (gfloat) lowest);
    g_assert_cmpfloat (result->vector.values[1], ==, (gfloat) highest);
    g_assert_cmpstr (result->vector.names[1], ==, "highest");
    g_assert_cmpuint (result->picture.channels, ==, 1);
    for (guint i = 3; i < CELLS; i++) {
      const double expected =
        highest > lowest ? (depths[i] - lowest) / (highest - lowest) * 255 : 0;
      g_assert_cmpfloat_with_epsilon (result->picture.pixels[i], expected, 0.51);
    }
    g_assert_cmpuint (result->picture.pixels[1], ==, 0);
  }
  for (guint i = 0; i < CELLS; i++)
    depths[i] = i % 2 == 0 ? NAN : -INFINITY;
  SlDecoderConfig config = new_config (SL_DTYPE_F32, DIMS (1, SIDE, SIDE), 0, 0);
  g_autoptr (SlDecoding) decoding = open_one ("image,range=frame", &config, "image");
  g_assert_cmpfloat (sl_decoding_run (decoding, (const void *const[]){ depths })->vector.values[1],
                     ==, 0);
  assert_open_fails ("image", &config, SL_ERROR_CONTRACT, "or range=frame for those of each frame");
}

/* The matte behind a picture, which is no class for itself. */
static void
test_chosen_tensor (void)
{
  static gfloat picture[3 * 8 * 8], matte[8 * 8];
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 8, .input_height = 8
  };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 3, 8, 8), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 1, 8, 8), 0, 0);
  matte[9] = 0.75f;
  matte[10] = 0.25f;
  g_autoptr (SlDecoding) decoding = open_one ("segmentation,tensor=1", &config, "segmentation");
  const SlClassMask *mask =
    &sl_decoding_run (decoding, (const void *const[]){ picture, matte })->mask;
  g_assert_cmpuint (mask->width, ==, 8);
  for (guint i = 0; i < 64; i++)
    g_assert_cmpuint (mask->classes[i], ==, i == 9);
  assert_open_fails ("segmentation,tensor=2", &config, SL_ERROR_ARGUMENT,
                     "tensor: expected 0..1, the model's outputs, got 2");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/maps/map", test_map);
  g_test_add_func ("/maps/scores", test_scores);
  g_test_add_func ("/maps/one_channel", test_one_channel);
  g_test_add_func ("/maps/auxiliary", test_auxiliary);
  g_test_add_func ("/maps/coarse", test_coarse);
  g_test_add_func ("/maps/label_of_mask", test_label_of_mask);
  g_test_add_func ("/maps/two_of_gray", test_two_of_gray);
  g_test_add_func ("/maps/several_masks", test_several_masks);
  g_test_add_func ("/maps/chosen_tensor", test_chosen_tensor);
  g_test_add_func ("/maps/other_points", test_other_points);
  g_test_add_func ("/maps/list", test_list);
  g_test_add_func ("/maps/persons", test_persons);
  g_test_add_func ("/maps/heat_maps", test_heat_maps);
  g_test_add_func ("/maps/points", test_points);
  g_test_add_func ("/maps/image", test_image);
  g_test_add_func ("/maps/background", test_background);
  g_test_add_func ("/maps/range_of_frame", test_range_of_frame);
  return g_test_run ();
}
