/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of prototypes over boxes; compiled with full optimisation in every build. Codes are summed
 * as integers: coefficients become 16 bits, which is finer than what they were made from, and the
 * scale comes last.
 */
#include "postprocess/prototypes.h"

#include <math.h>

/* The sigmoid's table: sums of -RANGE..RANGE in STEPS a unit. */
#define RANGE 8
#define STEPS 128
#define LARGEST_WEIGHT 32767

gboolean
sl_prototypes_shape (const SlTensorInfo *tensor, SlPictureShape *shape)
{
  const gint32 *d = tensor->dims;
  /* Two sides alike are those of the map; else 32 are the prototypes. */
  const guint likely = tensor->rank != 4 ? 0
                       : d[1] == d[2]    ? (guint) d[3]
                       : d[2] == d[3]    ? (guint) d[1]
                                         : 32;
  return tensor->rank == 4 && sl_values_readable (tensor->dtype)
         && sl_picture_shape_find (shape, tensor, likely) && shape->channels >= 4
         && shape->channels <= SL_MAX_PROTOTYPES && shape->width > 1 && shape->height > 1;
}

void
sl_prototypes_init (SlPrototypes *self, const SlTensorInfo *tensor, guint max_results)
{
  sl_prototypes_shape (tensor, &self->shape);
  sl_values_init (&self->values, tensor, SL_SCORES_PLAIN);
  self->scale = tensor->scale;
  self->zero_point = tensor->zero_point;
  self->shares = g_new (guint8, 2 * RANGE * STEPS);
  for (gint i = 0; i < 2 * RANGE * STEPS; i++)
    self->shares[i] = (guint8) lrint (255 / (1 + exp (-((i + 0.5) / STEPS - RANGE))));
  self->cells = g_new (guint8, SL_MAX_OBJECT_CELLS);
  self->masks = g_new0 (SlInstanceMask, max_results);
  self->sums = g_new0 (SlPrototypeSum, max_results);
  self->row = g_new (gfloat, self->shape.width);
  self->whole = g_new (gint32, self->shape.width);
}

void
sl_prototypes_clear (SlPrototypes *self)
{
  g_clear_pointer (&self->shares, g_free);
  g_clear_pointer (&self->cells, g_free);
  g_clear_pointer (&self->masks, g_free);
  g_clear_pointer (&self->sums, g_free);
  g_clear_pointer (&self->row, g_free);
  g_clear_pointer (&self->whole, g_free);
}

void
sl_prototypes_begin (SlPrototypes *self)
{
  self->used = self->n = 0;
}

typedef gfloat Lanes __attribute__ ((vector_size (16)));
#define LANES 4

static inline Lanes
load_lanes (const void *from)
{
  Lanes lanes;
  memcpy (&lanes, from, sizeof lanes);
  return lanes;
}

/* One row, numbers of a cell side by side. */
static void
sum_floats (const guint8 *data, guint n, guint channels, const gfloat *weights, gfloat *row)
{
  for (guint x = 0; x < n; x++) {
    const guint8 *cell = data + (gsize) x * channels * sizeof (gfloat);
    Lanes even = { 0 }, odd = { 0 };
    guint k = 0;
    for (; k + 2 * LANES <= channels; k += 2 * LANES) {
      even += load_lanes (weights + k) * load_lanes (cell + k * sizeof (gfloat));
      odd += load_lanes (weights + k + LANES) * load_lanes (cell + (k + LANES) * sizeof (gfloat));
    }
    even += odd;
    gfloat sum = (even[0] + even[1]) + (even[2] + even[3]);
    for (; k < channels; k++)
      sum += weights[k] * sl_values_float (cell, k);
    row[x] = sum;
  }
}

/* The same for codes; @bias: what zero points add to the sum. */
static void
sum_codes (const guint8 *restrict data, guint n, guint channels, guint8 flip,
           const gint16 *restrict weights, gfloat scale, gfloat bias, gfloat *restrict row)
{
  for (guint x = 0; x < n; x++) {
    gint32 sum = 0;
    for (guint k = 0; k < channels; k++)
      sum += weights[k] * (gint16) (guint8) (data[(gsize) x * channels + k] ^ flip);
    row[x] = (gfloat) sum * scale + bias;
  }
}

static void
add_floats (const guint8 *restrict data, guint n, gfloat weight, gfloat *restrict row)
{
  guint x = 0;
  for (; x + LANES <= n; x += LANES) {
    const Lanes sum = load_lanes (row + x) + weight * load_lanes (data + x * sizeof (gfloat));
    memcpy (row + x, &sum, sizeof sum);
  }
  for (; x < n; x++)
    row[x] += weight * sl_values_float (data, x);
}

static void
add_codes (const guint8 *restrict data, guint n, guint8 flip, gint16 weight, gint32 *restrict row)
{
  for (guint x = 0; x < n; x++)
    row[x] += weight * (gint16) (guint8) (data[x] ^ flip);
}

