/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Float layers against sums in double precision written here: every instruction set of this
 * machine, one thread and two, over random sizes, windows, groups and activations. Every value is
 * within 1e-5 of the sum of its products' magnitudes; what a curve makes of that, within 4e-7 more.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "core/ops/ops.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define TOLERANCE 1e-5
#define CURVE_TOLERANCE 4e-7
/* Of LEAKY_RELU below 0. */
#define SLOPE 0.3f

typedef enum
{
  POINTWISE,
  WINDOW,
  GROUPS,
  DEPTHWISE,
  FULLY_CONNECTED,
  FEW_CHANNELS,
  SPARSE, /* most weights are zero */
  TILES,  /* windows of three by three, enough of them for Winograd's tiles */
  TRANSPOSED
} Shape;

typedef struct
{
  Shape shape;
  gint32 n, h, w, in, out, fh, fw, groups;
  gint32 out_h, out_w; /* of TRANSPOSED */
  SlWindow window;
  SlOpType curve; /* SL_OP_INVALID = none */
  gboolean biased;
} Case;

static gint32
between (GRand *rand, gint32 lo, gint32 hi)
{
  return g_rand_int_range (rand, lo, hi + 1);
}

static double
curve_of (SlOpType op, gboolean approximate, double x)
{
  switch (op) {
    case SL_OP_LOGISTIC:
      return 1 / (1 + exp (-x));
    case SL_OP_SILU:
      return x / (1 + exp (-x));
    case SL_OP_TANH:
      return tanh (x);
    case SL_OP_LEAKY_RELU:
      return x < 0 ? x * (double) SLOPE : x;
    case SL_OP_MISH:
      return x * tanh (x > 30 ? x : log1p (exp (x)));
    case SL_OP_HARD_SWISH:
      return x * CLAMP (x + 3, 0, 6) / 6;
    case SL_OP_GELU:
      return approximate ? 0.5 * x * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)))
                         : 0.5 * x * erfc (-x / sqrt (2));
    default:
      return x;
  }
}

static double
limited (SlActivation activation, double x)
{
  static const double lo[] = { -INFINITY, 0, -1, 0, 0 }, hi[] = { INFINITY, INFINITY, 1, 6, 1 };
  return CLAMP (x, lo[activation], hi[activation]);
}

/* A size from which a window of @f every @stride pixels, with @pad of padding in all, makes @n; 0 =
 * there is none */
static gint32
size_before (GRand *rand, SlPadding padding, gint32 n, gint32 f, gint32 stride, gint32 pad)
{
  const gint32 rest = between (rand, 0, stride - 1);
  if (padding == SL_PADDING_SAME)
    return (n - 1) * stride + 1 + rest;
  return MAX ((n - 1) * stride + f + rest - (padding == SL_PADDING_EXPLICIT ? pad : 0), 0);
}

static void
random_transposed (GRand *rand, Case *c)
{
  SlWindow *w = &c->window;
  c->n = between (rand, 1, 2);
  c->in = between (rand, 1, 40);
  c->out = between (rand, 1, between (rand, 0, 2) ? 12 : 60);
  c->biased = between (rand, 0, 3) > 0;
  w->activation = (SlActivation) between (rand, 0, 4);
  do {
    c->h = between (rand, 1, 7);
    c->w = between (rand, 1, 20);
    c->fh = between (rand, 1, 6);
    c->fw = between (rand, 0, 1) ? c->fh : between (rand, 1, 6);
    w->stride_h = between (rand, 1, 4);
    w->stride_w = between (rand, 0, 2) ? w->stride_h : between (rand, 1, 4);
    w->padding =
      (SlPadding[]){ SL_PADDING_SAME, SL_PADDING_VALID, SL_PADDING_EXPLICIT }[between (rand, 0, 2)];
    w->pad_top = between (rand, 0, c->fh + 2);
    w->pad_bottom = between (rand, 0, c->fh - 1);
    w->pad_left = between (rand, 0, c->fw + 2);
    w->pad_right = between (rand, 0, c->fw - 1);
    c->out_h = size_before (rand, w->padding, c->h, c->fh, w->stride_h, w->pad_top + w->pad_bottom);
    c->out_w = size_before (rand, w->padding, c->w, c->fw, w->stride_w, w->pad_left + w->pad_right);
  } while (c->out_h < 1 || c->out_w < 1);
}

