/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scales of blocks, as files have them since opset 21, against their definition in double
 * precision; types of codes that are refused. */
#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define ROWS 6
#define COLUMNS 4
/* Numbers of ONNX's element types. */
#define UINT8 2
#define INT8 3
#define INT32 6

static void
add_constant (OnnxModel *m, const char *name, guint type, gint64 rows, gint64 columns,
              const void *data, gsize bytes)
{
  sl_onnx_message (m->writer->graph, 5,
                   sl_onnx_tensor (name, type, 2, DIMS (rows, columns), data, bytes));
}

/* Weights in blocks along either dimension, the last one not whole; with zero points and without.
 */
static void
test_blocks (void)
{
  static const gint64 shapes[][3] = {
    { 0, 3, 2 }, { 0, 4, 2 }, { 1, 2, 2 }, { 1, 3, 2 }, { 0, 1, 6 }
  };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (shapes); i++) {
    const gboolean along_rows = shapes[i / 2][0] == 0, with_zeros = i & 1;
    const guint size = (guint) shapes[i / 2][1], blocks = (guint) shapes[i / 2][2];
    const gint64 rows = along_rows ? blocks : ROWS, columns = along_rows ? COLUMNS : blocks;
    guint8 codes[ROWS * COLUMNS], zeros[ROWS * COLUMNS] = { 0 };
    gfloat scales[ROWS * COLUMNS];
    double expected[ROWS * COLUMNS];
    OnnxModel m;
    onnx_model_init (&m, 21, i);
    const gfloat *x = onnx_model_floats (&m, "x", 2, DIMS (ROWS, COLUMNS));
    for (guint k = 0; k < ROWS * COLUMNS; k++) {
      codes[k] = (guint8) g_rand_int_range (m.rand, 0, 256);
      zeros[k] = with_zeros ? (guint8) g_rand_int_range (m.rand, 0, 256) : 0;
      scales[k] = (gfloat) g_rand_double_range (m.rand, 0.01, 0.1);
    }
    add_constant (&m, "codes", with_zeros ? UINT8 : INT8, ROWS, COLUMNS, codes, sizeof codes);
    add_constant (&m, "scales", SL_ONNX_FLOAT, rows, columns, scales,
                  (gsize) (rows * columns) * sizeof scales[0]);
    add_constant (&m, "zeros", UINT8, rows, columns, zeros, (gsize) (rows * columns));
    g_autofree char *block = g_strdup_printf ("block_size i %u", size);
    sl_onnx_writer_node (m.writer, "DequantizeLinear",
                         with_zeros ? "codes,scales,zeros" : "codes,scales", "w", block,
                         along_rows ? "axis i 0" : "axis i 1", NULL);
    sl_onnx_writer_node (m.writer, "Add", "x,w", "y", NULL);
    for (guint k = 0; k < ROWS * COLUMNS; k++) {
      const guint row = k / COLUMNS, column = k % COLUMNS;
      const guint at = along_rows ? row / size * COLUMNS + column : row * blocks + column / size;
      const int code = with_zeros ? codes[k] - zeros[at] : (gint8) codes[k];
      expected[k] = (double) x[k] + code * (double) scales[at];
    }
    onnx_model_expect (&m, "y", SL_ONNX_FLOAT, ROWS * COLUMNS, expected, 1e-6);
    onnx_model_clear (&m);
  }
}

static void
test_blocks_that_do_not_fit (void)
{
  static const char *const sizes[] = { "block_size i 2", "block_size i -3",
                                       "block_size i 9223372036854775807" };
  static const gfloat scales[2 * COLUMNS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
  static const guint8 codes[ROWS * COLUMNS];
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    OnnxModel m;
    onnx_model_init (&m, 21, i);
    onnx_model_floats (&m, "x", 2, DIMS (ROWS, COLUMNS));
    add_constant (&m, "codes", INT8, ROWS, COLUMNS, codes, sizeof codes);
    add_constant (&m, "scales", SL_ONNX_FLOAT, 2, COLUMNS, scales, sizeof scales);
    sl_onnx_writer_node (m.writer, "DequantizeLinear", "codes,scales", "w", "axis i 0", sizes[i],
                         NULL);
    sl_onnx_writer_node (m.writer, "Add", "x,w", "y", NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, "its scales do not fit blocks of");
    onnx_model_clear (&m);
  }
}

