/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Finds the part of a frame that shows an object upright: a square somewhat larger than its box,
 * turned so that two of its keypoints lie on a line of a known direction. Models of single faces,
 * hands and bodies take such a part as input.
 */
#pragma once

#include "core/base/affine.h"
#include "core/base/corners.h"
#include "postprocess/predictions/prediction.h"

#define SL_ALIGNMENT_NAME 32

/**
 * SlAlignment:
 * @from, @to: names of two keypoints, or their numbers counted from 0; "" = the object is not
 * turned
 * @angle: direction from @from to @to in the upright object, in degrees: 0 to the right, 90 up
 * @scale: side of the square, divided by the longer side of the object's box
 * @shift_x, @shift_y: shift of the square along its own axes, as a share of the box's width and
 * height
 * @circle: instead of the object's box, use the square around a circle. Its centre is @from, and
 * @to lies on it
 * @corners: instead, use the part between the object's four keypoints, grown by @scale
 */
typedef struct
{
  char from[SL_ALIGNMENT_NAME], to[SL_ALIGNMENT_NAME];
  double angle, scale, shift_x, shift_y;
  gboolean circle, corners;
} SlAlignment;

/** sl_alignment_parse: reads @text: face, hand, person, box or corners, parameters, or one of these
 * words and then parameters. Parameters are such as
 * from=right_eye,to=left_eye,angle=0,scale=1.5,shift-x=0,shift-y=0,circle=no. */
gboolean sl_alignment_parse (const char *text, SlAlignment *alignment, GError **error);
/** sl_alignment_place: sets @part to the part of a frame of @width x @height that shows @object.
 * @skeleton: (nullable): of the object's points;
 *  @aspect: width by height of the tensor, and so of the part. An object without the two points is
 * not turned. FALSE when the object has no size. */
gboolean sl_alignment_place (const SlAlignment *alignment, const SlObjectView *object,
                             const SlSkeleton *skeleton, gint width, gint height, double aspect,
                             SlTurnedRect *part);
/** sl_alignment_find_corners: sets @corners to those of @object in a frame of @width x @height: its
 * four keypoints, or those of its box if it has others or sl_corners_order() refuses them. FALSE
 * when the object has no size. */
gboolean sl_alignment_find_corners (const SlAlignment *alignment, const SlObjectView *object,
                                    gint width, gint height, SlCorners *corners);
/** sl_alignment_place_face: sets @part to the square in which the eyes, nose and mouth of the face
 * @object lie where models that recognise faces expect them. FALSE for an object without points of
 * both eyes. */
gboolean sl_alignment_place_face (const SlObjectView *object, const SlSkeleton *skeleton,
                                  gint width, gint height, double aspect, SlTurnedRect *part);

/** sl_alignment_follow: sets @part, as sl_alignment_place() does, to the part that shows the object
 * of @landmarks in the next frame. For MediaPipe's landmark models, which are recognised by their
 * number of points: 468 or 478 of a face, 21 of a hand, 39 of a body. FALSE for any other object.
 */
gboolean sl_alignment_follow (const SlObjectView *landmarks, gint width, gint height, double aspect,
                              SlTurnedRect *part);
