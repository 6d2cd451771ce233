/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/** sl_bench_field: runs `sightline bench field`; returns the exit status. */
int sl_bench_field (int argc, char **argv);