static void
random_case (GRand *rand, Shape shape, Case *c)
{
  static const SlOpType curves[] = { SL_OP_LOGISTIC, SL_OP_SILU, SL_OP_HARD_SWISH, SL_OP_GELU,
                                     SL_OP_TANH,     SL_OP_MISH, SL_OP_LEAKY_RELU };
  memset (c, 0, sizeof *c);
  c->shape = shape;
  c->n = between (rand, 1, 2);
  c->h = between (rand, 1, 12);
  c->w = between (rand, 1, 40);
  c->groups = shape == GROUPS ? between (rand, 2, 4) : 1;
  c->in = between (rand, 1, 40) * c->groups;
  c->out = shape == DEPTHWISE ? (c->in = MAX (c->in, 2))
                              : between (rand, 1, between (rand, 0, 2) ? 40 : 120) * c->groups;
  c->fh = c->fw = 1;
  c->biased = between (rand, 0, 3) > 0;
  c->curve = between (rand, 0, 1) ? curves[between (rand, 0, 6)] : SL_OP_INVALID;
  c->window = (SlWindow){ .padding = between (rand, 0, 1) ? SL_PADDING_SAME : SL_PADDING_VALID,
                          .stride_h = 1,
                          .stride_w = 1,
                          .dilation_h = 1,
                          .dilation_w = 1,
                          .depth_multiplier = 1 };
  if (c->curve == SL_OP_INVALID)
    c->window.activation = (SlActivation) between (rand, 0, 4);
  if (shape == FEW_CHANNELS) {
    c->in = between (rand, 1, 4) * 16 + between (rand, 0, 1) * between (rand, 1, 30);
    c->out = between (rand, 1, 9);
  }
  if (shape == SPARSE) {
    c->in = between (rand, 30, 300);
    c->out = between (rand, 40, 200);
  }
  if (shape == TILES) {
    c->h = between (rand, 9, 13);
    c->w = between (rand, 9, 13);
    c->in = between (rand, 12, 48);
    c->out = between (rand, 12, 48);
    c->fh = c->fw = 3;
    if (between (rand, 0, 2) == 0) {
      c->window.padding = SL_PADDING_EXPLICIT;
      c->window.pad_top = between (rand, 0, 4);
      c->window.pad_bottom = between (rand, 0, 4);
      c->window.pad_left = between (rand, 0, 4);
      c->window.pad_right = between (rand, 0, 4);
    }
    return;
  }
  if (shape == TRANSPOSED) {
    c->curve = SL_OP_INVALID;
    random_transposed (rand, c);
  }
  if (shape == POINTWISE || shape == FULLY_CONNECTED || shape == SPARSE || shape == TRANSPOSED)
    return;
  c->window.stride_h = between (rand, 1, 3);
  c->window.stride_w = between (rand, 0, 2) ? c->window.stride_h : between (rand, 1, 3);
  if (c->window.stride_h == 1 && c->window.stride_w == 1 && between (rand, 0, 3) == 0)
    c->window.dilation_h = c->window.dilation_w = between (rand, 1, 3);
  do {
    c->fh = between (rand, 0, 1) ? 3 : between (rand, 1, 7);
    c->fw = between (rand, 0, 1) ? c->fh : between (rand, 1, 7);
  } while (
    c->window.padding == SL_PADDING_VALID
    && ((c->fh - 1) * c->window.dilation_h >= c->h || (c->fw - 1) * c->window.dilation_w >= c->w));
  if (between (rand, 0, 3) == 0) {
    c->window.padding = SL_PADDING_EXPLICIT;
    c->window.pad_top = c->window.pad_bottom =
      between (rand, 0, 3) + (c->fh - 1) * c->window.dilation_h;
    c->window.pad_left = between (rand, 0, 9) + (c->fw - 1) * c->window.dilation_w;
    c->window.pad_right = between (rand, 0, 2);
  }
}

/* A value of the output in double precision, and the sum of its terms' magnitudes. */
static double
expected (const SlGraph *graph, const Case *c, const gfloat *x, gsize at, double *magnitude)
{
  const SlNode *node = sl_graph_node (graph, 0);
  const SlTensor *y = sl_graph_output_tensor (graph, 0);
  const gfloat *w = sl_node_input (graph, node, 1)->data,
               *bias = c->biased ? sl_node_input (graph, node, 2)->data : NULL;
  const gint32 channel = (gint32) (at % (gsize) c->out),
               ox = (gint32) (at / (gsize) c->out) % y->dims[2];
  const gint32 oy = (gint32) (at / (gsize) c->out) / y->dims[2] % y->dims[1],
               image = (gint32) (at / (gsize) c->out) / y->dims[2] / y->dims[1];
  const gint32 depth = c->shape == DEPTHWISE ? 1 : c->in / c->groups,
               first = channel / (c->out / c->groups) * depth;
  double sum = bias != NULL ? bias[channel] : 0, terms = fabs (sum) + 1e-3;
  for (gint32 fy = 0; fy < c->fh; fy++)
    for (gint32 fx = 0; fx < c->fw; fx++) {
      const gint32 iy =
        oy * c->window.stride_h - node->params.window.pad_top + fy * c->window.dilation_h;
      const gint32 ix =
        ox * c->window.stride_w - node->params.window.pad_left + fx * c->window.dilation_w;
      if (iy < 0 || iy >= c->h || ix < 0 || ix >= c->w)
        continue;
      const gfloat *values =
        x + ((image * c->h + iy) * c->w + ix) * c->in + (c->shape == DEPTHWISE ? channel : first);
      const gfloat *weights =
        w
        + (c->shape == DEPTHWISE ? (fy * c->fw + fx) * c->out + channel
                                 : ((channel * c->fh + fy) * c->fw + fx) * depth);
      for (gint32 k = 0; k < depth; k++) {
        const double product = (double) values[k] * weights[k];
        sum += product;
        terms += fabs (product);
      }
    }
  *magnitude = terms;
  return sum;
}

