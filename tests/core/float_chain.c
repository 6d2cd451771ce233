/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layers that run row by row, so that large tensors between them are never written: bit by bit what
 * they give one after the other, and within the rounding of floats what double precision gives.
 * Every instruction set of this machine, one to three threads.
 */
#include <math.h>
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "core/ops/ops.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define MAX_LAYERS 4
/* Of a value, and of the largest one. */
#define TOLERANCE 1e-4
/* The same in binary16, of the longest sums of the cases. */
#define HALVES_TOLERANCE 0x1p-6

typedef enum
{
  NONE,
  POINTWISE,
  WINDOW,
  DEPTHWISE,
  POOL,
  ADDITION
} Kind;

/** @side: of a window; @curve: HARD_SWISH behind it, else @limits */
typedef struct
{
  Kind kind;
  gint32 channels, side, stride, dilation;
  gboolean curve;
  SlActivation limits;
} Layer;

/** @steps: what the session makes of the layers */
typedef struct
{
  gint32 n, h, w, channels;
  Layer layers[MAX_LAYERS];
  guint steps;
} Case;

/* An expanding layer and a window of @dilation, which the session leaves apart. */
#define SEPARATE(height, width, dilation)                               \
  {                                                                     \
    1, height, width, 5,                                                \
      { { POINTWISE, 16, 1, 1, 1, FALSE, SL_ACTIVATION_NONE },          \
        { DEPTHWISE, 16, 3, 1, dilation, FALSE, SL_ACTIVATION_NONE } }, \
      2                                                                 \
  }

static const Case cases[] = {
  { 1,
    37,
    41,
    10,
    { { POINTWISE, 96, 1, 1, 1, FALSE, SL_ACTIVATION_RELU6 },
      { DEPTHWISE, 96, 3, 1, 1, FALSE, SL_ACTIVATION_RELU6 },
      { POINTWISE, 10, 1, 1, 1, FALSE, SL_ACTIVATION_NONE },
      { ADDITION, 10, 1, 1, 1, FALSE, SL_ACTIVATION_RELU } },
    1 },
  { 1,
    113,
    117,
    3,
    { { WINDOW, 80, 3, 2, 1, TRUE, SL_ACTIVATION_NONE },
      { DEPTHWISE, 80, 5, 2, 1, TRUE, SL_ACTIVATION_NONE },
      { POINTWISE, 17, 1, 1, 1, TRUE, SL_ACTIVATION_NONE } },
    1 },
  { 2,
    49,
    32,
    90,
    { { DEPTHWISE, 90, 3, 1, 2, FALSE, SL_ACTIVATION_NONE },
      { POINTWISE, 91, 1, 1, 1, FALSE, SL_ACTIVATION_RELU },
      { DEPTHWISE, 91, 7, 1, 1, FALSE, SL_ACTIVATION_NONE },
      { POINTWISE, 5, 1, 1, 1, FALSE, SL_ACTIVATION_NONE } },
    1 },
  /* The second layer expands for the third one. */
  { 1,
    40,
    41,
    90,
    { { DEPTHWISE, 90, 3, 1, 1, FALSE, SL_ACTIVATION_NONE },
      { POINTWISE, 20, 1, 1, 1, FALSE, SL_ACTIVATION_NONE },
      { POINTWISE, 100, 1, 1, 1, FALSE, SL_ACTIVATION_NONE },
      { DEPTHWISE, 100, 3, 2, 1, FALSE, SL_ACTIVATION_NONE } },
    2 },
  /* As ResNet and SqueezeNet begin. */
  { 1,
    91,
    181,
    3,
    { { WINDOW, 68, 3, 2, 1, FALSE, SL_ACTIVATION_RELU },
      { POOL, 68, 3, 2, 1, FALSE, SL_ACTIVATION_NONE },
      { POINTWISE, 16, 1, 1, 1, TRUE, SL_ACTIVATION_NONE } },
    1 },
  { 2,
    40,
    44,
    5,
    { { POINTWISE, 80, 1, 1, 1, FALSE, SL_ACTIVATION_NONE },
      { POOL, 80, 2, 2, 1, FALSE, SL_ACTIVATION_RELU6 } },
    1 },
  /* One row, rows of one pixel, and a window that reaches over more rows than are worth keeping. */
  SEPARATE (1, 9000, 1),
  SEPARATE (9000, 1, 1),
  SEPARATE (9, 1000, 60),
  /* Tensors that stay in the cache. */
  { 1,
    20,
    20,
    8,
    { { POINTWISE, 60, 1, 1, 1, FALSE, SL_ACTIVATION_NONE },
      { DEPTHWISE, 60, 3, 1, 1, FALSE, SL_ACTIVATION_NONE } },
    2 },
};

