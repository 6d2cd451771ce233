/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SL_UNROLL before a loop with a constant number of at most 32 iterations unrolls it, so that
 * arrays of registers never become arrays in memory. GCC does not do so at -O2. It gives up on
 * nested loops with many iterations.
 */
#pragma once

#ifdef __clang__
#define SL_UNROLL _Pragma ("clang loop unroll(full)")
#else
#define SL_UNROLL _Pragma ("GCC unroll 32")
#endif
