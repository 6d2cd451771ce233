/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 8-bit layers against integer arithmetic written here and against XNNPACK, code for code: every
 * instruction set of this machine, one thread and two, over random sizes, windows, zero points and
 * weights that saturate.
 */
#include <math.h>
#include <string.h>

#include "core/backends/int8/int8.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

typedef enum
{
  U8_TENSOR,
  I8_TENSOR,
  I8_CHANNEL
} Kind;

typedef enum
{
  POINTWISE,
  WINDOW,
  WIDE_WINDOW,
  DEPTHWISE,
  DEPTHWISE_3X3,
  ONE_CHANNEL,
  FULLY_CONNECTED,
  SPARSE /* pointwise; most fours of weights are zero */
} Shape;

/** What weights look like: any code; codes near the zero point but for a few; the extremes only;
 * mostly small, as in most trained layers. Activations are extremes where weights are, and half of
 * them where those are small. */
typedef enum
{
  ANY,
  TRAINED,
  EXTREME,
  SMALL,
  SPREADS
} Spread;

typedef struct
{
  Kind kind;
  Shape shape;
  gint32 n, h, w, in, out, fh, fw;
  gint32 zero_x, zero_w, zero_y;
  gfloat scale_y;
  SlWindow window;
} Case;

static gint32
code (SlDtype dtype, const void *data, gsize i)
{
  return dtype == SL_DTYPE_I8 ? ((const gint8 *) data)[i] : ((const guint8 *) data)[i];
}

static gint32
between (GRand *rand, gint32 lo, gint32 hi)
{
  return g_rand_int_range (rand, lo, hi + 1);
}

/* One in three sizes is large enough for whole blocks of every instruction set. */
static gint32
channels (GRand *rand)
{
  return between (rand, 0, 2) == 0 ? between (rand, 30, 150) : between (rand, 1, 40);
}

static gint32
zero_point (GRand *rand, Kind kind)
{
  static const gint32 corners[] = { 0, 1, 127, 128, 129, 255 };
  const gint32 zero = between (rand, 0, 1) ? corners[between (rand, 0, 5)] : between (rand, 0, 255);
  return kind == U8_TENSOR ? zero : zero - 128;
}

static void
random_case (GRand *rand, Kind kind, Shape shape, Case *c)
{
  memset (c, 0, sizeof *c);
  c->kind = kind;
  c->shape = shape;
  c->n = between (rand, 1, 2);
  c->h = between (rand, 1, 14);
  c->w = between (rand, 1, 14);
  c->in = shape == ONE_CHANNEL ? 1 : channels (rand);
  const gboolean depthwise = shape == DEPTHWISE || shape == DEPTHWISE_3X3;
  c->out = depthwise ? c->in : channels (rand);
  c->zero_x = zero_point (rand, kind);
  c->zero_y = zero_point (rand, kind);
  c->zero_w =
    kind == U8_TENSOR || (kind == I8_TENSOR && between (rand, 0, 1)) ? zero_point (rand, kind) : 0;
  c->window = (SlWindow){ .padding = between (rand, 0, 1) ? SL_PADDING_SAME : SL_PADDING_VALID,
                          .activation = (SlActivation) between (rand, 0, 3),
                          .depth_multiplier = c->out / c->in };
  c->window.stride_h = between (rand, 1, 3);
  c->window.stride_w = between (rand, 0, 2) ? c->window.stride_h : between (rand, 1, 3);
  c->window.dilation_h = c->window.stride_h == 1 ? between (rand, 1, 2) : 1;
  c->window.dilation_w = c->window.stride_w == 1 ? between (rand, 1, 2) : 1;
  if (shape == SPARSE) {
    c->in = 4 * between (rand, 8, 75);
    c->out = between (rand, 40, 200);
  }
  if (shape == WIDE_WINDOW) {
    c->w = between (rand, 24, 60);
    c->h = between (rand, 1, 5);
    c->in = between (rand, 1, 7);
  }
  if (shape == DEPTHWISE_3X3) {
    c->window.stride_w = c->window.stride_h = between (rand, 1, 2);
    c->window.dilation_h = c->window.dilation_w = 1;
    c->h = between (rand, 3, 9);
    c->w = between (rand, 3, 20);
  }
  const gboolean pointwise = shape == POINTWISE || shape == FULLY_CONNECTED || shape == SPARSE;
  if (!pointwise && between (rand, 0, 3) == 0) {
    const gint32 most = between (rand, 0, 1) ? 3 : 40;
    c->window.padding = SL_PADDING_EXPLICIT;
    c->window.pad_top = between (rand, 0, MIN (most, 9));
    c->window.pad_bottom = between (rand, 0, MIN (most, 9));
    c->window.pad_left = between (rand, 0, most);
    c->window.pad_right = between (rand, 0, most);
  }
  if (pointwise)
    c->fh = c->fw = c->window.dilation_h = c->window.dilation_w = c->window.stride_h =
      c->window.stride_w = 1;
  for (gboolean fits = c->fh == 1; !fits;) {
    c->fh = shape == DEPTHWISE_3X3 ? 3 : between (rand, 1, 5);
    c->fw = shape == DEPTHWISE_3X3 ? 3 : between (rand, 1, 5);
    fits =
      c->window.padding == SL_PADDING_SAME
      || ((c->fh - 1) * c->window.dilation_h < c->h && (c->fw - 1) * c->window.dilation_w < c->w);
  }
}

