/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The registers of one instruction set, which SL_PREPROCESS_FOR_SSE41, _AVX2, _AVX512 or _NEON
 * chooses. kernels_simd.c is compiled once for each.
 *
 * Each header of registers defines:
 *  - SL_SIMD_NAME, and SL_SIMD() for names with its ending;
 *  - BYTES, WORDS and PIXELS: elements of 8, 16 and 32 bits that a step of a loop takes; BYTES is
 * twice WORDS;
 *  - ROWS_TOGETHER: rows whose sums of 16 taps stay in registers together;
 *  - Vec (WORDS elements of 16 bits), Sums (two Vec, in any order that keep_sums() undoes), Weight,
 * Shift, and Weights of a band;
 *  - NO_HALVES where the processor does not convert to float16: C does it;
 *  - Ints (PIXELS elements of 32 bits), Pixels (as many floats), and Mix (an SlMix in registers).
 */
#pragma once

#if defined(SL_PREPROCESS_FOR_NEON)
#include "preprocess/simd_neon.h"
#elif defined(SL_PREPROCESS_FOR_AVX512)
#include "preprocess/simd_avx512.h"
#elif defined(SL_PREPROCESS_FOR_AVX2)
#include "preprocess/simd_avx2.h"
#elif defined(SL_PREPROCESS_FOR_SSE41)
#include "preprocess/simd_sse41.h"
#endif
