/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of nearest, bilinear and area resizing. Positions are quotients of 64-bit integers: sizes
 * are at most 2^15 and parts of a share 2^20, so every numerator stays below 2^56.
 */
#include "preprocess/axis.h"

#include <math.h>
#include <string.h>

#define SPAN_ONE ((int64_t) 1 << 30)
#define NARROW_ONE 32768

/* First and last sample a position may touch: those with a pixel inside the fitted rectangle. */
typedef struct
{
  int64_t first, last;
} Bounds;

/* What a position weighs: its first sample, its last, each one between. */
typedef struct
{
  int64_t first, last;
  double weight[3];
} Cover;

static int64_t
floor_div (int64_t num, int64_t den)
{
  return num / den - (num % den < 0);
}

static int64_t
clamp (int64_t value, int64_t low, int64_t high)
{
  value = value > low ? value : low;
  return value < high ? value : high;
}

/* Frame coordinate of the centre of tensor position i, times 2 * scale.den. */
static int64_t
centre (const SlAxisSpec *spec, int64_t i)
{
  return (2 * i + 1 - spec->tensor) * spec->scale.num
         + (2 * (int64_t) spec->origin + spec->frame) * spec->scale.den;
}

static bool
inside (const SlAxisSpec *spec, int64_t i)
{
  const int64_t den = 2 * spec->scale.den;
  const int64_t position = centre (spec, i) - spec->origin * den;
  return position >= 0 && position < den * spec->frame;
}

static Bounds
source_bounds (const SlAxisSpec *spec)
{
  const int64_t den = 2 * spec->scale.den;
  const int64_t half = spec->tensor * spec->scale.num;
  const int64_t middle = (2 * (int64_t) spec->origin + spec->frame) * spec->scale.den;
  const int64_t low = spec->origin;
  const int64_t high = low + spec->frame - 1;
  const int64_t first = clamp (floor_div (middle - half, den), low, high);
  const int64_t last = clamp (floor_div (middle + half - 1, den), low, high);
  return (Bounds){ first >> spec->chroma_shift, last >> spec->chroma_shift };
}

static Cover
cover_nearest (const SlAxisSpec *spec, const Bounds *bounds, int64_t i)
{
  const int64_t pixel = floor_div (centre (spec, i), 2 * spec->scale.den);
  return (Cover){ pixel >> spec->chroma_shift, pixel >> spec->chroma_shift, { 1.0, 0.0, 0.0 } };
}

static Cover
cover_bilinear (const SlAxisSpec *spec, const Bounds *bounds, int64_t i)
{
  /* Sample k of a halved axis lies at pixel coordinate 2k + 1 between its two pixels, or at 2k +
   * 1/2 on the first. */
  const bool between = spec->chroma_shift != 0 && spec->site == SL_SITE_CENTRE;
  const int64_t den = (2 * spec->scale.den) << spec->chroma_shift;
  const int64_t num = centre (spec, i) - (between ? 2 : 1) * spec->scale.den;
  int64_t sample = floor_div (num, den);
  double fraction = (double) (num - sample * den) / (double) den;
  if (sample < bounds->first || sample >= bounds->last) {
    sample = sample < bounds->first ? bounds->first : bounds->last;
    fraction = 0.0;
  }
  return (Cover){ sample, fraction > 0.0 ? sample + 1 : sample, { 1.0 - fraction, fraction, 0.0 } };
}

/* Sample k of a halved axis covers the pixels 2k to 2k + 2, half a pixel less when it lies on the
 * first. */
static Cover
cover_area (const SlAxisSpec *spec, const Bounds *bounds, int64_t i)
{
  if (spec->scale.num <= spec->scale.den)
    return cover_bilinear (spec, bounds, i);
  const bool on_first = spec->chroma_shift != 0 && spec->site == SL_SITE_COSITED;
  const int64_t den = (2 * spec->scale.den) << spec->chroma_shift;
  const int64_t middle = centre (spec, i) + (on_first ? spec->scale.den : 0);
  const int64_t left =
    clamp (middle - spec->scale.num, bounds->first * den, (bounds->last + 1) * den - 1);
  const int64_t right = clamp (middle + spec->scale.num, left + 1, (bounds->last + 1) * den);
  const double length = (double) (right - left);
  const int64_t first = floor_div (left, den);
  const int64_t last = floor_div (right - 1, den);
  if (first == last)
    return (Cover){ first, last, { 1.0, 0.0, 0.0 } };
  return (Cover){ first,
                  last,
                  { (double) ((first + 1) * den - left) / length,
                    (double) (right - last * den) / length, (double) den / length } };
}

static Cover (*const filters[]) (const SlAxisSpec *spec, const Bounds *bounds, int64_t i) = {
  [SL_FILTER_NEAREST] = cover_nearest,
  [SL_FILTER_BILINEAR] = cover_bilinear,
  [SL_FILTER_AREA] = cover_area,
};

