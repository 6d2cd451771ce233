/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX models against outputs of ONNX Runtime 1.30, TorchScript models against those of torch 1.13:
 * float networks, every operator with its variants in files made for that, float16, and quantised
 * ones; and quantised TensorFlow Lite models, written as ONNX's QuantizeLinear and
 * DequantizeLinear, against LiteRT's bytes. Inputs are tensors as they are, or RGB pictures of the
 * input's size. Files that are missing are skipped.
 */
#include <math.h>
#include <string.h>

#include "core/runtime/session.h"
#include "models/model.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

/* What the bytes of the input file are: the tensor, or a picture that becomes one channels first.
 */
typedef enum
{
  RAW,
  IMAGENET,
  UNIT,
  BGR,
  BGR_UNIT,
  BGR_HALF
} Filling;

/* How near outputs must be: floats within 1e-4 of the largest magnitude, or 2e-3; integers the
 * same. QUANTISED floats on average; LABEL only in what is greatest, where the reference's own two
 * ways of running a file are far apart. */
typedef enum
{
  FLOAT,
  HALF,
  QUANTISED,
  LABEL
} Bar;

typedef struct
{
  const char *model, *picture, *input;
  Filling filling;
  Bar bar;
  gsize stride; /* every how manieth element of the outputs the references hold */
  const char *shape;
} Case;

