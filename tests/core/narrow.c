/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors in binary16 under precision=fp16: each operator between two of them gives, bit by bit,
 * what the same graph of floats gives with a CAST to binary16 and back at each of these places.
 * Weights are numbers of binary16, so nothing else is rounded.
 */
#include <math.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/half.h"
#include "core/backends/float/float_layers.h"
#include "core/ops/ops.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define MOST_WEIGHTS 40000
/* Of sums of up to 200 products in binary16, or with sums of weights, which tiles have in it. */
#define HALVES_TOLERANCE 0x1p-6f

/* Second operands of sums and products, in place of @filter. */
enum
{
  VECTOR = 1,   /* the first pixel of each image */
  VECTOR_FIRST, /* the same as the first operand */
  CONSTANTS,
  NUMBER
};

/* @op between a RESIZE_NEAREST_NEIGHBOR of a picture of @size and @in channels and a MAX_POOL_2D;
 * @out 0: without weights. @after: an operator behind it, which a pass fuses. */
typedef struct
{
  const char *name;
  SlOpType op;
  gint32 size, in, out, filter, stride, dilation, groups;
  gdouble zeros;
  SlOpType after;
} Case;

static const Case cases[] = {
  { "pointwise", SL_OP_CONV_2D, 5, 9, 37, 1, 1, 1, 1, 0, SL_OP_RELU6 },
  { "pointwise, deep", SL_OP_CONV_2D, 3, 77, 130, 1, 1, 1, 1, 0, SL_OP_SILU },
  { "pointwise, few channels", SL_OP_CONV_2D, 4, 40, 3, 1, 1, 1, 1, 0, SL_OP_INVALID },
  { "pointwise, sparse", SL_OP_CONV_2D, 5, 64, 65, 1, 1, 1, 1, 0.95, SL_OP_RELU },
  { "tiles", SL_OP_CONV_2D, 4, 21, 35, 3, 1, 1, 1, 0, SL_OP_SILU },
  { "strides", SL_OP_CONV_2D, 6, 7, 35, 3, 2, 1, 1, 0, SL_OP_RELU },
  { "first layer", SL_OP_CONV_2D, 9, 3, 16, 3, 2, 1, 1, 0, SL_OP_HARD_SWISH },
  { "dilated", SL_OP_CONV_2D, 6, 7, 20, 3, 1, 2, 1, 0, SL_OP_INVALID },
  { "groups", SL_OP_CONV_2D, 5, 24, 32, 3, 1, 1, 4, 0, SL_OP_INVALID },
  { "depthwise", SL_OP_DEPTHWISE_CONV_2D, 11, 19, 19, 3, 1, 1, 1, 0, SL_OP_RELU6 },
  { "depthwise, strides", SL_OP_DEPTHWISE_CONV_2D, 11, 16, 16, 3, 2, 1, 1, 0, SL_OP_HARD_SWISH },
  { "depthwise, 5x5", SL_OP_DEPTHWISE_CONV_2D, 9, 33, 33, 5, 1, 1, 1, 0, SL_OP_INVALID },
  { "depthwise, dilated", SL_OP_DEPTHWISE_CONV_2D, 9, 5, 5, 3, 1, 2, 1, 0, SL_OP_INVALID },
  { "add", SL_OP_ADD, 23, 7, 0, 0, 0, 0, 0, 0, SL_OP_RELU },
  { "mul", SL_OP_MUL, 23, 7, 0, 0, 0, 0, 0, 0, SL_OP_INVALID },
  { "add a vector", SL_OP_ADD, 23, 7, 0, VECTOR, 0, 0, 0, 0, SL_OP_RELU },
  { "mul by a vector", SL_OP_MUL, 47, 33, 0, VECTOR, 0, 0, 0, 0, SL_OP_INVALID },
  { "vector by mul", SL_OP_MUL, 3, 3000, 0, VECTOR_FIRST, 0, 0, 0, 0, SL_OP_INVALID },
  { "vector by mul, few", SL_OP_MUL, 23, 7, 0, VECTOR_FIRST, 0, 0, 0, 0, SL_OP_INVALID },
  { "mul by constants", SL_OP_MUL, 23, 40, 0, CONSTANTS, 0, 0, 0, 0, SL_OP_INVALID },
  { "add a number", SL_OP_ADD, 23, 40, 0, NUMBER, 0, 0, 0, 0, SL_OP_INVALID },
  { "transposed", SL_OP_TRANSPOSE_CONV, 5, 9, 11, 2, 2, 1, 1, 0, SL_OP_RELU },
  { "transposed, 3x3", SL_OP_TRANSPOSE_CONV, 5, 16, 5, 3, 2, 1, 1, 0, SL_OP_INVALID },
  { "transposed, wide", SL_OP_TRANSPOSE_CONV, 3, 20, 70, 4, 2, 1, 1, 0, SL_OP_INVALID },
  { "logistic", SL_OP_LOGISTIC, 13, 7, 0, 0, 0, 0, 0, 0, SL_OP_INVALID },
  { "silu", SL_OP_SILU, 13, 7, 0, 0, 0, 0, 0, 0, SL_OP_INVALID },
  { "hard swish", SL_OP_HARD_SWISH, 13, 7, 0, 0, 0, 0, 0, 0, SL_OP_INVALID },
  { "prelu", SL_OP_PRELU, 13, 7, 7, 0, 0, 0, 0, 0, SL_OP_INVALID },
  { "average pool", SL_OP_AVERAGE_POOL_2D, 7, 12, 0, 3, 2, 1, 0, 0, SL_OP_INVALID },
  { "max pool", SL_OP_MAX_POOL_2D, 7, 12, 0, 3, 2, 1, 0, 0, SL_OP_RELU6 },
  { "concatenation", SL_OP_CONCATENATION, 7, 12, 0, 0, 0, 0, 0, 0, SL_OP_INVALID },
  { "bilinear", SL_OP_RESIZE_BILINEAR, 7, 130, 0, 0, 0, 0, 0, 0, SL_OP_INVALID },
  { "depth to space", SL_OP_DEPTH_TO_SPACE, 5, 12, 0, 0, 0, 0, 0, 0, SL_OP_INVALID },
};

