/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/ground_truth.h"

static void
truth_clear (gpointer data)
{
  SlGroundTruth *truth = data;
  sl_runs_free (truth->mask);
  g_free (truth->points);
}

GArray *
sl_ground_truth_new (void)
{
  GArray *truths = g_array_new (FALSE, FALSE, sizeof (SlGroundTruth));
  g_array_set_clear_func (truths, truth_clear);
  return truths;
}
