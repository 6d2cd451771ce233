/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Percentiles of measurements, by one definition everywhere: nearest rank. */
#pragma once

#include <glib.h>

/**
 * sl_percentile_index:
 * @n: number of values, 1 or more
 * @percent: 1..100
 *
 * The nearest-rank percentile is the smallest of the values that at least @percent % of them do not
 * exceed: it is one of the values, the median (50) of an even number is the lower of the two in the
 * middle, and 100 is the largest.
 *
 * Returns: its index, 0 .. @n - 1, among the values in ascending order.
 */
gsize sl_percentile_index (gsize n, guint percent);
/** sl_percentile_median_ms: the median of @times (nullable) (element-type gint64), us, which it
 * sorts; in ms, not a number without any. */
gdouble sl_percentile_median_ms (GArray *times);
