/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's operators that work on each element, and small ones around shapes. Expected values are the
 * specification's formulas, in double. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define N 60

typedef struct
{
  const char *op, *attributes[2]; /* (nullable) */
  double (*value) (double x);
  double low, high; /* of x */
  guint opset;
} Function;

static double
shrink (double x)
{
  return x < -0.7 ? x + 0.3 : x > 0.7 ? x - 0.3 : 0;
}

static double
shrink_plain (double x)
{
  return fabs (x) > 0.5 ? x : 0;
}

static double
celu (double x)
{
  return fmax (0, x) + fmin (0, 1.7 * (exp (x / 1.7) - 1));
}

static double
selu (double x)
{
  return 1.05070102214813232421875 * (x > 0 ? x : 1.67326319217681884765625 * (exp (x) - 1));
}

static double
elu (double x)
{
  return x < 0 ? 0.4 * (exp (x) - 1) : x;
}

static double
thresholded (double x)
{
  return x > 0.8 ? x : 0;
}

static double
softplus (double x)
{
  return 1.5 * log (1 + exp (0.5 * x));
}

static double
affine (double x)
{
  return 1.5 * x - 0.5;
}

static double
scaled_tanh (double x)
{
  return 1.5 * tanh (0.5 * x);
}

static const Function functions[] = {
  { "Asin", { NULL }, asin, -1, 1, 13 },
  { "Acos", { NULL }, acos, -1, 1, 13 },
  { "Atan", { NULL }, atan, -9, 9, 13 },
  { "Sinh", { NULL }, sinh, -5, 5, 13 },
  { "Cosh", { NULL }, cosh, -5, 5, 13 },
  { "Asinh", { NULL }, asinh, -9, 9, 13 },
  { "Acosh", { NULL }, acosh, 1, 9, 13 },
  { "Atanh", { NULL }, atanh, -0.99, 0.99, 13 },
  { "Shrink", { "lambd f 0.7", "bias f 0.3" }, shrink, -2, 2, 13 },
  { "Shrink", { NULL }, shrink_plain, -2, 2, 13 },
  { "Celu", { "alpha f 1.7" }, celu, -5, 5, 13 },
  { "Selu", { NULL }, selu, -5, 5, 13 },
  { "Elu", { "alpha f 0.4" }, elu, -5, 5, 13 },
  { "ThresholdedRelu", { "alpha f 0.8" }, thresholded, -2, 2, 13 },
  { "Affine", { "alpha f 1.5", "beta f -0.5" }, affine, -2, 2, 7 },
  { "ScaledTanh", { "alpha f 1.5", "beta f 0.5" }, scaled_tanh, -2, 2, 7 },
  { "ParametricSoftplus", { "alpha f 1.5", "beta f 0.5" }, softplus, -2, 2, 7 },
};

static void
test_function (gconstpointer data)
{
  const Function *f = data;
  for (guint pooled = 0; pooled < 2; pooled++) {
    double expected[N];
    OnnxModel m;
    onnx_model_init (&m, f->opset, 3);
    gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 3, 4, 5));
    for (guint i = 0; i < N; i++) {
      x[i] =
        (gfloat) CLAMP (f->low + (f->high - f->low) * ((double) x[i] + 2) / 4, f->low, f->high);
      expected[i] = f->value ((double) x[i]);
    }
    if (pooled)
      sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
    sl_onnx_writer_node (m.writer, f->op, pooled ? "p" : "x", "y", f->attributes[0],
                         f->attributes[0] != NULL ? f->attributes[1] : NULL, NULL);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, N, expected, 2e-6);
    onnx_model_clear (&m);
  }
}

static gint64
bits (const char *op, guint64 a, guint64 b, guint64 mask)
{
  const guint64 y = strcmp (op, "BitwiseAnd") == 0   ? a & b
                    : strcmp (op, "BitwiseOr") == 0  ? a | b
                    : strcmp (op, "BitwiseXor") == 0 ? a ^ b
                    : strcmp (op, "BitwiseNot") == 0 ? ~a
                    : strcmp (op, "LEFT") == 0       ? a << b
                                                     : a >> b;
  return (gint64) (y & mask);
}

