/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SL_UNROLL before a loop of few constant turns keeps the array it runs over in registers: GCC's -O2 does not by itself.
 */
#ifndef SL_PREPROCESS_UNROLL_H
#define SL_PREPROCESS_UNROLL_H

#ifdef __clang__
#define SL_UNROLL _Pragma ("unroll")
#else
#define SL_UNROLL _Pragma ("GCC unroll 8")
#endif

#endif
