/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame of GStreamer as a numbered picture. */
#ifndef SL_TESTS_SUPPORT_NUMBERED_FRAME_H
#define SL_TESTS_SUPPORT_NUMBERED_FRAME_H

#include <gst/video/video.h>

#include "tests/support/numbered.h"

/** numbered_of_frame: @frame, in I420, as @picture. */
static inline void
numbered_of_frame (NumberedPicture *picture, GstVideoFrame *frame)
{
  picture->width = GST_VIDEO_FRAME_WIDTH (frame);
  picture->height = GST_VIDEO_FRAME_HEIGHT (frame);
  for (guint p = 0; p < 3; p++) {
    picture->plane[p] = GST_VIDEO_FRAME_PLANE_DATA (frame, p);
    picture->stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
  }
}

#endif
