/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame of anything else reads as some number, too, whose picture is another. */
#include "tests/elements/camera/compare.h"

#include <gst/video/video.h>

#include "plugins/meta/frame_meta.h"
#include "tests/support/numbered_frame.h"

static GstPadProbeReturn
compare_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Compare *compare = data;
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (GST_PAD_PROBE_INFO_BUFFER (info));
  GstBuffer *buffer =
    meta != NULL && meta->frame != NULL ? meta->frame : GST_PAD_PROBE_INFO_BUFFER (info);
  g_autoptr (GstCaps) caps = buffer == GST_PAD_PROBE_INFO_BUFFER (info)
                               ? gst_pad_get_current_caps (pad)
                               : gst_caps_ref (meta->caps);
  GstVideoInfo video;
  GstVideoFrame frame;
  g_assert_true (gst_video_info_from_caps (&video, caps));
  g_assert_cmpint (GST_VIDEO_INFO_FORMAT (&video), ==, GST_VIDEO_FORMAT_I420);
  g_assert_true (gst_video_frame_map (&frame, &video, buffer, GST_MAP_READ));
  NumberedPicture picture;
  numbered_of_frame (&picture, &frame);
  const double psnr = numbered_psnr (&picture, numbered_read (&picture));
  gst_video_frame_unmap (&frame);
  g_mutex_lock (&compare->lock);
  compare->first = compare->frames == 0 ? g_get_monotonic_time () : compare->first;
  compare->worst = compare->frames == 0 ? psnr : MIN (compare->worst, psnr);
  compare->frames++;
  compare->bad += psnr < COMPARE_GOOD;
  g_mutex_unlock (&compare->lock);
  return GST_PAD_PROBE_OK;
}

void
compare_watch (Compare *compare, GstPad *pad)
{
  *compare = (Compare){ 0 };
  g_mutex_init (&compare->lock);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, compare_frame, compare, NULL);
}
