/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Branches and loops that the picture decides, Scan, SequenceMap and optional values; sequences of
 * stated lengths, different elements, determinants and spectra: against the same in double
 * precision.
 */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define N 6

/* A graph within: names of its inputs and outputs with ',' between, then its nodes, which are
 * taken, NULL behind the last. */
static GByteArray *
inner (const char *inputs, const char *outputs, ...)
{
  GByteArray *graph = g_byte_array_new (), *node;
  g_auto (GStrv) from = g_strsplit (inputs, ",", -1), to = g_strsplit (outputs, ",", -1);
  va_list nodes;
  va_start (nodes, outputs);
  while ((node = va_arg (nodes, GByteArray *)) != NULL)
    sl_onnx_message (graph, 1, node);
  va_end (nodes);
  for (guint i = 0; from[i] != NULL; i++)
    sl_onnx_message (graph, 11, sl_onnx_edge (from[i], SL_ONNX_FLOAT, 0, NULL));
  for (guint i = 0; to[i] != NULL; i++)
    sl_onnx_message (graph, 12, sl_onnx_edge (to[i], SL_ONNX_FLOAT, 0, NULL));
  return graph;
}

static void
add_scalar (OnnxModel *m, const char *name, gfloat value)
{
  sl_onnx_writer_floats (m->writer, name, 0, NULL, &value);
}

/* @raised decides: the sum of the picture is above 0, or below. */
static void
run_if (gboolean raised)
{
  double y[N];
  OnnxModel m;
  onnx_model_init (&m, 18, 1);
  gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (2, 3));
  for (guint i = 0; i < N; i++)
    x[i] = fabsf (x[i]) * (raised ? 1.0f : -1.0f);
  add_scalar (&m, "zero", 0);
  sl_onnx_writer_node (m.writer, "ReduceSum", "x", "s", "keepdims i 0", NULL);
  sl_onnx_writer_node (m.writer, "Greater", "s,zero", "c", NULL);
  GByteArray *node = sl_onnx_node ("If", "c", "y", NULL);
  sl_onnx_node_graph (node, "then_branch",
                      inner ("", "o", sl_onnx_node ("Exp", "x", "o", NULL), NULL));
  sl_onnx_node_graph (node, "else_branch",
                      inner ("", "o", sl_onnx_node ("Neg", "x", "o", NULL), NULL));
  sl_onnx_message (m.writer->graph, 1, node);
  for (guint i = 0; i < N; i++)
    y[i] = raised ? exp ((double) x[i]) : -(double) x[i];
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, N, y, 1e-5);
  onnx_model_clear (&m);
}

static void
test_if (void)
{
  run_if (TRUE);
  run_if (FALSE);
}

/* One value of the picture doubles the state in every trip and goes on while it is below 10, at
 * most 8 times. Rows of trips that do not count are 0. */
static void
run_loop (gfloat start)
{
  double y[N], rows[8 * N] = { 0 };
  static const gint64 trips = 8;
  static const guint8 yes = 1;
  OnnxModel m;
  onnx_model_init (&m, 18, 2);
  gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (2, 3));
  x[0] = start;
  for (guint i = 1; i < N; i++)
    x[i] = start / 2;
  add_scalar (&m, "limit", 10);
  sl_onnx_message (m.writer->graph, 5,
                   sl_onnx_tensor ("trips", SL_ONNX_INT64, 0, NULL, &trips, sizeof trips));
  sl_onnx_message (m.writer->graph, 5, sl_onnx_tensor ("yes", SL_ONNX_BOOL, 0, NULL, &yes, 1));
  GByteArray *node = sl_onnx_node ("Loop", "trips,yes,x", "y,rows", NULL);
  sl_onnx_node_graph (node, "body",
                      inner ("i,c,a", "co,ao,sc", sl_onnx_node ("Add", "a,a", "ao", NULL),
                             sl_onnx_node ("Identity", "ao", "sc", NULL),
                             sl_onnx_node ("ReduceMax", "ao", "most", "keepdims i 0", NULL),
                             sl_onnx_node ("Less", "most,limit", "co", NULL), NULL));
  sl_onnx_message (m.writer->graph, 1, node);
  for (guint i = 0; i < N; i++)
    y[i] = (double) x[i];
  for (guint trip = 0; trip < 8 && (trip == 0 || y[0] < 10); trip++)
    for (guint i = 0; i < N; i++)
      rows[trip * N + i] = y[i] = 2 * y[i];
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, N, y, 0);
  onnx_model_expect (&m, "rows", SL_ONNX_FLOAT, 8 * N, rows, 0);
  onnx_model_clear (&m);
}

