/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights are in memory once: packed. Models of ONNX whose weights lie at odd addresses, have their
 * axes permuted, are of 16 bits, or are shared by layers, against sums in double precision.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/base/half.h"
#include "core/graph/constants.h"
#include "core/runtime/session.h"
#include "models/convert.h"
#include "models/model_private.h"
#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define N 256
#define WEIGHTS (N * N)
#define ROWS 80
#define BYTES (WEIGHTS * sizeof (gfloat))

typedef struct
{
  char *path;
  SlModel *model;
  gfloat first[WEIGHTS], second[WEIGHTS];
  double y[N];
} Fixture;

static void
fill (gfloat *values, gsize n, guint32 seed)
{
  for (gsize i = 0; i < n; i++) {
    seed = seed * 1664525 + 1013904223;
    values[i] = (gfloat) ((gint32) (seed >> 16 & 255) - 128) / 1024;
  }
}

static void
fill_input (gfloat x[N])
{
  for (guint i = 0; i < N; i++)
    x[i] = (gfloat) ((gint) (i * 37 % 101) - 50) / 64;
}

/* y = x times @weights, [N,N], or times what it is with both axes swapped. */
static void
multiply (const double *x, const gfloat *weights, gboolean swapped, double *y)
{
  for (guint c = 0; c < N; c++) {
    y[c] = 0;
    for (guint k = 0; k < N; k++)
      y[c] += x[k] * (double) weights[swapped ? c * N + k : k * N + c];
  }
}

/* Text before a tensor that puts its bytes at another address. */
static SlOnnxWriter *
start (guint shift, gint64 rows)
{
  g_autofree char *text = g_strnfill (shift, '.');
  SlOnnxWriter *w = sl_onnx_writer_new (13);
  sl_onnx_text (w->graph, 10, text);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 2, (gint64[]){ rows, N });
  return w;
}

static void
load (Fixture *fixture, SlOnnxWriter *w)
{
  g_autoptr (GError) error = NULL;
  gsize size;
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  const char *data = g_bytes_get_data (bytes, &size);
  fixture->path = write_temp ("model.onnx", data, (gssize) size);
  fixture->model = sl_model_load (fixture->path, NULL, &error);
  g_assert_no_error (error);
}

static void
clear (Fixture *fixture)
{
  sl_model_unref (fixture->model);
  sl_tflite_remove_temp (fixture->path);
  g_free (fixture->path);
}

static void
check (const Fixture *fixture, gsize most_resident)
{
  gfloat x[N], y[N];
  SlGraph *graph = sl_model_graph (fixture->model);
  fill_input (x);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlSession) session = sl_session_new (graph, 1 + i % 2, &error);
    g_assert_no_error (error);
    if (strcmp (sl_session_backend (session, 0), "plain")
        != 0) /* which reads them where they are */
      g_assert_cmpuint (sl_graph_resident_constants (graph), <=, most_resident);
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    for (guint c = 0; c < N; c++)
      g_assert_cmpfloat_with_epsilon (y[c], fixture->y[c], 1e-5 * (1 + fabs (fixture->y[c])));
  }
}

static void
add_weights (Fixture *fixture, SlOnnxWriter *w)
{
  const gint64 dims[2] = { N, N };
  fill (fixture->first, WEIGHTS, 1);
  fill (fixture->second, WEIGHTS, 2);
  sl_onnx_writer_floats (w, "a", 2, dims, fixture->first);
  sl_onnx_writer_floats (w, "b", 2, dims, fixture->second);
}

static void
expect (Fixture *fixture, gboolean first_swapped, const gfloat *second, gboolean second_swapped)
{
  gfloat x[N];
  double in[N], hidden[N];
  fill_input (x);
  for (guint i = 0; i < N; i++)
    in[i] = (double) x[i];
  multiply (in, fixture->first, first_swapped, hidden);
  multiply (hidden, second, second_swapped, fixture->y);
}

/* Wherever the weights lie; what stays is pages at their ends. */
static void
test_places (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  for (guint shift = 0; shift < 4; shift++) {
    g_autoptr (SlOnnxWriter) w = start (shift, 1);
    add_weights (fixture, w);
    sl_onnx_writer_node (w, "MatMul", "x,a", "h", NULL);
    sl_onnx_writer_node (w, "Gemm", "h,b", "y", "transB i 1", NULL);
    load (fixture, w);
    expect (fixture, FALSE, fixture->second, TRUE);
    check (fixture, BYTES / 4);
    clear (fixture);
  }
}

