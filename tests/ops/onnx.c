/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that ONNX's files have and TensorFlow Lite's do not, or in another form. Expected
 * values are computed here, in double. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

/* Sums along each dimension, of what a convolution's layout holds channels last, too. */
static void
test_cum_sum (void)
{
  const gint64 dims[4] = { 2, 3, 4, 5 }, strides[4] = { 60, 20, 5, 1 };
  for (gint64 axis = -4; axis < 4; axis++)
    for (guint mode = 0; mode < 8; mode++) {
      const gboolean exclusive = mode & 1, reverse = mode >> 1 & 1, pooled = mode >> 2;
      const gint64 d = axis < 0 ? axis + 4 : axis;
      g_autofree char *a = g_strdup_printf ("exclusive i %d", exclusive),
                      *b = g_strdup_printf ("reverse i %d", reverse);
      double expected[120] = { 0 };
      OnnxModel m;
      onnx_model_init (&m, 14, mode);
      const gfloat *x = onnx_model_floats (&m, "x", 4, dims);
      sl_onnx_writer_ints (m.writer, "axis", 1, &axis);
      if (pooled)
        sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
      sl_onnx_writer_node (m.writer, "CumSum", pooled ? "p,axis" : "x,axis", "y", a, b, NULL);
      for (gint64 i = 0; i < 120; i++)
        for (gint64 k = 0, at = i / strides[d] % dims[d]; k < dims[d]; k++)
          if ((reverse ? k > at : k < at) || (k == at && !exclusive))
            expected[i] += (double) x[i + (k - at) * strides[d]];
      onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 120, expected, 1e-5);
      onnx_model_clear (&m);
    }
}

static void
test_trilu (void)
{
  static const gint64 diagonals[] = { 0, 1, -2, 6, -9, G_MAXINT64, G_MININT64 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (diagonals); i++) {
    const gint64 k = diagonals[i / 2];
    const gboolean upper = i & 1;
    double expected[2 * 4 * 6];
    OnnxModel m;
    onnx_model_init (&m, 14, i);
    const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (2, 4, 6));
    sl_onnx_writer_ints (m.writer, "k", 1, &k);
    sl_onnx_writer_node (m.writer, "Trilu", i == 0 ? "x" : "x,k", "y",
                         upper ? "upper i 1" : "upper i 0", NULL);
    for (gint64 e = 0; e < 48; e++) {
      const gint64 beside = e % 6 - e / 6 % 4;
      expected[e] = (upper ? beside >= k : beside <= k) ? (double) x[e] : 0;
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 48, expected, 0);
    onnx_model_clear (&m);
  }
}

/* A mask that is a constant, as transformers have it, of whole numbers. */
static void
test_trilu_constant (void)
{
  OnnxModel m;
  double expected[9] = { 0 };
  onnx_model_init (&m, 14, 1);
  const gint64 *x = onnx_model_ints (&m, "x", 2, DIMS (3, 3), -5, 5);
  sl_onnx_writer_ints (m.writer, "shape", 2, DIMS (3, 3));
  sl_onnx_writer_node (m.writer, "ConstantOfShape", "shape", "zeros", NULL);
  sl_onnx_writer_node (m.writer, "Cast", "zeros", "whole", "to i 7", NULL);
  sl_onnx_writer_ints (m.writer, "one", 1, DIMS (1));
  sl_onnx_writer_node (m.writer, "Add", "whole,one", "ones", NULL);
  sl_onnx_writer_node (m.writer, "Trilu", "ones,one", "mask", NULL);
  sl_onnx_writer_node (m.writer, "Mul", "x,mask", "y", NULL);
  for (gsize i = 0; i < 9; i++)
    expected[i] = i % 3 > i / 3 ? (double) x[i] : 0;
  onnx_model_expect (&m, "y", SL_ONNX_INT64, 9, expected, 0);
  onnx_model_clear (&m);
}

static void
test_not_finite (void)
{
  static const char *const forms[] = { "unused i 0", "detect_negative i 0", "detect_positive i 0" };
  for (guint form = 0; form < 4; form++) {
    double expected[6];
    OnnxModel m;
    onnx_model_init (&m, 13, 1);
    gfloat *x = onnx_model_floats (&m, "x", 1, DIMS (6));
    memcpy (x, ((const gfloat[]){ NAN, INFINITY, -INFINITY, 0, G_MAXFLOAT, -1 }), 6 * sizeof x[0]);
    if (form < 3)
      sl_onnx_writer_node (m.writer, "IsInf", "x", "y", forms[form], NULL);
    else
      sl_onnx_writer_node (m.writer, "IsInf", "x", "y", forms[1], forms[2], NULL);
    for (guint i = 0; i < 6; i++)
      expected[i] = isinf (x[i]) && form < 3 && (x[i] > 0 ? form != 2 : form != 1);
    onnx_model_expect (&m, "y", SL_ONNX_BOOL, 6, expected, 0);
    if (form == 0)
      sl_onnx_writer_node (m.writer, "IsNaN", "x", "z", NULL);
    for (guint i = 0; i < 6; i++)
      expected[i] = i == 0;
    if (form == 0)
      onnx_model_expect (&m, "z", SL_ONNX_BOOL, 6, expected, 0);
    onnx_model_clear (&m);
  }
}

