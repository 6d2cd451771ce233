/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The same three objects written in every way the family writes them, and what it may not say. */
#include <math.h>
#include <time.h>

#include "tests/postprocess/support.h"
#include "tests/support/program.h"

#define SIDE 64
#define CLASSES 3
#define ROWS 84 /* 8x8 + 4x4 + 2x2 cells of strides 8, 16, 32 */

typedef struct
{
  double x, y, w, h, score;
  guint label, row;
} Object;

/* Centres in pixels lie in the cell of the row that finds them. */
static const Object objects[] = {
  { 12, 20, 10, 12, 0.9, 2, 17 },     /* stride 8, cell (1, 2) */
  { 40, 24, 30, 28, 0.8, 0, 64 + 6 }, /* stride 16, cell (2, 1) */
  { 50, 50, 20, 24, 0.7, 1, 80 + 3 }, /* stride 32, cell (1, 1) */
  { 12.4, 20, 10, 12, 0.6, 2, 18 },   /* overlaps the first: suppressed */
};
#define FOUND 3

static void
assert_found (const SlResult *result, double tolerance)
{
  g_assert_cmpuint (result->n_detections, ==, FOUND);
  for (guint i = 0; i < FOUND; i++) {
    const SlDetection *got = &result->detections[i];
    const Object *o = &objects[i];
    g_assert_cmpint (got->label_id, ==, (gint) o->label);
    g_assert_cmpfloat_with_epsilon (got->confidence, o->score, tolerance);
    g_assert_cmpfloat_with_epsilon (got->x_min, (o->x - o->w / 2) / SIDE, tolerance);
    g_assert_cmpfloat_with_epsilon (got->y_min, (o->y - o->h / 2) / SIDE, tolerance);
    g_assert_cmpfloat_with_epsilon (got->x_max, (o->x + o->w / 2) / SIDE, tolerance);
    g_assert_cmpfloat_with_epsilon (got->y_max, (o->y + o->h / 2) / SIDE, tolerance);
  }
}

static SlDecoderConfig
new_config (guint n_labels)
{
  return (SlDecoderConfig){ .threshold = 0.5f,
                            .max_results = 10,
                            .n_labels = n_labels,
                            .input_width = SIDE,
                            .input_height = SIDE };
}

static void
run_and_check (const char *name, SlDecoderConfig *config, const void *data, double tolerance)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (name, config, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_decoding_decoder (decoding)->name, ==, "yolo");
  assert_found (sl_decoding_run (decoding, (const void *const[]){ data }), tolerance);
  config_clear (config);
}

static gsize
at (gboolean transposed, guint channels, guint row, guint channel)
{
  return transposed ? channel * ROWS + row : row * channels + channel;
}

/* Rows with @objectness, coordinates times @unit. */
static void
write_rows (gfloat *to, gboolean transposed, gboolean objectness, gboolean corners, double unit)
{
  const guint first = objectness ? 5 : 4, channels = first + CLASSES;
  memset (to, 0, sizeof *to * ROWS * channels);
  for (guint i = 0; i < G_N_ELEMENTS (objects); i++) {
    const Object *o = &objects[i];
    const double box[4] = { corners ? o->x - o->w / 2 : o->x, corners ? o->y - o->h / 2 : o->y,
                            corners ? o->x + o->w / 2 : o->w, corners ? o->y + o->h / 2 : o->h };
    for (guint k = 0; k < 4; k++)
      to[at (transposed, channels, o->row, k)] = (gfloat) (box[k] * unit);
    if (objectness)
      to[at (transposed, channels, o->row, 4)] = 0.95f;
    to[at (transposed, channels, o->row, first + o->label)] =
      (gfloat) (o->score / (objectness ? 0.95 : 1));
  }
}

static void
test_v8 (void)
{
  gfloat data[ROWS * (4 + CLASSES)];
  for (guint pixels = 0; pixels < 2; pixels++)
    for (guint transposed = 0; transposed < 2; transposed++) {
      SlDecoderConfig config = new_config (CLASSES);
      write_rows (data, transposed, FALSE, FALSE, pixels ? 1 : 1.0 / SIDE);
      if (transposed)
        config_add (&config, SL_DTYPE_F32, DIMS (1, 4 + CLASSES, ROWS), 0, 0);
      else
        config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, 4 + CLASSES), 0, 0);
      run_and_check (NULL, &config, data, 1e-5);
    }
}

