/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The component of a video frame that stands for its brightness. */
#pragma once

#include <gst/video/video.h>

#include "plugins/motion/background.h"

/** sl_frame_luma: luma, or the green of RGB, of mapped @frame, whose samples have 8 bits. */
SlLuma sl_frame_luma (GstVideoFrame *frame);
