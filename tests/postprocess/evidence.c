/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heads as exporters write them, with nothing stated but what the exporter says: the boxes are
 * those of the scene, which the test places itself, or the decoder asks. Each layout comes with
 * several numbers of rows and classes, in pixels and as fractions, and with different filler.
 */
#include <math.h>

#include "tests/postprocess/evidence.h"
#include "tests/support/program.h"

#define CELLS 1260 /* 40x24 + 20x12 + 10x6 cells of strides 8, 16, 32 */
#define MAX_ROWS CELLS
#define MAX_NUMBERS (MAX_ROWS * 140)

typedef enum
{
  FILLER_ZERO,
  FILLER_SAME,
  FILLER_RANDOM,
  N_FILLERS
} Filler;

/* What is in a scene: rows of boxes in pixels, with a score of one class. The first FOUND, of three
 * classes, are objects. */
typedef struct
{
  guint n, classes;
  gboolean pixels;
  Filler filler;
  double corners[MAX_ROWS][4], score[MAX_ROWS];
  guint label[MAX_ROWS], place[3];
} Scene;

#define FOUND 3

static const double objects[FOUND][5] = { { 40, 30, 100, 130, 0.9 },
                                          { 200, 20, 290, 60, 0.8 },
                                          { 130, 100, 180, 180, 0.7 } };

static void
make_scene (Scene *scene, GRand *rand)
{
  for (guint i = 0; i < scene->n; i++) {
    const double x = g_rand_double_range (rand, 4, WIDTH - 8),
                 y = g_rand_double_range (rand, 4, HEIGHT - 8);
    const double w = g_rand_double_range (rand, 2, 2 * MIN (x, WIDTH - x)),
                 h = g_rand_double_range (rand, 2, 2 * MIN (y, HEIGHT - y));
    const double boxes[N_FILLERS][4] = { { 0 },
                                         { 1, 1, 2, 2 },
                                         { x - w / 2, y - h / 2, x + w / 2, y + h / 2 } };
    memcpy (scene->corners[i], boxes[scene->filler], sizeof scene->corners[i]);
    scene->score[i] = scene->filler == FILLER_RANDOM ? g_rand_double_range (rand, 0, 0.02)
                      : scene->filler == FILLER_SAME ? 0.01
                                                     : 0;
    scene->label[i] = scene->filler == FILLER_RANDOM
                        ? (guint) g_rand_int_range (rand, 0, (gint32) scene->classes)
                        : 0;
  }
  for (guint o = 0; o < FOUND; o++) {
    const guint row = scene->place[o] = scene->n * (2 * o + 1) / (2 * FOUND + 1);
    memcpy (scene->corners[row], objects[o], sizeof scene->corners[row]);
    scene->score[row] = objects[o][4];
    scene->label[row] = o % scene->classes;
  }
}

static void
assert_scene (const Scene *scene, const SlResult *result)
{
  g_assert_cmpuint (result->n_detections, ==, FOUND);
  for (guint o = 0; o < FOUND; o++) {
    const SlDetection *got = &result->detections[o];
    g_assert_cmpint (got->label_id, ==, (gint) (o % scene->classes));
    g_assert_cmpfloat_with_epsilon (got->confidence, objects[o][4], 1e-5);
    g_assert_cmpfloat_with_epsilon (got->x_min, objects[o][0] / WIDTH, 1e-5);
    g_assert_cmpfloat_with_epsilon (got->y_min, objects[o][1] / HEIGHT, 1e-5);
    g_assert_cmpfloat_with_epsilon (got->x_max, objects[o][2] / WIDTH, 1e-5);
    g_assert_cmpfloat_with_epsilon (got->y_max, objects[o][3] / HEIGHT, 1e-5);
  }
}

/* The box of row @i as its layout has it: @form c corners, m middle and size, y corners with y
 * first. */
static void
put_box (const Scene *scene, guint i, char form, gfloat *to, gsize step)
{
  const double *c = scene->corners[i], x = scene->pixels ? 1 : 1.0 / WIDTH,
               y = scene->pixels ? 1 : 1.0 / HEIGHT;
  const double middle[4] = { (c[0] + c[2]) / 2 * x, (c[1] + c[3]) / 2 * y, (c[2] - c[0]) * x,
                             (c[3] - c[1]) * y };
  const double corners[4] = { c[0] * x, c[1] * y, c[2] * x, c[3] * y };
  for (guint k = 0; k < 4; k++)
    to[k * step] = (gfloat) (form == 'm' ? middle[k] : corners[form == 'y' ? k ^ 1 : k]);
}

