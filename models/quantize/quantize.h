/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A float model as a TensorFlow Lite model of 8 bits, or with weights of 8 or 16. The caller brings
 * pictures as tensors, each twice to learn from, others once to compare:
 *
 *   SlQuantizer *q = sl_quantizer_new (model, &options, &error);
 *   for each pass 0, 1 and each picture: sl_quantizer_learn (q, pass, tensor, &error);
 *   GBytes *file = sl_quantizer_finish (q, &error);
 *   for each other picture: sl_quantizer_compare (q, tensor, &error);
 *   sl_quantizer_report (q, &report);
 */
#pragma once

#include "models/model.h"
#include "preprocess/normalize.h"
#include "models/quantize/ranges.h"
#include "models/quantize/weights_graph.h"

#define SL_QUANTIZE_PASSES 2
/** Layers that a report names, and those that it says were kept float. */
#define SL_QUANTIZE_WORST 10
#define SL_QUANTIZE_KEPT 64

/** What has fewer bits then. */
typedef enum
{
  SL_QUANTIZE_ALL,
  SL_QUANTIZE_WEIGHTS, /* the weights of layers alone: nothing has to be learned */
  SL_QUANTIZE_FLOAT16  /* the same, as float16 */
} SlQuantizeWhat;

/**
 * SlQuantizeOptions:
 * @percent: 50..100, share of the values inside a range, for SL_RANGE_PERCENTILE
 * @float_head: parts of detectors that 8 bits spoil stay float
 * @per_tensor: one scale for the weights of a layer, instead of one for each output channel
 * @uint8: activations and weights as uint8, which needs @per_tensor
 * @prune: 0..1, share of the weights of each layer that become zero first, with @prune_blocks in
 * blocks: see prune.h
 * @equalize: channels of layers that follow each other are made alike first: see equalize.h
 * @threads: 1..SL_MAX_THREADS
 */
typedef struct
{
  SlQuantizeWhat what;
  SlRangeMethod method;
  gdouble percent, prune;
  gboolean prune_blocks, float_head, per_tensor, uint8, equalize;
  guint threads;
} SlQuantizeOptions;

/** SlLayerNoise: @snr: of a node's result against the float one, dB. @name: the report's */
typedef struct
{
  const char *op;
  const char *name;
  gdouble snr;
} SlLayerNoise;

/**
 * SlQuantizeReport:
 * @measure: (nullable): what @agreement is: see sl_agreement_measure(); NULL where the outputs
 * cannot be decoded
 * @agreement: 0..1; not a number where nothing could be compared
 * @what: as in the options
 * @nodes, @quantized: that the file has, and how many of them compute with int8 values, or have
 * such weights; @dynamic: of these, how many round each row of their input while the model runs
 * @equalized: pairs of layers that were made alike; @pruned: layers with weights that became zero
 * @kept: (nullable): names of the @n_kept layers of sl_quantizer_keep(), the first SL_QUANTIZE_KEPT
 * @float_ms, @quantized_ms: medians of a run
 * @output_snr: of all outputs together, dB
 * @worst: @n_worst results of nodes, the noisiest first
 */
typedef struct
{
  SlQuantizeWhat what;
  const char *measure;
  gdouble agreement;
  guint compared, nodes, quantized, dynamic;
  gsize float_bytes, quantized_bytes;
  gdouble float_ms, quantized_ms, output_snr;
  guint n_worst;
  SlLayerNoise worst[SL_QUANTIZE_WORST];
  guint equalized, pruned, n_kept;
  const char *kept[SL_QUANTIZE_KEPT];
} SlQuantizeReport;

typedef struct _SlQuantizer SlQuantizer;

/** sl_quantizer_new: @model: (transfer none): float, with one input, a picture of known range; no
 * session may have been made of it. NULL with
 *  @error set, which starts with the model's path. */
SlQuantizer *sl_quantizer_new (SlModel *model, const SlQuantizeOptions *options, GError **error);
void sl_quantizer_free (SlQuantizer *quantizer);
/** sl_quantizer_spec: how a picture becomes a tensor for it: all of @spec but filter, orientation
 * and crop. */
void sl_quantizer_spec (const SlQuantizer *quantizer, SlNormalizeSpec *spec);
/** sl_quantizer_tensor_bytes: of such a tensor. */
gsize sl_quantizer_tensor_bytes (const SlQuantizer *quantizer);
/** sl_quantizer_learn: @pass: 0 and, when all pictures were there, 1. Not for weights alone. */
gboolean sl_quantizer_learn (SlQuantizer *quantizer, guint pass, const void *tensor,
                             GError **error);
/** sl_quantizer_learn_once: instead of both passes, for pictures that come only once. */
gboolean sl_quantizer_learn_once (SlQuantizer *quantizer, const void *tensor, GError **error);
/** sl_quantizer_finish: (transfer full): the file. SL_ERROR_UNSUPPORTED when no node can be
 * quantised, or has weights that could be. */
GBytes *sl_quantizer_finish (SlQuantizer *quantizer, GError **error);
/** sl_quantizer_keep: after the comparison: the layers that add most noise stay float when
 * sl_quantizer_finish() is called once more, which forgets the comparison. Returns how many; 0 =
 * none is left. */
guint sl_quantizer_keep (SlQuantizer *quantizer);
/** sl_quantizer_compare: after sl_quantizer_finish(). */
gboolean sl_quantizer_compare (SlQuantizer *quantizer, const void *tensor, GError **error);
/** sl_quantizer_report: names in @report are valid while @quantizer lives. */
void sl_quantizer_report (SlQuantizer *quantizer, SlQuantizeReport *report);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlQuantizer, sl_quantizer_free)
