/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What ONNX's operators refuse of their inputs and attributes, one after the other, as a whole
 * sentence; onnx_ops.c has what is refused of a few inputs that all of its rows share. */
#include <stdlib.h>
#include <string.h>

#include "tests/models/helpers.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define MAX_NUMBERS 4096
/* ONNX's number of bytes without a sign. */
#define BYTE_TYPE 2

/**
 * Row:
 * @inputs: of the node, separated by spaces. x:DIMS is an input of floats, i:DIMS of int64, u:DIMS
 * of uint8. X:DIMS is a constant of floats 1, Z:DIMS of floats 0, U:DIMS of uint8 0, and [a;b] of
 * int64. - is an input that is left out
 * @attributes: as of sl_onnx_node(), at most two with ';' between
 * @outputs: (nullable): NULL = y
 */
typedef struct
{
  const char *op, *inputs, *attributes, *text, *outputs;
} Row;

#define QKV "x:1,2,3,4 x:1,2,3,4 x:1,2,3,4"
#define ROWS "x:1,3,8 x:1,3,8 x:1,3,8"
#define MICROSOFT "com.microsoft."

static const Row rows[] = {
  { "Attention", QKV, "", "output 3, scores of queries and keys, is not supported", "y,a,b,c" },
  { "Attention", QKV " - - - i:1", "",
    "input 6, lengths without padding, is not supported; export the model without it" },
  { "Attention", "x:1,3,2,4 x:1,2,2,4 x:1,2,2,4", "",
    "3 heads of queries and 2 heads of keys or values; expected a multiple" },
  { "Attention", QKV " - x:2,3 x:2,3", "",
    "keys of earlier runs have 2 dimensions; expected [batch,heads,rows,depth]" },
  { "Attention", "x:1,1,9000,1 x:1,1,9000,1 x:1,1,9000,1", "is_causal i 1",
    "a causal mask of 9000 queries and 9000 keys is not supported; at most " },
  { MICROSOFT "MultiHeadAttention", ROWS " - x:3", "num_heads i 2",
    "its mask, input 4, has 1 dimensions; expected [batch,keys] or [batch,queries,keys]" },
  { MICROSOFT "MultiHeadAttention", ROWS " x:5", "num_heads i 2",
    "its bias of 1 dimensions and 5 elements does not fit rows of 8" },
  { MICROSOFT "MultiHeadAttention", ROWS " - - - - - i:1", "num_heads i 2",
    "input 8, the length of earlier runs, is not supported" },
  { MICROSOFT "MultiHeadAttention", ROWS " - - - - - - i:1", "num_heads i 2",
    "input 9, the indirection of beams, is not supported" },
  { MICROSOFT "Attention", "x:1,3,8 x:8,24", "num_heads i 2;do_rotary i 1",
    "output 1 and attribute do_rotary are not supported; export the model without them" },
  { MICROSOFT "Attention", "x:1,3,8 x:8,24 - - - - i:1", "num_heads i 2",
    "input 6, the length of earlier runs, is not supported" },
  { MICROSOFT "Attention", "x:1,3,8 x:8,25", "num_heads i 2",
    "rows of 25 numbers do not part into queries, keys and values of 8, 8 and 8" },
  { MICROSOFT "RotaryEmbedding", "x:1,2,4,8 i:1,4 X:8,4 X:8,4", "is_packed_batching i 1",
    "attribute is_packed_batching is 1; expected 0" },
  { MICROSOFT "SkipLayerNormalization", "x:1,2,4 x:1,2,4 X:4", "",
    "outputs 1 and 2, of training, are not supported; export the model for inference", "y,m" },
  { MICROSOFT "QLinearSoftmax", "u:1,3,4 X: U: X: U:", "axis i 1;opset i 12",
    "attribute opset is 12 along dimension 1 of 3; expected the last one" },
  { "Concat", "x:2,3 x:2,3,1", "axis i 0", "its inputs have 2 and 3 dimensions; expected as many" },
  { "Softmax", "X:", "", "its input is a scalar" },
  { "GlobalLpPool", "x:2,3", "",
    "attribute p is 2 and its input has 2 dimensions; expected 1 to 127, and at least 3" },
  { "OneHot", "i:2 [0] X:2", "",
    "indices of 1 dimensions, a depth of 0 and values of 1 dimensions; expected at most 7, at "
    "least 1 and [2]" },
  { "Gemm", "x:2,3,4 x:4,5", "", "its matrices have 3 and 2 dimensions; expected 2" },
  { "Gemm", "x:2,3 X:4,5", "", "matrices of depth 3 and 4 do not multiply" },
  { "LRN", "x:3", "size i 3", "input has 1 dimensions; expected at least 2, a batch and channels" },
  { "RNN", "x:2,1,3 X:1,4,3 X:1,4,4", "hidden_size i 4;clip f 1",
    "attribute clip is not supported; expected none, for sigmoid and tanh without limits" },
  { "AffineGrid", "x:1,2,3 [1;3;0;4]", "", "dimension 2 of the size is 0" },
  { "Resize", "x:1,3,8,8 - X:2", "",
    "2 scales and 0 sizes for 4 dimensions; expected one of the two" },
  { "Resize", "x:1,3,8,8 - Z:4", "", "dimension 0 of size 1 would become 0" },
  { "Resize", "x:1,3,8,8 - - [1;3;4;4]", "coordinate_transformation_mode s tf_half_pixel_for_nn",
    "attribute coordinate_transformation_mode is 'tf_half_pixel_for_nn', which is not supported" },
  { "Resize", "x:1,3,8,8 - - [1;3;4;4]", "mode s area",
    "attribute mode is 'area'; expected nearest, linear or cubic" },
  { "Resize", "x:1,3,8,8 - - [1;3;4;4]", "nearest_mode s up",
    "attribute nearest_mode is 'up', which is not supported" },
  { "Reshape", "x:2,3 [4;-1]", "",
    "6 elements do not fit the new shape, whose other dimensions have 4" },
  { "Reshape", "x:2,3", "", "the new shape is missing" },
  { "Unsqueeze", "x:1,1,1,1,1,1,1,2 [0]", "",
    "the result has 9 dimensions; at most 8 are supported" },
  { "Transpose", "x:2,3", "perm I 0,0", "attribute perm does not name each of 2 dimensions once" },
  { "Conv", "x:1,3,2,4,4 X:4,3,3,3,3", "", "a kernel of 3 planes over 2; expected at most " },
  { "MaxPool", "x:1,3,8,8", "kernel_shape I 2,2;pads I 1,1",
    "attribute pads has 2 numbers; expected 4" },
  { "MaxPool", "x:1,3,8,8", "kernel_shape I 2,2;strides I 0,1",
    "a kernel size, stride or dilation is 0; expected 1..32767" },
  { "MaxPool", "x:1,3,8,8", "kernel_shape I 2,2;pads I -1,0,0,0",
    "a padding is -1; expected 0..32767" },
  { "ConvTranspose", "x:1,3,8,8 X:3,2,3,3", "output_padding I -1,0",
    "an output_padding is -1; expected 0..32767" },
  { "ConvTranspose", "x:1,3,8,8 X:4,2,3,3", "", "1 groups of 3 channels; expected 1.." },
  { "Conv", "x:1,3,8,8 x:4,3,9,9", "",
    "a window of 9x9 with weights that are computed, over 8x8; expected at most " },
  { "DeformConv", "x:1,3,8 X:4,3,3 x:1,18,6,6", "",
    "its input and weights have 3 and 3 dimensions; expected 4" },
  { "DeformConv", "x:1,3,8,8 X:4,3,3,3 x:1,18,6,6", "group i 2",
    "2 groups, and 1 of offsets, do not fit 3 channels and its weights" },
  { "ConvInteger", "u:1,3,8,8 U:4,3,3,3", "",
    "its input is uint8; expected what DynamicQuantizeLinear makes" },
  { "DFT", "x:1,8,2", "onesided i 1",
    "attribute onesided is 1 for an input with imaginary parts; expected 0" },
  { "DFT", "x:1,8,1", "onesided i 1;inverse i 1",
    "attribute onesided is 1 for an inverse transform; expected 0" },
  { "Cast", "x:2", "to i 8", "attribute to is string, which is not supported" },
  { "EyeLike", "x:2", "",
    "its input has 1 dimensions, and attribute dtype is 0; expected a matrix and a type of "
    "numbers" },
  { "Einsum", "x:2,3 x:3,4", "equation s ij,jk,kl->il",
    "equation 'ij,jk,kl->il' does not fit its 2 inputs; expected a letter for each dimension" },
  { "Loop", "[1] - x:2", "", "its body does not fit its inputs and outputs" },
  { "Neg", "Z:0", "", "an input has no elements; tensors without elements are not supported here" },
};