/* One tensor. @columns, a letter a column but c, m, y, which are boxes: s score, l class, i number
 * of the picture, o objectness, C a score and G a logit for each class, k keypoints, p fewer points
 * of 2 numbers, a angle. */
typedef struct
{
  const char *name, *columns;
  guint rank;
  gboolean transposed;
  const char *task, *preset;
  gboolean pixels_only, fractions_only, not_two, labelled_only, one, dense;
} Table;

#define KEYPOINTS 17
#define FEW_POINTS 4

static guint
width_of (const Table *table, guint classes)
{
  guint n = 0;
  for (const char *c = table->columns; *c != '\0'; c++)
    n += strchr ("cmy", *c) != NULL ? 4
         : *c == 'C' || *c == 'G'   ? classes
         : *c == 'k'                ? 3 * KEYPOINTS
         : *c == 'p'                ? 2 * FEW_POINTS
                                    : 1;
  return n;
}

static void
put_row (const Scene *scene, const Table *table, guint i, gfloat *to, gsize step, GRand *rand)
{
  const double unit = scene->pixels ? 1 : 1.0 / WIDTH, y_unit = scene->pixels ? 1 : 1.0 / HEIGHT;
  gsize at = 0;
  for (const char *c = table->columns; *c != '\0'; c++) {
    gfloat *here = to + at * step;
    switch (*c) {
      case 's':
        *here = (gfloat) scene->score[i];
        break;
      case 'l':
        *here = (gfloat) scene->label[i];
        break;
      case 'i':
        *here = 0;
        break;
      case 'o':
        *here = 1;
        break;
      case 'a':
        *here = scene->score[i] < 0.5 ? (gfloat) g_rand_double_range (rand, -0.75, 2.3) : 0;
        break;
      case 'C':
        for (guint k = 0; k < scene->classes; k++)
          here[k * step] = scene->label[i] == k           ? (gfloat) scene->score[i]
                           : scene->filler == FILLER_ZERO ? 0
                                                          : 0.001f;
        at += scene->classes - 1;
        break;
      case 'G':
        for (guint k = 0; k < scene->classes; k++) {
          const double share = scene->label[i] == k ? fmax (scene->score[i], 0.001) : 0.001;
          here[k * step] = (gfloat) log (share / (1 - share));
        }
        at += scene->classes - 1;
        break;
      case 'k':
        for (guint k = 0; k < KEYPOINTS; k++) {
          here[3 * k * step] = (gfloat) (scene->corners[i][0] * unit + k * unit);
          here[(3 * k + 1) * step] = (gfloat) (scene->corners[i][1] * y_unit + k * y_unit);
          here[(3 * k + 2) * step] = (gfloat) scene->score[i];
        }
        at += 3 * KEYPOINTS - 1;
        break;
      case 'p':
        for (guint k = 0; k < 2 * FEW_POINTS; k++)
          here[k * step] = (gfloat) (scene->corners[i][k % 2] * (k % 2 == 0 ? unit : y_unit));
        at += 2 * FEW_POINTS - 1;
        break;
      default:
        put_box (scene, i, *c, here, step);
        at += 3;
    }
    at++;
  }
}

