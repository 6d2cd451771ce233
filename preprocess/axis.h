/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One axis of a resize as a table: for every output position the source samples to read and their weights.
 * Built once per stream by the normaliser, in exact integer arithmetic, so that no position is ever a rounding
 * error away from its neighbour. A filter with more taps changes this table and nothing else.
 */
#ifndef SL_PREPROCESS_AXIS_H
#define SL_PREPROCESS_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "preprocess/affine.h"
#include "preprocess/normalize.h"

/** Most taps a filter has; the normaliser keeps as many sampled rows of each component. */
#define SL_AXIS_MAX_TAPS 2

/**
 * SlAxisSpec: a component along one axis.
 * @scale: frame pixels per tensor pixel
 * @frame, @tensor: lengths in pixels, 1..32768; their centres coincide
 * @chroma_shift: 1 when the component has one sample for two pixels of the frame
 * @site: where these samples lie; meaningless when @chroma_shift is 0
 * @step: factor on the sample number in SlAxis.offset
 */
typedef struct
{
  SlRatio scale;
  int frame, tensor;
  int chroma_shift;
  SlSite site;
  SlFilter filter;
  int step;
} SlAxisSpec;

/**
 * SlAxis:
 * @first, @count: the tensor positions whose centre lies in the frame; the table covers only these
 * @taps: samples per position
 * @offset, @weight: position-major, @count * @taps; weights of a position sum to 1, and taps of weight 0 come last
 */
typedef struct
{
  int first, count;
  int taps;
  int32_t *offset;
  float *weight;
} SlAxis;

/** sl_axis_init: false when out of memory, @axis is then clear. @count may be 0. */
bool sl_axis_init (SlAxis *axis, const SlAxisSpec *spec);
/** sl_axis_clear: frees the tables; legal on zeroed memory, and twice. */
void sl_axis_clear (SlAxis *axis);

#endif
