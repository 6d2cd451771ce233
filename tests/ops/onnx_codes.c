/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Codes of 2 to 16 bits and floats of 8 and 4, against their definitions in double precision. */
#include <math.h>
#include <string.h>

#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define ROWS 6
#define COLUMNS 4
/* Numbers of ONNX's element types. */
#define UINT8 2
#define INT8 3
#define UINT16 4
#define INT16 5
#define INT32 6
#define UINT4 21
#define INT4 22

static void
add_constant (OnnxModel *m, const char *name, guint type, guint rank, const gint64 *dims,
              const void *data, gsize bytes)
{
  sl_onnx_message (m->writer->graph, 5, sl_onnx_tensor (name, type, rank, dims, data, bytes));
}

/* Weights of 4 bits: one scale, one for each column, or one for each block of rows. */
static void
run_weights (gboolean is_signed, guint scales)
{
  const guint n = scales == 0 ? 1 : scales == 1 ? COLUMNS : 2 * COLUMNS;
  guint8 codes[ROWS * COLUMNS / 2], zeros[COLUMNS] = { 0 };
  gfloat scale[2 * COLUMNS];
  double expected[ROWS * COLUMNS];
  OnnxModel m;
  onnx_model_init (&m, 21, scales);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (ROWS, ROWS));
  for (guint i = 0; i < sizeof codes; i++)
    codes[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
  for (guint i = 0; i < n; i++)
    scale[i] = (gfloat) g_rand_double_range (m.rand, 0.01, 0.1);
  for (guint i = 0; i < n / 2 && !is_signed; i++)
    zeros[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
  const gint64 *dims = scales == 2 ? DIMS (2, COLUMNS) : DIMS (COLUMNS);
  add_constant (&m, "codes", is_signed ? INT4 : UINT4, 2, DIMS (ROWS, COLUMNS), codes,
                sizeof codes);
  add_constant (&m, "scale", SL_ONNX_FLOAT, scales, dims, scale, n * sizeof scale[0]);
  add_constant (&m, "zeros", UINT4, scales, dims, zeros, (n + 1) / 2);
  sl_onnx_writer_node (
    m.writer, "DequantizeLinear", is_signed ? "codes,scale" : "codes,scale,zeros", "w",
    scales == 2 ? "axis i 0" : "axis i 1", scales == 2 ? "block_size i 3" : NULL, NULL);
  sl_onnx_writer_node (m.writer, "MatMul", "x,w", "y", NULL);
  for (guint i = 0; i < ROWS * COLUMNS; i++) {
    expected[i] = 0;
    for (guint k = 0; k < ROWS; k++) {
      const guint at = k * COLUMNS + i % COLUMNS, s = scales == 0   ? 0
                                                      : scales == 1 ? i % COLUMNS
                                                                    : k / 3 * COLUMNS + i % COLUMNS;
      const int nibble = codes[at / 2] >> (at % 2 * 4) & 15,
                zero = zeros[s / 2] >> (s % 2 * 4) & 15;
      expected[i] += (double) x[i / COLUMNS * ROWS + k]
                     * (is_signed ? (nibble ^ 8) - 8 : nibble - zero) * (double) scale[s];
    }
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, ROWS * COLUMNS, expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_weights (void)
{
  for (guint i = 0; i < 6; i++)
    run_weights (i & 1, i / 2);
}

/* Matrices that are large enough to be packed without their floats: integers of 4 and 8 bits, a
 * scale for each column, row, or block of a column or row; zero points as codes. */
typedef struct
{
  guint type;
  gint64 axis, size; /* 0: none */
  gboolean turned;
} Large;

enum
{
  LARGE_DEPTH = 128,
  LARGE_OUTPUTS = 160,
  LARGE_ROWS = 3,
  LARGE = LARGE_DEPTH * LARGE_OUTPUTS
};

static int
large_code (guint type, const guint8 *codes, guint i)
{
  const int nibble = codes[i / 2] >> (i % 2 * 4) & 15;
  return type == UINT8   ? codes[i]
         : type == INT8  ? (gint8) codes[i]
         : type == UINT4 ? nibble
                         : (nibble ^ 8) - 8;
}

static void
run_large (const Large *c)
{
  const gboolean halves = c->type == UINT4 || c->type == INT4;
  const gint64 dims[2] = { c->turned ? LARGE_OUTPUTS : LARGE_DEPTH,
                           c->turned ? LARGE_DEPTH : LARGE_OUTPUTS };
  const gint64 blocks = c->size > 0 ? dims[c->axis] / c->size : 1;
  const gint64 scale_dims[2] = { c->axis == 0 ? blocks : dims[0], c->axis == 1 ? blocks : dims[1] };
  const guint n = (guint) (c->size > 0 ? scale_dims[0] * scale_dims[1] : dims[c->axis]);
  g_autofree guint8 *codes = g_malloc (LARGE), *zeros = g_malloc (n);
  g_autofree gfloat *scale = g_new (gfloat, n);
  g_autofree char *axis = g_strdup_printf ("axis i %d", (int) c->axis),
                  *size = g_strdup_printf ("block_size i %d", (int) c->size);
  double expected[LARGE_ROWS * LARGE_OUTPUTS] = { 0 };
  OnnxModel m;
  onnx_model_init (&m, 21, c->type);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (LARGE_ROWS, LARGE_DEPTH));
  for (guint i = 0; i < LARGE; i++)
    codes[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
  for (guint i = 0; i < n; i++) {
    zeros[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
    scale[i] = (gfloat) (g_rand_double_range (m.rand, 0.001, 0.01) / (halves ? 1 : 16));
  }
  add_constant (&m, "codes", c->type, 2, dims, codes, halves ? LARGE / 2 : LARGE);
  add_constant (&m, "scale", SL_ONNX_FLOAT, c->size > 0 ? 2 : 1,
                c->size > 0 ? scale_dims : DIMS (n), scale, n * sizeof scale[0]);
  add_constant (&m, "zeros", c->type, c->size > 0 ? 2 : 1, c->size > 0 ? scale_dims : DIMS (n),
                zeros, halves ? (n + 1) / 2 : n);
  sl_onnx_writer_node (m.writer, "DequantizeLinear", "codes,scale,zeros", "w", axis,
                       c->size > 0 ? size : NULL, NULL);
  sl_onnx_writer_node (m.writer, "Gemm", "x,w", "y", c->turned ? "transB i 1" : NULL, NULL);
  for (guint k = 0; k < LARGE_DEPTH; k++)
    for (guint o = 0; o < LARGE_OUTPUTS; o++) {
      const guint place[2] = { c->turned ? o : k, c->turned ? k : o };
      const guint row = c->size > 0 && c->axis == 0 ? place[0] / (guint) c->size : place[0],
                  column = c->size > 0 && c->axis == 1 ? place[1] / (guint) c->size : place[1];
      const guint s = c->size > 0 ? row * (guint) scale_dims[1] + column : place[c->axis];
      const double weight = (large_code (c->type, codes, place[0] * (guint) dims[1] + place[1])
                             - large_code (c->type, zeros, s))
                            * (double) scale[s];
      for (guint r = 0; r < LARGE_ROWS; r++)
        expected[r * LARGE_OUTPUTS + o] += weight * (double) x[r * LARGE_DEPTH + k];
    }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, LARGE_ROWS * LARGE_OUTPUTS, expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_large_weights (void)
{
  static const Large cases[] = { { UINT4, 0, 32, FALSE }, { INT4, 0, 16, FALSE },
                                 { UINT4, 1, 64, TRUE },  { INT8, 0, 32, FALSE },
                                 { UINT8, 1, 32, TRUE },  { UINT8, 1, 0, FALSE },
                                 { INT4, 1, 0, FALSE },   { UINT4, 0, 0, TRUE },
                                 { INT8, 0, 0, FALSE },   { INT4, 1, 16, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    run_large (&cases[i]);
}

/* What is computed, to codes of a type and back; scales as before. */
static void
run_activations (guint type, double low, double high, gint zero, guint scales, gboolean microsoft)
{
  const guint n = scales == 0 ? 1 : scales == 1 ? COLUMNS : 2 * COLUMNS;
  gfloat scale[2 * COLUMNS];
  gint16 zeros[2 * COLUMNS];
  guint8 small[2 * COLUMNS] = { 0 };
  double expected[ROWS * COLUMNS];
  OnnxModel m;
  onnx_model_init (&m, 21, type);
  gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (ROWS, COLUMNS));
  x[0] = 1e9f;
  x[1] = -1e9f;
  for (guint i = 0; i < n; i++) {
    scale[i] =
      (gfloat) g_rand_double_range (m.rand, 0.001, 0.01) * (gfloat) (300 / (high - low) + 0.1);
    zeros[i] = (gint16) zero;
    small[i / 2] |= (guint8) ((zero & 15) << (i % 2 * 4));
  }
  const gint64 *dims = scales == 2 ? DIMS (2, COLUMNS) : DIMS (COLUMNS);
  const gboolean packed = type == INT4 || type == UINT4;
  add_constant (&m, "scale", SL_ONNX_FLOAT, scales, dims, scale, n * sizeof scale[0]);
  add_constant (&m, "zeros", type, scales, dims, packed ? (const void *) small : zeros,
                packed ? (n + 1) / 2 : n * sizeof zeros[0]);
  const char *axis = scales == 2 ? "axis i 0" : "axis i 1",
             *block = scales == 2 ? "block_size i 3" : NULL;
  sl_onnx_writer_node (m.writer, microsoft ? "com.microsoft.QuantizeLinear" : "QuantizeLinear",
                       "x,scale,zeros", "q", axis, block, NULL);
  sl_onnx_writer_node (m.writer, microsoft ? "com.microsoft.DequantizeLinear" : "DequantizeLinear",
                       "q,scale,zeros", "y", axis, block, NULL);
  for (guint i = 0; i < ROWS * COLUMNS; i++) {
    const guint s = scales == 0   ? 0
                    : scales == 1 ? i % COLUMNS
                                  : i / COLUMNS / 3 * COLUMNS + i % COLUMNS;
    const double code = rint ((double) (x[i] / scale[s])) + zero;
    expected[i] = (CLAMP (code, low, high) - zero) * (double) scale[s];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, ROWS * COLUMNS, expected, 1e-6);
  onnx_model_clear (&m);
}

static void
test_activations (void)
{
  for (guint scales = 0; scales < 3; scales++)
    for (guint microsoft = 0; microsoft < 2; microsoft++) {
      run_activations (INT16, -32768, 32767, 5, scales, microsoft);
      run_activations (UINT16, 0, 65535, 30000, scales, microsoft);
      run_activations (INT4, -8, 7, -2, scales, microsoft);
      run_activations (UINT4, 0, 15, 9, scales, microsoft);
    }
}

/* All codes of floats of 8 and 4 bits: sign, exponent, mantissa, by their definitions. */
static void
test_small_floats (void)
{
  static const struct
  {
    guint type, bits, mantissa;
    gint bias;
    gboolean has_infinity, zero_only;
  } forms[] = { { 17, 8, 3, 7, FALSE, FALSE },
                { 18, 8, 3, 8, FALSE, TRUE },
                { 19, 8, 2, 15, TRUE, FALSE },
                { 20, 8, 2, 16, FALSE, TRUE },
                { 23, 4, 1, 1, FALSE, FALSE } };
  static const gfloat half = 0.5f;
  for (guint f = 0; f < G_N_ELEMENTS (forms); f++) {
    const guint n = 1u << forms[f].bits, m_bits = forms[f].mantissa,
                e_bits = forms[f].bits - 1 - m_bits;
    guint8 codes[256];
    double expected[256];
    OnnxModel m;
    onnx_model_init (&m, 23, f);
    gfloat *x = onnx_model_floats (&m, "x", 1, DIMS (n));
    for (guint i = 0; i < n; i++) {
      const guint mantissa = i & ((1u << m_bits) - 1),
                  exponent = i >> m_bits & ((1u << e_bits) - 1);
      const double value = exponent == 0 ? mantissa * pow (2, 1 - forms[f].bias - (int) m_bits)
                                         : (1 + mantissa / (double) (1u << m_bits))
                                             * pow (2, (int) exponent - forms[f].bias);
      const gboolean top = forms[f].has_infinity && exponent == 31;
      const gboolean is_nan = forms[f].zero_only    ? i == 0x80
                              : forms[f].type == 17 ? (i & 0x7f) == 0x7f
                                                    : top && mantissa > 0;
      const guint code = is_nan ? 0 : i; /* a NaN sum differs between backends */
      codes[forms[f].bits == 4 ? i / 2 : i] =
        (guint8) (forms[f].bits == 4 && i % 2 ? codes[i / 2] | code << 4 : code);
      expected[i] = is_nan ? 0 : (i >> (forms[f].bits - 1) ? -0.5 : 0.5) * (top ? INFINITY : value);
      x[i] = 0;
    }
    add_constant (&m, "codes", forms[f].type, 1, DIMS (n), codes, n * forms[f].bits / 8);
    add_constant (&m, "scale", SL_ONNX_FLOAT, 0, NULL, &half, sizeof half);
    sl_onnx_writer_node (m.writer, "DequantizeLinear", "codes,scale", "w", NULL);
    sl_onnx_writer_node (m.writer, "Add", "x,w", "y", NULL);
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, n, expected, 1e-6);
    onnx_model_clear (&m);
  }
}

/* Rows of 40 numbers in blocks of 16, of which the last is not whole; zero points packed, as floats
 * or the middle. */
static void
run_few_bits (guint bits, guint zeros)
{
  enum
  {
    DEPTH = 40,
    SIZE = 16,
    BLOCKS = 3,
    OUTPUTS = 5
  };
  guint8 codes[OUTPUTS * BLOCKS * SIZE], packed[OUTPUTS * BLOCKS];
  gfloat scales[OUTPUTS * BLOCKS], real[OUTPUTS * BLOCKS], bias[OUTPUTS];
  double expected[2 * OUTPUTS];
  const gsize bytes = SIZE * bits / 8, row = (BLOCKS * bits + 7) / 8;
  g_autofree char *stated = g_strdup_printf ("bits i %u", bits);
  OnnxModel m;
  onnx_model_init (&m, 18, bits);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (2, DEPTH));
  for (guint i = 0; i < sizeof codes; i++)
    codes[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
  for (guint i = 0; i < OUTPUTS * BLOCKS; i++) {
    packed[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
    scales[i] = (gfloat) g_rand_double_range (m.rand, 0.01, 0.1);
    real[i] = (gfloat) g_rand_double_range (m.rand, 0, 3);
  }
  for (guint i = 0; i < OUTPUTS; i++)
    bias[i] = (gfloat) i;
  add_constant (&m, "codes", UINT8, 3, DIMS (OUTPUTS, BLOCKS, (gint64) bytes), codes,
                OUTPUTS * BLOCKS * bytes);
  add_constant (&m, "scales", SL_ONNX_FLOAT, 1, DIMS (OUTPUTS * BLOCKS), scales, sizeof scales);
  add_constant (&m, "packed", UINT8, 1, DIMS ((gint64) (OUTPUTS * row)), packed, OUTPUTS * row);
  add_constant (&m, "real", SL_ONNX_FLOAT, 1, DIMS (OUTPUTS * BLOCKS), real, sizeof real);
  add_constant (&m, "bias", SL_ONNX_FLOAT, 1, DIMS (OUTPUTS), bias, sizeof bias);
  sl_onnx_writer_node (m.writer, "com.microsoft.MatMulNBits",
                       zeros == 0   ? "x,codes,scales,,,bias"
                       : zeros == 1 ? "x,codes,scales,packed,,bias"
                                    : "x,codes,scales,real,,bias",
                       "y", "N i 5", "K i 40", "block_size i 16", stated, NULL);
  for (guint i = 0; i < 2 * OUTPUTS; i++) {
    const guint o = i % OUTPUTS;
    expected[i] = (double) bias[o];
    for (guint k = 0; k < DEPTH; k++) {
      const guint b = k / SIZE, at = k % SIZE * bits, mask = (1u << bits) - 1;
      const guint code = codes[(o * BLOCKS + b) * bytes + at / 8] >> at % 8 & mask;
      const double zero = zeros == 0 ? 1 << (bits - 1)
                          : zeros == 1
                            ? (double) (packed[o * row + b * bits / 8] >> b * bits % 8 & mask)
                            : (double) real[o * BLOCKS + b];
      expected[i] +=
        (double) x[i / OUTPUTS * DEPTH + k] * (code - zero) * (double) scales[o * BLOCKS + b];
    }
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 2 * OUTPUTS, expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_few_bits (void)
{
  for (guint bits = 2; bits <= 8; bits *= 2)
    for (guint zeros = 0; zeros < 3; zeros++)
      run_few_bits (bits, zeros);
}

static void
test_few_bits_refused (void)
{
  static const struct
  {
    const char *inputs, *attributes[4], *text;
  } rows[] = {
    { "x,codes,scales",
      { "N i 2", "K i 16", "block_size i 0", "bits i 4" },
      "attribute block_size is 0; expected a power of two from 16" },
    { "x,codes,scales",
      { "N i 2", "K i 16", "block_size i -16", "bits i 4" },
      "attribute block_size is -16; expected a power of two" },
    { "x,codes,scales",
      { "N i 2", "K i 16", "block_size i 24", "bits i 4" },
      "attribute block_size is 24; expected a power of two" },
    { "x,codes,scales",
      { "N i 2", "K i 16", "block_size i 16", "bits i 3" },
      "attribute bits is 3; expected 2, 4 or 8" },
    { "x,codes,scales",
      { "N i -2", "K i 16", "block_size i 16", "bits i 4" },
      "attributes N and K are -2 and 16; expected at least 1" },
    { "x,codes,scales",
      { "N i 2000000000", "K i 2000000000", "block_size i 16", "bits i 8" },
      "blocks in a row are over the limit" },
    { "x,codes,scales",
      { "N i 2000000000", "K i 16", "block_size i 16", "bits i 8" },
      "input 1 is uint8 with 16 elements; expected a constant uint8 with 32000000000" },
    { "x,x,scales",
      { "N i 2", "K i 16", "block_size i 16", "bits i 4" },
      "input 1 is float32 with 16 elements, computed from the picture" },
    { "x,codes,x",
      { "N i 2", "K i 16", "block_size i 16", "bits i 4" },
      "input 2 is float32 with 16 elements, computed from the picture" },
    { "x,codes,scales,,scales",
      { "N i 2", "K i 16", "block_size i 16", "bits i 4" },
      "input 4, groups of its columns, is not supported" },
  };
  static const guint8 codes[16];
  static const gfloat scales[2];
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    onnx_model_floats (&m, "x", 2, DIMS (1, 16));
    add_constant (&m, "codes", UINT8, 1, DIMS (16), codes, sizeof codes);
    add_constant (&m, "scales", SL_ONNX_FLOAT, 1, DIMS (2), scales, sizeof scales);
    sl_onnx_writer_node (m.writer, "com.microsoft.MatMulNBits", rows[i].inputs, "y",
                         rows[i].attributes[0], rows[i].attributes[1], rows[i].attributes[2],
                         rows[i].attributes[3], NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

/* Codes of a float input, and the zero point of the weights; results real or codes. */
static void
test_qgemm (gconstpointer data)
{
  const gboolean real = GPOINTER_TO_INT (data);
  static const gfloat xs = 0.02f, ys = 0.1f;
  static const guint8 xz = 128, yz = 100;
  guint8 weights[COLUMNS * ROWS];
  gfloat ws[COLUMNS];
  gint8 wz[COLUMNS] = { 0 };
  gint32 bias[COLUMNS];
  double expected[3 * COLUMNS];
  OnnxModel m;
  onnx_model_init (&m, 18, 3);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (3, ROWS));
  for (guint i = 0; i < sizeof weights; i++)
    weights[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
  for (guint i = 0; i < COLUMNS; i++) {
    ws[i] = (gfloat) g_rand_double_range (m.rand, 0.001, 0.01);
    bias[i] = g_rand_int_range (m.rand, -1000, 1000);
  }
  add_constant (&m, "xs", SL_ONNX_FLOAT, 0, NULL, &xs, sizeof xs);
  add_constant (&m, "xz", UINT8, 0, NULL, &xz, 1);
  add_constant (&m, "ys", SL_ONNX_FLOAT, 0, NULL, &ys, sizeof ys);
  add_constant (&m, "yz", UINT8, 0, NULL, &yz, 1);
  add_constant (&m, "w", INT8, 2, DIMS (COLUMNS, ROWS), weights, sizeof weights);
  add_constant (&m, "ws", SL_ONNX_FLOAT, 1, DIMS (COLUMNS), ws, sizeof ws);
  add_constant (&m, "wz", INT8, 1, DIMS (COLUMNS), wz, sizeof wz);
  add_constant (&m, "b", INT32, 1, DIMS (COLUMNS), bias, sizeof bias);
  sl_onnx_writer_node (m.writer, "QuantizeLinear", "x,xs,xz", "q", NULL);
  sl_onnx_writer_node (m.writer, "com.microsoft.QGemm",
                       real ? "q,xs,xz,w,ws,wz,b" : "q,xs,xz,w,ws,wz,b,ys,yz", real ? "y" : "p",
                       "transB i 1", NULL);
  if (!real)
    sl_onnx_writer_node (m.writer, "DequantizeLinear", "p,ys,yz", "y", NULL);
  for (guint i = 0; i < 3 * COLUMNS; i++) {
    double sum = bias[i % COLUMNS];
    for (guint k = 0; k < ROWS; k++)
      sum += (CLAMP (rint ((double) (x[i / COLUMNS * ROWS + k] / xs)), -128, 127))
             * (gint8) weights[i % COLUMNS * ROWS + k];
    sum *= (double) xs * (double) ws[i % COLUMNS];
    expected[i] = real ? sum : (CLAMP (rint (sum / (double) ys) + yz, 0, 255) - yz) * (double) ys;
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 3 * COLUMNS, expected, 1e-5);
  onnx_model_clear (&m);
}

static void
test_qlinear_softmax (void)
{
  static const gfloat xs = 0.02f, ys = 1 / 256.0f;
  static const guint8 xz = 128, yz = 0;
  double expected[ROWS * COLUMNS];
  OnnxModel m;
  onnx_model_init (&m, 18, 4);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (ROWS, COLUMNS));
  add_constant (&m, "xs", SL_ONNX_FLOAT, 0, NULL, &xs, sizeof xs);
  add_constant (&m, "xz", UINT8, 0, NULL, &xz, 1);
  add_constant (&m, "ys", SL_ONNX_FLOAT, 0, NULL, &ys, sizeof ys);
  add_constant (&m, "yz", UINT8, 0, NULL, &yz, 1);
  sl_onnx_writer_node (m.writer, "QuantizeLinear", "x,xs,xz", "q", NULL);
  sl_onnx_writer_node (m.writer, "com.microsoft.QLinearSoftmax", "q,xs,xz,ys,yz", "p", "axis i -1",
                       "opset i 13", NULL);
  sl_onnx_writer_node (m.writer, "DequantizeLinear", "p,ys,yz", "y", NULL);
  for (guint row = 0; row < ROWS; row++) {
    double all = 0, powers[COLUMNS];
    for (guint i = 0; i < COLUMNS; i++)
      all += powers[i] =
        exp (CLAMP (rint ((double) (x[row * COLUMNS + i] / xs)), -128, 127) * (double) xs);
    for (guint i = 0; i < COLUMNS; i++)
      expected[row * COLUMNS + i] = CLAMP (rint (powers[i] / all * 256), 0, 255) / 256;
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, ROWS * COLUMNS, expected,
                     1.01 / 256); /* a code at a half may go either way */
  onnx_model_clear (&m);
}

/* The input gets codes by its own range, which 0 is in. */
static void
test_dynamic (gconstpointer data)
{
  const gboolean apart =
    GPOINTER_TO_INT (data); /* DynamicQuantizeLinear, then MatMulIntegerToFloat */
  static const guint8 zero = 117;
  guint8 weights[ROWS * COLUMNS];
  gfloat scales[COLUMNS], bias[COLUMNS];
  double expected[3 * COLUMNS], low = 0, high = 0;
  OnnxModel m;
  onnx_model_init (&m, 18, 5);
  const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (3, ROWS));
  for (guint i = 0; i < sizeof weights; i++)
    weights[i] = (guint8) g_rand_int_range (m.rand, 0, 256);
  for (guint i = 0; i < COLUMNS; i++) {
    scales[i] = (gfloat) g_rand_double_range (m.rand, 0.001, 0.01);
    bias[i] = (gfloat) i;
  }
  add_constant (&m, "w", UINT8, 2, DIMS (ROWS, COLUMNS), weights, sizeof weights);
  add_constant (&m, "s", SL_ONNX_FLOAT, 1, DIMS (COLUMNS), scales, sizeof scales);
  add_constant (&m, "z", UINT8, 0, NULL, &zero, 1);
  add_constant (&m, "b", SL_ONNX_FLOAT, 1, DIMS (COLUMNS), bias, sizeof bias);
  if (apart) {
    sl_onnx_writer_node (m.writer, "DynamicQuantizeLinear", "x", "q,qs,qz", NULL);
    sl_onnx_writer_node (m.writer, "com.microsoft.MatMulIntegerToFloat", "q,w,qs,s,qz,z,b", "y",
                         NULL);
  } else {
    sl_onnx_writer_node (m.writer, "com.microsoft.DynamicQuantizeMatMul", "x,w,s,z,b", "y", NULL);
  }
  for (guint i = 0; i < 3 * ROWS; i++) {
    low = fmin (low, (double) x[i]);
    high = fmax (high, (double) x[i]);
  }
  const gfloat step = (gfloat) (high - low) / 255;
  const double middle = CLAMP (rint ((double) (-(gfloat) low / step)), 0, 255);
  for (guint i = 0; i < 3 * COLUMNS; i++) {
    expected[i] = 0;
    for (guint k = 0; k < ROWS; k++)
      expected[i] +=
        (CLAMP (rint ((double) (x[i / COLUMNS * ROWS + k] / step)) + middle, 0, 255) - middle)
        * (weights[k * COLUMNS + i % COLUMNS] - zero);
    expected[i] =
      expected[i] * (double) step * (double) scales[i % COLUMNS] + (double) bias[i % COLUMNS];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 3 * COLUMNS, expected, 1e-5);
  onnx_model_clear (&m);
}

/* Two matrices that are both computed, as in attention: by scales of the file, or by their own
 * ranges. */
static void
test_computed_product (gconstpointer data)
{
  const gboolean dynamic = GPOINTER_TO_INT (data);
  static const gfloat scales[3] = { 0.02f, 0.025f, 0.15f };
  static const guint8 zeros[3] = { 128, 120, 127 };
  static const char *const names[6] = { "s0", "s1", "s2", "z0", "z1", "z2" };
  double expected[2 * 9], codes[2][2 * 3 * ROWS], step[2] = { 0.02, 0.025 };
  OnnxModel m;
  onnx_model_init (&m, 18, 6);
  const gfloat *in[2] = { onnx_model_floats (&m, "a", 3, DIMS (2, 3, ROWS)),
                          onnx_model_floats (&m, "b", 3, DIMS (2, ROWS, 3)) };
  for (guint i = 0; i < 3; i++) {
    add_constant (&m, names[i], SL_ONNX_FLOAT, 0, NULL, &scales[i], sizeof scales[i]);
    add_constant (&m, names[3 + i], UINT8, 0, NULL, &zeros[i], 1);
  }
  if (dynamic) {
    sl_onnx_writer_node (m.writer, "DynamicQuantizeLinear", "a", "qa,sa,za", NULL);
    sl_onnx_writer_node (m.writer, "DynamicQuantizeLinear", "b", "qb,sb,zb", NULL);
    sl_onnx_writer_node (m.writer, "MatMulInteger", "qa,qb,za,zb", "sums", NULL);
    sl_onnx_writer_node (m.writer, "Cast", "sums", "real", "to i 1", NULL);
    sl_onnx_writer_node (m.writer, "Mul", "sa,sb", "s", NULL);
    sl_onnx_writer_node (m.writer, "Mul", "real,s", "y", NULL);
  } else {
    sl_onnx_writer_node (m.writer, "QuantizeLinear", "a,s0,z0", "qa", NULL);
    sl_onnx_writer_node (m.writer, "QuantizeLinear", "b,s1,z1", "qb", NULL);
    sl_onnx_writer_node (m.writer, "QLinearMatMul", "qa,s0,z0,qb,s1,z1,s2,z2", "q", NULL);
    sl_onnx_writer_node (m.writer, "DequantizeLinear", "q,s2,z2", "y", NULL);
  }
  for (guint k = 0; k < 2; k++) {
    double low = 0, high = 0, zero = zeros[k];
    for (guint i = 0; i < 6 * ROWS; i++) {
      low = fmin (low, (double) in[k][i]);
      high = fmax (high, (double) in[k][i]);
    }
    const gfloat one = dynamic ? (gfloat) (high - low) / 255 : scales[k];
    zero = dynamic ? CLAMP (rint ((double) (-(gfloat) low / one)), 0, 255) : zero;
    step[k] = (double) one;
    for (guint i = 0; i < 6 * ROWS; i++)
      codes[k][i] = CLAMP (rint ((double) (in[k][i] / one)) + zero, 0, 255) - zero;
  }
  for (guint i = 0; i < 18; i++) {
    double sum = 0;
    for (guint k = 0; k < ROWS; k++)
      sum += codes[0][i / 3 * ROWS + k] * codes[1][(i / 9 * ROWS + k) * 3 + i % 3];
    sum *= step[0] * step[1];
    expected[i] = dynamic ? sum
                          : (CLAMP (rint (sum / (double) scales[2]) + zeros[2], 0, 255) - zeros[2])
                              * (double) scales[2];
  }
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 18, expected, 1e-5);
  onnx_model_clear (&m);
}

/* One number without dimensions to 16 bits and back. */
static void
test_scalar_codes (void)
{
  static const gfloat scale = 0.01f;
  static const gint16 zero = 3;
  double expected[1] = { 0 };
  OnnxModel m;
  onnx_model_init (&m, 21, 1);
  const gfloat *x = onnx_model_floats (&m, "x", 1, DIMS (3));
  add_constant (&m, "scale", SL_ONNX_FLOAT, 0, NULL, &scale, sizeof scale);
  add_constant (&m, "zero", INT16, 0, NULL, &zero, sizeof zero);
  sl_onnx_writer_node (m.writer, "ReduceMax", "x", "s", "keepdims i 0", NULL);
  sl_onnx_writer_node (m.writer, "QuantizeLinear", "s,scale,zero", "q", NULL);
  sl_onnx_writer_node (m.writer, "DequantizeLinear", "q,scale,zero", "y", NULL);
  expected[0] = rint ((double) (MAX (MAX (x[0], x[1]), x[2]) / scale)) * (double) scale;
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 1, expected, 1e-6);
  onnx_model_clear (&m);
}

/* A product with something that has no rows. */
static void
test_scalar (void)
{
  static const char *const ops[] = { "com.microsoft.DynamicQuantizeMatMul",
                                     "com.microsoft.MatMulNBits", "com.microsoft.Attention" };
  static const guint8 codes[16 * 16];
  static const gfloat scale = 1, weights[16 * 3];
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    OnnxModel m;
    onnx_model_init (&m, 18, i);
    onnx_model_floats (&m, "x", 1, DIMS (16));
    sl_onnx_writer_node (m.writer, "ReduceSum", "x", "s", "keepdims i 0", NULL);
    add_constant (&m, "codes", UINT8, 2, i == 0 ? DIMS (16, 16) : DIMS (1, 16), codes,
                  i == 0 ? 256 : 16);
    add_constant (&m, "scale", SL_ONNX_FLOAT, 1, DIMS (1), &scale, sizeof scale);
    add_constant (&m, "w", SL_ONNX_FLOAT, 2, DIMS (16, 3), weights, sizeof weights);
    sl_onnx_writer_node (m.writer, ops[i], i == 2 ? "s,w" : "s,codes,scale", "y", "num_heads i 1",
                         "N i 1", "K i 16", "bits i 8", "block_size i 16", NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, i == 1 ? "the weights take 16 values a row" : "a scalar is no matrix");
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/codes/weights", test_weights);
  g_test_add_func ("/onnx/codes/large-weights", test_large_weights);
  g_test_add_func ("/onnx/codes/activations", test_activations);
  g_test_add_func ("/onnx/codes/small-floats", test_small_floats);
  g_test_add_func ("/onnx/codes/few-bits", test_few_bits);
  g_test_add_func ("/onnx/codes/few-bits-refused", test_few_bits_refused);
  g_test_add_data_func ("/onnx/codes/qgemm", GINT_TO_POINTER (0), test_qgemm);
  g_test_add_data_func ("/onnx/codes/qgemm-real", GINT_TO_POINTER (1), test_qgemm);
  g_test_add_func ("/onnx/codes/qlinear-softmax", test_qlinear_softmax);
  g_test_add_data_func ("/onnx/codes/dynamic", GINT_TO_POINTER (0), test_dynamic);
  g_test_add_data_func ("/onnx/codes/dynamic-apart", GINT_TO_POINTER (1), test_dynamic);
  g_test_add_data_func ("/onnx/codes/computed-product", GINT_TO_POINTER (0), test_computed_product);
  g_test_add_data_func ("/onnx/codes/computed-product-dynamic", GINT_TO_POINTER (1),
                        test_computed_product);
  g_test_add_func ("/onnx/codes/scalar", test_scalar);
  g_test_add_func ("/onnx/codes/scalar-codes", test_scalar_codes);
  return g_test_run ();
}
