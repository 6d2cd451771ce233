/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sets of loops and what each needs of the processor. */
#include "core/base/cpu.h"
#include "core/ops/kernels/simd/loops.h"

/* The best last. */
static const SlCpuRow rows[] = {
  { &sl_simd_loops_base, SL_CPU_LEVEL_C, 0 },
#ifdef SL_SIMD_LOOPS_AVX2
  { &sl_simd_loops_avx2, SL_CPU_LEVEL_AVX2, 0 },
#endif
#ifdef SL_SIMD_LOOPS_AVX512VBMI
  { &sl_simd_loops_avx512, SL_CPU_LEVEL_AVX512, SL_CPU_AVX512VBMI },
#endif
};

guint
sl_simd_loops_all (const SlSimdLoops *sets[3])
{
  return sl_cpu_all (rows, G_N_ELEMENTS (rows), (const void **) sets);
}

const SlSimdLoops *
sl_simd_loops (void)
{
  static const SlSimdLoops *chosen;
  if (g_once_init_enter (&chosen))
    g_once_init_leave (&chosen, sl_cpu_best (rows, G_N_ELEMENTS (rows)));
  return chosen;
}
