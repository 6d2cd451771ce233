/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions and fully connected layers of random geometry and quantisation against sums in
 * double precision. A code may differ from the exact value by half a step, plus what
 * single-precision scaling adds near a tie.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "sightline/error.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define HALF_STEP 0.5005

typedef enum
{
  FLOAT,
  I8_TENSOR,
  I8_CHANNEL,
  U8_TENSOR
} Kind;

typedef struct
{
  Kind kind;
  gboolean depthwise, has_bias;
  gint32 n, h, w, in, out, fh, fw;
  SlWindow window;
} Geometry;

static SlDtype
dtype_of (Kind kind)
{
  return kind == FLOAT ? SL_DTYPE_F32 : kind == U8_TENSOR ? SL_DTYPE_U8 : SL_DTYPE_I8;
}

static void
random_geometry (GRand *rand, Kind kind, gboolean depthwise, Geometry *g)
{
  memset (g, 0, sizeof *g);
  g->kind = kind;
  g->depthwise = depthwise;
  g->has_bias = g_rand_int_range (rand, 0, 4) > 0;
  g->n = g_rand_int_range (rand, 1, 3);
  g->h = g_rand_int_range (rand, 1, 12);
  g->w = g_rand_int_range (rand, 1, 12);
  g->in = g_rand_int_range (rand, 1, 20);
  const gint32 multiplier = g_rand_int_range (rand, 1, 4);
  g->out = depthwise ? g->in * multiplier : g_rand_int_range (rand, 1, 20);
  g->window.stride_h = g->window.stride_w = g_rand_int_range (rand, 1, 4);
  g->window.dilation_h = g->window.dilation_w =
    g->window.stride_h == 1 ? g_rand_int_range (rand, 1, 3) : 1;
  g->window.padding = g_rand_int_range (rand, 0, 2) ? SL_PADDING_SAME : SL_PADDING_VALID;
  g->window.activation = (SlActivation) g_rand_int_range (rand, 0, 4);
  g->window.depth_multiplier = multiplier;
  do {
    g->fh = g_rand_int_range (rand, 1, 6);
    g->fw = g_rand_int_range (rand, 1, 6);
  } while (
    g->window.padding == SL_PADDING_VALID
    && ((g->fh - 1) * g->window.dilation_h >= g->h || (g->fw - 1) * g->window.dilation_w >= g->w));
}

/* The windows of a vision transformer's first layer: side by side, without padding, and so large
 * that their pixels are more than a tile of float layers finds one by one. */
static void
random_patches (GRand *rand, Kind kind, Geometry *g)
{
  random_geometry (rand, kind, FALSE, g);
  g->in = g_rand_int_range (rand, 1, 4);
  g->out = g_rand_int_range (rand, 1, 64);
  g->fh = g_rand_int_range (rand, 17, 34);
  g->fw = g_rand_int_range (rand, 17, 34);
  g->h = g->fh * g_rand_int_range (rand, 1, 3) + g_rand_int_range (rand, 0, 5);
  g->w = g->fw * g_rand_int_range (rand, 1, 5) + g_rand_int_range (rand, 0, 5);
  g->window.stride_h = g->fh;
  g->window.stride_w = g->fw;
  g->window.dilation_h = g->window.dilation_w = 1;
  g->window.padding = SL_PADDING_VALID;
}

/* Where TensorFlow puts the first window: half of what SAME lacks, rounded down. */
static gint32
pad_before (const Geometry *g, gint32 in, gint32 filter, gint32 stride, gint32 dilation)
{
  if (g->window.padding == SL_PADDING_VALID)
    return 0;
  const gint32 out = (in + stride - 1) / stride;
  return MAX ((out - 1) * stride + (filter - 1) * dilation + 1 - in, 0) / 2;
}

static double
activate (double x, SlActivation activation)
{
  switch (activation) {
    case SL_ACTIVATION_RELU:
      return fmax (x, 0);
    case SL_ACTIVATION_RELU6:
      return fmin (fmax (x, 0), 6);
    case SL_ACTIVATION_RELU_N1_TO_1:
      return fmin (fmax (x, -1), 1);
    default:
      return x;
  }
}

static double
weight_at (const SlTensor *weights, gsize i, gint32 channel)
{
  if (weights->dtype == SL_DTYPE_F32)
    return (double) ((const gfloat *) weights->data)[i];
  const gint32 code = weights->dtype == SL_DTYPE_I8 ? ((const gint8 *) weights->data)[i]
                                                    : ((const guint8 *) weights->data)[i];
  const guint k = weights->quant.count > 1 ? (guint) channel : 0;
  return (code - weights->quant.zero_point[k]) * (double) weights->quant.scale[k];
}