/* Each preset of decoded boxes reads its generation's rows, without any labels to go by. */
static void
test_presets (void)
{
  static const struct
  {
    const char *name;
    gboolean transposed, objectness;
  } presets[] = { { "yolo,preset=v3", FALSE, TRUE },  { "yolo,preset=v5", FALSE, TRUE },
                  { "yolo,preset=v6", FALSE, FALSE }, { "yolo,preset=v7", FALSE, TRUE },
                  { "yolo,preset=v8", TRUE, FALSE },  { "yolo,preset=v9", TRUE, FALSE },
                  { "yolo,preset=v11", TRUE, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (presets); i++) {
    gfloat data[ROWS * (5 + CLASSES)];
    const gint32 channels = (presets[i].objectness ? 5 : 4) + CLASSES;
    SlDecoderConfig config = new_config (0);
    write_rows (data, presets[i].transposed, presets[i].objectness, FALSE, 1);
    if (presets[i].transposed)
      config_add (&config, SL_DTYPE_F32, DIMS (1, channels, ROWS), 0, 0);
    else
      config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, channels), 0, 0);
    run_and_check (presets[i].name, &config, data, 1e-5);
  }
}

static void
test_v5 (void)
{
  gfloat data[ROWS * (5 + CLASSES)];
  SlDecoderConfig config = new_config (0);
  write_rows (data, FALSE, TRUE, FALSE, 1.0 / SIDE);
  config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, 5 + CLASSES), 0, 0);
  run_and_check ("yolo,preset=v5", &config, data, 1e-5);
  config.n_labels = CLASSES;
  run_and_check (NULL, &config, data, 1e-5);
  write_rows (data, TRUE, TRUE, TRUE, 1);
  config.tensors[0].dims[1] = 5 + CLASSES;
  config.tensors[0].dims[2] = ROWS;
  run_and_check ("yolo,objectness=yes,transposed=yes,box=xyxy,units=pixels", &config, data, 1e-5);
}

/* Codes of scale 1/128 with zero point -100: every coordinate and score is off by half a step at
 * most. */
static void
test_codes (void)
{
  gfloat real[ROWS * (5 + CLASSES)];
  gint8 codes[ROWS * (5 + CLASSES)];
  for (guint objectness = 0; objectness < 2; objectness++)
    for (guint transposed = 0; transposed < 2; transposed++) {
      const guint channels = 4 + objectness + CLASSES;
      SlDecoderConfig config = new_config (CLASSES);
      write_rows (real, transposed, objectness, FALSE, 1.0 / SIDE);
      for (guint i = 0; i < ROWS * channels; i++)
        codes[i] = (gint8) CLAMP (lrint (real[i] * 128.0) - 100, -128, 127);
      if (transposed)
        config_add (&config, SL_DTYPE_I8, DIMS (1, (gint) channels, ROWS), 1 / 128.0f, -100);
      else
        config_add (&config, SL_DTYPE_I8, DIMS (1, ROWS, (gint) channels), 1 / 128.0f, -100);
      run_and_check (NULL, &config, codes, 1.01 / 128);
    }
}

static void
test_end_to_end (void)
{
  gfloat data[300 * 6] = { 0 };
  for (guint i = 0; i < FOUND; i++) {
    const Object *o = &objects[i];
    const double row[6] = { o->x - o->w / 2, o->y - o->h / 2, o->x + o->w / 2,
                            o->y + o->h / 2, o->score,        o->label };
    for (guint k = 0; k < 6; k++)
      data[i * 6 + k] = (gfloat) row[k];
  }
  data[FOUND * 6 + 4] = 0.99f; /* no area */
  data[FOUND * 6 + 10] = 0.99f;
  data[FOUND * 6 + 11] = NAN;
  for (guint i = 0; i < 3; i++) {
    SlDecoderConfig config = new_config (80);
    config_add (&config, SL_DTYPE_F32, DIMS (1, 300, 6), 0, 0);
    run_and_check (i == 0   ? NULL
                   : i == 1 ? "yolo,preset=v10"
                            : "yolo,preset=v26",
                   &config, data, 1e-5);
  }
}

