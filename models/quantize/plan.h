/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which nodes of a float graph compute with int8 values, and which tensors share a scale. */
#pragma once

#include "models/quantize/ranges.h"

/** Requirements of TensorFlow Lite's specification for an operator's scales. */
typedef enum
{
  SL_SCALES_NONE,  /* the operator stays float */
  SL_SCALES_LAYER, /* weights of 8 bits, a bias of 32, an output of its own */
  SL_SCALES_OWN,   /* each tensor its own */
  SL_SCALES_SAME,  /* one for inputs and outputs */
  SL_SCALES_FIXED  /* the output's is stated */
} SlScales;

/**
 * SlPlan:
 * @quantized: by node of the graph: whether it computes with int8
 * @dynamic: by node of the graph: whether it has int8 weights, takes and makes floats, and rounds
 * rows while the model runs
 * @per_tensor: as in the options
 * @scale, @zero_point: by tensor: of its int8 values; 0 where it never has any
 */
typedef struct
{
  gboolean *quantized, *dynamic;
  gfloat *scale;
  gint32 *zero_point;
  guint n_quantized, n_dynamic; /* nodes */
  gboolean per_tensor;
} SlPlan;

/**
 * SlPlanOptions:
 * @float_head: parts that 8 bits spoil stay float
 * @kept: (nullable): by node of the graph: it stays float
 * @per_tensor: layers have one scale for all their weights
 * @least_snr: a layer is such a part where quantising its input alone leaves less signal to noise
 * in its result, dB
 */
typedef struct
{
  SlRangeMethod method;
  gdouble percent, least_snr;
  gboolean float_head, per_tensor;
  const gboolean *kept;
} SlPlanOptions;

SlPlan *sl_plan_new (SlGraph *graph, const SlRanges *ranges, const SlPlanOptions *options);
void sl_plan_free (SlPlan *plan);
/** sl_scales_of: what is asked of @op. */
SlScales sl_scales_of (SlOpType op);
/** sl_scales_data: whether input @i of a node of @op has values, not indices, axes or shapes. */
gboolean sl_scales_data (SlOpType op, guint i);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPlan, sl_plan_free)
