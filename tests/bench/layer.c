/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/bench/layer.h"

#include "tools/bench/timing.h"

static gint32
size_of_output (const Layer *layer)
{
  return (layer->size + layer->stride - 1) / layer->stride;
}

char *
layer_name (const Layer *layer)
{
  const gint32 out = size_of_output (layer);
  return g_strdup_printf ("%dx%dx%d to %dx%dx%d, %s%dx%d", layer->size, layer->size, layer->in, out,
                          out, layer->out, layer->depthwise ? "depthwise " : "", layer->filter,
                          layer->filter);
}

double
layer_operations (const Layer *layer)
{
  const double results = (double) size_of_output (layer) * size_of_output (layer) * layer->out;
  return 2 * results * layer->filter * layer->filter * (layer->depthwise ? 1 : layer->in);
}

void
layer_shapes (const Layer *layer, gint32 input[4], gint32 weights[4])
{
  input[0] = 1;
  input[1] = input[2] = layer->size;
  input[3] = layer->in;
  weights[0] = layer->depthwise ? 1 : layer->out;
  weights[1] = weights[2] = layer->filter;
  weights[3] = layer->depthwise ? layer->out : layer->in;
}

void
layer_finish (const Layer *layer, Check *check, const gint32 inputs[3], gint32 output)
{
  const SlOpParams params = {
    .window = { .padding = SL_PADDING_SAME,
                .stride_h = layer->stride,
                .stride_w = layer->stride,
                .dilation_h = 1,
                .dilation_w = 1,
                .depth_multiplier = 1,
                .activation = SL_ACTIVATION_RELU6 },
  };
  check_node (check, layer->depthwise ? SL_OP_DEPTHWISE_CONV_2D : SL_OP_CONV_2D, inputs, 3, output,
              &params);
  check_prepare (check);
}

void
layer_runner_init (LayerRunner *runner, Check *check)
{
  g_autoptr (GError) error = NULL;
  runner->session = sl_session_new (check->graph, 1, &error);
  g_assert_no_error (error);
  runner->input = check->input_data[0];
  runner->output = sl_tensor_buffer_new (sl_graph_output_tensor (check->graph, 0)->bytes);
}

void
layer_runner_clear (LayerRunner *runner)
{
  sl_session_free (runner->session);
  sl_tensor_buffer_free (runner->output);
}

static void
run (gpointer data)
{
  const LayerRunner *runner = data;
  sl_session_run (runner->session, &runner->input, (void *const *) &runner->output);
}

gboolean
layer_runner_turn (gpointer runner, guint n, double *ms, GError **error)
{
  run (runner);
  sl_timing_each (run, runner, n, ms);
  return TRUE;
}