static void
check_table (const Table *table, const Scene *scene, guint n_labels, GRand *rand)
{
  g_autofree gfloat *data = g_new0 (gfloat, MAX_NUMBERS);
  const guint columns = width_of (table, scene->classes);
  for (guint i = 0; i < scene->n; i++)
    put_row (scene, table, i, data + (table->transposed ? i : (gsize) i * columns),
             table->transposed ? scene->n : 1, rand);
  SlDecoderConfig config = { .threshold = 0.5f,
                             .max_results = 10,
                             .n_labels = n_labels,
                             .input_width = WIDTH,
                             .input_height = HEIGHT };
  const gint32 a = (gint32) (table->transposed ? columns : scene->n),
               b = (gint32) (table->transposed ? scene->n : columns);
  config_add (&config, SL_DTYPE_F32,
              table->rank == 2   ? DIMS (a, b)
              : table->rank == 3 ? DIMS (1, a, b)
                                 : DIMS (1, 1, a, b),
              0, 0);
  if (table->task != NULL)
    config_param (&config, "task", table->task);
  if (table->preset != NULL)
    config_param (&config, "preset", table->preset);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("yolo", &config, &error);
  g_test_message ("%s: %u rows, %u classes, %u labels, %s, filler %u", table->name, scene->n,
                  scene->classes, n_labels, scene->pixels ? "pixels" : "fractions", scene->filler);
  g_assert_no_error (error);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ data });
  const char *asked = sl_decoding_contradiction (decoding);
  if (asked != NULL)
    g_error ("%s: %s", table->name, asked);
  assert_scene (scene, result);
  if (strchr (table->columns, 'k') != NULL) {
    g_assert_cmpuint (result->detections[0].n_keypoints, ==, KEYPOINTS);
    g_assert_cmpfloat_with_epsilon (result->keypoints[result->detections[0].first_keypoint].x,
                                    objects[0][0] / WIDTH, 1e-5);
  }
  config_clear (&config);
}

static const Table tables[] = {
  { "DeepStream-Yolo", "csl", 3, .pixels_only = TRUE },
  { "Ultralytics RT-DETR", "msl", 3, .task = "detect", .fractions_only = TRUE },
  { "Ultralytics RT-DETR of old", "mC", 3, .task = "detect", .fractions_only = TRUE,
    .labelled_only = TRUE },
  { "v10", "csl", 3, .task = "detect" },
  { "class and score first", "lsc", 3 },
  { "score and class first", "slc", 3 },
  { "class before score", "cls", 3 },
  { "YOLOv7 end to end", "icls", 2, .pixels_only = TRUE },
  { "YOLO-NAS flat", "icsl", 2, .pixels_only = TRUE },
  { "DetectionOutput", "ilsc", 4, .fractions_only = TRUE },
  { "YOLOX after its suppression", "cosl", 2, .pixels_only = TRUE },
  { "v8", "mC", 3, TRUE, .labelled_only = TRUE },
  { "v8, a row a cell", "mC", 3, .pixels_only = TRUE, .dense = TRUE },
  { "v8, turned by a converter", "mC", 3, .preset = "v8", .pixels_only = TRUE, .dense = TRUE },
  { "v8 with corners", "cC", 3, TRUE, .labelled_only = TRUE },
  { "v8 with logits", "mG", 3, TRUE, .labelled_only = TRUE },
  { "a face a row", "cs", 3, .labelled_only = TRUE, .one = TRUE, .dense = TRUE },
  { "v8 pose without metadata", "msk", 3, TRUE, .pixels_only = TRUE },
  { "v8 pose, a row a cell", "msk", 3, .pixels_only = TRUE, .dense = TRUE, .one = TRUE },
  { "v8 pose of several classes", "mCk", 3, TRUE, .pixels_only = TRUE, .labelled_only = TRUE },
  { "v8 pose of four corners", "msp", 3, TRUE, .pixels_only = TRUE },
  { "obb without metadata", "mCa", 3, TRUE, .pixels_only = TRUE, .labelled_only = TRUE,
    .not_two = TRUE },
};