/* Rounds to integers that sum to SL_TAP_ONE exactly: down, then up where most was lost. */
static void
fill_taps (const Cover *cover, int16_t *weight)
{
  const int n = (int) (cover->last - cover->first) + 1;
  double lost[SL_AXIS_MAX_TAPS];
  int missing = SL_TAP_ONE;
  for (int t = 0; t < n; t++) {
    const double exact = SL_TAP_ONE * cover->weight[t == 0 ? 0 : t == n - 1 ? 1 : 2];
    weight[t] = (int16_t) floor (exact);
    lost[t] = exact - weight[t];
    missing -= weight[t];
  }
  for (; missing > 0; missing--) {
    int most = 0;
    for (int t = 1; t < n; t++)
      most = lost[t] > lost[most] ? t : most;
    weight[most]++;
    lost[most] -= 1.0;
  }
}

/* The most by which a sum of @n samples can be shifted left in 16 unsigned bits; that of two bytes
 * must stay below 2^15. */
static int
sum_shift (int64_t n, int bits)
{
  int shift = 16 - bits;
  while (shift >= 0 && (n << shift) > ((int64_t) 1 << (16 - bits)))
    shift--;
  return bits == 8 && n > 1 && shift > 6 ? 6 : shift;
}

/* Rounds down what is between and gives the rest to the ends, so that the weights never sum to more
 * than one. */
static void
fill_span (const Cover *cover, int64_t origin, int bits, SlSpan *span)
{
  const int64_t between = cover->last > cover->first ? cover->last - cover->first - 1 : 0;
  span->first = (int32_t) (cover->first - origin);
  span->last = (int32_t) (cover->last - origin);
  span->weight[2] = between > 0 ? (uint32_t) floor (cover->weight[2] * (double) SPAN_ONE) : 0;
  const int64_t ends = SPAN_ONE - between * span->weight[2];
  span->weight[1] =
    (uint32_t) clamp ((int64_t) floor (cover->weight[1] * (double) SPAN_ONE), 0, ends);
  span->weight[0] = (uint32_t) (ends - span->weight[1]);
  if (bits == 0)
    return;
  const int shift = sum_shift (between, bits);
  span->shift = (int16_t) shift;
  if (shift < 0)
    return;
  const int64_t one = (int64_t) 1 << (31 - bits - shift);
  span->narrow[2] =
    between > 0
      ? (uint16_t) clamp ((int64_t) floor (cover->weight[2] * (double) one), 0, UINT16_MAX)
      : 0;
  const int64_t unit = one / NARROW_ONE;
  const int64_t narrow_ends = NARROW_ONE - (between * span->narrow[2] + unit - 1) / unit;
  span->narrow[1] =
    (uint16_t) clamp ((int64_t) floor (cover->weight[1] * NARROW_ONE + 0.5), 0, narrow_ends);
  span->narrow[0] = (uint16_t) (narrow_ends - span->narrow[1]);
}

static void
find_extent (SlAxis *axis, const SlAxisSpec *spec, const Bounds *bounds)
{
  int64_t low = INT64_MAX, high = -1;
  for (int i = 0; i < axis->count; i++) {
    const Cover cover = filters[spec->filter](spec, bounds, axis->first + i);
    const int64_t taps = cover.last - cover.first + 1;
    low = cover.first < low ? cover.first : low;
    high = cover.last > high ? cover.last : high;
    axis->taps = taps > axis->taps ? (int) taps : axis->taps;
  }
  axis->origin = axis->count > 0 ? (int) low : 0;
  axis->samples = axis->count > 0 ? (int) (high - low + 1) : 0;
}

static bool
allocate (SlAxis *axis, bool spans, SlTables *tables)
{
  const size_t positions = ((size_t) axis->count + SL_AXIS_GROUP) / SL_AXIS_GROUP * SL_AXIS_GROUP;
  if (spans) {
    axis->taps = 0;
    axis->span = sl_tables_take (tables, positions, sizeof *axis->span);
    return axis->span != NULL;
  }
  axis->stride = axis->taps <= 4 ? 4 : axis->taps <= 8 ? 8 : (axis->taps + 15) / 16 * 16;
  axis->start = sl_tables_take (tables, positions, sizeof *axis->start);
  axis->weight = sl_tables_take (tables, positions * (size_t) axis->stride, sizeof *axis->weight);
  return axis->start != NULL && axis->weight != NULL;
}

bool
sl_axis_init (SlAxis *axis, const SlAxisSpec *spec, SlTables *tables)
{
  const Bounds bounds = source_bounds (spec);
  *axis = (SlAxis){ 0 };
  while (axis->first < spec->tensor && !inside (spec, axis->first))
    axis->first++;
  while (axis->first + axis->count < spec->tensor && inside (spec, axis->first + axis->count))
    axis->count++;
  find_extent (axis, spec, &bounds);
  if (!allocate (axis, spec->bits > 0 || axis->taps > SL_AXIS_MAX_TAPS, tables))
    return false;
  for (int i = 0; i < axis->count; i++) {
    const int at = spec->flip ? axis->count - 1 - i : i;
    const Cover cover = filters[spec->filter](spec, &bounds, axis->first + i);
    if (axis->span != NULL) {
      fill_span (&cover, spec->bits > 0 ? 0 : axis->origin, spec->bits, &axis->span[at]);
      continue;
    }
    axis->start[at] = (int32_t) (cover.first - axis->origin);
    fill_taps (&cover, axis->weight + (size_t) at * (size_t) axis->stride);
  }
  if (spec->flip)
    axis->first = spec->tensor - axis->first - axis->count;
  return true;
}