/* Zero points of other types than their values have, and of types that no quantised value has. */
static void
test_zero_points (void)
{
  static const gfloat scales[2 * COLUMNS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
  static const guint8 bytes[4 * ROWS * COLUMNS];
  static const struct
  {
    gint codes, zeros;
    gsize size;
    const char *text;
  } wrong[] = {
    { UINT8, INT32, 4, "its zero point is int32 for values of uint8; expected the same type" },
    { INT32, UINT8, 1, "its zero point is uint8 for values of int32; expected the same type" },
    { UINT8, SL_ONNX_BOOL, 1, "its zero point is bool; expected uint8, int8 or int32" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    OnnxModel m;
    onnx_model_init (&m, 21, i);
    onnx_model_floats (&m, "x", 2, DIMS (ROWS, COLUMNS));
    add_constant (&m, "codes", wrong[i].codes, ROWS, COLUMNS, bytes,
                  ROWS * COLUMNS * (wrong[i].codes == INT32 ? 4 : 1));
    add_constant (&m, "scales", SL_ONNX_FLOAT, 2, COLUMNS, scales, sizeof scales);
    add_constant (&m, "zeros", wrong[i].zeros, 2, COLUMNS, bytes, 2 * COLUMNS * wrong[i].size);
    sl_onnx_writer_node (m.writer, "DequantizeLinear", "codes,scales,zeros", "w", "axis i 0",
                         "block_size i 3", NULL);
    sl_onnx_writer_node (m.writer, "Add", "x,w", "y", NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, wrong[i].text);
    onnx_model_clear (&m);
  }
}

static void
test_computed_codes (void)
{
  static const struct
  {
    const char *attribute, *text;
    gint64 rows;
  } wrong[] = {
    { "block_size i 4",
      "its scales do not fit blocks of 4 along dimension 0 of size 6; expected one scale", 2 },
    { "block_size i 0",
      "its scales do not fit blocks of 0 along dimension 0 of size 6; expected one scale", 2 },
    { "block_size i -3", "its scales do not fit blocks of -3 along dimension 0", 2 },
    { "block_size i 9223372036854775807", "its scales do not fit blocks of 9223372036854775807",
      2 },
    { "output_dtype i 17", "its codes are float8e4m3fn; expected whole numbers of 4, 8 or 16 bits",
      1 },
    { "output_dtype i 6", "its codes are int32; expected whole numbers of 4, 8 or 16 bits", 1 },
    { "output_dtype i -1", "its codes are a type newer than int2; expected whole numbers", 1 },
  };
  static const gfloat scales[2 * COLUMNS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    OnnxModel m;
    onnx_model_init (&m, 21, i);
    onnx_model_floats (&m, "x", 2, DIMS (ROWS, COLUMNS));
    const gint64 columns = wrong[i].rows > 1 ? COLUMNS : 1;
    add_constant (&m, "scales", SL_ONNX_FLOAT, wrong[i].rows, columns, scales,
                  (gsize) (wrong[i].rows * columns) * sizeof scales[0]);
    sl_onnx_writer_node (m.writer, "QuantizeLinear", "x,scales", "y", "axis i 0",
                         wrong[i].attribute, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, wrong[i].text);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx/quant/blocks", test_blocks);
  g_test_add_func ("/onnx/quant/blocks-that-do-not-fit", test_blocks_that_do_not_fit);
  g_test_add_func ("/onnx/quant/zero-points", test_zero_points);
  g_test_add_func ("/onnx/quant/computed-codes", test_computed_codes);
  return g_test_run ();
}
