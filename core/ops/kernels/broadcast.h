/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Broadcasting (internal to core): walks up to three inputs and one output together, row by row, by
 * NumPy's rules.
 */
#pragma once

#include "core/ops/ops.h"

#define SL_BROADCAST_INPUTS 3

/**
 * SlRow: one row of @n outputs.
 * @inputs: first element of each input's row
 * @strides: elements between neighbours: 1, or 0 where an input repeats
 */
typedef void (*SlRow) (const void *context, const void *const *inputs, const gsize *strides,
                       void *output, gsize n);

/** SlBroadcast: dimensions that all inputs walk alike are merged; the last one is the row. Strides
 * count elements. */
typedef struct
{
  guint n_inputs, rank;
  gsize dims[SL_MAX_RANK + 1];
  gsize strides[SL_BROADCAST_INPUTS][SL_MAX_RANK + 1];
  gsize sizes[SL_BROADCAST_INPUTS], output_size; /* bytes an element */
  SlRow row;
  const void *context;
} SlBroadcast;

/** sl_broadcast_init: for inputs 0 .. @n_inputs-1 and output 0 of @node. The state of
 * sl_kernel_broadcast() begins with @broadcast. */
void sl_broadcast_init (SlBroadcast *broadcast, const SlGraph *graph, const SlNode *node,
                        guint n_inputs, SlRow row, const void *context);
