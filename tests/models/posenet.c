/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Coral's custom operator PosenetDecoderOp, in models that are written here: random fields against
 * the published decoding (PersonLab, arXiv:1803.08225) written out in double precision, one point
 * after another from the nose's side and back.
 */
#include <math.h>
#include <string.h>

#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/flexbuffer_writer.h"
#include "tests/support/program.h"

#define POINTS 17
#define ROWS 9
#define COLUMNS 12
#define CELLS (ROWS * COLUMNS)
#define MOST 6
#define STRIDE 16.0

static const gint32 columns[3] = { POINTS, 2 * POINTS, 64 };
static const gfloat scales[3] = { 0.09f, 0.7f, 1.5f };
static const gint64 zeros[3] = { 180, 134, 118 };
static const gint reaches[3] = { 70, 8, 5 };

/* By point: the next one towards the nose, and the edge that leads from there. */
static const gint parents[POINTS] = { -1, 0, 0, 1, 2, 0, 0, 5, 6, 7, 8, 5, 6, 11, 12, 13, 14 };
static const gint edge_to[POINTS] = { -1, 0, 2, 1, 3, 4, 10, 5, 11, 6, 12, 7, 13, 8, 14, 9, 15 };

typedef struct
{
  double y[POINTS], x[POINTS], score[POINTS], total;
} Person;

typedef struct
{
  gdouble threshold, radius, stride;
  gint most;
} Options;

static SlTfliteWriter *
model (const Options *options, gboolean quantised, gint32 rows)
{
  static const char *const names[4] = { "points", "scores", "totals", "count" };
  const FlexEntry entries[] = { { "max_detections", FLEX_INT, options->most },
                                { "nms_radius", FLEX_FLOAT, options->radius },
                                { "score_threshold", FLEX_FLOAT, options->threshold },
                                { "stride", FLEX_INT, options->stride } };
  g_autoptr (GBytes) custom = flex_map (entries, G_N_ELEMENTS (entries), 4);
  SlTfliteWriter *writer = sl_tflite_writer_new ();
  SlTfliteOp op = {
    .custom = "PosenetDecoderOp", .custom_options = custom, .n_inputs = 3, .n_outputs = 4
  };
  for (guint i = 0; i < 3; i++)
    op.inputs[i] = sl_tflite_writer_tensor (
      writer, &(SlTfliteTensor){ .name = "field",
                                 .dtype = quantised ? SL_DTYPE_U8 : SL_DTYPE_F32,
                                 .rank = 4,
                                 .dims = { 1, i == 2 ? rows : ROWS, COLUMNS, columns[i] },
                                 .scale = quantised ? scales[i] : 0,
                                 .zero_point = zeros[i] });
  for (guint i = 0; i < 4; i++)
    op.outputs[i] = sl_tflite_writer_tensor (
      writer, &(SlTfliteTensor){ .name = names[i], .dtype = SL_DTYPE_F32, .rank = 0 });
  sl_tflite_writer_op (writer, &op);
  sl_tflite_writer_io (writer, 3, op.inputs, 4, op.outputs);
  return writer;
}

/* Field @f in the middle of cells, between them weighted by nearness. */
static double
at (const double *const *fields, guint f, double y, double x, gint column)
{
  double sum = 0;
  for (gint r = 0; r < ROWS; r++)
    for (gint c = 0; c < COLUMNS; c++)
      sum += fmax (1 - fabs (y - r), 0) * fmax (1 - fabs (x - c), 0)
             * fields[f][(r * COLUMNS + c) * columns[f] + column];
  return sum;
}

static void
move (const double *const *fields, guint f, double *y, double *x, gint y_column, gint x_column)
{
  const double dy = at (fields, f, *y, *x, y_column) / STRIDE,
               dx = at (fields, f, *y, *x, x_column) / STRIDE;
  *y = fmin (fmax (*y + dy, 0), ROWS - 1);
  *x = fmin (fmax (*x + dx, 0), COLUMNS - 1);
}

/* Everything behind @point, seen from @from. */
static void
spread (const double *const *fields, Person *person, gint point, gint from)
{
  person->score[point] = 1 / (1 + exp (-at (fields, 0, person->y[point], person->x[point], point)));
  for (gint next = 0; next < POINTS; next++) {
    const gboolean outward = parents[next] == point, inward = parents[point] == next;
    if (next == from || (!outward && !inward))
      continue;
    const gint first = (outward ? edge_to[next] : 32 + edge_to[point]);
    person->y[next] = person->y[point];
    person->x[next] = person->x[point];
    move (fields, 2, &person->y[next], &person->x[next], first, first + 16);
    for (guint i = 0; i < 5; i++)
      move (fields, 1, &person->y[next], &person->x[next], next, POINTS + next);
    spread (fields, person, next, point);
  }
}

static double
apart (const Person *a, const Person *b, gint point)
{
  return STRIDE * hypot (a->y[point] - b->y[point], a->x[point] - b->x[point]);
}

