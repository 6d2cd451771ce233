/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A picture to measure with: smooth areas, edges, texture and noise as cameras give them, the same
 * every time, packed in any format the normaliser reads; and what area and bilinear resizing make
 * of it in double precision.
 */
#pragma once

#include "preprocess/normalize.h"

/**
 * SlBenchPicture:
 * @sample: planes of components as codes, without gaps; @width, @height their sizes
 * @bytes: of the packed picture, planes one after another
 */
typedef struct
{
  SlImageInfo info;
  int components;
  int width[3], height[3];
  uint16_t *sample[3];
  uint8_t *memory;
  size_t bytes;
} SlBenchPicture;

/** sl_bench_picture_init: BT.601, limited range, chroma centred. Ends the program when out of
 * memory. */
void sl_bench_picture_init (SlBenchPicture *picture, SlPixelFormat format, int width, int height);
void sl_bench_picture_clear (SlBenchPicture *picture);
/** sl_bench_picture_image: the planes of a copy of the packed picture at @memory. */
void sl_bench_picture_image (const SlBenchPicture *picture, const uint8_t *memory, SlImage *image);
/** sl_bench_picture_error: the largest difference of @tensor from double precision, in units of
 * 1/255 of the range, integers less their rounding; every @step-th pixel is computed. @spec: area
 * or bilinear, whole picture upright, RGB. */
double sl_bench_picture_error (const SlBenchPicture *picture, const SlNormalizeSpec *spec,
                               const void *tensor, int step);
