/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which part of a frame shows an object upright: turned so that two of its keypoints lie on a line of a known direction, a square somewhat
 * larger than its box. What models of single faces, hands and bodies are given.
 */
#ifndef SL_PREDICTIONS_ALIGNMENT_H
#define SL_PREDICTIONS_ALIGNMENT_H

#include "core/base/affine.h"
#include "postprocess/predictions/prediction.h"

G_BEGIN_DECLS

#define SL_ALIGNMENT_NAME 32

/**
 * SlAlignment:
 * @from, @to: names of two keypoints, or their numbers counted from 0; "" = the object is not turned
 * @angle: degrees: the direction from @from to @to once the object is upright: 0 to the right, 90 up
 * @scale: side of the square by the longer side of the object's box
 * @shift_x, @shift_y: by which the square moves along its own axes, of the box's width and height
 * @circle: the box is the square around the circle around @from that @to is on, and not the object's
 */
typedef struct
{
  char from[SL_ALIGNMENT_NAME], to[SL_ALIGNMENT_NAME];
  double angle, scale, shift_x, shift_y;
  gboolean circle;
} SlAlignment;

/** sl_alignment_parse: reads @text: face, hand, person or box, and after it or alone parameters such as from=right_eye,to=left_eye,angle=0,scale=1.5,
 *  shift-x=0,shift-y=0,circle=no. */
gboolean sl_alignment_parse (const char *text, SlAlignment *alignment, GError **error);
/** sl_alignment_place: the part of a frame of @width x @height that shows @object, whose points are those of @skeleton (nullable), in
 *  the proportions of a tensor of @aspect (width by height). An object without the two points is not turned. FALSE when the object has no
 *  size. */
gboolean sl_alignment_place (const SlAlignment *alignment, const SlObjectView *object, const SlSkeleton *skeleton, gint width, gint height,
                             double aspect, SlTurnedRect *part);

/** sl_alignment_follow: the part that shows in the next frame what the points of @landmarks are of, as sl_alignment_place() has it: of MediaPipe's
 *  landmark models, known by how many points they give (468 or 478 of a face, 21 of a hand, 39 of a body). FALSE for any other object. */
gboolean sl_alignment_follow (const SlObjectView *landmarks, gint width, gint height, double aspect, SlTurnedRect *part);

G_END_DECLS

#endif