static SlOpParams
window_params (gint32 filter, gint32 stride, gint32 dilation)
{
  return (SlOpParams){ .window = { .padding = SL_PADDING_SAME,
                                   .stride_h = stride,
                                   .stride_w = stride,
                                   .dilation_h = dilation,
                                   .dilation_w = dilation,
                                   .filter_h = filter,
                                   .filter_w = filter,
                                   .depth_multiplier = 1 } };
}

static gint32
node (Check *check, SlOpType op, const gint32 *inputs, guint n, const SlOpParams *params)
{
  const gint32 made = check_middle (check, SL_DTYPE_F32, 0, 0);
  check_node (check, op, inputs, n, made, params);
  return made;
}

/* @x rounded to binary16, where it is not stored so. */
static gint32
rounded (Check *check, gboolean narrow, gint32 x)
{
  if (narrow)
    return x;
  const gint32 half = check_middle (check, SL_DTYPE_F16, 0, 0);
  check_node (check, SL_OP_CAST, &x, 1, half, NULL);
  return node (check, SL_OP_CAST, &half, 1, NULL);
}

static gint32
first_pixel (Check *check, gint32 x)
{
  const gint32 begin = check_ints (check, 4, (gint32[]){ 0, 0, 0, 0 }),
               size = check_ints (check, 4, (gint32[]){ -1, 1, 1, -1 });
  return node (check, SL_OP_SLICE, (gint32[]){ x, begin, size }, 3, &(SlOpParams){ 0 });
}