static void
test_tan (void)
{
  OnnxModel m;
  double expected[50];
  onnx_model_init (&m, 13, 3);
  gfloat *x = onnx_model_floats (&m, "x", 1, DIMS (50));
  sl_onnx_writer_node (m.writer, "Tan", "x", "y", NULL);
  for (guint i = 0; i < 50; i++)
    expected[i] = tan ((double) (x[i] *= 0.7f));
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 50, expected, 1e-5);
  onnx_model_clear (&m);
}

typedef struct
{
  const char *mode, *padding;
  gboolean align;
  gint64 height, width;
} Grid;

/* A place beyond the outermost ones, brought back as often as it takes. */
static double
reflect (double x, double low, double high)
{
  if (high <= low)
    return low;
  while (x < low || x > high)
    x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}

static double
pixel (const Grid *g, const gfloat *plane, gint64 y, gint64 x)
{
  const double least = g->align ? 0 : -0.5, more = g->align ? -1 : -0.5;
  if (strcmp (g->padding, "reflection") == 0) {
    y = (gint64) reflect ((double) y, least, (double) g->height + more);
    x = (gint64) reflect ((double) x, least, (double) g->width + more);
  } else if (strcmp (g->padding, "border") == 0) {
    y = CLAMP (y, 0, g->height - 1);
    x = CLAMP (x, 0, g->width - 1);
  } else if (y < 0 || x < 0 || y >= g->height || x >= g->width) {
    return 0;
  }
  return (double) plane[y * g->width + x];
}

/* -1..1 in pixels. */
static double
grid_place (const Grid *g, double at, gint64 size)
{
  const double x =
    g->align ? (at + 1) / 2 * (double) (size - 1) : ((at + 1) * (double) size - 1) / 2;
  if (strcmp (g->padding, "reflection") == 0)
    return reflect (x, g->align ? 0 : -0.5, g->align ? (double) size - 1 : (double) size - 0.5);
  return x;
}

