/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One network of one type on a number of threads: what it takes, and whether it is right. */
#pragma once

#include "tools/bench/field/digest.h"

/**
 * SlFieldTrial:
 * @prepare_ms: from the graph to a session; @first_ms: the first run; @least_ms, @median_ms: of
 * @runs later ones, 0 without such runs
 * @backends: names of those that run nodes, joined by +; @int8, @floats: (nullable): instruction
 * set of the kernels where these run some
 * @error: sl_field_error(), the largest of all runs; @right: whether it is within the bound
 */
typedef struct
{
  SlFieldNetwork network;
  SlFieldType type;
  guint threads, runs;
  double prepare_ms, first_ms, least_ms, median_ms;
  gsize arena_bytes, weight_bytes, packed_bytes;
  char backends[64];
  const char *int8, *floats;
  SlFieldDigest digest;
  double error;
  gboolean right;
} SlFieldTrial;

/**
 * sl_field_trial_run: fills @trial, whose network, type and threads are set.
 * @most_ms: no further run begins after this; 0 = the first run alone
 * @stopped: whether to end early
 *
 * Returns: FALSE with @error set where the network cannot run, without where it was @stopped
 */
gboolean sl_field_trial_run (SlFieldTrial *trial, double most_ms, gboolean (*stopped) (void),
                             GError **error);

/** sl_field_type_name: (transfer none): "fp16". */
const char *sl_field_type_name (SlFieldType type);