static double
exact_value (const Geometry *g, const SlTensor *x, const void *x_data, const SlTensor *w,
             const SlTensor *b, gint32 n, gint32 oy, gint32 ox, gint32 c)
{
  const gint32 top = pad_before (g, g->h, g->fh, g->window.stride_h, g->window.dilation_h);
  const gint32 left = pad_before (g, g->w, g->fw, g->window.stride_w, g->window.dilation_w);
  const gint32 first = g->depthwise ? c / g->window.depth_multiplier : 0,
               last = g->depthwise ? first + 1 : g->in;
  double sum = 0;
  for (gint32 fy = 0; fy < g->fh; fy++)
    for (gint32 fx = 0; fx < g->fw; fx++)
      for (gint32 i = first; i < last; i++) {
        const gint32 y = oy * g->window.stride_h - top + fy * g->window.dilation_h;
        const gint32 xx = ox * g->window.stride_w - left + fx * g->window.dilation_w;
        if (y < 0 || y >= g->h || xx < 0 || xx >= g->w)
          continue;
        const gsize at_x = (gsize) (((n * g->h + y) * g->w + xx) * g->in + i);
        const gsize at_w = g->depthwise ? (gsize) ((fy * g->fw + fx) * g->out + c)
                                        : (gsize) (((c * g->fh + fy) * g->fw + fx) * g->in + i);
        sum += check_real (x, x_data, at_x) * weight_at (w, at_w, c);
      }
  if (b == NULL)
    return sum;
  if (b->dtype == SL_DTYPE_F32)
    return sum + (double) ((const gfloat *) b->data)[c];
  const double scale =
    (double) sl_tensor_scale (x) * (double) w->quant.scale[w->quant.count > 1 ? c : 0];
  return sum + ((const gint32 *) b->data)[c] * scale;
}

/* A tensor of weights and one of biases with random contents in the graph's arena. */
static void
add_parameters (Check *check, const Geometry *g, gint32 inputs[3])
{
  SlArena *arena = sl_graph_arena (check->graph);
  const SlDtype dtype = dtype_of (g->kind);
  const gint32 w_dims[4] = { g->depthwise ? 1 : g->out, g->fh, g->fw,
                             g->depthwise ? g->out : g->in };
  const gsize n = (gsize) w_dims[0] * (gsize) w_dims[1] * (gsize) w_dims[2] * (gsize) w_dims[3];
  void *weights = sl_arena_alloc (arena, n * 4), *bias = sl_arena_alloc (arena, (gsize) g->out * 4);
  gfloat scales[64];
  check_random (check, dtype, n, weights);
  for (gint32 i = 0; i < g->out; i++)
    scales[i] = (gfloat) g_rand_double_range (check->rand, 0.002, 0.02);
  const guint n_scales = g->kind == FLOAT ? 0 : g->kind == I8_CHANNEL ? (guint) g->out : 1;
  inputs[1] =
    check_constant (check, dtype, 4, w_dims, scales, n_scales, g->depthwise ? 3 : 0,
                    g->kind == U8_TENSOR ? g_rand_int_range (check->rand, 0, 256) : 0, weights);
  inputs[2] = -1;
  if (!g->has_bias)
    return;
  check_random (check, g->kind == FLOAT ? SL_DTYPE_F32 : SL_DTYPE_I32, (gsize) g->out, bias);
  inputs[2] = check_constant (check, g->kind == FLOAT ? SL_DTYPE_F32 : SL_DTYPE_I32, 1, &g->out,
                              NULL, 0, 0, 0, bias);
}

