/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GridSample of volumes, and AffineGrid, against sums over all voxels in double precision. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

typedef struct
{
  gboolean nearest, align;
  guint padding; /* zeros, border, reflection */
  gint64 size[3];
} Volume;

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

/* -1..1 in voxels, within the volume where the padding says so. */
static double
voxel_place (const Volume *v, double at, gint64 size)
{
  const double last = (double) size - 1,
               x = v->align ? (at + 1) / 2 * last : ((at + 1) * (double) size - 1) / 2;
  if (v->padding == 2)
    return CLAMP (reflect (x, v->align ? 0 : -0.5, v->align ? last : last + 0.5), 0, last);
  return v->padding == 1 ? CLAMP (x, 0, last) : x;
}

static double
voxel_weight (const Volume *v, double place, gint64 voxel)
{
  return v->nearest ? rint (place) == (double) voxel : fmax (0, 1 - fabs (place - (double) voxel));
}

static double
volume_value (const Volume *v, const gfloat *x, const gfloat *place)
{
  double sum = 0, at[3];
  for (guint d = 0; d < 3; d++)
    at[d] = voxel_place (v, (double) place[2 - d], v->size[d]);
  for (gint64 i = 0; i < v->size[0]; i++)
    for (gint64 j = 0; j < v->size[1]; j++)
      for (gint64 k = 0; k < v->size[2]; k++)
        sum += voxel_weight (v, at[0], i) * voxel_weight (v, at[1], j) * voxel_weight (v, at[2], k)
               * (double) x[(i * v->size[1] + j) * v->size[2] + k];
  return sum;
}

static void
run_volume (const Volume *v)
{
  static const char *const paddings[] = { "padding_mode s zeros", "padding_mode s border",
                                          "padding_mode s reflection" };
  const gint64 voxels = v->size[0] * v->size[1] * v->size[2];
  double expected[2 * 3 * 24];
  OnnxModel m;
  onnx_model_init (&m, 20, 8);
  const gfloat *x = onnx_model_floats (&m, "x", 5, DIMS (2, 3, v->size[0], v->size[1], v->size[2]));
  const gfloat *grid = onnx_model_floats (&m, "grid", 5, DIMS (2, 2, 3, 4, 3));
  sl_onnx_writer_node (m.writer, "GridSample", "x,grid", "y",
                       v->nearest ? "mode s nearest" : "mode s linear", paddings[v->padding],
                       v->align ? "align_corners i 1" : "align_corners i 0", NULL);
  for (gint64 i = 0; i < 144; i++)
    expected[i] = volume_value (v, x + i / 24 * voxels, grid + 3 * (i / 72 * 24 + i % 24));
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 144, expected, 2e-5);
  onnx_model_clear (&m);
}

static void
test_grid_sample (void)
{
  static const gint64 sizes[][3] = { { 3, 4, 5 }, { 1, 4, 2 }, { 1, 1, 1 } };
  for (guint i = 0; i < 12; i++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      Volume volume = { .nearest = i & 1, .align = i >> 1 & 1, .padding = i / 4 };
      memcpy (volume.size, sizes[s], sizeof volume.size);
      run_volume (&volume);
    }
}

/* Where pixel @i of @n lies. */
static double
pixel_place (gboolean align, gint64 i, gint64 n)
{
  if (align)
    return n > 1 ? 2 * (double) i / (double) (n - 1) - 1 : 0;
  return (2 * (double) i + 1) / (double) n - 1;
}

