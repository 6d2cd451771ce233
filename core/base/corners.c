/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Corners put in order, and the map that they give. The map of a square to four points is closed
 * (P. Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989, section 2.2.2).
 */
#include "core/base/corners.h"

#include <math.h>

#define N 4
/* Parts with less area are no picture. */
#define LEAST_AREA 1.0
/* A part is a line from top to bottom if it is so many times as high as wide. */
#define UPRIGHT_LINE 1.5
/* A share of the greatest depth below which points are taken for the horizon. */
#define HORIZON 1e-6
/* Lines this close to upright are read downwards, as a share of their length to the right. */
#define DOWNWARDS 0.2

static void
swap (double a[2], double b[2])
{
  for (int k = 0; k < 2; k++) {
    const double kept = a[k];
    a[k] = b[k];
    b[k] = kept;
  }
}

/* By their angle around the centre, which is clockwise where y grows downwards. */
static void
sort_around (double points[N][2])
{
  double x = 0, y = 0;
  for (int i = 0; i < N; i++) {
    x += points[i][0] / N;
    y += points[i][1] / N;
  }
  for (int i = 1; i < N; i++)
    for (int k = i; k > 0
                    && atan2 (points[k][1] - y, points[k][0] - x)
                         < atan2 (points[k - 1][1] - y, points[k - 1][0] - x);
         k--)
      swap (points[k], points[k - 1]);
}

/* The corner at @i turns right. Twice the area of its triangle. */
static double
turn_at (const double points[N][2], int i)
{
  const double *a = points[(i + N - 1) % N], *b = points[i], *c = points[(i + 1) % N];
  return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
}

static bool
is_convex (const double points[N][2])
{
  double area = 0;
  for (int i = 0; i < N; i++) {
    if (!(turn_at (points, i) > 0))
      return false;
    area += turn_at (points, i) / N;
  }
  return area >= LEAST_AREA;
}

static void
begin_at (const double points[N][2], int first, SlCorners *corners)
{
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 2; k++)
      corners->at[i][k] = points[(first + i) % N][k];
}

/* How far to the right the upper and the lower edge point that begin at @first, by their length;
 * and a little of how far down, so that an upright line is read downwards. */
static double
rightness (const double points[N][2], int first, double down)
{
  const double *a = points[first % N], *b = points[(first + 1) % N], *c = points[(first + 2) % N],
               *d = points[(first + 3) % N];
  const double x = b[0] - a[0] + c[0] - d[0], y = b[1] - a[1] + c[1] - d[1];
  return (x + down * y) / fmax (hypot (x, y), 1e-9);
}

bool
sl_corners_order (const double points[N][2], SlCorners *corners)
{
  double sorted[N][2], width, height;
  int first = 0;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 2; k++) {
      if (!(fabs (points[i][k]) <= SL_CORNERS_MOST_PIXELS))
        return false;
      sorted[i][k] = points[i][k];
    }
  sort_around (sorted);
  if (!is_convex ((const double (*)[2]) sorted))
    return false;
  for (int i = 1; i < N; i++)
    if (rightness ((const double (*)[2]) sorted, i, 0)
        > rightness ((const double (*)[2]) sorted, first, 0) + 1e-9)
      first = i;
  begin_at ((const double (*)[2]) sorted, first, corners);
  sl_corners_size (corners, &width, &height);
  if (height <= UPRIGHT_LINE * width)
    return true;
  const bool down = rightness ((const double (*)[2]) sorted, first + 1, DOWNWARDS)
                    >= rightness ((const double (*)[2]) sorted, first + 3, DOWNWARDS);
  begin_at ((const double (*)[2]) sorted, first + (down ? 1 : 3), corners);
  return true;
}

void
sl_corners_grow (SlCorners *corners, double scale)
{
  for (int k = 0; k < 2; k++) {
    double centre = 0;
    for (int i = 0; i < N; i++)
      centre += corners->at[i][k] / N;
    for (int i = 0; i < N; i++)
      corners->at[i][k] = centre + (corners->at[i][k] - centre) * scale;
  }
}

static double
edge (const SlCorners *corners, int from, int to)
{
  return hypot (corners->at[to][0] - corners->at[from][0],
                corners->at[to][1] - corners->at[from][1]);
}

void
sl_corners_size (const SlCorners *corners, double *width, double *height)
{
  *width = (edge (corners, 0, 1) + edge (corners, 3, 2)) / 2;
  *height = (edge (corners, 0, 3) + edge (corners, 1, 2)) / 2;
}

/* The map of the square from (0, 0) to (1, 1). */
static void
map_square (const SlCorners *corners, double m[9])
{
  const double (*p)[2] = corners->at;
  const double sx = p[0][0] - p[1][0] + p[2][0] - p[3][0],
               sy = p[0][1] - p[1][1] + p[2][1] - p[3][1];
  const double ax = p[1][0] - p[2][0], ay = p[1][1] - p[2][1], bx = p[3][0] - p[2][0],
               by = p[3][1] - p[2][1], area = ax * by - bx * ay;
  const double g = (sx * by - bx * sy) / area, h = (ax * sy - sx * ay) / area;
  m[0] = p[1][0] - p[0][0] + g * p[1][0];
  m[1] = p[3][0] - p[0][0] + h * p[3][0];
  m[2] = p[0][0];
  m[3] = p[1][1] - p[0][1] + g * p[1][1];
  m[4] = p[3][1] - p[0][1] + h * p[3][1];
  m[5] = p[0][1];
  m[6] = g;
  m[7] = h;
  m[8] = 1;
}

void
sl_homography_set (SlHomography *map, const SlCorners *corners, double x, double y, double width,
                   double height)
{
  double square[9];
  map_square (corners, square);
  for (int row = 0; row < 3; row++) {
    const double *from = square + 3 * row;
    double *to = map->m + 3 * row;
    to[0] = from[0] / width;
    to[1] = from[1] / height;
    to[2] = from[2] - to[0] * x - to[1] * y;
  }
}

bool
sl_homography_apply (const SlHomography *map, double x, double y, double *frame_x, double *frame_y)
{
  const double *m = map->m, depth = m[6] * x + m[7] * y + m[8];
  if (!(depth > HORIZON))
    return false;
  *frame_x = (m[0] * x + m[1] * y + m[2]) / depth;
  *frame_y = (m[3] * x + m[4] * y + m[5]) / depth;
  return true;
}
