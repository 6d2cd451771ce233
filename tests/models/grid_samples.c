/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GRID_SAMPLE in files of TensorFlow Lite, which has none: as the nodes that the writer makes of
 * it, and as the one that the reader finds in these again, alone and in sums of weighed samples,
 * against double precision.
 */
#include <math.h>
#include <string.h>

#include "core/ops/ops.h"
#include "core/runtime/session.h"
#include "models/convert.h"
#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define BATCH 2
#define CHANNELS 3
#define ROWS 6
#define POINTS 2
#define MOST_LEVELS 2
#define MOST_PIXELS 35

static const gint sizes[MOST_LEVELS][2] = { { 5, 7 }, { 4, 3 } };

/** Pictures of so many @levels, sampled; @weighed: samples times their weights are added up. */
typedef struct
{
  guint levels;
  gboolean align, edge, weighed;
  gfloat pictures[MOST_LEVELS][BATCH * CHANNELS * MOST_PIXELS],
    grids[MOST_LEVELS][BATCH * ROWS * POINTS * 2], weights[BATCH * ROWS * MOST_LEVELS * POINTS];
} Samples;

static void
fill (Samples *s)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint l = 0; l < s->levels; l++) {
    for (guint i = 0; i < G_N_ELEMENTS (s->pictures[l]); i++)
      s->pictures[l][i] = (gfloat) g_rand_double_range (rand, -1, 1);
    for (guint i = 0; i < G_N_ELEMENTS (s->grids[l]); i++)
      s->grids[l][i] = (gfloat) g_rand_double_range (rand, -1.5, 1.5);
    s->grids[l][0] = 1e9f;
    s->grids[l][2] = -1e9f;
  }
  for (guint i = 0; i < G_N_ELEMENTS (s->weights); i++)
    s->weights[i] = (gfloat) g_rand_double_range (rand, -1, 1);
}

static GBytes *
write_onnx (const Samples *s)
{
  static const char *const names[][3] = { { "x0", "g0", "y0" }, { "x1", "g1", "y1" } };
  SlOnnxWriter *w = sl_onnx_writer_new (20);
  for (guint l = 0; l < s->levels; l++) {
    const gint64 picture[4] = { BATCH, CHANNELS, sizes[l][0], sizes[l][1] };
    g_autofree char *inputs = g_strjoin (",", names[l][0], names[l][1], NULL);
    sl_onnx_writer_input (w, names[l][0], SL_ONNX_FLOAT, 4, picture);
    sl_onnx_writer_input (w, names[l][1], SL_ONNX_FLOAT, 4,
                          (const gint64[]){ BATCH, ROWS, POINTS, 2 });
    sl_onnx_writer_node (w, "GridSample", inputs, names[l][2],
                         s->align ? "align_corners i 1" : "align_corners i 0",
                         s->edge ? "padding_mode s border" : "padding_mode s zeros", NULL);
  }
  if (s->weighed) {
    sl_onnx_writer_input (w, "w", SL_ONNX_FLOAT, 4,
                          (const gint64[]){ BATCH, 1, ROWS, POINTS * s->levels });
    sl_onnx_writer_ints (w, "axes", 1, (const gint64[]){ -1 });
    if (s->levels > 1)
      sl_onnx_writer_node (w, "Concat", "y0,y1", "all", "axis i 3", NULL);
    sl_onnx_writer_node (w, "Mul", s->levels > 1 ? "all,w" : "y0,w", "product", NULL);
    sl_onnx_writer_node (w, "ReduceSum", "product,axes", "sum", "keepdims i 0", NULL);
  }
  sl_onnx_writer_output (w, s->weighed ? "sum" : "y0", SL_ONNX_FLOAT);
  GBytes *bytes = sl_onnx_writer_finish (w);
  sl_onnx_writer_free (w);
  return bytes;
}

/* (transfer full): @kept: to make another model of it, so with the nodes that are in the file. */
static SlModel *
load (GBytes *bytes, const char *name, gboolean kept)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
    write_temp (name, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  const SlModelSettings overrides = { 0 };
  SlModelLoadOptions options = sl_model_load_options (&overrides);
  options.keep_activations = kept;
  SlModel *model = sl_model_load_with (path, &overrides, &options, &error);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
  return model;
}

static GBytes *
convert (const Samples *s)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) onnx = write_onnx (s);
  g_autoptr (SlModel) source = load (onnx, "model.onnx", FALSE);
  GBytes *tflite = sl_model_to_tflite (source, &error);
  g_assert_no_error (error);
  return tflite;
}

/* The GRID_SAMPLE of the model of most inputs; 0 where there is none. */
static guint
most_inputs (const SlModel *model)
{
  const SlGraph *graph = sl_model_graph (model);
  guint most = 0;
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++)
    if (sl_graph_node (graph, i)->op == SL_OP_GRID_SAMPLE)
      most = MAX (most, sl_graph_node (graph, i)->n_inputs);
  return most;
}