/* The surest score whose neighbours are no surer and that was not @used; -1 = none. */
static gint
surest (const double *scores, const gboolean *used, double lowest)
{
  gint best = -1;
  for (gint i = 0; i < CELLS * POINTS; i++) {
    const gint r = i / POINTS / COLUMNS, c = i / POINTS % COLUMNS;
    gboolean maximum = !used[i] && scores[i] >= lowest && (best < 0 || scores[i] > scores[best]);
    for (gint k = 0; k < CELLS && maximum; k++)
      maximum = abs (k / COLUMNS - r) > 1 || abs (k % COLUMNS - c) > 1
                || scores[k * POINTS + i % POINTS] <= scores[i];
    best = maximum ? i : best;
  }
  return best;
}

static void
sort_persons (Person *persons, gint n)
{
  for (gint i = 1; i < n; i++)
    for (gint k = i; k > 0 && persons[k].total > persons[k - 1].total; k--) {
      const Person swapped = persons[k];
      persons[k] = persons[k - 1];
      persons[k - 1] = swapped;
    }
}

static gint
find_persons (const double *const *fields, const Options *options, Person *persons)
{
  gboolean used[CELLS * POINTS] = { FALSE };
  gint n = 0;
  while (n < options->most) {
    const gint root = surest (fields[0], used, -log (1 / (options->threshold + 1e-6) - 1));
    if (root < 0)
      break;
    used[root] = TRUE;
    Person person = { .total = 0 };
    const gint point = root % POINTS;
    person.y[point] = root / POINTS / COLUMNS;
    person.x[point] = root / POINTS % COLUMNS;
    move (fields, 1, &person.y[point], &person.x[point], point, POINTS + point);
    gboolean taken = FALSE;
    for (gint i = 0; i < n; i++)
      taken |= apart (&person, &persons[i], point) <= options->radius;
    if (taken)
      continue;
    spread (fields, &person, point, -1);
    for (gint k = 0; k < POINTS; k++)
      person.total += person.score[k] / POINTS;
    if (person.total >= options->threshold)
      persons[n++] = person;
  }
  sort_persons (persons, n);
  for (gint i = 0; i < n; i++) {
    persons[i].total = 0;
    for (gint k = 0; k < POINTS; k++) {
      gboolean taken = FALSE;
      for (gint j = 0; j < i; j++)
        taken |= apart (&persons[i], &persons[j], k) <= options->radius;
      persons[i].total += taken ? 0 : persons[i].score[k] / POINTS;
    }
  }
  sort_persons (persons, n);
  while (n > 0 && persons[n - 1].total < options->threshold)
    n--;
  return n;
}

static void
compare (gfloat *const *out, const Person *persons, gint n)
{
  g_assert_cmpfloat (out[3][0], ==, n);
  for (gint i = 0; i < MOST; i++)
    for (gint k = 0; k < POINTS; k++) {
      g_assert_cmpfloat_with_epsilon ((double) out[0][(i * POINTS + k) * 2],
                                      i < n ? persons[i].y[k] * STRIDE : 0, 0.01);
      g_assert_cmpfloat_with_epsilon ((double) out[0][(i * POINTS + k) * 2 + 1],
                                      i < n ? persons[i].x[k] * STRIDE : 0, 0.01);
      g_assert_cmpfloat_with_epsilon ((double) out[1][i * POINTS + k],
                                      i < n ? persons[i].score[k] : 0, 1e-4);
      g_assert_cmpfloat_with_epsilon ((double) out[2][i], i < n ? persons[i].total : 0, 1e-4);
    }
}

static SlSession *
open_session (const Options *options, gboolean quantised, SlGraph **graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = model (options, quantised, ROWS);
  *graph = read_graph (writer, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_graph_prepare (*graph, &error));
  SlSession *session = sl_session_new (*graph, 1, &error);
  g_assert_no_error (error);
  return session;
}

/* Scores around 0; displacements of some cells, much alike in neighbouring cells, so that rounding
 * stays small. Returns how many persons were found. */
static gint
check_fields (guint32 seed, const Options *options, gboolean quantised)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  SlGraph *graph = NULL;
  g_autoptr (SlSession) session = open_session (options, quantised, &graph);
  void *in[3], *out[4];
  double *fields[3];
  Person persons[MOST];
  for (guint i = 0; i < 3; i++) {
    const gsize n = (gsize) (CELLS * columns[i]);
    in[i] = sl_tensor_buffer_new (n * sizeof (gfloat));
    fields[i] = g_new (double, n);
    gint base[64];
    for (gint k = 0; k < columns[i]; k++)
      base[k] = (gint) zeros[i] + (i == 2 ? g_rand_int_range (rand, -40, 41) : 0);
    for (gsize k = 0; k < n; k++) {
      const guint8 code = (guint8) CLAMP (base[k % (gsize) columns[i]]
                                            + g_rand_int_range (rand, -reaches[i], reaches[i] + 1),
                                          0, 255);
      const gfloat value = (gfloat) (code - (gint) zeros[i]) * scales[i]
                           + (quantised ? 0 : (gfloat) g_rand_double_range (rand, -0.05, 0.05));
      fields[i][k] = (double) value;
      if (quantised)
        ((guint8 *) in[i])[k] = code;
      else
        ((gfloat *) in[i])[k] = value;
    }
  }
  for (guint i = 0; i < 4; i++)
    out[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, (const void *const *) in, out), ==, SL_STATUS_OK);
  const gint n = find_persons ((const double *const *) fields, options, persons);
  compare ((gfloat *const *) out, persons, n);
  for (guint i = 0; i < 4; i++)
    sl_tensor_buffer_free (out[i]);
  for (guint i = 0; i < 3; i++) {
    sl_tensor_buffer_free (in[i]);
    g_free (fields[i]);
  }
  g_clear_pointer (&session, sl_session_free);
  sl_graph_unref (graph);
  return n;
}