/* One tensor of the file as two layers' weights, one of which swaps its axes, in either order. */
static void
test_shared (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  for (guint i = 0; i < 8; i++) {
    const gboolean swapped = i % 2 != 0;
    g_autoptr (SlOnnxWriter) w = start (i / 2, 1);
    add_weights (fixture, w);
    sl_onnx_writer_node (w, "Gemm", "x,a", "h", swapped ? "transB i 1" : "transB i 0", NULL);
    sl_onnx_writer_node (w, "Gemm", "h,a", "y", swapped ? "transB i 0" : "transB i 1", NULL);
    load (fixture, w);
    expect (fixture, swapped, fixture->first, !swapped);
    check (fixture, BYTES / 4);
    clear (fixture);
  }
}

/* What multiplies a layer's output becomes part of its weights; the other layer has them as they
 * are. */
static void
test_scaled (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  gfloat by[N];
  for (guint c = 0; c < N; c++)
    by[c] = 0.5f + (gfloat) c / N;
  for (guint i = 0; i < 8; i++) {
    g_autoptr (SlOnnxWriter) w = start (i / 2, 1);
    add_weights (fixture, w);
    sl_onnx_writer_floats (w, "by", 1, (const gint64[]){ N }, by);
    sl_onnx_writer_node (w, "MatMul", "x,a", "g", NULL);
    sl_onnx_writer_node (w, "Mul", "g,by", "h", NULL);
    sl_onnx_writer_node (w, "Gemm", i % 2 == 0 ? "h,a" : "h,b", "y", "transB i 1", NULL);
    load (fixture, w);
    g_autofree gfloat *scaled = g_memdup2 (fixture->first, BYTES), *plain = scaled;
    scaled = g_memdup2 (fixture->first, BYTES);
    for (guint k = 0; k < WEIGHTS; k++)
      scaled[k] *= by[k % N];
    memcpy (fixture->first, scaled, BYTES);
    expect (fixture, FALSE, i % 2 == 0 ? plain : fixture->second, TRUE);
    check (fixture, 2 * BYTES);
    clear (fixture);
  }
}

static void
test_halves (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  g_autofree guint16 *halves = g_new (guint16, WEIGHTS);
  fill (fixture->first, WEIGHTS, 5);
  for (guint k = 0; k < WEIGHTS; k++) {
    halves[k] = sl_half_from_float (fixture->first[k]);
    fixture->first[k] = sl_half_to_float (halves[k]);
  }
  g_autoptr (SlOnnxWriter) w = start (1, 1);
  sl_onnx_message (w->graph, 5,
                   sl_onnx_tensor ("h", SL_ONNX_FLOAT16, 2, (const gint64[]){ N, N }, halves,
                                   WEIGHTS * sizeof halves[0]));
  sl_onnx_writer_node (w, "Cast", "h", "a", "to i 1", NULL);
  sl_onnx_writer_node (w, "MatMul", "x,a", "i", NULL);
  sl_onnx_writer_node (w, "MatMul", "i,a", "y", NULL);
  load (fixture, w);
  expect (fixture, FALSE, fixture->first, FALSE);
  check (fixture, BYTES / 4);
  clear (fixture);
}

/* The floats of weights of float16 are packed for many rows, and never in memory beside that: at
 * any address, with a factor for each channel, and as a layer whose matrix is not transposed. */
static void
run_rows (guint shift, gboolean scaled, gboolean straight)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  g_autofree guint16 *halves = g_new (guint16, WEIGHTS);
  g_autofree gfloat *x = g_new (gfloat, ROWS * N), *y = g_new (gfloat, ROWS * N);
  gfloat by[N];
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) w = start (shift, ROWS);
  fill (x, ROWS * N, 9);
  for (guint c = 0; c < N; c++)
    by[c] = scaled ? 0.5f + (gfloat) c / N : 1;
  for (guint k = 0; k < WEIGHTS; k++) {
    halves[k] = sl_half_from_float ((gfloat) ((gint) (k * 7919 % 1999) - 999) / 1777);
    fixture->first[k] = sl_half_to_float (halves[k]);
  }
  sl_onnx_message (w->graph, 5,
                   sl_onnx_tensor ("h", SL_ONNX_FLOAT16, 2, (const gint64[]){ N, N }, halves,
                                   WEIGHTS * sizeof halves[0]));
  sl_onnx_writer_floats (w, "by", 1, (const gint64[]){ N }, by);
  sl_onnx_writer_node (w, "Cast", "h", "a", "to i 1", NULL);
  sl_onnx_writer_node (w, straight ? "Gemm" : "MatMul", "x,a", scaled ? "g" : "y",
                       straight ? "transB i 1" : NULL, NULL);
  if (scaled)
    sl_onnx_writer_node (w, "Mul", "g,by", "y", NULL);
  load (fixture, w);
  SlGraph *graph = sl_model_graph (fixture->model);
  g_autoptr (SlSession) session = sl_session_new (graph, 2, &error);
  g_assert_no_error (error);
  if (strcmp (sl_session_backend (session, 0), "plain") != 0)
    g_assert_cmpuint (sl_graph_resident_constants (graph), <=, BYTES / 4);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < ROWS * N; i++) {
    const guint row = i / N, c = i % N;
    double sum = 0, most = 0;
    for (guint k = 0; k < N; k++) {
      const double product = (double) x[row * N + k]
                             * (double) fixture->first[straight ? c * N + k : k * N + c]
                             * (double) by[c];
      sum += product;
      most += fabs (product);
    }
    g_assert_cmpfloat_with_epsilon (y[i], sum, 1e-5 * most);
  }
  clear (fixture);
}

