/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pixels of a part of a frame. Called by reader.c for each region. */
#include "postprocess/read/gray.h"

#include <math.h>
#include <string.h>

void
sl_gray_clear (SlGray *gray)
{
  g_free (gray->pixels);
  *gray = (SlGray){ 0 };
}

void
sl_gray_resize (SlGray *gray, gint width, gint height)
{
  const gsize size = (gsize) width * (gsize) height;
  if (size > gray->room) {
    g_free (gray->pixels);
    gray->pixels = g_malloc (size);
    gray->room = size;
  }
  gray->width = width;
  gray->height = height;
}

static guint
sample (const SlLuma *luma, guint plane, gint x, gint y)
{
  const guint8 *at = luma->plane[plane] + y * luma->stride[plane] + (gssize) x * luma->step;
  return luma->shift < 0 ? at[0] : (guint) (((at[0] | at[1] << 8) >> luma->shift) & 0xff);
}

/* BT.601's weights, in 1/256. */
static guint
brightness (const SlLuma *luma, gint x, gint y)
{
  if (luma->plane[1] == NULL)
    return sample (luma, 0, x, y);
  return (77 * sample (luma, 0, x, y) + 150 * sample (luma, 1, x, y) + 29 * sample (luma, 2, x, y)
          + 128)
         >> 8;
}

static guint8
mean (const SlLuma *luma, gint x, gint y, gint size)
{
  const guint n = (guint) size * (guint) size;
  guint sum = n / 2;
  for (gint v = y; v < y + size; v++)
    for (gint u = x; u < x + size; u++)
      sum += brightness (luma, u, v);
  return (guint8) (sum / n);
}

void
sl_gray_cut (SlGray *gray, const SlLuma *luma, const SlRect *part, gint reduce)
{
  const gboolean bytes =
    reduce == 1 && luma->plane[1] == NULL && luma->step == 1 && luma->shift < 0;
  sl_gray_resize (gray, part->width / reduce, part->height / reduce);
  for (gint y = 0; y < gray->height; y++) {
    guint8 *row = gray->pixels + (gsize) y * (gsize) gray->width;
    if (bytes)
      memcpy (row, luma->plane[0] + (part->y + y) * luma->stride[0] + part->x, (gsize) gray->width);
    else
      for (gint x = 0; x < gray->width; x++)
        row[x] = mean (luma, part->x + x * reduce, part->y + y * reduce, reduce);
  }
}

/* Positions in 1/256 of a pixel, from the middle of the first. */
static guint8
mix (const SlGray *from, gint64 x, gint64 y)
{
  x = CLAMP (x, 0, (gint64) (from->width - 1) * 256);
  y = CLAMP (y, 0, (gint64) (from->height - 1) * 256);
  const guint fx = x & 255, fy = y & 255;
  const gsize right = x >> 8 < from->width - 1,
              below = y >> 8 < from->height - 1 ? (gsize) from->width : 0;
  const guint8 *at = from->pixels + (gsize) (y >> 8) * (gsize) from->width + (gsize) (x >> 8);
  const guint upper = at[0] * (256 - fx) + at[right] * fx,
              lower = at[below] * (256 - fx) + at[below + right] * fx;
  return (guint8) ((upper * (256 - fy) + lower * fy + 32768) >> 16);
}

void
sl_gray_warp (SlGray *gray, const SlGray *from, const SlAffine *map)
{
  const gint64 step_x = llrint (map->xx * 256), step_y = llrint (map->yx * 256);
  for (gint y = 0; y < gray->height; y++) {
    guint8 *row = gray->pixels + (gsize) y * (gsize) gray->width;
    double left, top;
    sl_affine_apply (map, 0.5, y + 0.5, &left, &top);
    gint64 at_x = llrint ((left - 0.5) * 256), at_y = llrint ((top - 0.5) * 256);
    for (gint x = 0; x < gray->width; x++, at_x += step_x, at_y += step_y)
      row[x] = mix (from, at_x, at_y);
  }
}

/* Angles are multiplied, so that directions that are one do not cancel each other. */
double
sl_gray_direction (const SlGray *gray, gint ways, double *sure)
{
  double along = 0, across = 0, all = 0;
  for (gint y = 1; y < gray->height - 1; y++) {
    const guint8 *row = gray->pixels + (gsize) y * (gsize) gray->width;
    for (gint x = 1; x < gray->width - 1; x++) {
      const gint right = row[x + 1] - row[x - 1],
                 down = row[x + gray->width] - row[x - gray->width];
      const gint a = right * right - down * down, b = 2 * right * down,
                 change = right * right + down * down;
      if (ways == 2) {
        along += a;
        across += b;
      } else if (change > 0) {
        along += ((double) a * a - (double) b * b) / change;
        across += 2.0 * a * b / change;
      }
      all += change;
    }
  }
  *sure = all > 0 ? hypot (along, across) / all : 0;
  return atan2 (across, along) / ways;
}

/* Rows that are compared, and how alike they are, where bars go on. */
#define NEAR 3
#define ALIKE 0.7

/* The correlation of two rows, 0 where one has little change of the other's. */
static double
alike (const SlGray *gray, gint from, gint to, gint one, gint other)
{
  const guint8 *a = gray->pixels + (gsize) one * (gsize) gray->width,
               *b = gray->pixels + (gsize) other * (gsize) gray->width;
  const double n = to - from;
  double sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
  for (gint x = from; x < to; x++) {
    sa += a[x];
    sb += b[x];
    aa += (double) a[x] * a[x];
    bb += (double) b[x] * b[x];
    ab += (double) a[x] * b[x];
  }
  const double va = n * aa - sa * sa, vb = n * bb - sb * sb;
  return va > 0 && vb > va / 8 ? (n * ab - sa * sb) / sqrt (va * vb) : 0;
}

void
sl_gray_bars (const SlGray *gray, gint from, gint to, gint row, gint *first, gint *last)
{
  from = CLAMP (from, 0, gray->width - 1);
  to = CLAMP (to, from + 1, gray->width);
  *first = *last = row = CLAMP (row, 0, gray->height - 1);
  for (gint y = row; y >= 0 && *first - y <= NEAR; y--)
    if (alike (gray, from, to, *first, y) >= ALIKE)
      *first = y;
  for (gint y = row; y < gray->height && y - *last <= NEAR; y++)
    if (alike (gray, from, to, *last, y) >= ALIKE)
      *last = y;
}
