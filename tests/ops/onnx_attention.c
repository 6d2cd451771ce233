/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attention in its spellings, rotary embeddings, and what ONNX Runtime's optimiser joins, against
 * their definitions in double precision. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define BATCH 2
#define ROWS 5
#define KEYS 7
#define DEPTH 6
#define HEADS 4
#define MOST (BATCH * HEADS * (KEYS + ROWS) * DEPTH)

/** Heads of queries are HEADS; @past: keys before the first one; @mask: what is added, by row and
 * key, or NULL */
typedef struct
{
  guint key_heads, keys, past;
  gboolean causal;
  double scale, softcap;
  double q[MOST], k[MOST], v[MOST]; /* [batch,heads,rows,depth] */
  const double *mask;
} Case;

static double
score (const Case *c, guint b, guint h, guint row, guint key)
{
  const double *q = c->q + ((b * HEADS + h) * ROWS + row) * DEPTH;
  const double *k = c->k + ((b * c->key_heads + h * c->key_heads / HEADS) * c->keys + key) * DEPTH;
  double sum = 0;
  for (guint i = 0; i < DEPTH; i++)
    sum += q[i] * k[i];
  sum *= c->scale;
  if (c->softcap > 0)
    sum = c->softcap * tanh (sum / c->softcap);
  if (c->mask != NULL)
    sum += c->mask[row * c->keys + key];
  return c->causal && key > row + c->past ? -INFINITY : sum;
}

/* [batch,heads,rows,depth] */
static void
attend (const Case *c, double *y)
{
  for (guint i = 0; i < BATCH * HEADS * ROWS; i++) {
    const guint row = i % ROWS, h = i / ROWS % HEADS, b = i / ROWS / HEADS;
    double all = 0, *to = y + i * DEPTH;
    memset (to, 0, DEPTH * sizeof to[0]);
    for (guint key = 0; key < c->keys; key++) {
      const double weight = exp (score (c, b, h, row, key));
      const double *v =
        c->v + ((b * c->key_heads + h * c->key_heads / HEADS) * c->keys + key) * DEPTH;
      all += weight;
      for (guint d = 0; d < DEPTH; d++)
        to[d] += weight * v[d];
    }
    for (guint d = 0; d < DEPTH; d++)
      to[d] /= all;
  }
}

/* [batch,rows,heads,depth] as [batch,heads,rows,depth], or back. */
static void
exchange (const double *from, guint a, guint b, double *to)
{
  for (guint i = 0; i < BATCH * a * b * DEPTH; i++) {
    const guint d = i % DEPTH, y = i / DEPTH % b, x = i / DEPTH / b % a, n = i / DEPTH / b / a;
    to[((n * b + y) * a + x) * DEPTH + d] = from[i];
  }
}

static void
as_doubles (const gfloat *from, guint n, double *to)
{
  for (guint i = 0; i < n; i++)
    to[i] = (double) from[i];
}

/* Queries, keys and values of four dimensions; fewer heads of keys; keys of earlier runs; what is
 * masked by numbers or the order. */
static void
run_attention (guint key_heads, guint past, gboolean causal, gboolean masked, double scale,
               double softcap)
{
  Case c = { .key_heads = key_heads,
             .keys = KEYS + past,
             .past = past,
             .causal = causal,
             .scale = scale,
             .softcap = softcap };
  double y[MOST], mask[ROWS * (KEYS + ROWS)];
  g_autofree char *scaled = g_strdup_printf ("scale f %g", scale),
                  *capped = g_strdup_printf ("softcap f %g", softcap);
  OnnxModel m;
  onnx_model_init (&m, 23, past);
  as_doubles (onnx_model_floats (&m, "q", 4, DIMS (BATCH, HEADS, ROWS, DEPTH)),
              BATCH * HEADS * ROWS * DEPTH, c.q);
  const gfloat *parts[2] = { onnx_model_floats (&m, "k", 4, DIMS (BATCH, key_heads, KEYS, DEPTH)),
                             onnx_model_floats (&m, "v", 4, DIMS (BATCH, key_heads, KEYS, DEPTH)) };
  const gfloat *before[2] = { NULL };
  if (masked)
    as_doubles (onnx_model_floats (&m, "mask", 2, DIMS (ROWS, c.keys)), ROWS * c.keys, mask);
  for (guint i = 0; i < 2 && past > 0; i++)
    before[i] =
      onnx_model_floats (&m, i == 0 ? "pk" : "pv", 4, DIMS (BATCH, key_heads, past, DEPTH));
  for (guint i = 0; i < 2 * BATCH * key_heads * c.keys * DEPTH; i++) {
    const guint which = i / (BATCH * key_heads * c.keys * DEPTH),
                at = i % (BATCH * key_heads * c.keys * DEPTH);
    const guint d = at % DEPTH, key = at / DEPTH % c.keys, head = at / DEPTH / c.keys;
    (which == 0 ? c.k : c.v)[at] =
      key < past ? (double) before[which][(head * past + key) * DEPTH + d]
                 : (double) parts[which][(head * KEYS + key - past) * DEPTH + d];
  }
  c.mask = masked ? mask : NULL;
  g_autofree char *inputs = g_strconcat ("q,k,v",
                                         masked     ? ",mask"
                                         : past > 0 ? ","
                                                    : "",
                                         past > 0 ? ",pk,pv" : "", NULL);
  sl_onnx_writer_node (m.writer, "Attention", inputs, past > 0 ? "y,key,value" : "y", scaled,
                       capped, causal ? "is_causal i 1" : "is_causal i 0", NULL);
  attend (&c, y);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, BATCH * HEADS * ROWS * DEPTH, y, 1e-5);
  if (past > 0)
    onnx_model_expect (&m, "key", SL_ONNX_FLOAT, BATCH * key_heads * c.keys * DEPTH, c.k, 0);
  onnx_model_clear (&m);
}

