/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of row functions and what each needs of the processor. */
#include <string.h>

#include "core/base/cpu.h"
#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

/* The best first. */
static const struct
{
  const SlKernels *kernels;
  SlCpuLevel level;
  unsigned int needs;
} tables[] = {
#ifdef SL_PREPROCESS_AVX512
  { &sl_kernels_avx512, SL_CPU_LEVEL_AVX512, SL_CPU_AVX2 | SL_CPU_AVX512 | SL_CPU_AVX512VBMI },
#endif
#ifdef SL_PREPROCESS_AVX2
  { &sl_kernels_avx2, SL_CPU_LEVEL_AVX2, SL_CPU_AVX2 },
#endif
#ifdef SL_PREPROCESS_SSE41
  { &sl_kernels_sse41, SL_CPU_LEVEL_SSE41, SL_CPU_SSE41 },
#endif
#ifdef SL_PREPROCESS_NEON
  { &sl_kernels_neon, SL_CPU_LEVEL_NEON, SL_CPU_NEON },
#endif
  { &sl_kernels_c, SL_CPU_LEVEL_C, 0 },
};

#define N_TABLES (sizeof tables / sizeof tables[0])

const SlKernels *
sl_kernels_find (const char *name)
{
  for (size_t i = 0; i < N_TABLES; i++) {
    if (strcmp (tables[i].kernels->name, name) == 0)
      return sl_cpu_has (tables[i].needs) ? tables[i].kernels : NULL;
  }
  return NULL;
}

const SlKernels *
sl_kernels_get (void)
{
  size_t i = 0;
  while (i < N_TABLES - 1 && !sl_cpu_may_use (tables[i].level, tables[i].needs))
    i++;
  return tables[i].kernels;
}

const char *
sl_normalizer_cpu (void)
{
  return sl_kernels_get ()->name;
}
