/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* After its first run a session asks the heap for nothing: counted over 1,000 runs by counters in
 * front of malloc. */
#include <string.h>

#include "models/model.h"
#include "tests/core/opcheck.h"
#include "tests/support/testdata.h"
#include "tools/bench/allocations.h"

#define RUNS 1000
/* Fewer: on a busy machine threads wait for each other. */
#define THREADED_RUNS 20

static void
count_runs (SlGraph *graph, guint threads, guint runs)
{
  g_autoptr (GError) error = NULL;
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  g_autoptr (SlSession) session = sl_session_new (graph, threads, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  g_assert_cmpint (sl_session_run (session, (const void *const *) inputs, outputs), ==,
                   SL_STATUS_OK);
  const gint64 before = sl_allocations ();
  for (guint i = 0; i < runs; i++)
    sl_session_run (session, (const void *const *) inputs, outputs);
  const gint64 after = sl_allocations ();
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    sl_tensor_buffer_free (inputs[i]);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    sl_tensor_buffer_free (outputs[i]);
  g_assert_cmpint (after - before, ==, 0);
}

/* Convolution, addition, a look-up, a slice, a resize and a search: XNNPACK and kernels of our own.
 */
static SlGraph *
mixed_graph (Check *check, const gint8 *weights)
{
  const gint32 dims[4] = { 1, 24, 24, 8 }, kernel[4] = { 8, 3, 3, 8 };
  const gfloat scale = 0.01f;
  gint32 t[7], inputs[4];
  check_init (check, 1);
  t[0] = check_input (check, SL_DTYPE_I8, 4, dims, 0.05f, 0);
  for (guint i = 1; i < 6; i++)
    t[i] = check_middle (check, SL_DTYPE_I8, 0.05f, 0);
  inputs[0] = t[0];
  inputs[1] = check_constant (check, SL_DTYPE_I8, 4, kernel, &scale, 1, 0, 0, weights);
  check_node (check, SL_OP_CONV_2D, inputs, 2, t[1],
              &(SlOpParams){ .window = { .padding = SL_PADDING_SAME,
                                         .stride_h = 1,
                                         .stride_w = 1,
                                         .dilation_h = 1,
                                         .dilation_w = 1 } });
  check_node (check, SL_OP_ADD, (gint32[]){ t[0], t[1] }, 2, t[2], NULL);
  check_node (check, SL_OP_TANH, &t[2], 1, t[3], NULL);
  check_node (check, SL_OP_SLICE,
              (gint32[]){ t[3], check_ints (check, 4, (gint32[]){ 0, 4, 4, 0 }),
                          check_ints (check, 4, (gint32[]){ 1, 16, 16, 8 }) },
              3, t[4], NULL);
  check_node (check, SL_OP_RESIZE_BILINEAR,
              (gint32[]){ t[4], check_ints (check, 2, (gint32[]){ 40, 40 }) }, 2, t[5], NULL);
  t[6] = check_output (check, SL_DTYPE_I64, 0, 0);
  check_node (check, SL_OP_ARG_MAX, (gint32[]){ t[5], check_ints (check, 1, (gint32[]){ 3 }) }, 2,
              t[6], NULL);
  check_prepare (check);
  return check->graph;
}

static void
test_mixed (void)
{
  gint8 weights[8 * 3 * 3 * 8];
  Check check;
  if (sl_allocations () < 0) {
    g_test_skip ("allocations cannot be counted in this build");
    return;
  }
  memset (weights, 3, sizeof weights);
  SlGraph *graph = mixed_graph (&check, weights);
  count_runs (graph, 1, RUNS);
  count_runs (graph, 2, THREADED_RUNS);
  check_clear (&check);
}

static void
test_real (void)
{
  static const char *const names[] = { "mobilenet_v1_0.25_128_quant", "person_detect",
                                       "movenet_single_pose_lightning_ptq",
                                       "yolov8n_full_integer_quant_224",
                                       "version-RFB-320_without_postprocessing" };
  if (sl_allocations () < 0) {
    g_test_skip ("allocations cannot be counted in this build");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strdup_printf ("models/%s.tflite", names[i]);
    g_autofree char *path = sl_test_data (name);
    if (path == NULL)
      return;
    g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
    g_assert_no_error (error);
    count_runs (sl_model_graph (model), 1, i < 2 ? RUNS : 30);
    if (i == 0)
      count_runs (sl_model_graph (model), 2, THREADED_RUNS);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/steady/mixed", test_mixed);
  g_test_add_func ("/steady/real", test_real);
  return g_test_run ();
}
