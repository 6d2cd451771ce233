/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detection against what the kernel says of the processor; what SIGHTLINE_CPU and
 * SIGHTLINE_CPU_MASK make of it; and that every family of kernels goes by it. The environment is
 * read once per process, so each case that needs one runs in a child.
 */
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/cpu.h"
#include "core/backends/float/isa.h"
#include "core/backends/int8/isa.h"
#include "core/ops/kernels/simd/loops.h"
#include "preprocess/kernels.h"
#include "preprocess/normalize.h"
#include "tests/support/program.h"
#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#endif

#define VNNI (SL_CPU_AVXVNNI | SL_CPU_VNNI256)
#define AVX512 (SL_CPU_AVX512 | SL_CPU_VNNI256)

/* Processors as there are. */
enum
{
  MEROM = 0,
  NEHALEM = SL_CPU_SSE41,
  HASWELL = NEHALEM | SL_CPU_AVX2 | SL_CPU_FMA,
  ALDER_LAKE = HASWELL | VNNI,
  CASCADE_LAKE = HASWELL | AVX512,
  ICE_LAKE = CASCADE_LAKE | SL_CPU_AVX512VBMI,
  ZEN4 = ICE_LAKE | SL_CPU_AVX512BF16,
  ZEN5 = ZEN4 | SL_CPU_AVXVNNI,
  SAPPHIRE_RAPIDS = ZEN5 | SL_CPU_AMX,
  CORTEX_A72 = SL_CPU_NEON,
  NEOVERSE_N1 = SL_CPU_NEON | SL_CPU_DOTPROD | SL_CPU_FP16,
  NEOVERSE_V1 = NEOVERSE_N1 | SL_CPU_I8MM
};

