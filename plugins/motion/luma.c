/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads no pixel: only says where they are. */
#include "plugins/motion/luma.h"

SlLuma
sl_frame_luma (GstVideoFrame *frame)
{
  const guint c = GST_VIDEO_FORMAT_INFO_IS_RGB (frame->info.finfo) ? 1 : 0;
  return (SlLuma){ GST_VIDEO_FRAME_COMP_DATA (frame, c), GST_VIDEO_FRAME_WIDTH (frame),
                   GST_VIDEO_FRAME_HEIGHT (frame), GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c),
                   GST_VIDEO_FRAME_COMP_STRIDE (frame, c) };
}
