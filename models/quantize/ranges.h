/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statistics of the tensors of a float graph over many pictures: limits in a first pass, histograms
 * and means of channels in a second, or all in one pass; and the choice of the range for 256 steps.
 */
#pragma once

#include "models/quantize/activation_trace.h"

#define SL_RANGE_BINS 2048

typedef enum
{
  SL_RANGE_MINMAX,
  SL_RANGE_PERCENTILE,
  SL_RANGE_MSE
} SlRangeMethod;

/** Values @low..@high, which hold 0. */
typedef struct
{
  gdouble low, high;
} SlRange;

/** The function that is applied to a tensor next: errors are measured after it. NULL = none. */
typedef gdouble (*SlCurve) (gdouble x);

/**
 * SlObserved: a float tensor.
 * @range: least and greatest value, and 0
 * @bins: (nullable): how many values lie in each SL_RANGE_BINS-th of @range
 * @means: (nullable): by index of the last dimension
 * @variances: (nullable): likewise
 */
typedef struct
{
  SlRange range;
  guint64 *bins;
  gdouble *means, *variances;
} SlObserved;

typedef struct _SlRanges SlRanges;

SlRanges *sl_ranges_new (SlGraph *graph);
void sl_ranges_free (SlRanges *ranges);
/** sl_ranges_limits, sl_ranges_count: first and second pass: take in what the last run left in
 * @tape, whose graph is that of @ranges. */
void sl_ranges_limits (SlRanges *ranges, const SlActivationTrace *tape);
void sl_ranges_count (SlRanges *ranges, const SlActivationTrace *tape);
/** sl_ranges_once: both in one pass, for what is seen only once: histograms grow with the limits,
 * by which a value may come to lie in the place beside its own. Not together with the two. */
void sl_ranges_once (SlRanges *ranges, const SlActivationTrace *tape);
/** sl_ranges_end: after the last pass. */
void sl_ranges_end (SlRanges *ranges);
/** sl_ranges_get: (nullable): of @tensor; NULL when it is no float tensor that is computed. */
const SlObserved *sl_ranges_get (const SlRanges *ranges, gint32 tensor);
/** sl_ranges_choose: the range that @n tensors share; @curve (nullable) of the first where it is
 * alone. @percent: share of the values inside, for SL_RANGE_PERCENTILE. */
SlRange sl_ranges_choose (const SlObserved *const *observed, guint n, SlRangeMethod method,
                          gdouble percent, SlCurve curve);

/** sl_ranges_noise: mean squared quantisation error of @observed with int8 values over @range. */
gdouble sl_ranges_noise (const SlObserved *observed, SlRange range);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRanges, sl_ranges_free)
