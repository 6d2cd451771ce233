/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The part of the frames that an element uses, and its orientation: the properties crop-* and
 * video-direction, and the tag image-orientation of the stream.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "core/base/affine.h"

/** sl_video_part_crop: sets @part to the rectangle @wanted of a frame of @width x @height pixels. A
 * size of 0 means up to the frame's edge. FALSE with @error set and @part unchanged when the
 * rectangle is not inside the frame. @advice: the end of the error message */
gboolean sl_video_part_crop (const SlRect *wanted, gint width, gint height, const char *advice,
                             SlRect *part, GError **error);
/** sl_video_part_parse_region: reads the property inference-region of slpredict, @text (nullable).
 * It sets @part to a rectangle, or @objects to TRUE for the objects found upstream. An empty
 * rectangle without objects is the whole frame. FALSE with @error set when @text is invalid. */
gboolean sl_video_part_parse_region (const char *text, SlRect *part, gboolean *objects,
                                     GError **error);
/** sl_video_part_set: sets the properties crop-* of @element to @part, the rectangle of frames that
 * it uses. */
void sl_video_part_set (GstElement *element, const SlRect *part);
/** sl_video_part_orientation: the orientation for @direction, a GstVideoOrientationMethod. With
 * "auto", @tagged is used. A direction that sl_video_part_check_direction() refuses gives no turn.
 */
SlOrientation sl_video_part_orientation (gint direction, GstVideoOrientationMethod tagged);
/** sl_video_part_check_direction: FALSE with @error set when @direction is custom. The message
 * lists the supported directions. */
gboolean sl_video_part_check_direction (gint direction, GError **error);
