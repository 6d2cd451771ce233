/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The least squares are searched on histograms: values inside a range are off by a uniform error of
 * one step, values outside by their distance from its edge. The edges are moved in turn until
 * neither gains. A histogram of one pass covers more than the limits so far, so that it grows
 * seldom, and is fitted to them at the end.
 */
#include "models/quantize/ranges.h"

#include <math.h>

/* Places of an edge that are tried, in equal parts from 0 to the extreme, and rounds of both edges.
 */
#define PLACES 64
#define ROUNDS 3
#define STEPS 255.0
/* What a histogram that grows covers, of its new limit. */
#define AHEAD 1.25
/* Loops of so many rounds become vector instructions. */
#define LANES 8
/* Histograms side by side, from how many values on, and what one of 32 bits can count. */
#define TABLES 4
#define MANY (TABLES * SL_RANGE_BINS)
#define MOST ((gsize) 1 << 30)

struct _SlRanges
{
  SlGraph *graph;
  GArray *tensors; /* of SlObserved, by tensor */
  GArray *spans;   /* (nullable): of SlRange, by tensor: what the histograms of one pass cover */
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
  g_clear_pointer (&ranges->spans, g_array_unref);
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

/* (nullable): what the last run left in @tensor, where it is observed. */
static const gfloat *
values_of (const SlRanges *ranges, const SlActivationTrace *tape, guint tensor)
{
  return is_observed (ranges->graph, (gint32) tensor)
           ? sl_activation_trace_data (tape, (gint32) tensor)
           : NULL;
}

static void
widen (SlRange *range, const gfloat *values, gsize n)
{
  gfloat low = 0, high = 0;
  for (gsize k = 0; k < n; k++) {
    low = values[k] < low ? values[k] : low;
    high = values[k] > high ? values[k] : high;
  }
  range->low = MIN (range->low, (gdouble) low);
  range->high = MAX (range->high, (gdouble) high);
}

void
sl_ranges_limits (SlRanges *ranges, const SlActivationTrace *tape)
{
  for (guint i = 0; i < ranges->tensors->len; i++) {
    const gfloat *values = values_of (ranges, tape, i);
    if (values != NULL)
      widen (&g_array_index (ranges->tensors, SlObserved, i).range, values,
             elements_of (sl_graph_tensor (ranges->graph, (gint32) i)));
  }
}

/* NaN is in the first bin. */
static gint
bin_of (gfloat value, gfloat low, gfloat per)
{
  const gfloat place = (value - low) * per, above = place > 0 ? place : 0;
  return (gint) MIN (above, (gfloat) (SL_RANGE_BINS - 1));
}

/* How many bins a value passes that goes up by 1. */
static gfloat
bins_per (SlRange range)
{
  const gdouble width = range.high - range.low;
  return width > 0 ? (gfloat) (SL_RANGE_BINS / width) : 0;
}

/* Sums and sums of squares of @n channels, which the compiler knows. */
static inline void
sum_channels (const gfloat *values, gsize rows, guint channels, guint n, gdouble *sums,
              gdouble *squares)
{
  for (gsize row = 0; row < rows; row++, values += channels)
    for (guint c = 0; c < n; c++) {
      const gdouble value = (gdouble) values[c];
      sums[c] += value;
      squares[c] += value * value;
    }
}

/* Adds the mean and the mean square of each channel over @rows. */
static void
add_moments (SlObserved *seen, const gfloat *values, gsize rows, guint channels)
{
  for (guint c = 0, n; c < channels; c += n) {
    gdouble sums[LANES] = { 0 }, squares[LANES] = { 0 };
    n = channels - c >= LANES ? LANES : 1;
    if (n == LANES)
      sum_channels (values + c, rows, channels, LANES, sums, squares);
    else
      sum_channels (values + c, rows, channels, 1, sums, squares);
    for (guint i = 0; i < n; i++) {
      seen->means[c + i] += sums[i] / (gdouble) rows;
      seen->variances[c + i] += squares[i] / (gdouble) rows;
    }
  }
}

/* Neighbours are often in one bin, and an increment waits for the one before. */
static void
count_many (guint64 *bins, const gfloat *values, gsize n, gfloat low, gfloat per)
{
  guint32 parts[TABLES][SL_RANGE_BINS] = { 0 };
  gint places[LANES];
  gsize i = 0;
  for (; i + LANES <= n; i += LANES) {
    for (guint k = 0; k < LANES; k++)
      places[k] = bin_of (values[i + k], low, per);
    for (guint k = 0; k < LANES; k++)
      parts[k % TABLES][places[k]]++;
  }
  for (; i < n; i++)
    parts[0][bin_of (values[i], low, per)]++;
  for (guint k = 0; k < TABLES; k++)
    for (guint bin = 0; bin < SL_RANGE_BINS; bin++)
      bins[bin] += parts[k][bin];
}

/* @over: what the histogram covers */
static void
count (SlObserved *seen, SlRange over, const gfloat *values, gsize n, guint channels)
{
  const gfloat low = (gfloat) over.low, per = bins_per (over);
  if (seen->bins == NULL) {
    seen->bins = g_new0 (guint64, SL_RANGE_BINS);
    seen->means = g_new0 (gdouble, channels);
    seen->variances = g_new0 (gdouble, channels);
  }
  for (gsize i = 0, some; i < n; i += some) {
    some = MIN (n - i, MOST);
    if (some >= MANY)
      count_many (seen->bins, values + i, some, low, per);
    else
      for (gsize k = 0; k < some; k++)
        seen->bins[bin_of (values[i + k], low, per)]++;
  }
  add_moments (seen, values, n / channels, channels);
}

void
sl_ranges_count (SlRanges *ranges, const SlActivationTrace *tape)
{
  ranges->pictures++;
  for (guint i = 0; i < ranges->tensors->len; i++) {
    const SlTensor *tensor = sl_graph_tensor (ranges->graph, (gint32) i);
    const gfloat *values = values_of (ranges, tape, i);
    SlObserved *seen = &g_array_index (ranges->tensors, SlObserved, i);
    if (values != NULL)
      count (seen, seen->range, values, elements_of (tensor), channels_of (tensor));
  }
}

static gdouble
bin_centre (SlRange range, guint bin)
{
  return range.low + (range.high - range.low) * ((gdouble) bin + 0.5) / SL_RANGE_BINS;
}

/* Makes the histogram over @from one over @to. */
static void
refit (SlObserved *seen, SlRange from, SlRange to)
{
  guint64 *bins = g_new0 (guint64, SL_RANGE_BINS);
  for (guint i = 0; i < SL_RANGE_BINS; i++)
    bins[bin_of ((gfloat) bin_centre (from, i), (gfloat) to.low, bins_per (to))] += seen->bins[i];
  g_free (seen->bins);
  seen->bins = bins;
}

/* Has the histogram over @span cover the limits that @seen has now. Infinity is covered by nothing.
 */
static void
grow (SlObserved *seen, SlRange *span)
{
  const SlRange before = *span;
  if (!isfinite (seen->range.low) || !isfinite (seen->range.high))
    return;
  span->low = seen->range.low < span->low ? AHEAD * seen->range.low : span->low;
  span->high = seen->range.high > span->high ? AHEAD * seen->range.high : span->high;
  if (seen->bins != NULL && (span->low < before.low || span->high > before.high))
    refit (seen, before, *span);
}

void
sl_ranges_once (SlRanges *ranges, const SlActivationTrace *tape)
{
  if (ranges->spans == NULL) {
    ranges->spans = g_array_new (FALSE, TRUE, sizeof (SlRange));
    g_array_set_size (ranges->spans, ranges->tensors->len);
  }
  ranges->pictures++;
  for (guint i = 0; i < ranges->tensors->len; i++) {
    const SlTensor *tensor = sl_graph_tensor (ranges->graph, (gint32) i);
    const gfloat *values = values_of (ranges, tape, i);
    SlObserved *seen = &g_array_index (ranges->tensors, SlObserved, i);
    SlRange *span = &g_array_index (ranges->spans, SlRange, i);
    if (values == NULL)
      continue;
    widen (&seen->range, values, elements_of (tensor));
    grow (seen, span);
    count (seen, *span, values, elements_of (tensor), channels_of (tensor));
  }
}

void
sl_ranges_end (SlRanges *ranges)
{
  for (guint i = 0; i < ranges->tensors->len; i++) {
    SlObserved *seen = &g_array_index (ranges->tensors, SlObserved, i);
    gboolean finite = TRUE;
    for (guint c = 0;
         seen->means != NULL && c < channels_of (sl_graph_tensor (ranges->graph, (gint32) i));
         c++) {
      seen->means[c] /= (gdouble) ranges->pictures;
      seen->variances[c] =
        MAX (seen->variances[c] / (gdouble) ranges->pictures - seen->means[c] * seen->means[c], 0);
      finite = finite && isfinite (seen->means[c]);
    }
    /* No scale suits infinity or NaN. */
    if (!finite)
      g_clear_pointer (&seen->bins, g_free);
    else if (ranges->spans != NULL && seen->bins != NULL)
      refit (seen, g_array_index (ranges->spans, SlRange, i), seen->range);
  }
}

const SlObserved *
sl_ranges_get (const SlRanges *ranges, gint32 tensor)
{
  const SlObserved *seen = &g_array_index (ranges->tensors, SlObserved, tensor);
  return seen->bins != NULL ? seen : NULL;
}

/* Slope of @curve at @x, over one @step. */
static gdouble
slope_at (SlCurve curve, gdouble x, gdouble step)
{
  return step > 0 ? (curve (x + step / 2) - curve (x - step / 2)) / step : 1;
}

/* A bin that is not empty: its centre and how many values it has. */
typedef struct
{
  gdouble x, n;
} Bin;

/* (transfer full) (element-type Bin) */
static GArray *
filled_bins (const SlObserved *seen)
{
  GArray *filled = g_array_new (FALSE, FALSE, sizeof (Bin));
  for (guint i = 0; i < SL_RANGE_BINS; i++) {
    const Bin bin = { bin_centre (seen->range, i), (gdouble) seen->bins[i] };
    if (seen->bins[i] != 0)
      g_array_append_val (filled, bin);
  }
  return filled;
}

/* Squared error of one value of @x in @range, behind @curve. */
static gdouble
curved_error (gdouble x, gdouble edge, gdouble step, SlCurve curve)
{
  const gdouble off = x != edge ? curve (x) - curve (edge) : 0,
                slope = slope_at (curve, edge, step);
  return off * off + step * step / 12 * slope * slope;
}

static inline gdouble
nearest_in (SlRange range, gdouble x)
{
  const gdouble above = x > range.low ? x : range.low;
  return above < range.high ? above : range.high;
}

/* Squared errors of the values of LANES bins, @inner of each that is inside. */
static inline void
put_errors (const Bin *bins, SlRange range, gdouble inner, gdouble *errors)
{
  for (guint i = 0; i < LANES; i++) {
    const gdouble off = bins[i].x - nearest_in (range, bins[i].x);
    errors[i] = bins[i].n * (off * off + inner);
  }
}

/* Squared error of the values in @filled in @range, behind @curve, added to @error. INFINITY as
 * soon as that is @most or more: most places of an edge are given up after a few bins. */
static gdouble
error_of (const GArray *filled, SlRange range, SlCurve curve, gdouble error, gdouble most)
{
  const gdouble step = (range.high - range.low) / STEPS, inner = step * step / 12;
  const Bin *bins = (const Bin *) (gconstpointer) filled->data;
  gdouble sum = 0;
  guint i = 0;
  for (; curve == NULL && i + LANES <= filled->len && !(error + sum >= most); i += LANES) {
    gdouble errors[LANES];
    put_errors (bins + i, range, inner, errors);
    for (guint k = 0; k < LANES; k++)
      sum += errors[k];
  }
  for (; i < filled->len && !(error + sum >= most); i++) {
    const gdouble x = bins[i].x, edge = nearest_in (range, x), off = x - edge;
    sum += bins[i].n * (curve != NULL ? curved_error (x, edge, step, curve) : off * off + inner);
  }
  return error + sum >= most ? INFINITY : error + sum;
}

/* The sum over all tensors, or INFINITY where it is @most or more. @filled: (element-type GArray)
 */
static gdouble
error_of_all (const GPtrArray *filled, SlRange range, SlCurve curve, gdouble most)
{
  gdouble error = 0;
  for (guint i = 0; i < filled->len; i++)
    error = error_of (filled->pdata[i], range, curve, error, most);
  return error;
}

gdouble
sl_ranges_noise (const SlObserved *observed, SlRange range)
{
  g_autoptr (GArray) filled = filled_bins (observed);
  guint64 all = 0;
  for (guint i = 0; i < SL_RANGE_BINS; i++)
    all += observed->bins[i];
  return error_of (filled, range, NULL, 0, INFINITY) / (gdouble) MAX (all, 1);
}

static SlRange
least_squares (const SlObserved *const *observed, guint n, SlRange whole, SlCurve curve)
{
  g_autoptr (GPtrArray) filled = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (filled, filled_bins (observed[i]));
  SlRange best = whole;
  gdouble least = error_of_all (filled, best, curve, INFINITY);
  for (guint round = 0; round < ROUNDS; round++) {
    const SlRange before = best;
    for (guint k = 0; k < 2 * PLACES; k++) {
      const gdouble part = (gdouble) (k / 2 + 1) / PLACES;
      SlRange tried = best;
      *(k % 2 == 0 ? &tried.high : &tried.low) = part * (k % 2 == 0 ? whole.high : whole.low);
      const gdouble error =
        tried.high > tried.low ? error_of_all (filled, tried, curve, least) : INFINITY;
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
  return (SlRange){ MIN (seen->range.low + bin * first, 0),
                    MAX (seen->range.low + bin * (last + 1), 0) };
}

SlRange
sl_ranges_choose (const SlObserved *const *observed, guint n, SlRangeMethod method, gdouble percent,
                  SlCurve curve)
{
  SlRange whole = { 0, 0 };
  for (guint i = 0; i < n; i++) {
    const SlRange range =
      method == SL_RANGE_PERCENTILE ? percentile (observed[i], percent) : observed[i]->range;
    whole.low = MIN (whole.low, range.low);
    whole.high = MAX (whole.high, range.high);
  }
  return method == SL_RANGE_MSE ? least_squares (observed, n, whole, curve) : whole;
}