typedef struct
{
  Check check;
  gfloat *weights[MAX_LAYERS], *bias[MAX_LAYERS];
  gfloat heavy; /* the first weight of depthwise layers, but for 0 */
  guint n;
} Model;

static gint32
add_layer (Model *m, const Layer *layer, gint32 from, gint32 first, gint32 channels, gboolean last)
{
  Check *check = &m->check;
  const gboolean depthwise = layer->kind == DEPTHWISE;
  const gint32 dims[4] = { depthwise ? 1 : layer->channels, layer->side, layer->side,
                           depthwise ? layer->channels : channels };
  const gint32 sums = layer->curve || !last ? check_middle (check, SL_DTYPE_F32, 0, 0)
                                            : check_output (check, SL_DTYPE_F32, 0, 0);
  if (layer->kind == ADDITION) {
    check_node (check, SL_OP_ADD, (gint32[]){ first, from }, 2, sums,
                &(SlOpParams){ .binary = { .activation = layer->limits } });
    return sums;
  }
  if (layer->kind == POOL) {
    check_node (check, SL_OP_MAX_POOL_2D, &from, 1, sums,
                &(SlOpParams){ .window = { .padding = SL_PADDING_SAME,
                                           .stride_h = layer->stride,
                                           .stride_w = layer->stride,
                                           .filter_h = layer->side,
                                           .filter_w = layer->side,
                                           .activation = layer->limits } });
    return sums;
  }
  const gsize n = (gsize) (dims[0] * dims[1] * dims[2] * dims[3]);
  m->weights[m->n] = g_new (gfloat, n);
  m->bias[m->n] = g_new (gfloat, (gsize) layer->channels);
  for (gsize i = 0; i < n; i++)
    m->weights[m->n][i] = (gfloat) g_rand_double_range (check->rand, -0.5, 0.5);
  if (depthwise && m->heavy != 0)
    m->weights[m->n][0] = m->heavy;
  check_random (check, SL_DTYPE_F32, (gsize) layer->channels, m->bias[m->n]);
  const gint32 inputs[3] = {
    from, check_constant (check, SL_DTYPE_F32, 4, dims, NULL, 0, 0, 0, m->weights[m->n]),
    check_constant (check, SL_DTYPE_F32, 1, &layer->channels, NULL, 0, 0, 0, m->bias[m->n])
  };
  check_node (check, depthwise ? SL_OP_DEPTHWISE_CONV_2D : SL_OP_CONV_2D, inputs, 3, sums,
              &(SlOpParams){ .window = { .padding = SL_PADDING_SAME,
                                         .stride_h = layer->stride,
                                         .stride_w = layer->stride,
                                         .dilation_h = layer->dilation,
                                         .dilation_w = layer->dilation,
                                         .depth_multiplier = 1,
                                         .activation = layer->limits } });
  if (!layer->curve)
    return sums;
  const gint32 bent =
    last ? check_output (check, SL_DTYPE_F32, 0, 0) : check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, SL_OP_HARD_SWISH, &sums, 1, bent, NULL);
  return bent;
}

static void
build (Model *m, const Case *c, guint32 seed, SlPrecision precision, gfloat heavy)
{
  const gint32 dims[4] = { c->n, c->h, c->w, c->channels };
  gint32 channels = c->channels;
  memset (m, 0, sizeof *m);
  m->heavy = heavy;
  check_init (&m->check, seed);
  sl_graph_set_precision (m->check.graph, precision);
  const gint32 first = check_input (&m->check, SL_DTYPE_F32, 4, dims, 0, 0);
  for (gint32 at = first; m->n < MAX_LAYERS && c->layers[m->n].kind != NONE; m->n++) {
    const gboolean last = m->n + 1 == MAX_LAYERS || c->layers[m->n + 1].kind == NONE;
    at = add_layer (m, &c->layers[m->n], at, first, channels, last);
    channels = c->layers[m->n].channels;
  }
  check_prepare (&m->check);
  check_random (&m->check, SL_DTYPE_F32, (gsize) (c->n * c->h * c->w * c->channels),
                m->check.input_data[0]);
}