static void
test_loop (void)
{
  static const gfloat starts[] = { 100, 5, 1.5f, 0.125f, 0.001f };
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    run_loop (starts[i]);
}

/* Sums along the second dimension from the end to the begin, written along it from the end, too;
 * and many steps along the first. */
static void
run_scan (gboolean many)
{
  const guint rows = many ? 300 : 3, columns = many ? 2 : 5, steps = many ? rows : columns,
              width = many ? columns : rows;
  g_autofree double *sums = g_new0 (double, rows *columns), *state = g_new0 (double, width);
  OnnxModel m;
  onnx_model_init (&m, 18, 3);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (rows, columns));
  g_autofree gfloat *zeros = g_new0 (gfloat, width);
  sl_onnx_writer_floats (m.writer, "start", 1, DIMS (width), zeros);
  GByteArray *node = many
                       ? sl_onnx_node ("Scan", "start,x", "end,sums", "num_scan_inputs i 1", NULL)
                       : sl_onnx_node ("Scan", "start,x", "end,sums", "num_scan_inputs i 1",
                                       "scan_input_axes I -1", "scan_input_directions I 1",
                                       "scan_output_axes I 1", "scan_output_directions I 1", NULL);
  sl_onnx_node_graph (node, "body",
                      inner ("s,e", "so,sc", sl_onnx_node ("Add", "s,e", "so", NULL),
                             sl_onnx_node ("Identity", "so", "sc", NULL), NULL));
  sl_onnx_message (m.writer->graph, 1, node);
  for (guint step = 0; step < steps; step++)
    for (guint i = 0; i < width; i++) {
      const guint at = many ? step * columns + i : i * columns + (columns - 1 - step);
      sums[at] = state[i] += (double) x[at];
    }
  onnx_model_expect (&m, "end", SL_ONNX_FLOAT, width, state, 1e-4);
  onnx_model_expect (&m, "sums", SL_ONNX_FLOAT, rows * columns, sums, 1e-4);
  onnx_model_clear (&m);
}

static void
test_scan (void)
{
  run_scan (FALSE);
  run_scan (TRUE);
}

/* Each part of a sequence plus a tensor; a value that is there, and one that is not. */
static void
test_sequence_map (void)
{
  double y[N];
  OnnxModel m;
  onnx_model_init (&m, 18, 4);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (2, 3)),
               *b = onnx_model_floats (&m, "b", 1, DIMS (3));
  sl_onnx_writer_node (m.writer, "SplitToSequence", "x", "q", "axis i 0", NULL);
  GByteArray *node = sl_onnx_node ("SequenceMap", "q,b", "z", NULL);
  sl_onnx_node_graph (node, "body",
                      inner ("e,more", "r", sl_onnx_node ("Add", "e,more", "r", NULL), NULL));
  sl_onnx_message (m.writer->graph, 1, node);
  sl_onnx_writer_node (m.writer, "ConcatFromSequence", "z", "joined", "axis i 0", NULL);
  sl_onnx_writer_node (m.writer, "Optional", "joined", "maybe", NULL);
  sl_onnx_writer_node (m.writer, "OptionalHasElement", "maybe", "there", NULL);
  sl_onnx_writer_node (m.writer, "Optional", "", "none", NULL);
  sl_onnx_writer_node (m.writer, "OptionalHasElement", "none", "absent", NULL);
  node = sl_onnx_node ("If", "absent", "chosen", NULL);
  sl_onnx_node_graph (
    node, "then_branch",
    inner ("", "o", sl_onnx_node ("OptionalGetElement", "none", "o", NULL), NULL));
  sl_onnx_node_graph (
    node, "else_branch",
    inner ("", "o", sl_onnx_node ("OptionalGetElement", "maybe", "o", NULL), NULL));
  sl_onnx_message (m.writer->graph, 1, node);
  sl_onnx_writer_node (m.writer, "Abs", "chosen", "y", NULL);
  for (guint i = 0; i < N; i++)
    y[i] = fabs ((double) x[i] + (double) b[i % 3]);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, N, y, 1e-6);
  onnx_model_clear (&m);
}