/* The same of a fully connected layer, whose tensors have two dimensions. */
static double
expected_connected (const SlGraph *graph, const Case *c, const gfloat *x, gsize at,
                    double *magnitude)
{
  const SlNode *node = sl_graph_node (graph, 0);
  const gfloat *w = sl_node_input (graph, node, 1)->data,
               *bias = c->biased ? sl_node_input (graph, node, 2)->data : NULL;
  const gsize channel = at % (gsize) c->out, row = at / (gsize) c->out;
  double sum = bias != NULL ? bias[channel] : 0;
  *magnitude = fabs (sum) + 1e-3;
  for (gsize k = 0; k < (gsize) c->in; k++) {
    const double product = (double) x[row * (gsize) c->in + k] * w[channel * (gsize) c->in + k];
    sum += product;
    *magnitude += fabs (product);
  }
  return sum;
}

/* The same of a transposed convolution: each input pixel adds its window to the output. */
static double
expected_transposed (const SlGraph *graph, const Case *c, const gfloat *x, gsize at,
                     double *magnitude)
{
  const SlNode *node = sl_graph_node (graph, 0);
  const SlWindow *window = &node->params.window;
  const gfloat *w = sl_node_input (graph, node, 1)->data,
               *bias = c->biased ? sl_node_input (graph, node, 3)->data : NULL;
  const gint32 channel = (gint32) (at % (gsize) c->out),
               ox = (gint32) (at / (gsize) c->out) % c->out_w;
  const gint32 oy = (gint32) (at / (gsize) c->out) / c->out_w % c->out_h,
               image = (gint32) (at / (gsize) c->out) / c->out_w / c->out_h;
  double sum = bias != NULL ? bias[channel] : 0;
  *magnitude = fabs (sum) + 1e-3;
  for (gint32 iy = 0; iy < c->h; iy++)
    for (gint32 ix = 0; ix < c->w; ix++) {
      const gint32 fy = oy + window->pad_top - iy * window->stride_h,
                   fx = ox + window->pad_left - ix * window->stride_w;
      if (fy < 0 || fy >= c->fh || fx < 0 || fx >= c->fw)
        continue;
      for (gint32 k = 0; k < c->in; k++) {
        const double product = (double) x[((image * c->h + iy) * c->w + ix) * c->in + k]
                               * w[((channel * c->fh + fy) * c->fw + fx) * c->in + k];
        sum += product;
        *magnitude += fabs (product);
      }
    }
  return sum;
}

static void
build_transposed (Check *check, const Case *c, gfloat *weights, gfloat *bias)
{
  const gint32 x_dims[] = { c->n, c->h, c->w, c->in }, w_dims[] = { c->out, c->fh, c->fw, c->in },
               four = 4;
  const gint32 shape[] = { c->n, c->out_h, c->out_w, c->out };
  const gint32 x = check_input (check, SL_DTYPE_F32, 4, x_dims, 0, 0);
  check_random (check, SL_DTYPE_F32, (gsize) (c->fh * c->fw * c->in * c->out), weights);
  check_random (check, SL_DTYPE_F32, (gsize) c->out, bias);
  const gint32 size =
    check_constant (check, SL_DTYPE_I32, 1, &four, NULL, 0, 0, 0,
                    sl_arena_memdup (sl_graph_arena (check->graph), shape, sizeof shape));
  const gint32 w = check_constant (check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights);
  const gint32 b =
    c->biased ? check_constant (check, SL_DTYPE_F32, 1, &c->out, NULL, 0, 0, 0, bias) : -1;
  const gint32 y = check_output (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_TRANSPOSE_CONV, (gint32[]){ size, w, x, b }, c->biased ? 4 : 3, y,
              &(SlOpParams){ .window = c->window });
  check_prepare (check);
}

