/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One plane of samples to another size, and turned: the steps that sl_resizer_run() is made of.
 * plane_scale.c says what libyuv does of it.
 *
 * Position i of an axis of @dst samples has its centre at (i + 0.5) * src / dst of the source, in
 * our code and in libyuv's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preprocess/normalize.h"
#include "preprocess/plane_scale10.h"

typedef enum
{
  SL_PLANE_COPY,
  SL_PLANE_NEAREST,
  SL_PLANE_LIBYUV,
  SL_PLANE_NORMALIZER,
  SL_PLANE_SCALER10
} SlPlaneMethod;

/**
 * SlPlaneScaler:
 * @bytes: of a sample, 1 or 2 (a word in native order)
 * @normalizer, @tight: for SL_PLANE_NORMALIZER; its result when it cannot go where it belongs
 * directly
 * @x, @y: the sample that each position takes, for SL_PLANE_NEAREST
 * @scaler10, @pairs10: for SL_PLANE_SCALER10; two components in turn, where they are
 */
typedef struct
{
  int src_w, src_h, dst_w, dst_h, bytes;
  SlPlaneMethod method;
  bool nearest;
  SlNormalizer *normalizer;
  uint8_t *tight;
  int32_t *x, *y;
  SlPlaneScaler10 *scaler10, *pairs10;
} SlPlaneScaler;

/** SlPlane: a rectangle of samples; @stride in bytes, negative allowed. */
typedef struct
{
  uint8_t *data;
  ptrdiff_t stride;
} SlPlane;

/** sl_plane_scaler_init: sizes 1..16384, samples as @layout has them, with @pairs two components in
 * turn; @filter any but auto. False when out of memory, @scaler is then clear. */
bool sl_plane_scaler_init (SlPlaneScaler *scaler, int src_w, int src_h, int dst_w, int dst_h,
                           const SlPixelLayout *layout, bool pairs, SlFilter filter);
/** sl_plane_scaler_clear: legal on zeroed memory, and twice. */
void sl_plane_scaler_clear (SlPlaneScaler *scaler);
/** sl_plane_scaler_run: one thread at a time; @src is only read. */
void sl_plane_scaler_run (SlPlaneScaler *scaler, SlPlane src, SlPlane dst);
/** sl_plane_copy: @row_bytes of @rows rows. */
void sl_plane_copy (SlPlane src, SlPlane dst, size_t row_bytes, int rows);
/** sl_plane_mirror: @width x @height samples with the columns reversed. */
void sl_plane_mirror (SlPlane src, SlPlane dst, int width, int height, int bytes);
/** sl_plane_transpose: @width x @height samples of @src become @height x @width of @dst. */
void sl_plane_transpose (SlPlane src, SlPlane dst, int width, int height, int bytes);
/** sl_plane_split, sl_plane_merge: @width pairs of samples in turn from and to two planes. */
void sl_plane_split (SlPlane src, SlPlane u, SlPlane v, int width, int height, int bytes);
void sl_plane_merge (SlPlane u, SlPlane v, SlPlane dst, int width, int height, int bytes);
