/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forms in which converters of different ages write the same layer: biases left away or omitted,
 * ranks, shapes to be computed. */
#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

#define FILTERS 5

/* How the bias of a layer is given. */
enum
{
  BIAS_GIVEN,
  BIAS_OMITTED,
  BIAS_ABSENT,
  BIAS_FORMS
};

typedef struct
{
  gint8 codes[FILTERS * 2 * 2 * 12];
  gfloat weights[FILTERS * 2 * 2 * 12], bias[FILTERS];
  gint32 bias_codes[FILTERS];
} Layer;

static const gfloat in_scale = 0.02f, weight_scale = 0.01f;

static void
layer_init (Layer *layer, GRand *rand, guint form)
{
  for (guint i = 0; i < G_N_ELEMENTS (layer->codes); i++) {
    layer->codes[i] = (gint8) g_rand_int_range (rand, -127, 128);
    layer->weights[i] = (gfloat) layer->codes[i] * weight_scale;
  }
  for (guint i = 0; i < FILTERS; i++) {
    layer->bias_codes[i] = form == BIAS_GIVEN ? g_rand_int_range (rand, -2000, 2000) : 0;
    layer->bias[i] = (gfloat) layer->bias_codes[i] * in_scale * weight_scale;
  }
}

static void
add_layer (OpModel *m, const Layer *layer, SlDtype dtype, guint rank, const gint32 *dims,
           guint form)
{
  const gboolean codes = dtype == SL_DTYPE_I8;
  om_constant (m, dtype, rank, dims, codes ? weight_scale : 0, 0,
               codes ? (const void *) layer->codes : layer->weights);
  if (form == BIAS_GIVEN)
    om_constant (m, codes ? SL_DTYPE_I32 : SL_DTYPE_F32, 1, DIMS (FILTERS),
                 codes ? in_scale * weight_scale : 0, 0,
                 codes ? (const void *) layer->bias_codes : layer->bias);
  else if (form == BIAS_OMITTED)
    om_omitted (m);
}

static void
run_convolution (SlDtype dtype, guint form)
{
  const gboolean codes = dtype == SL_DTYPE_I8;
  const SlOpParams params = { .window = { .padding = SL_PADDING_VALID,
                                          .stride_h = 1,
                                          .stride_w = 1,
                                          .dilation_h = 1,
                                          .dilation_w = 1 } };
  OpModel m;
  Layer layer;
  om_init (&m, SL_OP_CONV_2D, &params, 3);
  layer_init (&layer, m.rand, form);
  om_input (&m, dtype, 4, DIMS (1, 4, 5, 12), codes ? in_scale : 0, codes ? -7 : 0);
  add_layer (&m, &layer, dtype, 4, DIMS (FILTERS, 2, 2, 12), form);
  om_output (&m, dtype, 4, DIMS (1, 3, 4, FILTERS), codes ? 0.1f : 0, 0);
  g_autofree double *expected = g_new (double, om_elements (&m.out[0]));
  for (gsize i = 0; i < om_elements (&m.out[0]); i++) {
    gint32 p[4];
    om_place (&m.out[0], i, p);
    expected[i] = (double) layer.bias[p[3]];
    for (gint32 k = 0; k < 2 * 2 * 12; k++)
      expected[i] +=
        om_real (&m, 0, om_at (&m.in[0], DIMS (0, p[1] + k / 24, p[2] + k / 12 % 2, k % 12)))
        * (double) layer.weights[p[3] * 48 + k];
  }
  om_expect (&m, 0, expected, codes ? 0.51 : 1e-5);
  om_clear (&m);
}

/* Rows of 12, whatever dimensions they come in. */
static void
run_fully_connected (SlDtype dtype, guint form, gboolean keep, guint rank, const gint32 *dims)
{
  const gboolean codes = dtype == SL_DTYPE_I8;
  const gint32 kept[3] = { dims[0], dims[1], FILTERS };
  OpModel m;
  Layer layer;
  om_init (&m, SL_OP_FULLY_CONNECTED, &(SlOpParams){ .fully_connected = { .keep_dims = keep } }, 4);
  layer_init (&layer, m.rand, form);
  om_input (&m, dtype, rank, dims, codes ? in_scale : 0, codes ? 9 : 0);
  const gint32 rows = (gint32) om_elements (&m.in[0]) / 12;
  add_layer (&m, &layer, dtype, 2, DIMS (FILTERS, 12), form);
  om_output (&m, dtype, keep ? 3 : 2, keep ? kept : DIMS (rows, FILTERS), codes ? 0.1f : 0, 0);
  g_autofree double *expected = g_new (double, om_elements (&m.out[0]));
  for (gsize i = 0; i < om_elements (&m.out[0]); i++) {
    expected[i] = (double) layer.bias[i % FILTERS];
    for (gsize k = 0; k < 12; k++)
      expected[i] +=
        om_real (&m, 0, i / FILTERS * 12 + k) * (double) layer.weights[i % FILTERS * 12 + k];
  }
  om_expect (&m, 0, expected, codes ? 0.51 : 1e-5);
  om_clear (&m);
}