static void
run_geometry (const Geometry *g, guint32 seed)
{
  Check check;
  gint32 inputs[3];
  check_init (&check, seed);
  const SlDtype dtype = dtype_of (g->kind);
  const gint32 x_dims[4] = { g->n, g->h, g->w, g->in };
  const gboolean quantised = g->kind != FLOAT;
  const gint32 zero = g->kind == U8_TENSOR ? 121 : -7;
  inputs[0] = check_input (&check, dtype, 4, x_dims, quantised ? 0.0157f : 0, zero);
  add_parameters (&check, g, inputs);
  const gint32 output = check_output (&check, dtype, quantised ? 0.0712f : 0, zero + 3);
  SlOpParams params = { .window = g->window };
  check_node (&check, g->depthwise ? SL_OP_DEPTHWISE_CONV_2D : SL_OP_CONV_2D, inputs, 3, output,
              &params);
  check_prepare (&check);
  if (!quantised && !g->depthwise)
    g_assert_true (sl_float_supports (check.graph, sl_graph_node (check.graph, 0)));
  const SlTensor *y = sl_graph_output_tensor (check.graph, 0),
                 *x = sl_graph_input_tensor (check.graph, 0);
  const SlTensor *w = sl_graph_tensor (check.graph, inputs[1]),
                 *b = inputs[2] >= 0 ? sl_graph_tensor (check.graph, inputs[2]) : NULL;
  gsize elements = 0, at = 0;
  sl_tensor_elements (y, &elements);
  g_autofree double *expected = g_new (double, elements);
  for (gint32 n = 0; n < y->dims[0]; n++)
    for (gint32 oy = 0; oy < y->dims[1]; oy++)
      for (gint32 ox = 0; ox < y->dims[2]; ox++)
        for (gint32 c = 0; c < y->dims[3]; c++)
          expected[at++] = activate (exact_value (g, x, check.input_data[0], w, b, n, oy, ox, c),
                                     g->window.activation);
  check_expect (&check, expected, quantised ? HALF_STEP + 0.01 : 1e-4,
                quantised ? HALF_STEP + 0.01 : 1e-4);
  check_clear (&check);
}

static void
test_random (gconstpointer data)
{
  const guint variant = GPOINTER_TO_UINT (data);
  for (guint32 i = 0; i < 60; i++) {
    const guint32 seed = variant * 1000 + i;
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
    Geometry geometry;
    random_geometry (rand, (Kind) (variant % 4), variant / 4, &geometry);
    run_geometry (&geometry, seed);
  }
}

static void
test_patches (gconstpointer data)
{
  const Kind kind = (Kind) GPOINTER_TO_UINT (data);
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = kind == FLOAT ? sl_float_isas (isas) : 1;
  for (guint32 seed = 0; seed < 8; seed++)
    for (guint i = 0; i < n_isas; i++) {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Geometry geometry;
      random_patches (rand, kind, &geometry);
      sl_float_isa_force (kind == FLOAT ? isas[i] : NULL);
      run_geometry (&geometry, seed);
      sl_float_isa_force (NULL);
    }
}

static void
test_fully_connected (gconstpointer data)
{
  const Kind kind = (Kind) GPOINTER_TO_UINT (data);
  const gboolean quantised = kind != FLOAT;
  for (guint32 seed = 0; seed < 40; seed++) {
    Check check;
    check_init (&check, seed);
    Geometry g = { .kind = kind, .has_bias = seed % 2, .n = 1, .fh = 1, .fw = 1 };
    const gint32 rows = g_rand_int_range (check.rand, 1, 5),
                 depth = g_rand_int_range (check.rand, 1, 40);
    const gint32 channels = g_rand_int_range (check.rand, 1, 20), x_dims[3] = { 1, rows, depth },
                 w_dims[2] = { channels, depth };
    gfloat scales[64];
    g_autofree void *weights = g_malloc ((gsize) (channels * depth) * 4),
                    *bias = g_malloc ((gsize) channels * 4);
    for (gint32 i = 0; i < channels; i++)
      scales[i] = (gfloat) g_rand_double_range (check.rand, 0.002, 0.02);
    check_random (&check, dtype_of (kind), (gsize) (channels * depth), weights);
    check_random (&check, quantised ? SL_DTYPE_I32 : SL_DTYPE_F32, (gsize) channels, bias);
    gint32 inputs[3];
    inputs[0] = check_input (&check, dtype_of (kind), 3, x_dims, quantised ? 0.0157f : 0, 5);
    inputs[1] = check_constant (&check, dtype_of (kind), 2, w_dims, scales,
                                !quantised           ? 0
                                : kind == I8_CHANNEL ? (guint) channels
                                                     : 1,
                                0, kind == U8_TENSOR ? 100 : 0, weights);
    inputs[2] = g.has_bias ? check_constant (&check, quantised ? SL_DTYPE_I32 : SL_DTYPE_F32, 1,
                                             &channels, NULL, 0, 0, 0, bias)
                           : -1;
    const SlOpParams params = { .fully_connected = { .activation = SL_ACTIVATION_RELU,
                                                     .keep_dims = seed % 3 == 0 } };
    check_node (&check, SL_OP_FULLY_CONNECTED, inputs, 3,
                check_output (&check, dtype_of (kind), quantised ? 0.05f : 0, 7), &params);
    check_prepare (&check);
    const SlTensor *x = sl_graph_input_tensor (check.graph, 0),
                   *w = sl_graph_tensor (check.graph, inputs[1]);
    g_autofree double *expected = g_new0 (double, rows *channels);
    for (gint32 r = 0; r < rows; r++)
      for (gint32 c = 0; c < channels; c++) {
        double sum = 0;
        for (gint32 k = 0; k < depth; k++)
          sum += check_real (x, check.input_data[0], (gsize) (r * depth + k))
                 * weight_at (w, (gsize) (c * depth + k), c);
        if (g.has_bias)
          sum += quantised ? ((gint32 *) bias)[c] * (double) sl_tensor_scale (x)
                               * (double) w->quant.scale[w->quant.count > 1 ? c : 0]
                           : (double) ((gfloat *) bias)[c];
        expected[r * channels + c] = fmax (sum, 0);
      }
    check_expect (&check, expected, quantised ? HALF_STEP + 0.01 : 1e-4,
                  quantised ? HALF_STEP + 0.01 : 1e-4);
    check_clear (&check);
  }
}

