/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Any model as a TensorFlow Lite file. */
#pragma once

#include "models/model.h"

/**
 * sl_model_express: (transfer full): the model's graph in operators of TensorFlow Lite, not
 * prepared. No session of @model may exist: sessions release the memory of the weights. A picture
 * that the model takes as NCHW is taken as NHWC where that saves the transposition.
 */
SlGraph *sl_model_express (const SlModel *model, GError **error);
/** sl_model_to_tflite: (transfer full): a TensorFlow Lite file of @model, likewise, that gives the
 * same results; NULL with @error set, which starts with the model's path, for a node that
 * TensorFlow Lite has nothing for. */
GBytes *sl_model_to_tflite (const SlModel *model, GError **error);
