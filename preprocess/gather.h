/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The taps of an axis regrouped for kernels that pick 32 samples at once from a window of 64: what
 * SlKernels.reduce of a table with @gathers reads instead of SlAxis.weight. Built once per stream.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preprocess/axis.h"

/** One multiplication of 32 pairs: lane i takes sample @index[i] (0..63) of the group's window
 * times @weight[i]. */
typedef struct
{
  int16_t index[32];
  int16_t weight[32];
} SlGatherStep;

/**
 * SlGather: positions in groups of 16 / @lanes; a group's sums over its @steps have @lanes adjacent
 * 32-bit lanes a position.
 * @lanes: 1 or 2: as few as keep the samples of a group inside one window
 * @base: where each group's window starts in the row, at least 0
 * @step: 64-byte aligned, @steps per group
 */
typedef struct SlGather
{
  int lanes, steps, groups;
  int32_t *base;
  SlGatherStep *step;
} SlGather;

/** sl_gather_attach: sets @axis->gather, with memory of @tables; leaves it NULL where windows are
 * too narrow. False when out of memory. */
bool sl_gather_attach (SlAxis *axis, SlTables *tables);
