/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of prototypes over boxes; compiled with full optimisation in every build. Codes are summed as integers: coefficients
 * become 16 bits, which is finer than what they were made from, and the scale comes last.
 */
#include "postprocess/prototypes.h"

#include <math.h>

/* The sigmoid's table: sums of -RANGE..RANGE in STEPS a unit. */
#define RANGE 8
#define STEPS 128
#define LARGEST_WEIGHT 32767
#define LANES 8

gboolean
sl_prototypes_shape (const SlDecoderTensor *tensor, SlPictureShape *shape)
{
  const gint32 *d = tensor->dims;
  /* Two sides alike are those of the map; else 32 are the prototypes. */
  const guint likely = tensor->rank != 4 ? 0 : d[1] == d[2] ? (guint) d[3] : d[2] == d[3] ? (guint) d[1] : 32;
  return tensor->rank == 4 && sl_values_readable (tensor->dtype) && sl_picture_shape_find (shape, tensor, likely) && shape->channels >= 4
         && shape->channels <= SL_MAX_PROTOTYPES && shape->width > 1 && shape->height > 1;
}

void
sl_prototypes_init (SlPrototypes *self, const SlDecoderTensor *tensor, guint max_results)
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
  self->row = g_new (gfloat, self->shape.width);
}

void
sl_prototypes_clear (SlPrototypes *self)
{
  g_clear_pointer (&self->shares, g_free);
  g_clear_pointer (&self->cells, g_free);
  g_clear_pointer (&self->masks, g_free);
  g_clear_pointer (&self->row, g_free);
}

void
sl_prototypes_begin (SlPrototypes *self)
{
  self->used = 0;
}

/* One row, numbers of a cell side by side. */
static void
sum_floats (const guint8 *data, guint n, guint channels, const gfloat *weights, gfloat *row)
{
  for (guint x = 0; x < n; x++) {
    gfloat lanes[LANES] = { 0 }, sum = 0;
    const guint8 *cell = data + (gsize) x * channels * sizeof (gfloat);
    guint k = 0;
    for (; k + LANES <= channels; k += LANES) {
      gfloat values[LANES];
      memcpy (values, cell + k * sizeof (gfloat), sizeof values);
      for (guint i = 0; i < LANES; i++)
        lanes[i] += weights[k + i] * values[i];
    }
    for (; k < channels; k++)
      sum += weights[k] * sl_values_float (cell, k);
    for (guint i = 0; i < LANES; i++)
      sum += lanes[i];
    row[x] = sum;
  }
}

/* The same for codes; @bias: what zero points add to the sum. */
static void
sum_codes (const guint8 *restrict data, guint n, guint channels, guint8 flip, const gint16 *restrict weights, gfloat scale, gfloat bias,
           gfloat *restrict row)
{
  for (guint x = 0; x < n; x++) {
    gint32 sum = 0;
    for (guint k = 0; k < channels; k++)
      sum += weights[k] * (gint16) (guint8) (data[(gsize) x * channels + k] ^ flip);
    row[x] = (gfloat) sum * scale + bias;
  }
}

/* One row of the map from column @first on, when each prototype is a plane of its own. */
static void
sum_planes (const SlPrototypes *self, const guint8 *data, gsize first, guint n, const gfloat *weights, gfloat bias, gfloat *row)
{
  for (guint x = 0; x < n; x++)
    row[x] = bias;
  for (guint k = 0; k < self->shape.channels; k++) {
    const gsize at = first + k * self->shape.channel_step;
    const gfloat weight = weights[k];
    if (self->values.quantised)
      for (guint x = 0; x < n; x++)
        row[x] += weight * (gfloat) (data[at + x] ^ self->values.flip);
    else
      for (guint x = 0; x < n; x++)
        row[x] += weight * sl_values_float (data, at + x);
  }
}

/* Sums to shares; a sum that is not a number is none. */
static void
to_shares (const SlPrototypes *self, const gfloat *row, guint n, guint8 *cells)
{
  for (guint x = 0; x < n; x++) {
    const gfloat limited = row[x] > -RANGE ? (row[x] < RANGE ? row[x] : RANGE) : -RANGE;
    const gint at = (gint) floorf ((limited + RANGE) * STEPS);
    cells[x] = self->shares[at < 2 * RANGE * STEPS ? at : 2 * RANGE * STEPS - 1];
  }
}

/* Cells from @low to @high, in 0..1, with one more at each end; FALSE when none of the map's @n is among them. */
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
sl_prototypes_cut (SlPrototypes *self, const void *data, const gfloat *coefficients, const SlDetection *box, guint i)
{
  const SlPictureShape *shape = &self->shape;
  const guint channels = shape->channels;
  SlInstanceMask *mask = &self->masks[i];
  gint16 weights[SL_MAX_PROTOTYPES];
  gfloat scaled[SL_MAX_PROTOTYPES], unit, sum = 0;
  guint x, y, w, h;
  *mask = (SlInstanceMask){ 0 };
  if (!to_weights (coefficients, channels, weights, &unit) || !cover (box->x_min, box->x_max, shape->width, &x, &w)
      || !cover (box->y_min, box->y_max, shape->height, &y, &h) || (guint64) w * h > SL_MAX_OBJECT_CELLS - self->used)
    return;
  const gint32 zero = self->zero_point + (self->values.flip != 0 ? 128 : 0);
  const gboolean planes = shape->channel_step != 1, quantised = self->values.quantised;
  for (guint k = 0; k < channels; k++) {
    scaled[k] = coefficients[k] * (quantised ? self->scale : 1);
    sum += planes ? scaled[k] : (gfloat) weights[k] * unit * self->scale;
  }
  const gfloat bias = quantised ? -sum * (gfloat) zero : 0;
  guint8 *cells = self->cells + self->used;
  for (guint row = 0; row < h; row++) {
    const gsize first = (gsize) (y + row) * shape->width + x;
    const guint8 *bytes = (const guint8 *) data + first * channels * (quantised ? 1 : sizeof (gfloat));
    if (planes)
      sum_planes (self, data, first, w, scaled, bias, self->row);
    else if (quantised)
      sum_codes (bytes, w, channels, self->values.flip, weights, unit * self->scale, bias, self->row);
    else
      sum_floats (bytes, w, channels, coefficients, self->row);
    to_shares (self, self->row, w, cells + (gsize) row * w);
  }
  self->used += w * h;
  *mask = (SlInstanceMask){ (gfloat) x / (gfloat) shape->width,
                            (gfloat) y / (gfloat) shape->height,
                            (gfloat) (x + w) / (gfloat) shape->width,
                            (gfloat) (y + h) / (gfloat) shape->height,
                            w,
                            h,
                            cells };
}
