/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The benchmarks of `sightline bench`: each parses its own options, prints, and returns an exit
 * status.
 */
#pragma once

/** sl_bench_model: a model's load, first and later runs. */
int sl_bench_model (int argc, char **argv);