typedef struct
{
  const char *name;
  gint32 w_dims[4], n_bias, stride;
  guint n_scales;
  gint32 zero_point;
  gint code;
  const char *text;
} Bad;

static const Bad bad_cases[] = {
  { "channels",
    { 4, 1, 1, 7 },
    4,
    1,
    1,
    0,
    SL_ERROR_SHAPE,
    "input has 3 channels, weights take 7 and give 4" },
  { "bias",
    { 4, 1, 1, 3 },
    5,
    1,
    1,
    0,
    SL_ERROR_SHAPE,
    "bias 'constant' is int32[5]; expected 4 values" },
  { "stride",
    { 4, 1, 1, 3 },
    4,
    0,
    1,
    0,
    SL_ERROR_FORMAT,
    "vertical stride is 0; expected 1..32767" },
  { "window", { 4, 9, 9, 3 }, 4, 1, 1, 0, SL_ERROR_SHAPE, "a 9x9 window does not fit a 5x5 input" },
  { "scales",
    { 4, 1, 1, 3 },
    4,
    1,
    3,
    0,
    SL_ERROR_FORMAT,
    "3 scales along dimension 0; expected 4 along dimension 0" },
  { "zero",
    { 4, 1, 1, 3 },
    4,
    1,
    4,
    9,
    SL_ERROR_UNSUPPORTED,
    "zero point 9 in channel 0; expected 0" },
  { "code",
    { 4, 1, 1, 3 },
    4,
    1,
    1,
    300,
    SL_ERROR_FORMAT,
    "zero point 300; expected -128..127 for int8" },
};

static void
test_bad (gconstpointer data)
{
  const Bad *bad = data;
  Check check;
  static const gint8 weights[4 * 9 * 9 * 7];
  static const gint32 bias[8];
  const gfloat scales[4] = { 0.1f, 0.1f, 0.1f, 0.1f };
  check_init (&check, 1);
  gint32 inputs[3];
  inputs[0] = check_input (&check, SL_DTYPE_I8, 4, (gint32[]){ 1, 5, 5, 3 }, 0.1f, 0);
  inputs[1] = check_constant (&check, SL_DTYPE_I8, 4, bad->w_dims, scales, bad->n_scales, 0,
                              bad->zero_point, weights);
  inputs[2] = check_constant (&check, SL_DTYPE_I32, 1, &bad->n_bias, NULL, 0, 0, 0, bias);
  const SlOpParams params = {
    .window = { .stride_h = bad->stride, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 }
  };
  check_node (&check, SL_OP_CONV_2D, inputs, 3, check_output (&check, SL_DTYPE_I8, 0.1f, 0),
              &params);
  check_prepare_error (&check, bad->code, bad->text);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  static const char *const kinds[] = { "float", "int8", "int8-channel", "uint8" };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < 8; i++) {
    g_autofree char *path =
      g_strdup_printf ("/core/%s/%s", i < 4 ? "conv" : "depthwise", kinds[i % 4]);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_random);
  }
  for (guint i = 0; i < 4; i++) {
    g_autofree char *path = g_strdup_printf ("/core/fully-connected/%s", kinds[i]),
                    *patches = g_strdup_printf ("/core/conv/patches/%s", kinds[i]);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_fully_connected);
    g_test_add_data_func (patches, GUINT_TO_POINTER (i), test_patches);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad_cases); i++) {
    g_autofree char *path = g_strdup_printf ("/core/conv/bad/%s", bad_cases[i].name);
    g_test_add_data_func (path, &bad_cases[i], test_bad);
  }
  return g_test_run ();
}
