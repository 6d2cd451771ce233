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
/** sl_threads_parse: FALSE unless @text is "auto", "0" or a number in 1..SL_MAX_THREADS; that is
 * then 0. */
gboolean sl_threads_parse (const char *text, guint *threads);
