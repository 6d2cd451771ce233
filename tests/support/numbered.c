/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pattern is smooth, so that encoders keep it well, and moves fast, so that two pictures near
 * each other are unlike. */
#include "tests/support/numbered.h"

#include <math.h>

#define COLUMNS 8
#define ROWS 2
#define DARK 50
#define LIGHT 200

static guint8
wave (double phase, double size)
{
  return (guint8) (128.5 + size * sin (phase));
}

static guint8
value_at (const NumberedPicture *picture, gint plane, gint x, gint y, guint number)
{
  if (plane > 0)
    return wave (x / 9.0 + plane + number * 0.9, 40);
  const gint row = y * ROWS * 2 / picture->height, column = x * COLUMNS / picture->width;
  if (row < ROWS)
    return (number >> (row * COLUMNS + column) & 1) != 0 ? LIGHT : DARK;
  return wave (x / 7.0 + y / 11.0 + number * 1.1, 70);
}

static gint
side (gint luma, gint plane)
{
  return plane > 0 ? luma / 2 : luma;
}

void
numbered_paint (const NumberedPicture *picture, guint number)
{
  for (gint p = 0; p < 3; p++)
    for (gint y = 0; y < side (picture->height, p); y++)
      for (gint x = 0; x < side (picture->width, p); x++)
        picture->plane[p][y * picture->stride[p] + x] = value_at (picture, p, x, y, number);
}

guint
numbered_read (const NumberedPicture *picture)
{
  guint number = 0;
  for (gint bit = 0; bit < ROWS * COLUMNS; bit++) {
    const gint x = (2 * (bit % COLUMNS) + 1) * picture->width / (2 * COLUMNS);
    const gint y = (2 * (bit / COLUMNS) + 1) * picture->height / (4 * ROWS);
    number |= (guint) (picture->plane[0][y * picture->stride[0] + x] > (DARK + LIGHT) / 2) << bit;
  }
  return number;
}

double
numbered_psnr (const NumberedPicture *picture, guint number)
{
  double sum = 0;
  gint64 n = 0;
  for (gint p = 0; p < 3; p++)
    for (gint y = 0; y < side (picture->height, p); y++)
      for (gint x = 0; x < side (picture->width, p); x++, n++) {
        const double d = (double) picture->plane[p][y * picture->stride[p] + x]
                         - value_at (picture, p, x, y, number);
        sum += d * d;
      }
  return sum > 0 ? 10 * log10 (255.0 * 255.0 * (double) n / sum) : 100;
}
