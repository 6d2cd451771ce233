/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which instruction sets this processor has. */
#include "core/kernels/wide/wide.h"

guint
sl_wide_all (const SlWide *sets[3])
{
  guint n = 0;
  sets[n++] = &sl_wide_base;
#ifdef SL_WIDE_X86
  __builtin_cpu_init ();
  if (__builtin_cpu_supports ("avx2"))
    sets[n++] = &sl_wide_avx2;
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512vl")
      && __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vbmi"))
    sets[n++] = &sl_wide_avx512;
#endif
  return n;
}

const SlWide *
sl_wide (void)
{
  static const SlWide *best;
  if (g_once_init_enter (&best)) {
    const SlWide *sets[3];
    const guint n = sl_wide_all (sets);
    g_once_init_leave (&best, sets[n - 1]);
  }
  return best;
}
