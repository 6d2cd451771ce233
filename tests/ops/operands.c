/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is refused of operands: weights with zero points, outputs that the file holds, sizes that
 * contradict each other or are too large, and options that the schema lacks. */
#include "tests/ops/opmodel.h"
#include "tests/support/program.h"

static void
add_operand (OpModel *m, const SlTfliteTensor *tensor)
{
  m->op.inputs[m->op.n_inputs++] = sl_tflite_writer_tensor (m->writer, tensor);
}

/* Weights of int8 are symmetric, channel by channel. */
static void
test_weights (void)
{
  static const gfloat scales[2] = { 0.5f, 0.25f };
  static const gint64 zero_points[2] = { 0, 3 };
  static const gint8 weights[2] = { 1, 2 };
  OpModel m;
  om_init (
    &m, SL_OP_CONV_2D,
    &(SlOpParams){ .window = { .stride_w = 1, .stride_h = 1, .dilation_w = 1, .dilation_h = 1 } },
    1);
  om_input (&m, SL_DTYPE_I8, 4, DIMS (1, 2, 2, 1), 0.5f, 0);
  add_operand (&m, &(SlTfliteTensor){ .name = "w",
                                      .dtype = SL_DTYPE_I8,
                                      .rank = 4,
                                      .dims = { 2, 1, 1, 1 },
                                      .n_scales = 2,
                                      .scales = scales,
                                      .zero_points = zero_points,
                                      .data = weights });
  om_output (&m, SL_DTYPE_I8, 4, DIMS (1, 2, 2, 2), 0.5f, 0);
  om_refuse (&m, "weights 'w' have zero point 3 in channel 1; expected 0");
  om_clear (&m);
}

static void
test_constant_output (void)
{
  static const gfloat values[2] = { 1, 2 };
  OpModel m;
  om_init (&m, SL_OP_NEG, NULL, 1);
  om_input (&m, SL_DTYPE_F32, 1, DIMS (2), 0, 0);
  m.op.outputs[m.op.n_outputs++] = m.outputs[m.n_outputs++] = sl_tflite_writer_tensor (
    m.writer, &(SlTfliteTensor){
                .name = "y", .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 2 }, .data = values });
  om_refuse (&m, "output 0 'y' is a constant");
  om_clear (&m);
}

static void
test_sizes (void)
{
  static const gfloat weights[2 * 3 * 3] = { 0 };
  OpModel m;
  om_init (&m, SL_OP_TRANSPOSE_CONV, &(SlOpParams){ .window = { .stride_w = 1, .stride_h = 1 } },
           1);
  om_ints (&m, 4, DIMS (1, 9, 9, 2));
  om_constant (&m, SL_DTYPE_F32, 4, DIMS (2, 3, 3, 1), 0, 0, weights);
  om_input (&m, SL_DTYPE_F32, 4, DIMS (1, 4, 4, 1), 0, 0);
  om_output (&m, SL_DTYPE_F32, 4, DIMS (1, 9, 9, 2), 0, 0);
  om_refuse (&m, "an output of 9x9 comes from 7x7; the input is 4x4");
  om_clear (&m);
}

static void
test_range (void)
{
  OpModel m;
  om_init (&m, SL_OP_RANGE, NULL, 1);
  om_scalar (&m, G_MININT32);
  om_scalar (&m, G_MAXINT32);
  om_scalar (&m, 1);
  om_output (&m, SL_DTYPE_I32, 1, DIMS (1), 0, 0);
  m.inputs[m.n_inputs] =
    sl_tflite_writer_tensor (m.writer, &(SlTfliteTensor){ .name = "x", .rank = 1, .dims = { 1 } });
  m.data[m.n_inputs++] = sl_tensor_buffer_new (4);
  om_refuse (&m, "the range has 4.29497e+09 elements");
  om_clear (&m);
}

/* ADD is number 0, its options number 11, and the activation their first field. */
static void
test_activation (void)
{
  OpModel m;
  om_init_builtin (&m, 0, 11, 1, DIMS (4), 1);
  om_input (&m, SL_DTYPE_F32, 1, DIMS (2), 0, 0);
  om_input (&m, SL_DTYPE_F32, 1, DIMS (2), 0, 0);
  om_output (&m, SL_DTYPE_F32, 1, DIMS (2), 0, 0);
  om_refuse (&m,
             "option fused_activation_function is 4; expected 0 NONE, 1 RELU, 2 RELU_N1_TO_1 or "
             "3 RELU6");
  om_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/operands/weights", test_weights);
  g_test_add_func ("/ops/operands/constant-output", test_constant_output);
  g_test_add_func ("/ops/operands/sizes", test_sizes);
  g_test_add_func ("/ops/operands/range", test_range);
  g_test_add_func ("/ops/operands/activation", test_activation);
  return g_test_run ();
}