static const struct
{
  const char *name;
  guint detected;
  const char *mask, *wanted; /* NULL: not in the environment */
  guint features;
  SlCpuLevel level;
  const char *warning;
} cases[] = {
  { "merom", MEROM, NULL, NULL, MEROM, SL_CPU_LEVEL_C, "" },
  { "nehalem", NEHALEM, NULL, NULL, NEHALEM, SL_CPU_LEVEL_SSE41, "" },
  { "haswell", HASWELL, NULL, NULL, HASWELL, SL_CPU_LEVEL_AVX2, "" },
  { "alder-lake", ALDER_LAKE, NULL, NULL, ALDER_LAKE, SL_CPU_LEVEL_AVXVNNI, "" },
  { "cascade-lake", CASCADE_LAKE, NULL, NULL, CASCADE_LAKE, SL_CPU_LEVEL_AVX512, "" },
  { "zen5", ZEN5, NULL, NULL, ZEN5, SL_CPU_LEVEL_AVX512, "" },
  { "sapphire-rapids", SAPPHIRE_RAPIDS, NULL, NULL, SAPPHIRE_RAPIDS, SL_CPU_LEVEL_AMX, "" },
  { "neoverse-v1", NEOVERSE_V1, NULL, NULL, NEOVERSE_V1, SL_CPU_LEVEL_I8MM, "" },
  { "empty", ZEN5, "", "", ZEN5, SL_CPU_LEVEL_AVX512, "" },
  { "wanted-c", ZEN5, NULL, "c", ZEN5, SL_CPU_LEVEL_C, "" },
  { "wanted-avx2", ZEN5, NULL, "avx2", ZEN5, SL_CPU_LEVEL_AVX2, "" },
  { "wanted-either-vnni", ICE_LAKE, NULL, "avxvnni", ICE_LAKE, SL_CPU_LEVEL_AVXVNNI, "" },
  { "wanted-neon", NEOVERSE_V1, NULL, "neon", NEOVERSE_V1, SL_CPU_LEVEL_NEON, "" },
  { "missing", HASWELL, NULL, "avx512", HASWELL, SL_CPU_LEVEL_AVX2,
    "SIGHTLINE_CPU=avx512 is not available here, using avx2; available are c, sse41 and avx2" },
  { "missing-all", MEROM, NULL, "avx2", MEROM, SL_CPU_LEVEL_C,
    "SIGHTLINE_CPU=avx2 is not available here, using c; available is c" },
  { "missing-avx2", NEHALEM, NULL, "avx2", NEHALEM, SL_CPU_LEVEL_SSE41,
    "SIGHTLINE_CPU=avx2 is not available here, using sse41; available are c and sse41" },
  { "wanted-sse41", ZEN5, NULL, "sse41", ZEN5, SL_CPU_LEVEL_SSE41, "" },
  { "foreign", ZEN5, NULL, "neon", ZEN5, SL_CPU_LEVEL_AVX512,
    "SIGHTLINE_CPU=neon is not available here, using avx512; available are c, sse41, avx2, avxvnni "
    "and avx512" },
  { "arm", CORTEX_A72, NULL, "dotprod", CORTEX_A72, SL_CPU_LEVEL_NEON,
    "SIGHTLINE_CPU=dotprod is not available here, using neon; available are c and neon" },
  { "unknown", HASWELL, NULL, "mmx", HASWELL, SL_CPU_LEVEL_AVX2,
    "SIGHTLINE_CPU=mmx is not an instruction set, using avx2; available are c, sse41 and avx2" },
  { "capitals", HASWELL, NULL, "AVX2", HASWELL, SL_CPU_LEVEL_AVX2,
    "SIGHTLINE_CPU=AVX2 is not an instruction set, using avx2; available are c, sse41 and avx2" },
  { "long", HASWELL, NULL, "0123456789012345678901234567890123456789", HASWELL, SL_CPU_LEVEL_AVX2,
    "SIGHTLINE_CPU=0123456789012345 is not an instruction set, using avx2; available are c, sse41 "
    "and avx2" },
  { "mask-c", ZEN5, "c", NULL, 0, SL_CPU_LEVEL_C, "" },
  { "mask-sse41", ZEN5, "sse41", NULL, NEHALEM, SL_CPU_LEVEL_SSE41, "" },
  { "mask-avx2", ZEN5, "avx2", NULL, HASWELL, SL_CPU_LEVEL_AVX2, "" },
  { "mask-avxvnni", ZEN5, "avxvnni", NULL, ALDER_LAKE, SL_CPU_LEVEL_AVXVNNI, "" },
  { "mask-avxvnni-hides-avx512", ICE_LAKE, "avxvnni", NULL, HASWELL, SL_CPU_LEVEL_AVX2, "" },
  { "mask-avx512", ZEN5, "avx512", NULL, ZEN4, SL_CPU_LEVEL_AVX512, "" },
  { "mask-amx", SAPPHIRE_RAPIDS, "amx", NULL, ZEN4 | SL_CPU_AMX, SL_CPU_LEVEL_AMX, "" },
  { "mask-hides-amx", SAPPHIRE_RAPIDS, "avx512", NULL, ZEN4, SL_CPU_LEVEL_AVX512, "" },
  { "wanted-avx512-of-amx", SAPPHIRE_RAPIDS, NULL, "avx512", SAPPHIRE_RAPIDS, SL_CPU_LEVEL_AVX512,
    "" },
  { "missing-amx", ZEN4, NULL, "amx", ZEN4, SL_CPU_LEVEL_AVX512,
    "SIGHTLINE_CPU=amx is not available here, using avx512; available are c, sse41, avx2, avxvnni "
    "and avx512" },
  { "mask-adds-nothing", HASWELL, "avx512", NULL, HASWELL, SL_CPU_LEVEL_AVX2, "" },
  { "mask-neon", NEOVERSE_V1, "neon", NULL, CORTEX_A72, SL_CPU_LEVEL_NEON, "" },
  { "mask-dotprod", NEOVERSE_V1, "dotprod", NULL, NEOVERSE_N1, SL_CPU_LEVEL_DOTPROD, "" },
  { "mask-and-wanted", ZEN5, "avxvnni", "avx2", ALDER_LAKE, SL_CPU_LEVEL_AVX2, "" },
  { "masked-wanted", ZEN5, "avx2", "avx512", HASWELL, SL_CPU_LEVEL_AVX2,
    "SIGHTLINE_CPU=avx512 is not available here, using avx2; available are c, sse41 and avx2, "
    "SIGHTLINE_CPU_MASK hides more" },
  { "unknown-mask", HASWELL, "sse9", NULL, HASWELL, SL_CPU_LEVEL_AVX2,
    "SIGHTLINE_CPU_MASK=sse9 is not an instruction set, so nothing is hidden; expected c, sse41, "
    "avx2, avxvnni, avx512, amx, neon, dotprod or i8mm" },
  { "unknown-both", HASWELL, "sse9", "mmx", HASWELL, SL_CPU_LEVEL_AVX2,
    "SIGHTLINE_CPU_MASK=sse9 is not an instruction set, so nothing is hidden; expected c, sse41, "
    "avx2, avxvnni, avx512, amx, neon, dotprod or i8mm; SIGHTLINE_CPU=mmx is not an instruction "
    "set, using avx2; available are c, sse41 and avx2" },
};