/* Of a picture, or of a volume of one more dimension. */
static void
run_affine (gboolean volume, gboolean align)
{
  const gint64 size[5] = { 2, 3, volume ? 4 : 3, volume ? 3 : 5, 5 }, k = volume ? 3 : 2,
               planes = volume ? 4 : 1;
  double expected[2 * 4 * 3 * 5 * 3];
  OnnxModel m;
  onnx_model_init (&m, 20, 8);
  const gfloat *theta = onnx_model_floats (&m, "theta", 3, DIMS (2, k, k + 1));
  sl_onnx_writer_ints (m.writer, "size", volume ? 5 : 4, size);
  sl_onnx_writer_node (m.writer, "AffineGrid", "theta,size", "y",
                       align ? "align_corners i 1" : "align_corners i 0", NULL);
  const gint64 n = 2 * planes * 15 * k;
  for (gint64 i = 0; i < n; i++) {
    const gint64 c = i % k, x = i / k % 5, y = i / k / 5 % 3, z = i / k / 15 % planes,
                 b = i / k / 15 / planes;
    const gfloat *row = theta + (b * k + c) * (k + 1);
    expected[i] = (double) row[0] * pixel_place (align, x, 5)
                  + (double) row[1] * pixel_place (align, y, 3) + (double) row[k]
                  + (volume ? (double) row[2] * pixel_place (align, z, 4) : 0);
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) n, expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_affine_grid (void)
{
  for (guint i = 0; i < 4; i++)
    run_affine ((gboolean) (i & 1), (gboolean) (i >> 1));
}

/* Pools over three dimensions that look along the first alone, as local_response_norm() is
 * exported: with paddings, and with other strides. */
static void
test_pool_along_first (void)
{
  double expected[2 * 2 * 7 * 6];
  for (guint stride = 1; stride < 3; stride++) {
    const gint planes = stride == 1 ? 7 : 4;
    OnnxModel m;
    onnx_model_init (&m, 13, stride);
    const gfloat *x = onnx_model_floats (&m, "x", 5, DIMS (2, 2, 7, 2, 3));
    sl_onnx_writer_node (m.writer, "AveragePool", "x", "y", "kernel_shape I 3,1,1",
                         stride == 1 ? "strides I 1,1,1" : "strides I 2,1,1", "pads I 1,0,0,1,0,0",
                         "count_include_pad i 1", NULL);
    for (gint i = 0; i < 4 * planes * 6; i++) {
      const gint picture = i / 6 / planes, plane = i / 6 % planes * (gint) stride - 1;
      expected[i] = 0;
      for (gint k = MAX (plane, 0); k < MIN (plane + 3, 7); k++)
        expected[i] += (double) x[(picture * 7 + k) * 6 + i % 6] / 3;
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) (4 * planes * 6), expected, 1e-6);
    onnx_model_clear (&m);
  }
}

/** A window over three dimensions. */
typedef struct
{
  const char *attributes[4];
  gint size[3], kernel[3], stride[3], dilation[3], pad[3]; /* before and behind */
} Window;

static const Window windows[] = {
  { { "kernel_shape I 2,3,2", "strides I 1,2,1", "pads I 1,1,0,1,1,0", "dilations I 1,1,1" },
    { 4, 5, 6 },
    { 2, 3, 2 },
    { 1, 2, 1 },
    { 1, 1, 1 },
    { 1, 1, 0 } },
  { { "kernel_shape I 3,1,1", "strides I 2,1,1", "pads I 0,0,0,0,0,0", "dilations I 1,1,1" },
    { 7, 2, 3 },
    { 3, 1, 1 },
    { 2, 1, 1 },
    { 1, 1, 1 },
    { 0, 0, 0 } },
  { { "kernel_shape I 2,2,2", "strides I 1,1,2", "pads I 0,1,1,0,1,1", "dilations I 2,1,2" },
    { 5, 4, 6 },
    { 2, 2, 2 },
    { 1, 1, 2 },
    { 2, 1, 2 },
    { 0, 1, 1 } },
};

static gint
window_out (const Window *w, guint d)
{
  return (w->size[d] + 2 * w->pad[d] - ((w->kernel[d] - 1) * w->dilation[d] + 1)) / w->stride[d]
         + 1;
}

/* The place in the input of tap @k of window @at, -1 outside. */
static gint
window_place (const Window *w, const gint at[3], gint k)
{
  gint place = 0;
  const gint taps[3] = { k / w->kernel[2] / w->kernel[1], k / w->kernel[2] % w->kernel[1],
                         k % w->kernel[2] };
  for (guint d = 0; d < 3; d++) {
    const gint x = at[d] * w->stride[d] - w->pad[d] + taps[d] * w->dilation[d];
    if (x < 0 || x >= w->size[d])
      return -1;
    place = place * w->size[d] + x;
  }
  return place;
}

typedef enum
{
  MAX_POOL,
  MEAN_INSIDE,
  MEAN_WITH_PADDING,
  ROOT_OF_SQUARES
} PoolKind;

