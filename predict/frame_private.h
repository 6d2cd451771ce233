/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame as the preprocessor takes it, which applications do not see. */
#pragma once

#include "sightline/frame.h"
#include "preprocess/image.h"

/** sl_frame_get_image: fills @info and @image, whose planes are valid as long as @frame. */
void sl_frame_get_image (const SlFrame *frame, SlImageInfo *info, SlImage *image);
