/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fused activations as limits on the output. */
#include "core/ops/kernels/kernels.h"

typedef struct
{
  gfloat lo, hi;
} Range;

static const Range ranges[] = {
  [SL_ACTIVATION_NONE] = { -INFINITY, INFINITY }, [SL_ACTIVATION_RELU] = { 0.0f, INFINITY },
  [SL_ACTIVATION_RELU_N1_TO_1] = { -1.0f, 1.0f }, [SL_ACTIVATION_RELU6] = { 0.0f, 6.0f },
  [SL_ACTIVATION_RELU_0_TO_1] = { 0.0f, 1.0f },
};

G_STATIC_ASSERT (G_N_ELEMENTS (ranges) == SL_ACTIVATION_RELU_0_TO_1 + 1);

static gint32
quantise (gfloat value, gfloat scale, gint32 zero_point, gint32 lo, gint32 hi)
{
  const gfloat quantised = rintf (value / scale) + (gfloat) zero_point;
  return quantised <= (gfloat) lo ? lo : quantised >= (gfloat) hi ? hi : (gint32) quantised;
}

void
sl_clamp_for (SlClamp *clamp, SlActivation activation, const SlTensor *output)
{
  const Range *range =
    &ranges[sl_activation_is_curve (activation) ? SL_ACTIVATION_NONE : activation];
  clamp->lo_f = range->lo;
  clamp->hi_f = range->hi;
  clamp->lo = clamp->hi = 0;
  if (!sl_dtype_range (output->dtype, &clamp->lo, &clamp->hi) || output->quant.count != 1)
    return;
  const gint32 lo = clamp->lo, hi = clamp->hi, zero_point = sl_tensor_zero_point (output);
  clamp->lo = quantise (range->lo, sl_tensor_scale (output), zero_point, lo, hi);
  clamp->hi = quantise (range->hi, sl_tensor_scale (output), zero_point, lo, hi);
}