/* How much a pixel at a distance counts. */
static double
grid_weight (const Grid *g, double distance)
{
  const double d = fabs (distance), a = -0.75;
  if (strstr (g->mode, "linear") != NULL)
    return fmax (1 - d, 0);
  if (d <= 1)
    return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

static double
grid_value (const Grid *g, const gfloat *plane, const gfloat *place)
{
  const double x = grid_place (g, (double) place[0], g->width),
               y = grid_place (g, (double) place[1], g->height);
  double sum = 0;
  if (strcmp (g->mode, "nearest") == 0)
    return pixel (g, plane, (gint64) rint (y), (gint64) rint (x));
  for (gint64 dy = -1; dy < 3; dy++)
    for (gint64 dx = -1; dx < 3; dx++) {
      const gint64 py = (gint64) floor (y) + dy, px = (gint64) floor (x) + dx;
      sum += grid_weight (g, y - (double) py) * grid_weight (g, x - (double) px)
             * pixel (g, plane, py, px);
    }
  return sum;
}

/* Places up to three pictures away. */
static void
run_grid (const Grid *g, guint opset)
{
  g_autofree char *mode = g_strdup_printf ("mode s %s", g->mode),
                  *padding = g_strdup_printf ("padding_mode s %s", g->padding),
                  *align = g_strdup_printf ("align_corners i %d", g->align);
  double expected[2 * 3 * 4 * 5];
  OnnxModel m;
  onnx_model_init (&m, opset, 7);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (2, 3, g->height, g->width));
  gfloat *places = onnx_model_floats (&m, "grid", 4, DIMS (2, 4, 5, 2));
  for (guint i = 0; i < 80; i++)
    places[i] *= i % 3 == 0 ? 3.5f : 0.6f;
  memcpy (places, ((const gfloat[]){ -1, -1, 1, 1, -1, 1, 0, 0 }), 8 * sizeof places[0]);
  sl_onnx_writer_node (m.writer, "GridSample", "x,grid", "y", mode, padding, align, NULL);
  for (gint64 i = 0; i < 120; i++)
    expected[i] =
      grid_value (g, x + i / 20 * g->height * g->width, places + 2 * (i / 60 * 20 + i % 20));
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 120, expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_grid_sample (void)
{
  static const char *const modes[2][3] = { { "bilinear", "nearest", "bicubic" },
                                           { "linear", "nearest", "cubic" } };
  static const char *const paddings[] = { "zeros", "border", "reflection" };
  static const gint64 sizes[][2] = { { 5, 7 }, { 1, 1 }, { 1, 4 }, { 2, 3 } };
  for (guint i = 0; i < 18; i++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      const Grid grid = { modes[s & 1][i % 3], paddings[i / 3 % 3], i / 9, sizes[s][0],
                          sizes[s][1] };
      run_grid (&grid, s & 1 ? 20 : 16);
    }
}

/* Places that are no places read nothing outside, and nothing is made of them where outside is 0.
 */
static void
test_grid_sample_wild (void)
{
  static const gfloat wild[] = { NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 3e9f, -2e10f, 1e8f };
  static const char *const paddings[] = { "padding_mode s zeros", "padding_mode s border",
                                          "padding_mode s reflection" };
  for (guint i = 0; i < 18; i++) {
    double expected[64];
    OnnxModel m;
    onnx_model_init (&m, 16, 7);
    gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 1, 3, 4));
    gfloat *places = onnx_model_floats (&m, "grid", 4, DIMS (1, 8, 8, 2));
    for (guint k = 0; k < 64; k++) {
      places[2 * k] = wild[k / 8];
      places[2 * k + 1] = wild[k % 8];
      expected[k] = i % 3 == 0 ? 0 : 2;
    }
    for (guint k = 0; k < 12; k++)
      x[k] = 2;
    sl_onnx_writer_node (
      m.writer, "GridSample", "x,grid", "y", paddings[i % 3],
      ((const char *const[]){ "mode s bilinear", "mode s nearest", "mode s bicubic" })[i / 3 % 3],
      i < 9 ? "align_corners i 0" : "align_corners i 1", NULL);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 64, expected, 1e-6);
    onnx_model_clear (&m);
  }
}

/* Indices along @axis of data [4,5,6], of fewer elements than that in the other dimensions; some
 * count from the end. */
static gint64
index_row (OnnxModel *m, gint64 axis, const gint64 **indices, gint64 dims[3])
{
  const gint64 d = axis < 0 ? axis + 3 : axis, size = 4 + d;
  for (gint64 k = 0; k < 3; k++)
    dims[k] = k == d ? 7 : 3 + k;
  *indices = onnx_model_ints (m, "i", 3, dims, (gint32) -size, (gint32) size);
  return d;
}

/* Where the element at @e of such indices is for in the data. */
static gsize
place_of (const gint64 *indices, const gint64 dims[3], gint64 d, gint64 e)
{
  gint64 at[3] = { e / dims[2] / dims[1], e / dims[2] % dims[1], e % dims[2] };
  at[d] = indices[e] < 0 ? indices[e] + 4 + d : indices[e];
  return (gsize) (at[0] * 30 + at[1] * 6 + at[2]);
}

static void
test_gather_elements (void)
{
  for (gint64 axis = -3; axis < 3; axis++) {
    g_autofree char *attribute = g_strdup_printf ("axis i %d", (int) axis);
    const gint64 *indices;
    gint64 dims[3];
    OnnxModel m;
    onnx_model_init (&m, 13, 5);
    const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (4, 5, 6));
    const gint64 d = index_row (&m, axis, &indices, dims);
    const gsize n = (gsize) (dims[0] * dims[1] * dims[2]);
    g_autofree double *expected = g_new (double, n);
    sl_onnx_writer_node (m.writer, "GatherElements", "x,i", "y", attribute, NULL);
    for (gsize e = 0; e < n; e++)
      expected[e] = (double) x[place_of (indices, dims, d, (gint64) e)];
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, n, expected, 0);
    onnx_model_clear (&m);
  }
}

static double
combined (const char *reduction, double was, double comes)
{
  return strcmp (reduction, "add") == 0   ? was + comes
         : strcmp (reduction, "mul") == 0 ? was * comes
         : strcmp (reduction, "max") == 0 ? fmax (was, comes)
         : strcmp (reduction, "min") == 0 ? fmin (was, comes)
                                          : comes;
}

static const char *const reductions[] = { "none", "add", "mul", "max", "min" };

/* Places come more than once; what comes last stays, or all are combined. Of floats, and of whole
 * numbers. */
