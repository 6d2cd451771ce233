/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/peak.h"

#include <string.h>

#include "core/base/cpu.h"
#include "core/base/unroll.h"
#include "tools/bench/timing.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define REGISTER "+x"
#if defined(__clang__) || __GNUC__ >= 11
#define HAVE_VNNI
#define HAVE_AMX
#endif
#elif defined(__aarch64__)
#include <arm_neon.h>
#define REGISTER "+w"
#endif

#define ROUNDS 2000
#define BLOCKS 200
/* Independent sums: multiply-adds take up to five cycles, two at a time. An addition behind a
 * product takes one, and the product a register. */
#define SUMS 12
#define FEW_SUMS 6

#ifdef REGISTER
/* The barrier keeps a product that is the same in each round from being computed once. No array of
 * registers has its address taken, so none is one in memory. 0x3f is a number of both kinds. */
#define DEFINE_PEAK(name, isa, Vec, n, step)                       \
  __attribute__ ((target (isa))) static guint8 name (guint rounds) \
  {                                                                \
    union                                                          \
    {                                                              \
      guint8 bytes[sizeof (Vec)];                                  \
      Vec vector;                                                  \
    } fill;                                                        \
    memset (&fill, 0x3f, sizeof fill);                             \
    Vec sums[n], a = fill.vector;                                  \
    const Vec b = a;                                               \
    SL_UNROLL for (guint i = 0; i < n; i++) sums[i] = a;           \
    for (; rounds > 0; rounds--)                                   \
      SL_UNROLL for (guint i = 0; i < n; i++)                      \
      {                                                            \
        __asm__("" : REGISTER (a));                                \
        sums[i] = step (sums[i], a, b);                            \
      }                                                            \
    guint8 all = 0;                                                \
    SL_UNROLL for (guint i = 0; i < n; i++)                        \
    {                                                              \
      fill.vector = sums[i];                                       \
      all ^= fill.bytes[0];                                        \
    }                                                              \
    return all;                                                    \
  }
#endif

#if defined(__x86_64__)
#define STEP_MUL_ADD(sum, a, b) _mm_add_ps (sum, _mm_mul_ps (a, b))
#define STEP_FMA(sum, a, b) _mm256_fmadd_ps (a, b, sum)
#define STEP_FMA_512(sum, a, b) _mm512_fmadd_ps (a, b, sum)
#define STEP_MADD_128(sum, a, b) _mm_add_epi32 (sum, _mm_madd_epi16 (a, b))
#define STEP_MADD(sum, a, b)                                                                \
  _mm256_add_epi32 (sum, _mm256_madd_epi16 (_mm256_add_epi16 (_mm256_maddubs_epi16 (a, b),  \
                                                              _mm256_maddubs_epi16 (b, a)), \
                                            _mm256_set1_epi16 (1)))
DEFINE_PEAK (mul_add, "sse2", __m128, FEW_SUMS, STEP_MUL_ADD)
DEFINE_PEAK (fma_256, "avx2,fma", __m256, SUMS, STEP_FMA)
DEFINE_PEAK (fma_512, "avx512f", __m512, SUMS, STEP_FMA_512)
DEFINE_PEAK (madd_128, "sse4.1", __m128i, FEW_SUMS, STEP_MADD_128)
DEFINE_PEAK (madd_256, "avx2", __m256i, FEW_SUMS, STEP_MADD)
#ifdef HAVE_VNNI
DEFINE_PEAK (dot_512, "avx512f,avx512vnni", __m512i, SUMS, _mm512_dpbusd_epi32)
DEFINE_PEAK (dot_256, "avx512f,avx512vl,avx512vnni", __m256i, SUMS, _mm256_dpbusd_epi32)
DEFINE_PEAK (dot_256_vex, "avx2,avxvnni", __m256i, SUMS, _mm256_dpbusd_avx_epi32)
#endif
#ifdef HAVE_AMX
#define TILES 8
#define TILE_ROWS 16
#define TILE_BYTES 64
/* Products of 16 rows of 64 bytes and as many columns, into four tiles of sums. */
__attribute__ ((target ("amx-tile,amx-int8"))) static guint8
dot_tiles (guint rounds)
{
  struct
  {
    guint8 palette, start_row, reserved[14];
    guint16 row_bytes[16];
    guint8 rows[16];
  } shapes = { .palette = 1 };
  guint8 bytes[TILE_ROWS * TILE_BYTES];
  memset (bytes, 0x3f, sizeof bytes);
  for (guint i = 0; i < TILES; i++) {
    shapes.rows[i] = TILE_ROWS;
    shapes.row_bytes[i] = TILE_BYTES;
  }
  /* Compilers do not know that all of it is read. */
  __asm__ volatile("" : : "r"(&shapes), "r"(bytes) : "memory");
  _tile_loadconfig (&shapes);
  _tile_loadd (4, bytes, TILE_BYTES);
  _tile_loadd (5, bytes, TILE_BYTES);
  _tile_loadd (6, bytes, TILE_BYTES);
  _tile_loadd (7, bytes, TILE_BYTES);
  for (; rounds > 0; rounds--) {
    _tile_dpbusd (0, 4, 6);
    _tile_dpbusd (1, 4, 7);
    _tile_dpbusd (2, 5, 6);
    _tile_dpbusd (3, 5, 7);
  }
  _tile_stored (0, bytes, TILE_BYTES);
  __asm__ volatile("" : : "r"(bytes) : "memory");
  _tile_release ();
  return bytes[0];
}
#endif
#elif defined(__aarch64__)
#define STEP_MLAL(sum, a, b)                                \
  vmlal_s16 (sum, vget_low_s16 (vreinterpretq_s16_s32 (a)), \
             vget_low_s16 (vreinterpretq_s16_s32 (b)))
