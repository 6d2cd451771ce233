/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keypoints of an object as a structure on its region of interest, with the fields that DL
 * Streamer's elements give theirs:
 *
 *   keypoints, format="keypoints", precision=10 (float32), dims=<K,2>, data_buffer=(variant of
 * bytes: K pairs x, y in 0..1
 *   of the region), confidence=<K floats>, point_names=<K strings>, point_connections=<names, two
 * for each bone>
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/prediction.h"

/** A skeleton read from metas; strings are interned. */
typedef struct
{
  SlSkeleton skeleton;
  const char *names[SL_MAX_KEYPOINTS];
  guint8 bones[4 * SL_MAX_KEYPOINTS][2];
} SlReadSkeleton;

/** sl_region_add_points: attaches the points of @object, when it has some. @skeleton: (nullable) */
void sl_region_add_points (GstVideoRegionOfInterestMeta *region, const SlObjectView *object,
                           const SlSkeleton *skeleton);
/** sl_region_read_points: appends the points of @region to @points (of SlPoint), mapped by the box
 * of @object. Returns the number of points appended; 0 without points or with invalid ones.
 * @skeleton is set from the names in @region; it has 0 points where there are no names. */
guint sl_region_read_points (GstVideoRegionOfInterestMeta *region, const SlObjectView *object,
                             GArray *points, SlReadSkeleton *skeleton);
