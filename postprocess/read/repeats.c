/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a picture looks like itself moved aside, as chessboards, grids of circles, tiles and
 * fabrics do, and codes do not. */
#include "postprocess/read/repeats.h"

#include <math.h>

/* The part is reduced to so many pixels a side, and moved by half of that at most; what is moved by
 * less looks alike for being smooth. */
#define SIDE 48
#define MIN_SHIFT 4
/* Where the middle repeats so much less than all does, it counts instead. */
#define MUCH_LESS 0.8

typedef guint8 Tile[SIDE][SIDE];

static void
reduce (const SlGray *gray, const SlRect *part, Tile tile)
{
  for (gint y = 0; y < SIDE; y++)
    for (gint x = 0; x < SIDE; x++) {
      const gint left = part->x + part->width * x / SIDE, top = part->y + part->height * y / SIDE;
      const gint right = MAX (part->x + part->width * (x + 1) / SIDE, left + 1);
      const gint bottom = MAX (part->y + part->height * (y + 1) / SIDE, top + 1);
      guint sum = 0;
      for (gint row = top; row < bottom; row++)
        for (gint column = left; column < right; column++)
          sum += gray->pixels[(gsize) row * (gsize) gray->width + (gsize) column];
      tile[y][x] = (guint8) (sum / (guint) ((right - left) * (bottom - top)));
    }
}

/* The correlation of a tile with itself, moved by @dx and @dy >= 0; 0 where nothing changes. */
static double
correlation (Tile tile, gint dx, gint dy)
{
  const gint columns = SIDE - ABS (dx), from = MAX (dx, 0), to = MAX (-dx, 0);
  gint32 a = 0, b = 0, aa = 0, bb = 0, ab = 0;
  for (gint y = dy; y < SIDE; y++) {
    const guint8 *first = tile[y] + from, *second = tile[y - dy] + to;
    for (gint x = 0; x < columns; x++) {
      a += first[x];
      b += second[x];
      aa += first[x] * first[x];
      bb += second[x] * second[x];
      ab += first[x] * second[x];
    }
  }
  const double n = (double) columns * (SIDE - dy), va = n * aa - (double) a * a,
               vb = n * bb - (double) b * b;
  return va > 0 && vb > 0 ? (n * ab - (double) a * b) / sqrt (va * vb) : 0;
}

static double
part_repeats (const SlGray *gray, const SlRect *part)
{
  Tile tile;
  double best = 0;
  reduce (gray, part, tile);
  for (gint dy = 0; dy <= SIDE / 2; dy++)
    for (gint dx = dy > 0 ? -SIDE / 2 : 0; dx <= SIDE / 2; dx++)
      if (dx * dx + dy * dy >= MIN_SHIFT * MIN_SHIFT)
        best = MAX (best, correlation (tile, dx, dy));
  return best;
}

double
sl_gray_repeats (const SlGray *gray, const SlRect *part)
{
  if (part->x < 0 || part->y < 0 || part->width < SIDE || part->height < SIDE
      || part->width > gray->width - part->x || part->height > gray->height - part->y)
    return 0;
  const double all = part_repeats (gray, part);
  const SlRect middle = { part->x + part->width / 5, part->y + part->height / 5,
                          part->width * 3 / 5, part->height * 3 / 5 };
  const double inside =
    middle.width < SIDE || middle.height < SIDE ? all : part_repeats (gray, &middle);
  return inside < MUCH_LESS * all ? inside : all;
}
