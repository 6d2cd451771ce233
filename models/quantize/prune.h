/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pruning by magnitude: the smallest weights of each layer become zero, one by one or in blocks. */
#pragma once

#include "core/graph/graph.h"

/** Weights of an output channel, for inputs that follow each other, which 8-bit layers skip when
 * all are zero. */
#define SL_PRUNE_BLOCK 4

/** sl_prune: of @graph, of sl_tflite_express(), that @share (0..1) of the weights of each
 * convolution over all channels and of each fully connected layer. Layers of few weights and
 * depthwise ones do not change: pruning them gains little and loses much. @blocks: blocks rather
 * than single weights, by the sum of their magnitudes, where the input channels are whole blocks.
 * Returns how many layers were pruned. */
guint sl_prune (SlGraph *graph, gdouble share, gboolean blocks);