static void
test_resolve (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  SlCpuChoice choice;
  sl_cpu_resolve (cases[i].detected, cases[i].mask, cases[i].wanted, &choice);
  g_assert_cmpstr (choice.warning, ==, cases[i].warning);
  g_assert_cmphex (choice.features, ==, cases[i].features);
  g_assert_cmpint (choice.level, ==, cases[i].level);
}

/* The value of the first line of /proc/cpuinfo that begins with @key; NULL where there is none. */
static char *
cpuinfo (const char *key)
{
  g_autofree char *text = NULL, *pattern = g_strdup_printf ("^%s\\s*: (.*)$", key);
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL)
      || !g_regex_match (regex, text, 0, &match))
    return NULL;
  return g_match_info_fetch (match, 1);
}

/* All the words of /proc/cpuinfo that a feature is, and the line that has them; NULL where the
 * kernel does not describe the processor that this program runs on, as in emulators. */
#if defined(__x86_64__)
static const struct
{
  guint feature;
  const char *words;
} described[] = {
  { SL_CPU_SSE41, "sse4_1 ssse3" },
  { SL_CPU_AVX2, "avx2 f16c" },
  { SL_CPU_FMA, "avx2 f16c fma" },
  { SL_CPU_AVXVNNI, "avx2 f16c avx_vnni" },
  { SL_CPU_AVX512, "avx2 f16c avx512f avx512bw avx512dq avx512vl avx512_vnni" },
  { SL_CPU_AVX512VBMI, "avx2 f16c avx512f avx512bw avx512dq avx512vl avx512_vnni avx512vbmi" },
  { SL_CPU_AVX512BF16, "avx2 f16c avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16" },
  { SL_CPU_AMX, "avx2 f16c avx512f avx512bw avx512dq avx512vl avx512_vnni amx_tile amx_int8" },
  { SL_CPU_NEON | SL_CPU_DOTPROD | SL_CPU_FP16 | SL_CPU_I8MM, "none-of-x86" },
};

static char *
description (void)
{
  guint brand[13] = { 0 };
  g_autofree char *model = cpuinfo ("model name");
  for (guint i = 0; i < 3; i++)
    if (__get_cpuid (0x80000002u + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
                     &brand[4 * i + 3])
        == 0)
      return NULL;
  g_autofree char *name = g_strstrip (g_strdup ((const char *) brand));
  return model != NULL && strcmp (g_strstrip (model), name) == 0 ? cpuinfo ("flags") : NULL;
}
#else
static const struct
{
  guint feature;
  const char *words;
} described[] = {
#ifdef __aarch64__
  { SL_CPU_NEON, "asimd" },
  { SL_CPU_DOTPROD, "asimddp" },
  { SL_CPU_FP16, "asimdhp" },
  { SL_CPU_I8MM, "i8mm" },
#else
  { SL_CPU_NEON | SL_CPU_DOTPROD | SL_CPU_FP16 | SL_CPU_I8MM, "none-of-others" },
#endif
  { SL_CPU_AVX2 | SL_CPU_AVXVNNI | SL_CPU_AVX512 | SL_CPU_AVX512VBMI | SL_CPU_AVX512BF16
      | SL_CPU_AMX,
    "none-of-arm" },
};

