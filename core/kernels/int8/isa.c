/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which instruction sets this build and this processor have, and the one to use. */
#include "core/kernels/int8/isa.h"

#include <string.h>
#ifdef SL_INT8_AVXVNNI
#include <cpuid.h>
#endif
#if defined(SL_INT8_NEON) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#ifndef HWCAP2_I8MM /* before Linux 5.10 */
#define HWCAP2_I8MM (1 << 13)
#endif
#endif

static gboolean
always (void)
{
  return TRUE;
}

#if defined(SL_INT8_AVX512) || defined(SL_INT8_VNNI256)
static gboolean
has_avx512 (void)
{
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512vl")
         && __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vnni");
}
#endif

#ifdef SL_INT8_AVX2
static gboolean
has_avx2 (void)
{
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx2");
}
#endif

/* Where the system does not tell, the compiler's own target says what every processor has. */
#ifdef SL_INT8_DOTPROD
static gboolean
has_dotprod (void)
{
#if defined(__linux__)
  return (getauxval (AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__ARM_FEATURE_DOTPROD)
  return TRUE;
#else
  return FALSE;
#endif
}
#endif

#ifdef SL_INT8_I8MM
static gboolean
has_i8mm (void)
{
#if defined(__linux__)
  return has_dotprod () && (getauxval (AT_HWCAP2) & HWCAP2_I8MM) != 0;
#elif defined(__ARM_FEATURE_MATMUL_INT8)
  return TRUE;
#else
  return FALSE;
#endif
}
#endif

#ifdef SL_INT8_AVXVNNI
/* Leaf 7, subleaf 1, EAX bit 4; compilers' own test is newer than those we support. */
static gboolean
has_avxvnni (void)
{
  guint eax = 0, ebx = 0, ecx = 0, edx = 0;
  return has_avx2 () && __get_cpuid_count (7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 1u << 4) != 0;
}
#endif

/* The best last. 256-bit VNNI has two encodings and one name: a processor with AVX-512 takes the other. */
static const struct
{
  const SlInt8Isa *isa;
  gboolean (*available) (void);
} rows[] = {
  { &sl_int8_isa_c, always },
#ifdef SL_INT8_AVX2
  { &sl_int8_isa_avx2, has_avx2 },
#endif
#ifdef SL_INT8_VNNI256
  { &sl_int8_isa_vnni256, has_avx512 },
#endif
#ifdef SL_INT8_AVXVNNI
  { &sl_int8_isa_avxvnni, has_avxvnni },
#endif
#ifdef SL_INT8_AVX512
  { &sl_int8_isa_avx512, has_avx512 },
#endif
#ifdef SL_INT8_NEON
  { &sl_int8_isa_neon, always },
#endif
#ifdef SL_INT8_DOTPROD
  { &sl_int8_isa_dotprod, has_dotprod },
#endif
#ifdef SL_INT8_I8MM
  { &sl_int8_isa_i8mm, has_i8mm },
#endif
};

guint
sl_int8_isas (const SlInt8Isa *isas[SL_INT8_MAX_ISAS])
{
  static gsize available; /* bit i: row i; asking the processor is slow in virtual machines */
  guint n = 0;
  if (g_once_init_enter (&available)) {
    gsize bits = 0;
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
      bits |= (gsize) (rows[i].available () != FALSE) << i;
    g_once_init_leave (&available, bits);
  }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (available >> i & 1)
      isas[n++] = rows[i].isa;
  return n;
}

const SlInt8Isa *
sl_int8_isa (void)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n = sl_int8_isas (isas);
  const char *wanted = g_getenv ("SIGHTLINE_CPU");
  if (wanted == NULL || wanted[0] == '\0')
    return isas[n - 1];
  for (guint i = 0; i < n; i++)
    if (strcmp (isas[i]->name, wanted) == 0)
      return isas[i];
  static gint warned;
  if (g_atomic_int_compare_and_exchange (&warned, 0, 1))
    g_warning ("SIGHTLINE_CPU=%.16s is not available here, using %s; expected c, avx2, avxvnni, avx512, neon, dotprod or i8mm", wanted,
               isas[n - 1]->name);
  return isas[n - 1];
}