static void
test_attention (void)
{
  run_attention (HEADS, 0, FALSE, FALSE, 0.5, 0);
  run_attention (2, 0, FALSE, TRUE, 0.25, 0);
  run_attention (1, 0, TRUE, FALSE, 1, 0);
  run_attention (2, 3, TRUE, TRUE, 0.5, 0);
  run_attention (HEADS, 2, FALSE, FALSE, 0.5, 2.5);
}

/* Three dimensions, and truth values that say which keys count. */
static void
test_truth_mask (void)
{
  Case c = { .key_heads = 2, .keys = KEYS, .scale = 1 / sqrt (DEPTH) };
  double y[MOST], turned[MOST], flat[MOST], mask[ROWS * KEYS];
  OnnxModel m;
  onnx_model_init (&m, 23, 4);
  as_doubles (onnx_model_floats (&m, "q", 3, DIMS (BATCH, ROWS, HEADS * DEPTH)),
              BATCH * HEADS * ROWS * DEPTH, flat);
  exchange (flat, ROWS, HEADS, c.q);
  as_doubles (onnx_model_floats (&m, "k", 3, DIMS (BATCH, KEYS, 2 * DEPTH)),
              BATCH * KEYS * 2 * DEPTH, flat);
  exchange (flat, KEYS, 2, c.k);
  as_doubles (onnx_model_floats (&m, "v", 3, DIMS (BATCH, KEYS, 2 * DEPTH)),
              BATCH * KEYS * 2 * DEPTH, flat);
  exchange (flat, KEYS, 2, c.v);
  const gfloat *keep = onnx_model_floats (&m, "keep", 2, DIMS (ROWS, KEYS));
  for (guint i = 0; i < ROWS * KEYS; i++)
    mask[i] = keep[i] > 0 ? 0 : -INFINITY;
  for (guint i = 0; i < ROWS; i++) /* the first key always */
    mask[i * KEYS] = 0, ((gfloat *) keep)[i * KEYS] = 1;
  c.mask = mask;
  sl_onnx_writer_floats (m.writer, "zero", 0, NULL, (const gfloat[]){ 0 });
  sl_onnx_writer_node (m.writer, "Greater", "keep,zero", "mask", NULL);
  sl_onnx_writer_node (m.writer, "Attention", "q,k,v,mask", "y", "q_num_heads i 4",
                       "kv_num_heads i 2", NULL);
  attend (&c, y);
  exchange (y, HEADS, ROWS, turned);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, BATCH * HEADS * ROWS * DEPTH, turned, 1e-5);
  onnx_model_clear (&m);
}

/* MultiHeadAttention of com.microsoft: a bias, which keys count, what is added; or all packed into
 * one tensor, causal. */
