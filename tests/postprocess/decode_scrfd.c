/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SCRFD's tensors against the formulas of InsightFace's program, in double precision: anchors,
 * distances, points and suppression. */
#include <math.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define WIDTH 96
#define HEIGHT 64
#define MAX_TENSORS 15
#define MAX_ROWS 256
#define THRESHOLD 0.6
#define IOU 0.4

/** @batch: tensors have a first dimension of 1; @order: which tensor comes where */
typedef struct
{
  guint levels, anchors;
  gboolean points, batch, backwards;
} Form;

typedef struct
{
  double score, box[4], points[10];
  gboolean dropped;
} Face;

typedef struct
{
  const Form *form;
  SlDecoderConfig config;
  gfloat *data[MAX_TENSORS];
  Face faces[4 * MAX_ROWS];
  guint n_faces;
} Sample;

static gint32
columns_of (guint kind)
{
  return kind == 0 ? 1 : kind == 1 ? 4 : 10;
}

static guint
place_of (const Form *form, guint kind, guint level)
{
  const guint n = form->levels * (form->points ? 3 : 2), at = kind * form->levels + level;
  return form->backwards ? n - 1 - at : at;
}

static gint32
cells (gint32 size, guint level)
{
  return (size + (8 << level) - 1) / (8 << level);
}

/* What InsightFace makes of row @row: centres are whole strides, distances and offsets are in
 * strides. */
static void
add_face (Sample *s, guint level, guint row)
{
  const Form *form = s->form;
  const double stride = 8 << level;
  const gint32 cell = (gint32) (row / form->anchors), across = cells (WIDTH, level);
  const double x = cell % across * stride, y = cell / across * stride;
  Face face = { .score = (double) s->data[place_of (form, 0, level)][row] };
  if (face.score < THRESHOLD)
    return;
  for (guint k = 0; k < 4; k++) {
    const double distance = (double) s->data[place_of (form, 1, level)][row * 4 + k] * stride;
    face.box[k] =
      ((k % 2 == 0 ? x : y) + (k < 2 ? -distance : distance)) / (k % 2 == 0 ? WIDTH : HEIGHT);
  }
  for (guint k = 0; k < 10 && form->points; k++)
    face.points[k] =
      ((k % 2 == 0 ? x : y) + (double) s->data[place_of (form, 2, level)][row * 10 + k] * stride)
      / (k % 2 == 0 ? WIDTH : HEIGHT);
  s->faces[s->n_faces++] = face;
}

static void
fill (Sample *s, GRand *rand)
{
  const Form *form = s->form;
  const guint kinds = form->points ? 3 : 2;
  s->config = (SlDecoderConfig){ .threshold = (gfloat) THRESHOLD,
                                 .max_results = 1000,
                                 .input_width = WIDTH,
                                 .input_height = HEIGHT };
  s->config.n_tensors = kinds * form->levels;
  for (guint kind = 0; kind < kinds; kind++)
    for (guint level = 0; level < form->levels; level++) {
      const gint32 rows = cells (WIDTH, level) * cells (HEIGHT, level) * (gint32) form->anchors,
                   columns = columns_of (kind);
      SlTensorInfo *tensor = &s->config.tensors[place_of (form, kind, level)];
      *tensor = (SlTensorInfo){ .dtype = SL_DTYPE_F32, .rank = form->batch ? 3 : 2 };
      tensor->dims[0] = 1;
      tensor->dims[tensor->rank - 2] = rows;
      tensor->dims[tensor->rank - 1] = columns;
      gfloat *data = s->data[place_of (form, kind, level)] = g_new (gfloat, rows * columns);
      for (gint32 i = 0; i < rows * columns; i++)
        data[i] = (gfloat) g_rand_double_range (rand, kind == 2 ? -3 : 0, kind == 0 ? 1 : 3);
    }
  for (guint level = 0; level < form->levels; level++)
    for (gint32 row = 0;
         row < cells (WIDTH, level) * cells (HEIGHT, level) * (gint32) form->anchors; row++)
      add_face (s, level, (guint) row);
}

static double
area (const double *box)
{
  return (box[2] - box[0]) * (box[3] - box[1]);
}

static double
overlap (const Face *a, const Face *b)
{
  const double w = fmin (a->box[2], b->box[2]) - fmax (a->box[0], b->box[0]),
               h = fmin (a->box[3], b->box[3]) - fmax (a->box[1], b->box[1]);
  const double common = fmax (w, 0) * fmax (h, 0);
  return common / (area (a->box) + area (b->box) - common);
}

static gint
by_score (const void *a, const void *b)
{
  const double x = ((const Face *) a)->score, y = ((const Face *) b)->score;
  return x < y ? 1 : x > y ? -1 : 0;
}

static guint
suppress (Sample *s)
{
  guint kept = 0;
  qsort (s->faces, s->n_faces, sizeof s->faces[0], by_score);
  for (guint i = 0; i < s->n_faces; i++) {
    gboolean drop = FALSE;
    for (guint k = 0; k < kept && !drop; k++)
      drop = overlap (&s->faces[k], &s->faces[i]) > IOU;
    if (!drop)
      s->faces[kept++] = s->faces[i];
  }
  return kept;
}