/* Of int64 values, then of uint8 ones; the second operand is one row. */
static void
run_bits (const char *op, gboolean bytes)
{
  const gboolean shifts = strcmp (op, "LEFT") == 0 || strcmp (op, "RIGHT") == 0,
                 alone = strcmp (op, "BitwiseNot") == 0;
  const guint64 mask = bytes ? 0xff : G_MAXUINT64;
  g_autofree char *direction = g_strdup_printf ("direction s %s", shifts ? op : "none");
  double expected[N];
  OnnxModel m;
  onnx_model_init (&m, 18, 4);
  const gint64 *a = onnx_model_ints (&m, "a", 4, DIMS (1, 3, 4, 5), bytes || shifts ? 0 : -5000,
                                     bytes ? 256 : 5000);
  const gint64 *b = onnx_model_ints (&m, "b", 1, DIMS (5), 0, shifts ? 8 : 256);
  if (bytes) {
    sl_onnx_writer_node (m.writer, "Cast", "a", "ca", "to i 2", NULL);
    sl_onnx_writer_node (m.writer, "Cast", "b", "cb", "to i 2", NULL);
  }
  const char *one = bytes ? "ca" : "a", *two = bytes ? "ca,cb" : "a,b";
  sl_onnx_writer_node (m.writer, shifts ? "BitShift" : op, alone ? one : two, "c",
                       shifts ? direction : NULL, NULL);
  sl_onnx_writer_node (m.writer, "Cast", "c", "y", "to i 7", NULL);
  for (guint i = 0; i < N; i++)
    expected[i] = (double) bits (op, (guint64) a[i], (guint64) b[i % 5], mask);
  onnx_model_expect (&m, "y", SL_ONNX_INT64, N, expected, 0);
  onnx_model_clear (&m);
}

static void
test_bits (void)
{
  static const char *const ops[] = { "BitwiseAnd", "BitwiseOr", "BitwiseXor",
                                     "BitwiseNot", "LEFT",      "RIGHT" };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    run_bits (ops[i], FALSE);
    run_bits (ops[i], TRUE);
  }
}

static void
test_modulo (void)
{
  OnnxModel m;
  double real[N], truncated[N], floored[N];
  onnx_model_init (&m, 13, 5);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (12, 5)),
               *d = onnx_model_floats (&m, "d", 1, DIMS (5));
  const gint64 *i = onnx_model_ints (&m, "i", 2, DIMS (12, 5), -50, 50);
  gint64 *k = onnx_model_ints (&m, "k", 1, DIMS (5), 1, 9);
  k[0] = -7;
  sl_onnx_writer_node (m.writer, "Mod", "x,d", "a", "fmod i 1", NULL);
  sl_onnx_writer_node (m.writer, "Mod", "i,k", "b", "fmod i 1", NULL);
  sl_onnx_writer_node (m.writer, "Mod", "i,k", "c", NULL);
  for (guint e = 0; e < N; e++) {
    real[e] = fmod ((double) x[e], (double) d[e % 5]);
    truncated[e] = fmod ((double) i[e], (double) k[e % 5]);
    floored[e] = (double) i[e] - floor ((double) i[e] / (double) k[e % 5]) * (double) k[e % 5];
  }
  onnx_model_expect (&m, "a", SL_ONNX_FLOAT, N, real, 1e-6);
  onnx_model_expect (&m, "b", SL_ONNX_INT64, N, truncated, 0);
  onnx_model_expect (&m, "c", SL_ONNX_INT64, N, floored, 0);
  onnx_model_clear (&m);
}