static void
fill_weights (GRand *rand, const Case *c, Spread spread, guint8 *codes, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    if (spread == ANY || (spread == TRAINED && between (rand, 0, 200) == 0))
      codes[i] = (guint8) between (rand, 0, 255);
    else if (spread == EXTREME)
      codes[i] = c->kind == U8_TENSOR ? (guint8) (255 * between (rand, 0, 1))
                                      : (guint8) between (rand, 127, 129);
    else {
      const gint32 small = c->out % 2 == 0 ? 25 : 55; /* those of two steps fit together, or not */
      const gint32 most = spread == TRAINED ? 100 : between (rand, 0, 99) == 0 ? 255 : small;
      codes[i] = (guint8) CLAMP (c->zero_w + between (rand, -most, most),
                                 c->kind == U8_TENSOR ? 0 : -127, c->kind == U8_TENSOR ? 255 : 127);
    }
    if (c->kind != U8_TENSOR && codes[i] == 0x80)
      codes[i] =
        0x81; /* TensorFlow Lite's int8 weights have no such code; XNNPACK's tests assume it */
  }
  for (gsize i = 0; c->shape == SPARSE && i < n; i += 4)
    if (between (rand, 0, 9) != 0)
      memset (codes + i, c->zero_w, 4);
}

typedef struct
{
  Check check;
  const SlTensor *x, *w, *y;
  const gint32 *bias; /* nullable */
  const gfloat *rest; /* nullable */
} Graph;

static gboolean
is_depthwise (const Case *c)
{
  return c->shape == DEPTHWISE || c->shape == DEPTHWISE_3X3 || c->shape == ONE_CHANNEL;
}