static char *
description (void)
{
  return cpuinfo ("Features");
}
#endif

static void
test_detect (void)
{
  g_autofree char *line = description ();
  if (line == NULL) {
    g_test_skip ("the kernel does not describe the processor that this program runs on");
    return;
  }
  g_auto (GStrv) has = g_strsplit (line, " ", -1);
  for (guint i = 0; i < G_N_ELEMENTS (described); i++) {
    g_auto (GStrv) all = g_strsplit (described[i].words, " ", -1);
    gboolean expected = TRUE;
    for (guint k = 0; all[k] != NULL; k++)
      expected = expected && g_strv_contains ((const char *const *) has, all[k]);
    g_test_message ("%s: %d", described[i].words, expected);
    g_assert_cmpint ((sl_cpu_detect () & described[i].feature) != 0, ==, expected);
  }
}

/* Servers of Intel, by the numbers that the kernel prints. */
static void
test_wide (void)
{
  static const char *const models[] = { "106", "143", "207", "173", "174", NULL };
  g_autofree char *line = description (), *vendor = cpuinfo ("vendor_id"),
                  *family = cpuinfo ("cpu family"), *model = cpuinfo ("model");
  if (line == NULL) {
    g_test_skip ("the kernel does not describe the processor that this program runs on");
    return;
  }
  const gboolean expected = vendor != NULL && strcmp (vendor, "GenuineIntel") == 0 && family != NULL
                            && strcmp (family, "6") == 0 && model != NULL
                            && g_strv_contains (models, model);
  g_test_message ("%s, family %s, model %s: %d", vendor, family, model, expected);
  g_assert_cmpint (sl_cpu_multiplies_wide (), ==, expected);
}

/* What the families use at each level; NULL: whatever the processor has. */
static const struct
{
  const char *level, *preprocess, *int8, *floats, *wide;
} families[] = {
  { "c", "c", "c", NULL, "base" },
  { "sse41", "sse41", "sse41", "sse2", "base" },
  { "avx2", "avx2", "avx2", "avx2", "avx2" },
  { "avxvnni", "avx2", "avxvnni", "avx2", "avx2" },
  { "avx512", NULL, "avx512", "avx512", NULL },
  { "amx", NULL, "amx", "avx512", NULL },
  { "neon", "neon", "neon", "neon", "base" },
  { "dotprod", "neon", "dotprod", "neon", "base" },
  { "i8mm", "neon", "i8mm", "neon", "base" },
};

/* Architectures without kernels of ours say so once. */
#if defined(__x86_64__) || defined(__aarch64__)
#define EXPECTED_MESSAGES 0
#else
#define EXPECTED_MESSAGES 1
#endif

static guint warnings, messages;

static void
count_lines (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
  warnings += (level & G_LOG_LEVEL_WARNING) != 0;
  messages +=
    (level & G_LOG_LEVEL_MESSAGE) != 0
    && g_str_has_prefix (message, "Sightline has no SIMD kernels for this processor architecture");
}

/* Runs @check in a child whose environment has @variable=@value; a process forked from one that
 * read the environment keeps what it read. */
static void
in_child (const char *variable, const char *value, void (*check) (guint), guint i)
{
  const pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0) {
    g_unsetenv ("SIGHTLINE_CPU");
    g_unsetenv ("SIGHTLINE_CPU_MASK");
    g_setenv (variable, value, TRUE);
    g_log_set_always_fatal (G_LOG_FATAL_MASK);
    g_log_set_default_handler (count_lines, NULL);
    check (i);
    _exit (0);
  }
  int status = 0;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