static void
test_tables (void)
{
  static const guint numbers[] = { CELLS, 300, 100 }, class_numbers[] = { 1, 2, 3, 15, 80 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (37);
  g_autofree Scene *scene = g_new0 (Scene, 1);
  for (guint t = 0; t < G_N_ELEMENTS (tables); t++)
    for (guint v = 0; v < G_N_ELEMENTS (numbers) * G_N_ELEMENTS (class_numbers) * 2 * N_FILLERS;
         v++) {
      const Table *table = &tables[t];
      const gboolean dense =
        table->transposed || table->dense || strcmp (table->name, "DeepStream-Yolo") == 0;
      scene->n = numbers[v % 3];
      scene->classes = class_numbers[v / 3 % 5];
      scene->pixels = v / 15 % 2;
      scene->filler = (Filler) (v / 30);
      if ((dense != (scene->n == CELLS)) || (table->one && scene->classes > 1)
          || (table->pixels_only && !scene->pixels) || (table->fractions_only && scene->pixels)
          || (table->not_two && scene->classes < 3)
          || (strstr (table->columns, "s") != NULL && table->transposed && scene->classes > 1)
          || (scene->filler == FILLER_ZERO && dense))
        continue;
      make_scene (scene, rand);
      if (!table->labelled_only)
        check_table (table, scene, 0, rand);
      check_table (table, scene, scene->classes, rand);
    }
}

/* Several tensors. @tensors: a word a tensor: its letter and name: b boxes of four, d boxes and
 * score, s a score a row, S of each class, T the same with rows last, l a class a row (I int32, L
 * int64), n how many rows there are (N int32); ":" and the name. */
typedef struct
{
  const char *name, *decoder;
  const char *tensors[5];
  char form;
  gboolean pixels_only, fractions_only, dense;
} Parts;

static const Parts parts[] = {
  { "EfficientNMS",
    "detections",
    { "N:num_dets", "b:det_boxes", "s:det_scores", "I:det_classes" },
    'c' },
  { "EfficientNMS, TensorFlow's names",
    "detections",
    { "N:num_detections", "b:detection_boxes", "s:detection_scores", "I:detection_classes" },
    'c',
    .pixels_only = TRUE },
  { "EfficientNMS, other order",
    "detections",
    { "s:scores", "I:labels", "b:bboxes", "N:num_detections" },
    'c' },
  { "without names", "detections", { "N:", "b:", "s:", "L:" }, 'c' },
  { "BatchedNMS",
    "detections",
    { "N:num_detections", "b:nmsed_boxes", "s:nmsed_scores", "l:nmsed_classes" },
    'c' },
  { "mmdeploy", "detections", { "d:dets", "L:labels" }, 'c', .pixels_only = TRUE },
  { "mmdeploy, other order", "detections", { "I:", "d:" }, 'c', .pixels_only = TRUE },
  { "YOLO-NAS", "detections", { "b:boxes", "S:scores" }, 'c', .dense = TRUE },
  { "YOLO-NAS without names", "detections", { "b:904", "S:913" }, 'c', .dense = TRUE },
  { "middle and size", "detections", { "S:scores", "b:boxes" }, 'm', .dense = TRUE },
  { "PP-YOLOE", "detections", { "b:", "T:" }, 'c', .dense = TRUE },
  { "DeepStream-Yolo of old",
    "detections",
    { "b:boxes", "s:scores", "l:classes" },
    'c',
    .dense = TRUE },
  { "DeepStream-Yolo of old without names",
    "detections",
    { "b:", "l:", "s:" },
    'c',
    .dense = TRUE },
  { "TensorFlow",
    "ssd",
    { "b:detection_boxes", "s:detection_scores", "l:detection_classes", "n:num_detections" },
    'y',
    .fractions_only = TRUE },
  { "TensorFlow, other order",
    "ssd",
    { "n:num_detections", "l:detection_classes", "b:detection_boxes", "s:detection_scores" },
    'y',
    .fractions_only = TRUE },
  { "TensorFlow without names", "ssd", { "b:", "s:", "l:", "n:" }, 'y', .fractions_only = TRUE },
  { "count first", "ssd", { "n:", "b:", "s:", "l:" }, 'y', .fractions_only = TRUE },
  { "D-FINE", "torchvision", { "L:labels", "b:boxes", "s:scores" }, 'c', .pixels_only = TRUE },
};

static void
fill_part (const Scene *scene, char kind, char form, gpointer to)
{
  gfloat *floats = to;
  for (guint i = 0; i < scene->n; i++) {
    if (strchr ("bd", kind) != NULL)
      put_box (scene, i, form, floats + (gsize) i * (kind == 'd' ? 5 : 4), 1);
    if (kind == 'd')
      floats[5 * i + 4] = (gfloat) scene->score[i];
    else if (kind == 's' || kind == 'l')
      floats[i] = kind == 's' ? (gfloat) scene->score[i] : (gfloat) scene->label[i];
    else if (kind == 'I')
      ((gint32 *) to)[i] = (gint32) scene->label[i];
    else if (kind == 'L')
      ((gint64 *) to)[i] = scene->label[i];
    for (guint c = 0; c < scene->classes && strchr ("ST", kind) != NULL; c++)
      floats[kind == 'T' ? (gsize) c * scene->n + i : (gsize) i * scene->classes + c] =
        scene->label[i] == c ? (gfloat) scene->score[i] : 0.001f;
  }
  if (kind == 'n')
    floats[0] = (gfloat) scene->n;
  if (kind == 'N')
    *(gint32 *) to = (gint32) scene->n;
}

static void
add_part (SlDecoderConfig *config, const Scene *scene, char kind, const char *name)
{
  const gint32 n = (gint32) scene->n, c = (gint32) scene->classes;
  const gint32 dims[][5] = { { 1, n, 4, 0 }, { 1, n, 5, 0 }, { 1, n, 0 }, { 1, n, c, 0 },
                             { 1, c, n, 0 }, { 1, n, 0 },    { 1, n, 0 }, { 1, n, 0 },
                             { 1, 0 },       { 1, 1, 0 } };
  const char *kinds = "bdsSTlILnN", *at = strchr (kinds, kind);
  config_add (config,
              kind == 'I' || kind == 'N' ? SL_DTYPE_I32
              : kind == 'L'              ? SL_DTYPE_I64
                                         : SL_DTYPE_F32,
              dims[at - kinds], 0, 0);
  config->tensors[config->n_tensors - 1].name = (char *) (*name != '\0' ? name : NULL);
}

static void
check_parts (const Parts *layout, const Scene *scene, guint n_labels)
{
  SlDecoderConfig config = { .threshold = 0.5f,
                             .max_results = 10,
                             .n_labels = n_labels,
                             .input_width = WIDTH,
                             .input_height = HEIGHT };
  gpointer data[5] = { NULL };
  for (guint t = 0; t < G_N_ELEMENTS (data) && layout->tensors[t] != NULL; t++) {
    data[t] = g_malloc0 (MAX_NUMBERS * sizeof (gfloat));
    add_part (&config, scene, layout->tensors[t][0], layout->tensors[t] + 2);
    fill_part (scene, layout->tensors[t][0], layout->form, data[t]);
  }
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
  g_test_message ("%s: %u rows, %u classes, %u labels, %s, filler %u", layout->name, scene->n,
                  scene->classes, n_labels, scene->pixels ? "pixels" : "fractions", scene->filler);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, layout->decoder);
  const SlResult *result = sl_decoding_run (decoding, (const void *const *) data);
  if (sl_decoding_contradiction (decoding) != NULL)
    g_error ("%s: %s", layout->name, sl_decoding_contradiction (decoding));
  assert_scene (scene, result);
  for (guint t = 0; t < G_N_ELEMENTS (data); t++)
    g_free (data[t]);
}