static void
test_halves_rows (void)
{
  for (guint i = 0; i < 8; i++)
    run_rows (i % 4, i >= 4, i % 4 == 3);
}

/* Weights that are no multiples of a step are packed without being transposed before, wherever they
 * lie: floats, and floats that binary16 holds; as they are, and with a factor for each channel. */
static void
test_transposed (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  gfloat by[N];
  for (guint c = 0; c < N; c++)
    by[c] = 0.5f + (gfloat) c / N;
  for (guint i = 0; i < 16; i++) {
    g_autoptr (SlOnnxWriter) w = start (i / 2 % 4, 1);
    const gint64 dims[2] = { N, N };
    fill (fixture->first, WEIGHTS, 1);
    fill (fixture->second, WEIGHTS, 2);
    for (guint k = 0; k < WEIGHTS; k++) {
      fixture->first[k] = fixture->first[k] * (1 + (gfloat) (k % 999) / 1111);
      fixture->second[k] = fixture->second[k] * (1 + (gfloat) (k % 777) / 999);
      if (i % 2 != 0)
        fixture->first[k] = sl_half_to_float (sl_half_from_float (fixture->first[k]));
    }
    sl_onnx_writer_floats (w, "a", 2, dims, fixture->first);
    sl_onnx_writer_floats (w, "b", 2, dims, fixture->second);
    sl_onnx_writer_floats (w, "by", 1, (const gint64[]){ N }, by);
    sl_onnx_writer_node (w, "MatMul", "x,a", i < 8 ? "h" : "g", NULL);
    if (i >= 8)
      sl_onnx_writer_node (w, "Mul", "g,by", "h", NULL);
    sl_onnx_writer_node (w, "MatMul", "h,b", "y", NULL);
    load (fixture, w);
    g_assert_cmpuint (sl_graph_resident_constants (sl_model_graph (fixture->model)), <, 3 * BYTES);
    for (guint k = 0; i >= 8 && k < WEIGHTS; k++)
      fixture->first[k] *= by[k % N];
    expect (fixture, FALSE, fixture->second, FALSE);
    check (fixture, BYTES / 4);
    clear (fixture);
  }
}

static gpointer
run_sessions (gpointer data)
{
  const Fixture *fixture = data;
  gfloat x[N], y[N];
  fill_input (x);
  for (guint i = 0; i < 8; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (fixture->model), 1, &error);
    g_assert_no_error (error);
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    for (guint c = 0; c < N; c++)
      g_assert_cmpfloat_with_epsilon (y[c], fixture->y[c], 1e-5 * (1 + fabs (fixture->y[c])));
  }
  return NULL;
}

/* Sessions that are made and that run at the same time: none takes away what another reads. */
static void
test_threads (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  g_autoptr (SlOnnxWriter) w = start (1, 1);
  GThread *threads[4];
  add_weights (fixture, w);
  sl_onnx_writer_node (w, "Gemm", "x,a", "h", "transB i 1", NULL);
  sl_onnx_writer_node (w, "Gemm", "h,a", "y", "transB i 0", NULL);
  load (fixture, w);
  expect (fixture, TRUE, fixture->first, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("session", run_sessions, fixture);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  check (fixture, BYTES / 4);
  clear (fixture);
}

/* Runs the model of @w, from "x" to "y", of @n floats each, three times. */
static void
run_vector (SlOnnxWriter *w, gsize n, const gfloat *x, const gfloat *expected)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  g_autofree gfloat *y = g_new (gfloat, n);
  const gint64 start = g_get_monotonic_time ();
  load (fixture, w);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlSession) session = sl_session_new (sl_model_graph (fixture->model), 1, &error);
    g_assert_no_error (error);
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    for (gsize k = 0; k < n; k++)
      g_assert_cmpfloat_with_epsilon (y[k], expected[k], 1e-5f * (1 + fabsf (expected[k])));
  }
  g_test_message ("%" G_GINT64_FORMAT " us", g_get_monotonic_time () - start);
  clear (fixture);
}