static void
check_family (guint i)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  g_assert_true (sl_kernels_find (sl_normalizer_cpu ()) == sl_kernels_get ());
  g_assert_cmpstr (sl_int8_isa ()->name, ==, families[i].int8);
  if (families[i].preprocess != NULL)
    g_assert_cmpstr (sl_normalizer_cpu (), ==, families[i].preprocess);
  if (families[i].floats != NULL)
    g_assert_cmpstr (sl_float_isa ()->name, ==, families[i].floats);
  if (families[i].wide != NULL)
    g_assert_cmpstr (sl_simd_loops ()->name, ==, families[i].wide);
  if (g_getenv ("SIGHTLINE_CPU_MASK") != NULL)
    g_assert_true (sl_int8_isa () == isas[sl_int8_isas (isas) - 1]);
  g_assert_cmpuint (warnings, ==, 0);
}

static void
test_family (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  SlCpuChoice masked;
  sl_cpu_resolve (sl_cpu_detect (), families[i].level, NULL, &masked);
  if (!sl_cpu_reaches (sl_cpu_detect (), families[i].level)) {
    g_autofree char *reason =
      g_strdup_printf ("this processor or this build has no %s", families[i].level);
    g_test_skip (reason);
    return;
  }
  in_child ("SIGHTLINE_CPU", families[i].level, check_family, i);
  if (sl_cpu_reaches (masked.features, families[i].level))
    in_child ("SIGHTLINE_CPU_MASK", families[i].level, check_family, i);
}

static void
check_one_warning (guint i)
{
  for (guint k = 0; k < 2; k++) {
    sl_kernels_get ();
    sl_int8_isa ();
    sl_simd_loops ();
  }
  g_assert_cmpuint (warnings, ==, 1);
  g_assert_cmpuint (messages, ==, EXPECTED_MESSAGES);
}

static void
test_one_warning (void)
{
  in_child ("SIGHTLINE_CPU", "mmx", check_one_warning, 0);
  in_child ("SIGHTLINE_CPU_MASK", "mmx", check_one_warning, 0);
}

#if defined(__x86_64__) && defined(SYS_arch_prctl)
/* Of Linux's asm/prctl.h since 5.16, and AMX's registers among the states of a thread. */
#define GET_XCOMP_PERM 0x1022
#define XTILEDATA (G_GUINT64_CONSTANT (1) << 18)

/* Linux is asked for AMX's registers where they are used, and only there. */
static void
check_permission (guint i)
{
  guint64 permitted = 0;
  const gboolean used = strcmp (sl_int8_isa ()->name, "amx") == 0,
                 known = syscall (SYS_arch_prctl, GET_XCOMP_PERM, &permitted) == 0;
  g_assert_cmpint (known && (permitted & XTILEDATA) != 0, ==, used);
  g_assert_true (i == 0 || !used);
}

/* Linux gives AMX to no process with a signal stack too small for its registers. */
static void
check_refusal (guint i)
{
  static guint8 memory[2048];
  const stack_t small = { .ss_sp = memory, .ss_size = sizeof memory };
  const gboolean set = sigaltstack (&small, NULL) == 0;
  g_assert_true (!set || strcmp (sl_int8_isa ()->name, "amx") != 0);
  check_permission (0);
}

static void
test_permission (void)
{
  in_child ("SIGHTLINE_CPU_MASK", "amx", check_refusal, 0);
  in_child ("SIGHTLINE_CPU_MASK", "amx", check_permission, 0);
  in_child ("SIGHTLINE_CPU_MASK", "avx512", check_permission, 1);
}
#endif

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#if defined(__x86_64__) && defined(SYS_arch_prctl)
  g_test_add_func ("/cpu/permission", test_permission);
#endif
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/cpu/resolve/%s", cases[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_resolve);
  }
  g_test_add_func ("/cpu/detect", test_detect);
  g_test_add_func ("/cpu/wide", test_wide);
  for (guint i = 0; i < G_N_ELEMENTS (families); i++) {
    g_autofree char *path = g_strdup_printf ("/cpu/families/%s", families[i].level);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_family);
  }
  g_test_add_func ("/cpu/one-warning", test_one_warning);
  return g_test_run ();
}
