/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The affine map between a tensor and the frame it was made from: which part of the frame, turned
 * which way, fitted how.
 *
 * Coordinates are continuous: pixel (i, j) covers [i, i+1) x [j, j+1) and has its centre at (i+0.5,
 * j+0.5), so a box from (0, 0) to (width, height) is the whole picture, on both sides. libc only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/base/picture.h"

/** frame_x = xx * x + xy * y + x0; frame_y = yx * x + yy * y + y0 for a point (x, y) of the tensor,
 * in pixels. */
typedef struct
{
  double xx, xy, x0;
  double yx, yy, y0;
} SlAffine;

/** How the frame is turned before it is fitted; names and numbers are those of
 * GstVideoOrientationMethod. */
typedef enum
{
  SL_ORIENTATION_IDENTITY,
  SL_ORIENTATION_90R, /* clockwise */
  SL_ORIENTATION_180,
  SL_ORIENTATION_90L,
  SL_ORIENTATION_HORIZ, /* left and right swapped */
  SL_ORIENTATION_VERT,  /* top and bottom swapped */
  SL_ORIENTATION_UL_LR, /* mirrored across the diagonal from upper left to lower right */
  SL_ORIENTATION_UR_LL  /* mirrored across the other diagonal */
} SlOrientation;

/** An orientation as steps: columns of the frame reversed, rows reversed, then rows and columns
 * exchanged. */
typedef struct
{
  bool flip_x, flip_y, transpose;
} SlTurn;

/** A part of a frame in whole pixels; all zero stands for the whole frame. */
typedef struct
{
  int x, y, width, height;
} SlRect;

/** A part of a frame that may be turned by any angle and may reach beyond the frame: its centre and
 * sizes in pixels, and the @angle in radians from the frame's x axis to its own, clockwise as the
 * frame is seen. */
typedef struct
{
  double x, y, width, height, angle;
} SlTurnedRect;

/** An exact quotient; @den >= 1. */
typedef struct
{
  int64_t num, den;
} SlRatio;

/** sl_affine_identity: maps every point to itself. */
void sl_affine_identity (SlAffine *affine);
/** sl_affine_scale: frame pixels per tensor pixel along each axis, exactly; arguments as for
 * sl_affine_fit(). The centre of the tensor always maps to the centre of the frame. */
void sl_affine_scale (SlFit fit, int frame_w, int frame_h, int tensor_w, int tensor_h, SlRatio *x,
                      SlRatio *y);
/** sl_affine_fit: tensor -> frame for a @tensor_w x @tensor_h tensor of a @frame_w x @frame_h frame
 * (all >= 1). Letterbox borders lie outside the frame's rectangle. */
void sl_affine_fit (SlAffine *affine, SlFit fit, int frame_w, int frame_h, int tensor_w,
                    int tensor_h);
/** sl_affine_share: the scale of a tensor that the central @share of the picture fills: 0 < @share
 * <= 1; 0 stands for 1. */
SlRatio sl_affine_share (SlRatio scale, double share);
/** sl_affine_zoom: the same of the whole map of a @tensor_w x @tensor_h tensor; the centre stays
 * where it is. */
void sl_affine_zoom (SlAffine *affine, double share, int tensor_w, int tensor_h);
/** sl_affine_turn: the steps of an orientation; @orientation must be a value of its enum. */
SlTurn sl_affine_turn (SlOrientation orientation);
/** sl_affine_view: tensor -> frame when @part of the frame (sizes >= 1) is turned and then fitted
 * into the tensor. */
void sl_affine_view (SlAffine *affine, SlFit fit, SlOrientation orientation, const SlRect *part,
                     int tensor_w, int tensor_h);
/** sl_affine_turned: tensor -> frame when @part is stretched over the tensor. */
void sl_affine_turned (SlAffine *affine, const SlTurnedRect *part, int tensor_w, int tensor_h);
/** sl_affine_apply: maps a point of the tensor to the frame. */
void sl_affine_apply (const SlAffine *affine, double x, double y, double *frame_x, double *frame_y);
/** sl_affine_invert: false when @affine is singular; @inverse may be @affine. */
bool sl_affine_invert (const SlAffine *affine, SlAffine *inverse);
/** sl_affine_box: the frame's axis-aligned box around a tensor's box; in and out as x0, y0, x1, y1.
 */
void sl_affine_box (const SlAffine *affine, const double in[4], double out[4]);
