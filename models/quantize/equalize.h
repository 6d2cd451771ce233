/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cross-layer equalisation (Nagel et al., 2019): between two layers with only scale-preserving
 * steps, a channel may be scaled down in the first and up in the second without changing the
 * result, so that one scale suits all channels in between.
 */
#pragma once

#include "core/graph/graph.h"

/** sl_equalize: weights and biases of @graph, of sl_tflite_express(). Returns how many pairs of
 * layers were made equal. */
guint sl_equalize (SlGraph *graph);