static void
test_floats (void)
{
  gint found = 0;
  for (guint32 seed = 1; seed <= 8; seed++)
    found += check_fields (seed, &(Options){ 0.3, seed * 6, STRIDE, MOST }, FALSE);
  g_assert_cmpint (found, >, 16);
}

static void
test_quantised (void)
{
  gint found = 0;
  for (guint32 seed = 11; seed <= 14; seed++)
    found += check_fields (seed, &(Options){ 0.4, 20, STRIDE, MOST }, TRUE);
  g_assert_cmpint (found, >, 4);
}

/* Fields without numbers: no place outside the picture is read or reported. */
static void
test_nan (void)
{
  SlGraph *graph = NULL;
  g_autoptr (SlSession) session = open_session (&(Options){ 0.1, 5, STRIDE, MOST }, FALSE, &graph);
  void *in[3], *out[4];
  for (guint i = 0; i < 3; i++) {
    const gsize n = (gsize) (CELLS * columns[i]);
    in[i] = sl_tensor_buffer_new (n * sizeof (gfloat));
    for (gsize k = 0; k < n; k++)
      ((gfloat *) in[i])[k] = i == 0       ? (k % 5 == 0 ? NAN : 9)
                              : k % 3 == 0 ? NAN
                              : k % 3 == 1 ? INFINITY
                                           : -1e38f;
  }
  for (guint i = 0; i < 4; i++)
    out[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, (const void *const *) in, out), ==, SL_STATUS_OK);
  for (gint i = 0; i < MOST * POINTS; i++) {
    const gfloat y = ((gfloat *) out[0])[2 * i], x = ((gfloat *) out[0])[2 * i + 1];
    g_assert_true (y >= 0 && y <= (gfloat) ((ROWS - 1) * STRIDE) && x >= 0
                   && x <= (gfloat) ((COLUMNS - 1) * STRIDE));
  }
  for (guint i = 0; i < 4; i++)
    sl_tensor_buffer_free (out[i]);
  for (guint i = 0; i < 3; i++)
    sl_tensor_buffer_free (in[i]);
  g_clear_pointer (&session, sl_session_free);
  sl_graph_unref (graph);
}

static void
refuse (Options options, gint32 rows, SlError code, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = model (&options, FALSE, rows);
  g_autoptr (SlGraph) graph = read_graph (writer, NULL, &error);
  g_assert_false (graph != NULL && sl_graph_prepare (graph, &error));
  expect_error (&error, code, "node 0 PosenetDecoderOp", text, NULL);
}

static void
test_errors (void)
{
  refuse ((Options){ 0.2, 5, 16, 2000 }, ROWS, SL_ERROR_LIMIT,
          "max_detections is 2000; expected 1..1024");
  refuse ((Options){ 0.2, 5, 16, 0 }, ROWS, SL_ERROR_FORMAT, "custom option max_detections is 0");
  refuse ((Options){ 0.2, 5, 40000, 3 }, ROWS, SL_ERROR_FORMAT,
          "stride is 40000; expected 1..32767");
  refuse ((Options){ 1.5, 5, 16, 3 }, ROWS, SL_ERROR_FORMAT,
          "score_threshold is 1.5; expected 0..1");
  refuse ((Options){ 0.5, -5, 16, 3 }, ROWS, SL_ERROR_FORMAT,
          "nms_radius is -5; expected 0 or more");
  refuse ((Options){ 0.5, 5, 0, 3 }, ROWS, SL_ERROR_FORMAT,
          "custom option stride is 0; expected a whole number from 1 to 1000000");
  refuse (
    (Options){ 0.2, 5, 16, 3 }, ROWS + 1, SL_ERROR_SHAPE,
    "the tensor of displacements is float32[1,10,12,64]; expected [1,H,W,64], of one size with the "
    "others");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tflite/posenet/floats", test_floats);
  g_test_add_func ("/tflite/posenet/quantised", test_quantised);
  g_test_add_func ("/tflite/posenet/nan", test_nan);
  g_test_add_func ("/tflite/posenet/errors", test_errors);
  return g_test_run ();
}