static void
test_grid (void)
{
  gfloat data[ROWS * (5 + CLASSES)];
  SlDecoderConfig config = new_config (CLASSES);
  write_rows (data, FALSE, TRUE, FALSE, 1);
  for (guint i = 0; i < G_N_ELEMENTS (objects); i++) {
    const Object *o = &objects[i];
    const guint first = o->row < 64   ? 0
                        : o->row < 80 ? 64
                                      : 80,
                side = o->row < 64   ? 8
                       : o->row < 80 ? 4
                                     : 2,
                stride = SIDE / side;
    gfloat *row = &data[o->row * (5 + CLASSES)];
    row[0] = (gfloat) (o->x / stride - (o->row - first) % side);
    row[1] = (gfloat) (o->y / stride - (double) ((o->row - first) / side));
    row[2] = (gfloat) log (o->w / stride);
    row[3] = (gfloat) log (o->h / stride);
  }
  config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, 5 + CLASSES), 0, 0);
  run_and_check ("yolo,preset=x", &config, data, 1e-5);
}

static gfloat
logit (double p)
{
  return (gfloat) log (p / (1 - p));
}

/* Heads of v5 as they leave the network: one tensor a stride, two anchors a cell, everything before
 * its sigmoid. */
static void
test_anchors (void)
{
  static const double anchors[3][2][2] = { { { 4, 4 }, { 10, 10 } },
                                           { { 20, 20 }, { 30, 40 } },
                                           { { 15, 15 }, { 40, 40 } } };
  static const guint sides[3] = { 8, 4, 2 };
  gfloat *heads[3];
  SlDecoderConfig config = new_config (CLASSES);
  for (guint l = 0; l < 3; l++) {
    const guint n = 2 * sides[l] * sides[l] * (5 + CLASSES);
    heads[l] = g_new (gfloat, n);
    for (guint i = 0; i < n; i++)
      heads[l][i] = -20;
    config_add (&config, SL_DTYPE_F32, DIMS (1, 2, (gint) sides[l], (gint) sides[l], 5 + CLASSES),
                0, 0);
  }
  for (guint i = 0; i < FOUND; i++) {
    const Object *o = &objects[i];
    const guint l = i,
                first = o->row < 64   ? 0
                        : o->row < 80 ? 64
                                      : 80,
                cell = o->row - first, stride = SIDE / sides[l];
    gfloat *row = &heads[l][(sides[l] * sides[l] + cell) * (5 + CLASSES)]; /* the second anchor */
    row[0] = logit ((o->x / stride - cell % sides[l] + 0.5) / 2);
    row[1] = logit ((o->y / stride - (double) (cell / sides[l]) + 0.5) / 2);
    row[2] = logit (sqrt (o->w / anchors[l][1][0] / 4));
    row[3] = logit (sqrt (o->h / anchors[l][1][1] / 4));
    row[4] = logit (0.95);
    row[5 + o->label] = logit (o->score / 0.95);
  }
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDecoding) decoding = sl_decoding_new (
    "yolo,preset=v5,boxes=anchors,activation=sigmoid,anchors=4,4,10,10,20,20,30,40,15,15,40,40",
    &config, &error);
  g_assert_no_error (error);
  assert_found (sl_decoding_run (decoding, (const void *const *) heads), 1e-5);
  for (guint l = 0; l < 3; l++)
    g_free (heads[l]);
}

static void
test_keypoints (void)
{
  enum
  {
    CHANNELS = 4 + 1 + 6
  };
  gfloat data[CHANNELS * ROWS] = { 0 };
  const double row[CHANNELS] = { 32, 32, 16, 16, 0.9, 10, 20, 0.8, 30, NAN, 0.7 };
  SlDecoderConfig config = new_config (1);
  for (guint c = 0; c < CHANNELS; c++)
    data[c * ROWS + 40] = (gfloat) row[c];
  config_add (&config, SL_DTYPE_F32, DIMS (1, CHANNELS, ROWS), 0, 0);
  config_param (&config, "task", "pose");
  config_param (&config, "kpt_shape", "2,3");
  g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, NULL);
  const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ data });
  g_assert_cmpuint (result->n_detections, ==, 1);
  g_assert_cmpuint (result->detections[0].n_keypoints, ==, 2);
  const SlDetectedPoint *points = &result->keypoints[result->detections[0].first_keypoint];
  g_assert_cmpfloat_with_epsilon (points[0].x, 10.0 / SIDE, 1e-6);
  g_assert_cmpfloat_with_epsilon (points[0].y, 20.0 / SIDE, 1e-6);
  g_assert_cmpfloat_with_epsilon (points[0].confidence, 0.8, 1e-6);
  g_assert_cmpfloat (points[1].confidence, ==, 0); /* not a number */
  g_assert_cmpfloat (points[1].x, ==, 0);
  config_clear (&config);
}