#define CHANNELS 20000

/* Parameters of a normalisation that something else was made of before. */
static void
test_normalised (void)
{
  static const char *const names[] = { "scale", "bias", "mean", "variance" };
  g_autofree gfloat *values = g_new (gfloat, 4 * CHANNELS), *x = g_new (gfloat, CHANNELS),
                    *expected = g_new (gfloat, CHANNELS);
  fill (x, CHANNELS, 7);
  fill (values, 4 * CHANNELS, 9);
  for (guint c = 0; c < CHANNELS; c++) {
    values[3 * CHANNELS + c] = 1 + fabsf (values[3 * CHANNELS + c]);
    expected[c] = (gfloat) (((double) x[c] - (double) values[2 * CHANNELS + c])
                              / sqrt ((double) values[3 * CHANNELS + c] + 1e-5) * (double) values[c]
                            + (double) values[CHANNELS + c]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
    g_autofree char *twice = g_strdup_printf ("%s,%s", names[i], names[i]);
    sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, CHANNELS, 1, 1 });
    for (guint k = 0; k < G_N_ELEMENTS (names); k++)
      sl_onnx_writer_floats (w, names[k], 1, (const gint64[]){ CHANNELS }, values + k * CHANNELS);
    sl_onnx_writer_node (w, "Add", twice, "other", NULL);
    sl_onnx_writer_node (w, "BatchNormalization", "x,scale,bias,mean,variance", "y", NULL);
    run_vector (w, CHANNELS, x, expected);
  }
}

/* Each constant is the sum of the two before it: made again without a bound, the last one would
 * take as many steps as its value. */
static void
test_sums (void)
{
  g_autofree gfloat *a = g_new (gfloat, CHANNELS), *b = g_new (gfloat, CHANNELS),
                    *x = g_new0 (gfloat, CHANNELS);
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 2, (gint64[]){ 1, CHANNELS });
  fill (a, CHANNELS, 3);
  fill (b, CHANNELS, 4);
  sl_onnx_writer_floats (w, "w0", 1, (const gint64[]){ CHANNELS }, a);
  sl_onnx_writer_floats (w, "w1", 1, (const gint64[]){ CHANNELS }, b);
  for (guint i = 2; i < 60; i++) {
    g_autofree char *inputs = g_strdup_printf ("w%u,w%u", i - 1, i - 2),
                    *output = g_strdup_printf ("w%u", i);
    sl_onnx_writer_node (w, "Add", inputs, output, NULL);
    for (guint k = 0; k < CHANNELS; k++) {
      const gfloat sum = b[k] + a[k];
      a[k] = b[k];
      b[k] = sum;
    }
  }
  sl_onnx_writer_node (w, "Add", "x,w59", "y", NULL);
  run_vector (w, CHANNELS, x, b);
}

/* A file of TensorFlow Lite that is written after sessions have packed the weights. */
static void
test_converted (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) w = start (2, 1);
  gsize size;
  add_weights (fixture, w);
  sl_onnx_writer_node (w, "MatMul", "x,a", "h", NULL);
  sl_onnx_writer_node (w, "Gemm", "h,b", "y", "transB i 1", NULL);
  load (fixture, w);
  expect (fixture, FALSE, fixture->second, TRUE);
  check (fixture, BYTES / 4);
  g_autoptr (GBytes) bytes = sl_model_to_tflite (fixture->model, &error);
  g_assert_no_error (error);
  check (fixture, BYTES / 4);
  clear (fixture);
  const char *data = g_bytes_get_data (bytes, &size);
  fixture->path = write_temp ("model.tflite", data, (gssize) size);
  fixture->model = sl_model_load (fixture->path, NULL, &error);
  g_assert_no_error (error);
  check (fixture, BYTES / 4);
  clear (fixture);
}

/* Weights that went do not come back. Where no backend packs them, they did not go. */
static void
expect_changed (const Fixture *fixture, const char *text)
{
  g_autoptr (GError) error = NULL;
  if (sl_graph_resident_constants (sl_model_graph (fixture->model)) > BYTES / 4)
    return;
  g_assert_null (sl_session_new (sl_model_graph (fixture->model), 1, &error));
  expect_error (&error, SL_ERROR_OPEN, text, "load the model again", NULL);
}

