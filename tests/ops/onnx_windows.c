/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows that move and weights that are given for each run: deformable convolutions, convolutions
 * of trackers, pools over regions; in double precision. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define HEIGHT 6
#define WIDTH 7

/** A convolution of 4 channels; stride, dilation and padding are alike in both directions. */
typedef struct
{
  gint group, offset_group, outputs, kernel[2], stride, dilation, pad;
  gboolean masked;
} Conv;

static gint
places (const Conv *c, guint d)
{
  const gint size = d == 0 ? HEIGHT : WIDTH;
  return (size + 2 * c->pad - ((c->kernel[d] - 1) * c->dilation + 1)) / c->stride + 1;
}

static double
pixel (const gfloat *plane, double y, double x)
{
  return y < 0 || y >= HEIGHT || x < 0 || x >= WIDTH ? 0
                                                     : (double) plane[(gint) y * WIDTH + (gint) x];
}

/* Between pixels; those outside are 0. */
static double
sample (const gfloat *plane, double y, double x)
{
  const double top = floor (y), left = floor (x), dy = y - top, dx = x - left;
  return (1 - dy) * ((1 - dx) * pixel (plane, top, left) + dx * pixel (plane, top, left + 1))
         + dy * ((1 - dx) * pixel (plane, top + 1, left) + dx * pixel (plane, top + 1, left + 1));
}

/* @offsets, @mask: (nullable): of a window that does not move, or is not weighed */
static double
conv_value (const Conv *c, const gfloat *x, const gfloat *w, const gfloat *offsets,
            const gfloat *mask, gint out, gint row, gint column)
{
  const gint taps = c->kernel[0] * c->kernel[1], each = 4 / c->group, rows = places (c, 0),
             columns = places (c, 1), area = rows * columns;
  double sum = 0;
  for (gint i = 0; i < each * taps; i++) {
    const gint channel = out / (c->outputs / c->group) * each + i / taps, k = i % taps,
               at = row * columns + column;
    const gint moved = channel / (4 / MAX (c->offset_group, 1)) * taps + k;
    double y = row * c->stride - c->pad + k / c->kernel[1] * c->dilation,
           z = column * c->stride - c->pad + k % c->kernel[1] * c->dilation;
    if (offsets != NULL) {
      y += (double) offsets[2 * moved * area + at];
      z += (double) offsets[(2 * moved + 1) * area + at];
    }
    sum += sample (x + channel * HEIGHT * WIDTH, y, z) * (double) w[out * each * taps + i]
           * (mask != NULL ? (double) mask[moved * area + at] : 1);
  }
  return sum;
}

static void
run_conv (const Conv *c, gboolean deformed)
{
  const gint taps = c->kernel[0] * c->kernel[1], each = 4 / c->group, rows = places (c, 0),
             columns = places (c, 1), n = c->outputs * rows * columns;
  const gint moved = taps * MAX (c->offset_group, 1);
  g_autofree char *strides = g_strdup_printf ("strides I %d,%d", c->stride, c->stride),
                  *pads = g_strdup_printf ("pads I %d,%d,%d,%d", c->pad, c->pad, c->pad, c->pad),
                  *dilations = g_strdup_printf ("dilations I %d,%d", c->dilation, c->dilation),
                  *group = g_strdup_printf ("group i %d", c->group),
                  *offset_group = g_strdup_printf ("offset_group i %d", c->offset_group);
  g_autofree double *expected = g_new (double, 2 * n);
  gfloat bias[8];
  const gfloat *mask = NULL, *offsets = NULL;
  OnnxModel m;
  onnx_model_init (&m, 19, (guint32) (c->group * 10 + c->stride));
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (2, 4, HEIGHT, WIDTH)), *w;
  if (deformed) {
    gfloat *kept = g_new (gfloat, c->outputs * each * taps);
    for (gint i = 0; i < c->outputs * each * taps; i++)
      kept[i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
    sl_onnx_writer_floats (m.writer, "w", 4, DIMS (c->outputs, each, c->kernel[0], c->kernel[1]),
                           kept);
    w = kept;
    offsets = onnx_model_floats (&m, "o", 4, DIMS (2, 2 * moved, rows, columns));
    mask = c->masked ? onnx_model_floats (&m, "m", 4, DIMS (2, moved, rows, columns)) : NULL;
  } else {
    w = onnx_model_floats (&m, "w", 4, DIMS (c->outputs, each, c->kernel[0], c->kernel[1]));
  }
  for (gint i = 0; i < 8; i++)
    bias[i] = (gfloat) i / 4;
  sl_onnx_writer_floats (m.writer, "b", 1, DIMS (c->outputs), bias);
  if (deformed)
    sl_onnx_writer_node (m.writer, "DeformConv", c->masked ? "x,w,o,b,m" : "x,w,o,b", "y", strides,
                         pads, dilations, group, offset_group, NULL);
  else
    sl_onnx_writer_node (m.writer, "Conv", "x,w,b", "y", strides, pads, dilations, group, NULL);
  for (gint i = 0; i < 2 * n; i++) {
    const gint out = i / (rows * columns) % c->outputs, batch = i / n;
    expected[i] = (double) bias[out]
                  + conv_value (c, x + batch * 4 * HEIGHT * WIDTH, w,
                                deformed ? offsets + batch * 2 * moved * rows * columns : NULL,
                                mask != NULL ? mask + batch * moved * rows * columns : NULL, out,
                                i / columns % rows, i % columns);
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, (gsize) (2 * n), expected, 2e-5);
  onnx_model_clear (&m);
  if (deformed)
    g_free ((gpointer) w);
}

