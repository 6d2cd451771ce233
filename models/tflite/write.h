/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Writes TensorFlow Lite's files: a graph and what a contract says of it. The same graph gives the
 * same bytes.
 */
#pragma once

#include "core/graph/graph.h"
#include "models/contract.h"

/**
 * sl_tflite_write:
 * @graph: (transfer none): of sl_tflite_express(), or made of such a graph
 * @contract: (transfer none): of the model that @graph came from: its picture, decoder and labels
 * become metadata, so that the file needs no options
 *
 * Returns: (transfer full): the file; NULL with SL_ERROR_UNSUPPORTED naming a node that cannot be
 * written, SL_ERROR_LIMIT when the weights have more than FlatBuffers can address
 */
GBytes *sl_tflite_write (SlGraph *graph, const SlContract *contract, GError **error);