/* A second session of weights that went, when the file is another by then. */
static void
test_changed (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  g_autoptr (SlOnnxWriter) w = start (3, 1);
  add_weights (fixture, w);
  sl_onnx_writer_node (w, "MatMul", "x,a", "h", NULL);
  sl_onnx_writer_node (w, "MatMul", "h,b", "y", NULL);
  load (fixture, w);
  expect (fixture, FALSE, fixture->second, FALSE);
  check (fixture, BYTES / 4);
  const int fd = open (fixture->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  g_assert_cmpint (write (fd, "other", 5), ==, 5);
  close (fd);
  expect_changed (fixture, "the model file has changed since it was loaded");
  clear (fixture);
}

/* Weights in a file of their own, which is another for the second session in the end. */
static void
test_external (void)
{
  g_autofree Fixture *fixture = g_new0 (Fixture, 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) w = start (0, 1);
  sl_onnx_message (w->graph, 5,
                   sl_onnx_external_tensor ("a", SL_ONNX_FLOAT, 2, (const gint64[]){ N, N },
                                            "weights.bin", NULL, NULL));
  sl_onnx_writer_node (w, "MatMul", "x,a", "h", NULL);
  sl_onnx_writer_node (w, "Gemm", "h,a", "y", "transB i 1", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  fixture->path =
    write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_autofree char *folder = g_path_get_dirname (fixture->path),
                  *data = g_build_filename (folder, "weights.bin", NULL);
  fill (fixture->first, WEIGHTS, 1);
  g_assert_true (g_file_set_contents (data, (const char *) fixture->first, BYTES, NULL));
  sl_tflite_make_old (data);
  fixture->model = sl_model_load (fixture->path, NULL, &error);
  g_assert_no_error (error);
  expect (fixture, FALSE, fixture->first, TRUE);
  check (fixture, BYTES / 4);
  g_assert_true (g_file_set_contents (data, (const char *) fixture->second, BYTES, NULL));
  expect_changed (fixture, "the file 'weights.bin' with the model's weights has changed");
  g_unlink (data);
  clear (fixture);
}

#define LARGE 1024
#define MANY 40

/* Transposing what a file beside the model has takes more work than a file of the model's size may.
 */
static void
test_external_work (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "h0", SL_ONNX_FLOAT, 2, (gint64[]){ 1, LARGE });
  sl_onnx_message (w->graph, 5,
                   sl_onnx_external_tensor ("a", SL_ONNX_FLOAT, 2, (const gint64[]){ LARGE, LARGE },
                                            "weights.bin", NULL, NULL));
  for (guint i = 0; i < MANY; i++) {
    g_autofree char *inputs = g_strdup_printf ("h%u,a", i),
                    *output = g_strdup_printf ("h%u", i + 1);
    sl_onnx_writer_node (w, "MatMul", inputs, output, NULL);
  }
  sl_onnx_writer_output (w, "h40", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  g_autofree char *path = write_temp ("model.onnx", g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes)),
                  *folder = g_path_get_dirname (path),
                  *data = g_build_filename (folder, "weights.bin", NULL);
  const int fd = open (data, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  g_assert_cmpint (ftruncate (fd, LARGE * LARGE * sizeof (gfloat)), ==, 0);
  close (fd);
  sl_tflite_make_old (data);
  SlModel *model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  sl_model_unref (model);
  g_unlink (data);
  sl_tflite_remove_temp (path);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/weights-once/places", test_places);
  g_test_add_func ("/models/weights-once/shared", test_shared);
  g_test_add_func ("/models/weights-once/scaled", test_scaled);
  g_test_add_func ("/models/weights-once/halves", test_halves);
  g_test_add_func ("/models/weights-once/halves-rows", test_halves_rows);
  g_test_add_func ("/models/weights-once/transposed", test_transposed);
  g_test_add_func ("/models/weights-once/threads", test_threads);
  g_test_add_func ("/models/weights-once/normalised", test_normalised);
  g_test_add_func ("/models/weights-once/sums", test_sums);
  g_test_add_func ("/models/weights-once/converted", test_converted);
  g_test_add_func ("/models/weights-once/changed", test_changed);
  g_test_add_func ("/models/weights-once/external", test_external);
  g_test_add_func ("/models/weights-once/external-work", test_external_work);
  return g_test_run ();
}