static gint32
add_op (Check *check, const Case *c, gint32 x, gfloat *weights)
{
  gint32 inputs[4] = { x, -1, -1, -1 };
  guint n = 1;
  SlOpParams params = { 0 };
  const gboolean depthwise = c->op == SL_OP_DEPTHWISE_CONV_2D;
  if (c->filter > 0)
    params = window_params (c->filter, c->stride, c->dilation);
  if (c->op == SL_OP_ADD || c->op == SL_OP_MUL || c->op == SL_OP_CONCATENATION)
    inputs[n++] = x;
  if ((c->op == SL_OP_ADD || c->op == SL_OP_MUL) && c->filter > 0) {
    const gint32 elements = c->filter == NUMBER ? 1 : c->in;
    params = (SlOpParams){ 0 };
    inputs[1] = c->filter >= CONSTANTS
                  ? check_constant (check, SL_DTYPE_F32, 1, &elements, NULL, 0, 0, 0, weights)
                  : first_pixel (check, x);
    if (c->filter == VECTOR_FIRST) {
      inputs[0] = inputs[1];
      inputs[1] = x;
    }
  }
  if (c->op == SL_OP_CONCATENATION)
    params.concat.axis = 3;
  if (c->op == SL_OP_DEPTH_TO_SPACE)
    params.block.size = 2;
  if (c->op == SL_OP_RESIZE_BILINEAR) {
    inputs[n++] = check_ints (check, 2, (gint32[]){ 2 * c->size + 5, 3 * c->size });
    params.resize.half_pixel_centers = TRUE;
  }
  if (c->op == SL_OP_PRELU)
    inputs[n++] = check_constant (check, SL_DTYPE_F32, 1, &c->out, NULL, 0, 0, 0, weights);
  else if (c->out > 0) {
    const gint32 dims[] = { depthwise ? 1 : c->out, c->filter, c->filter,
                            depthwise ? c->in : c->in / c->groups };
    inputs[n++] = check_constant (check, SL_DTYPE_F32, 4, dims, NULL, 0, 0, 0, weights);
    inputs[n++] = check_constant (check, SL_DTYPE_F32, 1, &c->out, NULL, 0, 0, 0, weights);
  }
  if (c->op == SL_OP_TRANSPOSE_CONV) {
    const gint32 twice = 4 * c->size; /* each side of @x is twice that of the input */
    inputs[0] = check_ints (check, 4, (gint32[]){ 2, twice, twice + 4, c->out });
    inputs[3] = inputs[2];
    inputs[2] = x;
    n = 4;
  }
  const gint32 y = node (check, c->op, inputs, n, &params);
  return c->after == SL_OP_INVALID ? y : node (check, c->after, &y, 1, NULL);
}

static void
build (Check *check, const Case *c, gboolean narrow, gfloat *weights)
{
  check_init (check, 5);
  for (guint i = 0; i < MOST_WEIGHTS; i++) {
    const gfloat value = (gfloat) g_rand_double_range (check->rand, -0.5, 0.5);
    weights[i] =
      g_rand_double (check->rand) < c->zeros ? 0 : sl_half_to_float (sl_half_from_float (value));
  }
  sl_graph_set_precision (check->graph, narrow ? SL_PRECISION_FP16 : SL_PRECISION_FLOAT);
  gint32 x =
    check_input (check, SL_DTYPE_F32, 4, (gint32[]){ 2, c->size, c->size + 1, c->in }, 0, 0);
  const gint32 sizes = check_ints (check, 2, (gint32[]){ 2 * c->size, 2 * c->size + 2 });
  x = node (check, SL_OP_RESIZE_NEAREST_NEIGHBOR, (gint32[]){ rounded (check, narrow, x), sizes },
            2, &(SlOpParams){ 0 });
  const gint32 y = rounded (check, narrow, add_op (check, c, x, weights));
  const SlOpParams pool = window_params (2, 1, 1);
  check_node (check, SL_OP_MAX_POOL_2D, &y, 1, check_output (check, SL_DTYPE_F32, 0, 0), &pool);
  check_prepare (check);
}

/* The node of @c, of which there is one more where it is a MAX_POOL_2D. */
static const SlNode *
find_op (const Check *check, SlOpType op)
{
  for (guint i = 0; i < sl_graph_n_nodes (check->graph); i++)
    if (sl_graph_node (check->graph, i)->op == op)
      return sl_graph_node (check->graph, i);
  return NULL;
}

static void
compare (const Case *c, const char *with, const Check *check, const gfloat *got,
         const gfloat *wanted, gfloat tolerance)
{
  const gsize n = sl_graph_output_tensor (check->graph, 0)->bytes / sizeof (gfloat);
  for (gsize i = 0; i < n; i++)
    if (!(fabsf (got[i] - wanted[i]) <= tolerance * MAX (1, fabsf (wanted[i]))))
      g_error ("%s, %s: value %" G_GSIZE_FORMAT " is %.9g, expected %.9g", c->name, with, i, got[i],
               wanted[i]);
}