static void
test_scatter_elements (void)
{
  for (guint i = 0; i < 2 * 5 * 6; i++) {
    const char *reduction = reductions[i / 2 % 5];
    const gint64 axis = (gint64) i / 10 - 3;
    g_autofree char *a = g_strdup_printf ("axis i %d", (int) axis),
                    *b = g_strdup_printf ("reduction s %s", reduction);
    const gint64 *indices, *whole = NULL, *whole_updates = NULL;
    const gfloat *x = NULL, *updates = NULL;
    gint64 dims[3];
    double expected[120];
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    if (i & 1)
      x = onnx_model_floats (&m, "x", 3, DIMS (4, 5, 6));
    else
      whole = onnx_model_ints (&m, "x", 3, DIMS (4, 5, 6), -9, 9);
    const gint64 d = index_row (&m, axis, &indices, dims);
    if (i & 1)
      updates = onnx_model_floats (&m, "u", 3, dims);
    else
      whole_updates = onnx_model_ints (&m, "u", 3, dims, -9, 9);
    sl_onnx_writer_node (m.writer, "ScatterElements", "x,i,u", "y", a, b, NULL);
    for (guint e = 0; e < 120; e++)
      expected[e] = x != NULL ? (double) x[e] : (double) whole[e];
    for (gint64 e = 0; e < dims[0] * dims[1] * dims[2]; e++) {
      double *to = &expected[place_of (indices, dims, d, e)];
      *to = combined (reduction, *to,
                      updates != NULL ? (double) updates[e] : (double) whole_updates[e]);
    }
    onnx_model_expect (&m, "y", i & 1 ? SL_ONNX_FLOAT : SL_ONNX_INT64, 120, expected,
                       i & 1 ? 1e-5 : 0);
    onnx_model_clear (&m);
  }
}

/* One coordinate, slices of 30; two, slices of 6; three, elements. */
static void
test_scatter_nd (void)
{
  static const gint64 sizes[] = { 4, 5, 6 };
  for (guint i = 0; i < 15; i++) {
    const gint64 n = i / 5 + 1,
                 run = n == 1   ? 30
                       : n == 2 ? 6
                                : 1,
                 update_dims[] = { 2, 3, n == 1 ? 5 : 6, 6 };
    g_autofree char *reduction = g_strdup_printf ("reduction s %s", reductions[i % 5]);
    double expected[120];
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (4, 5, 6));
    const gint64 *indices = onnx_model_ints (&m, "i", 3, DIMS (2, 3, n), -4, 4);
    const gfloat *updates = onnx_model_floats (&m, "u", (guint) (5 - n), update_dims);
    sl_onnx_writer_node (m.writer, "ScatterND", "x,i,u", "y", reduction, NULL);
    for (guint e = 0; e < 120; e++)
      expected[e] = (double) x[e];
    for (gint64 e = 0; e < 6 * run; e++) {
      gint64 at = 0;
      for (gint64 k = 0; k < n; k++)
        at = at * sizes[k] + (indices[e / run * n + k] + sizes[k]) % sizes[k];
      double *to = &expected[at * run + e % run];
      *to = combined (reductions[i % 5], *to, (double) updates[e]);
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 120, expected, 1e-5);
    onnx_model_clear (&m);
  }
}

/* Computed indices outside of the data: reading is limited to it, writing is left out. */
static void
test_elements_wild (void)
{
  static const gint64 wild[] = { 3, -4, G_MAXINT32, G_MININT32, 1 };
  double gathered[5] = { 0 }, scattered[3] = { 0 };
  OnnxModel m;
  onnx_model_init (&m, 18, 3);
  const gfloat *x = onnx_model_floats (&m, "x", 1, DIMS (3));
  memcpy (onnx_model_ints (&m, "i", 1, DIMS (5), 0, 1), wild, sizeof wild);
  const gfloat *updates = onnx_model_floats (&m, "u", 1, DIMS (5));
  for (guint i = 0; i < 5; i++)
    gathered[i] = (double) x[wild[i] < 0 ? 0 : MIN (wild[i], 2)];
  for (guint i = 0; i < 3; i++)
    scattered[i] = (double) (i == 1 ? updates[4] : x[i]);
  sl_onnx_writer_ints (m.writer, "column", 2, DIMS (5, 1));
  sl_onnx_writer_node (m.writer, "GatherElements", "x,i", "a", NULL);
  onnx_model_expect (&m, "a", SL_ONNX_FLOAT, 5, gathered, 0);
  sl_onnx_writer_node (m.writer, "ScatterElements", "x,i,u", "b", NULL);
  onnx_model_expect (&m, "b", SL_ONNX_FLOAT, 3, scattered, 0);
  sl_onnx_writer_node (m.writer, "Reshape", "i,column", "j", NULL);
  sl_onnx_writer_node (m.writer, "ScatterND", "x,j,u", "c", NULL);
  onnx_model_expect (&m, "c", SL_ONNX_FLOAT, 3, scattered, 0);
  onnx_model_clear (&m);
}