static const Case cases[] = {
  { "yolox_nano.onnx", "bus", "in.bus.85c753891d3c.rgb8", BGR, FLOAT, 19 },
  { "yolox_nano.onnx", "dog", "in.dog.664a293d4aae.rgb8", BGR, FLOAT, 19 },
  { "FastestDet.onnx", "bus", "in.bus.91e0a657cc3a.rgb8", BGR_UNIT, FLOAT, 3 },
  { "SqueezeNet_fp16.onnx", "cat", "in.cat.4fcea5d67fce.rgb8", BGR_HALF, HALF, 1 },
  { "yolov8n_dynq_s8.onnx", "bus", "in.bus.287b9dffa077.rgb8", UNIT, QUANTISED, 37 },
  { "yolov8n_qdq_u8s8.onnx", "bus", "in.bus.287b9dffa077.rgb8", UNIT, QUANTISED, 37 },
  { "yolov8n_qdq_u8s8.onnx", "dog", "in.dog.3cf51b9ad23d.rgb8", UNIT, QUANTISED, 37 },
  { "mobilenetv2_dynq_s8.onnx", "cat", "in.cat.4fcea5d67fce.rgb8", IMAGENET, QUANTISED, 1,
    "1,3,224,224" },
  { "cntk_mnist.onnx", "asl_A1", "in.asl_A1.8ffaa4e9b73e.in", RAW, FLOAT, 1 },
  { "super_resolution.onnx", "cat", "in.cat.ab463e177ff5.in", RAW, FLOAT, 23 },
  { "mobilenet_v2_035.ext.onnx", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1 },
  { "mobilenet_v2_035.torchqdq.op13.onnx", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, LABEL, 1 },
  { "mobilenet_v3_small_050.op17.onnx", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1 },
  { "resnet18_thin.fp16.op13.onnx", "bus", "in.bus.18a9b6afec5c.in", RAW, HALF, 1 },
  { "shufflenet_v2_x05.op9.onnx", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1 },
  { "lraspp_mnv3.op11.dyn.onnx", "bus", "in.bus.5d080d71f9ad.rgb8", IMAGENET, FLOAT, 23,
    "1,3,128,160" },
  { "style.op11.onnx", "bus", "in.bus.87b4b46a6143.in", RAW, FLOAT, 1, "1,3,64,96" },
  { "resize_modes.op11.onnx", "randn", "in.randn.dbb12adfe790.in", RAW, FLOAT, 1 },
  { "resize_modes.op13.onnx", "randn", "in.randn.dbb12adfe790.in", RAW, FLOAT, 1 },
  { "resize_modes.op19.onnx", "randn", "in.randn.dbb12adfe790.in", RAW, FLOAT, 1 },
  { "upsample.op9.onnx", "randn", "in.randn.dbb12adfe790.in", RAW, FLOAT, 1 },
  { "windows.op11.onnx", "randn", "in.randn.f6191b84741e.in", RAW, FLOAT, 1 },
  { "softmax.op11.onnx", "randn", "in.randn.1818616e63df.in", RAW, FLOAT, 1 },
  { "softmax.op13.onnx", "randn", "in.randn.1818616e63df.in", RAW, FLOAT, 1 },
  { "qoperator_u8.op13.onnx", "randn", "in.randn.47d51e0926cb.in", RAW, FLOAT, 1 },
  { "qoperator_s8.op13.onnx", "randn", "in.randn.47d51e0926cb.in", RAW, FLOAT, 1 },
  { "dynamic_quant.op11.onnx", "randn", "in.randn.47d51e0926cb.in", RAW, FLOAT, 1 },
  { "if_loop.op13.onnx", "randn", "in.randn.45930d69f2be.in", RAW, FLOAT, 1 },
  { "modern.op21.onnx", "randn", "in.randn.06dd46268595.in", RAW, FLOAT, 1 },
  { "mobilenet_v2_tagger_q.pt", "cat", "in.cat.4fcea5d67fce.rgb8", IMAGENET, FLOAT, 1,
    "1,3,224,224" },
  { "mobilenet_v2_tagger_q.pt", "grace_hopper", "in.grace_hopper.e8479bba1609.rgb8", IMAGENET,
    FLOAT, 1, "1,3,224,224" },
  { "fruit.ptl", "cat", "in.cat.84fb906a6dec.in", RAW, FLOAT, 1, "1,3,100,100" },
  { "depth.ptl", "bus", "in.bus.2038a6307ab4.in", RAW, FLOAT, 5, "1,3,96,128" },
  { "mnv2_small7.ptl", "cat", "in.cat.4fcea5d67fce.rgb8", IMAGENET, FLOAT, 1, "1,3,224,224" },
  { "mnist_q_scripted.pt", "asl_A1", "in.asl_A1.1fd031578cb1.in", RAW, FLOAT, 1, "1,1,28,28" },
  { "mobilenet_v2_035.traced.pt", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v2_035.scripted.pt", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v2_035.ptl", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1, "1,3,160,160" },
  { "mobilenet_v2_035.mobile.ptl", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v2_035.qnnpack.scripted.pt", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v2_035.qnnpack.scripted.pt", "cat", "in.cat.25030724741c.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v2_035.qnnpack.ptl", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v2_035.qnnpack.mobile.ptl", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v2_035.qat.ptl", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "mobilenet_v3_small_050.scripted.pt", "bus", "in.bus.542b9c820656.rgb8", IMAGENET, FLOAT, 1,
    "1,3,160,160" },
  { "style.scripted.pt", "bus", "in.bus.87b4b46a6143.in", RAW, FLOAT, 1, "1,3,64,96" },
  { "style.mobile.ptl", "bus", "in.bus.87b4b46a6143.in", RAW, FLOAT, 1, "1,3,64,96" },
  { "resnet18_thin.fx.scripted.pt", "bus", "in.bus.18a9b6afec5c.in", RAW, FLOAT, 1, "1,3,128,128" },
  { "mobilenet_v2_dynlinear.scripted.pt", "bus", "in.bus.18a9b6afec5c.in", RAW, QUANTISED, 1,
    "1,3,128,128" },
  { "yolo_techno.torchscript", "bus", "in.bus.542b9c820656.rgb8", UNIT, FLOAT, 1, "1,3,160,160" },
};

static char *
read_data (const char *folder, const char *name, gsize *bytes)
{
  g_autofree char *relative = g_build_filename (folder, name, NULL);
  g_autofree char *path = sl_test_data (relative);
  char *data = NULL;
  if (path != NULL)
    g_assert_true (g_file_get_contents (path, &data, bytes, NULL));
  return data;
}

/* float16, rounded half to even. */
static guint16
half_of (gfloat value)
{
  const gint exponent = value == 0 ? -14 : MAX (-14, ilogbf (value));
  const gint bits =
    ((exponent + 14) << 10) + (gint) rint (ldexp (fabs ((gdouble) value), 10 - exponent));
  return (guint16) (MIN (bits, 0x7c00) | (signbit (value) ? 0x8000 : 0));
}

static gfloat
real_of_half (guint16 bits)
{
  const gint exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  gdouble value = exponent == 0 ? ldexp (mantissa, -24) : ldexp (1024 + mantissa, exponent - 25);
  if (exponent == 31)
    value = mantissa == 0 ? INFINITY : NAN;
  return (gfloat) (bits & 0x8000 ? -value : value);
}