static void
test_operators (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n_isas = sl_float_isas (isas);
  g_autofree gfloat *weights = g_new (gfloat, MOST_WEIGHTS);
  sl_float_pairs_forbid (TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Case *c = &cases[i];
    Check narrow, wide;
    build (&wide, c, FALSE, weights);
    build (&narrow, c, TRUE, weights);
    const SlNode *op = find_op (&narrow, c->op);
    g_assert_nonnull (op);
    const guint data = c->op == SL_OP_MUL && c->filter == VECTOR_FIRST ? 1 : sl_op_data_at (c->op);
    if (sl_node_input (narrow.graph, op, data)->dtype != SL_DTYPE_F16
        || sl_node_output (narrow.graph, op, 0)->dtype != SL_DTYPE_F16)
      g_error ("%s: its data is not in binary16", c->name);
    for (guint k = 0; k < n_isas; k++)
      for (guint threads = 1; threads <= 2; threads++) {
        sl_float_isa_force (isas[k]);
        gfloat *wanted = check_run (&wide, FALSE, threads),
               *got = check_run (&narrow, FALSE, threads);
        /* XNNPACK, which takes floats, adds in another order. */
        const gboolean other = c->op == SL_OP_AVERAGE_POOL_2D || c->op == SL_OP_RESIZE_BILINEAR,
                       tiles = c->op == SL_OP_CONV_2D && c->filter == 3 && c->stride == 1;
        compare (c, isas[k]->name, &narrow, got, wanted,
                 tiles   ? HALVES_TOLERANCE
                 : other ? 0x1p-10f
                         : 0);
        sl_tensor_buffer_free (wanted);
        sl_tensor_buffer_free (got);
      }
    sl_float_isa_force (NULL);
    gfloat *wanted = check_run (&wide, TRUE, 1), *got = check_run (&narrow, TRUE, 2);
    compare (c, "plain", &narrow, got, wanted, 0);
    sl_tensor_buffer_free (wanted);
    sl_tensor_buffer_free (got);
    check_clear (&narrow);
    check_clear (&wide);
  }
  sl_float_pairs_forbid (FALSE);
}

/* Loops in binary16 give what floats give, within its rounding, for one thread what they give for
 * two. */
static void
test_halves (void)
{
  g_autofree gfloat *weights = g_new (gfloat, MOST_WEIGHTS);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Check narrow, wide;
    if (cases[i].op == SL_OP_TRANSPOSE_CONV)
      continue;
    build (&wide, &cases[i], FALSE, weights);
    build (&narrow, &cases[i], TRUE, weights);
    gfloat *wanted = check_run (&wide, TRUE, 1), *got = check_run (&narrow, FALSE, 1),
           *again = check_run (&narrow, FALSE, 2);
    compare (&cases[i], "halves", &narrow, got, wanted, HALVES_TOLERANCE);
    compare (&cases[i], "threads", &narrow, again, got, 0);
    sl_tensor_buffer_free (again);
    sl_tensor_buffer_free (wanted);
    sl_tensor_buffer_free (got);
    check_clear (&narrow);
    check_clear (&wide);
  }
}

static void
build_turned (Check *check, gboolean narrow, gint32 in, gint32 out, gfloat *weights)
{
  const gint32 size = 8, dims[] = { out, 3, 3, in };
  check_init (check, 7);
  for (gint32 i = 0; i < out * 9 * in; i++)
    weights[i] =
      sl_half_to_float (sl_half_from_float ((gfloat) g_rand_double_range (check->rand, -0.5, 0.5)));
  sl_graph_set_precision (check->graph, narrow ? SL_PRECISION_FP16 : SL_PRECISION_FLOAT);
  const gint32 x = check_input (check, SL_DTYPE_F32, 4, (gint32[]){ 2, in, size, size + 1 }, 0, 0),
               last = check_ints (check, 4, (gint32[]){ 0, 2, 3, 1 }),
               first = check_ints (check, 4, (gint32[]){ 0, 3, 1, 2 });
  const gint32 w = check_constant (check, SL_DTYPE_F32, 4, dims, NULL, 0, 0, 0, weights),
               bias = check_constant (check, SL_DTYPE_F32, 1, &out, NULL, 0, 0, 0, weights);
  const SlOpParams none = { 0 }, window = window_params (3, 1, 1), pool = window_params (2, 1, 1);
  const gint32 turned = node (check, SL_OP_TRANSPOSE, (gint32[]){ x, last }, 2, &none);
  const gint32 y = node (check, SL_OP_CONV_2D, (gint32[]){ turned, w, bias }, 3, &window);
  const gint32 half = rounded (check, narrow, y);
  const gint32 most = node (check, SL_OP_MAX_POOL_2D, &half, 1, &pool);
  check_node (check, SL_OP_TRANSPOSE, (gint32[]){ most, first }, 2,
              check_output (check, SL_DTYPE_F32, 0, 0), &none);
  check_prepare (check);
  gfloat *values = check->input_data[0];
  for (gint32 i = 0; i < 2 * in * size * (size + 1); i++)
    values[i] = sl_half_to_float (sl_half_from_float (values[i]));
}

