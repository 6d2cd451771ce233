/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pasting of masks. Torchvision puts a ring of zeros around a mask, enlarges the box by as much,
 * rounds the box's corners towards zero, and resizes the mask to it by linear interpolation; so do
 * we, so that the same pixels are the object's.
 */
#include "postprocess/box_masks.h"

#include <math.h>
#include <string.h>

/* Pixels around a mask. */
#define RING 1

gboolean
sl_box_masks_shape (const SlTensorInfo *tensor, guint n, gfloat input_width, gfloat input_height)
{
  const gint32 *d = tensor->dims;
  return tensor->dtype == SL_DTYPE_F32 && tensor->rank == 4 && (guint) d[0] == n && d[1] == 1
         && d[2] >= 2 && d[3] >= 2 && d[2] <= SL_MAX_BOX_MASK_SIDE && d[3] <= SL_MAX_BOX_MASK_SIDE
         && ((gfloat) d[2] < input_height || (gfloat) d[3] < input_width);
}

void
sl_box_masks_init (SlBoxMasks *self, const SlTensorInfo *tensor, gfloat input_width,
                   gfloat input_height, guint max_results)
{
  self->height = (guint) tensor->dims[2];
  self->width = (guint) tensor->dims[3];
  self->input_width = input_width;
  self->input_height = input_height;
  self->cells = g_new (guint8, SL_MAX_OBJECT_CELLS);
  self->masks = g_new0 (SlInstanceMask, max_results);
}

void
sl_box_masks_clear (SlBoxMasks *self)
{
  g_clear_pointer (&self->cells, g_free);
  g_clear_pointer (&self->masks, g_free);
}

/** A side of a pasted mask: from pixel @first on @pixels of the input, of which [@from, @end) are
 * in the picture. */
typedef struct
{
  gfloat first, pixels, from, end;
} Side;

/* FALSE for a side outside of the input. */
static gboolean
side_init (Side *side, gfloat low, gfloat high, guint size, gfloat input)
{
  const gfloat middle = (low + high) * input * 0.5f;
  const gfloat half = (high - low) * input * 0.5f * ((gfloat) (size + 2 * RING) / (gfloat) size);
  const gfloat first = truncf (middle - half), last = truncf (middle + half);
  *side = (Side){ first, MAX (last - first + 1, 1), MAX (first, 0), MIN (last + 1, input) };
  return isfinite (side->first) && isfinite (side->pixels) && side->end > side->from;
}

/** Pixels of a mask between which a cell lies, counted with the ring, and the share of the second.
 */
typedef struct
{
  guint first;
  gfloat share;
} Place;

static Place
place_of (const Side *side, guint cell, guint cells, guint size)
{
  const gfloat ringed = (gfloat) (size + 2 * RING);
  const gfloat pixel =
    side->from + ((gfloat) cell + 0.5f) * ((side->end - side->from) / (gfloat) cells);
  const gfloat at = CLAMP ((pixel - side->first) * (ringed / side->pixels) - 0.5f, 0, ringed - 1);
  const guint first = MIN ((guint) at, size + 2 * RING - 2);
  return (Place){ first, at - (gfloat) first };
}

/* What is not a number is none of the object, and neither is the ring. */
static gfloat
value_at (const SlBoxMasks *self, const guint8 *mask, guint row, guint column)
{
  gfloat value;
  if (row < RING || row >= self->height + RING || column < RING || column >= self->width + RING)
    return 0;
  memcpy (&value, mask + ((gsize) (row - RING) * self->width + column - RING) * sizeof value,
          sizeof value);
  return value >= 0 ? MIN (value, 1) : 0;
}

static void
fill (const SlBoxMasks *self, const guint8 *mask, const Side *x, const Side *y, guint width,
      guint height, guint8 *cells)
{
  for (guint row = 0; row < height; row++) {
    const Place v = place_of (y, row, height, self->height);
    for (guint column = 0; column < width; column++) {
      const Place u = place_of (x, column, width, self->width);
      const gfloat a = value_at (self, mask, v.first, u.first),
                   b = value_at (self, mask, v.first, u.first + 1);
      const gfloat c = value_at (self, mask, v.first + 1, u.first),
                   d = value_at (self, mask, v.first + 1, u.first + 1);
      const gfloat upper = a + u.share * (b - a), lower = c + u.share * (d - c),
                   value = upper + v.share * (lower - upper);
      *cells++ = value > 0.5f ? (guint8) MAX (lrintf (value * 255), 128)
                              : (guint8) MIN (lrintf (value * 255), 127);
    }
  }
}

void
sl_box_masks_run (SlBoxMasks *self, const void *data, const guint *rows, const SlResult *result)
{
  const gfloat most = (gfloat) (SL_MAX_OBJECT_CELLS / MAX (result->n_detections, 1));
  self->used = 0;
  for (guint i = 0; i < result->n_detections; i++) {
    const SlDetection *box = &result->detections[i];
    Side x, y;
    self->masks[i] = (SlInstanceMask){ 0 };
    if (!side_init (&x, box->x_min, box->x_max, self->width, self->input_width)
        || !side_init (&y, box->y_min, box->y_max, self->height, self->input_height))
      continue;
    const gfloat across = x.end - x.from, down = y.end - y.from,
                 shrink = MIN (sqrtf (most / (across * down)), 1);
    const guint width = (guint) CLAMP (across * shrink, 1, most),
                height = (guint) CLAMP (down * shrink, 1, most / (gfloat) width);
    guint8 *cells = self->cells + self->used;
    self->used += width * height;
    fill (self,
          (const guint8 *) data + (gsize) rows[i] * self->width * self->height * sizeof (gfloat),
          &x, &y, width, height, cells);
    self->masks[i] = (SlInstanceMask){ .x_min = x.from / self->input_width,
                                       .y_min = y.from / self->input_height,
                                       .x_max = x.end / self->input_width,
                                       .y_max = y.end / self->input_height,
                                       .width = width,
                                       .height = height,
                                       .cells = cells,
                                       .is_cut = TRUE };
  }
}