static void
build (Check *check, const Case *c, gfloat *weights, gfloat *bias)
{
  const gboolean connected = c->shape == FULLY_CONNECTED, depthwise = c->shape == DEPTHWISE;
  const gint32 x_dims[] = { connected ? c->n * c->h : c->n, connected ? c->in : c->h, c->w, c->in };
  const gint32 w_dims[] = { depthwise ? 1 : c->out, connected ? c->in : c->fh, c->fw,
                            depthwise ? c->out : c->in / c->groups };
  const gsize n =
    (gsize) c->fh * (gsize) c->fw * (gsize) c->out * (gsize) (depthwise ? 1 : c->in / c->groups);
  const gint32 x = check_input (check, SL_DTYPE_F32, connected ? 2 : 4, x_dims, 0, 0);
  check_random (check, SL_DTYPE_F32, n, weights);
  for (gsize i = 0; i < n && c->shape == SPARSE; i++)
    if (g_rand_double (check->rand) < 0.9)
      weights[i] = 0;
  check_random (check, SL_DTYPE_F32, (gsize) c->out, bias);
  const gint32 w =
    check_constant (check, SL_DTYPE_F32, connected ? 2 : 4, w_dims, NULL, 0, 0, 0, weights);
  const gint32 b =
    c->biased ? check_constant (check, SL_DTYPE_F32, 1, &c->out, NULL, 0, 0, 0, bias) : -1;
  const gint32 sums = c->curve != SL_OP_INVALID && c->curve != SL_OP_SILU
                        ? check_middle (check, SL_DTYPE_F32, 0, 0)
                        : -1;
  const gint32 gate_in = c->curve == SL_OP_SILU ? check_middle (check, SL_DTYPE_F32, 0, 0) : -1;
  const gint32 gate = c->curve == SL_OP_SILU ? check_middle (check, SL_DTYPE_F32, 0, 0) : -1;
  const gint32 y = check_output (check, SL_DTYPE_F32, 0, 0);
  SlOpParams params = { .window = c->window };
  if (connected)
    params = (SlOpParams){ .fully_connected = { .activation = c->window.activation } };
  check_node (check,
              connected   ? SL_OP_FULLY_CONNECTED
              : depthwise ? SL_OP_DEPTHWISE_CONV_2D
                          : SL_OP_CONV_2D,
              (gint32[]){ x, w, b }, c->biased ? 3 : 2,
              c->curve == SL_OP_SILU ? gate_in
              : sums >= 0            ? sums
                                     : y,
              &params);
  params = (SlOpParams){ .gelu = { .approximate = c->w % 2 == 0 } };
  if (c->curve == SL_OP_LEAKY_RELU)
    params = (SlOpParams){ .leaky_relu = { .alpha = SLOPE } };
  if (c->curve == SL_OP_SILU) {
    check_node (check, SL_OP_LOGISTIC, &gate_in, 1, gate, NULL);
    check_node (check, SL_OP_MUL, (gint32[]){ gate, gate_in }, 2, y, NULL);
  } else if (sums >= 0) {
    check_node (check, c->curve, &sums, 1, y, &params);
  }
  check_prepare (check);
}

/* What a value of the output is, and how far it may be off. */
typedef struct
{
  double value, slack;
} Wanted;

/* Of every value of the output. Windows that Winograd's tiles may stand for have the slack of the
 * largest of them: float_tiles.c has more. Free it with g_free(). */
static Wanted *
wanted_of (const Check *check, const Case *c)
{
  const gsize n = sl_graph_output_tensor (check->graph, 0)->bytes / sizeof (gfloat);
  const gboolean tiles = c->fh == 3 && c->fw == 3 && c->shape != DEPTHWISE;
  Wanted *wanted = g_new (Wanted, n);
  double most = 0;
  for (gsize i = 0; i < n; i++) {
    double magnitude;
    const double sum =
      (c->shape == FULLY_CONNECTED ? expected_connected
       : c->shape == TRANSPOSED    ? expected_transposed
                                : expected) (check->graph, c, check->input_data[0], i, &magnitude);
    most = MAX (most, magnitude);
    wanted[i].value = curve_of (c->curve, c->w % 2 == 0, limited (c->window.activation, sum));
    wanted[i].slack = TOLERANCE * magnitude + (c->curve != SL_OP_INVALID ? CURVE_TOLERANCE : 0);
  }
  for (gsize i = 0; tiles && i < n; i++)
    wanted[i].slack = TOLERANCE * most + CURVE_TOLERANCE;
  return wanted;
}

