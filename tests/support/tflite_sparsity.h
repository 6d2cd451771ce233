/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the values of a sparse TensorFlow Lite tensor are, as the tests' writer writes it: right or
 * wrong.
 */
#ifndef SL_TESTS_TFLITE_SPARSITY_H
#define SL_TESTS_TFLITE_SPARSITY_H

#include "models/tflite/flatbuffer_writer.h"

/**
 * SlTfliteSparsity: which dimension each level is, which dimensions the blocks cut, and the levels:
 * format 0 of @size places, or 1 with lists of numbers of 4, 2 or 1 bytes (@type 1, 2, 3).
 */
typedef struct
{
  guint n_levels, n_blocks;
  gint32 order[8], blocks[4];
  struct
  {
    guint8 format, type;
    gint32 size;
    guint n_segments, n_places;
    gint32 segments[8], places[16];
  } levels[8];
} SlTfliteSparsity;

/** sl_tflite_sparsity_build: the table of that name. */
FbNode *sl_tflite_sparsity_build (FbWriter *fb, const SlTfliteSparsity *sparsity);

#endif
