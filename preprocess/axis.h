/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One axis of a resize as a table: for every output position the source samples to read and their
 * integer weights. Built once per stream from exact quotients, so that rounding errors do not
 * accumulate. Columns get taps (a weight for each sample), rows get spans (all samples between the
 * ends have the same weight); the filter computes the weights.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/affine.h"
#include "preprocess/spec.h"
#include "preprocess/tables.h"

/** Weights of the taps of a position sum to this. */
#define SL_TAP_ONE 16384
/** Most taps of a position; columns that would need more have spans instead. */
#define SL_AXIS_MAX_TAPS 64
/** Tables are padded with weights of zero to a multiple of this many positions. */
#define SL_AXIS_GROUP 16
/** Samples past the last one of a row that kernels may read, weighing them zero. */
#define SL_AXIS_SLACK 64

/**
 * SlAxisSpec: a component along one axis.
 * @scale: frame pixels per tensor pixel
 * @origin, @frame: the part of the frame that is fitted, in pixels; @origin + @frame at most
 * SL_MAX_SIDE
 * @tensor: length in pixels, 1..SL_MAX_SIDE; its centre falls on the centre of the part
 * @flip: the last position comes first
 * @chroma_shift: 1 when the component has one sample for two pixels of the frame
 * @site: where these samples lie; meaningless when @chroma_shift is 0
 * @filter: any but SL_FILTER_AUTO
 * @bits: of a sample, 8 or 10; 0 for columns, which get taps
 */
typedef struct
{
  SlRatio scale;
  int origin, frame, tensor;
  bool flip;
  int chroma_shift;
  SlSite site;
  SlFilter filter;
  int bits;
} SlAxisSpec;

/**
 * SlSpan: the weights of one position: samples @first and @last, and one weight for all between.
 * @last may be @first; then only the first weight is used.
 * @weight: of first, last and each one between, in units of 2^-30; they sum to 2^30
 * @narrow, @shift: the same for 16-bit arithmetic, see SlBand; @shift is negative when there are
 * too many between
 */
typedef struct
{
  int32_t first, last;
  uint32_t weight[3];
  uint16_t narrow[3];
  int16_t shift;
} SlSpan;

/**
 * SlAxis:
 * @first, @count: the tensor positions whose centre lies in the part; the table covers only these
 * @origin, @samples: the range of the component's samples that any position reads
 * @taps: most samples of a position; 0 when the axis has spans
 * @stride: weights per position: 4, 8 or a multiple of 16
 * @start: first tap of each position, relative to @origin
 * @weight: @stride per position, 64-byte aligned; each position's sum to SL_TAP_ONE
 * @span: one per position, or NULL; numbers of samples are absolute for rows and relative to
 * @origin for columns
 * @gather: (nullable): the taps as SlGather has them, for kernels that want it
 */
typedef struct
{
  int first, count;
  int origin, samples;
  int taps, stride;
  int32_t *start;
  int16_t *weight;
  SlSpan *span;
  struct SlGather *gather;
} SlAxis;

/** sl_axis_init: with tables from @tables; false when out of memory. @count may be 0. */
bool sl_axis_init (SlAxis *axis, const SlAxisSpec *spec, SlTables *tables);