static void
test_parts (void)
{
  static const guint numbers[] = { CELLS, 300, 100 }, class_numbers[] = { 2, 3, 15, 80, 1 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (38);
  g_autofree Scene *scene = g_new0 (Scene, 1);
  for (guint t = 0; t < G_N_ELEMENTS (parts); t++)
    for (guint v = 0; v < G_N_ELEMENTS (numbers) * G_N_ELEMENTS (class_numbers) * 2 * N_FILLERS;
         v++) {
      scene->n = numbers[v % 3];
      scene->classes = class_numbers[v / 3 % 5];
      scene->pixels = v / 15 % 2;
      scene->filler = (Filler) (v / 30);
      if (parts[t].dense != (scene->n == CELLS) || (parts[t].pixels_only && !scene->pixels)
          || (parts[t].fractions_only && scene->pixels)
          || (parts[t].dense && scene->filler == FILLER_ZERO)
          || (scene->classes == 1 && parts[t].tensors[2] != NULL))
        continue;
      make_scene (scene, rand);
      check_parts (&parts[t], scene, 0);
      check_parts (&parts[t], scene, scene->classes);
    }
}

/* Logits of queries: by sigmoid one more column than labels (RF-DETR), by softmax the last column
 * is "no object". */
static void
check_queries (const char *boxes_name, const char *logits_name, guint n, guint columns,
               guint n_labels, gboolean softmax)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (n + columns);
  g_autofree gfloat *logits = g_new (gfloat, n * columns), *boxes = g_new (gfloat, n * 4);
  for (guint i = 0; i < n * columns; i++)
    logits[i] = (gfloat) g_rand_double_range (rand, -9, -4)
                + (softmax && i % columns == columns - 1 ? 12 : 0);
  for (guint i = 0; i < n * 4; i++)
    boxes[i] = (gfloat) g_rand_double_range (rand, 0.2, 0.7);
  for (guint o = 0; o < FOUND; o++) {
    const guint row = n * (2 * o + 1) / 7, label = o % (columns - 1);
    const double p = objects[o][4];
    const double box[4] = { (objects[o][0] + objects[o][2]) / 2 / WIDTH,
                            (objects[o][1] + objects[o][3]) / 2 / HEIGHT,
                            (objects[o][2] - objects[o][0]) / WIDTH,
                            (objects[o][3] - objects[o][1]) / HEIGHT };
    for (guint c = 0; c < columns && softmax; c++)
      logits[row * columns + c] = -60;
    logits[row * columns + label] = softmax ? (gfloat) log (p) : (gfloat) log (p / (1 - p));
    if (softmax)
      logits[row * columns + columns - 1] = (gfloat) log (1 - p);
    for (guint k = 0; k < 4; k++)
      boxes[row * 4 + k] = (gfloat) box[k];
  }
  SlDecoderConfig config = { .threshold = 0.5f,
                             .max_results = 10,
                             .n_labels = n_labels,
                             .input_width = WIDTH,
                             .input_height = HEIGHT };
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n, 4), 0, 0);
  config_add (&config, SL_DTYPE_F32, DIMS (1, (gint32) n, (gint32) columns), 0, 0);
  config.tensors[0].name = (char *) boxes_name;
  config.tensors[1].name = (char *) logits_name;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "detr");
  const Scene scene = { .classes = columns - 1 };
  g_test_message ("%s, %s: %u queries, %u columns, %u labels", boxes_name, logits_name, n, columns,
                  n_labels);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ boxes, logits });
  g_assert_cmpstr (sl_decoding_contradiction (decoding), ==, NULL);
  assert_scene (&scene, result);
}

