/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures right behind a key frame are often larger than those at the end of its group. So each
 * size is divided by the usual size at its place in the group. The quotient is compared with the
 * median of the remembered ones, and with the median of their deviations, which a few pictures with
 * motion do not change. What is compared is the mean of a few pictures, because noise changes the
 * size of each.
 */
#include "plugins/camera/sizes.h"

#include <string.h>

/* Fewer pictures say nothing. */
#define LEAST 16
/* Pictures after a key frame that do not count. */
#define AFTER_KEY 4
/* How far above the median a mean is too large: median deviations, and parts of the median. */
#define DEVIATIONS 4.0
#define PART 0.25
#define IN_A_ROW 2
/* A quotient of 1; the weight of earlier groups in the usual size at a place. */
#define ONE 1024u
#define BEFORE 3u

void
sl_sizes_key (SlSizes *sizes)
{
  sizes->since_key = 0;
}

/* The median of @values, which it sorts. */
static guint32
median (guint32 *values, guint n)
{
  for (guint i = 1; i < n; i++) {
    const guint32 value = values[i];
    guint k = i;
    for (; k > 0 && values[k - 1] > value; k--)
      values[k] = values[k - 1];
    values[k] = value;
  }
  return values[n / 2];
}

static gboolean
is_large (const SlSizes *sizes, guint kind)
{
  guint32 values[SL_SIZES_MOST];
  const guint n = sizes->n[kind];
  double mean = 0;
  if (n < LEAST || sizes->n_last[kind] < SL_SIZES_MEAN)
    return FALSE;
  for (guint i = 0; i < SL_SIZES_MEAN; i++)
    mean += sizes->last[kind][i] / (double) SL_SIZES_MEAN;
  memcpy (values, sizes->parts[kind], n * sizeof *values);
  const guint32 usual = median (values, n);
  for (guint i = 0; i < n; i++)
    values[i] = values[i] > usual ? values[i] - usual : usual - values[i];
  const double around = median (values, n);
  return mean > usual + MAX (DEVIATIONS * around, PART * usual);
}

gboolean
sl_sizes_see (SlSizes *sizes, gsize bytes, gboolean referred, gboolean learn)
{
  const guint kind = referred ? 1 : 0;
  const guint32 size = (guint32) CLAMP (bytes, 1, G_MAXUINT32 / ONE);
  if (++sizes->since_key <= AFTER_KEY)
    return FALSE;
  guint32 *usual = &sizes->usual[kind][MIN (sizes->since_key, SL_SIZES_PLACES) - 1];
  const guint32 part = *usual > 0 ? size * ONE / *usual : 0;
  if (learn)
    *usual = *usual > 0 ? (BEFORE * *usual + size) / (BEFORE + 1) : size;
  if (part == 0)
    return FALSE;
  sizes->last[kind][sizes->next_last[kind]] = part;
  sizes->next_last[kind] = (sizes->next_last[kind] + 1) % SL_SIZES_MEAN;
  sizes->n_last[kind] = MIN (sizes->n_last[kind] + 1, SL_SIZES_MEAN);
  sizes->large = is_large (sizes, kind) ? sizes->large + 1 : 0;
  if (learn) {
    sizes->parts[kind][sizes->next[kind]] = part;
    sizes->next[kind] = (sizes->next[kind] + 1) % SL_SIZES_MOST;
    sizes->n[kind] = MIN (sizes->n[kind] + 1, SL_SIZES_MOST);
  }
  return sizes->large >= IN_A_ROW;
}
