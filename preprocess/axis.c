/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tap tables of nearest and bilinear resizing. Positions are quotients of 64-bit integers: sizes are at most 2^15,
 * so every numerator stays below 2^33.
 */
#include "preprocess/axis.h"

#include <stdlib.h>

/* First and last sample a tap may touch: those with a pixel inside the fitted rectangle. */
typedef struct
{
  int64_t first, last;
} Bounds;

static int64_t
floor_div (int64_t num, int64_t den)
{
  return num / den - (num % den < 0);
}

/* Frame coordinate of the centre of tensor position i, times 2 * scale.den. */
static int64_t
centre (const SlAxisSpec *spec, int64_t i)
{
  return (2 * i + 1 - spec->tensor) * spec->scale.num + spec->frame * spec->scale.den;
}

static bool
inside (const SlAxisSpec *spec, int64_t i)
{
  int64_t position = centre (spec, i);
  return position >= 0 && position < 2 * spec->scale.den * spec->frame;
}

static Bounds
source_bounds (const SlAxisSpec *spec)
{
  const int64_t den = 2 * spec->scale.den;
  int64_t first = floor_div (spec->frame * spec->scale.den - spec->tensor * spec->scale.num, den);
  int64_t last = floor_div (spec->frame * spec->scale.den + spec->tensor * spec->scale.num - 1, den);
  first = first > 0 ? first : 0;
  last = last < spec->frame - 1 ? last : spec->frame - 1;
  return (Bounds){ first >> spec->chroma_shift, last >> spec->chroma_shift };
}

static void
nearest_taps (const SlAxisSpec *spec, const Bounds *bounds, int64_t i, int32_t *offset, float *weight)
{
  int64_t pixel = floor_div (centre (spec, i), 2 * spec->scale.den);
  offset[0] = (int32_t) ((pixel >> spec->chroma_shift) * spec->step);
  weight[0] = 1.0f;
}

static void
bilinear_taps (const SlAxisSpec *spec, const Bounds *bounds, int64_t i, int32_t *offset, float *weight)
{
  /* Sample k of a halved axis lies at pixel coordinate 2k + 1 between its two pixels, or at 2k + 1/2 on the first. */
  const bool between = spec->chroma_shift != 0 && spec->site == SL_SITE_CENTRE;
  const int64_t den = (2 * spec->scale.den) << spec->chroma_shift;
  const int64_t num = centre (spec, i) - (between ? 2 : 1) * spec->scale.den;
  int64_t sample = floor_div (num, den);
  double fraction = (double) (num - sample * den) / (double) den;
  if (sample < bounds->first || sample >= bounds->last) {
    sample = sample < bounds->first ? bounds->first : bounds->last;
    fraction = 0.0;
  }
  int64_t next = fraction > 0.0 ? sample + 1 : sample;
  offset[0] = (int32_t) (sample * spec->step);
  offset[1] = (int32_t) (next * spec->step);
  weight[0] = (float) (1.0 - fraction);
  weight[1] = (float) fraction;
}

static const struct
{
  int taps;
  void (*fill) (const SlAxisSpec *spec, const Bounds *bounds, int64_t i, int32_t *offset, float *weight);
} filters[] = {
  [SL_FILTER_NEAREST] = { 1, nearest_taps },
  [SL_FILTER_BILINEAR] = { 2, bilinear_taps },
};

bool
sl_axis_init (SlAxis *axis, const SlAxisSpec *spec)
{
  *axis = (SlAxis){ .taps = filters[spec->filter].taps };
  while (axis->first < spec->tensor && !inside (spec, axis->first))
    axis->first++;
  while (axis->first + axis->count < spec->tensor && inside (spec, axis->first + axis->count))
    axis->count++;

  size_t entries = (size_t) (axis->count > 0 ? axis->count : 1) * (size_t) axis->taps;
  axis->offset = calloc (entries, sizeof *axis->offset);
  axis->weight = calloc (entries, sizeof *axis->weight);
  if (axis->offset == NULL || axis->weight == NULL) {
    sl_axis_clear (axis);
    return false;
  }
  const Bounds bounds = source_bounds (spec);
  for (int i = 0; i < axis->count; i++)
    filters[spec->filter].fill (spec, &bounds, axis->first + i, axis->offset + i * axis->taps, axis->weight + i * axis->taps);
  return true;
}

void
sl_axis_clear (SlAxis *axis)
{
  free (axis->offset);
  free (axis->weight);
  *axis = (SlAxis){ 0 };
}
