/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detection of instruction sets, and what SIGHTLINE_CPU and SIGHTLINE_CPU_MASK make of it. An
 * instruction set is a bit in cpu.h, a row of core/base/meson.build with its flags and a line of
 * sl_cpu_detect(); what users name is a row of the table below.
 */
#include "core/base/cpu.h"

#include <glib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#ifndef HWCAP2_I8MM /* before Linux 5.10 */
#define HWCAP2_I8MM (1 << 13)
#endif
#endif

/**
 * Level: a processor of that level has at least @needs. @keeps is what a mask leaves: all that
 * kernels use on a processor whose best level it is.
 */
typedef struct
{
  const char *name;
  unsigned int needs, keeps;
} Level;

static const Level levels[SL_CPU_N_LEVELS] = {
  [SL_CPU_LEVEL_C] = { "c", 0, 0 },
  [SL_CPU_LEVEL_SSE41] = { "sse41", SL_CPU_SSE41, SL_CPU_SSE41 },
  [SL_CPU_LEVEL_AVX2] = { "avx2", SL_CPU_AVX2, SL_CPU_SSE41 | SL_CPU_AVX2 | SL_CPU_FMA },
  [SL_CPU_LEVEL_AVXVNNI] = { "avxvnni", SL_CPU_AVX2 | SL_CPU_VNNI256,
                             SL_CPU_SSE41 | SL_CPU_AVX2 | SL_CPU_FMA | SL_CPU_AVXVNNI },
  [SL_CPU_LEVEL_AVX512] = { "avx512", SL_CPU_AVX2 | SL_CPU_AVX512,
                            SL_CPU_SSE41 | SL_CPU_AVX2 | SL_CPU_FMA | SL_CPU_AVX512
                              | SL_CPU_AVX512VBMI | SL_CPU_AVX512BF16 },
  [SL_CPU_LEVEL_AMX] = { "amx", SL_CPU_AVX2 | SL_CPU_AVX512 | SL_CPU_AMX,
                         SL_CPU_SSE41 | SL_CPU_AVX2 | SL_CPU_FMA | SL_CPU_AVX512 | SL_CPU_AVX512VBMI
                           | SL_CPU_AVX512BF16 | SL_CPU_AMX },
  [SL_CPU_LEVEL_NEON] = { "neon", SL_CPU_NEON, SL_CPU_NEON },
  [SL_CPU_LEVEL_DOTPROD] = { "dotprod", SL_CPU_NEON | SL_CPU_DOTPROD,
                             SL_CPU_NEON | SL_CPU_DOTPROD | SL_CPU_FP16 },
  [SL_CPU_LEVEL_I8MM] = { "i8mm", SL_CPU_NEON | SL_CPU_DOTPROD | SL_CPU_I8MM,
                          SL_CPU_NEON | SL_CPU_DOTPROD | SL_CPU_FP16 | SL_CPU_I8MM },
};

/* A name from the environment in a message: no longer than this. */
#define SHOWN_NAME "%.16s"

static unsigned int
derive (unsigned int features)
{
  const bool vnni256 = (features & (SL_CPU_AVXVNNI | SL_CPU_AVX512)) != 0;
  return (features & ~(unsigned int) SL_CPU_VNNI256) | (vnni256 ? SL_CPU_VNNI256 : 0);
}

#if defined(__x86_64__)
/* AMX-TILE and AMX-INT8 in EDX of leaf 7, and the states of its registers in XCR0. */
#define AMX_BITS (1u << 24 | 1u << 25)
#define AMX_STATES (1u << 17 | 1u << 18)
/* Of asm/prctl.h, which headers before Linux 5.16 do not have. */
#define REQUEST_XCOMP_PERM 0x1023
#define XTILEDATA 18

/* Models of family 6, Intel's servers with two units of AVX-512: Ice Lake, Sapphire, Emerald and
 * Granite Rapids. CPUID does not tell the number of units, and older models have one or two. */
static const unsigned int wide_models[] = { 0x6a, 0x8f, 0xcf, 0xad, 0xae };

static bool
detect_wide (void)
{
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid (0, &eax, &ebx, &ecx, &edx) == 0 || ebx != signature_INTEL_ebx
      || __get_cpuid (1, &eax, &ebx, &ecx, &edx) == 0 || (eax >> 8 & 15) != 6)
    return false;
  const unsigned int model = (eax >> 4 & 15) | (eax >> 12 & 0xf0);
  for (unsigned int i = 0; i < G_N_ELEMENTS (wide_models); i++)
    if (model == wide_models[i])
      return true;
  return false;
}