/* (nullable) @isa: plain kernels */
static void
compare (Check *check, const Case *c, const Wanted *wanted, const SlFloatIsa *isa)
{
  const SlTensor *y = sl_graph_output_tensor (check->graph, 0);
  for (guint threads = 1; threads <= 2; threads++) {
    sl_float_isa_force (isa);
    gfloat *got = check_run (check, isa == NULL, threads);
    sl_float_isa_force (NULL);
    for (gsize i = 0; i < y->bytes / sizeof got[0]; i++) {
      if (!(fabs (got[i] - wanted[i].value) <= wanted[i].slack))
        g_error ("%s, %u threads, shape %d, %dx%dx%dx%d by %dx%d to %d: value %" G_GSIZE_FORMAT
                 " is %.9g, expected %.9g",
                 isa != NULL ? isa->name : "plain", threads, c->shape, c->n, c->h, c->w, c->in,
                 c->fh, c->fw, c->out, i, got[i], wanted[i].value);
    }
    sl_tensor_buffer_free (got);
    if (check->on_xnnpack && check->seed % 8 != 0)
      break;
  }
}

/* Bytes of weights that a session of @isa's loops packs. */
static gsize
packed_bytes (const Check *check, const SlFloatIsa *isa)
{
  SlSessionStats stats;
  g_autoptr (GError) error = NULL;
  sl_float_isa_force (isa);
  g_autoptr (SlSession) session = sl_session_new (check->graph, 1, &error);
  sl_float_isa_force (NULL);
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  return stats.packed_bytes;
}

static void
test_shape (gconstpointer data)
{
  const Shape shape = (Shape) GPOINTER_TO_INT (data);
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autoptr (GRand) rand = g_rand_new_with_seed (2026 + (guint32) shape);
  for (guint round = 0; round < 60; round++) {
    Case c;
    Check check;
    random_case (rand, shape, &c);
    g_autofree gfloat *weights =
      g_new (gfloat, (gsize) c.fh * (gsize) c.fw * (gsize) c.out * (gsize) c.in);
    g_autofree gfloat *bias = g_new (gfloat, c.out);
    check_init (&check, g_rand_int (rand));
    (shape == TRANSPOSED ? build_transposed : build) (&check, &c, weights, bias);
    g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
    /* A window smaller than the strides leaves pixels that no weight reaches: others do these. */
    const gboolean supported =
      shape != TRANSPOSED || (c.window.stride_h <= c.fh && c.window.stride_w <= c.fw);
    g_assert_cmpint (sl_float_supports (check.graph, sl_graph_node (check.graph, 0)), ==,
                     supported);
    check_random (&check, SL_DTYPE_F32,
                  sl_graph_input_tensor (check.graph, 0)->bytes / sizeof (gfloat),
                  check.input_data[0]);
    g_autofree Wanted *wanted = wanted_of (&check, &c);
    for (guint i = 0; i < n_isas; i++)
      compare (&check, &c, wanted, isas[i]);
    if (c.curve != SL_OP_INVALID || shape == TRANSPOSED)
      compare (&check, &c, wanted, NULL);
    check_clear (&check);
  }
}

/* An infinite pixel reaches what its window covers, and nothing else becomes no number. */
static void
test_transposed_infinite (void)
{
  static const gint32 filters[] = { 2, 3, 4, 5 };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint i = 0; i < G_N_ELEMENTS (filters) * n_isas; i++) {
    const gint32 f = filters[i / n_isas], size = 4 * 2 + f;
    Case c = { .shape = TRANSPOSED,
               .n = 1,
               .h = 5,
               .w = 5,
               .in = 3,
               .out = 4,
               .fh = f,
               .fw = f,
               .out_h = size,
               .out_w = size };
    c.window = (SlWindow){
      .padding = SL_PADDING_VALID, .stride_h = 2, .stride_w = 2, .dilation_h = 1, .dilation_w = 1
    };
    g_autofree gfloat *weights = g_new (gfloat, (gsize) (f * f * c.in * c.out)),
                      *bias = g_new (gfloat, c.out);
    Check check;
    check_init (&check, i);
    build_transposed (&check, &c, weights, bias);
    check_random (&check, SL_DTYPE_F32, (gsize) (c.h * c.w * c.in), check.input_data[0]);
    ((gfloat *) check.input_data[0])[(2 * c.w + 2) * c.in + 1] = INFINITY;
    sl_float_isa_force (isas[i % n_isas]);
    gfloat *got = check_run (&check, FALSE, 1);
    sl_float_isa_force (NULL);
    for (gint32 at = 0; at < size * size * c.out; at++) {
      const gint32 y = at / c.out / size, x = at / c.out % size;
      const gboolean covered = y >= 4 && y < 4 + f && x >= 4 && x < 4 + f;
      g_assert_cmpint (isfinite (got[at]), ==, !covered);
      g_assert_false (isnan (got[at]));
    }
    sl_tensor_buffer_free (got);
    check_clear (&check);
  }
}