/* Adds the input that @text says, under @name. */
static void
add_input (SlOnnxWriter *writer, const char *name, const char *text)
{
  static const gfloat zeros[MAX_NUMBERS];
  gfloat ones[MAX_NUMBERS];
  gint64 numbers[8] = { 0 };
  gsize elements = 1;
  g_auto (GStrv) parts =
    g_strsplit (text + (text[0] == '[' ? 1 : 2), text[0] == '[' ? ";" : ",", -1);
  const guint n = g_strv_length (parts);
  for (guint i = 0; i < n; i++) {
    numbers[i] = atoi (parts[i]);
    elements *= (gsize) numbers[i];
  }
  for (guint i = 0; i < MAX_NUMBERS; i++)
    ones[i] = 1;
  if (text[0] == '[')
    sl_onnx_writer_ints (writer, name, n, numbers);
  else if (g_ascii_isupper (text[0]))
    g_assert_cmpuint (elements, <=, MAX_NUMBERS);
  if (text[0] == 'X' || text[0] == 'Z')
    sl_onnx_writer_floats (writer, name, n, numbers, text[0] == 'X' ? ones : zeros);
  else if (text[0] == 'U')
    sl_onnx_message (writer->graph, 5,
                     sl_onnx_tensor (name, BYTE_TYPE, n, numbers, zeros, elements));
  else if (text[0] != '[')
    sl_onnx_writer_input (writer, name,
                          text[0] == 'x'   ? SL_ONNX_FLOAT
                          : text[0] == 'i' ? SL_ONNX_INT64
                                           : BYTE_TYPE,
                          n, numbers);
}