static void
test_refused (void)
{
  enum
  {
    SHAPES,
    COUNT,
    CONDITION,
    MANY,
    SCAN,
    MISSING
  };
  static const char *const texts[] = {
    [SHAPES] = "the picture decides about output 0, whose two values have other shapes or types",
    [COUNT] =
      "the trip count, input 0, depends on the picture; expected a constant: the work of a frame "
      "must be bounded",
    [CONDITION] =
      "the number of its iterations depends on the picture; expected a constant trip count of at "
      "most 64",
    [MANY] = "the number of its iterations is too high; at most 1024",
    [SCAN] = "its body does not fit its 2 inputs, of which 9223372036854775807 are sequences",
    [MISSING] = "its optional value is not there",
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    static const guint8 yes = 1;
    const gint64 trips = i == MANY ? 5000 : 65;
    OnnxModel m;
    onnx_model_init (&m, 18, 5);
    onnx_model_floats (&m, "x", 2, DIMS (2, 3));
    onnx_model_ints (&m, "n", 1, DIMS (1), 1, 5);
    add_scalar (&m, "zero", 0);
    sl_onnx_message (m.writer->graph, 5,
                     sl_onnx_tensor ("trips", SL_ONNX_INT64, 0, NULL, &trips, sizeof trips));
    sl_onnx_message (m.writer->graph, 5, sl_onnx_tensor ("yes", SL_ONNX_BOOL, 0, NULL, &yes, 1));
    sl_onnx_writer_node (m.writer, "ReduceSum", "x", "s", "keepdims i 0", NULL);
    sl_onnx_writer_node (m.writer, "Greater", "s,zero", "c", NULL);
    GByteArray *node = sl_onnx_node (i == SHAPES    ? "If"
                                     : i == SCAN    ? "Scan"
                                     : i == MISSING ? "OptionalGetElement"
                                                    : "Loop",
                                     i == SHAPES    ? "c"
                                     : i == COUNT   ? "n,yes,x"
                                     : i == SCAN    ? "x,x"
                                     : i == MISSING ? "none"
                                                    : "trips,yes,x",
                                     "y", "num_scan_inputs i 9223372036854775807", NULL);
    sl_onnx_node_graph (node, "then_branch",
                        inner ("", "o", sl_onnx_node ("Neg", "x", "o", NULL), NULL));
    sl_onnx_node_graph (
      node, "else_branch",
      inner ("", "o", sl_onnx_node ("Flatten", "x", "o", "axis i 0", NULL), NULL));
    sl_onnx_node_graph (node, "body",
                        inner ("i,g,a", "co,ao", sl_onnx_node ("Add", "a,a", "ao", NULL),
                               i == CONDITION ? sl_onnx_node ("Identity", "c", "co", NULL)
                                              : sl_onnx_node ("Identity", "g", "co", NULL),
                               NULL));
    sl_onnx_writer_node (m.writer, "Optional", "", "none", NULL);
    sl_onnx_message (m.writer->graph, 1, node);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, texts[i]);
    onnx_model_clear (&m);
  }
}