static void
test_multi_head (gconstpointer data)
{
  const gboolean packed = GPOINTER_TO_INT (data);
  const guint keys = packed ? ROWS : KEYS, width = HEADS * DEPTH;
  Case c = { .key_heads = HEADS, .keys = keys, .scale = 1 / sqrt (DEPTH), .causal = packed };
  double y[MOST], turned[MOST], flat[3][MOST], mask[ROWS * KEYS];
  gfloat bias[3 * HEADS * DEPTH];
  OnnxModel m;
  onnx_model_init (&m, 18, 5);
  if (packed) {
    const gfloat *x = onnx_model_floats (&m, "x", 5, DIMS (BATCH, ROWS, HEADS, 3, DEPTH));
    for (guint i = 0; i < BATCH * ROWS * HEADS * 3 * DEPTH; i++)
      flat[i / DEPTH % 3][i / DEPTH / 3 * DEPTH + i % DEPTH] = (double) x[i];
    sl_onnx_writer_node (m.writer, "com.microsoft.MultiHeadAttention", "x", "y", "num_heads i 4",
                         "unidirectional i 1", NULL);
  } else {
    static const char *const names[3] = { "q", "k", "v" };
    for (guint i = 0; i < 3 * width; i++)
      bias[i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
    sl_onnx_writer_floats (m.writer, "b", 1, DIMS (3 * width), bias);
    for (guint i = 0; i < 3; i++) {
      const guint rows = i == 0 ? ROWS : KEYS;
      as_doubles (onnx_model_floats (&m, names[i], 3, DIMS (BATCH, rows, width)),
                  BATCH * rows * width, flat[i]);
      for (guint k = 0; k < BATCH * rows * width; k++)
        flat[i][k] += (double) bias[i * width + k % width];
    }
    as_doubles (onnx_model_floats (&m, "more", 4, DIMS (1, 1, ROWS, KEYS)), ROWS * KEYS, mask);
    sl_onnx_message (m.writer->graph, 5,
                     sl_onnx_tensor ("keep", 6, 2, DIMS (BATCH, KEYS),
                                     (const gint32[]){ 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0 },
                                     BATCH * KEYS * sizeof (gint32)));
    for (guint i = 0; i < ROWS * KEYS; i++)
      mask[i] += i % KEYS == 3 || i % KEYS == 6 ? -10000 : 0;
    c.mask = mask;
    sl_onnx_writer_node (m.writer, "com.microsoft.MultiHeadAttention", "q,k,v,b,keep,more", "y",
                         "num_heads i 4", NULL);
  }
  exchange (flat[0], ROWS, HEADS, c.q);
  exchange (flat[1], keys, HEADS, c.k);
  exchange (flat[2], keys, HEADS, c.v);
  attend (&c, y);
  exchange (y, HEADS, ROWS, turned);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, BATCH * HEADS * ROWS * DEPTH, turned, 1e-5);
  onnx_model_clear (&m);
}

/* Pairs of neighbours or of halves, of all numbers of a row or the first ones; places stated,
 * counted from one, or none. */
static void
run_rotary (gboolean microsoft, gboolean neighbours, guint size, gboolean placed)
{
  const guint whole = size > 0 ? size : DEPTH, pairs = whole / 2;
  gfloat cosines[20 * DEPTH / 2], sines[20 * DEPTH / 2];
  double y[BATCH * ROWS * 2 * DEPTH];
  const gint64 places[BATCH * ROWS] = { 3, 0, 7, 19, 4, 5, 5, 6, 11, 1 };
  g_autofree char *dim = g_strdup_printf ("rotary_embedding_dim i %u", size);
  OnnxModel m;
  onnx_model_init (&m, 23, size);
  const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (BATCH, ROWS, 2 * DEPTH));
  const guint n = placed || microsoft ? 20 : BATCH * ROWS;
  for (guint i = 0; i < n * pairs; i++) {
    cosines[i] = (gfloat) cos (i * 0.3);
    sines[i] = (gfloat) sin (i * 0.3);
  }
  sl_onnx_message (m.writer->graph, 5,
                   sl_onnx_tensor ("places", SL_ONNX_INT64, placed ? 2 : 1,
                                   placed ? DIMS (BATCH, ROWS) : DIMS (1), places,
                                   (placed ? BATCH * ROWS : 1) * sizeof places[0]));
  const gboolean rows = !placed && !microsoft;
  sl_onnx_writer_floats (m.writer, "c", rows ? 3 : 2,
                         rows ? DIMS (BATCH, ROWS, pairs) : DIMS (20, pairs), cosines);
  sl_onnx_writer_floats (m.writer, "s", rows ? 3 : 2,
                         rows ? DIMS (BATCH, ROWS, pairs) : DIMS (20, pairs), sines);
  sl_onnx_writer_node (m.writer, microsoft ? "com.microsoft.RotaryEmbedding" : "RotaryEmbedding",
                       microsoft ? "x,places,c,s"
                       : placed  ? "x,c,s,places"
                                 : "x,c,s",
                       "y", "num_heads i 2", neighbours ? "interleaved i 1" : "interleaved i 0",
                       dim, NULL);
  for (guint i = 0; i < BATCH * ROWS * 2; i++) {
    const guint row = i / 2, at = placed      ? (guint) places[row]
                                  : microsoft ? (guint) places[0] + row % ROWS
                                              : row;
    for (guint d = 0; d < DEPTH; d++)
      y[i * DEPTH + d] = (double) x[i * DEPTH + d];
    for (guint p = 0; p < pairs; p++) {
      const guint a = i * DEPTH + (neighbours ? 2 * p : p), b = neighbours ? a + 1 : a + pairs;
      const double cosine = (double) cosines[at * pairs + p], sine = (double) sines[at * pairs + p];
      y[a] = cosine * (double) x[a] - sine * (double) x[b];
      y[b] = sine * (double) x[a] + cosine * (double) x[b];
    }
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, G_N_ELEMENTS (y), y, 1e-6);
  onnx_model_clear (&m);
}