/* @shapes: (nullable): of inputs; @op: (nullable): is named, too */
static void
refuse (SlOnnxWriter *writer, const char *shapes, const char *op, const char *text)
{
  g_autoptr (GError) error = refused_onnx (writer, shapes);
  g_assert_true (op == NULL || strstr (error->message, op) != NULL);
  g_assert_nonnull (strstr (error->message, text));
}

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  const char *name = strrchr (row->op, '.') != NULL ? strrchr (row->op, '.') + 1 : row->op;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (23);
  g_autoptr (GString) inputs = g_string_new (NULL);
  g_auto (GStrv) texts = g_strsplit (row->inputs, " ", -1),
                 attributes = g_strsplit (row->attributes, ";", -1);
  for (guint i = 0; texts[i] != NULL; i++) {
    const char given[2] = { texts[i][0] == '-' ? '\0' : (char) ('a' + i), '\0' };
    g_string_append_printf (inputs, "%s%s", i > 0 ? "," : "", given);
    if (given[0] != '\0')
      add_input (writer, given, texts[i]);
  }
  sl_onnx_writer_node (writer, row->op, inputs->str, row->outputs != NULL ? row->outputs : "y",
                       attributes[0], attributes[0] != NULL ? attributes[1] : NULL, NULL);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  refuse (writer, NULL, name, row->text);
}

/* One input twice, and shapes for inputs that are not there. */
static void
test_inputs (void)
{
  for (guint n = 1; n <= 2; n++) {
    g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (20);
    for (guint i = 0; i < n; i++)
      sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 1, (const gint64[]){ 4 });
    sl_onnx_writer_node (writer, "Relu", "x", "y", NULL);
    sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
    if (n == 2)
      refuse (writer, NULL, NULL, "the model has more than 64 inputs, or one twice");
    else
      refuse (writer, "4;4", NULL, "input-shape states 2 shapes; the model has 1 inputs");
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-refusals/inputs", test_inputs);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = g_strdup_printf ("/onnx-refusals/%s/%u", rows[i].op, i);
    g_test_add_data_func (path, &rows[i], test_row);
  }
  return g_test_run ();
}
