/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/float/windows.h"

#include <string.h>

/** An output pixel: its image, and the pixel of that where its window begins. */
typedef struct
{
  const gfloat *image;
  gint32 y, x;
} Place;

/** How much of a tile's windows is inside of the picture. */
typedef enum
{
  INSIDE,
  ROWS_INSIDE, /* windows cross no left or right border */
  CROSSING
} Cover;

SlFloatOutput
sl_float_output (const SlWindowShape *w, gint32 row)
{
  return (SlFloatOutput){ row / (w->out_h * w->out_w), row / w->out_w % w->out_h, row % w->out_w };
}

SlFloatOutput
sl_float_next (const SlWindowShape *w, SlFloatOutput at, gint32 n)
{
  at.x += n;
  for (; at.x >= w->out_w; at.x -= w->out_w)
    if (++at.y == w->out_h) {
      at.y = 0;
      at.image++;
    }
  return at;
}

/* The last pixels where windows begin that cross no border. */
static gint32
last_row (const SlWindowShape *w)
{
  return w->h - (w->filter_h - 1) * w->dilation_h - 1;
}

static gint32
last_column (const SlWindowShape *w)
{
  return w->w - (w->filter_w - 1) * w->dilation_w - 1;
}

const gfloat *
sl_float_image (const SlFloatRun *run, gint32 image)
{
  const SlWindowShape *w = &run->layer->window;
  return sl_float_after (run->x, (gssize) image * w->h * w->w * w->channels, run->layer->in_size);
}

static const gfloat *
pixel_of (const SlFloatLayer *layer, const gfloat *image, gint32 y, gint32 x)
{
  const SlWindowShape *w = &layer->window;
  return sl_float_after (image, ((gssize) y * w->w + x) * w->channels, layer->in_size);
}

/* Where windows of @rows rows from @at on begin. */
static Cover
find_places (const SlFloatRun *run, SlFloatOutput at, gint32 rows, Place *places)
{
  const SlWindowShape *w = &run->layer->window;
  const gint32 last_y = last_row (w), last_x = last_column (w);
  gboolean rows_inside = TRUE, inside = TRUE;
  for (gint32 r = 0; r < rows; r++, at = sl_float_next (w, at, 1)) {
    const gint32 x0 = at.x * w->stride_w - w->left, y0 = at.y * w->stride_h - w->top;
    places[r] = (Place){ sl_float_image (run, at.image), y0, x0 };
    rows_inside &= x0 >= 0 && x0 <= last_x;
    inside &= y0 >= 0 && y0 <= last_y;
  }
  return !rows_inside ? CROSSING : inside ? INSIDE : ROWS_INSIDE;
}

/* Runs of windows that cross no border: all follow from the first pixel's place. */
static void
find_inner_runs (const SlFloatLayer *layer, const Place *places, gint32 rows, gboolean whole,
                 const gfloat **runs)
{
  const SlWindowShape *w = &layer->window;
  const gfloat *pixels[SL_FLOAT_MAX_ROWS];
  for (gint32 r = 0; r < rows; r++)
    pixels[r] = pixel_of (layer, places[r].image, places[r].y, places[r].x);
  for (gint32 fy = 0; fy < w->filter_h; fy++)
    for (gint32 fx = 0; fx < (whole ? 1 : w->filter_w); fx++, runs += rows) {
      const gssize offset =
        ((gssize) (fy * w->dilation_h) * w->w + fx * w->dilation_w) * w->channels;
      for (gint32 r = 0; r < rows; r++)
        runs[r] = sl_float_after (pixels[r], offset, layer->in_size);
    }
}

/* Runs of windows beside each other that cross no border: FALSE where they are not. */
static gboolean
find_neighbours (const SlFloatRun *run, SlFloatOutput at, gint32 rows, gboolean whole,
                 const gfloat **runs)
{
  const SlWindowShape *w = &run->layer->window;
  const gint32 x0 = at.x * w->stride_w - w->left, y0 = at.y * w->stride_h - w->top;
  const gsize pixel_bytes = (gsize) w->channels * run->layer->in_size;
  if (at.x + rows > w->out_w || x0 < 0 || y0 < 0 || x0 + (rows - 1) * w->stride_w > last_column (w)
      || y0 > last_row (w))
    return FALSE;
  const gfloat *line = pixel_of (run->layer, sl_float_image (run, at.image), y0, x0);
  for (gint32 fy = 0; fy < w->filter_h;
       fy++, line = sl_float_after (line, (gssize) w->dilation_h * w->w, pixel_bytes))
    for (gint32 fx = 0; fx < (whole ? 1 : w->filter_w); fx++) {
      const gfloat *pixel = sl_float_after (line, fx * w->dilation_w, pixel_bytes);
      for (gint32 r = 0; r < rows; r++, pixel = sl_float_after (pixel, w->stride_w, pixel_bytes))
        *runs++ = pixel;
    }
  return TRUE;
}

