/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize of a region of its input, whichever dimensions it names, against the specification's
 * formula in double precision. */
#include <math.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

enum
{
  PLANES = 2,
  H = 5,
  W = 6,
  OUT_H = 4,
  OUT_W = 7
};

/** Of rows, then of columns. */
static const double starts[2] = { 0.1, -0.2 }, ends[2] = { 0.8, 0.9 };
static const gint32 in[2] = { H, W }, out[2] = { OUT_H, OUT_W };

/* A line between neighbours along both; 7 where the place lies outside. */
static double
sample (const gfloat *x, gint32 y, gint32 column)
{
  const gint32 at[2] = { y, column };
  gint32 low[2], high[2];
  double weight[2];
  for (guint i = 0; i < 2; i++) {
    const double place = (starts[i] + at[i] * (ends[i] - starts[i]) / (out[i] - 1)) * (in[i] - 1);
    if (place < 0 || place > in[i] - 1)
      return 7;
    low[i] = (gint32) floor (place);
    high[i] = MIN (low[i] + 1, in[i] - 1);
    weight[i] = place - low[i];
  }
  const double top = (double) x[low[0] * W + low[1]] * (1 - weight[1])
                     + (double) x[low[0] * W + high[1]] * weight[1];
  const double bottom = (double) x[high[0] * W + low[1]] * (1 - weight[1])
                        + (double) x[high[0] * W + high[1]] * weight[1];
  return top * (1 - weight[0]) + bottom * weight[0];
}

/* All dimensions, rows and columns, columns and rows. */
static void
test_region (void)
{
  static const char *const axes[] = { NULL, "axes I 2,3", "axes I -1,-2" };
  for (guint form = 0; form < G_N_ELEMENTS (axes); form++) {
    const gfloat region[3][8] = { { 0, 0, 0.1f, -0.2f, 1, 1, 0.8f, 0.9f },
                                  { 0.1f, -0.2f, 0.8f, 0.9f },
                                  { -0.2f, 0.1f, 0.9f, 0.8f } };
    double expected[PLANES * OUT_H * OUT_W];
    OnnxModel m;
    onnx_model_init (&m, 18, form);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, PLANES, H, W));
    const gint64 sizes[3][4] = { { 1, PLANES, OUT_H, OUT_W }, { OUT_H, OUT_W }, { OUT_W, OUT_H } };
    sl_onnx_writer_floats (m.writer, "region", 1, DIMS (form == 0 ? 8 : 4), region[form]);
    sl_onnx_writer_ints (m.writer, "size", form == 0 ? 4 : 2, sizes[form]);
    sl_onnx_writer_node (m.writer, "Resize", "x,region,,size", "y", "mode s linear",
                         "coordinate_transformation_mode s tf_crop_and_resize",
                         "extrapolation_value f 7", axes[form], NULL);
    for (gint32 i = 0; i < PLANES * OUT_H * OUT_W; i++)
      expected[i] = sample (x + i / OUT_W / OUT_H * H * W, i / OUT_W % OUT_H, i % OUT_W);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, PLANES * OUT_H * OUT_W, expected, 2e-6);
    onnx_model_clear (&m);
  }
}

static void
test_wrong_region (void)
{
  static const struct
  {
    const char *axes, *text;
    gint64 n;
  } wrong[] = {
    { NULL, "a region of 4 numbers for 4 dimensions; expected 8", 4 },
    { "axes I 2,3", "a region of 8 numbers for 2 dimensions; expected 4", 8 },
    { "axes I 2,9", "axis", 4 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    onnx_model_floats (&m, "x", 4, DIMS (1, PLANES, H, W));
    sl_onnx_writer_floats (m.writer, "region", 1, &wrong[i].n, (const gfloat[8]){ 0 });
    sl_onnx_writer_ints (m.writer, "size", 2, DIMS (OUT_H, OUT_W));
    sl_onnx_writer_node (m.writer, "Resize", "x,region,,size", "y", "mode s linear",
                         "coordinate_transformation_mode s tf_crop_and_resize", wrong[i].axes,
                         NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, wrong[i].text);
    onnx_model_clear (&m);
  }
}

/* Places that are no number lie outside the input, in every mode. */
static void
test_region_nan (void)
{
  static const char *const modes[] = { "mode s nearest", "mode s linear", "mode s cubic" };
  for (guint mode = 0; mode < G_N_ELEMENTS (modes); mode++) {
    const gfloat nan = NAN;
    double expected[PLANES * OUT_H * OUT_W];
    OnnxModel m;
    onnx_model_init (&m, 18, mode);
    onnx_model_floats (&m, "x", 4, DIMS (1, PLANES, H, W));
    sl_onnx_writer_floats (m.writer, "region", 1, DIMS (8),
                           (const gfloat[8]){ 0, 0, nan, nan, 1, 1, nan, 1e30f });
    sl_onnx_writer_ints (m.writer, "size", 4, DIMS (1, PLANES, OUT_H, OUT_W));
    sl_onnx_writer_node (m.writer, "Resize", "x,region,,size", "y", modes[mode],
                         "coordinate_transformation_mode s tf_crop_and_resize",
                         "extrapolation_value f 7", NULL);
    for (gint32 i = 0; i < PLANES * OUT_H * OUT_W; i++)
      expected[i] = 7;
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, PLANES * OUT_H * OUT_W, expected, 0);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/resize/region", test_region);
  g_test_add_func ("/onnx/resize/region-nan", test_region_nan);
  g_test_add_func ("/onnx/resize/wrong-region", test_wrong_region);
  return g_test_run ();
}
