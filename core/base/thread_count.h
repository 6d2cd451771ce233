/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers of threads in properties and options: 1..SL_MAX_THREADS, or 0 for automatic; "auto" in
 * text means 0. For 0, a session of a model measures the best number; all other code uses
 * sl_threads_resolve().
 */
#pragma once

#include <glib.h>

/** SL_MAX_THREADS: most threads that anything of ours is given. */
#define SL_MAX_THREADS 64
/** SL_THREADS_EXPECTED: for messages. */
#define SL_THREADS_EXPECTED "1..64 or auto (0 = auto)"

/** sl_threads_resolve: @threads, or for 0 the most that suit this machine: its processors, at
 * most 4. */
guint sl_threads_resolve (guint threads);
/** SL_MAX_TRIALS: most numbers of threads that sl_threads_trials() gives. */
#define SL_MAX_TRIALS 6
/**
 * sl_threads_trials: the numbers of threads that may run a model fastest, from 1 up, to be
 * measured. 1, 2 and 4 as far as there are cores; where cores differ in capacity also the fast ones
 * alone, and all cores.
 * @root: (nullable): folder in the place of /sys, for tests
 *
 * Returns: how many
 */
guint sl_threads_trials (const char *root, guint trials[SL_MAX_TRIALS]);
/** sl_threads_parse: FALSE unless @text is "auto", "0" or a number in 1..SL_MAX_THREADS; that is
 * then 0. */
gboolean sl_threads_parse (const char *text, guint *threads);