static void
graph_init (Graph *graph, const Case *c, GRand *rand, Spread spread, guint32 seed)
{
  Check *check = &graph->check;
  check_init (check, seed);
  SlArena *arena = sl_graph_arena (check->graph);
  const gboolean depthwise = is_depthwise (c), fc = c->shape == FULLY_CONNECTED;
  const SlDtype dtype = c->kind == U8_TENSOR ? SL_DTYPE_U8 : SL_DTYPE_I8;
  const gint32 x_dims[4] = { c->n, c->h, c->w, c->in };
  const gint32 w_dims[4] = { fc          ? c->out
                             : depthwise ? 1
                                         : c->out,
                             fc ? c->in : c->fh, c->fw, depthwise ? c->out : c->in };
  const gsize n = fc
                    ? (gsize) (c->out * c->in)
                    : (gsize) w_dims[0] * (gsize) w_dims[1] * (gsize) w_dims[2] * (gsize) w_dims[3];
  guint8 *weights = sl_arena_alloc (arena, n + 64);
  gint32 *bias = sl_arena_alloc (arena, (gsize) c->out * sizeof bias[0]), inputs[3];
  gfloat *scales = sl_arena_alloc (arena, (gsize) c->out * sizeof scales[0]);
  gfloat *rest = sl_arena_alloc (arena, (gsize) c->out * sizeof rest[0]);
  fill_weights (rand, c, spread, weights, n);
  for (gint32 i = 0; i < c->out; i++) {
    scales[i] = (gfloat) g_rand_double_range (rand, 0.002, 0.02);
    bias[i] = between (rand, -20000, 20000);
    rest[i] = (gfloat) g_rand_double_range (rand, -1, 1);
  }
  const gboolean per_channel = c->kind == I8_CHANNEL && c->out > 1;
  inputs[0] = check_input (check, dtype, 4, x_dims, 0.0157f, c->zero_x);
  for (gsize i = 0; spread >= EXTREME && i < (gsize) (c->n * c->h * c->w * c->in); i++)
    if (spread == EXTREME || between (rand, 0, 1))
      ((guint8 *) check->input_data[0])[i] = dtype == SL_DTYPE_U8
                                               ? (guint8) (255 * between (rand, 0, 1))
                                               : (guint8) between (rand, 127, 128);
  inputs[1] =
    check_constant (check, dtype, fc ? 2 : 4, w_dims, scales, per_channel ? (guint) c->out : 1,
                    depthwise ? 3 : 0, c->zero_w, weights);
  inputs[2] = between (rand, 0, 3)
                ? check_constant (check, SL_DTYPE_I32, 1, &c->out, NULL, 0, 0, 0, bias)
                : -1;
  graph->bias = inputs[2] >= 0 ? bias : NULL;
  graph->rest = graph->bias != NULL && seed % 2 == 1 ? rest : NULL;
  SlOpParams params = { .window = c->window };
  params.window.rest = graph->rest;
  if (fc)
    params = (SlOpParams){ .fully_connected = { .activation = c->window.activation,
                                                .rest = graph->rest } };
  const SlOpType op = fc          ? SL_OP_FULLY_CONNECTED
                      : depthwise ? SL_OP_DEPTHWISE_CONV_2D
                                  : SL_OP_CONV_2D;
  const gfloat steps =
    (gfloat) sqrt ((double) (fc ? c->in : c->fh * c->fw * (depthwise ? 1 : c->in)));
  check_node (check, op, inputs, 3,
              check_output (check, dtype,
                            0.0157f * steps * (gfloat) g_rand_double_range (rand, 0.05, 0.8),
                            c->zero_y),
              &params);
  check_prepare (check);
  graph->x = sl_graph_input_tensor (check->graph, 0);
  graph->w = sl_graph_tensor (check->graph, inputs[1]);
  graph->y = sl_graph_output_tensor (check->graph, 0);
}

/* Codes less their zero point. */
static gint32 *
numbers_of (const SlTensor *tensor, const void *data, gint32 zero_point)
{
  const gsize n = sl_tensor_count (tensor);
  gint32 *numbers = g_new (gint32, n);
  for (gsize i = 0; i < n; i++)
    numbers[i] = code (tensor->dtype, data, i) - zero_point;
  return numbers;
}

/* @x, @w: numbers of the input and of the weights */
static gint32
exact_sum (const Graph *graph, const Case *c, const SlWindow *window, const gint32 *x,
           const gint32 *w, gint32 n, gint32 oy, gint32 ox, gint32 channel)
{
  const gboolean depthwise = is_depthwise (c);
  const gint32 first = depthwise ? channel / (c->out / c->in) : 0, depth = depthwise ? 1 : c->in;
  gint32 sum = graph->bias != NULL ? graph->bias[channel] : 0;
  for (gint32 fy = 0; fy < c->fh; fy++)
    for (gint32 fx = 0; fx < c->fw; fx++) {
      const gint32 iy = oy * window->stride_h - window->pad_top + fy * window->dilation_h;
      const gint32 ix = ox * window->stride_w - window->pad_left + fx * window->dilation_w;
      if (iy < 0 || iy >= c->h || ix < 0 || ix >= c->w)
        continue;
      const gint32 *pixel = x + ((n * c->h + iy) * c->w + ix) * c->in + first;
      const gint32 *weights = w
                              + (depthwise ? (fy * c->fw + fx) * c->out + channel
                                           : ((channel * c->fh + fy) * c->fw + fx) * c->in);
      for (gint32 i = 0; i < depth; i++)
        sum += pixel[i] * weights[i];
    }
  return sum;
}