/* Channels split in parts, exchanged and joined again, behind a convolution that keeps them as they
 * are; @joined otherwise, too. */
static void
check_shuffle (gint64 parts, gboolean joined)
{
  static const gfloat same[36] = { [0] = 1, [7] = 1, [14] = 1, [21] = 1, [28] = 1, [35] = 1 };
  OnnxModel m;
  double expected[90];
  const gint64 members = 6 / parts;
  onnx_model_init (&m, 13, 5);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 6, 3, 5));
  sl_onnx_writer_floats (m.writer, "w", 4, DIMS (6, 6, 1, 1), same);
  sl_onnx_writer_node (m.writer, "Conv", "x,w", "y", NULL);
  sl_onnx_writer_ints (m.writer, "apart", 5, DIMS (1, parts, members, 3, 5));
  sl_onnx_writer_ints (m.writer, "joined", 4, joined ? DIMS (1, 6, 3, 5) : DIMS (1, 3, 6, 5));
  sl_onnx_writer_node (m.writer, "Reshape", "y,apart", "a", NULL);
  sl_onnx_writer_node (m.writer, "Transpose", "a", "b", "perm I 0,2,1,3,4", NULL);
  sl_onnx_writer_node (m.writer, "Reshape", "b,joined", "z", NULL);
  for (gsize i = 0; i < 90; i++) {
    const gsize channel = i / 15;
    expected[i] = (double)
      x[(channel % (gsize) parts * (gsize) members + channel / (gsize) parts) * 15 + i % 15];
  }
  onnx_model_expect (&m, "z", SL_ONNX_FLOAT, 90, expected, 0);
  onnx_model_clear (&m);
}

static void
test_shuffle (void)
{
  for (gint64 parts = 1; parts <= 6; parts++)
    if (6 % parts == 0) {
      check_shuffle (parts, TRUE);
      check_shuffle (parts, FALSE);
    }
}

static void
test_one_hot (void)
{
  for (gint64 axis = -3; axis < 3; axis++) {
    g_autofree char *attribute = g_strdup_printf ("axis i %d", (int) axis);
    const gint64 d = axis < 0 ? axis + 3 : axis, depth = 5;
    gint64 dims[3] = { 2, d == 0 ? 2 : 3, 3 };
    double expected[2 * 3 * 5];
    OnnxModel m;
    onnx_model_init (&m, 13, 5);
    gint64 *indices = onnx_model_ints (&m, "i", 2, DIMS (2, 3), -7, 8);
    const gfloat *values = onnx_model_floats (&m, "v", 1, DIMS (2));
    indices[0] = G_MAXINT32;
    indices[1] = G_MININT32;
    indices[2] = -5;
    sl_onnx_writer_ints (m.writer, "depth", 1, &depth);
    sl_onnx_writer_node (m.writer, "OneHot", "i,depth,v", "y", attribute, NULL);
    dims[d] = depth;
    for (gint64 e = 0; e < 30; e++) {
      gint64 at[3] = { e / dims[2] / dims[1], e / dims[2] % dims[1], e % dims[2] };
      const gint64 place = at[d], index = indices[d == 0   ? at[1] * 3 + at[2]
                                                  : d == 1 ? at[0] * 3 + at[2]
                                                           : at[0] * 3 + at[1]];
      expected[e] = (double) values[index == place || index + depth == place];
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 30, expected, 0);
    onnx_model_clear (&m);
  }
}

typedef struct
{
  gint64 most;
  gfloat iou, score;
  gboolean centers;
  guint n_inputs; /* 2: nothing is stated, 3: the most, 4: the overlap, too */
} Nms;

/* The share of two boxes that they have together. */
static double
shared (const Nms *nms, const gfloat *a, const gfloat *b)
{
  double area[2], common = 1, low[2][2], high[2][2];
  for (guint k = 0; k < 2; k++) {
    const gfloat *box = k == 0 ? a : b;
    for (guint d = 0; d < 2; d++) {
      const double half = (double) box[d + 2] / 2, at = (double) box[d],
                   other = (double) box[d + 2];
      low[k][d] = nms->centers ? at - half : fmin (at, other);
      high[k][d] = nms->centers ? at + half : fmax (at, other);
    }
    area[k] = (high[k][0] - low[k][0]) * (high[k][1] - low[k][1]);
  }
  for (guint d = 0; d < 2; d++)
    common *= fmax (fmin (high[0][d], high[1][d]) - fmax (low[0][d], low[1][d]), 0);
  return common / (area[0] + area[1] - common);
}

