/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 8-bit layers on the processor's dot product instructions (internal to core): convolutions,
 * depthwise convolutions, fully connected layers and additions of uint8 or int8 tensors, with
 * XNNPACK's results bit by bit. A layer is packed once at load; running it allocates nothing.
 */
#pragma once

#include "core/backends/int8/isa.h"
#include "core/backends/backend.h"

typedef struct _SlInt8Layer SlInt8Layer;

/** sl_int8_supports: whether these kernels compute @node exactly; its sums must fit their
 * arithmetic whatever the input. */
gboolean sl_int8_supports (const SlGraph *graph, const SlNode *node);
/** sl_int8_faster: whether @isa beats XNNPACK on @node, which sl_int8_supports(). */
gboolean sl_int8_faster (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node);
/** sl_int8_layer_new: @node for @isa, in the host's arena; its weights are packed once for all
 * layers of the node. sl_int8_supports() must hold. */
SlInt8Layer *sl_int8_layer_new (const SlInt8Isa *isa, SlHost *host, const SlNode *node);
/** sl_int8_layer_run: @inputs and @output as for sl_session_run(). @pool (nullable): at most the
 * threads it was packed for. */
void sl_int8_layer_run (const SlInt8Layer *layer, SlPool *pool, const void *const *inputs,
                        void *output);