/* XNNPACK's arithmetic: one float multiplication, rounded half to even, limited; what the bias is
 * beside a whole number is added before. */
static guint8
exact_code (const Graph *graph, const Case *c, gint32 channel, gint32 sum)
{
  const SlTensor *y = graph->y;
  const gfloat weight_scale = graph->w->quant.scale[graph->w->quant.count > 1 ? channel : 0];
  const gfloat scale = sl_tensor_scale (graph->x) * weight_scale / sl_tensor_scale (y);
  const double limits[][2] = { { -INFINITY, INFINITY }, { 0, INFINITY }, { -1, 1 }, { 0, 6 } };
  const double type_lo = y->dtype == SL_DTYPE_U8 ? 0 : -128,
               type_hi = y->dtype == SL_DTYPE_U8 ? 255 : 127;
  const double lo =
    rint ((double) ((gfloat) limits[c->window.activation][0] / sl_tensor_scale (y))) + c->zero_y;
  const double hi =
    rint ((double) ((gfloat) limits[c->window.activation][1] / sl_tensor_scale (y))) + c->zero_y;
  const gfloat rest = graph->rest != NULL ? graph->rest[channel] : 0;
  const double value = rint ((double) ((gfloat) sum * scale + rest)) + c->zero_y;
  return (guint8) (gint) fmin (fmax (fmin (fmax (value, lo), hi), type_lo), type_hi);
}

static void *
run (const Graph *graph, const char *backend, const SlInt8Isa *isa, guint threads)
{
  g_autoptr (GError) error = NULL;
  const gboolean own = strcmp (backend, "int8") == 0;
  if (g_strcmp0 (g_getenv ("SIGHTLINE_BACKEND"), backend) != 0) /* each call writes a log message */
    g_setenv ("SIGHTLINE_BACKEND", backend, TRUE);
  sl_int8_isa_force (isa);
  g_autoptr (SlSession) session = sl_session_new (graph->check.graph, threads, &error);
  g_assert_no_error (error);
  if (own)
    g_assert_cmpstr (sl_session_backend (session, 0), ==, "int8");
  const gsize bytes = graph->y->bytes;
  guint8 *output = sl_tensor_buffer_new (bytes + 64);
  memset (output + bytes, 0xa5, 64);
  for (guint i = 0; i < (own ? threads : 1); i++) /* a second time with all that the first left */
    g_assert_cmpint (sl_session_run (session, (const void *const *) graph->check.input_data,
                                     (void *const *) &output),
                     ==, SL_STATUS_OK);
  if (own)
    for (guint i = 0; i < 64; i++)
      g_assert_cmpuint (output[bytes + i], ==, 0xa5);
  return output;
}

static void
expect (const Graph *graph, const Case *c, const guint8 *expected, const char *backend,
        const SlInt8Isa *isa, guint threads)
{
  guint8 *got = run (graph, backend, isa, threads);
  for (gsize i = 0; i < graph->y->bytes; i++)
    if (got[i] != expected[i])
      g_error ("%s %s %u threads: byte %" G_GSIZE_FORMAT
               " is %u; expected %u; input %dx%dx%dx%d, window %dx%d stride %dx%d dilation %dx%d, "
               "%d outputs, zero points %d %d %d",
               backend, isa->name, threads, i, got[i], expected[i], c->n, c->h, c->w, c->in, c->fh,
               c->fw, c->window.stride_h, c->window.stride_w, c->window.dilation_h,
               c->window.dilation_w, c->out, c->zero_x, c->zero_w, c->zero_y);
  sl_tensor_buffer_free (got);
}