static void
test_queries (void)
{
  check_queries ("dets", "labels", 300, 4, 3, FALSE);
  check_queries ("pred_boxes", "logits", 40, 4, 0, TRUE);
  for (guint columns = 3; columns <= 91; columns += 44) {
    check_queries ("dets", "labels", 300, columns, columns - 1, FALSE);
    check_queries ("dets", "labels", 120, columns, 0, FALSE);
    check_queries (NULL, NULL, 300, columns, columns - 1, FALSE);
    check_queries (NULL, NULL, 100, columns, columns - 1, TRUE);
    check_queries (NULL, NULL, 100, columns, 0, TRUE);
    check_queries ("pred_boxes", "pred_logits", 50, columns, columns - 1, TRUE);
    check_queries ("pred_boxes", "logits", 77, columns, columns, FALSE);
    check_queries ("pred_boxes", "logits", 60, columns, 0, TRUE);
  }
}

/* What is stated is not given up: the message names what contradicts it and the reading that fits.
 */
static void
test_stated (void)
{
  static const struct
  {
    const char *decoder;
    Table table;
    const char *first, *second;
  } cases[] = {
    { "yolo,preset=v5",
      { "", "csl", 3 },
      "column 5 holds whole numbers 0..2",
      "state decoder=yolo,columns=x1y1x2y2,score,class" },
    { "yolo,objectness=no",
      { "", "icls", 2 },
      "no scores",
      "state decoder=yolo,columns=image,x1y1x2y2,class,score" },
    { "yolo,columns=x1y1x2y2,score,class",
      { "", "cls", 3 },
      "column 4 holds whole numbers 0..2",
      "state decoder=yolo,columns=x1y1x2y2,class,score" },
    { "yolo,preset=v8",
      { "", "msk", 3, TRUE },
      "no scores of 0..1",
      "state decoder=yolo,keypoints=17,3" },
    { "yolo,preset=v10",
      { "", "msl", 3 },
      "no boxes as corners",
      "state decoder=yolo,columns=xywh,score,class" },
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (39);
  g_autofree Scene *scene = g_new0 (Scene, 1);
  g_autofree gfloat *data = g_new0 (gfloat, MAX_NUMBERS);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Table *table = &cases[i].table;
    *scene = (Scene){ .n = CELLS, .classes = 3, .pixels = TRUE, .filler = FILLER_RANDOM };
    make_scene (scene, rand);
    const gint32 columns = (gint32) width_of (table, scene->classes);
    for (guint row = 0; row < scene->n; row++)
      put_row (scene, table, row, data + (table->transposed ? row : row * (guint) columns),
               table->transposed ? scene->n : 1, rand);
    SlDecoderConfig config =
      table_config (table->transposed ? DIMS (1, columns, CELLS) : DIMS (1, CELLS, columns));
    assert_asks (cases[i].decoder, &config, (const void *const[]){ data }, cases[i].first,
                 cases[i].second);
  }
  /* Nobody looks where it is stated so. */
  SlDecoderConfig config = table_config (DIMS (1, CELLS, 6));
  g_autoptr (SlDecoding) decoding =
    sl_decoding_new ("yolo,objectness=no,transposed=no,check=no", &config, NULL);
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ data })->n_detections, >, 0);
  g_assert_cmpstr (sl_decoding_contradiction (decoding), ==, NULL);
  assert_open_fails ("yolo,columns=x1y1x2y2,score", &config, SL_ERROR_ARGUMENT,
                     "one score, one class, and possibly objectness");
  assert_open_fails ("yolo,columns=x1y1x2y2,score,klass", &config, SL_ERROR_ARGUMENT,
                     "got 'x1y1x2y2,score,klass'");
  assert_open_fails ("yolo,columns=image,x1y1x2y2,score,class", &config, SL_ERROR_SHAPE,
                     "columns=image,x1y1x2y2,score,class are 7 numbers a row; the tensor has 6");
  assert_open_fails ("yolo,check=perhaps", &config, SL_ERROR_ARGUMENT, "decoder parameter check");
}