static void
test_deformed (void)
{
  static const Conv convs[] = {
    { 1, 1, 3, { 3, 2 }, 1, 1, 1, TRUE }, { 1, 2, 3, { 2, 2 }, 2, 1, 0, FALSE },
    { 2, 1, 4, { 3, 3 }, 1, 2, 2, TRUE }, { 2, 4, 6, { 1, 3 }, 1, 1, 1, TRUE },
    { 4, 2, 4, { 2, 1 }, 1, 1, 0, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (convs); i++)
    run_conv (&convs[i], TRUE);
}

static void
test_given_weights (void)
{
  static const Conv convs[] = {
    { 1, 0, 3, { 3, 2 }, 1, 1, 1, FALSE },          { 2, 0, 6, { 2, 2 }, 2, 1, 0, FALSE },
    { 4, 0, 4, { 5, 5 }, 1, 1, 0, FALSE },          { 4, 0, 8, { 2, 3 }, 1, 2, 2, FALSE },
    { 1, 0, 2, { HEIGHT, WIDTH }, 1, 1, 0, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (convs); i++)
    run_conv (&convs[i], FALSE);
}

/* As torchvision's operator of that name defines it: corners are rounded, cells are whole pixels.
 */
static double
region_value (const gfloat *x, const gfloat *region, gint channel, gint row, gint column)
{
  const gfloat *plane = x + ((gint) region[0] * 4 + channel) * HEIGHT * WIDTH;
  const double left = round ((double) region[1] * 0.5), top = round ((double) region[2] * 0.5);
  const double width = fmax (round ((double) region[3] * 0.5) - left + 1, 1),
               height = fmax (round ((double) region[4] * 0.5) - top + 1, 1);
  double most = -INFINITY;
  for (gint i = 0; i < HEIGHT * WIDTH; i++) {
    const gint y = i / WIDTH, z = i % WIDTH;
    if (y >= floor (row * height / 2) + top && y < ceil ((row + 1) * height / 2) + top
        && z >= floor (column * width / 3) + left && z < ceil ((column + 1) * width / 3) + left)
      most = fmax (most, (double) plane[i]);
  }
  return most == -INFINITY ? 0 : most;
}

static void
test_regions (void)
{
  enum
  {
    REGIONS = 6
  };
  static const gfloat kept[REGIONS][5] = { { 0, 0, 0, 12, 10 },    { 1, 3, 2, 9, 7 },
                                           { 0, 4, 4, 4, 4 },      { 1, 8, 8, 2, 2 },
                                           { 0, -20, -9, 30, 40 }, { 1, 100, 0, 200, 3 } };
  double expected[REGIONS * 4 * 6];
  OnnxModel m;
  onnx_model_init (&m, 19, 1);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (2, 4, HEIGHT, WIDTH));
  gfloat *regions = onnx_model_floats (&m, "r", 2, DIMS (REGIONS, 5));
  memcpy (regions, kept, sizeof kept);
  sl_onnx_writer_node (m.writer, "MaxRoiPool", "x,r", "y", "pooled_shape I 2,3",
                       "spatial_scale f 0.5", NULL);
  for (gint i = 0; i < REGIONS * 24; i++)
    expected[i] = region_value (x, kept[i / 24], i / 6 % 4, i / 3 % 2, i % 3);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, REGIONS * 24, expected, 0);
  onnx_model_clear (&m);
}

/* Regions and offsets that are no numbers, or far outside, or of no picture, give 0. */
static void
test_hostile (void)
{
  static const gfloat odd[] = { NAN, INFINITY, -INFINITY, 1e30f, -1e30f };
  double zeros[5 * 4] = { 0 };
  gfloat ones[4 * 4] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  OnnxModel m;
  onnx_model_init (&m, 19, 2);
  onnx_model_floats (&m, "x", 4, DIMS (1, 4, HEIGHT, WIDTH));
  gfloat *regions = onnx_model_floats (&m, "r", 2, DIMS (5, 5));
  for (guint i = 0; i < 5; i++) {
    for (guint k = 0; k < 5; k++)
      regions[i * 5 + k] = odd[(i + k) % 5];
    regions[i * 5] = i % 2 == 0 ? -1 : odd[i];
  }
  sl_onnx_writer_node (m.writer, "MaxRoiPool", "x,r", "y", "pooled_shape I 1,1", NULL);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 20, zeros, 0);
  onnx_model_clear (&m);
  onnx_model_init (&m, 19, 2);
  onnx_model_floats (&m, "x", 4, DIMS (1, 4, HEIGHT, WIDTH));
  sl_onnx_writer_floats (m.writer, "w", 4, DIMS (4, 4, 1, 1), ones);
  gfloat *offsets = onnx_model_floats (&m, "o", 4, DIMS (1, 2, HEIGHT, WIDTH));
  double expected[4 * HEIGHT * WIDTH] = { 0 };
  for (guint i = 0; i < HEIGHT * WIDTH; i++) {
    offsets[i] = odd[i % 5];
    offsets[HEIGHT * WIDTH + i] = odd[i / 5 % 5];
  }
  sl_onnx_writer_node (m.writer, "DeformConv", "x,w,o", "y", NULL);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, G_N_ELEMENTS (expected), expected, 0);
  onnx_model_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/windows/deformed", test_deformed);
  g_test_add_func ("/onnx/windows/given-weights", test_given_weights);
  g_test_add_func ("/onnx/windows/regions", test_regions);
  g_test_add_func ("/onnx/windows/hostile", test_hostile);
  return g_test_run ();
}