/* Work that takes less than 2 us is not divided, and starting a thread takes long where others
 * compute. So a second thread is there for work that may take longer, and for set @i of a few
 * others. */
static guint
most_threads (gdouble us, guint32 seed, guint i)
{
  return us >= 1 || seed % 16 == i ? 2 : 1;
}

/* About what the fastest set takes for @outputs. */
static gdouble
us_of (const Case *c, const SlInt8Isa *isa, gsize outputs)
{
  const gint32 lanes = is_depthwise (c) ? isa->dw_lanes : isa->lanes,
               whole = (c->out + lanes - 1) / lanes * lanes;
  const gdouble all = (gdouble) outputs / c->out * whole;
  if (c->shape == SPARSE) /* whose work is always divided */
    return G_MAXDOUBLE;
  return is_depthwise (c) ? all * c->fh * c->fw / 45e3 : all * (c->fh * c->fw * c->in + 10) / 200e3;
}

static void
check_case (const Case *c, GRand *rand, Spread spread, guint32 seed)
{
  Graph graph;
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n_isas = sl_int8_isas (isas);
  graph_init (&graph, c, rand, spread, seed);
  const SlWindow none = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 };
  const SlWindow *window =
    c->shape == FULLY_CONNECTED ? &none : &sl_graph_node (graph.check.graph, 0)->params.window;
  const gint32 out_h = c->shape == FULLY_CONNECTED ? c->h : graph.y->dims[1],
               out_w = c->shape == FULLY_CONNECTED ? c->w : graph.y->dims[2];
  g_autofree gint32 *x = numbers_of (graph.x, graph.check.input_data[0], c->zero_x);
  g_autofree gint32 *w = numbers_of (graph.w, graph.w->data, c->zero_w);
  g_autofree guint8 *expected = g_malloc (graph.y->bytes);
  for (gsize i = 0; i < graph.y->bytes; i++) {
    const gint32 channel = (gint32) (i % (gsize) c->out), pixel = (gint32) (i / (gsize) c->out);
    const gint32 sum = exact_sum (&graph, c, window, x, w, pixel / (out_h * out_w),
                                  pixel / out_w % out_h, pixel % out_w, channel);
    expected[i] = exact_code (&graph, c, channel, sum);
  }
  for (guint i = 0; i < n_isas; i++)
    for (guint threads = 1; threads <= most_threads (us_of (c, isas[i], graph.y->bytes), seed, i);
         threads++)
      expect (&graph, c, expected, "int8", isas[i], threads);
#ifdef __x86_64__ /* elsewhere XNNPACK rounds in fixed point */
  if (graph.rest == NULL)
    expect (&graph, c, expected, "xnnpack", &sl_int8_isa_c, 1);
#endif
  expect (&graph, c, expected, "plain", &sl_int8_isa_c, 1);
  check_clear (&graph.check);
}

static void
test_random (gconstpointer data)
{
  const guint variant = GPOINTER_TO_UINT (data);
  for (guint32 i = 0; i < 45; i++) {
    const guint32 seed = variant * 1000 + i;
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
    Case c;
    random_case (rand, (Kind) (variant % 3), (Shape) (variant / 3), &c);
    check_case (&c, rand, (Spread) (i % SPREADS), seed);
  }
}

static Case
pointwise_case (Shape shape, gint32 out)
{
  return (Case){
    .kind = I8_CHANNEL,
    .shape = shape,
    .n = 1,
    .h = 14,
    .w = 14,
    .in = 96,
    .out = out,
    .fh = 1,
    .fw = 1,
    .window = { .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 },
  };
}

static guint sparse_calls;
static const SlInt8Isa *counted;

static void
count_sparse (const SlInt8Sparse *layer, gint32 first, gint32 end, const guint8 *columns,
              gint32 rows, guint8 *c, gsize c_stride)
{
  sparse_calls++;
  counted->sparse (layer, first, end, columns, rows, c, c_stride);
}

/* Zeros are noticed where they are many, and their places left out, unless tiles of all weights are
 * faster. */
