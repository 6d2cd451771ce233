/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory between two inaccessible pages, so that a read or write outside it ends the test at once.
 */
#ifndef SL_TESTS_GUARD_H
#define SL_TESTS_GUARD_H

#include <glib.h>

typedef struct
{
  guint8 *map;
  gsize map_bytes;
  guint8 *data; /* @bytes, against the page below or the page above */
  gsize bytes;
} TestGuard;

/** test_guard_init: @at_end: whether the last byte touches the page above, else the first touches
 * the page below. */
void test_guard_init (TestGuard *guard, gsize bytes, gboolean at_end);
void test_guard_clear (TestGuard *guard);

#endif
