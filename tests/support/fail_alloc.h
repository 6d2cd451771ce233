/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes an allocation fail: linked into a test, it stands in front of the C library's malloc family
 * and of anonymous mappings. Only what Sightline asks for counts, itself or through GLib: the
 * nearest function on the stack outside the C library, GLib and GObject is in the test's own
 * program or in a file with "sightline" in its name. Where memory ended is told on standard error.
 */
#ifndef SL_TESTS_FAIL_ALLOC_H
#define SL_TESTS_FAIL_ALLOC_H

#include <glib.h>

/** In the number of a place: it calls the C library itself and not GLib, which aborts where memory
 * ends. */
#define SL_FAIL_DIRECT (1u << 31)

/** sl_fail_alloc_works: FALSE under sanitizers, which bring a malloc of their own, and without
 * glibc. */
gboolean sl_fail_alloc_works (void);
/** sl_fail_alloc_arm: counts from here on; the @at-th allocation (from 1, 0 = none) of at least
 * @least bytes fails, once.
 *  @sites: (nullable): @n places for a number each that tells the code from which an allocation
 * came. */
void sl_fail_alloc_arm (guint64 at, gsize least, guint32 *sites, gsize n);
/** sl_fail_alloc_disarm: how many were counted since; *@failed (nullable): whether one failed. */
guint64 sl_fail_alloc_disarm (gboolean *failed);

#endif
