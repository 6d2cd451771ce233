/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of counts, for each class. */
#include "postprocess/analyze/counts.h"

guint
sl_counts_class (SlCounts *counts, const char *label)
{
  for (guint i = 0; i < counts->n_classes; i++)
    if (counts->classes[i].label == label)
      return i;
  if (counts->n_classes == SL_COUNTS_MAX_CLASSES)
    return SL_COUNTS_MAX_CLASSES - 1;
  const gboolean last = counts->n_classes == SL_COUNTS_MAX_CLASSES - 1;
  counts->classes[counts->n_classes] =
    (SlClassCount){ .label = last ? g_intern_static_string ("others") : label };
  return counts->n_classes++;
}

void
sl_counts_enter (SlCounts *counts, guint class, gdouble ago)
{
  counts->inside++;
  counts->entered++;
  counts->classes[class].inside++;
  counts->classes[class].entered++;
  counts->most = MAX (counts->most, counts->inside);
  counts->integral += ago;
}

void
sl_counts_leave (SlCounts *counts, guint class, gdouble seconds, gdouble ago)
{
  counts->inside--;
  counts->left++;
  counts->classes[class].inside--;
  counts->classes[class].left++;
  counts->dwell += seconds;
  counts->integral = MAX (counts->integral - ago, 0);
}

void
sl_counts_cross (SlCounts *counts, guint class, gboolean in)
{
  *(in ? &counts->entered : &counts->left) += 1;
  *(in ? &counts->classes[class].entered : &counts->classes[class].left) += 1;
}

void
sl_counts_pass (SlCounts *counts, gdouble seconds)
{
  counts->integral += counts->inside * seconds;
}

void
sl_counts_end_interval (SlCounts *counts, gdouble seconds)
{
  counts->occupancy = (SlOccupancy){ .seconds = seconds,
                                     .mean = seconds > 0 ? counts->integral / seconds : 0,
                                     .most = counts->most,
                                     .entered = counts->entered - counts->had_entered,
                                     .left = counts->left - counts->had_left };
  counts->integral = 0;
  counts->most = counts->inside;
  counts->had_entered = counts->entered;
  counts->had_left = counts->left;
}
