/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables and thresholds for reading tensors; called when a decoder is opened. */
#include "postprocess/values.h"

#include <math.h>

gboolean
sl_values_readable (SlDtype dtype)
{
  return dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_F32;
}

double
sl_sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

void
sl_values_init (SlValues *values, const SlTensorInfo *tensor, SlScoreActivation activation)
{
  const gboolean is_signed = tensor->dtype == SL_DTYPE_I8;
  const double scale = tensor->scale > 0 ? (double) tensor->scale : 1;
  const gint zero_point = tensor->scale > 0 ? tensor->zero_point : 0;
  memset (values, 0, sizeof *values);
  values->quantised = tensor->dtype != SL_DTYPE_F32;
  values->sigmoid = activation == SL_SCORES_SIGMOID;
  values->flip = is_signed ? 0x80 : 0;
  for (gint rank = 0; values->quantised && rank < 256; rank++) {
    const double real = scale * ((double) rank - (is_signed ? 128 : 0) - zero_point);
    values->table[rank] = (gfloat) (values->sigmoid ? sl_sigmoid (real) : real);
  }
}

guint
sl_values_lowest (const SlValues *values, gfloat threshold)
{
  guint lowest = 0;
  while (lowest < 256 && !(values->table[lowest] >= threshold))
    lowest++;
  return lowest;
}

gfloat
sl_values_raw_threshold (const SlValues *values, gfloat threshold)
{
  if (!values->sigmoid)
    return threshold;
  return threshold <= 0   ? -INFINITY
         : threshold >= 1 ? INFINITY
                          : (gfloat) log (threshold / (1.0 - threshold));
}

gfloat
sl_values_activate (const SlValues *values, gfloat raw)
{
  return values->sigmoid ? (gfloat) sl_sigmoid (raw) : raw;
}