static double
pixel (const Samples *s, guint l, guint plane, gint row, gint column)
{
  const gint height = sizes[l][0], width = sizes[l][1];
  if (!s->edge && (row < 0 || row >= height || column < 0 || column >= width))
    return 0;
  return (double)
    s->pictures[l][(plane * (guint) height + (guint) CLAMP (row, 0, height - 1)) * (guint) width
                   + (guint) CLAMP (column, 0, width - 1)];
}

/* Sample @at of a picture of the batch, in channel @plane of them all. */
static double
sample (const Samples *s, guint l, guint plane, guint at)
{
  const gint height = sizes[l][0], width = sizes[l][1];
  const gfloat *place = &s->grids[l][(plane / CHANNELS * ROWS * POINTS + at) * 2];
  const double gx = (double) place[0], gy = (double) place[1];
  double x = s->align ? (gx + 1) / 2 * (width - 1) : ((gx + 1) * width - 1) / 2,
         y = s->align ? (gy + 1) / 2 * (height - 1) : ((gy + 1) * height - 1) / 2, sum = 0;
  x = CLAMP (x, s->edge ? 0 : -1, s->edge ? width - 1 : width);
  y = CLAMP (y, s->edge ? 0 : -1, s->edge ? height - 1 : height);
  for (gint k = 0; k < 4; k++) {
    const gint row = (gint) floor (y) + k / 2, column = (gint) floor (x) + k % 2;
    sum += (1 - fabs (y - row)) * (1 - fabs (x - column)) * pixel (s, l, plane, row, column);
  }
  return sum;
}

static double
expected (const Samples *s, guint i)
{
  const guint n = s->weighed ? ROWS : ROWS * POINTS, plane = i / n, row = i % n;
  double sum = 0;
  if (!s->weighed)
    return sample (s, 0, plane, row);
  for (guint k = 0; k < POINTS * s->levels; k++)
    sum += sample (s, k / POINTS, plane, row * POINTS + k % POINTS)
           * (double) s->weights[(plane / CHANNELS * ROWS + row) * POINTS * s->levels + k];
  return sum;
}

/* The largest error of the model's results. */
static double
error_of (const Samples *s, const SlModel *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  const guint n_inputs = 2 * s->levels + (s->weighed != FALSE),
              n = BATCH * CHANNELS * ROWS * (s->weighed ? 1 : POINTS);
  void *in[2 * MOST_LEVELS + 1];
  gfloat *out = sl_tensor_buffer_new (n * sizeof out[0]);
  double most = 0;
  g_assert_no_error (error);
  for (guint i = 0; i < n_inputs; i++) {
    const gsize bytes =
      sl_graph_tensor (sl_model_graph (model), sl_graph_input (sl_model_graph (model), i))->bytes;
    in[i] = sl_tensor_buffer_new (bytes);
    memcpy (in[i],
            i == 2 * s->levels ? s->weights
            : i % 2 == 0       ? s->pictures[i / 2]
                               : s->grids[i / 2],
            bytes);
  }
  g_assert_cmpint (sl_session_run (session, (const void *const *) in, (void *[]){ out }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < n; i++)
    most = fmax (most, fabs ((double) out[i] - expected (s, i)));
  for (guint i = 0; i < n_inputs; i++)
    sl_tensor_buffer_free (in[i]);
  sl_tensor_buffer_free (out);
  return most;
}

/* The file's nodes give the samples, and so does what the reader makes of them. */
static void
test_found (void)
{
  for (guint i = 0; i < 12; i++) {
    Samples s = { .levels = i < 8 ? 1 : 2, .align = i % 2, .edge = i / 2 % 2, .weighed = i >= 4 };
    fill (&s);
    g_autoptr (GBytes) file = convert (&s);
    g_autoptr (SlModel) found = load (file, "model.tflite", FALSE);
    g_autoptr (SlModel) kept = load (file, "model.tflite", TRUE);
    g_assert_cmpuint (most_inputs (found), ==, s.weighed ? 1 + 2 * s.levels : 2);
    g_assert_cmpuint (most_inputs (kept), ==, 0);
    g_assert_cmpfloat (error_of (&s, found), <=, 1e-5);
    g_assert_cmpfloat (error_of (&s, kept), <=, 1e-5);
  }
}

/* A file with another constant computes something else, which it still does. */
static void
test_other (void)
{
  const gfloat half = 3.5f, other = 3.25f;
  Samples s = { .levels = 1 };
  fill (&s);
  g_autoptr (GBytes) file = convert (&s);
  gsize size, changed = 0;
  g_autofree guint8 *bytes = g_bytes_unref_to_data (g_bytes_ref (file), &size);
  for (gsize i = 0; i + sizeof half <= size; i += sizeof half)
    if (memcmp (bytes + i, &half, sizeof half) == 0) {
      memcpy (bytes + i, &other, sizeof other);
      changed++;
    }
  g_assert_cmpuint (changed, >, 0);
  g_autoptr (GBytes) patched = g_bytes_new (bytes, size);
  g_autoptr (SlModel) model = load (patched, "model.tflite", FALSE);
  g_assert_cmpuint (most_inputs (model), ==, 0);
  g_assert_cmpfloat (error_of (&s, model), >, 1e-2);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/grid-samples/found", test_found);
  g_test_add_func ("/models/grid-samples/other", test_other);
  return g_test_run ();
}
