/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlDecodedPicture: a picture that a decoder made, as a video frame. One thread at a time. */
#pragma once

#include <gst/video/video.h>

#include "plugins/base/byte_pool.h"
#include "postprocess/result.h"

/**
 * SlDecodedPicture: zeroed at first.
 * @last: the last one; its pixels are the decoder's. Width 0 = the decoder makes none
 * @caps: (nullable): of the pictures; the caller clears it where the decoder may change
 */
typedef struct
{
  SlPicture last;
  GstCaps *caps;
  GstVideoInfo info; /* of @caps */
  SlBytePool pool;
} SlDecodedPicture;

/** sl_decoded_picture_take: @picture is the last one from now on. @tensors: caps whose frame rate
 * the pictures have */
void sl_decoded_picture_take (SlDecodedPicture *decoded, const SlPicture *picture,
                              const GstCaps *tensors);
/** sl_decoded_picture_copy: (transfer full): the last picture as a frame of @caps. */
GstBuffer *sl_decoded_picture_copy (SlDecodedPicture *decoded);
/** sl_decoded_picture_clear: frees caps and memory. */
void sl_decoded_picture_clear (SlDecodedPicture *decoded);
