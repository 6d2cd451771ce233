/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A clock that a test sets: linked into a program, it stands in front of g_get_monotonic_time() and
 * g_cond_wait_until(). So no test waits, and whether a thread waits for a time does not depend on
 * how busy the machine is.
 */
#ifndef SL_TESTS_CLOCK_H
#define SL_TESTS_CLOCK_H

#include <glib.h>

typedef enum
{
  SL_CLOCK_RUNS,  /* as without this file */
  SL_CLOCK_JUMPS, /* stands still; g_cond_wait_until() returns at once and sets it to its end time;
                     for one thread */
  SL_CLOCK_STANDS /* a wait until a time ends when its condition is signalled, and never otherwise:
                     the test fails where nothing signals it */
} SlClock;

/** sl_clock_set: while no other thread uses the clock, or from one that stands to one that runs,
 * which goes on from there and not back. */
void sl_clock_set (SlClock clock);
/** sl_clock_pass: time passes on a clock that stands. Wakes no thread. Any thread. */
void sl_clock_pass (gint64 us);
/** sl_clock_await: until @thread has begun a wait on a clock that stands, since it was set. */
void sl_clock_await (const GThread *thread);

#endif
