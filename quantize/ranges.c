/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The least squares are searched on histograms: values inside a range are off by a uniform error of one step, values outside by their
 * distance from its edge. The edges are moved in turn until neither gains.
 */
#include "quantize/ranges.h"

#include <math.h>

/* Places of an edge that are tried, in equal parts from 0 to the extreme, and rounds of both edges. */
#define PLACES 64
#define ROUNDS 3
#define STEPS 255.0

struct _SlRanges
{
  SlGraph *graph;
  GArray *tensors; /* of SlObserved, by tensor */
  guint64 pictures;
};

static gboolean
is_observed (const SlGraph *graph, gint32 tensor)
{
  const SlTensor *t = sl_graph_tensor (graph, tensor);
  return t->dtype == SL_DTYPE_F32 && t->data == NULL;
}

SlRanges *
sl_ranges_new (SlGraph *graph)
{
  SlRanges *ranges = g_new0 (SlRanges, 1);
  ranges->graph = graph;
  ranges->tensors = g_array_new (FALSE, TRUE, sizeof (SlObserved));
  g_array_set_size (ranges->tensors, sl_graph_n_tensors (graph));
  return ranges;
}

void
sl_ranges_free (SlRanges *ranges)
{
  if (ranges == NULL)
    return;
  for (guint i = 0; i < ranges->tensors->len; i++) {
    g_free (g_array_index (ranges->tensors, SlObserved, i).bins);
    g_free (g_array_index (ranges->tensors, SlObserved, i).means);
    g_free (g_array_index (ranges->tensors, SlObserved, i).variances);
  }
  g_array_unref (ranges->tensors);
  g_free (ranges);
}

static gsize
elements_of (const SlTensor *tensor)
{
  return tensor->bytes / sizeof (gfloat);
}

static guint
channels_of (const SlTensor *tensor)
{
  return tensor->rank > 0 ? (guint) tensor->dims[tensor->rank - 1] : 1;
}

void
sl_ranges_limits (SlRanges *ranges, const SlTape *tape)
{
  for (guint i = 0; i < ranges->tensors->len; i++) {
    const gfloat *values = is_observed (ranges->graph, (gint32) i) ? sl_tape_data (tape, (gint32) i) : NULL;
    const gsize n = values != NULL ? elements_of (sl_graph_tensor (ranges->graph, (gint32) i)) : 0;
    SlRange *range = &g_array_index (ranges->tensors, SlObserved, i).range;
    gfloat low = 0, high = 0;
    for (gsize k = 0; k < n; k++) {
      low = values[k] < low ? values[k] : low;
      high = values[k] > high ? values[k] : high;
    }
    range->low = MIN (range->low, (gdouble) low);
    range->high = MAX (range->high, (gdouble) high);
  }
}

static void
count (SlObserved *seen, const gfloat *values, gsize n, guint channels)
{
  const gdouble width = seen->range.high - seen->range.low;
  const gfloat low = (gfloat) seen->range.low, per = width > 0 ? (gfloat) (SL_RANGE_BINS / width) : 0;
  if (seen->bins == NULL) {
    seen->bins = g_new0 (guint64, SL_RANGE_BINS);
    seen->means = g_new0 (gdouble, channels);
    seen->variances = g_new0 (gdouble, channels);
  }
  for (gsize row = 0; row < n; row += channels) {
    for (guint c = 0; c < channels; c++) {
      const gfloat value = values[row + c], place = (value - low) * per;
      seen->bins[place > 0 ? MIN ((guint) MIN (place, (gfloat) SL_RANGE_BINS), SL_RANGE_BINS - 1) : 0]++;
      seen->means[c] += (gdouble) value / (gdouble) (n / channels);
      seen->variances[c] += (gdouble) value * (gdouble) value / (gdouble) (n / channels);
    }
  }
}

void
sl_ranges_count (SlRanges *ranges, const SlTape *tape)
{
  ranges->pictures++;
  for (guint i = 0; i < ranges->tensors->len; i++) {
    const SlTensor *tensor = sl_graph_tensor (ranges->graph, (gint32) i);
    const gfloat *values = is_observed (ranges->graph, (gint32) i) ? sl_tape_data (tape, (gint32) i) : NULL;
    if (values != NULL)
      count (&g_array_index (ranges->tensors, SlObserved, i), values, elements_of (tensor), channels_of (tensor));
  }
}

