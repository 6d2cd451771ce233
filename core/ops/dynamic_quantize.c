/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DYNAMIC_QUANTIZE: quantises a float tensor to 8 bits over its own range, which includes zero.
 * Outputs, all float32: quantised values less the zero point, the scale, the zero point.
 * FAKE_QUANTIZE: the same for each picture of a batch or for each pixel, or symmetric with 255
 * quantised values; its output is the dequantised tensor. Infinite values saturate; NaN gives the
 * lowest quantised value.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"
#include "core/ops/ops.h"

#define PART_ELEMENTS 16384
#define CODES 255.0f
#define CODES_BESIDE_ZERO 127.0f

typedef struct
{
  gfloat scale, lo, hi; /* of codes less their zero point */
} Codes;

static gfloat
scale_of (gfloat range, gfloat codes)
{
  const gfloat scale = range / codes;
  return scale > 0 && isfinite (scale) ? scale : 1.0f;
}

/* The codes of numbers from @least to @most, zero among them. */
static Codes
codes_of (gfloat least, gfloat most)
{
  const gfloat scale = scale_of (most - least, CODES), zero = rintf (-least / scale);
  const gfloat within = zero > 0 ? (zero < CODES ? zero : CODES) : 0;
  return (Codes){ scale, -within, CODES - within };
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  if (!sl_node_check_outputs (graph, node, SL_DTYPE_BIT (SL_DTYPE_F32), error))
    return FALSE;
  return sl_node_check_dtype (node, "input", sl_node_input (graph, node, 0),
                              SL_DTYPE_BIT (SL_DTYPE_F32), error);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  return sl_node_set_shape (graph, node, 0, input->rank, input->dims, error)
         && sl_node_set_shape (graph, node, 1, 0, NULL, error)
         && sl_node_set_shape (graph, node, 2, 0, NULL, error);
}

static void
round_part (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const gfloat scale = *(const gfloat *) call->outputs[1],
               zero = *(const gfloat *) call->outputs[2];
  const gfloat *in = (const gfloat *) call->inputs[0] + first;
  gfloat *out = (gfloat *) call->outputs[0] + first;
  sl_simd_loops ()->round (in, out, n, scale, -zero, CODES - zero, 1);
}

static void
run (const SlKernelCall *call)
{
  gfloat least = 0, most = 0;
  const gsize elements = sl_tensor_count (sl_node_input (call->graph, call->node, 0));
  sl_simd_loops ()->widen (call->inputs[0], &least, &most, elements);
  const Codes codes = codes_of (least, most);
  *(gfloat *) call->outputs[1] = codes.scale;
  *(gfloat *) call->outputs[2] = CODES - codes.hi;
  sl_parallel (call, elements, PART_ELEMENTS, round_part, (void *) call);
}

static gboolean
fake_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  const guint32 floats = SL_DTYPE_BIT (SL_DTYPE_F32);
  if (!sl_node_check_dtype (node, "input", input, floats, error)
      || !sl_node_check_outputs (graph, node, floats, error))
    return FALSE;
  return input->rank > 0
         || sl_node_error (error, node, SL_ERROR_SHAPE,
                           "input is a single number; expected at least 1 dimension");
}

/* Elements that have their range together. */
static gsize
row_elements (const SlKernelCall *call)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, 0);
  const gsize elements = sl_tensor_count (input);
  return call->node->params.fake_quantize.by_pixel ? (gsize) input->dims[input->rank - 1]
                                                   : elements / (gsize) input->dims[0];
}

static void
fake_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const gsize row = row_elements (call);
  for (gsize i = first; i < first + n; i++) {
    const gfloat *in = (const gfloat *) call->inputs[0] + i * row;
    gfloat *out = (gfloat *) call->outputs[0] + i * row, least = 0, most = 0;
    sl_simd_loops ()->widen (in, &least, &most, row);
    Codes codes = codes_of (least, most);
    if (call->node->params.fake_quantize.symmetric)
      codes = (Codes){ scale_of (MAX (-least, most), CODES_BESIDE_ZERO), -CODES_BESIDE_ZERO,
                       CODES_BESIDE_ZERO };
    sl_simd_loops ()->round (in, out, row, codes.scale, codes.lo, codes.hi, codes.scale);
  }
}

static void
fake_run (const SlKernelCall *call)
{
  const gsize row = row_elements (call);
  const gsize elements = sl_tensor_count (sl_node_input (call->graph, call->node, 0));
  sl_parallel (call, elements / row, MAX (PART_ELEMENTS / row, 1), fake_rows, (void *) call);
}

const SlOp sl_op_dynamic_quantize = { SL_OP_ROW (DYNAMIC_QUANTIZE, 1, 1, 3, check, infer, NULL,
                                                 run) };

const SlOp sl_op_fake_quantize = { SL_OP_ROW (FAKE_QUANTIZE, 1, 1, 1, fake_check,
                                              sl_node_same_shape_infer, NULL, fake_run) };