static void
test_rotary (void)
{
  for (guint i = 0; i < 16; i++)
    run_rotary (i & 1, i >> 1 & 1, i >> 2 & 1 ? 4 : 0, (gboolean) (i >> 3 & 1));
}

/* One product gives queries, keys and values. */
static void
test_packed (void)
{
  const guint inputs = 8, width = HEADS * DEPTH, sum = 3 * width;
  gfloat weights[8 * 3 * HEADS * DEPTH], bias[3 * HEADS * DEPTH];
  double flat[3][MOST], y[MOST], turned[MOST];
  Case c = { .key_heads = HEADS, .keys = ROWS, .scale = 1 / sqrt (DEPTH) };
  OnnxModel m;
  onnx_model_init (&m, 18, 6);
  const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (BATCH, ROWS, inputs));
  for (guint i = 0; i < inputs * sum; i++)
    weights[i] = (gfloat) g_rand_double_range (m.rand, -0.5, 0.5);
  for (guint i = 0; i < sum; i++)
    bias[i] = (gfloat) g_rand_double_range (m.rand, -0.5, 0.5);
  for (guint i = 0; i < BATCH * ROWS * sum; i++) {
    const guint row = i / sum, column = i % sum;
    double value = (double) bias[column];
    for (guint k = 0; k < inputs; k++)
      value += (double) x[row * inputs + k] * (double) weights[k * sum + column];
    flat[column / width][row * width + column % width] = value;
  }
  sl_onnx_writer_floats (m.writer, "w", 2, DIMS (inputs, sum), weights);
  sl_onnx_writer_floats (m.writer, "b", 1, DIMS (sum), bias);
  sl_onnx_writer_node (m.writer, "com.microsoft.Attention", "x,w,b", "y", "num_heads i 4", NULL);
  exchange (flat[0], ROWS, HEADS, c.q);
  exchange (flat[1], ROWS, HEADS, c.k);
  exchange (flat[2], ROWS, HEADS, c.v);
  attend (&c, y);
  exchange (y, HEADS, ROWS, turned);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, BATCH * ROWS * width, turned, 1e-5);
  onnx_model_clear (&m);
}

