/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph comes from models/tflite/express.h, the bytes from models/tflite/write.h, the metadata
 * from the model's contract. */
#include "models/convert.h"

#include "models/state.h"
#include "models/tflite/express.h"
#include "models/tflite/write.h"

SlGraph *
sl_model_express (const SlModel *model, GError **error)
{
  const SlImageContract *image = &sl_model_contract (model)->image;
  SlGraph *graph = NULL;
  if (sl_state_refuse (sl_model_graph (model),
                       "a file of TensorFlow Lite is written without state: use this one as it is",
                       error))
    graph = sl_tflite_express (sl_model_graph (model),
                               image->valid && image->layout == SL_LAYOUT_NCHW, error);
  if (graph == NULL)
    g_prefix_error (error, "%s: ", sl_model_path (model));
  return graph;
}

GBytes *
sl_model_to_tflite (const SlModel *model, GError **error)
{
  g_autoptr (SlGraph) graph = sl_model_express (model, error);
  if (graph == NULL)
    return NULL;
  GBytes *bytes = sl_tflite_write (graph, sl_model_contract (model), error);
  if (bytes == NULL)
    g_prefix_error (error, "%s: ", sl_model_path (model));
  return bytes;
}
