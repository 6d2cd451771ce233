/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlMotionMeta: where something moves on a video frame, as slmotion found it. All coordinates are
 * in 0..1 of the frame, so the frame may be converted or scaled.
 */
#pragma once

#include <gst/gst.h>

/** Most regions of a frame. */
#define SL_MOTION_MOST 32

typedef struct
{
  gfloat x_min, y_min, x_max, y_max;
} SlMotionBox;

/** @n = 0: nothing moves. @boxes: larger ones first */
typedef struct
{
  GstMeta meta;
  guint n;
  SlMotionBox boxes[SL_MOTION_MOST];
} SlMotionMeta;

GType sl_motion_meta_api_get_type (void);
const GstMetaInfo *sl_motion_meta_get_info (void);
/** sl_buffer_set_motion: puts @n regions on writable @buffer, in place of those that are there. */
void sl_buffer_set_motion (GstBuffer *buffer, const SlMotionBox *boxes, guint n);
/** sl_buffer_get_motion: (transfer none) (nullable): as long as it is on @buffer; NULL: no slmotion
 * has seen the frame */
const SlMotionMeta *sl_buffer_get_motion (GstBuffer *buffer);
