/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stores of a table of row functions, one for each type and layout, out of the includer's
 * store(), which takes these as constants: define it always_inline, write SL_STORES behind it, and
 * .store = { SL_STORE_ROWS } in the table.
 */
#pragma once

#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

#define SL_STORE(name, type, layout)                                                          \
  static void name (void *const dst[3], const int32_t *const src[3], const SlMix *mix, int n) \
  {                                                                                           \
    store (dst, src, mix, n, type, layout);                                                   \
  }

#define SL_STORES                                                    \
  SL_STORE (store_u8_one, SL_OUT_U8, SL_STORE_ONE)                   \
  SL_STORE (store_u8_planes, SL_OUT_U8, SL_STORE_PLANES)             \
  SL_STORE (store_u8_interleaved, SL_OUT_U8, SL_STORE_INTERLEAVED)   \
  SL_STORE (store_i8_one, SL_OUT_I8, SL_STORE_ONE)                   \
  SL_STORE (store_i8_planes, SL_OUT_I8, SL_STORE_PLANES)             \
  SL_STORE (store_i8_interleaved, SL_OUT_I8, SL_STORE_INTERLEAVED)   \
  SL_STORE (store_f32_one, SL_OUT_F32, SL_STORE_ONE)                 \
  SL_STORE (store_f32_planes, SL_OUT_F32, SL_STORE_PLANES)           \
  SL_STORE (store_f32_interleaved, SL_OUT_F32, SL_STORE_INTERLEAVED) \
  SL_STORE (store_f16_one, SL_OUT_F16, SL_STORE_ONE)                 \
  SL_STORE (store_f16_planes, SL_OUT_F16, SL_STORE_PLANES)           \
  SL_STORE (store_f16_interleaved, SL_OUT_F16, SL_STORE_INTERLEAVED)

#define SL_STORE_ROWS                                                        \
  [SL_OUT_U8] = { store_u8_one, store_u8_planes, store_u8_interleaved },     \
  [SL_OUT_I8] = { store_i8_one, store_i8_planes, store_i8_interleaved },     \
  [SL_OUT_F32] = { store_f32_one, store_f32_planes, store_f32_interleaved }, \
  [SL_OUT_F16] = { store_f16_one, store_f16_planes, store_f16_interleaved }