/* Norms of the sum of two tensors and a bias; output 3 is that sum. */
static void
test_skip_norms (gconstpointer data)
{
  const gboolean simple = GPOINTER_TO_INT (data);
  gfloat gamma[DEPTH], beta[DEPTH], bias[DEPTH];
  double sum[ROWS * DEPTH], y[ROWS * DEPTH];
  OnnxModel m;
  onnx_model_init (&m, 18, 7);
  const gfloat *x = onnx_model_floats (&m, "x", 3, DIMS (1, ROWS, DEPTH)),
               *skip = onnx_model_floats (&m, "skip", 3, DIMS (1, ROWS, DEPTH));
  for (guint i = 0; i < DEPTH; i++) {
    gamma[i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
    beta[i] = simple ? 0 : (gfloat) g_rand_double_range (m.rand, -1, 1);
    bias[i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
  }
  sl_onnx_writer_floats (m.writer, "gamma", 1, DIMS (DEPTH), gamma);
  sl_onnx_writer_floats (m.writer, "beta", 1, DIMS (DEPTH), beta);
  sl_onnx_writer_floats (m.writer, "bias", 1, DIMS (DEPTH), bias);
  sl_onnx_writer_node (m.writer,
                       simple ? "com.microsoft.SkipSimplifiedLayerNormalization"
                              : "com.microsoft.SkipLayerNormalization",
                       simple ? "x,skip,gamma,bias" : "x,skip,gamma,beta,bias", "y,,,sum",
                       "epsilon f 0.01", NULL);
  for (guint row = 0; row < ROWS; row++) {
    double mean = 0, squares = 0;
    for (guint i = 0; i < DEPTH; i++)
      mean += (sum[row * DEPTH + i] =
                 (double) x[row * DEPTH + i] + (double) skip[row * DEPTH + i] + (double) bias[i])
              / DEPTH;
    mean = simple ? 0 : mean;
    for (guint i = 0; i < DEPTH; i++)
      squares += (sum[row * DEPTH + i] - mean) * (sum[row * DEPTH + i] - mean) / DEPTH;
    for (guint i = 0; i < DEPTH; i++)
      y[row * DEPTH + i] = (sum[row * DEPTH + i] - mean) / sqrt (squares + 0.01) * (double) gamma[i]
                           + (double) beta[i];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, ROWS * DEPTH, y, 1e-5);
  onnx_model_expect (&m, "sum", SL_ONNX_FLOAT, ROWS * DEPTH, sum, 1e-6);
  onnx_model_clear (&m);
}

static double
gelu (double x)
{
  return x / 2 * (1 + erf (x / sqrt (2)));
}

static double
gelu_tanh (double x)
{
  return x / 2 * (1 + tanh (sqrt (2 / G_PI) * (x + 0.044715 * x * x * x)));
}

static double
quick_gelu (double x)
{
  return x / (1 + exp (-1.5 * x));
}

static void
test_gelus (void)
{
  static const struct
  {
    const char *op, *attribute;
    double (*function) (double x);
    gboolean biased;
  } rows[] = { { "com.microsoft.BiasGelu", NULL, gelu, TRUE },
               { "com.microsoft.FastGelu", NULL, gelu_tanh, TRUE },
               { "com.microsoft.FastGelu", NULL, gelu_tanh, FALSE },
               { "com.microsoft.QuickGelu", "alpha f 1.5", quick_gelu, FALSE } };
  static const gfloat bias[DEPTH] = { 0.5f, -1, 2, 0, 0.25f, -0.125f };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    double y[ROWS * DEPTH];
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (ROWS, DEPTH));
    sl_onnx_writer_floats (m.writer, "b", 1, DIMS (DEPTH), bias);
    sl_onnx_writer_node (m.writer, rows[i].op, rows[i].biased ? "x,b" : "x", "y", rows[i].attribute,
                         NULL);
    for (guint k = 0; k < ROWS * DEPTH; k++)
      y[k] = rows[i].function ((double) x[k] + (rows[i].biased ? (double) bias[k % DEPTH] : 0));
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, ROWS * DEPTH, y, 2e-6);
    onnx_model_clear (&m);
  }
}

static double
activation (const char *name, double x)
{
  if (strstr (name, "Relu") != NULL && name[0] == 'R')
    return fmax (x, 0);
  if (strcmp (name, "LeakyRelu") == 0)
    return x < 0 ? 0.25 * x : x;
  if (strcmp (name, "Clip") == 0)
    return CLAMP (x, 0.25, 0.75);
  if (strcmp (name, "HardSigmoid") == 0)
    return CLAMP (0.25 * x + 0.75, 0, 1);
  return strcmp (name, "Tanh") == 0 ? tanh (x) : 1 / (1 + exp (-x));
}

/* Products with a factor, both transposed or not; layers with an activation, of which a convolution
 * adds another tensor before. */