/* One row of the map from column @first on, when each prototype is a plane of its own. */
static void
sum_planes (SlPrototypes *self, const guint8 *data, gsize first, const SlPrototypeSum *sum)
{
  const guint n = sum->width;
  memset (self->row, 0, n * sizeof *self->row);
  memset (self->whole, 0, n * sizeof *self->whole);
  for (guint k = 0; k < self->shape.channels; k++) {
    const gsize at = first + k * self->shape.channel_step;
    if (self->values.quantised)
      add_codes (data + at, n, self->values.flip, sum->codes[k], self->whole);
    else
      add_floats (data + at * sizeof (gfloat), n, sum->weights[k], self->row);
  }
  for (guint x = 0; x < n && self->values.quantised; x++)
    self->row[x] = (gfloat) self->whole[x] * sum->scale + sum->bias;
}

/* Sums to shares; a sum that is not a number is none. */
static void
to_shares (const SlPrototypes *self, gfloat *row, guint n, guint8 *cells)
{
  const gfloat last = 2 * RANGE * STEPS - 1;
  for (guint x = 0; x < n; x++) {
    const gfloat at = (row[x] + RANGE) * STEPS;
    row[x] = at > 0 ? (at < last ? at : last) : 0;
  }
  for (guint x = 0; x < n; x++)
    cells[x] = self->shares[(gint) row[x]];
}

/* Cells from @low to @high, in 0..1, with one more at each end; FALSE when none of the map's @n is
 * among them. */
static gboolean
cover (gfloat low, gfloat high, guint n, guint *first, guint *count)
{
  const gfloat start = floorf (low * (gfloat) n) - 1, end = ceilf (high * (gfloat) n) + 1;
  if (!(start < (gfloat) n) || !(end > 0) || !(end > start))
    return FALSE;
  *first = start > 0 ? (guint) start : 0;
  *count = (end < (gfloat) n ? (guint) end : n) - *first;
  return *count > 0;
}

/* Coefficients as integers, and what to multiply their sums with; FALSE when one is not finite. */
static gboolean
to_weights (const gfloat *coefficients, guint n, gint16 *weights, gfloat *unit)
{
  gfloat largest = 0;
  for (guint k = 0; k < n; k++) {
    if (!isfinite (coefficients[k]))
      return FALSE;
    largest = MAX (largest, fabsf (coefficients[k]));
  }
  *unit = largest > 0 ? largest / LARGEST_WEIGHT : 1;
  for (guint k = 0; k < n; k++)
    weights[k] = (gint16) CLAMP (lrintf (coefficients[k] / *unit), -LARGEST_WEIGHT, LARGEST_WEIGHT);
  return TRUE;
}

void
sl_prototypes_cut (SlPrototypes *self, const gfloat *coefficients, const SlDetection *box, guint i)
{
  const SlPictureShape *shape = &self->shape;
  SlPrototypeSum *sum = &self->sums[i];
  SlInstanceMask *mask = &self->masks[i];
  gfloat unit;
  gint32 total = 0;
  *mask = (SlInstanceMask){ 0 };
  sum->height = 0;
  self->n = i + 1;
  if (!to_weights (coefficients, shape->channels, sum->codes, &unit)
      || !cover (box->x_min, box->x_max, shape->width, &sum->x, &sum->width)
      || !cover (box->y_min, box->y_max, shape->height, &sum->y, &sum->height)
      || (guint64) sum->width * sum->height > SL_MAX_OBJECT_CELLS - self->used) {
    sum->height = 0;
    return;
  }
  const gint32 zero = self->zero_point + (self->values.flip != 0 ? 128 : 0);
  for (guint k = 0; k < shape->channels; k++) {
    sum->weights[k] = coefficients[k];
    total += sum->codes[k];
  }
  sum->scale = unit * self->scale;
  sum->bias = -(gfloat) total * (gfloat) zero * sum->scale;
  sum->cells = self->cells + self->used;
  self->used += sum->width * sum->height;
  *mask = (SlInstanceMask){ (gfloat) sum->x / (gfloat) shape->width,
                            (gfloat) sum->y / (gfloat) shape->height,
                            (gfloat) (sum->x + sum->width) / (gfloat) shape->width,
                            (gfloat) (sum->y + sum->height) / (gfloat) shape->height,
                            sum->width,
                            sum->height,
                            sum->cells };
}

static void
sum_row (SlPrototypes *self, const guint8 *data, const SlPrototypeSum *sum, guint y)
{
  const guint channels = self->shape.channels;
  const gsize first = (gsize) y * self->shape.width + sum->x;
  if (self->shape.channel_step != 1)
    sum_planes (self, data, first, sum);
  else if (self->values.quantised)
    sum_codes (data + first * channels, sum->width, channels, self->values.flip, sum->codes,
               sum->scale, sum->bias, self->row);
  else
    sum_floats (data + first * channels * sizeof (gfloat), sum->width, channels, sum->weights,
                self->row);
  to_shares (self, self->row, sum->width, sum->cells + (gsize) (y - sum->y) * sum->width);
}

void
sl_prototypes_run (SlPrototypes *self, const void *data)
{
  for (guint y = 0; y < self->shape.height; y++)
    for (guint i = 0; i < self->n; i++)
      if (y >= self->sums[i].y && y - self->sums[i].y < self->sums[i].height)
        sum_row (self, data, &self->sums[i], y);
}
