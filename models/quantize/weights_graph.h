/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A float graph with only the weights stored in fewer bits. Computation stays float. */
#pragma once

#include "core/graph/graph.h"

/** How weights are stored. */
typedef enum
{
  SL_WEIGHTS_I8, /* of layers: symmetric, a scale for each output channel (FULLY_CONNECTED: one), as
                    TensorFlow Lite's dynamic range */
  SL_WEIGHTS_F16 /* all larger constants, with a DEQUANTIZE each */
} SlWeights;

/** sl_weights_graph_new: (transfer full): @graph, of sl_tflite_express(), so; not prepared. Tensors
 * keep their numbers. *@n: nodes whose weights are stored so. @decoded: as floats that have no more
 * bits than that, to be run instead of written. */
SlGraph *sl_weights_graph_new (SlGraph *graph, SlWeights how, gboolean decoded, guint *n,
                               GError **error);