static void
test_fused_products (void)
{
  static const char *const names[] = {
    "Relu", "LeakyRelu", "Clip", "HardSigmoid", "Tanh", "Sigmoid"
  };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gfloat weights[3 * DEPTH], bias[3];
    double gemm[ROWS * 3], conv[3 * ROWS];
    g_autofree char *named = g_strconcat ("activation s ", names[i], NULL);
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (ROWS, DEPTH)),
                 *p = onnx_model_floats (&m, "p", 4, DIMS (1, DEPTH, ROWS, 1)),
                 *more = onnx_model_floats (&m, "more", 4, DIMS (1, 3, ROWS, 1));
    for (guint k = 0; k < G_N_ELEMENTS (weights); k++)
      weights[k] = (gfloat) g_rand_double_range (m.rand, -1, 1);
    for (guint k = 0; k < 3; k++)
      bias[k] = (gfloat) g_rand_double_range (m.rand, -1, 1);
    sl_onnx_writer_floats (m.writer, "w", 2, DIMS (3, DEPTH), weights);
    sl_onnx_writer_floats (m.writer, "k", 4, DIMS (3, DEPTH, 1, 1), weights);
    sl_onnx_writer_floats (m.writer, "b", 1, DIMS (3), bias);
    sl_onnx_writer_node (m.writer, "com.microsoft.FusedGemm", "x,w,b", "gemm", named, "transB i 1",
                         "activation_alpha f 0.25", "activation_beta f 0.75", NULL);
    sl_onnx_writer_node (m.writer, "com.microsoft.FusedConv", "p,k,b,more", "conv", named,
                         "activation_params F 0.25,0.75", NULL);
    for (guint k = 0; k < ROWS * 3; k++) {
      double a = (double) bias[k % 3], b = (double) bias[k / ROWS] + (double) more[k];
      for (guint d = 0; d < DEPTH; d++) {
        a += (double) x[k / 3 * DEPTH + d] * (double) weights[k % 3 * DEPTH + d];
        b += (double) p[d * ROWS + k % ROWS] * (double) weights[k / ROWS * DEPTH + d];
      }
      gemm[k] = activation (names[i], a);
      conv[k] = activation (names[i], b);
    }
    onnx_model_expect (&m, "gemm", SL_ONNX_FLOAT, ROWS * 3, gemm, 1e-5);
    onnx_model_expect (&m, "conv", SL_ONNX_FLOAT, ROWS * 3, conv, 1e-5);
    onnx_model_clear (&m);
  }
}

/* One matrix is constant or given; either may be transposed. */
static void
test_fused_mat_mul (void)
{
  for (guint form = 0; form < 8; form++) {
    const gboolean ta = form & 1, tb = form >> 1 & 1, constant = form >> 2 & 1;
    double y[2 * ROWS * 3];
    gfloat kept[3 * DEPTH];
    OnnxModel m;
    onnx_model_init (&m, 18, form);
    const gfloat *a = onnx_model_floats (&m, "a", 3,
                                         ta ? DIMS (2, DEPTH, ROWS) : DIMS (2, ROWS, DEPTH)),
                 *b = kept;
    for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
      kept[i] = (gfloat) g_rand_double_range (m.rand, -1, 1);
    if (constant)
      sl_onnx_writer_floats (m.writer, "b", 2, tb ? DIMS (3, DEPTH) : DIMS (DEPTH, 3), kept);
    else
      b = onnx_model_floats (&m, "b", 2, tb ? DIMS (3, DEPTH) : DIMS (DEPTH, 3));
    sl_onnx_writer_node (m.writer, "com.microsoft.FusedMatMul", "a,b", "y", "alpha f 0.5",
                         ta ? "transA i 1" : "transA i 0", tb ? "transB i 1" : "transB i 0", NULL);
    for (guint i = 0; i < G_N_ELEMENTS (y); i++) {
      const guint column = i % 3, row = i / 3 % ROWS, n = i / 3 / ROWS;
      y[i] = 0;
      for (guint d = 0; d < DEPTH; d++)
        y[i] += 0.5 * (double) a[n * ROWS * DEPTH + (ta ? d * ROWS + row : row * DEPTH + d)]
                * (double) b[tb ? column * DEPTH + d : d * 3 + column];
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, G_N_ELEMENTS (y), y, 1e-5);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/attention/attention", test_attention);
  g_test_add_func ("/onnx/attention/truth-mask", test_truth_mask);
  g_test_add_data_func ("/onnx/attention/multi-head", GINT_TO_POINTER (0), test_multi_head);
  g_test_add_data_func ("/onnx/attention/multi-head-packed", GINT_TO_POINTER (1), test_multi_head);
  g_test_add_func ("/onnx/attention/packed", test_packed);
  g_test_add_func ("/onnx/attention/rotary", test_rotary);
  g_test_add_data_func ("/onnx/fused/skip-layer-norm", GINT_TO_POINTER (0), test_skip_norms);
  g_test_add_data_func ("/onnx/fused/skip-rms-norm", GINT_TO_POINTER (1), test_skip_norms);
  g_test_add_func ("/onnx/fused/gelus", test_gelus);
  g_test_add_func ("/onnx/fused/products", test_fused_products);
  g_test_add_func ("/onnx/fused/mat-mul", test_fused_mat_mul);
  return g_test_run ();
}
