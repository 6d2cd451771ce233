/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a piece of work again and again, each time in a process of its own in which another
 * allocation fails. What may come of it: the result as without the failure, an error that names
 * memory, or GLib's abort, which names it too. Anything else fails the test: another result,
 * another error, another signal, no end.
 */
#ifndef SL_TESTS_SWEEP_H
#define SL_TESTS_SWEEP_H

#include <glib.h>

/** SweepWork: (transfer full): what came out, or the message of an error; the same text in each
 * run. */
typedef char *(*SweepWork) (gpointer data);

/** sweep: @prepare (nullable) comes before @work and is spared. Of the allocations from one place
 * in the code the first and the last fail, where GLib is asked for them only some, since it aborts;
 * with `-m thorough` every allocation does. The process must have one thread. Skips the test where
 * allocations cannot be made to fail. */
void sweep (void (*prepare) (void), SweepWork work, gpointer data);

#endif