/* Tile registers and products of int8, and a system that saves these registers. */
static bool
detect_amx (void)
{
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0, low = 0, high = 0;
  if (__get_cpuid (1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0
      || __get_cpuid_count (7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & AMX_BITS) != AMX_BITS)
    return false;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & AMX_STATES) == AMX_STATES;
}

static unsigned int
detect (void)
{
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0, found = 0;
  __builtin_cpu_init ();
  const bool f16c = __get_cpuid (1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
  if (__builtin_cpu_supports ("sse4.1") && __builtin_cpu_supports ("ssse3"))
    found |= SL_CPU_SSE41;
  if (!__builtin_cpu_supports ("avx2") || !f16c)
    return found;
  found |= SL_CPU_AVX2 | (__builtin_cpu_supports ("fma") ? SL_CPU_FMA : 0);
  /* Leaf 7, subleaf 1, EAX bits 4 and 5; compilers' own tests are newer than those we support. */
  const unsigned int more = __get_cpuid_count (7, 1, &eax, &ebx, &ecx, &edx) != 0 ? eax : 0;
  found |= (more & 1u << 4) != 0 ? SL_CPU_AVXVNNI : 0;
  if (!__builtin_cpu_supports ("avx512f") || !__builtin_cpu_supports ("avx512bw")
      || !__builtin_cpu_supports ("avx512dq") || !__builtin_cpu_supports ("avx512vl")
      || !__builtin_cpu_supports ("avx512vnni"))
    return found;
  return found | SL_CPU_AVX512 | (__builtin_cpu_supports ("avx512vbmi") ? SL_CPU_AVX512VBMI : 0)
         | ((more & 1u << 5) != 0 ? SL_CPU_AVX512BF16 : 0) | (detect_amx () ? SL_CPU_AMX : 0);
}
#elif defined(__aarch64__) && defined(__linux__)
static unsigned int
detect (void)
{
  const unsigned long caps = getauxval (AT_HWCAP), more = getauxval (AT_HWCAP2);
  return ((caps & HWCAP_ASIMD) != 0 ? SL_CPU_NEON : 0)
         | ((caps & HWCAP_ASIMDDP) != 0 ? SL_CPU_DOTPROD : 0)
         | ((caps & HWCAP_ASIMDHP) != 0 ? SL_CPU_FP16 : 0)
         | ((more & HWCAP2_I8MM) != 0 ? SL_CPU_I8MM : 0);
}
#else
/* Where the system does not tell, the compiler's own target says what every processor has. */
static unsigned int
detect (void)
{
  unsigned int found = 0;
#ifdef __aarch64__
  found |= SL_CPU_NEON;
#endif
#ifdef __ARM_FEATURE_DOTPROD
  found |= SL_CPU_DOTPROD;
#endif
#ifdef __ARM_FEATURE_FP16_VECTOR_ARITHMETIC
  found |= SL_CPU_FP16;
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
  found |= SL_CPU_I8MM;
#endif
  return found;
}
#endif

#ifndef __x86_64__
static bool
detect_wide (void)
{
  return false;
}
#endif

unsigned int
sl_cpu_detect (void)
{
  return derive (detect () & (unsigned int) SL_CPU_BUILT);
}

/* SL_CPU_N_LEVELS for an unknown name. */
static SlCpuLevel
find_level (const char *name)
{
  SlCpuLevel level = SL_CPU_LEVEL_C;
  while (level < SL_CPU_N_LEVELS && strcmp (levels[level].name, name) != 0)
    level++;
  return level;
}

static bool
reached (unsigned int features, SlCpuLevel level)
{
  return level < SL_CPU_N_LEVELS && (features & levels[level].needs) == levels[level].needs;
}

/* "c, avx2 and avxvnni" of the levels that @features reach, all of them with @features ~0; returns
 * the best of them. */
static SlCpuLevel
list_levels (unsigned int features, const char *last_word, GString *list)
{
  SlCpuLevel best = SL_CPU_LEVEL_C;
  for (SlCpuLevel level = SL_CPU_LEVEL_C; level < SL_CPU_N_LEVELS; level++)
    if (reached (features, level))
      best = level;
  for (SlCpuLevel level = SL_CPU_LEVEL_C; level <= best; level++)
    if (reached (features, level))
      g_string_append_printf (list, "%s%s",
                              level == SL_CPU_LEVEL_C ? ""
                              : level == best         ? last_word
                                                      : ", ",
                              levels[level].name);
  return best;
}

static void
apply_mask (const char *mask, SlCpuChoice *choice, GString *warning)
{
  const SlCpuLevel level = find_level (mask);
  if (level < SL_CPU_N_LEVELS) {
    choice->features = derive (choice->features & levels[level].keeps);
    return;
  }
  g_string_append_printf (warning,
                          "SIGHTLINE_CPU_MASK=" SHOWN_NAME
                          " is not an instruction set, so nothing is hidden; expected ",
                          mask);
  list_levels (~0u, " or ", warning);
}

void
sl_cpu_resolve (unsigned int detected, const char *mask, const char *wanted, SlCpuChoice *choice)
{
  const bool masked = mask != NULL && mask[0] != '\0';
  g_autoptr (GString) warning = g_string_new (NULL), available = g_string_new (NULL);
  choice->features = detected;
  if (masked)
    apply_mask (mask, choice, warning);
  choice->level = list_levels (choice->features, " and ", available);
  if (wanted != NULL && wanted[0] != '\0') {
    const SlCpuLevel level = find_level (wanted);
    if (reached (choice->features, level))
      choice->level = level;
    else
      g_string_append_printf (
        warning, "%sSIGHTLINE_CPU=" SHOWN_NAME " %s, using %s; available %s %s%s",
        warning->len > 0 ? "; " : "", wanted,
        level < SL_CPU_N_LEVELS ? "is not available here" : "is not an instruction set",
        levels[choice->level].name, choice->level == SL_CPU_LEVEL_C ? "is" : "are", available->str,
        choice->features != detected ? ", SIGHTLINE_CPU_MASK hides more" : "");
  }
  g_strlcpy (choice->warning, warning->str, sizeof choice->warning);
}

bool
sl_cpu_reaches (unsigned int features, const char *name)
{
  return reached (features, find_level (name));
}

static const SlCpuChoice *
chosen (void)
{
  static SlCpuChoice choice;
  static gsize made;
  if (g_once_init_enter (&made)) {
    sl_cpu_resolve (sl_cpu_detect (), g_getenv ("SIGHTLINE_CPU_MASK"), g_getenv ("SIGHTLINE_CPU"),
                    &choice);
    if (choice.warning[0] != '\0')
      g_warning ("%s", choice.warning);
    if (SL_CPU_BUILT == 0)
      g_message (
        "Sightline has no SIMD kernels for this processor architecture: frames and 8-bit layers "
        "are computed in plain C, several times slower; on a 64-bit Arm processor use a 64-bit "
        "system");
    g_once_init_leave (&made, 1);
  }
  return &choice;
}

/* Whether this process may use the tile registers, for which it asks Linux at the first call. */
static bool
may_use_tiles (void)
{
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  static gsize known; /* the answer, and one */
  if (g_once_init_enter (&known))
    g_once_init_leave (&known,
                       (gsize) (syscall (SYS_arch_prctl, REQUEST_XCOMP_PERM, XTILEDATA) == 0) + 1);
  return known == 2;
#else
  return false;
#endif
}

bool
sl_cpu_has (unsigned int features)
{
  return (chosen ()->features & features) == features
         && ((features & SL_CPU_AMX) == 0 || may_use_tiles ());
}

bool
sl_cpu_runs (const SlCpuRow *row)
{
  return reached (chosen ()->features, row->level) && sl_cpu_has (row->more);
}

unsigned int
sl_cpu_all (const SlCpuRow *rows, unsigned int n, const void **kernels)
{
  unsigned int found = 0;
  for (unsigned int i = 0; i < n; i++)
    if (sl_cpu_runs (&rows[i]))
      kernels[found++] = rows[i].kernels;
  return found;
}

const void *
sl_cpu_best (const SlCpuRow *rows, unsigned int n)
{
  const void *best = NULL;
  for (unsigned int i = 0; i < n; i++)
    if (rows[i].level <= chosen ()->level && sl_cpu_runs (&rows[i]))
      best = rows[i].kernels;
  return best;
}

bool
sl_cpu_may_use (SlCpuLevel level, unsigned int features)
{
  return level <= chosen ()->level && sl_cpu_has (features);
}

bool
sl_cpu_computes_halves (void)
{
  return sl_cpu_may_use (SL_CPU_LEVEL_DOTPROD, SL_CPU_NEON | SL_CPU_FP16);
}

bool
sl_cpu_multiplies_wide (void)
{
  static gsize known; /* the answer, and one: a virtual machine traps each question */
  if (g_once_init_enter (&known))
    g_once_init_leave (&known, (gsize) detect_wide () + 1);
  return known == 2;
}