/* One name too few for a head of many classes: the last score is no angle. */
static void
test_one_name_too_few (void)
{
  static const Table heads[] = { { "", "mC", 3, TRUE }, { "", "mC", 3 } };
  static const guint class_numbers[] = { 80, 15, 4 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (40);
  g_autofree Scene *scene = g_new0 (Scene, 1);
  g_autofree gfloat *data = g_new0 (gfloat, MAX_NUMBERS);
  for (guint v = 0; v < G_N_ELEMENTS (heads) * G_N_ELEMENTS (class_numbers) * 2; v++) {
    const Table *table = &heads[v % 2];
    *scene = (Scene){ .n = CELLS,
                      .classes = class_numbers[v / 2 % 3],
                      .pixels = TRUE,
                      .filler = v / 6 == 0 ? FILLER_RANDOM : FILLER_SAME };
    make_scene (scene, rand);
    const gint32 columns = (gint32) width_of (table, scene->classes);
    for (guint row = 0; row < scene->n; row++)
      put_row (scene, table, row, data + (table->transposed ? row : row * (guint) columns),
               table->transposed ? scene->n : 1, rand);
    SlDecoderConfig config =
      table_config (table->transposed ? DIMS (1, columns, CELLS) : DIMS (1, CELLS, columns));
    config.n_labels = scene->classes - 1;
    g_autofree char *expected = g_strdup_printf (
      "the labels name %u classes, and there may be %u: give the labels file that belongs to the "
      "model",
      scene->classes - 1, scene->classes);
    assert_asks ("yolo", &config, (const void *const[]){ data }, "column 4 is no objectness",
                 expected);
  }
}

/* A row a cell, two classes, no labels: column 4 looks like objectness until the first class
 * occurs. Beside a real one, any row may have a class. */
static void
test_second_class_alone (void)
{
  enum
  {
    COLUMNS = 6
  };
  static gfloat rows[CELLS][COLUMNS];
  for (guint i = 0; i < CELLS; i++)
    memcpy (rows[i],
            (const gfloat[]){ (gfloat) (i % 300), (gfloat) (i % 180), 30, 20, 0.002f, 0.004f },
            sizeof rows[i]);
  rows[500][5] = 0.9f;
  const void *const data[] = { rows };
  SlDecoderConfig config = table_config (DIMS (1, CELLS, COLUMNS));
  assert_asks (
    "yolo", &config, data, "column 4 holds at most 0.002 where a class has a score of 0.90",
    "state decoder=yolo,objectness=no or decoder=yolo,objectness=yes, or give the labels");
  g_autoptr (SlDecoding) stated = sl_decoding_new ("yolo,objectness=no", &config, NULL);
  g_assert_cmpuint (sl_decoding_run (stated, data)->n_detections, ==, 1);
  g_assert_cmpstr (sl_decoding_contradiction (stated), ==, NULL);
  rows[700][4] = 0.8f;
  g_autoptr (SlDecoding) both = sl_decoding_new ("yolo", &config, NULL);
  g_assert_cmpuint (sl_decoding_run (both, data)->n_detections, ==, 2);
  g_assert_cmpstr (sl_decoding_contradiction (both), ==, NULL);
  rows[700][4] = 0.002f;
  for (guint i = 0; i < CELLS; i += 3)
    rows[i][5] = 0.7f;
  g_autoptr (SlDecoding) empty = sl_decoding_new ("yolo", &config, NULL);
  g_assert_cmpuint (sl_decoding_run (empty, data)->n_detections, ==, 0);
  g_assert_cmpstr (sl_decoding_contradiction (empty), ==, NULL);
}

/* Rows without an object may be filled with -1. */
static void
test_padding (void)
{
  gfloat rows[100][6];
  for (guint i = 0; i < 100; i++)
    for (guint k = 0; k < 6; k++)
      rows[i][k] = -1;
  memcpy (rows[0], (const gfloat[]){ 40, 30, 100, 130, 0.9f, 3 }, sizeof rows[0]);
  SlDecoderConfig config = table_config (DIMS (1, 100, 6));
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ rows })->n_detections, ==, 1);
  g_assert_cmpstr (sl_decoding_contradiction (decoding), ==, NULL);
}

