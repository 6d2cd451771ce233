/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks are computed in integers, so no rounding error moves them. */
#include "core/base/percentile.h"

#include <math.h>

gsize
sl_percentile_index (gsize n, guint percent)
{
  g_return_val_if_fail (n > 0 && percent > 0 && percent <= 100, 0);
  /* ceil (n * percent / 100), without the product of large numbers */
  const gsize rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
  return rank - 1;
}

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  const gint64 one = *(const gint64 *) a, two = *(const gint64 *) b;
  return (one > two) - (one < two);
}

gdouble
sl_percentile_median_ms (GArray *times)
{
  if (times == NULL || times->len == 0)
    return NAN;
  g_array_sort (times, compare_times);
  return (gdouble) g_array_index (times, gint64, sl_percentile_index (times->len, 50)) / 1000;
}