void
sl_ranges_end (SlRanges *ranges)
{
  for (guint i = 0; i < ranges->tensors->len; i++) {
    SlObserved *seen = &g_array_index (ranges->tensors, SlObserved, i);
    gboolean finite = TRUE;
    for (guint c = 0; seen->means != NULL && c < channels_of (sl_graph_tensor (ranges->graph, (gint32) i)); c++) {
      seen->means[c] /= (gdouble) ranges->pictures;
      seen->variances[c] = MAX (seen->variances[c] / (gdouble) ranges->pictures - seen->means[c] * seen->means[c], 0);
      finite = finite && isfinite (seen->means[c]);
    }
    /* No scale suits infinity, or what is no number. */
    if (!finite)
      g_clear_pointer (&seen->bins, g_free);
  }
}

const SlObserved *
sl_ranges_get (const SlRanges *ranges, gint32 tensor)
{
  const SlObserved *seen = &g_array_index (ranges->tensors, SlObserved, tensor);
  return seen->bins != NULL ? seen : NULL;
}

static gdouble
bin_centre (const SlObserved *seen, guint bin)
{
  return seen->range.low + (seen->range.high - seen->range.low) * ((gdouble) bin + 0.5) / SL_RANGE_BINS;
}

/* Squared error of the values of @seen in @range, behind @curve. */
static gdouble
error_of (const SlObserved *seen, SlRange range, SlCurve curve)
{
  const gdouble step = (range.high - range.low) / STEPS, inner = step * step / 12;
  gdouble error = 0;
  for (guint i = 0; i < SL_RANGE_BINS; i++) {
    if (seen->bins[i] == 0)
      continue;
    const gdouble x = bin_centre (seen, i), edge = CLAMP (x, range.low, range.high);
    gdouble off = x - edge, slope = 1;
    if (curve != NULL) {
      off = x != edge ? curve (x) - curve (edge) : 0;
      slope = step > 0 ? (curve (edge + step / 2) - curve (edge - step / 2)) / step : 1;
    }
    error += (gdouble) seen->bins[i] * (off * off + inner * slope * slope);
  }
  return error;
}

static gdouble
error_of_all (const SlObserved *const *observed, guint n, SlRange range, SlCurve curve)
{
  gdouble error = 0;
  for (guint i = 0; i < n; i++)
    error += error_of (observed[i], range, curve);
  return error;
}

gdouble
sl_ranges_noise (const SlObserved *observed, SlRange range)
{
  guint64 all = 0;
  for (guint i = 0; i < SL_RANGE_BINS; i++)
    all += observed->bins[i];
  return error_of (observed, range, NULL) / (gdouble) MAX (all, 1);
}

static SlRange
least_squares (const SlObserved *const *observed, guint n, SlRange whole, SlCurve curve)
{
  SlRange best = whole;
  gdouble least = error_of_all (observed, n, best, curve);
  for (guint round = 0; round < ROUNDS; round++) {
    const SlRange before = best;
    for (guint k = 0; k < 2 * PLACES; k++) {
      const gdouble part = (gdouble) (k / 2 + 1) / PLACES;
      SlRange tried = best;
      *(k % 2 == 0 ? &tried.high : &tried.low) = part * (k % 2 == 0 ? whole.high : whole.low);
      const gdouble error = tried.high > tried.low ? error_of_all (observed, n, tried, curve) : INFINITY;
      if (error < least) {
        least = error;
        best = tried;
      }
    }
    if (before.low == best.low && before.high == best.high)
      break;
  }
  return best;
}

/* The share of @percent of the values of one tensor, the rest cut off at both ends alike. */
static SlRange
percentile (const SlObserved *seen, gdouble percent)
{
  guint64 all = 0, below = 0, above = 0;
  guint first = 0, last = SL_RANGE_BINS - 1;
  for (guint i = 0; i < SL_RANGE_BINS; i++)
    all += seen->bins[i];
  const gdouble cut = (gdouble) all * (100 - percent) / 200;
  while (first < last && (gdouble) (below + seen->bins[first]) <= cut)
    below += seen->bins[first++];
  while (last > first && (gdouble) (above + seen->bins[last]) <= cut)
    above += seen->bins[last--];
  const gdouble bin = (seen->range.high - seen->range.low) / SL_RANGE_BINS;
  return (SlRange){ MIN (seen->range.low + bin * first, 0), MAX (seen->range.low + bin * (last + 1), 0) };
}

SlRange
sl_ranges_choose (const SlObserved *const *observed, guint n, SlRangeMethod method, gdouble percent, SlCurve curve)
{
  SlRange whole = { 0, 0 };
  for (guint i = 0; i < n; i++) {
    const SlRange range = method == SL_RANGE_PERCENTILE ? percentile (observed[i], percent) : observed[i]->range;
    whole.low = MIN (whole.low, range.low);
    whole.high = MAX (whole.high, range.high);
  }
  return method == SL_RANGE_MSE ? least_squares (observed, n, whole, curve) : whole;
}
