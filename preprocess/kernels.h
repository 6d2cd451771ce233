/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The row functions the normaliser is made of, as a table: sample -> blend -> mix -> store. C defines their
 * behaviour; other instruction sets provide the same table. Rows are planar floats. Those that sample and blend
 * write are 64-byte aligned with room for a multiple of 16; mix writes exactly n floats anywhere in a row, because
 * letterbox borders stand on both sides. Source rows and the tensor are aligned to their elements only.
 */
#ifndef SL_PREPROCESS_KERNELS_H
#define SL_PREPROCESS_KERNELS_H

#include "preprocess/axis.h"

#define SL_ROW_ALIGN 64

/** dst = clamp (m[0] * src[0] + m[1] * src[1] + m[2] * src[2] + constant, low, high); only src[0] when @inputs is 1. */
typedef struct
{
  int inputs; /* 1 or 3 */
  float m[3], constant;
  float low, high;
} SlMix;

/**
 * SlKernels:
 * @sample: reads one component of one source row at the columns of an axis
 * @blend: weighted sum of @taps sampled rows
 * @mix: colour matrix with gain and offset folded in, one output channel
 * @store: writes @n elements of @channels (1, or 3 interleaved) rows; by SlOutType. Integers are rounded half to even and
 *   must be in range already
 */
typedef struct
{
  const char *name;
  void (*sample) (float *dst, const uint8_t *row, const SlAxis *columns);
  void (*blend) (float *dst, const float *const *rows, const float *weight, int taps, int n);
  void (*mix) (float *dst, const float *const src[3], const SlMix *mix, int n);
  void (*store[3]) (void *dst, const float *const src[3], int channels, int n);
} SlKernels;

extern const SlKernels sl_kernels_c;

#endif