static void
run_nms (const Nms *nms)
{
  const guint n = 30, most = (guint) MIN (nms->most, n);
  const char *const inputs[] = { "b,s,most", "b,s,most,iou", "b,s,most,iou,score" };
  double expected[2 * 3 * 30 * 3];
  gsize rows = 0;
  OnnxModel m;
  onnx_model_init (&m, 11, 4);
  gfloat *boxes = onnx_model_floats (&m, "b", 3, DIMS (2, n, 4));
  const gfloat *scores = onnx_model_floats (&m, "s", 3, DIMS (2, 3, n));
  for (guint i = 0; i < 2 * n * 4 && nms->centers; i++)
    boxes[i] = fabsf (boxes[i]);
  sl_onnx_writer_ints (m.writer, "most", 1, &nms->most);
  sl_onnx_writer_floats (m.writer, "iou", 1, DIMS (1), &nms->iou);
  sl_onnx_writer_floats (m.writer, "score", 1, DIMS (1), &nms->score);
  sl_onnx_writer_node (m.writer, "NonMaxSuppression", inputs[nms->n_inputs - 3], "y",
                       nms->centers ? "center_point_box i 1" : "center_point_box i 0", NULL);
  for (guint picture = 0; picture < 2; picture++)
    for (guint klass = 0; klass < 3; klass++) {
      const gfloat *score = scores + (picture * 3 + klass) * n, *box = boxes + picture * n * 4;
      guint kept[30], found = 0;
      gboolean seen[30] = { FALSE };
      for (guint round = 0; round < n && found < most; round++) {
        guint best = n;
        gboolean free = TRUE;
        for (guint i = 0; i < n; i++)
          if (!seen[i] && (best == n || score[i] > score[best]))
            best = i;
        seen[best] = TRUE;
        for (guint k = 0; k < found; k++)
          free &= shared (nms, box + 4 * best, box + 4 * kept[k]) <= (double) nms->iou;
        if (!free || (nms->n_inputs > 4 && score[best] <= nms->score))
          continue;
        kept[found++] = best;
        expected[rows++] = picture;
        expected[rows++] = klass;
        expected[rows++] = best;
      }
    }
  while (rows < 2 * 3 * 3 * most)
    expected[rows++] = -1;
  onnx_model_expect (&m, "y", SL_ONNX_INT64, rows, expected, 0);
  onnx_model_clear (&m);
}

