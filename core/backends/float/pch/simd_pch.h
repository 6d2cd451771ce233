/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * As glib_pch.h of core/base, for loops over registers: the compiler's own header for them takes a
 * quarter of a second, half of what most of these files take.
 */
#include <glib.h>
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