static void
test_biases (void)
{
  for (guint form = 0; form < BIAS_FORMS; form++)
    for (guint t = 0; t < 2; t++) {
      const SlDtype dtype = t ? SL_DTYPE_I8 : SL_DTYPE_F32;
      run_convolution (dtype, form);
      run_fully_connected (dtype, form, FALSE, 2, DIMS (3, 12));
      run_fully_connected (dtype, form, TRUE, 3, DIMS (2, 3, 12));
      run_fully_connected (dtype, form, FALSE, 3, DIMS (2, 3, 12));
      run_fully_connected (dtype, form, FALSE, 4, DIMS (1, 2, 2, 3));
      run_fully_connected (dtype, form, FALSE, 4, DIMS (2, 1, 1, 12));
    }
}

/* Bytes of weights typed uint8 under float activations: with zero point 0 they are int8, as
 * converters of before that type wrote them; with another they are what their type says. */
static void
run_old_weights (SlOpType op, gint32 zero_point)
{
  const gboolean conv = op == SL_OP_CONV_2D;
  const SlOpParams params = conv ? (SlOpParams){ .window = { .padding = SL_PADDING_VALID,
                                                             .stride_h = 1,
                                                             .stride_w = 1,
                                                             .dilation_h = 1,
                                                             .dilation_w = 1 } }
                                 : (SlOpParams){ 0 };
  guint8 bytes[FILTERS * 12];
  double expected[3 * FILTERS];
  OpModel m;
  om_init (&m, op, &params, 11);
  om_input (&m, SL_DTYPE_F32, conv ? 4 : 2, conv ? DIMS (1, 1, 3, 12) : DIMS (3, 12), 0, 0);
  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    bytes[i] = (guint8) (i * 53 + 7);
  om_constant (&m, SL_DTYPE_U8, conv ? 4 : 2, conv ? DIMS (FILTERS, 1, 1, 12) : DIMS (FILTERS, 12),
               weight_scale, zero_point, bytes);
  om_output (&m, SL_DTYPE_F32, conv ? 4 : 2, conv ? DIMS (1, 1, 3, FILTERS) : DIMS (3, FILTERS), 0,
             0);
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++) {
    expected[i] = 0;
    for (gsize k = 0; k < 12; k++) {
      const guint8 byte = bytes[i % FILTERS * 12 + k];
      const gint32 code = zero_point == 0 ? (gint8) byte : byte - zero_point;
      expected[i] += om_real (&m, 0, i / FILTERS * 12 + k) * code * (double) weight_scale;
    }
  }
  om_expect (&m, 0, expected, 1e-5);
  om_clear (&m);
}

static void
test_old_weights (void)
{
  static const SlOpType ops[] = { SL_OP_CONV_2D, SL_OP_FULLY_CONNECTED };
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    run_old_weights (ops[i], 0);
    run_old_weights (ops[i], 131);
  }
}

/* The elements stay as they are; -1 stands for what is left. */
static void
run_reshape (guint rank, const gint32 *dims, guint n, const gint32 *shape, const gint32 *inferred)
{
  OpModel m;
  om_init (&m, SL_OP_RESHAPE, NULL, 5);
  om_input (&m, SL_DTYPE_I8, rank, dims, 0.5f, 3);
  om_ints (&m, n, shape);
  om_output (&m, SL_DTYPE_I8, n, inferred, 0.5f, 3);
  g_autofree double *expected = g_new (double, om_elements (&m.out[0]));
  for (gsize i = 0; i < om_elements (&m.out[0]); i++)
    expected[i] = om_real (&m, 0, i);
  om_expect (&m, 0, expected, 0);
  om_clear (&m);
}

static void
test_reshape (void)
{
  run_reshape (4, DIMS (1, 4, 6, 3), 2, DIMS (-1, 3), DIMS (24, 3));
  run_reshape (4, DIMS (2, 4, 6, 3), 3, DIMS (2, -1, 6), DIMS (2, 12, 6));
  run_reshape (2, DIMS (1, 5), 1, DIMS (-1), DIMS (5));
  run_reshape (1, DIMS (1), 4, DIMS (1, 1, -1, 1), DIMS (1, 1, 1, 1));
}

/* Axes as a number without dimensions, as a list, and counted from the end. */
static void
test_mean_axes (void)
{
  static const gint32 lists[][2] = { { 1, 0 }, { -2, 0 }, { 1, 0 } };
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    for (guint keep = 0; keep < 2; keep++) {
      OpModel m;
      double expected[2 * 4] = { 0 };
      om_init (&m, SL_OP_MEAN, &(SlOpParams){ .reduce = { keep } }, 6);
      om_input (&m, SL_DTYPE_F32, 3, DIMS (2, 3, 4), 0, 0);
      if (i == 2)
        om_scalar (&m, lists[i][0]);
      else
        om_ints (&m, 1, lists[i]);
      om_output (&m, SL_DTYPE_F32, keep ? 3 : 2, keep ? DIMS (2, 1, 4) : DIMS (2, 4), 0, 0);
      for (gsize k = 0; k < 24; k++)
        expected[k / 12 * 4 + k % 4] += om_real (&m, 0, k) / 3;
      om_expect (&m, 0, expected, 1e-5);
      om_clear (&m);
    }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/converters/biases", test_biases);
  g_test_add_func ("/converters/old-weights", test_old_weights);
  g_test_add_func ("/converters/reshape", test_reshape);
  g_test_add_func ("/converters/mean-axes", test_mean_axes);
  return g_test_run ();
}
