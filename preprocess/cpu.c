/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the table of row functions once per process, by what the processor has or what SIGHTLINE_CPU asks for.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

#if defined(SL_HAVE_AVX2) || defined(SL_HAVE_AVX512)
#include <cpuid.h>
#endif
#if defined(SL_HAVE_NEON) && defined(__linux__)
#include <sys/auxv.h>
#endif

static bool
always (void)
{
  return true;
}

#if defined(SL_HAVE_AVX2) || defined(SL_HAVE_AVX512)
static bool
has_avx2 (void)
{
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx2") && __get_cpuid (1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

#ifdef SL_HAVE_AVX512
static bool
has_avx512 (void)
{
  __builtin_cpu_init ();
  return has_avx2 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512vl")
         && __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vbmi") && __builtin_cpu_supports ("avx512vnni");
}
#endif

#ifdef SL_HAVE_NEON
static bool
has_neon (void)
{
#if defined(__linux__)
  const unsigned long asimd = 1UL << 1; /* HWCAP_ASIMD of arm64 */
  return (getauxval (AT_HWCAP) & asimd) != 0;
#else
  return true;
#endif
}
#endif

/* The best first. */
static const struct
{
  const SlKernels *kernels;
  bool (*available) (void);
} tables[] = {
#ifdef SL_HAVE_AVX512
  { &sl_kernels_avx512, has_avx512 },
#endif
#ifdef SL_HAVE_AVX2
  { &sl_kernels_avx2, has_avx2 },
#endif
#ifdef SL_HAVE_NEON
  { &sl_kernels_neon, has_neon },
#endif
  { &sl_kernels_c, always },
};

#define N_TABLES (sizeof tables / sizeof tables[0])

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const SlKernels *chosen;
static char warning[128];

const SlKernels *
sl_kernels_find (const char *name)
{
  for (size_t i = 0; i < N_TABLES; i++) {
    if (strcmp (tables[i].kernels->name, name) == 0)
      return tables[i].available () ? tables[i].kernels : NULL;
  }
  return NULL;
}

/* The int8 kernels have sets of their own; what is used here beside each of them. */
static const char *
translate (const char *wanted)
{
  static const char *const names[][2] = { { "avxvnni", "avx2" }, { "dotprod", "neon" }, { "i8mm", "neon" } };
  for (size_t i = 0; wanted != NULL && i < sizeof names / sizeof names[0]; i++) {
    if (strcmp (wanted, names[i][0]) == 0)
      return names[i][1];
  }
  return wanted;
}

static void
choose (void)
{
  const char *asked = getenv ("SIGHTLINE_CPU"), *wanted = translate (asked);
  for (size_t i = 0; chosen == NULL; i++)
    chosen = tables[i].available () ? tables[i].kernels : NULL;
  if (wanted == NULL || wanted[0] == '\0')
    return;
  const SlKernels *kernels = sl_kernels_find (wanted);
  if (kernels != NULL)
    chosen = kernels;
  else
    snprintf (warning, sizeof warning, "SIGHTLINE_CPU=%.16s is not available here, using %s; expected c, avx2, avx512 or neon", asked,
              chosen->name);
}

const SlKernels *
sl_kernels_get (void)
{
  pthread_once (&once, choose);
  return chosen;
}

const char *
sl_normalizer_cpu (void)
{
  return sl_kernels_get ()->name;
}

const char *
sl_normalizer_cpu_warning (void)
{
  sl_kernels_get ();
  return warning[0] != '\0' ? warning : NULL;
}