/* Branches that do not fit their condition and outputs. */
static void
test_branches_refused (void)
{
  static const struct
  {
    const char *condition, *outputs, *given, *text;
  } rows[] = {
    { "all", "y", "o", "its condition is bool with 6 elements; expected one truth value" },
    { "one", "y,z", "o", "its inner graph has 1 outputs; expected 2" },
    { "one", "y", "q", "output 'q' of its inner graph is produced by no node" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 18, 5);
    onnx_model_floats (&m, "x", 2, DIMS (2, 3));
    add_scalar (&m, "zero", 0);
    sl_onnx_writer_node (m.writer, "ReduceSum", "x", "s", "keepdims i 0", NULL);
    sl_onnx_writer_node (m.writer, "Greater", "s,zero", "one", NULL);
    sl_onnx_writer_node (m.writer, "Greater", "x,zero", "all", NULL);
    GByteArray *node = sl_onnx_node ("If", rows[i].condition, rows[i].outputs, NULL);
    sl_onnx_node_graph (node, "then_branch",
                        inner ("", rows[i].given, sl_onnx_node ("Exp", "x", "o", NULL), NULL));
    sl_onnx_node_graph (node, "else_branch",
                        inner ("", rows[i].given, sl_onnx_node ("Neg", "x", "o", NULL), NULL));
    sl_onnx_message (m.writer->graph, 1, node);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

/* Lengths are given for each run; time first or second. */
static void
run_reverse (gboolean time_first)
{
  double y[3 * 4 * 2];
  OnnxModel m;
  onnx_model_init (&m, 18, 6);
  const gfloat *x = onnx_model_floats (&m, "x", 3, time_first ? DIMS (4, 3, 2) : DIMS (3, 4, 2));
  gint64 *lengths = onnx_model_ints (&m, "n", 1, DIMS (3), 1, 5);
  lengths[0] = 4;
  sl_onnx_writer_node (m.writer, "ReverseSequence", "x,n", "y",
                       time_first ? "time_axis i 0" : "time_axis i 1",
                       time_first ? "batch_axis i 1" : "batch_axis i 0", NULL);
  for (gint i = 0; i < 24; i++) {
    const gint t = time_first ? i / 6 : i / 2 % 4, b = time_first ? i / 2 % 3 : i / 8,
               n = (gint) lengths[b], from = t < n ? n - 1 - t : t;
    y[i] = (double) x[time_first ? (from * 3 + b) * 2 + i % 2 : (b * 4 + from) * 2 + i % 2];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 24, y, 0);
  onnx_model_clear (&m);
}

static void
test_reverse (void)
{
  run_reverse (TRUE);
  run_reverse (FALSE);
}

/* The different ones, where each is first, which each element is, how often each is there; 0 and -1
 * behind the last. */
static void
run_unique (gboolean sorted)
{
  static const gfloat values[8] = { 2, 0.5f, 2, -1, 7, 0.5f, 0.5f, -1 };
  static const double in_order[4][8] = {
    { -1, 0.5, 2, 7 }, { 3, 1, 0, 4, -1, -1, -1, -1 }, { 2, 1, 2, 0, 3, 1, 1, 0 }, { 2, 3, 2, 1 }
  };
  static const double as_they_come[4][8] = {
    { 2, 0.5, -1, 7 }, { 0, 1, 3, 4, -1, -1, -1, -1 }, { 0, 1, 0, 2, 3, 1, 1, 2 }, { 2, 3, 2, 1 }
  };
  static const char *const names[4] = { "y", "first", "which", "counts" };
  OnnxModel m;
  onnx_model_init (&m, 18, 7);
  memcpy (onnx_model_floats (&m, "x", 2, DIMS (2, 4)), values, sizeof values);
  sl_onnx_writer_node (m.writer, "Unique", "x", "y,first,which,counts",
                       sorted ? "sorted i 1" : "sorted i 0", NULL);
  for (guint i = 0; i < 4; i++)
    onnx_model_expect (&m, names[i], i == 0 ? SL_ONNX_FLOAT : SL_ONNX_INT64, 8,
                       (sorted ? in_order : as_they_come)[i], 0);
  onnx_model_clear (&m);
}

static void
test_unique (void)
{
  run_unique (TRUE);
  run_unique (FALSE);
}

/* By its definition, along the first row. */
static double
minor (const double *m, guint n)
{
  double rest[16], sum = 0;
  if (n == 1)
    return m[0];
  for (guint c = 0; c < n; c++) {
    for (guint i = 0; i < (n - 1) * (n - 1); i++) {
      const guint column = i % (n - 1);
      rest[i] = m[(i / (n - 1) + 1) * n + column + (column >= c)];
    }
    sum += (c % 2 == 0 ? 1 : -1) * m[c] * minor (rest, n - 1);
  }
  return sum;
}

static void
test_determinant (void)
{
  for (guint n = 1; n <= 5; n++) {
    double y[3], one[25];
    OnnxModel m;
    onnx_model_init (&m, 18, n);
    gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (3, n, n));
    for (guint i = 0; i < n && n > 1; i++) /* one of them has none */
      x[n * n + i] = x[n * n + n + i] = 1;
    sl_onnx_writer_node (m.writer, "Det", "x", "y", NULL);
    for (guint b = 0; b < 3; b++) {
      for (guint i = 0; i < n * n; i++)
        one[i] = (double) x[b * n * n + i];
      y[b] = minor (one, n);
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 3, y, 1e-5);
    onnx_model_clear (&m);
  }
}

/* [2,samples,3,1 or 2] along dimension 1: cut or filled up to @length. */
static void
run_dft (gint samples, gint length, gboolean complex, gboolean inverse, gboolean onesided)
{
  const gint bins = onesided ? length / 2 + 1 : length, parts = complex ? 2 : 1;
  g_autofree double *y = g_new0 (double, 2 * bins * 3 * 2);
  OnnxModel m;
  onnx_model_init (&m, 20, (guint32) length);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (2, samples, 3, parts));
  sl_onnx_writer_ints (m.writer, "length", 1, DIMS (length));
  sl_onnx_writer_ints (m.writer, "axis", 1, DIMS (1));
  sl_onnx_writer_node (m.writer, "DFT", "x,length,axis", "y",
                       inverse ? "inverse i 1" : "inverse i 0",
                       onesided ? "onesided i 1" : "onesided i 0", NULL);
  for (gint i = 0; i < 2 * bins * 3; i++)
    for (gint t = 0; t < MIN (samples, length); t++) {
      const gfloat *from = x + ((i / 3 / bins * samples + t) * 3 + i % 3) * parts;
      const double turn = (inverse ? 2 : -2) * G_PI * (i / 3 % bins) * t / length,
                   real = (double) from[0], imaginary = complex ? (double) from[1] : 0,
                   share = inverse ? 1.0 / length : 1;
      y[2 * i] += share * (real * cos (turn) - imaginary * sin (turn));
      y[2 * i + 1] += share * (real * sin (turn) + imaginary * cos (turn));
    }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) (2 * bins * 3 * 2), y, 2e-5);
  onnx_model_clear (&m);
}

