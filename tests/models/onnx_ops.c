/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ONNX's operators refuse, and how it is said. */
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"

/**
 * Row: a node of inputs x float32[1,3,8,8], m float32[4,6], i int64[4,2], and the constants c, whole numbers, and f, as many floats
 * @n, @values: of c and f
 */
typedef struct
{
  const char *op, *inputs, *attribute;
  guint n;
  gint64 values[6];
  SlError code;
  const char *text;
} Row;

static const Row rows[] = {
  { "CumSum", "m,i", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "the axis, input 1, is computed from the picture" },
  { "CumSum", "m,c", "unused i 0", 1, { 2 }, SL_ERROR_FORMAT, "axis 2 is outside a tensor of 2 dimensions" },
  { "CumSum", "m,c", "unused i 0", 2, { 0, 1 }, SL_ERROR_FORMAT, "the axis, input 1, is int32 with 2 elements; expected at most 1" },
  { "CumSum", "m,f", "unused i 0", 1, { 0 }, SL_ERROR_FORMAT, "is float32 with 1 elements; expected at most 1 of int32" },
  { "CumSum", "m", "unused i 0", 1, { 0 }, SL_ERROR_FORMAT, "input 1 is missing" },
  { "Trilu", "c", "unused i 0", 3, { 0, 1, 2 }, SL_ERROR_SHAPE, "its input has 1 dimensions; expected matrices" },
  { "Trilu", "m,i", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "the diagonal, input 1, is computed from the picture" },
  { "IsInf", "i", "detect_negative i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "is int32 but 'y' is float32; expected the same type" },
  { "GridSample", "x,x", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "expected [N,C,H,W] and [N,rows,columns,2]" },
  { "GridSample", "x,m", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "its input has 4 dimensions, its grid 2" },
  { "GridSample", "x,x", "mode s bilinear", 1, { 0 }, SL_ERROR_UNSUPPORTED, "mode is 'bilinear'; expected one of linear, nearest, cubic" },
  { "GridSample", "x,x", "padding_mode s zero", 1, { 0 }, SL_ERROR_UNSUPPORTED, "'zero'; expected one of zeros, border, reflection" },
};

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  gfloat floats[G_N_ELEMENTS (row->values)];
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (20);
  g_autoptr (GError) error = NULL;
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 4, (const gint64[]){ 1, 3, 8, 8 });
  sl_onnx_writer_input (writer, "m", SL_ONNX_FLOAT, 2, (const gint64[]){ 4, 6 });
  sl_onnx_writer_input (writer, "i", SL_ONNX_INT64, 2, (const gint64[]){ 4, 2 });
  for (guint i = 0; i < row->n; i++)
    floats[i] = (gfloat) row->values[i];
  sl_onnx_writer_ints (writer, "c", row->n, row->values);
  sl_onnx_writer_floats (writer, "f", 1, (const gint64[]){ row->n }, floats);
  sl_onnx_writer_node (writer, row->op, row->inputs, "y", row->attribute, NULL);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *path = write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, row->code, path, row->op, row->text, NULL);
  sl_tflite_remove_temp (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strdup_printf ("/onnx-ops/%s/%u", rows[i].op, i);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  return g_test_run ();
}
