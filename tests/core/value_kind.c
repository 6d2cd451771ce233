/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the last operators of a graph say of its output. */
#include "core/graph/value_kind.h"

#include "tests/core/opcheck.h"
#include "tests/support/program.h"

static const gfloat weights[5 * 4], bytes_scale = 1 / 256.0f;

/* float32[1,4] -> FULLY_CONNECTED -> @last, at most two of them -> float32[1,5]. */
static SlValueKind
kind_behind_layer (SlActivation activation, SlOpType last, SlOpType then)
{
  const SlOpType ops[] = { last, then };
  Check check;
  check_init (&check, 1);
  gint32 inputs[2] = { check_input (&check, SL_DTYPE_F32, 2, (const gint32[]){ 1, 4 }, 0, 0), 0 };
  inputs[1] =
    check_constant (&check, SL_DTYPE_F32, 2, (const gint32[]){ 5, 4 }, NULL, 0, 0, 0, weights);
  const guint more = (last != SL_OP_INVALID) + (then != SL_OP_INVALID);
  gint32 from = more > 0 ? check_middle (&check, SL_DTYPE_F32, 0, 0)
                         : check_output (&check, SL_DTYPE_F32, 0, 0);
  check_node (&check, SL_OP_FULLY_CONNECTED, inputs, 2, from,
              &(SlOpParams){ .fully_connected = { .activation = activation } });
  for (guint i = 0; i < more; i++) {
    const gint32 to = i + 1 < more ? check_middle (&check, SL_DTYPE_F32, 0, 0)
                                   : check_output (&check, SL_DTYPE_F32, 0, 0);
    SlOpParams params = { 0 };
    if (ops[i] == SL_OP_SOFTMAX)
      params.softmax.beta = 1;
    else if (ops[i] == SL_OP_RESHAPE)
      params.reshape.count = 3, params.reshape.dims[0] = params.reshape.dims[1] = 1,
      params.reshape.dims[2] = 5;
    check_node (&check, ops[i], &from, 1, to, &params);
    from = to;
  }
  check_prepare (&check);
  const SlValueKind kind = sl_graph_value_kind (check.graph, sl_graph_output (check.graph, 0));
  g_assert_cmpuint (sl_graph_class_count (check.graph, sl_graph_output (check.graph, 0)), ==, 0);
  check_clear (&check);
  return kind;
}

static void
test_layers (void)
{
  static const struct
  {
    SlActivation activation;
    SlOpType last, then;
    SlValueKind kind;
  } rows[] = {
    { SL_ACTIVATION_NONE, SL_OP_INVALID, SL_OP_INVALID, SL_VALUES_LOGITS },
    { SL_ACTIVATION_NONE, SL_OP_RESHAPE, SL_OP_INVALID, SL_VALUES_LOGITS },
    { SL_ACTIVATION_RELU6, SL_OP_RESHAPE, SL_OP_INVALID, SL_VALUES_FEATURES },
    { SL_ACTIVATION_NONE, SL_OP_L2_NORMALIZATION, SL_OP_INVALID, SL_VALUES_FEATURES },
    { SL_ACTIVATION_NONE, SL_OP_SOFTMAX, SL_OP_INVALID, SL_VALUES_SHARES },
    { SL_ACTIVATION_NONE, SL_OP_LOGISTIC, SL_OP_RESHAPE, SL_VALUES_PROBABILITIES },
    { SL_ACTIVATION_NONE, SL_OP_LOG_SOFTMAX, SL_OP_RESHAPE, SL_VALUES_LOGITS },
    { SL_ACTIVATION_NONE, SL_OP_TANH, SL_OP_INVALID, SL_VALUES_UNKNOWN },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (kind_behind_layer (rows[i].activation, rows[i].last, rows[i].then), ==,
                     rows[i].kind);
}

/* LOGISTIC and QUANTIZE of codes become one table, which still tells. */
static void
test_table (void)
{
  for (guint wide = 0; wide < 2; wide++) {
    Check check;
    check_init (&check, 1);
    const gint32 x = check_input (&check, SL_DTYPE_I8, 2, (const gint32[]){ 1, 4 }, 0.1f, 0);
    const gint32 between =
      check_middle (&check, SL_DTYPE_I8, wide ? 0.05f : bytes_scale, wide ? 0 : -128);
    const gint32 y = check_output (&check, SL_DTYPE_U8, wide ? 0.05f : bytes_scale, wide ? 100 : 0);
    check_node (&check, wide ? SL_OP_TANH : SL_OP_LOGISTIC, &x, 1, between, NULL);
    check_node (&check, SL_OP_QUANTIZE, &between, 1, y, NULL);
    check_prepare (&check);
    g_assert_cmpint (sl_graph_node (check.graph, 0)->op, ==, SL_OP_LOOKUP);
    g_assert_cmpint (sl_graph_value_kind (check.graph, sl_graph_output (check.graph, 0)), ==,
                     wide ? SL_VALUES_UNKNOWN : SL_VALUES_PROBABILITIES);
    check_clear (&check);
  }
}

static void
test_classes (void)
{
  Check check;
  check_init (&check, 1);
  gint32 inputs[2] = { check_input (&check, SL_DTYPE_F32, 4, (const gint32[]){ 1, 2, 3, 21 }, 0, 0),
                       0 };
  inputs[1] = check_ints (&check, 1, (const gint32[]){ 3 });
  check_node (&check, SL_OP_ARG_MAX, inputs, 2, check_output (&check, SL_DTYPE_I64, 0, 0), NULL);
  check_prepare (&check);
  g_assert_cmpuint (sl_graph_class_count (check.graph, sl_graph_output (check.graph, 0)), ==, 21);
  g_assert_cmpint (sl_graph_value_kind (check.graph, sl_graph_output (check.graph, 0)), ==,
                   SL_VALUES_UNKNOWN);
  check_clear (&check);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/value_kind/layers", test_layers);
  g_test_add_func ("/value_kind/table", test_table);
  g_test_add_func ("/value_kind/classes", test_classes);
  return g_test_run ();
}
