/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pruning by magnitude: of the weights of each layer the smallest become zero, wherever they are. */
#ifndef SL_QUANTIZE_PRUNE_H
#define SL_QUANTIZE_PRUNE_H

#include "core/graph/graph.h"

G_BEGIN_DECLS

/** sl_prune: of @graph, of sl_tflite_express(), that @share (0..1) of the weights of each convolution over all channels and of each fully
 *  connected layer. Layers of few weights and depthwise ones stay: there is little to gain and much to lose. Returns how many were pruned. */
guint sl_prune (SlGraph *graph, gdouble share);

G_END_DECLS

#endif
