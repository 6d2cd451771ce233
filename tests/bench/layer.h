/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One convolution as a model of its own, for the benchmarks that time layers one by one. */
#ifndef SL_BENCH_LAYER_H
#define SL_BENCH_LAYER_H

#include "core/runtime/session.h"
#include "tests/core/opcheck.h"

/**
 * Layer: a convolution of same padding, RELU6 behind it.
 * @size: width and height of the input
 * @in, @out: channels; equal when @depthwise
 * @filter: width and height of the window
 */
typedef struct
{
  gint32 size, in, out, filter, stride;
  gboolean depthwise;
} Layer;

typedef struct
{
  SlSession *session;
  const void *input;
  void *output;
} LayerRunner;

/** layer_name: (transfer full): "40x40x64 to 40x40x64, 3x3". */
char *layer_name (const Layer *layer);
/** layer_operations: of one run, a multiplication and an addition counting as two. */
double layer_operations (const Layer *layer);
/** layer_shapes: of the input and the weights. */
void layer_shapes (const Layer *layer, gint32 input[4], gint32 weights[4]);
/** layer_finish: adds the node from @inputs, which are picture, weights and bias, to @output, and
 * prepares the graph. */
void layer_finish (const Layer *layer, Check *check, const gint32 inputs[3], gint32 output);

/** layer_runner_init: on one thread and the backends that the environment allows. */
void layer_runner_init (LayerRunner *runner, Check *check);
void layer_runner_clear (LayerRunner *runner);
/** layer_runner_turn: SlTimedTurn of a LayerRunner; the first run of a turn does not count. */
gboolean layer_runner_turn (gpointer runner, guint n, double *ms, GError **error);

#endif