static void
test_zeros_noticed (void)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n_isas = sl_int8_isas (isas);
  for (guint i = 0; i < n_isas; i++)
    for (guint sparse = 0; sparse < 2; sparse++) {
      const Case c = pointwise_case (sparse ? SPARSE : POINTWISE, 576);
      g_autoptr (GRand) rand = g_rand_new_with_seed (sparse);
      Graph graph;
      if (isas[i]->sparse == NULL)
        continue;
      SlInt8Isa counting = *isas[i];
      counting.sparse = count_sparse;
      counted = isas[i];
      sparse_calls = 0;
      graph_init (&graph, &c, rand, TRAINED, sparse);
      guint8 *got = run (&graph, "int8", &counting, 1);
      g_assert_cmpuint (sparse_calls > 0, ==, sparse && isas[i]->gain <= 1);
      sl_tensor_buffer_free (got);
      check_clear (&graph.check);
    }
}

static guint bytes_calls, twos_calls;

static void
count_bytes (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride,
             gint32 rows, guint8 *c, gsize c_stride)
{
  bytes_calls++;
  twos_calls += gemm->panels[first].twos;
  counted->gemm (gemm, first, end, a, stride, rows, c, c_stride);
}

/* Small weights are noticed, and that some others are larger takes no more than further steps. */
static void
test_small_noticed (void)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n_isas = sl_int8_isas (isas);
  for (guint i = 0; i < n_isas; i++)
    for (guint32 spread = ANY; spread < SPREADS; spread++) {
      const Case c = pointwise_case (POINTWISE, 48);
      g_autoptr (GRand) rand = g_rand_new_with_seed (spread);
      Graph graph;
      if (isas[i]->bytes == NULL)
        continue;
      SlInt8Isa counting = *isas[i], bytes = *isas[i]->bytes;
      counting.bytes = &bytes;
      bytes.gemm = count_bytes;
      counted = isas[i]->bytes;
      bytes_calls = twos_calls = 0;
      graph_init (&graph, &c, rand, (Spread) spread, spread);
      guint8 *got = run (&graph, "int8", &counting, 1);
      g_assert_cmpuint (bytes_calls > 0, ==, spread == SMALL);
      g_assert_cmpuint (twos_calls > 0, ==, spread == SMALL);
      sl_tensor_buffer_free (got);
      check_clear (&graph.check);
    }
}

/* All pairs of 8-bit values. */
static void
fill_pairs (const Check *check)
{
  guint8 *const *data = (guint8 *const *) check->input_data;
  for (gsize i = 0; i < 65536; i++) {
    data[0][i] = (guint8) (i / 256);
    data[1][i] = (guint8) i;
  }
}

/* ADD has no integer definition to compare with but XNNPACK's. Every 25th time all pairs are added,
 * with the first scale at what multipliers and shifts can be. */
static void
test_add (gconstpointer data)
{
  static const gfloat ratios[] = { 1, 1.9999999f, 0.25f, 0.24f, 100, 0.5f, 3, 0.01f };
  const Kind kind = (Kind) GPOINTER_TO_UINT (data);
  const SlDtype dtype = kind == U8_TENSOR ? SL_DTYPE_U8 : SL_DTYPE_I8;
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n_isas = sl_int8_isas (isas);
  for (guint32 seed = 0; seed < 200; seed++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
    Graph graph = { .bias = NULL };
    Case c = { .kind = kind };
    gint32 inputs[2];
    const gboolean all = seed % 25 == 0;
    const gint32 dims[4] = { 1, all ? 256 : between (rand, 1, 20),
                             all ? 256 : between (rand, 1, 20), all ? 1 : between (rand, 1, 90) };
    const gfloat scale_y = 0.05f * (gfloat) g_rand_double_range (rand, 0.3, 2);
    check_init (&graph.check, seed);
    for (guint i = 0; i < 2; i++)
      inputs[i] =
        check_input (&graph.check, dtype, 4, dims,
                     all && i == 0 ? scale_y * ratios[seed / 25]
                                   : (gfloat) exp (g_rand_double_range (rand, -6, 4)) * 0.05f,
                     zero_point (rand, kind));
    if (all)
      fill_pairs (&graph.check);
    const SlOpParams params = { .binary = { (SlActivation) between (rand, 0, 3) } };
    const gint32 output = check_output (&graph.check, dtype, scale_y, zero_point (rand, kind));
    check_node (&graph.check, SL_OP_ADD, inputs, 2, output, &params);
    check_prepare (&graph.check);
    graph.y = sl_graph_output_tensor (graph.check.graph, 0);
    guint8 *expected = run (&graph, "xnnpack", &sl_int8_isa_c, 1);
    for (guint i = 0; i < n_isas; i++)
      for (guint threads = 1; threads <= most_threads ((gdouble) graph.y->bytes / 8192, seed, i);
           threads++)
        expect (&graph, &c, expected, "int8", isas[i], threads);
    sl_tensor_buffer_free (expected);
    check_clear (&graph.check);
  }
}

