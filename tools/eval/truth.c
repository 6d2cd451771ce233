/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/truth.h"

static void
truth_clear (gpointer data)
{
  SlTruth *truth = data;
  sl_runs_free (truth->mask);
  g_free (truth->points);
}

GArray *
sl_truths_new (void)
{
  GArray *truths = g_array_new (FALSE, FALSE, sizeof (SlTruth));
  g_array_set_clear_func (truths, truth_clear);
  return truths;
}