/* A NaN in one pixel gets into the windows over that pixel alone, however many of a register's
 * lanes a window leaves, and however windows are cut into tiles. */
static void
test_neighbours (gconstpointer data)
{
  const gboolean tiles = GPOINTER_TO_INT (data);
  const gint32 size = tiles ? 11 : 5, in = tiles ? 32 : 19, out = tiles ? 33 : 3;
  const gint32 x_dims[] = { 1, size, size, in }, w_dims[] = { out, 3, 3, in };
  const SlOpParams params = { .window = { .padding = SL_PADDING_SAME,
                                          .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autofree gfloat *weights = g_new (gfloat, out * 9 * in);
  Check check;
  check_init (&check, 1);
  check_random (&check, SL_DTYPE_F32, (gsize) (out * 9 * in), weights);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 4, x_dims, 0, 0);
  const gint32 w = check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, weights);
  check_node (&check, SL_OP_CONV_2D, (gint32[]){ x, w }, 2,
              check_output (&check, SL_DTYPE_F32, 0, 0), &params);
  check_prepare (&check);
  for (guint k = 0; k < n_isas; k++)
    for (gint32 pixel = 0; pixel < size * size; pixel++) {
      gfloat *values = check.input_data[0];
      for (gint32 i = 0; i < size * size * in; i++)
        values[i] = i / in == pixel ? NAN : 1;
      sl_float_isa_force (isas[k]);
      gfloat *got = check_run (&check, FALSE, 1);
      sl_float_isa_force (NULL);
      for (gint32 i = 0; i < size * size; i++) {
        const gboolean covers =
          ABS (i / size - pixel / size) <= 1 && ABS (i % size - pixel % size) <= 1;
        for (gint32 c = 0; c < out; c++)
          if (isfinite (got[i * out + c]) == covers)
            g_error ("%s: pixel %d is %g with NaN in pixel %d", isas[k]->name, i, got[i * out + c],
                     pixel);
      }
      sl_tensor_buffer_free (got);
    }
  check_clear (&check);
}

/* (nullable) @isa: plain kernels. @n values of the graph's output must be NaN. */
static void
expect_nan (Check *check, const SlFloatIsa *isa, gsize n, const char *what, guint kind)
{
  sl_float_isa_force (isa);
  gfloat *got = check_run (check, isa == NULL, 1);
  sl_float_isa_force (NULL);
  for (gsize i = 0; i < n; i++)
    if (!isnan (got[i]))
      g_error ("%s, %s %u: value %" G_GSIZE_FORMAT " is %g, expected NaN",
               isa != NULL ? isa->name : "plain", what, kind, i, got[i]);
  sl_tensor_buffer_free (got);
}

static void
fill_nan (Check *check, guint input)
{
  gfloat *values = check->input_data[input];
  for (gsize i = 0; i < sl_graph_input_tensor (check->graph, input)->bytes / sizeof values[0]; i++)
    values[i] = NAN;
}

/* No limit and no activation behind a layer makes a number of a NaN. */
static void
test_nan_layers (void)
{
  static const SlOpType curves[] = { SL_OP_LOGISTIC, SL_OP_SILU, SL_OP_HARD_SWISH, SL_OP_GELU,
                                     SL_OP_TANH,     SL_OP_MISH, SL_OP_LEAKY_RELU };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas),
              n_kinds = SL_ACTIVATION_RELU_0_TO_1 + 1 + G_N_ELEMENTS (curves);
  gfloat weights[20 * 9 * 20], bias[20];
  for (guint shape = POINTWISE; shape <= FEW_CHANNELS; shape++)
    for (guint kind = 0; kind < n_kinds; kind++) {
      const gboolean limited = kind <= SL_ACTIVATION_RELU_0_TO_1;
      const gint32 groups = shape == GROUPS ? 2 : 1, out = shape == FEW_CHANNELS ? 3 : 20,
                   size = shape == WINDOW || shape == DEPTHWISE ? 3 : 1;
      const Case c = {
        (Shape) shape,
        1,
        5,
        6,
        20,
        out,
        size,
        size,
        groups,
        .curve = limited ? SL_OP_INVALID : curves[kind - SL_ACTIVATION_RELU_0_TO_1 - 1],
        .biased = TRUE,
        .window = { .padding = SL_PADDING_SAME,
                    .stride_h = 1,
                    .stride_w = 1,
                    .dilation_h = 1,
                    .dilation_w = 1,
                    .depth_multiplier = 1,
                    .activation = limited ? (SlActivation) kind : SL_ACTIVATION_NONE }
      };
      Check check;
      check_init (&check, kind);
      build (&check, &c, weights, bias);
      fill_nan (&check, 0);
      for (guint i = 0; i <= n_isas; i++)
        expect_nan (&check, i < n_isas ? isas[i] : NULL,
                    sl_graph_output_tensor (check.graph, 0)->bytes / sizeof (gfloat), "activation",
                    kind);
      check_clear (&check);
    }
}

