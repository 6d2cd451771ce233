/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Pictures of people, cut out of frames: how good one is, and the JPEG of it. Known people cost no
 * memory: it is there from the start. One thread at a time.
 */
#pragma once

#include <glib.h>

#include "postprocess/predictions/prediction.h"
#include "preprocess/image.h"

/** Longest side of a picture. */
#define SL_PORTRAIT_LEAST 32
#define SL_PORTRAIT_MOST 1024

typedef struct _SlPortrait SlPortrait;

/**
 * SlPortraitSubject:
 * @object: a box of the frame
 * @points, @skeleton: (nullable): points of the object, and their names
 * @covered: 0..1: how much of the box others cover
 */
typedef struct
{
  const SlObjectView *object;
  const SlPoint *points;
  const SlSkeleton *skeleton;
  gdouble covered;
} SlPortraitSubject;

/** sl_portrait_new: of frames of @image; the longer side of a picture has at most @side pixels.
 * NULL with @error set. */
SlPortrait *sl_portrait_new (const SlImageInfo *image, guint side, GError **error);
/** sl_portrait_free: NULL is legal. */
void sl_portrait_free (SlPortrait *portrait);
/**
 * sl_portrait_score: looks at @subject in @image. How good the picture is: the product of
 * - size: the square root of the picture's pixels by those of a full square of the longest side
 * - sharpness: the mean difference of a pixel from the mean of its four neighbours, s / (s + 4)
 * - frontal: 1 where the nose is in the middle of the eyes, less by how far it is off in distances
 *   of the eyes, at least 0.1; 1 where there are no such points
 * - whole: 0.5 where the box touches an edge of the frame; and the part that nobody covers
 * 0 = there is none.
 */
gdouble sl_portrait_score (SlPortrait *portrait, const SlImage *image,
                           const SlPortraitSubject *subject);
/** sl_portrait_encode: (transfer full) (nullable): JPEG of what was scored last; NULL: it does not
 * fit. */
GBytes *sl_portrait_encode (SlPortrait *portrait);
