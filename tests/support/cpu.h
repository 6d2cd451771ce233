/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that meson runs once for each instruction set, by SIGHTLINE_CPU. Where the processor
 * lacks it, or SIGHTLINE_CPU_MASK hides it, there is nothing to test.
 */
#ifndef SL_TESTS_CPU_H
#define SL_TESTS_CPU_H

#include <glib.h>

/** sl_test_lacks_cpu: TRUE, with the whole program reported as skipped, when SIGHTLINE_CPU names an
 * instruction set that is missing here. To be called before g_test_init(), and the program to end
 * then with status 0. */
gboolean sl_test_lacks_cpu (void);

#endif