static void
test_dft (void)
{
  run_dft (16, 16, FALSE, FALSE, TRUE);
  run_dft (12, 9, FALSE, FALSE, FALSE);
  run_dft (7, 10, TRUE, FALSE, FALSE);
  run_dft (8, 8, TRUE, TRUE, FALSE);
  run_dft (1, 1, FALSE, FALSE, TRUE);
}

/* Frames of 8 of 21 samples, one every 5, weighed by a window of cosines. */
static void
run_stft (const char *op, double a, double b, double c, gboolean periodic)
{
  double y[3 * 5 * 2] = { 0 };
  OnnxModel m;
  onnx_model_init (&m, 17, 9);
  const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (1, 21, 1));
  sl_onnx_writer_ints (m.writer, "step", 1, DIMS (5));
  sl_onnx_writer_ints (m.writer, "size", 1, DIMS (8));
  sl_onnx_writer_node (m.writer, op, "size", "w", periodic ? "periodic i 1" : "periodic i 0", NULL);
  sl_onnx_writer_node (m.writer, "STFT", "x,step,w", "y", NULL);
  for (gint i = 0; i < 15; i++)
    for (gint t = 0; t < 8; t++) {
      const double turn = -2 * G_PI * (i % 5) * t / 8, place = 2 * G_PI * t / (periodic ? 8 : 7);
      const double value = (double) x[i / 5 * 5 + t] * (a - b * cos (place) + c * cos (2 * place));
      y[2 * i] += value * cos (turn);
      y[2 * i + 1] += value * sin (turn);
    }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 30, y, 1e-5);
  onnx_model_clear (&m);
}

static void
test_stft (void)
{
  run_stft ("HannWindow", 0.5, 0.5, 0, TRUE);
  run_stft ("HammingWindow", 25.0 / 46, 21.0 / 46, 0, FALSE);
  run_stft ("BlackmanWindow", 0.42, 0.5, 0.08, TRUE);
}

/* What would take much memory or work beside its tensors. */
static void
test_large (void)
{
  static const struct
  {
    const char *op, *text;
    gint64 rows, columns;
  } rows[] = {
    { "Det", "expected square matrices of at most 1024 rows", 2000, 2000 },
    { "Unique", "expected a vector of at most 4194304 elements", 5000, 1000 },
    { "DFT", "a transform of 5000 samples is not supported; expected 1 to 4096", 5000, 2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 19, 1);
    sl_onnx_writer_input (m.writer, "x", SL_ONNX_FLOAT, 2, DIMS (rows[i].rows, rows[i].columns));
    sl_onnx_writer_node (m.writer, rows[i].op, "x", "y", i == 2 ? "axis i 0" : NULL, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/control/if", test_if);
  g_test_add_func ("/onnx/control/loop", test_loop);
  g_test_add_func ("/onnx/control/scan", test_scan);
  g_test_add_func ("/onnx/control/sequence-map", test_sequence_map);
  g_test_add_func ("/onnx/control/refused", test_refused);
  g_test_add_func ("/onnx/control/branches-refused", test_branches_refused);
  g_test_add_func ("/onnx/control/reverse", test_reverse);
  g_test_add_func ("/onnx/control/unique", test_unique);
  g_test_add_func ("/onnx/control/determinant", test_determinant);
  g_test_add_func ("/onnx/control/dft", test_dft);
  g_test_add_func ("/onnx/control/stft", test_stft);
  g_test_add_func ("/onnx/control/large", test_large);
  return g_test_run ();
}