/* Scales of 1/2, 1/4 and 1 of the output's: every sum is exact in double precision, and every
 * second or fourth lies half-way. */
static void
test_add_half_away (gconstpointer data)
{
  const Kind kind = (Kind) GPOINTER_TO_UINT (data);
  const SlDtype dtype = kind == U8_TENSOR ? SL_DTYPE_U8 : SL_DTYPE_I8;
  const double lo = dtype == SL_DTYPE_U8 ? 0 : -128;
  static const gfloat ratios[][2] = {
    { 0.5f, 0.5f }, { 0.5f, 0.25f }, { 0.25f, 1 }, { 0.125f, 0.5f }
  };
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n_isas = sl_int8_isas (isas);
  for (guint32 seed = 0; seed < 40; seed++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
    Graph graph = { .bias = NULL };
    Case c = { .kind = kind, .zero_y = zero_point (rand, kind) };
    gint32 inputs[2], zeros[2];
    const gint32 dims[4] = { 1, between (rand, 1, 20), between (rand, 1, 20),
                             between (rand, 1, 90) };
    const gfloat *ratio = ratios[seed % G_N_ELEMENTS (ratios)];
    const gboolean relu = (seed & 4) != 0;
    check_init (&graph.check, seed);
    for (guint i = 0; i < 2; i++)
      inputs[i] = check_input (&graph.check, dtype, 4, dims, 0.03125f * ratio[i],
                               zeros[i] = zero_point (rand, kind));
    const SlOpParams params = { .binary = { relu ? SL_ACTIVATION_RELU : SL_ACTIVATION_NONE,
                                            TRUE } };
    check_node (&graph.check, SL_OP_ADD, inputs, 2,
                check_output (&graph.check, dtype, 0.03125f, c.zero_y), &params);
    check_prepare (&graph.check);
    graph.y = sl_graph_output_tensor (graph.check.graph, 0);
    g_autofree guint8 *expected = g_malloc (graph.y->bytes);
    for (gsize i = 0; i < graph.y->bytes; i++) {
      const double a = code (dtype, graph.check.input_data[0], i) - zeros[0],
                   b = code (dtype, graph.check.input_data[1], i) - zeros[1];
      const double steps = round (a * (double) ratio[0] + b * (double) ratio[1]);
      expected[i] =
        (guint8) (gint) CLAMP ((relu ? fmax (steps, 0) : steps) + c.zero_y, lo, lo + 255);
    }
    for (guint i = 0; i < n_isas; i++)
      expect (&graph, &c, expected, "int8", isas[i],
              MIN (1 + seed % 2, most_threads ((gdouble) graph.y->bytes / 8192, seed / 2, i)));
    expect (&graph, &c, expected, "xnnpack", &sl_int8_isa_c, 1);
    expect (&graph, &c, expected, "plain", &sl_int8_isa_c, 1);
    check_clear (&graph.check);
  }
}

/* Every product of two codes, scaled as qnnpack does it: halves lie elsewhere than where scales are
 * divided by the output's. */