/* Tensors that a TRANSPOSE reads from an input or writes to an output become binary16, or floats,
 * on the way. One stays float where that takes no more memory than the largest do. */
static void
test_turned (void)
{
  static const gint32 channels[][2] = { { 3, 64 }, { 64, 8 }, { 40, 24 } };
  g_autofree gfloat *weights = g_new (gfloat, MOST_WEIGHTS);
  sl_float_pairs_forbid (TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (channels); i++) {
    const gint32 in = channels[i][0], out = channels[i][1];
    const Case c = { .name = "turned" };
    Check narrow, wide;
    build_turned (&wide, FALSE, in, out, weights);
    build_turned (&narrow, TRUE, in, out, weights);
    g_assert_null (find_op (&narrow, SL_OP_CAST));
    g_assert_cmpint (sl_node_output (narrow.graph, find_op (&narrow, SL_OP_TRANSPOSE), 0)->dtype,
                     ==, in < out && !sl_cpu_computes_halves () ? SL_DTYPE_F32 : SL_DTYPE_F16);
    g_assert_cmpint (sl_node_output (narrow.graph, find_op (&narrow, SL_OP_MAX_POOL_2D), 0)->dtype,
                     ==, SL_DTYPE_F16);
    for (guint threads = 1; threads <= 2; threads++) {
      gfloat *wanted = check_run (&wide, threads == 2, threads),
             *got = check_run (&narrow, threads == 2, threads);
      compare (&c, "turned", &narrow, got, wanted, HALVES_TOLERANCE);
      sl_tensor_buffer_free (wanted);
      sl_tensor_buffer_free (got);
    }
    check_clear (&narrow);
    check_clear (&wide);
  }
  sl_float_pairs_forbid (FALSE);
}

/* Layers in a row: the arena of floats is twice as large. Results are within what rounding each of
 * them allows, in double precision. */
