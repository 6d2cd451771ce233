/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of 8-bit operators whose fixed-point arithmetic differs from the nearest quantised value:
 * HARD_SWISH is TensorFlow Lite's (16 bits, the last product truncated), ABS too, LEAKY_RELU is
 * XNNPACK's (ratios of scales in 8 fractional bits) within the ratios that XNNPACK takes, else
 * TensorFlow Lite's. So LiteRT with XNNPACK gives the same bytes.
 */
#include "core/ops/kernels/fixedpoint.h"
#include "core/ops/kernels/kernels.h"

/* TensorFlow Lite's HARD_SWISH: an input has so many bits more inside, and its gate covers -3..3 in
 * 16 bits. */
#define INNER_BITS 7
#define GATE_SCALE (3.0f / 32768.0f)

/* The two constants that a quantised value is multiplied by. */
typedef struct
{
  SlFixed output, gate;
} HardSwish;

/* min (max (x + 3, 0), 6) / 6 of a quantised value with INNER_BITS, in 15 fractional bits. */
static gint16
gate_of (const HardSwish *p, gint16 x)
{
  const gint exponent = p->gate.exponent, up = MAX (exponent, 0);
  gint16 gate = sl_fixed_shift_left16 (x, MAX (up - 1, 0));
  gate = sl_fixed_product16 (gate, sl_fixed_mantissa16 (p->gate));
  gate = sl_fixed_shift_left16 (gate, MIN (up, 1));
  gate = (gint16) sl_fixed_shift_right (gate, MAX (-exponent, 0));
  return (gint16) ((gate + (1 << 15)) >> 1);
}

static gint32
hard_swish (const HardSwish *p, gint32 quantised)
{
  const gint16 x = (gint16) (quantised * (1 << INNER_BITS));
  const gint16 scaled = sl_fixed_product16 (x, sl_fixed_mantissa16 (p->output));
  return (gint32) sl_fixed_shift_right (sl_fixed_product16_truncated (gate_of (p, x), scaled),
                                        -p->output.exponent);
}

static gint32
leaky_relu8 (gint32 quantised, gint32 multiplier, gint32 multiplier_below)
{
  return sl_fixed8_multiply (quantised, quantised < 0 ? multiplier_below : multiplier);
}

/* Whether XNNPACK's LEAKY_RELU takes these ratios of scales, of quantised values above and below
 * zero. */
static gboolean
xnnpack_takes (gfloat above, gfloat below)
{
  return above >= 0x1p-8f && above <= 0x1p+7f && below >= -0x1.FFFC00p+6f && below <= 0x1p+7f
         && fabsf (below) >= 0x1p-8f;
}

static gint32
value_at (const SlTensor *input, guint byte)
{
  return (input->dtype == SL_DTYPE_I8 ? (gint8) byte : (gint32) byte)
         - sl_tensor_zero_point (input);
}

static void
store (SlTable *table, guint byte, gint32 value, const SlTensor *output)
{
  gint32 lo = 0, hi = 0;
  sl_dtype_range (output->dtype, &lo, &hi);
  table->bytes[byte] = (guint8) CLAMP ((gint64) value + sl_tensor_zero_point (output), lo, hi);
}

gboolean
sl_table_fill_hard_swish (SlTable *table, const SlTensor *input, const SlTensor *output)
{
  const gfloat inner = sl_tensor_scale (input) / (1 << INNER_BITS);
  const HardSwish p = { sl_fixed_from_real ((gdouble) (inner / sl_tensor_scale (output))),
                        sl_fixed_from_real ((gdouble) (inner / GATE_SCALE)) };
  if (p.output.exponent > 0) /* TensorFlow Lite refuses these scales */
    return FALSE;
  for (guint i = 0; i < 256; i++)
    store (table, i, hard_swish (&p, value_at (input, i)), output);
  return TRUE;
}

void
sl_table_fill_abs (SlTable *table, const SlTensor *input, const SlTensor *output)
{
  const SlFixed factor =
    sl_fixed_from_real ((gdouble) sl_tensor_scale (input) / (gdouble) sl_tensor_scale (output));
  for (guint i = 0; i < 256; i++)
    store (table, i, sl_fixed_multiply (ABS (value_at (input, i)), factor), output);
}

void
sl_table_fill_leaky_relu (SlTable *table, const SlTensor *input, const SlTensor *output,
                          gfloat alpha)
{
  const gfloat above = sl_tensor_scale (input) / sl_tensor_scale (output), below = above * alpha;
  if (xnnpack_takes (above, below)) {
    const gint32 multiplier = (gint32) lrintf (256.0f * above),
                 multiplier_below = (gint32) lrintf (256.0f * below);
    for (guint i = 0; i < 256; i++)
      store (table, i, leaky_relu8 (value_at (input, i), multiplier, multiplier_below), output);
    return;
  }
  const gdouble ratio = (gdouble) sl_tensor_scale (input) / (gdouble) sl_tensor_scale (output);
  const SlFixed factor = sl_fixed_from_real (ratio);
  const SlFixed factor_below = sl_fixed_from_real (
    (gdouble) sl_tensor_scale (input) * (gdouble) alpha / (gdouble) sl_tensor_scale (output));
  for (guint i = 0; i < 256; i++) {
    const gint32 quantised = value_at (input, i);
    store (table, i, sl_fixed_multiply (quantised, quantised < 0 ? factor_below : factor), output);
  }
}
