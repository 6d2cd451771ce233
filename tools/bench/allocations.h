/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts what the process asks the heap for: linking allocations.c puts counters in front of
 * glibc's malloc family.
 */
#pragma once

#include <glib.h>

/** sl_allocations: calls of the malloc family so far, in all threads; -1 where they cannot be
 * counted (sanitizers, other C libraries). */
gint64 sl_allocations (void);
/** sl_allocations_watch: calls @seen (nullable) on each of them, in the thread that allocates; what
 * @seen allocates is its own affair. */
void sl_allocations_watch (void (*seen) (void));
