/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See layer.h. */
#include "tools/fit/layer.h"

#include <math.h>
#include <stdlib.h>

#define MOST_WEIGHTS (1 << 20)
/* Channels whose spread is smaller, of the widest one's, tell nothing; fewer channels are too few.
 */
#define ALIVE 0.02
#define FEWEST_CHANNELS 6
/* A layer whose biases are smaller than that, of the spread, has none that says anything. */
#define NO_BIAS 1e-6
/* The spread of the filters' sizes, as logarithms, before training. Normalisation in training makes
 * it larger. */
#define AS_BEGUN 0.15

/* Which scale and zero point element @i of @n has: integers have one of each, or one a channel of
 * the first or the last dimension. */
static gsize
channel_of (const SlQuant *quant, gsize i, gsize n)
{
  return quant->count <= 1 ? 0 : quant->axis == 0 ? i / (n / quant->count) : i % quant->count;
}

/* Element @i of @n. */
static gdouble
real_value (const SlTensor *tensor, gsize i, gsize n)
{
  const gdouble value = sl_dtype_value (tensor->dtype, tensor->data, i);
  const gsize channel = channel_of (&tensor->quant, i, n);
  return tensor->quant.count == 0
           ? value
           : (value - tensor->quant.zero_point[channel]) * tensor->quant.scale[channel];
}

gfloat *
sl_layer_floats (const SlTensor *tensor, gsize *n)
{
  if (tensor == NULL || tensor->data == NULL)
    return NULL;
  const gboolean real = tensor->dtype == SL_DTYPE_F32 || tensor->dtype == SL_DTYPE_F16;
  if (!sl_tensor_elements (tensor, n) || *n > MOST_WEIGHTS || (!real && tensor->quant.count == 0))
    return NULL;
  gfloat *values = g_new (gfloat, *n);
  for (gsize i = 0; i < *n; i++)
    values[i] = (gfloat) real_value (tensor, i, *n);
  return values;
}

/* The line through @n points, by least squares: its slope and the slope's standard error. */
static void
regress (const gdouble *x, const gdouble *y, guint n, gdouble *slope, gdouble *deviation)
{
  gdouble mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
  for (guint i = 0; i < n; i++) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  for (guint i = 0; i < n; i++) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  *slope = xx > 0 ? xy / xx : 0;
  *deviation = xx > 0 ? sqrt (fmax (yy - *slope * xy, 0) / xx / (n - 2)) : INFINITY;
}

static int
by_size (const void *a, const void *b)
{
  const gdouble one = *(const gdouble *) a, two = *(const gdouble *) b;
  return (one > two) - (one < two);
}

gdouble
sl_layer_median (gdouble *values, guint n)
{
  qsort (values, n, sizeof *values, by_size);
  return values[n / 2];
}

/* Whether no normalisation has scaled the filters: then biases tell nothing of the inputs. */
static gboolean
is_as_begun (const SlChannel *channels, guint n)
{
  gdouble sum = 0, squares = 0;
  for (guint i = 0; i < n; i++) {
    if (channels[i].energy <= 0)
      return FALSE;
    const gdouble size = log (channels[i].energy) / 2;
    sum += size;
    squares += size * size;
  }
  return squares / n - sum / n * (sum / n) < AS_BEGUN * AS_BEGUN;
}

void
sl_layer_fit (const SlChannel *channels, guint n, gdouble expected, SlLayerFit *fit)
{
  g_autofree gdouble *x = g_new (gdouble, n), *y = g_new (gdouble, n), *sizes = g_new (gdouble, n),
                     *spreads = g_new (gdouble, n);
  gdouble widest = 0, slope, deviation;
  guint alive = 0;
  *fit = (SlLayerFit){ 0 };
  for (guint i = 0; i < n; i++)
    widest = fmax (widest, channels[i].spread);
  for (guint i = 0; i < n; i++) {
    const SlChannel *channel = &channels[i];
    if (channel->spread <= ALIVE * widest)
      continue;
    x[alive] = channel->sum / channel->spread;
    y[alive] = channel->bias / channel->spread;
    sizes[alive] = fabs (y[alive]);
    spreads[alive++] = channel->spread;
  }
  if (alive < FEWEST_CHANNELS || is_as_begun (channels, n)
      || sl_layer_median (sizes, alive) < NO_BIAS)
    return;
  regress (x, y, alive, &slope, &deviation);
  if (!(deviation > 0) || !isfinite (deviation))
    return;
  *fit = (SlLayerFit){ alive, (slope - expected) / deviation, log (sizes[alive / 2]),
                       log (sl_layer_median (spreads, alive)) };
}
