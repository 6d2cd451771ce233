/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Regroups taps; see gather.h. */
#include "preprocess/gather.h"

#include <string.h>

#define WINDOW 64

/* Start of the window of @n positions from @first, or -1 when one window is not enough. */
static int32_t
window (const SlAxis *axis, int first, int n)
{
  int32_t low = INT32_MAX, high = 0;
  for (int i = first; i < first + n && i < axis->count; i++) {
    low = axis->start[i] < low ? axis->start[i] : low;
    high = axis->start[i] + axis->taps > high ? axis->start[i] + axis->taps : high;
  }
  if (low == INT32_MAX)
    return 0;
  return high - low <= WINDOW ? low : -1;
}

static int
find_lanes (const SlAxis *axis)
{
  for (int lanes = 1; lanes <= 2; lanes *= 2) {
    bool fits = true;
    for (int i = 0; i < axis->count && fits; i += SL_AXIS_GROUP / lanes)
      fits = window (axis, i, SL_AXIS_GROUP / lanes) >= 0;
    if (fits)
      return lanes;
  }
  return 0;
}

static void
fill_step (const SlAxis *axis, const SlGather *gather, int group, int number, SlGatherStep *step)
{
  for (int pair = 0; pair < 16; pair++) {
    const int position = group * (16 / gather->lanes) + pair / gather->lanes;
    for (int half = 0; half < 2; half++) {
      const int tap = 2 * (number * gather->lanes + pair % gather->lanes) + half;
      const bool used = position < axis->count && tap < axis->taps;
      step->index[2 * pair + half] =
        (int16_t) (used ? axis->start[position] - gather->base[group] + tap : 0);
      step->weight[2 * pair + half] =
        (int16_t) (used ? axis->weight[position * axis->stride + tap] : 0);
    }
  }
}

bool
sl_gather_attach (SlAxis *axis, SlTables *tables)
{
  const int lanes = axis->taps > 0 ? find_lanes (axis) : 0;
  if (lanes == 0)
    return true;
  SlGather *gather = sl_tables_take (tables, 1, sizeof *gather);
  if (gather == NULL)
    return false;
  axis->gather = gather;
  gather->lanes = lanes;
  gather->steps = (axis->taps + 2 * lanes - 1) / (2 * lanes);
  gather->groups = (axis->count + SL_AXIS_GROUP - 1) / SL_AXIS_GROUP * lanes;
  const size_t steps = (size_t) gather->groups * (size_t) gather->steps;
  gather->base = sl_tables_take (tables, (size_t) gather->groups + 1, sizeof *gather->base);
  gather->step = sl_tables_take (tables, steps + 1, sizeof *gather->step);
  if (gather->base == NULL || gather->step == NULL)
    return false;
  for (int group = 0; group < gather->groups; group++) {
    gather->base[group] = window (axis, group * (16 / lanes), 16 / lanes);
    for (int i = 0; i < gather->steps; i++)
      fill_step (axis, gather, group, i, &gather->step[group * gather->steps + i]);
  }
  return true;
}
