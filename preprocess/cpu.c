/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of row functions and what each needs of the processor. */
#include <string.h>

#include "core/base/cpu.h"
#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

/* The best last. */
static const SlCpuRow rows[] = {
  { &sl_kernels_c, SL_CPU_LEVEL_C, 0 },
#ifdef SL_PREPROCESS_SSE41
  { &sl_kernels_sse41, SL_CPU_LEVEL_SSE41, 0 },
#endif
#ifdef SL_PREPROCESS_AVX2
  { &sl_kernels_avx2, SL_CPU_LEVEL_AVX2, 0 },
#endif
#ifdef SL_PREPROCESS_AVX512
  { &sl_kernels_avx512, SL_CPU_LEVEL_AVX512, SL_CPU_AVX512VBMI },
#endif
#ifdef SL_PREPROCESS_NEON
  { &sl_kernels_neon, SL_CPU_LEVEL_NEON, 0 },
#endif
};

#define N_ROWS (sizeof rows / sizeof rows[0])

const SlKernels *
sl_kernels_find (const char *name)
{
  for (size_t i = 0; i < N_ROWS; i++) {
    const SlKernels *kernels = rows[i].kernels;
    if (strcmp (kernels->name, name) == 0)
      return sl_cpu_runs (&rows[i]) ? kernels : NULL;
  }
  return NULL;
}

const SlKernels *
sl_kernels_get (void)
{
  return sl_cpu_best (rows, N_ROWS);
}

const char *
sl_normalizer_cpu (void)
{
  return sl_kernels_get ()->name;
}