static void
model_clear (Model *m)
{
  check_clear (&m->check);
  for (guint i = 0; i < MAX_LAYERS; i++) {
    g_free (m->weights[i]);
    g_free (m->bias[i]);
  }
}

static double
bent (const Layer *layer, double x)
{
  if (layer->curve)
    return x * CLAMP (x + 3, 0, 6) / 6;
  return layer->limits == SL_ACTIVATION_NONE   ? x
         : layer->limits == SL_ACTIVATION_RELU ? fmax (x, 0)
                                               : CLAMP (x, 0, 6);
}

/* The layer @k of @x, of which *@h by *@w become the output's. (transfer full) */
static double *
layer_of (const Model *m, const Layer *layer, guint k, const double *x, gint32 n, gint32 *h,
          gint32 *w, gint32 in)
{
  const gint32 reach = (layer->side - 1) * layer->dilation + 1, s = layer->stride;
  const gint32 oh = (*h + s - 1) / s, ow = (*w + s - 1) / s, out = layer->channels;
  const gint32 top = MAX ((oh - 1) * s + reach - *h, 0) / 2,
               left = MAX ((ow - 1) * s + reach - *w, 0) / 2;
  double *y = g_new (double, (gsize) (n * oh * ow * out));
  for (gint32 i = 0; i < n * oh * ow * out; i++) {
    const gint32 o = i % out, ox = i / out % ow, oy = i / out / ow % oh, image = i / out / ow / oh;
    const gint32 depth = layer->kind == DEPTHWISE ? 1 : layer->kind == POOL ? 0 : in;
    double sum = layer->kind == POOL ? -HUGE_VAL : (double) m->bias[k][o];
    for (gint32 tap = 0; tap < layer->side * layer->side; tap++) {
      const gint32 iy = oy * s - top + tap / layer->side * layer->dilation,
                   ix = ox * s - left + tap % layer->side * layer->dilation;
      if (iy < 0 || iy >= *h || ix < 0 || ix >= *w)
        continue;
      const double *pixel = x + ((image * *h + iy) * *w + ix) * in;
      const gfloat *weights = m->weights[k];
      if (layer->kind == POOL)
        sum = fmax (sum, pixel[o]);
      for (gint32 d = 0; d < depth; d++)
        sum += layer->kind == DEPTHWISE
                 ? pixel[o] * (double) weights[tap * out + o]
                 : pixel[d] * (double) weights[(o * layer->side * layer->side + tap) * in + d];
    }
    y[i] = bent (layer, sum);
  }
  *h = oh;
  *w = ow;
  return y;
}

static double *
expected_of (const Model *m, const Case *c)
{
  const gsize n = (gsize) (c->n * c->h * c->w * c->channels);
  g_autofree double *first = g_new (double, n);
  gint32 h = c->h, w = c->w, channels = c->channels;
  for (gsize i = 0; i < n; i++)
    first[i] = (double) ((const gfloat *) m->check.input_data[0])[i];
  double *x = g_memdup2 (first, n * sizeof first[0]);
  for (guint k = 0; k < m->n; k++) {
    const Layer *layer = &c->layers[k];
    if (layer->kind == ADDITION) {
      for (gsize i = 0; i < n; i++)
        x[i] = bent (layer, x[i] + first[i]);
      continue;
    }
    double *y = layer_of (m, layer, k, x, c->n, &h, &w, channels);
    g_free (x);
    x = y;
    channels = layer->channels;
  }
  return x;
}

