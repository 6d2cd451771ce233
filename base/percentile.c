/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In integers, so that no rounding of a product moves a rank. */
#include "base/percentile.h"

gsize
sl_percentile_index (gsize n, guint percent)
{
  g_return_val_if_fail (n > 0 && percent > 0 && percent <= 100, 0);
  /* ceil (n * percent / 100), without the product of large numbers */
  const gsize rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
  return rank - 1;
}
