/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Float layers on Sightline's kernels (internal to core): convolutions, fully connected layers,
 * additions, products, softmax, matrix products, and recurrent layers. */
#pragma once

#include "core/backends/backend.h"
#include "core/backends/float/isa.h"

typedef struct _SlFloatLayer SlFloatLayer;

/** sl_float_supports: whether the float kernels compute @node. */
gboolean sl_float_supports (const SlGraph *graph, const SlNode *node);
/** sl_float_faster: whether @isa's beat XNNPACK's on @node, which they support. */
gboolean sl_float_faster (const SlFloatIsa *isa, const SlGraph *graph, const SlNode *node);
/** sl_float_writes_parts: SlBackend's @writes_parts. */
gboolean sl_float_writes_parts (const SlGraph *graph, const SlNode *node);
/** sl_float_layer_new: (transfer none): in @host's arena; weights are packed once for all sessions
 * of the graph. NULL with @error set where they cannot be read again. */
SlFloatLayer *sl_float_layer_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node,
                                  GError **error);
/** sl_float_layer_run: @inputs are the node's; those that are constants and packed are not read. */
void sl_float_layer_run (const SlFloatLayer *layer, SlPool *pool, const void *const *inputs,
                         void *output);

typedef struct _SlFloatChain SlFloatChain;

/** sl_float_chain_length: SlBackend's @neighbours. */
guint sl_float_chain_length (const SlGraph *graph, const SlBackend *const *backends,
                             const guint *readers, guint threads, guint first);
/** sl_float_chain_new: (transfer none): of the nodes of @step, in @host's arena; NULL with @error
 * set where weights cannot be read again. */
SlFloatChain *sl_float_chain_new (const SlFloatIsa *isa, SlHost *host, const SlStep *step,
                                  GError **error);
/** sl_float_chain_run: @memory: the operands of the step. */
void sl_float_chain_run (const SlFloatChain *chain, SlPool *pool, void *const *memory);

typedef struct _SlFloatMatmul SlFloatMatmul;

/** sl_float_matmul_supports: whether the float kernels compute BATCH_MATMUL @node. */
gboolean sl_float_matmul_supports (const SlGraph *graph, const SlNode *node);
/** sl_float_matmul_new: (transfer none): in @host's arena. */
SlFloatMatmul *sl_float_matmul_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node);
void sl_float_matmul_run (const SlFloatMatmul *matmul, SlPool *pool, const void *const *inputs,
                          void *output);

typedef struct _SlFloatAttention SlFloatAttention;

/** sl_float_attention_new: (transfer none): of ATTENTION @node, in @host's arena. */
SlFloatAttention *sl_float_attention_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node);
void sl_float_attention_run (const SlFloatAttention *attention, SlPool *pool,
                             const void *const *inputs, void *output);

typedef struct _SlFloatSample SlFloatSample;

/** sl_float_sample_supports: whether the float kernels compute GRID_SAMPLE @node. */
gboolean sl_float_sample_supports (const SlGraph *graph, const SlNode *node);
/** sl_float_sample_new: (transfer none): in @host's arena. */
SlFloatSample *sl_float_sample_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node);
void sl_float_sample_run (const SlFloatSample *sample, const void *const *inputs, void *output);

typedef struct _SlFloatRecurrent SlFloatRecurrent;

/** sl_float_recurrent_new: (transfer none): in @host's arena. */
SlFloatRecurrent *sl_float_recurrent_new (const SlFloatIsa *isa, SlHost *host, const SlNode *node);
void sl_float_recurrent_run (SlFloatRecurrent *recurrent, const void *const *inputs,
                             void *const *outputs);