/* Numbers that mean nothing make no boxes. */
static void
test_not_finite (void)
{
  static const gfloat bad[] = { NAN, INFINITY, -INFINITY };
  gfloat data[ROWS * (4 + CLASSES)];
  SlDecoderConfig config = new_config (CLASSES);
  config_add (&config, SL_DTYPE_F32, DIMS (1, 4 + CLASSES, ROWS), 0, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("yolo", &config, NULL);
  for (guint b = 0; b < G_N_ELEMENTS (bad); b++) {
    for (guint i = 0; i < G_N_ELEMENTS (data); i++)
      data[i] = bad[b];
    g_assert_cmpuint (sl_decoding_run (decoding, (const void *const[]){ data })->n_detections, ==,
                      0);
    write_rows (data, TRUE, FALSE, FALSE, 1.0 / SIDE);
    for (guint k = 0; k < 4; k++)
      data[k * ROWS + 30 + k] = bad[b], data[5 * ROWS + 30 + k] = 0.99f;
    for (guint row = 40; row < 50; row++)
      data[4 * ROWS + row] = bad[b];
    assert_found (sl_decoding_run (decoding, (const void *const[]){ data }), 1e-5);
  }
}

/* A million rows that all pass: the best are found, and it does not take long. */
static void
test_million (void)
{
  const guint n = 1000000;
  guint8 *codes = g_malloc (7 * (gsize) n);
  SlDecoderConfig config = new_config (3);
  config.max_results = SL_MAX_RESULTS;
  memset (codes, 100, 7 * (gsize) n);
  for (guint i = 0; i < n; i++) {
    codes[i] = (guint8) (i * 7);
    codes[n + i] = (guint8) (i / 251);
    codes[2 * (gsize) n + i] = codes[3 * (gsize) n + i] = 2;
    codes[4 * (gsize) n + i] = (guint8) (200 + i % 50);
  }
  config_add (&config, SL_DTYPE_U8, DIMS (1, 7, (gint) n), 1 / 255.0f, 0);
  g_autoptr (SlDecoding) decoding = sl_decoding_new ("yolo,check=no", &config, NULL);
  clock_t best = G_MAXINT32; /* of the processor: other processes run, too */
  for (guint round = 0; round < 3; round++) {
    const clock_t start = clock ();
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ codes });
    best = MIN (best, clock () - start);
    g_assert_cmpuint (result->n_detections, >, 50);
    g_assert_cmpfloat_with_epsilon (result->detections[0].confidence, 249 / 255.0, 1e-6);
  }
  g_test_message ("a million candidates in %ld us", (long) best);
  g_assert_cmpint (best, <, CLOCKS_PER_SEC);
  g_free (codes);
}

/* Masks of boxes of any size and place, from NaN and infinite values; and how long many boxes of
 * the whole picture take. */
