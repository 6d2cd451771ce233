/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of a GEMM, one for each size of a tile. */
#pragma once

#include "core/backends/float/simd.h"

/* Registers of the widest panel. */
#ifndef TILE_GROUPS
#define TILE_GROUPS MAX_GROUPS
#endif

/* What a function reads rows from. */
#ifndef TILE_ROWS
#define TILE_ROWS SlFloatRows
#endif

typedef void (*TileFunction) (const SlFloatGemm *gemm, const SlFloatPanel *panel,
                              const TILE_ROWS *tile, gfloat *c, gsize c_stride);

#define DEFINE_TILE(multiply, rows, groups)                                                     \
  static void multiply##_##rows##_##groups (const SlFloatGemm *gemm, const SlFloatPanel *panel, \
                                            const TILE_ROWS *tile, gfloat *c, gsize c_stride)   \
  {                                                                                             \
    multiply (gemm, panel, tile, c, c_stride, rows, groups);                                    \
  }
#if TILE_GROUPS > 2
#define DEFINE_ROWS(multiply, rows) \
  DEFINE_TILE (multiply, rows, 1) DEFINE_TILE (multiply, rows, 2) DEFINE_TILE (multiply, rows, 3)
#define ROWS(multiply, rows)                                            \
  {                                                                     \
    multiply##_##rows##_1, multiply##_##rows##_2, multiply##_##rows##_3 \
  }
#else
#define DEFINE_ROWS(multiply, rows) DEFINE_TILE (multiply, rows, 1) DEFINE_TILE (multiply, rows, 2)
#define ROWS(multiply, rows)                     \
  {                                              \
    multiply##_##rows##_1, multiply##_##rows##_2 \
  }
#endif
#if MAX_ROWS > 4
#define DEFINE_SIX(multiply) DEFINE_ROWS (multiply, 5) DEFINE_ROWS (multiply, 6)
#define SIX(multiply) ROWS (multiply, 5), ROWS (multiply, 6),
#else
#define DEFINE_SIX(multiply)
#define SIX(multiply)
#endif
#if MAX_ROWS > 6
#define DEFINE_EIGHT(multiply) DEFINE_ROWS (multiply, 7) DEFINE_ROWS (multiply, 8)
#define EIGHT(multiply) ROWS (multiply, 7), ROWS (multiply, 8),
#else
#define DEFINE_EIGHT(multiply)
#define EIGHT(multiply)
#endif

/* @multiply with every size of a tile as its last arguments, and the functions by rows less one and
 * groups less one. */
#define DEFINE_TILES(multiply)                                                      \
  DEFINE_ROWS (multiply, 1)                                                         \
  DEFINE_ROWS (multiply, 2)                                                         \
  DEFINE_ROWS (multiply, 3)                                                         \
  DEFINE_ROWS (multiply, 4)                                                         \
  DEFINE_SIX (multiply)                                                             \
  DEFINE_EIGHT (multiply)                                                           \
  static const TileFunction multiply##_tiles[MAX_ROWS][TILE_GROUPS] = {             \
    ROWS (multiply, 1), ROWS (multiply, 2), ROWS (multiply, 3), ROWS (multiply, 4), \
    SIX (multiply) EIGHT (multiply)                                                 \
  };
