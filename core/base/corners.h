/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The four corners of something flat that a camera sees at an angle, such as a number plate, and
 * the perspective map from an upright picture of it to the frame. libc only.
 */
#pragma once

#include <stdbool.h>

/** Upper limit of coordinates and sizes in pixels. Points of a model or of another element may be
 * any numbers. */
#define SL_CORNERS_MOST_PIXELS 1e7

/** Corners in pixels of the frame, clockwise as the frame is seen: upper left, upper right, lower
 * right, lower left. */
typedef struct
{
  double at[4][2];
} SlCorners;

/** A perspective map: with w = m[6] x + m[7] y + m[8], frame_x = (m[0] x + m[1] y + m[2]) / w and
 * frame_y = (m[3] x + m[4] y + m[5]) / w. */
typedef struct
{
  double m[9];
} SlHomography;

/** sl_corners_order: sets @corners to @points, which may begin at any corner, turn either way or
 * cross. The first corner is the one from which the upper edge points most to the right. If the
 * part is more than 1.5 times as high as wide, its long sides are the upper and the lower edge
 * instead: of a line that runs to the right, or downwards if it is nearly upright. false when
 * @points are not the corners of a convex part of at least one square pixel, or are far away or not
 * finite. */
bool sl_corners_order (const double points[4][2], SlCorners *corners);
/** sl_corners_grow: moves the corners away from their centre by @scale, above 0. */
void sl_corners_grow (SlCorners *corners, double scale);
/** sl_corners_size: the means of opposite edges: @width of the upper and lower one, @height of the
 * others. */
void sl_corners_size (const SlCorners *corners, double *width, double *height);
/** sl_homography_set: maps the rectangle @x, @y, @width, @height to @corners, which
 * sl_corners_order() made. */
void sl_homography_set (SlHomography *map, const SlCorners *corners, double x, double y,
                        double width, double height);
/** sl_homography_apply: false where the point has no place in the frame: it is at the horizon or
 * beyond. */
bool sl_homography_apply (const SlHomography *map, double x, double y, double *frame_x,
                          double *frame_y);