static void
test_image_scaler (void)
{
  OnnxModel m;
  double expected[N], cropped[3 * 2 * 3], sized[3 * 2 * 2];
  const double bias[3] = { -0.5, 0.25, 1 };
  onnx_model_init (&m, 7, 6);
  const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 3, 4, 5));
  sl_onnx_writer_node (m.writer, "ImageScaler", "x", "y", "scale f 0.5", "bias F -0.5,0.25,1",
                       NULL);
  sl_onnx_writer_node (m.writer, "Crop", "x", "cropped", "border I 1,2,1,0", NULL);
  sl_onnx_writer_node (m.writer, "Crop", "x", "sized", "border I 2,1,0,0", "scale I 2,2", NULL);
  for (guint i = 0; i < N; i++)
    expected[i] = 0.5 * (double) x[i] + bias[i / 20];
  for (guint i = 0; i < 18; i++) /* rows 2 and 3, columns 1 to 3 */
    cropped[i] = (double) x[i / 6 * 20 + (2 + i / 3 % 2) * 5 + 1 + i % 3];
  for (guint i = 0; i < 12; i++) /* two rows from 1 on, two columns from 2 on */
    sized[i] = (double) x[i / 4 * 20 + (1 + i / 2 % 2) * 5 + 2 + i % 2];
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, N, expected, 1e-6);
  onnx_model_expect (&m, "cropped", SL_ONNX_FLOAT, 18, cropped, 0);
  onnx_model_expect (&m, "sized", SL_ONNX_FLOAT, 12, sized, 0);
  onnx_model_clear (&m);
}

/* What an axis of 7 and one of 2 become, brought to 4 and 5: the specification's start (7 - 4) / 2
 * and padding (5 - 2) / 2. */
static void
test_center_crop_pad (void)
{
  for (guint form = 0; form < 2; form++) {
    OnnxModel m;
    double expected[3 * 4 * 5];
    onnx_model_init (&m, 18, 6);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 3, 7, 2));
    sl_onnx_writer_ints (m.writer, "shape", form == 0 ? 4 : 2,
                         form == 0 ? DIMS (1, 3, 4, 5) : DIMS (5, 4));
    sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
    sl_onnx_writer_node (m.writer, "CenterCropPad", form == 0 ? "x,shape" : "p,shape", "y",
                         form == 0 ? NULL : "axes I -1,2", NULL);
    for (guint i = 0; i < 60; i++) {
      const guint row = i / 5 % 4 + 1, column = i % 5;
      expected[i] = column < 1 || column > 2 ? 0 : (double) x[i / 20 * 14 + row * 2 + column - 1];
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 60, expected, 0);
    onnx_model_clear (&m);
  }
}

static void
test_compress (void)
{
  OnnxModel m;
  double rows[2 * 3 * 4], flat[2];
  onnx_model_init (&m, 11, 6);
  const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (2, 5, 4));
  sl_onnx_writer_ints (m.writer, "whole", 4, DIMS (0, 1, 1, 1));
  sl_onnx_writer_ints (m.writer, "two", 4, DIMS (0, 1, 0, 1));
  sl_onnx_writer_node (m.writer, "Cast", "whole", "condition", "to i 9", NULL);
  sl_onnx_writer_node (m.writer, "Cast", "two", "pair", "to i 9", NULL);
  sl_onnx_writer_node (m.writer, "Compress", "x,condition", "y", "axis i -2", NULL);
  sl_onnx_writer_node (m.writer, "Compress", "x,pair", "z", NULL);
  for (guint i = 0; i < 24; i++)
    rows[i] = (double) x[i / 12 * 20 + (i / 4 % 3 + 1) * 4 + i % 4];
  flat[0] = (double) x[1];
  flat[1] = (double) x[3];
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 24, rows, 0);
  onnx_model_expect (&m, "z", SL_ONNX_FLOAT, 2, flat, 0);
  onnx_model_clear (&m);
}