/* Runs twice; @single: each layer by itself. Free it with sl_tensor_buffer_free(). */
static void *
run (const Model *m, guint threads, gboolean single, guint *steps)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new_full (m->check.graph, threads, single, &error);
  SlSessionStats stats;
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  *steps = stats.steps;
  void *out = sl_tensor_buffer_new (sl_graph_output_tensor (m->check.graph, 0)->bytes);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (sl_session_run (session, (const void *const *) m->check.input_data, &out), ==,
                     SL_STATUS_OK);
  return out;
}

static void
compare (const Model *m, const Case *c, const double *expected, SlPrecision precision)
{
  const gboolean floats = precision == SL_PRECISION_FLOAT, pools = c->layers[1].kind == POOL;
  const gsize bytes = sl_graph_output_tensor (m->check.graph, 0)->bytes;
  guint steps;
  gfloat *alone = run (m, 1, TRUE, &steps);
  double largest = 1;
  if (floats)
    g_assert_cmpuint (steps, ==, m->n);
  for (gsize i = 0; i < bytes / sizeof alone[0]; i++)
    largest = fmax (largest, fabs (expected[i]));
  for (gsize i = 0; i < bytes / sizeof alone[0]; i++)
    g_assert_cmpfloat_with_epsilon ((double) alone[i], expected[i],
                                    (floats ? TOLERANCE : HALVES_TOLERANCE) * largest);
  for (guint threads = 1; threads <= 3; threads++) {
    gfloat *joined = run (m, threads, FALSE, &steps);
    /* Max pooling of binary16 is the plain kernel's. */
    if (sl_float_isa ()->faster && (floats || !pools))
      g_assert_cmpuint (steps, ==, c->steps);
    g_assert_cmpmem (joined, bytes, alone, bytes);
    sl_tensor_buffer_free (joined);
  }
  sl_tensor_buffer_free (alone);
}

/* @data: SlPrecision */
static void
test_cases (gconstpointer data)
{
  const SlPrecision precision = (SlPrecision) GPOINTER_TO_INT (data);
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    Model m;
    build (&m, &cases[k], k, precision, 0);
    g_autofree double *expected = expected_of (&m, &cases[k]);
    for (guint i = 0; i < n_isas; i++) {
      if (!isas[i]->faster)
        continue;
      sl_float_isa_force (isas[i]);
      compare (&m, &cases[k], expected, precision);
      sl_float_isa_force (NULL);
    }
    model_clear (&m);
  }
}

/* A weight out of the range of binary16 leaves its layer to floats, between rows of binary16. */
static void
test_heavy (void)
{
  Model m;
  build (&m, &cases[0], 1, SL_PRECISION_FP16, 70000);
  g_autofree double *expected = expected_of (&m, &cases[0]);
  compare (&m, &cases[0], expected, SL_PRECISION_FP16);
  model_clear (&m);
}

/* Of eight rows two threads would compute two more: they run layer by layer, one thread does not.
 */
static void
test_few_rows (void)
{
  static const Case c = { 1,
                          8,
                          64,
                          16,
                          { { POINTWISE, 280, 1, 1, 1, FALSE, SL_ACTIVATION_NONE },
                            { DEPTHWISE, 280, 3, 1, 1, FALSE, SL_ACTIVATION_NONE } },
                          1 };
  Model m;
  build (&m, &c, 1, SL_PRECISION_FLOAT, 0);
  const gsize bytes = sl_graph_output_tensor (m.check.graph, 0)->bytes;
  guint steps[2];
  void *joined = run (&m, 1, FALSE, &steps[0]), *apart = run (&m, 2, FALSE, &steps[1]);
  g_assert_cmpuint (steps[0], ==, 1);
  g_assert_cmpuint (steps[1], ==, 2);
  g_assert_cmpmem (joined, bytes, apart, bytes);
  sl_tensor_buffer_free (joined);
  sl_tensor_buffer_free (apart);
  model_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/core/float-chain/cases", GINT_TO_POINTER (SL_PRECISION_FLOAT),
                        test_cases);
  g_test_add_data_func ("/core/float-chain/halves", GINT_TO_POINTER (SL_PRECISION_FP16),
                        test_cases);
  g_test_add_func ("/core/float-chain/heavy", test_heavy);
  if (sl_float_isa ()->faster)
    g_test_add_func ("/core/float-chain/few-rows", test_few_rows);
  return g_test_run ();
}
