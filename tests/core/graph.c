/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs that cannot run are refused with a reason; shapes of views; what the passes leave. */
#include <string.h>

#include "sightline/error.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

static const gint32 picture[4] = { 1, 4, 4, 3 };

static void
test_unproduced (void)
{
  Check check;
  check_init (&check, 1);
  check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
  const gint32 nowhere = check_middle (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_RELU, &nowhere, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare_error (
    &check, SL_ERROR_FORMAT,
    "node 0 RELU 'output': input 0, tensor 1 'middle', is used before anything produces it");
  check_clear (&check);
}

static void
test_produced_twice (void)
{
  Check check;
  check_init (&check, 1);
  const gint32 input = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0),
               output = check_output (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_RELU, &input, 1, output, NULL);
  check_node (&check, SL_OP_RELU6, &input, 1, output, NULL);
  check_prepare_error (&check, SL_ERROR_FORMAT, "already has a producer");
  check_clear (&check);
}

static void
test_output_unproduced (void)
{
  Check check;
  check_init (&check, 1);
  check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
  check_output (&check, SL_DTYPE_F32, 0, 0);
  check_prepare_error (&check, SL_ERROR_FORMAT, "model output 0 'output' is produced by no node");
  check_clear (&check);
}

static void
test_dynamic_input (void)
{
  static const gint32 dims[] = { 1, -1, 4, 3 };
  Check check;
  check_init (&check, 1);
  const gint32 input = check_input (&check, SL_DTYPE_F32, 4, dims, 0, 0);
  check_node (&check, SL_OP_RELU, &input, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare_error (
    &check, SL_ERROR_UNSUPPORTED,
    "input 'input' is float32[1,-1,4,3]: dynamic or empty shapes are not supported");
  check_clear (&check);
}

static void
test_too_large (void)
{
  static const gint32 dims[] = { 30000, 30000, 3 };
  Check check;
  check_init (&check, 1);
  const SlTensor huge = {
    .name = "huge", .dtype = SL_DTYPE_F32, .rank = 3, .dims = { dims[0], dims[1], dims[2] }
  };
  const gint32 input = sl_graph_add_tensor (check.graph, &huge, NULL);
  check.inputs[check.n_inputs++] = input;
  check_node (&check, SL_OP_RELU, &input, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare_error (&check, SL_ERROR_LIMIT, "over the limit of 1073741824 bytes");
  check_clear (&check);
}

static void
test_bad_index (void)
{
  g_autoptr (GError) error = NULL;
  Check check;
  check_init (&check, 1);
  const gint32 input = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0), missing = 7;
  g_assert_false (
    sl_graph_add_node (check.graph, SL_OP_RELU, 5, &missing, 1, &input, 1, NULL, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
  g_assert_cmpstr (error->message, ==,
                   "node 5 RELU: input 0 is tensor 7; the model has tensors 0..0");
  check_clear (&check);
}

static void
test_arity (void)
{
  g_autoptr (GError) error = NULL;
  Check check;
  check_init (&check, 1);
  const gint32 input = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
  g_assert_false (
    sl_graph_add_node (check.graph, SL_OP_ADD, 2, &input, 1, &input, 1, NULL, &error));
  g_assert_cmpstr (error->message, ==,
                   "node 2 ADD: expected 2 to 2 inputs and 1 outputs, got 1 and 1");
  check_clear (&check);
}

static void
test_types (void)
{
  Check check;
  check_init (&check, 1);
  gint32 inputs[2];
  inputs[0] = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
  inputs[1] = check_input (&check, SL_DTYPE_U8, 4, picture, 0.1f, 0);
  check_node (&check, SL_OP_ADD, inputs, 2, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare_error (&check, SL_ERROR_UNSUPPORTED,
                       "'input' is float32 but 'input' is uint8; expected the same type");
  check_clear (&check);
}

static void
test_broadcast_error (void)
{
  static const gint32 other[] = { 1, 4, 5, 3 };
  Check check;
  check_init (&check, 1);
  gint32 inputs[2];
  inputs[0] = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
  inputs[1] = check_input (&check, SL_DTYPE_F32, 4, other, 0, 0);
  check_node (&check, SL_OP_ADD, inputs, 2, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare_error (&check, SL_ERROR_SHAPE,
                       "float32[1,4,4,3] and float32[1,4,5,3] do not broadcast");
  check_clear (&check);
}

typedef struct
{
  SlOpType op;
  const SlOpParams *params;
  gint32 ints[4];
  guint n_ints, rank;
  gint32 dims[4];
  const char *text; /* NULL = succeeds with rank and dims */
} View;

static const SlOpParams no_params = { .reshape = { .count = 0 } };
static const SlOpParams reshape_params = { .reshape = { 3, { 2, 8, 3 } } };
static const SlOpParams squeeze_first = { .squeeze = { 1, { -4 } } };
static const SlOpParams squeeze_second = { .squeeze = { 1, { 1 } } };

static const View views[] = {
  { SL_OP_RESHAPE, &no_params, { 1, -1 }, 2, 2, { 1, 48 }, NULL },
  { SL_OP_RESHAPE, &reshape_params, { 0 }, 0, 3, { 2, 8, 3 }, NULL },
  { SL_OP_RESHAPE,
    &no_params,
    { 5, -1 },
    2,
    0,
    { 0 },
    "float32[1,4,4,3] does not fit the new shape" },
  { SL_OP_RESHAPE, &no_params, { -1, -1 }, 2, 0, { 0 }, "dimension 1 of the new shape is -1" },
  { SL_OP_SQUEEZE, &no_params, { 0 }, 0, 3, { 4, 4, 3 }, NULL },
  { SL_OP_SQUEEZE, &squeeze_first, { 0 }, 0, 3, { 4, 4, 3 }, NULL },
  { SL_OP_SQUEEZE, &squeeze_second, { 0 }, 0, 0, { 0 }, "axis 1 cannot be dropped" },
  { SL_OP_EXPAND_DIMS, &no_params, { -1 }, 1, 5, { 1, 4, 4, 3 }, NULL },
  { SL_OP_EXPAND_DIMS,
    &no_params,
    { 9 },
    1,
    0,
    { 0 },
    "axis 9 is outside a tensor of 4 dimensions" },
};

/* A view alone: its output is the input's bytes, which the session has to copy to the caller's
 * buffer. */
static void
test_views (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (views); i++) {
    const View *view = &views[i];
    Check check;
    check_init (&check, i);
    gint32 inputs[2];
    inputs[0] = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
    inputs[1] = view->n_ints > 0 ? check_ints (&check, view->n_ints, view->ints) : -1;
    check_node (&check, view->op, inputs, view->n_ints > 0 ? 2 : 1,
                check_output (&check, SL_DTYPE_F32, 0, 0), view->params);
    if (view->text != NULL) {
      check_prepare_error (&check, SL_ERROR_SHAPE, view->text);
      check_clear (&check);
      continue;
    }
    check_prepare (&check);
    const SlTensor *y = sl_graph_output_tensor (check.graph, 0);
    g_assert_cmpuint (y->rank, ==, view->rank);
    g_assert_cmpmem (y->dims, MIN (view->rank, 4) * sizeof (gint32), view->dims,
                     MIN (view->rank, 4) * sizeof (gint32));
    void *data = check_run (&check, FALSE, 1);
    g_assert_cmpmem (data, y->bytes, check.input_data[0], y->bytes);
    sl_tensor_buffer_free (data);
    check_clear (&check);
  }
}

/* PAD, CONV_2D of ones and RELU6 become one CONV_2D; a dead branch goes; the numbers stay. */
static void
test_passes (void)
{
  static const gint32 amounts[] = { 0, 0, 1, 1, 1, 1, 0, 0 };
  static const gint32 w_dims[] = { 1, 3, 3, 3 };
  gfloat ones[27];
  Check check;
  for (guint i = 0; i < 27; i++)
    ones[i] = 1;
  check_init (&check, 3);
  gint32 pad[2], conv[2];
  pad[0] = check_input (&check, SL_DTYPE_F32, 4, picture, 0, 0);
  pad[1] = check_ints (&check, 8, amounts);
  conv[0] = check_middle (&check, SL_DTYPE_F32, 0, 0);
  conv[1] = check_constant (&check, SL_DTYPE_F32, 4, w_dims, NULL, 0, 0, 0, ones);
  const gint32 sum = check_middle (&check, SL_DTYPE_F32, 0, 0),
               dead = check_middle (&check, SL_DTYPE_F32, 0, 0);
  const SlOpParams params = { .window = {
                                .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1 } };
  check_node (&check, SL_OP_PAD, pad, 2, conv[0], NULL);
  check_node (&check, SL_OP_LOGISTIC, pad, 1, dead, NULL);
  check_node (&check, SL_OP_CONV_2D, conv, 2, sum, &params);
  check_node (&check, SL_OP_RELU6, &sum, 1, check_output (&check, SL_DTYPE_F32, 0, 0), NULL);
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_n_nodes (check.graph), ==, 1);
  g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_CONV_2D);
  g_assert_cmpint (sl_graph_node (check.graph, 0)->params.window.activation, ==,
                   SL_ACTIVATION_RELU6);
  double expected[16];
  for (gint y = 0; y < 4; y++)
    for (gint x = 0; x < 4; x++) {
      double value = 0;
      for (gint k = 0; k < 27; k++) {
        const gint iy = y + k / 9 - 1, ix = x + k / 3 % 3 - 1;
        if (iy >= 0 && iy < 4 && ix >= 0 && ix < 4)
          value += (double) ((gfloat *) check.input_data[0])[(iy * 4 + ix) * 3 + k % 3];
      }
      expected[y * 4 + x] = CLAMP (value, 0, 6);
    }
  check_expect (&check, expected, 1e-5, 1e-5);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/graph/unproduced", test_unproduced);
  g_test_add_func ("/core/graph/produced-twice", test_produced_twice);
  g_test_add_func ("/core/graph/output-unproduced", test_output_unproduced);
  g_test_add_func ("/core/graph/dynamic-input", test_dynamic_input);
  g_test_add_func ("/core/graph/too-large", test_too_large);
  g_test_add_func ("/core/graph/bad-index", test_bad_index);
  g_test_add_func ("/core/graph/arity", test_arity);
  g_test_add_func ("/core/graph/types", test_types);
  g_test_add_func ("/core/graph/broadcast-error", test_broadcast_error);
  g_test_add_func ("/core/graph/views", test_views);
  g_test_add_func ("/core/graph/passes", test_passes);
  return g_test_run ();
}