/* The same of operators of their own, where they are run here. */
static void
test_nan_elements (void)
{
  static const SlOpType ops[] = { SL_OP_ADD,          SL_OP_MUL,         SL_OP_LOGISTIC,
                                  SL_OP_HARD_SWISH,   SL_OP_GELU,        SL_OP_GELU,
                                  SL_OP_TANH,         SL_OP_MISH,        SL_OP_SILU,
                                  SL_OP_LEAKY_RELU,   SL_OP_RELU,        SL_OP_RELU6,
                                  SL_OP_RELU_N1_TO_1, SL_OP_RELU_0_TO_1, SL_OP_ELU };
  static const gint32 dims[] = { 1, 2, 37 };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint op = 0; op < G_N_ELEMENTS (ops); op++) {
    const gboolean binary = ops[op] == SL_OP_ADD || ops[op] == SL_OP_MUL;
    Check check;
    SlOpParams params = { .binary = { .activation = SL_ACTIVATION_RELU6 } };
    check_init (&check, op);
    const gint32 a = check_input (&check, SL_DTYPE_F32, 3, dims, 0, 0),
                 b = binary ? check_input (&check, SL_DTYPE_F32, 3, dims, 0, 0) : -1;
    if (ops[op] == SL_OP_GELU)
      params = (SlOpParams){ .gelu = { .approximate = ops[op - 1] == SL_OP_GELU } };
    else if (ops[op] == SL_OP_LEAKY_RELU)
      params = (SlOpParams){ .leaky_relu = { .alpha = SLOPE } };
    check_node (&check, ops[op], (gint32[]){ a, b }, binary ? 2 : 1,
                check_output (&check, SL_DTYPE_F32, 0, 0), &params);
    check_prepare (&check);
    fill_nan (&check, 0);
    for (guint i = sl_float_supports (check.graph, sl_graph_node (check.graph, 0)) ? 0 : n_isas;
         i <= n_isas; i++)
      expect_nan (&check, i < n_isas ? isas[i] : NULL, 2 * 37, "operator", ops[op]);
    check_clear (&check);
  }
}

/* The largest windows whose rows are copied, each of fewer activations than a register has, all
 * across a border. */
static void
test_most_copies (void)
{
  const Case c = { .shape = WINDOW,
                   .n = 1,
                   .h = 256,
                   .w = 1,
                   .in = 2,
                   .out = 1,
                   .fh = 256,
                   .fw = 1,
                   .groups = 1,
                   .curve = SL_OP_INVALID,
                   .window = { .padding = SL_PADDING_EXPLICIT,
                               .stride_h = 1,
                               .stride_w = 1,
                               .dilation_h = 1,
                               .dilation_w = 1,
                               .pad_top = 3,
                               .pad_bottom = 3,
                               .pad_left = 8,
                               .pad_right = 8 } };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  gfloat weights[256 * 2], bias[1];
  Check check;
  check_init (&check, 1);
  build (&check, &c, weights, bias);
  check_random (&check, SL_DTYPE_F32, 256 * 2, check.input_data[0]);
  g_autofree Wanted *wanted = wanted_of (&check, &c);
  for (guint i = 0; i < n_isas; i++)
    compare (&check, &c, wanted, isas[i]);
  check_clear (&check);
}

/* So many channels that their registers, shared out to panels, take products of more than 31 bits.
 */
static void
test_widest (void)
{
  enum
  {
    CHANNELS = 3000000
  };
  const gint32 x_dims[] = { 1, 1 }, w_dims[] = { CHANNELS, 1 };
  g_autofree gfloat *weights = g_new (gfloat, CHANNELS);
  Check check;
  for (gint32 i = 0; i < CHANNELS; i++)
    weights[i] = (gfloat) (i % 1000);
  check_init (&check, 1);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 2, x_dims, 0, 0);
  const gint32 w = check_constant (&check, SL_DTYPE_F32, 2, w_dims, NULL, 0, 0, 0, weights);
  check_node (&check, SL_OP_FULLY_CONNECTED, (gint32[]){ x, w }, 2,
              check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  ((gfloat *) check.input_data[0])[0] = 2;
  gfloat *got = check_run (&check, FALSE, 1);
  for (gint32 i = 0; i < CHANNELS; i++)
    g_assert_cmpfloat (got[i], ==, 2 * weights[i]);
  sl_tensor_buffer_free (got);
  check_clear (&check);
}