static void
test_nms (void)
{
  static const Nms rows[] = {
    { 5, 0.3f, 0.5f, FALSE, 5 }, { 100, 0.1f, -0.5f, FALSE, 5 }, { G_MAXINT64, 0.5f, 0, FALSE, 4 },
    { 3, 0, 0, FALSE, 3 },       { 7, 0.4f, 1.9f, FALSE, 5 },    { 30, 0.2f, 0.1f, TRUE, 5 },
    { 1, 1, 0, TRUE, 4 },        { 30, 0.5f, 5, TRUE, 5 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    run_nms (&rows[i]);
}

/* Scores and boxes that are not numbers: such scores are never chosen, such boxes overlap nothing.
 * Of equal scores the first box comes first. */
static void
test_nms_wild (void)
{
  const gint64 most = 9;
  const gfloat scores[] = { NAN, 1, 1, INFINITY, -INFINITY, 0.5f }, iou = 0.5f;
  const double expected[] = { 0, 0, 3, 0, 0, 1, 0, 0, 5, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
  OnnxModel m;
  onnx_model_init (&m, 11, 4);
  gfloat *boxes = onnx_model_floats (&m, "b", 3, DIMS (1, 6, 4));
  memcpy (onnx_model_floats (&m, "s", 3, DIMS (1, 1, 6)), scores, sizeof scores);
  for (guint i = 0; i < 24; i++)
    boxes[i] = i / 4 == 3 ? NAN : i / 4 == 5 ? INFINITY : i % 4 < 2 ? 0 : 1;
  sl_onnx_writer_ints (m.writer, "most", 1, &most);
  sl_onnx_writer_floats (m.writer, "iou", 1, DIMS (1), &iou);
  sl_onnx_writer_node (m.writer, "NonMaxSuppression", "b,s,most,iou", "y", NULL);
  onnx_model_expect (&m, "y", SL_ONNX_INT64, 18, expected, 0);
  onnx_model_clear (&m);
}

typedef struct
{
  guint opset, samples;
  gboolean top, half;
  float scale;
} Roi;

/* What the four pixels around a place give: their sum, or the greatest. */
static double
roi_sample (const gfloat *plane, gint height, gint width, double y, double x, gboolean top)
{
  double value = top ? -INFINITY : 0;
  if (y < -1 || y > height || x < -1 || x > width)
    return 0;
  y = fmin (fmax (y, 0), height - 1);
  x = fmin (fmax (x, 0), width - 1);
  for (gint k = 0; k < 4; k++) {
    const gint py = (gint) y + k / 2, px = (gint) x + k % 2;
    const double part = (1 - fabs (y - py)) * (1 - fabs (x - px))
                        * (double) plane[MIN (py, height - 1) * width + MIN (px, width - 1)];
    value = top ? fmax (value, part) : value + part;
  }
  return value;
}

static double
roi_value (const Roi *r, const gfloat *plane, const gfloat *region, guint row, guint column)
{
  const gboolean half = r->half && r->opset >= 16;
  double start[2], size[2], value = r->top ? -INFINITY : 0;
  guint n[2];
  for (guint d = 0; d < 2; d++) {
    start[d] = (double) (region[1 - d] * r->scale) - (half ? 0.5 : 0);
    const double length = (double) (region[3 - d] * r->scale) - (half ? 0.5 : 0) - start[d];
    size[d] = (half ? length : fmax (length, 1)) / (d == 0 ? 3 : 4);
    n[d] = r->samples > 0 ? r->samples : (guint) fmax (ceil (size[d]), 0);
  }
  if (n[0] * n[1] == 0)
    return 0;
  for (guint i = 0; i < n[0] * n[1]; i++) {
    const double sample =
      roi_sample (plane, 7, 9, start[0] + (row + (i / n[1] + 0.5) / n[0]) * size[0],
                  start[1] + (column + (i % n[1] + 0.5) / n[1]) * size[1], r->top);
    value = r->top ? fmax (value, sample) : value + sample / (n[0] * n[1]);
  }
  return value;
}

static void
test_roi_align (void)
{
  static const gfloat corners[6][4] = { { 0.3f, 0.7f, 6.1f, 5.2f }, { -3, -2, 20, 30 },
                                        { 4, 4, 4.2f, 4.1f },       { 5.1f, 6, 2.3f, 1.8f },
                                        { 100.5f, 90, 120, 95.5f }, { 7.6f, 5.3f, 8.9f, 6.95f } };
  for (guint i = 0; i < 36; i++) {
    const Roi r = { i % 3 == 0 ? 10 : 16, i / 3 % 3, i / 9 % 2, i % 3 == 1, i / 18 ? 0.5f : 1 };
    g_autofree char *samples = g_strdup_printf ("sampling_ratio i %u", r.samples),
                    *scale = g_strdup_printf ("spatial_scale f %g", (double) r.scale);
    double expected[6 * 2 * 3 * 4];
    OnnxModel m;
    onnx_model_init (&m, r.opset, i);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (3, 2, 7, 9));
    gfloat *regions = onnx_model_floats (&m, "r", 2, DIMS (6, 4));
    const gint64 *pictures = onnx_model_ints (&m, "b", 1, DIMS (6), 0, 3);
    memcpy (regions, corners, sizeof corners);
    GByteArray *node = NULL;
    if (r.opset < 16)
      node = sl_onnx_node ("RoiAlign", "x,r,b", "y", "output_height i 3", "output_width i 4",
                           samples, scale, r.top ? "mode s max" : "mode s avg", NULL);
    else
      node = sl_onnx_node ("RoiAlign", "x,r,b", "y", "output_height i 3", "output_width i 4",
                           samples, scale, r.top ? "mode s max" : "mode s avg",
                           r.half ? "coordinate_transformation_mode s half_pixel"
                                  : "coordinate_transformation_mode s output_half_pixel",
                           NULL);
    sl_onnx_message (m.writer->graph, 1, node);
    for (guint e = 0; e < 144; e++)
      expected[e] = roi_value (&r, x + (pictures[e / 24] * 2 + e / 12 % 2) * 63,
                               regions + e / 24 * 4, e / 4 % 3, e % 4);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 144, expected, 2e-5);
    onnx_model_clear (&m);
  }
}

/* Empty regions take no time and read nothing outside of the picture, and neither do absent
 * pictures. */
static void
test_roi_align_wild (void)
{
  static const gfloat wild[] = { NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e9f, -1e9f, 3 };
  for (guint mode = 0; mode < 4; mode++) {
    g_autofree double *expected = g_new0 (double, 512 * 4);
    OnnxModel m;
    onnx_model_init (&m, 16, 4);
    gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 1, 4, 5));
    gfloat *regions = onnx_model_floats (&m, "r", 2, DIMS (512, 4));
    gint64 *pictures = onnx_model_ints (&m, "b", 1, DIMS (512), -3, 3);
    pictures[0] = G_MAXINT32;
    pictures[1] = G_MININT32;
    for (guint i = 0; i < 20; i++)
      x[i] = 0;
    for (guint i = 0; i < 512; i++)
      for (guint k = 0; k < 4; k++)
        regions[4 * i + k] = wild[k == 3 ? i % 7 : i >> (3 * k) & 7];
    sl_onnx_writer_node (m.writer, "RoiAlign", "x,r,b", "y", "output_height i 2",
                         "output_width i 2", mode & 1 ? "mode s max" : "mode s avg",
                         mode & 2 ? "sampling_ratio i 0" : "sampling_ratio i 2", NULL);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 2048, expected, 0);
    onnx_model_clear (&m);
  }
}