static void
test_eye_like (void)
{
  for (gint k = -3; k < 4; k++) {
    g_autofree char *attribute = g_strdup_printf ("k i %d", k);
    OnnxModel m;
    double expected[12];
    onnx_model_init (&m, 13, 6);
    const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (3, 4));
    sl_onnx_writer_node (m.writer, "EyeLike", "x", "eye", attribute, NULL);
    sl_onnx_writer_node (m.writer, "EyeLike", "x", "whole", attribute, "dtype i 7", NULL);
    sl_onnx_writer_node (m.writer, "CastLike", "whole,x", "like", NULL);
    sl_onnx_writer_node (m.writer, "Mul", "eye,like", "squared", NULL);
    sl_onnx_writer_node (m.writer, "Mul", "squared,x", "y", NULL);
    for (gint i = 0; i < 12; i++)
      expected[i] = i % 4 - i / 4 == k ? (double) x[i] : 0;
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 12, expected, 0);
    onnx_model_clear (&m);
  }
}

/* Of no dimensions, as the shape of a scalar says. */
static void
test_constant_scalar (void)
{
  OnnxModel m;
  double expected[6];
  onnx_model_init (&m, 13, 6);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (2, 3));
  sl_onnx_writer_ints (m.writer, "shape", 0, NULL);
  sl_onnx_writer_node (m.writer, "ConstantOfShape", "shape", "zero", NULL);
  sl_onnx_writer_node (m.writer, "Cos", "zero", "one", NULL);
  sl_onnx_writer_node (m.writer, "Add", "x,one", "y", NULL);
  for (guint i = 0; i < 6; i++)
    expected[i] = (double) x[i] + 1;
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 6, expected, 1e-6);
  onnx_model_clear (&m);
}

static void
test_global_lp_pool (void)
{
  for (guint p = 1; p < 4; p++) {
    g_autofree char *attribute = g_strdup_printf ("p i %u", p);
    OnnxModel m;
    double expected[3];
    onnx_model_init (&m, 13, 6);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (1, 3, 4, 5));
    sl_onnx_writer_node (m.writer, "GlobalLpPool", "x", "y", attribute, NULL);
    for (guint c = 0; c < 3; c++) {
      double sum = 0;
      for (guint i = 0; i < 20; i++)
        sum += pow (fabs ((double) x[20 * c + i]), p);
      expected[c] = pow (sum, 1.0 / p);
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 3, expected, 1e-5);
    onnx_model_clear (&m);
  }
}

/* Even windows reach one channel further up than down. */
static void
test_lrn (void)
{
  for (gint size = 1; size < 8; size++) {
    const double alpha = 0.3, beta = size % 2 == 0 ? 0.75 : 0.6, bias = 1.5;
    double expected[2 * N];
    OnnxModel m;
    onnx_model_init (&m, 13, 6);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (2, 6, 2, 5));
    g_autofree char *window = g_strdup_printf ("size i %d", size),
                    *power = g_strdup_printf ("beta f %g", beta);
    sl_onnx_writer_node (m.writer, "LRN", "x", "y", window, "alpha f 0.3", power, "bias f 1.5",
                         NULL);
    for (gint i = 0; i < 2 * N; i++) {
      const gint c = i / 10 % 6;
      double sum = 0;
      for (gint k = MAX (c - (size - 1) / 2, 0); k <= MIN (c + size / 2, 5); k++)
        sum += pow ((double) x[i + 10 * (k - c)], 2);
      expected[i] = (double) x[i] / pow (bias + alpha / size * sum, beta);
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 2 * N, expected, 1e-6);
    onnx_model_clear (&m);
  }
}

