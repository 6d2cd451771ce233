/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turning and fitting a frame into a tensor, and the algebra of the affine map between them. The
 * normaliser samples with the exact scale computed here and the decoders map boxes with its affine
 * map, so the two can never disagree.
 */
#include "core/base/affine.h"

#include <math.h>

/* A share becomes a quotient of this: 32768 pixels are exact within a thirtieth of one. */
#define SHARE_PARTS 1000000

static double
ratio_value (SlRatio ratio)
{
  return (double) ratio.num / (double) ratio.den;
}

/* Where the tensor's origin falls so that the two centres coincide. */
static double
axis_origin (SlRatio scale, int frame, int tensor)
{
  return (double) (frame * scale.den - tensor * scale.num) / (double) (2 * scale.den);
}

void
sl_affine_identity (SlAffine *affine)
{
  *affine = (SlAffine){ .xx = 1.0, .yy = 1.0 };
}

void
sl_affine_scale (SlFit fit, int frame_w, int frame_h, int tensor_w, int tensor_h, SlRatio *x,
                 SlRatio *y)
{
  const SlRatio horizontal = { frame_w, tensor_w };
  const SlRatio vertical = { frame_h, tensor_h };
  *x = horizontal;
  *y = vertical;
  if (fit == SL_FIT_STRETCH)
    return;
  /* One scale for both axes: letterbox shows everything (the larger one), crop fills everything
   * (the smaller one). */
  bool wide = horizontal.num * vertical.den >= vertical.num * horizontal.den;
  if (wide == (fit == SL_FIT_LETTERBOX))
    *y = horizontal;
  else
    *x = vertical;
}

void
sl_affine_fit (SlAffine *affine, SlFit fit, int frame_w, int frame_h, int tensor_w, int tensor_h)
{
  SlRatio x, y;
  sl_affine_scale (fit, frame_w, frame_h, tensor_w, tensor_h, &x, &y);
  *affine = (SlAffine){
    .xx = ratio_value (x),
    .x0 = axis_origin (x, frame_w, tensor_w),
    .yy = ratio_value (y),
    .y0 = axis_origin (y, frame_h, tensor_h),
  };
}

SlRatio
sl_affine_share (SlRatio scale, double share)
{
  return share == 0 || share == 1
           ? scale
           : (SlRatio){ scale.num * llround (share * SHARE_PARTS), scale.den * SHARE_PARTS };
}

void
sl_affine_zoom (SlAffine *affine, double share, int tensor_w, int tensor_h)
{
  const double part = ratio_value (sl_affine_share ((SlRatio){ 1, 1 }, share));
  double x, y;
  sl_affine_apply (affine, tensor_w / 2.0, tensor_h / 2.0, &x, &y);
  affine->xx *= part;
  affine->xy *= part;
  affine->yx *= part;
  affine->yy *= part;
  affine->x0 = x - affine->xx * tensor_w / 2 - affine->xy * tensor_h / 2;
  affine->y0 = y - affine->yx * tensor_w / 2 - affine->yy * tensor_h / 2;
}

SlTurn
sl_affine_turn (SlOrientation orientation)
{
  static const SlTurn turns[] = {
    [SL_ORIENTATION_IDENTITY] = { false, false, false },
    [SL_ORIENTATION_90R] = { false, true, true },
    [SL_ORIENTATION_180] = { true, true, false },
    [SL_ORIENTATION_90L] = { true, false, true },
    [SL_ORIENTATION_HORIZ] = { true, false, false },
    [SL_ORIENTATION_VERT] = { false, true, false },
    [SL_ORIENTATION_UL_LR] = { false, false, true },
    [SL_ORIENTATION_UR_LL] = { true, true, true },
  };
  return turns[orientation];
}

void
sl_affine_view (SlAffine *affine, SlFit fit, SlOrientation orientation, const SlRect *part,
                int tensor_w, int tensor_h)
{
  const SlTurn turn = sl_affine_turn (orientation);
  const int width = turn.transpose ? tensor_h : tensor_w;
  const int height = turn.transpose ? tensor_w : tensor_h;
  SlAffine fitted;
  sl_affine_fit (&fitted, fit, part->width, part->height, width, height);
  const double x0 = part->x + (turn.flip_x ? fitted.x0 + fitted.xx * width : fitted.x0);
  const double y0 = part->y + (turn.flip_y ? fitted.y0 + fitted.yy * height : fitted.y0);
  const double xx = turn.flip_x ? -fitted.xx : fitted.xx;
  const double yy = turn.flip_y ? -fitted.yy : fitted.yy;
  if (turn.transpose)
    *affine = (SlAffine){ .xy = xx, .x0 = x0, .yx = yy, .y0 = y0 };
  else
    *affine = (SlAffine){ .xx = xx, .x0 = x0, .yy = yy, .y0 = y0 };
}

void
sl_affine_turned (SlAffine *affine, const SlTurnedRect *part, int tensor_w, int tensor_h)
{
  const double across = part->width / tensor_w, down = part->height / tensor_h,
               c = cos (part->angle), s = sin (part->angle);
  *affine = (SlAffine){ .xx = c * across, .xy = -s * down, .yx = s * across, .yy = c * down };
  affine->x0 = part->x - affine->xx * tensor_w / 2 - affine->xy * tensor_h / 2;
  affine->y0 = part->y - affine->yx * tensor_w / 2 - affine->yy * tensor_h / 2;
}

void
sl_affine_apply (const SlAffine *affine, double x, double y, double *frame_x, double *frame_y)
{
  *frame_x = affine->xx * x + affine->xy * y + affine->x0;
  *frame_y = affine->yx * x + affine->yy * y + affine->y0;
}

bool
sl_affine_invert (const SlAffine *affine, SlAffine *inverse)
{
  const SlAffine m = *affine;
  double determinant = m.xx * m.yy - m.xy * m.yx;
  if (!isfinite (determinant) || !isfinite (1.0 / determinant))
    return false;
  *inverse = (SlAffine){
    .xx = m.yy / determinant,
    .xy = -m.xy / determinant,
    .x0 = (m.xy * m.y0 - m.yy * m.x0) / determinant,
    .yx = -m.yx / determinant,
    .yy = m.xx / determinant,
    .y0 = (m.yx * m.x0 - m.xx * m.y0) / determinant,
  };
  return true;
}

void
sl_affine_box (const SlAffine *affine, const double in[4], double out[4])
{
  double box[4] = { INFINITY, INFINITY, -INFINITY, -INFINITY };
  for (int corner = 0; corner < 4; corner++) {
    double x, y;
    sl_affine_apply (affine, in[corner & 1 ? 2 : 0], in[corner & 2 ? 3 : 1], &x, &y);
    box[0] = fmin (box[0], x);
    box[1] = fmin (box[1], y);
    box[2] = fmax (box[2], x);
    box[3] = fmax (box[3], y);
  }
  for (int i = 0; i < 4; i++)
    out[i] = box[i];
}