static void
compare (const Sample *s, guint kept, const SlResult *result)
{
  g_assert_cmpuint (result->n_detections, ==, kept);
  g_assert_cmpuint (kept, >, 5);
  g_assert_true (s->form->points ? result->skeleton == &sl_skeleton_face
                                 : result->skeleton == NULL);
  for (guint i = 0; i < kept; i++) {
    const Face *face = &s->faces[i];
    const SlDetection *found = &result->detections[i];
    g_assert_cmpfloat_with_epsilon (found->confidence, face->score, 1e-6);
    g_assert_cmpfloat_with_epsilon (found->x_min, face->box[0], 1e-5);
    g_assert_cmpfloat_with_epsilon (found->y_min, face->box[1], 1e-5);
    g_assert_cmpfloat_with_epsilon (found->x_max, face->box[2], 1e-5);
    g_assert_cmpfloat_with_epsilon (found->y_max, face->box[3], 1e-5);
    g_assert_cmpuint (found->n_keypoints, ==, s->form->points ? 5 : 0);
    for (guint k = 0; k < found->n_keypoints; k++) {
      const SlDetectedPoint *point = &result->keypoints[found->first_keypoint + k];
      g_assert_cmpfloat_with_epsilon (point->x, face->points[2 * k], 1e-5);
      g_assert_cmpfloat_with_epsilon (point->y, face->points[2 * k + 1], 1e-5);
    }
  }
}

static void
test_form (gconstpointer data)
{
  Sample s = { .form = data };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (GError) error = NULL;
  fill (&s, rand);
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &s.config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "scrfd");
  g_assert_cmpuint (sl_decoding_classes (decoding), ==, 1);
  compare (&s, suppress (&s), sl_decoding_run (decoding, (const void *const *) s.data));
  for (guint i = 0; i < MAX_TENSORS; i++)
    g_free (s.data[i]);
}

/* NaN, scores beyond 1, and boxes without area. */
static void
test_broken (void)
{
  gfloat scores[8] = { NAN, INFINITY, 0.9f, 0.9f, -1 }, boxes[32], points[80] = { 0 };
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 64, .input_height = 64
  };
  for (guint i = 0; i < 32; i++)
    boxes[i] = i / 4 == 2 ? 0 : i / 4 == 3 ? NAN : 0.5f;
  points[10] = NAN;
  config_add (&config, SL_DTYPE_F32, DIMS (8, 1), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (8, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (8, 10), 0, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("scrfd,strides=32", &config, NULL);
  const SlResult *result =
    sl_decoding_run (decoding, (const void *const[]){ scores, boxes, points });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpfloat (result->detections[0].confidence, ==, 1);
  g_assert_cmpfloat (result->detections[0].x_max, ==, 0.25f);
  g_assert_cmpfloat (result->keypoints[0].confidence, ==, 0);
  g_assert_cmpfloat (result->keypoints[1].confidence, ==, 1);
}

static void
test_errors (void)
{
  SlDecoderConfig config = {
    .threshold = 0.5f, .max_results = 10, .input_width = 64, .input_height = 64
  };
  for (gint32 level = 0; level < 3; level++) {
    config_add (&config, SL_DTYPE_F32, DIMS (2 * (8 >> level) * (8 >> level), 1), 0, 0);
    config_add (&config, SL_DTYPE_F32, DIMS (2 * (8 >> level) * (8 >> level), level == 2 ? 5 : 4),
                0, 0);
  }
  assert_open_fails (
    "scrfd", &config, SL_ERROR_SHAPE,
    "for an input of 64x64 and each of 3 strides float32 tensors of 1, 4 and possibly 10 columns");
  config.tensors[5].dims[1] = 4;
  config.tensors[5].dtype = SL_DTYPE_I8;
  assert_open_fails ("scrfd", &config, SL_ERROR_SHAPE, "decoder scrfd: expected");
  config.tensors[5].dtype = SL_DTYPE_F32;
  assert_open_fails ("scrfd,strides=0", &config, SL_ERROR_ARGUMENT, "strides");
  config.input_width = 0;
  assert_open_fails ("scrfd", &config, SL_ERROR_ARGUMENT,
                     "which boxes in strides need: state imgsz=HEIGHT,WIDTH");
}

TEST_MAIN (int argc, char **argv)
{
  static const Form forms[] = {
    { 3, 2, TRUE, FALSE, FALSE }, { 3, 2, TRUE, TRUE, FALSE }, { 3, 2, FALSE, FALSE, FALSE },
    { 3, 2, FALSE, TRUE, TRUE },  { 3, 1, TRUE, TRUE, TRUE },  { 5, 1, TRUE, FALSE, FALSE },
    { 5, 1, FALSE, TRUE, TRUE },
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    g_autofree char *path =
      g_strdup_printf ("/scrfd/%u-outputs-%u", forms[i].levels * (forms[i].points ? 3 : 2), i);
    g_test_add_data_func (path, &forms[i], test_form);
  }
  g_test_add_func ("/scrfd/broken", test_broken);
  g_test_add_func ("/scrfd/errors", test_errors);
  return g_test_run ();
}
