/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SL_UNROLL before a loop of at most 32 constant turns unrolls it, so that arrays of registers never become arrays in memory.
 * GCC does not do so at -O2 by itself. It gives up on nested loops of many turns.
 */
#ifndef SL_BASE_UNROLL_H
#define SL_BASE_UNROLL_H

#ifdef __clang__
#define SL_UNROLL _Pragma ("clang loop unroll(full)")
#else
#define SL_UNROLL _Pragma ("GCC unroll 32")
#endif

#endif
