/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which layers compute in binary16, and how large numbers may be there. */
#include <math.h>

#include "core/base/half.h"
#include "core/backends/float/layer.h"
#include "core/ops/kernels/kernels.h"

/* Largest weights between these are stored as they are for arithmetic of binary16, others as
 * multiples of a power of two. */
#define HALVES_LEAST 0x1p-6f
#define HALVES_MOST 16
/* What activations are brought to at most, and the largest sums of copied rows. */
#define HALVES_TOP 16384
#define HALVES_SUM 32768
/* Sums round up at most by this part. */
#define HALVES_ROUNDED 0.98f
/* Least products of a sum of rows of binary16: those of floats are rounded first. */
#define MIN_DEPTH 12
/* How many nodes before a layer are searched for the one that makes its input. */
#define MOST_BEFORE 32

/* The loops read and write the operands of @layer as they are. */
static void
take (SlFloatLayer *layer, const SlFloatHalves *halves)
{
  layer->halves = halves;
  layer->in_size = layer->narrow.x ? sizeof (guint16) : sizeof (gfloat);
  layer->out_size = layer->narrow.y ? sizeof (guint16) : sizeof (gfloat);
  layer->narrow = (SlFloatNarrow){ 0 };
}

const SlFloatHalves *
sl_float_halves_of (const SlFloatLayer *layer, const SlFloatIsa *isa)
{
  return layer->precision == SL_PRECISION_FP16 ? sl_float_halves (isa) : NULL;
}

gint32
sl_float_halves_depth (const SlFloatLayer *layer, const SlFloatIsa *isa, gint32 otherwise)
{
  return sl_float_halves_of (layer, isa) != NULL && layer->narrow.x ? MIN_DEPTH : otherwise;
}

/* How large the activations may be beside @weights, of a row for each channel, so that no sum
 * leaves the range of binary16. */
static void
set_range (SlFloatLayer *layer, const SlFloatSource *weights, const SlTensor *bias)
{
  SlFloatGemm *gemm = &layer->tiles.gemm;
  const gfloat *weight = weights->values;
  gfloat largest = 0, most = 0, offset = 0;
  int exponent;
  for (gint32 c = 0; c < layer->channels; c++) {
    gfloat sum = 0;
    for (gint32 k = 0; k < layer->depth; k++, weight++) {
      sum += fabsf (*weight);
      largest = MAX (largest, fabsf (*weight));
    }
    most = MAX (most, sum);
  }
  for (gsize i = 0; bias != NULL && i < bias->bytes / sizeof (gfloat); i++)
    offset = MAX (offset, fabsf (((const gfloat *) bias->data)[i]));
  frexpf (largest, &exponent);
  gemm->unit =
    largest == 0 || (largest >= HALVES_LEAST && largest <= HALVES_MOST) ? 1 : ldexpf (1, exponent);
  gemm->reach = HALVES_TOP;
  while (gemm->reach * (most / gemm->unit) > HALVES_SUM)
    gemm->reach /= 2;
  const gfloat room = (SL_HALF_MOST - offset) * HALVES_ROUNDED;
  gemm->top = gemm->unit != 1 || !(room > 0) ? 0
              : most * SL_HALF_MOST <= room  ? sl_half_from_float (SL_HALF_MOST)
                                             : sl_half_from_float (room / most);
}

/* The largest magnitude of the input of @node that the limits of the node before it allow, such as
 * those of ReLU6. */
static gfloat
largest_input (const SlGraph *graph, const SlNode *node)
{
  const gint32 input = node->inputs[sl_op_data_at (node->op)];
  const SlNode *first = sl_graph_node (graph, 0), *maker = node;
  SlClamp clamp;
  do {
    if (maker == first || node - maker == MOST_BEFORE)
      return INFINITY;
    maker--;
  } while (maker->outputs[0] != input);
  sl_clamp_for (&clamp, sl_node_fused_activation (maker), sl_graph_tensor (graph, input));
  return MAX (fabsf (clamp.lo_f), fabsf (clamp.hi_f));
}

void
sl_float_halves_tiles (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node,
                       const SlFloatSource *weights)
{
  SlFloatGemm *gemm = &layer->tiles.gemm;
  set_range (layer, weights, sl_float_bias (graph, node));
  take (layer, sl_float_halves_of (layer, layer->isa));
  gemm->narrow = layer->out_size == sizeof (guint16);
  gemm->within = largest_input (graph, node) <= sl_half_to_float (gemm->top);
}

/* Whether all operands of an elementwise operation are binary16, which @halves takes as they are.
 */
static gboolean
computes_halves (const SlFloatLayer *layer, const SlFloatHalves *halves)
{
  const gboolean two = layer->mode == SL_FLOAT_ADD || layer->mode == SL_FLOAT_MULTIPLY;
  return halves != NULL && layer->narrow.x && layer->narrow.y && layer->repeated.period == 0
         && (two ? layer->narrow.second
                 : layer->mode == SL_FLOAT_ACTIVATE && halves->bends (layer->activation));
}

void
sl_float_halves_elements (SlFloatLayer *layer)
{
  const SlFloatHalves *halves = sl_float_halves_of (layer, layer->isa);
  if (computes_halves (layer, halves))
    take (layer, halves);
}

/* Whether all of @bias (nullable) are finite numbers of binary16. */
static gboolean
has_narrow_bias (const SlTensor *bias)
{
  gboolean within = TRUE;
  for (gsize i = 0; bias != NULL && i < bias->bytes / sizeof (gfloat); i++)
    within &= fabsf (((const gfloat *) bias->data)[i]) <= SL_HALF_MOST;
  return within;
}

void
sl_float_halves_depthwise (SlFloatLayer *layer, const SlFloatSource *weights, const SlTensor *bias)
{
  const SlFloatHalves *halves = sl_float_halves_of (layer, layer->isa);
  if (layer->mode == SL_FLOAT_DEPTHWISE && halves != NULL && layer->narrow.x && layer->narrow.y
      && sl_float_source_within (weights, SL_HALF_MOST) && has_narrow_bias (bias))
    take (layer, halves);
}
