/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instruction sets of this build, what each needs of the processor, and the one to use. */
#include "core/backends/float/isa.h"

#include "core/base/cpu.h"

/* The best last. The base set is what every processor of the architecture has: SSE2 on x86-64, NEON
 * on 64-bit Arm. */
static const SlCpuRow rows[] = {
  { &sl_float_isa_base, SL_CPU_LEVEL_C, 0 },
#ifdef SL_FLOAT_FMA
  { &sl_float_isa_fma, SL_CPU_LEVEL_AVX2, SL_CPU_FMA },
#endif
#ifdef SL_FLOAT_AVX512VL
  { &sl_float_isa_avx512vl, SL_CPU_LEVEL_AVX512, SL_CPU_FMA },
#endif
#ifdef SL_FLOAT_AVX512
  { &sl_float_isa_avx512, SL_CPU_LEVEL_AVX512, SL_CPU_FMA },
#endif
};

static const SlFloatIsa *forced;
static gboolean no_pairs;
static gint forced_wide = -1;

#ifdef SL_FLOAT_AVX512BF16
void sl_float_gemm_bf16_avx512 (const SlFloatGemm *gemm, gint32 first, gint32 end,
                                const SlFloatRows *rows, gint32 depth, gfloat *c, gsize c_stride,
                                guint16 *scratch);
#endif

#ifdef SL_FLOAT_FP16
extern const SlFloatHalves sl_float_halves_fp16;
#endif

guint
sl_float_isas (const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS])
{
  return sl_cpu_all (rows, G_N_ELEMENTS (rows), (const void **) isas);
}

void
sl_float_isa_force (const SlFloatIsa *isa)
{
  forced = isa;
}

const SlFloatIsa *
sl_float_isa (void)
{
  return forced != NULL ? forced : sl_cpu_best (rows, G_N_ELEMENTS (rows));
}

gboolean
sl_float_is_wide (const SlFloatIsa *isa)
{
  return isa->lanes == 16 && (forced_wide >= 0 ? forced_wide > 0 : sl_cpu_multiplies_wide ());
}

void
sl_float_wide_force (gint wide)
{
  forced_wide = wide;
}

SlScoreLoops
sl_score_loops (void)
{
  const SlFloatIsa *isa = sl_float_isa ();
  return (SlScoreLoops){ isa->attend, isa->add_scaled, isa->blend };
}

SlFloatPairsFunc
sl_float_pairs (const SlFloatIsa *isa)
{
#ifdef SL_FLOAT_AVX512BF16
  if (isa == &sl_float_isa_avx512 && !no_pairs
      && sl_cpu_may_use (SL_CPU_LEVEL_AVX512, SL_CPU_AVX512 | SL_CPU_AVX512BF16))
    return sl_float_gemm_bf16_avx512;
#endif
  return NULL;
}

const SlFloatHalves *
sl_float_halves (const SlFloatIsa *isa)
{
#ifdef SL_FLOAT_FP16
  if (isa == &sl_float_isa_base && !no_pairs && sl_cpu_computes_halves ())
    return &sl_float_halves_fp16;
#endif
  return NULL;
}

void
sl_float_pairs_forbid (gboolean forbidden)
{
  no_pairs = forbidden;
}

const SlFloatIsa *
sl_float_isa_lesser (const SlFloatIsa *isa)
{
  const SlFloatIsa *lesser = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (rows) && rows[i].kernels != isa; i++)
    if (((const SlFloatIsa *) rows[i].kernels)->faster && sl_cpu_runs (&rows[i]))
      lesser = rows[i].kernels;
  return lesser;
}