static void
test_memory (void)
{
  enum
  {
    SIZE = 16,
    CHANNELS = 32,
    LAYERS = 5
  };
  gfloat weights[CHANNELS * CHANNELS], bias[CHANNELS];
  gdouble values[CHANNELS], *now = values;
  gsize bytes[2];
  gfloat *got = NULL;
  Check check[2];
  for (guint k = 0; k < 2; k++) {
    check_init (&check[k], 3);
    for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
      weights[i] = sl_half_to_float (
        sl_half_from_float ((gfloat) g_rand_double_range (check[k].rand, -0.3, 0.3)));
    check_random (&check[k], SL_DTYPE_F32, CHANNELS, bias);
    sl_graph_set_precision (check[k].graph, k == 0 ? SL_PRECISION_FLOAT : SL_PRECISION_FP16);
    const SlOpParams params = window_params (0, 1, 1);
    gint32 x =
      check_input (&check[k], SL_DTYPE_F32, 4, (gint32[]){ 1, SIZE, SIZE, CHANNELS }, 0, 0);
    for (guint layer = 0; layer < LAYERS; layer++) {
      const gint32 w = check_constant (&check[k], SL_DTYPE_F32, 4,
                                       (gint32[]){ CHANNELS, 1, 1, CHANNELS }, NULL, 0, 0, 0,
                                       weights),
                   b = check_constant (&check[k], SL_DTYPE_F32, 1, (gint32[]){ CHANNELS }, NULL, 0,
                                       0, 0, bias);
      const gint32 y = layer + 1 == LAYERS ? check_output (&check[k], SL_DTYPE_F32, 0, 0)
                                           : check_middle (&check[k], SL_DTYPE_F32, 0, 0);
      check_node (&check[k], SL_OP_CONV_2D, (gint32[]){ x, w, b }, 3, y, &params);
      x = y;
    }
    check_prepare (&check[k]);
    g_autoptr (GError) error = NULL;
    g_autoptr (SlSession) session = sl_session_new (check[k].graph, 1, &error);
    g_assert_no_error (error);
    SlSessionStats stats;
    sl_session_stats (session, &stats);
    bytes[k] = stats.arena_bytes;
  }
  g_assert_cmpuint (bytes[1] * 100, <=, bytes[0] * 55);
  got = check_run (&check[1], FALSE, 1);
  for (guint c = 0; c < CHANNELS; c++)
    now[c] = (gdouble) ((const gfloat *) check[1].input_data[0])[c];
  for (guint layer = 0; layer < LAYERS; layer++) {
    gdouble next[CHANNELS];
    for (guint o = 0; o < CHANNELS; o++) {
      next[o] = (gdouble) bias[o];
      for (guint c = 0; c < CHANNELS; c++)
        next[o] += now[c] * (gdouble) weights[o * CHANNELS + c];
    }
    memcpy (now, next, sizeof next);
  }
  for (guint c = 0; c < CHANNELS; c++)
    g_assert_cmpfloat (fabs ((gdouble) got[c] - now[c]), <=, 0x1p-6 * MAX (1, fabs (now[c])));
  sl_tensor_buffer_free (got);
  for (guint k = 0; k < 2; k++)
    check_clear (&check[k]);
}

static double
curve (SlOpType op, double x)
{
  const double share = 1 / (1 + exp (-x));
  return op == SL_OP_LOGISTIC ? share : op == SL_OP_SILU ? x * share : x * CLAMP (x + 3, 0, 6) / 6;
}

/* Curves of each finite number of binary16, against double precision. */
static void
test_curves (void)
{
  static const SlOpType ops[] = { SL_OP_LOGISTIC, SL_OP_SILU, SL_OP_HARD_SWISH };
  enum
  {
    HEIGHT = 31,
    WIDTH = 64,
    CHANNELS = 32
  };
  const SlOpParams pool = window_params (1, 1, 1);
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    Check check;
    check_init (&check, 1);
    sl_graph_set_precision (check.graph, SL_PRECISION_FP16);
    const gint32 sizes = check_ints (&check, 2, (gint32[]){ HEIGHT, WIDTH }),
                 x = check_input (&check, SL_DTYPE_F32, 4, (gint32[]){ 1, HEIGHT, WIDTH, CHANNELS },
                                  0, 0);
    const gint32 same = node (&check, SL_OP_RESIZE_NEAREST_NEIGHBOR, (gint32[]){ x, sizes }, 2,
                              &(SlOpParams){ 0 }),
                 y = node (&check, ops[i], &same, 1, NULL);
    check_node (&check, SL_OP_MAX_POOL_2D, &y, 1, check_output (&check, SL_DTYPE_F32, 0, 0), &pool);
    check_prepare (&check);
    gfloat *values = check.input_data[0];
    for (guint k = 0; k < HEIGHT * WIDTH * CHANNELS; k++)
      values[k] = sl_half_to_float ((guint16) (k / 2 + k % 2 * 0x8000));
    gfloat *got = check_run (&check, FALSE, 1);
    for (guint k = 0; k < HEIGHT * WIDTH * CHANNELS; k++) {
      const double wanted = curve (ops[i], (double) values[k]);
      if (!(fabs ((double) got[k] - wanted) <= 0x1p-9 * fabs (wanted) + 0x1p-18))
        g_error ("%s of %.9g is %.9g, expected %.9g", sl_op_name (ops[i]), (double) values[k],
                 (double) got[k], wanted);
    }
    sl_tensor_buffer_free (got);
    check_clear (&check);
  }
}