static double
pool_value (const Window *w, PoolKind kind, const gfloat *x, const gint at[3])
{
  const gint all = w->kernel[0] * w->kernel[1] * w->kernel[2];
  double most = -INFINITY, sum = 0, squares = 0, n = 0;
  for (gint k = 0; k < all; k++) {
    const gint place = window_place (w, at, k);
    if (place < 0)
      continue;
    most = fmax (most, (double) x[place]);
    sum += (double) x[place];
    squares += (double) x[place] * (double) x[place];
    n++;
  }
  return kind == MAX_POOL            ? most
         : kind == MEAN_INSIDE       ? sum / n
         : kind == MEAN_WITH_PADDING ? sum / all
                                     : sqrt (squares);
}

static void
run_pool (const Window *w, PoolKind kind)
{
  static const char *const ops[] = { "MaxPool", "AveragePool", "AveragePool", "LpPool" };
  const gint out[3] = { window_out (w, 0), window_out (w, 1), window_out (w, 2) },
             n = out[0] * out[1] * out[2];
  const gint volume = w->size[0] * w->size[1] * w->size[2];
  double expected[4 * 400];
  OnnxModel m;
  onnx_model_init (&m, 19, 5);
  const gfloat *x = onnx_model_floats (&m, "x", 5, DIMS (2, 2, w->size[0], w->size[1], w->size[2]));
  sl_onnx_writer_node (m.writer, ops[kind], "x", "y", w->attributes[0], w->attributes[1],
                       w->attributes[2], w->attributes[3],
                       kind == MEAN_WITH_PADDING ? "count_include_pad i 1" : NULL, NULL);
  for (gint i = 0; i < 4 * n; i++) {
    const gint at[3] = { i % n / (out[1] * out[2]), i / out[2] % out[1], i % out[2] };
    expected[i] = pool_value (w, kind, x + i / n * volume, at);
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) (4 * n), expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_pools (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    for (PoolKind kind = MAX_POOL; kind <= ROOT_OF_SQUARES; kind++)
      run_pool (&windows[i], kind);
}

/* Four channels in and out, in one group or two, with a bias. */
static void
run_conv (const Window *w, gint groups)
{
  const gint out[3] = { window_out (w, 0), window_out (w, 1), window_out (w, 2) },
             n = out[0] * out[1] * out[2];
  const gint volume = w->size[0] * w->size[1] * w->size[2],
             taps = w->kernel[0] * w->kernel[1] * w->kernel[2], each = 4 / groups;
  gfloat weights[4 * 4 * 12], bias[4];
  double expected[2 * 4 * 400];
  OnnxModel m;
  onnx_model_init (&m, 19, 6);
  const gfloat *x = onnx_model_floats (&m, "x", 5, DIMS (2, 4, w->size[0], w->size[1], w->size[2]));
  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
  for (guint i = 0; i < 4; i++)
    bias[i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
  sl_onnx_writer_floats (m.writer, "w", 5, DIMS (4, each, w->kernel[0], w->kernel[1], w->kernel[2]),
                         weights);
  sl_onnx_writer_floats (m.writer, "b", 1, DIMS (4), bias);
  sl_onnx_writer_node (m.writer, "Conv", "x,w,b", "y", w->attributes[0], w->attributes[1],
                       w->attributes[2], w->attributes[3], groups == 1 ? "group i 1" : "group i 2",
                       NULL);
  for (gint i = 0; i < 8 * n; i++) {
    const gint at[3] = { i % n / (out[1] * out[2]), i / out[2] % out[1], i % out[2] },
               channel = i / n % 4, batch = i / n / 4;
    expected[i] = (double) bias[channel];
    for (gint c = 0; c < each; c++)
      for (gint k = 0; k < taps; k++) {
        const gint place = window_place (w, at, k), from = batch * 4 + channel / each * each + c;
        if (place >= 0)
          expected[i] +=
            (double) x[from * volume + place] * (double) weights[(channel * each + c) * taps + k];
      }
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) (8 * n), expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_conv (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    for (gint groups = 1; groups <= 2; groups++)
      run_conv (&windows[i], groups);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-volume/grid-sample", test_grid_sample);
  g_test_add_func ("/onnx-volume/affine-grid", test_affine_grid);
  g_test_add_func ("/onnx-volume/pool-along-first", test_pool_along_first);
  g_test_add_func ("/onnx-volume/pools", test_pools);
  g_test_add_func ("/onnx-volume/conv", test_conv);
  return g_test_run ();
}