/* A picture, rows of RGB, as planes. */
static void
fill_picture (const Case *c, const SlTensor *tensor, const guint8 *rgb, void *data)
{
  static const double mean[3] = { .485, .456, .406 }, deviation[3] = { .229, .224, .225 },
                      half_mean[3] = { 104, 117, 123 };
  const gsize area = (gsize) tensor->dims[2] * (gsize) tensor->dims[3];
  for (gsize i = 0; i < 3 * area; i++) {
    const gsize channel = i / area;
    const double byte = rgb[i % area * 3 + (c->filling >= BGR ? 2 - channel : channel)];
    if (c->filling == BGR_HALF)
      ((guint16 *) data)[i] = half_of ((gfloat) (byte - half_mean[channel]));
    else
      ((gfloat *) data)[i] = c->filling == IMAGENET
                               ? (gfloat) ((byte / 255 - mean[channel]) / deviation[channel])
                             : c->filling == BGR ? (gfloat) byte
                                                 : (gfloat) byte / 255.0f;
  }
}

static double
real_at (const SlTensor *tensor, const void *data, gsize i)
{
  switch (tensor->dtype) {
    case SL_DTYPE_F16:
      return (double) real_of_half (((const guint16 *) data)[i]);
    case SL_DTYPE_I32:
      return ((const gint32 *) data)[i];
    case SL_DTYPE_I8:
      return ((const gint8 *) data)[i];
    case SL_DTYPE_U8:
      return ((const guint8 *) data)[i];
    default:
      g_assert_cmpint (tensor->dtype, ==, SL_DTYPE_F32);
      return (double) ((const gfloat *) data)[i];
  }
}

static void
compare (const Case *c, const SlTensor *tensor, const void *got, const void *expected, gsize bytes)
{
  const gboolean whole = tensor->dtype != SL_DTYPE_F32 && tensor->dtype != SL_DTYPE_F16;
  const gsize n = bytes / sl_dtype_size (tensor->dtype);
  double top = 0, worst = 0, sum = 0;
  gsize elements = 0, best = 0, best_expected = 0;
  sl_tensor_elements (tensor, &elements);
  g_assert_cmpuint (n, ==, (elements + c->stride - 1) / c->stride);
  for (gsize i = 0; i < n; i++) {
    const double x = real_at (tensor, got, i * c->stride), y = real_at (tensor, expected, i);
    top = fmax (top, fabs (y));
    worst = fmax (worst, fabs (x - y));
    sum += fabs (x - y);
    best = x > real_at (tensor, got, best * c->stride) ? i : best;
    best_expected = y > real_at (tensor, expected, best_expected) ? i : best_expected;
    g_assert_true (isfinite (x));
  }
  g_test_message ("%s: off by %g of %g, %g on average", tensor->name, worst, top, sum / (double) n);
  if (whole)
    g_assert_cmpfloat (worst, ==, 0);
  else if (c->bar == LABEL)
    g_assert_cmpuint (best, ==, best_expected);
  else if (c->bar == QUANTISED)
    g_assert_cmpfloat (sum / (double) n, <=, 0.02 * top);
  else
    g_assert_cmpfloat (worst, <=, (c->bar == HALF ? 2e-3 : 1e-4) * top);
}