/* Runs of any windows: what is outside of the picture is zeros. */
static void
find_outer_runs (const SlFloatLayer *layer, const Place *places, gint32 rows, gboolean whole,
                 const gfloat **runs)
{
  const SlWindowShape *w = &layer->window;
  for (gint32 fy = 0; fy < w->filter_h; fy++)
    for (gint32 fx = 0; fx < (whole ? 1 : w->filter_w); fx++)
      for (gint32 r = 0; r < rows; r++) {
        const gint32 y = places[r].y + fy * w->dilation_h, x = places[r].x + fx * w->dilation_w;
        const gboolean inside = y >= 0 && y < w->h && (whole || (x >= 0 && x < w->w));
        *runs++ = inside ? pixel_of (layer, places[r].image, y, x) : layer->zeros;
      }
}

/* The row of a window that begins at (@y, @x), with zeros for what is left or right of the picture.
 */
static void
copy_row (const SlFloatLayer *layer, const gfloat *image, gint32 y, gint32 x, gfloat *to)
{
  const SlWindowShape *w = &layer->window;
  const gsize channels = (gsize) w->channels, size = layer->in_size;
  for (gint32 fx = 0; fx < w->filter_w; fx++, x++, to = sl_float_behind (to, channels, size)) {
    if (x >= 0 && x < w->w)
      memcpy (to, pixel_of (layer, image, y, x), channels * size);
    else
      memset (to, 0, channels * size);
  }
}

/* Runs of small windows, each row of a window as one run: rows that cross the left or the right
 * border are copied to @copies. */
static void
find_copied_runs (const SlFloatLayer *layer, const Place *places, gint32 rows, const gfloat **runs,
                  gfloat *copies)
{
  const SlWindowShape *w = &layer->window;
  const gsize length = (gsize) w->filter_w * (gsize) w->channels;
  for (gint32 fy = 0; fy < w->filter_h; fy++)
    for (gint32 r = 0; r < rows; r++) {
      const gint32 y = places[r].y + fy * w->dilation_h, x = places[r].x;
      if (y < 0 || y >= w->h) {
        *runs++ = layer->zeros;
      } else if (x >= 0 && x + w->filter_w <= w->w) {
        *runs++ = pixel_of (layer, places[r].image, y, x);
      } else {
        copy_row (layer, places[r].image, y, x, copies);
        *runs++ = copies;
        copies = sl_float_behind (copies, length, layer->in_size);
      }
    }
}

SlFloatRows
sl_float_find_runs (const SlFloatRun *run, SlFloatOutput at, gint32 rows, const gfloat **runs,
                    gfloat *copies)
{
  const SlFloatLayer *layer = run->layer;
  const SlWindowShape *w = &layer->window;
  SlFloatRows found = { .runs = runs, .rows = rows, .narrow = layer->in_size < sizeof (gfloat) };
  Place places[SL_FLOAT_MAX_ROWS];
  gboolean whole = !layer->tiles.taps_apart;
  if (!find_neighbours (run, at, rows, whole, runs)) {
    const Cover cover = find_places (run, at, rows, places);
    const gboolean copied = cover == CROSSING && whole && layer->depth <= SL_FLOAT_MAX_COPIED;
    whole &= copied || cover != CROSSING;
    if (copied)
      find_copied_runs (layer, places, rows, runs, copies);
    else
      (cover == INSIDE ? find_inner_runs : find_outer_runs) (layer, places, rows, whole, runs);
  }
  found.n_runs = whole ? w->filter_h : w->filter_h * w->filter_w;
  found.length = layer->depth / found.n_runs;
  return found;
}
gboolean
sl_float_move_runs (const SlFloatRun *run, const SlFloatRows *found, const gfloat **runs,
                    SlFloatOutput before, SlFloatOutput at, gint32 rows)
{
  const SlWindowShape *w = &run->layer->window;
  const gint32 last = at.x + rows - 1, y0 = at.y * w->stride_h - w->top;
  if (rows != found->rows || before.image != at.image || before.y != at.y
      || before.x * w->stride_w < w->left || last >= w->out_w
      || last * w->stride_w - w->left > last_column (w) || y0 < 0 || y0 > last_row (w))
    return FALSE;
  const gssize by = (gssize) (at.x - before.x) * w->stride_w * w->channels;
  for (gint32 i = 0; i < found->n_runs * rows; i++)
    runs[i] = sl_float_after (runs[i], by, run->layer->in_size);
  return TRUE;
}