static void
test_by_reciprocal (gconstpointer data)
{
  const gboolean fc = GPOINTER_TO_UINT (data) != 0;
  const gint32 n = 255, x_dims[4] = { 1, 1, n, 1 }, w_dims[4] = { n, 1, 1, 1 };
  const gfloat scales[3] = { 0.03125f, 0.01072f, 0.38592f };
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n_isas = sl_int8_isas (isas);
  Graph graph = { .bias = NULL };
  const Case c = { .kind = I8_TENSOR, .n = 1, .h = 1, .w = n, .in = 1, .out = n, .fh = 1, .fw = 1 };
  check_init (&graph.check, 0);
  gint8 *weights = sl_arena_alloc (sl_graph_arena (graph.check.graph), (gsize) n + 64);
  for (gint32 i = 0; i < n; i++)
    weights[i] = (gint8) (i - 127);
  const gint32 inputs[2] = { check_input (&graph.check, SL_DTYPE_I8, 4, x_dims, scales[0], 0),
                             check_constant (&graph.check, SL_DTYPE_I8, fc ? 2 : 4, w_dims,
                                             &scales[1], 1, 0, 0, weights) };
  SlOpParams params = { .window = { .padding = SL_PADDING_VALID,
                                    .stride_h = 1,
                                    .stride_w = 1,
                                    .dilation_h = 1,
                                    .dilation_w = 1 } };
  params.window.by_reciprocal = TRUE;
  if (fc)
    params = (SlOpParams){ .fully_connected = { .keep_dims = TRUE, .by_reciprocal = TRUE } };
  check_node (&graph.check, fc ? SL_OP_FULLY_CONNECTED : SL_OP_CONV_2D, inputs, 2,
              check_output (&graph.check, SL_DTYPE_I8, scales[2], 0), &params);
  check_prepare (&graph.check);
  graph.y = sl_graph_output_tensor (graph.check.graph, 0);
  g_assert_cmpuint (graph.y->bytes, ==, (gsize) (n * n));
  g_autofree gint8 *expected = g_malloc (graph.y->bytes);
  guint apart = 0;
  for (gint32 i = 0; i < n * n; i++) {
    ((gint8 *) graph.check.input_data[0])[i / n] = (gint8) (i / n - 127);
    const gfloat sum = (gfloat) ((i / n - 127) * (i % n - 127)), product = scales[0] * scales[1];
    expected[i] = (gint8) rintf (sum * (product * (1 / scales[2])));
    apart += expected[i] != (gint8) rintf (sum * (product / scales[2]));
  }
  g_assert_cmpuint (apart, >, 0);
  for (guint i = 0; i < n_isas; i++)
    expect (&graph, &c, (const guint8 *) expected, "int8", isas[i], 1);
  expect (&graph, &c, (const guint8 *) expected, "plain", &sl_int8_isa_c, 1);
  check_clear (&graph.check);
}

TEST_MAIN (int argc, char **argv)
{
  static const char *const kinds[] = { "uint8", "int8", "int8-channel" };
  static const char *const shapes[] = { "pointwise",       "window",        "wide-window",
                                        "depthwise",       "depthwise-3x3", "one-channel",
                                        "fully-connected", "sparse" };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (shapes) * 3; i++) {
    g_autofree char *path = g_strdup_printf ("/core/int8/%s/%s", shapes[i / 3], kinds[i % 3]);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_random);
  }
  for (guint kind = U8_TENSOR; kind <= I8_TENSOR; kind++) {
    g_autofree char *path = g_strdup_printf ("/core/int8/add/%s", kinds[kind]);
    g_autofree char *half_away = g_strconcat (path, "-half-away", NULL);
    g_test_add_data_func (path, GUINT_TO_POINTER (kind), test_add);
    g_test_add_data_func (half_away, GUINT_TO_POINTER (kind), test_add_half_away);
  }
  g_test_add_func ("/core/int8/zeros-noticed", test_zeros_noticed);
  g_test_add_func ("/core/int8/small-noticed", test_small_noticed);
  g_test_add_data_func ("/core/int8/by-reciprocal/conv", GUINT_TO_POINTER (0), test_by_reciprocal);
  g_test_add_data_func ("/core/int8/by-reciprocal/fully-connected", GUINT_TO_POINTER (1),
                        test_by_reciprocal);
  return g_test_run ();
}
