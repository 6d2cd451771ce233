/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers of float activations and 8-bit weights, whose activations TensorFlow Lite rounds first. */
#pragma once

#include "core/graph/graph.h"

/** tfl_round_activations: a convolution of @inputs, @n of them, is to read rounded activations,
 * where TensorFlow Lite rounds them. @index: the node's number in the file. FALSE with @error set.
 */
gboolean tfl_round_activations (SlGraph *graph, guint index, const SlWindow *window, gint32 *inputs,
                                guint n, GError **error);
/** tfl_rounds_rows: whether a fully connected layer with the option asymmetric_quantize_inputs
 * rounds its rows to 8 bits: only with constant symmetric weights of 8 bits. */
gboolean tfl_rounds_rows (const SlGraph *graph, const gint32 *inputs, guint n);
