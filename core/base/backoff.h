/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long to wait before something that failed is tried again: cameras, brokers and sockets, pipelines.
 */
#ifndef SL_BASE_BACKOFF_H
#define SL_BASE_BACKOFF_H

#include <glib.h>

/**
 * sl_backoff_delay:
 * @shortest: milliseconds after the first failure
 * @longest: milliseconds that no delay exceeds; counts as @shortest where it is less
 * @failures: failures in a row, 1 or more
 *
 * The delay is @shortest, doubled with each further failure up to @longest, of which up to a quarter is taken off by chance, so that many
 * who lost the same peer do not come back at once. As chance only shortens, it works at @longest too, where most of them wait.
 *
 * Returns: milliseconds until the next attempt. Any thread.
 */
guint sl_backoff_delay (guint shortest, guint longest, guint failures);
/**
 * sl_backoff_delay_at:
 * @chance: 0 (nothing taken off) up to 1 (a quarter)
 *
 * sl_backoff_delay() with the random number given.
 */
guint sl_backoff_delay_at (guint shortest, guint longest, guint failures, gdouble chance);

#endif