/* What is gathered by rows behind the last result is 0, so that no box appears twice. */
static void
test_nms_gather (void)
{
  static const gfloat corners[] = { 0, 0, 1, 1, 0, 0, 1, 0.9f, 2, 2, 4, 4 },
                      values[] = { 0.9f, 0.8f, 0.7f };
  const gint64 most = 3, column = 2, pair[] = { 0, 2 };
  const gfloat iou = 0.5f;
  double boxes[12] = { 0, 0, 1, 1, 2, 2, 4, 4 },
         scores[3] = { (double) values[0], (double) values[2] };
  OnnxModel m;
  onnx_model_init (&m, 11, 4);
  memcpy (onnx_model_floats (&m, "b", 3, DIMS (1, 3, 4)), corners, sizeof corners);
  memcpy (onnx_model_floats (&m, "s", 3, DIMS (1, 1, 3)), values, sizeof values);
  sl_onnx_writer_ints (m.writer, "most", 1, &most);
  sl_onnx_writer_floats (m.writer, "iou", 1, DIMS (1), &iou);
  sl_onnx_writer_ints (m.writer, "column", 1, &column);
  sl_onnx_writer_ints (m.writer, "pair", 2, pair);
  sl_onnx_writer_node (m.writer, "NonMaxSuppression", "b,s,most,iou", "rows", NULL);
  sl_onnx_writer_node (m.writer, "Gather", "rows,column", "third", "axis i 1", NULL);
  sl_onnx_writer_node (m.writer, "Squeeze", "third", "places", "axes I 1", NULL);
  sl_onnx_writer_node (m.writer, "Gather", "b,places", "found", "axis i 1", NULL);
  onnx_model_expect (&m, "found", SL_ONNX_FLOAT, 12, boxes, 0);
  sl_onnx_writer_node (m.writer, "Squeeze", "s", "flat", "axes I 1", NULL);
  sl_onnx_writer_node (m.writer, "Gather", "rows,pair", "coordinates", "axis i 1", NULL);
  sl_onnx_writer_node (m.writer, "GatherND", "flat,coordinates", "points", NULL);
  onnx_model_expect (&m, "points", SL_ONNX_FLOAT, 3, scores, 0);
  onnx_model_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-ops/cum-sum", test_cum_sum);
  g_test_add_func ("/onnx-ops/trilu", test_trilu);
  g_test_add_func ("/onnx-ops/trilu-constant", test_trilu_constant);
  g_test_add_func ("/onnx-ops/not-finite", test_not_finite);
  g_test_add_func ("/onnx-ops/tan", test_tan);
  g_test_add_func ("/onnx-ops/grid-sample", test_grid_sample);
  g_test_add_func ("/onnx-ops/grid-sample-wild", test_grid_sample_wild);
  g_test_add_func ("/onnx-ops/gather-elements", test_gather_elements);
  g_test_add_func ("/onnx-ops/scatter-elements", test_scatter_elements);
  g_test_add_func ("/onnx-ops/scatter-nd", test_scatter_nd);
  g_test_add_func ("/onnx-ops/elements-wild", test_elements_wild);
  g_test_add_func ("/onnx-ops/shuffle", test_shuffle);
  g_test_add_func ("/onnx-ops/one-hot", test_one_hot);
  g_test_add_func ("/onnx-ops/nms", test_nms);
  g_test_add_func ("/onnx-ops/nms-wild", test_nms_wild);
  g_test_add_func ("/onnx-ops/nms-gather", test_nms_gather);
  g_test_add_func ("/onnx-ops/roi-align", test_roi_align);
  g_test_add_func ("/onnx-ops/roi-align-wild", test_roi_align_wild);
  return g_test_run ();
}
