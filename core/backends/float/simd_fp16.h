/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Registers of eight numbers of binary16, of Arm's processors with arithmetic for them. */
#pragma once

#include "core/backends/float/isa.h"

#ifdef __aarch64__
#include <arm_neon.h>
#include <string.h>

#define SL_SIMD(name) name##_fp16
#define SL_SIMD_NAME "fp16"
#define LANES 8
#define MAX_ROWS 8
#define MAX_GROUPS 1

typedef float16x8_t Vec;
typedef guint16 Real;

static inline Vec
load (const Real *at)
{
  return vreinterpretq_f16_u16 (vld1q_u16 (at));
}

/* @n less than LANES; the rest of the register is 0. */
static inline Vec
load_first (const Real *at, gint32 n)
{
  Real values[LANES] = { 0 };
  memcpy (values, at, (gsize) n * sizeof at[0]);
  return load (values);
}

static inline void
store (Real *at, Vec values)
{
  vst1q_u16 (at, vreinterpretq_u16_f16 (values));
}

/* @n less than LANES. */
static inline void
store_first (Real *at, gint32 n, Vec values)
{
  Real all[LANES];
  store (all, values);
  memcpy (at, all, (gsize) n * sizeof at[0]);
}

static inline Vec
broadcast (gfloat value)
{
  return vdupq_n_f16 ((float16_t) value);
}

/* @a * @b + @sum */
static inline Vec
fused (Vec a, Vec b, Vec sum)
{
  return vfmaq_f16 (sum, a, b);
}

/* The larger and the smaller of each pair, NaN where one is. */
static inline Vec
larger (Vec a, Vec b)
{
  return vmaxq_f16 (a, b);
}

static inline Vec
smaller (Vec a, Vec b)
{
  return vminq_f16 (a, b);
}

void sl_float_multiply_halves (const SlFloatGemm *gemm, gint32 first, gint32 end,
                               const SlFloatRows *rows, gint32 depth, gfloat *c, gsize c_stride,
                               guint16 *scratch);
#endif