static void
test_hostile_masks (void)
{
  enum
  {
    SEG_ROWS = 2000,
    PROTOTYPES = 32,
    MAP = 160,
    CHANNELS = 4 + CLASSES + PROTOTYPES
  };
  static const gfloat odd[] = { NAN, INFINITY, -INFINITY, 0, 0.5f, 1, -1, 1e30f, -1e30f, 2, 0.9f };
  g_autofree gfloat *rows = g_new (gfloat, SEG_ROWS * CHANNELS),
                    *maps = g_new (gfloat, MAP * MAP * PROTOTYPES);
  clock_t best = G_MAXINT32; /* of the processor: other processes run, too */
  for (guint round = 0; round < 12; round++) {
    SlDecoderConfig config = new_config (CLASSES);
    g_autoptr (GError) error = NULL;
    guint cells = 0;
    config.max_results = 300;
    config_add (&config, SL_DTYPE_F32, DIMS (1, SEG_ROWS, CHANNELS), 0, 0);
    if (round % 2 == 0)
      config_add (&config, SL_DTYPE_F32, DIMS (1, MAP, MAP, PROTOTYPES), 0, 0);
    else
      config_add (&config, SL_DTYPE_F32, DIMS (1, PROTOTYPES, MAP, MAP), 0, 0);
    const gboolean crowd = round >= 6;
    for (guint i = 0; i < SEG_ROWS * CHANNELS; i++)
      rows[i] = crowd ? (i % CHANNELS < 2   ? 0.5f
                         : i % CHANNELS < 4 ? 1
                                            : 0.8f)
                      : odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
    for (guint i = 0; i < MAP * MAP * PROTOTYPES; i++)
      maps[i] = crowd ? (gfloat) (i % 7) - 3 : odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))];
    g_autoptr (SlDecoding) decoding =
      sl_decoding_new ("yolo,transposed=no,objectness=no,units=normalised,iou-threshold=1,check=no",
                       &config, &error);
    g_assert_no_error (error);
    const clock_t start = clock ();
    const SlResult *result = sl_decoding_run (decoding, (const void *const[]){ rows, maps });
    if (crowd)
      best = MIN (best, clock () - start);
    g_assert_nonnull (result->masks);
    for (guint i = 0; i < result->n_detections; i++) {
      const SlInstanceMask *mask = &result->masks[i];
      g_assert_cmpuint (mask->width, <=, MAP);
      g_assert_cmpuint (mask->height, <=, MAP);
      cells += mask->width * mask->height;
    }
    g_assert_cmpuint (cells, <=, SL_MAX_OBJECT_CELLS);
    g_assert_true (!crowd || cells == SL_MAX_OBJECT_CELLS / (MAP * MAP) * MAP * MAP);
  }
  g_test_message ("masks of as many whole pictures as there is room for in %ld us", (long) best);
  g_assert_cmpint (best, <, CLOCKS_PER_SEC);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *name, *message;
    SlError code;
  } cases[] = {
    { "yolo,preset=v99", "decoder parameter preset: expected one of v3, v5", SL_ERROR_ARGUMENT },
    { "yolo,objectness=maybe",
      "decoder parameter objectness: expected one of no, false, 0, yes, true, 1, got 'maybe'",
      SL_ERROR_ARGUMENT },
    { "yolo,box=yxyx", "decoder parameter box: expected one of xywh, xyxy", SL_ERROR_ARGUMENT },
    { "yolo,units=inches", "decoder parameter units: expected one of auto, normalised, pixels",
      SL_ERROR_ARGUMENT },
    { "yolo,iou-threshold=2", "decoder parameter iou-threshold: expected a number 0..1, got '2'",
      SL_ERROR_ARGUMENT },
    { "yolo,keypoints=17,5", "expected a count and 2 or 3, such as 17,3, got '17,5'",
      SL_ERROR_ARGUMENT },
    { "yolo,masks=perhaps",
      "decoder parameter masks: expected one of no, false, 0, yes, true, 1, got 'perhaps'",
      SL_ERROR_ARGUMENT },
    { "yolo,masks=yes",
      "expected for masks=yes two tensors, boxes [1,channels,rows] or [1,rows,channels] and "
      "prototypes",
      SL_ERROR_SHAPE },
    { "yolo,keypoints=17,3", "are too few for 4 of a box, 51 behind the classes", SL_ERROR_SHAPE },
    { "yolo,boxes=grid,strides=8,16", "64x64 and 2 strides makes 80 rows, the tensors have 84",
      SL_ERROR_SHAPE },
    { "yolo,boxes=anchors", "boxes=anchors needs a width and a height for each anchor of 3 strides",
      SL_ERROR_ARGUMENT },
    { "yolo,strides=8,x,boxes=grid", "decoder parameter strides: expected 1 to 8 numbers 1..4096",
      SL_ERROR_ARGUMENT },
    { "yolo,imgsz=0,units=pixels", "decoder parameter imgsz: expected 1 to 2 numbers",
      SL_ERROR_ARGUMENT },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    SlDecoderConfig config = new_config (CLASSES);
    config_add (&config, SL_DTYPE_F32, DIMS (1, 4 + CLASSES, ROWS), 0, 0);
    assert_open_fails (cases[i].name, &config, cases[i].code, cases[i].message);
  }
  SlDecoderConfig config = { .threshold = 0.5f, .max_results = 1 };
  config_add (&config, SL_DTYPE_F32, DIMS (1, 7, 84), 0, 0);
  assert_open_fails ("yolo,units=pixels", &config, SL_ERROR_ARGUMENT,
                     "whose size is not known: state imgsz=HEIGHT,WIDTH");
  assert_open_fails ("yolo,boxes=grid", &config, SL_ERROR_ARGUMENT,
                     "decoder yolo: the size of the model's input is not known, which boxes in "
                     "cells need: state imgsz=HEIGHT,WIDTH");
  config.tensors[0].dims[0] = 2;
  assert_open_fails ("yolo", &config, SL_ERROR_SHAPE,
                     "decoder yolo: expected boxes and scores as one tensor");
  config.tensors[0].dims[0] = 1;
  config.tensors[0].dtype = SL_DTYPE_I8;
  assert_open_fails ("yolo", &config, SL_ERROR_CONTRACT,
                     "tensor 0 is int8 and nothing states its scale");
  config.tensors[0].dtype = SL_DTYPE_I64;
  assert_open_fails ("yolo", &config, SL_ERROR_SHAPE, "got int64[1,7,84]");
  config.n_tensors = 0;
  for (guint i = 0; i < 7; i++) /* each of fewer than 2^31 numbers */
    config_add (&config, SL_DTYPE_F32, DIMS (1, 20000, 17895, 6), 0, 0);
  assert_open_fails ("yolo,boxes=grid", &config, SL_ERROR_SHAPE,
                     "decoder yolo: expected fewer than 2^31 rows");
}