/* Sums beyond the range of binary16 become its largest number, not infinity. */
static void
test_range (void)
{
  const gfloat weights[2] = { 60000, -60000 }, none[2] = { 0 };
  const SlOpParams params = window_params (0, 1, 1), pool = window_params (1, 1, 1);
  Check check;
  check_init (&check, 1);
  sl_graph_set_precision (check.graph, SL_PRECISION_FP16);
  const gint32 x = check_input (&check, SL_DTYPE_F32, 4, (gint32[]){ 1, 3, 3, 1 }, 0, 0);
  const gint32 w = check_constant (&check, SL_DTYPE_F32, 4, (gint32[]){ 2, 1, 1, 1 }, NULL, 0, 0, 0,
                                   weights),
               b = check_constant (&check, SL_DTYPE_F32, 1, (gint32[]){ 2 }, NULL, 0, 0, 0, none);
  const gint32 y = node (&check, SL_OP_CONV_2D, (gint32[]){ x, w, b }, 3, &params);
  check_node (&check, SL_OP_MAX_POOL_2D, &y, 1, check_output (&check, SL_DTYPE_F32, 0, 0), &pool);
  check_prepare (&check);
  for (guint i = 0; i < 9; i++)
    ((gfloat *) check.input_data[0])[i] = 7;
  gfloat *got = check_run (&check, FALSE, 1);
  g_assert_cmpfloat (got[0], ==, SL_HALF_MOST);
  g_assert_cmpfloat (got[1], ==, -SL_HALF_MOST);
  sl_tensor_buffer_free (got);
  check_clear (&check);
}

/* Large activations that cancel out, in one pixel of a tile, leave what floats of their sums leave,
 * 24 bits of 16 * 61440; other pixels are as exact as without. */
static void
test_large (void)
{
  enum
  {
    SIZE = 4,
    CHANNELS = 32
  };
  const SlOpParams params = window_params (0, 1, 1), pool = window_params (1, 1, 1);
  gfloat weights[CHANNELS * CHANNELS], bias[CHANNELS];
  Check check;
  check_init (&check, 1);
  sl_graph_set_precision (check.graph, SL_PRECISION_FP16);
  for (gint32 i = 0; i < CHANNELS * CHANNELS; i++)
    weights[i] = i % CHANNELS < CHANNELS / 2 ? 1 : -1;
  check_random (&check, SL_DTYPE_F32, CHANNELS, bias);
  const gint32 sizes = check_ints (&check, 2, (gint32[]){ SIZE, SIZE }),
               x =
                 check_input (&check, SL_DTYPE_F32, 4, (gint32[]){ 1, SIZE, SIZE, CHANNELS }, 0, 0),
               w = check_constant (&check, SL_DTYPE_F32, 4, (gint32[]){ CHANNELS, 1, 1, CHANNELS },
                                   NULL, 0, 0, 0, weights),
               b = check_constant (&check, SL_DTYPE_F32, 1, (gint32[]){ CHANNELS }, NULL, 0, 0, 0,
                                   bias);
  const gint32 same = node (&check, SL_OP_RESIZE_NEAREST_NEIGHBOR, (gint32[]){ x, sizes }, 2,
                            &(SlOpParams){ 0 }),
               y = node (&check, SL_OP_CONV_2D, (gint32[]){ same, w, b }, 3, &params);
  check_node (&check, SL_OP_MAX_POOL_2D, &y, 1, check_output (&check, SL_DTYPE_F32, 0, 0), &pool);
  check_prepare (&check);
  for (gint32 i = 0; i < SIZE * SIZE * CHANNELS; i++)
    ((gfloat *) check.input_data[0])[i] = i / CHANNELS == 5 ? 61440 : 0.5f;
  gfloat *got = check_run (&check, FALSE, 1);
  for (gint32 i = 0; i < SIZE * SIZE * CHANNELS; i++)
    g_assert_cmpfloat_with_epsilon (got[i], bias[i % CHANNELS],
                                    i / CHANNELS == 5 ? 0x1p-4f : 0x1p-8f);
  sl_tensor_buffer_free (got);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  g_test_add_func ("/narrow/operators", test_operators);
  g_test_add_func ("/narrow/halves", test_halves);
  g_test_add_func ("/narrow/turned", test_turned);
  g_test_add_func ("/narrow/memory", test_memory);
  g_test_add_func ("/narrow/curves", test_curves);
  g_test_add_func ("/narrow/range", test_range);
  g_test_add_func ("/narrow/large", test_large);
  return g_test_run ();
}
