/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instruction sets of this build, what each needs of the processor, and the one to use. */
#include "core/backends/int8/isa.h"

#include "core/base/cpu.h"

/* The best last. 256-bit VNNI has two encodings and one name: a processor with AVX-512 takes that
 * of AVX-512, which has more registers. */
static const SlCpuRow rows[] = {
  { &sl_int8_isa_c, SL_CPU_LEVEL_C, 0 },
#ifdef SL_INT8_SSE41
  { &sl_int8_isa_sse41, SL_CPU_LEVEL_SSE41, 0 },
#endif
#ifdef SL_INT8_AVX2
  { &sl_int8_isa_avx2, SL_CPU_LEVEL_AVX2, 0 },
#endif
#ifdef SL_INT8_AVXVNNI
  { &sl_int8_isa_avxvnni, SL_CPU_LEVEL_AVXVNNI, SL_CPU_AVXVNNI },
#endif
#ifdef SL_INT8_VNNI256
  { &sl_int8_isa_vnni256, SL_CPU_LEVEL_AVXVNNI, SL_CPU_AVX512 },
#endif
#ifdef SL_INT8_AVX512
  { &sl_int8_isa_avx512, SL_CPU_LEVEL_AVX512, 0 },
#endif
#ifdef SL_INT8_AMX
  { &sl_int8_isa_amx, SL_CPU_LEVEL_AMX, SL_CPU_AMX },
#endif
#ifdef SL_INT8_NEON
  { &sl_int8_isa_neon, SL_CPU_LEVEL_NEON, 0 },
#endif
#ifdef SL_INT8_DOTPROD
  { &sl_int8_isa_dotprod, SL_CPU_LEVEL_DOTPROD, 0 },
#endif
#ifdef SL_INT8_I8MM
  { &sl_int8_isa_i8mm, SL_CPU_LEVEL_I8MM, 0 },
#endif
};

static const SlInt8Isa *forced;

guint
sl_int8_isas (const SlInt8Isa *isas[SL_INT8_MAX_ISAS])
{
  return sl_cpu_all (rows, G_N_ELEMENTS (rows), (const void **) isas);
}

void
sl_int8_isa_force (const SlInt8Isa *isa)
{
  forced = isa;
}

const SlInt8Isa *
sl_int8_isa (void)
{
  return forced != NULL ? forced : sl_cpu_best (rows, G_N_ELEMENTS (rows));
}