/* Each channel over batch, height and width, then each picture over its channels. */
static void
test_mean_variance (void)
{
  for (guint form = 0; form < 4; form++) {
    const gboolean channels = form & 1;
    double expected[2 * N];
    OnnxModel m;
    onnx_model_init (&m, 13, 6);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (2, 3, 4, 5));
    sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
    sl_onnx_writer_node (m.writer, "MeanVarianceNormalization", form & 2 ? "p" : "x", "y",
                         channels ? "axes I 1" : NULL, NULL);
    for (guint i = 0; i < 2 * N; i++) {
      double sum = 0, squares = 0, n = 0;
      for (guint k = 0; k < 2 * N; k++)
        if (channels ? k / 60 == i / 60 && k % 20 == i % 20 : k / 20 % 3 == i / 20 % 3) {
          sum += (double) x[k];
          squares += (double) x[k] * (double) x[k];
          n++;
        }
      expected[i] = ((double) x[i] - sum / n) / (sqrt (squares / n - sum / n * sum / n) + 1e-9);
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 2 * N, expected, 1e-4);
    onnx_model_clear (&m);
  }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *op, *inputs, *attribute, *text;
  } rows[] = {
    { "BitShift", "i,i", "direction s UP", "attribute direction is 'UP'; expected LEFT or RIGHT" },
    { "BitwiseAnd", "x,x", NULL,
      "its inputs are float32 and float32; expected whole numbers of one type" },
    { "ImageScaler", "x", "bias F 1,2",
      "attribute bias has 2 numbers for an input of 4 dimensions" },
    { "Crop", "x", "border I 4,0,1,0", "its border and scale do not lie in an input" },
    { "Crop", "x", "border I -1,0,1,0", "its border and scale do not lie in an input" },
    { "CenterCropPad", "x,c", NULL, "a shape of 2 dimensions; expected 4" },
    { "CenterCropPad", "x,c", "axes I 1,7", "axis 7 is outside a tensor of 4 dimensions" },
    { "CenterCropPad", "x,z", "axes I 1", "dimension 0 of the shape is 0" },
    { "Compress", "x,b", "axis i 1",
      "its condition, input 1, must be a constant of at most 3 elements" },
    { "EyeLike", "x", NULL, "its input has 4 dimensions" },
    { "GlobalLpPool", "x", "p i 0", "attribute p is 0" },
    { "LRN", "x", "size i 0", "size is 0; expected 1 or more" },
    { "MeanVarianceNormalization", "x", "axes I 4", "axis 4 is outside a tensor of 4 dimensions" },
    { "AffineGrid", "t,c", NULL, "a matrix of 3 dimensions and a size of 2" },
    { "AffineGrid", "t,x", NULL, "the size, input 1, is computed from the picture" },
    { "GridSample", "v,g", "mode s cubic", "mode cubic of a volume" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 20, 6);
    onnx_model_floats (&m, "x", 4, DIMS (1, 3, 4, 5));
    onnx_model_floats (&m, "t", 3, DIMS (1, 2, 3));
    onnx_model_floats (&m, "v", 5, DIMS (1, 1, 2, 2, 2));
    onnx_model_floats (&m, "g", 5, DIMS (1, 2, 2, 2, 3));
    onnx_model_ints (&m, "i", 1, DIMS (3), 0, 2);
    sl_onnx_writer_ints (m.writer, "c", 2, DIMS (3, 3));
    sl_onnx_writer_ints (m.writer, "z", 1, DIMS (0));
    sl_onnx_writer_node (m.writer, "Cast", "i", "b", "to i 9", NULL);
    sl_onnx_writer_node (m.writer, rows[i].op, rows[i].inputs, "y", rows[i].attribute, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++) {
    g_autofree char *path = g_strdup_printf ("/onnx-elements/%s/%u", functions[i].op, i);
    g_test_add_data_func (path, &functions[i], test_function);
  }
  g_test_add_func ("/onnx-elements/bits", test_bits);
  g_test_add_func ("/onnx-elements/modulo", test_modulo);
  g_test_add_func ("/onnx-elements/image-scaler", test_image_scaler);
  g_test_add_func ("/onnx-elements/center-crop-pad", test_center_crop_pad);
  g_test_add_func ("/onnx-elements/compress", test_compress);
  g_test_add_func ("/onnx-elements/eye-like", test_eye_like);
  g_test_add_func ("/onnx-elements/constant-scalar", test_constant_scalar);
  g_test_add_func ("/onnx-elements/global-lp-pool", test_global_lp_pool);
  g_test_add_func ("/onnx-elements/mean-variance", test_mean_variance);
  g_test_add_func ("/onnx-elements/lrn", test_lrn);
  g_test_add_func ("/onnx-elements/refused", test_refused);
  return g_test_run ();
}
