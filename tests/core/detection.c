/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TFLite_Detection_PostProcess on boxes small enough to work out by hand. */
#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "sightline/error.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define N 6

/* Anchors as y, x, h, w. Boxes 0 and 1 overlap by more than a half, 2 is apart, 3 is 2 again, 4 and
 * 5 are apart. */
static const gfloat anchors[N][4] = { { 0.2f, 0.2f, 0.2f, 0.2f }, { 0.21f, 0.2f, 0.2f, 0.2f },
                                      { 0.5f, 0.5f, 0.2f, 0.2f }, { 0.5f, 0.5f, 0.2f, 0.2f },
                                      { 0.8f, 0.2f, 0.1f, 0.3f }, { 0.2f, 0.8f, 0.1f, 0.1f } };

static const SlDetectionParams defaults = {
  .max_detections = 4,
  .max_classes_per_detection = 1,
  .detections_per_class = 4,
  .num_classes = 2,
  .nms_score_threshold = 0.3f,
  .nms_iou_threshold = 0.5f,
  .scale_y = 10,
  .scale_x = 10,
  .scale_h = 5,
  .scale_w = 5,
};

typedef struct
{
  SlGraph *graph;
  gfloat *boxes, *scores; /* inputs, zeroed */
  gfloat *out[4];
} Scene;

static void
add_tensor (SlGraph *graph, const char *name, guint rank, gint32 d0, gint32 d1, gint32 d2,
            const void *data)
{
  const SlTensor tensor = {
    .name = name, .dtype = SL_DTYPE_F32, .rank = rank, .dims = { d0, d1, d2 }, .data = data
  };
  sl_graph_add_tensor (graph, &tensor, NULL);
}

/* Scores of @dtype; codes are steps of 0.05 from @zero_point, which the graph refers to. */
static gboolean
scene_init_typed (Scene *scene, const SlDetectionParams *detection, gint32 columns, SlDtype dtype,
                  const gint32 *zero_point, GError **error)
{
  static const gfloat step = 0.05f;
  const SlTensor codes = {
    .name = "scores",
    .dtype = dtype,
    .rank = 3,
    .dims = { 1, N, columns },
    .quant = { .scale = &step, .zero_point = zero_point, .count = dtype == SL_DTYPE_F32 ? 0 : 1 }
  };
  static const gint32 inputs[] = { 0, 1, 2 }, outputs[] = { 3, 4, 5, 6 };
  const SlOpParams params = { .detection = *detection };
  scene->graph = sl_graph_new (NULL);
  scene->boxes = sl_tensor_buffer_new (N * 4 * sizeof (gfloat));
  scene->scores = sl_tensor_buffer_new ((gsize) (N * MAX (columns, 1)) * sizeof (gfloat));
  for (guint i = 0; i < 4; i++)
    scene->out[i] = sl_tensor_buffer_new (256 * sizeof (gfloat));
  add_tensor (scene->graph, "boxes", 3, 1, N, 4, NULL);
  sl_graph_add_tensor (scene->graph, &codes, NULL);
  add_tensor (scene->graph, "anchors", 2, N, 4, 0, anchors);
  for (guint i = 0; i < 4; i++)
    add_tensor (scene->graph, "out", 0, 0, 0, 0, NULL);
  return sl_graph_add_node (scene->graph, SL_OP_DETECTION_POSTPROCESS, 0, inputs, 3, outputs, 4,
                            &params, error)
         && sl_graph_set_io (scene->graph, inputs, 2, outputs, 4, error)
         && sl_graph_prepare (scene->graph, error);
}

static gboolean
scene_init (Scene *scene, const SlDetectionParams *detection, gint32 columns, GError **error)
{
  return scene_init_typed (scene, detection, columns, SL_DTYPE_F32, NULL, error);
}

static void
scene_run (Scene *scene)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (scene->graph, 1, &error);
  g_assert_no_error (error);
  const void *in[] = { scene->boxes, scene->scores };
  g_assert_cmpint (sl_session_run (session, in, (void *const *) scene->out), ==, SL_STATUS_OK);
}

static void
scene_clear (Scene *scene)
{
  sl_graph_unref (scene->graph);
  sl_tensor_buffer_free (scene->boxes);
  sl_tensor_buffer_free (scene->scores);
  for (guint i = 0; i < 4; i++)
    sl_tensor_buffer_free (scene->out[i]);
}

static void
expect (const Scene *scene, guint slot, gint32 anchor, gint32 klass, double score)
{
  const gfloat *a = anchors[anchor];
  const double box[4] = { a[0] - a[2] / 2, a[1] - a[3] / 2, a[0] + a[2] / 2, a[1] + a[3] / 2 };
  for (guint k = 0; k < 4; k++)
    g_assert_cmpfloat_with_epsilon (scene->out[0][slot * 4 + k], box[k], 1e-6);
  g_assert_cmpfloat (scene->out[1][slot], ==, klass);
  g_assert_cmpfloat_with_epsilon (scene->out[2][slot], score, 1e-6);
}

/* Columns: background, class 0, class 1. */
static const gfloat with_background[N][3] = { { 0.9f, 0.1f, 0.6f }, { 0.0f, 0.7f, 0.1f },
                                              { 0.0f, 0.5f, 0.4f }, { 0.0f, 0.5f, 0.45f },
                                              { 0.0f, 0.2f, 0.1f }, { 0.0f, 0.1f, 0.35f } };