/* A class without a name is asked about where the tensors do not tell how many there are. */
static void
test_names_end (void)
{
  const gfloat rows[2][6] = { { 40, 30, 100, 130, 0.9f, 3 }, { 200, 20, 290, 60, 0.8f, 0 } };
  for (guint n = 3; n <= 4; n++) {
    SlDecoderConfig config = table_config (DIMS (1, 2, 6));
    config.n_labels = n;
    g_autoptr (SlDecoding) decoding =
      sl_decoding_new ("yolo,columns=x1y1x2y2,score,class", &config, NULL);
    g_assert_nonnull (decoding);
    g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ rows })->n_detections, ==,
                      n == 4 ? 2 : 0);
    g_assert_cmpstr (
      sl_decoding_contradiction (decoding), ==,
      n == 4
        ? NULL
        : "decoder yolo: a box has class 3, and the labels name 3 classes, 0..2: give the labels "
          "file that belongs to the model");
  }
}

/* What the numbers decide is said once. */
static void
test_choice (void)
{
  const gfloat rows[2][7] = { { 0, 40, 30, 100, 130, 1, 0.9f }, { 0, 200, 20, 290, 60, 0, 0.8f } };
  SlDecoderConfig config = table_config (DIMS (1, 2, 7));
  config.n_labels = 3;
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("yolo", &config, NULL);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ rows });
  g_assert_cmpuint (result->n_detections, ==, 2);
  g_assert_cmpint (result->detections[0].label_id, ==, 1);
  g_autofree char *choice = sl_decoding_take_choice (decoding),
                  *again = sl_decoding_take_choice (decoding);
  g_assert_nonnull (strstr (choice, "taken for decoder=yolo,columns=image,x1y1x2y2,class,score"));
  g_assert_null (again);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/evidence/tables", test_tables);
  g_test_add_func ("/evidence/parts", test_parts);
  g_test_add_func ("/evidence/queries", test_queries);
  g_test_add_func ("/evidence/stated", test_stated);
  g_test_add_func ("/evidence/one_name_too_few", test_one_name_too_few);
  g_test_add_func ("/evidence/second_class_alone", test_second_class_alone);
  g_test_add_func ("/evidence/padding", test_padding);
  g_test_add_func ("/evidence/names_end", test_names_end);
  g_test_add_func ("/evidence/choice", test_choice);
  return g_test_run ();
}
