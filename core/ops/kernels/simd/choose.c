/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sets of loops and what each needs of the processor. */
#include "core/base/cpu.h"
#include "core/ops/kernels/simd/loops.h"

/* The best last. */
static const struct
{
  const SlSimdLoops *loops;
  SlCpuLevel level;
  guint needs;
} rows[] = {
  { &sl_simd_loops_base, SL_CPU_LEVEL_C, 0 },
#ifdef SL_SIMD_LOOPS_AVX2
  { &sl_simd_loops_avx2, SL_CPU_LEVEL_AVX2, SL_CPU_AVX2 },
#endif
#ifdef SL_SIMD_LOOPS_AVX512VBMI
  { &sl_simd_loops_avx512, SL_CPU_LEVEL_AVX512, SL_CPU_AVX2 | SL_CPU_AVX512 | SL_CPU_AVX512VBMI },
#endif
};

guint
sl_simd_loops_all (const SlSimdLoops *sets[3])
{
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (sl_cpu_has (rows[i].needs))
      sets[n++] = rows[i].loops;
  return n;
}

const SlSimdLoops *
sl_simd_loops (void)
{
  static const SlSimdLoops *chosen;
  if (g_once_init_enter (&chosen)) {
    const SlSimdLoops *best = rows[0].loops;
    for (guint i = 1; i < G_N_ELEMENTS (rows); i++)
      if (sl_cpu_may_use (rows[i].level, rows[i].needs))
        best = rows[i].loops;
    g_once_init_leave (&chosen, best);
  }
  return chosen;
}