static void
test_fast (void)
{
  Scene scene;
  g_assert_true (scene_init (&scene, &defaults, 3, NULL));
  memcpy (scene.scores, with_background, sizeof with_background);
  scene_run (&scene);
  g_assert_cmpfloat (scene.out[3][0], ==, 3);
  expect (&scene, 0, 1, 0, 0.7);
  expect (&scene, 1, 2, 0, 0.5);
  expect (&scene, 2, 5, 1, 0.35);
  g_assert_cmpfloat (scene.out[2][3], ==, 0);
  scene_clear (&scene);
}

/* The same scores as codes. */
static void
test_codes (void)
{
  for (guint k = 0; k < 2; k++) {
    Scene scene;
    const gint32 zero_point = k ? -20 : 3;
    g_assert_true (
      scene_init_typed (&scene, &defaults, 3, k ? SL_DTYPE_I8 : SL_DTYPE_U8, &zero_point, NULL));
    for (gsize i = 0; i < N * 3; i++)
      ((guint8 *) scene.scores)[i] =
        (guint8) ((gint32) lroundf (with_background[i / 3][i % 3] * 20) + zero_point);
    scene_run (&scene);
    g_assert_cmpfloat (scene.out[3][0], ==, 3);
    expect (&scene, 0, 1, 0, 0.7);
    expect (&scene, 1, 2, 0, 0.5);
    expect (&scene, 2, 5, 1, 0.35);
    scene_clear (&scene);
  }
}

static void
test_regular (void)
{
  Scene scene;
  SlDetectionParams params = defaults;
  params.use_regular_nms = TRUE;
  g_assert_true (scene_init (&scene, &params, 3, NULL));
  memcpy (scene.scores, with_background, sizeof with_background);
  scene_run (&scene);
  g_assert_cmpfloat (scene.out[3][0], ==, 4);
  expect (&scene, 0, 1, 0, 0.7);
  expect (&scene, 1, 0, 1, 0.6);
  expect (&scene, 2, 2, 0, 0.5);
  expect (&scene, 3, 3, 1, 0.45);
  scene_clear (&scene);
}

static void
test_two_classes (void)
{
  Scene scene;
  SlDetectionParams params = defaults;
  params.max_classes_per_detection = 2;
  g_assert_true (scene_init (&scene, &params, 2, NULL));
  for (guint i = 0; i < N; i++) {
    scene.scores[2 * i] = i == 4 ? 0.4f : 0.0f;
    scene.scores[2 * i + 1] = i == 4 ? 0.9f : 0.1f;
  }
  scene_run (&scene);
  g_assert_cmpfloat (scene.out[3][0], ==, 1);
  expect (&scene, 0, 4, 1, 0.9);
  expect (&scene, 1, 4, 0, 0.4);
  scene_clear (&scene);
}

/* Deltas move and stretch: centre + delta / 10 * size, size * exp (delta / 5). */
static void
test_deltas (void)
{
  Scene scene;
  g_assert_true (scene_init (&scene, &defaults, 2, NULL));
  const gfloat deltas[4] = { 5, -5, 5 * (gfloat) log (2), 0 };
  memcpy (scene.boxes + 2 * 4, deltas, sizeof deltas);
  scene.scores[2 * 2] = 0.8f;
  scene_run (&scene);
  const double expected[4] = { 0.6 - 0.2, 0.4 - 0.1, 0.6 + 0.2, 0.4 + 0.1 };
  for (guint k = 0; k < 4; k++)
    g_assert_cmpfloat_with_epsilon (scene.out[0][k], expected[k], 1e-6);
  scene_clear (&scene);
}

static void
test_wild_values (void)
{
  Scene scene;
  g_assert_true (scene_init (&scene, &defaults, 2, NULL));
  for (guint i = 0; i < N * 4; i++)
    scene.boxes[i] = i % 3 == 0 ? (gfloat) NAN : i % 3 == 1 ? INFINITY : 1e30f;
  for (guint i = 0; i < N * 2; i++)
    scene.scores[i] = i % 2 ? (gfloat) NAN : 0.9f;
  scene_run (&scene);
  g_assert_cmpfloat (scene.out[3][0], <=, 4);
  scene_clear (&scene);
}

typedef struct
{
  const char *text;
  SlDetectionParams params;
  gint32 columns;
} Bad;

static void
test_bad (void)
{
  Bad bad[] = { { "max_detections is 0; expected 1..10000", defaults, 3 },
                { "nms_iou_threshold is 2; expected above 0, at most 1", defaults, 3 },
                { "y_scale, x_scale, h_scale and w_scale must be above 0", defaults, 3 },
                { "num_classes is 0; expected at least 1", defaults, 3 },
                { "max_classes_per_detection is 101; expected 1..100", defaults, 3 },
                { "detections_per_class is 0; expected 1..10000", defaults, 3 },
                { "expected [1,N,4], [1,N,2] with or without a background class, [N,4]", defaults,
                  5 } };
  bad[0].params.max_detections = 0;
  bad[1].params.nms_iou_threshold = 2;
  bad[2].params.scale_h = 0;
  bad[3].params.num_classes = 0;
  bad[4].params.max_classes_per_detection = 101;
  bad[5].params.use_regular_nms = TRUE;
  bad[5].params.detections_per_class = 0;
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    Scene scene;
    g_assert_false (scene_init (&scene, &bad[i].params, bad[i].columns, &error));
    g_assert_nonnull (strstr (error->message, bad[i].text));
    scene_clear (&scene);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/detection/fast", test_fast);
  g_test_add_func ("/core/detection/codes", test_codes);
  g_test_add_func ("/core/detection/regular", test_regular);
  g_test_add_func ("/core/detection/two-classes", test_two_classes);
  g_test_add_func ("/core/detection/deltas", test_deltas);
  g_test_add_func ("/core/detection/wild-values", test_wild_values);
  g_test_add_func ("/core/detection/bad", test_bad);
  return g_test_run ();
}
