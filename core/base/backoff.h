/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long to wait before something that failed is tried again: cameras, brokers and sockets,
 * pipelines.
 */
#pragma once

#include <glib.h>

/**
 * sl_backoff_delay:
 * @shortest: milliseconds after the first failure
 * @longest: milliseconds that no delay exceeds; @shortest is used if it is larger
 * @failures: failures in a row, 1 or more
 *
 * The delay is @shortest, doubled with each further failure up to @longest, minus a random part of
 * up to a quarter, so that many clients of one peer do not reconnect at once. Since the random part
 * only shortens the delay, it also works at @longest, where most clients wait.
 *
 * Returns: milliseconds until the next attempt. Any thread.
 */
guint sl_backoff_delay (guint shortest, guint longest, guint failures);
/**
 * sl_backoff_delay_at:
 * @chance: 0 (nothing subtracted) to 1 (a quarter)
 *
 * sl_backoff_delay() with a given random number.
 */
guint sl_backoff_delay_at (guint shortest, guint longest, guint failures, gdouble chance);
