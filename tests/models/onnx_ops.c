/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ONNX's operators refuse, and how it is said. */
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"

/**
 * Row: a node of inputs x float32[1,3,8,8], m float32[4,6], i int64[4,2], r float32[50,4], p int64[50], v float32[1,3,4,4,4],
 * k float32[4,3,3,3], the scalar s, and the constants c, whole numbers, and f, as many floats
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
  { "Conv", "x,k", "kernel_shape I 5,5", 1, { 0 }, SL_ERROR_SHAPE, "attribute kernel_shape is 5,5, but its weights are for 3,3" },
  { "Conv", "x,k", "auto_pad s SAME", 1, { 0 }, SL_ERROR_UNSUPPORTED, "attribute auto_pad is 'SAME'; expected one of NOTSET, SAME_UPPER" },
  { "Conv", "m,k", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "its input has 2 dimensions; only 1 or 2 behind batch and channels" },
  { "Conv", "v,k", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "its input has 5 dimensions; only 1 or 2 behind batch and channels" },
  { "MaxPool", "v", "kernel_shape I 2,2", 1, { 0 }, SL_ERROR_UNSUPPORTED, "its input has 5 dimensions; only 1 or 2 behind batch" },
  { "CumSum", "m,i", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "the axis, input 1, is computed from the picture" },
  { "CumSum", "m,c", "unused i 0", 1, { 2 }, SL_ERROR_FORMAT, "axis 2 is outside a tensor of 2 dimensions" },
  { "CumSum", "m,c", "unused i 0", 2, { 0, 1 }, SL_ERROR_FORMAT, "the axis, input 1, is int32 with 2 elements; expected at most 1" },
  { "CumSum", "m,f", "unused i 0", 1, { 0 }, SL_ERROR_FORMAT, "is float32 with 1 elements; expected at most 1 of int32" },
  { "CumSum", "m", "unused i 0", 1, { 0 }, SL_ERROR_FORMAT, "input 1 is missing" },
  { "TopK", "s,c", "axis i -1", 1, { 1 }, SL_ERROR_FORMAT, "axis -1 is outside a tensor of 0 dimensions" },
  { "Trilu", "c", "unused i 0", 3, { 0, 1, 2 }, SL_ERROR_SHAPE, "its input has 1 dimensions; expected matrices" },
  { "Trilu", "m,i", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "the diagonal, input 1, is computed from the picture" },
  { "IsInf", "i", "detect_negative i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "is int32 but 'y' is float32; expected the same type" },
  { "GridSample", "x,x", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "expected [N,C,H,W] and [N,rows,columns,2]" },
  { "GridSample", "x,m", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "its input has 4 dimensions, its grid 2" },
  { "GridSample", "x,x", "mode s bilinear", 1, { 0 }, SL_ERROR_UNSUPPORTED, "mode is 'bilinear'; expected one of linear, nearest, cubic" },
  { "GridSample", "x,x", "padding_mode s zero", 1, { 0 }, SL_ERROR_UNSUPPORTED, "'zero'; expected one of zeros, border, reflection" },
  { "GatherElements", "m,c", "unused i 0", 2, { 0, 1 }, SL_ERROR_SHAPE, "int32[2] do not lie in float32[4,6] along dimension 0" },
  { "GatherElements", "f,c", "unused i 0", 2, { 1, 2 }, SL_ERROR_FORMAT, "index 2 is outside -2..1" },
  { "GatherElements", "f,c", "unused i 0", 2, { -3, 1 }, SL_ERROR_FORMAT, "index -3 is outside -2..1" },
  { "GatherElements", "m,i", "axis i -3", 1, { 0 }, SL_ERROR_FORMAT, "axis -3 is outside a tensor of 2 dimensions" },
  { "GatherElements", "m,m", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "is float32; supported: int32" },
  { "ScatterElements", "m,i,m", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "expected one shape" },
  { "ScatterElements", "m,i,i", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "expected the same type" },
  { "ScatterElements", "f,c,f", "axis i 1", 2, { 0, 1 }, SL_ERROR_FORMAT, "axis 1 is outside a tensor of 1 dimensions" },
  { "ScatterElements", "f,c,f", "unused i 0", 2, { 0, 2 }, SL_ERROR_FORMAT, "index 2 is outside -2..1" },
  { "ScatterElements", "f,c,f", "reduction s sum", 2, { 0, 1 }, SL_ERROR_UNSUPPORTED, "'sum'; expected one of none, add, mul, max, min" },
  { "ScatterND", "m,c,f", "unused i 0", 2, { 3, 6 }, SL_ERROR_SHAPE, "do not fit float32[4,6]" },
  { "ScatterND", "m,c,m", "unused i 0", 3, { 0, 0, 0 }, SL_ERROR_SHAPE, "do not fit float32[4,6]" },
  { "ScatterND", "m,i,m", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "expected coordinates in the last dimension, and a slice for each" },
  { "OneHot", "i,i,f", "unused i 0", 2, { 0, 1 }, SL_ERROR_UNSUPPORTED, "the depth, input 1, is computed from the picture" },
  { "OneHot", "i,c,f", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "a depth of 0" },
  { "OneHot", "i,c,f", "unused i 0", 1, { 4 }, SL_ERROR_SHAPE, "values of 1 dimensions; expected" },
  { "OneHot", "i,c,m", "axis i 3", 1, { 4 }, SL_ERROR_FORMAT, "axis 3 is outside a tensor of 3 dimensions" },
  { "NonMaxSuppression", "x,x,c", "unused i 0", 1, { 5 }, SL_ERROR_SHAPE, "expected [B,N,4] and [B,C,N]" },
  { "NonMaxSuppression", "x,x,i", "unused i 0", 1, { 5 }, SL_ERROR_UNSUPPORTED, "the largest number of boxes, input 2, is computed" },
  { "NonMaxSuppression", "x,x,c,m", "unused i 0", 1, { 5 }, SL_ERROR_UNSUPPORTED, "the overlap, input 3, is computed" },
  { "NonMaxSuppression", "x,x,c,f", "unused i 0", 1, { 2 }, SL_ERROR_FORMAT, "2 boxes of a class, overlaps up to 2 and scores from -inf" },
  { "NonMaxSuppression", "x,x,c,f,f", "unused i 0", 2, { 1, 1 }, SL_ERROR_FORMAT, "with 2 elements; expected at most 1" },
  { "Resize",
    "x,,,i",
    "unused i 0",
    1,
    { 0 },
    SL_ERROR_UNSUPPORTED,
    "the sizes, input 3, are computed from the picture, as those of masks" },
  { "Resize", "x,,m", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "(of torchvision's Mask R-CNN: without paste_masks_in_image)" },
  { "Scan", "m,m", "num_scan_inputs i 1", 1, { 0 }, SL_ERROR_UNSUPPORTED, "operator Scan is not supported; export the model without it" },
  { "RoiAlign", "x,m,c", "unused i 0", 4, { 0, 0, 0, 0 }, SL_ERROR_SHAPE, "regions float32[4,6] of pictures int32[4]; expected" },
  { "RoiAlign", "m,m,c", "unused i 0", 4, { 0, 0, 0, 0 }, SL_ERROR_SHAPE, "its input has 2 dimensions; expected 4" },
  { "RoiAlign", "x,m,f", "unused i 0", 4, { 0, 0, 0, 0 }, SL_ERROR_UNSUPPORTED, "is float32; supported: int32" },
  { "RoiAlign", "x,m,c", "sampling_ratio i -1", 1, { 0 }, SL_ERROR_FORMAT, "attribute sampling_ratio is -1; expected 0 to 32767" },
  { "RoiAlign", "x,r,p", "sampling_ratio i 32767", 1, { 0 }, SL_ERROR_LIMIT, "644.2 billion multiply-adds" },
  { "RoiAlign", "x,m,c", "output_width i 0", 1, { 0 }, SL_ERROR_FORMAT, "attribute output_width is 0; expected 1 to 32767" },
  { "RoiAlign", "x,m,c", "mode s sum", 1, { 0 }, SL_ERROR_UNSUPPORTED, "mode is 'sum'; expected one of avg, max" },
  { "RoiAlign", "x,m,c", "coordinate_transformation_mode s half", 1, { 0 }, SL_ERROR_UNSUPPORTED, "one of half_pixel, output_half_pixel" },
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
  sl_onnx_writer_input (writer, "r", SL_ONNX_FLOAT, 2, (const gint64[]){ 50, 4 });
  sl_onnx_writer_input (writer, "p", SL_ONNX_INT64, 1, (const gint64[]){ 50 });
  sl_onnx_writer_input (writer, "v", SL_ONNX_FLOAT, 5, (const gint64[]){ 1, 3, 4, 4, 4 });
  sl_onnx_writer_input (writer, "k", SL_ONNX_FLOAT, 4, (const gint64[]){ 4, 3, 3, 3 });
  sl_onnx_writer_node (writer, "ReduceSum", "m", "s", "keepdims i 0", NULL);
  for (guint i = 0; i < row->n; i++)
    floats[i] = (gfloat) row->values[i];
  sl_onnx_writer_ints (writer, "c", row->n, row->values);
  sl_onnx_writer_floats (writer, "f", 1, (const gint64[]){ row->n }, floats);
  sl_onnx_writer_node (writer, row->op, row->inputs, "y", row->attribute, NULL);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_autofree char *path = write_temp ("model.onnx", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  g_assert_null (sl_model_load (path, NULL, &error));
  /* Limits are the whole model's. */
  expect_error (&error, row->code, path, row->code == SL_ERROR_LIMIT ? "" : row->op, row->text, NULL);
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
