/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The instruction sets of this processor, detected once per process, and how far kernels may use
 * them. Every family of kernels has a table of SlCpuRow, and takes the best row that sl_cpu_best()
 * allows.
 *
 * Two environment variables are read at the first call. SIGHTLINE_CPU=LEVEL limits every family to
 * that level; if the processor does not have it, a warning says which levels are available and
 * which one is used. SIGHTLINE_CPU_MASK=LEVEL, for tests, hides instruction sets above that level;
 * it never adds any. XNNPACK detects the processor itself and ignores both.
 */
#pragma once

#include <stdbool.h>

/** SlCpuFeature: what kernels need of a processor, as bits. */
typedef enum
{
  SL_CPU_AVX2 = 1 << 0,       /* with F16C */
  SL_CPU_AVXVNNI = 1 << 1,    /* VNNI of 256 bits in its VEX encoding */
  SL_CPU_AVX512 = 1 << 2,     /* F, BW, DQ, VL and VNNI */
  SL_CPU_AVX512VBMI = 1 << 3, /* F, BW, DQ, VL, VNNI and VBMI */
  SL_CPU_VNNI256 = 1 << 4,    /* VNNI of 256 bits in either encoding: AVXVNNI or AVX512 */
  SL_CPU_NEON = 1 << 5,       /* of 64-bit Arm */
  SL_CPU_DOTPROD = 1 << 6,
  SL_CPU_I8MM = 1 << 7,
  SL_CPU_FMA = 1 << 8,         /* fused multiply-add of AVX registers */
  SL_CPU_SSE41 = 1 << 9,       /* with SSSE3 */
  SL_CPU_AVX512BF16 = 1 << 10, /* AVX512 and products of bfloat16 */
  SL_CPU_FP16 = 1 << 11,       /* Arm's arithmetic of binary16 in vectors */
  SL_CPU_AMX = 1 << 12         /* AVX512, and products of int8 matrices in tile registers */
} SlCpuFeature;

/** SlCpuLevel: what SIGHTLINE_CPU and SIGHTLINE_CPU_MASK name; of one architecture the better ones
 * come later. */
typedef enum
{
  SL_CPU_LEVEL_C, /* on x86-64 nothing but SSE2 */
  SL_CPU_LEVEL_SSE41,
  SL_CPU_LEVEL_AVX2,
  SL_CPU_LEVEL_AVXVNNI,
  SL_CPU_LEVEL_AVX512,
  SL_CPU_LEVEL_AMX,
  SL_CPU_LEVEL_NEON,
  SL_CPU_LEVEL_DOTPROD,
  SL_CPU_LEVEL_I8MM,
  SL_CPU_N_LEVELS
} SlCpuLevel;

/**
 * SlCpuChoice:
 * @features: bits of SlCpuFeature that this build and the processor have, and the mask leaves
 * @level: up to which kernels may use them
 * @warning: one line without a line break, or "" where both environment variables are empty or
 * right
 */
typedef struct
{
  unsigned int features;
  SlCpuLevel level;
  char warning[512];
} SlCpuChoice;

/** sl_cpu_detect: what this processor has of what this build has kernels for, whatever the
 * environment says. */
unsigned int sl_cpu_detect (void);
/** sl_cpu_resolve: what @mask and @wanted, both (nullable), make of @detected. */
void sl_cpu_resolve (unsigned int detected, const char *mask, const char *wanted,
                     SlCpuChoice *choice);

/** sl_cpu_reaches: whether @features make the level called @name; false for unknown names. */
bool sl_cpu_reaches (unsigned int features, const char *name);

/**
 * SlCpuRow: a set of kernels.
 * @level: what SIGHTLINE_CPU and SIGHTLINE_CPU_MASK call it
 * @more: what it needs of the processor beyond that level
 */
typedef struct
{
  const void *kernels;
  SlCpuLevel level;
  unsigned int more;
} SlCpuRow;

/** sl_cpu_runs: whether the processor has what @row needs and no mask hides it; any thread. */
bool sl_cpu_runs (const SlCpuRow *row);
/** sl_cpu_all: kernels of all of @n rows that run here, to @kernels; returns how many. */
unsigned int sl_cpu_all (const SlCpuRow *rows, unsigned int n, const void **kernels);
/** sl_cpu_best: kernels of the last of @n rows that run here and that SIGHTLINE_CPU allows; the
 * first row must always run. Any thread. */
const void *sl_cpu_best (const SlCpuRow *rows, unsigned int n);

/** sl_cpu_has: whether the processor has all of @features and no mask hides one; any thread. Linux
 * lets a process use AMX that asks for it, which the first call with SL_CPU_AMX does. From then on
 * signal stacks of the process need room for AMX's registers, 8 KiB. */
bool sl_cpu_has (unsigned int features);
/** sl_cpu_computes_halves: whether kernels may compute in binary16; any thread. */
bool sl_cpu_computes_halves (void);
/** sl_cpu_multiplies_wide: whether the processor begins two multiply-adds of 512 bits in a cycle,
 * twice the work of 256 bits, and additions of 512 bits take the same ports; any thread. */
bool sl_cpu_multiplies_wide (void);
/** sl_cpu_may_use: whether kernels of @level that need @features can run here and SIGHTLINE_CPU
 * allows them; any thread. */
bool sl_cpu_may_use (SlCpuLevel level, unsigned int features);
