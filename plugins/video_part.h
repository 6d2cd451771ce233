/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which part of the frames an element uses and how it turns it: the properties crop-* and video-direction, and the stream's
 * image-orientation tag.
 */
#ifndef SL_PLUGINS_VIDEO_PART_H
#define SL_PLUGINS_VIDEO_PART_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/affine.h"

G_BEGIN_DECLS

/** sl_video_part_crop: the part of a frame of @width x @height pixels that @wanted names, whose size 0 means up to the frame's edge. FALSE
 *  with @error set, and @part as it was, when it is not inside the frame; @advice: the sentence's end. */
gboolean sl_video_part_crop (const SlRect *wanted, gint width, gint height, const char *advice, SlRect *part, GError **error);
/** sl_video_part_parse_region: slpredict's inference-region as a rectangle, or as @objects that are found upstream; an empty one, with neither, is
 *  the whole frame. FALSE with @error set when @text, (nullable), is none. */
gboolean sl_video_part_parse_region (const char *text, SlRect *part, gboolean *objects, GError **error);
/** sl_video_part_orientation: how frames are turned by @direction, a GstVideoOrientationMethod, where @tagged counts when that is auto;
 *  not at all by what sl_video_part_check_direction() refuses. */
SlOrientation sl_video_part_orientation (gint direction, GstVideoOrientationMethod tagged);
/** sl_video_part_check_direction: FALSE with @error set, listing the directions that there are, when @direction is custom. */
gboolean sl_video_part_check_direction (gint direction, GError **error);

G_END_DECLS

#endif
