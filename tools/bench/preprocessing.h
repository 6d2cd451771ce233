/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The measurements behind `sightline bench preprocess`: formats x sizes x filters x outputs, one
 * thread, the normaliser, its peers and the copy of its bytes in turn.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/**
 * SlBenchPreprocess:
 * @format: (nullable): only this one, GStreamer's name
 * @rounds: measurements of each, at least 1
 * @cold_frames: pictures in rotation for the cold figures, so that none is in a cache; 0 measures
 * warm only
 * @most_ms: milliseconds after which no further round begins, once there are a few; 0 for no such
 * limit
 * @json: one object a line instead of a table
 */
typedef struct
{
  const char *format;
  int rounds, cold_frames, most_ms;
  bool json;
} SlBenchPreprocess;

/** sl_bench_preprocess: writes to @out; false when @format is none that is measured. */
bool sl_bench_preprocess (const SlBenchPreprocess *bench, FILE *out);