/* Weights that are zero are not kept where that is less work: 196 pixels, 128 channels, and as many
 * of the output. */
static void
test_packed_zeros (void)
{
  const Case c = { .shape = SPARSE,
                   .n = 1,
                   .h = 14,
                   .w = 14,
                   .in = 128,
                   .out = 128,
                   .fh = 1,
                   .fw = 1,
                   .groups = 1,
                   .curve = SL_OP_INVALID,
                   .window = { .padding = SL_PADDING_SAME,
                               .stride_h = 1,
                               .stride_w = 1,
                               .dilation_h = 1,
                               .dilation_w = 1 } };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint i = 0; i < n_isas; i++) {
    gfloat weights[128 * 128], bias[128];
    Check check;
    if (!isas[i]->faster)
      continue;
    check_init (&check, 1);
    build (&check, &c, weights, bias);
    g_assert_cmpuint (packed_bytes (&check, isas[i]), <, sizeof weights / 4);
    check_clear (&check);
  }
}

/* Curves over the whole range of floats: large and small arguments, and the ends. */
static void
test_curves (void)
{
  static const SlOpType ops[] = { SL_OP_LOGISTIC, SL_OP_SILU, SL_OP_HARD_SWISH, SL_OP_GELU,
                                  SL_OP_TANH,     SL_OP_MISH, SL_OP_GELU };
  static const SlActivation kinds[] = { SL_ACTIVATION_LOGISTIC,   SL_ACTIVATION_SILU,
                                        SL_ACTIVATION_HARD_SWISH, SL_ACTIVATION_GELU,
                                        SL_ACTIVATION_TANH,       SL_ACTIVATION_MISH,
                                        SL_ACTIVATION_GELU_TANH };
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas), n = 20011;
  g_autofree gfloat *x = g_new0 (gfloat, n + SL_TENSOR_PADDING),
                    *y = g_new0 (gfloat, n + SL_TENSOR_PADDING);
  for (guint i = 0; i < n; i++)
    x[i] = (gfloat) ((i % 2 ? 1 : -1) * pow (10, -8 + 10.0 * i / n));
  x[0] = 0;
  x[1] = -150;
  x[2] = 150;
  x[3] = INFINITY;
  for (guint k = 0; k < n_isas; k++)
    for (guint op = 0; op < G_N_ELEMENTS (ops); op++) {
      isas[k]->activate (kinds[op], x, y, n);
      for (guint i = 0; i < n; i++) {
        const double wanted = curve_of (ops[op], kinds[op] == SL_ACTIVATION_GELU_TANH, x[i]);
        if (!(fabs (y[i] - wanted) <= CURVE_TOLERANCE * MAX (1, fabs (wanted))) && y[i] != wanted)
          g_error ("%s, activation %d of %.9g is %.9g, expected %.9g", isas[k]->name, kinds[op],
                   x[i], y[i], wanted);
      }
    }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  g_test_add_data_func ("/float/pointwise", GINT_TO_POINTER (POINTWISE), test_shape);
  g_test_add_data_func ("/float/window", GINT_TO_POINTER (WINDOW), test_shape);
  g_test_add_data_func ("/float/tiles", GINT_TO_POINTER (TILES), test_shape);
  g_test_add_data_func ("/float/groups", GINT_TO_POINTER (GROUPS), test_shape);
  g_test_add_data_func ("/float/depthwise", GINT_TO_POINTER (DEPTHWISE), test_shape);
  g_test_add_data_func ("/float/fully-connected", GINT_TO_POINTER (FULLY_CONNECTED), test_shape);
  g_test_add_data_func ("/float/few-channels", GINT_TO_POINTER (FEW_CHANNELS), test_shape);
  g_test_add_data_func ("/float/sparse", GINT_TO_POINTER (SPARSE), test_shape);
  g_test_add_data_func ("/float/transposed", GINT_TO_POINTER (TRANSPOSED), test_shape);
  g_test_add_func ("/float/transposed-infinite", test_transposed_infinite);
  g_test_add_func ("/float/widest", test_widest);
  g_test_add_func ("/float/packed-zeros", test_packed_zeros);
  g_test_add_func ("/float/most-copies", test_most_copies);
  g_test_add_data_func ("/float/neighbours", GINT_TO_POINTER (FALSE), test_neighbours);
  g_test_add_data_func ("/float/neighbours-tiles", GINT_TO_POINTER (TRUE), test_neighbours);
  g_test_add_func ("/float/nan/layers", test_nan_layers);
  g_test_add_func ("/float/nan/elements", test_nan_elements);
  g_test_add_func ("/float/curves", test_curves);
  return g_test_run ();
}