#define STEP_DOT(sum, a, b) vdotq_s32 (sum, vreinterpretq_s8_s32 (a), vreinterpretq_s8_s32 (b))
#define STEP_MMLA(sum, a, b) vmmlaq_s32 (sum, vreinterpretq_s8_s32 (a), vreinterpretq_s8_s32 (b))
DEFINE_PEAK (fmla, "+simd", float32x4_t, SUMS, vfmaq_f32)
DEFINE_PEAK (mlal, "+simd", int32x4_t, SUMS, STEP_MLAL)
DEFINE_PEAK (dot, "arch=armv8.2-a+dotprod", int32x4_t, SUMS, STEP_DOT)
DEFINE_PEAK (mmla, "arch=armv8.2-a+i8mm", int32x4_t, SUMS, STEP_MMLA)
#endif

/* Of one kind the better ones come later, as with the kernels. */
static const struct
{
  SlPeakKind kind;
  SlCpuLevel level;
  guint needs;
  guint8 (*run) (guint rounds);
  guint operations; /* a round */
  const char *instruction;
} rows[] = {
#if defined(__x86_64__)
  { SL_PEAK_FLOAT, SL_CPU_LEVEL_C, 0, mul_add, 8 * FEW_SUMS, "mulps and addps" },
  { SL_PEAK_FLOAT, SL_CPU_LEVEL_AVX2, SL_CPU_AVX2 | SL_CPU_FMA, fma_256, 16 * SUMS,
    "vfmadd231ps of 256 bits" },
  { SL_PEAK_FLOAT, SL_CPU_LEVEL_AVX512, SL_CPU_AVX2 | SL_CPU_FMA | SL_CPU_AVX512, fma_512,
    32 * SUMS, "vfmadd231ps of 512 bits" },
  { SL_PEAK_INT8, SL_CPU_LEVEL_SSE41, SL_CPU_SSE41, madd_128, 16 * FEW_SUMS, "pmaddwd and paddd" },
  { SL_PEAK_INT8, SL_CPU_LEVEL_AVX2, SL_CPU_AVX2, madd_256, 128 * FEW_SUMS,
    "vpmaddubsw, added in twos" },
#ifdef HAVE_VNNI
  { SL_PEAK_INT8, SL_CPU_LEVEL_AVXVNNI, SL_CPU_AVX2 | SL_CPU_AVXVNNI, dot_256_vex, 64 * SUMS,
    "vpdpbusd of 256 bits" },
  { SL_PEAK_INT8, SL_CPU_LEVEL_AVXVNNI, SL_CPU_AVX2 | SL_CPU_AVX512, dot_256, 64 * SUMS,
    "vpdpbusd of 256 bits" },
  { SL_PEAK_INT8, SL_CPU_LEVEL_AVX512, SL_CPU_AVX2 | SL_CPU_AVX512, dot_512, 128 * SUMS,
    "vpdpbusd of 512 bits" },
#endif
#ifdef HAVE_AMX
  { SL_PEAK_INT8, SL_CPU_LEVEL_AMX, SL_CPU_AVX2 | SL_CPU_AVX512 | SL_CPU_AMX, dot_tiles,
    4 * 2 * TILE_ROWS *TILE_ROWS *TILE_BYTES, "tdpbusd of 16 by 16 sums" },
#endif
#elif defined(__aarch64__)
  { SL_PEAK_FLOAT, SL_CPU_LEVEL_C, 0, fmla, 8 * SUMS, "fmla" },
  { SL_PEAK_INT8, SL_CPU_LEVEL_NEON, SL_CPU_NEON, mlal, 8 * SUMS, "smlal" },
  { SL_PEAK_INT8, SL_CPU_LEVEL_DOTPROD, SL_CPU_NEON | SL_CPU_DOTPROD, dot, 32 * SUMS, "sdot" },
  { SL_PEAK_INT8, SL_CPU_LEVEL_I8MM, SL_CPU_NEON | SL_CPU_DOTPROD | SL_CPU_I8MM, mmla, 64 * SUMS,
    "smmla" },
#else
  { SL_PEAK_FLOAT, SL_CPU_LEVEL_C, 0, NULL, 0, "" },
#endif
};

double
sl_peak_measure (SlPeakKind kind, const char **instruction)
{
  guint8 (*run) (guint) = NULL;
  double operations = 0, best = 0;
  *instruction = "";
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (rows[i].kind != kind || !sl_cpu_may_use (rows[i].level, rows[i].needs))
      continue;
    run = rows[i].run;
    operations = (double) ROUNDS * rows[i].operations;
    *instruction = rows[i].instruction;
  }
  G_GNUC_UNUSED volatile guint8 sink;
  for (guint i = 0; run != NULL && i < BLOCKS; i++) {
    const double start = sl_timing_now_ms ();
    sink = run (ROUNDS);
    best = MAX (best, operations / (sl_timing_now_ms () - start) / 1e6);
  }
  return best;
}
