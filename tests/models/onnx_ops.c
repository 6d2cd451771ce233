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
  { "Conv", "v,k", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "its weights have 4 dimensions, 3 planes of a kernel of 1; expected 5" },
  { "Conv", "x,k", "group i 2", 1, { 0 }, SL_ERROR_SHAPE, "weights float32[4,3,3,3] and 2 groups do not fit 3 channels" },
  { "ConvTranspose",
    "v,v",
    "unused i 0",
    1,
    { 0 },
    SL_ERROR_UNSUPPORTED,
    "its input has 5 dimensions; only 1 or 2 behind batch and channels" },
  { "MaxPool", "v", "kernel_shape I 2,2", 1, { 0 }, SL_ERROR_FORMAT, "attribute kernel_shape has 2 numbers; expected 3" },
  { "MaxPool", "v", "kernel_shape I 0,2,2", 1, { 0 }, SL_ERROR_FORMAT, "attribute kernel_shape has 0; expected 1 to 32767" },
  { "MaxPool", "v", "strides I 1,1,1", 1, { 0 }, SL_ERROR_FORMAT, "attribute kernel_shape is missing" },
  { "AveragePool", "v", "kernel_shape I 9,1,1", 1, { 0 }, SL_ERROR_SHAPE, "a 9x1 window does not fit a 4x16 input" },
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
  { "Scan", "m,m", "num_scan_inputs i 1", 1, { 0 }, SL_ERROR_FORMAT, "it has no body" },
  { "StringConcat",
    "m,m",
    "unused i 0",
    1,
    { 0 },
    SL_ERROR_UNSUPPORTED,
    "operator StringConcat is not supported; export the model without it" },
  { "Attention",
    "m,m,m",
    "unused i 0",
    1,
    { 0 },
    SL_ERROR_SHAPE,
    "queries are float32[4,6] and have 0 heads; expected [batch,rows,heads * depth]" },
  { "Attention", "x,x,v", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "values are float32[1,3,4,4,4] and have 0 heads" },
  { "Attention", "x,x,x", "scale f nan", 1, { 0 }, SL_ERROR_FORMAT, "a scale of nan and a softcap of 0; expected finite numbers" },
  { "Attention", "x,x,x,x", "softcap f 2", 1, { 0 }, SL_ERROR_UNSUPPORTED, "attribute softcap is 2 beside a mask; expected 0" },
  { "RotaryEmbedding",
    "x,m,m",
    "rotary_embedding_dim i 7",
    1,
    { 0 },
    SL_ERROR_FORMAT,
    "rotary_embedding_dim is 7 for a depth of 8; expected an even number" },
  { "RotaryEmbedding",
    "m,m,m",
    "num_heads i 3",
    1,
    { 0 },
    SL_ERROR_SHAPE,
    "its input has 2 dimensions and 3 heads; expected [batch,heads,rows,depth]" },
  { "RotaryEmbedding", "x,m,m", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "its cosines and sines are float32[4,6]; expected [batch,rows,4]" },
  { "com.microsoft.MultiHeadAttention",
    "x,x,x",
    "num_heads i -2",
    1,
    { 0 },
    SL_ERROR_FORMAT,
    "attribute num_heads is -2; expected 1 to 32767" },
  { "com.microsoft.MultiHeadAttention",
    "x",
    "num_heads i 2",
    1,
    { 0 },
    SL_ERROR_SHAPE,
    "what is packed has 4 dimensions; expected [batch,rows,heads,3,depth]" },
  { "com.microsoft.Attention", "m,m", "num_heads i 2", 1, { 0 }, SL_ERROR_SHAPE, "matrices of 4x6 and 4x6 do not multiply" },
  { "com.microsoft.FusedConv",
    "x,k",
    "activation s Warp",
    1,
    { 0 },
    SL_ERROR_UNSUPPORTED,
    "attribute activation is 'Warp'; expected Relu, Sigmoid" },
  { "com.microsoft.FusedMatMul", "m,m", "transBatchA i 1", 1, { 0 }, SL_ERROR_UNSUPPORTED, "attribute transBatchA is 1; expected 0" },
  { "com.microsoft.MatMulNBits", "m,c,f", "N i 0", 1, { 0 }, SL_ERROR_FORMAT, "attributes N and K are 0 and 0; expected at least 1" },
  { "com.microsoft.EPContext", "m", "unused i 0", 1, { 0 }, SL_ERROR_UNSUPPORTED, "operator com.microsoft.EPContext is not supported" },
  { "DeformConv",
    "x,k,x",
    "unused i 0",
    1,
    { 0 },
    SL_ERROR_SHAPE,
    "its offsets have 4 dimensions, for 8x8 places; expected [1,offsets,6,6]" },
  { "DeformConv", "x,k,x", "pads I 1,1,1,1", 1, { 0 }, SL_ERROR_SHAPE, "input 1 is float32[1,8,8,3]; expected [1,rows,columns,18]" },
  { "DeformConv", "x,k,x", "offset_group i -1", 1, { 0 }, SL_ERROR_SHAPE, "its offsets have 4 dimensions" },
  { "MaxRoiPool",
    "x,m",
    "pooled_shape I 3,0",
    1,
    { 0 },
    SL_ERROR_FORMAT,
    "attribute pooled_shape has 2 numbers, 3 and 0; expected two, 1 to 32767" },
  { "MaxRoiPool", "x,m", "pooled_shape I 3,3", 1, { 0 }, SL_ERROR_SHAPE, "regions float32[4,6]; expected [n,5]" },
  { "Det", "m", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "the input is float32[4,6]; expected square matrices of at most 1024 rows" },
  { "Unique",
    "m",
    "axis i 0",
    1,
    { 0 },
    SL_ERROR_UNSUPPORTED,
    "attribute axis of an input of 2 dimensions and 24 elements; expected a vector" },
  { "ReverseSequence", "m,c", "time_axis i 2", 1, { 0 }, SL_ERROR_SHAPE, "time_axis 2 and batch_axis 1 of 2 dimensions; expected 0 and 1" },
  { "ReverseSequence", "m,c", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "expected 0 and 1, and a length for each sequence" },
  { "DFT", "x,c", "unused i 0", 1, { 0 }, SL_ERROR_SHAPE, "expected [...,samples,...,1 or 2]" },
  { "STFT", "x,c", "unused i 0", 1, { 1 }, SL_ERROR_LIMIT, "a transform of 0 samples is not supported; expected 1 to 4096" },
  { "STFT", "m,i", "unused i 0", 1, { 1 }, SL_ERROR_UNSUPPORTED, "the step, input 1, is computed from the picture" },
  { "HannWindow", "c", "unused i 0", 1, { -5 }, SL_ERROR_LIMIT, "a window of -5 samples is not supported; expected 1 to 1048576" },
  { "HannWindow", "c", "output_datatype i 11", 1, { 5 }, SL_ERROR_UNSUPPORTED, "attribute output_datatype is 11; expected 1, float32" },
  { "MelWeightMatrix", "c,c,c,f,f", "unused i 0", 1, { 8 }, SL_ERROR_FORMAT, "8 bands of 8 samples at 8 a second from 8 to 8 Hz" },
  { "OptionalGetElement", "", "unused i 0", 1, { 0 }, SL_ERROR_FORMAT, "input 0 is missing" },
  { "If", "s", "unused i 0", 1, { 0 }, SL_ERROR_FORMAT, "it has no graph for its condition" },
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
  const char *dot = strrchr (row->op, '.');
  expect_error (&error, row->code, path, row->code == SL_ERROR_LIMIT ? "" : dot != NULL ? dot + 1 : row->op, row->text, NULL);
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