static void
run (const char *path, const char *shape, const void *input, SlGraph **graph, void *out[SL_MAX_IO],
     SlModel **model)
{
  g_autoptr (GError) error = NULL;
  *model = sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .input_shape = shape }, &error);
  g_assert_no_error (error);
  *graph = sl_model_graph (*model);
  g_assert_cmpstr (sl_model_format (*model), ==,
                   g_str_has_suffix (path, ".onnx") ? "onnx" : "torchscript");
  g_autoptr (SlSession) session = sl_session_new (*graph, 2, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < sl_graph_n_outputs (*graph); i++)
    out[i] = sl_tensor_buffer_new (sl_graph_output_tensor (*graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, &input, out), ==, SL_STATUS_OK);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  const gboolean is_onnx = g_str_has_suffix (c->model, ".onnx");
  g_autofree char *name = g_strdup_printf ("formats/models/%s", c->model);
  g_autofree char *path = sl_test_data (name);
  g_autoptr (SlModel) model = NULL;
  g_autoptr (SlModel) probe = NULL;
  g_autoptr (GError) error = NULL;
  SlGraph *graph = NULL;
  void *out[SL_MAX_IO];
  gsize bytes = 0, expected_bytes = 0;
  if (path == NULL)
    return;
  g_autofree char *stored = read_data ("formats/golden", c->input, &bytes);
  g_assert_nonnull (stored);
  probe = sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .input_shape = c->shape }, &error);
  g_assert_no_error (error);
  const SlTensor *input = sl_graph_input_tensor (sl_model_graph (probe), 0);
  void *in = sl_tensor_buffer_new (input->bytes);
  if (c->filling == RAW) {
    g_assert_cmpuint (bytes, ==, input->bytes);
    memcpy (in, stored, bytes);
  } else {
    g_assert_cmpuint (bytes, ==, (gsize) 3 * (gsize) input->dims[2] * (gsize) input->dims[3]);
    fill_picture (c, input, (const guint8 *) stored, in);
  }
  run (path, c->shape, in, &graph, out, &model);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++) {
    g_autofree char *reference =
      g_strdup_printf ("%s.%s.%s.out%u.bin", c->model, c->picture, is_onnx ? "ort" : "torch", i);
    g_autofree char *expected = read_data ("formats/golden", reference, &expected_bytes);
    g_assert_nonnull (expected);
    compare (c, sl_graph_output_tensor (graph, i), out[i], expected, expected_bytes);
    sl_tensor_buffer_free (out[i]);
  }
  sl_tensor_buffer_free (in);
}

/* A TensorFlow Lite model and the same in ONNX. @flip: the former's codes are int8, the latter's
 * uint8. */
static const struct
{
  const char *model, *picture;
  gboolean flip;
} twins[] = {
  { "person_detect", "cat", TRUE },
  { "person_detect", "prng", TRUE },
  { "mobilenet_v1_0.25_128_quant", "cat", FALSE },
  { "mobilenet_v2_1.0_224_quant", "grace_hopper", FALSE },
  { "mobilenet_v2_1.0_224_quant", "prng", FALSE },
  { "tf2_mobilenet_v2_1.0_224_ptq", "cat", FALSE },
  { "tf2_mobilenet_v2_1.0_224_ptq", "prng", FALSE },
};

static void
test_twin (gconstpointer data)
{
  const guint t = GPOINTER_TO_UINT (data);
  g_autofree char *name = g_strdup_printf ("models/qdq/%s.qdq.onnx", twins[t].model);
  g_autofree char *path = sl_test_data (name);
  g_autofree char *in_name = g_strdup_printf ("%s.%s.in", twins[t].model, twins[t].picture);
  g_autofree char *out_name =
    g_strdup_printf ("%s.%s.xnn.out0.bin", twins[t].model, twins[t].picture);
  g_autoptr (SlModel) model = NULL;
  SlGraph *graph = NULL;
  void *out[SL_MAX_IO];
  gsize bytes = 0, expected_bytes = 0;
  if (path == NULL)
    return;
  g_autofree char *in = read_data ("golden", in_name, &bytes);
  g_autofree char *expected = read_data ("golden", out_name, &expected_bytes);
  g_assert_true (in != NULL && expected != NULL);
  guint8 *aligned = sl_tensor_buffer_new (bytes);
  for (gsize i = 0; i < bytes; i++)
    aligned[i] = (guint8) in[i] ^ (twins[t].flip ? 0x80 : 0);
  for (gsize i = 0; i < expected_bytes && twins[t].flip; i++)
    expected[i] = (char) (expected[i] ^ 0x80);
  run (path, NULL, aligned, &graph, out, &model);
  g_assert_cmpmem (out[0], sl_graph_output_tensor (graph, 0)->bytes, expected, expected_bytes);
  sl_tensor_buffer_free (out[0]);
  sl_tensor_buffer_free (aligned);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/formats/%s/%s", cases[i].model, cases[i].picture);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  for (guint i = 0; i < G_N_ELEMENTS (twins); i++) {
    g_autofree char *path =
      g_strdup_printf ("/formats/twins/%s/%s", twins[i].model, twins[i].picture);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_twin);
  }
  return g_test_run ();
}