/* YOLOX's rows are told from decoded ones by their sizes, where nothing states which they are. */
static void
test_offsets (void)
{
  gfloat data[ROWS * (5 + CLASSES)];
  for (guint raw = 0; raw < 2; raw++) {
    SlDecoderConfig config = new_config (CLASSES);
    write_rows (data, FALSE, TRUE, FALSE, 1);
    for (guint row = 0; row < ROWS && raw; row++) {
      const guint cells = row < 64   ? 8
                          : row < 80 ? 4
                                     : 2,
                  local = row < 64   ? row
                          : row < 80 ? row - 64
                                     : row - 80;
      const double stride = SIDE / cells;
      gfloat *box = data + row * (5 + CLASSES);
      box[0] = (gfloat) (box[0] / stride - local % cells);
      box[1] = (gfloat) (box[1] / stride - local / cells);
      box[2] = box[2] > 0 ? (gfloat) log (box[2] / stride) : -1;
      box[3] = box[3] > 0 ? (gfloat) log (box[3] / stride) : -1;
    }
    config_add (&config, SL_DTYPE_F32, DIMS (1, ROWS, 5 + CLASSES), 0, 0);
    run_and_check (NULL, &config, data, 1e-5);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDecoding) decoding = sl_decoding_new (NULL, &config, &error);
    g_assert_nonnull (strstr (sl_decoding_note (decoding), "boxes=grid or decoded"));
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/yolo/v8", test_v8);
  g_test_add_func ("/yolo/v5", test_v5);
  g_test_add_func ("/yolo/presets", test_presets);
  g_test_add_func ("/yolo/codes", test_codes);
  g_test_add_func ("/yolo/end_to_end", test_end_to_end);
  g_test_add_func ("/yolo/grid", test_grid);
  g_test_add_func ("/yolo/anchors", test_anchors);
  g_test_add_func ("/yolo/keypoints", test_keypoints);
  g_test_add_func ("/yolo/not_finite", test_not_finite);
  g_test_add_func ("/yolo/million", test_million);
  g_test_add_func ("/yolo/errors", test_errors);
  g_test_add_func ("/yolo/hostile_masks", test_hostile_masks);
  g_test_add_func ("/yolo/offsets", test_offsets);
  return g_test_run ();
}
